"""Long work off the event loop: a few threads, so that one large request does not keep the others waiting.

Knows functions and machines; nothing of requests.  Contract: what runs here runs to its end, also when whoever waits
for it is cancelled: only then does the cancelling go on.  Steps of one machine are never taken at the same time.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from ...effects import Last, Over

T = TypeVar("T")

BYTES = frozenset({bytes, Last})
LARGE = 64 * 1024
"""Bytes from which on reading, preparing or understanding something may take longer than others should wait."""
THREADS = 2
SWITCH = 0.001
"""Seconds after which a thread must let another one run; Python's own 5 ms are long where every answer waits for it."""


@cache
def _threads() -> ThreadPoolExecutor:
    sys.setswitchinterval(min(SWITCH, sys.getswitchinterval()))
    return ThreadPoolExecutor(THREADS, "dragoman-offload")


async def offload(work: Callable[..., T], *given: Any) -> T:
    """What `work` gives, worked out in a thread."""
    context = contextvars.copy_context()
    doing = asyncio.get_running_loop().run_in_executor(_threads(), lambda: context.run(work, *given))
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait([doing])
        if not doing.cancelled():
            doing.exception()  # nobody asks for it any more
        raise


class Steps:
    """Takes the steps of one machine, off the loop where they may be long: what begins and ends a large exchange.

    What a piece of an answer makes is as short as the piece is, and is taken at once; so is the end of an answer that
    went out piece by piece.
    """

    __slots__ = ("_begun", "_flowing", "_size")

    def __init__(self, size: int) -> None:
        """`size`: bytes of the request."""
        self._size = self._begun = size
        self._flowing = False

    def are_long(self, reply: Any, *, told: bool = False) -> bool:
        """May the step be long that `reply` leads to?  `told`: steps went out, so what was read is dealt with."""
        if told:
            self._size = self._begun
        if type(reply) in BYTES:
            self._flowing = bool(reply) and type(reply) is not Last
            self._size += len(reply)
        return self._size > LARGE and not self._flowing

    async def take(self, resume: Callable[[Any], Any], reply: Any) -> Any:
        """The step.  Raises what it raises, and Over at the machine's end."""
        return await offload(_step, resume, reply)


def _step(resume: Callable[[Any], Any], reply: Any) -> Any:
    try:
        return resume(reply)
    except StopIteration as done:
        raise Over(done) from None
