"""Answers that are short and plain, taken whole as they come: without a parser, a queue and a reader made for each.

Stands between a connection and aiohttp's own protocol, which has it otherwise, and guards it while nobody uses it.
Knows HTTP/1.1 as most servers write it, and that protocol by its public names; nothing of requests.
Contract: an answer is taken here where all of it comes in one piece, and its head says in the plainest form that this
is all.  Of any other, of one that breaks off, and of what nobody here understands, aiohttp's protocol gets every byte
as if it had been there from the beginning.  What comes unasked ends the connection: aiohttp takes it for the answer to
whoever asks next.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import aiohttp

from ..records import NamedTuple

MOST = 64 * 1024
"""Bytes of an answer, head and all, that is taken here."""
MOST_HEAD = 8000
"""Bytes of a head; aiohttp takes no line of more than 8190."""
MOST_LINES = 100
"""Lines of one; aiohttp takes no more than 128."""
END = b"\r\n\r\n"
TEXT = r"[\t -~\x80-\U0010ffff]*"
STATUS = re.compile(rf"HTTP/1\.1 ([2-5]\d\d)(?: {TEXT})?")
LINE = re.compile(rf"([!#$%&'*+.^_`|~0-9A-Za-z-]+):({TEXT})")
BODILESS = frozenset({204, 304})
OTHERWISE = frozenset({"content-encoding", "trailer", "transfer-encoding", "upgrade"})
"""Headers of answers that are not plain."""
LENGTH, CONNECTION, KEPT = "content-length", "connection", "keep-alive"
ONCE = frozenset({LENGTH, CONNECTION})
"""Headers of which the second may say something else."""
LONGEST_KNOWN, MOST_KNOWN = 100, 512
"""Characters of a line that is remembered, and how many are: servers write the same ones each time."""

_KNOWN: dict[str, tuple[str, str]] = {}


class Short:
    """The answer: its status, its headers by lower-case name, and its body, to be read once."""

    __slots__ = ("_body", "headers", "status")

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self._body = status, headers, body

    @property
    def content(self) -> Short:
        """It has all that is to be read."""
        return self

    async def readany(self) -> bytes:
        """All of it; b"" at the end."""
        body, self._body = self._body, b""
        return body

    def at_eof(self) -> bool:
        """Was it read?"""
        return not self._body

    def close(self) -> None:
        """Let go of it."""
        self._body = b""


class ShortAnswers(asyncio.Protocol):
    """Takes the answers of one connection, one at a time; what is not its own it gives to `handler`.

    `hand_over` is told for how many seconds may be silence, and whether any of the answer has come, and makes the
    handler ready; what it gives is the outcome.
    """

    __slots__ = ("_due", "_hand_over", "_handler", "_loop", "_seconds", "_timer", "_transport", "_waiting")

    def __init__(
        self, handler: Any, loop: asyncio.AbstractEventLoop, hand_over: Callable[[Any, float | None, bool], Any]
    ) -> None:
        self._handler, self._loop, self._hand_over = handler, loop, hand_over
        self._transport: Any = handler.transport
        self._waiting: asyncio.Future[Any] | None = None
        self._seconds: float | None = None
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._transport.set_protocol(self)

    def wait(self, seconds: float | None) -> asyncio.Future[Any]:
        """The answer to what is about to be sent (`Short`), or the outcome of handing it over.

        Raises SocketTimeoutError after so many seconds of silence.
        """
        self._seconds = seconds
        if seconds:
            self._due = self._loop.time() + seconds
            if self._timer is None or self._timer.when() > self._due:
                self._look_at(self._due)
        waiting = self._waiting = self._loop.create_future()
        return waiting

    def leave(self) -> None:
        """Another takes its place: nothing of the loop's holds it, and the connection, any longer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # ── as the transport calls ───────────────────────────────────────────────

    def data_received(self, data: bytes) -> None:
        """More has come."""
        if self._waiting is None:
            self._transport.close()
            return
        head = _plain(data)
        if head is None or len(data) != head.end:
            self._give_over(data)
            return
        waiting, self._waiting = self._waiting, None
        if not waiting.done():
            waiting.set_result(Short(head.status, head.headers, data[head.start :]))

    def eof_received(self) -> None:
        """The peer says no more: the transport ends."""
        self._handler.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        if self._waiting is not None:
            self._give_over()
        self.leave()
        self._transport = None
        self._handler.connection_lost(exc)

    def pause_writing(self) -> None:
        """The transport is full."""
        self._handler.pause_writing()

    def resume_writing(self) -> None:
        """It takes more."""
        self._handler.resume_writing()

    # ── one answer ───────────────────────────────────────────────────────────

    def _give_over(self, data: bytes = b"") -> None:
        """Let the handler have it."""
        waiting, self._waiting = self._waiting, None
        if waiting is None or waiting.done():  # nobody waits, and the connection is about to end
            return
        outcome = self._hand_over(self._handler, self._seconds, bool(data))
        self._transport.set_protocol(self._handler)
        self.leave()
        if data:
            self._handler.data_received(data)
        waiting.set_result(outcome)

    def _look_at(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._look)

    def _look(self) -> None:
        self._timer = None
        waiting = self._waiting
        if waiting is None or not self._seconds:
            return
        if self._loop.time() < self._due:
            self._look_at(self._due)
            return
        self._waiting = None
        if not waiting.done():
            waiting.set_exception(aiohttp.SocketTimeoutError("Timeout on reading data from socket"))


class _Head(NamedTuple):
    """A plain head: where the body starts, and where it ends."""

    status: int
    headers: dict[str, str]
    start: int
    end: int


def _plain(data: bytes) -> _Head | None:
    """The head at the beginning; None where it is not plain, or not there, or of an answer that is not short."""
    end = data.find(END, 0, MOST_HEAD)
    if end < 0:
        return None
    first, *lines = data[:end].decode("utf-8", "surrogateescape").split("\r\n")
    status = STATUS.fullmatch(first)
    if status is None or len(lines) > MOST_LINES:
        return None
    headers: dict[str, str] = {}
    for line in lines:
        named = _KNOWN.get(line) or _named(line)
        if named is None or named[0] in OTHERWISE or (named[0] in ONCE and named[0] in headers):
            return None
        headers[named[0]] = named[1]
    length = headers.get(LENGTH, "")
    start = end + len(END)
    if int(status[1]) in BODILESS or headers.get(CONNECTION, KEPT).lower() != KEPT:
        return None
    if not (length.isascii() and length.isdecimal()) or len(length) > len(str(MOST)) or start + int(length) > MOST:
        return None
    return _Head(int(status[1]), headers, start, start + int(length))


def _named(line: str) -> tuple[str, str] | None:
    """The name and the value in a line of a head; None where it is none."""
    found = LINE.fullmatch(line)
    if found is None:
        return None
    named = found[1].lower(), found[2].strip("\t ")
    if len(line) <= LONGEST_KNOWN and "cookie" not in named[0]:
        if len(_KNOWN) >= MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[line] = named
    return named
