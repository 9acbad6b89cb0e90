"""Several processes under one command: a second word to end reaches them while it waits for them."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
from typing import Any

import pytest

from dragoman.gateway.process.workers import Workers
from dragoman.io.sockets import listen


class Child:
    """A process as uvicorn's supervisor holds it, which ends at a SIGTERM and not before."""

    def __init__(self) -> None:
        self._popen = subprocess.Popen(["sleep", "600"])
        self.pid, self.process = self._popen.pid, self

    @property
    def exitcode(self) -> int | None:
        return self._popen.poll()

    def join(self, timeout: float) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(timeout)


def test_a_second_word_to_end_is_passed_on_to_all() -> None:
    children = [Child(), Child()]
    workers: Any = Workers.__new__(Workers)
    workers.processes, workers.signal_queue = children, [signal.SIGHUP, signal.SIGTERM]
    workers.join_all()
    assert [child.exitcode for child in children] == [-signal.SIGTERM, -signal.SIGTERM]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "::"])
def test_addresses_of_both_families_send_without_delay(host: str) -> None:
    if ":" in host and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has one family only")
    with listen(host, 0) as listening:
        assert listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert listening.getsockname()[1] > 0
