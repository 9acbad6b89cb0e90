"""A call while it is being read, and the verdict it ends with.

Knows the values of layer 0 and nothing of text or markup.  A reader fills a draft (`begin`, `write`, `finish`), the
judge decides on it, the parser tells its events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from ...late import late
from ...records import dataclass, field
from ...schema.validation import ANYTHING, Shape
from ...types import Edit, Issue, IssueKind, Report, Tier, Tool, Verdict
from .rules import Decision, Outcome

VERDICTS = {
    Outcome.RUN: Verdict.ACCEPTED,
    Outcome.ASK: Verdict.DOUBTFUL,
    Outcome.REFUSE: Verdict.REFUSED,
    Outcome.TEXT: Verdict.QUOTED,
}


STRING = r'"(?:[^"\\]++|\\.)*+"'
WHOLE = late(rf'(?:[^"]++|{STRING})*+', re.DOTALL)
OTHERS = late(rf'[^{{}}\[\]"]++|{STRING}', re.DOTALL)
"""All up to a string that is not closed, and what is no bracket."""


spelling: Callable[[Any], str] = json.JSONEncoder(sort_keys=True).encode
"""Arguments in the one spelling by which they are compared."""


@dataclass(slots=True)
class Draft:
    """One candidate call.

    `pieces` concatenate to strict JSON once `done`; `told` counts the pieces already told as events; `refusal` is why
    it will not run; `spelt_out` says that markup of its own holds the name, whatever characters it is made of;
    `settled` that the judge has looked at the arguments, `data` that they are none (a definition of the tool, say),
    `shown` that it stays in the visible text; `written` is the text of one to which no mark led, whose place is not
    known; `read` the value of so many pieces, `spelt` its one spelling.
    """

    dialect: str
    start: int
    strong: bool
    spelt_out: bool = False
    name: str = ""
    id: str = ""
    tool: Tool | None = None
    shape: Shape = ANYTHING
    index: int = -1
    pieces: list[str] = field(default_factory=list)
    told: int = 0
    begun: bool = False
    started: bool = False
    done: bool = False
    ended: bool = False
    edits: list[Edit] = field(default_factory=list)
    refusal: Issue | None = None
    settled: bool = False
    data: bool = False
    shown: bool = False
    written: str = ""
    end: int = 0
    read: tuple[int, Any] | None = field(default=None, repr=False, compare=False)
    spelt: tuple[int, str] = field(default=(-1, ""), repr=False, compare=False)

    def write(self, text: str) -> None:
        """More of the arguments, as strict JSON."""
        self.pieces.append(text)

    def text(self) -> str:
        """The arguments so far."""
        return self.pieces[0] if len(self.pieces) == 1 else "".join(self.pieces)

    def arguments(self) -> Any:
        """The arguments, once done: to be looked at, not changed, for whoever asks next is given the same value."""
        size = len(self.pieces)
        if self.read is None or self.read[0] != size:
            self.read = size, json.loads(self.text() or "{}")
        return self.read[1]

    def value(self) -> tuple[str, str]:
        """The call by its value, once done: its name, and its arguments in one spelling."""
        size = len(self.pieces)
        if self.spelt[0] != size:
            self.spelt = size, spelling(self.arguments())
        return self.name, self.spelt[1]

    def refuse(self, kind: IssueKind, message: str, correction: str = "") -> None:
        """This call will not run; the first reason stands."""
        if self.refusal is None:
            self.refusal = Issue(kind=kind, message=message, name=self.name, correction=correction, call_id=self.id)

    def report_reason(self, decision: Decision) -> str:
        """Why it was decided so, and what was mended."""
        if not self.edits or decision.outcome is not Outcome.RUN:
            return decision.reason
        return f"{decision.reason}; mended: {', '.join(dict.fromkeys(e.kind for e in self.edits))}"

    def report(self, tier: Tier, decision: Decision) -> Report:
        """The audit trail of what was decided."""
        verdict = VERDICTS[decision.rule.outcome]
        if self.edits and verdict is Verdict.ACCEPTED:
            verdict = Verdict.MENDED
        return Report(
            dialect=self.dialect,
            span=(self.start, self.end),
            tier=tier,
            edits=tuple(self.edits),
            verdict=verdict,
            rule=decision.rule.name,
            reason=self.report_reason(decision),
            evidence=decision.evidence.words(),
        )


def close_json(written: str) -> str:
    """What makes `written`, the beginning of a strict JSON text, strict JSON: even a refused call's deltas are."""
    stack: list[str] = []
    end = WHOLE.match(written).end()  # type: ignore[union-attr]
    string = end < len(written)
    for c in OTHERS.sub("", written[:end]):
        if c in "{[":
            stack.append("}" if c == "{" else "]")
        else:
            stack.pop()
    text = written.rstrip()
    if not text:
        return "{}"
    tail = '"' if string else {":": "null", ",": '"":null' if stack and stack[-1] == "}" else "null"}.get(text[-1], "")
    return tail + "".join(reversed(stack))
