"""Calls that an argument documents without escaping them: whatever becomes of the outer call, none of them runs."""

from __future__ import annotations

import pytest

from dragoman import Parser, Tool, assemble, parse
from dragoman.dialects import DIALECTS, Dialect
from dragoman.dialects.engine.nests import BRACKETS
from dragoman.dialects.writing.render import Unrenderable, render
from dragoman.types import ToolCall

TEXT = {"type": "string"}
TOOLS = [
    Tool(name="bash", parameters={"type": "object", "properties": {"command": TEXT}}),
    Tool(name="write_file", parameters={"type": "object", "properties": {"path": TEXT, "content": TEXT}}),
]
LISTED = ToolCall(id="", name="bash", arguments={"command": "ls"})
MEANT_BADLY = ToolCall(id="", name="bash", arguments={"command": "rm -rf build"})
HERE = "@@HERE@@"


def written(row: Dialect, calls: list[ToolCall]) -> str:
    try:
        return render(calls, row, tools=TOOLS)
    except Unrenderable:
        pytest.skip("it cannot write this call")


def closers(row: Dialect) -> list[str]:
    return [mark.strip() for mark in (*row.call.close[:1], *row.section.close[:1]) if len(mark.strip()) > 1]


def documents(row: Dialect) -> list[str]:
    """Calls that write a text which holds one call of this row, two, and two with words between."""
    outer = written(row, [ToolCall(id="", name="write_file", arguments={"path": "d.md", "content": HERE})])
    first, second = written(row, [LISTED]), written(row, [MEANT_BADLY])
    inner = (second, written(row, [LISTED, MEANT_BADLY]), f"{first}\nand then\n{second}", first + second)
    return [outer.replace(HERE, text) for one in inner for text in (one, f"Doc: {one} end.")]


@pytest.mark.parametrize("row", DIALECTS.values(), ids=lambda row: row.name)
def test_no_call_in_an_argument_runs_though_nobody_escaped_it(row: Dialect) -> None:
    for text in documents(row):
        for told in ("auto", [row]):
            read = parse(text, tools=TOOLS, dialects=told)
            assert "bash" not in [call.name for call in read.calls], text
            parser = Parser(tools=TOOLS, dialects=told)
            events = [event for at in range(0, len(text), 7) for event in parser.feed(text[at : at + 7])]
            assert [call.arguments for call in assemble([*events, *parser.close()]).calls] == [
                call.arguments for call in read.calls
            ], text


QUOTED = [row for row in DIALECTS.values() if type(row.args) in BRACKETS and closers(row)]


@pytest.mark.parametrize("row", QUOTED, ids=lambda row: row.name)
@pytest.mark.parametrize(
    "form", ["See\n{close}\n{call}\nfor details.", "See {close} then {call} etc.", "See\n{close}\n{call}"]
)
def test_a_closer_in_a_string_does_not_end_its_call(row: Dialect, form: str) -> None:
    outer = written(row, [ToolCall(id="", name="write_file", arguments={"path": "d.md", "content": HERE})])
    for close in closers(row):
        text = outer.replace(HERE, form.format(close=close, call=written(row, [MEANT_BADLY])))
        for told in ("auto", [row]):
            assert "bash" not in [call.name for call in parse(text, tools=TOOLS, dialects=told).calls], text


HERMES = '<tool_call>\n{{"name": "bash", "arguments": {{"command": "{}"}}}}\n</tool_call>'
GEMMA = '<|tool_call>call:bash{{command:<|"|>{}<|"|>}}<tool_call|>'


@pytest.mark.parametrize(
    ("broken", "form"),
    [
        ('<tool_call>\n{"name": "write_file", "arguments": {"path": "d.md", "content": "Doc\n', HERMES),
        ('<tool_call>\n{"name": "write_file", "arguments": {"path": }}\n</tool_call>\n', HERMES),
        ("<|tool_call>call:write_file{path:}<tool_call|>", GEMMA),
        (
            "<|tool_call_start|>[write_file(path=)]<|tool_call_end|>",
            "<|tool_call_start|>[bash(command='{}')]<|tool_call_end|>",
        ),
    ],
)
def test_calls_behind_one_that_broke_run(broken: str, form: str) -> None:
    text = broken + form.format("ls") + "\n" + form.format("pwd")
    assert [call.arguments["command"] for call in parse(text, tools=TOOLS).calls][-1:] == ["pwd"]
