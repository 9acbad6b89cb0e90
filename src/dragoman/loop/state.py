"""The state of a run from turn to turn: its history, its counts, its tools, and how the model is corrected.

Knows messages, results and corrections; asks no model and runs no tool.
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
from ..jsontext import dumps
from ..schema.validation import Fault
from ..tools import Runnable, ToolSet
from ..types import Issue, IssueKind, Message, Request, Response, ToolCall, Usage
from .call_errors import CallError
from .check_calls import Checker
from .corrections import form, message
from .deadline import Deadline
from .history import History
from .long_results import Archive
from .outcomes import Bound, End, Limit, Run
from .output import Output
from .policy import Policy
from .run_calls import CallRunner
from .stall_guard import Guard
from .steps import Corrected
from .transcript import EventLog


@dataclass(slots=True)
class RunCounts:
    """Counts from turn to turn.

    `written` are calls of tools that write, `unwritten` answers in a row that made only more of them than may run,
    `streak` corrections in a row, `nudged` answers asked for again since it last tried to call, `continued` answers
    that were continued; `called`: was a tool called, as the request may demand?
    """

    turns: int = 0
    written: int = 0
    unwritten: int = 0
    streak: int = 0
    nudged: int = 0
    continued: int = 0
    called: bool = False


class State:
    """One run, as far as it has come."""

    checker: Checker
    output: Output | None
    own: ToolSet
    policy: Policy
    request: Request
    run_id: str

    def __init__(self, request: Request, tools: ToolSet, policy: Policy, output: Output | None, run_id: str) -> None:
        self.request, self.own, self.policy, self.output, self.run_id = request, tools, policy, output, run_id
        self.history: History = History(request.messages)
        self.archive: Archive = Archive(policy.result_limit, taken=tools)
        self.taker: Runnable | None = output.runnable(tools) if output is not None and output.by_tool else None
        self.checker = Checker({})
        self.guard: Guard = Guard()
        self.counts: RunCounts = RunCounts()
        self.deadline: Deadline = Deadline(policy.timeout)
        self.usage: Usage = Usage()
        self.issues: list[Issue] = []
        self.log: EventLog = EventLog()
        self.response: Response | None = None
        self.value: Any = None
        self.text: list[str] = []

    # ── asking and leaving ───────────────────────────────────────────────────

    def next_request(self) -> Request:
        """The request of the next turn: the conversation so far, with the tools there are by now."""
        runnables = {**self.own, **self.archive.tools()}
        if self.taker is not None:
            runnables[self.taker.tool.name] = self.taker
        self.checker = Checker(runnables)
        request = replace(self.request, messages=tuple(self.history.messages), tools=self.checker.tools)
        if self.counts.called:
            request = replace(request, tool_choice=None)
        if self.output is None:
            return request
        return self.output.ask(request, "" if self.taker is None else self.taker.tool.name)

    def left_behind(self, end: End) -> Run:
        """The outcome of the run."""
        text = "".join([*self.text, self.response.text if self.response is not None else ""])
        return Run(
            end=end,
            messages=tuple(self.history.messages),
            response=self.response,
            value=self.value,
            text=text,
            usage=self.usage,
            turns=self.counts.turns,
            issues=tuple(self.issues),
        )

    def break_off(self, *, keep: bool) -> None:
        """End in the middle of an answer: what came of it is the last response; `keep`: its text stands as said."""
        if self.history.is_pending or self.response is not None:
            return
        partial = self.log.assembler.response()
        if partial.message.parts:
            self.response = partial
        if keep and partial.text.strip():
            self.history.add(Message("assistant", partial.text))

    # ── calls ────────────────────────────────────────────────────────────────

    def runner(self) -> CallRunner:
        """A runner for the calls of the model's last message."""
        history, written = self.history, self.counts.written
        return CallRunner(self.policy, self.checker, self.archive, self._key, self.deadline, history.results, written)

    def _key(self, call: ToolCall) -> str:
        return f"{self.run_id}/{self.counts.turns}/{call.id}"

    # ── corrections ──────────────────────────────────────────────────────────

    @property
    def level(self) -> int:
        """The number of corrections in a row, with the next one."""
        return self.counts.streak + 1

    def correct(self, wrong: Sequence[CallError], in_text: Sequence[CallError], ran: int = 0) -> Machine[End | None]:
        """Say what was wrong; `in_text` are the calls that no result answers, `ran` counts those that ran beside."""
        level = self.level
        self.counts.streak, self.counts.nudged = (1 if ran else level), 0
        issues = tuple(error.issue for error in wrong)
        self.issues += [issue for issue in issues if issue not in self.issues]
        if level > self.policy.max_corrections and not ran:
            return Limit(Bound.CORRECTIONS, self.policy.max_corrections)
        correction: Message | None = None
        if in_text:
            correction = message(in_text, self.checker.tools, level, ran=ran, dialect=self.dialect(in_text))
            self.history.add(correction)
        yield Corrected(issues, correction)
        return None

    def reask(self, found: Sequence[Fault]) -> Machine[End | None]:
        """Say that the answer does not have the form it must have."""
        assert self.output is not None
        why = "; ".join(f"{fault.path}: {fault.message}" for fault in found)
        tool = "" if self.taker is None else self.taker.tool.name
        correction = form(found, self.output.schema, self.level, tool=tool)
        return (yield from self.demand(f"not the form asked for: {why}", correction))

    def demand(self, why: str, correction: Message) -> Machine[End | None]:
        """Correct the whole answer rather than a call in it."""
        self.counts.streak += 1
        if self.counts.streak > self.policy.max_corrections:
            self.issues.append(Issue(kind=IssueKind.NOT_ALLOWED, message=why))
            return Limit(Bound.CORRECTIONS, self.policy.max_corrections)
        yield from self.nudge(why, correction)
        return None

    def nudge(self, why: str, correction: Message) -> Machine[None]:
        """Say `correction` to the model."""
        issue = Issue(kind=IssueKind.NOT_ALLOWED, message=why, correction=correction.text)
        self.issues.append(issue)
        self.history.add(correction)
        yield Corrected((issue,), correction)

    def dialect(self, errors: Sequence[CallError]) -> Dialect | None:
        """The dialect for examples: as the caller says, as these calls are written, as the last good one was."""
        if isinstance(self.policy.dialect, Dialect):
            return self.policy.dialect
        written = [error.dialect for error in errors if error.dialect] or self._dialects()
        named = next((row for row in ALL if written and row.name == written[0]), None)
        return named or dialect_of([error.issue.raw for error in errors])

    def _dialects(self) -> list[str]:
        """The dialects of the calls made so far, the last first."""
        reports = [call.report for message in reversed(self.history.messages) for call in message.calls]
        return [report.dialect for report in reports if report is not None and report.dialect]


@cache
def _openers() -> tuple[tuple[str, Dialect], ...]:
    """Every opener that proves something, longest first, with the row it is of."""
    found = [(opener.casefold(), row) for row in ALL for opener in Row(row).openers if len(opener.strip()) > 1]
    return tuple(sorted(found, key=lambda pair: -len(pair[0])))


def dialect_of(texts: Sequence[str]) -> Dialect | None:
    """The dialect of the first text that begins as one of its calls does; None where none is known by its opener."""
    for text in texts:
        start = text.lstrip().casefold()
        found = next((row for opener, row in _openers() if start.startswith(opener)), None)
        if found is not None:
            return found
    return None


def unfit(name: str, found: Sequence[Fault], given: Any, *, native: bool) -> CallError:
    """The error of a value that does not have the form it must have, given to the tool `name`."""
    why = "; ".join(f"{fault.path}: {fault.message}" for fault in found)
    issue = Issue(
        kind=IssueKind.INVALID_ARGUMENTS,
        message=f"not the form asked for: {why}",
        raw=dumps(given),
        name=name,
        correction=f"The arguments of {name!r} do not have the form that was asked for: {why}.",
    )
    return CallError(issue=issue, arguments=given, faults=tuple(found), native=native)
