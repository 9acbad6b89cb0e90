"""Text that repeats itself, and what a reading of it comes to: one look where each repetition would be read.

Nobody writes the same lines a thousand times, but who wants to hold up whoever reads them.  Knows text; nothing of what
it means, nor of what a reading remembers.
Contract: what is passed is whole repetitions, and never the last of them, so that whatever looks ahead of a place finds
what it would have found.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from ...records import NamedTuple

FEWEST = 8
"""So often must a text repeat itself."""
LONGEST = 2000
"""So long may be what is repeated."""
BEGINNING = 32
"""So much of it is looked for behind itself."""
SOON, LATE = 16, 1024
"""Behind so many signs a reading looks whether lines repeat, twice as many each time they do not, up to so many."""
STATES = 4
"""So many states of a reading are compared: quotation marks are open in every second line."""


class Run(NamedTuple):
    """A text with `period` characters one behind the other, up to `end`."""

    period: int
    end: int

    def last(self, at: int, beyond: int) -> int:
        """The last place that stands to its repetition as `at` to its own, with so much of the run behind it."""
        return at + max(0, (self.end - beyond - at) // self.period) * self.period


def run_at(text: str, at: int, size: int) -> Run | None:
    """What repeats itself from `at` on, in the first `size` characters; None where nothing does, or too seldom."""
    period = text.find(text[at : at + BEGINNING], at + 1, min(size, at + LONGEST + BEGINNING)) - at
    if period <= 0:
        return None
    end = at + FEWEST * period
    if end > size or text[at : end - period] != text[at + period : end]:
        return None
    block = (FEWEST - 1) * period
    while block >= period:
        if end + block <= size and text.startswith(text[end - block : end], end):
            end += block
            block = min(2 * block, (end - at) // period * period)
        else:
            block = block // 2 // period * period
    return Run(period, end)


class Alike:
    """Asked at the lines' beginnings of one text, in order: from where on does reading on change nothing?

    `passed` says how often the reading had been where it is now.
    """

    __slots__ = ("_ask", "_next", "_run", "_seen", "_text", "_wait")

    def __init__(self, text: str) -> None:
        self._text = text
        self._ask = self._wait = SOON
        self._run: Run | None = None
        self._next = 0
        self._seen: list[tuple[Hashable, int]] = []

    def passes(self, pos: int, signs: int, reading: Callable[[], tuple[Hashable, int]]) -> tuple[int, int]:
        """How far the text from `pos` on may be passed, and by how much that adds to what the reading counts.

        So many `signs` were read; `reading` tells its state, and what it has counted.
        """
        if self._run is None:
            if signs < self._ask:
                return pos, 0
            self._run, self._next, self._seen = run_at(self._text, pos, len(self._text)), pos, []
            if self._run is None:
                return self._later(pos, signs)
        if pos < self._next:
            return pos, 0
        if pos > self._next or len(self._seen) == STATES:
            return self._later(pos, signs)
        state, count = reading()
        period, end = self._run
        self._next += period
        self._seen.append((state, count))
        for back, (known, counted) in enumerate(reversed(self._seen[:-1]), 1):
            if known == state:
                last = Run(back * period, end).last(pos, 2 * period)
                self._later(pos, signs)
                return last, (last - pos) // (back * period) * (count - counted)
        return pos, 0

    def _later(self, pos: int, signs: int) -> tuple[int, int]:
        self._run, self._wait = None, min(2 * self._wait, LATE)
        self._ask = signs + self._wait
        return pos, 0
