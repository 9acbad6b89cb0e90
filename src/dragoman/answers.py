"""The bytes of a provider's answer → events: streamed in frames, or whole.

Knows codecs and framing; nothing of requests, tools or what is listened for in the text.  Contract: events leave as
soon as the bytes that complete them are there; what is not the API at all is a `ProviderError` that shows how it began.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Protocol

from .auth import redact
from .codecs.spec import Codec, Ids
from .errors import CodecError, ErrorKind, ProviderError
from .events import Ended, Event, Noticed, Started, replay
from .frames import readers
from .route import Route

MAX_WHOLE = 64 * 1024 * 1024
"""Bytes of a whole answer; a model's longest is a hundredth of it."""
SHOWN_GARBAGE = 200
GARBAGE = "{root} did not answer in the {codec} API{why}; it said {said}; check the base URL and which API it serves"
TOO_LONG = "{root} sent a whole answer of more than 64 MiB; ask for less, or stream it"


class Source(Protocol):
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
        self._spoke = False

    def feed(self, data: bytes) -> Iterator[Event]:
        """Events leave one by one: what came before an error in the same bytes is told before it."""
        if not self._spoke:
            self._start += data[: SHOWN_GARBAGE - len(self._start)]
        for frame in self._reader.feed(data):
            yield from self._heard(self._decoder.feed(frame))

    def close(self) -> Iterator[Event]:
        for frame in self._reader.close():
            yield from self._heard(self._decoder.feed(frame))
        last = self._heard(self._decoder.close())
        if not self._spoke:
            raise _garbled(self._start, self._route)
        yield from last

    def _heard(self, events: list[Event]) -> list[Event]:
        if not self._spoke:
            self._spoke = any(map(_says_something, events))
        return events


def _says_something(event: Event) -> bool:
    return not isinstance(event, Started | Noticed | Ended) or (isinstance(event, Ended) and event.stop is not None)


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
