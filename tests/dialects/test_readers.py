"""Where calls and values end: texts read to the letter, whole and sign by sign, and what is told of the rest.

A line of `tests/vectors/readers.jsonl` is `id`, `source`, `tools`, `text` and how it is read, `dialects` and `finish` →
`calls`, `doubtful`, `content`, `reasoning`, `issues` (their kinds).  The texts are written by hand after the law named.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.dialects import Parsed, Parser, parse
from dragoman.dialects.engine.parsed import fold
from tests.support import places
from tests.support.dialect_vectors import outcome

ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (places.VECTORS / "readers.jsonl").read_text(encoding="utf-8").splitlines()
]
REACT = "Action: look\nAction Input: {"
LISTED = '[look(at="sky"), look(at="sea")]'
SAID = ("calls", "doubtful", "content", "reasoning", "issues")


def read(row: dict[str, Any], size: int) -> Parsed:
    how = {"dialects": row.get("dialects", "auto"), "shown": row.get("shown") or (), "finish_reason": row.get("finish")}
    parser = Parser(tools=row["tools"], **how)
    text = row["text"]
    parts = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
    return fold([*parts, *parser.close()])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_text_is_read_as_its_vector_says(row: dict[str, Any]) -> None:
    for size in (len(row["text"]) + 1, 1, 3):
        found = read(row, size)
        issues = [str(issue.kind) for issue in found.issues]
        told = {**outcome(found), "issues": issues}
        assert {key: told[key] for key in SAID} == {key: row[key] for key in SAID}


@pytest.mark.parametrize("end", range(len("Action: look"), len(REACT) + 1))
def test_a_call_cut_anywhere_behind_its_name_is_told_as_cut(end: int) -> None:
    parsed = parse(REACT[:end], tools=[{"name": "look", "parameters": {}}], dialects="react")
    assert [issue.kind for issue in parsed.issues] == ["truncated"]
    assert (parsed.calls, parsed.text) == ((), "")


@pytest.mark.parametrize("end", range(len('[look(at="sky"), l'), len(LISTED) - 2))
def test_of_a_list_that_breaks_off_in_a_call_the_others_run_and_it_is_told(end: int) -> None:
    tools = [{"name": "look", "parameters": {"properties": {"at": {"type": "string"}}, "required": ["at"]}}]
    parsed = parse(LISTED[:end], tools=tools, dialects="pythonic")
    assert [dict(call.arguments) for call in parsed.calls] == [{"at": "sky"}]
    assert [issue.kind for issue in parsed.issues] == ["truncated", "partial"]


OTHER = 'g(b=", f")'
KNOWN = 'f(a="x")'


@pytest.mark.parametrize("order", [(OTHER, KNOWN), (KNOWN, OTHER), (OTHER, OTHER, KNOWN)])
@pytest.mark.parametrize("between", [", ", ",\n "])
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_declared_call_in_a_list_is_kept_wherever_one_of_no_tool_stands(
    order: tuple[str, ...], between: str, size: int
) -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]
    text = f"[{between.join(order)}]"
    parser = Parser(tools=tools)
    events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
    parsed = fold([*events, *parser.close()])
    assert [dict(call.arguments) for call in parsed.calls] == [{"a": "x"}]
    assert [issue.name for issue in parsed.issues if issue.kind == "unknown_tool"] == ["g"] * order.count(OTHER)


def test_a_list_of_calls_of_no_tool_is_text() -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]
    text = '[g(a="x"), h(b="f")]'
    parsed = parse(text, tools=tools)
    assert (parsed.text, parsed.calls, parsed.issues) == (text, (), ())


def test_a_mend_is_told_once_for_each_argument_however_often_it_was_made() -> None:
    tools = [{"name": "f", "parameters": {}}]
    odd = "\\q\x01\\w\t"
    parsed = parse(f'<tool_call>{{"name": "f", "arguments": {{"a": "{odd}", "b": "{odd}"}}}}</tool_call>', tools=tools)
    (call,) = parsed.calls
    assert call.report is not None
    assert [(edit.kind, edit.path) for edit in call.report.edits] == [
        (kind, path) for path in ("$.arguments.a", "$.arguments.b") for kind in ("invalid_escape", "raw_control")
    ]
    assert call.arguments["a"] == call.arguments["b"] == odd


@pytest.mark.parametrize("written", [
    "<tool_call>\n<function=add>\n<parameter=a>\n1e999\n</parameter>\n</function>\n</tool_call>",
    "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>[-1e999]</arg_value>\n</tool_call>",
    "<add>\n<a>1e999</a>\n</add>",
    "<add>\na: 1e999\n</add>",
])  # fmt: skip
def test_a_number_that_json_cannot_tell_from_infinity_stays_text(written: str) -> None:
    parsed = parse(written, tools=[{"name": "add", "parameters": {"type": "object"}}])
    [call] = [*parsed.calls, *parsed.doubtful]
    assert call.arguments["a"] in ("1e999", "[-1e999]")
