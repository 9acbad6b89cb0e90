"""The report of a corpus as one HTML file: no script, no network, nothing beside it.

Knows a report's JSON; nothing of how it was counted.
Contract: every figure on the page stands in the JSON; whatever the rows hold, the page shows it as text; the same JSON
makes the same page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from ..codes import CODES
from ..result import RowVerdict
from ..scores.metrics import METRICS
from .plots import histogram, measured, stacked
from .summary import Summary

MOST_LINES = 40
"""Lines of a table on the page; the JSON has them all."""
TITLES: Mapping[str, str] = {
    "format": "Formats", "model": "Models", "dialect": "Dialects of calls", "tool": "Tools called",
    "undeclared": "Undeclared names, and the nearest declared one",
}  # fmt: skip
VALIDITY: Sequence[tuple[str, str]] = (
    ("arguments are JSON, as written", "json_before"), ("arguments are JSON, repaired", "json_after"),
    ("call is valid, as written", "valid_before"), ("call is valid, repaired", "valid_after"),
)  # fmt: skip


def page(report: Mapping[str, Any], title: str = "Tool calls of a corpus") -> str:
    """The page of a report (`report.report`)."""
    summary = Summary(report["summary"]) if "summary" in report else None
    return _template().render(
        title=title, report={"command": "", "compared": None, "inputs": [], "outputs": [], **report},
        summary=report.get("summary"), verdicts=list(RowVerdict), scores=list(_scores(report)),
        changed=list(_changed(report)), **(_shown(summary) if summary is not None else {}),
    )  # fmt: skip


@cache
def _template() -> Template:
    loader = PackageLoader("dragoman.batch.report", "")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined).get_template("page.html.j2")


def _shown(summary: Summary) -> dict[str, Any]:
    parts = [(str(verdict), summary.verdicts[verdict]) for verdict in RowVerdict]
    every = summary.calls["all"]
    validity = [(name, summary.calls[key] / every, None) for name, key in VALIDITY] if every else []
    return {
        "parts": parts,
        "bars": {
            "verdicts": Markup(stacked(parts)),
            "validity": Markup(measured(validity)),
            "sizes": [(unit, Markup(histogram(sizes, unit))) for unit, sizes in summary.sizes.items() if sizes],
        },
        "codes": list(_codes(summary)),
        "tables": list(_tables(summary)),
    }  # fmt: skip


def _codes(summary: Summary) -> Iterator[dict[str, Any]]:
    for code, count in sorted(summary.codes.items(), key=lambda pair: (-pair[1], pair[0])):
        meaning = CODES.get(code)
        yield {
            "name": code, "count": count, "examples": summary.examples[code],
            "means": meaning.means if meaning else "", "do": meaning.do if meaning else "",
        }  # fmt: skip


def _tables(summary: Summary) -> Iterator[dict[str, Any]]:
    for name, table in summary.tables.items():
        rows = list(table.as_json().items())
        if not rows:
            continue
        shown = rows[:MOST_LINES]
        marks = Counter[str]()
        for _, counts in shown:
            marks.update(counts)
        columns = [mark for mark, _ in marks.most_common(6)]
        yield {
            "name": name, "title": TITLES[name], "columns": columns, "more": len(rows) - len(shown),
            "rows": [(word, sum(counts.values()), [counts.get(mark, 0) for mark in columns]) for word, counts in shown],
        }  # fmt: skip


def _scores(report: Mapping[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for group, metrics in report.get("scores", {}).items():
        yield group, [_metric(name, measures) for name, measures in metrics.items()]


def _metric(name: str, measures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    drawn = [
        (one["name"], one["value"], tuple(one["interval"]) if one["interval"] else None)
        for one in measures
        if one["value"] is not None
    ]
    definition = METRICS[name].definition if name in METRICS else ""
    return {"name": name, "definition": definition, "measures": measures, "plot": Markup(measured(drawn))}


def _changed(report: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for row in report.get("changed", {}).get("rows", ()):
        change = row["after"] - row["before"]
        whole = isinstance(row["before"], int) and isinstance(row["after"], int)
        form = "{:,}" if whole else "{:.4f}"
        yield {
            "name": row["name"], "before": form.format(row["before"]), "after": form.format(row["after"]),
            "change": f"{'+' if change > 0 else ''}{form.format(change)}", "way": row.get("way", ""),
        }  # fmt: skip
