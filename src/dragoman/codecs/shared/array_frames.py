"""A stream that comes as one JSON array, its elements as they are complete: Gemini's, where nobody asked for SSE; and
one of objects with nothing between them, or anything.

Knows JSON's brackets and strings, not what an element says.
Contract: as of all readers (`frames.py`): any split of the same bytes gives the same frames, as soon as each is
complete; every byte is looked at once; it never raises.  What is no object among the elements is passed over, as is
what stands before the array and behind it; an object that the stream ends in is a frame: its codec says it is broken.
Source: ai.google.dev/api/generate-content (`streamGenerateContent` without `alt=sse`: "[{…}\n,\r\n{…}\n]").
"""

from __future__ import annotations

import re
from typing import ClassVar

from .frames import Frame

_OUTSIDE = re.compile(rb'["{}\[\]]')
_INSIDE = re.compile(rb'["\\]')
_OPENING, _QUOTE, _ESCAPE = frozenset(b"{["), ord('"'), ord("\\")


class ArrayReader:
    """Reads an array of objects."""

    _element: ClassVar[int] = 2
    """How deep an element stands, which is in the array."""
    _between: ClassVar[re.Pattern[bytes]] = _OUTSIDE
    """What counts where no bracket is open."""

    def __init__(self) -> None:
        self._depth = 0
        self._over = self._quoted = self._escaped = False
        self._pieces: list[bytes] = []  # of the open element

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that `data` completes."""
        frames: list[Frame] = []
        start, at = 0, int(self._escaped and bool(data))
        self._escaped = self._escaped and not data
        while not self._over and (found := self._counting().search(data, at)):
            at = found.end()
            if self._quoted or data[at - 1] == _QUOTE:
                at = self._in_string(data, at)
            elif data[at - 1] in _OPENING:
                self._depth += 1
                start = at - 1 if self._depth == self._element else start
            else:
                frames += self._closed(data[start:at])
        if self._depth >= self._element:
            self._pieces.append(data[start:])
        return frames

    def close(self) -> list[Frame]:
        """The element that the stream ended in."""
        return self._frame(b"")

    def _counting(self) -> re.Pattern[bytes]:
        if self._quoted:
            return _INSIDE
        return _OUTSIDE if self._depth else self._between

    def _in_string(self, data: bytes, at: int) -> int:
        """Behind the quote or the escape before `at`: where to look on."""
        if data[at - 1] == _QUOTE:
            self._quoted = not self._quoted
            return at
        self._escaped = at == len(data)
        return at + 1

    def _closed(self, last: bytes) -> list[Frame]:
        """A bracket closes."""
        self._depth -= 1
        self._over = self._depth <= 0 < self._element - 1
        return self._frame(last) if self._depth == self._element - 1 else []

    def _frame(self, last: bytes) -> list[Frame]:
        text = b"".join((*self._pieces, last)).decode("utf-8", "replace")
        self._pieces.clear()
        return [Frame(text)] if text.startswith("{") else []


class ObjectsReader(ArrayReader):
    """Reads objects that follow each other, whatever stands between them."""

    _element = 1
    _between = re.compile(rb"\{")
