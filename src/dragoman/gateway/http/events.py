"""The events of a response in the background, streamed from the shelf: while it runs, and again afterwards.

Bare ASGI.  Knows what is kept of responses and ASGI messages; nothing of models.
Contract: whoever follows a response sees every event behind the one it names, in order and once, up to the last, in
whatever process it is answered; a stream always ends, also where nobody answers any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

from ...codecs import CODECS
from ...codecs.shared.frames import KEEP_ALIVE, Frame, FrameKind, writers
from ...errors import CodecError, DragomanError, ErrorKind, ProviderError
from ...io.ids import mint
from ...jsontext import to_json
from ..fronts import STREAM_TYPES
from ..state.responses import API, missing
from ..state.runs import Event, Gap, is_under_way
from ..state.stores import StateStores
from .asgi import Receive, Send, until_gone
from .background import Background
from .shelved import LAST, PIECE

SOME = 8
"""Looks without anything new after which it is asked whether the response has ended."""
NOT_IN_BACKGROUND = "only a response that was created with background=true can be streamed; retrieve this one whole"
NOT_STREAMED = "only a response that was created with stream=true can be streamed; retrieve this one whole"
NO_CURSOR = "starting_after must be the sequence_number of an event; leave it out for all of them"
GONE = "the events of this response are not kept any more; retrieve it whole"
WRITE = writers[FrameKind.SSE]


def cursor(query: Mapping[str, str]) -> int:
    """The number of the last event that a client has seen; -1 for none.  Raises CodecError."""
    given = query.get("starting_after", "")
    if not given:
        return -1
    if not (given.isascii() and given.isdecimal()):
        raise CodecError(NO_CURSOR, "starting_after", API)
    return int(given[:18])


class Events:
    """Streams of events."""

    def __init__(self, stores: StateStores, background: Background, keep_alive: Callable[[], float]) -> None:
        self._stores, self._responses = stores, stores.responses
        self._background, self._keep_alive = background, keep_alive

    async def check(self, name: str, owner: str) -> None:
        """Raises ProviderError (404) or CodecError where there is nothing to stream."""
        run = (await self._stores.ask(self._responses.get(name, owner))).run
        if run is None or not run.stream:
            raise CodecError(NOT_IN_BACKGROUND if run is None else NOT_STREAMED, "stream", API)
        await self._chunks(name, owner, 0)

    async def serve(
        self, name: str, owner: str, after: int, receive: Receive, send: Send, *, request_id: str = ""
    ) -> None:
        """Send the events behind `after`, until the last one or until the client is gone."""
        heads = {"content-type": STREAM_TYPES[FrameKind.SSE], "cache-control": "no-cache", "x-accel-buffering": "no"}
        heads["x-request-id"] = request_id or mint("req_")
        headers = [(key.encode(), value.encode("latin-1")) for key, value in heads.items()]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        sending = asyncio.ensure_future(self._send(self._events(name, owner, after), send))
        gone = asyncio.ensure_future(until_gone(receive))
        try:
            await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, gone):
                task.cancel()
            await asyncio.gather(sending, gone, return_exceptions=True)

    async def _send(self, pieces: AsyncIterator[bytes], send: Send) -> None:
        async for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _events(self, name: str, owner: str, after: int) -> AsyncIterator[bytes]:
        last = -1
        try:
            async for number, piece in self._follow(name, owner, after):
                last = number
                yield piece
        except DragomanError as error:
            yield WRITE(CODECS[API].error_frame(error, max(last, after) + 1))

    async def _follow(self, name: str, owner: str, after: int) -> AsyncIterator[tuple[int, bytes]]:
        """What goes out, and the number of the last event that is known then."""
        clock = asyncio.get_running_loop().time
        chunk, looks, last, spoken = 0, 0, -1, clock()
        while True:
            found = await self._chunks(name, owner, chunk)
            for events in found:
                chunk, looks, last = chunk + 1, 0, events[-1].number
                if data := b"".join(WRITE(Frame(one.data, one.kind)) for one in events if one.number > after):
                    spoken = clock()
                    yield last, data
                if events[-1].kind in LAST:
                    return
            if found:
                continue
            looks += 1
            end = await self._ending(name, owner, last + 1, sure=looks > SOME) if looks % SOME == 0 else None
            if end is not None:
                yield last + 1, end if last + 1 > after else b""
                return
            if clock() - spoken >= self._keep_alive():
                spoken = clock()
                yield last, KEEP_ALIVE
            await self._background.news(name, PIECE)

    async def _chunks(self, name: str, owner: str, chunk: int) -> list[list[Event]]:
        try:
            return await self._stores.ask(self._responses.runs.events(name, owner, chunk))
        except Gap:
            raise ProviderError(GONE, status=404, kind=ErrorKind.NOT_FOUND) from None

    async def _ending(self, name: str, owner: str, number: int, *, sure: bool) -> bytes | None:
        """The last event of a response whose runner did not say it; None while that may come."""
        kept = await self._stores.ask(self._responses.current(name, owner))
        if kept is None:
            raise missing(name)
        if is_under_way(kept.body) or not sure:
            return None
        kind = f"response.{kept.body['status']}"
        return WRITE(Frame(to_json({"type": kind, "sequence_number": number, "response": kept.body}), kind))
