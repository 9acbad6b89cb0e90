"""What a model must get back and clients drop: reasoning, signatures, and the ids it knows its calls by.

Gemini answers 400 to a call without its `thought_signature`, DeepSeek and Kimi to one without its reasoning; clients of
other APIs have nowhere to keep either (peers.md pains 16, 17, 21).  Knows messages; nothing of wires or stores.
Contract: only what the same words of the same owner called forth is given back, so that nobody's reasoning comes into
somebody else's conversation; what the client did send is never replaced; forgets the oldest first; threads may share
it, for whatever it does is one operation of a dictionary after the other, each whole.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..jsontext import to_json
from ..memo import Backing
from ..types import NOTHING, JsonObject, Message, Reasoning, Text, ToolCall, ToolResult

MOST_KEPT = 2000
"""Calls remembered; with reasoning of a few thousand characters each this is a few megabytes."""
_ODD = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(frozen=True, slots=True)
class Kept:
    """What belongs to one call: the id the model knows it by, its metadata, and the reasoning before it."""

    id: str
    metadata: JsonObject = NOTHING
    reasoning: tuple[Reasoning, ...] = ()


class SideCar:
    """What is kept, by where and how a call was made; `behind` is what other processes keep."""

    def __init__(self, behind: Backing[Kept] | None = None) -> None:
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._behind = behind

    def __len__(self) -> int:
        return len(self._kept)

    def remember(self, asked: Sequence[Message], answer: Message, owner: str = "") -> None:
        """Keep what `answer` to `asked` must come back with."""
        more = worth_keeping(asked, answer, owner)
        self._take(more)
        if more and self._behind is not None:
            self._behind.put(more)

    def refill(self, messages: Sequence[Message], owner: str = "") -> tuple[Message, ...]:
        """`messages`, and to each call what belongs to it and is missing."""
        called = [at for at, message in enumerate(messages) if message.calls]
        if not called or not (self._kept or (self._behind is not None and self._behind.holds())):
            return tuple(messages)
        keys = {at: list(_keys(_before(messages, at, owner), messages[at].calls)) for at in called}
        if self._behind is not None:
            missing = [key for each in keys.values() for pair in each if pair[0] not in self._kept for key in pair]
            self._take(self._behind.get(missing) if missing else {})
        told: list[Message] = []
        own_ids: dict[str, str] = {}
        for at, message in enumerate(messages):
            if at in keys:
                filled, own_ids = self._refilled(message, keys[at])
                told.append(filled)
            else:
                told.append(_with_own_ids(message, own_ids))
        return tuple(told)

    def _take(self, more: Mapping[str, Kept]) -> None:
        for key, each in more.items():
            self._kept.pop(key, None)
            self._kept[key] = each
        while len(self._kept) > 2 * MOST_KEPT:
            self._kept.popitem(last=False)

    def _refilled(self, message: Message, keys: Sequence[tuple[str, str]]) -> tuple[Message, dict[str, str]]:
        """The message, and which ids of its calls the model knows otherwise."""
        pairs = [(self._kept.get(by_id), self._kept.get(by_place)) for by_id, by_place in keys]
        found = [by_id or by_place for by_id, by_place in pairs]
        if not any(found):
            return message, {}
        calls = iter([_whole(call, kept) for call, kept in zip(message.calls, found, strict=True)])
        parts = [next(calls) if isinstance(part, ToolCall) else part for part in message.parts]
        thoughts = found[0].reasoning if found[0] is not None else ()
        if thoughts and not any(isinstance(part, Reasoning) for part in parts):
            parts = [*thoughts, *parts]
        told = Message(message.role, parts, cache=message.cache, metadata=message.metadata)
        ids = zip(message.calls, told.calls, strict=True)
        return told, {old.id: new.id for old, new in ids if old.id != new.id}


def worth_keeping(asked: Sequence[Message], answer: Message, owner: str = "") -> dict[str, Kept]:
    """What `answer` to `asked` must come back with, by its keys; nothing where nobody drops anything."""
    thoughts = tuple(part for part in answer.parts if isinstance(part, Reasoning))
    if not answer.calls or not (thoughts or any(call.metadata for call in answer.calls)):
        return {}
    kept: dict[str, Kept] = {}
    keys = _keys(_before(asked, len(asked), owner), answer.calls)
    for at, (pair, call) in enumerate(zip(keys, answer.calls, strict=True)):
        kept |= dict.fromkeys(pair, Kept(call.id, call.metadata, () if at else thoughts))
    return kept


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


def _before(messages: Sequence[Message], at: int, owner: str) -> str:
    """What was said between the assistant's last turn and the one at this place, and whose conversation it is."""
    said: list[str] = []
    for place in range(at - 1, -1, -1):
        if messages[place].role == "assistant":
            break
        texts = [part.text for part in messages[place].parts if isinstance(part, Text | ToolResult)]
        said.append("\0".join(text.strip() for text in texts))
    return _digest("\1".join([*said, owner]))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
