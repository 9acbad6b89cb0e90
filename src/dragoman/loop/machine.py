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
from itertools import groupby
from typing import Any, TypeAlias, get_args

from ..effects import Cancelled, Late, Machine, NewId, relay
from ..errors import ErrorCode, ProviderError, UsageError
from ..events import Event
from ..tools import ToolSet
from ..turn.asking import asking
from ..turn.reask import Budget
from ..types import Request, Response, Stop, ToolCall, ToolResult
from .call_errors import CallError
from .check_calls import ReadyCall, is_native
from .classify import REFUSALS
from .corrections import STALE
from .doubt import settled
from .next_step import answered
from .outcomes import Answered, Bound, End, Failed, FinalTool, Interrupted, Limit, Refused, Run
from .output import Output
from .policy import Policy
from .run_calls import ENDED, CallRunner, HookFailed, RanCalls, not_run
from .state import State, unfit
from .steps import TurnEnded, TurnStarted
from .transcript import EventLog, Transcript, transcribe

Ask: TypeAlias = Callable[[Request], Machine[Response]]
"""One turn, bound to where it goes: a route or a chain of them."""
PLAIN = Policy()
EVENTS = get_args(Event)
FILTERED = "the answer was filtered"
ACCEPTED = "Accepted."
QUESTIONS = 2
"""Questions about the calls in doubt of one answer: the second where the answer to the first leaves one open."""

TOLD_OF_WRITES = 2
"""Answers in a row that make only more writing calls than may run: the model is told so, and then the run ends."""


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
        except Late:
            end = self._out_of_time()
            state.break_off(keep=True)
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
        code = ErrorCode.CANCELED if isinstance(end, Interrupted) else ErrorCode.NOT_EXECUTED
        yield from state.history.answer_all(code)
        return state.left_behind(end)

    def _turns(self) -> Machine[End]:
        state = self._state
        if not state.run_id:
            state.run_id = yield NewId("run_")
        yield from state.deadline.begin()
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
        out_of_time = (yield from state.deadline.left()) == 0
        return self._out_of_time() if out_of_time else None

    def _out_of_time(self) -> Limit:
        return Limit(Bound.SECONDS, self._state.policy.timeout or 0)

    # ── one turn ─────────────────────────────────────────────────────────────

    def _turn(self) -> Machine[Response]:
        state = self._state
        request, index = state.next_request(), state.counts.turns
        yield TurnStarted(index, request)
        state.log, state.response = EventLog(), None
        response: Response = yield from _logged(state.deadline.bound(self._sure(request)), state.log)
        response = state.response = settled(response, state.policy.doubt)
        state.counts.turns += 1
        state.usage += response.usage
        state.issues += response.issues
        yield TurnEnded(index, response)
        return response

    def _sure(self, request: Request) -> Machine[Response]:
        """The answer, asked about where calls in it are in doubt and the policy has it asked."""
        policy = self._state.policy
        if policy.doubt == "run":
            return self._ask(request)
        asks = policy.doubt == "ask" and policy.max_corrections > 0
        return asking(self._ask, Budget(QUESTIONS if asks else 0))(request)

    def _take(self, response: Response) -> Machine[End | None]:
        """Follow up an answer: with an end, or None for another turn."""
        transcript = transcribe(response, self._state.log.order)
        if response.stop in REFUSALS:
            self._state.history.add_answer(transcript.message)
            return Refused(response.text.strip() or FILTERED, response.stop or Stop.REFUSED)
        if transcript.message.calls:
            return (yield from self._act(transcript))
        return (yield from answered(self._state, response, transcript))

    # ── calls ────────────────────────────────────────────────────────────────

    def _act(self, transcript: Transcript) -> Machine[End | None]:
        """Run the calls of an answer, and answer those that are wrong."""
        state, calls, history = self._state, transcript.message.calls, self._state.history
        history.add_answer(transcript.message)
        runner = state.runner()
        ready, errors = runner.check(calls, transcript)
        state.counts.nudged, state.counts.called = 0, state.counts.called or bool(ready)
        for call in calls:
            if call.id in errors:
                yield from history.answer(call, runner.rejected(call, errors[call.id], state.level))
        ran, end = yield from self._run(runner, ready, errors)
        state.counts.written = runner.written
        pairs = [(call, history.results[call.id]) for call in calls if call.id not in errors]
        history.close()
        if end is not None:
            return end
        state.counts.unwritten = state.counts.unwritten + 1 if runner.unwritten and not runner.taken else 0
        if state.counts.unwritten > TOLD_OF_WRITES:
            return Limit(Bound.WRITES, state.policy.max_writes or 0)
        return (yield from self._go_on(transcript, errors, ran, pairs))

    def _go_on(
        self,
        transcript: Transcript,
        errors: dict[str, CallError],
        ran: RanCalls,
        pairs: Sequence[tuple[ToolCall, ToolResult]],
    ) -> Machine[End | None]:
        """After the results: corrections, and whether the run still gets anywhere."""
        state, most = self._state, self._state.policy.max_stalled_turns
        in_text = [state.checker.error_of(issue) for issue in transcript.in_text]
        wrong = [*errors.values(), *in_text]
        stale = state.guard.note(pairs)
        if stale > most:
            return Limit(Bound.REPEATS, most)
        if wrong:
            end = yield from state.correct(wrong, in_text, ran.count)
            if end is not None:
                return end
        else:
            state.counts.streak = 0
        if stale == most:
            yield from state.nudge("the same calls bring the same results", STALE)
        return None

    def _run(
        self, runner: CallRunner, ready: Sequence[ReadyCall], errors: dict[str, CallError]
    ) -> Machine[tuple[RanCalls, End | None]]:
        """Run the calls in order, until one of them ends the run; those after it do not run."""
        state, ran, end = self._state, RanCalls(), None
        for takes, group in groupby(ready, key=lambda each: each.runnable is state.taker):
            for batch in ([each] for each in group) if takes else [list(group)]:
                if end is not None:
                    for late in batch:
                        yield from state.history.answer(late.call, not_run(late.call, ENDED))
                elif takes:
                    end = yield from self._take_value(runner, batch[0], errors)
                else:
                    ran = yield from runner.run(batch)
                    end = self._final(ran)
        return ran, end

    def _final(self, ran: RanCalls) -> End | None:
        if ran.final is None:
            return None
        each, result = ran.final
        self._state.value = value_of(result)
        return FinalTool(each.call, result)

    def _take_value(self, runner: CallRunner, each: ReadyCall, errors: dict[str, CallError]) -> Machine[End | None]:
        """The value that was asked for, given by a call."""
        state, call = self._state, each.call
        assert state.output is not None
        value, found = state.output.accept(call.arguments)
        if found:
            error = errors[call.id] = unfit(call.name, found, call.arguments, native=is_native(call))
            yield from state.history.answer(call, runner.rejected(call, error, state.level))
            return None
        state.value = value
        yield from state.history.answer(call, ToolResult(call_id=call.id, name=call.name, content=ACCEPTED))
        return Answered()


def value_of(result: ToolResult) -> Any:
    """A result as a value: JSON where it is JSON, else its text."""
    try:
        return json.loads(result.text)
    except (ValueError, RecursionError):
        return result.text


def _logged(asked: Machine[Response], log: EventLog) -> Machine[Response]:
    """`asked`, with its events logged on the way."""

    def pass_on(step: Any) -> Machine[None]:
        if isinstance(step, EVENTS):
            log.add(step)
        yield step

    return relay(asked, on_step=pass_on)
