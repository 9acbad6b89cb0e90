"""The quota of each key: requests it has at the same time, and those it began in the last minute.

Knows keys by their names and limits; nothing of secrets or requests.  This one counts for one process,
`shared_quota.py` for all of a machine.
Contract: nobody comes in beyond a limit; a request that is refused does not count; whoever came in leaves again.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable

from ...errors import ErrorKind, ProviderError
from ..config.model import Access

MINUTE = 60
OFTEN = "this key may begin {most} requests in a minute; come again in {wait:.0f} s"
MANY = "this key may have {most} requests at the same time; wait until one of them has ended"


def refused(message: str, seconds: float) -> ProviderError:
    """The answer to a request that is one too many."""
    return ProviderError(message, status=429, kind=ErrorKind.RATE_LIMIT, code="rate_limited", retry_after=seconds)


def too_many(access: Access) -> ProviderError:
    """Of requests at the same time."""
    return refused(MANY.format(most=access.max_concurrent), 1.0)


def too_often(access: Access, wait: float) -> ProviderError:
    """In a minute."""
    return refused(OFTEN.format(most=access.per_minute, wait=wait), wait)


class Quota:
    """What this process counts; `clock` gives seconds that only grow."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._inside: defaultdict[str, int] = defaultdict(int)
        self._begun: defaultdict[str, deque[float]] = defaultdict(deque)

    def enter(self, access: Access) -> None:
        """One more request.  Raises ProviderError (429) for one too many."""
        if access.max_concurrent and self._inside[access.name] >= access.max_concurrent:
            raise too_many(access)
        if access.per_minute:
            now = self._clock()
            begun = self._since(access.name, now)
            if len(begun) >= access.per_minute:
                raise too_often(access, MINUTE - (now - begun[0]))
        self._count(access)

    def leave(self, access: Access) -> None:
        """It has ended."""
        self._inside[access.name] -= 1

    def close(self) -> None:
        """This process counts no more."""

    def _count(self, access: Access) -> None:
        self._inside[access.name] += 1
        if access.per_minute:
            now = self._clock()
            self._since(access.name, now).append(now)

    def _since(self, name: str, now: float) -> deque[float]:
        """When the requests of the last minute began."""
        begun = self._begun[name]
        while begun and now - begun[0] >= MINUTE:
            begun.popleft()
        return begun
