"""Real Redis servers, started and ended by the test that asks for them; without files, on a socket of its folder.

`REDIS_SERVER` names the program where it is not the one on the path, as of a Valkey beside a Redis.  `skip_without` says
where there is none: `apt-get install redis-server`, `pip install redis`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clocks import LONG, until

PROGRAM = os.environ.get("REDIS_SERVER") or shutil.which("redis-server") or shutil.which("valkey-server") or ""
CLIENT = shutil.which("redis-cli") or shutil.which("valkey-cli") or ""
skip_without = pytest.mark.skipif(
    not (PROGRAM and CLIENT and importlib.util.find_spec("redis")),
    reason="no redis-server on this machine, or no client for it (apt-get install redis-server, pip install redis)",
)
QUIET = ("--save", "", "--appendonly", "no", "--loglevel", "warning", "--databases", "1")
SECRET = "a secret of these tests"
SLOTS = 16384


class RedisServer:
    """One server; `url` is where it is asked."""

    def __init__(self, folder: Path, *more: str, port: int = 0) -> None:
        self._folder, self._more, self._port = folder, more, port
        self._socket = folder / "redis.socket"
        self.url = f"redis://127.0.0.1:{port}/0" if port else f"unix://{self._socket}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """It answers, and holds nothing."""
        self.start_closed()
        until(lambda: self.ask("ping") == "PONG")

    def start_closed(self) -> None:
        """It answers those who have its password, where it has one."""
        where = ["--port", str(self._port)] if self._port else ["--port", "0", "--unixsocket", str(self._socket)]
        command = [PROGRAM, *where, "--dir", str(self._folder), *QUIET, *self._more]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        until(lambda: bool(self.ask("ping")))

    def stop(self) -> None:
        """It is gone, and all it held."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(LONG)

    @contextlib.contextmanager
    def standing_still(self) -> Iterator[None]:
        """It takes connections, and answers nobody."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def ask(self, *words: str) -> str:
        """What it answers to a command; "" where it does not."""
        where = ["-p", str(self._port)] if self._port else ["-s", str(self._socket)]
        done = subprocess.run([CLIENT, *where, *words], capture_output=True, text=True, check=False, timeout=LONG)
        return done.stdout.strip()

    def names(self) -> list[str]:
        """The names of all it holds."""
        return sorted(self.ask("keys", "*").split())


@contextlib.contextmanager
def redis_server(folder: Path) -> Iterator[RedisServer]:
    """A server while it is needed."""
    made = RedisServer(folder)
    try:
        made.start()
        yield made
    finally:
        made.stop()


@contextlib.contextmanager
def redis_cluster(folder: Path, size: int = 3) -> Iterator[list[RedisServer]]:
    """Servers that are one Cluster, its slots shared out among them."""
    servers = []
    for n in range(size):
        (own := folder / str(n)).mkdir()
        servers.append(RedisServer(own, "--cluster-enabled", "yes", "--cluster-require-full-coverage", "no", port=_free()))
    try:
        for server in servers:
            server.start()
        for n, server in enumerate(servers):
            first, last = n * SLOTS // size, (n + 1) * SLOTS // size - 1
            server.ask("cluster", "addslotsrange", str(first), str(last))
            server.ask("cluster", "meet", "127.0.0.1", str(servers[0]._port))
        until(lambda: all(_whole(server, size) for server in servers))
        yield servers
    finally:
        for server in servers:
            server.stop()


def _whole(server: RedisServer, size: int) -> bool:
    about = server.ask("cluster", "info")
    return "cluster_state:ok" in about and f"cluster_slots_assigned:{SLOTS}" in about and f"cluster_size:{size}" in about


def _free() -> int:
    """A port nobody has, whose bus port (10,000 above) nobody has either."""
    while True:
        with socket.socket() as one, socket.socket() as bus, contextlib.suppress(OSError):
            one.bind(("", 0))
            port: int = one.getsockname()[1]
            if port < 2**16 - 10_000:
                bus.bind(("", port + 10_000))
                return port


