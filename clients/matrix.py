"""Tables of docs/clients.md in which one column is a program and one row what it went through.

Knows Markdown; nothing of programs, of what was run or how it went.
Contract: what is put in stands where its like stood, all else stays; cells of another version of a program are gone,
for nobody knows whether they are still true.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROW = ("upstream", "dialect")
NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Entry:
    """One cell: of which program and version, in which row, and what it says."""

    program: str
    version: str
    row: tuple[str, str]
    says: str


class Matrix:
    """The table called `name` on `page`; `rows` is the order of its rows."""

    def __init__(self, page: Path, name: str, rows: Sequence[tuple[str, str]]) -> None:
        self._page, self._name, self._rows = page, name, rows

    def put(self, entry: Entry) -> None:
        """Write `entry` into the page."""
        text = self._page.read_text(encoding="utf-8")
        found = re.search(rf"<!-- table:{self._name} -->\n(.*?)<!-- /table:{self._name} -->", text, re.DOTALL)
        if found is None:
            raise SystemExit(f"{self._page} has no table {self._name}")
        table = _put(_read(found[1]), entry)
        self._page.write_text(text[: found.start(1)] + self._written(table) + text[found.end(1) :], encoding="utf-8")

    def _written(self, table: _Table) -> str:
        known = {row for column in table.values() for row in column}
        rows = [row for row in self._rows if row in known] + sorted(known - {*self._rows})
        lines = [[*ROW, *(f"{name} {version}" for name, version in table)], ["---"] * (2 + len(table))]
        lines += [[*row, *(column.get(row, NOT_RUN) for column in table.values())] for row in rows]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)


_Table = dict[tuple[str, str], dict[tuple[str, str], str]]
"""Of each program and version, what each of its rows says."""


def _read(text: str) -> _Table:
    lines = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines()]
    if not lines:
        return {}
    names = [tuple(head.rsplit(" ", 1)) for head in lines[0][2:]]
    table: _Table = {(name[0], name[-1]): {} for name in names}
    for upstream, dialect, *cells in lines[2:]:
        for column, cell in zip(table.values(), cells, strict=True):
            if cell != NOT_RUN:
                column[upstream, dialect] = cell
    return table


def _put(table: _Table, entry: Entry) -> _Table:
    says = entry.says.replace("|", "\\|").replace("\n", " ")
    kept = {(n, v): cells for (n, v), cells in table.items() if n != entry.program or v == entry.version}
    cells = {**kept.get((entry.program, entry.version), {}), entry.row: says}
    at = [name for name, _ in table]
    order = at if entry.program in at else [*at, entry.program]
    new = {**kept, (entry.program, entry.version): cells}
    return dict(sorted(new.items(), key=lambda column: order.index(column[0][0])))
