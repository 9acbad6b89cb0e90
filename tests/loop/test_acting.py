"""Running calls: order, side by side, permission, hooks, time, and a run that is cancelled."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dragoman.effects import Cancelled, Close, Effect, Invoke, Now, Outcome, Read, RunTools, drive
from dragoman.errors import ErrorCode, UsageError
from dragoman.io.cancel import Cancel
from dragoman.loop import (
    Allowed,
    Answered,
    ApprovalDecided,
    ApprovalRequest,
    Bound,
    Corrected,
    Decision,
    Denied,
    Duplicates,
    Edited,
    Failed,
    Interrupted,
    Limit,
    Policy,
    Run,
    ToolEnded,
    ToolStarted,
    loop,
)
from dragoman.sim.scripted import ScriptedPeer
from dragoman.tools import Approval, ToolSet
from dragoman.turn.machine import turn
from dragoman.types import JsonObject, Request, Text, ToolCall, ToolResult
from tests.support.scenes import LOOK, TASK, Played, ScriptedReply, Shop, calling, play, route, text_reply
from tests.support.upstreams import model

SKY, SEA = {"at": "sky"}, {"at": "sea"}
NOTE = {"path": "a", "text": "b"}


def groups(memory: ScriptedPeer, turns: list[ScriptedReply], shop: Shop, policy: Policy | None = None) -> list[list[str]]:
    """The tools of each `RunTools` of a run, in order."""
    seen: list[list[str]] = []
    perform = memory.sync_performer()

    def watching(effect: Effect) -> Any:
        if isinstance(effect, RunTools):
            seen.append([job.call.name for job in effect.jobs])
        return perform(effect)

    request = Request(model="m", messages=(TASK,), stream=True)
    list(drive(loop(request, lambda r: turn(r, route()), shop.tools(), policy or Policy()), watching))
    return seen


# ── order ────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("weak-exathena-12")
def test_only_read_only_neighbours_run_side_by_side() -> None:
    calls = [("look", SKY), ("look", SEA), ("write", NOTE), ("look", {"at": "me"}), ("write", {**NOTE, "path": "c"})]
    turns = [calling(*calls), text_reply("Done.")]
    got = groups(model("openai_chat", *turns), turns, Shop())
    assert got == [["look", "look"], ["write"], ["look"], ["write"]]


@pytest.mark.requirement("weak-llmcore-4")
def test_results_stand_in_the_order_of_their_calls() -> None:
    got = play(calling(("write", NOTE), ("nope", {}), ("look", SKY), ("write", {}), ("look", SEA)), "Done.")
    ids = [call.id for call in got.run.messages[1].calls]
    assert [result.call_id for result in got.run.messages[2].results] == ids == ["c0", "c1", "c2", "c3", "c4"]


def test_results_of_parallel_tools_stand_in_order() -> None:
    def tools(shop: Shop) -> ToolSet:
        async def slow(arguments: JsonObject, context: Any) -> str:
            for _ in range(int(arguments["times"])):
                await asyncio.sleep(0)
            return str(arguments["at"])

        one = shop.make("look", LOOK, lambda a: a, read_only=True)
        return ToolSet(type(one)(tool=one.tool, function=slow, read_only=True))

    calls = [("look", {"at": str(n), "times": 9 - n}) for n in range(8)]
    got = play(calling(*calls), "Done.", tools=tools)
    assert [result.text for result in got.run.messages[2].results] == [str(n) for n in range(8)]


def test_each_execution_has_a_stable_key_of_its_own() -> None:
    turns = [calling(("look", SKY), ("write", NOTE)), calling(("look", SEA))]
    got = play(*turns, "Done.")
    assert len(set(got.shop.keys)) == 3
    assert all(key.startswith("r/") for key in got.shop.keys)
    assert got.shop.keys == play(*turns, "Done.").shop.keys


@pytest.mark.requirement("weak-exathena-12")
def test_a_tool_has_its_own_timeout_within_the_run() -> None:
    seen: list[float | None] = []

    def watch(own: float | None, policy: Policy) -> None:
        shop, memory = Shop(), model("openai_chat", calling(("t", {})), text_reply("Done."))
        tools = ToolSet(shop.make("t", {"type": "object"}, lambda _: 1, timeout=own))
        perform = memory.sync_performer()

        def watching(effect: Effect) -> Any:
            if isinstance(effect, RunTools):
                seen.append(effect.jobs[0].timeout)
            return perform(effect)

        request = Request(model="m", messages=(TASK,), stream=True)
        list(drive(loop(request, lambda r: turn(r, route()), tools, policy), watching))

    watch(5, Policy())
    watch(None, Policy(tool_timeout=7))
    watch(50, Policy(timeout=30))
    watch(None, Policy(tool_timeout=None))
    assert seen == [5, 7, 30, None]


@pytest.mark.requirement("weak-exathena-12")
def test_a_slow_tool_is_answered_by_a_timeout() -> None:
    def tools(shop: Shop) -> ToolSet:
        async def hang(arguments: JsonObject, context: Any) -> None:
            await asyncio.Event().wait()

        one = shop.make("hang", {"type": "object"}, lambda a: a)
        return ToolSet(type(one)(tool=one.tool, function=hang, timeout=0.01))

    got = play(calling(("hang", {})), "It hangs.", tools=tools)
    assert got.results[0].error_code == ErrorCode.TIMEOUT


def test_a_call_made_again_after_something_was_changed_runs_again() -> None:
    got = play(calling(("look", SKY), ("look", SKY), ("write", NOTE), ("look", SKY), ("write", NOTE)), "Done.")
    assert [name for name, _ in got.shop.ran] == ["look", "write", "look"]


def test_equal_calls_may_each_run() -> None:
    got = play(calling(("write", NOTE), ("write", NOTE)), "Done.", policy=Policy(duplicates=Duplicates.RUN))
    assert len(got.shop.ran) == 2


# ── permission ───────────────────────────────────────────────────────────────


def test_a_denied_call_is_answered_with_the_reason() -> None:
    def approve(asking: ApprovalRequest) -> Decision:
        return Denied("not today") if asking.call.name == "write" else Allowed()

    got = play(calling(("look", SKY), ("write", NOTE)), "As you wish.", policy=Policy(approve=approve))
    assert got.shop.ran == [("look", SKY)]
    denied = got.results[1]
    assert denied.error_code == ErrorCode.DENIED
    assert "not today" in denied.text
    assert [step.decision for step in got.of(ApprovalDecided)] == [Allowed(), Denied("not today")]


def test_permission_may_be_awaited_and_given_as_a_word() -> None:
    async def approve(asking: ApprovalRequest) -> bool:
        return asking.call.name == "look"

    got = play(calling(("look", SKY), ("write", NOTE)), "Done.", policy=Policy(approve=approve))
    assert got.shop.ran == [("look", SKY)]


def test_edited_arguments_are_validated_and_shown_to_the_model() -> None:
    requests: list[str] = []

    def approve(asking: ApprovalRequest) -> Decision:
        requests.append(asking.problem)
        return Edited({"at": "sea", "times": "2"}) if asking.problem else Edited({"times": 1})

    got = play(calling(("look", SKY)), "Done.", policy=Policy(approve=approve))
    assert got.shop.ran == [("look", {"at": "sea", "times": 2})]
    assert '"at": "sea"' in got.results[0].text
    assert "at" in requests[1]
    assert got.run.messages[1].calls[0].arguments == SKY


def test_arguments_that_never_fit_are_not_run() -> None:
    got = play(calling(("look", SKY)), "Done.", policy=Policy(approve=lambda _: Edited({"times": 1})))
    assert got.shop.ran == []
    assert got.results[0].error_code == ErrorCode.INVALID_ARGS


@pytest.mark.parametrize(
    ("approval", "runs", "asks"),
    [(Approval.ALWAYS, False, True), (Approval.POLICY, True, True), (Approval.NEVER, True, False)],
)
def test_who_is_asked_is_the_tools_matter_first(approval: Approval, runs: bool, asks: bool) -> None:
    def tools(shop: Shop) -> ToolSet:
        return ToolSet(shop.make("t", {"type": "object"}, lambda _: 1, approval=approval))

    assert bool(play(calling(("t", {})), "Done.", tools=tools).shop.ran) is runs
    got = play(calling(("t", {})), "Done.", tools=tools, policy=Policy(approve=lambda _: True))
    assert bool(got.of(ApprovalDecided)) is asks
    assert len(got.shop.ran) == 1


# ── hooks ────────────────────────────────────────────────────────────────────


def test_hooks_may_change_calls_and_results() -> None:
    def before(call: ToolCall) -> ToolCall | ToolResult | None:
        if call.arguments.get("at") == "sea":
            return ToolResult(call_id="", content="from memory")
        return ToolCall(id="x", name=call.name, arguments={"at": "SKY"})

    async def after(call: ToolCall, result: ToolResult) -> ToolResult:
        return ToolResult(call_id="?", content=result.text.upper())

    got = play(calling(("look", SKY), ("look", SEA)), "Done.", policy=Policy(before=(before,), after=(after,)))
    assert got.shop.ran == [("look", {"at": "SKY"})]
    first, second = got.run.messages[2].results
    assert first.text.endswith("SKY IS BLUE")
    assert (second.text, second.call_id, second.name) == ("from memory", "c1", "look")


def test_a_hook_that_raises_stops_the_run_before_the_tool() -> None:
    def before(call: ToolCall) -> None:
        if call.name == "write":
            raise RuntimeError("no")

    got = play(calling(("look", SKY), ("write", NOTE), ("look", SEA)), policy=Policy(before=(before,)))
    assert isinstance(got.run.end, Failed)
    assert str(got.run.end.error) == "no"
    assert got.shop.ran == [("look", SKY)]
    codes = [result.error_code for result in got.run.messages[2].results]
    assert codes == [None, ErrorCode.NOT_EXECUTED, ErrorCode.NOT_EXECUTED]


def test_an_after_hook_that_raises_loses_no_result() -> None:
    def after(call: ToolCall, result: ToolResult) -> None:
        raise RuntimeError("no")

    got = play(calling(("write", NOTE)), policy=Policy(after=(after,)))
    assert got.run.messages[2].results[0].text == '{"written": 1}'
    assert len(got.of(ToolEnded)) == len(got.of(ToolStarted)) == 1


@pytest.mark.parametrize(
    "policy",
    [Policy(before=(lambda call: "x",)), Policy(after=(lambda call, result: 3,)), Policy(approve=lambda asking: None),  # type: ignore[arg-type,return-value]
     Policy(before=(lambda call: ToolCall(id="", name="look", arguments={}),))],
    ids=["before", "after", "approve", "a call that does not fit"],
)  # fmt: skip
def test_a_hook_that_returns_nonsense_is_the_callers_mistake(policy: Policy) -> None:
    got = play(calling(("look", SKY)), policy=policy)
    assert isinstance(got.run.end, Failed)
    assert isinstance(got.run.end.error, UsageError)


# ── time and cancelling ──────────────────────────────────────────────────────


def scripted(turns: list[ScriptedReply], answer: Any, policy: Policy) -> tuple[Played, Run]:
    """A run in which `answer(effect)` may perform an effect, or raise, before the script does."""
    shop, memory = Shop(), model("openai_chat", *turns)
    perform, outcome = memory.sync_performer(), Outcome[Run]()

    def world(effect: Effect) -> Any:
        said_instead = answer(effect)
        return perform(effect) if said_instead is None else said_instead

    request = Request(model="m", messages=(TASK,), stream=True)
    machine = loop(request, lambda r: turn(r, route()), shop.tools(), policy, run_id="r")
    steps = list(drive(machine, world, outcome))
    return Played(outcome.value, steps, memory, shop), outcome.value


def test_calls_left_over_by_the_timeout_are_answered() -> None:
    turns = [calling(("look", SKY), ("write", NOTE), ("look", SEA)), text_reply("Done.")]
    now = 0.0

    def answer(effect: Effect) -> Any:
        nonlocal now
        now += 11 * isinstance(effect, RunTools)
        return now if isinstance(effect, Now) else None

    got, run = scripted(turns, answer, Policy(timeout=10))
    assert run.end == Limit(Bound.SECONDS, 10)
    codes = [result.error_code for result in run.messages[2].results]
    assert codes == [None, ErrorCode.NOT_EXECUTED, ErrorCode.NOT_EXECUTED]
    assert got.shop.ran == [("look", SKY)]


def test_the_timeout_is_measured_by_a_clock_that_nobody_sets() -> None:
    wall = iter([5000.0, 8600.0, 1400.0] * 100)
    steady = iter(range(100))
    turns = [calling(("look", SKY)), calling(("look", SEA)), text_reply("Done.")]

    def clocks(effect: Effect) -> float | None:
        if not isinstance(effect, Now):
            return None
        return float(next(steady)) if effect.steady else next(wall)

    got, run = scripted(turns, clocks, Policy(timeout=50))
    assert run.end == Answered()
    assert got.shop.ran == [("look", SKY), ("look", SEA)]


def cancelling_at(count: int) -> Any:
    """Cancels at the n-th effect and at every one after it, but for tools that run."""
    seen = 0

    def answer(effect: Effect) -> Any:
        nonlocal seen
        seen += 1
        if seen > count and not isinstance(effect, RunTools | Close):
            raise Cancelled
        return None

    return answer


@pytest.mark.parametrize("count", range(24))
def test_a_run_cancelled_anywhere_has_every_call_answered(count: int) -> None:
    turns = [calling(("look", SKY), ("write", NOTE), ("nope", {})), calling(("look", SEA)), text_reply("It is blue.")]
    policy = Policy(approve=lambda _: True, timeout=100)
    got, run = scripted(turns, cancelling_at(count), policy)
    if count < 20:
        assert isinstance(run.end, Interrupted)
    for at, message in enumerate(run.messages):
        if message.calls:
            assert [r.call_id for r in run.messages[at + 1].results] == [c.id for c in message.calls]
    assert len(got.of(ToolStarted)) == len(got.shop.ran)
    ended = [step.call.id for step in got.of(ToolEnded)]
    assert {step.call.id for step in got.of(ToolStarted)} <= set(ended)
    assert len(got.shop.ran) <= 3


def test_a_run_cancelled_before_it_began_asks_nobody() -> None:
    cancel, memory, outcome = Cancel(), model("openai_chat"), Outcome[Run]()
    cancel.cancel()
    request = Request(model="m", messages=(TASK,))
    machine = loop(request, lambda r: turn(r, route()), ToolSet())
    list(drive(machine, memory.sync_performer(cancel), outcome))
    assert isinstance(outcome.value.end, Interrupted)
    assert memory.sent == []


def test_what_was_said_before_a_cancel_stays_in_the_conversation() -> None:
    reads = 0

    def answer(effect: Effect) -> None:
        nonlocal reads
        reads += isinstance(effect, Read)
        if reads > 3 and not isinstance(effect, Close):
            raise Cancelled

    _, run = scripted([text_reply("It is a long story that begins")], answer, Policy())
    assert isinstance(run.end, Interrupted)
    assert run.messages[-1].role == "assistant"
    assert "It is a long story".startswith(run.messages[-1].text)
    assert run.text == run.messages[-1].text


def test_hooks_are_effects_that_drivers_may_await() -> None:
    seen: list[Invoke] = []

    def answer(effect: Effect) -> Any:
        if isinstance(effect, Invoke):
            seen.append(effect)
        return None

    scripted([calling(("look", SKY)), text_reply("Done.")], answer, Policy(approve=lambda _: True))
    (one,) = seen
    assert isinstance(one.arguments[0], ApprovalRequest)


# ── long results ─────────────────────────────────────────────────────────────


def test_a_long_result_is_shortened_and_can_be_continued() -> None:
    book = "".join(f"line {n}\n" for n in range(2000))

    def tools(shop: Shop) -> ToolSet:
        return ToolSet(shop.make("read", {"type": "object"}, lambda _: book, read_only=True))

    more = calling(("read_more", {"key": "r1", "start": 5000}))
    got = play(calling(("read", {})), more, "Done.", tools=tools, policy=Policy(result_limit=1000))
    first, second = got.results
    assert len(first.text) <= 1000
    assert 'read_more(key="r1"' in first.text
    assert book[5000:5800] in second.text
    assert "go on with start" in second.text
    assert [[tool.name for tool in request.tools] for request in got.requests] == [
        ["read"], ["read", "read_more"], ["read", "read_more"]
    ]  # fmt: skip


def test_reading_past_the_end_is_an_error_with_advice() -> None:
    def tools(shop: Shop) -> ToolSet:
        return ToolSet(shop.make("read", {"type": "object"}, lambda _: "x" * 900))

    wrong = calling(("read_more", {"key": "r9"}), ("read_more", {"key": "r1", "start": 900}))
    got = play(calling(("read", {})), wrong, "Done.", tools=tools, policy=Policy(result_limit=400))
    assert [result.error_code for result in got.results[1:]] == [ErrorCode.ENOENT, ErrorCode.INVALID_ARGS]


def test_a_tool_of_the_callers_own_keeps_its_name() -> None:
    def tools(shop: Shop) -> ToolSet:
        return ToolSet(shop.make("read_more", {"type": "object"}, lambda _: "x" * 900))

    got = play(calling(("read_more", {})), "Done.", tools=tools, policy=Policy(result_limit=400))
    assert [tool.name for tool in got.requests[1].tools] == ["read_more", "read_more_2"]


# ── the callers own mistakes ─────────────────────────────────────────────────


@pytest.mark.parametrize(
    "wrong",
    [{"max_turns": 0}, {"max_corrections": -1}, {"timeout": 0}, {"tokens": 0}, {"max_parallel": 0}, {"result_limit": 10},
     {"max_stalled_turns": 0}, {"dialect": "hermos"}],
    ids=str,
)  # fmt: skip
def test_a_senseless_policy_is_refused_when_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Policy(**wrong)


def test_a_request_that_offers_what_nothing_can_run_is_refused() -> None:
    request = Request(model="m", messages=(TASK,), tools=(Shop().tools()["look"].tool,))
    with pytest.raises(UsageError, match="give it in `tools`"):
        next(loop(request, lambda r: turn(r, route()), ToolSet(), run_id="r"))


def test_every_wrong_call_is_reported_to_the_model() -> None:
    got = play(calling(("nope", {})), "Done.")
    (correction,) = got.of(Corrected)
    assert correction.message is None
    assert isinstance(got.of(ToolEnded)[0].result.content[0], Text)
