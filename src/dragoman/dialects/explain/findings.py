"""What was judged of one text, candidate by candidate: what runs, what was refused, what was left as text, and why.

The parser tells the calls and the issues; it says nothing of a candidate it leaves in the text.  Those are found again
here, by trying the openers in what was left, and the rule that decided is found by asking what would have changed it.
For people and pages to look at: it reads a text many times over, and decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...events import ReasoningDelta, TextDelta
from ...lenient.brackets import BRACKETS, closing
from ...types import Edit, Issue, IssueKind, Verdict
from ..engine.parser import Dialects, Parsed, Parser, Tools, fold, parse
from ..judge.judge import FORBIDS
from ..judge.quotation import Context
from ..reading.compiled import Row
from ..rows.table import resolve

FAR = 20_000
"""Characters of a candidate left in the text that are read to see what it would have been."""
MOST = 200
"""Candidates in the text that are looked at; a text with more openers is not read by people."""
READABLE = 200_000
"""Characters of a text in which candidates left in it are looked for."""
FILLER = " qxq"
NO_CALLS = frozenset({IssueKind.NOISE})
LEFT = frozenset({IssueKind.IN_REASONING, IssueKind.COPIED, IssueKind.QUOTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One candidate: its place in the text, what was judged of it, and by which rule.

    `verdict` is None for what is no candidate but was taken out of the text (a leaked control token).
    `rule` is the name under which the rule is explained; `reason` says it in a sentence.
    """

    span: tuple[int, int]
    verdict: Verdict | None
    rule: str
    name: str = ""
    dialect: str = ""
    reason: str = ""
    edits: tuple[Edit, ...] = ()


REASONS = {
    "reasoning": "it stands in reasoning, which holds no calls",
    "copied": "it is a copy of a call in a text the model was shown",
    "forbidden": "the sentence before it forbids it",
    "no_tools": "the request declared no tools",
    "weak": "its opener proves little, and it is not the whole message, nor its end",
}
"""The rules under which a candidate is left as text; a quoting place says its own reason."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """How the text was parsed."""

    tools: Tools
    dialects: Dialects
    prefix: str
    finish_reason: str | None
    shown: Sequence[str]
    strict: bool
    prompted_dialect: str = ""

    def parse(self, text: str, **instead: Any) -> Parsed:
        asked = {"tools": self.tools, "dialects": self.dialects, "prefix": self.prefix,
                 "finish_reason": self.finish_reason, "shown": self.shown, "strict": self.strict}  # fmt: skip
        if not self.prompted_dialect:
            return parse(text, **{**asked, **instead})
        parser = Parser(prompted_dialect=self.prompted_dialect, **{**asked, **instead})
        return fold([*parser.feed(text), *parser.close()])


def verdicts(
    text: str,
    *,
    tools: Tools = None,
    dialects: Dialects = "auto",
    prefix: str = "",
    finish_reason: str | None = None,
    shown: Iterable[str] = (),
    strict: bool = False,
    prompted_dialect: str = "",
) -> tuple[Finding, ...]:
    """Everything that was judged of `text`, in order; the arguments are those of `parse` and of `Parser`.

    What was left in a text too long for people to read is not looked for.
    """
    known = None if tools is None else list(tools)
    asked = _Asked(known, dialects, prefix, finish_reason, tuple(shown), strict, prompted_dialect)
    told = [*_told(asked.parse(text))]
    if len(text) > READABLE:
        return tuple(sorted(told, key=lambda f: f.span))
    return tuple(sorted([*told, *_left(text, asked, [f.span for f in told])], key=lambda f: f.span))


def _told(parsed: Parsed) -> Iterator[Finding]:
    """What the parser itself tells."""
    for call in parsed.calls:
        report = call.report
        if report is not None and report.span is not None:
            yield Finding(
                span=report.span, verdict=report.verdict, rule=str(report.verdict), name=call.name,
                dialect=report.dialect, reason=report.reason, edits=report.edits,
            )  # fmt: skip
    yield from (_noticed(issue, issue.span) for issue in parsed.issues if issue.span is not None)


def _noticed(issue: Issue, span: tuple[int, int]) -> Finding:
    verdict = None if issue.kind in NO_CALLS else Verdict.QUOTED if issue.kind in LEFT else Verdict.REFUSED
    return Finding(span=span, verdict=verdict, rule=str(issue.kind), name=issue.name, reason=issue.message)


# ── candidates that were left in the text ────────────────────────────────────


def _left(text: str, asked: _Asked, taken: Sequence[tuple[int, int]]) -> Iterator[Finding]:
    spans = sorted(taken)
    pos = 0
    for _, opener in zip(range(MOST), _openers(asked.dialects).finditer(text), strict=False):
        start = opener.start()
        if start < pos or any(a <= start < b for a, b in spans):
            continue
        found = _candidate(text, start, asked)
        if found is None or any(a < found.span[1] and found.span[0] < b for a, b in spans):
            continue
        rule, reason = _why(text, start, found, asked)
        pos = found.span[1]
        yield Finding(
            span=found.span, verdict=Verdict.QUOTED, rule=rule, name=found.name, dialect=found.dialect, reason=reason
        )


def _openers(dialects: Dialects) -> re.Pattern[str]:
    """Every mark that may open a call."""
    return _pattern({mark for dialect in resolve(dialects) for mark in Row(dialect).openers})


def _pattern(marks: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(marks, key=len, reverse=True))) or "(?!)", re.IGNORECASE)


def _candidate(text: str, start: int, asked: _Asked) -> Finding | None:
    """What would stand here if nothing but the text from here on had been written."""
    tools = asked.tools or None
    for stop in _stops(text, start, asked.dialects):
        parsed = asked.parse(text[start:stop], tools=tools, prefix="", shown=(), strict=False)
        for call in parsed.calls[:1]:
            if call.report is not None and call.report.span is not None:
                first, last = call.report.span
                span = (start + first, start + last)
                return Finding(span=span, verdict=None, rule="", name=call.name, dialect=call.report.dialect)
    return None


def _stops(text: str, start: int, dialects: Dialects) -> Iterator[int]:
    """Where a candidate that begins at `start` may end: its bracket, one of the next closers, as far as is looked."""
    end = min(len(text), start + FAR)
    if text[start] in BRACKETS:
        yield closing(text, start) or end
    else:
        marks = {mark for d in resolve(dialects) for mark in (*Row(d).call_close, *Row(d).section_close)}
        yield from (m.end() for _, m in zip(range(3), _pattern(marks).finditer(text, start, end), strict=False))
    yield end


def _why(text: str, start: int, found: Finding, asked: _Asked) -> tuple[str, str]:
    """Which rule left it as text."""
    if not (asked.tools is None or asked.tools):
        return "no_tools", REASONS["no_tools"]
    if _in_reasoning(text[:start], asked):
        return "reasoning", REASONS["reasoning"]
    context = Context()
    context.add(asked.parse(text[: found.span[0]], shown=()).text)
    quote = context.standing().quote
    if quote is not None:
        return "quoting", f"it stands inside {quote}"
    if asked.shown and _runs(text, found, asked):
        return "copied", REASONS["copied"]
    if FORBIDS.search(context.before.rsplit("\n", 1)[-1]):
        return "forbidden", REASONS["forbidden"]
    return "weak", REASONS["weak"]


def _in_reasoning(before: str, asked: _Asked) -> bool:
    parser = Parser(tools=asked.tools, dialects=asked.dialects, prefix=asked.prefix)
    deltas = [e for e in parser.feed(before + FILLER) if isinstance(e, TextDelta | ReasoningDelta)]
    return bool(deltas) and isinstance(deltas[-1], ReasoningDelta)


def _runs(text: str, found: Finding, asked: _Asked) -> bool:
    """Would it run if the model had been shown nothing?"""
    return any(c.report and c.report.span == found.span for c in asked.parse(text, shown=()).calls)
