"""Where a pattern is found next in text that arrives in pieces, and in text that is all there.

Knows a source and its patterns; not what they stand for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from ...lenient.source import Source
from ...records import NamedTuple
from ..judge.alike import run_at

FEW = 400
"""So much text behind a place is looked through with it."""
ASKED = 32
"""So many places are asked whether they count before one is told all the same: what stands before it may take all."""
MARGIN = 420
"""So much text tells of any place before it, unless it is words of a printed call."""
VAIN, MORE_VAIN, MANY_VAIN = 500, 2000, 5000
"""Of so many places that begin as marks do none was one: they are told apart by more of their signs then, or by all."""
REPEATS = 16
"""Behind so many places in vain it is asked whether the text repeats itself from the last time on."""
COUNTED = "```"
"""What is counted, wherever it stands (`scanner.py`): of text that holds it none is passed."""
LONG = 1200
"""Where less text is left, one pattern finds all sooner than one for each sign."""

Search: TypeAlias = Callable[[str, int, int], re.Match[str] | None]


class Anchored(NamedTuple):
    """A search for one sign and the marks that it stands in; `before` is how far behind their beginnings, by group.

    Where a mark ends another, the longer one is found; `shorter` match at the sign what comes behind each group.
    """

    search: Search
    before: tuple[int, ...] = ()
    shorter: tuple[re.Pattern[str], ...] = ()
    reach: int = 0  # how far a mark goes at the most; 0 for a sign that stands behind a word that the place begins with
    sign: str = ""  # what is told to be absent twenty times as quickly as it is looked for; "" for a choice


Signs: TypeAlias = Callable[[], tuple[Anchored, ...]]
Sure: TypeAlias = Callable[[], re.Pattern[str]]
Counts: TypeAlias = Callable[[str, int], bool]


class Lead:
    """Where a pattern is found next; no text is searched twice, however often it is asked.

    A character class counts where it begins, a line's beginning where it ends.  `signs` find all that it finds, and
    perhaps more: each is one literal, which `re` looks for at ten times the speed of a choice.  They are made when a
    long text asks for them.  `sure` find less of that, by how much was in vain, and `surely` less than the pattern.
    Where all is there that tells of a place, only those are told that `counts`, and of those by one pattern only lines'
    beginnings.
    """

    __slots__ = (
        "_alike", "_counts", "_found", "_last", "_odd", "_one", "_pattern", "_places", "_searched", "_signs", "_sure",
        "_surely", "_vain",
    )  # fmt: skip

    def __init__(
        self, pattern: re.Pattern[str], *, one: bool, signs: Signs | None = None,
        sure: Mapping[int, Signs] = MappingProxyType({}), surely: Mapping[int, Sure] = MappingProxyType({}),
        counts: Counts | None = None,
    ) -> None:  # fmt: skip
        self._pattern = self._last = pattern
        self._one, self._signs, self._counts = one, signs, counts
        self._sure, self._surely, self._vain = sure, surely, 0
        self._found = self._searched = -1
        self._alike, self._odd = -1, 0  # where text may repeat itself, and up to where it was seen not to help
        self._places: list[tuple[int, bool]] = []

    def next(self, src: Source, start: int, within: int = 0) -> int:
        """The first such place at or after `start` (an index into `src.buf`); the buffer's length if none.

        One that does not begin `within` so much of a text that has ended may be left for later.
        """
        base, buf = src.base, src.buf
        size, found = len(buf), self._found - base
        if found >= start:
            return found
        searched = self._searched - base
        begin = searched if searched > start else start
        far = size if src.eof else size - MARGIN
        by_signs = far - begin > LONG or (src.eof and bool(self._places))
        if by_signs and self._signs is not None and (signs := self._signs()):
            found = self._by_signs(signs, src, begin, far)
            if found < far or src.eof:
                return found
            begin = far
        end = reach = size
        if within and src.eof and within + FEW < size:
            end = min(size, max(within + FEW, 2 * begin))
            reach = min(size, end + MARGIN)  # what stands before `end` is not cut there
        match, counts, at = self._search(buf, begin, reach, far), self._counts, size
        if match is not None:
            at = match.end()
            while counts is not None and at < far and not self._one and not counts(buf, at):
                self.missed()
                if not self._vain % REPEATS:
                    at = self._over_alike(buf, at, base, min(reach, far), counts)
                match = self._search(buf, at, reach, far)
                if match is None:
                    break
                at = match.end()
        if match is not None and at == reach < size:  # in the blanks that a line begins with
            match, end = self._search(buf, match.start(), size, far), size
            at = match.end() if match is not None else size
        if match is None or match.start() >= end < size:
            newline = buf.rfind("\n", begin, end)
            self._searched = base + (newline if newline >= 0 else end)
            return size
        at -= self._one
        self._found = base + at
        return at

    def missed(self) -> None:
        """A place was looked at in vain."""
        self._vain += 1
        if self._vain in self._surely:
            self._pattern = self._surely[self._vain]()

    def _over_alike(self, buf: str, at: int, base: int, size: int, counts: Counts) -> int:
        """A place that is in vain as this one is, where all between are repetitions of what was looked at.

        Of places that are alike a later one may count where an earlier one does not, never the other way round: so the
        last repetition is asked for all, and where it counts, the one in the middle of those that are left.
        """
        begin, self._alike = self._alike - base, base + at
        if base + at < self._odd:
            return at
        run = run_at(buf, begin, size) if begin >= 0 else None
        if run is None or COUNTED in buf[begin : begin + run.period]:
            return at
        if at < begin + 2 * run.period:  # it was not looked at from end to end
            self._odd = base + run.end
            return at
        passed, left = 0, (run.last(at, MARGIN + run.period) - at) // run.period
        asked = left
        while passed < left:
            place = at + asked * run.period
            if self._are_vain(buf, place, place + run.period, size, counts):
                passed = asked
            else:
                left = asked - 1
            asked = (passed + left + 1) // 2
        return at + passed * run.period

    def _are_vain(self, buf: str, at: int, end: int, size: int, counts: Counts) -> bool:
        """Does none of the places up to `end` count?"""
        while (found := self._search(buf, at, size, size)) is not None and found.end() <= end:
            at = found.end()
            if counts(buf, at):
                return False
        return True

    def _search(self, buf: str, start: int, end: int, far: int) -> re.Match[str] | None:
        """The next place; behind `far`, where what is still to come may tell, by the pattern that finds all."""
        if self._pattern is self._last or far <= start:
            return self._last.search(buf, start, end)
        found = self._pattern.search(buf, start, end)
        if far >= end or (found is not None and found.end() < far):
            return found
        return self._last.search(buf, max(start, buf.rfind("\n", start, far)), end)

    def _by_signs(self, signs: tuple[Anchored, ...], src: Source, start: int, size: int) -> int:
        """The same in the first `size` characters of the buffer, where nothing hangs on what is still to come."""
        buf, base, counts = src.buf, src.base, self._counts
        places, left = self._places or self._begin(signs, src), ASKED
        while True:
            first = size
            for n, (at, found) in enumerate(places):  # none before it; is it one?
                at -= base
                begin = at if at > start else start
                if begin >= first:
                    continue
                if not found or at < start:
                    # twice as far each time, for it may be asked of every mark
                    end = first if 2 * begin <= first else min(size, 2 * begin)
                    sign = signs[n]
                    mark = sign.search(buf, begin, end + sign.reach if sign.reach else len(buf))
                    at = -1 if mark is None else _place(sign, buf, begin, end, mark)
                    found = at >= 0
                    places[n] = base + (at if found else end), found
                if found and at < first:
                    first = at
            if first == size:
                return first
            if self._pattern.match(buf, first) is not None:
                left -= 1
                if not left or counts is None or counts(buf, first):
                    self._found = base + first
                    return first
            self._vain += 1
            if self._vain in self._sure:
                self._signs, self._places = self._sure[self._vain], []
                return self._by_signs(self._signs(), src, first + 1, size)
            start = first + 1

    def _begin(self, signs: tuple[Anchored, ...], src: Source) -> list[tuple[int, bool]]:
        """No sign has been looked for; those that cannot be there need not be."""
        buf, nowhere = src.buf, src.base + len(src.buf) if src.eof else -1
        self._places = [(-1 if sign.sign in buf else nowhere, False) for sign in signs]
        return self._places


def _place(sign: Anchored, buf: str, start: int, end: int, found: re.Match[str] | None) -> int:
    """Where a mark with this sign begins, from the one that was `found` on; -1 where none does before `end`."""
    last = end + sign.reach if sign.reach else len(buf)
    while found is not None:
        at = found.start() - (sign.before[found.lastindex - 1] if found.lastindex else 0)
        if not sign.reach:
            at = word_before(buf, at)
        elif at < start:
            at = begins_later(sign, buf, start, found)
        if at >= start:
            return at
        found = sign.search(buf, found.start() + 1, last)
    return -1


def begins_later(sign: Anchored, buf: str, start: int, found: re.Match[str]) -> int:
    """Where a mark with this sign begins, not before `start`, of those shorter than the one `found`; -1 for none."""
    group = found.lastindex or 0
    while 0 < group <= len(sign.shorter):
        shorter = sign.shorter[group - 1].match(buf, found.start())
        if shorter is None:
            return -1
        group += shorter.lastindex or 0
        at = found.start() - sign.before[group - 1]
        if at >= start:
            return at
    return -1


WORD_SIGNS = frozenset(".-:/$@\\_")


def word_before(buf: str, at: int) -> int:
    """Where the word begins that stands before this place, perhaps with blanks between."""
    while at and buf[at - 1] in " \t":
        at -= 1
    while at and (buf[at - 1].isalnum() or buf[at - 1] in WORD_SIGNS):
        at -= 1
    return at
