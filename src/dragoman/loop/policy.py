"""The policy of a run, as values: limits, approval and hooks.

Knows tools and calls; performs nothing.  Contract: a policy that makes no sense is a `UsageError` when it is made.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from ..dialects.rows.table import row_of
from ..dialects.spec import Dialect
from ..errors import UsageError, one_of
from ..tools import Runnable
from ..types import JsonObject, ToolCall, ToolResult

# ── approval ─────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Allowed:
    """The call may run."""


@dataclass(frozen=True, slots=True)
class Denied:
    """The call may not run; `reason` is for the model."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Edited:
    """The call may run with these arguments instead; they are validated like the model's."""

    arguments: JsonObject


Decision: TypeAlias = Allowed | Denied | Edited


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A call to approve: the tool that runs it, and what was wrong with the arguments that were given before."""

    call: ToolCall
    runnable: Runnable
    problem: str = ""


Approve: TypeAlias = Callable[[ApprovalRequest], "Decision | bool | Awaitable[Decision | bool]"]
Before: TypeAlias = Callable[[ToolCall], "Awaitable[ToolCall | ToolResult | None] | ToolCall | ToolResult | None"]
After: TypeAlias = Callable[[ToolCall, ToolResult], "Awaitable[ToolResult | None] | ToolResult | None"]


LEAST_RESULT = 200
"""Characters below which a shortened result says nothing."""

# ── the policy ───────────────────────────────────────────────────────────────


class Duplicates(StrEnum):
    """The treatment of equal calls in one answer.  Models stutter (lmstudio#1756, TeXRA#9765)."""

    SHARE = "share"  # the first runs, the others get its result and are told so
    RUN = "run"  # each runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules of a run.

    max_turns          answers of the model
    max_corrections    corrections in a row; a turn in which a call ran well starts the count anew
    nudges             how often in a row an answer that says nothing, or announces a call without making it, is asked
                       for again
    continuations      how often an answer cut at the length limit is continued; 0: the run ends there, with the text
                       so far
    max_stalled_turns  turns in a row that bring nothing new (calls made before, with the results they had) until the
                       model is told so; the next one ends the run
    max_calls          calls of one answer that run; the others get a result that says so.  None: all
    max_writes         calls of tools that are not read-only that run in the whole run; the same, and a model that goes
                       on with nothing else ends it.  None: all
    timeout            seconds of wall time of the whole run: of answers, waits, tools and hooks, which run in a thread
                       then; None: no limit
    tokens             tokens in and out of all turns; None: no limit
    max_parallel       tools that run at the same time
    tool_timeout       seconds a tool may take that has no timeout of its own; None: no limit
    result_limit       characters of a result the model gets at once; the rest it can ask for.  None: no limit
    duplicates         what becomes of equal calls in one answer
    approve            is asked before a tool runs whose approval is ALWAYS, or POLICY where this is given
    before, after      hooks around each execution: `before(call)` may change the call or answer it,
                       `after(call, result)` may replace the result
    dialect            the dialect in which examples of calls are shown; None: the one the model used, native where none
    doubt          what becomes of calls that were perhaps not meant: "ask", "run" or "text" (they stay in the text)
    strict         as `Route.strict`, for all routes a client asks in this run; None: as each route says
    """

    max_turns: int = 25
    max_corrections: int = 3
    nudges: int = 2
    continuations: int = 0
    max_stalled_turns: int = 3
    max_calls: int | None = 100
    max_writes: int | None = 200
    timeout: float | None = None
    tokens: int | None = None
    max_parallel: int = 8
    tool_timeout: float | None = 120.0
    result_limit: int | None = 30_000
    duplicates: Duplicates = Duplicates.SHARE
    approve: Approve | None = None
    before: tuple[Before, ...] = ()
    after: tuple[After, ...] = ()
    dialect: str | Dialect | None = None
    doubt: str = "ask"
    strict: bool | None = None

    def __post_init__(self) -> None:
        if self.doubt not in DOUBTS:
            raise UsageError(f"policy: doubt is {self.doubt!r}; give one of {', '.join(DOUBTS)}")
        for name, bound in LEAST.items():
            value = getattr(self, name)
            if not _is_number(value, int) or value < bound:
                raise UsageError(f"policy: {name} is {value!r}; give {bound} or more")
        for name, (bound, kind) in ABOVE.items():
            value = getattr(self, name)
            if value is not None and not (_is_number(value, kind) and bound < value < MOST):
                raise UsageError(f"policy: {name} is {value!r}; give more than {bound}, or None for no limit")
        self._check_hooks()
        object.__setattr__(self, "duplicates", one_of(Duplicates, self.duplicates, "policy: duplicates"))
        if not isinstance(self.strict, bool | None):
            raise UsageError(f"policy: strict is {self.strict!r}; give True or False, or None for what each route says")
        if self.dialect is not None:
            object.__setattr__(self, "dialect", row_of(self.dialect))

    def _check_hooks(self) -> None:
        """Functions, several of those around calls; one that is given alone is one of them."""
        if self.approve is not None and not callable(self.approve):
            raise UsageError(f"policy: approve is {self.approve!r}; give a function of an ApprovalRequest, or None")
        for name in ("before", "after"):
            hooks = getattr(self, name)
            if callable(hooks):
                object.__setattr__(self, name, (hooks,))
            elif not isinstance(hooks, list | tuple) or not all(map(callable, hooks)):
                raise UsageError(f"policy: {name} is {hooks!r}; give functions in a tuple")


def _is_number(value: Any, kind: type) -> bool:
    """A whole number where only such count; never a switch."""
    return isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)


LEAST: dict[str, int] = {
    "max_turns": 1, "max_corrections": 0, "nudges": 0, "continuations": 0, "max_stalled_turns": 1, "max_parallel": 1,
}  # fmt: skip
ABOVE: dict[str, tuple[int, type]] = {
    "max_calls": (0, int), "max_writes": (-1, int), "timeout": (0, float), "tokens": (0, int),
    "tool_timeout": (0, float), "result_limit": (LEAST_RESULT - 1, int),
}  # fmt: skip
"""The numbers of a policy that must be so many at least, and those above which they must be, or None."""
MOST = 1e9
"""What is as much as this is no limit: no clock waits so long, and "not a number" is not below it."""
DOUBTS = ("ask", "run", "text")
