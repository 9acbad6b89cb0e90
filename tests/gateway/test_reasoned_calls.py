"""A call that a provider gave as reasoning, over every wire and front: told once, behind the reasoning, nobody asked again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from dragoman.effects import Open
from dragoman.gateway import shortcut
from dragoman.providers.spec import Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.asgi import Reply
from tests.support.cells import STREAMS
from tests.support.gateways import HERMES, app, ask, called, every_front, read, streamed_and_whole

THOUGHT = "The user asks what is up. I should look at the sky.\n"
MADE, LEFT = THOUGHT + HERMES, f"{THOUGHT}{HERMES}\nNo, wait."
SKY = [("look", {"at": "sky"})]


def chat(field: str) -> Callable[[str, str], Any]:
    def body(reasoning: str, text: str) -> Any:
        message = {"role": "assistant", "content": text or None, field: reasoning}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 90, "completion_tokens": 9, "total_tokens": 99}
        return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}

    return body


def messages(reasoning: str, text: str) -> Any:
    thought = {"type": "thinking", "thinking": reasoning, "signature": ""}
    content = [{"type": "text", "text": text} if text else thought]
    usage = {"input_tokens": 90, "output_tokens": 9}
    return {"id": "x", "type": "message", "role": "assistant", "model": "m", "content": content,
            "stop_reason": "end_turn", "usage": usage}  # fmt: skip


def responses(reasoning: str, text: str) -> Any:
    thought = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": reasoning}]}
    said = {"type": "output_text", "text": text, "annotations": []}
    message = {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [said]}
    usage = {"input_tokens": 90, "output_tokens": 9, "total_tokens": 99}
    return {"id": "r", "object": "response", "model": "m", "status": "completed", "output": [message if text else thought],
            "usage": usage}  # fmt: skip


def gemini(reasoning: str, text: str) -> Any:
    content = {"role": "model", "parts": [{"text": text} if text else {"text": reasoning, "thought": True}]}
    usage = {"promptTokenCount": 90, "candidatesTokenCount": 9, "totalTokenCount": 99}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


def ollama(reasoning: str, text: str) -> Any:
    message = {"role": "assistant", "content": text, **({} if text else {"thinking": reasoning})}
    return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": True, "done_reason": "stop",
            "prompt_eval_count": 90, "eval_count": 9}  # fmt: skip


WIRES: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "chat, reasoning_content": ("openai_chat", chat("reasoning_content")),
    "chat, reasoning": ("openai_chat", chat("reasoning")),
    "messages": ("anthropic_messages", messages),
    "responses": ("openai_responses", responses),
    "gemini": ("gemini", gemini),
    "ollama": ("ollama_chat", ollama),
}


def provider(wire: str, reasoning: str) -> ScriptedPeer:
    """A model that gives nothing but this reasoning, and says something when it is asked again."""
    api, body = WIRES[wire]

    def answer(sent: Open) -> Answer:
        told = body(reasoning, "Well." if len(peer.sent) > 1 else "")
        if "stream" in sent.url or json.loads(sent.body).get("stream"):
            pieces, kind = STREAMS[api](told)
            return Answer(tuple(pieces), headers={"content-type": kind})
        return Answer((json.dumps(told).encode(),), headers={"content-type": "application/json"})

    peer = ScriptedPeer(answer)
    return peer


def exchange(wire: str, front: str, reasoning: str, *, stream: bool, **route: Any) -> tuple[Reply, int]:
    """The reply, and how often the model was asked."""
    peer = provider(wire, reasoning)
    reply = ask(app(peer, WIRES[wire][0], **route), front, stream=stream)
    return reply, len(peer.sent)


every_wire = pytest.mark.parametrize("wire", WIRES)
ROUTES: dict[str, dict[str, Any]] = {
    "native": {"tools": Tools.NATIVE},
    "either": {},
    "in text": {"tools": Tools.TEXT, "prompt_dialect": "hermes"},
}


@streamed_and_whole
@every_front
@every_wire
def test_the_client_gets_the_call_behind_the_reasoning(wire: str, front: str, stream: bool) -> None:
    reply, asked = exchange(wire, front, MADE, stream=stream)
    got = read(front, reply, stream=stream)
    assert (called(got), got.reasoning, got.text, asked) == (SKY, MADE, "", 1)


@streamed_and_whole
@every_wire
def test_a_rehearsal_is_not_told_as_a_call(wire: str, stream: bool) -> None:
    reply, asked = exchange(wire, "openai_chat", LEFT, stream=stream)
    got = read("openai_chat", reply, stream=stream)
    assert (called(got), got.text, asked) == ([], "Well.", 2)


@streamed_and_whole
@pytest.mark.parametrize("way", ROUTES)
def test_it_does_not_matter_how_the_tools_were_told(way: str, stream: bool) -> None:
    reply, asked = exchange("chat, reasoning_content", "openai_chat", MADE, stream=stream, **ROUTES[way])
    assert (called(read("openai_chat", reply, stream=stream)), asked) == (SKY, 1)


@streamed_and_whole
def test_what_was_wrong_with_one_is_what_the_model_is_told(stream: bool) -> None:
    peer = provider("chat, reasoning_content", THOUGHT + HERMES.replace("look", "lock"))
    reply = ask(app(peer, tools=Tools.NATIVE), "openai_chat", stream=stream)
    assert read("openai_chat", reply, stream=stream).text == "Well."
    assert "there is no tool named 'lock'" in json.dumps(json.loads(peer.sent[1].body)["messages"][-1]).lower()


# ── however it is cut, and whichever way its pieces go ───────────────────────


def in_chunks(*deltas: dict[str, Any]) -> list[bytes]:
    told: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    told.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    frames = [{"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [one]} for one in told]
    return [*(f"data: {json.dumps(one)}\n\n".encode() for one in frames), b"data: [DONE]\n\n"]


def pieces_of(text: str, size: int, **beside: Any) -> list[dict[str, Any]]:
    return [{"reasoning_content": text[at : at + size], **beside} for at in range(0, len(text), size)]


STREAMED: dict[str, tuple[list[dict[str, Any]], list[Any]]] = {
    "nothing beside": (pieces_of(MADE, 5), SKY),
    "empty content in every chunk": (pieces_of(MADE, 5, content=""), SKY),
    "no calls in every chunk": (pieces_of(MADE, 5, tool_calls=[]), SKY),
    "a blank before": ([{"content": "\n"}, *pieces_of(MADE, 5)], SKY),
    "a blank behind": ([*pieces_of(MADE, 5), {"content": "\n\n"}], []),
    "words behind": ([*pieces_of(MADE, 5), {"content": "Blue."}], []),
    "second thoughts": (pieces_of(LEFT, 5), []),
}


@pytest.mark.parametrize("at_once", [1, 3, 1000], ids=["chunk by chunk", "three at once", "all at once"])
@pytest.mark.parametrize(("deltas", "wanted"), STREAMED.values(), ids=STREAMED)
def test_pieces_that_go_around_change_nothing(
    deltas: list[dict[str, Any]], wanted: list[Any], at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks = in_chunks({"role": "assistant", "content": ""}, *deltas)
    reads = tuple(b"".join(chunks[at : at + at_once]) for at in range(0, len(chunks), at_once))
    later = tuple(in_chunks({"content": "Well."}))
    bodies = []
    for most in (shortcut.MOST, 0):
        monkeypatch.setattr(shortcut, "MOST", most)
        peer = ScriptedPeer(Answer(one, headers={"content-type": "text/event-stream"}) for one in (reads, later))
        reply = ask(app(peer), "openai_chat", stream=True)
        bodies.append(reply.body)
        assert called(read("openai_chat", reply, stream=True)) == wanted
    assert bodies[0] == bodies[1]


def test_of_several_choices_each_is_read_by_itself() -> None:
    message = {"role": "assistant", "content": None, "reasoning_content": MADE}
    said = {"role": "assistant", "content": "Blue.", "reasoning_content": MADE}
    choices = [{"index": n, "message": one, "finish_reason": "stop"} for n, one in enumerate((said, message))]
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}
    peer = ScriptedPeer(lambda _: Answer((json.dumps(body).encode(),), headers={"content-type": "application/json"}))
    told = ask(app(peer), "openai_chat", stream=False, n=2).json["choices"]
    assert [len(one["message"].get("tool_calls") or ()) for one in told] == [0, 1]
