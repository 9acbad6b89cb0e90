"""What befalls two gateways: workers are killed, the store stands still or begins anew; and who suffered by which.

Linux: who held a connection is read in /proc.  Contract: a connection is `lost_with` a worker where that worker held
the other end when it was killed; the store was `away` from a disaster's start until the slowest process must have
noticed its end.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

NOTICE = 8.0
"""Seconds after an absence in which every process has asked the store again, and what waited was written."""
MISSED = "cannot be reached"
UNSETTLED = 8.0
"""Seconds for which what a process missed may matter to others."""


@dataclass(slots=True)
class Store:
    """A `redis-server` on a socket of `folder`, which stands still, goes on and begins anew."""

    folder: Path
    absences: list[list[float]] = field(default_factory=list)
    restarts: list[float] = field(default_factory=list)
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it is asked."""
        return f"unix://{self.folder / 'redis'}"

    def start(self) -> None:
        """It answers, and holds nothing."""
        program = shutil.which("redis-server") or sys.exit("no redis-server; apt-get install redis-server")
        place = self.folder / "redis"
        place.unlink(missing_ok=True)
        where = ["--port", "0", "--unixsocket", str(place), "--save", "", "--dir", str(self.folder)]
        self._process = subprocess.Popen([program, *where], stdout=subprocess.DEVNULL)
        while not place.exists():
            time.sleep(0.01)

    def stand_still(self) -> None:
        """It takes connections, and answers nobody."""
        self.absences.append([time.monotonic(), float("inf")])
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """It answers again."""
        self._signal(signal.SIGCONT)
        self.absences[-1][1] = time.monotonic()

    def vanish(self) -> None:
        """It is gone, and all it held."""
        self.absences.append([time.monotonic(), float("inf")])
        self.end()

    def come_back(self) -> None:
        """It answers again, and holds nothing."""
        self.start()
        self.restarts.append(time.monotonic())
        self.absences[-1][1] = time.monotonic()

    def end(self) -> None:
        """No process is left of it."""
        if self._process is not None:
            self._signal(signal.SIGCONT)
            self._process.kill()
            self._process.wait()

    def away(self, begun: float, ended: float) -> bool:
        """Whether any process may have missed it between these moments."""
        return any(start <= ended and begun <= end + NOTICE for start, end in self.absences)

    def forgot(self, since: float) -> bool:
        """Whether it has begun anew since then."""
        return any(moment >= since for moment in self.restarts)

    def _signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)


@dataclass(slots=True)
class Gateway:
    """A gateway of several workers; the oldest is never killed, so that what it holds can be followed."""

    url: str
    pid: int
    log: Path
    killed: int = 0
    lost: dict[int, float] = field(default_factory=dict)

    def workers(self) -> list[int]:
        """The processes that serve, oldest first."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == self.pid and "spawn_main" in (path / "cmdline").read_text():
                    found.append((_begun(int(path.name)), int(path.name)))
        return [pid for _, pid in sorted(found)]

    def kill(self) -> None:
        """End the youngest worker at once; who was connected to it is noted."""
        workers = self.workers()
        if len(workers) < 2:
            return
        pid = workers[-1]
        os.kill(pid, signal.SIGSTOP)  # what it holds does not change while it is looked at
        time.sleep(0.02)
        now = time.monotonic()
        self.lost.update(dict.fromkeys(_clients_of(pid, int(self.url.rpartition(":")[2])), now))
        os.kill(pid, signal.SIGKILL)
        self.killed += 1

    def missed_the_store(self, begun: float, ended: float) -> bool:
        """Whether by its log one of its processes had no answer in time, so that what it then did was without it."""
        ahead = time.time() - time.monotonic()
        said = [line.split(" ", 1)[0] for line in self.log.read_text().splitlines() if MISSED in line]
        moments = [datetime.fromisoformat(when).timestamp() - ahead for when in said]
        return any(moment - 0.1 <= ended and begun <= moment + UNSETTLED for moment in moments)

    def lost_with(self, port: int, begun: float, ended: float) -> bool:
        """Whether a connection from `port` was a killed worker's."""
        return begun <= self.lost.get(port, -1.0) <= ended


def _begun(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def _clients_of(pid: int, port: int) -> list[int]:
    """The ports of the clients whose connections to `port` this process holds."""
    held = set()
    for one in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            held.add(os.readlink(one))
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [
        int(line[2].rpartition(":")[2], 16)
        for line in lines
        if line[1].endswith(f":{port:04X}") and f"socket:[{line[9]}]" in held
    ]
