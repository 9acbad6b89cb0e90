"""Conversations that come again: whoever sends all they ever said with each turn need not say what is new.

Knows messages as values, and that the same objects are the same messages; nothing of what is made of them.
Contract: what is given is what came, item by item; of what is held all together is bounded, and each by itself; none is
held that holds blocks of a wire, of which nobody knows how large they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import TypeAlias

from ..memo import Recent
from ..types import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult
from .grown import Grown, by_growth, grown
from .plain import SHORT, as_plain

HELD = 8
"""Places for conversations, those that were asked last; a long one takes several."""
PLACE = 512 * 1024
"""Characters that have room in one place."""
FEWEST = 4
"""Messages of one that is worth it."""
LONGEST = HELD // 2 * PLACE
"""Characters of one that is held, which may take half of the places: the longest, those of agents, go on for hundreds
of turns, and to write one of 1,000 messages anew takes thirty times as long as to go on with it."""

_Held: TypeAlias = tuple[Grown[Message] | None, int]
"""A conversation, and how many places it takes."""
_HELD: Recent[tuple[int, int], list[_Held]] = Recent(HELD)
"""Each in a place of its own, where its next turn takes its place."""


def known_again(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages; as what they grew from, where a beginning of them was asked about before."""
    if type(messages) is not tuple or len(messages) < FEWEST:
        return messages
    key = id(messages[0]), id(messages[1])  # of objects that are held, so that no others have them
    place = _HELD.get(key)
    base, taken = _NOBODY if place is None else place[0]
    size = len(messages)
    while base is not None:
        end = len(base)
        if end <= size and base[-1] is messages[end - 1] and all(map(is_, base, messages)):
            break
        base = base.base  # another turn behind the same beginning
    if base is not None and len(base) == size:
        return base
    whole = grown(base, (), messages)
    found = as_plain(whole)
    characters = _size_of(whole) if found is None else found.size
    if characters > LONGEST:
        return messages
    before = base.base if base is not None else None
    if before is not None:
        before.made.clear()  # what is asked from now on is made of what was made of `base`
    held = whole, -(-characters // PLACE)
    if place is None or held[1] != taken:
        _HELD.put(key, [held], held[1])
    else:
        place[0] = held
    return whole


_NOBODY: _Held = None, 0


@by_growth
def _size_of(messages: Sequence[Message], start: int, known: int | None) -> int:
    return (known or 0) + sum(map(_size, messages[start:]))


def _size(message: Message) -> int:
    size = SHORT
    for part in message.parts:
        if isinstance(part, Reasoning):
            size += len(part.text)
        elif isinstance(part, ToolCall):
            size += SHORT + len(part.raw or "")
        elif isinstance(part, ToolResult):
            size += sum(map(_size_of_content, part.content))
        else:
            size += _size_of_content(part)
    return size


def _size_of_content(part: Part) -> int:
    """Its characters; media are held once more, as a wire writes them."""
    if isinstance(part, Text):
        return len(part.text)
    return SHORT + 2 * len(part.data or part.url or "") if isinstance(part, Media) else LONGEST
