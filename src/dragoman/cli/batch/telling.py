"""What the commands of `dragoman batch` say of a run when it is over.

Knows manifests; nothing of how a run goes.  Contract: stdout has what was counted, stderr what is wrong with the files
themselves, and with such a file a command ends with code 1, for nobody knows how many rows were in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ...batch.codes import CODES
from ..outputs import print_json, print_table

UNREADABLE = "{file} cannot be read {why}; what stands before was read, the rest was not"


def tell(told: Mapping[str, Any], *, as_json: bool) -> None:
    """What came of a run; ends the command with code 1 where a file could not be read to its end."""
    if as_json:
        print_json(told)
    else:
        _show(told)
    end_unread(told["totals"].get("unreadable", {}))


def end_unread(files: Mapping[str, str]) -> None:
    """Say of each file why it could not be read to its end; where there is one, end with code 1."""
    for file, why in files.items():
        click.echo(UNREADABLE.format(file=file, why=why), err=True)
    if files:
        click.get_current_context().exit(1)


def _show(told: Mapping[str, Any]) -> None:
    totals = told["totals"]
    click.echo(", ".join([_fates(told), *(f"{count:,} dropped ({why})" for why, count in totals["dropped"].items())]))
    for table in ("formats", "verdicts", "dialects"):
        if totals[table]:
            click.echo(f"{table:<9} " + ", ".join(f"{key} {count:,}" for key, count in totals[table].items()))
    if totals["calls"]:
        calls = totals["calls"]
        valid = f"{calls['valid_before']:,} valid, {calls['valid_after']:,} after repair"
        click.echo(f"calls     {calls['all']:,}: {valid}")
    if totals["codes"]:
        print_table(("code", "rows", "means"), _coded(totals["codes"]))
    if totals["losses"]:
        print_table(("not held", "rows"), [(path, f"{n:,}") for path, n in totals["losses"].items()])
    for place, file in told["outputs"].items():
        click.echo(f"{place}  {file['bytes']:,} bytes")


def _fates(told: Mapping[str, Any]) -> str:
    """How many rows there were, and what became of them; of `lint`, which writes nothing, what would."""
    totals = told["totals"]
    read, kept, aside = (f"{totals[name]:,}" for name in ("read", "kept", "aside"))
    if told["dragoman"]["command"] == "lint":
        return f"{read} rows read: `clean` would keep {kept} and set {aside} aside"
    return f"{read} rows read: {kept} kept, {aside} set aside"


def _coded(codes: Mapping[str, int]) -> list[tuple[str, str, str]]:
    ordered = sorted(codes.items(), key=lambda each: (-each[1], each[0]))
    return [(code, f"{count:,}", CODES[code].means) for code, count in ordered]
