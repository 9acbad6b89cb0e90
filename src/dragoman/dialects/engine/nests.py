"""Calls that stand in a broken call: where the closer of the outer one is.

A call whose argument documents other calls of its own notation, unescaped, cannot be read; what stands between its own
marks is an argument all the same, and nothing in it is a call (judge-rules.md D).  Where a mark was forgotten instead,
no closer answers the opener, and what follows is the next call.

Knows the marks of a row, and the brackets of its notation; does not know why the call broke.
Contract: a text that has ended is looked through once for each kind of marks, however many calls break in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...lenient.source import Need, Source
from ..reading.compiled import Marks, Row
from ..spec import BraceArgs, JsonArgs, JsonCall, KeywordArgs

BRACKETS: Mapping[type, tuple[str, str]] = {
    JsonCall: ("{", "}"), JsonArgs: ("{", "}"), BraceArgs: ("{", "}"), KeywordArgs: ("(", ")"),
}  # fmt: skip
"""What stands around the arguments, by their notation."""


class Kind(NamedTuple):
    """What opens and what closes; of brackets also which marks of calls must stand between, if the row has any."""

    opens: Marks
    closes: Marks
    calls: Marks = ()


class Nests:
    """Finds in one message the ends of calls that hold others."""

    __slots__ = ("_ends", "_src")

    def __init__(self, src: Source) -> None:
        self._src = src
        self._ends: dict[Kind, dict[int, int]] = {}

    def skip(self, row: Row, begun: int, *, on: bool = False) -> Need[bool]:
        """Go behind the end of the call that broke, if others stand in it; only `on`, where its end was read.

        What was read is held; there, or behind its opener, the call had `begun`.
        """
        src = self._src
        here, held = src.at, src.held()
        src.rewind()
        src.hold()
        begin, found = src.at, False
        for kind in _kinds(row):
            opener = max([held.rfind(mark, 0, begun - begin) for mark in kind.opens]) if not kind.calls else -1
            src.pos += begin - src.at + (opener if opener >= 0 else begun - begin)
            src.hold()
            found = (yield from self._search(kind)) and src.at >= here * on
            if found:
                src.release()
                return True
            src.rewind()
        src.pos += here - src.at
        return False

    def _search(self, kind: Kind) -> Need[bool]:
        """Go behind the closer of the first opener from here on, if a call's mark stands between."""
        src = self._src
        marks = (*kind.opens, *kind.closes, *kind.calls)
        open_: list[tuple[int, bool]] = []  # where what is open began, and does a call's mark stand in it
        ends: dict[int, int] = {}
        while mark := (yield from src.until(marks, _ignore)):
            start = src.at - len(mark)
            if not open_ and mark in kind.opens and kind in self._ends:
                end = self._ends[kind].get(start, 0)
                src.pos += end - src.at if end else 0
                return bool(end)
            if open_ and mark in (kind.calls or kind.opens):
                open_[-1] = (open_[-1][0], True)
            if mark in kind.opens:
                open_.append((start, False))
            elif mark in kind.closes and open_:
                at, holds = open_.pop()
                if holds:
                    ends[at] = src.at
                if not open_:
                    return holds
                open_[-1] = (open_[-1][0], open_[-1][1] or holds)
        self._ends[kind] = ends
        return False


def _kinds(row: Row) -> Iterator[Kind]:
    """What may tell the end of a call of this row, the surest first."""
    for opens, closes in ((row.call_open, row.call_close), (row.section_open, row.section_close)):
        kind = Kind(_told(opens), tuple(mark for mark in closes if len(mark) > 1 and mark not in opens))
        if kind.opens and kind.closes:
            yield kind
            break
    around = BRACKETS.get(type(row.dialect.args))
    if around is not None:
        forms = (mark for form in row.forms for mark in form)
        calls = _told((*row.section_open, *row.call_open, *row.tool_open, *forms))
        yield Kind(around[:1], around[1:], calls or around[:1])


def _told(marks: Marks) -> Marks:
    """Marks that nobody writes by chance."""
    return tuple(mark for mark in marks if len(mark) > 2)


def _ignore(_: str) -> None:
    return None
