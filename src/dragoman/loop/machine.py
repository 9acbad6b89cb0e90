"""The loop: turns of a model with tools run between them, until it has answered or must stop.

A machine (`effects.py`): it yields the events of every turn and the steps of `steps.py`, and returns a `Run`.  Knows
how to ask (`Ask`), what follows from an answer, and the limits; nothing of wires, clients or journals.
Contract: deterministic: the same replies give the same steps; a call runs only when its tool is known and its arguments
fit; in the conversation that is left every call has exactly one result, whatever the end; the number of turns is
bounded by the policy.  Only the caller's own mistakes raise (`UsageError`), before the first answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, get_args

from ..effects import Cancelled, Machine, NewId, Now, relay
from ..errors import ErrorCode, ProviderError, UsageError
from ..events import Event
from ..tools import ToolSet
from ..types import Request, Response, Stop, ToolCall, ToolResult
from .call_errors import Slip
from .check_calls import Ready, is_native
from .classify import REFUSALS
from .corrections import STALE
from .next_step import answered
from .outcomes import Answered, Bound, End, Failed, FinalTool, Interrupted, Limit, Refused, Run
from .output import Output
from .policy import Policy
from .run_calls import ENDED, Acting, HookFailed, Ran, not_run, slipped
from .state import State, unfit
from .steps import TurnEnded, TurnStarted
from .transcript import Heard, Transcript, transcript

Ask: TypeAlias = Callable[[Request], Machine[Response]]
"""One turn, bound to where it goes: a route or a chain of them."""
PLAIN = Policy()
EVENTS = get_args(Event)
FILTERED = "the answer was filtered"
ACCEPTED = "Accepted."


def loop(  # noqa: PLR0917 - the order is that of the contract with clients
    request: Request, ask: Ask, tools: ToolSet, policy: Policy = PLAIN, output: Output | None = None, run_id: str = ""
) -> Machine[Run]:
    """Run `request` with `tools` to its end.

    `request` holds the conversation and how to sample; what it says of tools is replaced by `tools`.  A demand to call
    one (`tool_choice`) holds until one was called.  `output` is the form the answer must have, `run_id` the beginning
    of the keys of all executions (minted where it is "").  Raises UsageError for a request that cannot be asked.
    """
    stray = [tool.name for tool in request.tools if tool.name not in tools]
    if stray:
        raise UsageError(f"the request offers {stray[0]!r}, which nothing here can run; give it in `tools`")
    return (yield from _Loop(State(request, tools, policy, output, run_id), ask).run())


class _Loop:
    def __init__(self, state: State, ask: Ask) -> None:
        self._state, self._ask = state, ask

    def run(self) -> Machine[Run]:
        """All turns, and whatever else ends them."""
        state = self._state
        try:
            end = yield from self._turns()
        except Cancelled:
            end = Interrupted()
            state.break_off(keep=True)
        except HookFailed as failure:
            end = Failed(failure.error)
        except (ProviderError, UsageError) as error:
            if isinstance(error, UsageError) and not state.counts.turns:
                raise
            end = Failed(error)
            state.break_off(keep=False)
        yield from state.answer_all(ErrorCode.CANCELED if isinstance(end, Interrupted) else ErrorCode.NOT_EXECUTED)
        return state.left_behind(end)

    def _turns(self) -> Machine[End]:
        state = self._state
        if not state.run_id:
            state.run_id = yield NewId("run_")
        if state.policy.timeout is not None:
            now: float = yield Now()
            state.until = now + state.policy.timeout
        while True:
            end = yield from self._limit()
            if end is None:
                end = yield from self._take((yield from self._turn()))
            if end is not None:
                return end

    def _limit(self) -> Machine[End | None]:
        """The limit that forbids another turn."""
        state, policy = self._state, self._state.policy
        if state.counts.turns >= policy.max_turns:
            return Limit(Bound.TURNS, policy.max_turns)
        if policy.tokens is not None and state.usage.total >= policy.tokens:
            return Limit(Bound.TOKENS, policy.tokens)
        if state.until is not None:
            now: float = yield Now()
            if now >= state.until:
                return Limit(Bound.SECONDS, policy.timeout or 0)
        return None

    # ── one turn ─────────────────────────────────────────────────────────────

    def _turn(self) -> Machine[Response]:
        state = self._state
        request, index = state.next_request(), state.counts.turns
        yield TurnStarted(index, request)
        state.heard, state.response = Heard(), None
        response: Response = yield from _overheard(self._ask(request), state.heard.hear)
        state.response = response
        state.counts.turns += 1
        state.usage += response.usage
        state.issues += response.issues
        yield TurnEnded(index, response)
        return response

    def _take(self, response: Response) -> Machine[End | None]:
        """What follows from an answer: an end, or None for another turn."""
        told = transcript(response, self._state.heard.order)
        if response.stop in REFUSALS:
            self._state.say(told.message)
            return Refused(response.text.strip() or FILTERED, response.stop or Stop.REFUSED)
        if told.message.calls:
            return (yield from self._act(told))
        return (yield from answered(self._state, response, told))

    # ── calls ────────────────────────────────────────────────────────────────

    def _act(self, told: Transcript) -> Machine[End | None]:
        state, calls = self._state, told.message.calls
        state.say(told.message)
        checked = [(call, self._checked(call, told)) for call in calls]
        slips = {call.id: found for call, found in checked if isinstance(found, Slip)}
        ready = [found for _, found in checked if isinstance(found, Ready)]
        state.counts.nudged, state.counts.called = 0, state.counts.called or bool(ready)
        for call, found in checked:
            if isinstance(found, Slip):
                yield from state.tell(call, slipped(call, found, state.worded(found)))
        ran, end = yield from self._run(ready, slips)
        pairs = [(call, state.results[call.id]) for call in calls if call.id not in slips]
        state.close()
        if end is not None:
            return end
        return (yield from self._go_on(told, slips, ran, pairs))

    def _go_on(
        self, told: Transcript, slips: dict[str, Slip], ran: Ran, pairs: Sequence[tuple[ToolCall, ToolResult]]
    ) -> Machine[End | None]:
        """After the results: corrections, and whether the run still gets anywhere."""
        state, repeats = self._state, self._state.policy.max_stalled_turns
        spoken = [state.checker.slip_of(issue) for issue in told.spoken]
        wrong = [*slips.values(), *spoken]
        stale = state.guard.note(pairs)
        if stale > repeats:
            return Limit(Bound.REPEATS, repeats)
        if wrong:
            end = yield from state.correct(wrong, spoken, ran.count)
            if end is not None:
                return end
        else:
            state.counts.streak = 0
        if stale == repeats:
            yield from state.nudge("the same calls bring the same results", STALE)
        return None

    def _checked(self, call: ToolCall, told: Transcript) -> Ready | Slip:
        issue, checker = told.native.get(call.id), self._state.checker
        return checker.check(call) if issue is None else checker.review(call, issue)

    def _run(self, ready: Sequence[Ready], slips: dict[str, Slip]) -> Machine[tuple[Ran, End | None]]:
        """Run the calls in order, until one of them ends the run; those after it do not run."""
        state, end = self._state, None
        acting = Acting(state.policy, state.checker, state.archive, state.key, state.until)
        ran, batch = Ran(), list[Ready]()
        for each in [*ready, None]:
            takes = each is not None and each.runnable is state.taker
            if each is not None and not takes:
                batch.append(each)
                continue
            if batch and end is None:
                ran = yield from acting.run(batch, state.results)
                end = self._final(ran)
            else:
                for late in batch:
                    yield from state.tell(late.call, not_run(late.call, ENDED))
            batch = []
            if each is not None and end is None:
                end = yield from self._value(each, slips)
            elif each is not None:
                yield from state.tell(each.call, not_run(each.call, ENDED))
        return ran, end

    def _final(self, ran: Ran) -> End | None:
        if ran.final is None:
            return None
        each, result = ran.final
        self._state.value = value_of(result)
        return FinalTool(each.call, result)

    def _value(self, each: Ready, slips: dict[str, Slip]) -> Machine[End | None]:
        """The value that was asked for, given by a call."""
        state, call = self._state, each.call
        assert state.output is not None
        value, found = state.output.accept(call.arguments)
        if found:
            slip = slips[call.id] = unfit(call.name, found, call.arguments, native=is_native(call))
            yield from state.tell(call, slipped(call, slip, state.worded(slip)))
            return None
        state.value = value
        yield from state.tell(call, ToolResult(call_id=call.id, name=call.name, content=ACCEPTED))
        return Answered()


def value_of(result: ToolResult) -> Any:
    """A result as a value: JSON where it is JSON, else its text."""
    try:
        return json.loads(result.text)
    except (ValueError, RecursionError):
        return result.text


def _overheard(asked: Machine[Response], hear: Callable[[Any], None]) -> Machine[Response]:
    """`asked`, with its events heard on the way."""

    def pass_on(step: Any) -> Machine[None]:
        if isinstance(step, EVENTS):
            hear(step)
        yield step

    return relay(asked, hear=pass_on)
