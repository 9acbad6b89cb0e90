"""What signals do to `dragoman serve`, started by `nohup` too: what docs/operations.md says of them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.sim import running
from tests.support.clocks import LONG, until
from tests.support.processes import CHAT, serving_process

pytestmark = pytest.mark.skipif(
    not (shutil.which("nohup") and Path("/proc/self/task").is_dir()), reason="nohup and /proc are needed"
)

SETTINGS = """
[server]
workers = {workers}
drain_seconds = 0
[[keys]]
name = "carol"
key = "${{CAROL}}"
max_concurrent = 1
[providers.lab]
base_url = "{upstream}/v1"
[models.{name}]
route = "lab/weak"
"""


@contextlib.contextmanager
def serving(
    folder: Path, workers: int, *shell: str, delay: float = 0.0
) -> Iterator[tuple[subprocess.Popen[str], str, Path]]:
    """A gateway whose model is `old`; its process, address, and settings."""
    file = folder / "dragoman.toml"
    with running(delay=delay) as upstream:
        file.write_text(SETTINGS.format(workers=workers, upstream=upstream, name="old"))
        environ = {"CAROL": "key-of-carol", "TMPDIR": str(folder)}
        with serving_process("--config", str(file), shell=shell, **environ) as (process, url, _):
            yield process, url, file
            if process.poll() is None:
                process.terminate()
                process.wait(LONG)


def asked(url: str, model: str, *, stream: bool = False) -> urllib.request.Request:
    headers = {"content-type": "application/json", "authorization": "Bearer key-of-carol"}
    body = {**CHAT, "model": model, "stream": stream}
    return urllib.request.Request(f"{url}/v1/chat/completions", json.dumps(body).encode(), headers)


def status(url: str, model: str) -> int:
    """The status of a whole answer; 0 where the connection was lost."""
    try:
        with urllib.request.urlopen(asked(url, model), timeout=LONG) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        refused.close()
        return refused.code
    except OSError:
        return 0


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(pid) for pid in children if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("shell", [(), ("nohup",)], ids=["bare", "nohup"])
@pytest.mark.costly
def test_sighup_takes_new_settings_and_ends_nothing(tmp_path: Path, workers: int, shell: tuple[str, ...]) -> None:
    with serving(tmp_path, workers, *shell) as (process, url, file):
        assert status(url, "old") == 200
        file.write_text(file.read_text().replace("models.old", "models.new"))
        process.send_signal(signal.SIGHUP)
        until(lambda: [status(url, "new") for _ in range(3 * workers)] == [200] * 3 * workers)
        assert process.poll() is None


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.costly
def test_under_nohup_what_runs_is_finished_before_it_ends(
    tmp_path: Path, workers: int, number: signal.Signals
) -> None:
    with serving(tmp_path, workers, "nohup", delay=0.05) as (process, url, _):
        with urllib.request.urlopen(asked(url, "old", stream=True), timeout=LONG) as answer:
            answer.readline()
            process.send_signal(number)
            assert answer.read().endswith(b"data: [DONE]\n\n")
        assert process.wait(LONG) in ((130,) if number == signal.SIGINT else (0, -signal.SIGTERM))


@pytest.mark.slow
def test_a_worker_that_is_killed_gives_back_what_its_requests_held(tmp_path: Path) -> None:
    with serving(tmp_path, 2, delay=0.5) as (process, url, _):
        left = workers_of(process)
        with urllib.request.urlopen(asked(url, "old", stream=True), timeout=LONG) as answer:
            answer.readline()
            assert status(url, "old") == 429
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            until(lambda: status(url, "old") == 200)
