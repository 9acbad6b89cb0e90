"""Answers of OpenAI Responses, written whole; and what whole and streamed answers share: fields, endings, counts, ids.

Knows what clients of `POST /responses` need; the events of a stream are in `responses_streaming.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...jsontext import to_json
from ...types import NOTHING, JsonObject, Request, Response, Stop, Usage
from ..shared.body import count, mapping, string
from ..shared.encoder import final_stop
from ..shared.errors import ErrorReply
from ..shared.frames import Frame
from ..shared.spec import UNSTAMPED, Stamp, extra_for
from .responses_items import (
    NAME,
    Names,
    is_refusal,
    sealed,
    write_items,
)
from .responses_requests import encode_request

SHELL: Mapping[str, Any] = {
    "object": "response",
    "created_at": 0,
    "status": "completed",
    "background": False,
    "completed_at": None,
    "error": None,
    "frequency_penalty": 0.0,
    "incomplete_details": None,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": False,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
"""The fields of an answer, in their plain state: clients want them all."""

_USAGE = frozenset({"input_tokens", "output_tokens", "total_tokens"})
_DETAILS = ("input_tokens_details", "output_tokens_details")
_ECHOED = (
    "instructions", "max_output_tokens", "max_tool_calls", "metadata", "parallel_tool_calls", "prompt_cache_key",
    "safety_identifier", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user",
)  # fmt: skip
_FILLED = ("reasoning", "text")
"""Fields of several words: those that the request does not say keep their plain state."""
KINDS = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}
_INCOMPLETE: Mapping[Stop | None, str] = {
    Stop.LENGTH: "max_output_tokens",
    Stop.FILTERED: "content_filter",
    Stop.REFUSED: "content_filter",
    Stop.ERROR: "max_output_tokens",  # of two words, the one that says no more than that it broke off
}


def minted(item: JsonObject, response_id: str, index: int) -> str:
    """The id we would give `item` as the `index`-th of the answer `response_id`."""
    return item_id(KINDS.get(string(item.get("type")), "item"), response_id, index)


def item_id(kind: str, response_id: str, index: int) -> str:
    return f"{kind}_{response_id.removeprefix('resp_')}_{index}"


# ── whole ────────────────────────────────────────────────────────────────────


def encode_response(response: Response, stamp: Stamp = UNSTAMPED, request: Request | None = None) -> dict[str, Any]:
    """The body of a whole answer."""
    response_id = stamp.id or response.id
    output: list[dict[str, Any]] = []

    def mint(kind: str) -> str:
        return item_id(kind, response_id, len(output))

    for item in write_items(response.message.parts, Names.of(request), mint, unsigned=True):
        output.append(sealed(item, request))
    left = extra_for(NAME, response.extra)
    head = answer_head(response_id, stamp.model or response.model, stamp, request)
    stop = final_stop(response.stop, len(response.calls))
    if stop is Stop.REFUSED and any(map(is_refusal, response.message.parts)):
        stop = Stop.END  # the part says it: clients take an incomplete answer for an error
    ending = answer_ending(stop, response.usage, mapping(left.get("usage")))
    return {**head, **left, **stamp.fields, **ending, "output": output}


def answer_head(response_id: str, model: str, stamp: Stamp, request: Request | None) -> dict[str, Any]:
    """The answer's own fields; what the request asked for is repeated."""
    asked = encode_request(request) if request is not None else {}
    echoed = {key: asked[key] for key in _ECHOED if key in asked}
    echoed |= {key: {**SHELL[key], **asked[key]} for key in _FILLED if key in asked}
    known = {"id": response_id, "model": model, "created_at": stamp.created, "output": []}
    return {**SHELL, **echoed, **stamp.fields, **known}


def answer_ending(stop: Stop | None, usage: Usage | None, left: JsonObject) -> dict[str, Any]:
    reason = _INCOMPLETE.get(stop)
    ending: dict[str, Any] = {"status": "completed"}
    if reason:
        ending = {"status": "incomplete", "incomplete_details": {"reason": reason}}
    return {**ending, "usage": write_usage(usage, left) if usage is not None else None}


def read_usage(usage: JsonObject) -> Usage | None:
    """Token counts in the words of this API; None when there are none."""
    if not any(usage.get(key) is not None for key in _USAGE):
        return None
    given, made = (mapping(usage.get(key)) for key in _DETAILS)
    return Usage(
        input=count(usage.get("input_tokens")),
        output=count(usage.get("output_tokens")),
        cached=count(given.get("cached_tokens")),
        cache_written=count(given.get("cache_write_tokens")),
        reasoning=count(made.get("reasoning_tokens")),
    )


def write_usage(usage: Usage, left: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    """Token counts in the words of this API."""
    if left and read_usage(left) == usage:
        return dict(left)  # as the provider counted
    given = {**mapping(left.get("input_tokens_details")), "cached_tokens": usage.cached}
    given |= {"cache_write_tokens": usage.cache_written} if usage.cache_written else {}
    made = {**mapping(left.get("output_tokens_details")), "reasoning_tokens": usage.reasoning}
    return {
        **left,
        "input_tokens": usage.input,
        "input_tokens_details": given,
        "output_tokens": usage.output,
        "output_tokens_details": made,
        "total_tokens": usage.total,
    }


# ── errors ───────────────────────────────────────────────────────────────────


def encode_error(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and body of a refusal."""
    reply = ErrorReply(error)
    what = "invalid_request_error" if reply.status < 500 else "server_error"
    return reply.status, reply.openai_body(what)


def error_frame(error: Exception, number: int = 0) -> Frame:
    """The event of an error once the answer has begun."""
    reply = ErrorReply(error)
    fields = {"code": reply.openai_code or reply.kind.value, "message": reply.message, "param": reply.param or None}
    return Frame(to_json({"type": "error", "sequence_number": number, **fields}), "error")
