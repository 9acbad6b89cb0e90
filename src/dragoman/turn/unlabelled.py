"""An answer whose content type does not say what its bytes are: the first of them show whether it comes in frames.

Knows how streams and JSON bodies begin; what they say is read by the source that fits.  Contract: nothing is lost or
held back once it is known which of the two it is; how the bytes are cut changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from ..codecs.shared.frames import FrameKind
from ..events import Event
from .beginning import Beginning
from .response_reader import COUNTED, AnswerSource, Delta, Streamed, Whole


class Unlabelled:
    """Either kind of answer, as its first bytes have it."""

    def __init__(self, streamed: Callable[[], Streamed], whole: Callable[[], Whole], frames: FrameKind) -> None:
        self._streamed, self._whole, self._frames = streamed, whole, frames
        self._begin = Beginning(frames)
        self._source: AnswerSource | None = None

    @property
    def is_open(self) -> bool:
        """As its source says; nobody knows before there is one."""
        return self._source is not None and self._source.is_open

    def patience(self) -> float | None:
        """As its source says, or its beginning."""
        return (self._source or self._begin).patience()

    def held(self) -> int:
        """What its source keeps."""
        return self._source.held() if self._source is not None else self._begin.size // COUNTED * COUNTED

    def release(self) -> None:
        """What its source keeps, and its beginning."""
        del self._begin
        if self._source is not None:
            self._source.release()

    def feed(self, data: bytes) -> Iterable[Event]:
        """The events that `data` completes."""
        if self._source is not None:
            return self._source.feed(data)
        framed = self._begin.add(data)
        return () if framed is None else self._known(framed=framed)[1]

    def more(self, data: bytes) -> tuple[Delta, str] | None:
        """What its source makes of `data`."""
        return self._source.more(data) if self._source is not None else None

    def close(self) -> Iterable[Event]:
        """The events still due."""
        if self._source is not None:
            return self._source.close()
        source, came = self._known(framed=self._begin.ended())
        return chain(came, source.close())

    def _known(self, *, framed: bool) -> tuple[AnswerSource, Iterable[Event]]:
        source: AnswerSource = self._streamed() if framed else self._whole()
        self._source, begin = source, self._begin.data
        self._begin = Beginning(self._frames)
        return source, source.feed(begin)
