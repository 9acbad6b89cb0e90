"""What was judged of one text, candidate by candidate: what runs, is asked about or refused, what stays text, and why.

A view of the decisions that the parser recorded when it made them, and of the issues that no candidate stands behind.
For people and pages to look at; it decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ...report_words import Words, edit_words, evidence_words
from ...types import NOTHING, Edit, Issue, IssueKind, JsonObject, Verdict
from ..engine.emitter import Judged
from ..engine.listening import Dialects, Tools
from ..engine.parsed import fold
from ..engine.parser import Parser
from ..judge.candidate import VERDICTS
from ..judge.provenance import ShownText
from ..judge.rules import Outcome

NO_CALLS = frozenset({IssueKind.NOISE, IssueKind.PARTIAL})
LEFT = frozenset({IssueKind.IN_REASONING, IssueKind.COPIED, IssueKind.QUOTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One candidate: its place in the text, what was judged of it, and by which rule.

    `verdict` is None for what is no candidate but was taken out of the text (a leaked control token).
    `rule` is the name under which the rule is explained; `reason` says it in a sentence; `evidence` is what was seen of
    it, by the names of docs/judge.md; `stays` says that it was told as text or reasoning all the same.
    """

    span: tuple[int, int]
    verdict: Verdict | None
    rule: str
    name: str = ""
    dialect: str = ""
    reason: str = ""
    edits: tuple[Edit, ...] = ()
    evidence: JsonObject = NOTHING
    stays: bool = False

    def words(self) -> list[Words]:
        """The evidence as people read it: what each piece is about, and what was seen."""
        return evidence_words(self.evidence)

    def mends(self) -> list[str]:
        """The edits as people read them."""
        return [edit_words(edit.kind, edit.path, edit.before, edit.after) for edit in self.edits]


def verdicts(
    text: str,
    *,
    tools: Tools = None,
    dialects: Dialects = "auto",
    prefix: str = "",
    finish_reason: str | None = None,
    shown: Iterable[str | ShownText] = (),
    strict: bool = False,
    prompted_dialect: str = "",
    doubt: str = "ask",
    native: bool = False,
    confirmed: Iterable[str] = (),
    nonce: str = "",
) -> tuple[Finding, ...]:
    """Everything that was judged of `text`, in order; the arguments are those of `Parser`."""
    parser = Parser(
        tools=tools, dialects=dialects, prefix=prefix, finish_reason=finish_reason, shown=shown, strict=strict,
        prompted_dialect=prompted_dialect, doubt=doubt, native=native, confirmed=confirmed, nonce=nonce,
    )  # fmt: skip
    issues = fold(parser.whole(text)).issues
    found = [_judged(one, text) for one in parser.decisions]
    told = {finding.span for finding in found}
    return tuple(sorted([*found, *_others(issues, told)], key=lambda f: f.span))


def _judged(one: Judged, text: str) -> Finding:
    draft, decision = one
    start = text.find(draft.written) if draft.written else draft.start
    verdict = VERDICTS[decision.outcome]
    refused = decision.outcome is Outcome.REFUSE and draft.refusal is not None
    return Finding(
        span=(start, start + len(draft.written)) if draft.written else (start, draft.end or start),
        verdict=Verdict.MENDED if verdict is Verdict.ACCEPTED and draft.edits else verdict,
        rule=str(draft.refusal.kind) if refused and draft.refusal else decision.rule.name,
        name=draft.name,
        dialect=draft.dialect,
        reason=draft.report_reason(decision),
        edits=tuple(draft.edits),
        evidence=decision.evidence.words(),
        stays=draft.shown,
    )


def _others(issues: Iterable[Issue], told: set[tuple[int, int]]) -> Iterator[Finding]:
    """What was taken out of the text, or could not be read at all."""
    for issue in issues:
        if issue.span is None or issue.span in told or issue.kind is IssueKind.PARTIAL:
            continue
        verdict = None if issue.kind in NO_CALLS else Verdict.QUOTED if issue.kind in LEFT else Verdict.REFUSED
        kind, message = str(issue.kind), issue.message
        seen = {"refusal": {"kind": kind, "message": message}} if verdict is Verdict.REFUSED else NOTHING
        yield Finding(span=issue.span, verdict=verdict, rule=kind, name=issue.name, reason=message, evidence=seen)
