"""Short answers: whatever a peer writes, and however it comes, it is read as aiohttp alone reads it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from itertools import pairwise
from typing import Any

import aiohttp
import pytest
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import HttpProcessingError
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.gateway.short_answers import MOST, MOST_HEAD, Short, ShortAnswers
from tests.support.clocks import LONG

Told = tuple[Any, ...]

OK = b"HTTP/1.1 200 OK\r\n"
ANSWERS: dict[str, bytes] = {
    "plain": OK + b"Content-Type: application/json\r\nContent-Length: 13\r\nX-Odd:\r\n\r\n" + b'{"a": "so so"}'[:13],
    "empty": OK + b"content-length: 0\r\n\r\n",
    "a refusal": b"HTTP/1.1 429 Too Many Requests\r\nretry-after:  7 \r\ncontent-length: 2\r\n\r\n{}",
    "without reason": b"HTTP/1.1 200\r\ncontent-length: 2\r\n\r\n{}",
    "twice a name": OK + b"x-a: 1\r\nX-A: 2\r\ncontent-length: 2\r\n\r\n{}",
    "in another script": OK + "x-a: \u4e1c \u00e9\r\n".encode() + b"x-b: \xff\xfe\r\ncontent-length: 2\r\n\r\n{}",
    "blanks": OK + b"x-a:\t a\tb \t\r\ncontent-length:2\r\n\r\n{}",
    "kept": OK + b"connection: Keep-Alive\r\nkeep-alive: timeout=5\r\ncontent-length: 2\r\n\r\n{}",
    "closed": OK + b"connection: close\r\ncontent-length: 2\r\n\r\n{}",
    "closed, then kept": OK + b"connection: close\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\n{}",
    "kept, then closed": OK + b"connection: keep-alive\r\nConnection: close\r\ncontent-length: 2\r\n\r\n{}",
    "in chunks": OK + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "in chunks and measured": OK + b"transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "until the end": OK + b"\r\n{}",
    "measured twice": OK + b"content-length: 2\r\ncontent-length: 2\r\n\r\n{}",
    "measured otherwise": OK + b"content-length: 2\r\nContent-Length: 3\r\n\r\n{} ",
    "measured oddly": OK + b"content-length: +2\r\n\r\n{}",
    "measured below nothing": OK + b"content-length: -2\r\n\r\n{}",
    "measured in words": OK + b"content-length: two\r\n\r\n{}",
    "more than was said": OK + b"content-length: 2\r\n\r\n{}{}",
    "another behind it": OK + b"content-length: 2\r\n\r\n{}" + OK + b"content-length: 0\r\n\r\n",
    "said before": b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"content-length: 2\r\n\r\n{}",
    "nothing to say": b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n",
    "not modified": b"HTTP/1.1 304 Not Modified\r\ncontent-length: 2\r\n\r\n",
    "older": b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}",
    "encoded": OK + b"content-encoding: identity\r\ncontent-length: 2\r\n\r\n{}",
    "packed badly": OK + b"content-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}",
    "turned": b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nxyz",
    "folded": OK + b"x-a: 1\r\n 2\r\ncontent-length: 2\r\n\r\n{}",
    "a blank before the colon": OK + b"x-a : 1\r\ncontent-length: 2\r\n\r\n{}",
    "without a colon": OK + b"nothing\r\ncontent-length: 2\r\n\r\n{}",
    "without a name": OK + b": 1\r\ncontent-length: 2\r\n\r\n{}",
    "a control": OK + b"x-a: \x01\r\ncontent-length: 2\r\n\r\n{}",
    "a null": OK + b"x-a: a\0b\r\ncontent-length: 2\r\n\r\n{}",
    "bare ends": b"HTTP/1.1 200 OK\ncontent-length: 2\n\n{}",
    "a bare end": OK + b"x-a: 1\ncontent-length: 2\r\n\r\n{}",
    "a bare return": OK + b"x-a: 1\rx\r\ncontent-length: 2\r\n\r\n{}",
    "no HTTP": b"SSH-2.0-OpenSSH\r\n\r\n",
    "an odd status": b"HTTP/1.1 20 OK\r\ncontent-length: 2\r\n\r\n{}",
    "a status beyond": b"HTTP/1.1 999 OK\r\ncontent-length: 2\r\n\r\n{}",
    "cut in its head": OK + b"content-le",
    "cut in its body": OK + b"content-length: 20\r\n\r\n{}",
    "nothing at all": b"",
    "a long line": OK + b"x-a: " + b"a" * 9000 + b"\r\ncontent-length: 2\r\n\r\n{}",
    "a long head": OK + b"".join(b"x-%d: %s\r\n" % (n, b"a" * 90) for n in range(100)) + b"content-length: 2\r\n\r\n{}",
    "many lines": OK + b"".join(b"x-%d: a\r\n" % n for n in range(200)) + b"content-length: 2\r\n\r\n{}",
    "long": OK + b"content-length: %d\r\n\r\n" % MOST + b"a" * MOST,
}


class Transport:
    """A connection in memory."""

    def __init__(self) -> None:
        self.protocol: Any = None
        self.closed = False

    def set_protocol(self, protocol: Any) -> None:
        self.protocol = protocol

    def get_protocol(self) -> Any:
        return self.protocol

    def close(self) -> None:
        self.closed = True

    abort = close

    def get_extra_info(self, name: str) -> None:
        return

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        return

    resume_reading = pause_reading


def _ready(handler: Any, *_: object) -> Any:
    """Let aiohttp read the next answer."""
    handler.set_response_params(read_until_eof=True)
    return handler


async def _by(protocol: Any, transport: Transport, pieces: Sequence[bytes], *, ends: bool) -> None:
    for piece in pieces:
        if piece and not transport.closed:
            transport.protocol.data_received(piece)
            await asyncio.sleep(0)
    if ends or transport.closed:
        transport.protocol.eof_received()
        transport.protocol.connection_lost(None)


async def _told(handler: Any) -> Told:
    """What aiohttp says of an answer: its head, and its body or what is wrong."""
    try:
        async with asyncio.timeout(0.05):
            while True:
                head, content = await handler.read()
                if not 100 <= head.code < 200 or head.code == 101:
                    break
            if head.code == 101:
                return (101,)
    except (aiohttp.ClientError, HttpProcessingError, TimeoutError) as error:
        return type(error), getattr(error, "code", 0)  # what it shows of the bytes depends on how they came
    try:
        async with asyncio.timeout(0.05):
            body = await content.read()
    except TimeoutError as error:
        return type(error), 0
    except aiohttp.ClientError as error:
        body = type(error)
    return head.code, {name.lower(): value for name, value in head.headers.items()}, body, not handler.should_close


async def _alone(pieces: Sequence[bytes], *, ends: bool) -> Told:
    transport, handler = Transport(), ResponseHandler(asyncio.get_running_loop())
    transport.set_protocol(handler)
    handler.connection_made(transport)  # type: ignore[arg-type]
    _ready(handler)
    await _by(handler, transport, pieces, ends=ends)
    return await _told(handler)


async def _in_front(pieces: Sequence[bytes], *, ends: bool) -> Told:
    transport, handler = Transport(), ResponseHandler(asyncio.get_running_loop())
    transport.set_protocol(handler)
    handler.connection_made(transport)  # type: ignore[arg-type]
    waiting = ShortAnswers(handler, asyncio.get_running_loop(), _ready).wait(None)
    await _by(handler, transport, pieces, ends=ends)
    if not waiting.done():
        waiting.cancel()
        return TimeoutError, 0
    found = waiting.result()
    if not isinstance(found, Short):
        return await _told(found)
    body = await found.readany()
    assert found.at_eof()
    return found.status, found.headers, body, not (ends or handler.should_close)


def _same(data: bytes, cuts: Sequence[int], *, ends: bool) -> None:
    at = [0, *sorted(cuts), len(data)]
    pieces = [data[a:b] for a, b in pairwise(at)]
    assert asyncio.run(_in_front(pieces, ends=ends)) == asyncio.run(_alone(pieces, ends=ends))


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("ends", [True, False], ids=["then ends", "stays"])
def test_an_answer_is_what_aiohttp_makes_of_it(name: str, ends: bool) -> None:
    data = ANSWERS[name]
    for cuts in ([], [len(data) // 2], [data.find(b"\r\n\r\n") + 4] if b"\r\n\r\n" in data else [], [max(len(data) - 1, 0)]):
        _same(data, cuts, ends=ends)


@settings(max_examples=150)
@given(name=st.sampled_from(sorted(set(ANSWERS) - {"long"})), data=st.data(), ends=st.booleans())
def test_an_answer_is_the_same_however_it_comes(name: str, data: st.DataObject, ends: bool) -> None:
    said = ANSWERS[name]
    cuts = data.draw(st.lists(st.integers(0, len(said)), max_size=5))
    _same(said, cuts, ends=ends)


@settings(max_examples=150)
@given(
    lines=st.lists(st.text(st.characters(max_codepoint=300), max_size=30), max_size=4),
    size=st.integers(0, 5), ends=st.booleans(),
)  # fmt: skip
def test_whatever_stands_in_a_head_is_what_aiohttp_makes_of_it(lines: list[str], size: int, ends: bool) -> None:
    said = OK + b"".join(line.encode() + b"\r\n" for line in lines) + b"content-length: 3\r\n\r\n" + b"abcde"[:size]
    _same(said, [], ends=ends)


# ── on a connection ──────────────────────────────────────────────────────────


def _connected(check: Callable[[ShortAnswers, Transport], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        transport, handler = Transport(), ResponseHandler(asyncio.get_running_loop())
        handler.connection_made(transport)  # type: ignore[arg-type]
        await check(ShortAnswers(handler, asyncio.get_running_loop(), _ready), transport)

    asyncio.run(run())


def test_several_answers_come_one_after_the_other() -> None:
    async def check(answers: ShortAnswers, transport: Transport) -> None:
        for said in (b"1", b"22"):
            waiting = answers.wait(5.0)
            answers.data_received(OK + b"content-length: %d\r\n\r\n%s" % (len(said), said))
            found = await waiting
            assert isinstance(found, Short)
            assert await found.content.readany() == said
            assert await found.content.readany() == b""
        assert not transport.closed

    _connected(check)


def test_what_comes_unasked_ends_the_connection() -> None:
    async def check(answers: ShortAnswers, transport: Transport) -> None:
        answers.data_received(OK + b"content-length: 0\r\n\r\n")
        assert transport.closed

    _connected(check)


def test_silence_ends_the_wait() -> None:
    async def check(answers: ShortAnswers, _: Transport) -> None:
        loop = asyncio.get_running_loop()
        first = answers.wait(60.0)
        answers.data_received(OK + b"content-length: 0\r\n\r\n")
        await first
        begun = loop.time()
        with pytest.raises(aiohttp.SocketTimeoutError):
            await answers.wait(0.1)
        assert 0.1 <= loop.time() - begun < LONG
        answers.connection_lost(None)

    _connected(check)


def test_the_head_of_an_answer_that_goes_on_is_not_held() -> None:
    async def check(answers: ShortAnswers, _: Transport) -> None:
        waiting = answers.wait(None)
        answers.data_received(OK + b"content-length: 20\r\n\r\nok")
        assert not isinstance(await waiting, Short)

    _connected(check)


def test_a_head_without_end_is_not_held() -> None:
    async def check(answers: ShortAnswers, transport: Transport) -> None:
        waiting = answers.wait(None)
        answers.data_received(OK + b"x: " + b"a" * MOST_HEAD)
        assert not isinstance(await waiting, Short)

    _connected(check)
