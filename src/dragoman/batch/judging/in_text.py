"""Calls in what a model wrote as text, read by the engine against the row's own tools.

Knows the parser and toolsets; nothing of messages beside the text.
Contract: a call is taken out of a text only where the engine says that it runs; each has a repair whose `before` is the
stretch it stood in.  A text that holds no call comes back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ...dialects.engine.parse import parse
from ...dialects.engine.parsed import Parsed
from ...jsontext import dumps
from ...records import NamedTuple
from ...types import Issue, IssueKind, Report, ToolCall, Verdict
from ..formats.spec import ANY
from ..options import Options
from ..result import Finding, JudgedCall, Repair
from .toolset import ODD, Toolset

FOREIGN = tuple("▁｜＜【「")
"""Signs of which a text with a call to a tool that is not declared has one; the common ones stand in `is_plain`."""
HEADS = r"[ \t>*#_-]*(?:action|tool|function|call|name|arguments|final|thought|json|invoke|parameters|input)"
HEAD, HEADED = re.compile(HEADS, re.IGNORECASE), re.compile("\n" + HEADS, re.IGNORECASE)
"""How a line begins that may belong to a call written without any sign."""


class Spoken(NamedTuple):
    """The text without its calls, the reasoning, the calls, and what is to be said."""

    text: str
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    judged: tuple[JudgedCall, ...] = ()
    repairs: tuple[Repair, ...] = ()
    findings: tuple[Finding, ...] = ()


def is_plain(text: str, tools: Toolset) -> bool:
    """Is this provably prose: no sign of any markup, and no tool's name in it?"""
    if "<" in text or "{" in text or "[" in text or "`" in text or "|" in text or "@" in text:
        return False
    if "\\" in text or "~" in text or "=" in text:
        return False
    if not text.isascii():
        for sign in FOREIGN:
            if sign in text:
                return False
    if HEAD.match(text) or ("\n" in text and HEADED.search(text)):
        return False
    if tools.joined and "_" not in text:
        return True
    folded = text.casefold()
    return all(word not in folded for word in tools.words)


def read_text(
    text: str, message: int, path: str, tools: Toolset, options: Options, *,
    dialect: str = "", shown: Sequence[str] = (), finish: str | None = None,
) -> Spoken:  # fmt: skip
    """What a model wrote; `dialect` is how this corpus writes calls, `shown` the results it was shown."""
    prompted = "" if dialect == ANY else dialect
    parsed = parse(
        _joined(text, tools.odd), tools=tools.tools, doubt=options.doubt, prompted_dialect=prompted, shown=shown,
        finish_reason=finish,
    )  # fmt: skip
    findings = [_finding(issue, path) for issue in parsed.issues]
    judged = [_refused(issue, message) for issue in parsed.issues if issue.kind in REFUSALS]
    for call in parsed.doubtful:
        findings.append(Finding("in_doubt", path, f"a call of {call.name!r} that was perhaps not meant"))
    if not parsed.calls:
        return Spoken(text, "", (), tuple(judged), (), tuple(findings))
    calls = [_as_usual(call, dialect) for call in parsed.calls]
    taken = [(_judged(call, message, text), _repair(call, path, text, dialect)) for call in calls]
    repairs = [repair for _, repair in taken if repair is not None]
    judged = [*(call for call, _ in taken), *judged]
    return Spoken(_left(parsed), parsed.reasoning, parsed.calls, tuple(judged), tuple(repairs), tuple(findings))


def _joined(text: str, names: Iterable[str]) -> str:
    """A list of Python's calls with the names that no such call has written as one can, sign by sign."""
    if text.lstrip()[:1] == "[":
        for name in names:
            text = text.replace(f"{name}(", ODD.sub("_", name) + "(")
    return text


USUAL: Mapping[str, frozenset[str]] = {"pythonic": frozenset({"python_word", "quotes", "name"})}
"""What a notation has that is no damage where a corpus writes its calls so."""


def _as_usual(call: ToolCall, dialect: str) -> ToolCall:
    """The call; as written well where all that was mended is how this corpus writes."""
    report = call.report
    if report is None or not report.edits or dialect not in (ANY, report.dialect):
        return call
    if {edit.kind for edit in report.edits} <= USUAL.get(report.dialect, frozenset()):
        return replace(call, report=replace(report, edits=(), verdict=Verdict.ACCEPTED))
    return call


REFUSALS = frozenset({
    IssueKind.MALFORMED, IssueKind.INVALID_ARGUMENTS, IssueKind.UNKNOWN_TOOL, IssueKind.TRUNCATED,
    IssueKind.DUPLICATE_KEYS, IssueKind.NOT_ALLOWED,
})  # fmt: skip
"""Issues of a call that was meant and does not run."""


def _finding(issue: Issue, path: str) -> Finding:
    return Finding(str(issue.kind), path, issue.message)


def _left(parsed: Parsed) -> str:
    """The text around the calls; blanks that only kept them apart go with them."""
    return parsed.text.strip("\n") if parsed.text.strip() else ""


def _judged(call: ToolCall, message: int, text: str) -> JudgedCall:
    report = call.report or Report()
    exact = report.verdict is Verdict.ACCEPTED and not report.edits
    return JudgedCall(
        message=message, id="", name=call.name, arguments=call.arguments, raw=_stretch(report, text), native=False,
        dialect=report.dialect, verdict=report.verdict, json_before=exact, valid_before=exact,
    )  # fmt: skip


def _refused(issue: Issue, message: int) -> JudgedCall:
    return JudgedCall(
        message=message, id="", name=issue.name, arguments=None, raw=issue.raw, native=False, verdict=Verdict.REFUSED,
        declared=issue.kind is not IssueKind.UNKNOWN_TOOL, json_before=issue.kind in _READABLE, valid_before=False,
        valid_after=False, faults=(issue.message,),
    )  # fmt: skip


_READABLE = frozenset({IssueKind.INVALID_ARGUMENTS, IssueKind.UNKNOWN_TOOL, IssueKind.NOT_ALLOWED})


def _repair(call: ToolCall, path: str, text: str, dialect: str) -> Repair | None:
    """The repair that a call is; None where the corpus writes its calls so, and it is written well."""
    report = call.report or Report()
    mends = tuple(dict.fromkeys(edit.kind for edit in report.edits))
    if dialect and not mends:
        return None
    code = "mended_call" if mends else "call_in_text"
    after = dumps({"name": call.name, "arguments": call.arguments})
    return Repair(code, path, report.span or (0, len(text)), _stretch(report, text), after, mends)


def _stretch(report: Report, text: str) -> str:
    start, end = report.span or (0, len(text))
    return text[start:end]
