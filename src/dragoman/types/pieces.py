"""Parts, calls and issues in colours, for whatever shows them.

Knows the values and the kinds of text that are shown; not where.  Contract: every part is on lines of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ..display import KINDS, Piece, report_pieces
from .audit import Issue
from .messages import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult


def part_pieces(parts: Iterable[Part]) -> Iterator[Piece]:
    """The parts of a message in colours, each on lines of its own."""
    for part in parts:
        yield _piece(part)
        yield Piece("\n")


def doubt_pieces(calls: Iterable[ToolCall]) -> Iterator[Piece]:
    """Calls in doubt, each with its report."""
    for call in calls:
        yield _piece(call)
        yield Piece("\n")
        yield from report_pieces(call.report) if call.report is not None else ()


def issue_pieces(issues: Iterable[Issue]) -> Iterator[Piece]:
    """What was noticed, a line for each."""
    return (Piece(f"{issue.kind}: {issue.message}\n", "markup", issue.correction) for issue in issues)


def _piece(part: Part) -> Piece:
    match part:
        case Text(text):
            return Piece(text)
        case Reasoning(text):
            return Piece(text, "reasoning")
        case ToolCall(name=name, arguments=arguments, report=report):
            verdict, why = (str(report.verdict), report.reason) if report is not None else ("accepted", "")
            written = json.dumps(arguments, ensure_ascii=False, default=str)
            return Piece(f"{KINDS[verdict].sign} {name} {written}", verdict, why)
        case ToolResult():
            return Piece(f"{part.name or 'result'}: {part.text}", "refused" if part.is_error else "markup")
        case Media():
            return Piece(f"[{part.mime or part.name or 'media'}]", "markup")
        case Opaque():
            return Piece(f"[a block of {part.api}]", "markup")
