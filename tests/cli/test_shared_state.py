"""`dragoman serve` with several workers: any of them may answer any request, and one may be killed meanwhile."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from dragoman.gateway.state.sqlite_cache import FILE
from dragoman.sim import running
from tests.support.clocks import LONG, until

T = TypeVar("T")

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="workers are found by /proc")

SETTINGS = """
[server]
workers = {workers}
[[keys]]
name = "alice"
key = "${{ALICE}}"
[[keys]]
name = "bob"
key = "${{BOB}}"
per_minute = 3
max_concurrent = 2
[providers.lab]
base_url = "{upstream}/v1"
[default]
route = "lab/weak"
"""
USER = {"role": "user", "content": "What is the weather in Oslo?"}


class Gateway:
    """A gateway with workers, each of which may be asked alone."""

    def __init__(self, pid: int, url: str) -> None:
        self._pid, self._url = pid, url
        self.killed = False

    @property
    def workers(self) -> list[int]:
        """The workers that serve: each has opened the file they share."""
        children = Path(f"/proc/{self._pid}/task/{self._pid}/children").read_text().split()
        return [int(child) for child in children if FILE in opened(child)]

    def wait_for(self, count: int) -> list[int]:
        """The workers, once there are so many."""
        return until(lambda: found if len(found := self.workers) >= count else [])

    def kill(self) -> None:
        """Kill the process that minds the workers; what it would have cleared away stays."""
        self.killed = True
        os.kill(self._pid, signal.SIGKILL)

    @contextlib.contextmanager
    def only(self, worker: int) -> Iterator[None]:
        """While no other takes requests."""
        others = [each for each in self.workers if each != worker]
        for other in others:
            os.kill(other, signal.SIGSTOP)
            until(partial(stands_still, other))
        try:
            yield
        finally:
            for other in others:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(other, signal.SIGCONT)

    def ask(self, body: dict[str, Any], key: str = "alice") -> Any:
        """The answer, or the status it was refused with."""
        headers = {"content-type": "application/json", "authorization": f"Bearer key-of-{key}"}
        request = urllib.request.Request(f"{self._url}/v1/responses", json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=LONG) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            refused.close()
            return refused.code

    def item(self) -> str:
        """The id of an item that was told just now."""
        (item,) = self.ask({"model": "weak", "input": [USER]})["output"]
        return str(item["id"])

    def knows(self, item: str) -> bool:
        """Is a reference to it taken?"""
        given = [USER, {"type": "item_reference", "id": item}, {"role": "user", "content": "And in Rome?"}]
        return isinstance(self.ask({"model": "weak", "input": given}), dict)


def opened(pid: str) -> set[str]:
    """The names of the files a process has open."""
    with contextlib.suppress(OSError):
        return {Path(os.readlink(each)).name for each in Path(f"/proc/{pid}/fd").iterdir()}
    return set()


def stands_still(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@contextlib.contextmanager
def serving(tmp_path: Path, workers: int) -> Iterator[Gateway]:
    with running() as upstream:
        file = tmp_path / "dragoman.toml"
        file.write_text(SETTINGS.format(workers=workers, upstream=upstream))
        command = [sys.executable, "-m", "dragoman", "serve", "--config", str(file), "--port", "0"]
        env = {**os.environ, "ALICE": "key-of-alice", "BOB": "key-of-bob", "TMPDIR": str(tmp_path)}
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as process:
            try:
                assert process.stderr is not None
                found = next(
                    found for line in process.stderr if (found := re.search(r"listening on (http://\S+)", line))
                )
                gateway = Gateway(process.pid, found[1])
                gateway.wait_for(workers)
                yield gateway
                process.send_signal(signal.SIGINT)
                assert "item_not_found" not in process.communicate(timeout=LONG)[1]
            finally:
                process.kill()
    assert gateway.killed or list(tmp_path.glob("dragoman-state-*")) == []


@pytest.mark.slow
def test_workers_finish_and_end_when_their_supervisor_is_killed(tmp_path: Path) -> None:
    with serving(tmp_path, workers=2) as gateway:
        left = gateway.workers
        assert len(left) == 2
        gateway.kill()
        until(lambda: not any(map(lives, left)))


def lives(pid: int) -> bool:
    """Does the process run?  One that ended and that nobody has asked about does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_workers_share_items_and_counts_despite_a_kill(tmp_path: Path) -> None:
    with serving(tmp_path, workers=2) as gateway:
        one, two = gateway.workers
        items: list[str] = []
        for here, there in [(one, two), (two, one)] * 2:
            with gateway.only(here):
                items.append(gateway.item())
            with gateway.only(there):
                assert gateway.knows(items[-1])
        served = []
        for worker in (one, two, one, two, one):
            with gateway.only(worker):
                served.append(isinstance(gateway.ask({"model": "weak", "input": [USER]}, key="bob"), dict))
        assert served == [True] * 3 + [False] * 2
        os.kill(one, signal.SIGKILL)
        until(lambda: one not in gateway.workers)
        assert all(gateway.knows(item) for item in items)
        assert gateway.ask({"model": "weak", "input": [USER]}, key="bob") == 429


@pytest.mark.slow
def test_under_load_every_reference_is_known_whoever_is_killed(tmp_path: Path) -> None:
    turns = 0

    def converse(gateway: Gateway, times: int) -> int:
        """So many round trips; a connection that dies with its worker is tried again, as clients do."""
        nonlocal turns
        refused = 0
        for _ in range(times):
            with contextlib.suppress(OSError, http.client.HTTPException):  # it may die between head and body
                refused += not gateway.knows(gateway.item())
            turns += 1
        return refused

    def reached(begun: int) -> bool:
        return turns >= begun

    with serving(tmp_path, workers=4) as gateway, ThreadPoolExecutor(8) as pool:
        talks = [pool.submit(converse, gateway, 30) for _ in range(8)]
        for begun in (60, 150):
            until(partial(reached, begun))
            os.kill(gateway.wait_for(1)[0], signal.SIGKILL)
        assert [talk.result() for talk in talks] == [0] * 8
        item = gateway.item()
        for worker in gateway.wait_for(4):  # two of them took the places of those
            with gateway.only(worker):
                assert gateway.knows(item)
