"""A whole answer of Ollama's chat as nearly all are, read at once: text, thoughts and calls with ids, not cut off.

Knows that one shape; every accent is the decoder's (`chat.py`), which reads an answer as it reads a stream.
Contract: what the decoder gives, to the order of the fields, or None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...records import maker
from ...types import NOTHING, Response, Stop, ToolCall, Usage
from ..shared.body import MOST, count, counts
from ..shared.encoder import END
from ..shared.plain_answers import a_text, answered, object_call, others, said_parts, says_odd
from ..shared.spec import wire_fields
from .chat_requests import NAME

STOPS: Mapping[str, Stop] = {"stop": Stop.END, "length": Stop.LENGTH, "load": Stop.END, "unload": Stop.END}
PLAIN_WORDS = frozenset({"stop", "length"})
BODY = frozenset(
    {"model", "created_at", "message", "response", "thinking", "done", "done_reason", "prompt_eval_count", "eval_count"}
    | {"error"}
)
MESSAGE = frozenset({"role", "content", "thinking", "tool_calls"})
"""Fields that are read; others go to clients of the same API."""
COUNTS = ("prompt_eval_count", "eval_count")
NO_TIME = "1970-01-01T00:00:00Z"
_CALL = frozenset({"id", "function"})
_FUNCTION = frozenset({"index", "name", "arguments"})
_ACCENTS = ("error", "base_resp", "response", "thinking")
_NOTHING: tuple[Any, ...] = (None, 0)


def plain_answer(body: dict[str, Any]) -> Response | None:
    """The answer that `body` plainly is; None for any other."""
    message, word = body.get("message"), body.get("done_reason")
    if type(message) is not dict or body.get("done") is not True or says_odd(body, _ACCENTS):
        return None
    parts = said_parts(message.get("thinking"), message.get("content"), message.get("tool_calls"), _call)
    if parts is None or word == "length":
        return None
    word = a_text(word)
    extra = wire_fields(NAME, left) if (left := _left(body, message, word)) else NOTHING
    return answered(parts, STOPS.get(word, END), _usage(body), body.get("model"), "", extra)


def _call(one: dict[str, Any], seen: set[str]) -> ToolCall | None:
    function = one.get("function")
    if type(function) is not dict or not (one.keys() <= _CALL and function.keys() <= _FUNCTION):
        return None
    return object_call(one.get("id"), function.get("name"), function.get("arguments"), seen)


def _duration(value: Any) -> Any:
    return value if type(value) is int and 0 <= value < MOST else counts({"": value})[""]


def _usage(body: dict[str, Any]) -> Usage | None:
    given, made = body.get("prompt_eval_count"), body.get("eval_count")
    if type(given) is int and type(made) is int and 0 <= given < MOST and 0 <= made < MOST:
        return maker(Usage)(input=given, output=made)
    return None if given is None and made is None else Usage(input=count(given), output=count(made))


def _left(body: dict[str, Any], message: dict[str, Any], word: str) -> dict[str, Any]:
    """What of the answer no value models."""
    left: dict[str, Any] = {}
    made = body.get("created_at")
    if made is not None and made != NO_TIME:
        left["created_at"] = made
    for key, value in body.items():
        if key in BODY or value is None or (type(value) is int and value == 0):
            continue
        if key.endswith("_duration"):
            value = _duration(value)
        if value not in _NOTHING:
            left[key] = value
    if word and word not in PLAIN_WORDS:
        left["done_reason"] = word
    said = others(message, MESSAGE)
    return {**left, "message": said} if said else left
