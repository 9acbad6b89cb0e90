"""Every call in a text that the model was shown, quoted or not, by whatever dialect it is written in.

The rows' own readers are tried wherever an opener stands; where that is in the text, what quotes it and whether it was
meant does not matter.  For `judge/provenance.py`, which compares calls by value.

Contract: calls inside the values of calls are found too; no more is read than was allowed, and where that ends is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ...lenient.notation import Broken, Cut
from ...lenient.source import Source
from ..judge.candidate import Draft
from ..judge.declared import Declared
from ..judge.judge import Judge
from ..judge.provenance import Read, ReadCall, Reading, Sought
from ..reading.call import Attempt, Mismatch
from ..reading.compiled import Row
from ..reading.named import opener
from ..reading.table import READERS
from ..rows.table import ALL
from .lookahead import unlike
from .markers import Table, openings, table

WINDOW = 16_000
"""A call is first read in so many characters, and in all that follows only if it does not end there."""
ATTEMPT = 60
"""Trying a row costs as much as reading so many characters,"""
BROKEN = 60_000
"""and looking for the end of a damaged string as so many."""


def reads(tools: Declared | None) -> Read:
    """Reads texts for calls of these tools."""
    return _Reads(tools).read


class _Reads:
    """Reads by a judge that is made for the first text that is read: hardly any is."""

    __slots__ = ("_judge", "_tools")

    def __init__(self, tools: Declared | None) -> None:
        self._tools = tools
        self._judge: Judge | None = None

    def read(self, text: str, sought: Sought, left: int) -> Reading:
        """A call in `text`."""
        self._judge = judge = self._judge or Judge(self._tools)
        return _read(text, sought, left, judge)


@lru_cache(maxsize=1)
def _marks() -> tuple[Table, re.Pattern[str]]:
    """The table of all rows, and what its openers begin with."""
    marks = table(ALL, calls=True, asked=True)
    return marks, openings(marks)


def _read(text: str, sought: Sought, left: int, judge: Judge) -> Reading:
    marks = _marks()[0]
    for at in _openings(text, sought.near, sought.reach):
        if left <= 0:
            return Reading(None, at, 0)
        for row in _rows(text, at, judge.declared, marks):
            drafts, begun, size = _try(text, at, row, judge)
            left -= size + ATTEMPT
            for draft in drafts:
                call = ReadCall(draft.name, draft.arguments(), at, draft.dialect)
                if sought.is_it(call):
                    return Reading(call, at, left)
            if begun:
                break
    return Reading(None, len(text), left)


def _openings(text: str, near: re.Pattern[str], reach: int) -> Iterator[int]:
    """Where openers may stand that are at most so far before a place where the pattern is found."""
    leads, pos = _marks()[1], 0
    for place in near.finditer(text):
        pos = max(pos, place.start() - reach)
        while lead := leads.search(text, pos, place.end()):
            yield lead.start()
            pos = lead.start() + 1


def _rows(text: str, at: int, names: Declared, marks: Table) -> Iterator[Row]:
    """The rows that an opener here may begin, and that what follows it does not rule out."""
    mark = marks.marker.match(text, at)
    rows = marks.rows.get(mark.group().casefold(), ()) if mark else ()
    for form, formed in marks.forms.items() if names else ():
        if opener(names, (form,), text, at, eof=True):
            rows += tuple(row for row in formed if row not in rows)
    for row in rows:
        other = unlike(row)
        if other is None or not other(text, at):
            yield row


def _try(text: str, at: int, row: Row, judge: Judge) -> tuple[list[Draft], bool, int]:
    """The complete calls of declared tools that this row reads here, whether it began any, and what that cost."""
    spent = 0
    for end in (at + WINDOW, len(text)):
        src = Source()
        src.buf, src.base, src.eof = text[at:end], at, True
        attempt = Attempt(src, row, judge, _ignore, READERS)
        cut = broken = False
        try:
            for _ in attempt.run():
                pass
        except Mismatch:
            pass
        except Broken:
            broken = bool(attempt.drafts)
        except Cut:
            cut, broken = True, bool(attempt.drafts)
        spent += src.pos + BROKEN * broken
        if end >= len(text) or not (cut or src.pos >= len(src.buf)):
            break
    drafts = attempt.drafts
    return [d for d in drafts if d.done and (d.tool is not None or judge.tools is None)], bool(drafts), spent


def _ignore(_: Any) -> None:
    return None
