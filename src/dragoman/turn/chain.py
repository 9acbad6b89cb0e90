"""What handles the events of one answer, stage behind stage, and the course that nearly all of its text takes.

Nearly every piece of an answer goes on with the text before it, is read in the same place, and passes every stage as it
is.  Where one has, the next is asked for no more than whether it is one of these (`Course`): the stages are told of
such pieces together, before they handle anything else.  Knows events, stages, and what finds calls in text.

Contract: whether pieces took the course or not, the same events come of them, and the stages know the same in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from ..events import CallDelta, Event, ReasoningDelta, TextDelta
from .running import Handler
from .stream_parser import Search, TextCallStream

Delta: TypeAlias = type[TextDelta] | type[ReasoningDelta]
RUNNING = frozenset({TextDelta, ReasoningDelta, CallDelta})
"""Events that hold no name and no fields."""


class Course:
    """Pieces that come as deltas of the kind `came` and go on as deltas of this `kind`."""

    __slots__ = ("_feed", "_last", "_late", "_noted", "_signs", "_stages", "_texts", "came", "kind")
    came: Delta
    kind: Delta

    def __init__(self, came: Delta, kind: Delta, signs: str, search: Search, chain: Chain) -> None:
        self.came, self.kind, self._signs = came, kind, signs
        self._texts, self._stages = chain.texts, chain.stages
        self._feed, self._noted = search
        self._late: list[str] = []  # what the stages are still to be told of
        self._last = ""  # what went off the course

    def take(self, text: str) -> str | list[Event]:
        """What goes on of `text`; or the events for the stages, where it is anything else: then the course is over."""
        said = text
        if self._feed is not None:
            if self._noted is not None:
                self._noted.append(text)
            found = self._feed(text)
            if not found:
                return ""
            event = found[0]
            if len(found) > 1 or type(event) is not self.kind or (type(event) is TextDelta and event.doubt):
                return self._texts.found(found)
            said = event.text
        for sign in self._signs:
            if sign in said:
                if all(stage.passes(said) for stage in self._stages):
                    break
                self._last = said
                return [self.kind(said)]
        if said:
            self._late.append(said)
        return said

    def end(self) -> list[Event]:
        """What went on, in one event, once the stages are told."""
        text = "".join(self._late)
        self._late.clear()
        if self.came is ReasoningDelta and (text or self._last):
            self._texts.note_reasoning(text + self._last)
        if not text:
            return []
        if self.kind is TextDelta:
            for stage in self._stages:
                stage.went_out(text)
        return [self.kind(text)]


class Handling(Protocol):
    """What handles the events of an answer: as many at once as there are, for one read may bring hundreds."""

    def __call__(self, events: Sequence[Event]) -> list[Event]:
        """What is made of them, in order."""

    def behind(self, events: Sequence[Event]) -> list[Event]:
        """What is made of events that came off the course: what was found in the text already."""

    def course(self, came: Delta, kind: Delta) -> Course | None:
        """The course of such pieces, from here on; None where each must be handled."""


class Chain:
    """Handles the events of one choice: calls are found in its text, then each stage has what the one before made.

    `restored` makes of an event that is no delta what the caller is told; None: it is told already.
    """

    __slots__ = ("_restored", "stages", "texts")
    texts: TextCallStream
    stages: Sequence[Handler]

    def __init__(
        self, texts: TextCallStream, stages: Sequence[Handler], restored: Callable[[Event], Event] | None
    ) -> None:
        self.texts, self.stages, self._restored = texts, stages, restored

    def __call__(self, events: Sequence[Event]) -> list[Event]:
        """What is made of them, in order."""
        return self.behind(self.texts.handle_all(events))

    def behind(self, events: Sequence[Event]) -> list[Event]:
        """What is made of events that came off the course: what was found in the text already."""
        made = [*events]
        for stage in self.stages:
            made = stage.handle_all(made)
        restored = self._restored
        if restored is None or (len(made) == 1 and type(made[0]) in RUNNING):
            return made
        return [one if type(one) in RUNNING else restored(one) for one in made]

    def course(self, came: Delta, kind: Delta) -> Course | None:
        """The course of such pieces, from here on; None where each must be handled."""
        search, signs = self.texts.search(came, kind), ""
        for stage in self.stages:
            its = stage.signs(kind)
            if its is None:
                return None
            signs += its
        return None if search is None else Course(came, kind, signs, search, self)
