"""One budget for what a process holds of answers: those who want more than there is wait in line, for a while.

Knows numbers and the running loop; nothing of HTTP, answers or settings.
Contract: together no more is held than `limit` (0: as much as comes); whoever has waited in vain (`patience`), or
wants more than there is in all, gets a `ProviderError` that says what to do; all who wait are served in their order.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

from ..errors import ErrorKind, ProviderError

PATIENCE = 10.0
"""Seconds to wait for room while nobody gives any back: longer than most answers take to come whole and go out."""
LONGEST = 3
"""Times that is the longest wait, whatever is given back: of many that wait, not all are to give up together."""
AGAIN = 5.0
FULL = (
    "this gateway holds {limit} of answers at a time, and had no room for more after {seconds:g} s; ask again in "
    "{again:g} s, stream the answer, or raise limits.upstream_bytes"
)
TOO_LARGE = "the answer is larger than the {limit} this gateway holds; ask for less, or raise limits.upstream_bytes"
CODE = "upstream_bytes"


@dataclass(slots=True, eq=False)
class _Waiting:
    size: int
    turn: asyncio.Future[None]


class HeldBytes:
    """The bytes of answers that are held; `limit` may change while they are."""

    def __init__(self, limit: int = 0, patience: float = PATIENCE) -> None:
        self.limit, self.patience = limit, patience
        self.used = 0
        self._given = 0.0  # when something was given back last while somebody waited
        self._line: deque[_Waiting] = deque()

    async def take(self, size: int, before: int = 0) -> None:
        """Hold `size` bytes more; `before` are those the same answer holds already.  Raises ProviderError."""
        if not self.limit or (not self._line and self.used + size <= self.limit):
            self.used += size
            return
        shown = f"{self.limit / 2**20:g} MiB"
        if before + size > self.limit:
            raise ProviderError(TOO_LARGE.format(limit=shown), status=502, kind=ErrorKind.FULL, code=CODE)
        one = _Waiting(size, asyncio.get_running_loop().create_future())
        self._line.append(one)
        try:
            if await self._wait(one.turn):
                return
        except BaseException:
            self._leave(one)
            raise
        self._leave(one)
        message = FULL.format(limit=shown, seconds=self.patience, again=AGAIN)
        raise ProviderError(message, status=503, kind=ErrorKind.FULL, code=CODE, retry_after=AGAIN)

    async def _wait(self, turn: asyncio.Future[None]) -> bool:
        """Has its turn come?"""
        clock = asyncio.get_running_loop().time
        begun = clock()
        while not turn.done():
            left = min(max(begun, self._given) + self.patience, begun + LONGEST * self.patience) - clock()
            if left <= 0:
                return False
            await asyncio.wait({turn}, timeout=left)
        return True

    def give(self, size: int) -> None:
        """Let go of `size` bytes; who waits may have them."""
        self.used -= size
        if self._line and size:
            self._given = asyncio.get_running_loop().time()
        while self._line and (not self.limit or self.used + self._line[0].size <= self.limit):
            one = self._line.popleft()
            if not one.turn.done():
                self.used += one.size
                one.turn.set_result(None)

    def _leave(self, one: _Waiting) -> None:
        if one in self._line:
            self._line.remove(one)
            self.give(0)  # who stood behind may want less
        else:  # its turn had come, and nobody is there any more
            self.give(one.size)
