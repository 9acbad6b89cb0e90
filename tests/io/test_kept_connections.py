"""What a peer says over a kept connection while nobody asks is no answer, also where a session asks."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from dragoman.effects import Machine, Open, Read, Timeouts, arun
from dragoman.io.aio import AsyncPool
from tests.support.clocks import LONG
from tests.support.peer import Exchange, peer

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
UNASKED = {
    "answer": OK.replace(b"ok", b"no"),
    "time is over": b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 4\r\n\r\nlate",
    "no length": b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\nlate",
    "no HTTP": b"\x00\x00bye",
}
ASKED: list[dict[str, Any]] = [{"method": "GET"}, {"method": "PUT", "body": b"{}"}]


def body_of(url: str, more: dict[str, Any]) -> Machine[bytes]:
    yield Open(url=url, timeouts=Timeouts(idle=LONG), **more)
    read = b""
    while piece := (yield Read()):
        read += piece
    return read


@pytest.mark.parametrize("unasked", UNASKED.values(), ids=UNASKED)
@pytest.mark.parametrize("more", ASKED, ids=["get", "put"])
@pytest.mark.parametrize("ends", [True, False], ids=["ends", "stays"])
def test_what_comes_unasked_is_no_answer_to_who_asks_next(unasked: bytes, more: dict[str, Any], ends: bool) -> None:
    def talk(it: Exchange) -> None:
        if it.number:
            it.whole(b"asked for")
            return
        it.say(OK)
        read.wait(LONG)
        it.say(unasked)
        said.set()
        if not ends:
            it.until_gone()

    async def go(url: str) -> bytes:
        async with AsyncPool(use_proxies=False) as pool:
            assert await arun(body_of(url, more), pool.performer()) == b"ok"
            read.set()
            await asyncio.to_thread(said.wait, LONG)
            await asyncio.sleep(0.01)  # what has come is read
            return await arun(body_of(url, more), pool.performer())

    read, said = threading.Event(), threading.Event()
    with peer(talk) as served:
        assert asyncio.run(go(served.url)) == b"asked for"


def test_a_connection_over_which_nothing_came_is_used_again() -> None:
    def talk(it: Exchange) -> None:
        it.say(OK)
        for _ in range(2):
            it.wire.recv(4096)
            it.say(OK)

    async def go(url: str) -> list[bytes]:
        async with AsyncPool(use_proxies=False) as pool:
            return [await arun(body_of(url, {"method": "GET"}), pool.performer()) for _ in range(3)]

    with peer(talk) as served:
        assert asyncio.run(go(served.url)) == [b"ok"] * 3
        assert len(served.exchanges) == 1


LATE = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 4\r\n\r\nlate"


@pytest.mark.parametrize("size", [1, 12, 30, len(LATE) - 5, len(LATE) - 1])
@pytest.mark.parametrize("more", ASKED, ids=["get", "put"])
def test_the_beginning_of_an_answer_that_comes_unasked_ends_the_connection(size: int, more: dict[str, Any]) -> None:
    """Of which nothing is to be seen in aiohttp's protocol, when the rest comes to whoever asks next."""

    def talk(it: Exchange) -> None:
        if it.number:
            it.whole(b"asked for")
            return
        it.say(OK)
        read.wait(LONG)
        it.say(LATE[:size])
        said.set()
        if it.wire.recv(4096):
            it.say(LATE[size:])

    async def go(url: str) -> bytes:
        async with AsyncPool(use_proxies=False) as pool:
            assert await arun(body_of(url, more), pool.performer()) == b"ok"
            read.set()
            await asyncio.to_thread(said.wait, LONG)
            await asyncio.sleep(0.01)  # what has come is read
            return await arun(body_of(url, more), pool.performer())

    read, said = threading.Event(), threading.Event()
    with peer(talk) as served:
        assert asyncio.run(go(served.url)) == b"asked for"


def test_a_kept_connection_over_which_nothing_comes_is_used_again() -> None:
    def talk(it: Exchange) -> None:
        begun.append(it.number)
        it.say(OK)
        while it.wire.recv(4096):
            it.say(OK)

    async def go(url: str) -> list[bytes]:
        async with AsyncPool(use_proxies=False) as pool:
            return [await arun(body_of(url, {"method": "GET"}), pool.performer()) for _ in range(3)]

    begun: list[int] = []
    with peer(talk) as served:
        assert asyncio.run(go(served.url)) == [b"ok"] * 3
    assert begun == [0]
