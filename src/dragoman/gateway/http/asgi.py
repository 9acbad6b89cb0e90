"""One ASGI call: the exchange run, the client watched.

Bare ASGI, without requests, responses or middleware: this is the hot path.  Knows exchanges and ASGI messages; nothing
of codecs or routes.
Contract: when the client goes away the exchange is cancelled and its connection to the provider closed; while a
provider is silent an event stream gets comments; whatever happens, exactly one answer is sent and finished.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from ...codecs.shared.frames import KEEP_ALIVE
from ...effects import PerformAsync, arun
from ...errors import ErrorKind, ProviderError
from ..exchange import Exchange, Head
from .offload import Steps

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

log = logging.getLogger("dragoman.gateway")

BEHIND = "dragoman.behind"
"""In the scope of a request: what goes on behind its answer, until it is done (a future)."""
TOO_LONG = "the answer took longer than the {seconds:g} s this gateway allows; ask for less, or raise limits.timeout"


async def answer(send: Send, head: Head, body: bytes) -> None:
    """Send a whole answer."""
    out = _Out(send)
    await out.start(head)
    await out.body(body)
    await out.end()


async def run_exchange(
    exchange: Exchange,
    perform: PerformAsync,
    receive: Receive,
    send: Send,
    *,
    keep_alive: float,
    seconds: float = 0.0,
    size: int = 0,
) -> None:
    """Serve `exchange` to the client behind `receive` and `send`; it takes at most `seconds`, 0 for no limit.

    `size`: bytes of its request.
    """
    out = _Out(send)
    job = asyncio.ensure_future(_pump(exchange, perform, out, Steps(size)))
    watch = asyncio.ensure_future(until_gone(receive))
    try:
        while True:
            left = max(seconds - out.age, 0.0) if seconds else keep_alive
            await asyncio.wait({job, watch}, timeout=min(keep_alive, left), return_when=asyncio.FIRST_COMPLETED)
            if job.done() or watch.done():
                break
            if seconds and out.age >= seconds:
                await _give_up(exchange, job, out, seconds)
                break
            if exchange.pings and out.silent(keep_alive):
                await out.ping(exchange)
    finally:
        await _end(watch)
        await _end(job)


async def _give_up(exchange: Exchange, job: asyncio.Future[None], out: _Out, seconds: float) -> None:
    """End an exchange that takes too long, and answer so."""
    await _end(job)
    message = TOO_LONG.format(seconds=seconds)
    for step in exchange.fail(ProviderError(message, status=504, kind=ErrorKind.TIMEOUT, code="timeout")):
        await out.write(step)
    await out.end()


async def _end(task: asyncio.Future[None]) -> None:
    """Cancel what still runs, and wait until it has let go of everything."""
    if not task.done():
        task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def _pump(exchange: Exchange, perform: PerformAsync, out: _Out, steps: Steps) -> None:
    try:
        await arun(exchange.steps(), perform, out.write, steps)
    except Exception:
        log.exception("an exchange failed for a reason of our own")
    await out.end()


async def until_gone(receive: Receive) -> None:
    """Wait until the client goes away."""
    while (await receive())["type"] != "http.disconnect":
        pass


class _Out:
    """The client's side of an exchange: messages in order, whoever sends them."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._pinging = asyncio.Lock()
        self._giving = False
        self._clock = asyncio.get_running_loop().time
        self._begun = self._last = self._clock()
        self._started = self._ended = False
        self._left = -1  # bytes of a body whose length was sent; below 0 where it was not

    @property
    def age(self) -> float:
        """Seconds since the request was taken."""
        return self._clock() - self._begun

    async def write(self, step: Head | bytes) -> None:
        """Send a step of an exchange."""
        if type(step) is not bytes or self._pinging.locked():
            await (self.start(step) if isinstance(step, Head) else self.body(step))
            return
        self._left -= len(step)
        self._ended = self._left == 0
        self._giving, self._last = True, self._clock()
        try:
            await self._send({"type": "http.response.body", "body": step, "more_body": not self._ended})
        finally:
            self._giving = False

    def silent(self, seconds: float) -> bool:
        """Has nothing been sent for about so long?"""
        return self._clock() - self._last >= seconds * 0.5

    async def start(self, head: Head) -> None:
        """Send the head."""
        await self._give(self._opening(head))

    async def body(self, data: bytes) -> None:
        """Send more of the body."""
        self._left -= len(data)
        self._ended = self._left == 0
        await self._give({"type": "http.response.body", "body": data, "more_body": not self._ended})

    async def end(self) -> None:
        """The body is complete."""
        if not self._ended:
            await self._give({"type": "http.response.body", "body": b"", "more_body": False})

    async def ping(self, exchange: Exchange) -> None:
        """A sign of life; it commits the answer to a stream."""
        if self._giving or (exchange.committed and not self._started):
            return  # what is on the way is sign of life enough
        async with self._pinging:
            if not self._started:
                await self._send(self._opening(exchange.commit()))
            self._last = self._clock()
            await self._send({"type": "http.response.body", "body": KEEP_ALIVE, "more_body": True})

    async def _give(self, message: Message) -> None:
        if self._pinging.locked():
            async with self._pinging:
                pass  # nothing comes between its end and what follows: no ping begins before this is given
        self._giving, self._last = True, self._clock()
        try:
            await self._send(message)
        finally:
            self._giving = False

    def _opening(self, head: Head) -> Message:
        self._started = True
        self._left = int(head.headers.get("content-length", self._left))
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in head.headers.items()]
        return {"type": "http.response.start", "status": head.status, "headers": headers}
