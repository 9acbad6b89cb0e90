"""`python -m bench` names a program for every table of docs/performance.md, and each of them is there."""

from __future__ import annotations

from pathlib import Path

from bench.__main__ import ALONG, PROGRAMS, tables
from tests.support.places import ROOT


def test_every_table_has_a_program_and_every_program_is_there() -> None:
    assert sorted(tables()) == sorted({*PROGRAMS, *ALONG})
    assert set(ALONG.values()) <= PROGRAMS.keys()
    for command in PROGRAMS.values():
        place = command[1].replace(".", "/") if command[0] == "-m" else command[0].removesuffix(".py")
        assert any((ROOT / Path(f"{place}{end}")).exists() for end in (".py", "/__main__.py"))
