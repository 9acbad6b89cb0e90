"""An answer that is all there, written to its client's connection at once: head and body in one.

By ASGI it goes out as two messages, of which uvicorn looks through each header again.  Knows uvicorn's cycle of request
and answer by what `send` of it reads and sets; nothing of requests.
Contract: the same bytes as those two messages make, and the same state after them; False, and nothing done, where the
cycle is not one that is known, or has anything else to do about it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

try:
    from uvicorn.protocols.http import httptools_impl as _impl
except ImportError:  # then there is no such cycle
    _impl = None  # type: ignore[assignment]

MOST = 64 * 1024
"""Bytes of a body that is copied behind its head."""
ILLEGAL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
"""What no value of a header may hold; uvicorn says so."""
BODILESS = frozenset({204, 304})

FRAMING = frozenset({b"connection", b"content-length", b"transfer-encoding"})
"""Headers that say how a body is sent: a server that adds one to all answers means something by it."""

_Cycle: Any = getattr(_impl, "RequestResponseCycle", None)
_LINES: Mapping[int, bytes] = getattr(_impl, "STATUS_LINE", {})


def write_at_once(
    send: Callable[[Any], Awaitable[None]], status: int, headers: Mapping[str, str], body: bytes
) -> bool:
    """Write it, as `send` would; `headers` say how long `body` is."""
    cycle: Any = getattr(send, "__self__", None)
    if type(cycle) is not _Cycle or len(body) > MOST or status in BODILESS or status not in _LINES:
        return False
    try:
        written, busy = _written(cycle, status, headers), cycle.flow.write_paused
        is_begun = cycle.response_started or cycle.disconnected
        write, keeps, ended = cycle.transport.write, cycle.keep_alive, cycle.on_response
    except (AttributeError, UnicodeEncodeError):  # it is another cycle, or will say itself what is wrong
        return False
    if busy or is_begun or cycle.access_log or cycle.scope["method"] == "HEAD" or not written:
        return False
    cycle.response_started, cycle.waiting_for_100_continue = True, False
    cycle.chunked_encoding, cycle.expected_content_length = False, 0
    write(b"".join((*written, body)))
    cycle.response_complete = True
    cycle.message_event.set()
    if not keeps:
        cycle.transport.close()
    ended()
    return True


def _written(cycle: Any, status: int, headers: Mapping[str, str]) -> tuple[bytes, ...]:
    """The head; () for one that uvicorn is to look at."""
    if _added.headers is not cycle.default_headers:
        _added.take(cycle.default_headers)
    if _added.written is None or ILLEGAL.search("".join(headers.values())) is not None:
        return ()
    own = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    end = b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n"
    return _LINES[status], _added.written, own.encode("latin-1"), end


class _Added:
    """What the server adds to every answer: the same list of headers for a second."""

    headers: Any = None
    written: bytes | None = None

    def take(self, headers: Sequence[tuple[bytes, bytes]]) -> None:
        """This is it now."""
        plain = FRAMING.isdisjoint([name.lower() for name, _ in headers])
        lines = b"".join([b"%b: %b\r\n" % (name.lower(), value) for name, value in headers])
        self.headers, self.written = headers, lines if plain else None


_added = _Added()
