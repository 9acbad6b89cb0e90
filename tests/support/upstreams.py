"""Scripted models behind the three wires, in bytes written by hand: independent of our own encoders."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dragoman.effects import Open
from dragoman.sim.scripted import Answer, ScriptedPeer


@dataclass(frozen=True)
class ScriptedReply:
    """What the model says: text in pieces, then native calls (id, name, arguments), then why it stopped."""

    text: tuple[str, ...] = ()
    calls: tuple[tuple[str, str, Mapping[str, Any]], ...] = ()
    stop: str = "stop"


def text_reply(text: str, *, size: int = 4, stop: str = "stop") -> ScriptedReply:
    """Text in pieces of `size` characters."""
    return ScriptedReply(tuple(text[i : i + size] for i in range(0, len(text), size)), stop=stop)


def _sse(data: Any, event: str = "") -> bytes:
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


# ── OpenAI Chat ──────────────────────────────────────────────────────────────


def _chat_chunk(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _sse({"id": "u1", "object": "chat.completion.chunk", "created": 1, "model": "up", "choices": [choice]})


def _chat_calls(reply: ScriptedReply) -> list[dict[str, Any]]:
    return [
        {"index": i, "id": id_, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
        for i, (id_, name, args) in enumerate(reply.calls)
    ]


def chat_stream(reply: ScriptedReply) -> list[bytes]:
    """`POST /v1/chat/completions`, streamed."""
    calls = [_chat_chunk({"tool_calls": [call]}) for call in _chat_calls(reply)]
    usage = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}}
    return [
        _chat_chunk({"role": "assistant", "content": ""}),
        *(_chat_chunk({"content": piece}) for piece in reply.text),
        *calls,
        _chat_chunk({}, "tool_calls" if calls and reply.stop == "stop" else reply.stop),
        _sse(usage),
        b"data: [DONE]\n\n",
    ]


def chat_whole(reply: ScriptedReply) -> bytes:
    """The same, whole."""
    message: dict[str, Any] = {"role": "assistant", "content": "".join(reply.text) or None}
    if reply.calls:
        message["tool_calls"] = _chat_calls(reply)
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if reply.calls else reply.stop}
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
    body = {"id": "u1", "object": "chat.completion", "created": 1, "model": "up", "choices": [choice], "usage": usage}
    return json.dumps(body).encode()


# ── Anthropic Messages ───────────────────────────────────────────────────────

_ANTHROPIC_STOPS = {"stop": "end_turn", "length": "max_tokens"}


def _event(kind: str, **data: Any) -> bytes:
    return _sse({"type": kind, **data}, kind)


def messages_stream(reply: ScriptedReply) -> list[bytes]:
    """`POST /v1/messages`, streamed."""
    out = [_event("message_start", message={**_message([]), "stop_reason": None})]
    index = 0
    if reply.text:
        out.append(_event("content_block_start", index=0, content_block={"type": "text", "text": ""}))
        out += [
            _event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece}) for piece in reply.text
        ]
        out.append(_event("content_block_stop", index=0))
        index = 1
    for at, (id_, name, args) in enumerate(reply.calls, index):
        block = {"type": "tool_use", "id": id_, "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(args)}
        out.append(_event("content_block_start", index=at, content_block=block))
        out.append(_event("content_block_delta", index=at, delta=delta))
        out.append(_event("content_block_stop", index=at))
    stop = "tool_use" if reply.calls else _ANTHROPIC_STOPS.get(reply.stop, reply.stop)
    out.append(_event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": 5}))
    return [*out, _event("message_stop")]


def _message(content: list[dict[str, Any]]) -> dict[str, Any]:
    usage = {"input_tokens": 7, "output_tokens": 5}
    return {"id": "u1", "type": "message", "role": "assistant", "model": "up", "content": content, "usage": usage}


def messages_whole(reply: ScriptedReply) -> bytes:
    """The same, whole."""
    content: list[dict[str, Any]] = [{"type": "text", "text": "".join(reply.text)}] if reply.text else []
    content += [{"type": "tool_use", "id": id_, "name": name, "input": dict(args)} for id_, name, args in reply.calls]
    stop = "tool_use" if reply.calls else _ANTHROPIC_STOPS.get(reply.stop, reply.stop)
    return json.dumps({**_message(content), "stop_reason": stop, "stop_sequence": None}).encode()


# ── Ollama ───────────────────────────────────────────────────────────────────


def _ollama(content: str, *, calls: Sequence[Any] = (), **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = [{"function": {"name": name, "arguments": dict(args)}} for _, name, args in calls]
    return {"model": "up", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": False, **more}


def _ollama_end(reply: ScriptedReply, content: str = "", calls: Sequence[Any] = ()) -> dict[str, Any]:
    return _ollama(
        content, calls=calls, done=True, done_reason=reply.stop, prompt_eval_count=7, eval_count=5, total_duration=1
    )


def ollama_stream(reply: ScriptedReply) -> list[bytes]:
    """`POST /api/chat`, streamed."""
    lines = [_ollama(piece) for piece in reply.text]
    lines += [_ollama("", calls=reply.calls)] if reply.calls else []
    return [json.dumps(line).encode() + b"\n" for line in [*lines, _ollama_end(reply)]]


def ollama_whole(reply: ScriptedReply) -> bytes:
    """The same, whole."""
    return json.dumps(_ollama_end(reply, "".join(reply.text), reply.calls)).encode()


# ── any of them ──────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Upstream:
    """One wire: how it streams, how it answers whole, the content types, and where its requests keep the tools."""

    stream: Callable[[ScriptedReply], Iterable[bytes]]
    whole: Callable[[ScriptedReply], bytes]
    kind: str


UPSTREAMS: Mapping[str, Upstream] = {
    "openai_chat": Upstream(chat_stream, chat_whole, "text/event-stream"),
    "anthropic_messages": Upstream(messages_stream, messages_whole, "text/event-stream; charset=utf-8"),
    "ollama_chat": Upstream(ollama_stream, ollama_whole, "application/x-ndjson"),
}


def answered(api: str, reply: ScriptedReply, body: Mapping[str, Any]) -> Answer:
    """What that wire answers a request with this body."""
    wire = UPSTREAMS[api]
    if body.get("stream", api == "ollama_chat"):
        return Answer(tuple(wire.stream(reply)), headers={"content-type": wire.kind})
    return Answer((wire.whole(reply),), headers={"content-type": "application/json"})


def model(api: str, *turns: ScriptedReply | Answer) -> ScriptedPeer:
    """A model that says these things, one after the other."""
    script = iter(turns)

    def answer(sent: Open) -> Answer:
        reply = next(script)
        return reply if isinstance(reply, Answer) else answered(api, reply, json.loads(sent.body))

    return ScriptedPeer(answer)


def refusal(status: int, body: Any, **headers: str) -> Answer:
    """A refused request."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answer((data,), status=status, headers={"content-type": "application/json", **headers})


def sent(memory: ScriptedPeer, index: int = -1) -> dict[str, Any]:
    """The body of a request the model got."""
    body: dict[str, Any] = json.loads(memory.sent[index].body)
    return body
