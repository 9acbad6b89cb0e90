"""Servers as processes of their own: begun, waited for, what they cost, ended.  Linux: what they cost is read in /proc.

Contract: CPU and memory are those of the process that was begun and of all that it began itself.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

TICK = 1 / os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
PATIENCE = 180.0
"""Seconds that a server may take to listen: some take a minute on a busy machine."""


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@dataclass(frozen=True, slots=True)
class Server:
    """A server that listens at `url`, and the process that was begun for it."""

    url: str
    pid: int

    def cpu(self) -> float:
        """Seconds of CPU so far, in the program and in the kernel for it."""
        return sum(ran(pid) for pid in self.processes())

    def memory(self) -> float:
        """Bytes of memory held, shared pages counted where they lie."""
        return sum(_held(pid) for pid in self.processes())

    def processes(self) -> list[int]:
        """It, and all it began."""
        parents: dict[int, int] = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        found = [self.pid]
        for pid in found:
            found += [one for one, parent in parents.items() if parent == pid]
        return found


def ran(pid: int) -> float:
    """Seconds of CPU of one process since it began; by the scheduler where it tells, for ticks are coarse."""
    with contextlib.suppress(OSError):
        return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def _held(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE


@contextlib.contextmanager
def process(command: Sequence[str], url: str) -> Iterator[Server]:
    """Run a server until the block ends."""
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(url, running)
        yield Server(url, running.pid)
    finally:
        running.terminate()
        try:
            running.wait(20)
        except subprocess.TimeoutExpired:
            running.kill()


def _wait(url: str, running: subprocess.Popen[bytes]) -> None:
    host, port = url.removeprefix("http://").split(":")
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if running.poll() is not None:
            raise SystemExit(f"the server at {url} ended before it listened")
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 0.2):
            return
        time.sleep(0.1)
    raise SystemExit(f"nothing listens at {url}")
