"""The beginning of an answer that does not show yet whether it comes in frames or as one JSON text.

Knows framings by how they begin, and where a JSON text ends; nothing of what either says.
Contract: nothing is lost; what it is hangs on the bytes alone, however they are cut.
"""

from __future__ import annotations

from ..codecs.shared.frames import FrameKind
from ..codecs.shared.framing import LONGEST_LINE, is_framed
from .whole_body import WholeBody

DRAIN = 0.1
"""Seconds to wait, once an answer is over, for the end of its body: then its connection can serve the next one."""


class Beginning:
    """What came so far of an answer on a wire that frames its streams so."""

    __slots__ = ("_body", "_in_line", "_kind")

    def __init__(self, kind: FrameKind) -> None:
        self._kind = kind
        self._body = WholeBody()
        self._in_line = False  # has its first line begun, and not ended?

    @property
    def data(self) -> bytes:
        """All of it."""
        return self._body.start(self._body.size)

    @property
    def size(self) -> int:
        """Bytes of it."""
        return self._body.size

    def add(self, data: bytes) -> bool | None:
        """More of it: does it come in frames?  None where more has to be seen."""
        self._body.add(data)
        if self._in_line and b"\n" not in data and self.size <= LONGEST_LINE:
            return None
        found = is_framed(begin := self.data, self._kind)
        self._in_line = found is None and bool(line := begin.lstrip()) and b"\n" not in line
        return found

    def ended(self) -> bool:
        """The same, where this was all."""
        return bool(is_framed(self.data, self._kind, ended=True))

    def patience(self) -> float | None:
        """Seconds to wait for more: whoever sends lines ends each as it is written, and one that is ended may be the
        first of several."""
        return DRAIN if not self._body.ends_a_line and self._body.is_complete() else None
