"""How much of one message is looked at for calls before the rest of it is taken for text.

Every mark at which the scanner stops costs time, every call that cannot be read much more.  An answer has few of them;
a text that is made of them is no answer, and would hold up whoever waits behind it.  Knows counts and places, no text.

Contract: what is spent depends on the text alone, never on the pieces it came in; once it is over, it stays so, since
what would be found behind marks that nobody looked at may stand inside what they opened.
"""

from __future__ import annotations

MARKS = 2000
"""So many marks are looked at in any message,"""
EVERY = 4
"""and one more for so many characters: prose full of code, links and lists has no more."""
HEAVY = 8
"""A mark that nobody writes in prose counts as so many,"""
BROKEN = 24
"""A call that could not be read, or was refused, counts as so many marks,"""
READ = 4
"""and text that was read as one and was none, as so many."""


class Patience:
    """What has been spent on one message: one of `marks` for a sign that any code holds, where it stands not asked."""

    __slots__ = ("_quotation", "marks")
    marks: int

    def __init__(self) -> None:
        self.marks = 0
        self._quotation = -1

    def looked(self, quotation: int, *, light: bool) -> None:
        """A mark was looked at, a `light` one stands in any prose; all inside one quotation (0: none) count once."""
        if not quotation or quotation != self._quotation:
            self.marks += 1 if light else HEAVY
        self._quotation = quotation

    def broke(self) -> None:
        """A candidate could not be read."""
        self.marks += BROKEN

    def called(self, calls: int, refused: int) -> None:
        """So many calls were read, of which so many will not run: these are counted with what could not be read.

        A mark of calls that all will run costs nothing, or a message of many calls would lose some.
        """
        if refused:
            self.marks += BROKEN * refused
        elif calls:
            self.marks -= HEAVY

    def read(self) -> None:
        """A candidate was read some way, and is none."""
        self.marks += READ

    def is_over(self, at: int) -> bool:
        """Is the text behind this place not looked at any more?"""
        return self.marks > MARKS + at // EVERY
