"""A whole answer of OpenAI's Responses as nearly all are, read at once: reasoning, texts and calls, all complete.

Knows these three items; every other, and what is odd about them, is the decoder's (`responses.py`), which reads an
answer as it reads a stream.
Contract: what the decoder gives, to the order of the fields, or None.
"""

from __future__ import annotations

from typing import Any

from ...records import maker
from ...types import NOTHING, JsonObject, Response, Text, Usage
from ..shared.body import MOST, counts
from ..shared.encoder import END
from ..shared.plain_answers import NO_COUNTS, Spoken, a_text, answered, text_call
from ..shared.spec import WireFields, wire_fields
from .responses_items import NAME, read_part, read_reasoning
from .responses_writing import SHELL, item_id, read_usage, write_usage

BODY = frozenset({"id", "object", "model", "output", "output_text", "status", "usage", "error", "incomplete_details"})
_ACCENTS = ("error", "base_resp")
_ABOUT = frozenset({"type", "role", "content", "status"})
_TEXT = frozenset({"type", "text", "annotations", "logprobs"})
_CALL = frozenset({"type", "id", "call_id", "name", "arguments", "status"})
_EMPTY: tuple[Any, ...] = (None, [])


def plain_answer(body: dict[str, Any]) -> Response | None:
    """The answer that `body` plainly is; None for any other."""
    output, usage = body.get("output"), body.get("usage") or {}
    if type(output) is not list or body.get("status") != "completed" or any(map(body.get, _ACCENTS)):
        return None
    id_ = a_text(body.get("id"))
    parts = _parts(output, id_.removeprefix("resp_"))
    if parts is None or type(usage) is not dict:
        return None
    counted = _simple_usage(usage)
    if counted is not None:
        usage = NO_COUNTS
    elif usage:
        counted = read_usage(usage)
    return answered(parts, END, counted, body.get("model"), id_, _left(body, usage, counted))


def _simple_usage(usage: dict[str, Any]) -> Usage | None:
    """What `usage` counts, where it has all fields of the API and says nothing else: nothing of it is left then."""
    given, made = usage.get("input_tokens_details"), usage.get("output_tokens_details")
    if len(usage) != 5 or type(given) is not dict or type(made) is not dict or len(given) != 1 or len(made) != 1:
        return None
    found: list[Any] = [usage.get("input_tokens"), usage.get("output_tokens"), usage.get("total_tokens")]
    found += given.get("cached_tokens"), made.get("reasoning_tokens")
    for one in found:
        if type(one) is not int or not 0 <= one < MOST:
            return None
    asked, spoken_, total, cached, thought = found
    if asked + spoken_ != total:
        return None
    return maker(Usage)(input=asked, output=spoken_, cached=cached, reasoning=thought)


def _parts(output: list[Any], answer: str) -> list[Spoken] | None:
    parts: list[Spoken] = []
    seen: set[str] = set()
    for index, item in enumerate(output):
        kind = item.get("type") if type(item) is dict else None
        part: Spoken | None = None
        if kind == "message":
            part = _text(item, item_id("msg", answer, index))
        elif kind == "function_call" and item.keys() <= _CALL and item.get("status") == "completed":
            own = item.get("id")
            left = NOTHING if own is None or own == item_id("fc", answer, index) else WireFields(NAME, {"id": own})
            part = text_call(item.get("call_id"), item.get("name"), item.get("arguments"), seen, left)
        elif kind == "reasoning":
            part = read_reasoning(item, item_id("rs", answer, index))
        if part is None:
            return None
        parts.append(part)
    return parts


def _text(item: dict[str, Any], minted: str) -> Text | None:
    """The text of a message of one text, of which nothing is said."""
    content = item.get("content")
    one = content[0] if type(content) is list and len(content) == 1 else None
    if type(one) is not dict or one.get("type") != "output_text" or type(one.get("text")) is not str or not one["text"]:
        return None
    about = {key: value for key, value in item.items() if key not in _ABOUT and value is not None}
    if about.get("id") == minted:
        del about["id"]
    if one.keys() <= _TEXT and one.get("annotations") in _EMPTY and one.get("logprobs") in _EMPTY:
        return maker(Text)(one["text"], metadata=WireFields(NAME, {"item": about}) if about else NOTHING)
    part = read_part(one)
    if type(part) is not Text:
        return None
    return Text(part.text, metadata=wire_fields(NAME, {**part.metadata, "item": about or None}))


def _left(body: dict[str, Any], usage: dict[str, Any], counted: Usage | None) -> JsonObject:
    """What of the answer no value models."""
    left = {
        key: value
        for key, value in body.items()
        if key not in BODY and value is not None and (key not in SHELL or value != SHELL[key])
    }
    spent = counts(usage) if usage else usage
    if spent and (counted is None or write_usage(counted) != spent):
        left["usage"] = spent
    return WireFields(NAME, left) if left else NOTHING
