"""A whole text whose every call is written exactly as its dialect says: read in one pass over the text.

`parser.py` reads everything, piece by piece; this reads only what leaves nothing to decide (calls without a slip that
stand live, and prose without any other marker between them) and gives None for all else.  Knows no dialect by name.

Contract: what `read` gives is what the parser's events of the same text fold to, value for value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

from ...schema.validation import faults
from ...types import NOTHING, Part, Reasoning, Report, Text, Tier, Tool, ToolCall, Verdict
from ..judge.declared import WORD, Declared, declared
from ..judge.judge import Judge
from ..judge.quotation import KEPT, MATTERS, Context
from ..reading.compiled import Row
from ..reading.exact import NO_TOOL, Wanted, wanted
from ..reading.named import PRINT, TAIL
from ..rows.table import ALL, resolve
from ..spec import Dialect, ElementArgs, JsonArgs, JsonCall, KeywordArgs, Place
from .exact_calls import NAME, Clean, Reading, reader
from .exact_calls import Tools as Wants
from .lookahead import Look, begins
from .markers import Table, reasoning_table, table

Tools = Iterable[Tool | Mapping[str, Any]] | None
Dialects = str | Dialect | Sequence[str | Dialect]

SHORT = 600
"""A word that the next sign gives its meaning stands this close before it, or the text is not read here."""
ENDS = frozenset(" \t\r\n:")
BLANK = (" ", "\t", "\r")
BLANKS = re.compile(r"[ \t\r]*")
WRITTEN = re.compile(rf"(?:(?:^|\n)[ \t\r]*|< ?)({WORD.pattern})")
SIGN = re.compile(r"[^\w\s]")
MANY = 64
"""Marks in prose that are looked at one by one."""


Found: TypeAlias = tuple[tuple[ToolCall, ...], str, str, tuple[Part, ...]]
"""What a text holds: calls, visible text, reasoning, and all three in order."""


class Known:
    """A request's tools and dialects, prepared once: what may begin something, and what reads it.

    `leads` are the signs that markers begin with; `words` are markers that begin with a letter, by a sign that a text
    with them has, `loose` those of them whose sign is no lead.
    """

    def __init__(self, tools: Declared | None, rows: tuple[Dialect, ...]) -> None:
        named = len(rows) < len(ALL)
        self.table = table(rows, calls=tools is None or bool(tools), asked=named)
        self.judge = Judge(tools, asked_by_name=named)
        self.protocol = all(isinstance(r.args, JsonCall) and r.args.answer for r in rows)
        self.tools = None if tools is None else _Wanted(tools)
        self.begun = tuple(s.begun for s in self.table.segments if s.begun)
        self.leads, self.words = _looked_for(self.table)
        self.tied = dict(self.words)
        self.declared = tools if self.table.forms else None
        self.last = tuple(sorted({mark for _, marks in self.words for mark in marks}))
        self.loose = tuple((sign, marks) for sign, marks in self.words if not sign or sign not in self.leads)
        t = self.table
        others = (t.think, t.unthink, t.quiet, t.turns, t.fabricated, t.fences, t.headers, t.finals)
        self.only_rows = frozenset(m for m in t.rows if not any(m in held for held in others))
        self._readers: dict[str, tuple[tuple[Row, Clean | None, Look], ...]] = {}

    def names_any(self, text: str) -> bool:
        """Does a declared name stand where it may begin a call?"""
        names = self.declared
        if names is None or not names:
            return False
        words = (found[1] for found in WRITTEN.finditer(text))
        return any(names.spelt(w.rstrip(TAIL)) or names.meant(w) or w == PRINT for w in words)

    def readers(self, folded: str) -> tuple[tuple[Row, Clean | None, Look], ...]:
        """What may read a call that begins with this marker, in order."""
        found = self._readers.get(folded)
        if found is None:
            rows = self.table.rows.get(folded, ())
            found = self._readers[folded] = tuple((row, reader(row), begins(row)) for row in rows)
        return found

    def is_word(self, folded: str, text: str, at: int) -> bool:
        """Is this marker, which may begin a call and nothing else, just text here?"""
        return folded in self.only_rows and not any(begin(text, at) for _, _, begin in self.readers(folded))


def _looked_for(t: Table) -> tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]:
    """Signs that markers begin with; and markers that begin with a letter, by a sign that a text with them has."""
    every = t.every()
    words: dict[str, list[str]] = {}
    for marker in sorted(m for m in every if m[0].isalnum() or m[0] == "_"):
        for sign in _signs(marker, t) or ("",):
            words.setdefault(sign, []).append(marker)
    signs = {m[0] for m in every if not (m[0].isalnum() or m[0] == "_")}
    leads = "".join(sorted(signs, key=lambda c: (c not in "<[", c)))  # the commonest first
    return leads, tuple((sign, tuple(marks)) for sign, marks in words.items())


NEEDED: Mapping[type, str] = {JsonArgs: "{", JsonCall: "{[", ElementArgs: "<", KeywordArgs: "("}
"""A sign that must follow a name, or an opener that is a word, before it is read as a call."""


def _signs(marker: str, t: Table) -> str:
    """Signs of which a text has one if this marker means anything in it; "" where that is not known."""
    rows = t.rows.get(marker, ())
    others = (t.think, t.unthink, t.quiet, t.turns, t.fabricated, t.headers, t.finals)
    notations = {type(r.dialect.args) for r in rows}
    weak = all(not r.strong or isinstance(r.dialect.args, JsonCall) for r in rows)
    if rows and weak and notations <= NEEDED.keys() and not any(marker in held for held in others):
        return "".join(NEEDED[n] for n in notations)
    sign = SIGN.search(marker)
    return sign.group() if sign else ""


class _Wanted(dict[str, Wanted]):
    """What each tool wants, made when it is asked for."""

    def __init__(self, tools: Declared) -> None:
        self._tools = tools

    def __bool__(self) -> bool:
        return len(self._tools) > 0

    def get(self, name: str, default: Any = None) -> Any:
        """What the tool of this name wants."""
        tool = self._tools.get(name)
        return default if tool is None else wanted(tool)


_KNOWN: dict[tuple[int, int], tuple[Known, object]] = {}


def _known(tools: Tools, dialects: Dialects) -> Known:
    """Prepared once for the same tools and rows: what is kept holds them, so nothing else can have their ids."""
    rows = resolve(dialects)
    known = declared(tools)
    key = id(rows), id(known)
    found = _KNOWN.get(key)
    if found is None:
        if len(_KNOWN) >= 128:
            _KNOWN.clear()
        found = _KNOWN[key] = (Known(known, rows), (known, rows))
    return found[0]


def read(text: str, tools: Tools, dialects: Dialects, strict: bool) -> Found | None:
    """The text's calls, visible text and parts; None where the parser must decide."""
    known = _known(tools, dialects)
    if known.protocol and strict:
        return None
    if text.startswith("\ufeff") or known.names_any(text):
        return None
    if known.begun and text.lstrip()[:8].casefold().startswith(known.begun):
        return None
    return _Reading(text, known).run()


class _Reading:
    """One text being read."""

    def __init__(self, text: str, known: Known) -> None:
        self.text, self.known = text, known
        self.parts: list[Part] = []
        self.calls: list[ToolCall] = []
        self.shown: list[str] = []
        self.taken: set[str] = set()
        self.context: Context | None = None
        self.leads = known.leads
        self.looks = 0
        self.reasoning = ""

    def run(self) -> Found | None:
        text, pos, size, known = self.text, 0, len(self.text), self.known
        while pos < size:
            at, marker = self._next(pos)
            if at < 0:
                return None
            if at > pos:
                if not self._is_prose(pos, at):
                    return None
                self._say(text[pos:at])
            if at == size:
                break
            if not self._is_live():
                return None
            pos = self._calls(marker, at) if marker in known.table.rows else self._thought(marker, at)
            if pos < 0:
                return None
        return tuple(self.calls), "".join(self.shown), self.reasoning, tuple(self.parts)

    # ── prose ────────────────────────────────────────────────────────────────

    def _next(self, pos: int) -> tuple[int, str]:
        """Where the next marker stands, and which; the text's end if there is none, -1 where looking takes too long."""
        text, size, t = self.text, len(self.text), self.known.table
        at = pos
        while True:
            best = size
            for c in self.leads:
                found = text.find(c, at, best)
                if found >= 0:
                    best = found
                    if best == at:
                        break
            if best == size:
                return size, ""
            marker = t.marker.match(text, best)
            if marker is not None:
                folded = marker.group().casefold()
                if folded not in t.line:
                    return best, folded
                if self._first_on_line(pos, best):
                    if not self.known.is_word(folded, text, best):
                        return best, folded
                    best = marker.end() - 1
            at = best + 1
            self.looks += 1
            if self.looks > MANY:
                return -1, ""

    def _first_on_line(self, start: int, at: int) -> bool:
        line = self.text[max(start, self.text.rfind("\n", start, at) + 1) : at]
        return not line or line.isspace()

    def _is_prose(self, start: int, end: int) -> bool:
        """Is there surely no marker that begins with a letter?"""
        text, lowered, known = self.text, "", self.known
        for sign, marks in known.words if self.looks else known.loose:
            if not sign or text.find(sign, start, end) >= 0:
                lowered = lowered or _lowered(text[start:end])
                if any(mark in lowered for mark in marks):
                    return False
        if end == len(text):
            marks = known.last
        else:
            marks = known.tied.get(text[end], ()) if text[end - 1] in ENDS else ()
        if not marks:
            return True
        last = _lowered(text[max(start, end - SHORT) : end])
        return not (any(mark in last for mark in marks) or (last.isspace() and end - start > SHORT))

    def _say(self, text: str) -> None:
        self.parts.append(_shown(text))
        self.shown.append(text)
        if self.context is not None:
            self.context.add(text)
        elif not text.isascii() or MATTERS.search(text):
            self._begin_context()

    def _begin_context(self) -> Context:
        self.context = Context()
        for said in self.shown:
            self.context.add(said)
        return self.context

    def _is_live(self) -> bool:
        """Does what stands here count, whatever was said before it?"""
        shown = self.shown
        if not shown:
            return True
        context = self.context
        if context is None:
            last = shown[-1]
            line = last.rfind("\n") + 1
            if line and last[line : line + 1] not in BLANK:
                said = last.rstrip()
                start = said.rfind("\n") + 1
                # Between calls nothing new was said: what was last said did not forbid the call before.
                if not said or ((start or len(shown) == 1) and "following" not in said[start:].casefold()):
                    return True
            context = self._begin_context()
        if context.standing().quote is not None or context.turned():
            return False
        return not self.known.judge.forbidden(context.before)

    # ── reasoning ────────────────────────────────────────────────────────────

    def _thought(self, folded: str, at: int) -> int:
        """Take reasoning that begins here, or ends here where the prompt had opened it; its end, -1: undecided."""
        t = self.known.table
        if self.reasoning or self.calls or folded in t.headers:
            return -1
        told = "".join(self.shown)
        glued = folded in t.unthink and told[-1:] in {".", "!", "?"}
        if not glued and told.rstrip(" \t\r")[-1:] not in {"", "\n"}:
            return -1
        if folded in t.think:
            return self._opened(t.think[folded], at + len(folded))
        if folded not in t.unthink or not told or told.isspace():
            return -1
        self.parts, self.shown, self.context = [], [], None
        self._think(told)
        return at + len(folded)

    def _opened(self, closers: tuple[str, ...], start: int) -> int:
        """Reasoning in which no mark stands but the one that closes it."""
        text, inner = self.text, reasoning_table(self.known.table, closers)
        place = BLANKS.match(text, start).end()  # type: ignore[union-attr]
        if (first := inner.marker.match(text, place)) and first.group().casefold() in inner.line:
            return -1
        pos = start
        while lead := inner.lead.search(text, pos):
            pos = lead.start() + 1
            found = inner.marker.match(text, lead.start())
            if found is not None and found.group().casefold() not in inner.line:
                return self._closed(inner, start, found)
            self.looks += 1
            if self.looks > MANY:
                break
        return -1

    def _closed(self, inner: Table, start: int, mark: re.Match[str]) -> int:
        """The first mark in reasoning, which ends it, if no mark that counts first on its line stands before it."""
        text, end, folded = self.text, mark.start(), mark.group().casefold()
        if folded not in inner.unthink or folded in self.known.table.headers or start == end:
            return -1
        if any(inner.marker.match(text, line.end()) for line in inner.line_lead.finditer(text, start, end)):
            return -1
        self._think(text[start:end])
        return mark.end()

    def _think(self, text: str) -> None:
        self.reasoning = text
        self.parts.append(Reasoning(text))

    # ── calls ────────────────────────────────────────────────────────────────

    def _calls(self, folded: str, at: int) -> int:
        """Take the calls that begin here; returns where they end, -1 where they are not clean."""
        text = self.text
        for row, clean, may_begin in self.known.readers(folded):
            strong = row.strong and row.place is Place.INLINE
            if clean is not None and (strong or (not row.strong and self._may_end_with(row))):
                read = _section(clean, text, at, self.known.tools)
                if read is not None:
                    readings, end = read
                    if not strong and text[end:].strip():
                        return -1
                    return end if all(self._take(row, reading) for reading in readings) else -1
            if may_begin(text, at):
                return -1
        return -1

    def _may_end_with(self, row: Row) -> bool:
        """May a call whose opener proves little stand here, if it is the text's end (rule 11)?"""
        known, before = self.known, "".join(self.shown)
        if not known.tools or self.calls:
            return False
        if not before or before.isspace():
            return True
        return row.place is not Place.WHOLE and not known.judge.shown_as_example(before[-KEPT:])

    def _take(self, row: Row, reading: Reading) -> bool:
        name, id_, arguments, written, start, end = reading
        known = self.known
        if known.tools is None:
            if not NAME.fullmatch(name) or not NO_TOOL.fit(arguments):
                return False
        else:
            wanted = known.tools.get(name)
            if wanted is None or not wanted.fit(arguments) or faults(wanted.tool.parameters, arguments):
                return False
        if not id_ or id_ in self.taken:
            id_ = f"call_{len(self.calls)}"
            while id_ in self.taken:
                id_ += "_"
        self.taken.add(id_)
        call = _call(id_, name, arguments, written, _report(row, (start, end)))
        self.calls.append(call)
        self.parts.append(call)
        return True


def _fields(kind: type) -> Iterator[Callable[[object, Any], None]]:
    """What sets each field of a frozen record, in order: its own initialiser takes twice as long."""
    return (getattr(kind, f.name).__set__ for f in fields(kind))


_dialect, _span, _tier, _edits, _verdict, _reason, _confidence = _fields(Report)
_id, _name, _arguments, _raw, _reported, _metadata = _fields(ToolCall)
_text, _text_metadata = _fields(Text)


def _report(row: Row, span: tuple[int, int]) -> Report:
    """`Report` of a call taken as written."""
    made, strong = object.__new__(Report), row.strong
    _dialect(made, row.dialect.name)
    _span(made, span)
    _tier(made, Tier.TAGGED if strong else Tier.RAW_JSON)
    _edits(made, ())
    _verdict(made, Verdict.ACCEPTED)
    _reason(made, "")
    _confidence(made, 1.0 if strong else 0.9)
    return made


def _call(id_: str, name: str, arguments: dict[str, Any], raw: str, report: Report) -> ToolCall:
    made = object.__new__(ToolCall)
    _id(made, id_)
    _name(made, name)
    _arguments(made, arguments)
    _raw(made, raw)
    _reported(made, report)
    _metadata(made, NOTHING)
    return made


def _shown(text: str) -> Text:
    made = object.__new__(Text)
    _text(made, text)
    _text_metadata(made, NOTHING)
    return made


def _lowered(text: str) -> str:
    return text.casefold().replace("\u0307", "")


def _section(clean: Clean, text: str, at: int, tools: Wants) -> tuple[list[Reading], int] | None:
    """The calls of one section, or the one call where the row has no sections."""
    if not clean.array and clean.closing is None and not clean.row.section_open:
        one = clean.call(text, at, tools)
        return None if one is None else ([one[0]], one[1])
    opened = clean.opening.match(text, at)
    if opened is None:
        return None
    return _array(clean, text, opened.end(), tools) if clean.array else _sequence(clean, text, opened.end(), tools)


def _array(clean: Clean, text: str, pos: int, tools: Wants) -> tuple[list[Reading], int] | None:
    start = clean.list_open.match(text, pos)
    if start is None:
        return None
    pos, readings = start.end(), []
    while True:
        one = clean.call(text, pos, tools)
        end = clean.item_end.match(text, one[1]) if one else None
        if one is None or end is None:
            return None
        readings.append(one[0])
        pos = end.end()
        if end["more"] is None:
            return _closed(clean, text, pos, readings)


def _sequence(clean: Clean, text: str, pos: int, tools: Wants) -> tuple[list[Reading], int] | None:
    readings = []
    while True:
        one = clean.call(text, pos, tools)
        if one is None:
            return None
        readings.append(one[0])
        pos = one[1]
        if clean.closing is not None and (end := clean.closing.match(text, pos)):
            return readings, end.end()
        more = clean.between.match(text, pos)
        if more is None:
            return _closed(clean, text, pos, readings)
        pos = more.end()


def _closed(clean: Clean, text: str, pos: int, readings: list[Reading]) -> tuple[list[Reading], int] | None:
    """The end of a section: its closer, or, where it has none, anything that could not be taken for more of it."""
    if clean.closing is None:
        return None if clean.stray.match(text, pos) else (readings, pos)
    end = clean.closing.match(text, pos)
    return None if end is None else (readings, end.end())
