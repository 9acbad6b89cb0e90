"""What happens in a run, shown as it happens: to people on stderr, to programs as lines of JSON.

Knows events and steps; decides nothing.  Contract: a line of JSON is one step, with its `type`; what a person sees of
a value is one line, cut where it is long.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import click

from ..errors import mark
from ..events import IssueReported, ReasoningDelta, TextDelta
from ..jsontext import dumps
from ..loop import (
    Allowed,
    ApprovalDecided,
    Corrected,
    Denied,
    Edited,
    FinalAction,
    FinalTool,
    Run,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from ..types import ToolCall, ToolResult
from .outputs import call_as_json, issue_as_json, verdict_line

SHOWN = 200
"""Characters of a result that are shown."""
Body: TypeAlias = Mapping[str, Any]


# ── for people ───────────────────────────────────────────────────────────────


def show(step: Any) -> None:
    """What a person is told of a step, on stderr."""
    teller = _SHOW.get(type(step))
    if teller is not None:
        teller(step)


def _line(sign: str, text: str, color: str) -> None:
    click.secho(f"{sign} {one_line(text)}", fg=color, err=True)


def one_line(text: str) -> str:
    """`text` in one line, cut where it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= SHOWN else f"{flat[:SHOWN]}… ({len(text)} characters)"


def _started(step: ToolStarted) -> None:
    click.secho(f"→ {step.call.name} ", fg="cyan", nl=False, err=True)
    click.echo(one_line(dumps(step.call.arguments)), err=True)
    if step.call.report is not None and step.call.report.edits:
        _line(" ", verdict_line(step.call), "yellow")


def _ended(step: ToolEnded) -> None:
    if step.result.is_error:
        _line("←", mark(step.result.error_code, step.result.text), "red")
    else:
        _line("←", step.result.text or f"({len(step.result.content)} parts)", "green")


def _asked(step: ApprovalDecided) -> None:
    if isinstance(step.decision, Denied):
        _line("✗", f"{step.call.name} was not allowed: {step.decision.reason}", "yellow")
    elif isinstance(step.decision, Edited):
        _line("✎", f"{step.call.name} with {dumps(step.decision.arguments)}", "yellow")


def _corrected(step: Corrected) -> None:
    for issue in step.issues:
        _line("!", f"corrected: {issue.message}", "yellow")


_SHOW: Mapping[type[Any], Callable[[Any], None]] = {
    ToolStarted: _started,
    ToolEnded: _ended,
    ToolProgress: lambda step: _line("…", step.text, "cyan"),
    ApprovalDecided: _asked,
    Corrected: _corrected,
    IssueReported: lambda step: _line("!", f"{step.issue.kind}: {step.issue.message}", "yellow"),
}


# ── for programs ─────────────────────────────────────────────────────────────


def print_step(step: Any) -> None:
    """A step as a line of JSON on stdout; a step that says nothing by itself is left out."""
    body = as_json(step)
    if body is not None:
        click.echo(json.dumps(json.loads(dumps(body)), ensure_ascii=False))


def as_json(step: Any) -> Body | None:
    """A step as plain data; None for one that is not told."""
    teller = _JSON.get(type(step))
    return None if teller is None else teller(step)


def _result(call: ToolCall, result: ToolResult) -> Body:
    failed = {"error_code": result.error_code} if result.is_error else {}
    others = len(result.content) - sum(1 for part in result.content if hasattr(part, "text"))
    parts = {"other_parts": others} if others else {}
    return {"id": call.id, "name": call.name, "text": result.text, "is_error": result.is_error, **failed, **parts}


def _decision(step: ApprovalDecided) -> Body | None:
    """A call that is allowed is told when it starts."""
    match step.decision:
        case Denied(reason):
            return {"type": "denied", "call": call_as_json(step.call), "reason": reason}
        case Edited(arguments):
            return {"type": "edited", "call": call_as_json(step.call), "arguments": arguments}
        case Allowed():
            return None


_JSON: Mapping[type[Any], Callable[[Any], Body | None]] = {
    TextDelta: lambda e: {"type": "text", "text": e.text},
    ReasoningDelta: lambda e: {"type": "reasoning", "text": e.text},
    IssueReported: lambda e: {"type": "noticed", "issue": issue_as_json(e.issue)},
    TurnStarted: lambda s: {"type": "turn_started", "index": s.index},
    TurnEnded: lambda s: {"type": "turn_ended", "index": s.index, "calls": [call_as_json(c) for c in s.response.calls]},
    ApprovalDecided: _decision,
    ToolStarted: lambda s: {"type": "tool_started", "call": call_as_json(s.call)},
    ToolProgress: lambda s: {"type": "tool_progress", "id": s.call_id, "text": s.text},
    ToolEnded: lambda s: {"type": "tool_ended", **_result(s.call, s.result)},
    Corrected: lambda s: {"type": "corrected", "issues": [issue_as_json(issue) for issue in s.issues]},
    Run: lambda run: {
        "type": "end",
        "end": type(run.end).__name__.lower(),
        "done": run.done,
        "why": run.why,
        "text": run.text,
        "value": run.value,
        "turns": run.turns,
        "usage": {"input": run.usage.input, "output": run.usage.output},
    },
}


# ── how it ended ─────────────────────────────────────────────────────────────


def outcome(run: Run) -> str:
    """What a run came to, as text: the answer, or the value of a final tool or action."""
    if isinstance(run.end, FinalTool | FinalAction) and not run.text:
        return run.value if isinstance(run.value, str) else dumps(run.value)
    return run.text
