"""Turns that clients do not see: what a model did between a request and its answer, given back when it goes on.

Clients never see the calls that were run for them, so they cannot send them back; without this a model forgets what it
found out.  Knows messages and effects; nothing of tools or wires.  A cache, of one process or of several: what is not
remembered any more is only forgotten, and the conversation is the one the client sent.
Contract: turns come back only to the owner they were made for, before the very answer they led to, in the place where
the same words asked for it; the oldest are forgotten first; characters remembered are bounded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from ..effects import Machine
from ..jsontext import to_json
from ..turn.shared_cache import Shared, SharedCache
from ..types import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult

MOST_REMEMBERED = 16 * 1024 * 1024
"""Characters of turns that are remembered."""
Turns = tuple[Message, ...]


class Memory:
    """The turns behind late answers, up to `limit` characters; `shared` where other processes have some too."""

    def __init__(self, limit: int = MOST_REMEMBERED, shared: Shared[Turns] | None = None) -> None:
        self._cache = SharedCache(limit, _size, shared)

    def remember(
        self, owner: str, asked: Sequence[Message], answer: Message, turns: Sequence[Message]
    ) -> Machine[None]:
        """`turns` led from `asked` to `answer`."""
        if turns:
            yield from self._cache.put(dict.fromkeys(_keys(_places(owner, asked)[-1], answer), tuple(turns)))

    def refill(self, owner: str, messages: Sequence[Message]) -> Machine[tuple[Message, ...]]:
        """`messages`, and before each answer the turns that led to it."""
        if not self._cache.holds():
            return tuple(messages)
        answers = [at for at, message in enumerate(messages) if message.role == "assistant"]
        places = _places(owner, messages)
        keys = {at: _keys(places[at], messages[at]) for at in answers}
        found = yield from self._cache.get(list(chain.from_iterable(keys.values())))
        restored: list[Message] = []
        for at, message in enumerate(messages):
            known = filter(None, map(found.get, keys.get(at, ())))
            restored += _led_to(message, next(known, ()))
        return tuple(restored)


class HiddenTurns:
    """The turns behind the answer to one request of `owner`."""

    def __init__(self, memory: Memory, owner: str) -> None:
        self.turns: list[Message] = []
        self._memory, self._owner = memory, owner
        self._first = 0  # messages that came before the turns

    def begin(self, messages: Sequence[Message]) -> None:
        """Turns come after these messages."""
        self._first = len(messages)

    def add(self, message: Message, results: Sequence[ToolResult]) -> None:
        """An answer of the model, and the results of its calls."""
        if message.parts:
            self.turns.append(message)
        if results:
            self.turns.append(Message("tool", results))

    def put_into(self, messages: Sequence[Message]) -> Machine[tuple[Message, ...]]:
        """`messages` as the model knows them: with these turns, and with those behind earlier answers."""
        before, after = messages[: self._first], messages[self._first :]
        if self.turns and after and after[0].role == "assistant":
            left = remainder(after[0], self.turns)
            after = (*([left] if left.parts else ()), *after[1:])
        restored = yield from self._memory.refill(self._owner, before)
        return (*restored, *self.turns, *after)

    def remember(self, messages: Sequence[Message], answer: Message) -> Machine[None]:
        """These turns led to `answer`."""
        yield from self._memory.remember(self._owner, messages[: self._first], answer, self.turns)


def _led_to(message: Message, turns: Turns) -> Turns:
    """The turns that led to `message`, and what is left of it after them."""
    if not turns:
        return (message,)
    left = remainder(message, turns)
    return (*turns, left) if left.parts else turns


def _size(turns: Turns) -> int:
    return sum(len(text) for message in turns for text in _texts(message))


def remainder(message: Message, turns: Sequence[Message]) -> Message:
    """`message` without what `turns` say already: it went out after them, as one answer with them."""
    before = [turn for turn in turns if turn.role == "assistant"]
    text = message.text
    for turn in before:
        text = _without(text, turn.text.strip())
    left = _cut(message.parts, len(message.text) - len(text))
    parts = [part for part in left if not any(_holds(turn, part) for turn in before)]
    return message.with_parts(parts)


def _holds(turn: Message, part: Part) -> bool:
    """Does `turn` hold this reasoning, medium or block?"""
    if isinstance(part, Reasoning):
        return bool(part.text) and part.text == turn.reasoning
    return isinstance(part, Media | Opaque) and part in turn.parts


def _without(text: str, start: str) -> str:
    rest = text.lstrip()
    return rest[len(start) :] if start and rest.startswith(start) else text


def _cut(parts: Sequence[Part], size: int) -> Iterator[Part]:
    """The parts without the first `size` characters of their texts, and without the space after those."""
    leads = size > 0
    for part in parts:
        if not isinstance(part, Text):
            yield part
            continue
        left, size = part.text[size:], max(0, size - len(part.text))
        left = left.lstrip() if leads else left
        leads = leads and not left
        if left:
            yield replace(part, text=left)


def _texts(message: Message) -> Iterator[str]:
    for part in message.parts:
        yield part.text if isinstance(part, Text | Reasoning | ToolResult) else ""
    for call in message.calls:
        yield call.name + to_json(dict(call.arguments))


def _places(owner: str, messages: Sequence[Message]) -> list[str]:
    """A digest of whose a conversation is and of all that stands before each message of it, and behind the last.

    Two that end alike are two: nobody's hidden turns come into another conversation.
    """
    places = [_digest(owner)]
    for message in messages:
        said = (_words(part.text) for part in message.parts if isinstance(part, Text | ToolResult))
        places.append(_digest(chr(1).join((places[-1], message.role, *said, *map(_written, message.calls)))))
    return places


def _keys(place: str, message: Message) -> list[str]:
    """An answer is known again by any of its calls; one without calls by its words."""
    calls = [f"call\0{_written(call)}" for call in message.calls]
    return [_digest(f"{place}\0{what}") for what in calls or [f"text\0{_words(message.text)}"]]


def _written(call: ToolCall) -> str:
    return f"{call.name}\0{to_json(dict(sorted(call.arguments.items())))}"


def _words(text: str) -> str:
    """The text, however it is spaced."""
    return " ".join(text.split())


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
