"""`dragoman batch score`: how well answers call tools, against gold, another set of answers, or their own schemas."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from ...batch.report.report import changes, report
from ...batch.running.scoring import GROUPS, Scoring, score
from ...batch.scores.compare import differences, regressions
from ...batch.scores.metrics import METRICS
from ..interrupts import interruptible
from ..outputs import print_json, print_table
from .common import ROWS, options_of, row_options
from .reports import check_reports, earlier, write_report


def _define(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        for metric in METRICS.values():
            click.echo(f"{metric.name}: {metric.definition}\n")
        ctx.exit(0)


@click.command(name="score")
@click.argument("pred", nargs=-1, required=True, type=ROWS)
@click.option("--gold", multiple=True, metavar="FILE", type=ROWS,
              help="What is right: questions with tools, possible answers, or right conversations (repeatable).")
@click.option("--baseline", multiple=True, metavar="FILE", type=ROWS,
              help="Answers of another model or server to the same questions (repeatable).")
@click.option("--metric", "metrics", multiple=True, type=click.Choice(list(METRICS)),
              help="A score (repeatable). Default: all that the rows allow.")
@click.option("--by", type=click.Choice(list(GROUPS)), help="Scores for each of these too.")
@click.option("--diff", type=click.Path(exists=True, dir_okay=False), metavar="OLD.json",
              help="Compare with an earlier --json or --report; end with code 1 where a score is worse.")
@click.option("--tolerance", type=click.FloatRange(0, 1), default=0.0, show_default=True,
              help="How much worse is not yet worse.")
@click.option("--fail-under", multiple=True, metavar="NAME=SHARE",
              help="End with code 1 where a score is below (repeatable), as schema_validity_after_repair=0.95.")
@click.option("--report", "reports", multiple=True, metavar="FILE", type=click.Path(dir_okay=False),
              help="Write the report: .html for people, .json for programs (repeatable).")
@click.option("--workers", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="one a CPU", metavar="N",
              help="Processes that work.")
@click.option("--definitions", is_flag=True, is_eager=True, expose_value=False, callback=_define,
              help="Print what each score counts, and end.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@row_options
def command(
    pred: tuple[str, ...], *, gold: tuple[str, ...], baseline: tuple[str, ...], metrics: tuple[str, ...],
    by: str | None, diff: str | None, tolerance: float, fail_under: tuple[str, ...], reports: tuple[str, ...],
    workers: int, as_json: bool, **asked: Any,
) -> None:  # fmt: skip
    """Score the answers in PRED (files, folders, stores of recordings).

    Text is read and repaired as `clean` would; schema scores say both, before and after repair.
    """
    check_reports(reports, map(Path, (*pred, *gold, *baseline)))
    old = earlier(diff) if diff else None
    floors = dict(map(_floor, fail_under))
    scoring = Scoring(options=options_of(asked), metrics=metrics, gold=gold, baseline=baseline, by=by or "")
    with interruptible():
        told = score(pred, scoring, workers)
    made = report(scores=told["scores"], compared=told["compared"], run={"rows": told["rows"]})
    if old is not None:
        made["changed"] = {"against": diff, "rows": changes(old, made)}
    for path in reports:
        write_report(path, made)
    if as_json:
        print_json(made)
    else:
        _tell(made, told["rows"])
    worse = regressions(differences(old, made), tolerance) if old is not None else []
    wrong = [f"{one.name} fell from {one.before:.4f} to {one.after:.4f}" for one in worse]
    wrong += list(_below(told["scores"].get("", {}), floors))
    for words in wrong:
        click.echo(words, err=True)
    if wrong:
        click.get_current_context().exit(1)


def _floor(given: str) -> tuple[str, float]:
    name, _, value = given.partition("=")
    try:
        return name, float(value)
    except ValueError:
        raise click.BadParameter(f"--fail-under takes NAME=SHARE, as in bfcl_ast=0.8, not {given!r}") from None


def _below(scores: Mapping[str, Any], floors: Mapping[str, float]) -> Iterator[str]:
    found = {one["name"]: one["value"] for measures in scores.values() for one in measures}
    for name, floor in floors.items():
        value = found.get(name)
        if value is None:
            yield f"{name} was not measured; it cannot be shown to be {floor} or more (scores: {', '.join(found)})"
        elif value < floor:
            yield f"{name} is {value:.4f}, below {floor}"


def _tell(made: Mapping[str, Any], rows: Mapping[str, int]) -> None:
    click.echo(f"{rows['scored']:,} of {rows['read']:,} rows scored")
    for group, metrics in made["scores"].items():
        lines = [
            (name if first == 0 else "", one["name"], *_shown(one))
            for name, measures in metrics.items()
            for first, one in enumerate(measures)
            if one["value"] is not None
        ]
        if group:
            click.echo(f"\n{group}")
        print_table(("score", "measure", "value", "95 % interval", "of", "excluded"), lines)
    if made.get("compared"):
        click.echo("")
        lines = [(one["name"], *(f"{one[way]:,}" for way in ("better", "worse", "same")), f"{one['chance']:.4f}")
                 for one in made["compared"]]  # fmt: skip
        print_table(("against the baseline", "better", "worse", "same", "by chance"), lines)
    for one in made.get("changed", {}).get("rows", ()):
        click.echo(f"{one['name']}: {one['before']} → {one['after']} {one['way']}".rstrip())


def _shown(one: Mapping[str, Any]) -> tuple[str, str, str, str]:
    interval = "" if one["interval"] is None else f"{one['interval'][0]:.4f} to {one['interval'][1]:.4f}"
    of = f"{one['numerator']:,} / {one['denominator']:,}"
    return f"{one['value']:.4f}", interval, of, f"{one['excluded']:,}" if one["excluded"] else ""
