"""A whole answer of Anthropic Messages as nearly all are, read at once: text, thoughts and calls, not cut off.

Knows these three blocks; every other, and what is odd about them, is the decoder's (`messages.py`), which reads an
answer as it reads a stream.
Contract: what the decoder gives, to the order of the fields, or None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...types import NOTHING, JsonObject, Reasoning, Response, Stop, Text, ToolCall, Usage
from ..shared.body import counts
from ..shared.encoder import END
from ..shared.plain_answers import NO_COUNTS, Spoken, answered, object_call, others, says_odd, simple_usage
from ..shared.spec import WireFields, wire_fields
from .messages_blocks import NAME
from .messages_words import STOPS, WORDS, read_usage, write_usage

BODY = frozenset({"id", "type", "role", "model", "content", "stop_reason", "usage"})
_SHELL = BODY | {"stop_sequence"}
CALL = frozenset({"type", "id", "name", "input"})
"""Fields that are read; others go to clients of the same API."""
PLAIN_WORDS = frozenset(WORDS.values())
_SPOKEN: Mapping[Any, type[Text] | type[Reasoning]] = {"text": Text, "thinking": Reasoning}
_ACCENTS = ("error", "base_resp")
_EMPTY: tuple[Any, ...] = ("", [])
_LENGTH = Stop.LENGTH


def plain_answer(body: dict[str, Any]) -> Response | None:
    """The answer that `body` plainly is; None for any other."""
    content, usage, word = body.get("content"), body.get("usage") or {}, body.get("stop_reason") or ""
    if type(content) is not list or type(usage) is not dict or type(word) is not str or says_odd(body, _ACCENTS):
        return None
    parts = _parts(content)
    stop = STOPS.get(word, END)
    if parts is None or stop is _LENGTH:
        return None
    counted, spent = simple_usage(usage, "input_tokens", "output_tokens"), NO_COUNTS
    if counted is None:
        spent = {key: value for key, value in usage.items() if value is not None}
        counted = read_usage(spent)
    return answered(parts, stop, counted, body.get("model"), body.get("id"), _left(body, spent, counted, word))


def _parts(content: list[Any]) -> list[Spoken] | None:
    parts: list[Spoken] = []
    seen: set[str] = set()
    for block in content:
        kind = block.get("type") if type(block) is dict else None
        if kind == "tool_use":
            call = _call(block, seen)
            if call is None:
                return None
            parts.append(call)
            continue
        says = _SPOKEN.get(kind) if type(kind) is str else None
        text = None if says is None else block.get(kind)
        if says is None or type(text) is not str:
            return None
        metadata = _metadata(block) if len(block) > 2 else NOTHING
        if text or metadata:
            parts.append(says(text, metadata=metadata))
    return parts


def _metadata(block: dict[str, Any]) -> JsonObject:
    known = ("type", block["type"])
    left = {key: value for key, value in block.items() if key not in known and value not in _EMPTY}
    return wire_fields(NAME, left)


def _call(block: dict[str, Any], seen: set[str]) -> ToolCall | None:
    given = block.get("input")
    if not given:
        return None
    left = NOTHING if len(block) == len(CALL) else wire_fields(NAME, {k: v for k, v in block.items() if k not in CALL})
    return object_call(block.get("id"), block.get("name"), given, seen, left)


def _left(body: dict[str, Any], spent: dict[str, Any], counted: Usage | None, word: str) -> JsonObject:
    """What of the answer no value models."""
    left = {} if body.keys() <= _SHELL and body.get("stop_sequence") is None else others(body, BODY)
    plain = counts(spent) if spent else spent
    if plain and plain != write_usage(counted):
        left["usage"] = plain
    if word and word not in PLAIN_WORDS:
        left["stop_reason"] = word
    return WireFields(NAME, left) if left else NOTHING
