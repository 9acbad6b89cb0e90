"""How much of one message is looked at for calls before the rest of it is taken for text.

Every mark at which the scanner stops costs time, every call that cannot be read much more, and one that can some.  An
answer has few of them; a text that is made of them is no answer, and would hold up whoever waits behind it.  Knows
counts and places, no text.

Contract: what is spent depends on the text alone, never on the pieces it came in; once it is over, it stays so, since
what would be found behind marks that nobody looked at may stand inside what they opened.
"""

from __future__ import annotations

MARKS = 5000
"""So many signs that any code holds are looked at in any message,"""
EVERY = 512
"""and one more for so many characters: from `TRIED` on only those near a declared tool's name are."""
TRIED = 500
"""Behind so many signs, each of no use, those that prove little are looked at where a declared tool is named."""
OPENERS = 600
"""So many marks that nobody writes in prose are looked at in any message, beside those of calls that run,"""
EARLY = 60
"""(of the first it is not asked whether one quotation holds many: to read what stands before a place is dear)"""
CALLS = 1000
"""and so many calls that are read to their end (an API takes 128 at once),"""
EVERY_OPENER = 8000
"""and one more of either for so many characters."""
INSIDE = 4
"""One of so many marks inside one quotation counts, and the first;"""
BROKEN = 6
"""a call that could not be read counts as so many of these more,"""
REFUSED = 1
"""one that was read and will not run as so many,"""
READ, AGAIN = 4, 16
"""text that was read as a call and was none, as so many of the others, and as so many behind much that was read so;"""
ANEW, EVERY_ANEW = 500_000, 8
"""So many characters that were read in vain are read so again for what begins amid them, and one more for so many."""
ROWS = 8
"""and one that is text, and quoted by nothing, as one more for so many rows that begin with it."""


class Patience:
    """What has been spent on one message: `marks` for signs that any code holds, `openers` for others, `calls`.

    `is_read_out` says that too many characters were read in vain more than once.
    """

    __slots__ = (
        "_anew", "_begun", "_far", "_inside", "_quotation", "_reached", "calls", "is_read_out", "marks", "openers",
    )  # fmt: skip
    marks: int
    openers: int
    calls: int

    def __init__(self) -> None:
        self.marks = self.openers = self.calls = self._anew = 0
        self.is_read_out = False
        self._begun = -1
        self._reached = self._far = 0
        self._quotation = -1
        self._inside = 0

    def looked(self, quotation: int, rows: int, *, light: bool) -> None:
        """A mark was looked at, a `light` one stands in any prose; where nothing quotes it, so many rows begin with it.

        Inside one quotation (0: none) few count.
        """
        self._inside = self._inside + 1 if quotation and quotation == self._quotation else 0
        if self._inside % INSIDE == 0:
            if light:
                self.marks += 1
            else:
                self.openers += 1 + rows // ROWS
        self._quotation = quotation

    def broke(self) -> None:
        """A candidate could not be read."""
        self.openers += BROKEN

    def called(self, calls: int, refused: int, dear: int) -> None:
        """So many calls were read, of which so many will not run, and so many took twice the time of others.

        A mark of calls that all will run costs nothing, or a message of many calls would lose some.
        """
        self.calls += calls + dear
        if refused:
            self.openers += REFUSED * refused
        elif calls:
            self.openers -= 1

    def read(self, *, much: bool = False) -> None:
        """A candidate was read some way, and is none; behind `much` that was read so it names a tool."""
        self.marks += AGAIN if much else READ

    def vain(self, at: int, to: int) -> None:
        """A row read from here so far, in vain; more of them begin here than one, and are not held against another."""
        if at != self._begun:
            self._begun, self._reached = at, self._far
        self._anew += max(0, min(to, self._reached) - at)
        self._far = max(self._far, to)
        self.is_read_out = self.is_read_out or self._anew > ANEW + at // EVERY_ANEW

    def is_over(self, at: int) -> bool:
        """Is the text behind this place not looked at any more?"""
        more = at // EVERY_OPENER
        looked = self.marks > MARKS + at // EVERY or self.openers > OPENERS + more or self.calls > CALLS + more
        return looked or self.is_read_out
