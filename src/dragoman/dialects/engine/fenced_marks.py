"""Marks in what quotes, a fence or a line, that mean nothing: behind many of them only its end is looked for.

Knows the number of a fence, what was told of it, and what may end one.
Contract: all that stands there is quoted, so none of it runs, whoever looks; that a call is quoted there may not
be told of.
"""

from __future__ import annotations

from ...late import late
from ...lenient.source import Need, Source
from .derived_tables import fenced_table
from .emitter import Teller
from .markers import Table

MANY = 100
"""So many marks are looked at in one fence since something was told of it,"""
EARLY = 16
"""beside so many of which nobody asks where they stand: to read all that stands before one is dear."""

RUN = late(r"(?:`++|~++)[ \t\r]*+")
"""A fence's marks, and the blanks behind them."""


class FencedMarks:
    """Counts the marks of one message, of which so many were `looked` at; `table` listens for a fence's end alone."""

    def __init__(self, table: Table) -> None:
        self.table = fenced_table(table)
        self._told = 0, -1
        self._marks = self.looked = 0

    def is_early(self) -> bool:
        """A mark was text: is it one of the first, so that no fence is full, and nobody need ask where it stands?"""
        self.looked += 1
        return self.looked <= EARLY

    def is_full(self, fence: int, told: int) -> bool:
        """A mark was text: in this quotation (0: in none), up to where a call quoted there was `told` of."""
        if not fence:
            return False
        if (fence, told) != self._told:
            self._told, self._marks = (fence, told), 0
        self._marks += 1
        return self._marks >= MANY

    def may_close(self, src: Source) -> Need[bool]:
        """Is what stands here, first on its line, all of the line?  With words behind it it opens or says something."""
        while (end := RUN.match(src.buf, src.pos).end()) == len(src.buf) and not src.eof:  # type: ignore[union-attr]
            yield
        return end == len(src.buf) or src.buf[end] == "\n"


def end_line(src: Source, teller: Teller) -> Need[None]:
    """Tell the rest of a line on which nothing counts any more."""
    if (yield from src.until(("\n",), lambda text: teller.say(text))):  # noqa: PLW0108 -- the teller's own is for text with marks
        src.pos -= 1
