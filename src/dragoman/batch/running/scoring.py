"""The scores of a corpus: each unit counted alone, the counts added, the measures made of the sum.

Knows units, samples and metrics; nothing of what a metric means or of pages.
Contract: scores do not depend on the number of processes; a metric that lacks what it needs (gold, a baseline) is left
out, unless it was asked for by name, which is an error that says what to give.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any, TypeAlias

from ...errors import UsageError
from ...records import dataclass
from ..options import Options
from ..scores.compare import changes, compared
from ..scores.metrics import METRICS, Tally, counted
from ..scores.sample import Sample
from .beforehand import check_columns
from .expected import Expected, judged, sample_of
from .sources import sources_of
from .units import Unit, plan
from .unread import whole

Tallies: TypeAlias = dict[str, dict[str, Tally]]
"""Group → metric → what was counted; under `COMPARED` what became better or worse than the baseline."""
GROUPS: Mapping[str, Callable[[Sample], str]] = {
    "model": lambda sample: sample.model, "category": lambda sample: sample.category,
}  # fmt: skip
"""What answers are grouped by."""
COMPARED = "compared"
ROWS = "rows"
MISSING = "the metric {name} needs {needs}: {what}"
HOW: Mapping[str, str] = {
    "gold": "give --gold FILE, or rows with their own truth",
    "baseline": "give --baseline FILE",
    "gold or baseline": "give --gold FILE or --baseline FILE, or rows with their own truth",
    "task": "the rows need task_id and a reward",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """What is scored: by which metrics (all that can be, where none is named), against what, grouped by what."""

    options: Options = Options()
    metrics: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    baseline: tuple[str, ...] = ()
    by: str = ""


def score(inputs: Iterable[str], scoring: Scoring, workers: int = 1) -> dict[str, Any]:
    """The scores of the answers in files or folders.

    Gives `scores` (group → metric → measures, the group "" being all), `compared` (changes against the baseline) and
    `rows` (read, scored).  Raises `UsageError` for a metric that was asked for and lacks what it needs.
    """
    units = plan(sources_of(inputs))
    check_columns(units, scoring.options)
    total: Tallies = defaultdict(lambda: defaultdict(Counter))
    for told in _counted(units, scoring, workers):
        for group, metrics in told.items():
            for name, tally in metrics.items():
                total[group][name].update(tally)
    read = total.pop(ROWS, {}).get("", Counter())
    baseline = total.pop(COMPARED, {}).get("", Counter())
    scores = {group: dict(_measures(metrics)) for group, metrics in sorted(total.items())}
    _check(scoring, scores.get("", {}))
    return {
        "scores": scores,
        "compared": [change.as_json() for change in changes(baseline)],
        "rows": {"read": read["read"], "scored": read["scored"]},
    }


def _counted(units: Sequence[Unit], scoring: Scoring, workers: int) -> Iterator[Tallies]:
    work = partial(count_unit, scoring=scoring)
    if workers <= 1 or len(units) <= 1:
        yield from map(work, units)
        return
    with ProcessPoolExecutor(min(workers, len(units)), mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, units)


def count_unit(unit: Unit, scoring: Scoring) -> Tallies:
    """What is counted of one unit."""
    expected = _expected(scoring)
    told: dict[str, dict[str, Tally]] = {}
    metrics = [METRICS[name] for name in scoring.metrics or METRICS]
    group_of = GROUPS.get(scoring.by)
    for raw in whole(unit, scoring.options.max_row):
        _tally(told, ROWS, "", ("read",))
        outcome = judged(raw, unit.source, scoring.options, expected)
        if outcome.chat is None:
            continue
        sample = sample_of(outcome, expected)
        baseline = expected.of(outcome.chat).baseline
        _tally(told, ROWS, "", ("scored",))
        groups = ["", group_of(sample) or "(none)"] if group_of is not None else [""]
        for metric in metrics:
            words = list(counted(metric, sample, baseline))
            for group in groups:
                _tally(told, group, metric.name, words)
        if baseline is not None:
            _tally(told, COMPARED, "", compared(sample, baseline))
    return told


def _tally(told: Tallies, group: str, name: str, words: Iterable[str]) -> None:
    told.setdefault(group, {}).setdefault(name, Counter()).update(words)


_READ: dict[str, Expected] = {}
"""What this process has read already, by what was asked for: a process does many units of one scoring."""


def _expected(scoring: Scoring) -> Expected:
    asked = repr(scoring)
    if asked not in _READ:
        _READ.clear()
        _READ[asked] = Expected(scoring.gold, scoring.baseline, scoring.options)
    return _READ[asked]


def _measures(metrics: Mapping[str, Tally]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for name in METRICS:
        if name in metrics:
            measures = [dict(measure.as_json()) for measure in METRICS[name].sum(metrics[name])]
            if any(measure["value"] is not None for measure in measures):
                yield name, measures


def _check(scoring: Scoring, found: Mapping[str, Any]) -> None:
    for name in scoring.metrics:
        needs = METRICS[name].needs
        if needs and name not in found:
            raise UsageError(MISSING.format(name=name, needs=needs, what=HOW[needs]))
