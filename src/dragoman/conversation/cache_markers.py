"""Places for a prompt's cache markers: after the tools, after the instructions, in the history; four at most.

Knows requests; nothing of how a wire writes a marker.
Contract of `plan`: with "always" tools and instructions come first, then what the caller asked for, the latest first;
what is over the limit is dropped, the earliest first; the same request always gives the same plan, and a longer
conversation keeps the markers that can still be read: one helps when the next request has the same text before it.
Source: seeds.md C2 (tools by name, so that the prefix stays the same), C6 (what is marked; four markers).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import is_
from typing import Any, Literal

from ..memo import TOOLS, FrozenTools, memoize
from ..types import Message, Request, Tool
from .grown import Grown, by_growth, grown
from .plain import as_plain

MOST_MARKERS = 4
HISTORY_MARKERS = 2
"""One at the end, to be read by the next request, and one where the request before this one ended."""

CacheMode = Literal["asked", "always", "never"]


class Caches(StrEnum):
    """Markers that a place takes of a model: a marker anywhere else is refused."""

    NOTHING = "nothing"
    INSTRUCTIONS = "instructions"
    ALL = "all"


class Marked(tuple[Message, ...]):
    """A conversation with markers after some messages, by their `places`; `plain` is the same without any.

    The places change with each turn, and `plain` only grows: what was made of it serves again.
    """

    plain: Grown[Message]
    places: tuple[int, ...]


def without_markers(messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], tuple[int, ...]]:
    """The messages as they were before markers were set where nobody asked for any, and the places of these."""
    return (messages.plain, messages.places) if type(messages) is Marked else (messages, ())


@dataclass(frozen=True, slots=True)
class CachePlan:
    """Is the last tool marked, and which messages, by their place."""

    tools: bool = False
    messages: tuple[int, ...] = ()


def plan(request: Request, mode: CacheMode = "asked", *, limit: int = MOST_MARKERS) -> CachePlan:
    """The markers for `request`: where it asks, and with "always" also where they pay of themselves."""
    if mode == "never" or limit < 1:
        return CachePlan()
    places = _places(request.messages, bool(request.tools), _asked(request.messages), mode, limit)
    return CachePlan(mode == "always" and bool(request.tools), places)


def _places(
    messages: Sequence[Message], tools: bool, wanted: Sequence[int], mode: CacheMode, limit: int
) -> tuple[int, ...]:
    if mode == "never" or limit < 1:
        return ()
    if mode == "asked":
        return tuple(wanted[-limit:])
    most = limit - tools
    places = _instructions(messages)[:most]
    for at in (*reversed(wanted), *_ends(messages)):
        if len(places) < most and at not in places:
            places.append(at)
    return tuple(sorted(places))


def _instructions(messages: Sequence[Message]) -> list[int]:
    """The place of the last instruction the conversation begins with, if it begins with any."""
    head = 0
    for message in messages:
        if message.role != "system":
            break
        head += 1
    return [head - 1] if head else []


def _ends(messages: Sequence[Message]) -> list[int]:
    """The end of this request, and of the one before it."""
    turns: list[int] = []
    behind = "assistant"
    for at in range(len(messages) - 1, -1, -1):
        role = messages[at].role
        if behind == "assistant" and role in ("user", "tool"):
            turns.append(at)
            if len(turns) == HISTORY_MARKERS:
                break
        behind = role
    return turns


def planned(
    request: Request, mode: CacheMode = "asked", *, takes: Caches = Caches.ALL, limit: int = MOST_MARKERS
) -> Request:
    """`request` asking for exactly the markers of its plan after messages; `tools` are the codec's to mark."""
    made = with_markers(request.messages, mode, tools=bool(request.tools), takes=takes, limit=limit)
    return request if made is request.messages else request.with_messages(made)


def with_markers(
    messages: tuple[Message, ...], mode: CacheMode, *, tools: bool, takes: Caches = Caches.ALL,
    limit: int = MOST_MARKERS,
) -> tuple[Message, ...]:  # fmt: skip
    """The same of the messages of a request, with `tools` or none."""
    asked = _asked(messages)
    if not asked and mode != "always":
        return messages
    chosen = _places(messages, tools, asked, mode, limit) if takes is not Caches.NOTHING else ()
    if takes is Caches.INSTRUCTIONS:
        chosen = tuple([at for at in chosen if messages[at].role == "system"])
    if type(messages) is Grown and not asked:
        return with_places(messages, chosen)
    if all(message.cache == (at in chosen) for at, message in enumerate(messages)):
        return messages
    made = [_marked(message, at in chosen) for at, message in enumerate(messages)]
    base: Any = getattr(messages, "base", None)
    kept = base is not None and all(map(is_, base, made))
    return grown(base, made[len(base) :]) if kept else tuple(made)


def with_places(messages: Grown[Message], places: tuple[int, ...]) -> tuple[Message, ...]:
    """The messages with markers at `places`, where there are any."""
    if not places:
        return messages
    made = [*messages]
    for at in places:
        made[at] = _marked(made[at], True)
    whole = Marked(made)
    whole.plain, whole.places = messages, places
    return whole


def _asked(messages: Sequence[Message]) -> tuple[int, ...]:
    """The places of the messages that ask for a marker; in a plain conversation none does."""
    return () if type(messages) is Grown and as_plain(messages) is not None else _marked_at(messages)


@by_growth
def _marked_at(messages: Sequence[Message], start: int, known: tuple[int, ...] | None) -> tuple[int, ...]:
    """The places of the messages that ask for a marker."""
    return (*(known or ()), *(at for at, message in enumerate(messages[start:], start) if message.cache))


def _marked(message: Message, cache: bool) -> Message:
    if message.cache == cache:
        return message
    return message.with_cache(cache)


@memoize(TOOLS)
def in_order(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """The tools by name: the order they come in changes from run to run, and a changed prefix is read anew."""
    ordered = tuple(sorted(tools, key=lambda tool: tool.name))
    return FrozenTools(ordered) if type(tools) is FrozenTools else ordered
