"""What a model must get back and clients drop: reasoning, signatures, and the ids it knows its calls by.

Gemini answers 400 to a call without its `thought_signature`, DeepSeek and Kimi to one without its reasoning; clients of
other APIs have nowhere to keep either (peers.md pains 16, 17, 21).  Knows messages; nothing of wires or stores.
Contract: a value, passed in and given back; only what the same words called forth is given back, so that nobody's
reasoning comes into somebody else's conversation; what the client did send is never replaced; forgets the oldest first.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from .frames import to_json
from .types import NOTHING, JsonObject, Message, Reasoning, Text, ToolCall, ToolResult

MOST_KEPT = 2000
"""Calls remembered; with reasoning of a few thousand characters each this is a few megabytes."""
_ODD = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(frozen=True, slots=True)
class Kept:
    """What belongs to one call: the id the model knows it by, its metadata, and the reasoning before it."""

    id: str
    metadata: JsonObject = NOTHING
    reasoning: tuple[Reasoning, ...] = ()


@dataclass(frozen=True, slots=True)
class SideCar:
    """What is kept, by where and how a call was made."""

    kept: Mapping[str, Kept] = NOTHING

    def remember(self, asked: Sequence[Message], answer: Message) -> SideCar:
        """This, and what `answer` to `asked` must come back with; the same object where there is nothing to keep."""
        thoughts = tuple(part for part in answer.parts if isinstance(part, Reasoning))
        if not answer.calls or not (thoughts or any(call.metadata for call in answer.calls)):
            return self
        kept = dict(self.kept)
        for at, (keys, call) in enumerate(zip(_keys(_before(asked), answer.calls), answer.calls, strict=True)):
            for key in keys:
                kept.pop(key, None)
                kept[key] = Kept(call.id, call.metadata, () if at else thoughts)
        return SideCar(dict(islice(kept.items(), max(0, len(kept) - 2 * MOST_KEPT), None)))

    def refill(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """`messages`, and to each call what belongs to it and is missing."""
        if not self.kept:
            return tuple(messages)
        told: list[Message] = []
        own_ids: dict[str, str] = {}
        for at, message in enumerate(messages):
            if message.calls:
                filled, own_ids = self._refilled(message, _before(messages[:at]))
                told.append(filled)
            else:
                told.append(_with_own_ids(message, own_ids))
        return tuple(told)

    def _refilled(self, message: Message, before: str) -> tuple[Message, dict[str, str]]:
        """The message, and which ids of its calls the model knows otherwise."""
        keys = list(_keys(before, message.calls))
        found = [next((self.kept[key] for key in pair if key in self.kept), None) for pair in keys]
        if not any(found):
            return message, {}
        calls = iter([_whole(call, kept) for call, kept in zip(message.calls, found, strict=True)])
        parts = [next(calls) if isinstance(part, ToolCall) else part for part in message.parts]
        thoughts = found[0].reasoning if found[0] is not None else ()
        if thoughts and not any(isinstance(part, Reasoning) for part in parts):
            parts = [*thoughts, *parts]
        told = Message(message.role, parts, cache=message.cache, metadata=message.metadata)
        pairs = zip(message.calls, told.calls, strict=True)
        return told, {old.id: new.id for old, new in pairs if old.id != new.id}


EMPTY = SideCar()


def _whole(call: ToolCall, kept: Kept | None) -> ToolCall:
    if kept is None:
        return call
    return replace(call, id=kept.id or call.id, metadata=call.metadata or kept.metadata)


def _with_own_ids(message: Message, own: Mapping[str, str]) -> Message:
    if not own or not any(result.call_id in own for result in message.results):
        return message
    parts = [
        ToolResult(
            call_id=own.get(part.call_id, part.call_id),
            name=part.name,
            content=part.content,
            is_error=part.is_error,
            error_code=part.error_code,
            metadata=part.metadata,
        )
        if isinstance(part, ToolResult)
        else part
        for part in message.parts
    ]
    return Message(message.role, parts, cache=message.cache, metadata=message.metadata)


def _keys(before: str, calls: Sequence[ToolCall]) -> Iterator[tuple[str, str]]:
    """For each call the keys it is kept under: with its id as clients may echo it, and, for those that drop it, by its
    place."""
    for place, call in enumerate(calls):
        what = f"{before}\0{call.name}\0{to_json(dict(sorted(call.arguments.items())))}"
        yield _digest(f"id\0{_ODD.sub('_', call.id)}\0{what}"), _digest(f"place\0{place}\0{what}")


def _before(messages: Sequence[Message]) -> str:
    """What was said between the assistant's last turn and this one."""
    said: list[str] = []
    for message in reversed(messages):
        if message.role == "assistant":
            break
        texts = [part.text for part in message.parts if isinstance(part, Text | ToolResult)]
        said.append("\0".join(text.strip() for text in texts))
    return _digest("\1".join(said))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
