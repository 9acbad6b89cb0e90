"""`dragoman serve` in a process of its own, and requests over real HTTP."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any

from tests.support.clocks import LONG

QUESTION = {"role": "user", "content": "What is the weather in Oslo?"}
TOOL = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
CHAT = {"model": "weak", "messages": [QUESTION], "tools": [{"type": "function", "function": TOOL}]}


@contextlib.contextmanager
def serving_process(*arguments: str, shell: Sequence[str] = (), **environ: str) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """The command in a process of its own; its address, and what it said before it listened."""
    command = [*shell, sys.executable, "-m", "dragoman", "serve", "--port", "0", *arguments]
    env = {**os.environ, **environ}
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stderr is not None
        printed = []
        try:
            for line in process.stderr:
                printed.append(line)
                if found := re.search(r"listening on (http://\S+)", line):
                    yield process, found[1], printed
                    return
            raise AssertionError(f"it ended with {process.wait(LONG)} and said {''.join(printed)}")
        finally:
            process.kill()


def post(url: str, body: object) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=LONG) as answer:
        return json.load(answer)
