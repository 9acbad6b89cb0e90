"""Gemini's streams are arrays of JSON unless events are asked for, as its REST API gives them."""

from __future__ import annotations

import json
from typing import Any

from dragoman.sim.scripted import Answer
from tests.support.asgi import Reply, call

from . import answered
from .backends import STREAMS
from .running import PLAIN, gateway
from .table import MODELS, C, G

PATH = "/v1beta/models/m:streamGenerateContent"


def _asked(query: str, body: Any = None) -> Reply:
    kind = {"content-type": "text/event-stream"}
    data = b"".join(STREAMS[C][0](answered.REASONED[C])) if body is None else body
    app, _ = gateway(C, MODELS[C], lambda _: Answer((data,), headers=kind))
    return call(app, PATH + query, PLAIN[G])


def test_a_stream_without_alt_is_one_array() -> None:
    reply = _asked("")
    assert reply.headers["content-type"].startswith("application/json")
    parts = [part for chunk in json.loads(reply.body) for part in chunk["candidates"][0]["content"]["parts"]]
    assert "".join(part["text"] for part in parts if not part.get("thought")) == "HELLO"


def test_it_holds_what_the_events_hold() -> None:
    events = [json.loads(line[6:]) for line in _asked("?alt=sse").body.decode().splitlines() if line.startswith("data: ")]
    assert json.loads(_asked("?alt=json&key=k").body) == events


def test_what_fails_inside_a_stream_ends_the_array() -> None:
    begun = b"".join([*STREAMS[C][0](answered.REASONED[C])][:4])
    broken = begun + b'data: {"error": {"message": "overloaded", "type": "server_error"}}\n\n'
    chunks = json.loads(_asked("", broken).body)
    assert "error" in chunks[-1]


def test_what_fails_before_it_is_no_array() -> None:
    reply = _asked("", b'data: {"error": {"message": "overloaded", "type": "server_error"}}\n\n')
    assert reply.status >= 400
    assert "error" in reply.json
