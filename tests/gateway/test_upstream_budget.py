"""What answers may cost a process: they share one budget of bytes, and one that fails is let go of at once."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx2
import pytest

from dragoman.effects import Open
from dragoman.errors import ProviderError
from dragoman.gateway import GatewayConfig, Limits, create_app
from dragoman.gateway.gateway import Gateway
from dragoman.io.aio import AsyncPool
from dragoman.io.held_bytes import HeldBytes
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.asgi import Client, Reply
from tests.support.clocks import LONG
from tests.support.gateways import app, ask
from tests.support.peer import Exchange, peer
from tests.support.servers import serving
from tests.support.upstreams import chat_stream, chat_whole, text_reply

MB = 1024 * 1024
PATH = "/v1/chat/completions"
JSON = "content-type: application/json\r\n"
BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}


def half_then_rest(body: bytes, go_on: threading.Event) -> Callable[[Exchange], None]:
    """Sends half of `body`, and the rest once `go_on` is set."""

    def talk(it: Exchange) -> None:
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        it.say(head.encode() + body[: len(body) // 2])
        go_on.wait(LONG)
        it.say(body[len(body) // 2 :])

    return talk


def together(
    url: str, held: HeldBytes, count: int = 1, *, stream: bool = False, go_on: threading.Event | None = None
) -> list[Reply]:
    """The answers of `count` requests at a time; `go_on` is set once the first of them has ended."""

    async def script() -> list[Reply]:
        async with AsyncPool(held=held) as pool:
            gateway = create_app(GatewayConfig(default=Route(provider=COMPATIBLE["openai_chat"], base_url=url)), pool)
            body = {**BODY, "stream": stream}
            tasks = [asyncio.ensure_future(Client(gateway, PATH, body).run()) for _ in range(count)]
            if go_on is not None:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED, timeout=LONG)
                go_on.set()
            return await asyncio.gather(*tasks)

    return asyncio.run(script())


def test_answers_beyond_the_budget_wait_and_get_503_with_what_to_do() -> None:
    body, go_on = chat_whole(text_reply("x" * 2 * MB)), threading.Event()
    with peer(half_then_rest(body, go_on)) as upstream:
        replies = together(upstream.url, HeldBytes(3 * MB, patience=0.2), 4, go_on=go_on)
    refused = [reply for reply in replies if reply.status == 503]
    assert refused
    assert {reply.status for reply in replies} == {200, 503}
    assert all(reply.headers["retry-after"] == "5" for reply in refused)
    assert "raise limits.upstream_bytes" in refused[0].json["error"]["message"]


def test_answers_within_the_budget_follow_each_other() -> None:
    body = chat_whole(text_reply("x" * MB))
    with peer(lambda it: it.whole(body, headers=JSON)) as upstream:
        replies = together(upstream.url, HeldBytes(6 * MB), 4)
    assert [reply.status for reply in replies] == [200] * 4


def test_one_answer_larger_than_the_budget_of_the_settings_is_refused() -> None:
    body = chat_whole(text_reply("x" * 2 * MB))
    with peer(lambda it: it.whole(body, headers=JSON)) as upstream:
        route = Route(provider=COMPATIBLE["openai_chat"], base_url=upstream.url)
        config = GatewayConfig(default=route, limits=Limits(upstream_bytes=MB))
        with serving(create_app(config)) as address, httpx2.Client(timeout=LONG, trust_env=False) as client:
            reply = client.post(address + PATH, json=BODY)
    assert reply.status_code == 502
    assert "larger than the 1 MiB" in reply.json()["error"]["message"]


@pytest.mark.slow
def test_the_budget_is_given_back_whatever_becomes_of_an_answer() -> None:
    """Whole, garbled, refused and broken off."""
    held = HeldBytes(64 * MB)
    answers = iter([
        (chat_whole(text_reply("x" * MB)), "200 OK"), (b"x" * MB, "200 OK"), (b"x" * MB, "500 No"),
    ])  # fmt: skip

    def talk(it: Exchange) -> None:
        body, status = next(answers, (b"", ""))
        if status:
            it.whole(body, status, JSON)
        else:
            it.say(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9999999\r\n\r\n" + b"x" * MB)

    with peer(talk) as upstream:
        for _ in range(4):
            together(upstream.url, held)
            assert held.used == 0


class Watched(HeldBytes):
    """Remembers the most that was held."""

    most = 0

    async def take(self, size: int, before: int = 0) -> None:
        await super().take(size, before)
        self.most = max(self.most, self.used)


def test_a_stream_counts_what_it_said_and_not_its_frames() -> None:
    held, frames = Watched(64 * MB), b"".join(chat_stream(text_reply("word " * 40_000, size=5)))

    def talk(it: Exchange) -> None:
        it.say(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + frames)

    with peer(talk) as upstream:
        (reply,) = together(upstream.url, held, stream=True)
    assert reply.status == 200
    assert len(frames) > 20 * held.most > 0
    assert held.used == 0


@contextmanager
def without_collector() -> Iterator[None]:
    """Only what nobody refers to any more is freed in it."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()
        gc.enable()


GARBAGE = {
    "no JSON": (b"x" * 4 * MB,),
    "cut JSON": (b'{"choices": [{"message": {"content": "' + b"x" * 4 * MB,),
    "not the API": (json.dumps({"error?": "x" * 4 * MB}).encode(),),
    "broken off": (b'{"a": "' + b"x" * 4 * MB, ProviderError("the peer broke off")),
}
STREAMED = {
    "no frame": (b"data: " + b"x" * 4 * MB,),
    "frame and break": (b"data: " + b"x" * 4 * MB, ProviderError("the peer broke off")),
}


@pytest.mark.parametrize(("pieces", "stream"), [
    *(pytest.param(pieces, False, id=name) for name, pieces in GARBAGE.items()),
    *(pytest.param(pieces, True, id=name) for name, pieces in STREAMED.items()),
])  # fmt: skip
@pytest.mark.costly
def test_an_answer_that_fails_is_let_go_of_at_once(pieces: tuple[bytes | Exception, ...], stream: bool) -> None:
    """Not when Python next looks for circles: errors are kept, in records and logs."""

    def answer(_: Open) -> Answer:
        fresh = tuple(bytes(bytearray(piece)) if isinstance(piece, bytes) else piece for piece in pieces)
        return Answer(fresh, headers={"content-type": "text/event-stream" if stream else "application/json"})

    gateway = app(ScriptedPeer(answer))
    ask(gateway, "openai_chat", stream=stream)
    with without_collector():
        for _ in range(3):
            ask(gateway, "openai_chat", stream=stream)
        left, _ = tracemalloc.get_traced_memory()
    assert left < 2 * MB


def test_a_reload_changes_the_budget() -> None:
    held = HeldBytes()
    gateway = Gateway(GatewayConfig(limits=Limits(upstream_bytes=7)), ScriptedPeer([]), held=held)
    assert held.limit == 7
    gateway.take(GatewayConfig(limits=Limits(upstream_bytes=9)))
    assert held.limit == 9
