"""What the gateway adds: `python -m bench.load [--seconds N] [--litellm EXECUTABLE] [--write]`.

Requests straight to a model server, through a bare pass-through, through the gateway and, where its command is given,
through LiteLLM's proxy: whole answers and streams of 200 chunks, 1, 16 and 64 clients at a time, in one run.
A request carries ten tools.  Every server is one process; the client shares the machine with them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import aiohttp

from ..table import machine, publish, table
from .servers import CHUNKS

AT_ONCE = (1, 16, 64)
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}, "required": ["path"]}
TOOLS = [
    {"type": "function", "function": {"name": f"tool_{n}", "description": "Does something.", "parameters": SCHEMA}}
    for n in range(10)
]
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Say something."}], "tools": TOOLS}


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextlib.contextmanager
def process(command: Sequence[str], url: str) -> Iterator[str]:
    """Run a server until the block ends."""
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(url, running)
        yield url
    finally:
        running.terminate()
        running.wait(10)


def _wait(url: str, running: subprocess.Popen[bytes]) -> None:
    host, port = url.removeprefix("http://").split(":")
    for _ in range(600):
        if running.poll() is not None:
            raise SystemExit(f"the server at {url} ended before it listened")
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 0.2):
            return
        time.sleep(0.1)
    raise SystemExit(f"nothing listens at {url}")


def ours(name: str, upstream: str) -> contextlib.AbstractContextManager[str]:
    """A server of `servers.py`."""
    port = free_port()
    command = [sys.executable, "-m", "bench.load.servers", name, str(port), upstream]
    return process(command, f"http://127.0.0.1:{port}")


def litellm(executable: str, upstream: str, folder: Path) -> contextlib.AbstractContextManager[str]:
    """LiteLLM's proxy in front of the same upstream."""
    port, config = free_port(), folder / "litellm.yaml"
    row = {"model_name": "m", "litellm_params": {"model": "openai/m", "api_base": f"{upstream}/v1", "api_key": "none"}}
    settings = {"dangerously_permit_weak_or_unset_master_key": True}  # else it does not start without a key
    config.write_text(json.dumps({"model_list": [row], "general_settings": settings}), encoding="utf-8")
    command = [executable, "--config", str(config), "--port", str(port), "--host", "127.0.0.1"]
    return process(command, f"http://127.0.0.1:{port}")


async def load(url: str, *, stream: bool, at_once: int, seconds: float) -> tuple[list[float], float]:
    """Ask for `seconds`, `at_once` at a time; how long each answer took, and all of them until the last one ended."""
    body = json.dumps({**ASKED, "stream": stream}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer none"}
    took: list[float] = []
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one() -> None:
            begun = time.perf_counter()
            async with session.post(f"{url}/v1/chat/completions", data=body, headers=headers) as answer:
                said = await answer.read()
                if answer.status != 200 or (stream and said.count(b"word ") < CHUNKS):
                    raise SystemExit(f"{url} answered {answer.status}: {said[:300]!r}")
            took.append(time.perf_counter() - begun)

        async def client(end: float) -> None:
            while time.perf_counter() < end:
                await one()

        await one()
        took.clear()
        begun = time.perf_counter()
        await asyncio.gather(*(client(begun + seconds) for _ in range(at_once)))
    return took, time.perf_counter() - begun


def row(
    name: str, took: list[float], direct: list[float] | None, seconds: float, *, stream: bool, at_once: int
) -> list[str]:
    """One line of the table."""
    p50, p99 = statistics.median(took) * 1000, sorted(took)[int(len(took) * 0.99)] * 1000
    rate = len(took) / seconds
    added = "" if direct is None else f"{p50 - statistics.median(direct) * 1000:+.1f}"
    chunks = f"{rate * CHUNKS:,.0f}" if stream else ""
    kind = "stream" if stream else "whole"
    return [kind, str(at_once), name, f"{rate:,.0f}", chunks, f"{p50:.1f}", added, f"{p99:.1f}"]


def measure(seconds: float, executable: str) -> list[list[str]]:
    """All lines."""
    rows: list[list[str]] = []
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        upstream = stack.enter_context(ours("upstream", "-"))
        places = {"no gateway": upstream, "Starlette pass-through": stack.enter_context(ours("starlette", upstream))}
        places["dragoman"] = stack.enter_context(ours("dragoman", upstream))
        if executable:
            places["LiteLLM proxy"] = stack.enter_context(litellm(executable, upstream, folder))
        for stream in (False, True):
            for at_once in AT_ONCE:
                direct: list[float] | None = None
                for name, url in places.items():
                    took, lasted = asyncio.run(load(url, stream=stream, at_once=at_once, seconds=seconds))
                    rows.append(row(name, took, direct, lasted, stream=stream, at_once=at_once))
                    direct = direct or took
                    print(rows[-1], file=sys.stderr, flush=True)
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--litellm", default="", help="LiteLLM's command, from an environment of its own")
    parser.add_argument("--write", action="store_true")
    given: Any = parser.parse_args(argv)
    head = ("answer", "at once", "through", "requests/s", "chunks/s", "p50 ms", "added", "p99 ms")
    told = f"{machine()}, 2 cores shared with the client.\n\n{table(head, measure(given.seconds, given.litellm))}"
    print(told)
    if given.write:
        publish("load", told)


if __name__ == "__main__":
    main()
