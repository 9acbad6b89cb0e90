"""A LiteLLM proxy's file on the command line: printed as ours, checked, and served as it is."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from dragoman.gateway.litellm_import import convert

from ..gateway.test_litellm_import import ENVIRON, FILE, LITERAL
from .conftest import Run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "config.yaml"
    made.write_text(FILE)
    return made


def test_the_command_prints_what_ours_says_of_the_same(run: Run, file: Path) -> None:
    told = run("check", file, "--litellm")
    assert told.code == 0
    assert tomllib.loads(told.out) == convert(FILE).data
    assert LITERAL not in told.out + told.err


def test_the_command_checks_the_file_as_it_is(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    told = run("check", file)
    assert told.code == 0
    assert "1. groq/llama" in told.out


def test_a_file_of_another_name_is_not_taken(run: Run) -> None:
    told = run("serve", "--litellm", "config.toml")
    assert told.code == 2
    assert ".yaml" in told.err
