"""A JSON body that comes in pieces: is all of it there, though nobody says so?

Knows bytes and brackets; nothing of wires or of what the value means.
Contract: `value` is what the whole body says; looking for its end costs no more than a few readings, however it is
cut.
"""

from __future__ import annotations

from typing import Any

from ..jsontext import from_json

FIRST_LOOKS = 8
"""Ends that are looked at as they come; of more only those that stand twice as far as the last one."""
SPACE = b" \t\r\n"


class WholeBody:
    """The pieces of one body, in order."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._closes = False  # does a closing bracket stand last?
        self._value: Any = None
        self._read = False  # is `_value` that of all pieces?
        self._looks = self._looked_at = 0

    @property
    def size(self) -> int:
        """Bytes of all pieces."""
        return len(self._data)

    @property
    def ends_a_line(self) -> bool:
        """Does it end in a line break?"""
        return self._data.endswith(b"\n")

    def add(self, piece: bytes) -> None:
        """`piece` came."""
        self._data += piece
        if end := piece.rstrip(SPACE):
            self._closes, self._read = end.endswith(b"}"), False

    def is_complete(self) -> bool:
        """Is it a whole JSON object?  False where too many ends were looked at that were none."""
        if not self._read and self._may_end():
            self._looks, self._looked_at = self._looks + 1, self.size
            try:
                self.value()
            except (ValueError, RecursionError):
                return False
        return self._read

    def _may_end(self) -> bool:
        return self._closes and (self._looks < FIRST_LOOKS or self.size >= 2 * self._looked_at)

    def value(self) -> Any:
        """The value.  Raises ValueError, or RecursionError, where it is no JSON."""
        if not self._read:
            self._value, self._read = _value(self._data), True
        return self._value

    def start(self, size: int) -> bytes:
        """The first `size` bytes."""
        return bytes(self._data[:size])


def _value(data: bytearray) -> Any:
    """The value; bytes that are no text are read as in a stream."""
    try:
        return from_json(data)
    except UnicodeDecodeError:
        return from_json(data.decode("utf-8", "replace").encode())
