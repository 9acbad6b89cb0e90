"""The audit trail: what the judge decided of a call and why, what was mended, and what else had to be noticed.

Knows no call and no message.  Contract: frozen; values compare by content; `raw` is text exactly as it was written.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from ..display import Displayed, Piece, report_pieces
from ..records import dataclass
from .mapping import NOTHING, JsonObject


class Verdict(StrEnum):
    """The judge's decision on a candidate call."""

    ACCEPTED = "accepted"
    MENDED = "mended"
    REFUSED = "refused"
    DOUBTFUL = "doubtful"
    QUOTED = "quoted"


class Tier(StrEnum):
    """Ways for a call to reach us."""

    NATIVE = "native"
    TAGGED = "tagged"
    RAW_JSON = "raw_json"


@dataclass(frozen=True, slots=True)
class Edit:
    """One mend: its kind (`trailing_comma`), where (JSON path or ""), and what became what, where short."""

    kind: str
    path: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Displayed):
    """The audit trail of one call: which dialect, where it stood, what was mended, what the judge said and why.

    `span` is (start, end) in characters of the model's output; `rule` names the row of the judge's table that decided,
    `reason` says it in words, `evidence` holds what was seen, by the names of docs/judge.md.
    """

    dialect: str = ""
    span: tuple[int, int] | None = None
    tier: Tier = Tier.TAGGED
    edits: tuple[Edit, ...] = ()
    verdict: Verdict = Verdict.ACCEPTED
    rule: str = ""
    reason: str = ""
    evidence: JsonObject = NOTHING

    def _display_(self) -> Iterable[Piece]:
        return report_pieces(self)


class IssueKind(StrEnum):
    """Kinds of issues: something went wrong, or was left out."""

    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    UNKNOWN_TOOL = "unknown_tool"
    INVALID_ARGUMENTS = "invalid_arguments"
    IN_REASONING = "in_reasoning"
    COPIED = "copied"
    QUOTED = "quoted"
    HALLUCINATED_RESULT = "hallucinated_result"
    NOT_ALLOWED = "not_allowed"
    DUPLICATE_KEYS = "duplicate_keys"
    NOISE = "noise"
    WIRE_FAULT = "wire_fault"
    UNSUPPORTED = "unsupported"
    PARTIAL = "partial"
    HISTORY = "history"
    REASKED = "reasked"
    CONFIRMED = "confirmed"
    DENIED = "denied"
    TOOLS_IGNORED = "tools_ignored"
    TOOLS_TESTED = "tools_tested"


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """A mistake of the model, a peer or a conversion, as a value.

    `raw` is the text concerned, exactly as written (so nothing is lost); `correction` is what to tell the
    model, ready to send; `name` the tool concerned, where one was named; `path` a JSON path for wire issues.
    """

    kind: IssueKind
    message: str
    raw: str = ""
    name: str = ""
    correction: str = ""
    span: tuple[int, int] | None = None
    path: str = ""
    call_id: str = ""
