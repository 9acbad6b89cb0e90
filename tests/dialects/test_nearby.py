"""Where a declared tool is named next: the same in any pieces, in every spelling that counts as its name."""

from __future__ import annotations

import json

import pytest

from dragoman import Parser, parse
from dragoman.dialects.engine.nearby import REACH, Nearby
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.judge.declared import declared
from dragoman.lenient.source import Source
from dragoman.types import Tool

PROSE = "so it goes and nobody knows. " * 100


def near(names: list[str], text: str, *, eof: bool = True) -> Nearby:
    source = Source()
    source.feed(text)
    source.eof = eof
    found = declared([Tool(name=name) for name in names])
    assert found is not None
    return Nearby(source, found)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("read_file", "read_file"), ("read_file", "ReadFile"), ("read_file", "read-file"), ("read_file", "read\\_file"),
        ("kom.memory.search", "search"), ("kom.memory.search", "kom_memory_search"), ("ping", "functions.ping"),
        ("ping", "PING"), ("ping", "p\\u0069ng"), ("größe", "GRÖSSE"[:2] + "ße"),
    ],
)  # fmt: skip
def test_every_spelling_of_a_name_is_near(name: str, written: str) -> None:
    assert near([name], PROSE + written + PROSE).clear() <= len(PROSE) - REACH + len(written)


@pytest.mark.parametrize("count", [1, 2, 200])
def test_prose_without_names_is_clear_up_to_its_end(count: int) -> None:
    names = [f"fetch_page{n}" for n in range(count)]
    assert near(names, PROSE).clear() == len(PROSE) - REACH
    assert near([*names, "ping"], PROSE + '{"name": "ping"}' + PROSE).clear() == len(PROSE) + 10 - REACH


def test_a_name_that_may_still_come_is_waited_for() -> None:
    found = near(["ping"], PROSE + "pi", eof=False)
    assert found.clear() < len(PROSE) - REACH
    assert found.ends() == -1


def test_a_name_without_letters_is_near_everywhere() -> None:
    assert near(["_"], PROSE).clear() <= 0


LONG = {"content": "def f():\n    pass\n" * 100, "path": "a.py"}
LAST = {
    "arguments": json.dumps({"arguments": LONG, "name": "write_file"}),
    "another word for them": json.dumps({"tool_input": LONG, "tool_name": "write_file"}),
    "in Python's quotes": repr({"args": LONG, "name": "write_file"}),
    "without quotes": json.dumps({"parameters": LONG, "name": "write_file"}).replace('"parameters"', "parameters", 1),
    "in a fence": f"```json\n{json.dumps({'arguments': LONG, 'name': 'write_file'})}\n```",
}


@pytest.mark.parametrize("before", ["{\"a\": 1}\n", "[1] see\n", "- {x}\n", "```js\nfoo({a: 1})\n```\n"])
@pytest.mark.parametrize("call", LAST.values(), ids=LAST)
@pytest.mark.parametrize("count", [1, 100])
def test_a_call_that_names_its_tool_last_is_found_behind_many_marks(before: str, call: str, count: int) -> None:
    tools = [Tool(name="write_file"), *(Tool(name=f"tool_{n}") for n in range(count - 1))]
    text = f"{before * 600}\n\n{call}"
    parser = Parser(tools=tools)
    events = [event for at in range(0, len(text), 1000) for event in parser.feed(text[at : at + 1000])]
    for parsed in (parse(text, tools=tools), fold(events + parser.close())):
        assert [(one.name, dict(one.arguments)) for one in parsed.doubtful] == [("write_file", LONG)]
