"""A client's connection: the server's own, which waits for the head of a request without end, neither long nor far.

Knows uvicorn's protocol by its contract (`cycle` is the request whose head came last); nothing of requests.
Where the process has too many connections, idle ones give way (`overload.py`).
Contract: a head that is not complete after `HEAD_SECONDS`, counted from its first bytes (for the first one from the
connection's beginning), or after `MOST_HEAD` bytes, ends its connection; what is being answered goes on.  An offer to
speak another protocol that is not spoken here is ignored: the request is served as though it had not been made.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from .flow import small
from .line import LINE, Signal
from .overload import BUSY, ROOM

try:
    from httptools import HttpParserUpgrade as _Stopped
except ImportError:  # then the parser is h11's, which reads on by itself
    _Stopped = ()  # type: ignore[assignment, misc]

HEAD_SECONDS = 30.0
FRESH = 1.0
"""Seconds a new connection may take to say its first word before its place may be given to another."""
MOST_HEAD = 64 * 1024
"""Bytes; other servers take from 8 to 64 KB."""
TOO_LONG = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: 46\r\nconnection: close\r\n\r\nthe head of the request is too long; cut it.\r\n"
)

HEAD, END = b"HTTP/1.1 ", b"\r\n\r\n"
LONGEST, MOST_KNOWN = 100, 512
"""Bytes of a header that is remembered, and how many are."""
SECRET = frozenset({b"authorization", b"api-key", b"cookie", b"proxy-authorization", b"x-api-key", b"x-goog-api-key"})
ACTS = frozenset({b"expect"})
"""Headers that uvicorn has to see itself."""

NO_HEADERS: Any = ()

_Base: Any = AutoHTTPProtocol
_KNOWN: dict[tuple[bytes, bytes], tuple[bytes, bytes]] = {}
_ASGI: dict[str, dict[str, str]] = {}


class Pipeline(list[Any]):
    """Requests that came before the one at hand was answered: hardly any client sends one, and an empty list is a tenth
    of the queue that uvicorn makes."""

    __slots__ = ()

    def appendleft(self, one: Any) -> None:
        """`one` came last."""
        self.insert(0, one)


class JoinedWrites:
    """A transport that sends the head of an answer with the first of its body: one call of the system, one packet.

    A head behind which nothing comes at once goes out before the loop waits for anything.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._transport, name)
        setattr(self, name, found)  # is asked for with every request
        return found

    def write(self, data: bytes) -> None:
        """Send `data`, or hold it back where it is a head."""
        if self._head:
            head, self._head = self._head, b""
            self._transport.writelines((head, data))
        elif data.startswith(HEAD) and data.endswith(END):
            self._head = data
            self._loop.call_soon(self._flush)
        else:
            self._transport.write(data)

    def close(self) -> None:
        """Send what is held back, and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)


class Connection(_Base):  # type: ignore[misc]
    """One connection, as uvicorn makes it: with few attributes beside its own, of more Python makes a large dict."""

    __slots__ = ("_gone", "_head", "_late", "_lost", "_made", "_stopped")
    _gone: Callable[[], object] | None
    _lost: bool
    _late: asyncio.TimerHandle | None
    _head: int
    _made: float
    _stopped: int  # how many of the bytes at hand the parser has read before it stopped at an offer; else 0

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._late, self._head, self._made, self._stopped = None, 0, 0.0, 0
        self._gone, self._lost = None, False
        self.pipeline = Pipeline()  # type: ignore[misc]  # it has a dict, too

    def connection_made(self, transport: asyncio.Transport) -> None:
        """The client has come."""
        transport = JoinedWrites(transport, self.loop)  # type: ignore[assignment]  # as far as it is asked
        super().connection_made(transport)
        self._made = self.loop.time()
        self.flow = small(self.flow, transport)  # type: ignore[misc, has-type]
        if not ROOM.make_room(self.connections):
            transport.write(BUSY)
            transport.close()
        self._late = self.loop.call_later(HEAD_SECONDS, transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._forget()
        self._lost = True
        if self.scope is not None:
            self.scope.pop(LINE, None)  # no circle outlives it
        super().connection_lost(exc)
        gone, self._gone = self._gone, None
        if gone is not None:
            gone()

    def on_gone(self, call: Callable[[], object]) -> None:
        """`call` once the client goes away.

        Who asks serves for a while, and has read the head: it is let go of, keys and all.
        """
        if self._lost:
            self.loop.call_soon(call)
            return
        self._gone = call
        if self.cycle is not None and not self.pipeline:  # else the last head that came is another's
            scope = self.cycle.scope
            if scope["headers"] is self.headers:  # type: ignore[has-type]  # else the next head has begun
                self.headers = NO_HEADERS  # type: ignore[misc]  # until the next begins
            scope["headers"] = NO_HEADERS

    def not_on_gone(self, call: Callable[[], object]) -> None:
        """No more: the next request may have asked for its own meanwhile."""
        if self._gone == call:
            self._gone = None

    # ── one request, as the parser calls ─────────────────────────────────────

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        scope = self.scope
        scope["asgi"] = _ASGI.setdefault(self.asgi_version, scope["asgi"])
        scope[LINE] = self

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header: clients send the same ones each time, and an open stream holds those it was asked with."""
        known = _KNOWN.get((name, value))
        if known is not None:
            self.headers.append(known)
            return
        super().on_header(name, value)
        lower, _ = told = self.headers[-1]
        if lower not in SECRET and lower not in ACTS and len(name) + len(value) <= LONGEST:
            if len(_KNOWN) >= MOST_KNOWN:
                _KNOWN.clear()
            _KNOWN[name, value] = told

    def on_headers_complete(self) -> None:
        """The head is complete: its request is about to be served, unless others come first."""
        if self._stopped:  # it is told again, and served already
            return
        before = self.cycle
        super().on_headers_complete()
        if self.cycle is not before:
            self.cycle.message_event = Signal()

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        before = self.cycle
        super().data_received(data)
        if self._stopped:
            self._read_on(memoryview(data))
        if self.cycle is before and (before is None or before.response_complete):
            self._wait(len(data), counted=before is None or not before.more_body)
        elif self._head or self._late is not None:
            self._forget()

    def _unsupported_upgrade_warning(self) -> None:
        """uvicorn's own: it has dropped what came behind a head that offers another protocol, as it speaks none.

        Java's `HttpClient` offers HTTP/2 with the first request of every connection, so nobody is warned either.
        """
        stopped = sys.exc_info()[1]
        if isinstance(stopped, _Stopped) and self.scope["method"] != "CONNECT":
            (self._stopped,) = stopped.args

    def _read_on(self, data: memoryview) -> None:
        """What came behind such a head is the body of its request, and whatever the client sent after that."""
        while self._stopped and not self.transport.is_closing():
            data = data[self._stopped :]
            self._tell_again()
            if not self.transport.is_closing():  # else there is something wrong with how the body is framed
                super().data_received(data)

    def _tell_again(self) -> None:
        """A parser that was told the same head without the offer reads the body; the old one may have ended."""
        scope = self.cycle.scope
        headers = scope["headers"]
        self.parser = type(self.parser)(self)  # type: ignore[has-type, misc]
        with suppress(AttributeError):  # an old httptools; as uvicorn does
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        lines = [b"%b: %b\r\n" % header for header in headers if header[0] != b"upgrade"]
        self.cycle.more_body = True
        super().data_received(b"POST / HTTP/%b\r\n%b\r\n" % (scope["http_version"].encode(), b"".join(lines)))
        self.scope, self.headers, self._stopped = scope, headers, 0  # type: ignore[misc]

    def is_idle(self) -> bool:
        """Does nobody wait for an answer here, and nobody write a question?  Who has just come is about to."""
        if self.cycle is None:
            return not self._head and self.loop.time() - self._made > FRESH
        return bool(self.cycle.response_complete) and not self._head

    def shed(self) -> None:
        """Close it, for others need its place."""
        self.transport.close()

    def _wait(self, size: int, *, counted: bool) -> None:
        """The head goes on; what is left of a body that was refused is not counted."""
        if self.transport.is_closing():
            return
        self._head += size if counted else 0
        if self._head > MOST_HEAD:
            self.transport.write(TOO_LONG)
            self.transport.close()
        elif self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _forget(self) -> None:
        self._head = 0
        if self._late is not None:
            self._late.cancel()
            self._late = None
