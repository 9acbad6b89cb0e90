"""Fences that are text: in which nothing stands that a call could begin with, so that nobody has to read them.

Knows the rows that a fence opens and what begins a call; nothing of where a fence stands.
Contract: a fence that passes is one that `fences.py` would find to be text, and no row would try.  It costs no patience
(`budget.py`), as none does that could be passed.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...late import late
from ...lenient.source import prefixes_of
from ..reading.compiled import Row
from ..spec import AT_FIRST
from .lookahead import untried
from .marks_at import MarksAt
from .stops import Fate, Stops

MAX_INFO = 200
"""A fence's info line is not longer."""
LINES = late(r"(`{3,})([^`\n]*)(?:(\n)[ \t\r\n\f\v\u00a0\ufeff]*)?")
"""A fence's first line, and the white space behind it."""
SIGN, RUN = "`", 3
"""The sign of fences that may pass, and how many make one."""
ENOUGH = 64
"""So much text tells of the rows that a fence opens by itself whether one was meant."""


class Passing:
    """Asked of the fences of one table: its `rows` by marker, which `marker` finds, and how `fences` are written."""

    __slots__ = ("_begun", "_late", "_longest", "_looks", "_marker", "_stops", "sign")

    def __init__(
        self, rows: Mapping[str, tuple[Row, ...]], fences: frozenset[str], marker: MarksAt, stops: Stops
    ) -> None:
        self._marker, self._stops = marker, stops
        looks = [None if row.strong else untried(row) for row in rows.get(SIGN * RUN, ())]
        self._looks = [look for look in looks if look]
        begun = [mark for mark in rows if mark.startswith(SIGN * RUN) and "\n" in mark]
        self._begun, self._longest = prefixes_of(begun), max(map(len, begun), default=0)
        alone = rows.get(SIGN, ())
        self._late = all(row.place in AT_FIRST and not row.strong for row in alone)
        self.sign = SIGN if SIGN * RUN in fences and None not in looks else ""

    def fate(self, text: str, pos: int, heads: frozenset[str]) -> Fate:
        """What becomes of the fence that opens, or closes, here; its sign may stand alone."""
        line, size = LINES.match(text, pos), len(text)
        if line is None:
            return Fate.WAITS if size - pos < RUN and text[pos:] == text[pos] * (size - pos) else Fate.STOPS
        run, end, behind = line[1], line.end(2), line.end()
        if behind == size or line[3] is None:  # more of it is to come, or a backtick stands in the line
            return Fate.WAITS if behind == size and size - pos <= MAX_INFO else Fate.STOPS
        marker = self._marker.match(text, pos)
        if marker is None or marker.end() > pos + RUN or end - pos > MAX_INFO:
            return Fate.STOPS
        if not all(look(text, pos) for look in self._looks):
            return Fate.WAITS if size - pos < ENOUGH else Fate.STOPS
        if size - pos < self._longest and text[pos:].casefold() in self._begun:  # a mark that goes on behind its line
            return Fate.WAITS
        rest = text[behind : behind + len(run)]
        if run.startswith(rest):
            return Fate.PASSES if rest == run else Fate.WAITS
        return self._stops.opens(text, behind, heads)

    def is_late(self, text: str, pos: int) -> bool:
        """Does the sign stand here as a mark that means nothing but where a message begins?"""
        return self._late and text[pos + 1 : pos + 2] not in ("", SIGN) and self._marker.alone(text, pos)
