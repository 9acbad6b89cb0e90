"""`dragoman batch leak`: rows of training data that stand in evaluation data."""

from __future__ import annotations

from typing import Any

import click

from ...batch.running.beforehand import check_columns
from ...batch.running.leaks import evaluation, marks
from ...batch.running.sources import sources_of
from ...batch.running.units import plan
from ...batch.running.unread import judged_raw, whole
from ..outputs import print_json
from .common import ROWS, options_of, row_options

SHOWN = 20


@click.command(name="leak")
@click.argument("train", nargs=-1, required=True, type=ROWS)
@click.option("--against", multiple=True, required=True, metavar="EVAL", type=ROWS,
              help="Evaluation data (repeatable).")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON: every pair.")
@row_options
def command(
    train: tuple[str, ...], *, against: tuple[str, ...], as_json: bool, **asked: Any
) -> None:
    """Find rows of TRAIN whose question and calls stand in EVAL; ends with code 1 where there are any.

    Shared tools are no leak.  `dragoman batch clean --without EVAL` leaves such rows out.
    """
    options = options_of(asked)
    units = plan(sources_of(train))
    check_columns(units, options)
    known = dict(evaluation(against, options))
    pairs, count = [], 0
    for unit in units:
        for raw in whole(unit, options.max_row):
            count += 1
            outcome = judged_raw(raw, unit.source, options)
            found = next((known[mark] for mark in marks(outcome) if mark in known), "")
            if found:
                pairs.append({"train": f"{unit.source}:{raw.offset}", "eval": found, "row_id": outcome.id})
    if as_json:
        print_json({"rows": count, "leaks": len(pairs), "pairs": pairs})
    else:
        click.echo(f"{len(pairs):,} of {count:,} rows stand in the evaluation data")
        for pair in pairs[:SHOWN]:
            click.echo(f"{pair['train']}  is  {pair['eval']}")
    if pairs:
        click.get_current_context().exit(1)
