"""How long an answer is waited for: by the clock, and by what this process found time for.

Knows the event loop; nothing of stores.  Contract: a process that is busy, or was not let run, takes no delay of its
own for another's: an answer that is there is read.
"""

from __future__ import annotations

import asyncio
from types import TracebackType

ROUNDS = 6
"""Rounds of the event loop that an answer is given at least, and about twice as many at most.

One of a server that answers at once takes two to six of them.  Of a loop that keeps time they are over long before the
seconds are; of one whose rounds take longer than all of the seconds they are what is left to go by.
"""


class Patience:
    """Waits so many seconds, none of which this process slept through, and `more` after that; then TimeoutError."""

    def __init__(self, seconds: float, more: float = 0.0) -> None:
        self._step, self._more, self._left = seconds / ROUNDS, more, ROUNDS
        self._timeout = asyncio.timeout(None)

    @property
    def in_time(self) -> bool:
        """Whether nothing is over but what was to be waited for."""
        return self._left > 0

    async def __aenter__(self) -> Patience:
        await self._timeout.__aenter__()
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(self._step, self._next)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._timer.cancel()
        await self._timeout.__aexit__(kind, error, where)

    def _next(self) -> None:
        """One round more: the next begins once this one was noticed."""
        self._left -= 1
        if self._left > 0:
            self._timer = self._loop.call_later(self._step, self._next)
        elif self._more:
            self._timer, self._more = self._loop.call_later(self._more, self._next), 0.0
        else:
            self._timeout.reschedule(self._loop.time())
