"""A LiteLLM proxy's file on the command line: printed as ours, checked, and served as it is."""

from __future__ import annotations

import json
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from dragoman.gateway.config.litellm import convert
from dragoman.sim import WeakModel, running
from tests.support.clocks import LONG
from tests.support.litellm import ENVIRON, FILE, LITERAL
from tests.support.processes import CHAT, post, serving_process

from .conftest import Run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "config.yaml"
    made.write_text(FILE)
    return made


def test_the_command_prints_what_ours_says_of_the_same(run: Run, file: Path) -> None:
    ran = run("check", file, "--litellm")
    assert ran.code == 0
    assert tomllib.loads(ran.out) == convert(FILE).data
    assert LITERAL not in ran.out + ran.err


def test_the_command_checks_the_file_as_it_is(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    ran = run("check", file)
    assert ran.code == 0
    assert "1. groq/llama" in ran.out


def test_what_the_file_asks_for_and_is_not_served_is_said(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    ran = run("check", file)
    notices = convert(FILE).notices
    assert notices
    assert ran.err.splitlines()[: len(notices)] == notices
    with serving_process("--litellm", str(file), **ENVIRON) as (_, _, printed):
        assert [line.rstrip("\n") for line in printed[: len(notices)]] == [f"{file}: {notice}" for notice in notices]


def test_a_file_of_another_name_is_not_taken(run: Run) -> None:
    ran = run("serve", "--litellm", "config.toml")
    assert ran.code == 2
    assert ".yaml" in ran.err


def test_a_litellm_file_is_served_as_it_is(tmp_path: Path) -> None:
    with running(WeakModel()) as upstream:
        place = tmp_path / "proxy.yaml"
        row = {"model": "openai/weak", "api_base": upstream, "api_key": LITERAL}
        listed = [{"model_name": "gpt", "litellm_params": row}]
        place.write_text(
            yaml.safe_dump({"model_list": listed, "general_settings": {"master_key": "os.environ/MASTER"}})
        )
        with serving_process("--litellm", str(place), MASTER="a-master-key") as (_, url, _):
            request = urllib.request.Request(f"{url}/v1/models", headers={"authorization": "Bearer a-master-key"})
            with urllib.request.urlopen(request, timeout=LONG) as answer:
                served = [row["id"] for row in json.load(answer)["data"]]
            with pytest.raises(urllib.error.HTTPError) as refused:
                post(f"{url}/v1/chat/completions", {**CHAT, "model": "gpt"})
            refused.value.close()
    assert served == ["gpt"]
    assert refused.value.code == 401
