"""Every format: found by its shape, read right, written and read back; what is lost is said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.batch.formats.losses import losses, pattern
from dragoman.batch.formats.table import FORMATS, ROWS, format_of
from dragoman.batch.formats.writing import write
from dragoman.batch.judging.row_judge import Outcome, judge
from dragoman.batch.options import Options
from dragoman.batch.result import RowVerdict
from dragoman.batch.row_json import BadRow

from .corpora import TELLERS, Teller, row

SEEDS = 200
TARGETS = [form for form in ROWS if form.write is not None]
FINE = (RowVerdict.OK, RowVerdict.NONE)
IDS = [f"{i}-{teller.name}" for i, teller in enumerate(TELLERS)]


def calls_of(outcome: Outcome) -> list[tuple[str, Any]]:
    every = [*outcome.calls, *(call for some in outcome.branches.values() for call in some)]
    return [(call.name, call.arguments) for call in every]


@pytest.mark.parametrize("teller", TELLERS, ids=IDS)
def test_rows_are_found_by_shape_and_read_right(teller: Teller) -> None:
    for seed in range(SEEDS):
        talk, line = row(teller, seed)
        found = judge(line)
        assert found.form is not None, (seed, found.findings)
        assert found.form.name == teller.name
        assert found.verdict in FINE, (seed, found.findings, found.repairs)
        told = talk.rounds[0].calls if teller.first else talk.calls if teller.calls else []
        assert calls_of(found) == [(call.name, call.arguments) for call in told], seed


def test_every_format_has_a_teller() -> None:
    assert set(FORMATS) - {teller.name for teller in TELLERS} == {"llamafactory", "dialect"}


@pytest.mark.parametrize("teller", TELLERS, ids=IDS)
@pytest.mark.parametrize("goal", TARGETS, ids=lambda form: form.name)
def test_there_and_back_is_equal_or_said(teller: Teller, goal: Any) -> None:
    for seed in range(0, SEEDS, 40):
        _, line = row(teller, seed)
        first = judge(line)
        assert first.chat is not None
        assert first.form is not None
        there, said = _written(first, goal)
        if there is None or first.form.write is None:
            continue
        back, more = _written(there, first.form)
        if back is None:
            continue
        assert back.chat is not None
        left = {pattern(one.path) for one in losses(first.chat, back.chat)}
        assert left <= said | more | _above(said | more), (seed, left - said - more)


def _written(outcome: Outcome, goal: Any) -> tuple[Outcome | None, set[str]]:
    assert outcome.chat is not None
    try:
        line = write(outcome.chat, goal, Options())
    except BadRow as why:
        assert why.code == "unwritable"  # noqa: PT017
        return None, set()
    back = judge(line, Options(format=goal.name))
    assert back.chat is not None, (line, back.findings)
    return back, {pattern(one.path) for one in losses(outcome.chat, back.chat)}


def _above(paths: set[str]) -> set[str]:
    """What was lost as a whole may come back in part, and what stood behind it in another place."""
    roots = {path.split("[")[0].split(".")[1] for path in paths if "." in path}
    return {p for root in roots for p in _every(root)}


def _every(root: str) -> set[str]:
    tails = ("", "[]", "[].content", "[].calls", "[].role", "[].answers", "[].train", "[].calls[]", "[].calls[].name",
             "[].calls[].arguments", "[].parameters.type", "[].reasoning_content")  # fmt: skip
    return {f"$.{root}{tail}" for tail in tails}


@pytest.mark.parametrize("goal", [f for f in TARGETS if f.name not in ("bfcl", "batch")], ids=lambda form: form.name)
@pytest.mark.costly
def test_a_plain_conversation_goes_through_every_target_whole(goal: Any) -> None:
    """Calls, results, texts and tools arrive; ids alone may be others."""
    for seed in range(SEEDS):
        _, line = row(TELLERS[0], seed)
        first = judge(line.replace(b', "parallel_tool_calls": false', b""))
        back, said = _written(first, goal)
        assert back is not None
        assert said <= {"$.ids", "$.messages[].content"} if goal.name == "llamafactory" else {"$.ids"}, (seed, said)
        assert calls_of(back) == calls_of(first)


@pytest.mark.parametrize("dialect", ["hermes", "pythonic", "llama3_json", "mistral", "qwen3_coder", "react"])
def test_calls_are_written_in_any_dialect_and_read_back(dialect: str) -> None:
    options = Options(dialect=dialect)
    for seed in range(40):
        _, line = row(TELLERS[0], seed)
        first = judge(line)
        assert first.chat is not None
        try:
            made = write(first.chat, FORMATS["dialect"], options)
        except BadRow as why:
            assert why.code == "unwritable"  # noqa: PT017
            continue
        assert not any(m.get("tool_calls") for m in json.loads(made)["messages"])
        assert calls_of(judge(made, Options(format="dialect"))) == calls_of(first), seed


def test_rows_read_as_another_format_are_unreadable_and_no_error() -> None:
    for teller in TELLERS:
        for form in ROWS:
            found = judge(row(teller, 1)[1], Options(format=form.name))
            assert found.verdict in RowVerdict


CALL: dict[str, Any] = {"functionCall": {"name": "look", "args": {"at": "sky"}}}
GEMINI: dict[str, Any] = {"candidates": [{"content": {"role": "model", "parts": [CALL]}, "finishReason": "STOP"}]}
ASKED: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "Look."}]}]}
ENVELOPES: dict[str, dict[str, Any]] = {
    "the answer": {"request": ASKED, "response": {"response": GEMINI, "traceId": "7"}},
    "both": {"request": {"model": "m", "project": "p", "request": ASKED}, "response": {"response": GEMINI}},
    "each piece": {"request": ASKED, "response": [{"response": GEMINI}]},
}


@pytest.mark.parametrize("logged", ENVELOPES.values(), ids=ENVELOPES)
def test_a_call_in_code_assists_envelope_is_read(logged: dict[str, Any]) -> None:
    user, assistant = format_of(logged).read(logged).messages
    assert (user["role"], assistant["tool_calls"][0]["function"]["name"]) == ("user", "look")


def test_a_completion_is_read_as_what_the_model_said() -> None:
    logged = {"messages": [{"role": "user", "content": "Look."}], "response": {"choices": [{"message": None, "text": "No."}]}}
    assert format_of(logged).read(logged).messages[-1] == {"role": "assistant", "content": "No."}
