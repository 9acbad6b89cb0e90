"""A client's connection, as requests see it: who is told that it went away, what is remembered of it, and its flags."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from functools import partial
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl

from dragoman.cli.serving import QUIET
from dragoman.gateway.process import connections
from dragoman.gateway.process.flow import Flow, small
from dragoman.gateway.process.line import LINE, Signal
from tests.gateway.test_hostile import Wire
from tests.support.gateways import Slow, asking, slow_app


def _connection(served: Any) -> tuple[Any, Wire]:
    config = uvicorn.Config(served, **{**QUIET, "http": connections.Connection})
    config.load()
    state = uvicorn.Server(config).server_state
    connection, wire = connections.Connection(config=config, server_state=state, app_state={}), Wire()
    connection.connection_made(wire)
    return connection, wire


OFFER = "connection: upgrade\r\nupgrade: h2c\r\n"


def _request(more: str = "") -> bytes:
    path, body = asking("openai_chat", stream=True)
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n"
    return f"{head}{more}\r\n".encode() + data


@pytest.mark.parametrize("behind", [0, 1], ids=["alone", "another waits behind it"])
def test_a_client_that_hangs_up_is_served_no_more(behind: int) -> None:
    async def go() -> None:
        peer = Slow()
        connection, _ = _connection(slow_app(peer))
        connection.data_received(_request() * (1 + behind))
        async with asyncio.timeout(10):
            while connection._gone is None:
                await asyncio.sleep(0.01)
            first = next(iter(connection.tasks))
            connection.connection_lost(None)
            await asyncio.gather(first, return_exceptions=True)
        assert connection._gone is None
        assert peer.closed.is_set()
        for task in [*connection.tasks]:
            task.cancel()

    asyncio.run(go())


@pytest.mark.parametrize("more", ["", OFFER], ids=["plain", "offering another protocol"])
@pytest.mark.parametrize("behind", [0, 1], ids=["alone", "another waits behind it"])
def test_the_head_of_what_is_served_for_long_is_let_go_of(behind: int, more: str) -> None:
    async def go() -> list[Any]:
        connection, _ = _connection(slow_app(Slow()))
        connection.data_received(_request(more) * (1 + behind))
        async with asyncio.timeout(10):
            while connection._gone is None:
                await asyncio.sleep(0.01)
        heads = [connection.cycle.scope["headers"], connection.headers]
        connection.connection_lost(None)
        for task in [*connection.tasks]:
            task.cancel()
        return heads

    heads = asyncio.run(go())
    assert all(dict(head)[b"host"] == b"a" for head in heads) if behind else not any(heads)


def test_who_asks_late_is_told_all_the_same() -> None:
    async def go() -> list[str]:
        connection, _ = _connection(slow_app(Slow()))
        told: list[str] = []
        connection.connection_lost(None)
        connection.on_gone(lambda: told.append("gone"))
        await asyncio.sleep(0)
        return told

    assert asyncio.run(go()) == ["gone"]


def test_what_ends_late_does_not_silence_the_next_request() -> None:
    async def go() -> list[str]:
        connection, _ = _connection(slow_app(Slow()))
        told: list[str] = []
        first, second = partial(told.append, "first"), partial(told.append, "second")
        connection.on_gone(first)
        connection.on_gone(second)
        connection.not_on_gone(first)
        connection.connection_lost(None)
        return told

    assert asyncio.run(go()) == ["second"]


def test_a_connection_that_is_gone_leaves_no_circle() -> None:
    async def serve(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async def go() -> None:
        connection, wire = _connection(serve)
        connection.data_received(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await asyncio.gather(*connection.tasks)
        connection.connection_lost(None)
        await asyncio.sleep(0)
        gone = weakref.ref(connection)
        del connection, wire
        assert gone() is None

    gc.disable()
    try:
        asyncio.run(go())
    finally:
        gc.enable()


def test_flow_is_of_ours_where_uvicorn_asks_no_more_of_it() -> None:
    async def go() -> None:
        connection, _ = _connection(slow_app(Slow()))
        assert type(connection.flow) is Flow

    asyncio.run(go())

    class Other(FlowControl):
        def more(self) -> None:
            """A method that a later version might have."""

    other = Other(Wire())
    assert small(other, Wire()) is other
    assert type(small(FlowControl(Wire()), Wire())) is Flow


def test_flow_lets_who_writes_wait_while_the_transport_is_full() -> None:
    async def go() -> list[bool]:
        flow = Flow(Wire())
        flow.pause_writing()
        waiting = asyncio.ensure_future(flow.drain())
        await asyncio.sleep(0)
        seen = [waiting.done(), flow.write_paused]
        flow.resume_writing()
        await waiting
        return [*seen, flow.write_paused]

    assert asyncio.run(go()) == [False, True, False]


def test_headers_that_come_again_are_held_once_but_for_keys() -> None:
    scopes: list[Any] = []
    lines: list[Any] = []

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)
        lines.append(scope[LINE])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async def go() -> None:
        connection, _ = _connection(serve)
        for _ in range(2):
            connection.data_received(b"GET / HTTP/1.1\r\nHost: a\r\nX-Own: b\r\nAuthorization: Bearer secret\r\n\r\n")
            await asyncio.gather(*connection.tasks)
        connection.connection_lost(None)

    asyncio.run(go())
    first, second = (scope["headers"] for scope in scopes)
    assert first == second == [(b"host", b"a"), (b"x-own", b"b"), (b"authorization", b"Bearer secret")]
    assert [one is other for one, other in zip(first, second, strict=True)] == [True, True, False]
    assert not any(b"secret" in value for _, value in connections._KNOWN)
    assert len(lines) == 2


def test_a_signal_wakes_all_who_wait_each_time() -> None:
    async def go() -> list[bool]:
        signal = Signal()
        waiting = [asyncio.ensure_future(signal.wait()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[1].cancel()
        signal.set()
        woken = await asyncio.gather(waiting[0], waiting[2])
        assert signal.is_set()
        assert await signal.wait()
        signal.clear()
        again = asyncio.ensure_future(signal.wait())
        await asyncio.sleep(0)
        assert not again.done()
        signal.set()
        return [*woken, await again]

    assert asyncio.run(go()) == [True, True, True]
