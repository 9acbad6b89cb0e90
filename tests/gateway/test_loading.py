"""A request of Ollama's clients that asks nothing is answered as Ollama answers it, whoever serves the model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.effects import Open
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.asgi import call
from tests.support.gateways import always, app

NOTHING_ASKED = [
    ("/api/chat", {"messages": []}, "load"),
    ("/api/chat", {"messages": [], "keep_alive": "5m"}, "load"),
    ("/api/chat", {"messages": [], "keep_alive": 0}, "unload"),
    ("/api/generate", {}, "load"),
    ("/api/generate", {"prompt": "", "system": "Be brief."}, "load"),
    ("/api/generate", {"prompt": None, "keep_alive": "0s"}, "unload"),
    ("/api/generate", {"keep_alive": -1}, "load"),
]


@pytest.mark.parametrize(("path", "body", "word"), NOTHING_ASKED)
@pytest.mark.parametrize("stream", [True, False])
def test_what_asks_nothing_is_answered_without_asking(path: str, body: dict[str, Any], word: str, stream: bool) -> None:
    asked: list[Open] = []

    def never(opened: Open) -> Any:
        asked.append(opened)
        return always(opened)

    reply = call(app(ScriptedPeer(never)), path, {"model": "m", "stream": stream, **body})
    last = json.loads(reply.body.splitlines()[-1])
    assert (reply.status, last["done"], last["done_reason"], asked) == (200, True, word, [])


@pytest.mark.parametrize("path", ["/api/chat", "/api/generate"])
def test_ollama_itself_is_asked_to_load(path: str) -> None:
    loaded = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": "load"}
    asked: list[Open] = []

    def loads(opened: Open) -> Any:
        asked.append(opened)
        return Answer((json.dumps({**loaded, "message": {"role": "assistant", "content": ""}}).encode(),))

    reply = call(app(ScriptedPeer(loads), "ollama_chat"), path, {"model": "m", "stream": False, "messages": []})
    assert (reply.status, reply.json["done_reason"], len(asked)) == (200, "load", 1)


def test_others_load_nothing_with_a_conversation_of_no_message() -> None:
    reply = call(app(ScriptedPeer(always)), "/v1/chat/completions", {"model": "m", "messages": []})
    assert reply.status == 400


@pytest.mark.parametrize("background", [True, False, None])
@pytest.mark.parametrize("body", [{}, {"input": None}, {"input": []}])
def test_a_response_to_nothing_is_refused_at_once(body: dict[str, Any], background: bool | None) -> None:
    reply = call(app(ScriptedPeer(always)), "/v1/responses", {"model": "m", "background": background, **body})
    assert (reply.status, reply.json["error"]["param"]) == (400, "$.input")
