"""Events handled as many at once as there are, where most are text that goes on as it is.  Knows events only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..events import CallDelta, Event, ReasoningDelta, TextDelta

BESIDE = frozenset({ReasoningDelta, CallDelta})
"""Events that go on as they are wherever an empty text would: where nothing waits."""


class Handler(Protocol):
    """Handles the events of an answer in order."""

    def signs(self, kind: type) -> str | None:
        """Deltas of this kind (text, reasoning) go on at once and as they are from here on, but for one that is empty,
        or holds one of these and does not pass; None where they may not."""

    def passes(self, text: str) -> bool:
        """Would `text`, if it came next, go on at once and as it is?  Asking changes nothing."""

    def went_out(self, text: str) -> None:
        """Text went out so."""

    def handle_all(self, events: Sequence[Event]) -> list[Event]:
        """What is made of them, in order."""


class Stage:
    """Handles the events of an answer in order; of a text that passes nothing but itself would come."""

    __slots__ = ()

    def passes(self, text: str) -> bool:
        """Would `text`, if it came next, go on at once?  Asking changes nothing."""
        raise NotImplementedError

    def went_out(self, text: str) -> None:
        """A text that `passes` went out."""
        raise NotImplementedError

    def handle(self, event: Event) -> list[Event]:
        """Handle `event`; its events come in order."""
        raise NotImplementedError

    def handle_all(self, events: Sequence[Event]) -> list[Event]:
        """What `handle` makes of each, in order, where of a text that `passes` it would make that text, and note it.

        `went_out` notes the texts of a run in one piece, before anything else is handled.
        """
        if len(events) == 1:  # as where a chunk is a read of its own
            event = events[0]
            if type(event) is TextDelta and not event.doubt and event.text and self.passes(event.text):
                self.went_out(event.text)
                return [event]
            return self.handle(event)
        made: list[Event] = []
        run: list[str] = []
        passes = self.passes
        for event in events:
            if type(event) is TextDelta and not event.doubt and event.text and passes(event.text):
                run.append(event.text)
                made.append(event)
                continue
            if type(event) in BESIDE and passes(""):
                made.append(event)
                continue
            if run:
                self.went_out("".join(run))
                run.clear()
            made += self.handle(event)
        if run:
            self.went_out("".join(run))
        return made
