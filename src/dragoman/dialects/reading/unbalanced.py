"""Marks of arguments in a finished raw value that nothing in it closes, or that nothing in it opened.

A value may hold calls of its own notation, whose marks balance.  An opener left over has perhaps taken this value's
closer for its own: the true one is damaged, and another argument, or the rest of another call, stands in the value
(judge-rules.md D, E).

Knows the marks of a row and how they nest; asks for names only whether a tool is `known` by one.
Contract: linear in the text; nothing is said of a mark that stands between words, as one that is spoken of does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache

from ...late import late
from ...records import NamedTuple
from .compiled import Row
from .nesting import MAX_OPENER, NAME_OVER, OPENING_TAG, TAG_OVER
from .passed_marks import own_marks

LINE_START = late(r"(?:\A|\n)[ \t]*\Z")
MOST_INDENT = 200
NAME = late(r"\s*[\"']?(?P<name>[\w.:-]{1,128})")
PIECE = 3


class Left(NamedTuple):
    """Where openers stand that nothing closes, and where closers end that nothing opened."""

    opens: list[int]
    closes: list[int]


def left_over(row: Row, text: str) -> Left:
    """The marks of arguments in the text that do not balance."""
    nesting = row.nesting
    opened: defaultdict[str, list[int]] = defaultdict(list)
    closes: list[int] = []
    for found in own_marks(row)[0].finditer(text):
        mark, at = found.group(), found.start()
        kind = nesting.closes.get(mark)
        if kind is None:
            kind = nesting.kind_of(mark)
            if kind in nesting.values and _opens(row, text, at, mark):
                opened[kind].append(at)
        elif opened[kind]:
            opened[kind].pop()
        else:
            closes.append(found.end())
    return Left(sorted(at for places in opened.values() for at in places), closes)


def _opens(row: Row, text: str, at: int, mark: str) -> bool:
    """Does the mark that stands here open something?"""
    if row.nesting.opens.get(mark) != mark[1:]:
        return True
    if TAG_OVER.search(text, at + 1, at + MAX_OPENER) is None:
        return False
    return text[at + len(mark)] in NAME_OVER and OPENING_TAG.match(text, at) is not None


@lru_cache(maxsize=256)
def _openers(row: Row) -> tuple[str, ...]:
    """What an opener of an argument begins with."""
    nesting = row.nesting
    marks = [mark for mark, kind in nesting.opens.items() if kind in nesting.values]
    return tuple(mark for mark in marks if not any(mark != other and mark.startswith(other) for other in marks))


def holds_next(row: Row, text: str, known: Callable[[str], bool]) -> bool:
    """Does an opener that nothing closes begin a line of the text, or stand behind the opener of another call?"""
    if not any(mark in text for mark in _openers(row)):
        return False
    opens = left_over(row, text).opens
    if not opens:
        return False
    if any(LINE_START.search(text, max(0, at - MOST_INDENT), at) for at in opens):
        return True
    ends = [at for mark in row.ends if len(mark) > PIECE and (at := text.find(mark, 0, opens[-1])) >= 0]
    return bool(ends) and _names_call(row, text[min(ends) : opens[-1]], known)


def _names_call(row: Row, text: str, known: Callable[[str], bool]) -> bool:
    """Does a mark of a call stand in the text, and the name of a tool behind it?"""
    for mark in row.opens_call:
        at = text.find(mark)
        while at >= 0:
            at += len(mark)
            name = NAME.match(text, at)
            if name is not None and known(name["name"]):
                return True
            at = text.find(mark, at)
    return False
