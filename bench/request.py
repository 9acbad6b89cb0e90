"""What a request costs in the gateway, in process: `python -m bench.request [--turns N] [--write]`.

CPU time and Python calls of a request, the application asked directly over an upstream in memory: one message and a
thousand, ten tools and two thousand, for a backend with a tool API and for one that gets its tools in text.  Each long
conversation grows by a turn with every request, as an agent's does.  `bench.load` asks over sockets, beside others.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import pstats
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dragoman.gateway import GatewayConfig, create_app
from dragoman.providers.route import Route as To
from dragoman.providers.rows import COMPATIBLE
from dragoman.providers.spec import Tools
from dragoman.sim.scripted import Answer, ScriptedPeer

from .table import machine, publish, table

WORDS = "Some words about the file that was read, as long as they often are in such a conversation. "
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}, "required": ["path"]}
ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "word " * 40}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 250_000, "completion_tokens": 200, "total_tokens": 250_200},
    }
).encode()
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

    def answered(_: object) -> Answer:
        peer.sent.clear()  # no upstream holds all that it was ever sent: new memory for each request costs more than it
        return answer

    peer = ScriptedPeer(answered)
    return gateway("http://u", peer, text=text)


JSON = {"content-type": "application/json"}


async def ask(served: Callable[..., Any], body: bytes, given: Mapping[str, str] = JSON) -> None:
    """One request, answered to its end."""
    headers = [(name.encode(), value.encode()) for name, value in given.items()]
    headers.append((b"content-length", str(len(body)).encode()))
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


def inside(turns: int) -> Iterator[list[str]]:
    """The lines of what happens in process."""
    for case in CASES:
        for name, text in (("tool API", False), ("in text", True)):
            took, calls = in_process(case, text=text, turns=turns)
            yield [case, name, f"{took * 1e6:,.0f}", f"{calls:,}"]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--write", action="store_true")
    given: Any = parser.parse_args(argv)
    text = table(["request", "tools go by", "CPU µs", "Python calls"], list(inside(given.turns)))
    text += f"\n\n{machine()}."
    publish("request", text) if given.write else print(text)


if __name__ == "__main__":
    main()
