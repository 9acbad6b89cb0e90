"""Signals: somebody waits in a thread, or in a task of some loop, and another thread wakes it.

Knows threads, asyncio and Trio; nothing of what is waited for.  Contract: `set` may be called from any thread, never
blocks, and does nothing once the one that waits is gone; a signal performs `Wait`, so machines that yield it are run
by `effects.run` and `effects.arun` alike; whoever was woken looks again, for it may have been for something earlier.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from dataclasses import dataclass
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from ...effects import Effect


@dataclass(frozen=True, slots=True)
class Wait(Effect):
    """Wait until somebody sets the signal.  Reply: whether that was within `seconds`; None waits for ever."""

    seconds: float | None = None


class Signal(Protocol):
    """Wakes whoever waits."""

    def set(self) -> None:
        """Wake it."""


class ThreadSignal:
    """For one thread."""

    def __init__(self) -> None:
        self._inbox: SimpleQueue[None] = SimpleQueue()

    def set(self) -> None:
        """Wake it."""
        self._inbox.put(None)

    def __call__(self, effect: Effect) -> bool:
        """Perform `effect`."""
        if not isinstance(effect, Wait):
            return False
        try:
            self._inbox.get(timeout=effect.seconds)
        except Empty:
            return False
        return True


class TaskSignal:
    """For one task of the running asyncio loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def set(self) -> None:
        """Wake it."""
        with contextlib.suppress(RuntimeError):  # its loop has closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._event.set)

    async def __call__(self, effect: Effect) -> bool:
        """Perform `effect`."""
        if not isinstance(effect, Wait):
            return False
        try:
            async with asyncio.timeout(effect.seconds):
                await self._event.wait()
        except TimeoutError:
            return False
        self._event.clear()
        return True


class TrioSignal:
    """For one task of Trio, which is there where it is used."""

    def __init__(self) -> None:
        self._trio: Any = import_module("trio")
        self._token = self._trio.lowlevel.current_trio_token()
        self._event = self._trio.Event()

    def set(self) -> None:
        """Wake it."""
        with contextlib.suppress(self._trio.RunFinishedError):
            self._token.run_sync_soon(self._fire)

    def _fire(self) -> None:
        self._event.set()

    async def __call__(self, effect: Effect) -> bool:
        """Perform `effect`."""
        if not isinstance(effect, Wait):
            return False
        with self._trio.move_on_after(math.inf if effect.seconds is None else effect.seconds):
            await self._event.wait()
            self._event = self._trio.Event()
            return True
        return False


def task_signal() -> TaskSignal | TrioSignal:
    """A signal for the running task, whichever library runs it."""
    try:
        return TaskSignal()
    except RuntimeError:  # no loop of asyncio's runs in this thread
        return TrioSignal()
