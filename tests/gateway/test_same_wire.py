"""Through the gateway to a place that speaks the client's API, nothing of an answer is lost: leaf for leaf.

The answers are those written by hand (`vectors/wires/same_wire.jsonl`); what the gateway says itself is ignored: ids,
the model's name, times, and what a response repeats of its request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from dragoman.codecs.shared.frames import FrameKind
from dragoman.gateway import GatewayConfig, create_app
from dragoman.providers.route import Route
from dragoman.providers.rows import PROVIDERS
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.codecs.test_same_wire import BY_HAND, frames_of, has_run_on, is_excepted, path_fits
from tests.codecs.test_wire import stream_bytes
from tests.support.asgi import call
from tests.support.cells import LOCK
from tests.support.gateways import PATHS
from tests.support.leaves import Said, lost_of_body
from tests.support.recordings import codec

PLACES = {
    "openai_chat": ("openai", "gpt-4.1"),
    "openai_responses": ("openai-responses", "gpt-5.1"),
    "anthropic_messages": ("anthropic", "claude-opus-4-7"),
    "gemini": ("gemini", "gemini-3-pro-preview"),
    "ollama_chat": ("ollama", "gpt-oss:20b"),
}
NAMES = ("weather", "ping", "key")
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "text": {"type": "string"}}}
FUNCTIONS = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in NAMES]
HI = [{"role": "user", "content": "hi"}]
COMPUTER = {"type": "computer_use_preview", "display_width": 100, "display_height": 100, "environment": "browser"}
CUSTOM = {"name": "apply"}
REQUESTS: Mapping[str, dict[str, Any]] = {
    "openai_chat": {
        "model": "m", "messages": HI, "stream_options": {"include_usage": True},
        "tools": [*FUNCTIONS, {"type": "custom", "custom": CUSTOM}],
    },
    "openai_responses": {
        "model": "m", "input": "hi",
        "tools": [*({"type": "function", **one["function"]} for one in FUNCTIONS),  # type: ignore[dict-item]
                  {"type": "custom", **CUSTOM}, {"type": "web_search"}, {"type": "shell"}, COMPUTER],
    },
    "anthropic_messages": {
        "model": "m", "max_tokens": 100, "messages": HI,
        "tools": [{"name": name, "input_schema": SCHEMA} for name in NAMES],
    },
    "gemini": {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": [{"functionDeclarations": [{"name": name, "parametersJsonSchema": SCHEMA} for name in NAMES]}],
    },
    "ollama_chat": {"model": "m", "messages": HI, "tools": FUNCTIONS},
}  # fmt: skip
OURS: Mapping[str, tuple[str, ...]] = {
    "openai_chat": ("*created", "*model", "*id"),
    "openai_responses": (
        "*created_at", "*model", "whole id", "*response.id", "*item_id", "*instructions", "*tool_choice", "*tools[].*",
        "*prompt_cache_*", "*safety_identifier", "*metadata.*",
    ),
    "anthropic_messages": ("*model", "*id"),
    "gemini": ("*modelVersion", "*responseId"),
    "ollama_chat": ("*model", "*created_at"),
}  # fmt: skip
"""API → what the gateway says itself."""
JUDGED = {
    "anthropic whole empty answer": "an empty answer is refused, and would be asked for again",
    "anthropic stream empty answer": "an empty answer is refused, and would be asked for again",
    "chat stream gemini's own chat form": "thinking in tags is read as thinking",
    "chat stream three choices, interleaved": "only one of several answers was asked for here",
    "chat whole three choices, interleaved": "only one of several answers was asked for here",
}
CASES = [row for row in BY_HAND if row["id"] not in JUDGED]


def _asked(row: dict[str, Any], data: bytes) -> Any:
    """What the gateway gives a client of the row's API for the answer `data`."""
    api = row["api"]
    kinds = {FrameKind.SSE: "text/event-stream", FrameKind.NDJSON: "application/x-ndjson"}
    kind = kinds[codec(api).frames] if row["stream"] else "application/json"
    peer = ScriptedPeer([Answer((data,), headers={"content-type": kind})])
    name, model = PLACES[api]
    place = replace(PROVIDERS[name], auth=LOCK, or_auth=(), settings=(), url_env=(), base_url="http://model.test/v1")
    to = Route(provider=place, model=model, base_url="http://model.test/v1", key="k")
    app = create_app(GatewayConfig(default=to, reasks=0), peer)
    path, body = PATHS[api], dict(REQUESTS[api])
    if row["id"].endswith("legacy function call"):  # which only they read who ask in the same form
        body["functions"] = [tool["function"] for tool in body.pop("tools") if "function" in tool]
    if api == "gemini":
        path = path.replace(":g", ":streamG") + "?alt=sse" if row["stream"] else path
    else:
        body["stream"] = row["stream"]
    return call(app, path, body)


@pytest.mark.parametrize("row", CASES, ids=[row["id"] for row in CASES])
def test_an_answer_comes_through_leaf_for_leaf(row: dict[str, Any]) -> None:
    api = row["api"]
    data = stream_bytes(api, row) if row["stream"] else json.dumps(row["response"]).encode()
    reply = _asked(row, data)
    assert reply.status == 200
    if row["stream"]:
        sent = Said(frames_of(codec(api), data))
        missing = sent.lost(Said(frames_of(codec(api), reply.body)))
        found = [(path, one) for path, one in missing if not has_run_on(api, sent, path, one)]
    else:
        found = [(f"whole {path}", one) for path, one in lost_of_body(row["response"], reply.json)]
    lost = [one for one in found if not any(path_fits(one[0], pattern) for pattern in OURS[api])]
    assert [one for one in lost if not is_excepted(api, row, one[0])] == []
