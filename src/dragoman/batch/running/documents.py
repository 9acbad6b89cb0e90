"""The rows of a file that is one JSON value: the elements of its list, one at a time.

Brackets and strings alone are looked at, so what is wrong inside of an element is that element's own affair.  Where an
element never ends, or ends twice, the way the others are set out (each beginning a line, at one indent) says where the
next one begins.  Knows JSON's brackets; nothing of rows or units.
Contract: the elements of a list that is JSON are those that JSON says (sixteen lines of one that begin as the elements
before it did are taken for elements); memory holds an element at most, and of one that is too long its beginning; every
byte between the brackets is an element's, but commas and blanks between them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import IO

from ...records import NamedTuple
from ..row_json import BadRow, dumps, is_json, loads
from .skipped import Skipped, Stretch, held

CHUNK = 1 << 20
LISTS = ("simulations", "data", "rows", "train", "conversations_list")
"""Keys of objects whose list is the rows."""
ABOUT = "info"
"""The key beside such a list that is said of each row of it."""
ROW = "messages"
"""An object with it is a row itself."""
LOOK = 32 << 10
"""So far an element is followed before it is asked whether it ends at all; then twice as far, and so on."""
MOST_STARTS = 16
"""So many lines begin as elements do inside of one that has not ended: it never will."""
BLANK = b" \t\r\n"
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_INSIDE = re.compile(rb'[^"\[\]{}]*+(?:%b[^"\[\]{}]*+)*+' % _STRING, re.DOTALL)
_ON_TOP = re.compile(rb'[^"\[\]{},]*+(?:%b[^"\[\]{},]*+)*+' % _STRING, re.DOTALL)
"""What stands before the next bracket (on top: or comma), or before a string that does not end here."""
_QUOTED = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_WRITTEN = re.compile(rb'(?:[^\s"]++|%b|")++' % _STRING, re.DOTALL)
_START = re.compile(rb"\n([ \t]*)\{")
_KEY = re.compile(rb"\s*(%b)\s*:\s*" % _STRING, re.DOTALL)
_OF_OBJECTS = re.compile(rb"\[\s*(?:\{|\Z)")
_SPACE = re.compile(rb"\s*")
OPEN, QUOTE, BACKSLASH = b"[{", b'"', b"\\"
CLOSERS = {b"[": b"]", b"{": b"}"}


class Element(NamedTuple):
    """One element, and where it begins in the file (unpacked)."""

    offset: int
    stretch: Stretch


def rows_of(open_file: Callable[[], IO[bytes]], begin: int, most: int) -> Iterator[Stretch] | None:
    """The rows of the JSON value whose first byte has the offset `begin`; None where it is no JSON value.

    open_file  opens the file, unpacked, at its first byte: it is read twice where a list stands in an object
    most       bytes of a row that is held
    """
    with open_file() as stream:
        _skip(stream, begin)
        first = stream.read(1)
    if first == b"[":
        return _of_list(open_file, begin, most)
    found = _members(open_file, begin)
    if found is None:
        return None
    about = found.get(ABOUT)
    for key in LISTS:
        if ROW not in found and key in found and found[key].stretch.data[:1] == b"[":
            return _each_with(about, _of_list(open_file, found[key].offset, most, alone=False), most)
    return _whole(open_file, begin, most)


def _of_list(open_file: Callable[[], IO[bytes]], begin: int, most: int, *, alone: bool = True) -> Iterator[Stretch]:
    """The elements of a list; where it stands `alone`, of lists behind it too, and what else is there as a row."""
    with open_file() as stream:
        _skip(stream, begin)
        left = stream.read(CHUNK)
        while left[:1] == b"[":
            elements = Elements(stream, begin, most, left, mark_of(left), alone=alone)
            yield from (_on_one_line(one.stretch) for one in elements)
            if not alone:
                return
            left, begin = elements.left.lstrip(BLANK), elements.offset
        yield from _rest(stream, left, most)


def _rest(stream: IO[bytes], left: bytes, most: int) -> Iterator[Stretch]:
    """All that is left of a stream, as one row."""
    data = left + stream.read(max(0, most + 1 - len(left)))
    if len(data) > most:
        skipped = Skipped(data)
        while chunk := stream.read(CHUNK):
            skipped.add(chunk)
        yield skipped.stretch
    elif data.strip(BLANK):
        yield _on_one_line(Stretch(data, len(data)))


def _members(open_file: Callable[[], IO[bytes]], begin: int) -> dict[str, Element] | None:
    """Key → where its value begins, and the value, or its beginning; None where the object is none."""
    made: dict[str, Element] = {}
    with open_file() as stream:
        _skip(stream, begin)
        elements = Elements(stream, begin, CHUNK)
        for offset, stretch in elements:
            found = _KEY.match(stretch.data)
            if found is None:
                return None
            value = stretch._replace(data=stretch.data[found.end() :])
            made[str(_value(found[1]))] = Element(offset + found.end(), value)
        behind = elements.left or stream.read(CHUNK)
    return made if elements.closed and not behind.strip() else None


def lists_rows(head: bytes) -> bool:
    """Does the object that begins so hold its rows in a list, and is no row itself?"""
    found = [(_KEY.match(data), data) for _, (data, *_) in Elements(io.BytesIO(head), 0, len(head))]
    values = {str(_value(key[1])): data[key.end() :] for key, data in found if key is not None}
    return ROW not in values and any(_OF_OBJECTS.match(values.get(key, b"")) for key in LISTS)


def _value(data: bytes) -> object:
    try:
        return loads(data)
    except BadRow:
        return None


def _whole(open_file: Callable[[], IO[bytes]], begin: int, most: int) -> Iterator[Stretch]:
    """The value as one row."""
    with open_file() as stream:
        _skip(stream, begin)
        yield from _rest(stream, b"", most)


def _each_with(about: Element | None, rows: Iterator[Stretch], most: int) -> Iterator[Stretch]:
    """The rows of an object's list, each with what the object says of all of them."""
    said = None if about is None or about.stretch.digest else _value(about.stretch.data)
    for row in rows:
        one = None if said is None or row.digest else _value(row.data)
        yield held(dumps({ABOUT: said, **one}), most) if isinstance(one, dict) else row


def _on_one_line(stretch: Stretch) -> Stretch:
    """JSON without the blanks that set it out on several lines, digits and strings as written; what is none whole."""
    several = b"\n" in stretch.data or b"\r" in stretch.data
    if stretch.digest or not several or not is_json(stretch.data):
        return stretch
    data = b"".join(_WRITTEN.findall(stretch.data))
    return Stretch(data, len(data))


def _skip(stream: IO[bytes], count: int) -> None:
    while count and (read := len(stream.read(min(count, CHUNK)))):
        count -= read


class Elements:
    """The elements of the list, or the members of the object, that begins at the next byte of `stream`.

    `given` is what was read of it before, `mark` how the lines begin that begin an element; of one that stands
    `alone` something may follow the end, by which it is told whether that is the end.
    `closed` says whether its end was seen; `left` is what was read behind it.
    """

    def __init__(
        self, stream: IO[bytes], offset: int, most: int, given: bytes = b"", mark: bytes | None = None,
        *, alone: bool = True,
    ) -> None:  # fmt: skip
        self._stream, self._most, self._mark, self._alone = stream, most, mark, alone
        self._buffer = given or stream.read(CHUNK)
        self._closer = CLOSERS[self._buffer[:1]]
        self._base = offset  # the offset of the buffer's first byte
        self._start = self._at = 1  # where the open element begins, and how far it was looked at
        self._limit = 1 + LOOK  # how far to look before it is asked whether it ends
        self._depth, self._quoted, self._ended = 1, False, False
        self._skipped: Skipped | None = None
        self.closed = False

    @property
    def left(self) -> bytes:
        """What was read behind the end."""
        return self._buffer[self._start :]

    @property
    def offset(self) -> int:
        """Where that begins."""
        return self._base + self._start

    def __iter__(self) -> Iterator[Element]:
        while not self.closed and self._start <= len(self._buffer):
            if self._to_end():
                yield from self._element()
            elif self._never_ends():
                yield self._cut()
            elif self._limit < len(self._buffer):
                self._limit += self._at - self._start + LOOK
            elif self._ended:
                self._at = len(self._buffer)
                yield from self._element()
            else:
                self._read()

    # ── reading on ───────────────────────────────────────────────────────────

    def _read(self) -> None:
        """Read more; what went by is let go."""
        passed = self._buffer[self._start : self._at]
        if self._skipped is not None:
            self._skipped.add(passed)
            self._start = self._at
        elif len(passed) > self._most:
            self._skipped, self._start = Skipped(passed), self._at
        self._base += self._start
        chunk = self._stream.read(CHUNK)
        self._ended = not chunk
        self._buffer = self._buffer[self._start :] + chunk
        self._at, self._limit, self._start = self._at - self._start, self._limit - self._start, 0

    def _to_end(self) -> bool:
        """Go on to the comma or the bracket that ends the open element; False where it is not before the limit."""
        buffer, size = self._buffer, len(self._buffer)
        limit = size if self._mark is None else min(size, self._limit)
        while self._at < limit:
            pattern = _QUOTED if self._quoted else _ON_TOP if self._depth == 1 else _INSIDE
            found = pattern.match(buffer, self._at, limit)
            self._at = self._at if found is None else found.end()
            sign = buffer[self._at : self._at + 1]
            if self._at == limit or sign == BACKSLASH:  # an escape that does not end here
                return False
            if self._depth == 1 and not self._quoted and sign in (b",", self._closer):
                if sign == b"," or self._is_end():
                    return True
                if self._behind() == size and not self._ended:
                    return False  # what is behind it must be seen
            self._at += 1
            if sign == QUOTE:
                self._quoted = not self._quoted
            else:
                self._depth = max(1, self._depth + (1 if sign in OPEN else -1))
        return False

    # ── what ends ────────────────────────────────────────────────────────────

    def _element(self) -> Iterator[Element]:
        """The element that ends here; one that is no JSON, and in which others begin, ends where the first does."""
        data = self._buffer[self._start : self._at]
        if self._begun() and not is_json(data):
            yield self._cut()
            return
        if data.strip(BLANK) or self._skipped is not None:
            yield self._made(data)
        self.closed = self._buffer[self._at : self._at + 1] == self._closer
        self._begin(self._at + 1)

    def _begin(self, at: int) -> None:
        """Open the next element."""
        self._start = self._at = at
        self._limit = at + LOOK
        self._depth, self._quoted = 1, False

    def _is_end(self) -> bool:
        """Is this closing bracket the list's own?  One too many is where a comma follows, or in a list whose elements
        begin their lines anything but another list."""
        if not self._alone:
            return True
        behind = self._behind()
        sign = self._buffer[behind : behind + 1]
        if not sign:
            return self._ended
        return sign != b"," and (self._mark is None or sign == b"[")

    def _behind(self) -> int:
        """Where something stands behind the sign that is looked at; the buffer's end where nothing does."""
        return _after_blanks(self._buffer, self._at + 1)

    def _begun(self) -> int:
        """How many lines of the open element begin as elements do, its own first one left out."""
        if self._mark is None:
            return 0
        return self._buffer.count(self._mark, self._first(), self._at)

    def _first(self) -> int:
        """The open element's first byte in the buffer."""
        return self._start if self._skipped is not None else _after_blanks(self._buffer, self._start)

    def _made(self, data: bytes) -> Element:
        offset = self._base + self._start
        if self._skipped is None:
            trimmed = data.strip(BLANK)
            return Element(offset + data.find(trimmed), held(trimmed, self._most))
        begin = offset - self._skipped.size
        self._skipped.add(data)
        stretch, self._skipped = self._skipped.stretch, None
        return Element(begin, stretch)

    # ── what never ends ──────────────────────────────────────────────────────

    def _never_ends(self) -> bool:
        """Do so many lines begin as elements do, or all that are left, that the open element cannot end?"""
        is_last = self._ended and self._at == len(self._buffer)
        too_long = self._skipped is not None or self._at - self._start > self._most
        return self._begun() >= (1 if is_last or too_long else MOST_STARTS)

    def _cut(self) -> Element:
        """End the open element where the next line begins as elements do."""
        assert self._mark is not None
        self._at = self._buffer.find(self._mark, self._first())
        made = self._made(self._buffer[self._start : self._at].rstrip(BLANK).removesuffix(b","))
        self._begin(self._at)
        return made


def _after_blanks(data: bytes, at: int) -> int:
    found = _SPACE.match(data, at)
    return at if found is None else found.end()


def mark_of(head: bytes) -> bytes | None:
    """How the lines begin that begin an element of the list that begins so; None where elements are not set out so."""
    starts = list(_START.finditer(head))
    if not starts:
        return None
    indent = min((found[1] for found in starts), key=len)
    places = [found.start() for found in starts if found[1] == indent]
    pieces = [head[at:end].strip(BLANK).removesuffix(b",") for at, end in pairwise(places)]
    mark = b"\n" + indent + b"{"
    whole = (one.stretch.data for one in Elements(io.BytesIO(), 0, len(head), head))
    if sum(map(is_json, pieces)) * 2 < max(2, len(pieces)) or any(mark in one and is_json(one) for one in whole):
        return None
    return mark
