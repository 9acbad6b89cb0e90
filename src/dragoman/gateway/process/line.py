"""A client's connection, for whoever serves its requests: where it stands in their scope, and a flag to wait for.

Knows the running loop; nothing of servers or requests.
Contract of `Signal`: as `asyncio.Event`, by the methods that a server's connection calls.  An event of asyncio makes a
queue with room for sixty-four, and a connection has two: hardly ever does more than one wait for either.
"""

from __future__ import annotations

import asyncio

LINE = "dragoman.line"
"""In the scope of a request: the connection it came on, which says when its client goes away (`Connection.on_gone`)."""


class Signal:
    """Set or not; `wait` until it is."""

    __slots__ = ("_set", "_waiting")

    def __init__(self, *, is_set: bool = False) -> None:
        self._set = is_set
        self._waiting: tuple[asyncio.Future[None], ...] = ()

    def is_set(self) -> bool:
        """Is it?"""
        return self._set

    def set(self) -> None:
        """Whoever waits goes on."""
        self._set = True
        waiting, self._waiting = self._waiting, ()
        for one in waiting:
            if not one.done():
                one.set_result(None)

    def clear(self) -> None:
        """Who waits from now on waits for the next time."""
        self._set = False

    async def wait(self) -> bool:
        """Wait until it is set."""
        if not self._set:
            mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting = (*self._waiting, mine)
            try:
                await mine
            finally:
                self._waiting = tuple([one for one in self._waiting if one is not mine])
        return True
