"""A measured share, with what was counted and how sure it is.

Knows counts; nothing of rows.  Contract: a measure of nothing has no value, never zero or one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...records import dataclass
from .interval import Interval, wilson


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure: `value` in 0…1 (None where nothing was counted), the counts it is of, the interval at 95 %.

    `excluded` rows were not counted, for the reason that the definition gives.  `interval` is None for figures that
    have none of use (a mean of few classes).
    """

    name: str
    value: float | None
    numerator: float
    denominator: float
    interval: Interval | None = None
    excluded: int = 0

    def as_json(self) -> Mapping[str, Any]:
        """The measure as a report writes it."""
        bounds = None if self.interval is None or self.value is None else [_short(bound) for bound in self.interval]
        return {
            "name": self.name, "value": None if self.value is None else _short(self.value),
            "numerator": self.numerator, "denominator": self.denominator, "interval": bounds,
            "excluded": self.excluded,
        }  # fmt: skip


def _short(value: float) -> float:
    return round(value, 6)


def share(name: str, count: int, of: int, excluded: int = 0) -> Measure:
    """The share that `count` is of `of`, with Wilson's interval."""
    return Measure(name, count / of if of else None, count, of, wilson(count, of) if of else None, excluded)
