"""A client that offers another protocol (RFC 9110, 7.8) is served as though it had not: its body is read, and it stays."""

from __future__ import annotations

import asyncio
import http.client
import importlib.util
import json
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.http import auto, h11_impl

from dragoman.cli.serving import QUIET
from dragoman.gateway.process import connections
from dragoman.sim.scripted import ScriptedPeer
from tests.gateway.test_hostile import Wire, listening
from tests.support.gateways import always, app, asking

PATH, ASKED = asking("openai_chat", stream=False)
BODY = json.dumps(ASKED).encode()
OFFERS = {
    "HTTP/2, as Java offers it": (
        "connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQAAP__",
    ),
    "a WebSocket": (
        "connection: Upgrade", "upgrade: websocket", "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-version: 13",
    ),
    "something unknown": ("Connection: keep-alive, upgrade", "Upgrade: what/9, if/not"),
    "two things": ("connection: upgrade", "upgrade: what/9", "upgrade: h2c"),
}  # fmt: skip
each_offer = pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)


def _asks(offer: Sequence[str] = (), *more: str, version: str = "1.1") -> tuple[bytes, bytes]:
    """The head of a request, and its body."""
    named = ["host: a", "content-type: application/json", *offer, *more]
    if "transfer-encoding: chunked" not in more:
        return _head("POST", PATH, *named, f"content-length: {len(BODY)}", version=version), BODY
    parts = [BODY[at : at + 50] for at in range(0, len(BODY), 50)]
    return _head("POST", PATH, *named), b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (*parts, b""))


def _head(method: str, path: str, *headers: str, version: str = "1.1") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/{version}", *headers, "", ""]).encode()


def _whole(*given: Any, **named: Any) -> bytes:
    return b"".join(_asks(*given, **named))


def _served(parts: Sequence[bytes], made: ModuleType = connections) -> tuple[list[int], list[Any], bool]:
    """What a client that sends these one by one gets: statuses; what the model was asked; and is the client sent away?"""

    async def go() -> tuple[list[int], list[Any], bool]:
        peer = ScriptedPeer(always)
        config = uvicorn.Config(app(peer), **{**QUIET, "http": made.Connection})
        config.load()
        state = uvicorn.Server(config).server_state
        connection, wire = made.Connection(config=config, server_state=state, app_state={}), Wire()
        connection.connection_made(wire)
        for part in parts:
            connection.data_received(part)
            for _ in range(3):
                await asyncio.sleep(0)
        async with asyncio.timeout(10):
            while connection.tasks and not wire.closed:
                await asyncio.sleep(0)
        await asyncio.sleep(0)  # the last of the writes
        closed = wire.closed
        connection.connection_lost(None)
        await asyncio.gather(*state.tasks)
        statuses = [int(said[:3]) for said in wire.received.split(b"HTTP/1.1 ")[1:]]
        return statuses, [json.loads(sent.body)["messages"] for sent in peer.sent], closed

    return asyncio.run(go())


def _h11(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The connections of a machine that has no httptools."""
    monkeypatch.setitem(sys.modules, "httptools", None)
    monkeypatch.setattr(auto, "AutoHTTPProtocol", h11_impl.H11Protocol)
    spec = importlib.util.spec_from_file_location(f"{connections.__name__}_of_h11", connections.__file__)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert issubclass(made.Connection, h11_impl.H11Protocol)
    return made


FRAMINGS: dict[str, tuple[str, ...]] = {
    "of a length": (),
    "in chunks": ("transfer-encoding: chunked",),
    "that waits to be asked for": ("expect: 100-continue",),
}


@each_offer
@pytest.mark.parametrize("more", FRAMINGS.values(), ids=FRAMINGS)
@pytest.mark.parametrize("parser", ["httptools", "h11"])
def test_a_body_is_read(
    offer: tuple[str, ...], more: tuple[str, ...], parser: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _h11(monkeypatch) if parser == "h11" else connections
    head, body = _asks(offer, *more)
    plain = _served(_asks((), *more), made)
    assert plain[0][-1] == 200
    assert plain[1:] == ([ASKED["messages"]], False)
    assert _served([head, body], made) == plain
    assert _served([head, body[:1], body[1:]], made) == plain
    together = _served([head + body], made)
    assert together == _served([_whole((), *more)], made)
    assert together[1] == plain[1]


@pytest.mark.parametrize("more", [(), ("transfer-encoding: chunked",)], ids=["of a length", "in chunks"])
@pytest.mark.costly
def test_it_may_be_cut_anywhere(more: tuple[str, ...]) -> None:
    """And what comes behind it is another request, wherever that begins."""
    offer = OFFERS["HTTP/2, as Java offers it"]
    both = _whole(offer, *more) + _whole()
    for at in range(1, len(both), 7):
        assert _served([both[:at], both[at:]]) == ([200, 200], [ASKED["messages"]] * 2, False)


BEHIND: dict[str, tuple[bytes, int]] = {
    "the same": (_whole(OFFERS["a WebSocket"]) * 3, 3),
    "one without": (_whole(OFFERS["a WebSocket"]) + _whole(), 2),
    "before it": (_whole() + _whole(OFFERS["a WebSocket"]), 2),
    "after one without a body": (_head("GET", "/healthz", "host: a", *OFFERS["a WebSocket"]) + _whole(), 2),
    "a hundred": (_head("GET", "/healthz", "host: a", *OFFERS["a WebSocket"]) * 100, 100),
}


@pytest.mark.parametrize(("data", "count"), BEHIND.values(), ids=BEHIND)
def test_requests_behind_it_are_answered_in_their_order(data: bytes, count: int) -> None:
    statuses, _, closed = _served([data])
    assert statuses == [200] * count
    assert not closed


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_client_that_will_leave_is_answered_first(version: str) -> None:
    offer = ("connection: Upgrade, close", "upgrade: h2c")
    answered = ([200], [ASKED["messages"]], True)
    assert _served(_asks(offer, version=version)) == answered
    assert _served([_whole(offer, version=version) + b"and more"]) == answered
    assert _served(_asks(("connection: upgrade", "upgrade: h2c"), version="1.0")) == answered


def test_a_body_in_no_known_form_is_refused_once() -> None:
    for offer in ((), OFFERS["two things"]):
        head = _head("POST", PATH, "host: a", *offer, "transfer-encoding: gzip")
        assert _served([head + BODY]) == ([400], [], True)


def test_what_comes_behind_a_wish_for_a_tunnel_is_no_request() -> None:
    told = _head("CONNECT", "/v1/models", "host: a", *OFFERS["two things"]) + _whole()
    assert _served([told])[1] == []


def test_nobody_is_warned_of_an_offer(caplog: pytest.LogCaptureFixture) -> None:
    _served([_whole(OFFERS["a WebSocket"])])
    assert "upgrade" not in caplog.text


def test_a_uvicorn_that_says_nothing_of_it_serves_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(connections.Connection, "_unsupported_upgrade_warning")
    assert _served([_whole()]) == ([200], [ASKED["messages"]], False)
    assert _served([_whole(OFFERS["a WebSocket"])])[0] == [400]


def test_a_client_on_the_wire_is_served_twice() -> None:
    offer = dict(line.split(": ") for line in OFFERS["HTTP/2, as Java offers it"])
    headers = {"content-type": "application/json", **offer}
    with listening() as port:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        for body in (BODY, iter([BODY[:20], BODY[20:]])):
            client.request("POST", PATH, body, headers, encode_chunked=not isinstance(body, bytes))
            reply = client.getresponse()
            assert (reply.status, bool(reply.read())) == (200, True)
        client.close()
