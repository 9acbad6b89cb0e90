"""Connections that a session keeps, given out again only where nothing came over them meanwhile.

Knows aiohttp's connector by its public names; nothing of requests.
Contract: a kept connection whose peer spoke while nobody asked, as servers do that say 408 to who is idle, is ended and
not given out: aiohttp takes what lies there for the answer to whoever asks next.
"""

from __future__ import annotations

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
                return connection
            connection.close()
        return await super().connect(req, traces, timeout)
