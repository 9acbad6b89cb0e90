"""Events put in an order every wire can carry."""

from __future__ import annotations

import pytest

from dragoman.codecs.shared.encoder import Sequencer, final_stop
from dragoman.events import CallDelta, CallEnded, CallStarted, Ended, Event, TextDelta, assemble
from dragoman.types import Report, Stop, Verdict

REFUSED = Report(verdict=Verdict.REFUSED)


def sequenced(events: list[Event], *, whole: bool) -> list[Event]:
    sequencer = Sequencer(whole=whole)
    return [*(out for event in events for out in sequencer.feed(event)), *sequencer.close()]


INTERLEAVED: list[Event] = [
    TextDelta("a"),
    CallStarted(0, "x", "f"),
    CallDelta(0, '{"n":'),
    CallStarted(1, "y", "g"),
    CallDelta(1, "{"),
    TextDelta("b"),
    CallDelta(0, "1}"),
    CallDelta(1, "}"),
    CallEnded(1),
    CallEnded(0),
    Ended(Stop.TOOL_CALLS),
]


@pytest.mark.parametrize("whole", [True, False])
def test_calls_come_one_after_another_and_say_the_same(whole: bool) -> None:
    events = sequenced(INTERLEAVED, whole=whole)
    open_calls = 0
    for event in events:
        open_calls += isinstance(event, CallStarted) - isinstance(event, CallEnded)
        assert open_calls <= 1
        assert open_calls == 0 or not isinstance(event, TextDelta)
    assert assemble(events) == assemble(INTERLEAVED)


def test_a_whole_call_is_one_delta() -> None:
    events = sequenced(INTERLEAVED, whole=True)
    assert [event.json for event in events if isinstance(event, CallDelta)] == ['{"n":1}', "{}"]


def test_text_is_not_held_where_no_call_is_open() -> None:
    sequencer = Sequencer(whole=True)
    assert sequencer.feed(TextDelta("a")) == [TextDelta("a")]
    assert sequencer.feed(CallStarted(0, "x", "f")) == []
    assert sequencer.feed(TextDelta("b")) == []
    assert len(sequencer.feed(CallEnded(0))) == 4
    assert sequencer.feed(TextDelta("c")) == [TextDelta("c")]


def test_refused_calls_are_never_emitted_whole_or_completed() -> None:
    refused: list[Event] = [
        CallStarted(0, "x", "f"),
        CallDelta(0, '{"path": "/'),
        CallDelta(0, '"}'),
        CallEnded(0, REFUSED),
        TextDelta("b"),
    ]
    assert sequenced(refused, whole=True) == [TextDelta("b")]
    fragments = sequenced(refused, whole=False)
    assert [event.json for event in fragments if isinstance(event, CallDelta)] == ['{"path": "/']
    assert fragments[-1] == TextDelta("b")


def test_fragments_are_told_one_behind() -> None:
    sequencer = Sequencer(whole=False)
    sequencer.feed(CallStarted(0, "x", "f"))
    assert sequencer.feed(CallDelta(0, "{")) == []
    assert sequencer.feed(CallDelta(0, '"a"')) == [CallDelta(0, "{")]


@pytest.mark.parametrize("whole", [True, False])
def test_events_behind_an_endless_call_come_at_the_end(whole: bool) -> None:
    events = sequenced([CallStarted(0, "x", "f"), CallDelta(0, "{"), TextDelta("b"), Ended()], whole=whole)
    assert events[-2:] == [TextDelta("b"), Ended()]


@pytest.mark.parametrize(
    ("stop", "calls", "final"),
    [
        (Stop.END, 1, Stop.TOOL_CALLS),
        (None, 1, Stop.TOOL_CALLS),
        (Stop.STOP_SEQUENCE, 1, Stop.TOOL_CALLS),
        (Stop.LENGTH, 1, Stop.LENGTH),
        (Stop.FILTERED, 1, Stop.FILTERED),
        (Stop.TOOL_CALLS, 0, Stop.END),
        (Stop.END, 0, Stop.END),
        (None, 0, None),
    ],
)
def test_the_reason_to_stop_is_set_right_by_what_came(stop: Stop | None, calls: int, final: Stop | None) -> None:
    assert final_stop(stop, calls) is final
