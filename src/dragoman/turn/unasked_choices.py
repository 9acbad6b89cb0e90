"""Choices beside the first that nobody asked for: none of them goes out.

Whoever asked for one answer takes what comes for parts of it, and what is handled and judged is the first alone.  Knows
events and the name that choices go by; that there were others, the codec has reported.
Contract: pure; whole and streamed answers lose the same, and whatever else they say stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..codecs.shared.spec import CHOICES, WireFields
from ..events import Ended, Event, WireEvent

BEARING = frozenset({WireEvent, Ended})


class UnaskedChoices:
    """Handles the events of an answer to a request for one."""

    __slots__ = ()

    def signs(self, kind: type) -> str:
        """What a delta must not hold to go on as it is: there is nothing."""
        return ""

    def passes(self, text: str) -> bool:
        """Would `text`, if it came next, go on as it is?"""
        return True

    def went_out(self, text: str) -> None:
        """Text went out as it was: nothing is to be known of it."""

    def handle_all(self, events: Sequence[Event]) -> list[Event]:
        """The events, without other choices."""
        if BEARING.isdisjoint(map(type, events)):
            return [*events]
        return [_of_first(event) for event in events if type(event) is not WireEvent or event.name != CHOICES]


def _of_first(event: Event) -> Event:
    if type(event) is not Ended or not isinstance(event.extra, WireFields) or CHOICES not in event.extra:
        return event
    left = {key: value for key, value in event.extra.items() if key != CHOICES}
    return replace(event, extra=WireFields(event.extra.api, left, event.extra.origin))
