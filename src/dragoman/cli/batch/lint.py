"""`dragoman batch lint`: every row judged, nothing written."""

from __future__ import annotations

from typing import Any

import click

from ...batch.codes import CODES, Weight
from .common import ROWS, do, job_of, options_of, row_options, run_options
from .telling import tell

WEIGHTS = {"error": Weight.ERROR, "warning": Weight.WARNING, "note": Weight.NOTE}


@click.command(name="lint")
@click.argument("inputs", nargs=-1, required=True, type=ROWS)
@click.option("--fail-on", multiple=True, metavar="WHAT",
              help="End with code 1 where this was found: error, warning, note, or a code (repeatable).")  # fmt: skip
@run_options
@row_options
def command(inputs: tuple[str, ...], *, fail_on: tuple[str, ...], **asked: Any) -> None:
    """Judge every row of INPUTS (files, folders, stores of recordings) and say what was found."""
    wrong = [what for what in fail_on if what not in WEIGHTS and what not in CODES]
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} is neither error, warning, note nor a code (docs/batch.md lists them)")
    told = do(inputs, job_of("lint", asked, options_of(asked)), asked)
    tell(told, as_json=asked["as_json"])
    if any(_counts(code, what) for code in told["totals"]["codes"] for what in fail_on):
        click.get_current_context().exit(1)


def _counts(code: str, what: str) -> bool:
    return code == what or (what in WEIGHTS and CODES[code].weight >= WEIGHTS[what])
