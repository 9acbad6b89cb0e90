"""A call of which one kind of sign is wrong runs as it was meant, whole and in pieces; where two are, it is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.dialects import Parsed, Parser, parse
from dragoman.dialects.engine.parsed import fold
from dragoman.events import CallDelta, CallEnded, CallStarted
from dragoman.types import Tool, Verdict

TEXT, TEXTS, WHOLE = {"type": "string"}, {"type": "array", "items": {"type": "string"}}, {"type": "integer"}
TOOLS = (
    Tool(
        name="search",
        parameters={
            "type": "object", "properties": {"query": TEXT, "limit": WHOLE, "tags": TEXTS}, "required": ["query"],
        },
    ),
    Tool(
        name="meet",
        parameters={
            "type": "object", "required": ["title"],
            "properties": {"title": TEXT, "options": {"type": "object", "properties": {"color": TEXT, "tags": TEXTS}}},
        },
    ),
)  # fmt: skip
NOTATIONS = (
    '<tool_call>\n{"name": "search", "arguments": %s}\n</tool_call>',
    "[TOOL_CALLS]search[ARGS]%s",
    '[TOOL_CALLS][{"name": "search", "arguments": %s}]',
    '{"name": "search", "parameters": %s}',
    '```tool_call\n{"name": "search", "arguments": %s}\n```',
    "<function=search>%s</function>",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>%s<|tool_call_end|>"
    "<|tool_calls_section_end|>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n```json\n%s\n```<｜tool▁call▁end｜>"
    "<｜tool▁calls▁end｜>",
)


def plain(parsed: Parsed) -> str:
    calls = [(c.id, c.name, dict(c.arguments), str(c.report)) for c in parsed.calls]
    return json.dumps([calls, [(i.kind, i.message, i.raw) for i in parsed.issues], parsed.text], default=list)


def read(text: str, **options: Any) -> Parsed:
    """The reading of the text, which is the same character by character."""
    parser = Parser(tools=TOOLS, **options)
    parts = fold([e for c in text for e in parser.feed(c)] + parser.close())
    whole = parse(text, tools=TOOLS, **options)
    assert plain(parts) == plain(whole)
    return whole


def called(parsed: Parsed) -> list[Any]:
    return [(c.name, json.loads(json.dumps(c.arguments, default=dict))) for c in parsed.calls]


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (r'{\"query\": \"say \\\"hi\\\"\", \"limit\": 5}', {"query": 'say "hi"', "limit": 5}),
        ('{"query": "x", "tags": ["a", "b", "limit": 5}', {"query": "x", "tags": ["a", "b"], "limit": 5}),
        ('{"query": "x", "tags": ["a", "b"}', {"query": "x", "tags": ["a", "b"]}),
        ('{"query": "x", "tags": "a", "b"], "limit": 5}', {"query": "x", "tags": ["a", "b"], "limit": 5}),
        ('{"query" => "x", "limit" = 5}', {"query": "x", "limit": 5}),
        ('{"query": "x", limit": 5}', {"query": "x", "limit": 5}),
        ('{"query": "x", "limit: 5}', {"query": "x", "limit": 5}),
    ],
)
def test_one_sign_wrong_is_mended_in_every_notation(notation: str, arguments: str, meant: dict[str, Any]) -> None:
    parsed = read(notation % arguments)
    assert called(parsed) == [("search", meant)]
    assert [c.report and c.report.verdict for c in parsed.calls] == [Verdict.MENDED]
    assert not [issue for issue in parsed.issues if issue.kind != "noise"]


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize(
    "arguments",
    [
        r'{\"query\": \"say \"hi\" now\"}',
        r'{\"query\": \"C:\\temp\\new\"}',
        r'{\"query\": \"x',
        '{"query": "x", "tags": ["a", "b", "other": 5}',
        '{"query": "x", "tags": ["a", "b", "limit", 5}',
        '{"query": "x", "tags": ["a", "limit": 5, "b"]}',
        '{"query": "x", "tags": ["a", "b", "query": "y"}',
        '{"query" = "x", "other" = 5}',
        '{"query" = "a" = "b"}',
        '{"query": "x", other": 5}',
        '{"query": "x, limit": 5}',
        '{"query: x", "limit": 5}',
    ],
)
def test_two_signs_wrong_or_two_readings_are_refused(notation: str, arguments: str) -> None:
    parsed = read(notation % arguments)
    assert called(parsed) == []
    assert parsed.issues


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (r'<tool_call>{\"name\": \"search\", \"arguments\": {\"query\": \"x\"}}</tool_call>', {"query": "x"}),
        ('<tool_call>{name": "search", "arguments": {"query": "x"}}</tool_call>', {"query": "x"}),
        ('<tool_call>{"name" = "search", "arguments" = {"query" = "x"}}</tool_call>', {"query": "x"}),
        ('<tool_call>{"name": "search", "arguments: {"query": "x"}}</tool_call>', {"query": "x"}),
    ],
)
def test_the_envelope_is_mended_as_its_arguments_are(text: str, meant: dict[str, Any]) -> None:
    assert called(read(text)) == [("search", meant)]


@pytest.mark.parametrize(
    "notation",
    ["[%s]", "<|python_tag|>%s<|eom_id|>", "<|tool_call_start|>[%s]<|tool_call_end|>", "```tool_code\n%s\n```"],
)
@pytest.mark.parametrize(
    ("call", "meant"),
    [
        ('search(query="x", tags=["a", "b", limit=5)', {"query": "x", "tags": ["a", "b"], "limit": 5}),
        ("search(query='x', tags=['a', 'b')", {"query": "x", "tags": ["a", "b"]}),
        ('search(query="x", tags="a", "b"], limit=5)', {"query": "x", "tags": ["a", "b"], "limit": 5}),
        (r'search(query=\"x\", limit=5)', {"query": "x", "limit": 5}),
        ('search(query="x", tags=["a", limit=5, "b"])', None),
        ('search(query="x", tags=["a" "b", limit=5)', None),
        ('search(query="x", tags=["a", other=5)', None),
        ('search(query="x", tags=["a]", limit=5)', None),
        (r'search(query=\"x", limit=5)', None),
        ('search(query="x", tags=["a", limit=n)', None),
    ],
)
def test_a_python_call_is_mended_so_too(notation: str, call: str, meant: dict[str, Any] | None) -> None:
    assert called(read(notation % call)) == ([] if meant is None else [("search", meant)])


def test_what_stands_behind_a_mended_call_is_read_as_ever() -> None:
    bad = '<tool_call>{"name": "search", "arguments": {"query": "x", "tags": ["a", "limit": 5}}</tool_call>'
    good = '<tool_call>{"name": "meet", "arguments": {"title": "y"}}</tool_call>'
    parsed = read(f"First.\n{bad}\n{good}\nDone.")
    assert [name for name, _ in called(parsed)] == ["search", "meet"]
    assert parsed.text == "First.\n\n\nDone."
    assert not parsed.issues


def test_a_key_of_another_object_ends_no_list() -> None:
    text = '<tool_call>{"name": "meet", "arguments": {"options": {"tags": ["a", "title": "x"}}}</tool_call>'
    assert called(read(text)) == []


def test_a_call_told_while_it_was_read_ends_before_the_one_that_it_was() -> None:
    text = '<tool_call>{"name": "search", "arguments": {"query": "x", "tags": ["a", "limit": 5}}</tool_call>'
    parser = Parser(tools=TOOLS)
    events = [e for c in text for e in parser.feed(c)] + parser.close()
    started = [e.index for e in events if isinstance(e, CallStarted)]
    ended = {e.index: e.report.verdict for e in events if isinstance(e, CallEnded) and e.report}
    assert started == [0, 1]
    assert ended == {0: Verdict.REFUSED, 1: Verdict.MENDED}
    for index in started:
        json.loads("".join(e.json for e in events if isinstance(e, CallDelta) and e.index == index))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (NOTATIONS[0] % '{"query": "x", limit": 5}', {"strict": True}),
        ("<think>" + NOTATIONS[0] % '{"query": "x", limit": 5}' + "</think>\nNothing.", {}),
        ("```text\n" + NOTATIONS[0] % '{"query": "x", limit": 5}' + "\n```\nSo it looks.", {}),
        (NOTATIONS[1] % '{"query": "x", "tags": ["a"}', {"finish_reason": "length"}),
    ],
)
def test_nothing_is_read_again_where_it_would_not_run(text: str, options: dict[str, Any]) -> None:
    assert called(read(text, **options)) == []
