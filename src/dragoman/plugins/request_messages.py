"""What a request's own messages say that bears on its answer: texts the model was shown, and ids that are taken.

Knows messages of OpenAI's chat API and items of its Responses API, as plain mappings; nothing of servers.
Contract: what has another form is passed over, never consumed, never an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dragoman.dialects.judge.provenance import ShownText

RESULTS = ("function_call_output", "custom_tool_call_output")


def shown_texts(messages: object) -> Iterator[ShownText]:
    """The texts of the conversation, by whom: a call copied out of a tool's result is none."""
    for message in _mappings(messages):
        if message.get("role") == "tool":
            yield ShownText(_text(message.get("content")), name=str(message.get("name") or ""))
        elif message.get("type") in RESULTS:
            yield ShownText(_text(message.get("output")))
        elif message.get("role") in ("user", "assistant"):
            yield ShownText(_text(message.get("content")), "user" if message["role"] == "user" else "assistant")


def taken_ids(messages: object) -> frozenset[str]:
    """The ids of calls in the conversation."""
    return frozenset(_ids(messages))


def _ids(messages: object) -> Iterator[str]:
    for message in _mappings(messages):
        for owner in (message, *_mappings(message.get("tool_calls"))):
            for key in ("id", "call_id", "tool_call_id"):
                if isinstance(found := owner.get(key), str):
                    yield found


def _mappings(things: object) -> Iterable[Mapping[str, Any]]:
    return [thing for thing in things if isinstance(thing, Mapping)] if isinstance(things, list | tuple) else []


def _text(content: object) -> str:
    """The text of a message, or of its parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in _mappings(content) if isinstance(part.get("text"), str))
