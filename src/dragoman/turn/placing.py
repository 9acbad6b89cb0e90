"""Calls that were confirmed, put back where they were written among the events of the answer.

Knows events; nothing of asking.  Contract: calls run in the order in which an answer tells them, so one that was asked
about must not come after what was written behind it; indexes stay without gaps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ..events import CallDelta, CallDoubted, CallEnded, CallStarted, Event, TextDelta, call_events
from ..types import ToolCall
from .composer import identity


def in_place(
    events: Sequence[Event], calls: Sequence[ToolCall], taken: Collection[int]
) -> tuple[list[Event], list[ToolCall]]:
    """`events` with those of `calls` that stand in the stretches `taken` in place, and the rest of the calls.

    Where nothing was written behind what was in doubt, all are the rest.
    """
    first = next((event.index for event in events if isinstance(event, CallStarted)), None)
    if first is None:
        return list(events), list(calls)
    late = list(calls)
    return list(_placed(events, late, _stretches(events, taken), first)), late


def _stretches(events: Sequence[Event], taken: Collection[int]) -> dict[int, set[str]]:
    """Stretch → the calls that stand in it."""
    found: dict[int, set[str]] = {}
    for event in events:
        if isinstance(event, CallDoubted) and event.doubt in taken:
            found.setdefault(event.doubt, set()).add(identity(event.call))
    return found


def _placed(
    events: Sequence[Event], late: list[ToolCall], stretches: dict[int, set[str]], following: int
) -> Iterator[Event]:
    """The events; what is told of `late` is taken out of it.  `following` is the index of the next call."""
    shift = 0
    moved: dict[int, int] = {}
    for event in events:
        if isinstance(event, TextDelta) and event.doubt in stretches:
            about = stretches.pop(event.doubt)
            for call in [call for call in late if identity(call) in about]:
                late.remove(call)
                yield from call_events(call, following + shift)
                shift += 1
        match event:
            case CallStarted(index):
                following, moved[index] = index + 1, index + shift
                yield replace(event, index=moved[index])
            case CallDelta(index) | CallEnded(index):
                # One that had begun before what was in doubt stood in it keeps the index it began with.
                yield replace(event, index=moved.get(index, index))
            case _:
                yield event
