"""What a sign of the visible text opens, and what would close that.

One sign at a time, with the characters beside it: this module does not know where in the text we stand, which
`quotation.py` does, nor about calls or dialects.

Contract: patterns are given as they are written for `re`; nothing is kept of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from ...late import late
from .boxes import END, FORUM, IS_RESULT, LONG_QUOTES, MARKS, WORD_END, Quote

CLOSED = late(r"\\(?:verb|lstinline)\*?(.).*\1")
TIGHT = frozenset({'"', "”", "»", "‘", "‚"})
"""Marks that open only behind white space or a bracket."""
LONG_RUN = 9
"""From so many signs on a run is spelt by their number: compiling one of a megabyte takes a second."""

Match: TypeAlias = Callable[[str, int], re.Match[str] | None]


@lru_cache(maxsize=64)
def fence_closers(run: str) -> tuple[Match, Match]:
    """Does what closes a fence that `run` opened stand here; and where on a later line does it?

    With words behind it on its line it closes nothing; where the text ends, they may still come.
    """
    closes = rf"[ \t\r]*+{spelt(run)}{run[0]}*+[ \t\r]*+(?:\n|\Z)"
    return re.compile(closes).match, re.compile(rf"\n(?={closes})").search


def spelt(run: str) -> str:
    """A pattern for a run of one sign."""
    return re.escape(run) if len(run) < LONG_RUN else f"{re.escape(run[0])}{{{len(run)}}}"


@lru_cache(maxsize=256)
def element(token: str) -> tuple[Quote, str] | None:
    """What the element, comment or environment that this token begins awaits; None where it begins none."""
    if token == "<!--":
        return Quote.COMMENT, "-->"
    if token.startswith("<!["):
        return Quote.CDATA, r"\]\]>"
    if token[0] == "<" and token[1] not in "/!" and not token.endswith("/>"):
        name = re.match(r"\w+", token[1:])
        if name is None:
            return None
        word = name.group().casefold()
        return Quote.RESULT if IS_RESULT.fullmatch(word) else Quote.HTML, f"</{word}{WORD_END}"
    if token.startswith("\\begin{"):
        return Quote.LATEX, END + re.escape(token[len("\\begin") :])
    if token in LONG_QUOTES:
        return Quote.STRING, token
    if token == "/*":
        return Quote.REMARK, r"\*/"
    if token[0] == "[" and token[1] != "/" and (name := re.match(FORUM, token[1:], re.IGNORECASE)):
        return Quote.HTML, rf"\[/{name.group().casefold()}\]"
    if token[0] == "\\" and not token.startswith("\\end") and not CLOSED.fullmatch(token):
        return Quote.LATEX, re.escape(token[-1])
    return None


def mark(token: str, before: str, after: str) -> str:
    """The pattern of what would close this quotation mark; "" where it opens nothing."""
    if token in TIGHT and not (before.isspace() or before in "([{:,=—–-"):
        return ""
    if token == '"' and after.isspace():
        return MARKS['" '] if before.isspace() else ""
    return MARKS.get(token.casefold(), "")
