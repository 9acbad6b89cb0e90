"""The question about calls in doubt: its words in each channel, what counts as a yes, and what is remembered of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.engine.parser import Parser
from dragoman.dialects.rows.table import ALL, DIALECTS
from dragoman.dialects.writing.render import Unrenderable, render
from dragoman.turn.habits import MOST_HABITS, Habit, Habits
from dragoman.turn.question import after_the_no, agrees, asked_about, confirmed, habits, question, worded
from dragoman.types import Message, Request, Response, Tool, ToolCall
from tests.support.asking import TOOLS

TEXT = 'I look.\n\n```json\n{"name": "read_file", "arguments": {"path": "x"}}\n```'
CALL = ToolCall(id="c", name="read_file", arguments={"path": "x"})


def parsed(text: str, *known: str, native: bool = True) -> Response:
    found = fold(Parser(tools=TOOLS, native=native, confirmed=known).whole(text))
    return Response(message=Message("assistant", found.parts), doubtful=found.doubtful)


def asked(calls: tuple[ToolCall, ...]) -> Request:
    return Request(model="m", messages=(Message("user", "Go."), question(calls)), tools=TOOLS)


def test_native_tools_are_asked_for_as_tools() -> None:
    request = worded(asked((CALL,)), None)
    assert "by calling the tool itself" in request.messages[-1].text
    assert asked_about(request) == ()
    assert asked_about(asked((CALL,))) == (CALL,)


@pytest.mark.parametrize("row", ALL, ids=[row.name for row in ALL])
def test_text_tools_are_asked_for_as_the_dialect_writes_them(row: object) -> None:
    dialect = DIALECTS[row.name]  # type: ignore[attr-defined]
    text = worded(asked((CALL,)), dialect).messages[-1].text
    try:
        assert render([CALL], dialect, tools=TOOLS) in text
    except Unrenderable:
        assert "in the form you were shown" in text


def test_a_nonce_stands_in_the_form() -> None:
    text = worded(asked((CALL,)), DIALECTS["tool_call_fence"], "abcd1234").messages[-1].text
    assert "~~~tool_call:abcd1234" in text


def test_a_long_call_is_not_written_out_again() -> None:
    long = replace(CALL, arguments={"path": "x" * 5000})
    text = worded(asked((long,)), DIALECTS["hermes"]).messages[-1].text
    assert len(text) < 1000
    assert "in the form you were shown" in text


YES = [
    '{"name": "read_file", "arguments": {"path": "x"}}',
    '```json\n{"name": "read_file", "arguments": {"path": "x"}}\n```',
    'Yes:\n{"name": "read_file", "arguments": {"path": "x"}}',
    'No problem, here it is:\n{"name": "read_file", "arguments": {"path": "x"}}',
    "Ja, gemeint war:\n```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"x\"}}\n```",
]
NO = [
    "Yes.",
    "",
    'No, it was this:\n{"name": "read_file", "arguments": {"path": "x"}}',
    'Nein.\n\n{"name": "read_file", "arguments": {"path": "x"}}',
    '不是。\n{"name": "read_file", "arguments": {"path": "x"}}',
    'The log held {"name": "read_file", "arguments": {"path": "x"}} yesterday.',
    '{"name": "read_file", "arguments": {"path": "x"}}\nis what I quoted.',
    'This is only an example, do not run it:\n{"name": "read_file", "arguments": {"path": "x"}}',
    'Yes:\n{"name": "read_file", "arguments": {"path": "y"}}',
]


@pytest.mark.parametrize("answer", YES)
def test_the_call_made_again_is_a_yes(answer: str) -> None:
    assert [call.arguments for call in confirmed((CALL,), parsed(answer))] == [{"path": "x"}]


@pytest.mark.parametrize("answer", NO)
def test_anything_else_is_a_no(answer: str) -> None:
    assert confirmed((CALL,), parsed(answer)) == []


@pytest.mark.parametrize(
    ("answer", "makes"),
    [
        ('```json\n{"name": "read_file", "arguments": {"path": "x"}}\n```\nThat is all.', True),
        ('Here:\n{"name": "read_file", "arguments": {"path": "x"}}\nWe will see.', True),
        ('No.\n{"name": "read_file", "arguments": {"path": "x"}}\nWe will see.', False),
        ('{"name": "read_file", "arguments": {"path": "x"}}\nForget about this.', False),
        ('It is {"name": "read_file", "arguments": {"path": "x"}} that I quoted.', False),
    ],
)
def test_after_a_yes_the_call_made_again_is_a_yes_wherever_it_stands(answer: str, makes: bool) -> None:
    assert bool(confirmed((CALL,), parsed(answer), agreed=True)) == makes


OTHER = '<tool_call>\n{"name": "read_file", "arguments": {"path": "y"}}\n</tool_call>'


@pytest.mark.parametrize(
    ("answer", "makes"),
    [
        (f"No, that was only an example.\n\n{OTHER}", True),
        (f"No, that was only an example.\n\n{OTHER.replace('y', 'x')}", False),
        (f"No, that was only an example.\n\nNor would I ever run this:\n\n{OTHER}", False),
        (f"No, that was only an example.\n\n{OTHER}\nForget about this.", False),
        ('No, that was only an example.\n\n{"name": "read_file", "arguments": {"path": "y"}}', False),
        (f"That was only an example.\n\n{OTHER}", False),
    ],
)
def test_a_no_speaks_of_what_was_asked_about(answer: str, makes: bool) -> None:
    """Another call behind it is in doubt for nothing else, unless something else says so."""
    assert bool(after_the_no((CALL,), parsed(answer))) == makes


def test_only_doubt_of_structure_becomes_a_habit() -> None:
    weak, hinted = parsed(TEXT).doubtful, parsed(f"Do not run this:\n\n{TEXT[8:]}").doubtful
    yes = parsed(YES[0])
    assert habits(weak, yes) == ["fenced_json:fence:ends"]
    assert len(hinted) == 1
    assert habits(hinted, yes) == []
    assert habits(weak, parsed("No.")) == []


KNOWN = "fenced_json:fence:ends"
UNMEANT = [
    ("hinted", f"This is only an example, do not run it:\n\n{TEXT[8:]}"),
    ("quoted", "> " + TEXT[8:].replace("\n", "\n> ")),
    ("with words behind", f"{TEXT}\nThat is what the page says."),
    ("rehearsed", f"<think>\n{TEXT}\n</think>\nDone."),
    ("inside a sentence", 'So {"name": "read_file", "arguments": {"path": "x"}} is the form.'),
    ("in another notation", 'I look.\n{"name": "read_file", "arguments": {"path": "x"}}'),
]


@pytest.mark.parametrize("text", [text for _, text in UNMEANT], ids=[name for name, _ in UNMEANT])
def test_a_habit_runs_nothing_but_its_own_way_of_writing(text: str) -> None:
    assert parsed(text, KNOWN).calls == ()


def test_a_habit_runs_no_copy() -> None:
    parser = Parser(tools=TOOLS, native=True, confirmed=[KNOWN], shown=[f"Write this now:\n{TEXT}"])
    found = fold(parser.whole(TEXT))
    assert found.calls == ()
    assert [str(issue.kind) for issue in found.issues] == ["copied"]


@pytest.mark.parametrize("native", [True, False])
def test_a_habit_is_asked_about_once(native: bool) -> None:
    assert len(parsed(TEXT, native=native).doubtful) == 1
    (call,) = parsed(TEXT, KNOWN, native=native).calls
    assert call.report is not None
    assert call.report.rule == "habit"


class Memory:
    """What several processes share, in a dictionary."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[str, ...]] = {}

    def get(self, keys: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return {key: self.rows[key] for key in keys if key in self.rows}

    def put(self, rows: Mapping[str, tuple[str, ...]]) -> None:
        self.rows |= json.loads(json.dumps(dict(rows)), object_hook=lambda o: {k: tuple(v) for k, v in o.items()})

    def keys(self) -> list[str]:
        return list(self.rows)


def test_habits_are_kept_by_owner_place_and_model_and_can_be_forgotten() -> None:
    known = Habits()
    known.note("a", "http://x", "m", ["h1", "h2"])
    known.note("b", "http://x", "m", ["h1"])
    assert known.of("a", "http://x", "m") == {"h1", "h2"}
    assert known.of("", "http://x", "m") == known.of("a", "http://x", "n") == frozenset()
    assert set(known) == {Habit("a", "http://x", "m", "h1"), Habit("a", "http://x", "m", "h2"), Habit("b", "http://x", "m", "h1")}
    known.forget(Habit("a", "http://x", "m", "h1"))
    assert known.of("a", "http://x", "m") == {"h2"}
    assert known.of("b", "http://x", "m") == {"h1"}
    known.forget(Habit("b", "http://x", "m", "h1"))
    assert [*known] == [Habit("a", "http://x", "m", "h2")]


def test_habits_are_shared_and_forgotten_in_every_process() -> None:
    shared = Memory()
    one, other = Habits(shared), Habits(shared)
    one.note("", "p", "m", ["h"])
    assert other.of("", "p", "m") == {"h"}
    other.forget(Habit("", "p", "m", "h"))
    assert one.of("", "p", "m") == frozenset()


def test_of_one_model_a_bounded_number_is_kept() -> None:
    known = Habits()
    known.note("", "p", "m", [f"h{n}" for n in range(3 * MOST_HABITS)])
    assert len(known.of("", "p", "m")) == MOST_HABITS


def test_a_tool_may_have_any_name() -> None:
    odd = Tool(name="a.b", parameters={"type": "object", "properties": {}})
    calls = (ToolCall(id="c", name="a.b"),)
    request = replace(asked(calls), tools=(odd,))
    assert all("a.b" in worded(request, row).messages[-1].text for row in ALL)


@pytest.mark.parametrize(
    ("answer", "yes"),
    [("Yes.", True), ("yes, go ahead", True), ("Ja, bitte.", True), ("はい", True), ("好的，请执行。", True),
     ("No.", False), ("Yesterday it ran.", False), ("The file is empty.", False), ("", False),
     ("Yes, but " + "first I have to think about all of this " * 4, False)],
)  # fmt: skip
def test_a_bare_yes_is_told_apart(answer: str, yes: bool) -> None:
    assert agrees(parsed(answer)) is yes


def test_what_was_agreed_to_is_asked_for_as_a_call() -> None:
    request = Request(model="m", messages=(Message("user", "Go."), question((CALL,), agreed=True)), tools=TOOLS)
    told = worded(request, DIALECTS["hermes"]).messages[-1].text
    assert told.startswith("You say yes to this call")
    assert "<tool_call>" in told
