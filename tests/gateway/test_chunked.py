"""An answer in chunks is the one that aiohttp reads, however it comes and whatever is wrong with it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from aiohttp.client_proto import ResponseHandler
from aiohttp.helpers import TimerNoop

from dragoman.effects import Machine, Open, Read
from dragoman.errors import ProviderError
from dragoman.gateway.chunked import HIGH, Chunked
from tests.support.executing import run_as_gateway, run_async
from tests.support.peer import Exchange, peer, read_request

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
BODY = b"5\r\ndata:\r\n3\r\n a\n\r\n"
EVENTS = {"accept": "text/event-stream"}

PLAIN = [
    HEAD + BODY + b"0\r\n\r\n",
    HEAD + b"00000005\r\ndata:\r\nA\r\n0123456789\r\n000\r\n\r\n",
    HEAD + b"0\r\n\r\n",
    HEAD.replace(b"chunked", b"Chunked") + BODY + b"0\r\n\r\n",
]
LEFT_TO_OTHERS = [
    HEAD + b"5;name=value\r\ndata:\r\n" + BODY + b"0\r\n\r\n",
    HEAD + BODY + b"5 \r\ndata:\r\n0\r\n\r\n",
    HEAD + BODY + b"0\r\nx-more: 1\r\n\r\n",
    HEAD + BODY.replace(b"\r\n3", b"\n3") + b"0\r\n\r\n",
    HEAD + BODY + b"no chunk\r\n",
    HEAD + b"5\r\ndata:x\r\n",
    HEAD + b"+5\r\ndata:\r\n0\r\n\r\n",
    HEAD + b"0x5\r\ndata:\r\n0\r\n\r\n",
    HEAD + b"000000000000005\r\ndata:\r\n0\r\n\r\n",
    HEAD.replace(b"\r\n", b"\n") + BODY + b"0\r\n\r\n",
    HEAD.replace(b"1.1 200 OK", b"1.0 200 OK") + BODY + b"0\r\n\r\n",
    HEAD.replace(b"200 OK", b"429 No") + BODY + b"0\r\n\r\n",
    HEAD.replace(b"chunked", b"gzip, chunked") + BODY + b"0\r\n\r\n",
    HEAD.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n") + BODY + b"0\r\n\r\n",
    HEAD.replace(b"\r\n\r\n", b"\r\ncontent-length: 5\r\n\r\n") + BODY,
    b"HTTP/1.1 103 Early\r\n\r\n" + HEAD + BODY + b"0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\ndata:",
    b"HTTP/1.1 200 OK\r\n\r\ndata: to the end",
    b"HTTP/1.1 204 No\r\n\r\n",
    b"nothing like it\r\n\r\n",
]
BROKEN = [wire[:end] for wire in PLAIN[:2] for end in range(len(HEAD) - 3, len(wire))]


class Wire(asyncio.Transport):
    """A transport on which nothing is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.read: Any = None
        self.closing = self.paused = False

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self.read = protocol

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False


def made() -> tuple[Wire, Any]:
    """A connection as aiohttp makes it."""
    wire, protocol = Wire(), ResponseHandler(asyncio.get_running_loop())
    wire.set_protocol(protocol)
    protocol.connection_made(wire)
    return wire, protocol


async def told(pieces: Sequence[bytes], *, plain: bool) -> tuple[Any, ...]:
    """Status, headers, body, kind of error, and may the connection be used again."""
    wire, protocol = made()
    content: Any = None
    if plain:
        content = Chunked(protocol, TimerNoop(), asyncio.get_running_loop())
    else:
        protocol.set_response_params(read_until_eof=True)
    for piece in pieces:
        if not wire.closing:
            wire.read.data_received(piece)
    head, body, kept = None, b"", False
    try:
        begun = await content.begin() if plain and (content.head or wire.read is protocol) else None
        while begun is None:
            if not protocol.is_eof() and not len(protocol):
                wire.read.connection_lost(None)
            said, content = await protocol.read()
            begun = None if said.code == 103 else (said.code, said.headers)
        head = begun[0], dict(begun[1])
        kept = protocol.transport is not None and not (protocol.should_close or wire.closing)
        wire.read.connection_lost(None)
        while piece := await content.readany():
            body += piece
        assert content.at_eof()
    except Exception as error:
        return head, body, type(error).__name__, kept
    return head, body, "", kept


def cut(wire: bytes) -> Iterator[list[bytes]]:
    """It in two pieces in all ways, and in pieces of a few bytes."""
    yield from ([wire[:at], wire[at:]] if at else [wire] for at in range(len(wire)))
    yield from ([wire[at : at + size] for at in range(0, len(wire), size)] for size in (1, 2, 3, 7))


@pytest.mark.parametrize("wire", PLAIN + LEFT_TO_OTHERS)
def test_it_is_what_aiohttp_reads_in_whatever_pieces(wire: bytes) -> None:
    async def go() -> None:
        for pieces in cut(wire):
            ours, theirs = await told(pieces, plain=True), await told(pieces, plain=False)
            if theirs[2] and ours[2] == "ClientPayloadError":  # as a reader finds it who had the head already
                assert ours[1].startswith(theirs[1])
            elif theirs[2]:
                assert ours[1].startswith(theirs[1])
                assert (ours[0], *ours[2:]) == (theirs[0], *theirs[2:]), pieces
            else:
                assert ours == theirs, pieces

    asyncio.run(go())


@pytest.mark.parametrize("wire", BROKEN)
def test_what_breaks_off_is_the_same_error_behind_what_had_come(wire: bytes) -> None:
    async def go() -> None:
        ours, theirs = await told([wire], plain=True), await told([wire], plain=False)
        assert (ours[0], ours[2]) == (theirs[0], theirs[2])
        assert ours[2] in {"ClientPayloadError", "ServerDisconnectedError"}
        assert ours[1].startswith(theirs[1])

    asyncio.run(go())


@pytest.mark.parametrize("behind", [b"no chunk\r\n", b"5\r\ndata:x\r\n", b"5\ndata:\n"])
def test_what_came_in_one_piece_with_what_is_no_chunk_is_read(behind: bytes) -> None:
    async def go() -> None:
        wire = BODY + b"5;name=value\r\ndata:\r\n" + behind
        for pieces in ([HEAD, wire], [HEAD + wire]):
            _, body, error, _ = await told(pieces, plain=True)
            assert body.startswith(b"data: a\ndata:")
            assert error == "ClientPayloadError"

    asyncio.run(go())


@pytest.mark.parametrize(
    "end", [b"0\r\n\r\n", b"0\r\nx-more: 1\r\n\r\n", b"0;x\r\n\r\n"], ids=["plain", "trailer", "extended"]
)
@pytest.mark.parametrize("more", [b"-", b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"], ids=["junk", "answer"])
def test_an_answer_is_whole_whatever_stands_behind_it(end: bytes, more: bytes) -> None:
    async def go() -> None:
        wire = HEAD + BODY + end + more
        for pieces in ([wire], [HEAD, wire[len(HEAD) :]]):
            assert (await told(pieces, plain=True))[1:] == (b"data: a\n", "", False)

    asyncio.run(go())


def test_the_connection_is_its_own_again_once_all_has_come() -> None:
    async def go() -> None:
        wire, protocol = made()
        content, ended = Chunked(protocol, TimerNoop(), asyncio.get_running_loop()), []
        content.on_eof(lambda: ended.append(wire.read is protocol))
        wire.read.data_received(PLAIN[0])
        assert await content.begin() is not None
        assert (ended, protocol.should_close) == ([True], False)
        assert not content.at_eof()
        assert await content.readany() == b"data: a\n"
        assert content.at_eof()
        content.on_eof(lambda: ended.append(True))
        assert len(ended) == 2

    asyncio.run(go())


def test_a_connection_on_which_more_is_said_is_not_used_again() -> None:
    async def go() -> None:
        assert await told([PLAIN[0] + b"more"], plain=True) == (*(await told([PLAIN[0]], plain=True))[:3], False)

    asyncio.run(go())


def test_no_more_is_taken_than_somebody_reads() -> None:
    async def go() -> None:
        wire, protocol = made()
        content = Chunked(protocol, TimerNoop(), asyncio.get_running_loop())
        wire.read.data_received(HEAD + b"%x\r\n" % (2 * HIGH))
        wire.read.data_received(b"x" * HIGH)
        assert not wire.paused
        wire.read.data_received(b"x")
        assert wire.paused
        assert len(await content.readany()) == HIGH + 1
        assert not wire.paused

    asyncio.run(go())


@pytest.mark.parametrize("end", [b"0\r\n\r\n", b"0;x=y\r\n\r\n"], ids=["plain", "left to aiohttp"])
@pytest.mark.parametrize("paused", [False, True])
def test_a_connection_whose_answer_has_ended_reads_on(end: bytes, paused: bool) -> None:
    async def go() -> None:
        wire, protocol = made()
        content = Chunked(protocol, TimerNoop(), asyncio.get_running_loop())
        wire.read.data_received(HEAD)
        whole = b"%x\r\n" % (HIGH + 1) + b"x" * (HIGH + 1) + b"\r\n"
        for piece in (whole, end) if paused else (whole + end,):
            wire.read.data_received(piece)
        assert wire.read is protocol
        assert not wire.paused  # by whoever read slowly: it may be another's now
        assert len(await content.readany()) == HIGH + 1

    asyncio.run(go())


def test_many_small_pieces_that_nobody_reads_take_linear_time() -> None:
    async def go() -> None:
        wire, protocol = made()
        content = Chunked(protocol, TimerNoop(), asyncio.get_running_loop())
        wire.read.data_received(HEAD)
        for _ in range(100_000):
            wire.read.data_received(b"1\r\nx\r\n")
        assert await content.readany() == b"x" * 100_000

    asyncio.run(go())


def test_a_silent_peer_is_an_error_behind_what_had_come() -> None:
    async def go() -> None:
        wire, protocol = made()
        content = Chunked(protocol, TimerNoop(), asyncio.get_running_loop())
        wire.read.data_received(HEAD + b"5\r\ndata:")
        content.set_exception(TimeoutError("late"))
        assert await content.readany() == b"data:"
        with pytest.raises(TimeoutError):
            await content.readany()

    asyncio.run(go())


def post(url: str) -> Machine[bytes]:
    read = b""
    for _ in range(2):
        yield Open(url=url, body=b"{}", headers=EVENTS)
        while piece := (yield Read()):
            read += piece
    return read


def test_it_is_what_a_session_reads_and_its_connection_is_used_again() -> None:
    def talk(it: Exchange) -> None:
        while it.request:
            for piece in (HEAD, BODY[:7], BODY[7:], b"0\r\n\r", b"\n"):
                it.say(piece)
                it.gone.wait(0.02)
            it.request = read_request(it.wire)

    for execute in (run_as_gateway, run_async):
        with peer(talk) as served:
            assert execute(post(served.url)) == b"data: a\n" * 2
            assert len(served.exchanges) == 1


def test_an_answer_that_breaks_off_is_an_error_of_the_provider() -> None:
    said = []
    for execute in (run_as_gateway, run_async):
        with peer(lambda it: it.say(HEAD + BODY)) as served, pytest.raises(ProviderError) as caught:
            execute(post(served.url))
        said.append(str(caught.value).replace(served.url, ""))
    assert said[0] == said[1]
