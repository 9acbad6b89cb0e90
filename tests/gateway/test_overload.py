"""A gateway that may open few files: idle connections give way, and a line a second says so."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.gateway.process.overload import LEAST, OTHERS, TOLD, Room, accepting
from dragoman.sim import running
from tests.support.clocks import LONG

resource = pytest.importorskip("resource")
FILES = 64


class Peer:
    def __init__(self, *, idle: bool) -> None:
        self.idle, self.closed = idle, False

    def is_idle(self) -> bool:
        return self.idle and not self.closed

    def shed(self) -> None:
        self.closed = True


def room(files: int, clock: list[float]) -> Room:
    return Room(lambda: files, lambda: clock[0])


@pytest.mark.parametrize(("files", "most"), [(0, LEAST), (OTHERS, LEAST), (OTHERS + 40, 20), (1024, 496)])
def test_half_of_the_files_are_for_connections(files: int, most: int) -> None:
    assert room(files, [0.0]).most == most


def test_idle_connections_give_way_and_busy_ones_never(caplog: pytest.LogCaptureFixture) -> None:
    here = room(OTHERS + 40, [0.0])
    peers = [Peer(idle=n % 2 == 0) for n in range(20)]
    assert here.make_room(set(peers))
    assert not any(peer.closed for peer in peers)
    peers.append(Peer(idle=False))
    assert here.make_room(set(peers))
    assert sum(peer.closed for peer in peers) == 2
    assert not any(peer.closed for peer in peers if not peer.idle)
    busy = [Peer(idle=False) for _ in range(21)]
    assert not here.make_room(set(busy))


def test_one_line_a_second_says_what_was_done(caplog: pytest.LogCaptureFixture) -> None:
    clock = [0.0]
    here = room(OTHERS + 40, clock)
    busy = {Peer(idle=False) for _ in range(30)}
    with caplog.at_level(logging.WARNING):
        for _ in range(500):
            assert not here.make_room(busy)
        clock[0] = 1.5
        assert not here.make_room(busy)
    assert [record.getMessage() for record in caplog.records] == [TOLD % (72, 0, 1), TOLD % (72, 0, 500)]
    assert "ulimit -n" in caplog.text


def test_a_failed_accept_is_one_line_and_other_errors_stay_errors(caplog: pytest.LogCaptureFixture) -> None:
    async def happen() -> None:
        loop = asyncio.get_running_loop()
        with accepting(room(72, [0.0])):
            for _ in range(100):
                error = OSError(errno.EMFILE, "too many open files")
                loop.call_exception_handler({"message": "socket.accept() out of system resource", "exception": error})
            loop.call_exception_handler({"message": "something else", "exception": ValueError("other")})

    with caplog.at_level(logging.WARNING):
        asyncio.run(happen())
    assert [record.name for record in caplog.records] == ["dragoman.gateway", "asyncio"]


@contextlib.contextmanager
def serving(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A gateway of its own that may open few files; its address, and what it writes to stderr."""
    told = tmp_path / "stderr"
    script = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({FILES}, {FILES}));"
    with running() as upstream, told.open("w") as file:
        script += f"from dragoman.cli import main; main(['serve', '--port', '0', '--upstream', '{upstream}/v1'])"
        with subprocess.Popen([sys.executable, "-c", script], stderr=file) as process:
            try:
                until = time.monotonic() + LONG
                while not (found := re.search(r"listening on (http://\S+)", told.read_text())):
                    assert process.poll() is None, told.read_text()
                    assert time.monotonic() < until
                    time.sleep(0.05)
                yield found[1], told
            finally:
                process.terminate()
                process.wait(LONG)


def patiently(request: urllib.request.Request) -> dict[str, object]:
    """The answer; a refusal for want of room is tried again, as clients do."""
    until = time.monotonic() + LONG
    while True:
        try:
            with urllib.request.urlopen(request, timeout=LONG) as answer:
                return dict(json.load(answer))
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


@pytest.mark.slow
def test_a_gateway_out_of_files_serves_on_and_says_so_in_few_lines(tmp_path: Path) -> None:
    body = json.dumps({"model": "weak", "messages": [{"role": "user", "content": "What is the weather in Oslo?"}]})
    with serving(tmp_path) as (url, told), contextlib.ExitStack() as stack:
        host, port = url.removeprefix("http://").split(":")
        for _ in range(120):
            with contextlib.suppress(OSError):
                stack.enter_context(socket.create_connection((host, int(port)), timeout=5))
        time.sleep(1.2)  # they have said nothing for longer than a new one may
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{url}/v1/chat/completions", body.encode(), headers)
        begun = time.monotonic()
        for _ in range(10):
            assert "choices" in patiently(request)
        seconds = time.monotonic() - begun
        lines = told.read_text().splitlines()
    assert 1 <= sum("ulimit -n" in line for line in lines) <= seconds + 10
    assert not any("Traceback" in line for line in lines)
