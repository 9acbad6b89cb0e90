"""Strings as models quote them, read piecemeal and written on as the inside of strict JSON strings.

Quotes of any kind, escapes that are none, raw control characters, unescaped quotes inside: what has one reading is
mended and noted as an `Edit`, what has two raises `Broken`.  Where a damaged string ends is decided by what follows it.
This module does not know about objects, schemas or tools; `reader.py` reads values with it.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

from ..types import Edit
from .notation import INNER_PYTHON, JSON, Broken, Cut, Form
from .source import Need, Sink, Source
from .string_ends import StringEnds

HEX4 = re.compile(r"[0-9a-fA-F]{4}")
SURROGATE = re.compile("[\ud800-\udfff]")
SURROGATES = re.compile("[\ud800-\udfff]+")
CLOSERS = {"“": "”", "”": "”", "„": "“”", "‘": "’", "’": "’", "«": "»", "「": "」", "＂": "＂"}
PYTHON_ESCAPES = {"a": "\\u0007", "v": "\\u000b", "0": "\\u0000", "'": "'"}


class StringReader(StringEnds):
    """Reads strings over a source.

    `edits` collects the mends, `path` says where; `places` is what stands directly in each open bracket ("member" or
    "item").
    """

    def __init__(self, src: Source, form: Form = JSON, stops: tuple[str, ...] = ()) -> None:
        super().__init__(src, form, stops)
        self.edits: list[Edit] = []
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
        marks = inside(quote)
        inner = 0
        drive = False
        begun = False
        while True:
            buf, pos = src.buf, src.pos
            if begun and not drive:
                end = marks.run(buf, pos).end()  # type: ignore[union-attr]
            else:
                found = marks.search(buf, pos)
                end = found.start() if found else len(buf)
            if end > pos:
                piece = buf[pos:end]
                if not begun:
                    begun = True
                    drive = len(piece) == 2 and piece[1] == ":" and piece[0].isalpha()
                out(piece)
                src.pos = end
            if end == len(buf):
                if src.eof:
                    if not quote:
                        return
                    raise Cut
                src.tap = (marks.search, out) if begun else None
                yield
                src.tap = None
                continue
            c = buf[end]
            if c == "\\":
                begun = True
                drive = yield from self._escape(out, drive)
            elif c in marks.closers:
                if not inner and c == '"' and self._ends_here(end, place):
                    src.pos += 1
                    return
                if quote == '"' and (more := self._quotes_inside(end, place, begun=begun)):
                    inner += more
                    piece, src.pos = buf[end : src.pos], src.pos
                    out(piece.replace('"', '\\"'))
                    continue
                if (yield from self._closes(place, inner)):
                    src.pos += 1
                    if inner:
                        self.note("unescaped_quote")
                    return
                yield from self._refuse_key(place)
                inner += 1
                src.pos += 1
                out('\\"' if c == '"' else c)
            else:
                self._unfit(c, marks if begun else FIRST, out)

    def _unfit(self, c: str, marks: Inside, out: Sink) -> None:
        """Characters that no JSON string holds as they are: control characters, quotes of another kind, surrogates."""
        src = self.src
        pos = src.pos
        if c >= "\ud800":
            self.note("surrogate", "", "\ufffd")
            src.pos = SURROGATES.match(src.buf, pos).end()  # type: ignore[union-attr]
            out("\ufffd" * (src.pos - pos))
            return
        if c < " ":
            self.note("raw_control")
        src.pos = (marks.raw if c < " " else marks.plain)(src.buf, pos).end()  # type: ignore[union-attr]
        out(escaped(src.buf[pos : src.pos]))

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


def quoted(text: str) -> str:
    """`text` as a JSON string with its quotes; surrogates become U+FFFD."""
    return f'"{text}"' if text.isidentifier() else f'"{escaped(text)}"'


def escaped(text: str) -> str:
    """`text` as the inside of a JSON string; surrogates become U+FFFD."""
    if SURROGATE.search(text):
        text = SURROGATE.sub("\ufffd", text)
    return json.dumps(text, ensure_ascii=False)[1:-1]


class Inside:
    """Patterns for the inside of a string, by its opening quote.

    `search` finds a character that needs a look, `run` what needs none, well-spelt escapes among it; `raw` takes text
    with control characters in it, `plain` text without, both with quotes that do not end the string.
    """

    __slots__ = ("closers", "plain", "raw", "run", "search")

    def __init__(self, closers: str) -> None:
        ends = re.escape(closers)
        quotes = ends if '"' in closers else ends + '"'
        fit = f"[^{quotes}\\\\\\x00-\\x1f\ud800-\udfff]"
        self.closers = closers
        self.search = re.compile(fit.replace("^", "", 1)).search
        self.run = re.compile(rf"{fit}*+(?:\\(?:[\"\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{{4}}){fit}*+)*+").match
        self.raw = re.compile(f"[^{ends}\\\\\ud800-\udfff]+").match
        self.plain = re.compile(f"[^{ends}\\\\\\x00-\\x1f\ud800-\udfff]+").match


class First(Inside):
    """Before anything else was written: what is written first tells a Windows path."""

    def __init__(self) -> None:
        super().__init__("")
        self.raw, self.plain = re.compile("[\\x00-\\x1f]+").match, re.compile('"+').match


FIRST = First()


@lru_cache(maxsize=64)
def inside(quote: str) -> Inside:
    """The patterns for a string that this quote opens."""
    return Inside(CLOSERS.get(quote, quote))
