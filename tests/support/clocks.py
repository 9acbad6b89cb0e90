"""Time in tests: nobody waits for a clock but to give up, and where time itself is tested it is virtual.

A test that sleeps, or takes a short time for long enough, fails on a busy machine: wait for what happens, `LONG` at most.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

LONG = 120.0
"""Seconds after which a test gives up: only what hangs takes so long, on any machine."""
OFTEN = 0.01


def until(look: Callable[[], T]) -> T:
    """What `look` finds, once it finds something."""
    end = time.monotonic() + LONG
    while not (found := look()):
        assert time.monotonic() < end, "it never came"
        time.sleep(OFTEN)
    return found


async def auntil(look: Callable[[], object]) -> None:
    """Wait until `look` finds something."""
    async with asyncio.timeout(LONG):
        while not look():
            await asyncio.sleep(OFTEN)


def run_virtually(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run`, where the loop's clock stands while anything can be done, and jumps to the next timer else."""
    with asyncio.Runner(loop_factory=lambda: _Loop(_Selector())) as runner:
        return runner.run(main)


class _Selector(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(None if timeout is None else 0)
        if not found and timeout:
            self.now += timeout
        return found


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self, selector: _Selector) -> None:
        self._virtual = selector
        super().__init__(selector)

    def time(self) -> float:
        return self._virtual.now
