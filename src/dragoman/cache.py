"""Values by key in the memory of one process, and behind it what several processes keep together.

Knows keys and sizes; nothing of what the values mean, or where the others lie.
Contract: what was put or found here is given without asking behind; behind is asked once for all that is missing;
beyond the limit the least recently used go first; several threads may ask at the same time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Backing(Protocol[T]):
    """What several processes keep together.  Only a cache: it may have forgotten anything, and it never raises."""

    def holds(self) -> bool:
        """May there be anything?"""

    def get(self, keys: Sequence[str]) -> Mapping[str, T]:
        """The values of those of `keys` that are known."""

    def put(self, rows: Mapping[str, T]) -> None:
        """Keep these."""


class BackedCache(Generic[T]):
    """Values up to `limit` in sum of their `size`, then what is `behind`."""

    def __init__(self, limit: int, size: Callable[[T], int], behind: Backing[T] | None = None) -> None:
        self._limit, self._measure, self._behind = limit, size, behind
        self._size = 0
        self._kept: OrderedDict[str, tuple[T, int]] = OrderedDict()

    def holds(self) -> bool:
        """May there be anything, here or behind?"""
        return bool(self._kept) or (self._behind is not None and self._behind.holds())

    def get(self, keys: Sequence[str]) -> dict[str, T]:
        """The values of those of `keys` that are known."""
        found: dict[str, T] = {}
        for key in keys:
            if (known := self._kept.get(key)) is not None:
                found[key] = known[0]
                with suppress(KeyError):  # another thread has just forgotten it
                    self._kept.move_to_end(key)
        if self._behind is not None and len(found) < len(keys):
            missing = [key for key in dict.fromkeys(keys) if key not in found]
            fetched = self._behind.get(missing) if missing else {}
            self._take(fetched)
            found.update(fetched)
        return found

    def put(self, rows: Mapping[str, T]) -> None:
        """Keep these, here and behind."""
        self._take(rows)
        if self._behind is not None and rows:
            self._behind.put(rows)

    def _take(self, rows: Mapping[str, T]) -> None:
        for key, value in rows.items():
            old = self._kept.pop(key, None)
            size = self._measure(value)
            self._kept[key] = value, size
            self._size += size - (old[1] if old is not None else 0)
        while self._size > self._limit and self._kept:
            with suppress(KeyError):
                self._size -= self._kept.popitem(last=False)[1][1]
        if not self._kept:
            self._size = 0  # what two threads counted at once heals here
