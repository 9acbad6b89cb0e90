"""Lines in which nothing counts, passed in one look up to the line that a call begins: of a text that is all there.

Knows how lines begin that may mean something, and what may begin a call within one; nothing of what a mark means.
Contract: between the places that `to` is asked of and tells, reading line by line would have found text and nothing
else, opened nothing that is still open, and counted nothing.  Many a place is not told that would come to the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Protocol

from ...late import late
from ..judge.declared import Declared
from ..judge.line_marks import LINE_MARKS
from ..reading.named import begins_word, forms_at
from .mark_starts import FENCE, LINE_BEGINS, LOOK, ended, glued
from .marks_at import MarksAt
from .search import LIKE_LETTERS, LONG, Anchored

MOST, EVERY = 64, 512
"""So many lines are asked one by one whether a tool's name begins them, or the code in a fence; and one more for so
many characters."""
ENOUGH, A_TEXT = 48, 4
"""So many places are looked at, a text counted as some, before a pattern is made for all that come."""
BLANKS = r"[ \t\r]*+"
REST = rf"(?:(?!{BLANKS}(?:`{{3}}|~{{3}}|<))[^\n]*+\n)++{BLANKS}`{{3,}}+[ \t\r]*+\n"
START = re.compile(BLANKS)
FENCED = late(rf"`{{3}}(?!`)[\w+#.-]{{0,120}}[ \t]*+\r?\n\s*+(?P<first>[^\s{{\[\"'`~<(]){REST}")
"""A block of code that closes, in which no line begins with a fence or a tag: only its first word counts."""
WORD = re.compile(r"[\w$@]")
MARKED = late(LINE_MARKS)
"""What outlasts its line: another party's turn, blocks that quote."""
INSTRUCTION = late(r"\[(?=(?i:INST)\])")
"""Another party's turn, wherever on its line."""


class Marked(Protocol):
    """What is asked of a table of marks."""

    @property
    def lead(self) -> re.Pattern[str]:
        """Finds a character that begins a mark, or may, wherever on its line."""

    @property
    def line_lead(self) -> re.Pattern[str]:
        """Finds a line that begins with one, or may."""

    @property
    def line(self) -> frozenset[str]:
        """The marks that count only first on their line."""

    @property
    def calm(self) -> frozenset[str]:
        """The marks of fences that may be passed."""

    @property
    def marker(self) -> MarksAt:
        """Finds the mark that stands at a place."""

    @property
    def inline(self) -> frozenset[tuple[str, str]]:
        """How calls begin that begin with a tool's name, wherever on their line."""

    @property
    def named_first(self) -> tuple[tuple[str, str], ...]:
        """How calls begin that begin with a tool's name."""

    @property
    def named_signs(self) -> frozenset[str]:
        """What stands before declared names begins with these."""

    @property
    def lead_signs(self) -> tuple[Anchored, ...]:
        """Searches that find together what `lead` finds."""

    def every(self) -> frozenset[str]:
        """All marks."""


class Forward:
    """Asked of the texts that are read with one table."""

    def __init__(self, table: Marked) -> None:
        self._table = table
        first = ended(table.line_lead.pattern.removeprefix(LINE_BEGINS))
        self._lines = late(rf"{LINE_BEGINS}(?:{first}|{LINE_MARKS})")
        self._fences = {FENCE} | table.calm
        self._wide = _wide(table.every())
        self._unmade = ENOUGH

    @cached_property
    def _begun(self) -> tuple[str, ...]:
        """What such marks begin with, in small letters; none where a tool's name may be one."""
        table = self._table
        begun = {mark[: LOOK if mark[0].isalpha() else 1].lower() for mark in table.every() - table.line}
        return () if table.inline else tuple(sorted(filter(str.isascii, begun)))

    @cached_property
    def _lead(self) -> tuple[Anchored, ...]:
        """The one search for all marks that count amid a line."""
        return (Anchored(self._table.lead.search),)

    @cached_property
    def _signs(self) -> tuple[Anchored, ...]:
        """The searches that find them sooner in a long text; none where a tool's name may be one."""
        return () if self._table.inline else self._table.lead_signs

    def to(self, text: str, start: int, names: Declared) -> int:
        """From the line's beginning `start` on, the beginning of the line before which nothing counts; -1 for none.

        It begins with a sign that marks begin with, and is not the one at `start`.
        """
        at = self._first(text, start, self._over_lines(text, start, names), names)
        if at <= start or at == len(text) or text[at - 1] != "\n":
            return -1
        return at if text[at] not in " \t\r" and WORD.match(text, at) is None else -1

    def is_clear(self, text: str, start: int, end: int, names: Declared) -> bool:
        """Does no mark begin between `start` and `end`, wherever on a line?"""
        return self._first(text, start, end, names) == end

    def _over_lines(self, text: str, start: int, names: Declared) -> int:
        """Behind the lines that begin with nothing that counts; `start` where too many had to be asked."""
        lines = self._lines
        pos = start if lines.match(f"\n{text[start:]}") is None else self._past(text, start, names)
        if pos < 0:
            return start
        later = lines.search
        for _ in range(MOST + len(text) // EVERY):
            found = later(text, pos - 1 if pos else 0)
            if found is None:
                return len(text)
            line = text.rfind("\n", 0, found.end()) + 1
            pos = self._past(text, line, names)
            if pos < 0:
                return line
        return start

    def _past(self, text: str, line: int, names: Declared) -> int:
        """Behind a fence of code that stands here, or a line whose first word is no tool's name; -1 for neither."""
        at = START.match(text, line).end()  # type: ignore[union-attr]
        sign = text[at]
        if sign == "`":
            fence = FENCED.match(text, at)
            known = self._table.marker.match(text, at) if fence is not None else None
            if fence is None or known is None or known.group().casefold() not in self._fences:
                return -1
            return -1 if self._may_call(text, fence.start("first"), names) else fence.end()
        if WORD.match(sign) is None or self._may_call(text, at, names):
            return -1
        return text.find("\n", at) + 1 or -1

    def _may_call(self, text: str, at: int, names: Declared) -> bool:
        """May a call, or anything that counts, begin with the word that stands here?"""
        table, sign = self._table, text[at]
        if not sign.isascii() or MARKED.match(text, at) is not None or begins_word(names, text, at):
            return True
        if sign in table.named_signs and forms_at(names, table.named_first, text, at, eof=True):
            return True
        return table.marker.match(text, at) is not None

    def _first(self, text: str, start: int, end: int, names: Declared) -> int:
        """Where the first mark begins between `start` and `end` that counts amid a line; `end` where none does."""
        if not text.isascii() and any(sign in text for sign in self._wide):
            return start
        if text.find("[", start, end) >= 0 and INSTRUCTION.search(text, start, end) is not None:
            return start
        if self._unmade > 0 and end - start <= LONG and self._begun and _is_plain(text):
            return self._first_begun(text, start, end, names)
        for search, before, _, wide in (end - start > LONG and self._signs) or self._lead:
            found = None if wide else search(text, start, end)
            while found is not None:
                at = found.start() - (before[found.lastindex - 1] if found.lastindex and before else 0)
                if at >= start and self._is_mark(text, at, names):
                    end = at
                    break
                found = search(text, found.start() + 1, end)
        return end

    def _first_begun(self, text: str, start: int, end: int, names: Declared) -> int:
        """The same in a short text, word for word: so much sooner than a pattern is made, which finds it faster."""
        small = text[start : end + LOOK].lower()
        self._unmade -= A_TEXT
        for begun in self._begun:
            at = small.find(begun) + start
            while start <= at < end:
                self._unmade -= 1
                if not (at and glued(text[at - 1], text[at])) and self._is_mark(text, at, names):
                    end = at
                at = small.find(begun, at - start + 1) + start
        return end

    def _is_mark(self, text: str, at: int, names: Declared) -> bool:
        """Does a mark stand here that counts amid a line, or may a tool's name that does?"""
        table = self._table
        found = table.marker.match(text, at)
        if found is not None and found.group().casefold() not in table.line:
            return True
        return bool(table.inline) and (text[at] in table.named_signs or begins_word(names, text, at))


def _is_plain(text: str) -> bool:
    """Does no sign of the text stand for a letter that it is not the small or the capital one of?"""
    return text.isascii() or not any(sign in text for sign in LIKE_LETTERS)


def _wide(marks: Iterable[str]) -> tuple[str, ...]:
    """The signs that marks begin with and few texts hold: where one stands, nothing is passed."""
    return tuple(sorted({mark[0] for mark in marks if not mark[0].isascii()}))
