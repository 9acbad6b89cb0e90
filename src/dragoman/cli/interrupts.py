"""Ctrl-C, and what it means while something runs.

Knows signals; nothing of what is interrupted.  Contract: within a block an interrupt means what the block says, also
where whoever started the program had it ignored, as shells do for a script's programs in the background; afterwards it
means what it meant before.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from ..io.cancel import Cancel


@contextmanager
def stopping(cancel: Cancel) -> Iterator[None]:
    """Ctrl-C stops the run and keeps the conversation; a second one ends the program."""

    def stop(*_: object) -> None:
        if cancel.cancelled:
            raise KeyboardInterrupt
        cancel.cancel()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
