"""Confirmed calls stand where they were written, with the indexes of all calls in order."""

from __future__ import annotations

from dragoman.events import Assembler, CallDoubted, Ended, Event, TextDelta, call_events
from dragoman.turn.placing import in_place
from dragoman.types import Stop, ToolCall


def made(name: str) -> ToolCall:
    return ToolCall(id=name, name=name, arguments={"of": name})


def test_a_confirmed_call_runs_before_what_is_written_behind_it() -> None:
    first, last = made("mkdir"), made("write")
    held: list[Event] = [
        TextDelta("mkdir …", doubt=1), *call_events(last, 0), CallDoubted(first, "", 1), Ended(Stop.TOOL_CALLS, None)
    ]  # fmt: skip
    events, rest = in_place(held, [first], {1})
    assembler = Assembler()
    for event in events:
        if not (isinstance(event, TextDelta) and event.doubt):
            assembler.add(event)
    assert [call.name for call in assembler.response().calls] == ["mkdir", "write"]
    assert rest == []


def test_a_call_that_stood_nowhere_is_left_for_the_end() -> None:
    first, other = made("mkdir"), made("other")
    held: list[Event] = [TextDelta("mkdir …", doubt=1), *call_events(made("write"), 0), CallDoubted(first, "", 1)]
    assert in_place(held, [other], {1})[1] == [other]


def test_nothing_moves_where_nothing_is_written_behind() -> None:
    first = made("mkdir")
    held: list[Event] = [TextDelta("mkdir …", doubt=1), CallDoubted(first, "", 1)]
    assert in_place(held, [first], {1}) == (held, [first])


def test_a_call_that_began_before_what_stands_in_it_keeps_its_index() -> None:
    first, open_one = made("mkdir"), made("write")
    begun = call_events(open_one, 2)
    held: list[Event] = [
        *begun[:1], TextDelta("mkdir …", doubt=1), *begun[1:], CallDoubted(first, "", 1), *call_events(first, 3)
    ]  # fmt: skip
    events, _ = in_place(held, [first], {1})
    assembler = Assembler()
    for event in events:
        if not isinstance(event, TextDelta):
            assembler.add(event)
    assert [call.name for call in assembler.response().calls] == ["write", "mkdir", "mkdir"]
