"""What state that machines share costs, and what a server that stands still does to running streams.

    python bench/shared_state.py [--streams 20]

Starts a `redis-server` and a gateway of its own (apt-get install redis-server, pip install 'dragoman[redis]').  Counts
are of calls of Python functions; pauses are the longest between two pieces of one stream, its last event included.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import uvicorn
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

from dragoman.effects import Enter, Recall, Retain
from dragoman.gateway.state.keeper import Keeper
from dragoman.gateway.state.redis_store import RedisStore

SECRET = "a secret of this bench"
EVERY, PIECES = 0.01, 150
SETTINGS = """
[server]
state = "unix://{socket}"
namespace = "bench"
state_key = "${{DRAGOMAN_STATE_KEY}}"
[[keys]]
name = "alice"
key = "${{ALICE}}"
per_minute = 100000
max_concurrent = 1000
[providers.lab]
base_url = "{upstream}/v1"
[default]
route = "lab/m"
"""


@contextlib.contextmanager
def server(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A Redis server on a socket of `folder`."""
    program = shutil.which("redis-server") or sys.exit("no redis-server; apt-get install redis-server")
    where = ["--port", "0", "--unixsocket", str(folder / "redis"), "--save", "", "--dir", str(folder)]
    with subprocess.Popen([program, *where], stdout=subprocess.DEVNULL) as process:
        while not (folder / "redis").exists():
            time.sleep(0.01)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


async def _model(_: Any) -> StreamingResponse:
    """An answer of many pieces."""

    async def pieces() -> AsyncIterator[bytes]:
        for n in range(PIECES):
            chunk = {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {"content": f"word{n} "}}]}
            yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
            await asyncio.sleep(EVERY)
        end = {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        yield b"data: " + json.dumps(end).encode() + b"\n\ndata: [DONE]\n\n"

    return StreamingResponse(pieces(), media_type="text/event-stream")


async def _upstream() -> tuple[uvicorn.Server, asyncio.Task[None], str]:
    app = Starlette(routes=[Route("/v1/chat/completions", _model, methods=["POST"])])
    made = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None))
    task = asyncio.ensure_future(made.serve())
    while not made.started:
        await asyncio.sleep(0.01)
    return made, task, f"http://127.0.0.1:{made.servers[0].sockets[0].getsockname()[1]}"


async def _stream(session: aiohttp.ClientSession, url: str) -> float:
    """The longest pause of one stream, in seconds."""
    body = {"model": "m", "input": "Say much.", "stream": True}
    last, longest = 0.0, 0.0
    headers = {"authorization": "Bearer key-of-alice"}
    async with session.post(f"{url}/v1/responses", json=body, headers=headers) as answer:
        assert answer.status == 200, await answer.text()
        async for _ in answer.content.iter_any():
            now = time.perf_counter()
            longest, last = max(longest, now - last if last else 0.0), now
    return longest


async def _pauses(url: str, redis: subprocess.Popen[bytes], streams: int, *, stop: bool) -> float:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        running = [asyncio.ensure_future(_stream(session, url)) for _ in range(streams)]
        await asyncio.sleep(EVERY * PIECES / 2)
        if stop:
            redis.send_signal(signal.SIGSTOP)
        try:
            return max(await asyncio.gather(*running))
        finally:
            redis.send_signal(signal.SIGCONT)


async def streams(folder: Path, redis: subprocess.Popen[bytes], count: int) -> None:
    """The longest pauses, with a server that answers and with one that stands still."""
    made, task, upstream = await _upstream()
    file = folder / "dragoman.toml"
    file.write_text(SETTINGS.format(socket=folder / "redis", upstream=upstream))
    env = {**os.environ, "DRAGOMAN_STATE_KEY": SECRET, "ALICE": "key-of-alice"}
    command = [sys.executable, "-m", "dragoman", "serve", "--config", str(file), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as gateway:
        assert gateway.stderr is not None
        url = ""
        while not url:
            line = await asyncio.to_thread(gateway.stderr.readline)
            url = found[1] if (found := re.search(r"listening on (http://\S+)", line)) else ""
        await _pauses(url, redis, count, stop=False)  # warm
        for stop in (False, True, False, True):
            longest = await _pauses(url, redis, count, stop=stop)
            print(f"{count} streams, server {'stopped' if stop else 'running'}: longest pause {1000 * longest:.0f} ms")
            await asyncio.sleep(2)
        gateway.kill()
    made.should_exit = True
    await task


async def costs(folder: Path) -> None:
    """Of one question each."""
    keeper = Keeper(RedisStore(f"unix://{folder / 'redis'}", "bench", SECRET, patience=5.0))
    rows = {("item", "a"): "x" * 2000, ("content", "b"): "y" * 2000, ("response", "c"): "z" * 4000}
    questions: dict[str, Callable[[], Awaitable[Any]]] = {
        "retain (3 texts)": lambda: keeper.perform(Retain(rows)),
        "recall (3 texts)": lambda: keeper.perform(Recall([*rows])),
        "enter (a limit)": lambda: keeper.perform(Enter(key="k", lease="l", per_minute=10**6)),
    }
    for name, ask in questions.items():
        await ask()
        wall, cpu, n = time.perf_counter(), time.process_time(), 2000
        for _ in range(n):
            await ask()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        calls = 0

        def count(frame: Any, event: str, arg: Any) -> None:
            nonlocal calls
            calls += event in {"call", "c_call"}

        sys.setprofile(count)
        await ask()
        sys.setprofile(None)
        print(f"{name}: {1e6 * wall / n:.0f} µs, {1e6 * cpu / n:.0f} µs of CPU, {calls} calls")
    await keeper.store.aclose()


def main() -> None:
    """Measure all of it."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--streams", type=int, default=20)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as name, server(Path(name)) as redis:
        asyncio.run(costs(Path(name)))
        asyncio.run(streams(Path(name), redis, chosen.streams))


if __name__ == "__main__":
    main()
