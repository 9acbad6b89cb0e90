"""How crowded a text is with the signs that fences and code spans are made of: beyond any answer, nobody reads on.

Two of three signs of such a text open or close something, and each costs steps that no search can save.  Knows signs
and how much text there was; nothing of what they mean where they stand, of marks or of calls.

Contract: whether a text is too crowded hangs on the text that was added alone, never on the pieces it came in; once it
is, it stays so.
"""

from __future__ import annotations

from ...late import late

SIGN = late(r"[`~]")
"""What is counted: all that backticks and tildes make begins and ends with one of them."""
SIGNS = 20_000
"""So many are read in any message,"""
EVERY_SIGN = 20
"""and one more for so many characters: the densest documents about code have one for a few more."""

BLOCK = 4096
"""Characters whose signs are counted before any of them is looked at."""


class Crowd:
    """Of one message: `is_over` says whether there were too many signs anywhere, `past` how far behind that we are."""

    __slots__ = ("_place", "_signs", "_size", "is_over")

    def __init__(self) -> None:
        self._place = self._signs = self._size = 0
        self.is_over = False

    def add(self, text: str) -> None:
        """More of the text."""
        signs = self._signs + _signs(text)
        if signs > SIGNS + self._size // EVERY_SIGN and not self.is_over:
            self._place = self._over(text)
            self.is_over = self._place >= 0
        self._size, self._signs = self._size + len(text), signs

    def will(self, text: str) -> bool:
        """Will there be too many once this text is added?"""
        if self.is_over or self._signs + len(text) <= SIGNS:
            return self.is_over
        return self._signs + _signs(text) > SIGNS and self._over(text) >= 0

    def _over(self, text: str) -> int:
        """The place in this text, which comes next, at which there are too many; -1 for none."""
        signs, size = self._signs, self._size
        for start in range(0, len(text), BLOCK):
            block = text[start : start + BLOCK]
            many = _signs(block)
            if signs + many > SIGNS + (size + start) // EVERY_SIGN:
                for number, found in enumerate(SIGN.finditer(block), signs + 1):
                    if number > SIGNS + (size + start + found.start()) // EVERY_SIGN:
                        return size + start + found.start()
            signs += many
        return -1

    @property
    def past(self) -> int:
        """How much was added since the place where there were too many."""
        return self._size - self._place


def _signs(text: str) -> int:
    return text.count("`") + (text.count("~") if "~" in text else 0)
