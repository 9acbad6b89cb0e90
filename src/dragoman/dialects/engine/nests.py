"""Calls that stand in a broken call: where the closer of the outer one is.

A call whose argument documents other calls of its own notation, unescaped, cannot be read; what stands between its own
marks is an argument all the same, and nothing in it is a call (judge-rules.md D).  Where a mark was forgotten instead,
no closer answers the opener, and what follows is the next call.

Knows the marks of a row, and the brackets of its notation; does not know why the call broke.
Contract: a text that has ended is looked through once for each kind of marks, however many calls break in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum

from ...lenient.source import Need, Source
from ...records import NamedTuple
from ..reading.compiled import Marks, Row, telling
from ..spec import AttributeArgs, BraceArgs, JsonArgs, JsonCall, KeywordArgs

BRACES = ("{", "}")
BRACKETS: Mapping[type, tuple[str, str]] = {
    JsonCall: BRACES, JsonArgs: BRACES, BraceArgs: BRACES, AttributeArgs: BRACES, KeywordArgs: ("(", ")"),
}  # fmt: skip
"""What stands around the arguments, by their notation."""


class Kind(NamedTuple):
    """What opens and what closes; of brackets also which marks of calls must stand between, if the row has any."""

    opens: Marks
    closes: Marks
    calls: Marks = ()


class End(IntEnum):
    """Where a search went: nowhere, behind the call's own closer, or behind one with other calls before it."""

    NONE = 0
    OWN = 1
    AROUND = 2


class Nests:
    """Finds in one message the ends of calls that hold others."""

    __slots__ = ("_ends", "_src")

    def __init__(self, src: Source) -> None:
        self._src = src
        self._ends: dict[Kind, dict[int, tuple[int, End]]] = {}

    def skip(self, row: Row, begun: int, *, back: bool) -> Need[bool]:
        """Go behind the end of the call that broke, if that is known; `back`, too, where it was read past its end.

        What was read is held; there, or behind its opener, the call had `begun`.
        """
        src = self._src
        here, held = src.at, src.held()
        src.rewind()
        src.hold()
        begin = src.at
        own, closers = 0, telling((*row.call_close, *row.section_close))
        for kind in _kinds(row):
            opener = max([held.rfind(mark, 0, begun - begin) for mark in kind.opens]) if not kind.calls else -1
            src.pos += begin - src.at + (opener if opener >= 0 else begun - begin)
            src.hold()
            found = yield from self._search(kind)
            if found is End.AROUND and (back or src.at >= here):
                src.release()
                size = (yield from src.glance(closers))[0] if kind.calls else 0
                src.pos += size
                return True
            if found and (back or (src.at >= here and not kind.calls)):
                own = own or src.at
            src.rewind()
        src.pos += (own or here) - src.at
        return own > 0

    def _search(self, kind: Kind) -> Need[End]:
        """Go behind the closer of the first opener from here on."""
        src = self._src
        marks = (*kind.opens, *kind.closes, *kind.calls)
        open_: list[tuple[int, End]] = []  # where what is open began, and how it ends if it does
        ends: dict[int, tuple[int, End]] = {}
        last = (-1, "")  # where the last closer ended
        while mark := (yield from src.until(marks, _ignore)):
            start = src.at - len(mark)
            if not open_ and mark in kind.opens and kind in self._ends:
                end, found = self._ends[kind].get(start, (src.at, End.NONE))
                src.pos += end - src.at
                return found
            if open_ and mark in (kind.calls or kind.opens):
                open_[-1] = (open_[-1][0], End.AROUND)
            if mark in kind.opens:
                open_.append((start, End.OWN))
            elif last[0] == start and last[1] != mark:
                last = src.at, mark  # a call's closer and its section's are one
            elif mark in kind.closes and open_:
                last = src.at, mark
                at, found = open_.pop()
                ends[at] = src.at, found
                if not open_:
                    return found
                open_[-1] = (open_[-1][0], max(open_[-1][1], found))
        self._ends[kind] = ends
        return End.NONE


def _kinds(row: Row) -> Iterator[Kind]:
    """What may tell the end of a call of this row, the surest first."""
    forms = tuple(mark for form in row.forms for mark in form)
    for opens, closes in ((row.call_open, row.call_close), (row.section_open, row.section_close)):
        told = tuple(mark for mark in closes if len(mark) > 1 and mark not in opens)
        begun = telling((*opens, *forms, *map(_opening, told)))
        if opens and begun and told:
            yield Kind(begun, told)
            break
    around = BRACKETS.get(type(row.dialect.args))
    if around is not None:
        around_calls = (*row.section_open, *row.call_open, *row.tool_open, *row.call_close, *row.section_close)
        calls = telling((*around_calls, *forms))
        yield Kind(around[:1], around[1:], calls or around[:1])


def _opening(closer: str) -> str:
    """What such a closing tag answers, whichever row wrote it."""
    return "<" + closer[2:] if closer[:2] == "</" and closer[-1:] == ">" else ""


def _ignore(_: str) -> None:
    return None
