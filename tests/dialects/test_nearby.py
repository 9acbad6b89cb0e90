"""Where a declared tool is named next: the same in any pieces, in every spelling that counts as its name."""

from __future__ import annotations

import pytest

from dragoman.dialects.engine.nearby import REACH, Nearby
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
