"""The bytes of one streamed answer → events: each frame by the wire's rules, those that are like the last one together.

Knows framing, the decoders by their contract, and how frames repeat (`alike.py`); no API, and not who waits for what.
Contract: the events say the same however the bytes are cut, and as soon as a frame is complete; what came together may
be told together.  Every byte is looked at a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from ...events import CallDelta, Event, ReasoningDelta, TextDelta
from .alike import Alike, Found, like_frame
from .frames import CR, CUTS, Frame, readers
from .framing import Framing, framing
from .halves import ESCAPE, Halves
from .spec import Codec, Ids, Likeness, Progress

MOST_TRIES = 8
"""How often in a row what reads frames by likeness is made in vain: some servers spell every frame another way."""
MOST_RUNS = 8
"""How often in what one read brought all of the rest is looked at, for a run of frames that are alike."""
_BARE = re.compile(rb"^\{[^\n]*\n", re.MULTILINE).search
"""An object in a line of its own, where others are fields."""
SHORT = 4096
"""Bytes of a frame up to which its beginning waits for its end: what is longer is handed on as it comes."""


class FrameStream:
    """One answer in frames; `names` are those of the tools that may be called.

    It shows by its beginning how it is `framed`, unless that is given.
    """

    __slots__ = (
        "_alike", "_between", "_cut", "_cuts", "_decoder", "_halves", "_is_known", "_kind", "_like", "_reader",
        "_said", "_silent", "_tail", "_tries", "is_open",
    )  # fmt: skip

    is_open: bool

    def __init__(
        self, codec: Codec, ids: Ids | None = None, names: Collection[str] = (), framed: Framing | None = None
    ) -> None:
        self._reader = readers[codec.frames]()
        self._decoder = codec.decode_stream(ids)
        if names:
            self._decoder.expect(names)
        self._cuts = CUTS.get(codec.frames, ())
        self._kind = codec.frames
        self._is_known = framed is not None  # has it shown how it is framed?
        self._silent = 0  # bytes that the reader was given since the last frame
        self._said = 0  # characters of its events
        self._between = True  # has every frame that began ended?
        self._tail = b""  # the beginning of one that the reader was not given
        self._cut = ""  # what ends frames
        self._halves: Halves | None = None  # made for the first frame that may hold half a character
        self._like: Likeness | None = None  # of the last frame
        self._alike: Alike | None = None  # reads the frames that are like it
        self._tries = 0  # times that one was made since the last that was of use
        self.is_open = True  # does more of the answer follow, by the frames so far?
        if framed is not None:
            self._frame_by(framed)

    def feed(self, data: bytes) -> Iterable[Event]:
        """The events of the frames that `data` completes."""
        events = self._all_alike(data)
        return self.read(data) if events is None else events

    def _all_alike(self, data: bytes) -> list[Event] | None:
        """The same where these are whole frames like the last one, as they mostly come; None where they are not."""
        alike = self._alike
        if alike is None or not self._between or (found := alike.read_all(data)) is None:
            return None
        self._said += len(found[0])
        self._silent = self._tries = 0
        return self._decoder.feed_alike(*found)

    def read(self, data: bytes) -> Iterator[Event]:
        """The events of the frames that `data` completes, one by one: what came before an error goes out before it."""
        if not self._is_known:
            self._look(data)
        for given in self._pieces(data):
            yield from self._frames(given) if type(given) is str else self._one(given)

    def _look(self, data: bytes) -> None:
        """See how the stream is framed, where not as its wire frames them."""
        self._is_known, otherwise = framing(data, self._kind)
        if otherwise is not None:
            self._frame_by(otherwise)

    def _frame_by(self, framed: Framing) -> None:
        make, self._cuts = framed
        self._reader = make()

    def close(self) -> Iterator[Event]:
        """The events still due, `Ended` last."""
        yield from self._left_over()
        yield from self._checked(self._decoder.close())

    def _left_over(self) -> Iterator[Event]:
        """The events of a frame that the stream ended in."""
        tail, self._tail = self._tail, b""
        if tail:
            yield from self._one(tail)
        last = self._whole_of(self._reader.close())
        for frame in [*last, *(self._halves.close() if self._halves is not None else ())]:
            yield from self._checked(self._decoder.feed(frame))

    def _checked(self, events: list[Event]) -> list[Event]:
        """The events, as they go out."""
        return events

    def _pieces(self, data: bytes) -> Iterator[str | bytes]:
        """The bytes, cut where frames end; those of whole frames as text."""
        whole = self._between or bool(self._tail)
        if self._tail:
            data, self._tail = self._tail + data, b""
        cut = next((cut for cut in self._cuts if cut in data), b"")
        if cut:
            start = 0 if whole else data.index(cut) + len(cut)
            end = data.rindex(cut) + len(cut)
            if start:
                yield data[:start]
            self._cut, whole = cut.decode(), True
            try:
                yield data[start:end].decode()
            except UnicodeDecodeError:
                yield data[start:end]
            data = data[end:]
        self._between = not data
        if whole and self._is_begun(data):
            self._tail = data
        elif data:
            yield data

    def _is_begun(self, data: bytes) -> bool:
        """Is it short, and certain to complete no frame?"""
        ends = CR in data or b"\n\n" in data or (b"{" in data and _BARE(data) is not None)
        return len(data) <= SHORT and bool(self._cuts) and not ends

    def _frames(self, text: str) -> Iterator[Event]:
        """Read whole frames: those that are like the last one together, each other by itself."""
        at, runs, cut = 0, MOST_RUNS, self._cut
        alike: list[Found] = []
        while at < len(text):
            like = self._alike
            if like is not None and runs:
                runs -= 1
                if (run := like.read_run(text, at)) is not None:
                    alike.append(run[0])
                    at = run[1]
                    continue
            found_at = text.find(cut, at)
            end = found_at + len(cut) if found_at >= 0 else len(text)  # three line ends in a row: the last is left over
            frame = text[at:end]
            at = end
            found = like.read(frame) if like is not None else None
            if found is not None:
                alike.append(found)
                continue
            if alike:
                yield from self._told(alike)
                alike = []
            yield from self._one(frame)
        if alike:
            yield from self._told(alike)

    def _one(self, given: str | bytes) -> Iterator[Event]:
        """Read it by the wire's rules, and see whether the next may be like it."""
        frames = self._reader.feed(given.encode() if isinstance(given, str) else given)
        self._silent = 0 if frames else self._silent + len(given)
        for frame in self._whole_of(frames):
            events = self._checked(self._decoder.feed(frame))
            self._said += sum(map(_length, events))
            yield from events
        self.is_open = self._decoder.progress is Progress.OPEN
        like = self._decoder.like
        if like is None or like is not self._like or (self._halves is not None and self._halves.waits):
            self._alike = None
        elif isinstance(given, str) and len(frames) == 1 and self._tries < MOST_TRIES:
            self._tries += 1
            self._alike = like_frame(given, like.last, like.noise, like.string)
        self._like = like

    def _whole_of(self, frames: list[Frame]) -> list[Frame]:
        """Those of which no half of a character is still to come, the one that waited for its half first."""
        if self._halves is None:
            for frame in frames:
                if ESCAPE in frame.data:
                    break
            else:
                return frames
            self._halves = Halves()
        return [whole for frame in frames for whole in self._halves.feed(frame)]

    def _told(self, run: list[Found]) -> list[Event]:
        """The events of frames that were read by likeness: what came together is told together."""
        self._silent, self._tries = 0, 0
        *before, (text, noise) = run
        if before:
            text = "".join([text for text, _ in run])
            for _, said in before:  # the last may leave open what one before it says
                self._decoder.note(said)
        self._said += len(text)
        return self._checked(self._decoder.feed_alike(text, noise))


def _length(event: Event) -> int:
    """Characters of what it says."""
    if isinstance(event, TextDelta | ReasoningDelta):
        return len(event.text)
    return len(event.json) if isinstance(event, CallDelta) else 0
