"""Lines in which nothing counts, passed in one look up to the line that a call begins: of a text that is all there.

Knows how lines begin that may mean something, and what may begin a call within one; nothing of what a mark means.
Contract: between the places that `to` is asked of and tells, reading line by line would have found text and nothing
else, and opened nothing that is still open; what it would have counted `counted` tells.  Many a place is not told that
would come to the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from ...late import late
from ..judge.declared import Declared
from ..judge.line_marks import LINE_MARKS, LINE_SIGNS, PARTIES
from ..reading.named import begins_word, forms_at
from .budget import ROWS, Patience
from .common_marks import INSTRUCTION
from .lookahead import Unlike, untried
from .mark_starts import FENCE, LINE_BEGINS, ended, first_signs, line_that_may_matter
from .markers import Table
from .search import Anchored, begins_later, word_before

MOST, EVERY = 64, 512
"""So many lines are asked one by one whether a tool's name begins them, or the code in a fence; and one more for so
many characters."""
EVERY_SIGN = 100
"""The same of marks of one sign amid lines: the parser looks at a few more of them."""
MAY_CALL = -1
"""Why a line is not passed: a call may begin there, or the parser would count its mark (`budget.py`)."""
SHORT, OFTEN = 400, 32
"""In so little text one pattern finds all, unless so many were searched: one for each sign finds it in half the time,
and they take three times as long to compile."""
FIRST = 300
"""So much tells of the first line's beginning: no name is longer."""
LANGUAGES = 256
"""Of so many openers of fences it is remembered whether they open code."""
BLANK, BLANKS = frozenset(" \t\r"), r"[ \t\r]*+"
REST = rf"(?:(?!{BLANKS}(?:`{{3}}|~{{3}}|<))[^\n]*+\n)++{BLANKS}`{{3,}}+[ \t\r]*+\n"
START = re.compile(BLANKS)
INFO = late(r"[\w+#.-]{0,120}")
FENCED = late(rf"(?P<info>`{{3}}(?!`){INFO.pattern})[ \t]*+\r?\n\s*+(?P<first>[^\s{{\[\"'`~<(]){REST}")
"""A block of code that closes, in which no line begins with a fence or a tag: only its first word counts."""
MARKED, MARKED_SIGNS = late(LINE_MARKS), frozenset((*LINE_SIGNS, *(party[0] for party in PARTIES)))
"""What outlasts its line, and how it begins: another party's turn, blocks that quote."""
INSTRUCTS = late(rf"\[(?=(?i:{re.escape(INSTRUCTION[1:])}))")
"""Searches for signs find it; where there are none, this does."""
NO_LINE = -1, 0
"""No place, and no mark before it."""


class Forward:
    """Asked of the texts that are read with one table."""

    def __init__(self, table: Table) -> None:
        self._table = table
        first = ended(table.line_lead.pattern.removeprefix(LINE_BEGINS))
        befores = {before for before, _ in table.named_first if before}
        begun = {*(table.every() & table.line), *befores, *LINE_SIGNS, *PARTIES}
        behind = {behind for before, behind in table.named_first if not before}
        self._lines = late(line_that_may_matter(f"(?:{first}|{LINE_MARKS})", begun, behind))
        self._fences = {FENCE} | table.calm
        self._fenced = tuple(mark for mark in table.every() if mark.startswith(FENCE))
        self._code: dict[str, bool] = {}
        self._looks: dict[str, tuple[Unlike | None, ...]] = {}
        self._wide = _wide(table.every())
        self._asked = 0
        self._marked = late(_on_lines(table.every() & table.line))
        self._inline = tuple(mark for mark in table.every() if len(mark) == 1 and mark not in table.line)
        self._rows = max(1 + len(rows) // ROWS for rows in ((), *(table.rows[m] for m in table.rows if m[0] != "<")))

    @cached_property
    def _lead(self) -> tuple[Anchored, ...]:
        """The one search for all marks that count amid a line."""
        return (Anchored(re.compile(ended(self._table.lead.pattern)).search, reach=self._table.longest),)

    def to(self, text: str, start: int, names: Declared) -> tuple[int, int]:
        """From the line's beginning `start` on, the beginning of the line before which nothing counts; -1 for none.

        It is not the one at `start`, and no blank stands there.  And how many marks of those passed the parser would
        count at the most.
        """
        passed: list[tuple[int, int]] = []
        end = self._over_lines(text, start, names, passed)
        at = self._first(text, start, end, names)
        if at < end:  # in a fence that was passed it is quoted
            at = next((begin for begin, over in reversed(passed) if begin <= at < over), at)
        if at <= start or at == len(text) or text[at - 1] != "\n" or text[at] in " \t\r":
            return NO_LINE
        marks = 0
        for begin, over in passed:
            marks += self._rows * (1 + text.count("\n", begin, over))
        for sign in self._inline:
            marks += text.count(sign, start, at)
        return at, marks

    def is_clear(self, text: str, start: int, end: int, names: Declared) -> bool:
        """Does no mark begin between `start` and `end`, wherever on a line?"""
        return self._first(text, start, end, names) == end

    def counted(self, text: str, start: int, end: int, names: Declared) -> Patience:
        """What the parser spends at the most between these places where all between them may be passed.

        It is less where marks stand in one fence (`budget.py`): what is passed there is not read.
        """
        spent, table, line = Patience(), self._table, start
        lines = self._marked.finditer(text, start, end)
        while line < end:
            at = START.match(text, line).end()  # type: ignore[union-attr]
            found = table.marker.match(text, at)
            if found is not None and not table.vain.is_vain(text, at, names):
                mark = found.group().casefold()
                if len(mark) == 1:
                    spent.marks += 1
                elif mark not in self._fences:
                    spent.openers += 1 + len(table.rows.get(mark, ())) // ROWS
            later = next(lines, None)
            line = end if later is None else later.start() + 1
        spent.marks += sum([text.count(sign, start, end) for sign in self._inline])
        return spent

    def _over_lines(self, text: str, start: int, names: Declared, passed: list[tuple[int, int]]) -> int:
        """Behind the lines that begin with nothing that counts; `start` where too many had to be asked.

        Those that had to be asked, and what they begin, are added to what is `passed`.
        """
        at = START.match(text, start).end()  # type: ignore[union-attr]
        matters = self._lines.match(f"\n{text[at : at + FIRST]}")
        pos = start if matters is None else self._past(text, start, names)
        if pos < 0:
            return start
        if pos > start:
            passed.append((start, pos))
        later = self._lines.search
        for _ in range(MOST + len(text) // EVERY):
            found = later(text, pos - 1 if pos else 0)
            if found is None:
                return len(text)
            line = text.rfind("\n", 0, found.end()) + 1
            pos = self._past(text, line, names)
            if pos < 0:
                return line
            passed.append((line, pos))
        return start

    def _past(self, text: str, line: int, names: Declared) -> int:
        """Behind a fence of code here, or a line that begins no call; else why not."""
        at = line if text[line] not in BLANK else START.match(text, line).end()  # type: ignore[union-attr]
        if text.startswith(FENCE, at):
            fence = FENCED.match(text, at)
            if fence is None or not self._is_code(text[at : fence.end("info")]):
                return MAY_CALL
            first = fence.start("first")
            if self._lines.match(text, text.rfind("\n", 0, first)) is None:
                return fence.end()
            return self._why_not(text, first, names) or fence.end()
        return self._why_not(text, at, names) or text.find("\n", at) + 1 or MAY_CALL

    def _is_code(self, opener: str) -> bool:
        """Is a fence with these signs and this word none of a call, whatever stands in its next line?"""
        known = self._code.get(opener)
        if known is None:
            found = self._table.marker.match(opener)
            folded = opener.casefold()
            goes_on = any(mark.startswith(folded) and not INFO.fullmatch(mark, len(folded)) for mark in self._fenced)
            known = found is not None and found.group().casefold() in self._fences and not goes_on
            if len(self._code) >= LANGUAGES:
                self._code.clear()
            self._code[opener] = known
        return known

    def _why_not(self, text: str, at: int, names: Declared) -> int:
        """Why a line that begins with the word here may not be passed; 0 where it may."""
        found = self._table.marker.match(text, at)
        if found is not None and not self._table.vain.is_vain(text, at, names):
            mark = found.group().casefold()
            if len(mark) > 1 or not self._is_vain(mark, text, at):
                return MAY_CALL
        return MAY_CALL if self._may_name(text, at, names) else 0

    def _may_name(self, text: str, at: int, names: Declared) -> bool:
        """May a tool's name begin what stands here, or what outlasts its line?"""
        table, sign = self._table, text[at]
        if not sign.isascii() or begins_word(names, text, at):
            return True
        if sign in MARKED_SIGNS and MARKED.match(text, at) is not None:
            return True
        return sign in table.named_signs and bool(forms_at(names, table.named_first, text, at, eof=True))

    def _is_vain(self, mark: str, text: str, at: int) -> bool:
        """Does this mark mean nothing by itself, and nothing follow that one of its rows would read?"""
        looks = self._looks.get(mark)
        if looks is None:
            looks = self._looks[mark] = self._looks_of(mark)
        for look in looks:  # noqa: SIM110 -- a generator would cost more than most looks
            if look is None or not look.ended(text, at):
                return False
        return True

    def _looks_of(self, mark: str) -> tuple[Unlike | None, ...]:
        """What tells of each of its rows that it is not there; a None where nothing does."""
        rows = self._table.only_rows.get(mark)
        return (None,) if rows is None else tuple(map(untried, rows))

    def _first(self, text: str, start: int, end: int, names: Declared) -> int:
        """Where the first mark begins between `start` and `end` that counts amid a line; `end` where none does."""
        if not text.isascii():
            for rare in self._wide:
                if rare in text:
                    return start
        left = MOST + (end - start) // EVERY_SIGN
        signs: tuple[Anchored, ...] = ()
        if end - start > SHORT or self._asked == OFTEN:
            signs = self._table.lead_signs
        else:
            self._asked += 1
        if not signs:
            signs = self._lead
            if text.find("[", start, end) >= 0 and INSTRUCTS.search(text, start, end) is not None:
                return start
        for sign in signs:
            search, before, _, reach, literal = sign
            last = end + reach if reach else len(text)  # a mark that begins before the end may go on behind it
            stands = text.find(literal, start, last)
            found = None if stands < 0 else search(text, stands, last)
            while found is not None:
                at = found.start() - (before[found.lastindex - 1] if found.lastindex and before else 0)
                if not reach:
                    at = word_before(text, at)
                elif at < start:
                    at = begins_later(sign, text, start, found)
                if start <= at < end:
                    counts = self._counts(text, at, names)
                    left -= counts is None
                    if counts or not left:
                        end = at
                        break
                elif not reach and at >= end:
                    break
                found = search(text, found.start() + 1, last)
        return end

    def _counts(self, text: str, at: int, names: Declared) -> bool | None:
        """Does a mark stand here that counts amid a line, or a tool's name that does?  None: one does, in vain."""
        table, vain = self._table, False
        if text[at] == "[" and INSTRUCTS.match(text, at) is not None:
            return True
        found = table.marker.match(text, at)
        if found is not None and (mark := found.group().casefold()) not in table.line:
            vain = len(mark) == 1 and self._is_vain(mark, text, at)
            if not vain:
                return True
        if table.inline and forms_at(names, table.named_inline, text, at, eof=True):
            return True
        return None if vain else False


def forward(table: Table) -> Forward:
    """What is asked of texts that are read with this table; made once."""
    made: Forward | None = table.prepared.get(Forward)
    if made is None:
        made = table.prepared[Forward] = Forward(table)
    return made


def _on_lines(marks: frozenset[str]) -> str:
    """A pattern for lines that begin with one of these marks, and with no fence."""
    choice = "|".join(map(re.escape, sorted(marks)))
    return rf"\n[ \t\r]*+(?!`{{3}}|~{{3}})(?=[{first_signs(marks)}])(?i:{choice})" if marks else "(?!)"


def _wide(marks: Iterable[str]) -> tuple[str, ...]:
    """The signs that marks begin with and few texts hold: where one stands, nothing is passed."""
    return tuple(sorted({mark[0] for mark in marks if not mark[0].isascii()}))
