"""`dragoman batch clean`: the rows that are right or can be made right, and the others with their reasons."""

from __future__ import annotations

from typing import Any

import click

from ...batch.formats.writing import check_target
from .common import ROWS, do, job_of, options_of, output_options, row_options, run_options
from .telling import tell


@click.command(name="clean")
@click.argument("inputs", nargs=-1, required=True, type=ROWS)
@click.option("--keep", type=click.Choice(["strict", "repaired", "all"]), default="repaired", show_default=True,
              help="Rows that are kept: right as they are, or repaired too, or all that can be read.")  # fmt: skip
@click.option("--to", metavar="FORMAT",
              help="Write this format, or sft or dpo for training; default: each row in its own.")  # fmt: skip
@output_options
@run_options
@row_options
def command(inputs: tuple[str, ...], *, keep: str, to: str | None, **asked: Any) -> None:
    """Judge and repair every row of INPUTS (files, folders, stores of recordings).

    Kept rows go to FILE, the others to FILE.aside.jsonl with their reasons, what was changed to FILE.notes.jsonl, and
    what was done to FILE.manifest.json.  A row that is right as it is is kept byte for byte.
    """
    if to:
        check_target(to)
    told = do(inputs, job_of("clean", asked, options_of(asked, keep=keep, to=to or "")), asked)
    tell(told, as_json=asked["as_json"])
