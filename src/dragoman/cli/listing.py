"""`dragoman list`: the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from ..codecs import CODECS
from ..codecs.shared.errors import ADVICE
from ..dialects import DIALECTS
from ..providers.rows import PROVIDERS
from ..tools import advice
from .error_words import CODES, EXCEPTIONS, ISSUES, KINDS, LIMITS, Explained
from .outputs import print_json, print_table

Rows = list[dict[str, Any]]


def _dialects() -> Rows:
    return [
        {
            "name": row.name,
            "aliases": list(row.aliases),
            "strength": row.strength.value,
            "place": row.place.value,
            "sample": row.sample,
            "source": row.source,
        }
        for row in dict.fromkeys(DIALECTS.values())
    ]


def _codecs() -> Rows:
    return [
        {"name": row.name, "path": row.path, "stream_path": row.stream_path, "frames": row.frames.value}
        for row in CODECS.values()
    ]


def _providers() -> Rows:
    return [
        {
            "name": row.name,
            "aliases": list(row.aliases),
            "codec": row.codec,
            "base_url": row.base_url,
            "key": list(row.auth.env),
            "url_env": list(row.url_env),
            "tools": row.tools.value,
            "rests_on": [one.kind.value for one in row.evidence],
            "lacks": list(row.lacks),
            "docs": row.docs,
            "evidence": [{"kind": one.kind.value, "address": one.address, "read": one.read} for one in row.evidence],
        }
        for row in PROVIDERS.values()
    ]


def _errors() -> Rows:
    kinds = {kind: Explained(means, ADVICE[kind]) for kind, means in KINDS.items()}
    codes = {code: Explained(means, advice(code)) for code, means in CODES.items()}
    tables: dict[str, Mapping[Any, Explained]] = {
        "exception": EXCEPTIONS, "provider": kinds, "issue": ISSUES, "tool": codes, "limit": LIMITS,
    }  # fmt: skip
    return [
        {"of": of, "name": str(name), "means": row.means, "do": row.do}
        for of, rows in tables.items()
        for name, row in rows.items()
    ]


TABLES: Mapping[str, Callable[[], Rows]] = {
    "dialects": _dialects,
    "codecs": _codecs,
    "providers": _providers,
    "errors": _errors,
}
SHOWN: dict[str, tuple[str, ...]] = {
    "dialects": ("name", "aliases", "strength", "source"),
    "codecs": ("name", "path", "frames"),
    "providers": ("name", "codec", "base_url", "key", "tools", "rests_on"),
    "errors": ("of", "name", "means", "do"),
}


@click.command(name="list")
@click.argument("table", type=click.Choice(list(TABLES)))
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every field.")
def command(table: str, as_json: bool) -> None:
    """List the rows of TABLE."""
    rows = TABLES[table]()
    if as_json:
        print_json(rows)
        return
    head = SHOWN[table]
    print_table(head, ([_cell(row[key]) for key in head] for row in rows))


def _cell(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
