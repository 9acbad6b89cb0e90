"""`dragoman batch inspect`: what a corpus is, told by a sample of its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import click

from ...batch.codes import CODES
from ...batch.judging.row_judge import Outcome
from ...batch.result import RowVerdict
from ...batch.running.beforehand import check_columns
from ...batch.running.sources import Source, described, sources_of
from ...batch.running.tally import Tally
from ...batch.running.units import Unit, plan, rows
from ...batch.running.unread import judged_raw
from ..outputs import print_json, print_table
from ..progress import one_line
from .common import ROWS, options_of, row_options
from .telling import end_unread

SAMPLE = 1000
SHOWN_ROWS = 5
BAD = frozenset({RowVerdict.BROKEN, RowVerdict.REFUSED})


@click.command(name="inspect")
@click.argument("inputs", nargs=-1, required=True, type=ROWS)
@click.option("--sample", default=SAMPLE, show_default=True, metavar="N", help="Rows that are looked at.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@row_options
def command(inputs: tuple[str, ...], *, sample: int, as_json: bool, **asked: Any) -> None:
    """Say what the rows of INPUTS (files, folders, stores of recordings) are.

    The rows are taken from the beginning, the middle and the end of what is there.
    """
    options = options_of(asked)
    sources = sources_of(inputs)
    units = plan(sources, size=1 << 20)
    check_columns(units, options)
    outcomes = [judged_raw(raw, unit.source, options) for unit, raw in _sampled(units, sample)]
    told = summary(sources, outcomes)
    if as_json:
        print_json(told)
    else:
        _show(told)
    end_unread(told["unreadable"])


def _sampled(units: list[Unit], sample: int) -> Iterator[tuple[Unit, Any]]:
    chosen = units if len(units) <= 16 else [units[i * (len(units) - 1) // 15] for i in range(16)]
    share = -(-sample // max(1, len(chosen)))
    left = sample
    for unit in chosen:
        for raw in islice(rows(unit, 1 << 26), min(share, left)):
            left -= 1
            yield unit, raw


def summary(sources: list[Source], outcomes: list[Outcome]) -> dict[str, Any]:
    """What is told of a sample, as plain data."""
    bad = [one for one in outcomes if one.verdict in BAD]
    return {
        "files": len(sources), "bytes": sum(described(one)["bytes"] for one in sources), "rows": len(outcomes),
        "formats": dict(Counter(one.form.name if one.form else "unknown" for one in outcomes).most_common()),
        "verdicts": dict(Counter(str(one.verdict) for one in outcomes).most_common()),
        "calls": sum(len(one.every_call) for one in outcomes),
        "tools": len({name for one in outcomes for name in _names(one)}),
        "dialects": dict(Counter(c.dialect for one in outcomes for c in one.every_call if c.dialect).most_common()),
        "codes": dict(Counter(code for one in outcomes for code in one.codes).most_common()),
        "bad": [_shown(one) for one in bad[:SHOWN_ROWS]], "unreadable": _unreadable(outcomes),
    }  # fmt: skip


def _unreadable(outcomes: list[Outcome]) -> dict[str, str]:
    """File → why it cannot be read to its end."""
    total = Tally()
    for outcome in outcomes:
        total.judged(outcome)
    return total.unreadable


def _names(one: Outcome) -> set[str]:
    return {call.name for call in one.every_call if call.declared}


def _shown(one: Outcome) -> dict[str, Any]:
    finding = one.findings[0] if one.findings else None
    return {
        "row_id": one.id, "source": one.source, "offset": one.offset, "verdict": str(one.verdict),
        "codes": list(one.codes),
        "path": finding.path if finding else "", "message": finding.message if finding else "",
    }  # fmt: skip


def _show(told: dict[str, Any]) -> None:
    click.echo(f"{told['rows']:,} rows of {told['files']} files ({told['bytes']:,} bytes) were looked at")
    for name in ("formats", "verdicts", "dialects"):
        if told[name]:
            click.echo(f"{name:<9} " + ", ".join(f"{key} {count:,}" for key, count in told[name].items()))
    click.echo(f"calls     {told['calls']:,} of {told['tools']:,} tools")
    if told["codes"]:
        lines = [(code, f"{count:,}", CODES[code].means) for code, count in told["codes"].items()]
        print_table(("code", "rows", "means"), lines)
    for row in told["bad"]:
        click.secho(f"{row['verdict']}  {row['source']} at {row['offset']}", fg="red", nl=False)
        click.echo(f"  {', '.join(row['codes'])}: {row['path']} {one_line(row['message'])}")
