"""Tables for where less counts than in visible text, made once from that of a set of dialects.

Inside reasoning, in a fence, in a segment for the reader, where no declared tool is named.  Knows marks and rows; reads
no text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache

from ...late import late_call
from ...records import field_names, replace
from ..reading.compiled import Row
from ..spec import Place, Route
from .common_marks import FENCE_SIGNS, FENCES
from .mark_starts import on_line
from .markers import NONE, SURE, Marks, Table, build, folded

ADDRESSED = ("addressed",)
BARE = ("bare",)
FENCED = ("fenced",)
NARROW = ("narrow",)


@lru_cache(maxsize=64)
def closing(closers: tuple[str, ...]) -> re.Pattern[str] | None:
    """What ends reasoning, anywhere in a text; None where nothing does."""
    return re.compile("|".join(map(re.escape, closers)), re.IGNORECASE) if closers else None


def reasoning_table(base: Table, closers: tuple[str, ...], begun: tuple[str, ...] = ()) -> Table:
    """The table inside reasoning: its closers, and the strong openers (a call may end reasoning that never closes).

    `begun` are headers without their first token, in a message whose own had lost it.
    """
    found = base.derived.get((*closers, *begun))
    if found is None:
        rows = {m: tuple(r for r in rows if r.strong) for m, rows in base.rows.items()}
        rows = {m: r for m, r in rows.items() if r}
        line = frozenset(m for m in rows if m in base.line)
        forms = {f: strong for f, rows in base.forms.items() if (strong := tuple(r for r in rows if r.strong))}
        closed = folded(closers)
        quiet = base.quiet - closed - set(rows)
        found = base.derived[(*closers, *begun)] = build(
            Marks(
                rows=rows, forms=forms, inline=base.inline & forms.keys(), unthink=closed, line=line, quiet=quiet,
                headers=frozenset(begun),
            )
        )  # fmt: skip
    return found


def bare_table(base: Table) -> Table:
    """The table of a scan that listens for the end of reasoning and for nothing else."""
    found = base.derived.get(BARE)
    if found is None:
        found = base.derived[BARE] = build(Marks(unthink=base.unthink))
    return found


def narrow_table(base: Table) -> Table:
    """The table of text in which no declared tool is named: what proves little by itself opens nothing there."""
    found = base.derived.get(NARROW)
    if found is None:
        rows = {m: strong for m, rows in base.rows.items() if (strong := tuple(r for r in rows if r.strong))}
        marks = Marks(**{name: getattr(base, name) for name in field_names(Marks)})
        marks = replace(marks, rows=rows, forms={}, inline=frozenset(), openings={}, opening_forms={}, fences=NONE)
        found = base.derived[NARROW] = build(replace(marks, line=base.line & marks.every()), SURE)
    return found


class _Fenced(Table):
    """That of a fence in which nothing counts any more."""

    @cached_property
    def line_source(self) -> str:
        """A line of a fence's marks, or one that may become that."""
        runs = "|".join(f"{fence}{fence[0]}*+" for fence in FENCES)
        return on_line(rf"(?:{runs})[ \t\r]*+(?:\n|\Z)|[{FENCE_SIGNS}]{{1,2}}\Z")


def fenced_table(base: Table) -> Table:
    """The table in a fence in which nothing counts any more: it stops where a line begins with a fence's marks."""
    found = base.derived.get(FENCED)
    if found is None:
        fences = frozenset(FENCES)
        found = base.derived[FENCED] = build(Marks(ends=fences, line=fences), made=_Fenced)
    return found


def addressed_table(base: Table) -> Table:
    """The table in a segment for the reader: a call that should stand in one for tools counts only as all of it."""
    found = base.derived.get(ADDRESSED)
    if found is None:
        rows = {m: tuple(map(_addressed, rows)) for m, rows in base.rows.items()}
        marks = Marks(**{name: getattr(base, name) for name in field_names(Marks)})
        found = base.derived[ADDRESSED] = build(replace(marks, rows=rows))
    return found


_copy: Callable[[Row], Row] = late_call("copy", "copy")


def _addressed(row: Row) -> Row:
    segments = row.dialect.segments
    if segments is None or all(to is not Route.CALLS for _, to in segments.routes):
        return row
    weaker = _copy(row)
    weaker.strong, weaker.place, weaker.addressed = False, Place.WHOLE, True
    return weaker
