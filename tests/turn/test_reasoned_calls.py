"""Answers that came as nothing but reasoning: a call they end in is made as if all had been one text, any other is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dragoman.codecs.shared.spec import Ids, WireFields
from dragoman.dialects import parse
from dragoman.dialects.writing.neutralise import JOINER
from dragoman.events import (
    CallDelta,
    CallEnded,
    CallStarted,
    Ended,
    Event,
    PartAdded,
    PartEnded,
    ReasoningDelta,
    Started,
    TextDelta,
    assemble,
)
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.providers.spec import Tools
from dragoman.turn.answer import AnswerStream
from dragoman.turn.compiled import compiled
from dragoman.turn.plan import Plan
from dragoman.turn.reasoned_calls import MOST, ReasonedCalls
from dragoman.turn.response_reader import Replayed
from dragoman.types import (
    IssueKind,
    Media,
    Message,
    OutputSchema,
    Reasoning,
    Request,
    Response,
    Stop,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)

SCHEMA = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
LOOK = Tool(name="look", parameters=SCHEMA)
OBJECT = '{"name": "look", "arguments": {"at": "sky"}}'
CALL = f"<tool_call>\n{OBJECT}\n</tool_call>"
OTHER, UNKNOWN = CALL.replace("sky", "sea"), CALL.replace("look", "lock")
THOUGHT = "The user asks what is up. I should look at the sky.\n"
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>"
    '{"at": "sky"}<|tool_call_end|><|tool_calls_section_end|>'
)
DEEPSEEK = (
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look\n```json\n"
    '{"at": "sky"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
)

MADE: dict[str, str] = {
    "the last thing it says": THOUGHT + CALL,
    "all it says": CALL,
    "behind words on their line": f"Now I call {CALL}",
    "followed by blank lines": f"{THOUGHT}{CALL}\n\n",
    "followed by a mark of its end": f"{THOUGHT}{CALL}<|im_end|>",
    "without its last mark": THOUGHT + CALL.removesuffix("\n</tool_call>"),
    "behind a draft that was dropped": f"{THOUGHT}Perhaps {OTHER}? No, the sky it is.\n{CALL}",
    "behind a mark that closes reasoning": f"{THOUGHT}</think>\n{CALL}",
    "behind a mark that opens it": f"<think>\n{THOUGHT}{CALL}",
    "XML": f"{THOUGHT}<tool_call>\n<function=look>\n<parameter=at>\nsky\n</parameter>\n</function>\n</tool_call>",
    "keys and values": f"{THOUGHT}<tool_call>look\n<arg_key>at</arg_key>\n<arg_value>sky</arg_value>\n</tool_call>",
    "a list behind a mark": f"{THOUGHT}[TOOL_CALLS][{OBJECT}]",
    "special tokens": THOUGHT + KIMI,
    "special tokens and a fence": THOUGHT + DEEPSEEK,
    "an invocation": f'{THOUGHT}<function_calls>\n<invoke name="look">\n<parameter name="at">sky</parameter>\n</invoke>\n</function_calls>',
    "a header of its own": (
        f'{THOUGHT}<|start|>assistant<|channel|>commentary to=functions.look <|constrain|>json<|message|>{{"at": "sky"}}<|call|>'
    ),
    "a tag of its name": f'{THOUGHT}<function=look>{{"at": "sky"}}</function>',
}
LEFT: dict[str, str] = {
    "second thoughts behind it": f"{THOUGHT}{CALL}\nNo, wait. That is not right.",
    "a word behind it": f"{THOUGHT}{CALL} hmm",
    "prose behind it": f"{THOUGHT}{CALL}\nThat would show the sky, but nobody asked for it.",
    "reasoning closed behind it": f"{THOUGHT}{CALL}\n</think>",
    "code span": f"{THOUGHT}I could write `{CALL}`",
    "fence": f"{THOUGHT}The form is:\n```\n{CALL}\n```",
    "unknown tool": THOUGHT + UNKNOWN,
    "arguments that do not fit": THOUGHT + CALL.replace('"at"', '"where"'),
    "cut call": THOUGHT + CALL[:40],
    "mark alone": f"{THOUGHT}<tool_call>",
    "bare object": THOUGHT + OBJECT,
    "object in a fence": f"{THOUGHT}```json\n{OBJECT}\n```",
    "Python": f'{THOUGHT}look(at="sky")',
    "no call": THOUGHT,
}
WAYS: dict[str, dict[str, Any]] = {
    "native": {},
    "in text": {"tools": Tools.TEXT, "prompt_dialect": "hermes"},
    "where a template may open reasoning": {"base_url": "http://127.0.0.1:1/v1", "model": "deepseek-r1"},
}
SKY = [("look", {"at": "sky"})]

every_way = pytest.mark.parametrize("way", WAYS)


def mint(letter: str) -> Ids:
    return lambda index: f"call_{letter}{index}"


def plan_of(way: str = "native", route: dict[str, Any] | None = None, **request: Any) -> Plan:
    told = {"base_url": "http://model.test", **WAYS[way], **(route or {})}
    to = Route(provider=COMPATIBLE["openai_chat"], **told)
    asked = Request(
        **{"model": to.model or "m", "messages": [Message("user", "What is up?")], "tools": [LOOK], **request}
    )
    return compiled(asked, to, text=to.mode is Tools.TEXT, nonce="")


def in_pieces(kind: type[TextDelta] | type[ReasoningDelta], text: str, size: int) -> list[Event]:
    return [kind(text[at : at + size]) for at in range(0, len(text), size)]


def streamed(plan: Plan, events: Sequence[Event], *, course: bool) -> Response:
    """The answer, piece by piece: each handled by every stage, or on the course where it may go there."""
    answer = AnswerStream((), plan, mint)
    out: list[Event] = []
    for event in events:
        last = out[-1] if out else None
        if course and isinstance(event, TextDelta | ReasoningDelta) and isinstance(last, TextDelta | ReasoningDelta):
            made = answer.more(event.text, type(event), type(last))
            out += made if isinstance(made, list) else [type(last)(made)] if made else []
        else:
            out += answer.take_all([event])[0]
    assert answer.response() == assemble(out)
    return answer.response()


def whole(plan: Plan, events: Sequence[Event]) -> Response:
    answer = AnswerStream((), plan, mint)
    made, error = answer.take_all(Replayed(assemble(events)))
    assert error is None
    return assemble(made)


def answers(
    plan: Plan, *parts: tuple[type[TextDelta] | type[ReasoningDelta], str], stop: Stop | None = Stop.END
) -> list[Response]:
    """The same answer whole, and in pieces of several sizes."""
    ways = []
    for size in (1, 7, 10**6):
        events = [Started("m"), *(one for part in parts for one in in_pieces(*part, size)), Ended(stop)]
        ways += [streamed(plan, events, course=course) for course in (False, True)]
        ways.append(whole(plan, events))
    return ways


def reasoned(plan: Plan, text: str, stop: Stop | None = Stop.END) -> list[Response]:
    return answers(plan, (ReasoningDelta, text), stop=stop)


def calls(response: Response) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, dict(call.arguments)) for call in response.calls]


# ── calls that are made, and those that are left ─────────────────────────────


@every_way
@pytest.mark.parametrize("reasoning", MADE.values(), ids=MADE)
def test_a_call_that_all_of_the_reasoning_ends_in_is_made_once(reasoning: str, way: str) -> None:
    for got in reasoned(plan_of(way), reasoning):
        assert calls(got) == SKY
        assert (got.reasoning, got.text, got.stop) == (reasoning, "", Stop.TOOL_CALLS)


@every_way
@pytest.mark.parametrize("reasoning", LEFT.values(), ids=LEFT)
def test_any_other_is_left_where_it_stands(reasoning: str, way: str) -> None:
    for got in reasoned(plan_of(way), reasoning):
        assert (calls(got), got.reasoning, got.text, got.stop) == ([], reasoning, "", Stop.END)


@pytest.mark.parametrize("reasoning", [*MADE.values(), *LEFT.values()], ids=[*MADE, *LEFT])
def test_it_is_judged_as_one_text_whose_reasoning_never_closed(reasoning: str) -> None:
    text = parse(f"<think>{reasoning}", tools=[LOOK])
    judged = [(call.name, call.report.verdict, call.report.rule) for call in text.calls if call.report]
    told = [(issue.kind, issue.message, issue.correction) for issue in text.issues if issue.kind is not IssueKind.NOISE]
    for got in reasoned(plan_of(), reasoning):
        assert [(call.name, call.report.verdict, call.report.rule) for call in got.calls if call.report] == judged
        issues = [(issue.kind, issue.message, issue.correction) for issue in got.issues]
        assert [one for one in issues if "as reasoning" not in one[1]] == told
        assert not any(issue.span for issue in got.issues)  # places count in the visible text, and it stands in none


def test_where_it_stood_is_told() -> None:
    for got in reasoned(plan_of(), THOUGHT + CALL):
        assert [(issue.kind, issue.name) for issue in got.issues] == [(IssueKind.WIRE_FAULT, "look")]
        assert "'look' as reasoning" in got.issues[0].message
        assert got.calls[0].report is not None
        assert got.calls[0].report.span is None  # it stands in no text


def test_several_calls_are_made_in_order() -> None:
    for got in reasoned(plan_of(), f"{THOUGHT}{CALL}\n{OTHER}"):
        assert calls(got) == [*SKY, ("look", {"at": "sea"})]
        assert len({call.id for call in got.calls}) == 2
        assert len(got.issues) == 2


def test_a_copy_of_what_the_model_was_shown_is_no_call() -> None:
    made = Message("assistant", [ToolCall(id="c", name="look", arguments={"at": "page"})])
    shown = Message("tool", [ToolResult(call_id="c", name="look", content=f"It says {CALL}")])
    plan = plan_of(messages=[Message("user", "Read it."), made, shown])
    for got in reasoned(plan, THOUGHT + CALL):
        assert (calls(got), [issue.kind for issue in got.issues]) == ([], [IssueKind.COPIED])


@pytest.mark.parametrize("stop", [Stop.TOOL_CALLS, Stop.STOP_SEQUENCE, None])
def test_it_is_made_whatever_the_provider_says_of_an_end_that_is_one(stop: Stop | None) -> None:
    for got in reasoned(plan_of(), THOUGHT + CALL, stop):
        assert (calls(got), got.stop) == (SKY, Stop.TOOL_CALLS)


@pytest.mark.parametrize("stop", [Stop.LENGTH, Stop.FILTERED, Stop.REFUSED, Stop.PAUSE, Stop.ERROR])
def test_nothing_comes_of_an_answer_that_was_cut(stop: Stop) -> None:
    for got in reasoned(plan_of(), THOUGHT + CALL, stop):
        assert (calls(got), got.issues, got.stop) == ([], (), stop)


@pytest.mark.parametrize(
    "more", [{"tools": []}, {"tool_choice": ToolChoice("none")}], ids=["no tools", "no call wanted"]
)
def test_nothing_is_read_where_nothing_may_be_called(more: dict[str, Any]) -> None:
    for got in reasoned(plan_of(**more), THOUGHT + CALL):
        assert (calls(got), got.issues) == ([], ())


def test_strictly_what_needs_mending_is_refused() -> None:
    for got in reasoned(plan_of(route={"strict": True}), MADE["without its last mark"]):
        assert calls(got) == []
        assert got.issues[0].correction


# ── answers that are more than reasoning ─────────────────────────────────────

MORE: dict[str, tuple[tuple[type[TextDelta] | type[ReasoningDelta], str], ...]] = {
    "an answer behind it": ((ReasoningDelta, THOUGHT + CALL), (TextDelta, "The sky is blue.")),
    "an answer before it": ((TextDelta, "Let me think."), (ReasoningDelta, THOUGHT + CALL)),
    "a blank and an answer before it": ((TextDelta, "\n"), (TextDelta, "Hm."), (ReasoningDelta, THOUGHT + CALL)),
    "an answer amid it": ((ReasoningDelta, THOUGHT), (TextDelta, "Well."), (ReasoningDelta, CALL)),
    "an answer that is a cut call": ((ReasoningDelta, THOUGHT + CALL), (TextDelta, OTHER[:40])),
    "blank lines behind it, which show that it was closed": ((ReasoningDelta, THOUGHT + CALL), (TextDelta, "\n\n")),
}


@every_way
@pytest.mark.parametrize("parts", MORE.values(), ids=MORE)
def test_reasoning_beside_an_answer_is_not_read(parts: tuple[Any, ...], way: str) -> None:
    for got in answers(plan_of(way), *parts):
        assert calls(got) == []
        assert not any("as reasoning" in issue.message for issue in got.issues)


@every_way
def test_blank_lines_before_it_say_nothing(way: str) -> None:
    for got in answers(plan_of(way), (TextDelta, "\n"), (ReasoningDelta, THOUGHT + CALL)):
        assert calls(got) == SKY


@pytest.mark.parametrize("parts", MORE.values(), ids=MORE)
def test_nor_where_one_dialect_listens_and_blanks_are_shown_at_once(parts: tuple[Any, ...]) -> None:
    for got in answers(plan_of(route={"dialects": "hermes", "doubt": "text"}, output_schema=OutputSchema()), *parts):
        assert calls(got) == []


@every_way
@pytest.mark.parametrize("said", [CALL, OTHER], ids=["the same", "another"])
def test_a_call_in_the_answer_is_the_only_one(said: str, way: str) -> None:
    for got in answers(plan_of(way), (ReasoningDelta, THOUGHT + CALL), (TextDelta, said)):
        assert calls(got) == ([("look", {"at": "sea"})] if said == OTHER else SKY)


NATIVE = (CallStarted(0, "n0", "look"), CallDelta(0, '{"at":"sea"}'), CallEnded(0))
BROKEN = (CallStarted(0, "n0", "look"), CallDelta(0, '{"at":5}'), CallEnded(0))


IMAGE = (PartAdded(Media(mime="image/png", data="AA==")),)


@pytest.mark.parametrize("beside", [NATIVE, BROKEN, IMAGE], ids=["call", "broken call", "image"])
def test_reasoning_beside_what_the_wire_says_is_not_read(beside: tuple[Event, ...]) -> None:
    thought: tuple[Event, ...] = (ReasoningDelta(THOUGHT + CALL), PartEnded())
    for events in ((*thought, *beside, Ended(Stop.END)), (*beside, *thought, Ended(Stop.END))):
        for got in (streamed(plan_of(), events, course=True), whole(plan_of(), events)):
            assert ("look", {"at": "sky"}) not in calls(got)


def test_sound_beside_it_is_an_answer() -> None:
    extra = WireFields("openai_chat", {"message": {"audio": {"id": "a", "data": "AA=="}}})
    events: list[Event] = [ReasoningDelta(THOUGHT + CALL), Ended(Stop.END, extra=extra)]
    assert calls(streamed(plan_of(), events, course=True)) == calls(whole(plan_of(), events)) == []


def test_the_signature_of_reasoning_is_no_answer() -> None:
    events: list[Event] = [ReasoningDelta(THOUGHT + CALL), PartEnded({"signature": "c2ln"}), Ended(Stop.END)]
    for got in (streamed(plan_of(), events, course=True), whole(plan_of(), events)):
        assert got.message.parts[:-1] == (Reasoning(THOUGHT + CALL, metadata={"signature": "c2ln"}),)
        assert calls(got) == SKY


def test_an_empty_text_beside_it_is_none() -> None:
    message = Message("assistant", [Reasoning(THOUGHT + CALL), Text("")])
    made, _ = AnswerStream((), plan_of(), mint).take_all(Replayed(Response(message=message, stop=Stop.END)))
    assert calls(assemble(made)) == SKY


def test_the_call_comes_behind_all_of_the_reasoning() -> None:
    answer = AnswerStream((), plan_of(), mint)
    pieces = in_pieces(ReasoningDelta, THOUGHT + CALL, 5)
    out = [made for event in [*pieces, Ended(Stop.END)] for made in answer.take_all([event])[0]]
    assert out[: len(pieces)] == pieces
    assert [type(event) for event in out[-4:]] == [CallStarted, CallDelta, CallEnded, Ended]


# ── what it costs ────────────────────────────────────────────────────────────


def test_reasoning_longer_than_anybody_reads_is_let_go_of_and_not_read() -> None:
    held = ReasonedCalls(lambda _: pytest.fail("it was read"))
    for _ in range(3 * MOST // 4096):
        held.note("x" * 4096)
        assert sum(map(len, held._texts)) <= MOST
    held.note(CALL)
    assert held.close(Ended(Stop.END)) == []


def test_what_is_noted_is_let_go_of_with_the_first_word_of_the_answer() -> None:
    plan = plan_of()
    answer = AnswerStream((), plan, mint)
    answer.take_all([ReasoningDelta(THOUGHT)])
    answer.take_all([TextDelta("Well")])
    assert answer._handle.texts._reasoned is None  # type: ignore[union-attr]


def test_joiners_in_it_are_taken_out_of_the_call_as_out_of_any() -> None:
    text = f"{THOUGHT}So {JOINER}{JOINER} it is. {CALL.replace('sky', f's<{JOINER}tool_call>y')}"
    for got in reasoned(plan_of("in text"), text):
        assert calls(got) == [("look", {"at": "s<tool_call>y"})]
