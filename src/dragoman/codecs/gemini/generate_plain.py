"""A whole answer of Gemini as nearly all are, read at once: one candidate of texts, thoughts and calls, not cut off.

Knows these parts, in the spelling of the API's own JSON; every other, and what is odd about them, is the decoder's
(`generate.py`), which reads an answer as it reads a stream.
Contract: what the decoder gives, to the order of the fields, or None.
"""

from __future__ import annotations

from typing import Any

from ...records import maker
from ...types import NOTHING, JsonObject, Reasoning, Response, Stop, Text, ToolCall, Usage
from ..shared.body import counts
from ..shared.calls import numbered
from ..shared.encoder import END
from ..shared.plain_answers import NO_COUNTS, Spoken, a_text, answered, object_call, others, says_odd, simple_usage
from ..shared.spec import Ids, WireFields
from .generate_contents import NAME, SIGNATURE
from .generate_words import NUMBERED, STOPS, WORDS, read_usage, write_usage

BODY = frozenset({"candidates", "usageMetadata", "modelVersion", "responseId"})
CANDIDATE = frozenset({"content", "finishReason", "index"})
"""Fields that are read; others go to clients of the same API."""
PLAIN_WORDS = frozenset(WORDS.values())
_ACCENTS = ("error", "base_resp", "promptFeedback")
_SAID = frozenset({"text", "thought", "thoughtSignature"})
_CALLED = frozenset({"functionCall", "thoughtSignature"})
_CALL = frozenset({"id", "name", "args"})
_ODD = (Stop.LENGTH, Stop.ERROR)


def plain_answer(body: dict[str, Any], ids: Ids | None) -> Response | None:
    """The answer that `body` plainly is; None for any other."""
    candidates = body.get("candidates")
    if type(candidates) is not list or len(candidates) != 1 or says_odd(body, _ACCENTS):
        return None
    candidate = candidates[0]
    content = candidate.get("content") if type(candidate) is dict and not candidate.get("index") else None
    listed = content.get("parts") if type(content) is dict else None
    word, usage = candidate.get("finishReason") if listed else None, body.get("usageMetadata") or {}
    if type(listed) is not list or type(word) is not str or word in NUMBERED or type(usage) is not dict:
        return None
    stop = STOPS.get(word, END)
    parts = None if stop in _ODD else _parts(listed, ids or numbered)
    if parts is None:
        return None
    counted, spent = simple_usage(usage, "promptTokenCount", "candidatesTokenCount", "totalTokenCount"), NO_COUNTS
    if counted is None and usage:
        spent = {key: value for key, value in usage.items() if value is not None}
        counted = read_usage(spent) if spent else None
    left = _left(body, candidate, spent, counted)
    return answered(parts, stop, counted, body.get("modelVersion"), body.get("responseId"), left)


def _parts(listed: list[Any], ids: Ids) -> list[Spoken] | None:
    """The parts; None where two texts follow each other, which would be one."""
    parts: list[Spoken] = []
    seen: set[str] = set()
    before: type[Spoken] = ToolCall
    for one in listed:
        if type(one) is not dict:
            return None
        part = _call(one, seen, ids) if "functionCall" in one else _text(one)
        if part is None or (type(part) is before and before is not ToolCall):
            return None
        before = type(part)
        parts.append(part)
    return parts


def _text(one: dict[str, Any]) -> Text | Reasoning | None:
    text = one.get("text")
    if type(text) is not str or not text or not one.keys() <= _SAID:
        return None
    metadata = _signed(one) if "thoughtSignature" in one else NOTHING
    if one.get("thought") is True:
        return maker(Reasoning)(text, metadata=metadata)
    return maker(Text)(text, metadata=metadata)


def _call(one: dict[str, Any], seen: set[str], ids: Ids) -> ToolCall | None:
    call = one["functionCall"]
    if type(call) is not dict or not (one.keys() <= _CALLED and call.keys() <= _CALL):
        return None
    call_id = call.get("id")
    metadata = _signed(one) if "thoughtSignature" in one else NOTHING
    return object_call(a_text(call_id) or ids(len(seen)), call.get("name"), call.get("args"), seen, metadata)


def _signed(one: dict[str, Any]) -> JsonObject:
    signature = a_text(one["thoughtSignature"])
    return WireFields(NAME, {SIGNATURE: signature}) if signature else NOTHING


def _left(body: dict[str, Any], candidate: dict[str, Any], spent: dict[str, Any], counted: Usage | None) -> JsonObject:
    """What of the answer no value models."""
    left = others(body, BODY)
    plain = counts(spent) if spent else spent
    if plain and plain != write_usage(counted).get("usageMetadata", {}):
        left["usageMetadata"] = plain
    chosen = others(candidate, CANDIDATE)
    word = candidate["finishReason"]
    if word and word not in PLAIN_WORDS:
        chosen["finishReason"] = word
    if chosen:
        left["candidate"] = chosen
    return WireFields(NAME, left) if left else NOTHING
