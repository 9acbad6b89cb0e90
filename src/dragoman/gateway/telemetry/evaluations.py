"""What the judge said of an answer's calls, as results of an evaluation: a score, a label and codes.

Knows requests, answers and reports; nothing of telemetry libraries.  Contract: one result for each call the model made
or seemed to make, and one where a call was due and none came; no result holds anything that was said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...turn.reask import loses_a_call
from ...types import IssueKind, Request, Response, Stop, ToolCall, Verdict

NAME = "dragoman.tool_call"
"""What is evaluated (`gen_ai.evaluation.name`)."""
LABELS: Mapping[str, float] = {"ran": 1.0, "mended": 0.5, "quoted": 0.5, "refused": 0.0, "missing": 0.0}
"""Label → score: a call as it should be; one that was mended; one that was not meant or nobody knows; one that nobody
may run; one that was due and never came."""
QUOTES = frozenset({IssueKind.QUOTED, IssueKind.COPIED, IssueKind.IN_REASONING, IssueKind.DENIED})
"""What looked like a call and was none."""
DUE = frozenset({"required", "named"})
"""Modes of `tool_choice` that demand a call."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One result.  `codes` are the rule, the kinds of edits or of the issue; `call` the call, where one goes on."""

    label: str
    codes: tuple[str, ...] = ()
    call: ToolCall | None = None

    @property
    def score(self) -> float:
        """1 for the best, 0 for the worst."""
        return LABELS[self.label]


def evaluations(request: Request, response: Response) -> list[Evaluation]:
    """The results of one answer, in the order of its calls and issues."""
    found = [*map(_call, response.calls), *map(_doubtful, response.doubtful), *_issues(response)]
    if not found and _is_due(request) and response.stop in {Stop.END, None}:
        found.append(Evaluation("missing"))
    return found


def _call(call: ToolCall) -> Evaluation:
    report = call.report
    if report is None:
        return Evaluation("ran", (), call)
    label = "mended" if report.edits or report.verdict is Verdict.MENDED else "ran"
    return Evaluation(label, _codes([report.rule, *(edit.kind for edit in report.edits)]), call)


def _doubtful(call: ToolCall) -> Evaluation:
    return Evaluation("quoted", _codes([call.report.rule if call.report else "", Verdict.DOUBTFUL]))


def _issues(response: Response) -> Iterator[Evaluation]:
    for issue in response.issues:
        if issue.kind in QUOTES:
            yield Evaluation("quoted", (str(issue.kind),))
        elif loses_a_call(issue):
            yield Evaluation("refused", (str(issue.kind),))


def _codes(codes: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(code) for code in codes if code))


def _is_due(request: Request) -> bool:
    return bool(request.tools) and request.tool_choice is not None and request.tool_choice.mode in DUE
