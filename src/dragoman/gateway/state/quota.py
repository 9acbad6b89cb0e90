"""The quota of each key: requests it has at the same time, and the requests and tokens of its last minute.

Knows keys by their names and limits; nothing of secrets or requests.  This one counts for one process,
`shared_quota.py` for all of a machine, `store_quota.py` for all of many.
Contract: nobody comes in beyond a limit; a request that is refused does not count; whoever came in leaves again.
Tokens are counted as what a request seems to cost when it comes, and as what it did cost once that is known; one that
alone costs more than a minute's comes in where nothing else was asked.
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from ...errors import ErrorKind, ProviderError
from ..config.model import Access

MINUTE = 60
OFTEN = "this key may begin {most} requests in a minute; come again in {wait:.0f} s"
MANY = "this key may have {most} requests at the same time; wait until one of them has ended"
TOKENS = "this key may use {most} tokens in a minute; come again in {wait:.0f} s, or ask for less"


def refused(message: str, seconds: float) -> ProviderError:
    """The answer to a request that is one too many."""
    return ProviderError(message, status=429, kind=ErrorKind.RATE_LIMIT, code="rate_limited", retry_after=seconds)


def too_many(access: Access) -> ProviderError:
    """Of requests at the same time."""
    return refused(MANY.format(most=access.max_concurrent), 1.0)


def too_often(access: Access, wait: float) -> ProviderError:
    """In a minute."""
    return refused(OFTEN.format(most=access.per_minute, wait=wait), wait)


def too_much(access: Access, wait: float) -> ProviderError:
    """Of tokens in a minute."""
    return refused(TOKENS.format(most=access.tokens_per_minute, wait=wait), wait)


def is_limited(access: Access) -> bool:
    """Is there anything to count for this key?"""
    return bool(access.per_minute or access.max_concurrent or access.tokens_per_minute)


@dataclass(slots=True)
class Lease:
    """One request that came in: what it was taken to cost, in tokens, and the second in which it was counted.

    `name` is how it is known to others that count, "" where this process alone does.
    """

    access: Access
    tokens: int = 0
    at: int = 0
    name: str = ""


class Counter(Protocol):
    """Whoever counts what keys ask."""

    async def enter(self, access: Access, tokens: int) -> Lease:
        """One more request.  Raises ProviderError: 429 for one too many, 503 where nobody counts and that matters."""

    async def leave(self, lease: Lease, tokens: int | None) -> None:
        """It has ended, and cost so many tokens; None where nobody knows."""

    def close(self) -> None:
        """This process counts no more."""


class Quota:
    """What this process counts; `clock` gives seconds that only grow."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._inside: defaultdict[str, int] = defaultdict(int)
        self._begun: defaultdict[str, deque[float]] = defaultdict(deque)
        self._spent: defaultdict[str, dict[int, int]] = defaultdict(dict)

    def enter(self, access: Access, tokens: int = 0) -> int:
        """One more request; gives the second.  Raises ProviderError (429) for one too many."""
        now = self._clock()
        if access.max_concurrent and self._inside[access.name] >= access.max_concurrent:
            raise too_many(access)
        if access.per_minute:
            begun = self._since(access.name, now)
            if len(begun) >= access.per_minute:
                raise too_often(access, MINUTE - (now - begun[0]))
        if access.tokens_per_minute:
            spent = self._tokens(access.name, now)
            if spent and sum(spent.values()) + tokens > access.tokens_per_minute:
                raise too_much(access, min(spent) + MINUTE + 1 - now)
        return self._count(access, tokens, now)

    def leave(self, access: Access, more: int = 0, at: int = 0) -> None:
        """It has ended, and cost `more` tokens than it came in with at second `at`."""
        self._inside[access.name] -= 1
        self._settle(access, more, at)

    def close(self) -> None:
        """This process counts no more."""

    def note(self, access: Access, tokens: int = 0) -> int:
        """One more that others let in."""
        return self._count(access, tokens, self._clock())

    def _count(self, access: Access, tokens: int, now: float) -> int:
        self._inside[access.name] += 1
        if access.per_minute:
            self._since(access.name, now).append(now)
        if access.tokens_per_minute:
            spent = self._spent[access.name]
            spent[int(now)] = spent.get(int(now), 0) + tokens
        return int(now)

    def _settle(self, access: Access, more: int, at: int) -> None:
        if not (more and access.tokens_per_minute):
            return
        now = self._clock()
        spent, cell = self._tokens(access.name, now), int(now) if more > 0 else at
        if more > 0 or cell in spent:
            spent[cell] = spent.get(cell, 0) + more

    def _since(self, name: str, now: float) -> deque[float]:
        """When the requests of the last minute began."""
        begun = self._begun[name]
        while begun and now - begun[0] >= MINUTE:
            begun.popleft()
        return begun

    def _tokens(self, name: str, now: float) -> dict[int, int]:
        """The tokens of the last minute, by second."""
        spent = self._spent[name]
        for cell in [cell for cell in spent if int(now) - cell > MINUTE]:
            del spent[cell]
        return spent


class Here:
    """Counts by a quota of this process."""

    def __init__(self, quota: Quota) -> None:
        self._quota = quota

    async def enter(self, access: Access, tokens: int) -> Lease:
        """One more request."""
        return Lease(access, tokens, self._quota.enter(access, tokens))

    async def leave(self, lease: Lease, tokens: int | None) -> None:
        """It has ended."""
        self._quota.leave(lease.access, more_than(lease, tokens), lease.at)

    def close(self) -> None:
        """This process counts no more."""
        self._quota.close()


class Beside:
    """Counts by a quota that may wait for others, in a thread of its own: the event loop never does."""

    def __init__(self, quota: Quota) -> None:
        self._quota = quota
        self._thread: ThreadPoolExecutor | None = None
        self._process = 0

    async def enter(self, access: Access, tokens: int) -> Lease:
        """One more request."""
        entering = self._submit(self._quota.enter, access, tokens)
        try:
            return Lease(access, tokens, await asyncio.shield(entering))
        except asyncio.CancelledError:
            entering.add_done_callback(lambda done: self._undo(done, access))
            raise

    async def leave(self, lease: Lease, tokens: int | None) -> None:
        """It has ended."""
        await asyncio.shield(self._submit(self._quota.leave, lease.access, more_than(lease, tokens), lease.at))

    def close(self) -> None:
        """This process counts no more."""
        if self._thread is not None and self._process == os.getpid():
            self._thread.shutdown()
        self._quota.close()

    def _undo(self, done: asyncio.Future[int], access: Access) -> None:
        if not done.cancelled() and done.exception() is None:
            self._submit(self._quota.leave, access, 0, 0)

    def _submit(self, work: Callable[..., int | None], *given: object) -> asyncio.Future[int]:
        if self._thread is None or self._process != os.getpid():  # a fork has no threads
            self._thread, self._process = ThreadPoolExecutor(1, "dragoman-limits"), os.getpid()
        return asyncio.get_running_loop().run_in_executor(self._thread, work, *given)  # type: ignore[arg-type]


def more_than(lease: Lease, tokens: int | None) -> int:
    """Tokens that a request cost more than it came in with; 0 where nobody knows."""
    return tokens - lease.tokens if tokens is not None and lease.access.tokens_per_minute else 0
