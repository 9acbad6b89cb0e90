"""A body posted over aiohttp's own connections: in one write, without a session's objects and task for each.

A session builds a request, a writer, a task that writes and an answer anew each time: half of what asking costs.  What
depends on the address and the headers alone is built once here, by aiohttp itself; its connector gives connections, and
its parser reads what comes back, but for what is short and plain (`short_answers.py`).  Knows aiohttp by its public
names; nothing of effects or proxies.
Contract: the same bytes go out, and the same errors are raised, as by a session that follows no redirect and keeps no
cookie; what it cannot send so is no `Target`.  A connection goes back once its answer has ended, guarded against what
comes unasked; else it ends.  No session may share them: it does not know who reads them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cached_property
from typing import Any, TypeAlias

import aiohttp
from aiohttp.http import HttpProcessingError
from multidict import CIMultiDict
from yarl import URL

from ..effects import Open
from ..io.aio import HEADERS, KEPT, Answer, AsyncPool, as_aiohttp
from ..io.held_bytes import HeldBytes
from ..memo import Recent
from ..records import NamedTuple
from .chunked import Chunked
from .short_answers import Short, ShortAnswers

TARGETS = 64
"""Addresses with their headers that are remembered."""
SCHEMES = frozenset({"http", "https"})
BREAKS = frozenset("\r\n\0")
FRAMING = frozenset({"connection", "content-length", "expect", "transfer-encoding"})
"""Headers that say how a body is sent: whoever gives one wants another way than this."""
STREAMED = frozenset({"application/vnd.amazon.eventstream", "application/x-ndjson", "text/event-stream"})
"""Kinds of answers that are open for long."""
IS_KNOWN = aiohttp.__version__.partition(".")[0] == "3"
"""Is it the library whose connections are known here?"""
LENGTH = "Content-Length"
BROKEN = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)
"""How a connection breaks that its peer has ended."""
MOST_KEPT = 4
"""Kept connections that one body is posted over; a peer that ended one may have ended all of them."""


Headers: TypeAlias = Mapping[str, str]
"""Those of an answer."""


class _Asked(aiohttp.ClientRequest):
    """What is asked again and again, as the connector knows it."""

    @cached_property
    def connection_key(self) -> Any:
        """Which connections it may use."""
        return super().connection_key


class Target(NamedTuple):
    """Where a body goes, by the request as which the connector knows it; `head` ends where the body's length stands.

    `streams`: is an answer asked for that comes bit by bit?
    """

    request: aiohttp.ClientRequest
    head: bytes
    streams: bool = False


class Direct:
    """Posts over the connections of `connector`, with `defaults` among the headers; for one loop."""

    def __init__(
        self,
        connector: aiohttp.BaseConnector,
        defaults: Mapping[str, str],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._connector, self._defaults, self._loop = connector, defaults, loop
        self._known: Recent[tuple[Any, ...], tuple[Target | None]] = Recent(TARGETS)

    def find(self, url: str, headers: Mapping[str, str]) -> Target | None:
        """Where that goes; None for what a session has to send."""
        key = (url, *headers.items())
        found = self._known.get(key)
        if found is None:
            found = (self._made(url, headers),)
            self._known.put(key, found)
        return found[0]

    def _made(self, url: str, headers: Mapping[str, str]) -> Target | None:
        to = _plain(url)
        if to is None or not IS_KNOWN or any(name.lower() in FRAMING for name in headers):
            return None
        sent = CIMultiDict(self._defaults)
        sent.update(headers)
        try:
            body = aiohttp.BytesPayload(b" ")
            request = _Asked("POST", to, headers=sent, data=body, loop=self._loop)
        except ValueError:
            return None
        lines = [f"POST {to.raw_path_qs} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in request.headers.items() if name.lower() not in FRAMING]
        if any(not BREAKS.isdisjoint(line) for line in lines):
            return None
        streams = request.headers.get("accept") in STREAMED
        return Target(request, "\r\n".join((*lines, f"{LENGTH}: ")).encode(), streams)

    async def post(
        self, target: Target, body: bytes, timeouts: aiohttp.ClientTimeout
    ) -> tuple[int, Mapping[str, str], Answer]:
        """Status and headers of the answer, and its body to be read.  Raises what a session raises.

        A peer may end a kept connection just when it is asked again over it.  What breaks so before anything of an
        answer came is asked once more over another one; what breaks over a new connection is the peer's own failure.
        """
        request = b"".join((target.head, b"%d\r\n\r\n" % len(body), body))
        left = MOST_KEPT
        while True:
            connection = await self._connect(target, timeouts)
            answer = await self._ask(connection, request, target, timeouts, is_last=not left)
            if answer is not None:
                return answer
            left -= 1

    async def aclose(self) -> None:
        """Close every connection."""
        await self._connector.close()

    async def _connect(self, target: Target, timeouts: aiohttp.ClientTimeout) -> Any:
        try:
            return await self._connector.connect(target.request, [], timeouts)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError(f"Connection timeout to host {target.request.url}") from error

    async def _ask(
        self, connection: Any, request: bytes, target: Target, timeouts: aiohttp.ClientTimeout, *, is_last: bool
    ) -> tuple[int, Mapping[str, str], Answer] | None:
        """The answer; None where a kept connection had ended and nothing came over it, unless this is the last try."""
        protocol, kept, silence, reader = connection.protocol, None, None, None
        try:
            if protocol.transport is None:  # it ended just when it was there
                raise aiohttp.ServerDisconnectedError
            kept = _guard_of(protocol)
            begun: tuple[int, Any] | None = None
            if target.streams:
                if kept is not None:
                    kept.leave()
                silence = Silence(protocol, timeouts.sock_read, self._loop)
                content: Any = Chunked(protocol, silence, self._loop)
                reader = silence.content = content
                protocol.transport.write(request)
                begun = await content.begin()
            else:
                waiting = (kept or self._guard(protocol)).wait(timeouts.sock_read)
                protocol.transport.write(request)
                found = await waiting
                if type(found) is Short:
                    _go_back(connection, protocol)
                    return found.status, found.headers, found
                reader = silence = found
            if begun is None:
                begun, content = await _all_of(protocol, silence)
            silence.content = content
            return *begun, Posted(connection, content, silence, self)
        except HttpProcessingError as error:
            _end(connection, silence)
            about = target.request.request_info
            raise aiohttp.ClientResponseError(
                about, (), status=error.code, message=error.message, headers=error.headers
            ) from error
        except BROKEN:
            _end(connection, silence)
            if is_last or kept is None or reader is None or reader.is_heard:
                raise
            return None
        except BaseException:
            _end(connection, silence)
            raise

    def rest(self, connection: Any) -> None:
        """All has come over this connection: others may use it, unless somebody speaks meanwhile."""
        protocol = connection.protocol
        if protocol is not None and protocol.transport is not None:
            self._guard(protocol)
        _go_back(connection, protocol)

    def _guard(self, protocol: Any) -> ShortAnswers:
        """What takes short answers over the connection of this protocol, and anything while none is asked for."""
        return ShortAnswers(protocol, self._loop, self._give)

    def _give(self, protocol: Any, seconds: float | None, is_heard: bool) -> Silence:
        """Let aiohttp's protocol read the answer that comes next."""
        silence = Silence(protocol, seconds, self._loop)
        silence.is_heard = is_heard
        protocol.set_response_params(read_until_eof=True, timer=silence)
        return silence


def _guard_of(protocol: Any) -> ShortAnswers | None:
    """What guards the connection, where an answer has come over it before."""
    standing = protocol.transport.get_protocol()
    return standing if type(standing) is ShortAnswers else None


async def _all_of(protocol: Any, silence: Silence) -> tuple[tuple[int, Headers], Any]:
    """The answer as aiohttp reads it: status and headers, and its body."""
    while True:
        with silence:
            head, content = await protocol.read()
        if not 100 <= head.code < 200 or head.code == 101:
            return (head.code, head.headers), content


def _plain(url: str) -> URL | None:
    """The address, where it is one, and holds no name and password."""
    try:
        found = URL(url)
    except ValueError:
        return None
    return found if found.scheme in SCHEMES and found.raw_host and found.user is found.password is None else None


class Silence:
    """Ends an answer that says nothing for so many seconds while it is waited for (None: for ever).

    aiohttp's own clock is made anew for each read, which is a tenth of what a slow stream costs; this one looks when
    the time would be over, and goes on from where the last wait began.  It is entered for each wait.
    `is_heard`: had anything of the answer come when it began?
    """

    __slots__ = ("_begun", "_handle", "_loop", "_protocol", "_seconds", "content", "is_heard")
    content: Any

    def __init__(self, protocol: Any, seconds: float | None, loop: asyncio.AbstractEventLoop) -> None:
        self._protocol, self._seconds, self._loop = protocol, seconds or 0.0, loop
        self.content, self.is_heard = None, False
        self._begun = -1.0  # the wait under way; below 0 for none
        self._handle = loop.call_later(self._seconds, self._look) if self._seconds else None

    def __enter__(self) -> Silence:
        """It is waited for."""
        self._begun = self._loop.time()
        return self

    def __exit__(self, *_: object) -> None:
        """Something came, or nobody waits."""
        self._begun = -1.0

    def assert_timeout(self) -> None:
        """What has come is not late, however long nobody asked for it."""

    def end(self) -> None:
        """Nothing is waited for any more; what is waited for holds this, in a circle."""
        self.content = None
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.cancel()

    def _look(self) -> None:
        now = self._loop.time()
        begun = self._begun if self._begun >= 0 else now
        if now < begun + self._seconds:
            self._handle = self._loop.call_at(begun + self._seconds, self._look)
            return
        self._handle = None
        error = aiohttp.SocketTimeoutError("Timeout on reading data from socket")
        for one in (self._protocol, self.content):
            if one is not None:
                one.set_exception(error)


class Posted:
    """The answer to a body that was posted (`Answer`)."""

    __slots__ = ("_connection", "_direct", "_silence", "content")

    def __init__(self, connection: Any, content: Any, silence: Silence, direct: Direct) -> None:
        self._connection, self.content, self._silence, self._direct = connection, content, silence, direct
        content.on_eof(self._ended)

    def close(self) -> None:
        """Let go of it."""
        self._silence.end()
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _ended(self) -> None:
        """All has come.  The connection may be used again, unless it turned into something else, or still sends."""
        self._silence.end()
        connection, self._connection = self._connection, None
        if connection is not None:
            self._direct.rest(connection)


def _go_back(connection: Any, protocol: Any) -> None:
    """All has come over this connection: others may use it."""
    if protocol is None or protocol.upgraded or protocol.writing_paused:
        connection.close()
    else:
        connection.release()


def _end(connection: Any, silence: Silence | None) -> None:
    if silence is not None:
        silence.end()
    connection.close()


class DirectPool(AsyncPool):
    """An `AsyncPool` that posts without a session's objects and task for each request."""

    def __init__(self, *, use_proxies: bool = True, held: HeldBytes | None = None) -> None:
        super().__init__(use_proxies=use_proxies, held=held)
        self._direct: Direct | None = None
        self._posts_in: asyncio.AbstractEventLoop | None = None

    async def aclose(self) -> None:
        """Close every connection."""
        direct, self._direct = self._direct, None
        if direct is not None:
            await direct.aclose()
        await super().aclose()

    async def send(self, effect: Open) -> tuple[int, Mapping[str, str], Answer]:
        """Status and headers of the answer; its body is still to be read."""
        if effect.body and effect.upload is None and effect.method == "POST" and self.proxy(effect.url) is None:
            direct = self._posting()
            target = direct.find(effect.url, effect.headers)
            if target is not None:
                return await direct.post(target, effect.body, as_aiohttp(effect.timeouts))
        return await super().send(effect)

    def _posting(self) -> Direct:
        loop = asyncio.get_running_loop()
        if self._direct is None or self._posts_in is not loop:
            self._posts_in, self._direct = loop, Direct(aiohttp.TCPConnector(**KEPT), HEADERS, loop)
        return self._direct
