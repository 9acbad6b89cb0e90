"""The page that explains the judge: every example on it is judged as it says, and every rule shows both sides."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from dragoman.dialects.explain.findings import Finding, verdicts
from dragoman.dialects.judge.rules import OVERLOOKED, RULES, Outcome
from dragoman.types import IssueKind, Verdict
from tests.support import places

PAGE = places.ROOT / "docs" / "judge.md"
FENCE = re.compile(r"^(?P<mark>`{3,})(?P<word>\w+) (?P<told>[^\n]+)\n(?P<text>.*?)\n(?P=mark)$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^### `(?P<rule>\w+)`", re.MULTILINE)
SIDES = {
    "runs": Verdict.ACCEPTED, "mended": Verdict.MENDED, "asks": Verdict.DOUBTFUL, "refused": Verdict.REFUSED,
    "stays": Verdict.QUOTED, "repeats": Verdict.QUOTED,
}  # fmt: skip
RUNS = {Verdict.ACCEPTED, Verdict.MENDED}


@dataclass(frozen=True)
class Example:
    """One fenced text: what becomes of it, by which rule of which section, and how it is asked for."""

    section: str
    verdict: Verdict
    rule: str
    text: str
    asked: dict[str, Any]
    line: int


def examples() -> Iterator[Example]:
    page = PAGE.read_text(encoding="utf-8")
    section, shown = "", ""
    marks = sorted([*HEADING.finditer(page), *FENCE.finditer(page)], key=lambda m: m.start())
    for mark in marks:
        if "rule" in mark.groupdict():
            section, shown = mark["rule"], ""
        elif mark["told"] == "shown":
            shown = mark["text"]
        elif mark["word"] == "text":
            yield example(section, shown, mark, page.count("\n", 0, mark.start()) + 1)


def example(section: str, shown: str, fence: re.Match[str], line: int) -> Example:
    side, *words = fence["told"].split()
    options: dict[str, Any] = {k: v for k, _, v in (w.partition("=") for w in words) if v}
    options |= {"shown": [shown]} if "shown" in words else {}
    options |= {"confirmed": [options["confirmed"]]} if "confirmed" in options else {}
    options |= {"strict": True} if "strict" in words else {}
    rule = next((w for w in words if w not in ("shown", "strict") and "=" not in w), "")
    return Example(section, SIDES[side], rule, fence["text"], options, line)


EXAMPLES = list(examples())
TOOLS = next(json.loads(m["text"]) for m in FENCE.finditer(PAGE.read_text(encoding="utf-8")) if m["told"] == "tools")


def judged(it: Example) -> list[Finding]:
    return [f for f in verdicts(it.text, tools=TOOLS, **it.asked) if f.verdict is not None]


@pytest.mark.parametrize("it", EXAMPLES, ids=lambda e: f"line {e.line}")
def test_an_example_is_judged_as_the_page_says(it: Example) -> None:
    found = judged(it)
    verdicts = [(f.verdict, f.rule) for f in found]
    if it.verdict in RUNS:
        assert {f.verdict for f in found} == {it.verdict}, verdicts
    else:
        assert (it.verdict, it.rule) in verdicts
        assert not RUNS & {f.verdict for f in found if it.rule not in {"hallucinated_result", "repeat"}}, verdicts


def test_every_rule_shows_both_sides() -> None:
    for section in {e.section for e in EXAMPLES}:
        sides = {e.verdict in RUNS for e in EXAMPLES if e.section == section}
        assert sides == {True, False}, section


def test_every_rule_that_leaves_text_in_place_is_explained() -> None:
    explained = {e.rule for e in EXAMPLES if e.verdict in {Verdict.QUOTED, Verdict.DOUBTFUL}}
    left = {rule.name for rule in RULES if rule.outcome in {Outcome.TEXT, Outcome.ASK}}
    assert explained == (left | {rule.name for rule in OVERLOOKED}) - {"untold"}


NO_ARGUMENTS = [{"name": "f", "parameters": {"type": "object", "properties": {}}}]
GIVEN: dict[str, dict[str, Any]] = {
    "copy": {"shown": ['<tool_call>{"name": "f", "arguments": {}}</tool_call>']},
    "untold": {"tools": None},
    "asked": {"prompted_dialect": "bare_json"},
    "habit": {"confirmed": ["bare_json:object:ends"]},
    "repeat": {"prompted_dialect": "bare_json"},
}
"""What a rule's example needs beside its text."""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_example_of_a_rule_is_decided_by_it(rule: Any) -> None:
    found = verdicts(rule.example, **{"tools": NO_ARGUMENTS, **GIVEN.get(rule.name, {})})
    name = "unknown_tool" if rule.outcome is Outcome.REFUSE else rule.name
    assert name in [finding.rule for finding in found]


def test_every_kind_of_refusal_is_explained() -> None:
    explained = {e.rule for e in EXAMPLES if e.verdict is Verdict.REFUSED}
    reported = {IssueKind.TRUNCATED, IssueKind.MALFORMED, IssueKind.UNKNOWN_TOOL, IssueKind.INVALID_ARGUMENTS,
            IssueKind.HALLUCINATED_RESULT, IssueKind.DUPLICATE_KEYS}  # fmt: skip
    assert explained == {str(kind) for kind in reported}


# ── findings beyond the page ─────────────────────────────────────────────────

CALL = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'


def test_no_tools_declared_means_that_nothing_runs() -> None:
    assert [f for f in verdicts(CALL, tools=[]) if f.verdict in RUNS] == []


def test_a_leaked_token_is_no_candidate_but_is_told() -> None:
    found = [f for f in verdicts(f"{CALL}<|im_start|>", tools=TOOLS) if f.verdict is not Verdict.ACCEPTED]
    assert [f.rule for f in found] in (["noise"], ["hallucinated_result"])


def test_findings_are_in_order_and_span_their_text() -> None:
    text = f"`{CALL}` and {CALL}"
    quoted, run = verdicts(text, tools=TOOLS)
    assert (quoted.verdict, run.verdict) == (Verdict.QUOTED, Verdict.ACCEPTED)
    assert text[slice(*quoted.span)] == text[slice(*run.span)] == '{"name": "ping", "arguments": {}}'


def test_plain_text_has_no_findings() -> None:
    assert verdicts("Nothing to do here, {really}.", tools=TOOLS) == ()
