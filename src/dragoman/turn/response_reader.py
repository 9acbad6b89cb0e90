"""The bytes of a provider's answer → events: streamed in frames, or whole.

Knows codecs and framing; nothing of requests, tools or what is listened for in the text.  Contract: events leave as
soon as the bytes that complete them are there; what is not the API at all is a `ProviderError` that shows how it began.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Any, Protocol, TypeAlias

from ..codecs.shared.frame_stream import SHORT, FrameStream
from ..codecs.shared.framing import OBJECTS, Framing, is_framed
from ..codecs.shared.spec import Codec, Ids, Likeness, Progress
from ..errors import CodecError, ErrorKind, ProviderError
from ..events import (
    CallEnded,
    Ended,
    Event,
    IssueReported,
    PartEnded,
    ReasoningDelta,
    Started,
    TextDelta,
    WireEvent,
    replay,
)
from ..providers.route import Route
from ..redaction import redact
from ..types import Response
from .beginning import DRAIN, Beginning
from .whole_body import WholeBody

MAX_WHOLE = 64 * 1024 * 1024
"""Bytes of a whole answer; a model's longest is a hundredth of it."""
MAX_STREAMED = 512 * 1024 * 1024
"""Bytes of a streamed answer: an hour of the fastest model's events."""
SHOWN_GARBAGE = 200
LOOKED_AT = 64 * 1024
"""Bytes of what is no JSON that show whether it comes in frames."""
GARBAGE = "{root} did not answer in the {codec} API{why}; it said {said}; check the base URL and which API it serves"
GZIP = b"\x1f\x8b"
PACKED = "what is packed with gzip, without saying so in `content-encoding`"
TOO_LONG = "{root} sent a whole answer of more than 64 MiB; ask for less, or stream it"
ENDLESS = "{root} streams without end ({size} MiB, {silent} MiB of it without an event); ask for less"


Delta: TypeAlias = type[TextDelta] | type[ReasoningDelta]
MISSING: Any = object()
COUNTED = 64 * 1024
"""Bytes in which an answer counts against what a process may hold; most answers are smaller."""
MOST_LATE = 32
"""Pieces read of a body after its answer stopped, but for those that a frame goes on behind: a peer may go on with
signs of life for ever."""


class Replayed:
    """The events of an answer that is there as a whole; whoever can take it so need not look at them."""

    __slots__ = ("response",)

    def __init__(self, response: Response) -> None:
        self.response = response

    def __iter__(self) -> Iterator[Event]:
        return replay(self.response)


class AnswerSource(Protocol):
    """Bytes of an answer → events."""

    @property
    def is_open(self) -> bool:
        """Does more of the answer follow, by what came so far?"""

    def patience(self) -> float | None:
        """Seconds to wait for more that is welcome, but not needed; None where the answer is not there yet.

        To be asked before each read.
        """

    def feed(self, data: bytes) -> Iterable[Event]:
        """The events that `data` completes."""

    def more(self, data: bytes) -> tuple[Delta, str] | None:
        """What `data` says, and of which kind it is, where nothing comes of it but that; None where it may be anything
        else, and was not read."""

    def held(self) -> int:
        """Bytes that are kept of the answer, in steps of `COUNTED`."""

    def release(self) -> None:
        """Let go of them: nothing is asked any more."""

    def close(self) -> Iterable[Event]:
        """The events still due, `Ended` last.  Raises ProviderError where nothing was understood at all."""


class Streamed(FrameStream):
    """An answer in frames."""

    __slots__ = (
        "_begin", "_codec", "_ids", "_is_framed", "_late", "_premature", "_resting", "_route", "_size", "_start",
        "_stopped", "_understood", "_whole",
    )  # fmt: skip

    def __init__(
        self, codec: Codec, ids: Ids, route: Route, names: Collection[str] = (), framed: Framing | None = None
    ) -> None:
        super().__init__(codec, ids, names, framed)
        self._codec, self._ids, self._route = codec, ids, route
        self._start = b""
        self._is_framed = framed is not None
        self._begin: Beginning | None = None  # what does not show yet whether it is
        self._whole: Whole | None = None  # takes what began as no frame does
        self._understood = False
        self._size = 0  # bytes of all
        self._stopped = self._premature = False  # did it say why it stops, and did more of it follow all the same?
        self._late = 0  # pieces that came after it stopped
        self._resting: Likeness | None = None  # of the last frame, where texts alone are compared

    def patience(self) -> float | None:
        """By how far the answer has come; a peer that went on after it had stopped is waited for as before."""
        if self._begin is not None:
            return self._begin.patience()
        progress = self._decoder.progress
        self._stopped = progress is not Progress.OPEN
        if not self._stopped or (self._premature and progress is Progress.STOPPED):
            return None
        if self._late >= MOST_LATE:
            return 0.0
        return DRAIN if progress is Progress.OVER else self._route.timeouts.grace

    def held(self) -> int:
        """The frame that has not ended, what the others said, and what may be no frames at all.

        Whoever reads an answer keeps the whole of what it says.
        """
        kept = self._whole.held() if self._whole is not None else 0
        kept = self._begin.size // COUNTED * COUNTED if self._begin is not None else kept
        return (self._silent + self._said) // COUNTED * COUNTED + kept

    def release(self) -> None:
        """All of them hold what they have read."""
        del self._reader, self._decoder, self._whole, self._begin

    def feed(self, data: bytes) -> Iterable[Event]:
        """Events leave one by one: what came before an error in the same bytes goes out before it."""
        if not self._stopped and self._size <= MAX_STREAMED:
            events = self._all_alike(data)
            if events is not None:
                self._size += len(data)
                return events if self._understood else self._checked(events)
        return self._read(data)

    def more(self, data: bytes) -> tuple[Delta, str] | None:
        """What frames say that are like the last one, where they say nothing else."""
        alike, like = self._alike, self._like
        if alike is None or like is None or like.kind is None or self._size > MAX_STREAMED:
            return None
        if self._stopped or not (self._between and self._understood):
            return None
        found = alike.read_all(data)
        if found is None:
            return None
        text, noise = found
        if noise:
            self._decoder.note(noise)
        self._size += len(data)
        self._said += len(text)
        self._silent = self._tries = 0
        if like is not self._resting:
            like.rest()
            self._resting = like
        return like.kind, text

    def _read(self, data: bytes) -> Iterator[Event]:
        self._size += len(data)
        if not self._understood:
            data = self._in_frames(data)
        stopped = self._stopped
        yield from self.read(data)
        self._late += stopped and (self._between or self._silent > SHORT)
        if self._silent > MAX_WHOLE or self._size > MAX_STREAMED:
            message = ENDLESS.format(root=self._route.root(), size=self._size >> 20, silent=self._silent >> 20)
            raise ProviderError(message, kind=ErrorKind.GARBLED)

    def _in_frames(self, data: bytes) -> bytes:
        """What of it is read in frames: what begins as no frame does may be one JSON text that is called a stream."""
        self._start += data[: SHOWN_GARBAGE - len(self._start)]
        if self._is_framed:
            return data
        if self._whole is not None:
            self._whole.feed(data)
            return b""
        if self._begin is None and is_framed(data, self._kind):  # as nearly always
            self._is_framed = True
            return data
        begin = self._begin or Beginning(self._kind)
        framed = begin.add(data)
        self._is_framed, self._begin = bool(framed), begin if framed is None else None
        if framed is False:
            self._whole = self._as_whole(begin.data)
        return begin.data if framed else b""

    def _as_whole(self, data: bytes) -> Whole:
        whole = Whole(self._codec, self._ids, self._route)
        whole.feed(data)
        return whole

    def close(self) -> Iterator[Event]:
        if self._begin is not None:  # nothing followed it
            self._whole = self._as_whole(self._begin.data)
        if self._whole is not None:
            yield from self._whole.close()
            return
        yield from self._left_over()
        last = self._checked(self._decoder.close())
        if not self._understood:
            raise _garbled(self._start, self._route)
        yield from last

    def _checked(self, events: list[Event]) -> list[Event]:
        if not self._understood:
            self._understood = any(map(_says_something, events))
            if self._understood:
                self._start = b""
        if self._stopped and not self._premature:
            self._premature = any(map(_goes_on, events))
        return events


def _says_something(event: Event) -> bool:
    if isinstance(event, Ended):
        return event.stop is not None
    return not isinstance(event, Started | WireEvent | IssueReported)


def _goes_on(event: Event) -> bool:
    """Is `event` more of an answer, and not its end?"""
    return _says_something(event) and not isinstance(event, Ended | PartEnded | CallEnded)


class Whole:
    """An answer in one piece; `sized` where its head says how long it is."""

    def __init__(self, codec: Codec, ids: Ids, route: Route, *, sized: bool = False) -> None:
        self._codec, self._ids, self._route, self._sized = codec, ids, route, sized
        self._body = WholeBody()

    is_open = False

    def patience(self) -> float | None:
        """Its end is the body's; of one that nobody measured, the end of what it says."""
        return DRAIN if not self._sized and self._body.is_complete() else None

    def feed(self, data: bytes) -> Iterable[Event]:
        self._body.add(data)
        if self._body.size > MAX_WHOLE:
            raise ProviderError(TOO_LONG.format(root=self._route.root()), kind=ErrorKind.GARBLED)
        return ()

    def more(self, data: bytes) -> None:
        """Nothing, until it is whole."""
        return

    def held(self) -> int:
        """All that came."""
        return self._body.size // COUNTED * COUNTED

    def release(self) -> None:
        """The body."""
        del self._body

    def close(self) -> Iterable[Event]:
        """What is wrong is raised behind the exceptions that say it: they hold the whole body."""
        parsed, why = MISSING, ""
        try:  # noqa: SIM105  `suppress` takes three calls
            parsed = self._body.value()
        except (ValueError, RecursionError):
            pass
        start = self._body.start(LOOKED_AT)
        framed = is_framed(start, self._codec.frames, ended=True)
        if framed and (parsed is MISSING or isinstance(parsed, list)):
            return self._in_frames(None)
        if parsed is MISSING and start.lstrip().startswith(b"{"):
            return self._in_frames(OBJECTS)
        if parsed is not MISSING:
            try:
                return Replayed(self._codec.decode_response(parsed, self._ids))
            except CodecError as error:
                why = f"; {error}"
        raise _garbled(self._body.start(SHOWN_GARBAGE), self._route, why)

    def _in_frames(self, framed: Framing | None) -> Iterable[Event]:
        """It is a stream that is called JSON."""
        streamed = Streamed(self._codec, self._ids, self._route, framed=framed)
        return chain(streamed.feed(self._body.start(self._body.size)), streamed.close())


def _garbled(start: bytes, route: Route, why: str = "") -> ProviderError:
    shown = redact(start[:SHOWN_GARBAGE].decode("utf-8", "replace"), route.hidden)
    said = PACKED if start.startswith(GZIP) else f"{shown!r}" if shown else "nothing"
    message = GARBAGE.format(root=route.root(), codec=route.provider.codec, said=said, why=why)
    return ProviderError(message, kind=ErrorKind.GARBLED, body=shown)
