"""Whole paragraphs and fenced blocks that leave nothing behind: what may be passed over unread.

Spans and quotation marks end with their paragraph; what outlasts it begins with one of a few marks, most of them first
on a line.  Where none of these stands, all up to the last blank line need not be read.  Knows texts; no state of a
reading.

Contract: no text is searched twice for one mark, however often `passable` is asked; what is passed holds whole lines,
and ends with a blank line's beginning or with a fenced block.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from ...late import late
from ...records import NamedTuple
from .boxes import ELEMENTS, FIRST_LETTERS, FORUM
from .line_marks import LINE_MARKS

LINE = late(rf"\n[ \t\r]*+{LINE_MARKS}")
"""Lines that may matter to later paragraphs."""
MARKS = {
    ":": late(r":(?= [|>])"),
    "\\": late(r"\\(?=(?i:begin)\{)"),
    "[": late(rf"\[(?=(?i:INST\]|(?:{FORUM})\b))"),
    "<": late(rf"<(?=[!<{FIRST_LETTERS}])(?=(?i:{ELEMENTS})\b|!--|!\[(?i:CDATA)\[|<[-~]?['\"]?\w)"),
    '"': late(r'"(?="")'),
    "'": late(r"'(?='')"),
    "/": late(r"/(?=\*)"),
}
"""Marks that may, wherever they stand, by their first sign: YAML's blocks, environments, turns, elements and comments.
Each pattern begins with one literal, which `re` looks for at ten times the speed of a class of characters, and at twice
that of two literals."""
WORD = re.compile(r"\S")
FENCE = late(r"[ \t\r]*+(?P<run>`{3,}+(?=[^`\n]*+\n)|~{3,}+)[^\n]*+\n")
"""The line that opens a fenced block."""


FENCES = late(
    r"(?:```(?!`)[^`\n]*+\n(?:(?![ \t\r]*+```)[^\n]*+\n)*+[ \t\r]*+`{3,}+[ \t\r]*+\n)*+"
)
"""Whole blocks of the plainest kind, one behind the other."""


class Prose(NamedTuple):
    """Stretches of one text, read as one; nothing is copied that nobody asks for."""

    text: str
    spans: tuple[tuple[int, int], ...]

    @property
    def size(self) -> int:
        """How many characters it has."""
        return sum([end - start for start, end in self.spans])

    def last(self, size: int) -> str:
        """Its last `size` characters, or all there are."""
        pieces: list[str] = []
        for start, end in reversed(self.spans):
            if size <= 0:
                break
            pieces.append(self.text[max(start, end - size) : end])
            size -= end - start
        return "".join(reversed(pieces))

    def is_blank(self) -> bool:
        """Is it nothing but blanks?"""
        return not any(WORD.search(self.text, start, end) for start, end in self.spans)

    def is_parted(self) -> bool:
        """Stands an empty line in it?"""
        text, before = self.text, False
        for start, end in self.spans:
            if text.find("\n\n", start, end) >= 0 or (before and text[start] == "\n"):
                return True
            before = text[end - 1] == "\n"
        return False


class Passed(NamedTuple):
    """Up to where text may be passed over, the prose in it, its fenced blocks, and where to ask for more."""

    end: int
    prose: Prose
    fences: int
    retry: int


class Paragraphs:
    """The paragraphs of one text."""

    __slots__ = ("_fences", "_last", "_line", "_mark", "_marks", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._last = text.rfind("\n\n") + 1
        self._fences = max(text.rfind("```"), text.rfind("~~~"))
        self._line = self._mark = -1
        self._marks = {sign: -1 if sign in text else len(text) for sign in MARKS}

    def passable(self, pos: int, until: int) -> Passed | None:
        """What may be passed over from the line's beginning `pos` on; None: neither a blank line nor a fence comes.

        It ends at a blank line, or behind a fenced block before which nothing can be open that was not at `pos`; what
        stands at `until` matters, unless it is in such a block.
        """
        text, last = self._text, self._last
        if pos >= max(last, self._fences):
            return None
        at, start, fences, calm = pos, pos, 0, True
        prose: list[tuple[int, int]] = []
        end, kept, passed, size = pos, 0, 0, len(text)
        while True:
            stop = self._line if at <= self._line <= self._mark else self._stop(at)
            stop = until if until < stop else stop
            cut = last if start < last <= stop else text.rfind("\n\n", start, stop) + 1
            if cut > start:
                prose.append((start, cut))
                start, end, kept, passed, calm = cut, cut, len(prose), fences, True
            after = _past(text, stop) if stop < size and text[stop] in "`~ \t\r" else 0
            if not after:
                break
            if stop > start:
                prose.append((start, stop))
            calm = text[stop - 2 : stop] == "\n\n" or (calm and start == stop)
            at, start, fences = after, after, fences + 1
            if calm:
                end, kept, passed = after, len(prose), fences
            if after > until:
                stop = after  # it stood in the block
                break
        return Passed(end, Prose(text, tuple(prose[:kept])), passed, max(stop, pos) + 1)

    def _stop(self, at: int) -> int:
        """Where what may matter later stands next: a place in a line, or the beginning of one."""
        text = self._text
        if self._line < at:
            found = LINE.search(text, at - 1)
            self._line = found.start() + 1 if found is not None else len(text)
        if self._mark < at:
            marks = self._marks
            for sign, mark in marks.items():
                if mark < at:
                    found = MARKS[sign].search(text, at)
                    marks[sign] = found.start() if found is not None else len(text)
            self._mark = min(marks.values())
        return self._line if self._line < self._mark else self._mark


def _past(text: str, line: int) -> int:
    """Behind the fenced blocks that begin on this line, one behind the other; 0 where none does that may be passed."""
    end = FENCES.match(text, line).end()  # type: ignore[union-attr]
    if end == line and (end := _over(text, line)) and text.startswith("```", end):
        end = FENCES.match(text, end).end()  # type: ignore[union-attr]
    return end


def _over(text: str, line: int) -> int:
    """Behind the fenced block that begins on this line; 0 where none does, or its end is not plain to see."""
    opened = FENCE.match(text, line)
    if opened is None:
        return 0
    closed = _closer(opened["run"])(text, opened.end() - 1)
    return max(0, closed.end(1)) if closed is not None else 0


@lru_cache(maxsize=64)
def _closer(run: str) -> Callable[[str, int], re.Match[str] | None]:
    """What finds a line that begins as the end of such a fence does; its group is there if it is one, and no more."""
    return re.compile(rf"\n[ \t\r]*+{run[0]}{{{len(run)},}}+([ \t\r]*+\n)?+").search
