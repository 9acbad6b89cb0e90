"""The counts of a corpus: rows by what became of them, calls by dialect and tool, findings with examples.

A summary takes one judged row at a time, and summaries of consecutive pieces add up to that of the whole; the sum is
JSON, so a piece's summary can wait in a file for the others.
Knows judged rows; nothing of files, processes or pages.
Contract: rows in = kept + set aside + dropped, always; summaries merged in the order of the rows say the same as one
of all rows, however they were cut, as long as no table has more than `MOST_NAMES` names (names that come later are
counted under `OTHERS`, so the sums stay right).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from ..result import JudgedCall, JudgedRow

MOST_NAMES = 20_000
"""Names a table holds: more tools, models or invented names than that are one line."""
OTHERS = "(others)"
EXAMPLES = 3
"""Rows shown of each code."""
EXCERPT = 300
"""Characters shown of a piece of a row."""
NAMELESS = "(none)"


class Fate(StrEnum):
    """What became of a row: it was written, set aside with its reasons, or left out as asked (duplicates, a sample)."""

    KEPT = "kept"
    SET_ASIDE = "set_aside"
    DROPPED = "dropped"


class Names:
    """How often each of many names came with each of few marks; bounded."""

    def __init__(self, rows: Mapping[str, Mapping[str, int]] | None = None) -> None:
        self.rows: dict[str, Counter[str]] = {name: Counter(marks) for name, marks in (rows or {}).items()}

    def add(self, name: str, mark: str, count: int = 1) -> None:
        """Count `mark` for a name; for one name too many, count it for the others."""
        name = name or NAMELESS
        if name not in self.rows and len(self.rows) >= MOST_NAMES:
            name = OTHERS
        self.rows.setdefault(name, Counter())[mark] += count

    def update(self, other: Names) -> None:
        """Add another's counts to these."""
        for name, marks in other.rows.items():
            for mark, count in marks.items():
                self.add(name, mark, count)

    def as_json(self) -> dict[str, dict[str, int]]:
        """Name → mark → count, the most frequent first."""
        ordered = sorted(self.rows.items(), key=lambda row: (-row[1].total(), row[0]))
        return {name: dict(sorted(marks.items())) for name, marks in ordered}


class Summary:
    """The counts of some rows.

    `rows`      fate → count                     `verdicts`  verdict → count
    `tables`    format, model, dialect, tool, undeclared → name → verdict (or nearest declared name) → count
    `codes`     code → rows that have it         `examples`  code → the first rows that have it
    `calls`     what is counted of calls: all, native, in_text, json and valid before and after repair
    `sizes`     bytes, turns and calls of a row → power of two → count
    """

    TABLES = ("format", "model", "dialect", "tool", "undeclared")

    def __init__(self, told: Mapping[str, Any] | None = None) -> None:
        told = told or {}
        self.rows: Counter[str] = Counter(told.get("rows", {}))
        self.verdicts: Counter[str] = Counter(told.get("verdicts", {}))
        self.codes: Counter[str] = Counter(told.get("codes", {}))
        self.calls: Counter[str] = Counter(told.get("calls", {}))
        self.tables: dict[str, Names] = {name: Names(told.get("tables", {}).get(name)) for name in self.TABLES}
        self.examples: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for code, rows in told.get("examples", {}).items():
            self.examples[code] = list(rows)
        self.sizes: dict[str, Counter[int]] = {
            name: Counter({int(power): count for power, count in told.get("sizes", {}).get(name, {}).items()})
            for name in ("bytes", "turns", "calls")
        }

    def add(self, judged: JudgedRow, fate: Fate) -> None:
        """Count one row and what became of it."""
        self.rows["in"] += 1
        self.rows[fate] += 1
        self.verdicts[str(judged.verdict)] += 1
        self.codes.update(judged.codes)
        self.look(judged)

    def take(self, totals: Mapping[str, Any]) -> None:
        """Rows, verdicts and codes as a run counted them (`running.tally`), whose rows were looked at and not added."""
        dropped = sum(totals["dropped"].values())
        fates: dict[str, int] = {Fate.KEPT: totals["kept"], Fate.SET_ASIDE: totals["aside"], Fate.DROPPED: dropped}
        self.rows = Counter({"in": totals["read"], **fates})
        self.verdicts, self.codes = Counter(totals["verdicts"]), Counter(totals["codes"])

    def look(self, judged: JudgedRow) -> None:
        """Count what one row holds, with the calls of every alternative answer; nothing of what became of it."""
        row, verdict = judged.row, str(judged.verdict)
        self.tables["format"].add(row.format, verdict)
        self.tables["model"].add(str(row.metadata.get("model") or ""), verdict)
        for code in judged.codes:
            if len(self.examples[code]) < EXAMPLES:
                self.examples[code].append(example(judged, code))
        calls = [*judged.calls, *(call for branch in judged.branches.values() for call in branch)]
        declared = [tool.name for tool in row.tools or ()]
        for call in calls:
            self._call(call, declared)
        for name, size in (("bytes", len(row.original)), ("turns", len(row.messages)), ("calls", len(calls))):
            self.sizes[name][size.bit_length()] += 1

    def _call(self, call: JudgedCall, declared: Iterable[str]) -> None:
        verdict = str(call.verdict)
        marks = {
            "all": True, "native": call.native, "in_text": not call.native, "json_before": call.json_before,
            "json_after": call.arguments is not None, "valid_before": call.valid_before,
            "valid_after": call.valid_after, "undeclared": not call.declared, verdict: True,
        }  # fmt: skip
        self.calls.update(mark for mark, holds in marks.items() if holds)
        self.tables["tool"].add(call.name, verdict)
        self.tables["dialect"].add(call.dialect or "(native)", verdict)
        if not call.declared:
            nearest = get_close_matches(call.name, declared, n=1)
            self.tables["undeclared"].add(call.name, nearest[0] if nearest else NAMELESS)

    def merge(self, later: Summary) -> None:
        """Add the counts of the rows that follow."""
        for mine, other in (
            (self.rows, later.rows), (self.verdicts, later.verdicts), (self.codes, later.codes),
            (self.calls, later.calls),
        ):  # fmt: skip
            mine.update(other)
        for name, sizes in later.sizes.items():
            self.sizes[name].update(sizes)
        for name, table in later.tables.items():
            self.tables[name].update(table)
        for code, rows in later.examples.items():
            self.examples[code] += rows[: EXAMPLES - len(self.examples[code])]

    def as_json(self) -> dict[str, Any]:
        """All counts, as `Summary` takes them back."""
        return {
            "rows": {name: self.rows[name] for name in ("in", *Fate)},
            "verdicts": _ordered(self.verdicts),
            "codes": _ordered(self.codes),
            "calls": dict(sorted(self.calls.items())),
            "tables": {name: table.as_json() for name, table in self.tables.items()},
            "sizes": {
                name: {str(power): sizes[power] for power in sorted(sizes)} for name, sizes in self.sizes.items()
            },
            "examples": {
                code: self.examples[code] for code in sorted(self.examples, key=lambda one: (-self.codes[one], one))
            },
        }

    @property
    def adds_up(self) -> bool:
        """Is every row that came in one that was kept, set aside or dropped?"""
        return self.rows["in"] == sum(self.rows[fate] for fate in Fate)


def _ordered(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def example(judged: JudgedRow, code: str) -> dict[str, Any]:
    """A row as it is shown under a code: where it stands, what was found or changed, and how it begins."""
    row = judged.row
    told: dict[str, Any] = {"id": row.id, "source": row.source, "offset": row.offset, "verdict": str(judged.verdict)}
    finding = next((one for one in judged.findings if one.code == code), None)
    repair = next((one for one in judged.repairs if one.code == code), None)
    if finding is not None:
        told |= {"path": finding.path, "message": cut(finding.message)}
    if repair is not None:
        told |= {"path": repair.path, "before": cut(repair.before), "after": cut(repair.after)}
    return {**told, "row": cut(row.original[: 4 * EXCERPT].decode("utf-8", "replace"))}


def cut(text: str) -> str:
    """A text, shortened to what is shown of it."""
    return text if len(text) <= EXCERPT else f"{text[: EXCERPT - 1]}…"
