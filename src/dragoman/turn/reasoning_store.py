"""Reasoning, signatures and ids of calls that a model must get back and clients drop.

Gemini answers 400 to a call without its `thought_signature`, DeepSeek and Kimi to one without its reasoning; clients of
other APIs have nowhere to keep either (peers.md pains 16, 17, 21).  Knows messages and effects; nothing of wires or
stores.
Contract: only what the whole same conversation of the same owner called forth is given back, so that nobody's
reasoning comes into another conversation: two that end alike, or that go on from one place, are two; what the client
did send is never replaced, its ids neither; forgets first what was not asked for longest; threads may share it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..conversation.grown import by_growth, same
from ..conversation.naming import PLAIN_IDS
from ..effects import Machine
from ..jsontext import to_json
from ..types import NOTHING, JsonObject, Media, Message, Part, Reasoning, Text, ToolCall, ToolResult
from .shared_cache import Shared, SharedCache

MOST_CALLS = 2000
"""Calls remembered; with reasoning of a few thousand characters each this is a few megabytes."""


@dataclass(frozen=True, slots=True)
class ReplayState:
    """State that belongs to one call: the id the model knows it by, its metadata, and the reasoning before it."""

    id: str
    metadata: JsonObject = NOTHING
    reasoning: tuple[Reasoning, ...] = ()


class ReasoningStore:
    """Replay states, by where and how a call was made; `shared` where other processes have some too."""

    def __init__(self, shared: Shared[ReplayState] | None = None) -> None:
        self._states: SharedCache[ReplayState] = SharedCache(2 * MOST_CALLS, lambda _: 1, shared)

    def __len__(self) -> int:
        return len(self._states)

    def is_empty(self) -> bool:
        """Does nobody know of any?"""
        return not self._states.holds()

    def remember(self, asked: Sequence[Message], answer: Message, owner: str = "") -> Machine[None]:
        """Keep what `answer` to `asked` must come back with."""
        states = replay_states(asked, answer, owner)
        if states:
            yield from self._states.put(states)

    def refill(self, messages: Sequence[Message], owner: str = "") -> Machine[tuple[Message, ...]]:
        """`messages`, and to each call what belongs to it and is missing."""
        if not self._states.holds():
            return same(messages)
        keys = dict(_called(messages, owner)[1])
        states = yield from self._states.get([key for each in keys.values() for pair in each for key in pair])
        if not states:
            return same(messages)
        filled: list[Message] = []
        own_ids: OwnIds = {}
        for at, message in enumerate(messages):
            if at in keys:
                found = [states.get(by_id) or states.get(by_place) for by_id, by_place in keys[at]]
                whole, own_ids = _refilled(message, found)
                filled.append(whole)
            else:
                filled.append(_with_own_ids(message, own_ids))
        return tuple(filled)


OwnIds: TypeAlias = dict[str, list[tuple[str, str]]]
"""A client's id → the calls that it gave it to, by their names, and the ids that the model knows them by."""


def _refilled(message: Message, states: Sequence[ReplayState | None]) -> tuple[Message, OwnIds]:
    """The message, and which ids of its calls the model knows otherwise."""
    if not any(states):
        return message, {}
    calls = iter([_whole(call, state) for call, state in zip(message.calls, states, strict=True)])
    parts = [next(calls) if isinstance(part, ToolCall) else part for part in message.parts]
    thoughts = states[0].reasoning if states[0] is not None else ()
    said = [part for part in parts if isinstance(part, Reasoning)]
    if thoughts and _is_bare(said, thoughts):
        parts = [*thoughts, *(part for part in parts if not isinstance(part, Reasoning))]
    whole = message.with_parts(parts)
    own: OwnIds = {}
    for old, new in zip(message.calls, whole.calls, strict=True):
        if old.id != new.id:
            own.setdefault(old.id, []).append((new.name, new.id))
    return whole, own


def _is_bare(said: Sequence[Reasoning], thoughts: Sequence[Reasoning]) -> bool:
    """Is what was said of reasoning nothing, or the same words without what belongs to them?"""
    if any(part.metadata for part in said):
        return False
    return not said or _words(said) == _words(thoughts)


def _words(parts: Sequence[Reasoning]) -> list[str]:
    return "".join(part.text for part in parts).split()


def replay_states(asked: Sequence[Message], answer: Message, owner: str = "") -> dict[str, ReplayState]:
    """The states that `answer` to `asked` must come back with, by key; none where nobody drops anything."""
    thoughts = tuple(part for part in answer.parts if isinstance(part, Reasoning))
    if not answer.calls or not (thoughts or any(call.metadata for call in answer.calls)):
        return {}
    states: dict[str, ReplayState] = {}
    keys = _keys(_called(asked, owner)[0], answer.calls)
    for at, (pair, call) in enumerate(zip(keys, answer.calls, strict=True)):
        states |= dict.fromkeys(pair, ReplayState(call.id, _unbound(call.metadata), () if at else thoughts))
    return states


BOUND = "id"
"""An item's own id: refused without the item of reasoning it followed, and needless, for a call has its `call_id`."""


def _unbound(metadata: JsonObject) -> JsonObject:
    """The metadata of a call without its item's own id."""
    if BOUND not in metadata:
        return metadata
    unbound = copy(metadata)
    del unbound[BOUND]  # type: ignore[attr-defined]
    return unbound


def _whole(call: ToolCall, state: ReplayState | None) -> ToolCall:
    if state is None:
        return call
    return replace(call, id=_own_id(call.id, state.id), metadata=call.metadata or state.metadata)


def _own_id(sent: str, own: str) -> str:
    """The model's own id where the client sent none, or the same in other signs; else what the client sent."""
    return own if own and (not sent or PLAIN_IDS.plain(sent) == PLAIN_IDS.plain(own)) else sent


def _with_own_ids(message: Message, own: OwnIds) -> Message:
    if not own or not any(result.call_id in own for result in message.results):
        return message
    return message.with_parts(
        _with_own_id(part, own) if isinstance(part, ToolResult) else part for part in message.parts
    )


def _with_own_id(result: ToolResult, own: OwnIds) -> ToolResult:
    """The result under the model's id; of calls under one id it answers the first of its name that none has yet."""
    known = own.get(result.call_id)
    if not known:
        return result
    found = next((one for one in known if one[0] == result.name), known[0])
    known.remove(found)
    return replace(result, call_id=found[1])


Keys: TypeAlias = tuple[tuple[str, str], ...]
"""For each call of a turn its keys: with its id as clients may echo it, and, for those that drop it, by its place."""


def _keys(before: str, calls: Sequence[ToolCall]) -> Keys:
    return tuple(_keys_of(f"{before}\0{_written(call)}", call.id, place) for place, call in enumerate(calls))


def _keys_of(what: str, call_id: str, place: int) -> tuple[str, str]:
    return _digest(f"id\0{PLAIN_IDS.plain(call_id)}\0{what}"), _digest(f"place\0{place}\0{what}")


@by_growth
def _called(
    messages: Sequence[Message], start: int, known: tuple[str, tuple[tuple[int, Keys], ...]] | None, owner: str
) -> tuple[str, tuple[tuple[int, Keys], ...]]:
    """A digest of the whole conversation and of whose it is, and the keys of each turn with calls, by its place.

    What stands before a call is in its keys from the first word on.
    """
    before, called = known or (_digest(owner), ())
    more: list[tuple[int, Keys]] = []
    for at, message in enumerate(messages[start:], start):
        if message.calls:
            more.append((at, _keys(before, message.calls)))
        before = _digest("\1".join([before, message.role, *filter(None, map(_said, message.parts))]))
    return before, (*called, *more)


def _said(part: Part) -> str:
    """What every client sends back of a part, whatever else it drops."""
    if isinstance(part, Text | ToolResult):
        return part.text.strip()
    if isinstance(part, Media):
        return _digest(part.data or part.url)
    return _written(part) if isinstance(part, ToolCall) else ""


def _written(call: ToolCall) -> str:
    return f"{call.name}\0{to_json(dict(sorted(call.arguments.items())))}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
