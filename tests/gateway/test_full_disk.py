"""No room on the disk: requests are answered all the same, it is told of once in a while, and never "not found"."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import pytest

from bench.load.processes import free_port
from dragoman.sim import WeakModel, running
from tests.support.clocks import until

ROOM = 150_000
"""Bytes that a file of the gateway's may have, its log among them."""
SETTINGS = """
[server]
port = {port}
state_dir = "{folder}/state"
log_format = "json"

[recordings]
url = "sqlite:///{folder}/recordings.db"
content = true

[providers.weak]
base_url = "{upstream}/v1"

[default]
route = "weak"
"""


def alive(url: str) -> bool:
    try:
        return bool(urllib.request.urlopen(f"{url}/healthz", timeout=2).status == 200)
    except OSError:
        return False


def ask(url: str, previous: str) -> tuple[int, str]:
    """The status of a request that leaves much behind, and the id of its answer."""
    body = {"model": "weak", "input": "x" * 4000, **({"previous_response_id": previous} if previous else {})}
    headers = {"content-type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(f"{url}/v1/responses", json.dumps(body).encode(), headers),
                                    timeout=30) as answer:  # fmt: skip
            return answer.status, json.load(answer)["id"]
    except urllib.error.HTTPError as error:
        error.close()
        return error.code, ""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits are those of POSIX")
def test_a_gateway_without_room_goes_on_answering(tmp_path: Path) -> None:
    port, config, log = free_port(), tmp_path / "dragoman.toml", tmp_path / "log"
    with running(WeakModel()) as upstream, log.open("wb") as errors:
        config.write_text(SETTINGS.format(port=port, folder=tmp_path, upstream=upstream), encoding="utf-8")
        url, statuses, previous = f"http://127.0.0.1:{port}", Counter[int](), ""
        gateway = subprocess.Popen(
            [sys.executable, "-m", "dragoman", "serve", "--config", str(config)], stderr=errors,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM)),  # noqa: PLW1509
        )  # fmt: skip
        try:
            until(lambda: alive(url))
            for n in range(120):
                status, previous = ask(url, previous if n % 2 else "")
                statuses[status] += 1
            assert gateway.poll() is None
        finally:
            gateway.terminate()
            gateway.wait(60)
    told = log.read_text(encoding="utf-8", errors="replace")
    assert set(statuses) <= {200, 503}
    assert statuses[503] <= 3  # what was kept when the room ran out
    assert "cannot be used" in told
    assert "Traceback" not in told
