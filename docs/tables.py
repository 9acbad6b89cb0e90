"""Write the tables of docs/*.md that are made from rows: `python docs/tables.py` (tests check that they are current).

Each table stands between `<!-- table:NAME -->` and `<!-- /table:NAME -->`; the rest of a page is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from dragoman import codecs, dialects

FOLDER = Path(__file__).parent


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def code(text: str) -> str:
    """Text as inline code that a table cell can hold."""
    shown = text.replace("\n", "⏎").replace("|", "\\|")
    ticks = "``" if "`" in shown else "`"
    return f"{ticks} {shown} {ticks}" if ticks == "``" else f"`{shown}`"


def _dialects() -> str:
    return table(
        ["dialect", "also", "opener", "notation", "a call", "source"],
        (
            [
                f"`{name}`",
                ", ".join(f"`{a}`" for a in row.aliases),
                str(row.strength),
                type(row.args).__name__,
                code(row.sample) if row.sample else "",
                row.source,
            ]
            for name, row in dialects.items()
        ),
    )


def _codecs() -> str:
    return table(["codec", "path", "frames"], ([f"`{c.name}`", f"`{c.path}`", str(c.frames)] for c in codecs.values()))


TABLES: dict[str, tuple[str, Callable[[], str]]] = {
    "dialects": ("dialects.md", _dialects),
    "codecs": ("codecs.md", _codecs),
}


def renewed(name: str) -> tuple[Path, str]:
    """A page, and what it should hold with the table `name` made anew."""
    file, make = TABLES[name]
    page = FOLDER / file
    pattern = re.compile(f"(<!-- table:{name} -->\n).*?(<!-- /table:{name} -->)", re.DOTALL)
    return page, pattern.sub(lambda m: f"{m[1]}{make()}\n{m[2]}", page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for name in TABLES:
        page, text = renewed(name)
        page.write_text(text, encoding="utf-8")
