"""Running the calls of one answer: approval, hooks, bounded groups in order, and a result for every call.

A machine of its own, used by `machine.py`; knows calls that were checked, and effects; nothing of models or limits.
Contract: read-only calls that stand next to each other run side by side, every other call alone, in the order in which
the model wrote them; results are told in that order; a hook that raises stops everything (`HookFailed`) before
anything else runs; what did not run gets a result that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..effects import Cancelled, Invoke, Job, Machine, Now, RunTools
from ..errors import ErrorCode, UsageError
from ..jsontext import dumps
from ..tools import Approval, Runnable
from ..turn.composer import identity
from ..types import Text, ToolCall, ToolResult
from .call_errors import Slip
from .check_calls import Checker, Ready
from .corrections import told
from .long_results import Archive
from .policy import Allowed, ApprovalRequest, Decision, Denied, Duplicates, Edited, Policy
from .steps import ApprovalDecided, ToolEnded, ToolStarted

EDITS = 3
"""How often somebody may give arguments that do not fit before the call is denied."""
NOT_RUN = "This call was not run: {why}."
NOBODY = "it needs the permission of a person, and nobody can be asked"
DENIED = "permission was denied{reason}"
TWICE = "(The same call stood in this answer before and was run once. Its result:)\n"
CHANGED = "(The arguments were changed before it ran: {arguments})\n"
OUT_OF_TIME = "the time of the run is over"
ENDED = "the run had ended by then"
CANCELLED = "the run was cancelled"


class HookFailed(Exception):
    """A function of the caller raised; `error` is what."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        super().__init__(str(error))


@dataclass(frozen=True, slots=True)
class Ran:
    """What running the calls of one answer came to: the final call and its result, where one ran, and how many ran."""

    final: tuple[Ready, ToolResult] | None = None
    count: int = 0


@dataclass(slots=True)
class Acting:
    """Runs the calls of one turn and keeps their results by the call's id."""

    policy: Policy
    checker: Checker
    archive: Archive
    key: Callable[[ToolCall], str]
    until: float | None = None
    results: dict[str, ToolResult] | None = None
    count: int = 0

    def run(self, calls: Sequence[Ready], results: dict[str, ToolResult]) -> Machine[Ran]:
        """Run `calls`, putting their results into `results` as soon as they are there."""
        self.results = results
        first, again = self._alike(calls)
        final: tuple[Ready, ToolResult] | None = None
        for group in _groups(first):
            left = yield from self._left()
            if final is not None or (left is not None and left <= 0):
                why = ENDED if final is not None else OUT_OF_TIME
                yield from self._tell((each.call, not_run(each.call, why)) for each in group)
                continue
            yield from self._group(group, left)
            final = next((done for each in group if (done := self._finished(each))), None)
        yield from self._tell((call, _shared(call, results[other.id])) for call, other in again)
        return Ran(final, self.count)

    def _alike(self, calls: Sequence[Ready]) -> tuple[list[Ready], list[tuple[ToolCall, ToolCall]]]:
        """The calls that run, and those that share the result of an equal one before them."""
        if self.policy.duplicates is Duplicates.RUN:
            return list(calls), []
        first: list[Ready] = []
        seen: dict[str, Ready] = {}
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

    def _left(self) -> Machine[float | None]:
        """Seconds that are left; None where there is no limit."""
        if self.until is None:
            return None
        now: float = yield Now()
        return self.until - now

    def _finished(self, each: Ready) -> tuple[Ready, ToolResult] | None:
        result = (self.results or {}).get(each.call.id)
        return (each, result) if each.runnable.final and result is not None and not result.is_error else None

    # ── one group ────────────────────────────────────────────────────────────

    def _group(self, group: Sequence[Ready], left: float | None) -> Machine[None]:
        admitted: list[Ready] = []
        answered: dict[str, ToolResult] = {}
        for each in group:
            found = yield from self._admit(each)
            if isinstance(found, ToolResult):
                answered[each.call.id] = found
            else:
                admitted.append(found)
        for each in admitted:
            yield ToolStarted(each.call)
        ran: tuple[ToolResult, ...] = ()
        if admitted:
            jobs = tuple(self._job(each, left) for each in admitted)
            ran = yield RunTools(jobs, self.policy.max_parallel)
        self.count += len(admitted)
        done = {each.call.id: (each, _for_call(result, each.call)) for each, result in zip(admitted, ran, strict=True)}
        for original in group:
            id_ = original.call.id
            self._put(id_, answered[id_] if id_ in answered else done[id_][1])
        try:
            for original in group:
                if original.call.id in done:
                    each, result = done[original.call.id]
                    result = yield from self._after(each.call, result)
                    self._put(original.call.id, self._shown(original, each, result))
        except (Cancelled, HookFailed):
            yield from self._told(group)  # they ran, whatever became of the hooks
            raise
        yield from self._told(group)

    def _job(self, each: Ready, left: float | None) -> Job:
        own = each.runnable.timeout if each.runnable.timeout is not None else self.policy.tool_timeout
        bounds = [seconds for seconds in (own, left) if seconds is not None]
        return Job(
            runnable=each.runnable, call=each.call, key=self.key(each.call), timeout=min(bounds) if bounds else None
        )

    def _put(self, id_: str, result: ToolResult) -> None:
        if self.results is not None:
            self.results[id_] = result

    def _shown(self, original: Ready, ran: Ready, result: ToolResult) -> ToolResult:
        """The result as the model gets it: shortened, and with the arguments it really ran with."""
        shown = self.archive.shown(result)
        if original.call.arguments == ran.call.arguments:
            return shown
        return _headed(shown, CHANGED.format(arguments=dumps(ran.call.arguments)))

    def _told(self, group: Sequence[Ready]) -> Machine[None]:
        yield from self._tell((each.call, (self.results or {})[each.call.id]) for each in group)

    def _tell(self, pairs: Iterable[tuple[ToolCall, ToolResult]]) -> Machine[None]:
        for call, result in pairs:
            self._put(call.id, result)
            yield ToolEnded(call, result)

    # ── before and after ─────────────────────────────────────────────────────

    def _admit(self, each: Ready) -> Machine[Ready | ToolResult]:
        """The call as it may run, or the result it gets instead."""
        allowed = yield from self._approved(each)
        for hook in self.policy.before:
            if isinstance(allowed, ToolResult):
                break
            allowed = yield from self._before(hook, allowed)
        return allowed

    def _before(self, hook: Callable[..., Any], each: Ready) -> Machine[Ready | ToolResult]:
        said = yield from _invoke(hook, each.call)
        match said:
            case None:
                return each
            case ToolResult():
                return _for_call(said, each.call)
            case ToolCall():
                found = self.checker.check(replace(said, id=each.call.id))
                if isinstance(found, Ready):
                    return found
                why = f"a before hook made a call that does not fit: {found.issue.message}; mend the hook"
                raise HookFailed(UsageError(why))
        raise HookFailed(UsageError(_wrong("a before hook", said, "a ToolCall, a ToolResult or None")))

    def _after(self, call: ToolCall, result: ToolResult) -> Machine[ToolResult]:
        for hook in self.policy.after:
            said = yield from _invoke(hook, call, result)
            if said is not None and not isinstance(said, ToolResult):
                raise HookFailed(UsageError(_wrong("an after hook", said, "a ToolResult or None")))
            result = result if said is None else _for_call(said, call)
        return result

    def _approved(self, each: Ready) -> Machine[Ready | ToolResult]:
        wanted, approve = each.runnable.approval, self.policy.approve
        if wanted is Approval.NEVER or (wanted is Approval.POLICY and approve is None):
            return each
        if approve is None:
            return not_run(each.call, NOBODY, ErrorCode.DENIED)
        problem = ""
        for _ in range(EDITS):
            asking = ApprovalRequest(call=each.call, runnable=each.runnable, problem=problem)
            decision = _decision((yield from _invoke(approve, asking)))
            yield ApprovalDecided(each.call, decision)
            if isinstance(decision, Allowed):
                return each
            if isinstance(decision, Denied):
                reason = f": {decision.reason}" if decision.reason else ""
                return not_run(each.call, DENIED.format(reason=reason), ErrorCode.DENIED)
            found = self.checker.recheck(each.call, decision.arguments)
            if isinstance(found, Ready):
                return found
            problem = told(found, self.checker.tools, 1)
        return not_run(each.call, f"the arguments it was to run with do not fit: {problem}", ErrorCode.INVALID_ARGS)


def _groups(calls: Sequence[Ready]) -> Iterator[list[Ready]]:
    """Calls that may run side by side, in order: read-only neighbours together, every other call alone."""
    group: list[Ready] = []
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


def _invoke(function: Callable[..., Any], *arguments: Any) -> Machine[Any]:
    try:
        return (yield Invoke(function, arguments))
    except Cancelled:
        raise
    except Exception as error:
        raise HookFailed(error) from error


def _decision(said: Any) -> Decision:
    if isinstance(said, Allowed | Denied | Edited):
        return said
    if isinstance(said, bool):
        return Allowed() if said else Denied()
    raise HookFailed(UsageError(_wrong("the approve hook", said, "Allowed, Denied, Edited, True or False")))


def _wrong(what: str, said: Any, instead: str) -> str:
    return f"{what} returned {type(said).__name__}; return {instead}"


# ── results ──────────────────────────────────────────────────────────────────


def failed(call: ToolCall, text: str, code: str) -> ToolResult:
    """The result of a call that did not run."""
    return ToolResult(call_id=call.id, name=call.name, content=text, is_error=True, error_code=code)


def not_run(call: ToolCall, why: str, code: str = ErrorCode.NOT_EXECUTED) -> ToolResult:
    """The result of a call that was right and did not run all the same."""
    return failed(call, NOT_RUN.format(why=why), code)


def slipped(call: ToolCall, slip: Slip, text: str) -> ToolResult:
    """The result of a call that was wrong."""
    return failed(call, text, slip.code)


def _for_call(result: ToolResult, call: ToolCall) -> ToolResult:
    """`result`, answering this call: tools and hooks may say another id."""
    return result if (result.call_id, result.name) == (call.id, call.name) else _as(result, call, result.content)


def _as(result: ToolResult, call: ToolCall, content: Iterable[Any]) -> ToolResult:
    return ToolResult(
        call_id=call.id,
        name=call.name,
        content=content,
        is_error=result.is_error,
        error_code=result.error_code,
        metadata=result.metadata,
    )


def _headed(result: ToolResult, line: str) -> ToolResult:
    call = ToolCall(id=result.call_id, name=result.name)
    return _as(result, call, (Text(line), *result.content))


def _shared(call: ToolCall, result: ToolResult) -> ToolResult:
    return _headed(_for_call(result, call), TWICE)


def unanswered(calls: Iterable[ToolCall], results: Mapping[str, ToolResult]) -> list[ToolCall]:
    """The calls that have no result yet."""
    return [call for call in calls if call.id not in results]


__all__ = [
    "CANCELLED",
    "ENDED",
    "Acting",
    "HookFailed",
    "Ran",
    "Runnable",
    "failed",
    "not_run",
    "slipped",
    "unanswered",
]
