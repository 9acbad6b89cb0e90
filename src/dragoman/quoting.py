"""Strings as models quote them, read piecemeal and written on as the inside of strict JSON strings.

Quotes of any kind, escapes that are none, raw control characters, unescaped quotes inside: what has one reading is
mended and noted as an `Edit`, what has two raises `Broken`.  Where a damaged string ends is decided by what follows it.
This module does not know about objects, schemas or tools; `relaxed.py` reads values with it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from .text import Need, Sink, Source
from .types import Edit

MAX_KEY = 4096
"""A longer quoted run after a comma is not taken for a key when deciding where a damaged string ends."""

TWO_READINGS = "unescaped quotes inside a string leave two readings"
HEX4 = re.compile(r"[0-9a-fA-F]{4}")
SURROGATE = re.compile("[\ud800-\udfff]")
CLOSERS = {"“": "”", "”": "”", "„": "“”", "‘": "’", "’": "’", "«": "»", "「": "」", "＂": "＂"}
BLANK = " \t\r\n\u00a0\ufeff\u3000"
COMMENTS = ("//", "/*")
PYTHON_ESCAPES = {"a": "\\u0007", "v": "\\u000b", "0": "\\u0000", "'": "'"}


class Broken(Exception):
    """The text has no single reading; `str()` says why, in words for a person."""


class Repeated(Broken):
    """One key is given two values."""


class Cut(Exception):
    """The text ended inside a value."""


@dataclass(frozen=True, slots=True)
class Form:
    """How this notation writes objects and strings.

    `close` ends the outermost object, `pair` stands between key and value there (":" is accepted too), `quotes` are
    extra string delimiters without escapes, `python` switches on Python's strings, tuples and adjacent literals.
    """

    open: str = "{"
    close: str = "}"
    pair: tuple[str, ...] = (":",)
    quotes: tuple[str, ...] = ()
    python: bool = False
    bare: bool = False


JSON = Form()
PYTHON = Form(open="(", close=")", pair=("=",), python=True)
INNER_PYTHON = Form(python=True)


class StringReader:
    """Reads strings over a source.

    `edits` collects the mends, `path` says where; `closers` is the stack of brackets still open, outermost first, and
    `places` what stands directly in each of them ("member" or "item").  `stops` are marks around the whole value: none
    of its strings goes past one that stands directly behind a quote.
    """

    def __init__(self, src: Source, form: Form = JSON, stops: tuple[str, ...] = ()) -> None:
        self.src, self.form, self.stops = src, form, stops
        self.edits: list[Edit] = []
        self.closers: list[str] = []
        self.places: list[str] = []
        self.path: list[str] = []

    def note(self, kind: str, before: str = "", after: str = "") -> None:
        """Record one mend at the present path; the same kind at the same path is told once."""
        path = "$" + "".join(self.path)
        if self.edits and self.edits[-1].kind == kind and self.edits[-1].path == path:
            return
        self.edits.append(Edit(kind, path, before[:80], after[:80]))

    @property
    def _place(self) -> str:
        return self.places[-1] if self.places else "member"

    # ── strings ──────────────────────────────────────────────────────────────

    def _quoted(self, out: Sink, form: Form, place: str) -> Need[bool]:
        """Read a quoted string's inside, as JSON characters, into `out`; False when no quote stands here."""
        src = self.src
        if form.quotes:
            mark = yield from src.literal(form.quotes)
            if mark:
                return (yield from self._fenced(mark, out))
        c = yield from src.peek()
        if not c:
            return False
        if c in "\"'" or c in CLOSERS or c == "`":
            three = yield from src.peek(3)
            if three in ('"""', "'''") and place != "key":
                src.pos += 3
                if not form.python:
                    self.note("triple_quotes")
                return (yield from self._fenced(three, out, escapes=form.python))
            src.pos += 1
            if c != '"' and not form.python:
                self.note("quotes", c, '"')
            yield from self._chars(c, out, place)
            return True
        if form.python and place != "key" and c in "rRbBuUfF":
            return (yield from self._prefixed(out, place))
        return False

    def _prefixed(self, out: Sink, place: str) -> Need[bool]:
        """Python's r'…' and u'…'; f'…' and b'…' have no value to give."""
        two = yield from self.src.peek(2)
        if len(two) < 2 or two[1] not in "\"'":
            return False
        if two[0] in "fFbB":
            raise Broken(f"{two[0]}-strings are not literals")
        self.src.pos += 2
        if two[0] in "uU":
            yield from self._chars(two[1], out, place)
            return True
        return (yield from self._fenced(two[1], out))

    def _fenced(self, mark: str, out: Sink, *, escapes: bool = False) -> Need[bool]:
        """A string that ends at `mark` and nowhere else."""
        got: list[str] = []
        if not (yield from self.src.until((mark,), got.append)):
            raise Cut
        text = "".join(got)
        if escapes:
            inner = Source()
            inner.feed(text)
            inner.eof = True
            reader = StringReader(inner, INNER_PYTHON)
            for _ in reader._chars("", out, "member"):
                pass
        else:
            out(escaped(text))
        return True

    def _chars(self, quote: str, out: Sink, place: str) -> Need[None]:
        """The inside of a string up to its closing quote, as JSON characters."""
        src = self.src
        pattern, closers = _inside(quote)
        inner = 0
        drive = False
        begun = False
        while True:
            buf, pos = src.buf, src.pos
            found = pattern.search(buf, pos)
            end = found.start() if found else len(buf)
            if end > pos:
                piece = buf[pos:end]
                if not begun:
                    begun = True
                    drive = len(piece) == 2 and piece[1] == ":" and piece[0].isalpha()
                out(piece)
                src.pos = end
            if found is None:
                if src.eof:
                    if not quote:
                        return
                    raise Cut
                src.tap = (pattern.search, out) if begun else None
                yield
                src.tap = None
                continue
            c = buf[end]
            if c == "\\":
                begun = True
                drive = yield from self._escape(out, drive)
            elif c in closers:
                if (yield from self._closes(place, inner)):
                    src.pos += 1
                    if inner:
                        self.note("unescaped_quote")
                    return
                yield from self._refuse_key(place)
                inner += 1
                src.pos += 1
                out('\\"' if c == '"' else c)
            elif c == '"':
                src.pos += 1
                out('\\"')
            elif c < " ":
                src.pos += 1
                self.note("raw_control")
                out(escaped(c))
            else:
                yield from self._surrogate(out)

    def _surrogate(self, out: Sink) -> Need[None]:
        """A surrogate in the text itself: half a character that nothing can carry."""
        self.src.pos += 1
        self.note("surrogate", "", "\ufffd")
        out("\ufffd")
        return
        yield

    def _escape(self, out: Sink, drive: bool) -> Need[bool]:
        """One backslash sequence.  Returns whether the string is a raw Windows path from here on."""
        src = self.src
        two = yield from src.peek(2)
        if len(two) < 2:
            raise Cut
        c = two[1]
        if c in '"\\/':
            src.pos += 2
            out(two)
            return drive
        if drive and self._raw_path:
            src.pos += 2
            out("\\\\" + escaped(c))
            return True
        if c in "bfnrt":
            src.pos += 2
            out(two)
            return drive
        if c == "u" and (yield from self._unicode(out)):
            return drive
        src.pos += 2
        if self.form.python and (yield from self._python_escape(c, out)):
            return drive
        self.note("invalid_escape", two)
        if c.isalnum() or self.form.python:
            self._raw_path = drive and c.isalnum()
            out("\\\\" + escaped(c))
        else:
            out(escaped(c))
        return drive

    _raw_path = False

    def _python_escape(self, c: str, out: Sink) -> Need[bool]:
        if c == "x":
            digits = yield from self.src.peek(2)
            if len(digits) == 2 and all(h in "0123456789abcdefABCDEF" for h in digits):
                self.src.pos += 2
                out(f"\\u00{digits}")
                return True
        elif c == "\n":
            return True
        elif c in PYTHON_ESCAPES:
            out(PYTHON_ESCAPES[c])
            return True
        return False

    def _unicode(self, out: Sink) -> Need[bool]:
        """`\\uXXXX`, a surrogate pair whole; half of one is refused."""
        src = self.src
        six = yield from src.peek(6)
        if not HEX4.fullmatch(six[2:]):
            if src.eof and len(six) < 6:
                raise Cut
            return False
        code = int(six[2:], 16)
        if not 0xD800 <= code < 0xE000:
            src.pos += 6
            out(six)
            return True
        twelve = yield from src.peek(12)
        low = twelve[6:]
        if code < 0xDC00 and low[:2] == "\\u" and HEX4.fullmatch(low[2:]) and 0xDC00 <= int(low[2:], 16) < 0xE000:
            src.pos += 12
            out(twelve)
            return True
        if src.eof and len(twelve) < 12 and code < 0xDC00 and "\\u".startswith(low[:2]):
            raise Cut
        raise Broken("a lone surrogate is half a character")

    # ── where does a string end? ─────────────────────────────────────────────

    def _closes(self, place: str, inner: int) -> Need[bool]:
        """Is the quote at `pos` the string's end, or an unescaped quote inside it?

        In well-formed JSON what follows a string's end is structure, so a quote that is not followed by structure
        stands inside.  When quotes inside were seen and a declared key could begin here too, there are two readings.
        """
        look = _Look(self.src)
        c = yield from look.after_space()
        if not c or not self.closers or (yield from look.at(self.stops)):
            return True
        if place == "key":
            return c in ":=：,)]}"
        if c == self.closers[-1]:
            return (yield from self._brackets_follow(look))
        if c == ",":
            if place == "item":
                return (yield from self._item_follows(look))
            verdict = yield from self._key_follows(look)
            if verdict and inner % 2 and verdict != "]":
                raise Broken(TWO_READINGS)
            return bool(verdict)
        if c in "\"'":
            if place == "item":
                return look.skipped
            return look.skipped and bool((yield from self._quoted_key(look)))
        if c in "/#" and look.skipped:
            return True
        return c in "<~`;" and len(self.closers) == 0

    def _refuse_key(self, place: str) -> Need[None]:
        """A quote inside a string of an object, behind a comma: where a key could begin, there are two readings."""
        if place != "member" or not self.src.behind(16).rstrip().endswith(","):
            return
        if (yield from self._quoted_key(_Look(self.src, 0))):
            raise Broken(TWO_READINGS)

    def _brackets_follow(self, look: _Look) -> Need[bool]:
        """After a closing bracket: more brackets, a comma, or the end of everything that was open."""
        for closer in reversed(self.closers):
            c = yield from look.after_space()
            if c == "":
                return True
            if c != closer:
                return c not in "\"'" and not c.isalnum() and c not in "+.;)"
            look.skip()
        return not self.form.python or (yield from self._call_ends(look))

    def _call_ends(self, look: _Look) -> Need[bool]:
        """After a Python call's last bracket: no quote and no word, whatever brackets are closed around it."""
        while (c := (yield from look.char())) in ")]}" and c:
            look.skip()
        return not c or (c not in "\"'" and not c.isalnum())

    def _item_follows(self, look: _Look) -> Need[bool]:
        look.skip()
        c = yield from look.after_space()
        return not c or c in "\"'[{(-+.0123456789tfnTFNrRuU“‘" or c in "])"

    def _key_follows(self, look: _Look) -> Need[str]:
        """After a comma in an object: "" unless a key (or the object's end) can begin there."""
        look.skip()
        c = yield from look.after_space()
        if not c or c == self.closers[-1] or c == "," or (yield from look.at(COMMENTS)):
            return "]"
        if c in "\"'“":
            return (yield from self._quoted_key(look))
        return (yield from look.bare_key(self.form.pair))

    def _quoted_key(self, look: _Look) -> Need[str]:
        return (yield from look.quoted_key((*self.form.pair, ":")))

class _Look:
    """A look ahead from a quote, without consuming; remembers how far it got while it waits for more text."""

    __slots__ = ("ahead", "skipped", "src")

    def __init__(self, src: Source, ahead: int = 1) -> None:
        self.src, self.ahead, self.skipped = src, ahead, False

    def char(self) -> Need[str]:
        src = self.src
        while src.pos + self.ahead >= len(src.buf) and not src.eof:
            yield
        return src.buf[src.pos + self.ahead : src.pos + self.ahead + 1]

    def after_space(self) -> Need[str]:
        while (c := (yield from self.char())) and c in BLANK:
            self.ahead += 1
            self.skipped = True
        return c

    def skip(self) -> None:
        self.ahead += 1

    def at(self, marks: tuple[str, ...]) -> Need[bool]:
        """Does one of `marks` stand here?"""
        src, longest = self.src, max(map(len, marks), default=0)
        while True:
            begin = src.pos + self.ahead
            rest = src.buf[begin : begin + longest]
            if any(rest.startswith(m) for m in marks):
                return True
            if src.eof or not any(m.startswith(rest) for m in marks):
                return False
            yield

    def quoted_key(self, pairs: tuple[str, ...]) -> Need[str]:
        """The key that begins at the present quote, if one does: a short quoted run and then a pair mark."""
        quote = yield from self.char()
        start = self.ahead + 1
        self.skip()
        while (c := (yield from self.char())) != quote:
            if not c or c == "\n" or self.ahead - start > MAX_KEY:
                return "" if c else "]"
            self.ahead += 2 if c == "\\" else 1
        key = self.src.buf[self.src.pos + start : self.src.pos + self.ahead]
        self.skip()
        c = yield from self.after_space()
        return (key or "]") if not c or c in pairs else ""

    def bare_key(self, pairs: tuple[str, ...]) -> Need[str]:
        """The bare key that begins here, if one does."""
        start = self.ahead
        while (c := (yield from self.char())) and (c.isalnum() or c in "_-.$"):
            if self.ahead - start > MAX_KEY:
                return ""
            self.skip()
        key = self.src.buf[self.src.pos + start : self.src.pos + self.ahead]
        c = yield from self.after_space()
        return key if key and (not c or c in pairs) else ""


def quoted(text: str) -> str:
    """`text` as a JSON string with its quotes; surrogates become U+FFFD."""
    return f'"{escaped(text)}"'


def escaped(text: str) -> str:
    """`text` as the inside of a JSON string; surrogates become U+FFFD."""
    if SURROGATE.search(text):
        text = SURROGATE.sub("\ufffd", text)
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _inside(quote: str) -> tuple[re.Pattern[str], str]:
    closers = CLOSERS.get(quote, quote)
    return _inside_pattern(closers), closers


_PATTERNS: dict[str, re.Pattern[str]] = {}


def _inside_pattern(closers: str) -> re.Pattern[str]:
    if closers not in _PATTERNS:
        marks = re.escape(closers + '"') if closers != '"' else '"'
        _PATTERNS[closers] = re.compile(f"[{marks}\\\\\\x00-\\x1f\ud800-\udfff]")
    return _PATTERNS[closers]
