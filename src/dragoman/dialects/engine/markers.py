"""All rows that listen, prepared once: which marker may open which dialect, and what else the scanner stops at.

Knows rows and marker spellings; does not read text, and no tool.  Tables are cached per set of dialects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from ...late import late, late_call
from ...lenient.source import prefixes_of, same
from ...records import dataclass, field, field_names
from ..judge.declared import HEAD
from ..reading.compiled import Form, Row
from ..reading.named import leads
from ..reading.segments import segmented
from ..spec import Dialect, JsonCall, Listing, Place, Segments, Strength
from .choices import parted
from .common_marks import FABRICATED, FENCES, FOREIGN_TURN, INSTRUCTION, LINE_MARKS, QUIET, STRAY, THINK
from .mark_starts import FENCE, LETTER, LOOK, NEAR, WAIT, first_signs, on_line, plain_fence, starts
from .marks_at import MarksAt
from .search import MANY_VAIN, VAIN, Anchored, Signs

if TYPE_CHECKING:
    from .passing import Passing
    from .stops import Search, Stops
    from .vain_marks import VainMarks

_anchored: Callable[..., tuple[Anchored, ...]] = late_call(".anchored", "anchored", __name__)
_passing: Callable[..., Passing] = late_call(".passing", "Passing", __name__)
_stops: Callable[..., Stops] = late_call(".stops", "Stops", __name__)
_vain_marks: Callable[..., VainMarks] = late_call(".vain_marks", "VainMarks", __name__)
"""For streams, and fences: whole texts with a plain call need neither."""

VALUE_ENDS = ("}", "]", ")")
"""What a call in no tags ends with, and arguments in some."""
NONE: frozenset[str] = frozenset()

@dataclass(frozen=True, kw_only=True)
class Marks:
    """What markers mean; all are case-folded.

    rows        the rows a marker may open, in order        line    markers that count only first on their line
    forms       the rows that a declared name may open      inline  forms that may stand anywhere
    openings    the rows that are looked for where the message begins, and nowhere else; opening_forms: the same of forms
    think       what opens reasoning, and what closes it    unthink what closes it
    quiet       noise and framing, not shown                turns, fabricated  another party's turn or answer
    headers     what may begin a segment's header           ends    what ends a segment
    finals      what begins a final answer, and of which dialect
    chosen      the caller named the dialects: a call of a tool that nobody declared is told of, and is no text
    """

    rows: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    forms: Mapping[Form, tuple[Row, ...]] = field(default_factory=dict)
    inline: frozenset[Form] = frozenset()
    openings: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    opening_forms: Mapping[Form, tuple[Row, ...]] = field(default_factory=dict)
    think: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unthink: frozenset[str] = NONE
    quiet: frozenset[str] = NONE
    turns: frozenset[str] = NONE
    fabricated: frozenset[str] = NONE
    fences: frozenset[str] = NONE
    line: frozenset[str] = NONE
    headers: frozenset[str] = NONE
    ends: frozenset[str] = NONE
    finals: Mapping[str, str] = field(default_factory=dict)
    segments: tuple[Segments, ...] = ()
    chosen: bool = False

    @cached_property
    def live(self) -> frozenset[str]:
        """Those that mean something by themselves where nothing quotes them, whatever follows."""
        return frozenset().union(self.think, self.unthink, self.finals, self.quiet, self.turns, self.fabricated)

    @cached_property
    def closers(self) -> tuple[str, ...]:
        """What texts end with that end in a call: values, and what closes calls that nobody writes but to make one."""
        found = {close: None for rows in self.rows.values() for row in rows if row.strong for close in row.closers}
        return *VALUE_ENDS, *found

    def opens_calls(self, marker: str) -> bool:
        """Is this marker one that nobody writes but to make a call?"""
        rows = self.rows.get(marker.casefold(), ())
        return bool(rows) and rows[0].strong

    def every(self) -> frozenset[str]:
        """All of them."""
        listed = (self.unthink, self.quiet, self.turns, self.fabricated, self.fences, self.headers, self.ends)
        return frozenset().union(self.rows, self.think, self.finals, *listed)


@dataclass(frozen=True, kw_only=True)
class Table(Marks):
    """What the scanner needs, for one set of dialects.

    Its patterns are made when they are first asked: `stops` finds what `lead` and `line_lead` do in running text.
    near        how far they look behind a first sign      calm    the marks of fences that may be passed
    prepared    what others made once for this table
    """

    near: int
    calm: frozenset[str]
    named_first: tuple[Form, ...]
    named_inline: tuple[Form, ...]
    marker: MarksAt
    longest: int
    derived: dict[tuple[str, ...], Table] = field(default_factory=dict)
    prepared: dict[Hashable, Any] = field(default_factory=dict)
    derived_searches: dict[frozenset[str], Search] = field(default_factory=dict)

    @cached_property
    def lead(self) -> re.Pattern[str]:
        """Finds a character that begins a marker, or may."""
        return late("|".join(self._anywhere) or r"(?!)")

    @cached_property
    def line_lead(self) -> re.Pattern[str]:
        """Finds a line that begins with one that begins a `line` marker."""
        return late(self.line_source)

    @cached_property
    def any_lead(self) -> re.Pattern[str]:
        """Finds either character anywhere."""
        every, (named, lines) = self.every(), self._named
        inline, at_line = first_signs(every - self.line), first_signs(every & self.line)
        return late("|".join([*([f"[{inline}{at_line}]"] if inline or at_line else []), *named, *lines]) or r"(?!)")

    @cached_property
    def run_lead(self) -> re.Pattern[str]:
        """Finds what `lead` finds, and lines' ends."""
        return re.compile("|".join((*self._anywhere, r"\n")))

    @cached_property
    def calm_lead(self) -> re.Pattern[str]:
        """Finds what `line_lead` finds, but fences in which code stands, or nothing."""
        return re.compile(self.calm_source)

    @cached_property
    def line_source(self) -> str:
        """The pattern of `line_lead`."""
        return on_line(self._first)

    @cached_property
    def calm_source(self) -> str:
        """The pattern of `calm_lead`."""
        if not self.calm:
            return self.line_source
        words = "|".join((self._first, *self._words(self.near)))
        return on_line(parted(self._begun, {FENCE[0]: f"(?!{plain_fence(self.every() - self.calm, words)})"}))

    @cached_property
    def _named(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """How declared names begin that count anywhere, and those that count first on a line."""
        return leads(tuple(self.inline), line=False), leads(tuple(self.forms.keys() - self.inline), line=True)

    @cached_property
    def _anywhere(self) -> tuple[str, ...]:
        inside = self.every() - self.line
        signs = frozenset(mark for mark in inside if not LETTER.match(mark))
        return *starts(signs, self.near), *self._words(max(self.near, LOOK)), *self._named[0]

    @cached_property
    def _begun(self) -> tuple[str, ...]:
        return *starts(self.every() & self.line, self.near), *self._named[1]

    @cached_property
    def _first(self) -> str:
        return parted(self._begun)

    def _words(self, look: int) -> list[str]:
        """How marks begin that begin with a letter and may stand anywhere."""
        return starts(frozenset(mark for mark in self.every() - self.line if LETTER.match(mark)), look)

    @cached_property
    def prefixes(self) -> frozenset[str]:
        """Each beginning of each mark, and the marks."""
        return prefixes_of(self.every())

    @cached_property
    def lead_signs(self) -> tuple[Anchored, ...]:
        """Searches that find together what `lead` finds in a text that has ended; none where any word may begin one."""
        return self._signs_of(LOOK)

    @cached_property
    def sure_signs(self) -> tuple[Anchored, ...]:
        """The same for a text full of what begins as marks do, and is none: they take long to compile."""
        return self._signs_of(DEEP)

    @cached_property
    def surest_signs(self) -> tuple[Anchored, ...]:
        """The same by all of each mark."""
        return self._signs_of(self.longest)

    def all_lead_signs(self) -> tuple[Anchored, ...]:
        """`lead_signs`, for who asks later."""
        return self.lead_signs

    @cached_property
    def surer_signs(self) -> Mapping[int, Signs]:
        """Behind how many places in vain which signs are looked for; for who asks later."""
        return {VAIN: lambda: self.sure_signs, MANY_VAIN: lambda: self.surest_signs}

    def _signs_of(self, look: int) -> tuple[Anchored, ...]:
        if ("", "") in self.inline:
            return ()
        words = [Anchored(re.compile(f"(?i:{re.escape(b)})").search) for before, b in sorted(self.inline) if not before]
        words += [
            Anchored(re.compile(leads(((before, ""),), line=False)[0]).search, reach=len(before) + 1)
            for before in sorted({before for before, _ in self.inline if before})
        ]
        marks = self.every() - self.line
        inside = {mark for mark in marks if LETTER.match(mark) or ("<" in mark[1:look] and mark[0] != "<")}
        rests: dict[str, set[str]] = {}
        for mark in (marks - inside) | {INSTRUCTION}:
            rests.setdefault(mark[0], set()).add(mark[1:look])
        return (*_anchored(rests, inside), *words)

    @cached_property
    def only_rows(self) -> Mapping[str, tuple[Row, ...]]:
        """The marks that mean nothing but that some rows may begin there, and these; of longer ones those of weak rows."""
        others = self.live | self.headers | self.fences | self.ends
        told = {mark: rows for mark, rows in self.rows.items() if mark not in others}
        return {m: rows for m, rows in told.items() if len(m) == 1 or not any(row.strong for row in rows)}

    @cached_property
    def weak(self) -> frozenset[str]:
        """Signs that are marks by themselves, and prove little; none with which what stands before a name begins."""
        found = {m for m, rows in self.only_rows.items() if len(m) == 1 and not any(row.strong for row in rows)}
        return frozenset(found) - {before[0] for before, _ in self.forms if before}

    @cached_property
    def vain(self) -> VainMarks:
        """The marks that are words, asked whether anything that they open may follow."""
        rows = {mark: rows for mark, rows in self.only_rows.items() if mark in self.line}
        return _vain_marks(rows, (*self.every(), *self.befores), refuses=self.chosen)

    @cached_property
    def heads(self) -> frozenset[str]:
        """Signs that marks begin with, letters left out."""
        return frozenset(mark[0] for mark in self.every() if not mark[0].isalpha())

    @cached_property
    def signs(self) -> frozenset[str]:
        """The same, and in either case the first of what stands before declared names."""
        return self.heads | self.named_signs

    @cached_property
    def letters(self) -> frozenset[str]:
        """Letters that marks begin with, in either case."""
        return frozenset(sign for mark in self.every() if mark[0].isalpha() for sign in (mark[0], mark[0].upper()))

    @cached_property
    def opens(self) -> bool:
        """Is anything looked for where the message begins, and nowhere else?"""
        return bool(self.openings or self.opening_forms)

    @cached_property
    def deep(self) -> Table:
        """The same table, whose leads on lines look further: for a text full of what begins as marks do."""
        return build(Marks(**{name: getattr(self, name) for name in field_names(Marks)}), SURE)

    @cached_property
    def named_signs(self) -> frozenset[str]:
        """What stands before declared names begins with these, in either case."""
        return frozenset(sign for before, _ in self.forms if before for sign in (before[0].lower(), before[0].upper()))

    @cached_property
    def befores(self) -> frozenset[str]:
        """What stands before declared names."""
        return frozenset(before for before, _ in self.forms if before)

    @cached_property
    def first_words(self) -> frozenset[str]:
        """What marks that are words begin with."""
        return frozenset(mark[:HEAD] for mark in self.every() if mark[0].isalnum() or mark[0] in "_$@")

    @cached_property
    def opening_marks(self) -> tuple[str, ...]:
        """What the openings begin with, longest first."""
        return tuple(sorted(self.openings, key=len, reverse=True))

    @cached_property
    def opening_signs(self) -> frozenset[str]:
        """The first characters of that."""
        return frozenset(mark[0] for mark in (*self.openings, *(before for before, _ in self.opening_forms)) if mark)

    @cached_property
    def begun(self) -> tuple[str, ...]:
        """What a message begins with whose header the prompt had begun."""
        return tuple(s.begun for s in self.segments if s.begun)

    @cached_property
    def begun_signs(self) -> frozenset[str]:
        """The first characters of that."""
        return frozenset(sign for begun in self.begun for sign in (begun[0], begun[0].swapcase()))

    def is_begun(self, text: str, at: int) -> bool:
        """Does a header stand here whose beginning the prompt had written?  A text that has ended tells."""
        return any(same(text[at : at + len(begun)], begun) for begun in self.begun)

    @cached_property
    def passing(self) -> Passing:
        """The fences that are text."""
        return _passing(self.rows, self.fences, self.marker, self.stops)

    @cached_property
    def stops(self) -> Stops:
        """Finds both in running text.  Made when a stream first asks: whole texts never do."""
        return self.stops_within(LOOK)

    def stops_within(self, look: int) -> Stops:
        """The same, by so many signs of each mark."""
        every = self.every()
        inline, line = every - self.line, every & self.line
        begun = starts(inline, look, taken=True), starts(inline, WAIT, taken=True), starts(line, look, taken=True)
        return _stops(*begun, frozenset(self.forms), self.inline)

    def surely_stops(self, heads: frozenset[str]) -> Search:
        """The same search for a text full of what begins as marks do; `heads` are how declared names begin."""
        found = self.derived_searches.get(heads)
        if found is None:
            if len(self.derived_searches) >= MOST_SEARCHES:
                self.derived_searches.clear()
            found = self.derived_searches[heads] = self.stops_within(SURE).surely(heads)
        return found


_TABLES: dict[tuple[int, bool, bool, str], tuple[tuple[Dialect, ...], Table]] = {}


def table(dialects: tuple[Dialect, ...], *, calls: bool, asked: bool = False, spoken: str = "") -> Table:
    """The table of these dialects.

    `calls` False listens for reasoning only; `asked` says that the caller named the dialects, `spoken` which of them
    the model was told to speak.  The very tuple that was asked for before is found without comparing a hundred rows.
    """
    key = (id(dialects), calls, asked, spoken)
    found = _TABLES.get(key)
    if found is None or found[0] is not dialects:
        if len(_TABLES) > 512:
            _TABLES.clear()
        found = _TABLES[key] = (dialects, _table(dialects, calls, asked, spoken))
    return found[1]


@lru_cache(maxsize=256)
def _table(dialects: tuple[Dialect, ...], calls: bool, asked: bool, spoken: str) -> Table:
    rows = _rows(dialects, asked, spoken) if calls else []
    by_marker: dict[str, list[Row]] = {}
    forms: dict[Form, list[Row]] = {}
    openings: dict[str, list[Row]] = {}
    opening_forms: dict[Form, list[Row]] = {}
    for row in rows:
        if row.place is Place.OPENING:
            for opener in row.openers:
                openings.setdefault(opener, []).append(row)
            for form in () if row.section_open else row.forms:
                opening_forms.setdefault(form, []).append(row)
            continue
        for opener in row.openers:
            by_marker.setdefault(opener.casefold(), []).append(row)
        for form in () if row.section_open else row.forms:  # a section opens what would prove little alone
            forms.setdefault(form, []).append(row)
    think = {k.casefold(): v for k, v in THINK.items()}
    for dialect in dialects:
        for reasoning in dialect.reasoning:
            think |= {o.casefold(): reasoning.close for o in reasoning.open}
    closers = {c for row in rows if row.strong for c in row.call_close + row.section_close if len(c) > 4 and c[0] in "<["}
    framing = folded(q for d in dialects for q in d.quiet)
    segments = segmented(dialects)
    ends = folded(m for s in segments for m in s.close)
    return build(
        Marks(
            rows={k: tuple(v) for k, v in by_marker.items()},
            forms={k: tuple(v) for k, v in forms.items()},
            openings={k: tuple(v) for k, v in openings.items()},
            opening_forms={k: tuple(v) for k, v in opening_forms.items()},
            inline=frozenset(f for f, found in forms.items() if any(r.place is Place.INLINE for r in found)),
            think=think,
            unthink=folded(c for cs in think.values() for c in cs) - framing,
            quiet=(framing | ends | folded((*QUIET, *STRAY, *closers))) - set(by_marker),
            turns=folded(FOREIGN_TURN) if calls else NONE,
            fabricated=folded(FABRICATED) if calls else NONE,
            fences=frozenset(FENCES) if calls else NONE,
            line=_line_only(by_marker) | frozenset(t for t in think if t[0].isalnum()) | folded(f for r in rows for f in r.dialect.final),
            finals={f.casefold(): r.dialect.name for r in rows for f in r.dialect.final},
            headers=folded(m for s in segments for m in (*s.open, *s.head)),
            ends=ends,
            segments=segments,
            chosen=asked,
        )
    )


def _rows(dialects: tuple[Dialect, ...], asked: bool, spoken: str) -> list[Row]:
    """The rows that listen; one that listens only when it is asked for does so when it is spoken."""
    told = [(d, asked or d.name == spoken) for d in dialects]
    return [Row(d, asked=mine) for d, mine in told if mine or d.strength is not Strength.ASKED]


def _line_only(by_marker: dict[str, list[Row]]) -> frozenset[str]:
    """Markers that count only first on their line: every row they open says so."""
    return frozenset(m for m, rows in by_marker.items() if all(r.place is not Place.INLINE for r in rows)) | LINE_MARKS


SURE, DEEP = 9, 16
"""How far where many marks were looked at in vain: a fence of data is told there from one of calls.  And where many
places were that begin as marks do."""


def build(marks: Marks, near: int = NEAR, made: type[Table] = Table) -> Table:
    """The table of these marks."""
    every = marks.every()
    return made(
        **{name: getattr(marks, name) for name in field_names(Marks)},
        near=near,
        calm=_calm(marks),
        named_first=tuple(marks.forms),
        named_inline=tuple(f for f in marks.forms if f in marks.inline),
        marker=MarksAt(every),
        longest=max(map(len, every), default=1),
    )


def _calm(marks: Marks) -> frozenset[str]:
    """The marks of fences that may be passed: with which no other calls begin than objects, which prove little."""
    if FENCE not in marks.fences or not all(map(_is_weak, marks.rows.get(FENCE, ()))):
        return NONE
    tagged = {mark for mark, rows in marks.rows.items() if mark.startswith(FENCE) and all(map(_is_single, rows))}
    return frozenset({FENCE, *tagged}) - marks.live - marks.headers - marks.ends


def _is_weak(row: Row) -> bool:
    return isinstance(row.dialect.args, JsonCall) and not row.strong


def _is_single(row: Row) -> bool:
    return _is_weak(row) and row.dialect.listing is Listing.REPEAT


def openings(t: Table) -> re.Pattern[str]:
    """A pattern for a character that may begin an opener of any row, wherever on a line it stands."""
    return re.compile("|".join((*starts(frozenset(t.rows), NEAR), *leads(tuple(t.forms), line=False))))


MOST_SEARCHES = 16
"""So many searches are remembered of one table, by how the declared names of a request begin."""


def folded(marks: Iterable[str]) -> frozenset[str]:
    """These marks in small letters."""
    return frozenset(m.casefold() for m in marks)
