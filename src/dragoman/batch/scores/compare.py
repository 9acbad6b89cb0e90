"""Two sets of answers to the same questions, and two runs of the same scores: what became better, what worse.

Knows samples and measures; nothing of files.
Contract: a comparison of answers is of those that both sets hold; a regression is a measure that fell (or rose, where
less is better) by more than the tolerance, and a measure that one run lacks is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...records import dataclass
from .interval import sign_test
from .metrics import Tally
from .possible import fits
from .sample import Sample

LESS_IS_BETTER = frozenset({"hallucinated_tool", "hallucinated_parameter", "calls_without_tools"})
NEUTRAL = frozenset({"call_rate"})
"""Measures of which neither more nor less is better."""


def _is_exact(sample: Sample) -> bool | None:
    expected = sample.gold.calls
    return None if expected is None else fits(sample.running, expected, sample.parameters())


def _is_sound(sample: Sample) -> bool | None:
    if not sample.calls:
        return None
    return all(call.valid_after for call in sample.calls)


def _triggers(sample: Sample) -> bool | None:
    return bool(sample.running) == (sample.gold.expects == "calls") if sample.gold.expects else None


TESTS: Mapping[str, Callable[[Sample], bool | None]] = {
    "exact": _is_exact, "sound": _is_sound, "triggers": _triggers,
}  # fmt: skip
"""What an answer may be or not: as expected, all calls valid, called where it should; None where it is not told."""


@dataclass(frozen=True, slots=True)
class Change:
    """How many answers became better, worse or stayed, and how likely so uneven a change is by chance (two-sided)."""

    name: str
    better: int
    worse: int
    same: int

    @property
    def chance(self) -> float:
        """The exact sign test's p."""
        return sign_test(self.better, self.worse)

    def as_json(self) -> Mapping[str, Any]:
        """The change as a report writes it."""
        told = {"name": self.name, "better": self.better, "worse": self.worse, "same": self.same}
        return {**told, "chance": round(self.chance, 6)}


def compared(sample: Sample, baseline: Sample) -> Iterator[str]:
    """What is counted of one answer beside the baseline's."""
    if sample.failed or baseline.failed:
        return
    for name, holds in TESTS.items():
        now, then = holds(sample), holds(baseline)
        if now is not None and then is not None:
            yield f"{name}/{'same' if now == then else 'better' if now else 'worse'}"


def changes(told: Tally) -> list[Change]:
    """The changes that a tally of `compared` comes to."""
    return [
        Change(name, *(told[f"{name}/{way}"] for way in ("better", "worse", "same")))
        for name in TESTS
        if any(key.startswith(f"{name}/") for key in told)
    ]


@dataclass(frozen=True, slots=True)
class Difference:
    """One measure of two runs."""

    name: str
    before: float
    after: float

    @property
    def by(self) -> float:
        """By how much it became better; below zero: worse.  0 for measures that are neither."""
        if self.name.partition("/")[0] in NEUTRAL:
            return 0.0
        return (self.after - self.before) * (-1 if self.name.partition("/")[0] in LESS_IS_BETTER else 1)


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """The measures that both runs have (reports of scores as JSON), in the order of the later one."""
    old = dict(_values(before))
    return [Difference(name, old[name], value) for name, value in _values(after) if name in old]


def _values(report: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for group, metrics in sorted(report.get("scores", {}).items()):
        for metric, measures in sorted(metrics.items()):
            for measure in measures:
                if measure["value"] is not None:
                    yield _place(group, metric, measure["name"]), float(measure["value"])


def _place(group: str, metric: str, name: str) -> str:
    return "/".join(part for part in (name, metric if metric != name else "", group) if part)


def regressions(found: Iterable[Difference], tolerance: float) -> list[Difference]:
    """Those that became worse by more than the tolerance."""
    return [one for one in found if one.by < -tolerance]
