"""Tools the house runs: the client sees one answer, the model its tools and their results, no call is lost or run twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.effects import Machine, Sleep, relay, run
from dragoman.errors import ErrorKind, ProviderError, ToolError
from dragoman.events import (
    CallEnded,
    CallStarted,
    Ended,
    Event,
    PartEnded,
    Reclassified,
    Started,
    TextDelta,
    assemble,
    replay,
)
from dragoman.fallback import Rules
from dragoman.io.scripted import ScriptedPeer
from dragoman.loop import Policy
from dragoman.server_tools.machine import DEFAULT_POLICY, TAKEN, ServerToolsRan, named, with_tools
from dragoman.server_tools.memory import Memory, remainder
from dragoman.tools import Context, Runnable, ToolSet, tool
from dragoman.turn.reask import reask
from dragoman.types import (
    Issue,
    IssueKind,
    JsonObject,
    Media,
    Message,
    OutputSchema,
    Part,
    Reasoning,
    Request,
    Response,
    Sampling,
    Stop,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Usage,
)

WRITE = Tool(
    name="write_file",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
ASKED = Request(model="m", messages=(Message("user", "what time is it?"),), tools=(WRITE,), stream=True)
COST = Usage(input=10, output=5)


class Clock:
    """A house tool that says what it was asked; counts how often it ran."""

    def __init__(self) -> None:
        self.ran: list[Any] = []

    def tools(self) -> ToolSet:
        @tool(read_only=True)
        def now(zone: str = "UTC") -> str:
            """The time."""
            self.ran.append(zone)
            return f"12:00 {zone}"

        @tool(read_only=True)
        def broken(zone: str = "UTC") -> str:
            """Fail."""
            self.ran.append(zone)
            raise ToolError("ENOENT", "no such zone")

        @tool(read_only=True)
        def long() -> str:
            """Say much."""
            self.ran.append("long")
            return "x" * 5000

        return ToolSet(now, broken, long)


def said(*parts: Part | str, stop: Stop | None = None, issues: Sequence[Issue] = ()) -> Response:
    given = [Text(part) if isinstance(part, str) else part for part in parts]
    calls = any(isinstance(part, ToolCall) for part in given)
    ended = stop or (Stop.TOOL_CALLS if calls else Stop.END)
    return Response(message=Message("assistant", given), stop=ended, usage=COST, issues=tuple(issues), model="up")


def call(name: str = "now", call_id: str = "c1", **arguments: Any) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


class Model:
    """Answers in order; keeps what it was asked."""

    def __init__(self, *answers: Response | ProviderError | Sequence[Event]) -> None:
        self._answers = list(answers)
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> Machine[Response]:
        self.asked.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, ProviderError):
            raise answer
        events = list(replay(answer)) if isinstance(answer, Response) else list(answer)
        yield from events
        return assemble(events)

    @property
    def results(self) -> list[ToolResult]:
        """All results it was shown in the end."""
        return [result for message in self.asked[-1].messages for result in message.results]


def heard_by(machine: Machine[Response], steps: list[Any]) -> Machine[Response]:
    """`machine`, with its steps kept."""

    def hear(step: Any) -> tuple[()]:
        steps.append(step)
        return ()

    return relay(machine, on_step=hear)


class Heard:
    """One request served by a model and a house."""

    def __init__(self, *answers: Any, request: Request = ASKED, **more: Any) -> None:
        self.clock, self.model = Clock(), Model(*answers)
        house: Mapping[str, ToolSet] = more.pop("house", None) or {"clock": self.clock.tools()}
        ask = with_tools(self.model, house, **more)
        self.steps: list[Any] = []
        self.response = run(heard_by(reask(request, ask), self.steps), ScriptedPeer([]).sync_performer())

    @property
    def events(self) -> list[Event]:
        return [step for step in self.steps if isinstance(step, Event)]


both_ways = pytest.mark.parametrize("request_", [ASKED, replace(ASKED, stream=False)], ids=["streamed", "whole"])


# ── one answer out of several ────────────────────────────────────────────────


@both_ways
def test_a_server_tool_runs_and_the_client_sees_the_answer(request_: Request) -> None:
    heard = Heard(said("Let me look. ", call(zone="CET")), said("It is noon."), request=request_)
    assert heard.clock.ran == ["CET"]
    assert heard.response.text == "Let me look. \n\nIt is noon."
    assert heard.response.calls == ()
    assert heard.response.stop is Stop.END
    assert heard.response.usage == Usage(input=20, output=10)
    assert assemble(heard.events) == heard.response
    assert not any(isinstance(event, CallStarted) for event in heard.events)
    assert [tool.name for tool in heard.model.asked[0].tools] == ["write_file", "now", "broken", "long"]
    asked, answer = heard.model.asked[1].messages[1:]
    assert (asked.role, asked.text, asked.calls) == ("assistant", "Let me look. ", (call(zone="CET"),))
    assert (answer.role, answer.results[0].text) == ("tool", "12:00 CET")


@both_ways
def test_an_answer_without_server_tool_calls_passes_unchanged(request_: Request) -> None:
    answer = said(Reasoning("hm", metadata={"signature": "s"}), "I write.", call("write_file", path="a"))
    heard = Heard(answer, request=request_)
    assert heard.response == answer
    assert assemble(heard.events) == answer
    assert len(heard.model.asked) == 1


def test_without_tools_of_the_house_nothing_is_wrapped() -> None:
    model = Model()
    assert with_tools(model, {"clock": ToolSet()}) == model


def test_text_streams_and_the_answers_stand_apart() -> None:
    first = [Started("up"), TextDelta("Let "), TextDelta("me see"), CallStarted(0, "c1", "now"), CallEnded(0), Ended()]
    second = [Started("up"), TextDelta("\n"), TextDelta(" It is"), TextDelta(" noon"), Ended(Stop.END)]
    heard = Heard(first, second)
    at = next(n for n, step in enumerate(heard.steps) if isinstance(step, ServerToolsRan))
    assert [s.text for s in heard.steps[:at] if isinstance(s, TextDelta)] == ["Let ", "me see"]
    assert [s.text for s in heard.steps[at:] if isinstance(s, TextDelta)] == ["\n\nIt is", " noon"]
    assert sum(isinstance(event, Started) for event in heard.events) == 1


def test_the_thoughts_of_two_answers_stay_two() -> None:
    one, two = (Reasoning(t, metadata={"signature": t.upper()}) for t in ("first", "second"))
    heard = Heard(said(one, call()), said(two, "Noon."))
    assert [p for p in heard.response.message.parts if isinstance(p, Reasoning)] == [one, two]
    plain = Heard(said(Reasoning("first"), call()), said(Reasoning("second"), "Noon."))
    assert [p.text for p in plain.response.message.parts if isinstance(p, Reasoning | Text)] == [
        "first",
        "second",
        "Noon.",
    ]
    assert PartEnded() in plain.events


def test_a_reclassified_later_answer_leaves_earlier_text_alone() -> None:
    late = [Started("up"), TextDelta("I muse"), Reclassified(), TextDelta("Noon."), Ended(Stop.END)]
    heard = Heard(said("Let me look.", call()), late)
    assert Reclassified() not in heard.events
    assert heard.response.text.startswith("Let me look.")
    assert heard.response.text.endswith("Noon.")


def test_a_call_found_to_stand_in_reasoning_does_not_run() -> None:
    musing = [
        Started("up"),
        CallStarted(0, "c1", "now"),
        CallEnded(0),
        Reclassified(),
        TextDelta("Noon."),
        Ended(Stop.END),
    ]
    heard = Heard(musing)
    assert heard.clock.ran == []
    assert heard.response.text == "Noon."


def test_a_demanded_form_shows_only_the_last_text() -> None:
    schema = {"type": "object", "properties": {"time": {"type": "string"}}, "required": ["time"]}
    request = replace(ASKED, tools=(), output_schema=OutputSchema(schema=schema))
    heard = Heard(said('{"draft": 1} I look.', call()), said('{"time": "12:00"}'), request=request)
    assert heard.response.text == '{"time": "12:00"}'


def test_a_signature_stays_with_its_reasoning_under_a_form() -> None:
    form = OutputSchema(schema={"type": "object"})
    signed = Reasoning("hm", metadata={"signature": "s"})
    heard = Heard(said("{}", signed, call()), said('{"time": "12:00"}'), request=replace(ASKED, output_schema=form))
    assert heard.response.message.parts[0] == signed


# ── both kinds in one answer ─────────────────────────────────────────────────


@both_ways
def test_server_calls_run_and_client_calls_are_handed_on(request_: Request) -> None:
    write = call("write_file", "w1", path="a")
    heard = Heard(said("So.", write, call(call_id="c2")), said("Noon."), request=request_)
    assert heard.clock.ran == ["UTC"]
    assert heard.response.calls == (write,)
    assert heard.response.stop is Stop.TOOL_CALLS
    assert [(r.call_id, r.text) for r in heard.model.results] == [("w1", TAKEN), ("c2", "12:00 UTC")]


def test_a_repeated_client_call_is_handed_on_once() -> None:
    one, two = call("write_file", "w1", path="a"), call("write_file", "w1", path="b")
    heard = Heard(said(one, call(call_id="c2")), said(replace(one, id="w9"), two))
    assert [(c.id, c.arguments["path"]) for c in heard.response.calls] == [("w1", "a"), ("w1_2", "b")]
    assert any("given once" in issue.message for issue in heard.response.issues)


def test_a_wrong_client_call_is_asked_again_beside_server_tools() -> None:
    good = call("write_file", path="a")
    heard = Heard(said(call("write_file", "w1", file=1), call(call_id="c2")), said("Hm."), said(good))
    assert [c.arguments for c in heard.response.calls] == [{"path": "a"}]
    assert heard.clock.ran == ["UTC"]
    assert [r.text for r in heard.model.results] == [TAKEN, "12:00 UTC"]


def test_server_tool_results_are_known_when_asking_again() -> None:
    broken = Issue(
        kind=IssueKind.MALFORMED, message="broken", raw='{"name": write', name="write_file", correction="Mend it."
    )
    heard = Heard(said("I look.", call()), said("Now.", issues=[broken]), said(call("write_file", path="a")))
    roles = [m.role for m in heard.model.asked[2].messages]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    assert heard.model.asked[2].messages[3].text == 'Now.\n{"name": write'
    assert [c.arguments for c in heard.response.calls] == [{"path": "a"}]
    assert heard.clock.ran == ["UTC"]


def test_a_broken_client_call_the_model_repeats_is_asked_once() -> None:
    broken = Issue(
        kind=IssueKind.MALFORMED, message="broken", raw="{", name="write_file", correction="Mend it.", span=(0, 1)
    )
    heard = Heard(said(call(), issues=[broken]), said(call("write_file", path="a")))
    assert [c.arguments for c in heard.response.calls] == [{"path": "a"}]
    assert len(heard.model.asked) == 2
    assert "'write_file' was not run: broken" in heard.model.asked[1].messages[-1].text


# ── what goes wrong ──────────────────────────────────────────────────────────


def test_a_tool_that_fails_is_a_result_with_a_code() -> None:
    heard = Heard(said(call("broken")), said("No such zone."))
    (result,) = heard.model.results
    assert (result.is_error, result.error_code) == (True, "ENOENT")
    assert heard.response.text == "No such zone."


def test_wrong_arguments_reach_the_model_and_not_the_client() -> None:
    heard = Heard(said(call(zone=[1])), said(call(call_id="c2", zone="CET")), said("Noon."))
    assert heard.clock.ran == ["CET"]
    assert (heard.model.results[0].is_error, heard.model.results[0].error_code) == (True, "InvalidArgs")
    assert heard.response.text == "Noon."


def test_a_broken_server_call_in_text_is_corrected_here() -> None:
    slip = Issue(kind=IssueKind.MALFORMED, message="broken", raw="<now", name="now", correction="Mend it.", span=(0, 4))
    heard = Heard(said("Hm ", issues=[slip]), said(call()), said("Noon."))
    assert "You wrote: <now" in heard.model.asked[1].messages[-1].text
    assert heard.clock.ran == ["UTC"]
    assert heard.response.text == "Hm \n\nNoon."


def test_a_model_that_never_gets_a_call_right_is_reported() -> None:
    slip = Issue(kind=IssueKind.MALFORMED, message="broken", raw="<now", name="now", correction="Mend it.", span=(0, 4))
    heard = Heard(*[said(issues=[slip])] * 4)
    assert len(heard.model.asked) == 4
    assert "call of 'now' was not run" in heard.response.text
    assert heard.clock.ran == []


def test_a_failure_of_the_provider_between_two_answers_is_told() -> None:
    with pytest.raises(ProviderError, match="gone"):
        Heard(said(call()), ProviderError("gone", kind=ErrorKind.NETWORK))


def test_an_empty_answer_to_server_tools_is_asked_again() -> None:
    heard = Heard(said("I look.", call()), said(""), said("Noon."))
    assert "was empty" in heard.model.asked[2].messages[-1].text
    assert heard.response.text == "I look.\n\nNoon."
    assert len(Heard(said(call()), said(""), said(""), said("")).model.asked) == 4


def test_a_call_cut_by_the_client_limit_is_final() -> None:
    cut = Issue(kind=IssueKind.TRUNCATED, message="cut", raw="<now", name="now", correction="Shorter.", span=(0, 4))
    request = replace(ASKED, sampling=Sampling(max_tokens=5))
    heard = Heard(said("Hm ", stop=Stop.LENGTH, issues=[cut]), request=request)
    assert heard.response.stop is Stop.LENGTH
    assert len(heard.model.asked) == 1
    assert "<now" in {issue.raw for issue in heard.response.issues}


# ── limits ───────────────────────────────────────────────────────────────────


def test_bounded_turns_end_with_one_more_question() -> None:
    calls = [said(call(call_id=f"c{n}", zone=str(n))) for n in range(3)]
    heard = Heard(*calls, said("I could not look."), policy=replace(DEFAULT_POLICY, max_turns=2))
    assert heard.clock.ran == ["0", "1"]
    assert "no more tools" in heard.model.results[-1].text
    assert heard.response.text == "I could not look."


def test_a_model_that_never_stops_calling_is_ended_honestly() -> None:
    heard = Heard(*[said(call(call_id=f"c{n}")) for n in range(9)], policy=replace(DEFAULT_POLICY, max_turns=2))
    assert (len(heard.model.asked), len(heard.clock.ran)) == (4, 2)
    assert "call of 'now' was not run" in heard.response.text
    assert heard.response.stop is Stop.END


def test_time_is_bounded() -> None:
    def sleepy(request: Request) -> Machine[Response]:
        yield Sleep(100.0)
        return (yield from model(request))

    model, clock = Model(said(call()), said(call(call_id="c2")), said("Late.")), Clock()
    ask = with_tools(sleepy, {"clock": clock.tools()}, replace(DEFAULT_POLICY, timeout=150.0))
    assert run(ask(ASKED), ScriptedPeer([]).sync_performer()).text == "Late."
    assert clock.ran == ["UTC"]


def test_long_results_are_shortened_and_can_be_read_on() -> None:
    more = call("read_more", "c2", key="r1", start=100)
    heard = Heard(said(call("long")), said(more), said("Much."), policy=replace(DEFAULT_POLICY, result_limit=500))
    first, second = heard.model.results
    assert len(first.text) <= 500
    assert "read_more" in first.text
    assert second.text.startswith("xxx")
    assert "read_more" not in [tool.name for tool in heard.model.asked[0].tools]


# ── what the client demands ──────────────────────────────────────────────────


@pytest.mark.parametrize("choice", [ToolChoice("none"), ToolChoice("named", "write_file")])
def test_a_client_tool_choice_leaves_out_server_tools(choice: ToolChoice) -> None:
    heard = Heard(said(call("write_file", path="a")), said("x"), request=replace(ASKED, tool_choice=choice))
    assert [tool.name for tool in heard.model.asked[0].tools] == ["write_file"]


def test_a_required_call_is_one_of_the_client() -> None:
    request = replace(ASKED, tool_choice=ToolChoice("required"))
    heard = Heard(said(call()), said("Noon."), said(call("write_file", path="a")), request=request)
    assert [c.name for c in heard.response.calls] == ["write_file"]
    assert [asked.tool_choice for asked in heard.model.asked] == [ToolChoice("required")] * 3


def test_client_tools_keep_their_names_before_server_tools() -> None:
    sets = {
        "my clock": Clock().tools().only("now"),
        "b": Clock().tools().only("now"),
        "c": Clock().tools().only("long"),
    }
    assert list(named(sets, {"now"})) == ["my_clock.now", "b.now", "long"]
    assert list(named({"b": sets["b"]}, {"now", "b.now"})) == ["b.now_2"]


def test_a_tool_told_by_another_name_runs() -> None:
    clients = Tool(name="now", description="the client's own")
    request = replace(ASKED, tools=(clients,))
    heard = Heard(said(call("clock.now"), call("now", "c2")), said("Noon."), request=request)
    assert heard.clock.ran == ["UTC"]
    assert [c.id for c in heard.response.calls] == ["c2"]


# ── the requests that follow ─────────────────────────────────────────────────


def following(response: Response, *more: Message, request: Request = ASKED) -> Request:
    return replace(request, messages=(*request.messages, response.message, *more))


def test_the_model_remembers_what_it_found_out() -> None:
    memory = Memory()
    first = Heard(said("I look.", call(zone="CET")), said("Noon."), memory=memory)
    asked = following(first.response, Message("user", "and now?"))
    second = Heard(said("Still."), request=asked, memory=memory)
    roles = [(m.role, m.text) for m in second.model.asked[0].messages]
    assert roles == [
        ("user", "what time is it?"), ("assistant", "I look."), ("tool", ""), ("assistant", "Noon."), ("user", "and now?")
    ]  # fmt: skip
    other = Heard(said("Still."), request=asked, memory=memory, owner="somebody else")
    assert [m.role for m in other.model.asked[0].messages] == ["user", "assistant", "user"]


def test_a_mixed_answer_is_remembered_by_its_calls() -> None:
    memory = Memory()
    write = call("write_file", "w1", path="a")
    first = Heard(said(call(), write), said(""), memory=memory)
    echoed = Response(message=Message("assistant", [replace(write, id="other")]))
    asked = following(echoed, Message("tool", [ToolResult(call_id="other", content="ok")]))
    second = Heard(said("Done."), request=asked, memory=memory)
    assert [m.role for m in second.model.asked[0].messages] == ["user", "assistant", "tool", "assistant", "tool"]
    assert first.response.calls == (write,)


def test_memory_is_bounded_and_forgets_the_oldest() -> None:
    memory = Memory(limit=300)
    for n in range(10):
        turns = [Message("tool", [ToolResult(call_id="c", content="x" * 100)])]
        memory.remember("", [Message("user", str(n))], Message("assistant", "ok"), turns)
    refilled = [len(memory.refill("", [Message("user", str(n)), Message("assistant", "ok")])) for n in range(10)]
    assert refilled == [2] * 7 + [3] * 3


def test_what_the_turns_say_is_not_said_twice() -> None:
    seen = Media(url="http://picture")
    turns = [Message("assistant", [Reasoning("a"), Text("I look."), seen])]
    told = Message("assistant", [Reasoning("a"), seen, Text("I "), Text("look."), Reasoning("b"), Text("\n\nNoon.")])
    assert remainder(told, turns).parts == (Reasoning("b"), Text("Noon."))
    assert remainder(Message("assistant", "Other"), turns).parts == (Text("Other"),)


# ── the law ──────────────────────────────────────────────────────────────────

SLIPS = st.sampled_from([("now", None), ("write_file", None), ("", None), ("now", (0, 1)), ("write_file", (0, 1))])
STOPS = st.sampled_from([None, Stop.LENGTH, Stop.ERROR, Stop.REFUSED, Stop.PAUSE])
ODD = st.lists(
    st.tuples(
        st.text("ab \n", max_size=3), st.lists(st.sampled_from(["now", "write_file", "nobody"]), max_size=3),
        st.lists(SLIPS, max_size=2), STOPS, st.booleans(),
    ),
    min_size=1, max_size=8,
)  # fmt: skip


@given(ODD, st.booleans(), st.booleans(), st.sampled_from([None, 5]))
def test_whatever_a_model_says_one_whole_answer_comes_of_it(
    answers: list[Any], stream: bool, form: bool, most: int | None
) -> None:
    script: list[list[Event]] = []
    for n, (text, names, slips, stop, recast) in enumerate(answers):
        calls = [call(name, f"i{at}", path="p", zone=f"{n}.{at}") for at, name in enumerate(names)]
        issues = [
            Issue(
                kind=IssueKind.MALFORMED, message="no", raw=f"<{n}", name=name, correction="Mend it.", span=span,
                call_id="" if span else f"x{at}",
            )
            for at, (name, span) in enumerate(slips)
        ]  # fmt: skip
        events = list(replay(said(text, *calls, stop=stop, issues=issues)))
        script.append([*events[:-1], *([Reclassified()] if recast else []), events[-1]])
    model, clock = Model(*script, *[said("end")] * 30), Clock()
    schema = OutputSchema(schema={"type": "string"}) if form else None
    asked = replace(ASKED, stream=stream, output_schema=schema, sampling=Sampling(max_tokens=most))
    events = list[Event]()
    ask = with_tools(model, {"clock": clock.tools()}, replace(DEFAULT_POLICY, max_turns=3))
    try:
        response = run(heard_by(reask(asked, ask), events), ScriptedPeer([]).sync_performer())
    except ProviderError as error:
        if form and error.code == "demand_not_met":
            return
        raise
    assert assemble(events) == response
    assert max(Counter(clock.ran).values(), default=0) <= 1
    assert {each.name for each in response.calls} <= {"write_file"}
    assert len(model.asked) < 30
    for request in model.asked:
        due: list[str] = []
        for message in request.messages:
            assert [each.call_id for each in message.results] == due
            due = [each.id for each in message.calls]
        assert not due


KINDS = st.sampled_from(["now", "write_file", "broken", "nobody"])
ANSWERS = st.lists(st.tuples(st.text("ab \n", max_size=4), st.lists(KINDS, max_size=4)), min_size=1, max_size=6)


@given(ANSWERS, st.booleans(), st.integers(1, 4))
def test_no_call_is_lost_told_twice_or_run_twice(
    answers: list[tuple[str, list[str]]], stream: bool, turns: int
) -> None:
    ran: Counter[str] = Counter()

    def count(arguments: JsonObject, _: Context) -> str:
        ran[str(arguments["n"])] += 1
        return "ok"

    schema = {"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]}
    house = ToolSet(*(Runnable(tool=Tool(name=name, parameters=schema), function=count) for name in ("now", "broken")))
    made: list[list[ToolCall]] = []
    for _, names in answers:
        calls = [call(name, f"i{n}", n=f"{len(made)}.{n}", path="p") for n, name in enumerate(names)]
        made.append(calls)
    script = [said(text, *calls) for (text, _), calls in zip(answers, made, strict=True)]
    model = Model(*script, *[said("end")] * 2)
    events: list[Event] = []
    asked = replace(ASKED, stream=stream)
    response = run(
        heard_by(with_tools(model, {"h": house}, Policy(max_turns=turns))(asked), events),
        ScriptedPeer([]).sync_performer(),
    )
    assert assemble(events) == response
    heard = [each for calls in made[: len(model.asked)] for each in calls]
    theirs = [each for each in heard if each.name not in house]
    assert [each.arguments for each in response.calls] == [each.arguments for each in theirs]
    assert len({each.id for each in response.calls}) == len(theirs)
    assert set(ran.values()) <= {1}
    shown = [each for message in model.asked[-1].messages for each in message.calls]
    assert sum(len(message.results) for message in model.asked[-1].messages) == len(shown)
    unrun = "".join(issue.raw for issue in response.issues)
    for each in heard:
        if each.name in house:
            assert each.arguments in [one.arguments for one in shown] or f'"{each.arguments["n"]}"' in unrun


# ── a provider that fails when tools have run ────────────────────────────────

DOWN = ProviderError("cannot reach http://model.test; is it running?", kind=ErrorKind.NETWORK)
PATIENT = Rules(retries=2)


def notes(kept: list[str], *, read_only: bool) -> Mapping[str, ToolSet]:
    """A house with one tool that writes something down."""

    @tool(read_only=read_only)
    def note(text: str) -> str:
        """Write it down."""
        kept.append(text)
        return f"noted: {text}"

    return {"notes": ToolSet(note)}


NOTE = call("note", text="a")


@both_ways
def test_a_provider_failure_after_a_tool_repeats_no_tool(request_: Request) -> None:
    kept: list[str] = []
    house = notes(kept, read_only=False)
    heard = Heard(said("I note it.", NOTE), DOWN, said("Done."), request=request_, house=house, rules=PATIENT)
    assert heard.response.text == "I note it.\n\nDone."
    assert kept == ["a"]
    assert heard.model.asked[1].messages == heard.model.asked[2].messages


@both_ways
def test_a_lasting_failure_says_what_was_done(request_: Request) -> None:
    kept: list[str] = []
    memory = Memory()
    more: dict[str, Any] = {"house": notes(kept, read_only=False), "rules": PATIENT, "memory": memory}
    heard = Heard(said("I note it.", NOTE), DOWN, DOWN, DOWN, request=request_, **more)
    assert kept == ["a"]
    assert heard.response.text.startswith("I note it.\n\n[note ran for this request, and what that did is done.")
    assert "cannot reach http://model.test" in heard.response.text
    assert heard.response.stop is Stop.END
    assert [issue.kind for issue in heard.response.issues] == [IssueKind.WIRE_FAULT]
    assert assemble(heard.events).text == heard.response.text
    again = (*request_.messages, heard.response.message, Message("user", "go on"))
    after = Heard(said("Noted."), request=replace(request_, messages=again), **more)
    assert [result.text for result in after.model.results] == ["noted: a"], "it knows what it did, and goes on"


@both_ways
def test_where_tools_only_read_the_failure_is_told_as_one(request_: Request) -> None:
    kept: list[str] = []
    with pytest.raises(ProviderError, match="cannot reach"):
        Heard(said(NOTE), DOWN, DOWN, DOWN, request=request_, house=notes(kept, read_only=True), rules=PATIENT)
    assert kept == ["a"]


def test_a_failure_before_any_tool_is_not_asked_again() -> None:
    with pytest.raises(ProviderError):
        Heard(DOWN, said("late"), house=notes([], read_only=False), rules=PATIENT)
    heard = Heard(said(NOTE), DOWN, said("late"), house=notes([], read_only=False))
    assert "cannot reach" in heard.response.text
    assert len(heard.model.asked) == 2


def test_text_of_a_broken_answer_is_not_repeated() -> None:
    def breaking(request: Request) -> Machine[Response]:
        asked.append(request)
        if len(asked) == 1:
            events = list(replay(said(NOTE)))
            yield from events
            return assemble(events)
        yield Started("up")
        yield TextDelta("It is ")
        raise DOWN

    asked: list[Request] = []
    steps: list[Any] = []
    ask = with_tools(breaking, notes([], read_only=False), rules=PATIENT)
    response = run(heard_by(reask(ASKED, ask), steps), ScriptedPeer([]).sync_performer())
    assert response.text.startswith("It is \n\n[note ran for this request")
    assert len(asked) == 2


def test_client_calls_are_handed_on_despite_a_later_failure() -> None:
    both = said(NOTE, call("write_file", "w1", path="x"))
    heard = Heard(both, DOWN, house=notes([], read_only=False))
    assert [each.name for each in heard.response.calls] == ["write_file"]
    assert heard.response.stop is Stop.TOOL_CALLS
