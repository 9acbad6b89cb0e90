"""What the commands write: JSON for machines, text for people.  Colour only on a terminal, and never with NO_COLOR."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import click

from ..dialects.engine.parsed import Parsed
from ..jsontext import dumps
from ..types import Issue, ToolCall


def print_json(value: Any) -> None:
    """`value` as indented JSON."""
    click.echo(json.dumps(json.loads(dumps(value)), ensure_ascii=False, indent=2))


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns, as wide as they need to be, so that nothing is cut when the output is piped."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for number, line in enumerate(lines):
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        click.secho(text, bold=True) if number == 0 else click.echo(text)


def parsed_as_json(parsed: Parsed) -> dict[str, Any]:
    """A parse as plain data."""
    return {
        "calls": [call_as_json(call) for call in parsed.calls],
        "doubtful": [call_as_json(call) for call in parsed.doubtful],
        "text": parsed.text,
        "reasoning": parsed.reasoning,
        "issues": [issue_as_json(issue) for issue in parsed.issues],
    }


def call_as_json(call: ToolCall) -> dict[str, Any]:
    """A call and its audit trail as plain data."""
    report = asdict(call.report) if call.report else None
    return {"id": call.id, "name": call.name, "arguments": call.arguments, "raw": call.raw, "report": report}


def issue_as_json(issue: Issue) -> dict[str, Any]:
    """An issue as plain data, without the fields that say nothing."""
    return {key: value for key, value in asdict(issue).items() if value}


def print_parsed(parsed: Parsed) -> None:
    """A parse for people to read."""
    for call in parsed.calls:
        click.secho(f"call      {call.name}", fg="green", nl=False)
        click.echo(f" {dumps(call.arguments)}")
        if call.report:
            click.echo(f"          {verdict_line(call)}")
    for call in parsed.doubtful:
        click.secho(f"in doubt  {call.name}", fg="magenta", nl=False)
        click.echo(f" {dumps(call.arguments)}")
        click.echo(f"          {verdict_line(call)}")
    for issue in parsed.issues:
        click.secho(f"issue     {issue.kind}", fg="yellow", nl=False)
        click.echo(f" {issue.message}")
    for label, text in (("reasoning", parsed.reasoning), ("text", parsed.text)):
        if text.strip():
            click.echo(f"{label:<9} " + text.strip().replace("\n", "\n" + " " * 10))


def verdict_line(call: ToolCall) -> str:
    """What was judged of a call, in one line."""
    report = call.report
    if report is None:
        return "native"
    counts = Counter(edit.kind for edit in report.edits)
    edits = ", ".join(f"{kind} ×{number}" if number > 1 else kind for kind, number in counts.items())
    return " · ".join(filter(None, (str(report.verdict), report.dialect, edits or report.reason)))
