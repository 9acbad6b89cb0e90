"""Tools the house runs: the client sees one answer, the model its tools and their results, no call is lost or run twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
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
from dragoman.loop import Policy
from dragoman.server_tools.machine import DEFAULT_POLICY, TAKEN, ServerToolsRan, named, with_tools
from dragoman.server_tools.memory import Memory, remainder
from dragoman.sim.scripted import ScriptedPeer
from dragoman.tools import Context, Runnable, ToolSet, tool
from dragoman.turn.reask import reask
from dragoman.types import (
    Issue,
    IssueKind,
    JsonObject,
    Media,
    Message,
    OutputSchema,
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
from tests.support.kept import alone
from tests.support.models import ScriptedModel, response_of

WRITE = Tool(
    name="write_file",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
ASKED = Request(model="m", messages=(Message("user", "what time is it?"),), tools=(WRITE,), stream=True)


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


def call(name: str = "now", call_id: str = "c1", **arguments: Any) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


def recorded(machine: Machine[Response], steps: list[Any]) -> Machine[Response]:
    """`machine`, with its steps kept."""

    def hear(step: Any) -> tuple[()]:
        steps.append(step)
        return ()

    return relay(machine, on_step=hear)


class Served:
    """One request served by a model and a house."""

    def __init__(self, *answers: Any, request: Request = ASKED, **more: Any) -> None:
        self.clock, self.model = Clock(), ScriptedModel(*answers)
        house: Mapping[str, ToolSet] = more.pop("house", None) or {"clock": self.clock.tools()}
        ask = with_tools(self.model, house, **more)
        self.steps: list[Any] = []
        self.response = run(recorded(reask(request, ask), self.steps), ScriptedPeer([]).sync_performer())

    @property
    def events(self) -> list[Event]:
        return [step for step in self.steps if isinstance(step, Event)]


both_ways = pytest.mark.parametrize("request_", [ASKED, replace(ASKED, stream=False)], ids=["streamed", "whole"])


# ── one answer out of several ────────────────────────────────────────────────


@both_ways
def test_a_server_tool_runs_and_the_client_sees_the_answer(request_: Request) -> None:
    served = Served(response_of("Let me look. ", call(zone="CET")), response_of("It is noon."), request=request_)
    assert served.clock.ran == ["CET"]
    assert served.response.text == "Let me look. \n\nIt is noon."
    assert served.response.calls == ()
    assert served.response.stop is Stop.END
    assert served.response.usage == Usage(input=20, output=10)
    assert assemble(served.events) == served.response
    assert not any(isinstance(event, CallStarted) for event in served.events)
    assert [tool.name for tool in served.model.requests[0].tools] == ["write_file", "now", "broken", "long"]
    called, answer = served.model.requests[1].messages[1:]
    assert (called.role, called.text, called.calls) == ("assistant", "Let me look. ", (call(zone="CET"),))
    assert (answer.role, answer.results[0].text) == ("tool", "12:00 CET")


@both_ways
def test_an_answer_without_server_tool_calls_passes_unchanged(request_: Request) -> None:
    answer = response_of(Reasoning("hm", metadata={"signature": "s"}), "I write.", call("write_file", path="a"))
    served = Served(answer, request=request_)
    assert served.response == answer
    assert assemble(served.events) == answer
    assert len(served.model.requests) == 1


def test_without_tools_of_the_house_nothing_is_wrapped() -> None:
    model = ScriptedModel()
    assert with_tools(model, {"clock": ToolSet()}) == model


def test_text_streams_and_the_answers_stand_apart() -> None:
    first = [Started("up"), TextDelta("Let "), TextDelta("me see"), CallStarted(0, "c1", "now"), CallEnded(0), Ended()]
    second = [Started("up"), TextDelta("\n"), TextDelta(" It is"), TextDelta(" noon"), Ended(Stop.END)]
    served = Served(first, second)
    at = next(n for n, step in enumerate(served.steps) if isinstance(step, ServerToolsRan))
    assert [s.text for s in served.steps[:at] if isinstance(s, TextDelta)] == ["Let ", "me see"]
    assert [s.text for s in served.steps[at:] if isinstance(s, TextDelta)] == ["\n\nIt is", " noon"]
    assert sum(isinstance(event, Started) for event in served.events) == 1


def test_the_thoughts_of_two_answers_stay_two() -> None:
    one, two = (Reasoning(t, metadata={"signature": t.upper()}) for t in ("first", "second"))
    served = Served(response_of(one, call()), response_of(two, "Noon."))
    assert [p for p in served.response.message.parts if isinstance(p, Reasoning)] == [one, two]
    plain = Served(response_of(Reasoning("first"), call()), response_of(Reasoning("second"), "Noon."))
    assert [p.text for p in plain.response.message.parts if isinstance(p, Reasoning | Text)] == [
        "first",
        "second",
        "Noon.",
    ]
    assert PartEnded() in plain.events


def test_a_reclassified_later_answer_leaves_earlier_text_alone() -> None:
    late = [Started("up"), TextDelta("I muse"), Reclassified(), TextDelta("Noon."), Ended(Stop.END)]
    served = Served(response_of("Let me look.", call()), late)
    assert Reclassified() not in served.events
    assert served.response.text.startswith("Let me look.")
    assert served.response.text.endswith("Noon.")


def test_a_call_found_to_stand_in_reasoning_does_not_run() -> None:
    musing = [
        Started("up"),
        CallStarted(0, "c1", "now"),
        CallEnded(0),
        Reclassified(),
        TextDelta("Noon."),
        Ended(Stop.END),
    ]
    served = Served(musing)
    assert served.clock.ran == []
    assert served.response.text == "Noon."


def test_a_demanded_form_shows_only_the_last_text() -> None:
    schema = {"type": "object", "properties": {"time": {"type": "string"}}, "required": ["time"]}
    request = replace(ASKED, tools=(), output_schema=OutputSchema(schema=schema))
    served = Served(response_of('{"draft": 1} I look.', call()), response_of('{"time": "12:00"}'), request=request)
    assert served.response.text == '{"time": "12:00"}'


def test_a_signature_stays_with_its_reasoning_under_a_form() -> None:
    form = OutputSchema(schema={"type": "object"})
    signed = Reasoning("hm", metadata={"signature": "s"})
    served = Served(response_of("{}", signed, call()), response_of('{"time": "12:00"}'), request=replace(ASKED, output_schema=form))
    assert served.response.message.parts[0] == signed


# ── both kinds in one answer ─────────────────────────────────────────────────


@both_ways
def test_server_calls_run_and_client_calls_are_handed_on(request_: Request) -> None:
    write = call("write_file", "w1", path="a")
    served = Served(response_of("So.", write, call(call_id="c2")), response_of("Noon."), request=request_)
    assert served.clock.ran == ["UTC"]
    assert served.response.calls == (write,)
    assert served.response.stop is Stop.TOOL_CALLS
    assert [(r.call_id, r.text) for r in served.model.results] == [("w1", TAKEN), ("c2", "12:00 UTC")]


def test_a_repeated_client_call_is_handed_on_once() -> None:
    one, two = call("write_file", "w1", path="a"), call("write_file", "w1", path="b")
    served = Served(response_of(one, call(call_id="c2")), response_of(replace(one, id="w9"), two))
    assert [(c.id, c.arguments["path"]) for c in served.response.calls] == [("w1", "a"), ("w1_2", "b")]
    assert any("given once" in issue.message for issue in served.response.issues)


def test_a_wrong_client_call_is_asked_again_beside_server_tools() -> None:
    good = call("write_file", path="a")
    served = Served(response_of(call("write_file", "w1", file=1), call(call_id="c2")), response_of("Hm."), response_of(good))
    assert [c.arguments for c in served.response.calls] == [{"path": "a"}]
    assert served.clock.ran == ["UTC"]
    assert [r.text for r in served.model.results] == [TAKEN, "12:00 UTC"]


def test_server_tool_results_are_known_when_asking_again() -> None:
    broken = Issue(
        kind=IssueKind.MALFORMED, message="broken", raw='{"name": write', name="write_file", correction="Mend it."
    )
    served = Served(response_of("I look.", call()), response_of("Now.", issues=[broken]), response_of(call("write_file", path="a")))
    roles = [m.role for m in served.model.requests[2].messages]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    assert served.model.requests[2].messages[3].text == 'Now.\n{"name": write'
    assert [c.arguments for c in served.response.calls] == [{"path": "a"}]
    assert served.clock.ran == ["UTC"]


def test_a_broken_client_call_the_model_repeats_is_asked_once() -> None:
    broken = Issue(
        kind=IssueKind.MALFORMED, message="broken", raw="{", name="write_file", correction="Mend it.", span=(0, 1)
    )
    served = Served(response_of(call(), issues=[broken]), response_of(call("write_file", path="a")))
    assert [c.arguments for c in served.response.calls] == [{"path": "a"}]
    assert len(served.model.requests) == 2
    assert "'write_file' was not run: broken" in served.model.requests[1].messages[-1].text


# ── what goes wrong ──────────────────────────────────────────────────────────


def test_a_tool_that_fails_is_a_result_with_a_code() -> None:
    served = Served(response_of(call("broken")), response_of("No such zone."))
    (result,) = served.model.results
    assert (result.is_error, result.error_code) == (True, "ENOENT")
    assert served.response.text == "No such zone."


def test_wrong_arguments_reach_the_model_and_not_the_client() -> None:
    served = Served(response_of(call(zone=[1])), response_of(call(call_id="c2", zone="CET")), response_of("Noon."))
    assert served.clock.ran == ["CET"]
    assert (served.model.results[0].is_error, served.model.results[0].error_code) == (True, "InvalidArgs")
    assert served.response.text == "Noon."


def test_a_broken_server_call_in_text_is_corrected_here() -> None:
    slip = Issue(kind=IssueKind.MALFORMED, message="broken", raw="<now", name="now", correction="Mend it.", span=(0, 4))
    served = Served(response_of("Hm ", issues=[slip]), response_of(call()), response_of("Noon."))
    assert "You wrote: <now" in served.model.requests[1].messages[-1].text
    assert served.clock.ran == ["UTC"]
    assert served.response.text == "Hm \n\nNoon."


def test_a_model_that_never_gets_a_call_right_is_reported() -> None:
    slip = Issue(kind=IssueKind.MALFORMED, message="broken", raw="<now", name="now", correction="Mend it.", span=(0, 4))
    served = Served(*[response_of(issues=[slip])] * 4)
    assert len(served.model.requests) == 4
    assert "call of 'now' was not run" in served.response.text
    assert served.clock.ran == []


def test_a_failure_of_the_provider_between_two_answers_is_told() -> None:
    with pytest.raises(ProviderError, match="gone"):
        Served(response_of(call()), ProviderError("gone", kind=ErrorKind.NETWORK))


def test_an_empty_answer_to_server_tools_is_asked_again() -> None:
    served = Served(response_of("I look.", call()), response_of(""), response_of("Noon."))
    assert "was empty" in served.model.requests[2].messages[-1].text
    assert served.response.text == "I look.\n\nNoon."
    with pytest.raises(ProviderError, match="answer was empty"):
        Served(response_of(call()), *[response_of("")] * 12)


def test_a_call_cut_by_the_client_limit_is_final() -> None:
    cut = Issue(kind=IssueKind.TRUNCATED, message="cut", raw="<now", name="now", correction="Shorter.", span=(0, 4))
    request = replace(ASKED, sampling=Sampling(max_tokens=5))
    served = Served(response_of("Hm ", stop=Stop.LENGTH, issues=[cut]), request=request)
    assert served.response.stop is Stop.LENGTH
    assert len(served.model.requests) == 1
    assert "<now" in {issue.raw for issue in served.response.issues}


# ── limits ───────────────────────────────────────────────────────────────────


def test_bounded_turns_end_with_one_more_question() -> None:
    calls = [response_of(call(call_id=f"c{n}", zone=str(n))) for n in range(3)]
    served = Served(*calls, response_of("I could not look."), policy=replace(DEFAULT_POLICY, max_turns=2))
    assert served.clock.ran == ["0", "1"]
    assert "no more tools" in served.model.results[-1].text
    assert served.response.text == "I could not look."


def test_a_model_that_never_stops_calling_is_ended_honestly() -> None:
    served = Served(*[response_of(call(call_id=f"c{n}")) for n in range(9)], policy=replace(DEFAULT_POLICY, max_turns=2))
    assert (len(served.model.requests), len(served.clock.ran)) == (4, 2)
    assert "call of 'now' was not run" in served.response.text
    assert served.response.stop is Stop.END


def test_time_is_bounded() -> None:
    def sleepy(request: Request) -> Machine[Response]:
        yield Sleep(100.0)
        return (yield from model(request))

    model, clock = ScriptedModel(response_of(call()), response_of(call(call_id="c2")), response_of("Late.")), Clock()
    ask = with_tools(sleepy, {"clock": clock.tools()}, replace(DEFAULT_POLICY, timeout=150.0))
    assert run(ask(ASKED), ScriptedPeer([]).sync_performer()).text == "Late."
    assert clock.ran == ["UTC"]


def test_long_results_are_shortened_and_can_be_read_on() -> None:
    more = call("read_more", "c2", key="r1", start=100)
    served = Served(response_of(call("long")), response_of(more), response_of("Much."), policy=replace(DEFAULT_POLICY, result_limit=500))
    first, second = served.model.results
    assert len(first.text) <= 500
    assert "read_more" in first.text
    assert second.text.startswith("xxx")
    assert "read_more" not in [tool.name for tool in served.model.requests[0].tools]


# ── what the client demands ──────────────────────────────────────────────────


@pytest.mark.parametrize("choice", [ToolChoice("none"), ToolChoice("named", "write_file")])
def test_a_client_tool_choice_leaves_out_server_tools(choice: ToolChoice) -> None:
    served = Served(response_of(call("write_file", path="a")), response_of("x"), request=replace(ASKED, tool_choice=choice))
    assert [tool.name for tool in served.model.requests[0].tools] == ["write_file"]


def test_a_required_call_is_one_of_the_client() -> None:
    request = replace(ASKED, tool_choice=ToolChoice("required"))
    served = Served(response_of(call()), response_of("Noon."), response_of(call("write_file", path="a")), request=request)
    assert [c.name for c in served.response.calls] == ["write_file"]
    assert [request.tool_choice for request in served.model.requests] == [ToolChoice("required")] * 3


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
    served = Served(response_of(call("clock.now"), call("now", "c2")), response_of("Noon."), request=request)
    assert served.clock.ran == ["UTC"]
    assert [c.id for c in served.response.calls] == ["c2"]


# ── the requests that follow ─────────────────────────────────────────────────


def following(response: Response, *more: Message, request: Request = ASKED) -> Request:
    return replace(request, messages=(*request.messages, response.message, *more))


def test_the_model_remembers_what_it_found_out() -> None:
    memory = Memory()
    first = Served(response_of("I look.", call(zone="CET")), response_of("Noon."), memory=memory)
    next_request = following(first.response, Message("user", "and now?"))
    second = Served(response_of("Still."), request=next_request, memory=memory)
    roles = [(m.role, m.text) for m in second.model.requests[0].messages]
    assert roles == [
        ("user", "what time is it?"), ("assistant", "I look."), ("tool", ""), ("assistant", "Noon."), ("user", "and now?")
    ]  # fmt: skip
    other = Served(response_of("Still."), request=next_request, memory=memory, owner="somebody else")
    assert [m.role for m in other.model.requests[0].messages] == ["user", "assistant", "user"]


def test_a_mixed_answer_is_remembered_by_its_calls() -> None:
    memory = Memory()
    write = call("write_file", "w1", path="a")
    first = Served(response_of(call(), write), response_of(""), memory=memory)
    echoed = Response(message=Message("assistant", [replace(write, id="other")]))
    next_request = following(echoed, Message("tool", [ToolResult(call_id="other", content="ok")]))
    second = Served(response_of("Done."), request=next_request, memory=memory)
    assert [m.role for m in second.model.requests[0].messages] == ["user", "assistant", "tool", "assistant", "tool"]
    assert first.response.calls == (write,)


def test_memory_is_bounded_and_forgets_the_oldest() -> None:
    memory = Memory(limit=300)
    for n in range(10):
        turns = [Message("tool", [ToolResult(call_id="c", content="x" * 100)])]
        alone(memory.remember("", [Message("user", str(n))], Message("assistant", "ok"), turns))
    refilled = [len(alone(memory.refill("", [Message("user", str(n)), Message("assistant", "ok")]))) for n in range(10)]
    assert refilled == [2] * 7 + [3] * 3


def test_what_the_turns_say_is_not_said_twice() -> None:
    seen = Media(url="http://picture")
    turns = [Message("assistant", [Reasoning("a"), Text("I look."), seen])]
    message = Message("assistant", [Reasoning("a"), seen, Text("I "), Text("look."), Reasoning("b"), Text("\n\nNoon.")])
    assert remainder(message, turns).parts == (Reasoning("b"), Text("Noon."))
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
        events = list(replay(response_of(text, *calls, stop=stop, issues=issues)))
        script.append([*events[:-1], *([Reclassified()] if recast else []), events[-1]])
    model, clock = ScriptedModel(*script, *[response_of("end")] * 30), Clock()
    schema = OutputSchema(schema={"type": "string"}) if form else None
    request_ = replace(ASKED, stream=stream, output_schema=schema, sampling=Sampling(max_tokens=most))
    events = list[Event]()
    ask = with_tools(model, {"clock": clock.tools()}, replace(DEFAULT_POLICY, max_turns=3))
    try:
        response = run(recorded(reask(request_, ask), events), ScriptedPeer([]).sync_performer())
    except ProviderError as error:
        if form and error.code == "demand_not_met":
            return
        raise
    assert assemble(events) == response
    assert max(Counter(clock.ran).values(), default=0) <= 1
    assert {each.name for each in response.calls} <= {"write_file"}
    assert len(model.requests) < 30
    for request in model.requests:
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
    script = [response_of(text, *calls) for (text, _), calls in zip(answers, made, strict=True)]
    model = ScriptedModel(*script, *[response_of("end")] * 2)
    events: list[Event] = []
    request_ = replace(ASKED, stream=stream)
    response = run(
        recorded(with_tools(model, {"h": house}, Policy(max_turns=turns))(request_), events),
        ScriptedPeer([]).sync_performer(),
    )
    assert assemble(events) == response
    served = [each for calls in made[: len(model.requests)] for each in calls]
    theirs = [each for each in served if each.name not in house]
    assert [each.arguments for each in response.calls] == [each.arguments for each in theirs]
    assert len({each.id for each in response.calls}) == len(theirs)
    assert set(ran.values()) <= {1}
    shown = [each for message in model.requests[-1].messages for each in message.calls]
    assert sum(len(message.results) for message in model.requests[-1].messages) == len(shown)
    unrun = "".join(issue.raw for issue in response.issues)
    for each in served:
        if each.name in house:
            assert each.arguments in [one.arguments for one in shown] or f'"{each.arguments["n"]}"' in unrun


# ── a provider that fails when tools have run ────────────────────────────────

DOWN = ProviderError("cannot reach http://model.test; is it running?", kind=ErrorKind.NETWORK)


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
def test_a_lasting_failure_says_what_was_done(request_: Request) -> None:
    kept: list[str] = []
    memory = Memory()
    more: dict[str, Any] = {"house": notes(kept, read_only=False), "memory": memory}
    served = Served(response_of("I note it.", NOTE), DOWN, request=request_, **more)
    assert kept == ["a"]
    assert served.response.text.startswith("I note it.\n\n[note ran for this request, and what that did is done.")
    assert "cannot reach http://model.test" in served.response.text
    assert served.response.stop is Stop.END
    assert [issue.kind for issue in served.response.issues] == [IssueKind.WIRE_FAULT]
    assert assemble(served.events).text == served.response.text
    again = (*request_.messages, served.response.message, Message("user", "go on"))
    after = Served(response_of("Noted."), request=replace(request_, messages=again), **more)
    assert [result.text for result in after.model.results] == ["noted: a"], "it knows what it did, and goes on"


@both_ways
def test_where_tools_only_read_the_failure_is_told_as_one(request_: Request) -> None:
    kept: list[str] = []
    with pytest.raises(ProviderError, match="cannot reach"):
        Served(response_of(NOTE), DOWN, request=request_, house=notes(kept, read_only=True))
    assert kept == ["a"]


def test_a_failure_before_any_tool_is_not_asked_again() -> None:
    with pytest.raises(ProviderError):
        Served(DOWN, response_of("late"), house=notes([], read_only=False))
    served = Served(response_of(NOTE), DOWN, response_of("late"), house=notes([], read_only=False))
    assert "cannot reach" in served.response.text
    assert len(served.model.requests) == 2


def test_text_of_a_broken_answer_is_not_repeated() -> None:
    def breaking(request: Request) -> Machine[Response]:
        requests.append(request)
        if len(requests) == 1:
            events = list(replay(response_of(NOTE)))
            yield from events
            return assemble(events)
        yield Started("up")
        yield TextDelta("It is ")
        raise DOWN

    requests: list[Request] = []
    steps: list[Any] = []
    ask = with_tools(breaking, notes([], read_only=False))
    response = run(recorded(reask(ASKED, ask), steps), ScriptedPeer([]).sync_performer())
    assert response.text.startswith("It is \n\n[note ran for this request")
    assert len(requests) == 2


def test_client_calls_are_handed_on_despite_a_later_failure() -> None:
    both = response_of(NOTE, call("write_file", "w1", path="x"))
    served = Served(both, DOWN, house=notes([], read_only=False))
    assert [each.name for each in served.response.calls] == ["write_file"]
    assert served.response.stop is Stop.TOOL_CALLS
