"""What a strict type checker learns in programs that use the package: nothing they get is `Any` without need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import places

PROGRAM = '''
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_type

from dragoman import AsyncClient, Client, ProviderError, Run, RunEvent, RunUnfinished, TextDelta, ToolEnded, tool


@dataclass
class City:
    name: str


@tool
def look(at: str) -> str:
    """Look."""
    return at


assert_type(look("sky"), str)


def now(client: Client) -> None:
    assert_type(client.run("Hi.", output=City), Run[City])
    assert_type(client.run("Hi.", output=City).value, City)
    assert_type(client.run("Hi.", output=list[int]).value, list[int])
    assert_type(client.run("Hi.", output={"type": "object"}).value, Any)
    plain = client.run("Hi.", tools=[look])
    assert_type(plain, Run)
    assert_type(plain.text, str)
    assert_type(client.resume("x.db", output=City).value, City)
    steps = client.stream("Hi.", output=City)
    for event in steps:
        assert_type(event, RunEvent)
        if isinstance(event, TextDelta):
            assert_type(event.text, str)
        elif isinstance(event, ToolEnded):
            assert_type(event.result.text, str)
    for text in steps.text_stream:
        assert_type(text, str)
    assert_type(steps.run.value, City)


async def later(client: AsyncClient) -> None:
    assert_type((await client.run("Hi.", output=City)).value, City)
    steps = client.stream("Hi.", output=City)
    async for event in steps:
        assert_type(event, RunEvent)
    async for text in steps.text_stream:
        assert_type(text, str)
    assert_type(steps.run.value, City)


def failing(client: Client) -> str:
    try:
        return client.run("Hi.").text
    except RunUnfinished as error:
        return error.run.why
    except ProviderError as error:
        return error.message
'''
WRONG = [
    ('client.run("Hi.", outptu=int)', "outptu"),
    ('client.run("Hi.", output=int).value.upper()', '"int" has no attribute "upper"'),
    ('[event.nothing for event in client.stream("Hi.")]', 'has no attribute "nothing"'),
]


def check(program: str, folder: Path) -> str:
    """What mypy says of `program`, which a user wrote; "" where it is content."""
    file = folder / "program.py"
    file.write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-incremental", str(file)]
    command += ["--follow-imports=silent"]
    environ = {**os.environ, "MYPYPATH": str(places.ROOT / "src")}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode else ""


@pytest.mark.slow
def test_values_runs_and_events_have_their_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    assert check(PROGRAM, tmp_path) == ""


@pytest.mark.slow
def test_mistakes_are_found_before_the_program_runs(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    lines = "\n".join(line for line, _ in WRONG)
    told = check(f"from dragoman import Client\n\nclient = Client()\n{lines}\n", tmp_path)
    assert [message for _, message in WRONG if message not in told] == []
