"""Is this call one that may run?  Its tool known, its arguments fit after coercion; else what is wrong, as data.

Knows the tools of a run; runs nothing and words nothing.  Contract: a call comes out ready, its arguments mended in
notation only and every mend an `Edit` in its report, or as a `CallError`; never both, never an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..dialects.engine.parse import parse
from ..dialects.judge.judge import WRAPPERS, Judge
from ..dialects.writing.neutralise import JOINER, neutralise
from ..jsontext import dumps
from ..lenient.notation import Broken, Cut
from ..lenient.reader import mend
from ..schema.validation import Fault, Shape, coerce, shape
from ..tools import Runnable
from ..types import Edit, Issue, IssueKind, Report, Tier, Tool, ToolCall, Verdict
from .call_errors import CallError

UNCLOSED = "unclosed"
LEFT_OUT = "null_left_out"
AGAIN = frozenset({IssueKind.INVALID_ARGUMENTS, IssueKind.UNKNOWN_TOOL})
DEEPEST = 32


@dataclass(frozen=True, slots=True)
class ReadyCall:
    """A call as it will run, with the tool that runs it."""

    call: ToolCall
    runnable: Runnable


class Checker:
    """Checks calls against the tools of one turn; `stranger` says what is wrong with a call of none of them."""

    def __init__(self, tools: Mapping[str, Runnable], stranger: Callable[[ToolCall], Issue] | None = None) -> None:
        self._tools, self._stranger = tools, stranger or _not_here
        self._judge = Judge([each.tool for each in tools.values()])
        self._lenient = [replace(each.tool, parameters={}) for each in tools.values()]

    def check(self, call: ToolCall) -> ReadyCall | CallError:
        """The call, ready to run, or what is wrong with it."""
        name = self._judge.resolve(call.name)
        if name is None:
            return CallError(issue=self._stranger(call), arguments=call.arguments, native=is_native(call))
        runnable = self._tools[name]
        arguments, edits = fitted(call.arguments, runnable)
        if name != call.name:
            edits = [Edit("name", "", call.name[:80], name), *edits]
        if _swallowed(call):
            return CallError(issue=_unclosed(call, name), native=is_native(call))
        found = runnable.faults(arguments)
        if found:
            issue = _invalid(call, name, found)
            return CallError(issue=issue, arguments=arguments, faults=tuple(found), native=is_native(call))
        return ReadyCall(_mended(call, name, arguments, edits) if edits else call, runnable)

    def recheck(self, call: ToolCall, arguments: Mapping[str, Any]) -> ReadyCall | CallError:
        """The call with other arguments, which somebody put in their place."""
        return self.check(replace(call, arguments=arguments, raw=None))

    def review(self, call: ToolCall, issue: Issue) -> ReadyCall | CallError:
        """A native call that was refused on its way, looked at again; ready where only nulls had to be left out."""
        found = self.check(replace(call, report=None)) if issue.kind in AGAIN else None
        if isinstance(found, ReadyCall):
            edits = found.call.report.edits if found.call.report is not None else ()
            if any(edit.kind == LEFT_OUT for edit in edits):
                return found
        elif found is not None and found.issue.kind is not IssueKind.NOT_ALLOWED:
            return replace(found, issue=replace(found.issue, message=issue.message, correction=issue.correction))
        return CallError(issue=issue, arguments=call.arguments, native=True)

    def error_of(self, issue: Issue) -> CallError:
        """The error of a call in text that never became one: its arguments, and all their faults."""
        runnable = self._tools.get(issue.name)
        if issue.kind is not IssueKind.INVALID_ARGUMENTS or runnable is None or not issue.raw:
            return CallError(issue=issue)
        found = next((c for c in parse(issue.raw, tools=self._lenient).calls if c.name == issue.name), None)
        if found is None:
            return CallError(issue=issue)
        arguments, _ = fitted(found.arguments, runnable)
        dialect = found.report.dialect if found.report is not None else ""
        return CallError(issue=issue, arguments=arguments, faults=tuple(runnable.faults(arguments)), dialect=dialect)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that can be called."""
        return tuple(each.tool for each in self._tools.values())

    def tool(self, name: str) -> Tool | None:
        """The tool of this name."""
        found = self._tools.get(name)
        return None if found is None else found.tool


def is_native(call: ToolCall) -> bool:
    """Did the wire carry this call, rather than the text?"""
    return call.report is None or call.report.tier is Tier.NATIVE


# ── arguments ────────────────────────────────────────────────────────────────


def fitted(given: Mapping[str, Any], runnable: Runnable) -> tuple[Mapping[str, Any], list[Edit]]:
    """`given` as it fits the tool: unwrapped, coerced, without the nulls that stand for nothing."""
    wanted = shape(runnable.tool.parameters)
    value, edits = coerce(given, wanted)
    if not runnable.faults(value):
        return value, edits
    inner = _unwrapped(given, runnable.tool.name, wanted)
    if inner is not None:
        mended, more = coerce(inner, wanted)
        if not runnable.faults(mended):
            return mended, [Edit("unwrapped", "$", next(iter(given)), ""), *more]
    dropped: list[Edit] = []
    left = without_nulls(value, wanted, "$", dropped)
    return (left, [*edits, *dropped]) if dropped and not runnable.faults(left) else (value, edits)


def _unwrapped(given: Mapping[str, Any], name: str, wanted: Shape) -> Any:
    """The object inside one key too many (malformations.md 3: its name, or `arguments` once more)."""
    if len(given) != 1:
        return None
    [(key, inner)] = given.items()
    if key not in WRAPPERS | {name} or wanted.has(key):
        return None
    if isinstance(inner, str):
        try:
            inner, _ = mend(inner, wanted)
        except (Broken, Cut):
            return None
    return inner if isinstance(inner, Mapping) else None


def without_nulls(value: Any, wanted: Shape, path: str, edits: list[Edit], depth: int = 0) -> Any:
    """`value` without the members that are null where null is not allowed and nothing is required.

    Strict schemas make every member required and nullable, so models send null for what they leave out.
    """
    if depth > DEEPEST or not isinstance(value, Mapping):
        return value
    left: dict[str, Any] = {}
    for key, inner in value.items():
        member = wanted.property(key)
        if inner is None and key not in wanted.required and member.kinds and "null" not in member.kinds:
            edits.append(Edit(LEFT_OUT, f"{path}.{key}"))
        else:
            left[key] = without_nulls(inner, member, f"{path}.{key}", edits, depth + 1)
    return left


def _mended(call: ToolCall, name: str, arguments: Mapping[str, Any], edits: Iterable[Edit]) -> ToolCall:
    report = call.report or Report(tier=Tier.NATIVE)
    report = replace(report, edits=(*report.edits, *edits), verdict=Verdict.MENDED)
    return replace(call, name=name, arguments=arguments, report=report)


# ── what is wrong ────────────────────────────────────────────────────────────


def _swallowed(call: ToolCall) -> bool:
    """Was an argument never closed, so that it runs on over the markup of what came after it?"""
    edits = call.report.edits if call.report is not None else ()
    return any(edit.kind.startswith(UNCLOSED) for edit in edits) and any(
        isinstance(value, str) and neutralise(value) != value.replace(JOINER, JOINER * 2)
        for value in call.arguments.values()
    )


def _unclosed(call: ToolCall, name: str) -> Issue:
    return Issue(
        kind=IssueKind.MALFORMED,
        message="an argument is never closed: it runs on over what comes after the call",
        raw=_written(call),
        name=name,
        correction=f"An argument of your call of {name!r} is never closed. Close every argument, and the call.",
        call_id=call.id,
    )


def no_such_tool(call: ToolCall) -> Issue:
    """A call from outside of a tool that is not there."""
    why = f"There is no tool named {call.name[:80]!r}"
    return Issue(
        kind=IssueKind.UNKNOWN_TOOL,
        message=f"{why}; it was not run",
        raw=_written(call),
        name=call.name,
        correction=f"{why}.",
        call_id=call.id,
    )


NOT_HERE = (
    "the call of {name!r} was not run: the route or the environment declares it, and this program has no function for "
    "it; give one of that name as a tool, or take the definition out"
)


def _not_here(call: ToolCall) -> Issue:
    """A call of a tool that the model was told of, and not by this program: any other name never becomes a call."""
    name = call.name[:80]
    return Issue(
        kind=IssueKind.NOT_ALLOWED,
        message=NOT_HERE.format(name=name),
        raw=_written(call),
        name=call.name,
        correction=f"The tool {name!r} cannot be run here. Nothing was run. Use other tools, or answer without it.",
        call_id=call.id,
    )


def _invalid(call: ToolCall, name: str, found: Iterable[Fault]) -> Issue:
    why = "; ".join(f"{fault.path}: {fault.message}" for fault in list(found)[:8])
    return Issue(
        kind=IssueKind.INVALID_ARGUMENTS,
        message=f"invalid arguments: {why}",
        raw=_written(call),
        name=name,
        correction=f"The arguments of {name!r} do not fit its schema: {why}.",
        call_id=call.id,
    )


def _written(call: ToolCall) -> str:
    return call.raw or dumps(call.arguments)
