"""What only a process of its own shows: start-up, broken pipes, interruption."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.clocks import LONG

COMMAND = [sys.executable, "-m", "dragoman"]


def test_a_reader_that_leaves_early_is_no_error() -> None:
    with subprocess.Popen([*COMMAND, "list", "dialects"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(LONG) in (0, 1)


def test_the_version_costs_no_http_and_no_server_library() -> None:
    code = (
        "import sys; from dragoman.cli import main; main(['--version']); "
        "print([m for m in ('aiohttp', 'httpx2', 'starlette', 'uvicorn', 'rich') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LONG, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colour_is_for_terminals_and_only_where_it_is_wanted(no_color: str, coloured: bool) -> None:
    ours, theirs = os.openpty()
    env = {**os.environ, "NO_COLOR": no_color, "TERM": "xterm"}
    subprocess.run([*COMMAND, "list", "codecs"], stdout=theirs, env=env, timeout=LONG, check=True)
    os.close(theirs)
    printed = os.read(ours, 65536)
    os.close(ours)
    assert b"openai_chat" in printed
    assert (b"\x1b[" in printed) is coloured
