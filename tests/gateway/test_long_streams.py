"""Streams of very many calls and of very long arguments: linear in steps and memory, and ended in words where it is
too much."""

from __future__ import annotations

import asyncio
import json
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dragoman.gateway import GatewayConfig, create_app
from dragoman.io.aio import AsyncPool
from dragoman.io.held_bytes import HeldBytes
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn.answer import KEPT
from tests.support.asgi import Client
from tests.support.gateways import ASKS, PATHS, app
from tests.support.peer import Exchange, peer

API = "openai_chat"
BODY = {**ASKS[API], "stream": True}
PIECE = 4096
EVENTS = {"content-type": "text/event-stream"}


def frame(delta: Any, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'id': 'x', 'choices': [choice]})}\n\n".encode()


def ending(finish: str) -> bytes:
    return frame({}, finish) + b"data: [DONE]\n\n"


def native(arguments: str, index: int = 0, **more: Any) -> bytes:
    return frame({"tool_calls": [{"index": index, "function": {"arguments": arguments, **more}, "id": f"c{index}"}]})


def native_calls(count: int) -> Iterator[bytes]:
    for index in range(count):
        yield native('{"at": "sky"}', index, name="look")
    yield ending("tool_calls")


def calls_in_text(count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield frame({"content": '<tool_call>\n{"name": "look", "arguments": {"at": "sky"}}\n</tool_call>\n'})
    yield ending("stop")


def native_argument(size: int) -> Iterator[bytes]:
    yield native('{"at": "', name="look")
    for _ in range(size // PIECE):
        yield frame({"tool_calls": [{"index": 0, "function": {"arguments": "a" * PIECE}}]})
    yield native('"}')
    yield ending("tool_calls")


def argument_in_text(size: int) -> Iterator[bytes]:
    yield frame({"content": '<tool_call>\n{"name": "look", "arguments": {"at": "'})
    for _ in range(size // PIECE):
        yield frame({"content": "a" * PIECE})
    yield frame({"content": '"}}\n</tool_call>'})
    yield ending("stop")


class Lazy:
    """Pieces that are made as they are read, again for each answer."""

    def __init__(self, make: Callable[[], Iterator[bytes]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[bytes]:
        return self._make()


class Counting(Client):
    """Keeps nothing of the answer but how long it was, how many calls it held, and its end."""

    size = calls = 0
    last = b""

    async def _send(self, message: dict[str, Any]) -> None:
        body = message.get("body", b"")
        self.size += len(body)
        self.calls += body.count(b'"name":"look"')
        self.last = (self.last + body)[-600:]


def served(make: Callable[[int], Iterator[bytes]], size: int) -> Counting:
    """What a client got of a stream of that size, read through the gateway."""
    pieces: Any = Lazy(lambda: make(size))
    client = Counting(app(ScriptedPeer(lambda _: Answer(pieces, headers=EVENTS))), PATHS[API], BODY)
    asyncio.run(client.run())
    return client


def steps(work: Callable[[], object]) -> int:
    """Calls of functions that it takes."""
    count = 0

    def seen(_: Any, event: str, __: Any) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


COUNTED = [native_calls, calls_in_text]
SIZED = [native_argument, argument_in_text]


@pytest.mark.parametrize("make", COUNTED)
@pytest.mark.costly
def test_every_call_costs_the_same_steps_however_many_there_are(make: Callable[[int], Iterator[bytes]]) -> None:
    served(make, 10)  # what is made once
    few, many = steps(lambda: served(make, 100)), steps(lambda: served(make, 1000))
    assert many < 10.5 * few
    assert served(make, 1000).calls == 1000


@pytest.mark.parametrize("make", SIZED)
def test_every_piece_of_an_argument_costs_the_same_steps_however_long_it_is(
    make: Callable[[int], Iterator[bytes]],
) -> None:
    served(make, PIECE)
    few, many = steps(lambda: served(make, 100 * PIECE)), steps(lambda: served(make, 1000 * PIECE))
    assert many < 10.5 * few
    got = served(make, 1000 * PIECE)
    assert got.calls == 1
    assert got.size > 1000 * PIECE
    assert b"[DONE]" in got.last


@pytest.mark.slow
@pytest.mark.parametrize("make", COUNTED)
def test_a_call_costs_about_what_the_budget_counts_for_it(make: Callable[[int], Iterator[bytes]]) -> None:
    served(make, 10)
    tracemalloc.start()
    try:
        served(make, 3000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert KEPT / 2 < peak / 3000 < KEPT * 2


@pytest.mark.slow
@pytest.mark.parametrize(("make", "size"), [(native_calls, 100_000), (native_argument, 10_000_000)])
def test_an_answer_without_measure_is_served_whole(make: Callable[[int], Iterator[bytes]], size: int) -> None:
    got = served(make, size)
    assert got.calls == (size if make is native_calls else 1)
    assert b"[DONE]" in got.last


@pytest.mark.parametrize("make", COUNTED)
@pytest.mark.costly
def test_calls_count_against_the_budget_of_a_process_and_end_in_words(make: Callable[[int], Iterator[bytes]]) -> None:
    budget = HeldBytes(1000 * KEPT)

    def talk(it: Exchange) -> None:
        it.head()
        try:
            for piece in make(4000):
                it.say(piece)
        except OSError:
            pass  # the gateway hung up

    async def script(url: str) -> Counting:
        async with AsyncPool(held=budget) as pool:
            gateway = create_app(GatewayConfig(default=Route(provider=COMPATIBLE[API], base_url=url)), pool)
            client = Counting(gateway, PATHS[API], BODY)
            await client.run()
            return client

    with peer(talk) as upstream:
        got = asyncio.run(script(upstream.url))
    assert got.calls < 4000
    assert b"larger than the 2.44141 MiB this gateway holds; ask for less" in got.last
    assert budget.used == 0
