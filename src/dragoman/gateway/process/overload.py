"""More connections than the process may open files: idle ones are closed, then new ones refused, in few words.

Half of the files are for clients' connections, for each request may need one to a backend.  Knows how many files a
process may open; nothing of requests.
Contract: `make_room` closes idle connections where there are too many, and says whether one more has room; what was
done is logged once a second at most; an accept that failed is told so too, without a traceback.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import islice
from typing import Any, Protocol

try:
    import resource
except ImportError:  # a system that counts otherwise
    resource = None  # type: ignore[assignment]

log: logging.Logger = logging.getLogger("dragoman.gateway")
ENOUGH = 65_536
"""Files; nobody needs more, and some systems have no limit."""
OTHERS = 32
"""Files of the process that are no connections: libraries, state, logs."""
LEAST = 4
SHED = 0.1
"""The part of all connections that is closed at a time."""
FULL = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
TOLD = (
    "too many connections for the %d files this process may open: %d idle ones closed, %d new ones refused; "
    "raise the limit (ulimit -n, LimitNOFILE=)"
)
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\nretry-after: 1\r\n"
    b"content-length: 55\r\nconnection: close\r\n\r\nthis gateway has too many connections; come again later"
)


class Idle(Protocol):
    """A connection that can be asked whether anybody waits for an answer on it, and be closed."""

    def is_idle(self) -> bool:
        """Does nobody wait for anything here?"""
        ...

    def shed(self) -> None:
        """Close it."""
        ...


def raise_limit() -> int:
    """Let the process open as many files as it may; how many that are."""
    if resource is None:
        return ENOUGH
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    best = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < best:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (best, hard))
            soft = best
    return ENOUGH if soft == resource.RLIM_INFINITY else min(soft, ENOUGH)


class Room:
    """How many connections the process has room for; `files` it may open, `clock` in seconds."""

    def __init__(self, files: Callable[[], int] = raise_limit, clock: Callable[[], float] = time.monotonic) -> None:
        self._ask, self._clock = files, clock
        self._shed = self._refused = 0
        self._told_at = float("-inf")

    @cached_property
    def files(self) -> int:
        """Files the process may open; the limit is raised when this is first asked."""
        return self._ask()

    @cached_property
    def most(self) -> int:
        """Connections there may be."""
        return max(LEAST, (self.files - OTHERS) // 2)

    def make_room(self, connections: set[Any]) -> bool:
        """May the newest of these stay?  Idle ones are closed where there are too many."""
        if len(connections) <= self.most:
            return True
        idle = list(islice((one for one in connections if one.is_idle()), max(1, int(len(connections) * SHED))))
        for one in idle:
            one.shed()
        self.tell(shed=len(idle), refused=not idle)
        return bool(idle)

    def tell(self, *, shed: int = 0, refused: int = 0) -> None:
        """Log what was done since the last line, once a second at most."""
        self._shed += shed
        self._refused += refused
        now = self._clock()
        if now - self._told_at >= 1.0:
            log.warning(TOLD, self.files, self._shed, self._refused)
            self._told_at, self._shed, self._refused = now, 0, 0


ROOM = Room()
"""Of this process."""


@contextmanager
def accepting(room: Room = ROOM) -> Iterator[None]:
    """Within this block an accept that fails for want of files is counted by `room`, and not told with a traceback."""
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()

    def handle(running: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in FULL and "accept" in context.get("message", ""):
            room.tell()  # uncounted: the loop tries a failed accept again at once, two thousand times
        elif before is not None:
            before(running, context)
        else:
            running.default_exception_handler(context)

    loop.set_exception_handler(handle)
    try:
        yield
    finally:
        loop.set_exception_handler(before)
