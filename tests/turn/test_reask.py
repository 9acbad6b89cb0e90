"""Answers made good before anybody sees them broken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.effects import run
from dragoman.errors import ErrorKind, ProviderError
from dragoman.events import (
    CallEnded,
    CallStarted,
    Ended,
    Event,
    IssueReported,
    ReasoningDelta,
    Reclassified,
    Started,
    TextDelta,
    assemble,
    replay,
)
from dragoman.turn.reask import reask
from dragoman.types import (
    Issue,
    IssueKind,
    Message,
    OutputSchema,
    Part,
    Request,
    Response,
    Sampling,
    Stop,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    Usage,
)
from tests.support.models import COST, ScriptedModel, response_of

READ = Tool(
    name="read_file",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}},
        "required": ["path"],
        "additionalProperties": False,
    },
)
LIST = Tool(name="list_files")
ASKED = Request(model="m", messages=(Message("user", "read it"),), tools=(READ, LIST))


def call(name: str = "read_file", call_id: str = "c1", **arguments: Any) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


BROKEN = Issue(
    kind=IssueKind.MALFORMED, message="the call is broken", raw='{"name": read', name="read_file", correction="Mend it."
)
CUT = Issue(kind=IssueKind.TRUNCATED, message="it was cut", raw='{"path": "a', name="read_file", correction="Smaller.")


def reasked(model: ScriptedModel, request: Request = ASKED, **more: Any) -> tuple[Response, list[Event]]:
    events: list[Event] = []

    machine = reask(request, model, **more)
    while True:
        try:
            events.append(next(machine))
        except StopIteration as done:
            return done.value, events


def test_a_good_answer_passes_as_it_is() -> None:
    answer = response_of("I will look.", call(path="a"))
    response, events = reasked(ScriptedModel(answer))
    assert response == answer
    assert assemble(events) == response


def test_a_broken_call_is_asked_for_again_and_told_once() -> None:
    model = ScriptedModel(response_of("I will look.", issues=[BROKEN]), response_of("Sorry!", call(path="a")))
    response, _ = reasked(model)
    assert [c.arguments for c in response.calls] == [{"path": "a"}]
    assert response.text == "I will look."
    assert response.stop is Stop.TOOL_CALLS
    assert response.usage == Usage(input=20, output=10)
    assert [i.raw for i in response.issues if i.kind is IssueKind.NOISE] == ["Sorry!"]
    assert IssueKind.REASKED in {i.kind for i in response.issues}
    wrote, told_it = model.requests[1].messages[1:]
    assert (wrote.role, wrote.text) == ("assistant", 'I will look.\n{"name": read')
    assert told_it.role == "user"
    assert "Mend it." in told_it.text


WRONG = [
    ("a tool nobody has", call("read_files", path="a"), "Did you mean 'read_file'"),
    ("a missing argument", call(lines=3), "path"),
    ("an argument too many", call(path="a", mode="r"), "mode"),
    ("a type that is another", call(path="a", lines=[1, 2]), "$.lines"),
]


@pytest.mark.parametrize(("what", "wrong", "message"), WRONG, ids=[row[0] for row in WRONG])
def test_a_wrong_native_call_is_asked_for_again(what: str, wrong: ToolCall, message: str) -> None:
    model = ScriptedModel(response_of(wrong), response_of(call(path="a")))
    response, _ = reasked(model)
    assert response.calls == (call(path="a"),)
    assert message in model.requests[1].messages[-1].text


def test_types_only_spelt_otherwise_are_mended_without_asking() -> None:
    response, _ = reasked(ScriptedModel(response_of(call(path="a", lines="3"))))
    (made,) = response.calls
    assert made.arguments == {"path": "a", "lines": 3}
    assert made.report is not None
    assert [edit.kind for edit in made.report.edits] == ["string_to_integer"]


def test_good_calls_beside_a_broken_one_are_kept_once() -> None:
    good = call(path="a")
    model = ScriptedModel(response_of(good, issues=[BROKEN]), response_of(call(path="a", call_id="again"), call(path="b", call_id="c2")))
    response, _ = reasked(model)
    assert response.calls == (good, call(path="b", call_id="c2"))
    assert 'read_file {"path": "a"}' in model.requests[1].messages[-1].text


def test_a_spent_budget_ends_in_words_without_broken_calls() -> None:
    model = ScriptedModel(*[response_of("Well.", issues=[BROKEN]) for _ in range(3)])
    response, _ = reasked(model)
    assert response.calls == ()
    assert response.stop is Stop.END
    assert response.text.startswith("Well.\n\n[The call of 'read_file' was not run: the call is broken.]")
    assert BROKEN.raw in response.text
    assert len(model.requests) == 3
    assert model.requests[2].messages[: len(model.requests[1].messages)] == model.requests[1].messages


def test_a_model_that_answers_instead_of_correcting_is_heard() -> None:
    response, _ = reasked(ScriptedModel(response_of(issues=[BROKEN]), response_of("It is not there.")))
    assert (response.text, response.calls, response.stop) == ("It is not there.", (), Stop.END)


def test_a_failed_reask_leaves_the_answer() -> None:
    down = ProviderError("it is down", status=503, kind=ErrorKind.SERVER)
    response, _ = reasked(ScriptedModel(response_of("Hm.", issues=[BROKEN]), down))
    assert "was not run" in response.text


def test_a_failure_of_the_first_answer_is_raised() -> None:
    with pytest.raises(ProviderError, match="it is down"):
        reasked(ScriptedModel(ProviderError("it is down", status=503)))


def test_a_call_cut_by_the_client_limit_is_final() -> None:
    limited = Request(model="m", tools=(READ,), sampling=Sampling(max_tokens=5))
    model = ScriptedModel(response_of("x", stop=Stop.LENGTH, issues=[CUT]))
    response, _ = reasked(model, limited)
    assert (len(model.requests), response.stop) == (1, Stop.LENGTH)
    assert CUT.raw in response.text


@pytest.mark.parametrize(("limit", "usage", "said", "times"), [
    (32000, COST, "x", 2),
    (32000, Usage(input=9, output=31900), "x", 1),
    (100, Usage(input=9, output=95), "x", 1),
    (100, Usage(input=9, output=64), "x" * 400, 2),
    (8192, None, "x" * 40, 2),
    (8192, Usage(input=7), "x" * 40, 2),
    (40, None, "x" * 40, 1),
    (60, None, "ö" * 30, 1),
    (None, None, "x" * 40, 2),
])  # fmt: skip
def test_a_call_cut_long_before_the_client_limit_is_asked_for_again(
    limit: int | None, usage: Usage | None, said: str, times: int
) -> None:
    limited = Request(model="m", tools=(READ,), sampling=Sampling(max_tokens=limit))
    cut = replace(response_of(said, stop=Stop.LENGTH, issues=[CUT]), usage=usage)
    model = ScriptedModel(cut, response_of(call(path="a")))
    response, _ = reasked(model, limited)
    assert (len(model.requests), bool(response.calls)) == (times, times == 2)


def test_a_call_cut_by_the_model_is_asked_for_smaller() -> None:
    model = ScriptedModel(response_of("x", stop=Stop.LENGTH, issues=[CUT]), response_of(call(path="a")))
    response, _ = reasked(model)
    assert response.calls == (call(path="a"),)
    assert "Smaller." in model.requests[1].messages[-1].text


@pytest.mark.parametrize("stop", [Stop.REFUSED, Stop.FILTERED, Stop.PAUSE])
def test_an_answer_that_was_refused_is_not_asked_for_again(stop: Stop) -> None:
    model = ScriptedModel(response_of("no", stop=stop, issues=[BROKEN]))
    response, _ = reasked(model)
    assert (len(model.requests), response.stop) == (1, stop)


# ── what a client may demand ─────────────────────────────────────────────────


def demanding(mode: Any, name: str = "", **more: Any) -> Request:
    return Request(model="m", tools=(READ, LIST), tool_choice=ToolChoice(mode, name), **more)


UNREADABLE = replace(response_of(issues=[replace(BROKEN, name="")]), stop=Stop.ERROR)
"""Gemini's MALFORMED_FUNCTION_CALL, and Bedrock's malformed_tool_use."""


def test_a_call_that_its_own_server_could_not_read_is_asked_for_again() -> None:
    model = ScriptedModel(UNREADABLE, response_of(call(path="a")))
    response, _ = reasked(model)
    assert (response.calls, response.stop) == ((call(path="a"),), Stop.TOOL_CALLS)
    assert "Mend it." in model.requests[1].messages[-1].text


def test_a_demanded_call_that_its_server_never_reads_is_an_error() -> None:
    with pytest.raises(ProviderError) as raised:
        reasked(ScriptedModel(*[UNREADABLE] * 3), replace(ASKED, tool_choice=ToolChoice("required")))
    assert (raised.value.status, raised.value.code) == (422, "demand_not_met")


def test_a_call_that_its_server_never_reads_ends_in_words() -> None:
    response, _ = reasked(ScriptedModel(*[UNREADABLE] * 3))
    assert response.text.startswith("[The call of a tool was not run")
    assert response.stop is Stop.END


def test_nothing_from_a_server_that_failed_is_asked_for_again() -> None:
    response, _ = reasked(ScriptedModel(replace(response_of(), stop=Stop.ERROR), response_of("Hello.")))
    assert (response.text, response.stop) == ("Hello.", Stop.END)


def test_words_from_a_server_that_failed_stand() -> None:
    model = ScriptedModel(replace(response_of("Hel"), stop=Stop.ERROR))
    response, _ = reasked(model)
    assert (response.text, response.stop, len(model.requests)) == ("Hel", Stop.ERROR, 1)


@pytest.mark.parametrize("quiet", [True, False])
def test_a_text_of_nothing_beside_calls_does_not_go_out(quiet: bool) -> None:
    """Claude refuses it in the next request, and clients show an empty bubble."""
    model = ScriptedModel(response_of("\n\n", call(path="a")), response_of("\n\n", "Hello.", call(path="a")))
    response, events = reasked(model, quiet=quiet)
    assert response.message.parts == (call(path="a"),)
    assert not any(type(event) is TextDelta for event in events)
    response, _ = reasked(model, quiet=quiet)
    assert response.text == "\n\nHello."


def test_a_cut_call_beside_a_whole_one_ends_as_cut() -> None:
    good, limited = call(path="a"), replace(ASKED, sampling=Sampling(max_tokens=5))
    answer = replace(response_of(good, issues=[CUT]), stop=Stop.LENGTH, usage=Usage(input=1, output=5))
    response, _ = reasked(ScriptedModel(answer), limited)
    assert (response.calls, response.stop) == ((good,), Stop.LENGTH)


def test_a_demanded_call_is_asked_for_until_it_comes() -> None:
    model = ScriptedModel(response_of("I could read it."), response_of(call(path="a")))
    response, _ = reasked(model, demanding("required"))
    assert response.calls == (call(path="a"),)
    assert "must be answered by a call" in model.requests[1].messages[-1].text


def test_a_named_call_is_that_one_and_no_other() -> None:
    model = ScriptedModel(response_of(call("list_files")), response_of(call(path="a")))
    response, _ = reasked(model, demanding("named", "read_file"))
    assert response.calls == (call(path="a"),)


def test_a_demand_never_met_is_an_error() -> None:
    model = ScriptedModel(*[response_of("no") for _ in range(3)])
    with pytest.raises(ProviderError, match=r"did not give a call.*asked 3 times") as failed:
        reasked(model, demanding("required"))
    assert failed.value.status == 422


def test_no_call_is_told_where_none_was_wanted() -> None:
    response, _ = reasked(ScriptedModel(response_of("x", call(path="a"))), demanding("none"))
    assert (response.calls, response.text, response.stop) == ((), "x", Stop.END)


def test_an_unwanted_call_alone_is_asked_for_as_text() -> None:
    model = ScriptedModel(response_of(call(path="a")), response_of("It says hello."))
    response, _ = reasked(model, demanding("none"))
    assert (response.calls, response.text, response.stop) == ((), "It says hello.", Stop.END)
    assert "Answer in text." in model.requests[1].messages[-1].text


def test_an_unwanted_call_becomes_words_at_the_end() -> None:
    response, _ = reasked(ScriptedModel(*[response_of(call(path="a"))] * 3), demanding("none"))
    assert response.calls == ()
    assert "allows no calls" in response.text
    assert response.stop is Stop.END


def test_only_a_tool_that_is_allowed_is_called() -> None:
    choice = ToolChoice("auto", allowed=("read_file",))
    model = ScriptedModel(response_of(call("list_files")), response_of(call(path="a")))
    response, _ = reasked(model, Request(model="m", tools=(READ, LIST), tool_choice=choice))
    assert response.calls == (call(path="a"),)
    assert "only read_file" in model.requests[1].messages[-1].text


def test_a_call_of_a_forbidden_tool_becomes_words() -> None:
    choice = ToolChoice("auto", allowed=("read_file",))
    model = ScriptedModel(*[response_of(call("list_files"))] * 3)
    response, _ = reasked(model, Request(model="m", tools=(READ, LIST), tool_choice=choice))
    assert response.calls == ()
    assert "'list_files' may not be called" in response.text


def test_the_first_of_parallel_calls_counts_for_one() -> None:
    one = Request(model="m", tools=(READ,), parallel=False)
    response, _ = reasked(ScriptedModel(response_of(call(path="a"), call(path="b", call_id="c2"))), one)
    assert response.calls == (call(path="a"),)
    assert [i.kind for i in response.issues] == [IssueKind.NOT_ALLOWED]


FORM = OutputSchema(schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
FORMED = Request(model="m", messages=(Message("user", "count"),), output_schema=FORM)
VALUES = ['{"n": 3}', '```json\n{"n": 3}\n```', 'Here: {"n": 3}', '{"n": "3",}']


@pytest.mark.parametrize("text", VALUES)
def test_an_answer_of_a_form_is_the_value_alone(text: str) -> None:
    response, _ = reasked(ScriptedModel(response_of(text)), FORMED)
    assert response.text == '{"n": 3}'


def test_a_wrong_form_is_asked_for_again_unseen() -> None:
    model = ScriptedModel(response_of("three"), response_of('{"m": 3}'), response_of('{"n": 3}'))
    response, events = reasked(model, FORMED)
    assert [e.text for e in events if isinstance(e, TextDelta)] == ['{"n": 3}']
    assert "'n'" in model.requests[2].messages[-1].text or '"n"' in model.requests[2].messages[-1].text
    assert response.stop is Stop.END


@pytest.mark.parametrize("stop", [Stop.REFUSED, Stop.FILTERED, Stop.LENGTH])
def test_words_instead_of_a_form_are_shown_when_cut(stop: Stop) -> None:
    limited = Request(model="m", output_schema=FORM, sampling=Sampling(max_tokens=5))
    marked = Text("I cannot.", metadata={"type": "refusal"})
    model = ScriptedModel(response_of(marked, stop=stop))
    response, _ = reasked(model, limited)
    assert (response.message.parts, response.stop, len(model.requests)) == ((marked,), stop, 1)


def test_metadata_of_a_form_stays_with_its_value() -> None:
    signed = Text('```json\n{"n": 3}\n```', metadata={"thought_signature": "s"})
    response, _ = reasked(ScriptedModel(response_of(signed)), FORMED)
    assert response.message.parts == (Text('{"n": 3}', metadata={"thought_signature": "s"}),)


def test_a_form_that_is_never_kept_is_an_error() -> None:
    with pytest.raises(ProviderError, match="an answer of the form asked for"):
        reasked(ScriptedModel(*[response_of("three")] * 3), FORMED)


# ── answers without an end ───────────────────────────────────────────────────


def unended(*parts: Part | str) -> list[Event]:
    return [*list(replay(response_of(*parts)))[:-1], Ended()]


def test_a_broken_answer_is_not_shown_as_ended() -> None:
    events: list[Event] = []
    with pytest.raises(ProviderError, match="broke off") as failed:
        events.extend(reask(ASKED, ScriptedModel(unended("Half an answ"))))
    assert [e.text for e in events if isinstance(e, TextDelta)] == ["Half an answ"]
    assert not any(isinstance(e, Ended) for e in events)
    assert failed.value.retryable


def test_calls_complete_before_a_break_are_handed_on() -> None:
    response, _ = reasked(ScriptedModel(unended("I read.", call(path="a"))))
    assert (response.calls, response.stop) == ((call(path="a"),), Stop.TOOL_CALLS)


def test_a_value_complete_before_a_break_is_handed_on() -> None:
    response, _ = reasked(ScriptedModel(unended('{"n": 3}')), FORMED)
    assert response.text == '{"n": 3}'


def test_tokens_spent_before_any_text_are_no_call() -> None:
    spent = Issue(kind=IssueKind.TRUNCATED, message="the answer reached max_tokens before anything was said")
    model = ScriptedModel(response_of(stop=Stop.LENGTH, issues=[spent]))
    response, _ = reasked(model)
    assert (response.text, response.stop, len(model.requests)) == ("", Stop.LENGTH, 1)


# ── what is told, and when ───────────────────────────────────────────────────


def test_text_streams_and_calls_wait_for_the_end() -> None:
    answer: list[Event] = [Started("m"), TextDelta("a"), *list(replay(response_of(call(path="a"))))[1:-1], TextDelta("b"), Ended(Stop.END)]
    _, events = reasked(ScriptedModel(answer))
    kinds = [type(e) for e in events]
    assert kinds.index(CallStarted) > max(i for i, e in enumerate(events) if isinstance(e, TextDelta))


def test_a_call_found_to_stand_in_reasoning_is_withheld() -> None:
    answer: list[Event] = [*list(replay(response_of("so", call(path="a"))))[:-1], Reclassified(), TextDelta("Done."), Ended(Stop.END)]
    response, events = reasked(ScriptedModel(answer))
    assert response.calls == ()
    assert not any(isinstance(e, CallStarted | CallEnded) for e in events)
    assert (response.reasoning, response.text) == ("so", "Done.")


def test_fragments_may_be_told_early_where_that_is_wanted() -> None:
    answer = list(replay(response_of(call(path="a"))))
    _, events = reasked(ScriptedModel(answer), whole_calls=False)
    assert events == [*answer[:-1], Ended(Stop.TOOL_CALLS, COST)]


def _mixed(parts: list[Any]) -> Response:
    return response_of(*[p for p in parts if not isinstance(p, Issue)], issues=[p for p in parts if isinstance(p, Issue)])


PARTS: st.SearchStrategy[list[Any]] = st.lists(
    st.sampled_from(
        ["a", "b\n", call(path="a"), call(path="b", call_id="c2"), call("nobody", call_id="c3"), call(call_id="c4"), BROKEN, CUT]
    ),
    max_size=5,
)


@given(st.lists(PARTS, min_size=3, max_size=3), st.sampled_from([ASKED, demanding("required"), FORMED]))
def test_no_wrong_call_passes_and_events_fold_to_responses(
    answers: list[list[Any]], request: Request
) -> None:
    model = ScriptedModel(*[_mixed(parts) for parts in answers])
    try:
        response, events = reasked(model, request)
    except ProviderError as error:
        if error.code not in {"demand_not_met", "empty_answer"}:
            raise
        return
    assert assemble(events) == response
    if request.tools:
        assert all(c.name == "read_file" and "path" in c.arguments for c in response.calls)
    assert (response.stop is Stop.TOOL_CALLS) == bool(response.calls)
    assert isinstance(events[-1], Ended)


def test_reasoning_of_the_first_answer_is_told() -> None:
    answer: list[Event] = [Started("m"), ReasoningDelta("hm"), TextDelta("ok"), IssueReported(BROKEN), Ended(Stop.END)]
    response, _ = reasked(ScriptedModel(answer, response_of(call(path="a"))))
    assert (response.reasoning, response.text) == ("hm", "ok")


def test_run_gives_the_same_response() -> None:
    assert run(reask(ASKED, ScriptedModel(response_of("x"))), lambda _: None) == response_of("x")


def test_calls_of_several_answers_get_ids_of_their_own() -> None:
    model = ScriptedModel(response_of(call(path="a"), issues=[BROKEN]), response_of(call(path="b")))
    response, _ = reasked(model)
    assert [(c.id, c.arguments["path"]) for c in response.calls] == [("c1", "a"), ("c1_2", "b")]


def test_calls_that_differ_late_are_both_made() -> None:
    long = "x" * 400
    model = ScriptedModel(response_of(call(path=f"{long}a"), issues=[BROKEN]), response_of(call(path=f"{long}b", call_id="c2")))
    response, _ = reasked(model)
    assert [c.arguments["path"][-1] for c in response.calls] == ["a", "b"]


def test_text_of_a_form_that_was_reasoning_is_shown_as_that() -> None:
    answer: list[Event] = [Started("m"), TextDelta("Let me count."), Reclassified(), TextDelta('{"n": 3}'), Ended(Stop.END)]
    response, _ = reasked(ScriptedModel(answer), FORMED)
    assert (response.reasoning, response.text) == ("Let me count.", '{"n": 3}')


# ── answers that say nothing ─────────────────────────────────────────────────

THINKS: list[Event] = [Started("m"), ReasoningDelta("Hm."), Ended(Stop.END)]
NOTHINGS: dict[str, Any] = {"nothing": response_of(""), "blanks": response_of(" \n\n"), "only thoughts": THINKS}


@pytest.mark.parametrize("nothing", NOTHINGS.values(), ids=NOTHINGS)
def test_an_answer_that_says_nothing_is_asked_for_again(nothing: Any) -> None:
    model = ScriptedModel(nothing, response_of("Done."))
    response, _ = reasked(model)
    assert response.text.strip() == "Done."
    assert model.requests[1].messages[-1].text == "Your last answer was empty. Make a call, or give your answer."


def test_an_answer_that_stays_empty_is_an_error_that_says_so() -> None:
    model = ScriptedModel(response_of(""), response_of(""), response_of(""))
    with pytest.raises(ProviderError, match=r"answer was empty \(it was asked 3 times\); .*ask another model") as caught:
        reasked(model)
    assert (caught.value.status, caught.value.code) == (422, "empty_answer")


FAILURES: dict[str, tuple[ProviderError, int, ErrorKind]] = {
    "down": (ProviderError("down", status=503, kind=ErrorKind.OVERLOADED, retry_after=2.0), 503, ErrorKind.OVERLOADED),
    "gone": (ProviderError("gone", kind=ErrorKind.NETWORK), 0, ErrorKind.NETWORK),
    "garbled": (ProviderError("what?", status=200, kind=ErrorKind.GARBLED), 200, ErrorKind.GARBLED),
    "too long": (ProviderError("too long", status=400, kind=ErrorKind.BAD_REQUEST), 422, ErrorKind.GARBLED),
}


@pytest.mark.parametrize(("failure", "status", "kind"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("demand", ["nothing", "call"])
def test_where_the_server_fails_when_it_is_asked_again_that_is_the_error(
    demand: str, failure: ProviderError, status: int, kind: ErrorKind
) -> None:
    """Not that the model did not: the client may send it again."""
    request = demanding("required") if demand == "call" else ASKED
    with pytest.raises(ProviderError, match=failure.message) as caught:
        reasked(ScriptedModel(response_of(""), failure), request)
    assert (caught.value.status, caught.value.kind) == (status, kind)
    assert caught.value.retry_after == failure.retry_after


def test_after_text_an_answer_that_stays_empty_is_said_in_words() -> None:
    model = ScriptedModel(response_of("I read.", issues=[BROKEN]), response_of(""), response_of(""))
    response, _ = reasked(model)
    assert response.text.startswith("I read.\n\n[the model's answer was empty")


WANTED = (Message("user", "Go on."), Message("assistant", "Once"))
EXCUSED: dict[str, tuple[Response, Request]] = {
    "cut by length": (response_of("", stop=Stop.LENGTH), ASKED),
    "filtered": (response_of("", stop=Stop.FILTERED), ASKED),
    "refused": (response_of("", stop=Stop.REFUSED), ASKED),
    "stopped at a text of the client's": (response_of(""), replace(ASKED, sampling=Sampling(stop=("x",)))),
    "nothing to add to its own text": (response_of(""), replace(ASKED, messages=WANTED)),
    "nothing asked": (response_of(""), replace(ASKED, messages=())),
}


@pytest.mark.parametrize(("answer", "request_"), EXCUSED.values(), ids=EXCUSED)
def test_nothing_is_an_answer_where_something_else_ended_it(answer: Response, request_: Request) -> None:
    model = ScriptedModel(answer)
    assert reasked(model, request_)[0].text == ""
    assert len(model.requests) == 1
