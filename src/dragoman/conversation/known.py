"""Conversations that come again: whoever sends all they ever said with each turn need not say what is new.

Knows messages as values, and that the same objects are the same messages; nothing of what is made of them.
Contract: what is given is what came, item by item; a few conversations are held, none of them long, and none that holds
more than text.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import NamedTuple

from ..memo import Recent
from ..types import Message, Reasoning, Text, ToolCall, ToolResult
from .grown import Grown, grown
from .plain import PLAIN, SHORT, as_plain, looked_at

HELD = 8
"""Conversations, those that were asked last."""
FEWEST = 4
"""Messages of one that is worth it."""
LONGEST = 512 * 1024
"""Characters of one that is held."""
DEEPEST = 64
"""Turns after which what was made of them is made anew: each turn holds the one before."""


class _Held(NamedTuple):
    """A conversation, how long its texts are, and how many turns it holds."""

    said: Grown[Message]
    size: int
    turns: int


_HELD: Recent[tuple[int, int], _Held] = Recent(HELD)


def known_again(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages; as what they grew from, where a beginning of them was asked about before."""
    if type(messages) is not tuple or len(messages) < FEWEST:
        return messages
    key = id(messages[0]), id(messages[1])  # of objects that are held, so that no others have them
    held = _HELD.get(key)
    turns, base = (0, None) if held is None or held.turns >= DEEPEST else (held.turns, held.said)
    while base is not None and not _begins(messages, base):
        base, turns = base.base, turns - 1  # another turn behind the same beginning
    if base is not None and len(base) == len(messages):
        return base
    more = messages if base is None else messages[len(base) :]
    before = None if base is None else as_plain(base)
    found = looked_at(more, before) if base is None or before is not None else None
    if found is not None:
        size = found.size
    elif held is not None and base is held.said:
        size = held.size + sum(map(_size, more))
    else:
        size = sum(map(_size, messages))
    if size > LONGEST:
        return messages
    whole = grown(base, more, messages)
    if base is not None and base.base is not None:
        base.base.made.clear()  # what is asked from now on is made of what was made of `base`
    whole.made[PLAIN] = found, ()
    _HELD.put(key, _Held(whole, size, max(turns, 0) + 1))
    return whole


def _begins(messages: Sequence[Message], base: Grown[Message]) -> bool:
    """Do the messages begin with these very ones?"""
    end = len(base)
    return end <= len(messages) and base[-1] is messages[end - 1] and all(map(is_, base, messages))


def _size(message: Message) -> int:
    size = SHORT
    for part in message.parts:
        if isinstance(part, Text | Reasoning):
            size += len(part.text)
        elif isinstance(part, ToolCall):
            size += SHORT + len(part.raw or "")
        elif isinstance(part, ToolResult):
            size += sum([len(one.text) if isinstance(one, Text) else LONGEST for one in part.content])
        else:
            size += LONGEST
    return size
