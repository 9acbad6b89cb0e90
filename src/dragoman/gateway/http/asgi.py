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
from typing import Any, Protocol, TypeAlias

from ...codecs.shared.frames import KEEP_ALIVE
from ...effects import PerformAsync, arun
from ...errors import ErrorKind, ProviderError
from ..exchange import Exchange, Head
from ..process.whole_answers import write_at_once
from .offload import Steps
from .soon import SECONDS, Call, call_soon

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

log: logging.Logger = logging.getLogger("dragoman.gateway")

AT_ONCE = SECONDS
"""Seconds for which nobody asks whether the client is still there: most refusals, and answers of a model near by."""
BEHIND = "dragoman.behind"
"""In the scope of a request: what goes on behind its answer, until it is done (a future)."""
TOO_LONG = "the answer took longer than the {seconds:g} s this gateway allows; ask for less, or raise {setting}"
TIMEOUT = "limits.timeout"


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
    setting: str = TIMEOUT,
    size: int = 0,
    line: Line | None = None,
) -> None:
    """Serve `exchange` to the client behind `receive` and `send`; it takes at most `seconds`, 0 for no limit.

    `setting` says so in a configuration; `size`: bytes of its request; `line` says when the client goes away, where
    nothing else is to be received.
    """
    out = _Out(send)
    watch = _Watch(exchange, receive, out, keep_alive, seconds, line)
    try:
        try:
            try:
                await arun(exchange.steps(), perform, out.write, Steps(size))
            except Exception:
                log.exception("an exchange failed for a reason of our own")
            await out.end()
        finally:
            await watch.close()
    except asyncio.CancelledError:
        if not watch.ended_it():
            raise
    else:
        watch.ended_it()
    if watch.late:
        await _give_up(exchange, out, too_long(seconds, setting))


def too_long(seconds: float, setting: str = TIMEOUT) -> ProviderError:
    """The error of an answer that takes longer than `seconds`."""
    message = TOO_LONG.format(seconds=seconds, setting=setting)
    return ProviderError(message, status=504, kind=ErrorKind.TIMEOUT, code="timeout")


async def _give_up(exchange: Exchange, out: _Out, error: ProviderError) -> None:
    """Answer an exchange that took too long, and was ended."""
    for step in exchange.fail(error):
        await out.write(step)
    await out.end()


async def _end(task: asyncio.Future[None]) -> None:
    """Cancel what still runs, and wait until it has let go of everything."""
    if not task.done():
        task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def until_gone(receive: Receive) -> None:
    """Wait until the client goes away."""
    while (await receive())["type"] != "http.disconnect":
        pass


class Line(Protocol):
    """The connection of a client."""

    def on_gone(self, call: Callable[[], object]) -> None:
        """`call` once the client goes away."""

    def not_on_gone(self, call: Callable[[], object]) -> None:
        """No more."""


class _Watch:
    """Looks after the client while the task that makes it serves: cancels that when nobody waits any more.

    Most of what a short answer would cost is a task beside it, so nothing looks before the answer takes a moment.
    """

    __slots__ = (
        "_cancelled", "_cancelling", "_exchange", "_gone", "_job", "_keep_alive", "_line", "_loop", "_next", "_out",
        "_over", "_ping", "_receive", "_seconds", "late",
    )  # fmt: skip

    def __init__(  # noqa: PLR0917
        self, exchange: Exchange, receive: Receive, out: _Out, keep_alive: float, seconds: float, line: Line | None
    ) -> None:
        self._exchange, self._receive, self._out = exchange, receive, out
        self._keep_alive, self._seconds = keep_alive, seconds
        self._job: asyncio.Task[Any] = asyncio.current_task(out.loop)  # type: ignore[assignment]  # we are in one
        self._cancelling = self._job.cancelling()
        self._loop = out.loop
        self._line = line
        self._gone: asyncio.Future[None] | None = None  # waits for the client to go away, where no line says so
        self._ping: asyncio.Future[None] | None = None
        self._over = self._cancelled = False
        self.late = False
        self._next: asyncio.TimerHandle | Call
        if 0 < seconds < AT_ONCE:
            self._next = self._loop.call_later(seconds, self._begin)
        else:
            self._next = call_soon(self._loop, self._begin, out.begun)

    def ended_it(self) -> bool:
        """Was it this that cancelled the task, and nobody else?  To be asked once."""
        return self._cancelled and self._job.uncancel() <= self._cancelling

    async def close(self) -> None:
        """Look no more."""
        self._over = True
        self._next.cancel()
        if self._line is not None:
            self._line.not_on_gone(self._cancel)
        if self._gone is not None:
            await _end(self._gone)
        if self._ping is not None:
            await _end(self._ping)

    def _wait(self, longest: float) -> float:
        """Seconds to the next look."""
        return min(longest, max(self._seconds - self._out.age, 0.0)) if self._seconds else longest

    def _begin(self) -> None:
        if self._line is not None:
            self._line.on_gone(self._cancel)
        else:
            self._gone = asyncio.ensure_future(until_gone(self._receive))
            self._gone.add_done_callback(self._cancel)
        self._look()

    def _look(self) -> None:
        out = self._out
        if self._seconds and out.age >= self._seconds:
            self.late = not self._over
            self._cancel()
            return
        if self._exchange.pings and out.silent(self._keep_alive) and (self._ping is None or self._ping.done()):
            self._ping = asyncio.ensure_future(out.ping(self._exchange))
        self._next = self._loop.call_later(self._wait(self._keep_alive), self._look)

    def _cancel(self, _: object = None) -> None:
        if not self._over:
            self._over = self._cancelled = True
            self._job.cancel()


class _Out:
    """The client's side of an exchange: messages in order, whoever sends them."""

    __slots__ = (
        "_clock", "_ended", "_giving", "_head", "_last", "_left", "_pinging", "_send", "_started", "begun", "loop",
    )  # fmt: skip

    def __init__(self, send: Send) -> None:
        self._send = send
        self._pinging: asyncio.Lock | None = None  # made for the first of them: most answers come sooner
        self._giving = False
        self.loop = asyncio.get_running_loop()
        self._clock = self.loop.time
        self.begun = self._last = self._clock()
        self._started = self._ended = False
        self._head: Head | None = None  # of an answer that is all there, until its body comes
        self._left = -1  # bytes of a body whose length was sent; below 0 where it was not

    @property
    def age(self) -> float:
        """Seconds since the request was taken."""
        return self._clock() - self.begun

    async def write(self, step: Head | bytes) -> None:
        """Send a step of an exchange."""
        if self._pinging is not None and self._pinging.locked():
            await (self.start(step) if isinstance(step, Head) else self.body(step))
            return
        if type(step) is not bytes:
            await self._begin(step)  # type: ignore[arg-type]
            return
        head, self._head = self._head, None
        if head is not None:
            if self._left == len(step) and write_at_once(self._send, head.status, head.headers, step):
                self._left, self._ended, self._last = 0, True, self._clock()
                return
            await self._give_now(_opening(head))
        self._left -= len(step)
        self._ended = self._left == 0
        self._giving, self._last = True, self._clock()
        try:
            await self._send({"type": "http.response.body", "body": step, "more_body": not self._ended})
        finally:
            self._giving = False

    async def _begin(self, head: Head) -> None:
        """The head of the answer; where its body follows at once, it waits for that."""
        self._started = True
        self._left = int(head.headers.get("content-length", self._left))
        if self._left >= 0:
            self._head = head
        else:
            await self._give_now(_opening(head))

    def silent(self, seconds: float) -> bool:
        """Has nothing been sent for about so long?"""
        return self._clock() - self._last >= seconds * 0.5

    async def start(self, head: Head) -> None:
        """Send the head."""
        self._started = True
        self._left = int(head.headers.get("content-length", self._left))
        await self._give(_opening(head))

    async def body(self, data: bytes) -> None:
        """Send more of the body."""
        self._left -= len(data)
        self._ended = self._left == 0
        await self._give({"type": "http.response.body", "body": data, "more_body": not self._ended})

    async def end(self) -> None:
        """The body is complete."""
        head, self._head = self._head, None
        if head is not None:
            await self._give(_opening(head))
        if not self._ended:
            await self._give({"type": "http.response.body", "body": b"", "more_body": False})
            self._ended = True

    async def ping(self, exchange: Exchange) -> None:
        """A sign of life; it commits the answer to a stream."""
        if self._giving or (exchange.committed and not self._started):
            return  # what is on the way is sign of life enough
        if self._ended or self._left >= 0:
            return  # it was due when nothing was there, and comes to run when all is, or an answer of a known length
        self._pinging = self._pinging or asyncio.Lock()
        async with self._pinging:
            if not self._started:
                self._started = True
                await self._send(_opening(exchange.commit()))
            self._last = self._clock()
            await self._send({"type": "http.response.body", "body": KEEP_ALIVE, "more_body": True})

    async def _give(self, message: Message) -> None:
        if self._pinging is not None and self._pinging.locked():
            async with self._pinging:
                pass  # nothing comes between its end and what follows: no ping begins before this is given
        await self._give_now(message)

    async def _give_now(self, message: Message) -> None:
        self._giving, self._last = True, self._clock()
        try:
            await self._send(message)
        finally:
            self._giving = False


def _opening(head: Head) -> Message:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in head.headers.items()]
    return {"type": "http.response.start", "status": head.status, "headers": headers}
