"""A worker whose supervisor died: nobody would restart, drain or end it, so it ends itself.

Knows that a process has a parent; nothing of requests.  Contract: when the process that started this one is gone,
however it went, this one gets SIGTERM, as if it had been told to end (`shutdown.py`); a process that nobody started so
is left alone.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import signal
from collections.abc import Iterator
from contextlib import contextmanager

log: logging.Logger = logging.getLogger("dragoman.gateway")
TOLD = "the process that minds this worker is gone; it takes nothing new, finishes what runs, and ends"


@contextmanager
def ends_with_parent() -> Iterator[None]:
    """Within this block, in a worker, the supervisor's end is a word to end."""
    parent = multiprocessing.parent_process()
    if parent is None:
        yield
        return
    loop = asyncio.get_running_loop()

    def gone() -> None:
        loop.remove_reader(parent.sentinel)
        log.warning(TOLD)
        signal.raise_signal(signal.SIGTERM)

    try:
        loop.add_reader(parent.sentinel, gone)
    except NotImplementedError:  # a loop that waits for sockets alone (Windows)
        yield
        return
    try:
        yield
    finally:
        loop.remove_reader(parent.sentinel)
