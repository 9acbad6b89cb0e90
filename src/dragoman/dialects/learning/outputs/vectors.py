"""Test vectors out of samples that a learned row explains, in the form of `tests/vectors/dialects`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....types import IssueKind
from ...engine.parse import parse
from .learner import LearnedRow


def vectors_of(learned: LearnedRow, source: str) -> Iterator[dict[str, Any]]:
    """A vector for each sample that the row explains, as the row reads it; read before they are added to a suite."""
    row = learned.dialect
    for number, reads in enumerate(r for r in learned.reads if not r.why):
        sample = reads.sample
        parsed = parse(sample.text, tools=sample.tools, dialects=[row])
        yield {
            "id": f"{row.name}-{number + 1}",
            "source": source,
            "tools": [{"name": t.name, "parameters": dict(t.parameters)} for t in sample.tools],
            "prefix": "",
            "text": sample.text,
            "calls": [{"name": name, "arguments": arguments} for name, arguments in reads.calls],
            "content": parsed.text,
            "reasoning": parsed.reasoning,
            "issues": [str(i.kind) for i in parsed.issues if i.kind is not IssueKind.NOISE],
        }
