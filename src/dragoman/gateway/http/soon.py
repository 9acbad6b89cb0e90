"""What is to be done soon unless it is over by then: one timer for many requests, most of which are over by then.

A timer of the loop for each request, to be cancelled a few milliseconds later, costs more than all else about it.
Knows the loop; nothing of requests.
Contract: what `call_soon` was given is called after `SECONDS`, or up to `GRAIN` later, unless it was taken out; what
was taken out is not held.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

SECONDS = 0.05
GRAIN = 0.02
"""Seconds between two looks at what is due."""


class Call:
    """Something to be called."""

    __slots__ = ("_call", "due")

    def __init__(self, call: Callable[[], object], due: float) -> None:
        self._call: Callable[[], object] | None = call
        self.due = due

    def cancel(self) -> None:
        """It is over."""
        self._call = None

    def __call__(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call()


class Soon:
    """What is to be called soon in one loop."""

    __slots__ = ("_calls", "_is_due", "loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._calls: deque[Call] = deque()
        self._is_due = False  # will somebody look?

    def call(self, call: Callable[[], object], now: float) -> Call:
        """Call it soon; `now` is the loop's time."""
        made = Call(call, now + SECONDS)
        self._calls.append(made)
        if not self._is_due:
            self._is_due = True
            self.loop.call_at(made.due, self._look)
        return made

    def _look(self) -> None:
        self._is_due = False
        calls, now = self._calls, self.loop.time()
        try:
            while calls and calls[0].due <= now:
                calls.popleft()()
        finally:
            if calls and not self._is_due:
                self._is_due = True
                self.loop.call_at(max(calls[0].due, now + GRAIN), self._look)


_last: list[Soon] = []


def call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[], object], now: float) -> Call:
    """Call it soon in `loop`, whose time it is; most processes have one."""
    soon = _last[0] if _last else None
    if soon is None or soon.loop is not loop:
        soon = Soon(loop)
        _last[:] = [soon]
    return soon.call(call, now)
