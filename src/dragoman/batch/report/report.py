"""The report of a run as JSON: the summary, the scores, the files, and what changed since another report.

Knows summaries and scores; nothing of files or pages.
Contract: the JSON says nothing of the hour or the machine but under `run`, which `changes` leaves alone: two runs over
the same rows with the same options have equal reports but for `run`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...version import __version__
from ..scores.compare import differences
from .summary import Summary

GOOD = frozenset({"rows/kept", "verdicts/ok"})
BAD = frozenset({"rows/set_aside", "verdicts/refused", "verdicts/broken"})
"""Counts of which more is better, and of which more is worse."""


def report(
    *,
    summary: Summary | None = None,
    scores: Mapping[str, Any] | None = None,
    compared: Sequence[Mapping[str, Any]] = (),
    command: str = "",
    inputs: Sequence[Mapping[str, Any]] = (),
    outputs: Sequence[Mapping[str, Any]] = (),
    run: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A report: what there is of counts, scores (group → metric → measures), comparisons and files.

    `inputs` and `outputs` are objects with `name`, `bytes` and `sha256`; `run` says how it went (seconds, workers).
    """
    told: dict[str, Any] = {"dragoman": "report", "version": __version__, "command": command}
    if summary is not None:
        told["summary"] = summary.as_json()
    if scores is not None:
        told["scores"] = scores
    parts = {"compared": list(compared), "inputs": list(inputs), "outputs": list(outputs), "run": run}
    return told | {name: part for name, part in parts.items() if part}


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What differs between two reports: counts of rows, verdicts, codes and calls, and scores."""
    rows = [
        {"name": name, "before": then, "after": count, "way": _way(name, count - then)}
        for name, then, count in _counts(before.get("summary", {}), now.get("summary", {}))
        if then != count
    ]
    return rows + [
        {"name": one.name, "before": one.before, "after": one.after, "way": _sign(one.by)}
        for one in differences(before, now)
        if one.before != one.after
    ]


def _counts(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    for table in ("rows", "verdicts", "calls", "codes"):
        old, new = before.get(table, {}), now.get(table, {})
        for name in sorted({*old, *new}):
            yield f"{table}/{name}", old.get(name, 0), new.get(name, 0)


def _way(name: str, change: int) -> str:
    return _sign(change if name in GOOD else -change if name in BAD else 0)


def _sign(by: float) -> str:
    return "better" if by > 0 else "worse" if by < 0 else ""
