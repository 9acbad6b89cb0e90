"""Fields beside a call's name: what wires put there says nothing, what the tool declares is an argument or a refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import Parser, Tool, assemble, parse

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
TOOLS = [
    Tool(name="write_file", parameters={"type": "object", "properties": {"path": TEXT, "content": TEXT}}),
    Tool(
        name="close_ticket",
        parameters={
            "type": "object",
            "properties": {"id": NUMBER, "status": TEXT, "reason": TEXT, "type": TEXT, "index": NUMBER, "call_id": TEXT},
        },
    ),
    Tool(name="note", parameters={"type": "object", "properties": {"content": TEXT}, "required": ["content"]}),
]
FLAT: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"name": "write_file", "path": "a", "content": "x"}, {"path": "a", "content": "x"}),
    ({"name": "write_file", "content": "x", "path": "a"}, {"path": "a", "content": "x"}),
    ({"name": "write_file", "type": "function", "path": "a"}, {"path": "a"}),
    ({"name": "note", "content": "x"}, {"content": "x"}),
    ({"name": "close_ticket", "id": 5, "status": "done"}, {"id": 5, "status": "done"}),
    ({"name": "close_ticket", "id": "5"}, {"id": 5}),
    ({"id": "call_1", "type": "function", "name": "close_ticket", "reason": "dup"}, {"reason": "dup"}),
    ({"name": "close_ticket", "type": "bug", "id": 1}, {"type": "bug", "id": 1}),
]
"""Calls without an object for their arguments, and what they are."""
SILENT: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"id": "call_1", "name": "close_ticket", "arguments": {"id": 5}}, {"id": 5}),
    ({"id": "call_1", "type": "function", "name": "close_ticket", "arguments": {"reason": "x"}}, {"reason": "x"}),
    ({"type": "tool_use", "id": "toolu_1", "name": "close_ticket", "input": {"reason": "x"}}, {"reason": "x"}),
    ({"name": "close_ticket", "arguments": {"id": 5}, "status": "completed", "call_id": "fc_1"}, {"id": 5}),
    ({"index": 0, "name": "close_ticket", "arguments": {"id": 5}}, {"id": 5}),
    ({"role": "assistant", "content": "Saving.", "name": "write_file", "arguments": {"path": "a"}}, {"path": "a"}),
    ({"content": None, "name": "write_file", "arguments": {"path": "a"}}, {"path": "a"}),
    ({"content": "", "name": "write_file", "arguments": {"path": "a"}}, {"path": "a"}),
    ({"reason": "to save", "name": "write_file", "arguments": {"path": "a"}}, {"path": "a"}),
    ({"name": "close_ticket", "reason": "dup", "arguments": {"reason": "a duplicate"}}, {"reason": "a duplicate"}),
    ({"content": "I do", "function": {"name": "write_file", "arguments": {"path": "a"}}}, {"path": "a"}),
    ({"function": {"name": "write_file", "arguments": {"path": "a"}}, "content": "I do"}, {"path": "a"}),
]
"""What stands beside says nothing of the call."""
UNCLEAR: list[tuple[dict[str, Any], str]] = [
    ({"name": "write_file", "arguments": {"path": "a"}, "content": "x"}, "content"),
    ({"content": "x", "name": "write_file", "arguments": {"path": "a"}}, "content"),
    ({"name": "close_ticket", "arguments": {"id": 5}, "status": "done"}, "status"),
    ({"name": "close_ticket", "arguments": {"id": 5}, "reason": "The user asked for it."}, "reason"),
    ({"name": "close_ticket", "type": "bug", "arguments": {"id": 5}}, "type"),
    ({"name": "close_ticket", "id": 7, "arguments": {"reason": "x"}}, "id"),
]
"""Of these nobody can say whether the field was meant for an argument."""


def both(text: str, tools: list[Tool] = TOOLS) -> list[Any]:
    """What is read of a text whole and in pieces."""
    found = [parse(text, tools=tools)]
    for size in (1, 7):
        parser = Parser(tools=tools)
        events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
        found.append(assemble([*events, *parser.close()]))  # type: ignore[arg-type]
    return found


def written(call: dict[str, Any]) -> list[str]:
    text = json.dumps(call)
    return [f"<tool_call>\n{text}\n</tool_call>", text]


@pytest.mark.parametrize(("call", "arguments"), [*FLAT, *SILENT], ids=lambda one: json.dumps(one)[:60])
def test_a_call_runs_with_the_arguments_that_stand_beside_its_name_and_no_others(
    call: dict[str, Any], arguments: dict[str, Any]
) -> None:
    for text in written(call):
        for found in both(text):
            assert [dict(one.arguments) for one in found.calls] == [arguments], text


@pytest.mark.parametrize(("call", "key"), UNCLEAR, ids=lambda one: json.dumps(one)[:60])
def test_an_argument_outside_the_arguments_is_refused_by_its_name(call: dict[str, Any], key: str) -> None:
    for text in written(call):
        for found in both(text):
            assert not found.calls, text
            assert [issue.message for issue in found.issues] == [f"fields stand outside the arguments: {key}"]


DEFINES = Tool(
    name="define", parameters={"type": "object", "properties": {"type": TEXT, "properties": {"type": "object"}, "Args": TEXT}}
)
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ({"name": "define", "parameters": SCHEMA}, SCHEMA),
        ({"parameters": SCHEMA, "name": "define"}, SCHEMA),
        ({"name": "define", "Args": "x"}, {"Args": "x"}),
    ],
    ids=str,
)
def test_a_tool_whose_arguments_look_like_a_definition_is_called(call: dict[str, Any], arguments: dict[str, Any]) -> None:
    for text in written(call):
        for found in both(text, [DEFINES]):
            assert [dict(one.arguments) for one in found.calls] == [arguments], text


@pytest.mark.parametrize("call", [{"name": "note", "parameters": SCHEMA}, {"parameters": SCHEMA, "name": "note"}], ids=str)
def test_the_definition_of_a_tool_is_no_call_in_any_order(call: dict[str, Any]) -> None:
    for text in written(call):
        for found in both(text):
            assert not found.calls, text


def test_arguments_before_the_name_are_read_behind_a_mark() -> None:
    for found in both('<tool_call>{"content": "x", "path": "a", "name": "write_file"}</tool_call>'):
        assert [dict(one.arguments) for one in found.calls] == [{"content": "x", "path": "a"}]


def test_a_field_of_no_argument_before_the_name_is_refused() -> None:
    for found in both('<tool_call>{"colour": "x", "path": "a", "name": "write_file"}</tool_call>'):
        assert (found.calls, [issue.kind for issue in found.issues]) == ((), ["malformed"])
