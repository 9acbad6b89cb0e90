"""An event loop in a thread of its own, for synchronous callers of asynchronous things.

Knows nothing of what runs in it.  Contract: `run` gives the outcome of a coroutine, and cancels it when the caller is
interrupted; `close` lets what is going on come to its end for a while, cancels what is left then, and ends the thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
GRACE = 10.0
"""Seconds that what still runs gets to end by itself when the portal is closed: a server needs up to four."""


class Portal:
    """A running loop that other threads may use."""

    def __init__(self, name: str) -> None:
        self._ready: threading.Event = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._live(),), name=name, daemon=True)
        self._thread.start()
        self._ready.wait()

    async def _live(self) -> None:
        self.loop: asyncio.AbstractEventLoop = asyncio.get_running_loop()
        self._ready.set()
        await self._stop.wait()
        if left := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(left, timeout=GRACE)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The outcome of `work`, performed in the loop."""
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """End the loop and its thread."""
        self.loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
