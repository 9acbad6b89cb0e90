"""What the house did in answers told before: its turns, given back to the model when the conversation goes on.

Clients never see the calls that were run for them, so they cannot send them back; without this a model forgets what it
found out.  Knows messages; nothing of tools or wires.  A cache, of one process or of several: what is not kept any more
is only forgotten, and the conversation is the one the client sent.
Contract: turns come back only to the owner they were made for, before the very answer they led to, in the place where
the same words asked for it; the oldest are forgotten first; characters kept are bounded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..jsontext import to_json
from ..memo import BackedCache, Backing
from ..types import Media, Message, Opaque, Part, Reasoning, Text, ToolResult

MOST_KEPT = 16 * 1024 * 1024
"""Characters of turns that are kept."""
Turns = tuple[Message, ...]


class Memory:
    """The house's turns of answers told lately, up to `limit` characters of them; `behind` are other processes'."""

    def __init__(self, limit: int = MOST_KEPT, behind: Backing[Turns] | None = None) -> None:
        self._kept = BackedCache(limit, _size, behind)

    def remember(self, owner: str, asked: Sequence[Message], told: Message, turns: Sequence[Message]) -> None:
        """`turns` led from `asked` to what was told."""
        if turns:
            self._kept.put(dict.fromkeys(_keys(owner, asked, told), tuple(turns)))

    def refill(self, owner: str, messages: Sequence[Message]) -> tuple[Message, ...]:
        """`messages`, and before each answer the turns that led to it."""
        if not self._kept.holds():
            return tuple(messages)
        answers = [at for at, message in enumerate(messages) if message.role == "assistant"]
        keys = {at: _keys(owner, messages[:at], messages[at]) for at in answers}
        found = self._kept.get([key for each in keys.values() for key in each])
        told: list[Message] = []
        for at, message in enumerate(messages):
            turns = next((found[key] for key in keys.get(at, ()) if key in found), ())
            if not turns:
                told.append(message)
                continue
            left = remainder(message, turns)
            told += (*turns, left) if left.parts else turns
        return tuple(told)


def _size(turns: Turns) -> int:
    return sum(len(text) for message in turns for text in _texts(message))


def remainder(message: Message, turns: Sequence[Message]) -> Message:
    """`message` without what `turns` say already: it was told after them, as one answer with them."""
    text, before = message.text, [turn for turn in turns if turn.role == "assistant"]
    for turn in before:
        said = turn.text.strip()
        if said and text.lstrip().startswith(said):
            text = text.lstrip()[len(said) :]
    thoughts = {turn.reasoning for turn in before if turn.reasoning}
    blocks = [part for turn in before for part in turn.parts if isinstance(part, Media | Opaque)]
    parts: list[Part] = []
    cut = len(message.text) - len(text)
    leads = cut > 0
    for part in message.parts:
        if isinstance(part, Text):
            kept, cut = part.text[cut:], max(0, cut - len(part.text))
            kept = kept.lstrip() if leads else kept
            leads = leads and not kept
            if kept:
                parts.append(replace(part, text=kept))
        elif part not in blocks and not (isinstance(part, Reasoning) and part.text in thoughts):
            parts.append(part)
    return Message(message.role, parts, cache=message.cache, metadata=message.metadata)


def _texts(message: Message) -> Iterator[str]:
    for part in message.parts:
        yield part.text if isinstance(part, Text | Reasoning | ToolResult) else ""
    for call in message.calls:
        yield call.name + to_json(dict(call.arguments))


def _keys(owner: str, before: Sequence[Message], message: Message) -> list[str]:
    """An answer is known again by any of its calls; one without calls by its words."""
    said: list[str] = []
    for one in reversed(before):
        if one.role == "assistant":
            break
        said += (_words(part.text) for part in one.parts if isinstance(part, Text | ToolResult))
    place = f"{owner}\0{chr(1).join(said)}"
    calls = [f"call\0{call.name}\0{to_json(dict(sorted(call.arguments.items())))}" for call in message.calls]
    return [_digest(f"{place}\0{what}") for what in calls or [f"text\0{_words(message.text)}"]]


def _words(text: str) -> str:
    """The text, however it is spaced."""
    return " ".join(text.split())


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
