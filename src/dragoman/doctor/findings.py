"""Results of probes: values.  Knows nothing of routes or servers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..types import NOTHING, JsonObject


class Grade(StrEnum):
    """Grades of a deployment."""

    GOOD = "good"
    POOR = "poor"  # it works with help, and the remedy says which
    BAD = "bad"  # it does not work
    UNKNOWN = "unknown"  # it could not be told


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """One line of the report: what was probed, how it did, what was seen, and what to do.

    `facts` are the same for machines (`{"tokens": 4096}`).
    """

    probe: str
    grade: Grade
    message: str
    remedy: str = ""
    facts: JsonObject = NOTHING

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        texts = {"probe": self.probe, "grade": str(self.grade), "message": self.message, "remedy": self.remedy}
        return {**texts, "facts": dict(self.facts)}
