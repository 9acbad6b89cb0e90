"""A dialect's row on the terminal: a label and the marks on each line."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ..dialects.spec import Dialect, Span


def lines(row: Dialect) -> Iterator[str]:
    """The row in columns, without what it does not have."""
    yield click.style(f"dialect    {row.name}", bold=True)
    yield from (f"{label:<10} {text}" for label, text in _marks(row))


def _marks(row: Dialect) -> Iterator[tuple[str, str]]:
    """What the row has, by label."""
    for label, span in (("section", row.section), ("call", row.call), ("tool", row.tool), ("body", row.body)):
        if span.open or span.close:
            yield label, _span(span)
    yield "arguments", type(row.args).__name__ + ("" if row.listing.value == "repeat" else f", in an {row.listing}")
    yield from (("reasoning", _span(span)) for span in row.reasoning)
    if row.result:
        yield "results", shown(row.result)
    if row.strength.value == "weak":
        yield "strength", "weak: a call only alone, at the end, by a declared name"


def _span(span: Span) -> str:
    return " … ".join(shown(side[0]) if side else "" for side in (span.open, span.close)).strip()


def shown(text: str) -> str:
    """Text on one line."""
    return text.replace("\n", "⏎")
