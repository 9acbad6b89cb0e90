"""What is posted without a session arrives as a session sends it, and its connection is used again where it may be."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import aiohttp
import pytest

from dragoman.effects import Machine, Open, Opened, Read, Sleep, Timeouts, arun
from dragoman.errors import ProviderError
from dragoman.gateway.direct import MOST_KEPT, Direct, DirectPool
from dragoman.gateway.short_answers import ShortAnswers
from tests.support.clocks import LONG
from tests.support.executing import Runner, run_as_gateway, run_async
from tests.support.peer import Exchange, peer, read_request

ways = pytest.mark.parametrize("execute", [run_as_gateway, run_async], ids=["direct", "session"])


def post(url: str, body: bytes = b"{}", **more: Any) -> Machine[tuple[Opened, bytes]]:
    opened = yield Open(url=url, body=body, **more)
    read = b""
    while piece := (yield Read()):
        read += piece
    return opened, read


def lines(request: bytes) -> tuple[bytes, list[bytes], bytes]:
    """Request line, headers in any order, body."""
    head, _, body = request.partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    return first, sorted(headers), body


HEADERS: list[Mapping[str, str]] = [
    {},
    {"content-type": "application/json", "authorization": "Bearer hush", "accept": "text/event-stream"},
    {"Host": "other.test", "Accept-Encoding": "gzip", "User-Agent": "mine", "x-words": "grün, ok"},
    {"connection": "close"},
]


@pytest.mark.parametrize("headers", HEADERS, ids=range(len(HEADERS)))
@pytest.mark.parametrize("path", ["/v1/x", "/v1/a b/ü?alt=sse&q=%2F#part", ""])
def test_the_same_bytes_go_out(headers: Mapping[str, str], path: str) -> None:
    with peer(lambda it: it.whole(b"ok")) as served:
        for execute in (run_as_gateway, run_async):
            assert execute(post(served.url + path, b'{"a": "\xc3\xbc"}', headers=headers))[1] == b"ok"
        first, second = (it.request for it in served.exchanges)
    assert lines(first) == lines(second)
    assert len(first) == len(second)


@ways
def test_a_name_and_password_in_the_address_are_a_header(execute: Runner) -> None:
    with peer(lambda it: it.whole(b"ok")) as served:
        execute(post(served.url.replace("://", "://me:hush@")))
        assert b"authorization: basic " in served.exchanges[0].request.lower()


@ways
@pytest.mark.parametrize("value", ["a\r\nx-more: 1", "a\nb"])
def test_nothing_is_smuggled_in_a_header(execute: Runner, value: str) -> None:
    with peer(lambda it: it.whole(b"ok")) as served:
        with pytest.raises(Exception, match=r"(?i)header|character|value"):
            execute(post(served.url, headers={"x-given": value}))
        assert not any(it.request for it in served.exchanges)


@ways
def test_what_is_said_before_the_answer_is_passed_over(execute: Runner) -> None:
    def talk(it: Exchange) -> None:
        it.say(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n")
        it.whole(b"then this")

    with peer(talk) as served:
        opened, body = execute(post(served.url))
    assert (opened.status, body) == (200, b"then this")


@ways
def test_a_head_without_end_is_refused(execute: Runner) -> None:
    with peer(lambda it: it.say(b"HTTP/1.1 200 OK\r\nx-long: " + b"a" * 100_000)) as served:
        with pytest.raises(ProviderError):
            execute(post(served.url))
        assert len(served.exchanges) == 1


@ways
def test_a_refusal_that_comes_before_all_was_sent_is_read(execute: Runner) -> None:
    def talk(it: Exchange) -> None:
        it.whole(b"too long", "413 Content Too Large")
        it.until_gone()

    with peer(talk) as served:
        opened, body = execute(post(served.url, b"x" * 100_000))
    assert (opened.status, body) == (413, b"too long")


def several(times: int, url: str, *, leave: bool) -> Machine[int]:
    done = 0
    for _ in range(times):
        yield Open(url=url, body=b"{}")
        while not leave and (yield Read()):
            pass
        done += 1
    return done


def serving(it: Exchange) -> None:
    """Answers as long as it is asked."""
    while it.request:
        it.say(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        it.request = read_request(it.wire)


@ways
def test_a_connection_is_used_again(execute: Runner) -> None:
    with peer(serving) as served:
        assert execute(several(3, served.url, leave=False)) == 3
        assert len(served.exchanges) == 1


OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
ENDS: list[Callable[[Exchange], None]] = [lambda it: None, Exchange.reset]
in_either_way = pytest.mark.parametrize("end", ENDS, ids=["closed", "reset"])


def opened(times: int, url: str) -> Machine[int]:
    """All of them are begun one after the other; the status of the last."""
    status = 0
    for _ in range(times):
        found: Opened = yield Open(url=url, body=b"{}")
        status = found.status
        while (yield Read()):
            pass
    return status


@in_either_way
def test_what_breaks_over_a_kept_connection_is_asked_over_another(end: Callable[[Exchange], None]) -> None:
    def talk(it: Exchange) -> None:
        it.say(OK)
        if it.number == 0:
            read_request(it.wire)
            end(it)

    with peer(talk) as served:
        assert run_as_gateway(opened(2, served.url)) == 200
        assert len(served.exchanges) == 2


@in_either_way
def test_what_breaks_over_a_new_connection_is_an_error(end: Callable[[Exchange], None]) -> None:
    with peer(end) as served:
        with pytest.raises(ProviderError, match="broke"):
            run_as_gateway(opened(1, served.url))
        assert len(served.exchanges) == 1


def test_what_breaks_over_another_new_connection_is_an_error() -> None:
    def talk(it: Exchange) -> None:
        if it.number == 0:
            it.say(OK)
            read_request(it.wire)

    with peer(talk) as served:
        with pytest.raises(ProviderError, match="broke"):
            run_as_gateway(opened(2, served.url))
        assert len(served.exchanges) == 2


def test_an_answer_that_breaks_over_a_kept_connection_is_not_asked_for_again() -> None:
    def talk(it: Exchange) -> None:
        it.say(OK)
        read_request(it.wire)
        it.say(b"HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nok")

    with peer(talk) as served:
        with pytest.raises(ProviderError):
            run_as_gateway(opened(2, served.url))
        assert len(served.exchanges) == 1


CHUNKS = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
EVENTS = {"accept": "text/event-stream"}
KINDS = {"whole": {}, "stream": EVENTS}
of_either_kind = pytest.mark.parametrize("headers", KINDS.values(), ids=KINDS)


@of_either_kind
@in_either_way
@pytest.mark.parametrize(
    "begun", [b"HTTP/1.1 2", OK[:30], b"HTTP/1.1 103 Early Hints\r\n\r\n"], ids=["word", "head", "hint"]
)
def test_an_answer_that_has_begun_is_not_asked_for_again(
    begun: bytes, end: Callable[[Exchange], None], headers: Mapping[str, str]
) -> None:
    def talk(it: Exchange) -> None:
        it.say(OK)
        read_request(it.wire)
        it.say(begun)
        it.gone.wait(0.05)  # until it was read: what resets takes with it what was not
        end(it)

    def twice(url: str) -> Machine[None]:
        for _ in range(2):
            yield Open(url=url, body=b"{}", headers=headers)
            while (yield Read()):
                pass

    with peer(talk) as served:
        with pytest.raises(ProviderError, match="broke"):
            run_as_gateway(twice(served.url))
        assert len(served.exchanges) == 1


@of_either_kind
@pytest.mark.parametrize(
    "first",
    [OK, OK[:50], CHUNKS + b"\r\n", CHUNKS + b"x-trailer: 1\r\n\r\n"],
    ids=["short", "parts", "chunks", "trailer"],
)
@pytest.mark.parametrize("more", [OK.replace(b"ok", b"no"), b"HTTP/1.1 2"], ids=["answer", "word"])
def test_what_comes_unasked_is_nobodys_answer(first: bytes, more: bytes, headers: Mapping[str, str]) -> None:
    def talk(it: Exchange) -> None:
        if it.number == 0:
            it.say(first)
            it.gone.wait(0.05)
            it.say(OK[len(first) :] if OK.startswith(first) else b"")
            read.wait(LONG)
            it.say(more)
            said.set()
            it.until_gone()
        else:
            it.whole(b"asked for")

    async def go(url: str) -> bytes:
        async with DirectPool(use_proxies=False) as pool:
            _, body = await arun(post(url, headers=headers), pool.performer())
            assert body == b"ok"
            read.set()
            await asyncio.to_thread(said.wait, LONG)
            await asyncio.sleep(0.01)  # what has come is read
            return (await arun(post(url, headers=headers), pool.performer()))[1]

    read, said = threading.Event(), threading.Event()
    with peer(talk) as served:
        assert asyncio.run(go(served.url)) == b"asked for"


def test_uploads_go_out_beside_them() -> None:
    async def upload() -> AsyncIterator[bytes]:
        yield b"a file"

    def machine(url: str) -> Machine[list[int]]:
        found = []
        for made in (lambda: {"body": b"{}"}, lambda: {"upload": upload(), "headers": {"content-length": "6"}}) * 2:
            opened = yield Open(url=url, **made())
            found.append(opened.status)
            while (yield Read()):
                pass
        return found

    with peer(serving) as served:
        assert run_as_gateway(machine(served.url)) == [200] * 4


def test_a_connection_between_answers_of_both_kinds_is_guarded_once() -> None:
    def talk(it: Exchange) -> None:
        while it.request:
            it.say(CHUNKS + b"\r\n" if b"event-stream" in it.request else OK)
            it.request = read_request(it.wire)

    async def go(url: str) -> int:
        async with DirectPool(use_proxies=False) as pool:
            for headers in [*KINDS.values()] * 5:
                await arun(post(url, headers=headers, timeouts=Timeouts(idle=LONG)), pool.performer())
            gc.collect()
            return sum(type(one) is ShortAnswers for one in gc.get_objects())

    with peer(talk) as served:
        assert asyncio.run(go(served.url)) == 1
        assert len(served.exchanges) == 1


def test_a_peer_that_ends_connections_as_they_come_is_an_error() -> None:
    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                Exchange(listener.accept()[0]).reset()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        for headers in KINDS.values():
            for _ in range(10):
                with pytest.raises(ProviderError):
                    run_as_gateway(post(f"http://127.0.0.1:{listener.getsockname()[1]}", headers=headers))
        listener.shutdown(socket.SHUT_RDWR)


def test_a_body_that_ends_each_connection_is_not_posted_over_all_of_them() -> None:
    together = threading.Barrier(MOST_KEPT + 3)
    posted = []

    def talk(it: Exchange) -> None:
        together.wait(LONG)  # so many at a time are connections of their own
        it.say(OK)
        posted.append(read_request(it.wire))

    async def go(url: str) -> int:
        async with DirectPool(use_proxies=False) as pool:
            asking = [arun(opened(1, url), pool.performer()) for _ in range(MOST_KEPT + 2)]
            began = asyncio.gather(*asking)
            await asyncio.to_thread(together.wait, LONG)
            await began
            return await arun(opened(1, url), pool.performer())

    with peer(talk) as served, pytest.raises(ProviderError, match="broke"):
        asyncio.run(go(served.url))
    assert len([body for body in posted if body]) == MOST_KEPT + 1


@ways
def test_a_connection_whose_answer_was_left_is_not(execute: Runner) -> None:
    def talk(it: Exchange) -> None:
        it.say(b"HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nok")
        it.until_gone()

    with peer(talk) as served:
        assert execute(several(2, served.url, leave=True)) == 2
        assert all(it.gone.wait(LONG) for it in served.exchanges)
        assert len(served.exchanges) == 2


@ways
def test_a_connection_that_turns_into_something_else_is_not(execute: Runner) -> None:
    def talk(it: Exchange) -> None:
        it.say(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n")
        it.until_gone()

    def machine(url: str) -> Machine[list[int]]:
        found = []
        for _ in range(2):
            opened: Opened = yield Open(url=url, body=b"{}")
            found.append(opened.status)
        return found

    with peer(talk) as served:
        assert execute(machine(served.url)) == [101, 101]
        assert all(it.gone.wait(LONG) for it in served.exchanges)


def test_whoever_stops_waiting_closes_the_connection() -> None:
    async def go(url: str) -> None:
        async with DirectPool(use_proxies=False) as pool:
            asking = asyncio.ensure_future(arun(post(url), pool.performer()))
            while not served.exchanges:
                await asyncio.sleep(0.01)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert await asyncio.to_thread(served.exchanges[0].gone.wait, LONG)

    with peer(Exchange.until_gone) as served:
        asyncio.run(go(served.url))


@pytest.mark.parametrize("url", ["ftp://host/x", "http://", "nonsense", "http://me:hush@host/", "http://host:port/"])
def test_some_addresses_are_for_a_session(url: str) -> None:
    async def go() -> None:
        async with aiohttp.TCPConnector() as connector:
            assert Direct(connector, {}, asyncio.get_running_loop()).find(url, {}) is None

    asyncio.run(go())


@ways
@pytest.mark.costly
def test_a_peer_that_speaks_now_and_then_is_not_silent(execute: Runner) -> None:
    def talk(it: Exchange) -> None:
        it.head()
        for _ in range(16):
            it.say(b"data: one\n\n")
            it.gone.wait(0.1)

    with peer(talk) as served:
        _, body = execute(post(served.url, timeouts=Timeouts(idle=1.0)))
    assert body.count(b"one") == 16


@ways
def test_a_peer_whom_nobody_listens_to_is_not_silent(execute: Runner) -> None:
    many = b"x" * 4_000_000

    def machine(url: str) -> Machine[int]:
        yield Open(url=url, body=b"{}", timeouts=Timeouts(idle=0.2))
        size = len((yield Read()))
        yield Sleep(0.8)
        while piece := (yield Read()):
            size += len(piece)
        return size

    with peer(lambda it: it.whole(many)) as served:
        assert execute(machine(served.url)) == len(many)
