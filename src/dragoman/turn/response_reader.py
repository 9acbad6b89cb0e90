"""The bytes of a provider's answer → events: streamed in frames, or whole.

Knows codecs and framing; nothing of requests, tools or what is listened for in the text.  Contract: events leave as
soon as the bytes that complete them are there; what is not the API at all is a `ProviderError` that shows how it began.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Protocol

from ..codecs.shared.frames import Frame, readers
from ..codecs.shared.spec import Codec, Ids
from ..errors import CodecError, ErrorKind, ProviderError
from ..events import Ended, Event, IssueReported, Started, replay
from ..providers.route import Route
from ..redaction import redact

MAX_WHOLE = 64 * 1024 * 1024
"""Bytes of a whole answer; a model's longest is a hundredth of it."""
MAX_STREAMED = 512 * 1024 * 1024
"""Bytes of a streamed answer: an hour of the fastest model's events."""
SHOWN_GARBAGE = 200
GARBAGE = "{root} did not answer in the {codec} API{why}; it said {said}; check the base URL and which API it serves"
TOO_LONG = "{root} sent a whole answer of more than 64 MiB; ask for less, or stream it"
ENDLESS = "{root} streams without end ({size} MiB, {silent} MiB of it without an event); ask for less"


class AnswerSource(Protocol):
    """Bytes of an answer → events."""

    def feed(self, data: bytes) -> Iterable[Event]:
        """The events that `data` completes."""

    def close(self) -> Iterable[Event]:
        """The events still due, `Ended` last.  Raises ProviderError where nothing was understood at all."""


class Streamed:
    """An answer in frames."""

    def __init__(self, codec: Codec, ids: Ids, route: Route) -> None:
        self._reader = readers[codec.frames]()
        self._decoder = codec.decode_stream(ids)
        self._route = route
        self._start = b""
        self._understood = False
        self._size = self._silent = 0  # bytes of all, and of those since the last frame

    def feed(self, data: bytes) -> Iterable[Event]:
        """Events leave one by one: what came before an error in the same bytes goes out before it."""
        if not self._understood:
            self._start += data[: SHOWN_GARBAGE - len(self._start)]
        frames = self._reader.feed(data)
        self._size += len(data)
        self._silent = 0 if frames else self._silent + len(data)
        if len(frames) == 1 and self._size <= MAX_STREAMED:  # as they mostly come: nothing can stand before its error
            return self._checked(self._decoder.feed(frames[0]))
        return self._decoded(frames)

    def _decoded(self, frames: list[Frame]) -> Iterator[Event]:
        for frame in frames:
            yield from self._checked(self._decoder.feed(frame))
        if self._silent > MAX_WHOLE or self._size > MAX_STREAMED:
            message = ENDLESS.format(root=self._route.root(), size=self._size >> 20, silent=self._silent >> 20)
            raise ProviderError(message, kind=ErrorKind.GARBLED)

    def close(self) -> Iterator[Event]:
        for frame in self._reader.close():
            yield from self._checked(self._decoder.feed(frame))
        last = self._checked(self._decoder.close())
        if not self._understood:
            raise _garbled(self._start, self._route)
        yield from last

    def _checked(self, events: list[Event]) -> list[Event]:
        if not self._understood:
            self._understood = any(map(_says_something, events))
        return events


def _says_something(event: Event) -> bool:
    if isinstance(event, Ended):
        return event.stop is not None
    return not isinstance(event, Started | IssueReported)


class Whole:
    """An answer in one piece."""

    def __init__(self, codec: Codec, ids: Ids, route: Route) -> None:
        self._codec, self._ids, self._route = codec, ids, route
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterable[Event]:
        self._pieces.append(data)
        self._size += len(data)
        if self._size > MAX_WHOLE:
            raise ProviderError(TOO_LONG.format(root=self._route.root()), kind=ErrorKind.GARBLED)
        return ()

    def close(self) -> Iterable[Event]:
        body = b"".join(self._pieces)
        try:
            parsed = json.loads(body)
        except (ValueError, RecursionError):
            raise _garbled(body, self._route) from None
        try:
            return replay(self._codec.decode_response(parsed, self._ids))
        except CodecError as error:
            raise _garbled(body, self._route, f"; {error}") from error


def _garbled(start: bytes, route: Route, why: str = "") -> ProviderError:
    shown = redact(start[:SHOWN_GARBAGE].decode("utf-8", "replace"), route.hidden)
    said = f"{shown!r}" if shown else "nothing"
    message = GARBAGE.format(root=route.root(), codec=route.provider.codec, said=said, why=why)
    return ProviderError(message, kind=ErrorKind.GARBLED, body=shown)
