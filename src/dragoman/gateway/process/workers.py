"""Several processes that serve one socket, and one that minds them.

uvicorn's supervisor, whose wait for the end heeds no more signals.  Knows processes and signals; nothing of requests.
Contract: a process that dies is replaced; SIGHUP replaces them one after the other; SIGTERM ends them all as each ends
by itself (`shutdown.py`), and a second one ends the waiting; SIGINT does the same, and raises KeyboardInterrupt then.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from uvicorn.supervisors.multiprocess import Multiprocess

OFTEN = 0.1
"""Seconds between two looks for a signal."""


class Workers(Multiprocess):
    """The processes of one server; `run` serves until all of them have ended."""

    def run(self) -> None:
        """Serve until all have ended."""
        self._interrupted = False
        super().run()
        if self._interrupted:
            raise KeyboardInterrupt

    def handle_int(self) -> None:
        """Ctrl-C."""
        self._interrupted = True
        super().handle_int()

    def join_all(self) -> None:
        """Wait for the end of each; a signal meanwhile is theirs."""
        for one in self.processes:
            while one.exitcode is None:
                one.process.join(OFTEN)
                if self.signal_queue:
                    self._pass_on(self.signal_queue.pop(0))

    def _pass_on(self, number: int) -> None:
        for one in self.processes:
            if one.pid is not None and one.exitcode is None and number != signal.SIGHUP:
                with suppress(ProcessLookupError):
                    os.kill(one.pid, signal.SIGTERM)
