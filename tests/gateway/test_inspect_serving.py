"""`dragoman serve --inspect`: flags count before the environment, that before the file; one process serves."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from dragoman.sim import running
from tests.support.clocks import LONG
from tests.support.processes import CHAT, post, serving_process


def _get(url: str) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(url, timeout=LONG) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_serve_names_the_inspector_and_it_shows_the_exchange() -> None:
    with serving_process("--demo", "--inspect") as (process, url, _):
        assert process.stderr is not None
        assert f"shown at {url}/inspect" in process.stderr.readline()
        post(f"{url}/v1/chat/completions", CHAT)
        status, news = _get(f"{url}/inspect/api/exchanges?since=0")
    assert status == 200
    assert [(row["model"], row["calls"]) for row in news["rows"]] == [("weak", ["get_weather"])]


@pytest.mark.parametrize(
    ("flags", "environ", "status"),
    [(("--no-inspect",), "true", 404), (("--inspect",), "false", 200)],
)
@pytest.mark.costly
def test_the_flag_counts_before_the_environment(flags: tuple[str, ...], environ: str, status: int) -> None:
    with serving_process("--demo", *flags, DRAGOMAN_INSPECT=environ) as (_, url, _):
        assert _get(f"{url}/inspect/api/about")[0] == status


def test_a_file_turns_it_on_and_one_process_serves(tmp_path: Path) -> None:
    file = tmp_path / "dragoman.toml"
    with running() as upstream:
        file.write_text(
            '[server]\ninspect = true\nworkers = 2\n[default]\nroute = "compatible/weak"\n'
            f'[providers.compatible]\nbase_url = "{upstream}/v1"\n'
        )
        with serving_process("--config", str(file)) as (_, url, printed):
            assert _get(f"{url}/inspect/api/about")[0] == 200
    assert any("one process serves instead of 2" in line for line in printed)
