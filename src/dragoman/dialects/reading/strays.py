"""Closers that stand once more behind a call: was its last value raw text that holds them?

A raw value has no escape, so one that speaks of its own notation may hold all that ends a call.  What the rest of the
message holds tells: closers that no opener behind the call accounts for.  Knows the marks of a row; no values and no
verdicts.

Contract: nothing is consumed; the rest of a message is looked through once for a row, however many calls it holds; what
is decided rests on all of the message, or on a call that follows at once, so any chunking gives the same.
Source: judge-rules.md D and 5 (an executed argument has lost no character).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum, auto
from functools import lru_cache
from typing import TypeAlias

from ...lenient.source import SPACE, Need, Source, chooser, finder
from ...records import NamedTuple

TWO_ENDS = "where an argument ends is not clear: closers of its call stand once more behind it"

Another: TypeAlias = Callable[[], Need[tuple[int, str]]]


class Behind(Enum):
    """What the rest of the message says of a closer that seems to end a call."""

    CLEAR = auto()    # it does
    VALUE = auto()    # the value holds it: the last closers, with which the message ends, are the true ones
    DOUBT = auto()    # two readings are left


class CallMarks(NamedTuple):
    """The marks of a call with raw values: a value's closers, what may end the call behind one, what begins another."""

    value: tuple[str, ...]
    ends: tuple[str, ...]
    opens: tuple[str, ...]


class Strays:
    """The closers too many of one message, by row; `cut` says that its end was cut off."""

    cut: Callable[[], bool]

    def __init__(self, cut: Callable[[], bool]) -> None:
        self.cut = cut
        self._seen: dict[CallMarks, _Rest] = {}

    def behind(self, src: Source, size: int, marks: CallMarks, another: Another, *, text: bool) -> Need[Behind]:
        """What the rest says of the value's closer of `size` characters that stands here.

        `another` tells whether a further call begins at a place; `text` that the value may hold anything.
        """
        at, rest = src.at, self._seen.get(marks)
        if rest is None or not rest.begin <= at < rest.end:  # what a later call told says nothing of an earlier one
            src.hold()
            src.pos += size
            rest = yield from _rest(src, marks, another)
            src.rewind()
            if rest is None:
                return Behind.CLEAR
            rest.begin = at
            self._seen[marks] = rest
        if rest.last <= at:
            cut = text and not rest.blank and self.cut() and not rest.inside
            return Behind.DOUBT if rest.doubtful or cut else Behind.CLEAR
        if not (rest.blank and rest.apart) or rest.opens:
            rest.doubtful = True
        return Behind.DOUBT if rest.doubtful else Behind.VALUE


class _Rest:
    """What was found between a call, which was to end at `begin`, and the message's `end`.

    `last` is where the last closers too many stand (-1: there are none), `apart` that words stand before the first of
    them, `opens` that another call was whole before the end; `blank` that nothing but white space follows what was
    closed last; `inside` that a call is open at the end (one in another's value counts as one).
    """

    def __init__(self, at: int) -> None:
        self.last, self.begin, self.end = -1, at, at
        self.blank, self.apart, self.opens, self.inside, self.doubtful = True, False, False, False, False

    def text(self, text: str) -> None:
        """Text between marks."""
        if not text.isspace():
            self.blank = False

    def open(self) -> None:
        """Another call, or what is around it, begins."""
        self.blank, self.inside = False, True

    def close(self, at: int, *, value: bool) -> None:
        """Closers, with that of a value before them or without; those behind a call that opened here are its own."""
        if self.inside:
            self.inside, self.opens, self.blank = False, True, True
        elif value:
            self.apart = self.apart or self.last >= 0 or not self.blank
            self.last, self.blank = at, True


def _rest(src: Source, marks: CallMarks, another: Another) -> Need[_Rest | None]:
    """Look through the rest of the message; None where another call follows at once."""
    yield from _over(src, marks.ends)
    if (yield from src.glance(marks.opens))[1] or (yield from another())[1]:
        return None
    rest = _Rest(src.at)
    watched = (*marks.value, *marks.ends, *marks.opens)
    if src.eof:
        _read_rest(src, marks, watched, rest)
        return rest
    while mark := (yield from src.until(watched, rest.text)):
        at = src.at - len(mark)
        if mark in marks.opens:
            rest.open()
        elif mark in marks.ends:
            yield from _over(src, marks.ends)
            rest.close(at, value=False)
        elif (yield from src.glance(marks.ends))[1]:
            yield from _over(src, marks.ends)
            rest.close(at, value=True)
        else:
            rest.text(mark)
    rest.end = src.at + 1
    return rest


def _read_rest(src: Source, marks: CallMarks, watched: tuple[str, ...], rest: _Rest) -> None:
    """The same of a text that has ended: nothing is waited for, and a megabyte may hold a hundred thousand marks."""
    buf, base, pos = src.buf, src.base, src.pos
    search, over, opens, ends = finder(watched)[0].search, _run(marks.ends).match, marks.opens, marks.ends
    while (found := search(buf, pos)) is not None:
        start, end = found.span()
        if start > pos:
            rest.text(buf[pos:start])
        mark, pos = found.group(), end
        if mark in opens:
            rest.open()
            continue
        behind = over(buf, end).end()  # type: ignore[union-attr]
        if mark in ends or behind > end:
            pos = behind
            rest.close(base + start, value=mark not in ends)
        else:
            rest.text(mark)
    if pos < len(buf):
        rest.text(buf[pos:])
    src.pos = len(buf)
    rest.end = src.at + 1


@lru_cache(maxsize=256)
def _run(marks: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern for all of `marks` that stand at a place, with white space before each."""
    return re.compile(rf"(?:{SPACE.pattern}(?:{chooser(marks)[0].pattern}))*+", re.IGNORECASE | re.ASCII)


def _over(src: Source, marks: tuple[str, ...]) -> Need[None]:
    """Step over all of `marks` that stand here."""
    while True:
        size, found = yield from src.glance(marks)
        if not found:
            return
        src.pos += size
