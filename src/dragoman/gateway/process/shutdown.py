"""Going quietly: what happens between the word to end and the end.

Knows signals and the running loop; nothing of requests.  Contract: SIGTERM first makes the gateway say that it is not
ready and refuse what is new, while whoever sends requests here learns of it; `seconds` later it goes to whatever
handled it before (the server, which lets running answers finish).  A second SIGTERM goes there at once.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def on_sigterm(begin: Callable[[], None], seconds: float) -> Iterator[None]:
    """Within this block, in the main thread of a server that handles SIGTERM itself, do as said above."""
    before = signal.getsignal(signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    loop, begun, handler = asyncio.get_running_loop(), False, before

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal begun
        again, begun = begun, True
        if again or seconds <= 0:
            begin()
            handler(number, frame)
        else:
            loop.call_soon_threadsafe(begin)
            loop.call_soon_threadsafe(loop.call_later, seconds, handler, number, None)

    signal.signal(signal.SIGTERM, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
