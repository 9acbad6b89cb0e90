"""What a request costs in the gateway: `python -m bench.request [--seconds N] [--in-process] [--write]`.

CPU time of the server's process per request, over loopback, beside a bare Starlette and aiohttp pass-through that reads
nothing: one message and a thousand, ten tools and two thousand, for a backend with a tool API and for one that gets its
tools in text.  `--in-process` asks the application directly, over an upstream in memory, and counts Python calls too.
Each conversation grows by a turn with every request, as an agent's does.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import cProfile
import http.client
import json
import pstats
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import uvicorn

from dragoman.gateway import GatewayConfig, create_app
from dragoman.io.scripted import Answer, ScriptedPeer
from dragoman.providers.route import Route as To
from dragoman.providers.rows import COMPATIBLE
from dragoman.providers.spec import Tools

from .load.__main__ import SCHEMA, free_port, process
from .load.servers import WHOLE, starlette
from .table import machine, publish, table

WORDS = "Some words about the file that was read, as long as they often are in such a conversation. "
SAID = json.loads(WHOLE)
ANSWER = json.dumps({**SAID, "usage": {**SAID["usage"], "prompt_tokens": 250_000}}).encode()
"""Its count leaves room for any number of tools: else the gateway asks whether they came."""


def tools(count: int) -> list[dict[str, Any]]:
    """So many tools."""
    rows = [{"name": f"tool_{n}", "description": "Does something.", "parameters": SCHEMA} for n in range(count)]
    return [{"type": "function", "function": row} for row in rows]


def exchange(n: int) -> list[dict[str, Any]]:
    """The n-th turn of an agent: what it calls, and what comes of it."""
    arguments = json.dumps({"path": f"src/file_{n}.py", "n": n})
    call = {"id": f"call_{n}", "type": "function", "function": {"name": "tool_1", "arguments": arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{n}", "content": f"{n}: {WORDS}"},
    ]


class Conversation:
    """The bodies of requests of one conversation, each a turn longer; it begins with `history` messages."""

    def __init__(self, history: int, count: int, *, grows: bool) -> None:
        self._messages: list[dict[str, Any]] = [{"role": "user", "content": "Read the files, one by one."}]
        for n in range(history // 2):
            self._messages += exchange(n)
        self._tools, self._grows, self._turns = tools(count), grows, history // 2

    def body(self) -> bytes:
        """The next one."""
        made = json.dumps({"model": "m", "messages": self._messages, "tools": self._tools}).encode()
        if self._grows:
            self._messages += exchange(self._turns)
            self._turns += 1
        return made


CASES: dict[str, tuple[int, int, bool]] = {
    "one message, 10 tools": (0, 10, False),
    "1,001 messages, 10 tools": (1000, 10, True),
    "one message, 2,000 tools": (0, 2000, False),
}


# ── in process ───────────────────────────────────────────────────────────────


def gateway(url: str, upstreams: Any = None, *, text: bool) -> Callable[..., Any]:
    """The gateway, in front of `url`."""
    route = To(provider=COMPATIBLE["openai_chat"], base_url=f"{url}/v1", tools=Tools.TEXT if text else None)
    return create_app(GatewayConfig(default=route), upstreams)


def app(*, text: bool) -> Callable[..., Any]:
    """The gateway, over an upstream in memory."""
    answer = Answer((ANSWER,), headers={"content-type": "application/json", "content-length": str(len(ANSWER))})
    return gateway("http://u", ScriptedPeer(lambda _: answer), text=text)


async def ask(served: Callable[..., Any], body: bytes) -> None:
    """One request."""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions", "headers": headers, "query_string": b""}
    waiting = iter([{"type": "http.request", "body": body, "more_body": False}])
    status = 0

    async def receive() -> Any:
        if (message := next(waiting, None)) is None:
            await asyncio.Event().wait()
        return message

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)

    await served(scope, receive, send)
    if status != 200:
        raise SystemExit(f"answered {status}")


def in_process(case: str, *, text: bool, turns: int) -> tuple[float, int]:
    """Seconds of CPU and Python calls of a request."""
    served, asked = app(text=text), Conversation(*CASES[case][:2], grows=CASES[case][2])
    bodies = [asked.body() for _ in range(turns + 12)]
    took: list[float] = []
    profile = cProfile.Profile()

    async def run() -> None:
        for body in bodies[:10]:
            await ask(served, body)
        for body in bodies[10:-2]:
            begun = time.process_time()
            await ask(served, body)
            took.append(time.process_time() - begun)
        await ask(served, bodies[-2])
        profile.enable()
        await ask(served, bodies[-1])
        profile.disable()

    asyncio.run(run())
    return sorted(took)[len(took) // 2], pstats.Stats(profile).total_calls  # type: ignore[attr-defined]


# ── over loopback ────────────────────────────────────────────────────────────


async def upstream(scope: Any, receive: Any, send: Any) -> None:
    """The model server: it reads what it is sent, and answers."""
    while (await receive()).get("more_body"):
        pass
    length = str(len(ANSWER)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ANSWER})


class Counting:
    """An application that says at `/cpu` how much CPU its process has used."""

    def __init__(self, inner: Callable[..., Any]) -> None:
        self._inner = inner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope.get("path") != "/cpu":
            await self._inner(scope, receive, send)
            return
        body = str(time.process_time_ns()).encode()
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def serve(name: str, port: int, url: str) -> None:
    """Serve until ended."""
    served: dict[str, Callable[[], Callable[..., Any]]] = {
        "upstream": lambda: upstream,
        "starlette": lambda: Counting(starlette(url)),
        "dragoman": lambda: Counting(gateway(url, text=False)),
        "dragoman-text": lambda: Counting(gateway(url, text=True)),
    }
    uvicorn.run(served[name](), port=port, log_level="error", access_log=False, lifespan="off")


def server(name: str, upstream: str) -> contextlib.AbstractContextManager[str]:
    """A process that serves so."""
    port = free_port()
    command = [sys.executable, "-m", "bench.request", "--serve", name, str(port), upstream]
    return process(command, f"http://127.0.0.1:{port}")


def over_loopback(url: str, case: str, seconds: float) -> float:
    """Seconds of the server's CPU per request; one client."""
    asked = Conversation(*CASES[case][:2], grows=CASES[case][2])
    host, port = url.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port))
    headers = {"content-type": "application/json"}

    def one(method: str, path: str, body: bytes | None = None) -> bytes:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        said = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{url} answered {answer.status}: {said[:300]!r}")
        return said

    for _ in range(20):
        one("POST", PATH, asked.body())
    begun, used, count = time.perf_counter(), int(one("GET", "/cpu")), 0
    while time.perf_counter() < begun + seconds:
        one("POST", PATH, asked.body())
        count += 1
    return (int(one("GET", "/cpu")) - used) / count / 1e9


PATH = "/v1/chat/completions"
SERVERS = {"Starlette pass-through": "starlette", "dragoman, API": "dragoman", "dragoman, text": "dragoman-text"}


def measure(seconds: float) -> list[list[str]]:
    """All lines: microseconds and the ratio to the pass-through."""
    rows: list[list[str]] = []
    with contextlib.ExitStack() as stack:
        upstream = stack.enter_context(server("upstream", "-"))
        places = {name: stack.enter_context(server(each, upstream)) for name, each in SERVERS.items()}
        for case in CASES:
            least: dict[str, float] = {}
            for _ in range(3):  # in turn, for the machine is not ours alone
                for name, url in places.items():
                    least[name] = min(least.get(name, 1e9), over_loopback(url, case, seconds))
            bare = least["Starlette pass-through"]
            for name, each in least.items():
                rows.append([case, name, f"{each * 1e6:,.0f}", f"{each / bare:.2f}"])
                print(rows[-1], file=sys.stderr, flush=True)
    return rows


def inside(turns: int) -> Iterator[list[str]]:
    """The lines of what happens in process."""
    for case in CASES:
        for name, text in (("tool API", False), ("in text", True)):
            took, calls = in_process(case, text=text, turns=turns)
            yield [case, name, f"{took * 1e6:,.0f}", f"{calls:,}"]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--in-process", action="store_true")
    parser.add_argument("--serve", nargs=3, metavar=("NAME", "PORT", "UPSTREAM"), help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true")
    given: Any = parser.parse_args(argv)
    if given.serve:
        name, port, url = given.serve
        serve(name, int(port), url)
        return
    if given.in_process:
        print(table(["request", "tools", "CPU µs", "Python calls"], list(inside(given.turns))))
        return
    text = table(["request", "through", "CPU µs", "× pass-through"], measure(given.seconds))
    text += f"\n\n{machine()}."
    publish("request", text) if given.write else print(text)


if __name__ == "__main__":
    main()
