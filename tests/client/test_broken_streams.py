"""Answers that break off: a stream that ends before its wire says that this was all is no answer, and runs nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import Client, ProviderError, Route, Rules
from dragoman.codecs import CODECS
from dragoman.codecs.shared.issues import broke_off
from dragoman.errors import ErrorKind
from dragoman.events import IssueReported
from dragoman.loop import Failed
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.tools import tool
from tests.support.both_clients import Face, both
from tests.support.upstreams import UPSTREAMS, ScriptedReply, text_reply

RAN: list[str] = []
WORDS = "Half an answer"
BY_WIRE = ScriptedReply((), (("a", "look", {"at": "sky"}),))
IN_TEXT = text_reply('<tool_call>\n{"name": "look", "arguments": {"at": "sky"}}\n</tool_call>')
"""The same call twice: whole, though the stream that holds it is not."""
ONCE = Rules(retries=0)


@tool
def look(at: str) -> str:
    """Look at something."""
    RAN.append(at)
    return at


def broken(api: str, reply: ScriptedReply) -> Answer:
    """The stream of `reply` without what says that it is all."""
    if api in BY_HAND:
        part = {"text": reply.text[0]} if reply.text else {"functionCall": {"name": "look", "args": {"at": "sky"}}}
        return Answer(BY_HAND[api](part), headers=SSE)
    wire = UPSTREAMS[api]
    return Answer(tuple(piece for piece in wire.stream(reply) if not ends(piece)), headers={"content-type": wire.kind})


def ends(piece: bytes) -> bool:
    """Does it say that this was all?"""
    said = (b"[DONE]", b'"done": true', b"message_delta", b"message_stop", b'"finish_reason": "')
    return any(word in piece for word in said)


def gemini(part: dict[str, Any]) -> tuple[bytes, ...]:
    body = {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}]}
    return (f"data: {json.dumps(body)}\n\n".encode(),)


def responses(part: dict[str, Any]) -> tuple[bytes, ...]:
    call = {"type": "function_call", "id": "f", "call_id": "a", "name": "look", "arguments": '{"at": "sky"}'}
    text = {"type": "message", "id": "f", "role": "assistant"}
    text["content"] = [{"type": "output_text", "text": part.get("text", ""), "annotations": []}]  # type: ignore[assignment]
    item = text if "text" in part else call
    told: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "r", "model": "m", "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": {**item, "status": "completed"}},
    ]
    return tuple(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in told)


SSE = {"content-type": "text/event-stream"}
BY_HAND = {"gemini": gemini, "openai_responses": responses}


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'id': 'x', 'choices': [choice]})}\n\n".encode()


CALL = chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "look", "arguments": '{"at": "sky"}'}}]})
DONE = chunk({"content": "Done."}, "stop")


@both
@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("reply", [text_reply(WORDS), BY_WIRE, IN_TEXT], ids=["text", "call", "call in text"])
@pytest.mark.parametrize("api", ["openai_chat", "anthropic_messages", "ollama_chat", "openai_responses", "gemini"])
def test_an_answer_that_breaks_off_fails_and_runs_nothing(
    face: Face, api: str, reply: ScriptedReply, streamed: bool
) -> None:
    RAN.clear()
    memory = ScriptedPeer(lambda _: broken(api, reply))
    route = Route(provider=COMPATIBLE[api], base_url="http://model.test", stream=True)
    client = {"model": "", "base_url": "", "routes": [route], "rules": ONCE}
    listen = {"on_event": lambda _: None} if streamed else {}
    run = face.run(memory, "Look.", tools=[look], client=client, **listen)
    assert isinstance(run.end, Failed)
    assert isinstance(run.end.error, ProviderError)
    assert (run.end.error.kind, run.end.error.retryable, RAN) == (ErrorKind.NETWORK, True, [])


FINISH, LAST = chunk({}, "tool_calls"), b"data: [DONE]\n\n"


@pytest.mark.parametrize("end", [LAST, FINISH, FINISH + LAST])
def test_one_word_for_the_end_is_enough(end: bytes) -> None:
    RAN.clear()
    memory = ScriptedPeer([Answer((CALL, end), headers=SSE), Answer((DONE,), headers=SSE)])
    with Client("m", base_url="http://model.test", performer=memory.sync_performer, stream=True) as client:
        assert client.run("Look.", tools=[look]).text == "Done."
    assert RAN == ["sky"]


def test_an_answer_that_breaks_off_unheard_is_asked_for_again() -> None:
    RAN.clear()
    memory = ScriptedPeer([Answer(pieces, headers=SSE) for pieces in ((CALL,), (CALL, FINISH), (DONE,))])
    with Client("m", base_url="http://model.test", performer=memory.sync_performer, stream=True) as client:
        assert client.run("Look.", tools=[look]).text == "Done."
    assert (RAN, len(memory.sent), len(memory.slept)) == (["sky"], 3, 1)


def test_a_turn_that_breaks_off_gives_no_calls() -> None:
    memory = ScriptedPeer(lambda _: Answer((CALL,), headers=SSE))
    client = Client("m", base_url="http://model.test", performer=memory.sync_performer, stream=True, rules=ONCE)
    with client, pytest.raises(ProviderError, match="broke off"):
        client.turn("Look.", tools=[look])


def test_every_wire_says_so_in_the_same_words() -> None:
    for codec in CODECS.values():
        issues = [event.issue for event in codec.decode_stream().close() if isinstance(event, IssueReported)]
        assert broke_off(issues), codec.name
