"""What the model is told, from what data; and how an answer is told from a call that went wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.loop.call_errors import NOTHING_THERE, CallError, break_of, value_at
from dragoman.loop.check_calls import Checker, ReadyCall
from dragoman.loop.classify import AnswerKind, announces, read
from dragoman.loop.corrections import SHOWN_SCHEMA, answer, message
from dragoman.loop.example_arguments import specimen
from dragoman.loop.missed_calls import misread
from dragoman.loop.stall_guard import Guard
from dragoman.loop.transcript import transcribe
from dragoman.schema.validation import faults
from dragoman.tools import ToolSet
from dragoman.turn.composer import identity
from dragoman.types import (
    Edit,
    Issue,
    IssueKind,
    JsonObject,
    Message,
    Report,
    Response,
    Stop,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Verdict,
)
from tests.support.scenes import LOOK, Shop

READ = Tool(name="read_file", parameters={"type": "object", "properties": {"path": {}}, "required": ["path"]})
TOOLS = [Tool(name="look", parameters=LOOK), READ]


# ── specimens ────────────────────────────────────────────────────────────────

SCHEMAS: list[JsonObject] = [
    LOOK,
    {"type": "object"},
    {"type": "object", "properties": {"n": {"type": "integer", "minimum": 5}}, "required": ["n"]},
    {"type": "object", "properties": {"n": {"type": "number", "exclusiveMaximum": 0}}, "required": ["n"]},
    {"type": "object", "properties": {"s": {"type": "string", "minLength": 9, "maxLength": 9}}, "required": ["s"]},
    {"type": "object", "properties": {"s": {"enum": ["a", "b"]}, "t": {"const": 3}}, "required": ["s", "t"]},
    {"type": "object", "properties": {"s": {"type": "string", "examples": ["Oslo"]}}, "required": ["s"]},
    {
        "type": "object",
        "properties": {"o": {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "boolean"}}},
                             "required": ["a"]}},
        "required": ["o"],
    },
    {"type": "object", "properties": {"p": {"$ref": "#/$defs/P"}}, "required": ["p"],
     "$defs": {"P": {"type": "object", "properties": {"x": {"type": ["integer", "null"]}}, "required": ["x"]}}},
]  # fmt: skip


@pytest.mark.parametrize("schema", SCHEMAS, ids=range(len(SCHEMAS)))
def test_a_specimen_fits_its_schema(schema: JsonObject) -> None:
    made = specimen(schema)
    assert made is not None
    assert faults(schema, made) == []


def test_a_specimen_keeps_what_was_given_and_is_right() -> None:
    assert specimen(LOOK, {"times": 4, "odd": 1}) == {"at": "<at>", "times": 4}
    assert specimen(LOOK, {"times": "many"}) == {"at": "<at>"}


def test_where_nothing_can_be_made_up_there_is_no_specimen() -> None:
    schema = {"type": "object", "properties": {"s": {"type": "string", "pattern": "^[0-9]{4}$"}}, "required": ["s"]}
    assert specimen(schema) is None
    assert specimen(schema, {"s": "1234"}) == {"s": "1234"}


# ── where, and what ──────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("path", "value"),
    [("$", {"a": [{"b c": 1}]}), ("$.a", [{"b c": 1}]), ("$.a[0]", {"b c": 1}), ('$.a[0]["b c"]', 1),
     ("$.x", NOTHING_THERE), ("$.a[4]", NOTHING_THERE), ("$.a.b", NOTHING_THERE)],
)  # fmt: skip
def test_the_value_at_a_path_is_found(path: str, value: Any) -> None:
    assert value_at({"a": [{"b c": 1}]}, path) == value


@pytest.mark.parametrize(
    ("text", "place"),
    [('{"a": }', '{"a": ⟪HERE⟫}'), ('x {"a": "b', 'x {"a": "b⟪HERE⟫'), ('{"a": 1}', ""), ("no object", ""),
     ("{'a': 1, b: }", "{'a': 1, b: ⟪HERE⟫}")],
)  # fmt: skip
def test_the_place_where_json_breaks_is_shown(text: str, place: str) -> None:
    assert break_of(text) == place


@given(st.text(max_size=200))
def test_showing_where_it_breaks_never_fails(text: str) -> None:
    assert len(break_of("{" + text)) < 200


def errors(count: int = 1, **more: Any) -> list[CallError]:
    issue = Issue(kind=IssueKind.INVALID_ARGUMENTS, message="m", name="look", raw="x" * 99_999, correction="c")
    found = faults(LOOK, given := {"times": "y" * 9_999})
    return [CallError(issue=issue, arguments=given, faults=tuple(found), **more)] * count


@pytest.mark.parametrize("level", [1, 2, 3, 9])
def test_corrections_are_of_bounded_length_whatever_was_written(level: int) -> None:
    assert len(message(errors(), TOOLS, level).text) < 2 * SHOWN_SCHEMA
    assert len(answer(errors(native=True)[0], TOOLS, level)) < 2 * SHOWN_SCHEMA


def test_an_example_never_copies_the_words_of_the_model() -> None:
    parts = [part for part in message(errors(), TOOLS, 2).parts if isinstance(part, Text)]
    assert [bool(part.metadata) for part in parts] == [False, True, False]
    assert "yyy" not in parts[1].text


def test_many_tools_are_listed_nearest_first_and_not_without_end() -> None:
    tools = [Tool(name=f"tool_{n:03}") for n in range(300)]
    issue = Issue(kind=IssueKind.UNKNOWN_TOOL, message="m", name="tool_299x", correction="c")
    message = answer(CallError(issue=issue, native=True), tools, 1)
    assert "'tool_299'" in message
    assert "240 more" in message
    assert len(message) < 2000


def test_corrections_say_the_same_each_time() -> None:
    assert message(errors(3), TOOLS, 2) == message(errors(3), TOOLS, 2)


# ── checking ─────────────────────────────────────────────────────────────────


def test_what_is_checked_is_ready_or_wrong_and_never_raises() -> None:
    checker = Checker(Shop().tools())
    ready = checker.check(ToolCall(id="1", name="look", arguments={"at": "sky"}))
    assert isinstance(ready, ReadyCall)
    assert ready.call.report is None
    for wrong in ({"at": None}, {"at": {"a": [None]}}, {"look": {"look": {"at": "x"}}}, {"arguments": "{at"}):
        assert isinstance(checker.check(ToolCall(id="1", name="look", arguments=wrong)), CallError)


@pytest.mark.parametrize("at", ["sky\n</think>\nNow:", "sky\n> <tool_call>\n> "])
def test_an_unclosed_argument_over_markup_does_not_run(at: str) -> None:
    def call(*edits: Edit) -> ToolCall:
        report = Report(dialect="qwen3_coder", span=(0, 9), edits=edits, verdict=Verdict.MENDED)
        return ToolCall(id="1", name="look", arguments={"at": at}, report=report)

    checker = Checker(Shop().tools())
    found = checker.check(call(Edit("unclosed_argument")))
    assert isinstance(found, CallError)
    assert found.issue.kind is IssueKind.MALFORMED
    assert isinstance(checker.check(call(Edit("trailing_comma"))), ReadyCall)


def test_nulls_are_left_out_only_where_nothing_is_lost() -> None:
    def tools(shop: Shop) -> ToolSet:
        inner = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": ["integer", "null"]}}}
        return ToolSet(shop.make("t", {"type": "object", "properties": {"o": inner}}, lambda a: a))

    found = Checker(tools(Shop())).check(ToolCall(id="1", name="t", arguments={"o": {"a": None, "b": None}}))
    assert isinstance(found, ReadyCall)
    assert found.call.arguments == {"o": {"b": None}}


# ── the transcript ───────────────────────────────────────────────────────────


def refused(call_id: str, name: str, raw: str) -> Issue:
    return Issue(kind=IssueKind.MALFORMED, message="m", name=name, raw=raw, call_id=call_id, correction="c")


def test_refused_native_calls_keep_order_and_get_ids() -> None:
    good = [ToolCall(id="b", name="look"), ToolCall(id="d", name="look"), ToolCall(id="d", name="look")]
    issues = (refused("a", "look", '{"at"'), refused("c", "look", "{}"), refused("e", "look", "["))
    response = Response(message=Message("assistant", good), issues=issues)
    transcribed = transcribe(response, {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4})
    assert [call.id for call in transcribed.message.calls] == ["a", "b", "c", "d", "d_2", "e"]
    assert set(transcribed.native) == {"a", "c", "e"}


def test_an_answer_in_order_stays_the_message_it_is() -> None:
    response = Response(message=Message("assistant", [Text("hm"), ToolCall(id="a", name="look")]))
    assert transcribe(response, {"a": 0}).message is response.message


@pytest.mark.parametrize(
    ("start", "kind", "text"),
    [(5, IssueKind.MALFORMED, "hm <bad>"), (70, IssueKind.MALFORMED, "hm "), (5, IssueKind.TRUNCATED, "hm ")],
    ids=["before the call", "after it", "cut"],
)
def test_text_meant_as_a_call_that_nothing_answers_stays(
    start: int, kind: IssueKind, text: str
) -> None:
    later = ToolCall(id="a", name="look", report=Report(span=(50, 60), verdict=Verdict.ACCEPTED))
    issue = Issue(kind=kind, message="m", raw="<bad>", span=(start, start + 5), correction="c")
    transcribed = transcribe(Response(message=Message("assistant", [Text("hm "), later]), issues=(issue,)), {})
    assert [type(part).__name__ for part in transcribed.message.parts] == ["Text", "ToolCall"]
    assert transcribed.message.text == text
    assert transcribed.in_text == (issue,)
    alone = transcribe(Response(message=Message("assistant"), issues=(issue,)), {})
    assert alone.message.text == "<bad>"


# ── answers and calls ────────────────────────────────────────────────────────

MISREAD = [
    ('Action: read_fil\nAction Input: {"path": "x"}', IssueKind.UNKNOWN_TOOL),
    ('[do_read_file(path="a.txt"), read_file(path="b.txt")]', IssueKind.UNKNOWN_TOOL),
    ("<read_file2>\n<path>x</path>\n</read_file2>", IssueKind.UNKNOWN_TOOL),
    ('>>>read_file_tool\n{"path": "x"}', IssueKind.UNKNOWN_TOOL),
    ('[tool: read_file2 {"path": "x"}]', IssueKind.UNKNOWN_TOOL),
    ('Now.\n[{"name": "read_file2", "arguments": {"path": "x"}}]', IssueKind.UNKNOWN_TOOL),
    ('@tool look {"att": 1}', IssueKind.INVALID_ARGUMENTS),
    ('Now.\n{"name": "look", "arguments": {"att": "x"}}', IssueKind.INVALID_ARGUMENTS),
    ('[open_it(path="x")]', IssueKind.UNKNOWN_TOOL),
    ('{"name": "open_it", "arguments": {"path": "x"}}', IssueKind.UNKNOWN_TOOL),
]
ANSWERS = [
    '[{"name": "Oslo", "people": 3}]',
    '{"name": "Oslo", "type": "city"}',
    "[looks good](http://x.y/z)",
    "<b>bold</b>",
    '{"status": "ok"}',
    'For example:\n{"name": "read_file2", "arguments": {"path": "x"}}',
    '> {"name": "read_file2", "arguments": {"path": "x"}}',
    "1. do\n[read_file](docs.md) is the tool.",
    '[open_it(door="x")]',
    'For example:\n[open_it(path="x")]',
]


@pytest.mark.parametrize(("text", "kind"), MISREAD)
def test_an_intended_call_is_distinguished_from_an_answer(text: str, kind: IssueKind) -> None:
    assert [issue.kind for issue in misread(text, TOOLS)] == [kind]
    assert read(Response(message=Message("assistant", text)), TOOLS).kind is AnswerKind.BROKEN


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_is_told_from_a_call(text: str) -> None:
    assert misread(text, TOOLS) == ()
    assert read(Response(message=Message("assistant", text)), TOOLS).kind is AnswerKind.ANSWER


@pytest.mark.parametrize("text", [text for text, _ in MISREAD])
def test_an_intended_call_cut_at_the_limit_is_cut(text: str) -> None:
    cut = Response(message=Message("assistant", text[:-7]), stop=Stop.LENGTH)
    assert read(cut, TOOLS).kind is AnswerKind.BROKEN


@pytest.mark.parametrize("text", [*ANSWERS, *(text for text, _ in MISREAD), "I will use look."])
def test_without_tools_everything_is_an_answer(text: str) -> None:
    assert read(Response(message=Message("assistant", text)), []).kind is AnswerKind.ANSWER


@given(st.text(max_size=300))
def test_reading_an_answer_never_fails(text: str) -> None:
    for announcement in (text, "{" + text, "Let me " + text, '{"action": ' + text):
        read(Response(message=Message("assistant", announcement)), TOOLS)
        announces(announcement or "x", ["look"])


# ── the guard ────────────────────────────────────────────────────────────────


def test_calls_are_the_same_whatever_the_order_of_their_arguments() -> None:
    one = ToolCall(id="1", name="t", arguments={"a": 1, "b": {"c": 1, "d": 2}})
    two = ToolCall(id="2", name="t", arguments={"b": {"d": 2, "c": 1}, "a": 1})
    assert identity(one) == identity(two)
    assert identity(one) != identity(ToolCall(id="1", name="t", arguments={"a": True, "b": {"c": 1, "d": 2}}))


def test_a_turn_that_brings_anything_new_starts_the_count_anew() -> None:
    def pair(at: str, text: str) -> tuple[ToolCall, ToolResult]:
        return ToolCall(id="", name="t", arguments={"at": at}), ToolResult(call_id="", content=text)

    guard = Guard()
    assert [guard.note([pair(*each)]) for each in ["aa", "aa", "ab", "aa", "ba", "ba"]] == [1, 2, 1, 2, 1, 2]
