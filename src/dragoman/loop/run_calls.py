"""Running the calls of one answer: approval, hooks, bounded groups in order, and a result for every call.

A machine of its own, used by `machine.py`; knows calls that were checked, and effects; nothing of models or limits.
Contract: read-only calls that stand next to each other run side by side, every other call alone, in the order in which
the model wrote them; results come in that order; a hook that raises stops everything (`HookFailed`) before
anything else runs; what did not run gets a result that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..effects import Cancelled, Invoke, Job, Late, Machine, RunTools
from ..errors import ErrorCode, UsageError
from ..jsontext import dumps
from ..tools import Approval
from ..turn.composer import identity
from ..types import Text, ToolCall, ToolResult
from .call_errors import CallError
from .check_calls import Checker, ReadyCall
from .corrections import answer, explained
from .deadline import Deadline
from .long_results import Archive
from .policy import Allowed, ApprovalRequest, Decision, Denied, Duplicates, Edited, Policy
from .steps import ApprovalDecided, ToolEnded, ToolStarted
from .transcript import Transcript

EDITS = 3
"""How often somebody may give arguments that do not fit before the call is denied."""
NOT_RUN = "This call was not run: {why}."
NOBODY = "it needs the permission of a person, and nobody can be asked"
DENIED = "permission was denied{reason}"
TWICE = "(The same call stood in this answer before and was run once. Its result:)\n"
CHANGED = "(The arguments were changed before it ran: {arguments})\n"
OUT_OF_TIME = "the time of the run is over"
ENDED = "the run had ended by then"
MANY_CALLS = "one answer may make {most} calls, and this one makes more; make it in the next answer, if it is needed"
MANY_WRITES = "this run may change things {most} times, and has; say what is left to do instead"


class HookFailed(Exception):
    """A function of the caller raised; `error` is what."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        super().__init__(str(error))


@dataclass(frozen=True, slots=True)
class RanCalls:
    """The calls of one answer that ran: the final one and its result, where there was one, and how many."""

    final: tuple[ReadyCall, ToolResult] | None = None
    count: int = 0


@dataclass(slots=True)
class CallRunner:
    """Checks and runs the calls of one answer.

    `key` gives the stable id of an execution; `results` get each result, by the call's id, as soon as it is there.
    """

    policy: Policy
    checker: Checker
    archive: Archive
    key: Callable[[ToolCall], str]
    deadline: Deadline
    results: dict[str, ToolResult]
    written: int = 0
    count: int = 0
    taken: int = 0
    unwritten: int = 0  # calls that were not run since too much was written

    def check(self, calls: Iterable[ToolCall], transcript: Transcript) -> tuple[list[ReadyCall], dict[str, CallError]]:
        """Those of `calls` that may run, and what is wrong with the others, by their ids."""
        ready, errors = list[ReadyCall](), dict[str, CallError]()
        for call in calls:
            issue = transcript.native.get(call.id)
            found = self.checker.check(call) if issue is None else self.checker.review(call, issue)
            if isinstance(found, CallError):
                errors[call.id] = found
            else:
                ready.append(found)
        return ready, errors

    def rejected(self, call: ToolCall, error: CallError, level: int) -> ToolResult:
        """The result of a call that is wrong; `level` counts corrections in a row, from 1."""
        return failed(call, answer(error, self.checker.tools, level), error.code)

    def run(self, calls: Sequence[ReadyCall]) -> Machine[RanCalls]:
        """Run `calls`."""
        first, again = self._alike((yield from self._within(calls)))
        final: tuple[ReadyCall, ToolResult] | None = None
        for group in _groups(first):
            left = yield from self.deadline.left()
            if final is not None or left == 0:
                why = ENDED if final is not None else OUT_OF_TIME
                yield from self._answer((each.call, not_run(each.call, why)) for each in group)
                continue
            yield from self._group(group)
            final = next((done for each in group if (done := self._finished(each))), None)
        yield from self._answer((call, _shared(call, self.results[other.id])) for call, other in again)
        return RanCalls(final, self.count)

    def _within(self, calls: Sequence[ReadyCall]) -> Machine[list[ReadyCall]]:
        """The calls that the budgets of the policy leave; the others are answered."""
        policy, within = self.policy, list[ReadyCall]()
        for each in calls:
            why = ""
            if policy.max_calls is not None and self.taken >= policy.max_calls:
                why = MANY_CALLS.format(most=policy.max_calls)
            elif policy.max_writes is not None and not each.runnable.read_only and self.written >= policy.max_writes:
                why = MANY_WRITES.format(most=policy.max_writes)
                self.unwritten += 1
            if why:
                yield from self._answer([(each.call, not_run(each.call, why))])
                continue
            self.taken += 1
            self.written += not each.runnable.read_only
            within.append(each)
        return within

    def _alike(self, calls: Sequence[ReadyCall]) -> tuple[list[ReadyCall], list[tuple[ToolCall, ToolCall]]]:
        """The calls that run, and those that share the result of an equal one before them."""
        if self.policy.duplicates is Duplicates.RUN:
            return list(calls), []
        first: list[ReadyCall] = []
        seen: dict[str, ReadyCall] = {}
        again: list[tuple[ToolCall, ToolCall]] = []
        for each in calls:
            same = seen.get(identity(each.call))
            if same is not None:
                again.append((each.call, same.call))
                continue
            if not each.runnable.read_only:
                seen.clear()  # what was read before it may be another thing after it
            seen[identity(each.call)] = each
            first.append(each)
        return first, again

    def _finished(self, each: ReadyCall) -> tuple[ReadyCall, ToolResult] | None:
        result = self.results.get(each.call.id)
        return (each, result) if each.runnable.final and result is not None and not result.is_error else None

    # ── one group ────────────────────────────────────────────────────────────

    def _group(self, group: Sequence[ReadyCall]) -> Machine[None]:
        admitted: dict[str, ReadyCall | ToolResult] = {}
        for each in group:
            admitted[each.call.id] = yield from self._admit(each)
        ran = yield from self._performed([each for each in admitted.values() if isinstance(each, ReadyCall)])
        self.results |= {id_: each if isinstance(each, ToolResult) else ran[id_] for id_, each in admitted.items()}
        try:
            for original in group:
                found = admitted[original.call.id]
                if isinstance(found, ReadyCall):
                    result = yield from self._after(found.call, ran[found.call.id])
                    self.results[found.call.id] = self._shown(original, found, result)
        except (Cancelled, HookFailed):
            yield from self._ended(group)  # they ran, whatever became of the hooks
            raise
        yield from self._ended(group)

    def _performed(self, admitted: Sequence[ReadyCall]) -> Machine[dict[str, ToolResult]]:
        """The results of these calls, which run side by side, by their ids."""
        if not admitted:
            return {}
        left = yield from self._left()
        for each in admitted:
            yield ToolStarted(each.call)
        jobs = tuple(self._job(each, left) for each in admitted)
        ran: tuple[ToolResult, ...] = yield RunTools(jobs, self.policy.max_parallel, left)
        self.count += len(admitted)
        return {each.call.id: _for_call(result, each.call) for each, result in zip(admitted, ran, strict=True)}

    def _job(self, each: ReadyCall, left: float | None) -> Job:
        own = each.runnable.timeout if each.runnable.timeout is not None else self.policy.tool_timeout
        bounds = [seconds for seconds in (own, left) if seconds is not None]
        return Job(
            runnable=each.runnable, call=each.call, key=self.key(each.call), timeout=min(bounds) if bounds else None
        )

    def _shown(self, original: ReadyCall, ran: ReadyCall, result: ToolResult) -> ToolResult:
        """The result as the model gets it: shortened, and with the arguments it really ran with."""
        shown = self.archive.shown(result)
        if original.call.arguments == ran.call.arguments:
            return shown
        return _headed(shown, CHANGED.format(arguments=dumps(ran.call.arguments)))

    def _ended(self, group: Sequence[ReadyCall]) -> Machine[None]:
        for each in group:
            yield ToolEnded(each.call, self.results[each.call.id])

    def _answer(self, pairs: Iterable[tuple[ToolCall, ToolResult]]) -> Machine[None]:
        """Results of calls that do not run themselves."""
        for call, result in pairs:
            self.results[call.id] = result
            yield ToolEnded(call, result)

    # ── before and after ─────────────────────────────────────────────────────

    def _admit(self, each: ReadyCall) -> Machine[ReadyCall | ToolResult]:
        """The call as it may run, or the result it gets instead."""
        allowed = yield from self._approved(each)
        for hook in self.policy.before:
            if isinstance(allowed, ToolResult):
                break
            allowed = yield from self._before(hook, allowed)
        return allowed

    def _before(self, hook: Callable[..., Any], each: ReadyCall) -> Machine[ReadyCall | ToolResult]:
        returned = yield from self._invoke(hook, each.call)
        match returned:
            case None:
                return each
            case ToolResult():
                return _for_call(returned, each.call)
            case ToolCall():
                found = self.checker.check(replace(returned, id=each.call.id))
                if isinstance(found, ReadyCall):
                    return found
                why = f"a before hook made a call that does not fit: {found.issue.message}; mend the hook"
                raise HookFailed(UsageError(why))
        raise HookFailed(UsageError(_wrong("a before hook", returned, "a ToolCall, a ToolResult or None")))

    def _after(self, call: ToolCall, result: ToolResult) -> Machine[ToolResult]:
        for hook in self.policy.after:
            returned = yield from self._invoke(hook, call, result)
            if returned is not None and not isinstance(returned, ToolResult):
                raise HookFailed(UsageError(_wrong("an after hook", returned, "a ToolResult or None")))
            result = result if returned is None else _for_call(returned, call)
        return result

    def _approved(self, each: ReadyCall) -> Machine[ReadyCall | ToolResult]:
        wanted, approve = each.runnable.approval, self.policy.approve
        if wanted is Approval.NEVER or (wanted is Approval.POLICY and approve is None):
            return each
        if approve is None:
            return not_run(each.call, NOBODY, ErrorCode.DENIED)
        problem = ""
        for _ in range(EDITS):
            request = ApprovalRequest(call=each.call, runnable=each.runnable, problem=problem)
            decision = _decision((yield from self._invoke(approve, request)))
            yield ApprovalDecided(each.call, decision)
            if isinstance(decision, Allowed):
                return each
            if isinstance(decision, Denied):
                reason = f": {decision.reason}" if decision.reason else ""
                return not_run(each.call, DENIED.format(reason=reason), ErrorCode.DENIED)
            found = self.checker.recheck(each.call, decision.arguments)
            if isinstance(found, ReadyCall):
                return found
            problem = explained(found, self.checker.tools, 1)
        return not_run(each.call, f"the arguments it was to run with do not fit: {problem}", ErrorCode.INVALID_ARGS)

    def _invoke(self, function: Callable[..., Any], *arguments: Any) -> Machine[Any]:
        left = yield from self._left()
        try:
            return (yield Invoke(function, arguments, left))
        except Cancelled:
            raise
        except Exception as error:
            raise HookFailed(error) from error

    def _left(self) -> Machine[float | None]:
        """The time that is left.  Raises Late where that is none."""
        left = yield from self.deadline.left()
        if left == 0:
            raise Late
        return left


def _groups(calls: Sequence[ReadyCall]) -> Iterator[list[ReadyCall]]:
    """Calls that may run side by side, in order: read-only neighbours together, every other call alone."""
    group: list[ReadyCall] = []
    for each in calls:
        alone = not each.runnable.read_only or each.runnable.final
        if group and alone:
            yield group
            group = []
        group.append(each)
        if alone:
            yield group
            group = []
    if group:
        yield group


# ── hooks ────────────────────────────────────────────────────────────────────


def _decision(returned: Any) -> Decision:
    if isinstance(returned, Allowed | Denied | Edited):
        return returned
    if isinstance(returned, bool):
        return Allowed() if returned else Denied()
    raise HookFailed(UsageError(_wrong("the approve hook", returned, "Allowed, Denied, Edited, True or False")))


def _wrong(what: str, returned: Any, instead: str) -> str:
    return f"{what} returned {type(returned).__name__}; return {instead}"


# ── results ──────────────────────────────────────────────────────────────────


def failed(call: ToolCall, text: str, code: str) -> ToolResult:
    """The result of a call that did not run."""
    return ToolResult(call_id=call.id, name=call.name, content=text, is_error=True, error_code=code)


def not_run(call: ToolCall, why: str, code: str = ErrorCode.NOT_EXECUTED) -> ToolResult:
    """The result of a call that was right and did not run all the same."""
    return failed(call, NOT_RUN.format(why=why), code)


def _for_call(result: ToolResult, call: ToolCall) -> ToolResult:
    """`result`, answering this call: tools and hooks may say another id."""
    return replace(result, call_id=call.id, name=call.name)


def _headed(result: ToolResult, line: str) -> ToolResult:
    return replace(result, content=(Text(line), *result.content))


def _shared(call: ToolCall, result: ToolResult) -> ToolResult:
    return _headed(_for_call(result, call), TWICE)
