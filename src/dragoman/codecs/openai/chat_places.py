"""Where what the model said stands in a choice of an OpenAI-like server: in `delta`, in `message`, or as elsewhere.

Knows the fields of a choice and of a part of content; nothing of events.
Sources: OpenAI API reference, Completions (`choices[].text`: servers answer a chat so whose chat route is a wrapped
completion); wire-quirks.md ("OpenAI-compatible responses").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...types import JsonObject
from ..shared.body import mapping, rest, string

TEXTS = ("text", "output_text")
"""Kinds of parts that are text: the second is that of Responses."""


def says(message: JsonObject) -> bool:
    """Does a message, or a piece of one, say anything?"""
    return any(value for key, value in message.items() if key != "role")


def is_in_text(choice: JsonObject) -> bool:
    """Does it say what it says as a completion does?"""
    text = isinstance(choice.get("text"), str)
    return text and not says(mapping(choice.get("delta"))) and not says(mapping(choice.get("message")))


def in_delta(choice: JsonObject) -> dict[str, Any]:
    """Such a choice as a choice of this API."""
    return {**rest(choice, ("text", "message")), "delta": {"content": string(choice.get("text"))}}


def says_in_another_place(choice: JsonObject) -> bool:
    """Does a choice of a whole answer without a message say something all the same?"""
    return isinstance(choice.get("delta"), Mapping) or isinstance(choice.get("text"), str) or bool(choice.get("error"))


def message_of(choice: JsonObject) -> JsonObject:
    """The message of a choice of a whole answer, wherever it says it."""
    said = (mapping(choice.get("message")), mapping(choice.get("delta")), mapping(in_delta(choice)["delta"]))
    return next(filter(says, said), said[0])


def as_part(part: Any) -> JsonObject:
    """A part of content; a text alone, or without its kind, is one of text."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    known = mapping(part)
    return {**known, "type": "text"} if known.get("type") is None and isinstance(known.get("text"), str) else known
