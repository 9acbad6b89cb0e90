"""Answers that go out at once: a client gets the bytes that uvicorn makes of two messages, and its connection goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
import uvicorn

from dragoman.cli.serving import QUIET
from dragoman.gateway.http import asgi
from dragoman.gateway.process import connections, whole_answers
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.gateway.test_hostile import Wire
from tests.support.gateways import app, asking
from tests.support.upstreams import ScriptedReply, answered, refusal, text_reply

PLAIN = text_reply("It is so.")
ADDED = [(b"date", b"now"), (b"Server", b"ours")]


def _request(*headers: str, version: str = "1.1", stream: bool = False, body: bytes = b"") -> bytes:
    path, asked = asking("openai_chat", stream=stream)
    data = body or json.dumps(asked).encode()
    named = ["host: a", "content-type: application/json", f"content-length: {len(data)}", "x-request-id: r", *headers]
    return "\r\n".join([f"POST {path} HTTP/{version}", *named, "", ""]).encode("latin-1") + data


def _served(
    asked: list[bytes], said: list[ScriptedReply | Answer], *, before: Callable[[Any], object] = id,
    added: list[tuple[bytes, bytes]] = ADDED, **options: Any,
) -> tuple[bytes, Any]:  # fmt: skip
    """What a client that asks these one after the other gets, and how its connection stands then."""

    async def go() -> tuple[bytes, Any]:
        left = iter(said)
        peer = ScriptedPeer(lambda sent: _answer(next(left, PLAIN), json.loads(sent.body)))
        config = uvicorn.Config(app(peer), **{**QUIET, "http": connections.Connection, **options})
        config.load()
        state = uvicorn.Server(config).server_state
        state.default_headers = added
        connection, wire = connections.Connection(config=config, server_state=state, app_state={}), Wire()
        connection.connection_made(wire)
        before(connection)
        for request in asked:
            connection.data_received(request)
            async with asyncio.timeout(10):
                while connection.tasks:
                    await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        cycle = connection.cycle
        if cycle is None:
            return wire.received, wire.closed
        waits = connection.timeout_keep_alive_task is not None
        found = cycle.response_started, cycle.response_complete, cycle.keep_alive, cycle.message_event.is_set(), waits
        connection.connection_lost(None)
        return wire.received, (*found, wire.closed, state.total_requests)

    return asyncio.run(go())


def _answer(said: ScriptedReply | Answer, body: Any) -> Answer:
    return said if isinstance(said, Answer) else answered("openai_chat", said, body)


CASES: dict[str, tuple[list[bytes], list[ScriptedReply | Answer]]] = {
    "one": ([_request()], []),
    "three": ([_request()] * 3, []),
    "three at once": ([_request() * 3], []),
    "a stream between": ([_request(), _request(stream=True), _request()], []),
    "the last": ([_request("connection: close")], []),
    "an old client": ([_request(version="1.0")], []),
    "an old one that stays": ([_request("connection: keep-alive", version="1.0")] * 2, []),
    "a refusal": ([_request()] * 2, [refusal(400, {"error": {"message": "no"}})]),
    "nonsense": ([_request(body=b"{"), _request()], []),
    "of several parts": ([_request()[:60], _request()[60:]], []),
    "long": ([_request()] * 2, [text_reply("It is so. " * 20_000, size=1000)]),
    "an odd name": ([_request().replace(b"x-request-id: r", b"x-request-id: \xe9\x7f")], []),
    "a name of another script": ([_request().replace(b"x-request-id: r", b"x-request-id: \xe9")], []),
    "with a word before": ([_request("expect: 100-continue")], []),
}


def _both(monkeypatch: pytest.MonkeyPatch, asked: list[bytes], said: list[ScriptedReply | Answer], **how: Any) -> bytes:
    tried: list[bool] = []

    def tries(*given: Any) -> bool:
        tried.append(whole_answers.write_at_once(*given))
        return tried[-1]

    monkeypatch.setattr(asgi, "write_at_once", tries)
    at_once = _served(asked, said, **how)
    monkeypatch.setattr(asgi, "write_at_once", lambda *_: False)
    assert at_once == _served(asked, said, **how)
    monkeypatch.setattr(asgi, "write_at_once", tries)
    return at_once[0] if any(tried) else b""


@pytest.mark.parametrize(("asked", "said"), CASES.values(), ids=CASES)
def test_a_client_gets_the_same_bytes(
    asked: list[bytes], said: list[ScriptedReply | Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    _both(monkeypatch, asked, said)


def test_most_answers_go_out_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert b"It is so." in _both(monkeypatch, [_request()], [])


def test_what_a_server_adds_stands_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _both(monkeypatch, [_request()] * 2, [], added=[])
    assert not _both(monkeypatch, [_request()] * 2, [], added=[(b"Connection", b"close")])


def test_a_full_transport_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(connection: Any) -> None:
        connection.pause_writing()
        connection.loop.call_later(0.05, connection.resume_writing)

    assert not _both(monkeypatch, [_request()], [], before=full)


def test_a_server_that_logs_requests_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _both(monkeypatch, [_request()], [], access_log=True)
