"""Stored exchanges read: the answers to every question of `table.py`, made of the rows a database gives.

Knows columns and questions; nothing of a database, but that it is `_asked`.
Contract: both stores answer alike; what was never recorded is no row and no error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from .store import Line, Session
from .table import Query, Recorded, bodies, listed, made, one, sessions, whole

SHORT = ", ".join(["id", *Line._fields[1:]])


class StoreReader(ABC):
    """What a store answers; each database says how it is asked."""

    def lines(self, query: Query) -> list[Line]:
        """Rows of a list."""
        return [Line._make(values) for values in self._asked(*listed(query, SHORT))]

    def rows(self, query: Query) -> list[Recorded]:
        """The same with all there is."""
        return [self._with_bodies(values) for values in self._asked(*whole(query))]

    def sessions(self, query: Query) -> list[Session]:
        """Sessions, the one last heard of first."""
        found = map(Session._make, self._asked(*sessions(query)))  # PostgreSQL's sums are decimals
        return [
            each._replace(input_tokens=int(each.input_tokens), output_tokens=int(each.output_tokens)) for each in found
        ]

    def get(self, number: int) -> Recorded | None:
        """The exchange of this number."""
        found = self._asked(*one(number))
        return self._with_bodies(found[0]) if found else None

    def _with_bodies(self, values: Sequence[Any]) -> Recorded:
        number, row = made(values)
        hashes = row.bodies.split()
        apart = dict(self._asked(*bodies(row.day, hashes))) if hashes else {}
        return Recorded(number=number, row=row, apart=apart)

    @abstractmethod
    def _asked(self, text: str, values: Sequence[Any]) -> list[Any]:
        """The rows that answer this question, in `table.py`'s words.  Raises `Unavailable`."""
