"""Notations in which every argument is markup of its own: `<parameter=city>Oslo</parameter>`, `<city>Oslo</city>`.

Declared keys behind a declared name are compared by what stands right before and behind each; the sign pairs that most
of them share mark keys, and what then stands between a value and the next key closes values.  Finds cells and the
notation as `cells.py` does for the others.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from ....schema.validation import shape
from ....types import Tool
from ...reading.arguments import literal
from ...spec import ElementArgs, Notation, Span, TaggedArgs, Typing, span
from ..marks import pieces
from .alignment import HOLE, Run, beginning, ending
from .cells import Cell, Named, Reading, named
from .sample import Sample

KEY = "qxkey"
"""Stands for the key in what closes its value (`</city>`)."""
TYPES = frozenset(
    {"str", "string", "text", "int", "integer", "num", "number", "float", "bool", "boolean", "array", "list", "object",
     "dict", "json", "null"}
)  # fmt: skip
"""Words that stand for a value's type."""
NEAR = 60
LINE = re.compile(r"[ \t]*\n")
SURE = 0.9
"""What closes keys is the same everywhere; a majority would take a frequent type for a part of it."""
MOST = 3
"""So many pairs of signs are tried."""


@dataclass(frozen=True, slots=True)
class Key:
    """A declared key that stands in a text."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Group:
    """One call: its name and its keys in order."""

    text: str
    one: Named
    keys: tuple[Key, ...]

    def before(self) -> Iterator[str]:
        """The text before each key, from the name or the key before."""
        ends = [self.one.end, *(k.end for k in self.keys)]
        yield from (self.text[a : k.start] for a, k in zip(ends, self.keys, strict=False))

    def behind(self) -> Iterator[str]:
        """The text behind each key, up to the next one."""
        starts = [*(k.start for k in self.keys[1:]), self.one.limit]
        yield from (self.text[k.end : b] for k, b in zip(self.keys, starts, strict=True))


def pairs(samples: Sequence[Sample]) -> Iterator[Reading]:
    """Arguments as markup, for each pair of signs that may mark keys."""
    places = [[(one, list(_keys(s.text, one))) for one in named(s)] for s in samples]
    votes: Counter[tuple[str, str]] = Counter()
    for sample, row in zip(samples, places, strict=True):
        for _, keys in row:
            votes.update({_signs(sample.text, key) for key in keys})
    for signs, _ in votes.most_common(MOST):
        groups = [
            [g for one, keys in row if (g := _group(s.text, one, keys, signs)).keys]
            for s, row in zip(samples, places, strict=True)
        ]
        yield from _reading(groups)


def _keys(text: str, one: Named) -> Iterator[Key]:
    spelt = "|".join(sorted(map(re.escape, one.keys), key=len, reverse=True))
    for found in re.finditer(rf"(?<![\w-])(?:{spelt})(?![\w-])", text[one.end : one.limit]) if spelt else ():
        yield Key(found.group(), one.end + found.start(), one.end + found.end())


def _signs(text: str, key: Key) -> tuple[str, str]:
    """What stands right before and right behind a key."""
    before = [p for p in pieces(text[max(0, key.start - NEAR) : key.start]) if not p.isspace()]
    behind = text[key.end : key.end + NEAR].lstrip(" \t")[:1]
    return (before or [""])[-1], behind


def _group(text: str, one: Named, keys: Sequence[Key], signs: tuple[str, str]) -> Group:
    """The keys between these signs, each once."""
    mine: dict[str, Key] = {}
    for key in keys:
        if _signs(text, key) == signs:
            mine.setdefault(key.name, key)
    return Group(text, one, tuple(mine.values()))


# ── what marks keys and values ───────────────────────────────────────────────


def _reading(groups: Sequence[Sequence[Group]]) -> Iterator[Reading]:
    every = [g for row in groups for g in row]
    if len(every) < 2:
        return
    opener = ending([t for g in every for t in g.before()])
    closer = beginning([t for g in every for t in g.behind()], agreed=SURE)
    lines = not closer and all(LINE.match(t) for g in every for t in g.behind())
    if not opener or not (closer or lines):
        return
    closer, types, flags = _typed([t for g in every for t in g.behind()], closer)
    ends = _value_ends(every, opener, closer)
    notation = _notation(opener, closer, ends, types, flags)
    if notation is None:
        return
    marks = Marks(opener, closer, ends, _stop(groups) if not ends else Run(), notation, types)
    cells = tuple(tuple(c for g in row if (c := marks.cell(g)) is not None) for row in groups)
    notation = _trimmed(notation, cells, lines=not closer)
    yield Reading(notation, cells, key_open=opener.text)


def pattern(run: Run, key: str = "") -> str:
    """An expression for a run with any white space in it."""
    return r"\s*".join(r"[\w-]+" if m == HOLE else re.escape(m.replace(KEY, key)) for m in run.marks)


def _last(opener: Run) -> str:
    """An expression for what begins a key, at the end of a text."""
    return pattern(opener) + (r"\s*$" if any(opener.spaces[-1]) else "$")


def _typed(texts: Sequence[str], closer: Run) -> tuple[Run, Span, dict[bool, str]]:
    """A type that stands between key and value, or a flag that says whether the value is text."""
    head = re.compile(rf"\s*{pattern(closer)}")
    rest = [t[m.end() :] for t in texts if (m := head.match(t))]
    words = [m for t in rest if (m := re.match(r"([A-Za-z]+)(?=[^\w\s])", t))]
    if not closer or len(words) < len(texts):
        return closer, Span(), {}
    spelt = {m[1] for m in words}
    sign = _shared([m.string[m.end() :] for m in words])
    if spelt <= {"true", "false"} and "string" in closer.marks and sign:
        return closer, Span(), {flag == "true": closer.text + flag + sign for flag in ("true", "false")}
    if spelt <= TYPES and sign and len(closer.marks) > 1:
        return closer[:1], span(closer[1:].text, sign), {}
    return closer, Span(), {}


def _shared(texts: Sequence[str]) -> str:
    """The marks all begin with, up to a word or white space."""
    run = beginning(texts)
    marks = list(takewhile(lambda m: not m.isalnum(), run.marks))
    return run[: next((i for i in range(1, len(marks)) if any(run.spaces[i])), len(marks))].text


def _value_ends(every: Sequence[Group], opener: Run, closer: Run) -> Run:
    """What closes a value, from the texts between two keys; with one key in each call, the first mark behind it."""
    head, tail = re.compile(rf"\s*{pattern(closer)}"), re.compile(rf"\s*{_last(opener)}")
    between = []
    for g in every:
        for key, text in list(zip(g.keys, g.behind(), strict=True))[:-1]:
            inner = tail.sub("", head.sub("", text, count=1))
            between.append(re.sub(rf"{re.escape(key.name)}(?=\W*$)", KEY, inner))
    if len(between) > 1:
        return ending(between)
    texts = [re.sub(rf"/{re.escape(g.keys[-1].name)}\b", "/" + KEY, list(g.behind())[-1]) for g in every]
    return ending(texts)[:1]


def _stop(groups: Sequence[Sequence[Group]]) -> Run:
    """Where values have no closer: what stands behind the last value of a text."""
    return ending([row[-1].text[row[-1].keys[-1].end :] for row in groups if row])[:1]


def _notation(opener: Run, closer: Run, ends: Run, types: Span, flags: dict[bool, str]) -> Notation | None:
    lead, tail = opener.text, closer.text or "\n"
    if any(KEY in m for m in ends.marks):
        prefix = lead.removesuffix("<")
        if not lead.endswith("<") or tail != ">" or ends.text != f"{prefix}</{KEY}>":
            return None
        return ElementArgs(prefix=prefix, nested=False, trim="", typing=Typing.LITERAL)
    if not ends and not lead.strip(" \n"):
        return None
    value = ends.lead.strip(" ") + ends.text + (ends.trail if "\n" in ends.trail else "")
    return TaggedArgs(
        key=Span((lead,), (flags[True], flags[False]) if flags else (tail,)),
        value=span("", value),
        type=types,
        typing=Typing.LITERAL,
        raw_flag=(flags[True],) if flags else (),
        json_flag=(flags[False],) if flags else (),
    )


# ── cells ────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Marks:
    """All that marks keys and values: `stop` is what stands behind the last value where values have no closer."""

    opener: Run
    closer: Run
    ends: Run
    stop: Run
    notation: Notation
    types: Span

    def cell(self, g: Group) -> Cell | None:
        """The call from its name to the end of its last value; None where a key is marked otherwise."""
        given: dict[str, Any] = {}
        at = g.one.end
        head = re.compile(rf"[ \t]*{self._head()}")
        for number, key in enumerate(g.keys):
            if key.start < at:
                continue  # it stands in the value before
            begin = head.match(g.text, key.end)
            end = self._value_end(g, key, begin.end(), g.keys[number + 1 :]) if begin else None
            if begin is None or end is None:
                return None
            given[key.name] = decoded(g.text[begin.end() : end[0]], g.one.tool, key.name)
            at = end[1]
        gap = re.sub(_last(self.opener), "", g.text[g.one.end : g.keys[0].start])
        return Cell(g.one.start, at, ((g.one.tool.name, given),), gap)

    def _head(self) -> str:
        """An expression for what stands between a key and its value."""
        args = self.notation
        if not self.closer:
            return r"\n"
        if isinstance(args, TaggedArgs) and args.raw_flag:
            return "|".join(map(re.escape, (*args.raw_flag, *args.json_flag))).join(("(?:", ")"))
        if self.types.open:
            opens, closes = (re.escape(side[0].strip()) for side in (self.types.open, self.types.close))
            return rf"{pattern(self.closer)}\s*{opens}[A-Za-z]+{closes}"
        return rf"\s*{pattern(self.closer)}"

    def _value_end(self, g: Group, key: Key, start: int, following: Sequence[Key]) -> tuple[int, int] | None:
        """Where a value ends, and where what closes it does."""
        text = g.text
        if self.ends:
            found = re.compile(pattern(self.ends, key.name)).search(text, start)
            return found.span() if found else None
        if following:
            found = re.compile(rf"\s*{_last(self.opener)}").search(text, start, following[0].start)
            return (found.start(), found.start()) if found else None
        found = re.compile(r"\s*" + pattern(self.stop)).search(text, start) if self.stop else None
        end = found.start() if found else len(text.rstrip())
        return end, end


def decoded(text: str, tool: Tool, key: str) -> Any:
    """A raw value by what the tool's schema says of it."""
    kinds = shape(tool.parameters).property(key).kinds
    if not kinds or "string" in kinds:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return literal(text)


def _trimmed(notation: Notation, cells: Sequence[Sequence[Cell]], *, lines: bool) -> Notation:
    """The line ends around values that are not part of them, where every value has them.

    With `lines` the key ends with its line, so that no value begins with one.
    """
    given = [c.calls[0][1] for row in cells for c in row]
    texts = [v for values in given for v in values.values() if isinstance(v, str)]
    if not texts or not all((lines or t.startswith("\n")) and t.endswith("\n") for t in texts):
        return notation
    for values in given:
        assert isinstance(values, dict)
        values |= {k: v[not lines : -1] for k, v in values.items() if isinstance(v, str)}
    return replace(notation, trim="\n") if isinstance(notation, TaggedArgs | ElementArgs) else notation
