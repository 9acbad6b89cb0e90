"""The rules of the judge: a table over evidence, read from top to bottom; the first row that holds decides.

Knows evidence and nothing else.  `docs/judge.md` is printed from this table, with the example of each row.
Contract: `decide` always finds a row; the row's name and its words are the report's `rule` and `reason`.
Source: judge-rules.md, second edition; each row names its principle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import lru_cache

from ...records import NamedTuple, dataclass
from ...types import IssueKind
from .evidence import Evidence, Mark, Place, Thought


class Outcome(StrEnum):
    """What becomes of a candidate."""

    RUN = "run"
    ASK = "ask"
    REFUSE = "refuse"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row: when it holds, what follows, and the words of the reason (`{…}` are fields of the evidence).

    `issue` is the kind of `Issue` that tells of a candidate left as text; `example` a text in which the row decides.
    """

    name: str
    when: Callable[[Evidence], bool]
    outcome: Outcome
    reason: str
    principle: str
    issue: IssueKind | None = None
    example: str = ""


class Decision(NamedTuple):
    """The row that held, and its reason in words."""

    rule: Rule
    reason: str
    evidence: Evidence

    @property
    def outcome(self) -> Outcome:
        """What becomes of the candidate."""
        return self.rule.outcome


PROGRAM = frozenset({"variable", "operator", "namespace"})
"""Mends that say what a program would make of a name or a sign, not what the model wrote down."""
RULES = (
    Rule(
        name="reasoning",
        when=lambda e: e.thought in (Thought.ENDED, Thought.CUT),
        outcome=Outcome.TEXT,
        reason="it stands in reasoning: a rehearsal",
        principle="H",
        issue=IssueKind.IN_REASONING,
        example='<think>\n<tool_call>{"name": "f", "arguments": {}}</tool_call>\n</think>\nNothing to do.',
    ),
    Rule(
        name="box",
        when=lambda e: bool(e.box),
        outcome=Outcome.TEXT,
        reason="it stands inside {box}",
        principle="evidence: box",
        issue=IssueKind.QUOTED,
        example='A call looks like this: `<tool_call>{"name": "f", "arguments": {}}</tool_call>`.',
    ),
    Rule(
        name="copy",
        when=lambda e: e.copy is not None,
        outcome=Outcome.TEXT,
        reason="it is a copy of a call in {copy}",
        principle="G",
        issue=IssueKind.COPIED,
        example='<tool_call>{"name": "f", "arguments": {}}</tool_call>',
    ),
    Rule(
        name="repeat",
        when=lambda e: e.repeats,
        outcome=Outcome.TEXT,
        reason="the same call was made before in this message",
        principle="first edition 10",
        issue=IssueKind.QUOTED,
        example='<tool_call>{"name": "f", "arguments": {}}</tool_call>\nTo recap, I made this call:\n'
        '{"name": "f", "arguments": {}}',
    ),
    Rule(
        name="word",
        when=lambda e: e.word,
        outcome=Outcome.TEXT,
        reason="{mark} that is spoken of: no call stands in it",
        principle="J",
        example="The tags are <tool_call> and </tool_call>, both on lines of their own.",
    ),
    Rule(
        name="unfit",
        when=lambda e: e.refusal is not None,
        outcome=Outcome.REFUSE,
        reason="{refusal.message}",
        principle="first edition 4, 5 and 6; E",
        example='<tool_call>{"name": "g", "arguments": {}}</tool_call>',
    ),
    Rule(
        name="program",
        when=lambda e: not PROGRAM.isdisjoint(e.edits),
        outcome=Outcome.ASK,
        reason="{mark}, written as part of a program: with a variable, an operator or a name without its namespace",
        principle="C",
        example="f() + f()",
    ),
    Rule(
        name="whole",
        when=lambda e: e.place is Place.ALONE and not e.strong,
        outcome=Outcome.RUN,
        reason="the message is {mark} and nothing else",
        principle="A",
        example='{"name": "f", "arguments": {}}',
    ),
    Rule(
        name="strong",
        when=lambda e: e.strong and not e.hints,
        outcome=Outcome.RUN,
        reason="{mark}, in no box",
        principle="A",
        example='Let me look.\n<tool_call>{"name": "f", "arguments": {}}</tool_call>',
    ),
    Rule(
        name="hinted",
        when=lambda e: e.strong,
        outcome=Outcome.ASK,
        reason="{mark}, but the words around it hint against it ({hints[0]})",
        principle="C",
        example='Do not run this:\n<tool_call>{"name": "f", "arguments": {}}</tool_call>',
    ),
    Rule(
        name="inline",
        when=lambda e: e.place is Place.INLINE,
        outcome=Outcome.TEXT,
        reason="{mark} inside a sentence",
        principle="B",
        issue=IssueKind.QUOTED,
        example='{"name": "f", "arguments": {}} is how it is written.',
    ),
    Rule(
        name="untold",
        when=lambda e: not (e.told or e.asked),
        outcome=Outcome.TEXT,
        reason="{mark} among words, while the tools are not known",
        principle="B",
        example='See:\n{"name": "f", "arguments": {}}',
    ),
    Rule(
        name="asked",
        when=lambda e: e.asked and not e.native and not e.hints,
        outcome=Outcome.RUN,
        reason="{mark}, the notation that was asked for",
        principle="B",
        example='I will look.\n{"name": "f", "arguments": {}}',
    ),
    Rule(
        name="habit",
        when=lambda e: e.confirmed and not e.hints,
        outcome=Outcome.RUN,
        reason="{mark} in a way in which this model has confirmed before that it means calls",
        principle="B",
        example='I will look.\n{"name": "f", "arguments": {}}',
    ),
    Rule(
        name="weak",
        when=lambda e: True,
        outcome=Outcome.ASK,
        reason="{mark} among words proves little",
        principle="B",
        example='I will look.\n{"name": "f", "arguments": {}}',
    ),
)
"""The law, in the order in which it is asked."""

OVERLOOKED = (
    *(rule for rule in RULES if rule.name == "copy"),
    Rule(
        name="overlooked",
        when=lambda e: e.place is Place.INLINE,
        outcome=Outcome.TEXT,
        reason="it stands among the words of a line",
        principle="B",
        issue=IssueKind.QUOTED,
    ),
    Rule(
        name="overlooked",
        when=lambda e: True,
        outcome=Outcome.ASK,
        reason="it stands where no call was looked for: behind words on their line, or with a key too many",
        principle="B",
    ),
)
"""The law for calls that no mark led to: none of them runs."""


def decide(evidence: Evidence, rules: Sequence[Rule] = RULES) -> Decision:
    """The first rule that holds."""
    for rule in rules:
        if rule.when(evidence):
            return Decision(rule, _reason(rule, evidence), evidence)
    raise AssertionError("the last rule holds always")


@lru_cache(maxsize=1024)
def decide_usual(mark: Mark, place: Place, habit: str) -> Decision:
    """The first rule that holds of a strong mark of which nothing else is to be said (`Evidence.usual`)."""
    return decide(Evidence(mark=mark, strong=True, place=place, habit=habit))


def _reason(rule: Rule, evidence: Evidence) -> str:
    if rule.reason in _OF_MARK:
        return _of_mark(rule.reason, evidence.mark)
    fields = {name: getattr(evidence, name) for name in ("mark", "box", "copy", "refusal", "hints")}
    return rule.reason.format(**fields)


_OF_MARK = frozenset(rule.reason for rule in RULES if set(re.findall(r"\{[^}]*\}", rule.reason)) <= {"{mark}"})
"""Reasons that tell nothing of the evidence but the mark: a few dozen sentences in all."""


@lru_cache(maxsize=256)
def _of_mark(reason: str, mark: Mark) -> str:
    return reason.format(mark=mark)
