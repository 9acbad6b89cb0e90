"""A row that is too long to be held: its size and its hash go on, its bytes do not.

Knows bytes; nothing of where they come from.  Contract: memory does not grow with what is added.
"""

from __future__ import annotations

import hashlib

from ...records import NamedTuple

HEAD = 200


class Stretch(NamedTuple):
    """Bytes of a file; `size` is more than their number, and `digest` not empty, where they are too long to be held."""

    data: bytes
    size: int
    digest: str = ""


class Skipped:
    """A stretch that goes by."""

    def __init__(self, data: bytes) -> None:
        self.size = 0
        self._hash = hashlib.sha256()
        self._head = data[:HEAD]
        self.add(data)

    def add(self, data: bytes) -> None:
        """More of it."""
        self.size += len(data)
        self._hash.update(data)

    @property
    def stretch(self) -> Stretch:
        """What is left of it: its beginning, its size and its hash."""
        return Stretch(self._head, self.size, self._hash.hexdigest())


def held(data: bytes, most: int) -> Stretch:
    """These bytes, or what is left of them where they are more than `most`."""
    return Stretch(data, len(data)) if len(data) <= most else Skipped(data).stretch
