"""Conversations of texts, calls and their results, all in order, as nearly all are: found so in one look.

A stage that has nothing to do with such a conversation need not look at it.  Knows messages, and how conversations
grow; nothing of what a stage does, and no wire.
Contract: of a conversation that is plain, `repair` changes nothing, and every message is `bare`: each call has an id,
and its result, with a name, in the message behind it; no turn of the model holds a text of nothing.  Of one that grew
only what is new is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from ..types import Message, Part, Text, ToolCall, ToolResult
from .grown import Grown, grown
from .naming import fitting
from .requirements import WireRequirements

SHORT: Final = 64
"""Characters that a call and what stands around a text count as."""
_SAID = frozenset({"system", "user", "assistant"})


class Plain:
    """What is known of a plain conversation.

    size    its characters, as `known.py` counts them
    ids     of its calls;  unique  whether each has one of its own;  names  those of the tools
    single  does no turn make more than one call?
    opened  is there more than instructions?
    filled  do instructions stand in front alone, then words of the user, and is no text blank?
    """

    __slots__ = ("_base", "_fits", "_new", "filled", "ids", "names", "opened", "single", "size", "unique")

    def __init__(
        self, base: Plain | None, size: int, calls: list[str], names: set[str],
        *, single: bool, filled: bool, opened: bool,
    ) -> None:  # fmt: skip
        known, named = (_NONE, _NONE) if base is None else (base.ids, base.names)
        self.size = size
        self.ids: frozenset[str] = known.union(calls) if calls else known
        self.names: frozenset[str] = named if names <= named else named | names
        self.unique: bool = len(self.ids) == len(known) + len(calls) and (base is None or base.unique)
        self.single: bool = single and (base is None or base.single)
        self.filled, self.opened = filled, opened
        self._new = calls, names - named
        self._fits: tuple[tuple[WireRequirements, bool], ...] = ()
        self._base = base
        if base is not None:
            base._base = None  # of a long conversation its last two turns are enough to know

    def fits(self, requirements: WireRequirements) -> bool:
        """Are ids and names as the wire takes them?"""
        for known, verdict in self._fits:
            if known is requirements:
                return verdict
        base, fine = self._base, True
        ids: Collection[str] = self.ids
        names: Collection[str] = self.names
        if base is not None:
            (ids, names), fine = self._new, base.fits(requirements)
        fine = fine and (not ids or fitting(requirements.ids, ids))
        fine = fine and (not names or fitting(requirements.names, names))
        self._fits = (*self._fits[-MOST_WIRES:], (requirements, fine))
        return fine


MOST_WIRES: Final = 4
"""Wires beside one of which it is remembered whether a conversation fits."""
_NONE: frozenset[str] = frozenset()


def as_plain(messages: Sequence[Message]) -> Plain | None:
    """What is known of `messages`; None where they are not plain."""
    found: Plain | None
    if type(messages) is not Grown:
        latest, found = _LATEST[0]
        if latest is not messages:
            found = looked_at(messages, None)
            if type(messages) is tuple and len(messages) <= FEW:
                _LATEST[0] = messages, found  # every stage of a turn asks, one behind the other
        return found
    made = messages.made.get(PLAIN)
    if made is not None:
        found = made[0]
        return found
    base = messages.base
    if base is None:
        found = looked_at(messages, None)
    else:
        known = base.made.get(PLAIN)
        before: Plain | None = as_plain(base) if known is None else known[0]
        found = None if before is None else looked_at(messages[len(base) :], before)
    messages.made[PLAIN] = found, ()
    return found


FEW: Final = 8
"""Messages of a conversation that is held when nobody serves it any more: the latest that was asked about."""
_LATEST: list[tuple[Sequence[Message] | None, Plain | None]] = [(None, None)]
PLAIN: Final = "plain"
"""Where what was found of a conversation is held."""


def as_grown(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """A plain conversation as one that grows, also where it is the first that was asked."""
    if type(messages) is Grown:
        return messages
    whole = grown(None, (), messages)
    whole.made[PLAIN] = as_plain(messages), ()
    return whole


def known_plain(behind: Sequence[Message], whole: Sequence[Message]) -> None:
    """Note that `behind` is `whole` without the instructions in front of it, of which as much is known."""
    if type(behind) is Grown and type(whole) is Grown and (made := whole.made.get(PLAIN)) is not None:
        behind.made[PLAIN] = made


def looked_at(messages: Sequence[Message], before: Plain | None) -> Plain | None:
    """What is known of `messages` behind those of `before`.

    Three kinds are nearly all: a text, a call, mostly behind a text, and its result.  They are gone through here, for a
    first turn looks at every message there is.
    """
    size = SHORT * len(messages) + (0 if before is None else before.size)
    calls: list[str] = []
    names: set[str] = set()
    waiting: list[str] = []
    single, opened, filled = True, False, True
    if before is not None:
        opened, filled = before.opened, before.filled
    for message in messages:
        role, parts = message.role, message.parts
        if message.cache or message.metadata:
            return None
        last: Any = parts[-1] if parts else None
        kind, count, blank = type(last), len(parts), False
        if kind is Text and count == 1 and not waiting and (said := last.text) and role in _SAID and not last.metadata:
            size += len(said)
            blank = said.isspace()
        elif kind is ToolResult and count == 1 and len(content := last.content) == 1 and role == "tool":
            told: Any = content[0]
            if type(told) is not Text or told.metadata or last.metadata or waiting != [last.call_id]:
                return None
            if not (name := last.name):
                return None
            size += len(told.text)
            names.add(name)
            waiting = []
            continue
        elif (
            kind is ToolCall and not waiting and role == "assistant" and not last.metadata and count < 3
            and (count == 1 or (type(first := parts[0]) is Text and first.text and not first.metadata))
        ):  # fmt: skip
            size += SHORT + len(last.raw or "")
            if count == 2:
                size += len(first.text)  # type: ignore[union-attr]
                blank = first.text.isspace()  # type: ignore[union-attr]
            waiting = [last.id]
            calls.append(last.id)
            names.add(last.name)
        elif role == "tool":
            read, waiting = _results(parts, waiting, names), []
            if read < 0:
                return None
            size += read
        elif waiting or role not in _SAID or (read := _said(parts, waiting, names, calls=role == "assistant")) < 0:
            return None
        else:
            size += read
            calls += waiting
            single = single and len(waiting) < 2
            blank = _has_blank(parts)
        if blank or not opened or role == "system":
            filled = filled and (not opened if role == "system" else (opened or role == "user") and not blank)
            opened = opened or role != "system"
    if waiting or not all(calls):
        return None
    return Plain(before, size, calls, names, single=single, filled=filled, opened=opened)


def _has_blank(parts: Sequence[Part]) -> bool:
    return not parts or any(type(part) is Text and (not part.text or part.text.isspace()) for part in parts)


def _said(parts: Sequence[Part], waiting: list[str], names: set[str], *, calls: bool) -> int:
    """The characters of texts, -1 for what is not just that.

    In a turn of the model, which may hold `calls`, they say something, and calls count too.
    """
    size = 0
    for part in parts:
        if type(part) is Text and not part.metadata and (part.text or not calls):
            size += len(part.text)
        elif type(part) is ToolCall and not part.metadata and calls:
            size += SHORT + len(part.raw or "")
            waiting.append(part.id)
            names.add(part.name)
        else:
            return -1
    return size


def _results(parts: Sequence[Part], waiting: list[str], names: set[str]) -> int:
    """The characters of results that answer the calls `waiting`, -1 for what is not just that."""
    if len(parts) != len(waiting) or not waiting:
        return -1
    size = 0
    for part, call_id in zip(parts, waiting, strict=True):
        if type(part) is not ToolResult or part.metadata or not part.name or part.call_id != call_id:
            return -1
        for one in part.content:
            if type(one) is not Text or one.metadata:
                return -1
            size += len(one.text)
        names.add(part.name)
    return size if len(waiting) == 1 or len({*waiting}) == len(waiting) else -1
