"""What is heard between a wire and its stream: calls in text, native calls, and the truth about the end."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.dialects import Parser
from dragoman.dialects.rows.table import ALL
from dragoman.dialects.writing.neutralise import JOINER, neutralise
from dragoman.events import (
    CallDelta,
    CallEnded,
    CallStarted,
    Ended,
    Event,
    IssueReported,
    PartEnded,
    ReasoningDelta,
    TextDelta,
    assemble,
)
from dragoman.turn.stream_parser import LateParser, Restorer, TextCallStream
from dragoman.types import IssueKind, Report, Response, Stop, Tool, ToolCall, Verdict

LOOK = Tool(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]})
TAGGED = '<tool_call>\n{"name": "look", "arguments": {"at": "sky"}}\n</tool_call>'
CUT = '<tool_call>\n{"name": "look", "arguments": {"at": "sk'
UNKNOWN = '<tool_call>\n{"name": "lock", "arguments": {"at": "sky"}}\n</tool_call>'


def native(index: int = 0, at: str = "sea", report: Report | None = None) -> list[Event]:
    return [
        CallStarted(index, f"n{index}", "look"),
        CallDelta(index, f'{{"at":"{at}"}}'),
        CallEnded(index, report),
    ]


def handled(events: list[Event], *, native: bool = True, listens: bool = True, **parser: Any) -> list[Event]:
    reader = Parser(tools=[LOOK], ids=lambda i: f"t{i}", **parser) if listens else None
    stream = TextCallStream(reader, native=native)
    return [emitted for event in events for emitted in stream.handle(event)]


def answer(events: list[Event], **more: Any) -> Response:
    return assemble(handled(events, **more))


def spelled(text: str) -> list[Event]:
    return [TextDelta(c) for c in text]


@pytest.mark.parametrize("native_too", [True, False], ids=["native route", "text route"])
def test_a_call_in_the_text_is_a_call(native_too: bool) -> None:
    events: list[Event] = [*spelled(f"Let me see.\n{TAGGED}"), Ended(Stop.END)]
    got = answer(events, native=native_too)
    assert [(c.id, c.name, c.arguments) for c in got.calls] == [("t0", "look", {"at": "sky"})]
    assert got.text.strip() == "Let me see."
    assert got.stop is Stop.TOOL_CALLS


def test_without_a_parser_text_is_text() -> None:
    events: list[Event] = [TextDelta(TAGGED), Ended(Stop.END)]
    assert handled(events, listens=False) == events


def test_text_that_may_be_shown_is_shown_at_once() -> None:
    stream = TextCallStream(Parser(tools=[LOOK]))
    assert stream.handle(TextDelta("Once upon a ")) == [TextDelta("Once upon a ")]
    assert stream.handle(TextDelta("time")) == [TextDelta("time")]


def test_a_text_call_on_a_native_route_waits_alone() -> None:
    stream = TextCallStream(Parser(tools=[LOOK]))
    assert not any(isinstance(e, CallStarted) for e in stream.handle(TextDelta(TAGGED + "\n")))
    shown = stream.handle(TextDelta("So I look.\n"))
    assert [type(e) for e in shown] == [TextDelta]
    last = stream.handle(Ended(Stop.END))
    assert [type(e) for e in last] == [CallStarted, CallDelta, CallEnded, Ended]


def test_a_call_on_a_text_route_is_emitted_at_once() -> None:
    stream = TextCallStream(Parser(tools=[LOOK]), native=False)
    emitted = [e for piece in spelled(TAGGED + "\nAnd so.\n") for e in stream.handle(piece)]
    assert isinstance(emitted[0], CallStarted)
    assert any(isinstance(e, CallEnded) for e in emitted)


def test_native_calls_present_means_native() -> None:
    got = answer([TextDelta(TAGGED + "\n"), *native(), Ended(Stop.END)])
    assert [c.id for c in got.calls] == ["n0"]
    assert got.stop is Stop.TOOL_CALLS
    dropped = [i for i in got.issues if i.kind is IssueKind.NOT_ALLOWED]
    assert [(i.name, i.raw) for i in dropped] == [("look", '{"name": "look", "arguments": {"at": "sky"}}')]


def test_text_after_a_native_call_is_text() -> None:
    got = answer([*native(), TextDelta(TAGGED), Ended(Stop.TOOL_CALLS)])
    assert [c.id for c in got.calls] == ["n0"]
    assert got.text == TAGGED


def test_a_native_call_is_numbered_after_text_calls() -> None:
    got = answer([TextDelta(TAGGED), *native(), Ended(Stop.END)], native=False)
    assert [c.id for c in got.calls] == ["t0", "n0"]


def test_parallel_native_calls_keep_their_numbers() -> None:
    events = [*native(0), *native(1, "moon"), Ended(Stop.TOOL_CALLS)]
    assert handled(events) == events


def test_the_end_of_a_part_does_not_split_buffered_text() -> None:
    events: list[Event] = [TextDelta("two <"), PartEnded(), TextDelta("three"), PartEnded({"cited": 1}), Ended()]
    got = answer(events)
    assert got.text == "two <three"


def test_reasoning_passes_and_holds_no_calls() -> None:
    got = answer([ReasoningDelta(TAGGED), PartEnded({"signature": "s"}), TextDelta("No."), Ended(Stop.END)])
    assert got.calls == ()
    assert got.reasoning == TAGGED
    assert got.stop is Stop.END


REFUSED = Report(verdict=Verdict.REFUSED)
STOPS: list[tuple[str, list[Event], Stop | None, Stop | None]] = [
    ("calls though the wire said stop", native(), Stop.END, Stop.TOOL_CALLS),
    ("calls though the wire said nothing", native(), None, Stop.TOOL_CALLS),
    ("calls after a stop sequence", [TextDelta(TAGGED)], Stop.STOP_SEQUENCE, Stop.TOOL_CALLS),
    ("no calls though the wire said so", [TextDelta("hm")], Stop.TOOL_CALLS, Stop.END),
    ("only a refused call", [TextDelta(UNKNOWN)], Stop.TOOL_CALLS, Stop.END),
    ("a native call that was refused", native(report=REFUSED), Stop.TOOL_CALLS, Stop.END),
    ("nothing said", [], None, None),
    ("plain text", [TextDelta("hm")], Stop.END, Stop.END),
    ("cut text", [TextDelta("hm")], Stop.LENGTH, Stop.LENGTH),
    ("a cut call", [TextDelta(CUT)], Stop.LENGTH, Stop.LENGTH),
    ("a complete call, then a cut one", [TextDelta(f"{TAGGED}\n{CUT}")], Stop.LENGTH, Stop.LENGTH),
    ("a complete call at the limit", [TextDelta(TAGGED)], Stop.LENGTH, Stop.TOOL_CALLS),
    ("filtered", [TextDelta("hm")], Stop.FILTERED, Stop.FILTERED),
    ("refused by the model", [TextDelta("no")], Stop.REFUSED, Stop.REFUSED),
    ("paused with calls", native(), Stop.PAUSE, Stop.PAUSE),
]


@pytest.mark.parametrize(("events", "claimed", "stop"), [s[1:] for s in STOPS], ids=[s[0] for s in STOPS])
def test_the_end_says_what_really_happened(events: list[Event], claimed: Stop | None, stop: Stop | None) -> None:
    for native_too in (True, False):
        assert answer([*events, Ended(claimed)], native=native_too).stop is stop


def test_a_cut_call_never_runs_and_keeps_its_text() -> None:
    got = answer([TextDelta(CUT), Ended(Stop.LENGTH)])
    assert got.calls == ()
    assert [i.kind for i in got.issues] == [IssueKind.TRUNCATED]
    assert '"at": "sk' in got.issues[0].raw


def test_a_call_before_a_stray_reasoning_end_is_rehearsed() -> None:
    for native_too in (True, False):
        got = answer([TextDelta(f"I could {TAGGED}\n</think>\nHello."), Ended(Stop.END)], native=native_too)
        assert got.calls == ()
        assert got.text.strip() == "Hello."
        assert got.stop is Stop.END


texts = st.lists(st.sampled_from([JOINER, "<", "tool_call>", "a", "|im_end|>", "\n"]), max_size=12).map("".join)


@given(texts, st.data())
def test_what_was_neutralised_comes_back_however_it_is_cut(text: str, data: st.DataObject) -> None:
    safe = neutralise(text, ALL)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(safe)), max_size=4)))
    pieces = [safe[a:b] for a, b in zip([0, *cuts], [*cuts, len(safe)], strict=True)]
    restorer = Restorer()
    emitted = [restorer.handle(TextDelta(piece)) for piece in pieces]
    assert "".join(e.text for e in emitted if isinstance(e, TextDelta)) == text


def test_every_stream_is_restored_by_itself() -> None:
    restorer = Restorer()
    events: list[Event] = [
        TextDelta(f"<{JOINER}"),
        ReasoningDelta(f"<{JOINER}"),
        CallStarted(0, "c", "look"),
        CallDelta(0, f'{{"at":"<{JOINER}'),
        TextDelta("think>"),
        CallDelta(0, 's>"}'),
        CallEnded(0, None, f'{{"at":"<{JOINER}s>"}}'),
        IssueReported(answer([TextDelta(UNKNOWN), Ended()]).issues[0]),
    ]
    got = assemble([restorer.handle(event) for event in events])
    assert got.text == "<think>"
    assert got.reasoning == "<"
    assert got.calls == (ToolCall(id="c", name="look", arguments={"at": "<s>"}),)
    assert got.calls[0].raw == '{"at":"<s>"}'


@pytest.mark.parametrize("finish", [None, "", *Stop])
@pytest.mark.parametrize("dialects", ["auto", "hermes", "json_protocol", ("qwen3_coder", "fenced_json")])
@pytest.mark.parametrize("native", [True, False])
def test_a_parser_that_was_given_nothing_says_nothing(finish: str | None, dialects: Any, native: bool) -> None:
    tools = [Tool(name="look")]
    assert Parser(tools=tools, dialects=dialects, native=native).close(finish) == []
    assert LateParser(pytest.fail).close(finish) == []


def test_a_late_parser_is_the_parser_from_the_first_text_on() -> None:
    made: list[Parser] = []

    def make() -> Parser:
        made.append(Parser(tools=[Tool(name="look")]))
        return made[-1]

    late, text = LateParser(make), 'I look.\n<tool_call>{"name": "look", "arguments": {}}</tool_call>'
    events = [event for at in range(len(text)) for event in late.feed(text[at])] + late.close()
    assert len(made) == 1
    assert assemble(events) == assemble([*make().feed(text), *made[-1].close()])
    assert assemble(events).calls


@pytest.mark.parametrize("text", ["two <", "It is so.\n\n", "Here:\n\n```\nx = 1\n```\n"])
@pytest.mark.parametrize("native_calls", [False, True])
@pytest.mark.parametrize("size", [1, 3, 100])
def test_all_the_text_of_a_part_comes_before_its_end(text: str, native_calls: bool, size: int) -> None:
    pieces: list[Event] = [TextDelta(text[at : at + size]) for at in range(0, len(text), size)]
    behind = native() if native_calls else []
    stream = TextCallStream(Parser(tools=[LOOK]))
    got = stream.handle_all([*pieces, PartEnded({"id": "msg_1"}), *behind, Ended(Stop.END)])
    kinds = [type(event) for event in got if isinstance(event, TextDelta | PartEnded | CallStarted | Ended)]
    at = kinds.index(PartEnded)
    assert set(kinds[:at]) == {TextDelta}
    assert TextDelta not in kinds[at:]
    assert "".join(event.text for event in got if isinstance(event, TextDelta)) == text
