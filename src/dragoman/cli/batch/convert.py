"""`dragoman batch convert`: every row in another format, and what that format cannot hold."""

from __future__ import annotations

from typing import Any

import click

from ...batch.formats.table import FORMATS
from ...batch.formats.writing import check_target
from .common import ROWS, do, job_of, options_of, output_options, row_options, run_options
from .telling import tell

TARGETS = ", ".join(name for name, row in FORMATS.items() if row.write is not None)


@click.command(name="convert")
@click.argument("inputs", nargs=-1, required=True, type=ROWS)
@click.option("--to", required=True, metavar="FORMAT",
              help=f"Format to write: {TARGETS}; or sft, dpo: without what was refused, or in pairs with it.")
@click.option("--keep", type=click.Choice(["strict", "repaired", "all"]), default="all", show_default=True,
              help="Rows that are kept: right as they are, or repaired too, or all that can be read.")  # fmt: skip
@output_options
@run_options
@row_options
def command(inputs: tuple[str, ...], *, to: str, keep: str, **asked: Any) -> None:
    """Write every row of INPUTS (files, folders, stores of recordings) in FORMAT.

    Each row is read back: what does not come back is counted, and listed row by row in FILE.notes.jsonl.
    """
    check_target(to)
    told = do(inputs, job_of("convert", asked, options_of(asked, keep=keep, to=to)), asked)
    tell(told, as_json=asked["as_json"])
