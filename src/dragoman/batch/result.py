"""What was judged of a row: the verdict, the findings, every repair with what stood there before, every call.

Knows rows and reports; nothing of how a row is judged, read or written.
Contract: a row whose verdict is REPAIRED says each change in `repairs`, and `JudgedRow.row.original` undoes them all; a
verdict is one of five and never absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from ..records import dataclass
from ..types import NOTHING, JsonObject, Verdict
from .row import CorpusRow


class RowVerdict(StrEnum):
    """The verdict on a row.

    OK        every call is declared and fits its schema as it was written
    REPAIRED  the same, once what `repairs` lists was mended
    REFUSED   a call, or the order of the turns, is wrong in a way that cannot be mended without invention
    BROKEN    the row cannot be read
    NONE      the row was read, and holds no call
    """

    OK = "ok"
    REPAIRED = "repaired"
    REFUSED = "refused"
    BROKEN = "broken"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to be said of a row: a code of `codes.CODES`, where (a JSON path into the row), and the words."""

    code: str
    path: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """One change: its code, the JSON path of what was changed, the stretch of the text there, what became what.

    `span` is (start, end) in characters of the string at `path`; `before` is that stretch, whole, so that it can be put
    back; `after` is what stands there now, as JSON.  `mends` names what was mended inside, by the judge's own words.
    """

    code: str
    path: str
    span: tuple[int, int]
    before: str
    after: str
    mends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCall:
    """One call that a row makes, run or refused.

    `message`       the number of the message that makes it
    `arguments`     as they are after repair; None where they cannot be read
    `raw`           the call or its arguments as written
    `native`        it stood in the format's own place for calls, not in a text
    `dialect`       how it was written, where it stood in a text
    `declared`      its name, as written, is that of a declared tool; True where the row says nothing of tools
    `json_before`   its arguments were a JSON object as written
    `valid_before`  declared, and its arguments valid, as written
    `valid_after`   the same, after repair
    `faults`        what is wrong with a refused one, in words; a path first where there is one
    """

    message: int
    id: str
    name: str
    arguments: JsonObject | None
    raw: str = ""
    native: bool = True
    dialect: str = ""
    verdict: Verdict = Verdict.ACCEPTED
    declared: bool = True
    json_before: bool = True
    valid_before: bool = True
    valid_after: bool = True
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRow:
    """A row and what was judged of it; `row` holds the conversation after repair.

    `calls` are those of the conversation; `branches` those of each alternative answer, by its name.
    """

    row: CorpusRow
    verdict: RowVerdict
    findings: tuple[Finding, ...] = ()
    repairs: tuple[Repair, ...] = ()
    calls: tuple[JudgedCall, ...] = ()
    branches: Mapping[str, tuple[JudgedCall, ...]] = NOTHING

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all findings and repairs, each once, in order."""
        return tuple(dict.fromkeys([*(f.code for f in self.findings), *(r.code for r in self.repairs)]))
