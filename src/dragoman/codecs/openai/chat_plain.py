"""A whole answer of OpenAI's chat API as nearly all are, read at once: one choice, text, calls that are complete.

Knows that one shape; every accent is the decoder's (`chat.py`), which reads an answer as it reads a stream.
Contract: what the decoder gives, to the order of the fields, or None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...types import NOTHING, JsonObject, Reasoning, Response, Stop, ToolCall, Usage
from ..shared.body import count, counts
from ..shared.encoder import END
from ..shared.plain_answers import NO_COUNTS, answered, others, said_parts, says_odd, simple_usage, text_call
from ..shared.spec import WireFields
from .chat_fragments import CALL, FUNCTION, left_of
from .chat_messages import NAME
from .chat_words import STOPS, WORDS, read_usage, write_usage

BODY = frozenset({"id", "object", "model", "choices", "usage", "created", "obfuscation", "error"})
CHOICE = frozenset({"index", "message", "delta", "finish_reason"})
MESSAGE = frozenset({
    "role", "content", "tool_calls", "function_call", "refusal", "reasoning_content", "reasoning", "reasoning_details",
})  # fmt: skip
"""Fields that are read; others go to clients of the same API."""
PLAIN_WORDS = frozenset(WORDS.values())
_ACCENTS = ("error", "base_resp", "x_groq")
_SPOKEN = ("function_call", "refusal", "reasoning", "reasoning_details")
_SPOKEN_OTHERWISE = ("delta", "text", "error")
_LENGTH = Stop.LENGTH


def plain_answer(body: dict[str, Any]) -> Response | None:
    """The answer that `body` plainly is; None for any other."""
    choices = body.get("choices")
    if type(choices) is not list or len(choices) != 1 or says_odd(body, _ACCENTS):
        return None
    choice = choices[0]
    message = choice.get("message") if type(choice) is dict and choice.keys().isdisjoint(_SPOKEN_OTHERWISE) else None
    if type(message) is not dict or says_odd(message, _SPOKEN):
        return None
    parts = said_parts(message.get("reasoning_content"), message.get("content"), message.get("tool_calls"), _call)
    usage, word = body.get("usage") or {}, choice.get("finish_reason") or ""
    if parts is None or type(usage) is not dict or type(word) is not str:
        return None
    stop = STOPS.get(word.lower(), END)
    if stop is _LENGTH and (not parts or type(parts[-1]) is Reasoning):
        return None
    counted, spent = simple_usage(usage, "prompt_tokens", "completion_tokens", "total_tokens"), NO_COUNTS
    if counted is None and usage:
        spent = {key: value for key, value in usage.items() if value is not None}
        counted = read_usage(spent) if spent else None
    left = _left(body, choice, spent, counted)
    return answered(parts, stop, counted, body.get("model"), body.get("id"), left)


def _call(call: dict[str, Any], seen: set[str]) -> ToolCall | None:
    function = call.get("function")
    if type(function) is not dict or "custom" in call:
        return None
    plain = "index" not in call and call.keys() <= CALL and function.keys() <= FUNCTION
    metadata = NOTHING if plain else left_of(call, numbered=True)
    return text_call(call.get("id"), function.get("name"), function.get("arguments"), seen, metadata)


def _left(body: dict[str, Any], choice: dict[str, Any], spent: dict[str, Any], counted: Usage | None) -> JsonObject:
    """What of the answer no value models."""
    message, word = choice["message"], choice.get("finish_reason")
    left = {} if body.keys() <= BODY else others(body, BODY)
    created = body.get("created")
    if created and count(created):
        left["created"] = created
    if spent and not _is_said(spent, counted):
        left["usage"] = counts(spent)
    chosen = {} if choice.keys() <= CHOICE else others(choice, CHOICE)
    if word and word not in PLAIN_WORDS:
        chosen["finish_reason"] = word
    said = {} if message.keys() <= MESSAGE else others(message, MESSAGE)
    if chosen:
        left["choice"] = chosen
    if said:
        left["message"] = said
    return WireFields(NAME, left) if left else NOTHING


def _is_said(spent: Mapping[str, Any], counted: Usage | None) -> bool:
    """Do our counts come out as these?"""
    return counted is not None and counts(spent) == write_usage(counted)
