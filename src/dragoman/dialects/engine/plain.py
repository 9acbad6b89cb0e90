"""Texts in which nothing is to be read: seen at one look, where a parser would find that there is nothing to find.

Knows what a parser listens for; reads no call.
Contract: a text that is plain, and was not cut, is one of which a parser that listens so makes one `TextDelta` of all
of it and nothing else, whatever it was shown.  Many a text is not called plain that would come to the same.
"""

from __future__ import annotations

from ...records import NamedTuple
from ..judge.declared import Declared
from ..reading.named import begins_word
from .markers import Table

MOST_LINES = 64
"""Lines that begin as a mark might, behind which a text is left to the parser."""


class PlainTexts(NamedTuple):
    """Asked of the texts that are read with this table and these tools."""

    table: Table
    names: Declared

    def hold(self, text: str) -> bool:
        """Is `text` plain?

        Braces and angle brackets are left to those who look for calls that no mark leads to (`overlooked.py`), and a
        beginning of another script, of blanks or of a header's middle to the parser.
        """
        first, table = text[:1], self.table
        if "{" in text or "<" in text or not "!" <= first <= "~" or first in table.signs:
            return False
        if first in table.begun_signs and table.is_begun(text, 0):
            return False
        if first in table.opening_signs and self._opens(text):
            return False
        if table.lead.search(text) is not None:
            return False
        lines, at = f"\n{text}", 0  # the first is one as well
        for _ in range(MOST_LINES):
            found = table.line_lead.search(lines, at)
            if found is None:
                return True
            at = found.end()
            if self._may_begin(lines, at):
                return False
        return False

    def _opens(self, text: str) -> bool:
        """May the message be nothing but calls?"""
        for mark in self.table.opening_marks:
            if text.startswith(mark):
                return not text[len(mark) : len(mark) + 1].isalnum() or begins_word(self.names, text, len(mark))
        return False

    def _may_begin(self, text: str, at: int) -> bool:
        """May a mark begin the line that begins here?  Most words that lines begin with are no tool's name."""
        sign, table = text[at], self.table
        return (
            not sign.isascii()
            or sign in table.signs
            or begins_word(self.names, text, at)
            or (sign in table.letters and table.marker.match(text, at) is not None)
        )
