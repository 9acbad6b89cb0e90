"""Connections that a session keeps, given out again only where nothing came over them meanwhile.

Knows aiohttp's connector and connections by their public names; nothing of requests.
Contract: a kept connection whose peer spoke while nobody asked, as servers do that say 408 to who is idle, is ended and
not given out: aiohttp takes what lies there for the answer to whoever asks next.  Its protocol shows a whole answer
that came so, and not the beginning of one: while a connection is kept another stands in its place (`Guard`).
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import aiohttp

MOST_TRIED = 64
"""Connections looked at for one request; a peer over whose new ones something lies is no server."""


class QuietConnector(aiohttp.TCPConnector):
    """Gives connections over which nothing has come that nobody asked for."""

    async def connect(self, req: Any, traces: Any, timeout: aiohttp.ClientTimeout) -> Any:
        """A kept connection, or a new one."""
        for _ in range(MOST_TRIED):
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            if protocol is None or not protocol.should_close:
                break
            connection.close()
        else:
            connection = await super().connect(req, traces, timeout)
        _unguard(connection.protocol)
        connection.add_callback(partial(_guard, connection.protocol))
        return connection


class Guard(asyncio.Protocol):
    """Stands in the place of `handler` while nobody asks: whatever comes ends the connection."""

    __slots__ = ("_handler", "_transport")

    def __init__(self, handler: Any) -> None:
        self._handler, self._transport = handler, handler.transport
        self._transport.set_protocol(self)

    def data_received(self, data: bytes) -> None:
        """Nobody waits for that."""
        self._transport.close()

    def eof_received(self) -> None:
        """The peer says no more: the transport ends."""
        self._handler.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._handler.connection_lost(exc)


def _unguard(protocol: Any) -> None:
    """Let the protocol have what comes."""
    transport = None if protocol is None else protocol.transport
    if transport is not None and type(transport.get_protocol()) is Guard:
        transport.set_protocol(protocol)


def _guard(protocol: Any) -> None:
    """The connection goes back: whatever comes over it ends it."""
    if protocol is not None and protocol.is_connected():
        Guard(protocol)
