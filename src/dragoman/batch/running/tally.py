"""Counts of a run: of one unit, and of several together, the same whichever way they are added up.

Knows outcomes; nothing of files.  Contract: adding is associative, and what is shown of rows are the first ones by
source and offset; `read == kept + aside + dropped` for every unit and for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..formats.losses import pattern
from ..judging.row_judge import Outcome
from ..result import Finding

EXAMPLES = 3


@dataclass(slots=True)
class Tally:
    """Rows by what became of them, and what was said of them."""

    read: int = 0
    kept: int = 0
    aside: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    mends: Counter[str] = field(default_factory=Counter)
    dialects: Counter[str] = field(default_factory=Counter)
    losses: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[list[Any]]] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    """File → why it could not be read to its end."""

    def judged(self, outcome: Outcome) -> None:
        """Count what was judged of a row."""
        self.verdicts[str(outcome.verdict)] += 1
        self.formats[outcome.form.name if outcome.form else "unknown"] += 1
        for code in outcome.codes:
            self.codes[code] += 1
            shown = self.examples.setdefault(code, [])
            if len(shown) < EXAMPLES:
                shown.append([outcome.source, outcome.offset, outcome.id])
        if outcome.findings and outcome.findings[0].code == "unreadable_file":
            self.unreadable.setdefault(outcome.source, f"from {outcome.offset} on: {outcome.findings[0].message}")
        for repair in outcome.repairs:
            self.mends.update(repair.mends)
        for call in outcome.every_call:
            self.calls["all"] += 1
            self.calls["declared"] += call.declared
            self.calls["json_before"] += call.json_before
            self.calls["valid_before"] += call.valid_before
            self.calls["valid_after"] += call.valid_after
            if call.dialect:
                self.dialects[call.dialect] += 1

    def sound(self, form: str, calls: int, count: int = 1) -> None:
        """Count rows that are fine as they are."""
        self.verdicts["ok" if calls else "none"] += count
        self.formats[form] += count
        if calls:
            for name in ("all", "declared", "json_before", "valid_before", "valid_after"):
                self.calls[name] += calls * count

    def lost(self, losses: Iterable[Finding]) -> None:
        """Count what a target could not hold."""
        self.losses.update({pattern(loss.path) for loss in losses})

    def check(self) -> None:
        """Every row that was read is somewhere."""
        away = self.kept + self.aside + sum(self.dropped.values())
        assert self.read == away, f"{self.read} rows were read, {away} are accounted for"

    def add(self, other: Tally) -> None:
        """Count the rows of another one too, which come after these."""
        self.read += other.read
        self.kept += other.kept
        self.aside += other.aside
        for name in COUNTERS:
            getattr(self, name).update(getattr(other, name))
        for code, shown in other.examples.items():
            mine = self.examples.setdefault(code, [])
            mine += shown[: EXAMPLES - len(mine)]
        self.unreadable = {**other.unreadable, **self.unreadable}

    def as_json(self) -> dict[str, Any]:
        """As plain data, in one order."""
        counters = {name: dict(sorted(getattr(self, name).items())) for name in COUNTERS}
        examples = {code: self.examples[code] for code in sorted(self.examples)}
        made = {"read": self.read, "kept": self.kept, "aside": self.aside, **counters, "examples": examples}
        return {**made, "unreadable": self.unreadable} if self.unreadable else made


COUNTERS = ("dropped", "verdicts", "formats", "codes", "mends", "dialects", "losses", "calls")


def tally_of(told: Mapping[str, Any]) -> Tally:
    """The counts that `as_json` told."""
    made = Tally(told["read"], told["kept"], told["aside"])
    for name in COUNTERS:
        getattr(made, name).update(told[name])
    made.unreadable = dict(told.get("unreadable", {}))
    made.examples = {code: [list(one) for one in shown] for code, shown in told["examples"].items()}
    return made
