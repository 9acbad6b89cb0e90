"""Marks in a fence that mean nothing: behind many of them only the fence's end is looked for.

Knows the number of a fence and what was told of it; reads no text.
Contract: all that stands in a fence is quoted, so none of it runs, whoever looks; that a call is quoted there may not
be told of.
"""

from __future__ import annotations

from .markers import Table, fenced_table

MANY = 100
"""So many marks are looked at in one fence since something was told of it."""


class FencedMarks:
    """Counts the marks of one message; `table` listens for the end of a fence and nothing else."""

    def __init__(self, table: Table) -> None:
        self.table = fenced_table(table)
        self._told = 0, -1
        self._marks = 0

    def is_full(self, fence: int, told: int) -> bool:
        """A mark was text: in fence number `fence` (0: in none), up to where a call quoted there was `told` of."""
        if not fence:
            return False
        if (fence, told) != self._told:
            self._told, self._marks = (fence, told), 0
        self._marks += 1
        return self._marks >= MANY
