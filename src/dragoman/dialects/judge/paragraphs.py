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
from typing import NamedTuple

from ...late import late
from .boxes import ELEMENTS, FIRST_LETTERS

LINE = late(
    r"\n[ \t\r]*+(?=[`~@+#*_UHI\[{])(?:`{3}|~{3}|@@|\+{3}|#\+"
    r"|(?:#{1,6}[ \t]*+)?(?:[*_]{2})?(?:User|USER|Human|HUMAN|Instruction)"
    r"|\[(?:source|listing|literal|example|quote|verse)\b|\{(?:code|noformat|quote)\b)"
)
"""Lines that may matter to later paragraphs: fences, diffs, listings, another party's label.  Their first signs come
once more before the choice, for most lines begin with none of them."""
MARKS = (
    late(r": [|>]"),
    late(r"\\(?=(?i:begin)\{)"),
    late(r"\[(?=(?i:INST)\])"),
    late(rf"<(?=[!{FIRST_LETTERS}])(?=(?i:{ELEMENTS})\b|!--)"),
)
"""Marks that may, wherever they stand: YAML's blocks, environments, turns, elements and comments.  Each pattern begins
with one literal, which `re` looks for at ten times the speed of a class of characters."""
FENCE = late(r"[ \t\r]*+(?P<run>`{3,}+(?=[^`\n]*+\n)|~{3,}+)[^\n]*+\n")
"""The line that opens a fenced block."""


FENCES = late(
    r"(?:```(?!`)[^`\n]*+\n(?:(?![ \t\r]*+```)[^\n]*+\n)*+[ \t\r]*+`{3,}+[ \t\r]*+\n)*+"
)
"""Whole blocks of the plainest kind, one behind the other."""


class Passed(NamedTuple):
    """Up to where text may be passed over, the prose in it, its fenced blocks, and where to ask for more."""

    end: int
    prose: str
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
        self._marks = [-1] * len(MARKS)

    def passable(self, pos: int) -> Passed | None:
        """What may be passed over from the line's beginning `pos` on; None: neither a blank line nor a fence comes.

        It ends at a blank line, or behind a fenced block before which nothing can be open that was not at `pos`.
        """
        text, last = self._text, self._last
        if pos >= max(last, self._fences):
            return None
        at, start, fences, calm = pos, pos, 0, True
        prose: list[str] = []
        end, kept, passed, size = pos, 0, 0, len(text)
        while True:
            stop = self._line if at <= self._line <= self._mark else self._stop(at)
            cut = last if start < last <= stop else text.rfind("\n\n", start, stop) + 1
            if cut > start:
                prose.append(text[start:cut])
                start, end, kept, passed, calm = cut, cut, len(prose), fences, True
            after = _past(text, stop) if stop < size and text[stop] in "`~ \t\r" else 0
            if not after:
                break
            if stop > start:
                prose.append(text[start:stop])
            calm = text[stop - 2 : stop] == "\n\n" or (calm and start == stop)
            at, start, fences = after, after, fences + 1
            if calm:
                end, kept, passed = after, len(prose), fences
        return Passed(end, "".join(prose[:kept]), passed, max(stop, pos) + 1)

    def _stop(self, at: int) -> int:
        """Where what may matter later stands next: a place in a line, or the beginning of one."""
        text = self._text
        if self._line < at:
            found = LINE.search(text, at - 1)
            self._line = found.start() + 1 if found is not None else len(text)
        if self._mark < at:
            marks = self._marks
            for n, mark in enumerate(marks):
                if mark < at:
                    found = MARKS[n].search(text, at)
                    marks[n] = found.start() if found is not None else len(text)
            self._mark = min(marks)
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
