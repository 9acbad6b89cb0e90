"""An answer in chunks, over one of aiohttp's connections: its head read by aiohttp's parser, its body here.

For as long as an answer is open aiohttp holds a parser, the head in three forms and three queues, a tenth of what an
open stream takes in all, and makes ten calls for each piece.  Knows aiohttp by its public names; nothing of requests,
or of which connection it is.
Contract: status, headers, bytes and errors are those that aiohttp gives, but that what has come is given before what
broke behind it, and that what is no chunk breaks off the answer, which aiohttp tells nobody who waits.  Whatever is not
plain (another framing, an encoding, extensions of chunks, trailers, a head or a line that aiohttp pardons) is left to
aiohttp, from where it stands; the connection is aiohttp's again once all has come.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from typing import Any

import aiohttp
from aiohttp.http import HttpProcessingError, HttpResponseParser, HttpVersion11

MOST_HEAD = 64 * 1024
"""Bytes of a head that are waited for here."""
HIGH = 512 * 1024
"""Bytes that may wait to be read before no more are taken, as with aiohttp."""
END, BREAK = b"\r\n\r\n", b"\r\n"
CHUNK = re.compile(rb"([0-9a-fA-F]{1,8})\r\n")
BEGINNING = re.compile(rb"[0-9a-fA-F]{0,8}\r?")
"""What may go on to be the line in front of a chunk."""
LIKE = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
"""A head behind which aiohttp reads the rest of a body."""


class Chunked(asyncio.Protocol):
    """What comes over the transport of `protocol` (aiohttp's), from its head on; `silence` is entered for each wait.

    Makes the transport its own.  `head` is what the answer begins with, None where aiohttp has to read it; `is_heard`:
    has anything come that it reads?
    """

    __slots__ = (
        "_content", "_error", "_is_over", "_is_paused", "_left", "_loop", "_on_eof", "_pieces", "_protocol", "_rest",
        "_silence", "_size", "_waiter", "head", "is_heard",
    )  # fmt: skip

    def __init__(self, protocol: Any, silence: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._protocol, self._silence, self._loop = protocol, silence, loop
        self.head: tuple[int, Any] | None = None
        self._on_eof: Callable[[], None] | None = None
        self._pieces: list[bytes] | tuple[()] = ()
        self._size = 0
        self._left = 0  # bytes of a chunk, and of the break behind it, that are still to come
        self._rest = b""  # what came, and says nothing before more has come
        self._waiter: asyncio.Future[None] | None = None
        self._error: BaseException | None = None
        self._content: Any = None  # the rest of the body, where aiohttp reads it
        self._is_over = self._is_paused = self.is_heard = False
        protocol.transport.set_protocol(self)

    # ── as it is read ────────────────────────────────────────────────────────

    async def begin(self) -> tuple[int, Any] | None:
        """Status and headers; None where aiohttp has the answer: it is to be asked for all of it."""
        while self.head is None and not self._is_over:
            await self._more()
        return self.head

    async def _more(self) -> None:
        """Until something has come; raises what the connection broke off with."""
        if self._error is not None:
            raise self._error
        waiter = self._waiter = self._loop.create_future()
        try:
            with self._silence:
                await waiter
        finally:
            self._waiter = None

    async def readany(self) -> bytes:
        """What has come; b"" at the end."""
        while not self._pieces:
            if self._content is not None:
                return await self._content.readany()  # type: ignore[no-any-return]
            if self._is_over:
                return b""
            await self._more()
        pieces, self._pieces, self._size = self._pieces, (), 0
        if self._is_paused:
            self._go_on()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def at_eof(self) -> bool:
        """Was all of it read?"""
        if self._pieces:
            return False
        return self._is_over if self._content is None else bool(self._content.at_eof())

    def on_eof(self, call: Callable[[], None]) -> None:
        """`call` once all has come: at once, where it has."""
        if self._content is not None:
            self._content.on_eof(call)
        elif self._is_over:
            call()
        else:
            self._on_eof = call

    def set_exception(self, error: BaseException) -> None:
        """Whoever waits, or reads behind what has come, gets `error`."""
        if self._content is not None:
            self._content.set_exception(error)
        self._error = error
        self._wake()

    def _go_on(self) -> None:
        """Let more come."""
        self._is_paused = False
        if self._protocol.transport is not None:
            self._protocol.transport.resume_reading()

    def _wake(self) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    # ── as it comes ──────────────────────────────────────────────────────────

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        if self._rest:
            data, self._rest = self._rest + data, b""
        if self.head is None:
            self._take_head(data)
        else:
            self._take(data)
        if self._size > HIGH and not (self._is_paused or self._is_over):  # over, the connection is another's
            self._is_paused = True
            self._protocol.transport.pause_reading()
        if self._pieces or self._is_over:
            self._wake()

    def eof_received(self) -> None:
        """Nothing more comes: the transport closes."""

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone: before there was a head aiohttp says what that means."""
        if self.head is None and not self._is_over:
            self._hand_over(b"")
        elif not self._is_over:
            self._error = self._error or _broken()
        self._protocol.connection_lost(exc)
        self._wake()

    def pause_writing(self) -> None:
        """The transport is full."""
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        """It takes more."""
        self._protocol.resume_writing()

    def _take_head(self, data: bytes) -> None:
        end = data.find(END)
        head = data[: end + len(END)] if end >= 0 else data
        if head.count(b"\n") != head.count(BREAK) or len(head) > MOST_HEAD:
            self._hand_over(data)
        elif end < 0:
            self._rest = data
        else:
            self.head = self._read(head)
            if self.head is None:
                self._hand_over(data)
                return
            self._take(data[len(head) :])
            self._wake()

    def _read(self, head: bytes) -> tuple[int, Any] | None:
        """Status and headers, where a plain body in chunks is behind them."""
        protocol = self._protocol
        parser = HttpResponseParser(
            protocol, self._loop, HIGH // 2, payload_exception=aiohttp.ClientPayloadError, read_until_eof=True
        )
        try:
            ((said, _),), is_upgraded, rest = parser.feed_data(head)
        except (HttpProcessingError, ValueError):
            return None
        if is_upgraded or rest or said.upgrade or said.should_close or said.compression or not said.chunked:
            return None
        is_plain = said.headers.get("transfer-encoding", "").lower() == "chunked" and said.version == HttpVersion11
        return (said.code, said.headers) if is_plain and 200 <= said.code < 300 and said.code != 204 else None

    def _take(self, data: bytes) -> None:
        """The body goes on with `data`."""
        at, pieces = 0, self._pieces or []
        self._pieces = pieces
        while True:
            left = self._left
            if left > len(BREAK):
                piece = data[at : at + left - len(BREAK)]
                if not piece:
                    return
                pieces.append(piece)
                at, left = at + len(piece), left - len(piece)
                self._size, self._left = self._size + len(piece), left
                if left > len(BREAK):
                    return
            if left:
                if not data.startswith(BREAK, at):
                    self._keep(data[at:], is_plain=BREAK.startswith(data[at:]))
                    return
                at, self._left = at + len(BREAK), 0
            line = CHUNK.match(data, at)
            if line is None:
                self._keep(data[at:], is_plain=BEGINNING.fullmatch(data, at) is not None)
                return
            size = int(line[1], 16)
            if not size:
                self._end(data[line.start() :], line.end() - line.start())
                return
            at, self._left = line.end(), size + len(BREAK)

    def _keep(self, rest: bytes, *, is_plain: bool) -> None:
        """`rest` goes on with what comes next, or is nothing for this."""
        if is_plain:
            self._rest = rest
        else:
            self._hand_over(rest)

    def _end(self, rest: bytes, size: int) -> None:
        """The last chunk, the first `size` bytes of `rest`: nothing more, where a break is behind it."""
        behind = rest[size:]
        if not behind.startswith(BREAK):
            self._keep(rest, is_plain=BREAK.startswith(behind))
            return
        self._is_over = True
        protocol = self._protocol
        if self._is_paused:
            self._go_on()
        if len(behind) > len(BREAK):
            protocol.transport.close()  # somebody speaks unasked
        if protocol.transport is not None:
            protocol.transport.set_protocol(protocol)
        ended, self._on_eof = self._on_eof, None
        if ended is not None:
            ended()

    def _hand_over(self, rest: bytes) -> None:
        """`rest`, and all that follows, is aiohttp's to read."""
        protocol, rest = self._protocol, self._rest + rest
        self._rest, self._is_over, self.is_heard = b"", True, bool(rest)
        if self._is_paused:
            self._go_on()
        if protocol.transport is not None:
            protocol.transport.set_protocol(protocol)
        protocol.set_response_params(read_until_eof=True, timer=self._silence)
        if self.head is not None:
            protocol.data_received(LIKE)
            _, self._content = _at_once(protocol.read())
            if self._left:  # a chunk is whole but for its end, which is nothing that could be sent alone
                protocol.data_received(b"1\r\nx")
                self._content.read_nowait(1)
            ended, self._on_eof = self._on_eof, None
            if ended is not None:
                self._content.on_eof(ended)
        if rest:
            protocol.data_received(rest)
        if self._content is not None and protocol.exception() is not None and not self._content.is_eof():
            self._break_off()

    def _break_off(self) -> None:
        """What aiohttp reads is no chunk, of which it tells nobody who reads: who reads gets it behind what came."""
        content = self._content
        came = content.read_nowait() if content.exception() is None else b""
        if came:
            self._pieces = [*self._pieces, came]
        content.set_exception(_broken())


def _broken() -> BaseException:
    return aiohttp.ClientPayloadError("the body of the answer is not complete")


def _at_once(reading: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns that has nothing to wait for."""
    try:
        reading.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("nothing was there to be read")
