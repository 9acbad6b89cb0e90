"""What a run knows from turn to turn: the conversation, the results still due, the counts, and what was told the model.

Knows messages, results and corrections; asks no model and runs no tool.  Contract: the model's message with calls is
followed by exactly one message with one result for each, in their order, before anything else is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ..dialects.reading.compiled import Row
from ..dialects.rows.table import ALL
from ..dialects.spec import Dialect
from ..effects import Machine
from ..errors import ErrorCode
from ..jsontext import dumps
from ..schema.validation import Fault
from ..tools import ToolSet
from ..types import Issue, IssueKind, Message, Reasoning, Request, Response, Text, ToolCall, ToolResult, Usage
from .call_errors import Slip
from .check_calls import Checker
from .corrections import answer, form, message
from .long_results import Archive
from .outcomes import Bound, End, Limit, Run
from .output import Output
from .policy import Policy
from .run_calls import CANCELLED, ENDED, not_run, unanswered
from .stall_guard import Guard
from .steps import Corrected, ToolEnded
from .transcript import Heard


@dataclass(slots=True)
class Counts:
    """What is counted from turn to turn.

    `streak` are corrections in a row, `nudged` answers asked for again since it last tried to call, `continued`
    answers that were continued; `called`: was a tool called, as the request may demand?
    """

    turns: int = 0
    streak: int = 0
    nudged: int = 0
    continued: int = 0
    called: bool = False


class State:
    """One run, as far as it has come."""

    def __init__(self, request: Request, tools: ToolSet, policy: Policy, output: Output | None, run_id: str) -> None:
        self.request, self.own, self.policy, self.output, self.run_id = request, tools, policy, output, run_id
        self.messages: list[Message] = list(request.messages)
        self.archive = Archive(policy.result_limit, taken=tools)
        self.taker = output.runnable(tools) if output is not None and output.by_tool else None
        self.checker = Checker({})
        self.guard = Guard()
        self.counts = Counts()
        self.usage = Usage()
        self.issues: list[Issue] = []
        self.heard = Heard()
        self.response: Response | None = None
        self.value: Any = None
        self.text: list[str] = []
        self.until: float | None = None
        self.pending: tuple[ToolCall, ...] = ()
        self.results: dict[str, ToolResult] = {}

    # ── asking and leaving ───────────────────────────────────────────────────

    def next_request(self) -> Request:
        """What the model is asked now: the conversation so far, with the tools there are by now."""
        runnables = {**self.own, **self.archive.tools()}
        if self.taker is not None:
            runnables[self.taker.tool.name] = self.taker
        self.checker = Checker(runnables)
        request = replace(self.request, messages=tuple(self.messages), tools=self.checker.tools)
        if self.counts.called:
            request = replace(request, tool_choice=None)
        if self.output is None:
            return request
        return self.output.asked(request, "" if self.taker is None else self.taker.tool.name)

    def left_behind(self, end: End) -> Run:
        """What the run came to."""
        text = "".join([*self.text, self.response.text if self.response is not None else ""])
        return Run(
            end=end,
            messages=tuple(self.messages),
            response=self.response,
            value=self.value,
            text=text,
            usage=self.usage,
            turns=self.counts.turns,
            issues=tuple(self.issues),
        )

    def break_off(self, *, keep: bool) -> None:
        """In the middle of an answer: what was told of it is the last response; `keep`: its text is kept as said."""
        if self.pending or self.response is not None:
            return
        partial = self.heard.told.response()
        if partial.message.parts:
            self.response = partial
        if keep and partial.text.strip():
            self.messages.append(Message("assistant", partial.text))

    # ── the conversation ─────────────────────────────────────────────────────

    def say(self, spoken: Message) -> None:
        """The model's message, where it says anything; its calls wait for their results from now on."""
        if any(_says_something(part) for part in spoken.parts):
            self.messages.append(spoken)
        self.pending, self.results = spoken.calls, {}

    def tell(self, call: ToolCall, result: ToolResult) -> Machine[None]:
        """The result of a call is there."""
        self.results[call.id] = result
        yield ToolEnded(call, result)

    def answer_all(self, code: ErrorCode) -> Machine[None]:
        """Calls that are still open get a result that says they did not run."""
        why = CANCELLED if code is ErrorCode.CANCELED else ENDED
        for call in unanswered(self.pending, self.results):
            yield from self.tell(call, not_run(call, why, code))
        self.close()

    def close(self) -> None:
        """All results are there: they become one message, in the order of the calls."""
        if self.pending:
            self.messages.append(Message("tool", [self.results[call.id] for call in self.pending]))
            self.pending = ()

    def key(self, call: ToolCall) -> str:
        """The stable id of the execution of a call of this turn."""
        return f"{self.run_id}/{self.counts.turns}/{call.id}"

    # ── what the model is told ───────────────────────────────────────────────

    def worded(self, slip: Slip) -> str:
        """What the result of a wrong call says."""
        return answer(slip, self.checker.tools, self.counts.streak + 1)

    def correct(self, wrong: Sequence[Slip], spoken: Sequence[Slip], ran: int = 0) -> Machine[End | None]:
        """Tell the model what was wrong; `spoken` are the slips that no result answers, `ran` calls that ran beside."""
        level = self.counts.streak + 1
        self.counts.streak, self.counts.nudged = (1 if ran else level), 0
        issues = tuple(slip.issue for slip in wrong)
        self.issues += [issue for issue in issues if issue not in self.issues]
        if level > self.policy.max_corrections and not ran:
            return Limit(Bound.CORRECTIONS, self.policy.max_corrections)
        told: Message | None = None
        if spoken:
            told = message(spoken, self.checker.tools, level, ran=ran, dialect=self.dialect(spoken))
            self.messages.append(told)
        yield Corrected(issues, told)
        return None

    def reask(self, found: Sequence[Fault]) -> Machine[End | None]:
        """Tell the model that its answer does not have the form it must have."""
        assert self.output is not None
        why = "; ".join(f"{fault.path}: {fault.message}" for fault in found)
        tool = "" if self.taker is None else self.taker.tool.name
        level = self.counts.streak + 1
        told = form(found, self.output.schema, level, tool=tool)
        return (yield from self.demand(f"not the form asked for: {why}", told))

    def demand(self, why: str, told: Message) -> Machine[End | None]:
        """A correction of the whole answer rather than of a call in it."""
        self.counts.streak += 1
        if self.counts.streak > self.policy.max_corrections:
            self.issues.append(Issue(kind=IssueKind.NOT_ALLOWED, message=why))
            return Limit(Bound.CORRECTIONS, self.policy.max_corrections)
        yield from self.nudge(why, told)
        return None

    def nudge(self, why: str, told: Message) -> Machine[None]:
        """Say `told` to the model."""
        issue = Issue(kind=IssueKind.NOT_ALLOWED, message=why, correction=told.text)
        self.issues.append(issue)
        self.messages.append(told)
        yield Corrected((issue,), told)

    def dialect(self, spoken: Sequence[Slip]) -> Dialect | None:
        """What the model writes: as the caller says, as this call is written, as its last good one was."""
        if isinstance(self.policy.dialect, Dialect):
            return self.policy.dialect
        reports = [call.report for said in reversed(self.messages) for call in said.calls]
        names = [*(slip.dialect for slip in spoken), *(report.dialect for report in reports if report is not None)]
        name = next(filter(None, names), "")
        return next((row for row in ALL if row.name == name), None) or spoken_in([s.issue.raw for s in spoken])


def _says_something(part: Any) -> bool:
    return bool(part.text.strip()) if isinstance(part, Text) else not isinstance(part, Reasoning)


@cache
def _openers() -> tuple[tuple[str, Dialect], ...]:
    """Every opener that proves something, longest first, with the row it is of."""
    found = [(opener.casefold(), row) for row in ALL for opener in Row(row).openers if len(opener.strip()) > 1]
    return tuple(sorted(found, key=lambda pair: -len(pair[0])))


def spoken_in(texts: Sequence[str]) -> Dialect | None:
    """The dialect of the first text that begins as one of its calls does; None where none is known by its opener."""
    for text in texts:
        start = text.lstrip().casefold()
        found = next((row for opener, row in _openers() if start.startswith(opener)), None)
        if found is not None:
            return found
    return None


def unfit(name: str, found: Sequence[Fault], given: Any, *, native: bool) -> Slip:
    """The slip of a value that does not have the form it must have, given to the tool `name`."""
    told = "; ".join(f"{fault.path}: {fault.message}" for fault in found)
    issue = Issue(
        kind=IssueKind.INVALID_ARGUMENTS,
        message=f"not the form asked for: {told}",
        raw=dumps(given),
        name=name,
        correction=f"The arguments of {name!r} do not have the form that was asked for: {told}.",
    )
    return Slip(issue=issue, arguments=given, faults=tuple(found), native=native)
