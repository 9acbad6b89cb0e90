"""One gateway for any number of clients of this process: begun when one asks, ended when all have closed.

Knows who uses it and whether it runs; nothing of requests.
Contract: from any thread, and after a fork; one life at a time; whoever is forgotten without being closed counts as
closed, and a gateway that nobody holds any more ends by itself.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

from ...errors import UsageError
from .answer import Answer
from .running import Make, Running
from .signals import Signal

WITHIN = "the gateway's own thread would wait for itself; ask from another thread"


class Host:
    """A gateway, whether it runs or not; `make` makes its application for each of its lives."""

    def __init__(self, make: Make) -> None:
        self._make = make
        self._lock = threading.RLock()
        self._users: weakref.WeakSet[object] = weakref.WeakSet()
        self._running: Running | None = None
        self._finalizer: weakref.finalize[Any, Any] | None = None
        _HOSTS.add(self)

    def use(self, user: object) -> None:
        """`user` may ask, until it leaves."""
        with self._lock:
            self._users.add(user)

    def ask(self, user: object, scope: dict[str, Any], body: bytes, signal: Signal) -> tuple[Answer, bool]:
        """The answer to a request, and whether the gateway is open already."""
        with self._lock:
            self._users.add(user)
            running = self._running
            if running is None or running.is_over:
                running = self._begin()
            if running.is_here:
                raise UsageError(WITHIN)
            return running.ask(scope, body, signal), running.is_open

    def leave(self, user: object) -> Running | None:
        """`user` has closed; gives what is about to end, where it was the last."""
        with self._lock:
            self._users.discard(user)
            if self._users or self._running is None:
                return None
            running, self._running = self._running, None
            running.stop()
            return running

    def settle(self) -> None:
        """Wait until what was answered to its end has been written down."""
        with self._lock:
            running = self._running
        if running is not None:
            running.settle()

    def forked(self) -> None:
        """This is a child of the process it was made in: whoever held the lock is not here."""
        self._lock = threading.RLock()
        if self._finalizer is not None:
            self._finalizer.detach()
        self._running = None

    def _begin(self) -> Running:
        if self._finalizer is not None:
            self._finalizer.detach()
        self._running = running = Running(self._make)
        self._finalizer = weakref.finalize(self, running.stop)
        self._finalizer.atexit = False  # at exit `running` ends all in order
        return running


_HOSTS: weakref.WeakSet[Host] = weakref.WeakSet()


def _forked() -> None:
    for host in list(_HOSTS):
        host.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
