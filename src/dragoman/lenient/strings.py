"""Strings as models quote them, read piecemeal and written on as the inside of strict JSON strings.

Quotes of any kind, escapes that are none, raw control characters, unescaped quotes inside: what has one reading is
mended and noted as an `Edit`, what has two raises `Broken`.  Where a damaged string ends is decided by what follows it.
This module does not know about objects, schemas or tools; `reader.py` reads values with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..late import late
from ..records import dataclass
from ..types import Edit
from .damaged import ends_of
from .insides import FIRST, Inside, inside, odd_escapes
from .notation import CLOSERS, INNER_PYTHON, JSON, TRIPLES, Broken, Cut, Form
from .quoting import escaped
from .source import Need, Sink, Source, Tap
from .string_ends import MOST_QUOTES, StringEnds

HEX = late(r"[0-9a-fA-F]+")
HEX_ESCAPES = {"x": 2, "U": 8}
"""Python's escapes that give a character's number, and of how many digits."""
OCTAL = late(r"0[0-7]{1,2}|[1-3][0-7]{2}")
"""The same in octal: a lone digit behind a backslash more often means a group of a pattern."""
HEX4 = late(r"[0-9a-fA-F]{4}")
SURROGATES = late("[\ud800-\udfff]+")
ESCAPES = late(r"\\(.)", re.S)
QUOTES = late(r"\\.|\"", re.S)
STEP = 20
"""Characters read again that a step of looking for a damaged string's end is as dear as."""
DRIVE = 2
"""Characters of a drive's name, with its colon."""
HALF_MEANT = frozenset("bf/\\")
"""Escapes of JSON that nobody means beside an escape that is none."""
LINE_ESCAPES = frozenset("nrtu")
PATH = late(r"\\(?![bfnrtu])[A-Za-z][A-Za-z]")
"""A backslash before a word."""
TWO_ESCAPES = "some escapes in a string are none, so that the others have two readings"
MOST_ODD_QUOTES, TRIPLE = 30_000, 10
"""So many may in all of a text, where what follows decides on each, however often it is read; marks of three, which
JSON has not, count as so many."""
LONGEST_KEY = 1000
"""No argument's name has as many characters; one with quotes in it goes no further."""
MAX_REREAD = 1_000_000
PYTHON_ESCAPES = {"a": "\\u0007", "v": "\\u000b", "0": "\\u0000", "'": "'"}


@dataclass(slots=True)
class _Inside:
    """A string that is being read: its opening quote, what it stands in, where its inside began.

    `inner` counts the quotes inside; `plan` is where it ends by all that follows, -1 where that tells nothing;
    `crowded` says that more quotes follow than may stand in it; `begun` that a character of it was read, `escapes` that
    a backslash was, `drive` that it is the path of a Windows drive, whose backslashes stand for themselves.
    """

    quote: str
    place: str
    began: int
    inner: int = 0
    plan: int | None = None
    crowded: bool = False
    begun: bool = False
    escapes: bool = False
    drive: bool = False


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
        self._plan: dict[int, int] = {}
        self._odd_from, self._raw_path = -1, False

    def note(self, kind: str, before: str = "", after: str = "") -> None:
        """Record one mend at the present path; the same kind at the same path is told once."""
        path = "$" + "".join(self.path)
        for edit in reversed(self.edits):
            if edit.path != path:
                break
            if edit.kind == kind:
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
            if three in TRIPLES and place != "key":
                src.pos += 3
                if not form.python:
                    self.note("triple_quotes")
                    self._odd_quotes(TRIPLE)
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
        """Python's r'…' and u'…', and f'…' where nothing is to be filled in; b'…' has no value to give."""
        head = yield from self.src.peek(4)
        if len(head) < 2 or head[1] not in "\"'":
            return False
        if head[0] in "bB":
            raise Broken(f"{head[0]}-strings are not literals")
        mark = head[1:] if head[1:] in TRIPLES else head[1]
        self.src.pos += 1 + len(mark)
        if head[0] in "fF":
            yield from self._filled(mark, out)
        elif head[0] in "rR":
            yield from self._raw(mark, out)
        elif mark in TRIPLES:
            yield from self._fenced(mark, out, escapes=True)
        else:
            yield from self._chars(mark, out, place)
        return True

    def _filled(self, mark: str, out: Sink) -> Need[None]:
        """The inside of a string in which something may be to be filled in: one without that, and without escapes."""
        text = yield from self._up_to(mark)
        if any(sign in text for sign in "{}\\"):
            raise Broken("f-strings are not literals")
        out(escaped(text))

    def _up_to(self, mark: str) -> Need[str]:
        """The text up to this mark, which is taken.  Raises `Cut` where it does not come."""
        got: list[str] = []
        if not (yield from self.src.until((mark,), got.append)):
            raise Cut
        return "".join(got)

    def _raw(self, mark: str, out: Sink) -> Need[None]:
        """The inside of a string of which each backslash is its own, and a quote behind one does not end it."""
        got: list[str] = []
        while True:
            if not (yield from self.src.until((mark,), got.append)):
                raise Cut
            if not _ends_in_escape(got):
                break
            got.append(mark[0])
            self.src.pos -= len(mark) - 1
        out(escaped("".join(got)))

    def _fenced(self, mark: str, out: Sink, *, escapes: bool = False) -> Need[bool]:
        """A string that ends at `mark` and nowhere else."""
        text = yield from self._up_to(mark)
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
        if self.src.is_held:
            yield from self._inner_chars(quote, out, place)
            return
        self.src.hold()  # what it holds is looked at once more where it ends
        try:
            yield from self._inner_chars(quote, out, place)
        finally:
            self.src.unwind(1)
            self.src.release()

    def _inner_chars(self, quote: str, out: Sink, place: str) -> Need[None]:
        src = self.src
        marks = inside(quote)
        state = _Inside(quote, place, src.at)
        self._odd_from, self._raw_path = -1, False
        while True:
            buf, pos = src.buf, src.pos
            if self._passes_escapes(state):
                end = marks.run.match(buf, pos).end()  # type: ignore[union-attr]
            else:
                found = marks.search.search(buf, pos)
                end = found.start() if found else len(buf)
            if end > pos:
                state.begun = True
                out(buf[pos:end])
                src.pos = end
            if end == len(buf):
                if src.eof:
                    if not quote:
                        return
                    raise Cut
                if self._passes_escapes(state):
                    src.tap = Tap(marks.stop.search, out, marks.run.match)
                elif state.drive:
                    src.tap = Tap(marks.search.search, out)
                yield
                src.tap = None
                continue
            c = buf[end]
            if c == "\\":
                yield from self._backslash(state, out, marks)
            elif c in marks.closers:
                if (yield from self._at_quote(state, out, begun=state.begun)):
                    self._check_escapes(state)
                    return
            else:
                self._unfit(c, marks if state.begun else FIRST, out)

    def _passes_escapes(self, state: _Inside) -> bool:
        """May valid escapes be passed here?  Not where one may stand in the path of a drive."""
        return state.begun and not state.drive and (state.escapes or self.src.at - state.began > DRIVE)

    def _backslash(self, state: _Inside, out: Sink, marks: Inside) -> Need[None]:
        """An escape; the first tells whether the string is the path of a drive."""
        if not state.escapes and self.src.at - state.began == DRIVE:
            name = self.src.behind(DRIVE)
            state.drive = name[0].isalpha() and name[1] == ":"
        state.begun = state.escapes = True
        state.drive = yield from self._escape(out, marks, drive=state.drive)

    def _at_quote(self, state: _Inside, out: Sink, *, begun: bool) -> Need[bool]:
        """A quote that may end the string: does it?  One inside it is written, escaped."""
        src, place = self.src, state.place
        if src.at > src.limit:
            raise Cut
        c = src.buf[src.pos]
        if not state.inner and c == '"' and self._ends_here(src.pos, place):
            src.pos += 1
            return True
        if place == "key" and src.at - state.began > LONGEST_KEY:
            raise Broken(f"a key is longer than {LONGEST_KEY} characters")
        if state.plan is None:
            state.plan = yield from self._plan_for(state)
        ends = src.at == state.plan
        if state.plan < 0:
            at = src.pos
            room = MOST_QUOTES - state.inner
            if not room:
                raise Broken(f"more than {MOST_QUOTES} quotes stand inside a string")
            more = 0 if state.crowded else self._quotes_inside(state.quote, src.pos, place, room, begun=begun)
            state.crowded = state.crowded or more < 0
            if more > 0:
                state.inner += more
                self._odd_quotes(more)
                out(src.buf[at : src.pos].replace('"', '\\"'))
                return False
            self._odd_quotes(1)
            ends = yield from self._closes(place, state.inner)
            if not ends and place == "key" and (yield from self._opens_value()):
                return True
            if not ends:
                yield from self._refuse_key(place)
        src.pos += 1
        if ends and state.inner:
            self.note("unescaped_quote")
        if not ends:
            state.inner += 1
            out('\\"' if c == '"' else c)
        return ends

    def _odd_quotes(self, many: int) -> None:
        """So many quotes more were decided on by what follows them."""
        most = MOST_QUOTES if self.form.python else MOST_ODD_QUOTES
        self.src.quotes += many
        if self.src.quotes > most:
            raise Broken(f"more than {most} quotes stand inside strings")

    def _plan_for(self, state: _Inside) -> Need[int]:
        """Where the string ends whose first quote stands here; -1 where that is decided quote by quote."""
        if state.quote != '"' or state.place == "key" or not (self._far_stops and self.closers):
            return -1
        if (yield from self._closes(state.place, 0)) and not (yield from self._quotes_a_stop()):
            return self.src.at
        return (yield from self._planned_end())

    def _planned_end(self) -> Need[int]:
        """Where the string ends in which an unescaped quote stands here, by all that follows; -1 where that tells
        nothing."""
        src = self.src
        if src.at not in self._plan:
            if not src.eof:
                src.hold()
                yield from src.until((), _ignore)
                src.rewind()
            src.reread += len(src.buf) - src.pos
            if src.reread < MAX_REREAD + 4 * src.at:
                found, steps = ends_of(src.buf, src.pos, "".join(self.closers), self.stops)
                src.reread += STEP * steps
                self._plan = {src.base + quote: src.base + end for quote, end in found.items()}
        return self._plan.get(src.at, -1)

    def _check_escapes(self, state: _Inside) -> None:
        """Were escapes meant, where some are none?  What was written as it stands, or by halves, has two readings."""
        if not state.inner and self._odd_from < 0:
            return
        text = self.src.behind(self.src.at - state.began)
        if self._raw_path and LINE_ESCAPES & set(ESCAPES.findall(text[: self._odd_from - state.began - 2])):
            raise Broken(TWO_ESCAPES)  # `C:\temp\Users`: what went before was read as escapes
        escapes = set(ESCAPES.findall("" if self._raw_path else text))
        if self._odd_from >= 0 and (escapes & HALF_MEANT or (escapes & LINE_ESCAPES and PATH.search(text))):
            raise Broken(TWO_ESCAPES)
        if state.inner and '"' in escapes and _between_quotes(text):
            raise Broken(TWO_ESCAPES)

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
        src.pos = (marks.raw if c < " " else marks.plain).match(src.buf, pos).end()  # type: ignore[union-attr]
        out(escaped(src.buf[pos : src.pos]))

    def _escape(self, out: Sink, marks: Inside, *, drive: bool) -> Need[bool]:
        """One backslash sequence.  Returns whether the string is a raw Windows path from here on."""
        src = self.src
        two = yield from src.peek(2)
        if len(two) < 2:
            raise Cut
        c = two[1]
        if c in '"\\/' or c in marks.closers:
            src.pos += 2
            out(two if c in '"\\/' else c)
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
        if self.form.python and c in "\r\n" and (yield from self._goes_on_below()):
            return drive
        src.pos += 1 if c < " " else 2
        if c < " ":
            self.note("invalid_escape", "\\")
            self._odd_from = src.at
            out("\\\\")
            return drive
        if self.form.python and (yield from self._python_escape(c, out)):
            return drive
        self.note("invalid_escape", two)
        if self._odd_from < 0:
            self._odd_from = src.at
        self._raw_path = drive and c.isalnum()
        out("\\\\" + escaped(c))
        if not drive:
            self._more_escapes(out, marks)
        return drive


    def _more_escapes(self, out: Sink, marks: Inside) -> None:
        """Behind an escape that is none: more of them, control characters, and what needs no look, in few steps."""
        src, got = self.src, list[str]()
        buf, pos = src.buf, src.pos
        run, python, raw = marks.run.match, self.form.python, False
        odd = odd_escapes(marks.closers, python=python, raw=raw).match
        while True:
            end = odd(buf, well := run(buf, pos).end()).end()  # type: ignore[union-attr]
            if end > pos:
                wrong = buf[well:end]
                got += buf[pos:well], escaped(wrong) if raw else wrong.replace("\\", "\\\\")
                pos = end
            elif not raw and pos < len(buf) and buf[pos] < " " and buf[pos] not in marks.closers:
                self.note("raw_control")
                raw = True
                odd = odd_escapes(marks.closers, python=python, raw=raw).match
            else:
                break
        if got:
            out("".join(got))
            src.pos = pos

    def _goes_on_below(self) -> Need[bool]:
        """A backslash at a line's end, of which Python reads neither."""
        end = (yield from self.src.peek(3))[1:]
        size = 2 if end[:1] == "\n" else 3 if end == "\r\n" else 0
        self.src.pos += size
        return size > 0

    def _python_escape(self, c: str, out: Sink) -> Need[bool]:
        """One of Python's own escapes, of which the backslash and this character are behind us."""
        if c in HEX_ESCAPES:
            code = yield from self.src.peek(HEX_ESCAPES[c])
            if len(code) < HEX_ESCAPES[c] or not HEX.fullmatch(code) or not _is_character(int(code, 16)):
                return False
            self.src.pos += len(code)
            out(escaped(chr(int(code, 16))))
            return True
        found = OCTAL.match(c + (yield from self.src.peek(2))) if c in "0123" else None
        if found is not None:
            self.src.pos += found.end() - 1
            out(escaped(chr(int(found.group(), 8))))
            return True
        if c in PYTHON_ESCAPES:
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


def _ignore(_: str) -> None:
    return None


def _is_character(code: int) -> bool:
    return code < 0x110000 and not 0xD800 <= code < 0xE000


def _ends_in_escape(pieces: Sequence[str]) -> bool:
    """Does an odd number of backslashes stand at the end of what these pieces are?"""
    count = 0
    for piece in reversed(pieces):
        bare = piece.rstrip("\\")
        count += len(piece) - len(bare)
        if bare:
            break
    return count % 2 == 1


def _between_quotes(text: str) -> bool:
    """Does an escaped quote stand between two that are not?"""
    open_ = False
    for found in QUOTES.finditer(text):
        if found.group() == '"':
            open_ = not open_
        elif open_ and found.group() == '\\"':
            return True
    return False
