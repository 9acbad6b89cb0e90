"""All rows that listen, prepared once: which marker may open which dialect, and what else the scanner stops at.

Knows rows and marker spellings; does not read text.  Tables are cached per set of dialects.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from ..text import prefixes_of
from .row import Row
from .spec import Dialect, Place, Strength

THINK: dict[str, tuple[str, ...]] = {
    "<think>": ("</think>",),
    "<thinking>": ("</thinking>", "</think>"),
    "<thought>": ("</thought>", "</think>"),
    "<reasoning>": ("</reasoning>",),
    "<scratch_pad>": ("</scratch_pad>",),
    "<scratchpad>": ("</scratchpad>",),
    "<reflection>": ("</reflection>",),
    "[THINK]": ("[/THINK]",),
    "◁think▷": ("◁/think▷",),
}
"""Reasoning tags that stand in front of any dialect (formats.md 4.3); families add their own in `Dialect.reasoning`."""

QUIET = (
    "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>", "<｜end▁of▁sentence｜>", "</s>",
    "<|end_of_turn|>", "<end_of_turn>", "<|END_OF_TURN_TOKEN|>", "<|return|>", "<|endofprompt|>",
)
"""End tokens that leak into text (formats.md 5)."""

FOREIGN_TURN = ("<|start_header_id|>", "<|im_start|>", "<start_of_turn>", "<|START_OF_TURN_TOKEN|>", "<｜User｜>")
"""Tokens that open another turn: what follows was not asked for (judge-rules.md 7)."""

FABRICATED = (
    "<function_results>", "<tool_response>", "<tool_result>", "<tool_results>", "<tool_output>", "<function_result>",
    "<function_response>", "[TOOL_RESULTS]", "~~~tool_result", "```tool_result", "```tool_output", "```function_output",
    "<｜tool▁outputs▁begin｜>", "<|tool_response>", "Observation:",
)
"""What a tool's answer looks like: written by the model after its own call, it is invented (judge-rules.md 7)."""

FENCES = ("```", "~~~")
LINE_MARKS = frozenset({*FENCES, "observation:", "~~~tool_result", "```tool_result", "```tool_output", "```function_output"})
"""Marks of no dialect that count only first on their line."""


@dataclass(frozen=True, slots=True)
class Table:
    """What the scanner needs, for one set of dialects.

    `rows` maps a marker (case-folded) to the rows it may open, in order; `line` are markers that count only first on
    their line.  `lead` finds a character that begins any other marker, `line_lead` a line that begins with one that
    begins a `line` marker, `any_lead` either character anywhere.
    """

    lead: re.Pattern[str]
    marker: re.Pattern[str]
    prefixes: frozenset[str]
    longest: int
    rows: dict[str, tuple[Row, ...]]
    think: dict[str, tuple[str, ...]]
    unthink: frozenset[str]
    quiet: frozenset[str]
    turns: frozenset[str]
    fabricated: frozenset[str]
    fences: frozenset[str]
    line: frozenset[str]
    line_lead: re.Pattern[str]
    any_lead: re.Pattern[str]
    closers: dict[tuple[str, ...], Table] = field(default_factory=dict)


_TABLES: dict[tuple[int, bool, bool], tuple[tuple[Dialect, ...], Table]] = {}


def table(dialects: tuple[Dialect, ...], *, calls: bool, weak: bool) -> Table:
    """The table of these dialects; `calls` False listens for reasoning only, `weak` False leaves weak openers out.

    The very tuple that was asked for before is found without comparing fifty rows.
    """
    key = (id(dialects), calls, weak)
    found = _TABLES.get(key)
    if found is None or found[0] is not dialects:
        if len(_TABLES) > 512:
            _TABLES.clear()
        found = _TABLES[key] = (dialects, _table(dialects, calls, weak))
    return found[1]


@lru_cache(maxsize=256)
def _table(dialects: tuple[Dialect, ...], calls: bool, weak: bool) -> Table:
    rows = [Row(d) for d in dialects if calls and (weak or d.strength is Strength.STRONG)]
    by_marker: dict[str, list[Row]] = {}
    for row in rows:
        for opener in row.openers:
            by_marker.setdefault(opener.casefold(), []).append(row)
    think = {k.casefold(): v for k, v in THINK.items()}
    for dialect in dialects:
        for reasoning in dialect.reasoning:
            think |= {o.casefold(): reasoning.close for o in reasoning.open}
    closers = {c for row in rows for c in row.call_close + row.section_close if len(c) > 4 and c[0] in "<["}
    families = {q for d in dialects for q in d.quiet}
    quiet = ({*QUIET, *closers, *families} if calls else set(QUIET)) - set(by_marker)
    return _build(
        {k: tuple(v) for k, v in by_marker.items()},
        think=think,
        unthink=frozenset(c.casefold() for cs in think.values() for c in cs),
        quiet=frozenset(q.casefold() for q in quiet),
        turns=frozenset(t.casefold() for t in FOREIGN_TURN) if calls else frozenset(),
        fabricated=frozenset(f.casefold() for f in FABRICATED) if calls else frozenset(),
        fences=frozenset(FENCES) if calls and weak else frozenset(),
        line=_line_only(by_marker),
    )


def _line_only(by_marker: dict[str, list[Row]]) -> frozenset[str]:
    """Markers that count only first on their line: every row they open says so."""
    return frozenset(m for m, rows in by_marker.items() if all(r.place is not Place.INLINE for r in rows)) | LINE_MARKS


def reasoning_table(base: Table, closers: tuple[str, ...]) -> Table:
    """The table inside reasoning: its closers, and the strong openers (a call may end reasoning that never closes)."""
    found = base.closers.get(closers)
    if found is None:
        rows = {m: tuple(r for r in rows if r.strong) for m, rows in base.rows.items()}
        rows = {m: r for m, r in rows.items() if r}
        empty: frozenset[str] = frozenset()
        found = base.closers[closers] = _build(
            rows, think={}, unthink=frozenset(c.casefold() for c in closers), quiet=empty, turns=empty,
            fabricated=empty, fences=empty, line=frozenset(m for m in rows if m in base.line),
        )
    return found


def _build(
    rows: dict[str, tuple[Row, ...]],
    *,
    think: dict[str, tuple[str, ...]],
    unthink: frozenset[str],
    quiet: frozenset[str],
    turns: frozenset[str],
    fabricated: frozenset[str],
    fences: frozenset[str],
    line: frozenset[str],
) -> Table:
    markers = {*rows, *think, *unthink, *quiet, *turns, *fabricated, *fences}
    ordered = sorted(markers, key=len, reverse=True)
    inline, at_line = _leads(markers - line), _leads(markers & line)
    return Table(
        lead=re.compile(f"[{inline}]" if inline else r"(?!)"),
        line_lead=re.compile(rf"\n[ \t\r]*(?=[{at_line}])" if at_line else r"(?!)"),
        any_lead=re.compile(f"[{inline}{at_line}]" if inline or at_line else r"(?!)"),
        marker=re.compile("|".join(map(re.escape, ordered)) or r"(?!)", re.IGNORECASE),
        prefixes=prefixes_of(ordered),
        longest=max(map(len, ordered), default=1),
        rows=rows,
        think=think,
        unthink=unthink,
        quiet=quiet,
        turns=turns,
        fabricated=fabricated,
        fences=fences,
        line=line,
    )


def _leads(markers: set[str] | frozenset[str]) -> str:
    """The first characters of these markers, in either case, for a character class."""
    return re.escape("".join(sorted({c for m in markers for c in (m[0], m[0].upper())})))
