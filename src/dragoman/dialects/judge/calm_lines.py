"""Text on one line after which nothing is open that was not before: what may be passed over in one step.

Knows marks of quotation as patterns; no state of a reading (`quotation.py`).
Contract: what a pattern here passes leaves a reading as reading it sign by sign would.
"""

from __future__ import annotations

import re

from ...late import late
from .boxes import ELEMENTS, FIRST_LETTERS, FORUM, NAMES
from .flat_lines import flat

ENTITIES = "quot|laquo|raquo|ldquo|rdquo|bdquo"
BEGUN = "|".join(sorted({re.match(r"[a-z]{1,3}(?!\?)", name)[0] for name in NAMES}))  # type: ignore[index]
NO_BRACKET = rf"<(?!<[-~]?['\"]?\w)(?:(?![/!{FIRST_LETTERS}])|(?!!--|!\[CDATA\[|/?(?:{BEGUN})))"
"""A sign that may begin an element, and is not followed by what one begins with, by three letters of each name."""
NO_TAG = rf"<(?!<[-~]?['\"]?\w)(?:(?![/!{FIRST_LETTERS}])|(?!!--|!\[CDATA\[|/?(?:{ELEMENTS})\b))"
OPENS = r"(?<=[\s(\[{:,=—–-])"
"""What stands before a quotation mark that opens."""
NO_OTHERS = (
    rf"\[(?!(?:INST|/?(?:{FORUM})\b))",
    rf"&(?!(?:{ENTITIES});)",
    r"\\(?!begin|end|verb|lstinline)",
)
"""Signs that may begin a turn, an entity or an environment, and do not."""
NO_MARKS = (NO_TAG, *NO_OTHERS)
ENCLOSED = (
    ("“", "”“"), ("„", "“”"), ("«", "»"), ("‹", "›"), ("「", "」"), ("『", "』"), ("《", "》"),
    (f"{OPENS}”", "”"), (f"{OPENS}»", "«"), (f"{OPENS}‚", "‘’"),
)  # fmt: skip
"""Quotation marks that open where they stand, and what closes them."""


def _inside(closers: str, no_tag: str = NO_BRACKET) -> str:
    """A pattern for text on one line in which none of these closes a quotation mark, and nothing else opens.

    In quotation marks that are not straight few letters of the names of elements are asked: all of them, a dozen times
    over, took longer to compile than all else that a first parse does.
    """
    return "|".join((rf"[^\n`<\\&\[{closers}]++", no_tag, *NO_OTHERS))


IN_QUOTES = _inside('"', NO_TAG)
CALM_LINE = (
    "(?:"
    + "|".join(
        (
            r"[^\n`<\"'/“”„«»‹‘‚「『《\\&\[]++",
            *NO_MARKS,
            r"'(?!'')",
            r"/(?!\*)",
            r"(?<![\s(\[{:,=—–-])(?:\"(?!\"\")|[”»‘‚])",
            OPENS + rf"\"(?!\"\")(?=\S)(?:{IN_QUOTES}|(?<=\s)\")*+(?<!\s)\"",
            *(f"{opener}(?:{_inside(closers)})*+[{closers}]" for opener, closers in ENCLOSED),
            rf"{OPENS}‘(?:{_inside('’')}|’(?=\w))*+’",
            rf"(`++)(?:[^`\n<]++|{NO_TAG})++\1(?!`)",
        )
    )
    + ")*+"
)
"""Text on one line after which nothing is open that was not before: what it opens it closes."""
CALM, FLAT = late(CALM_LINE, re.IGNORECASE), late(flat(CALM_LINE), re.IGNORECASE)
"""Lines after which nothing is."""
IN_SPAN = late(rf"(?:[^`\n<]++|{NO_TAG})*+", re.IGNORECASE)
TICKS = late(rf"(?:[^`\n<]++|{NO_TAG})*+(`++)", re.IGNORECASE)
IN_MARKS = late(rf"(?:{IN_QUOTES}|(?<=\s)\")*+", re.IGNORECASE)
