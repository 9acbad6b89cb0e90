"""Events handled as many at once as there are, where most are text that goes on as it is.  Knows events only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..events import CallDelta, Event, ReasoningDelta, TextDelta

BESIDE = frozenset({ReasoningDelta, CallDelta})
"""Events that go on as they are wherever an empty text would: where nothing waits."""


def handle_all(
    events: Sequence[Event],
    passes: Callable[[str], bool],
    went_out: Callable[[str], None],
    handle: Callable[[Event], list[Event]],
) -> list[Event]:
    """What `handle` makes of each, in order, where of a text that `passes` it would make that text, and note it.

    `went_out` notes the texts of a run in one piece, before anything else is handled.
    """
    if len(events) == 1:  # as where a chunk is a read of its own
        event = events[0]
        if type(event) is TextDelta and not event.doubt and event.text and passes(event.text):
            went_out(event.text)
            return [event]
        return handle(event)
    made: list[Event] = []
    run: list[str] = []
    for event in events:
        if type(event) is TextDelta and not event.doubt and event.text and passes(event.text):
            run.append(event.text)
            made.append(event)
            continue
        if type(event) in BESIDE and passes(""):
            made.append(event)
            continue
        if run:
            went_out("".join(run))
            run.clear()
        made += handle(event)
    if run:
        went_out("".join(run))
    return made
