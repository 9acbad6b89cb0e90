"""Both worlds perform the same effects the same way over real sockets."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from dragoman.effects import Close, Effect, Machine, NewId, Now, Open, Opened, Read, Sleep, Timeouts, arun, run
from dragoman.errors import ErrorCode, ErrorKind, ProviderError, UsageError
from dragoman.io.sockets import listen
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.clocks import LONG
from tests.support.executing import Runner, each_way
from tests.support.peer import Exchange, peer, refusing_port


def fetch(url: str, **more: Any) -> Machine[tuple[Opened, list[bytes]]]:
    opened = yield Open(url=url, **{"body": b"{}", **more})
    pieces = []
    while piece := (yield Read()):
        pieces.append(piece)
    return opened, pieces


@each_way
def test_an_answer_is_read_piece_by_piece(execute: Runner) -> None:
    def talk(it: Exchange) -> None:
        it.say(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        it.say(b"5\r\nfirst\r\n")
        it.say(b"6\r\nsecond\r\n0\r\n\r\n")

    with peer(talk) as served:
        opened, pieces = execute(fetch(served.url + "/v1/x", headers={"x-test": "1"}, body=b'{"a":1}'))
        request = served.exchanges[0].request
    assert opened.status == 200
    assert opened.headers["content-type"] == "text/event-stream"
    assert b"".join(pieces) == b"firstsecond"
    assert request.startswith(b"POST /v1/x HTTP/1.1\r\n")
    assert b"x-test: 1" in request.lower()
    assert request.endswith(b'{"a":1}')


@each_way
def test_an_error_status_is_a_reply_not_an_exception(execute: Runner) -> None:
    with peer(lambda it: it.whole(b"slow down", "429 Too Many Requests", "Retry-After: 7\r\n")) as served:
        opened, pieces = execute(fetch(served.url))
    assert (opened.status, opened.headers["retry-after"], b"".join(pieces)) == (429, "7", b"slow down")


@each_way
def test_a_redirect_is_not_followed(execute: Runner) -> None:
    with peer(lambda it: it.whole(b"", "307 Temporary Redirect", "Location: http://127.0.0.1:9/\r\n")) as served:
        opened, _ = execute(fetch(served.url, headers={"authorization": "Bearer hush"}))
    assert opened.status == 307


@each_way
def test_cookies_are_not_kept(execute: Runner) -> None:
    def twice(url: str) -> Machine[None]:
        yield from fetch(url)
        yield from fetch(url)

    with peer(lambda it: it.whole(b"", headers="Set-Cookie: session=1; Path=/\r\n")) as served:
        execute(twice(served.url))
        requests = [it.request for it in served.exchanges]
    assert len(requests) == 2
    assert not any(b"cookie" in request.lower() for request in requests)


def refused() -> str:
    return f"http://127.0.0.1:{refusing_port()}/v1/secret-path?key=hush"


@each_way
def test_an_unreachable_peer_is_told_with_what_to_do(execute: Runner) -> None:
    with pytest.raises(ProviderError) as caught:
        execute(fetch(refused()))
    error = caught.value
    assert (error.kind, error.retryable, error.code) == (ErrorKind.NETWORK, True, ErrorCode.ECONNREFUSED)
    assert "cannot reach http://127.0.0.1:" in error.message
    assert error.message.endswith("is the server running, and is the base URL right?")
    assert "hush" not in error.message
    assert "secret-path" not in error.message


@each_way
def test_a_peer_that_says_nothing_is_a_timeout(execute: Runner) -> None:
    with peer(Exchange.until_gone) as served, pytest.raises(ProviderError) as caught:
        execute(fetch(served.url, timeouts=Timeouts(idle=0.05)))
    assert caught.value.kind is ErrorKind.TIMEOUT
    assert caught.value.retryable


@each_way
def test_a_peer_that_falls_silent_is_a_timeout(execute: Runner) -> None:
    def talk(it: Exchange) -> None:
        it.head()
        it.say(b"data: one\n\n")
        it.until_gone()

    with peer(talk) as served, pytest.raises(ProviderError) as caught:
        execute(fetch(served.url, timeouts=Timeouts(idle=0.05)))
    assert caught.value.kind is ErrorKind.TIMEOUT


@each_way
def test_a_reset_in_the_middle_is_a_network_failure(execute: Runner) -> None:
    def talk(it: Exchange) -> None:
        it.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        it.reset()

    with peer(talk) as served, pytest.raises(ProviderError) as caught:
        execute(fetch(served.url))
    assert caught.value.kind is ErrorKind.NETWORK
    assert "broke off" in caught.value.message


@each_way
def test_a_failure_is_told_in_words_and_not_by_a_librarys_class(execute: Runner) -> None:
    def talk(it: Exchange) -> None:
        it.say(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfirst\r\n")

    with peer(talk) as served, pytest.raises(ProviderError) as caught:
        execute(fetch(served.url))
    assert "it ended before the answer was complete" in caught.value.message
    assert "Error" not in caught.value.message


@each_way
def test_a_peer_that_hangs_up_is_a_network_failure(execute: Runner) -> None:
    with peer(Exchange.reset) as served, pytest.raises(ProviderError) as caught:
        execute(fetch(served.url))
    assert caught.value.kind is ErrorKind.NETWORK


@each_way
def test_a_peer_that_does_not_speak_http_is_told_apart(execute: Runner) -> None:
    with peer(lambda it: it.say(b"SSH-2.0-OpenSSH_9.0\r\n\r\n")) as served, pytest.raises(ProviderError) as caught:
        execute(fetch(served.url))
    assert caught.value.kind in {ErrorKind.GARBLED, ErrorKind.NETWORK}
    assert served.url in caught.value.message


@each_way
@pytest.mark.parametrize("url", ["ftp://host/x", "http://", "nonsense"])
def test_what_is_not_a_url_is_the_callers_mistake(execute: Runner, url: str) -> None:
    with pytest.raises(UsageError, match="not a URL"):
        execute(fetch(url))


@each_way
def test_walking_away_really_closes_the_socket(execute: Runner) -> None:
    def talk(it: Exchange) -> None:
        it.head()
        it.say(b"data: one\n\n")
        it.until_gone()

    def leave(url: str) -> Machine[None]:
        yield Open(url=url, body=b"{}")
        yield Read()

    with peer(talk) as served:
        execute(leave(served.url))
        assert served.exchanges[0].gone.wait(LONG)


@each_way
def test_a_second_open_lets_go_of_the_first(execute: Runner) -> None:
    def talk(it: Exchange) -> None:
        it.head()
        it.say(b"data: one\n\n")
        it.until_gone()

    def twice(url: str) -> Machine[None]:
        yield Open(url=url, body=b"{}")
        yield Read()
        yield Open(url=url, body=b"{}")
        yield Read()

    with peer(talk) as served:
        execute(twice(served.url))
        assert all(it.gone.wait(LONG) for it in served.exchanges)
        assert len(served.exchanges) == 2


@each_way
def test_ids_clock_and_sleep(execute: Runner) -> None:
    def ask() -> Machine[tuple[str, str, float, None]]:
        return (yield NewId("call_")), (yield NewId("call_")), (yield Now()), (yield Sleep(0))

    one, two, now, slept = execute(ask())
    assert one != two
    assert one.startswith("call_")
    assert len(one) == len("call_") + 24
    assert now > 1_700_000_000
    assert slept is None


@each_way
def test_reading_before_opening_is_the_callers_mistake(execute: Runner) -> None:
    def early() -> Machine[None]:
        yield Read()

    with pytest.raises(UsageError, match="yield Open first"):
        execute(early())


def scripted(*answers: Answer) -> tuple[ScriptedPeer, list[Callable[[Machine[Any]], Any]]]:
    memory = ScriptedPeer(answers)
    later: Callable[[Effect], Awaitable[Any]] = memory.performer()
    return memory, [lambda m: run(m, memory.sync_performer()), lambda m: asyncio.run(arun(m, later))]


@pytest.mark.parametrize("colour", [0, 1], ids=["now", "later"])
def test_a_scripted_peer_plays_its_answers_in_order(colour: int) -> None:
    memory, runners = scripted(Answer((b"a", b"b")), Answer((), status=ProviderError("down", kind=ErrorKind.NETWORK)))
    execute = runners[colour]
    assert execute(fetch("http://peer/1", body=b"x")) == (Opened(200, {}), [b"a", b"b"])
    with pytest.raises(ProviderError, match="down"):
        execute(fetch("http://peer/2"))
    assert [effect.url for effect in memory.sent] == ["http://peer/1", "http://peer/2"]
    assert memory.closed == 1


def test_a_scripted_failure_arrives_in_its_turn() -> None:
    memory, (execute, _) = scripted(Answer((b"a", ProviderError("reset", kind=ErrorKind.NETWORK))))
    with pytest.raises(ProviderError, match="reset"):
        execute(fetch("http://peer/"))
    assert memory.closed == 1


def test_a_scripted_clock_stands_still_but_for_sleep() -> None:
    memory = ScriptedPeer([])
    world = memory.sync_performer()
    assert (world(NewId("x")), world(Now()), world(Sleep(2.5)), world(Now()), world(Close())) == (
        f"x{'00000001':0<24}", 0.0, None, 2.5, None,
    )  # fmt: skip


def test_a_listening_socket_sends_small_answers_at_once() -> None:
    with listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@each_way
def test_what_is_not_needed_is_waited_for_so_long_and_its_connection_let_go(execute: Runner) -> None:
    def talk(it: Exchange) -> None:
        it.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        it.until_gone()

    def machine(url: str) -> Machine[tuple[bytes, bytes]]:
        yield Open(url=url, body=b"{}")
        first = yield Read()
        rest = yield Read(0.05)
        return first, rest

    with peer(talk) as served:
        assert execute(machine(served.url)) == (b"first", b"")
        assert served.exchanges[0].gone.wait(LONG)


@each_way
def test_what_is_not_needed_is_read_where_it_comes_and_broken_off_without_an_error(execute: Runner) -> None:
    def talk(it: Exchange) -> None:
        it.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")

    def machine(url: str) -> Machine[tuple[bytes, bytes]]:
        yield Open(url=url, body=b"{}")
        first = yield Read(LONG)
        rest = yield Read(LONG)
        return first, rest

    with peer(talk) as served:
        assert execute(machine(served.url)) == (b"first", b"")
