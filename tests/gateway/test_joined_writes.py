"""The head of an answer and the first of its body are one write, and a head alone is not kept back."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest

from dragoman.gateway.process.connections import JoinedWrites

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n"
Writes = Callable[[JoinedWrites], Awaitable[None]]


async def _head_and_body(out: JoinedWrites) -> None:
    out.write(HEAD)
    out.write(b"body")


async def _head_alone(out: JoinedWrites) -> None:
    out.write(HEAD)
    await asyncio.sleep(0.01)


async def _head_and_close(out: JoinedWrites) -> None:
    out.write(HEAD)
    out.close()


async def _two_heads(out: JoinedWrites) -> None:
    out.write(HEAD)
    out.write(HEAD)
    out.write(b"body")


async def _body_then_head(out: JoinedWrites) -> None:
    out.write(b"HTTP/1.1 is what it speaks")
    out.write(HEAD)
    await asyncio.sleep(0.01)


CASES: dict[str, tuple[Writes, bytes]] = {
    "a head and its body": (_head_and_body, HEAD + b"body"),
    "a head alone": (_head_alone, HEAD),
    "a head, and the end": (_head_and_close, HEAD),
    "a head that says to go on": (_two_heads, HEAD + HEAD + b"body"),
    "a body that begins like one": (_body_then_head, b"HTTP/1.1 is what it speaks" + HEAD),
}


@pytest.mark.parametrize("case", CASES)
def test_writes_arrive_in_order(case: str) -> None:
    writes, wanted = CASES[case]

    async def run() -> bytes:
        ours, theirs = socket.socketpair()
        with theirs:
            theirs.settimeout(5)
            loop = asyncio.get_running_loop()
            transport, _ = await loop.connect_accepted_socket(asyncio.Protocol, ours)
            out = JoinedWrites(transport, loop)
            await writes(out)
            got = await asyncio.to_thread(theirs.recv, 1024)
            assert got == wanted or case != "a head and its body"
            while len(got) < len(wanted):
                got += await asyncio.to_thread(theirs.recv, 1024)
            assert out.is_closing() is (case == "a head, and the end")
            out.close()
            return got

    assert asyncio.run(run()) == wanted
