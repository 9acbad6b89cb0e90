"""Where in the body of an answer a model's message stands, and why it stopped, on each wire: paths, and nothing else.

Knows the outermost fields of the APIs' answers; not what a message says.  Contract: the first place that holds
something counts, the body itself where none does; nothing raises on what a peer sent.
Sources: the API references; gemini-cli, `code_assist/converter.ts` (the envelope).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]

KINDS: Mapping[type, type | tuple[type, ...]] = {dict: Mapping, list: (list, tuple), str: str}
"""What counts as one, of each."""
PLACES: tuple[tuple[Path, type, Path], ...] = (
    (("choices", 0, "message"), dict, ("choices", 0, "finish_reason")),
    (("choices", 0, "delta"), dict, ("choices", 0, "finish_reason")),
    (("choices", 0), dict, ("choices", 0, "finish_reason")),  # a completion: its `text` stands beside that
    (("candidates", 0, "content"), dict, ("candidates", 0, "finishReason")),
    (("output", "message"), dict, ("stopReason",)),
    (("output",), list, ("incomplete_details", "reason")),
    (("steps",), list, ("status",)),
    (("message",), dict, ()),
    (("message",), str, ()),
)
"""The message, what it is, and why it stopped: chat, Gemini, Bedrock, Responses, interactions; of Ollama and Cohere one
of `FINISHES` says that."""
FINISHES = ("finish_reason", "stop_reason", "finish", "done_reason")
"""The reason to stop where it stands beside the message, or the body is one itself."""
NESTED = ("message", "model_output")
"""Kinds of items that hold blocks."""
ENVELOPE = "response"
"""Field in which Code Assist has the answer, an event of Responses the whole of it, and Ollama's completions a text."""
CONTENTS = ("text", "content", "parts")
"""Under which a message has what it says, the first that is there."""


def message_in(body: Mapping[str, Any]) -> tuple[Any, Any]:
    """The message of an answer, and why it stopped."""
    while isinstance(inner := body.get(ENVELOPE), Mapping):
        body = inner
    beside = next((body[key] for key in FINISHES if body.get(key)), None)
    for path, kind, finish in PLACES:
        if (found := _at(body, path)) and isinstance(found, KINDS[kind]):
            return found, _at(body, finish) if finish else beside
    return ({"text": inner} if isinstance(inner, str) and "text" not in body else body), beside


def is_piece(body: Mapping[str, Any]) -> bool:
    """Is this one event of a stream of chat rather than an answer, which would say why it stopped?"""
    return isinstance(_at(body, ("choices", 0, "delta")), Mapping) and not (
        _at(body, ("choices", 0, "message")) or _at(body, ("choices", 0, "finish_reason"))
    )


def blocks_of(message: Any) -> Iterator[Mapping[str, Any]]:
    """What a message says, block by block; those of a message among them are among its own."""
    content = message
    if isinstance(message, Mapping):
        content = next((message[key] for key in CONTENTS if message.get(key) is not None), ())
    if isinstance(content, str | Mapping):
        content = (content,)
    for one in content if isinstance(content, Sequence) else ():
        if isinstance(one, str):
            yield {"type": "text", "text": one}
        elif isinstance(one, Mapping):
            yield from blocks_of(one) if one.get("type") in NESTED else (one,)


def _at(body: Any, path: Path) -> Any:
    """What stands there; None where nothing does."""
    for step in path:
        if isinstance(step, str):
            body = body.get(step) if isinstance(body, Mapping) else None
        else:
            body = body[step] if isinstance(body, list | tuple) and len(body) > step else None
    return body
