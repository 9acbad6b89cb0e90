"""Rows for training: without what was wrong, or as a pair of the refused answer and the good one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.batch.formats.chat_row import ChatRow
from dragoman.batch.formats.training import pairs, supervised
from dragoman.batch.options import Dedup, Options
from dragoman.batch.row_json import BadRow
from dragoman.batch.running.engine import run
from dragoman.batch.running.job import Job

from .test_row_judge import TOOL, USER, calling, native


def told(*roles: str) -> list[Any]:
    names = {"u": "user", "a": "assistant", "x": "assistant", "t": "tool", "s": "system"}
    return [{"role": names[r], "content": f"{r}{i}"} for i, r in enumerate("".join(roles))]


# (roles, x is refused; what is left for training; the pairs: prompt, chosen, rejected)
CASES: list[tuple[str, str, list[tuple[str, int, int]]]] = [
    ("uata", "uata", []),
    ("uxta", "ua", [("u", 3, 1)]),
    ("uxuxua", "ua", [("u", 5, 1), ("u", 5, 3)]),
    ("uxtataxta", "uataa", [("u", 3, 1), ("uata", 8, 6)]),
    ("uxtauxtauxt", "uauau", [("u", 3, 1), ("uau", 7, 5)]),
    ("uatax", "uata", []),
    ("ux", "", []),
]


@pytest.mark.parametrize(("roles", "left", "made"), CASES)
def test_what_is_wrong_is_left_out_with_what_answers_it(roles: str, left: str, made: list[tuple[str, int, int]]) -> None:
    chat, refused = ChatRow(messages=told(*roles)), [i for i, r in enumerate(roles) if r == "x"]
    try:
        kept = "".join(m["content"][0] for m in supervised(chat, refused).messages)
        assert kept == left.rstrip("u")
    except BadRow as why:
        assert (why.code, left) == ("no_answer", "")  # noqa: PT017
    try:
        found = pairs(chat, refused, "f" * 64)
    except BadRow as why:
        assert (why.code, made) == ("no_pair", [])  # noqa: PT017
        return
    shown = [("".join(m["content"][0] for m in one.messages), *(one.branches[k][0]["content"] for k in ("chosen", "rejected"))) for one in found]
    assert shown == [(prompt, f"a{good}", f"x{wrong}") for prompt, good, wrong in made]
    assert [one.metadata["id"] for one in found] == [f"ffffffffffffffff-{n}" for n in range(1, len(made) + 1)]


def test_an_answer_that_is_refused_twice_is_one_pair() -> None:
    user, wrong, right = ({"role": role, "content": text} for role, text in (("user", "q"), ("assistant", "x"), ("assistant", "a")))
    [one] = pairs(ChatRow(messages=[user, wrong, user, dict(wrong), user, right], metadata={"id": 7}), [1, 3], "")
    assert (one.messages, one.metadata["id"]) == ([user], "7-1")


def test_every_pair_of_a_row_is_written_and_counted(tmp_path: Path) -> None:
    """Each is a row of its own: counted, told from the others where doubles go, and found again by its id."""
    def turn(n: int) -> list[Any]:
        wrong, good = calling(native("get_wether", '{"city":"Oslo"}')), calling(native())
        for message in (wrong, good):
            message["tool_calls"][0]["id"] = f"{n}{message['tool_calls'][0]['function']['name']}"
        results = [{"role": "tool", "tool_call_id": m["tool_calls"][0]["id"], "content": "?"} for m in (wrong, good)]
        return [{"role": "user", "content": f"q{n}"}, wrong, results[0], good, results[1]]

    row = {"messages": [*turn(1), *turn(2), *turn(3)], "tools": [TOOL]}
    lines = [json.dumps(row), json.dumps({**row, "id": "r"}), json.dumps(row)]
    (tmp_path / "in.jsonl").write_text("".join(f"{line}\n" for line in lines))
    ways: list[tuple[Dedup, int]] = [("none", 9), ("rows", 6)]
    for dedup, wanted in ways:
        out = tmp_path / f"{dedup}.jsonl"
        job = Job(command="convert", options=Options(to="dpo", keep="all"), output=str(out), dedup=dedup, report=True)
        told_ = run([tmp_path / "in.jsonl"], job, unit_bytes=500 if dedup == "rows" else 1 << 20)
        totals = told_["totals"]
        assert (totals["read"], totals["kept"], sum(totals["dropped"].values())) == (9, wanted, 9 - wanted)
        made = [json.loads(line) for line in out.read_text().splitlines()]
        assert [one["id"] for one in made][3:6] == ["r-1", "r-2", "r-3"]
        assert [[m["role"] for m in one["prompt"]] for one in made[:3]] == [["user"], ["user", "assistant", "tool", "user"], ["user", "assistant", "tool"] * 2 + ["user"]]
        assert all(one["chosen"] != one["rejected"] for one in made)


def test_a_corrected_run_gives_a_pair_and_a_straight_conversation(tmp_path: Path) -> None:
    wrong = calling(native("get_wether", '{"city":"Oslo"}'))
    told_so = {"role": "tool", "tool_call_id": "c1", "content": "[ERROR:UnknownTool] no such tool"}
    row = {"messages": [USER, wrong, told_so, calling(native())], "tools": [TOOL]}
    plain = {"messages": [USER, calling(native())], "tools": [TOOL]}
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(plain) + "\n")
    made = {}
    for purpose in ("sft", "dpo"):
        out = tmp_path / f"{purpose}.jsonl"
        run([tmp_path / "in.jsonl"], Job(command="convert", options=Options(to=purpose, keep="all"), output=str(out)))
        made[purpose] = [json.loads(line) for line in out.read_text().splitlines()]
    assert [[m["role"] for m in one["messages"]] for one in made["sft"]] == [["user", "assistant"]] * 2
    [one] = made["dpo"]
    assert (one["prompt"], one["rejected"][0]["tool_calls"][0]["function"]["name"]) == ([USER], "get_wether")
    assert one["chosen"][0]["tool_calls"][0]["function"]["arguments"] == {"city": "Oslo"}
    aside = (tmp_path / "dpo.aside.jsonl").read_text()
    assert "no_pair" in aside
