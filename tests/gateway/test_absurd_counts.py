"""Numbers by which a provider counts nothing never reach a client, whatever API either has."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.gateways import app, ask, every_front, streamed_and_whole

TEXT = {"type": "text", "text": "Hi"}


def chat(n: float) -> tuple[Any, list[Any]]:
    details = {"prompt_tokens_details": {"cached_tokens": n}, "completion_tokens_details": {"reasoning_tokens": n, "x": n}}
    usage = {"prompt_tokens": 0, "completion_tokens": n, "total_tokens": n, **details}
    choice = {"index": 0, "finish_reason": "stop"}
    said = {"role": "assistant", "content": "Hi"}
    whole = {"id": "x", "object": "chat.completion", "choices": [{**choice, "message": said}], "usage": usage}
    return whole, [{"id": "x", "choices": [{**choice, "delta": said}]}, {"id": "x", "choices": [], "usage": usage}]


def messages(n: float) -> tuple[Any, list[Any]]:
    usage = {"input_tokens": n, "output_tokens": n, "cache_read_input_tokens": n, "cache_creation": {"x": n}}
    head = {"id": "m", "type": "message", "role": "assistant", "model": "m", "usage": usage}
    delta = {"type": "text_delta", "text": "Hi"}
    return {**head, "content": [TEXT], "stop_reason": "end_turn"}, [
        {"type": "message_start", "message": {**head, "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {**TEXT, "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": n}},
        {"type": "message_stop"},
    ]


def gemini(n: float) -> tuple[Any, list[Any]]:
    names = ("promptTokenCount", "candidatesTokenCount", "totalTokenCount", "cachedContentTokenCount", "thoughtsTokenCount")
    usage = {**dict.fromkeys(names, n), "promptTokensDetails": [{"modality": "TEXT", "tokenCount": n}]}
    candidate = {"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": "STOP", "index": 0}
    whole = {"candidates": [candidate], "usageMetadata": usage}
    return whole, [whole]


def ollama(n: float) -> tuple[Any, list[Any]]:
    said = {"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": True, "done_reason": "stop"}
    whole = {**said, **dict.fromkeys(("prompt_eval_count", "eval_count", "total_duration", "eval_duration"), n)}
    return whole, [whole]


def responses(n: float) -> tuple[Any, list[Any]]:
    usage = {"input_tokens": n, "output_tokens": n, "total_tokens": n, "input_tokens_details": {"cached_tokens": n}}
    part = {"type": "output_text", "text": "Hi", "annotations": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    whole = {"id": "r", "object": "response", "status": "completed", "model": "m", "output": [item], "usage": usage}
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    return whole, [{"type": "response.created", "response": begun}, {"type": "response.completed", "response": whole}]


BACKS = {
    "openai_chat": chat, "anthropic_messages": messages, "gemini": gemini, "ollama_chat": ollama,
    "openai_responses": responses,
}  # fmt: skip
ABSURD = re.compile(r'": ?(-\d|NaN|-?Infinity|\d{17,}|\d(\.\d+)?e\+?\d\d)')


@every_front
@streamed_and_whole
@pytest.mark.parametrize("back", BACKS)
@pytest.mark.parametrize("number", [-1, -5.5, 10**30, 1e300])
def test_a_count_that_counts_nothing_is_none(front: str, back: str, number: float, stream: bool) -> None:
    whole, frames = BACKS[back](number)
    body, kind = json.dumps(whole), "application/json"
    if stream and back == "ollama_chat":
        body, kind = "".join(f"{json.dumps(frame)}\n" for frame in frames), "application/x-ndjson"
    elif stream:
        named = (f"event: {frame['type']}\n" if "type" in frame else "" for frame in frames)
        body = "".join(f"{name}data: {json.dumps(frame)}\n\n" for name, frame in zip(named, frames, strict=True))
        kind = "text/event-stream"
    peer = ScriptedPeer(lambda _: Answer((body.encode(),), headers={"content-type": kind}))
    reply = ask(app(peer, back), front, stream=stream)
    assert reply.status == 200
    assert "Hi" in reply.body.decode()
    assert not ABSURD.search(reply.body.decode())
