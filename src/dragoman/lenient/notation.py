"""How a notation writes objects and strings, and how reading one can fail.

Knows signs, reads nothing: `strings.py` reads strings, `reader.py` values.
"""

from __future__ import annotations

from ..late import late
from ..records import dataclass

CLOSERS = {"“": "”", "”": "”", "„": "“”", "‘": "’", "’": "’", "«": "»", "「": "」", "＂": "＂"}
"""What closes a string, by the sign of no programming language that opens it."""
TRIPLES = ('"""', "'''")
"""Quotes of Python's long strings."""
BLANK = " \t\r\n\u00a0\ufeff\u3000\u200b\u200c\u200d\u2060"
"""White space, and signs without width, as the inside of a character class."""
WIDE_COMMA = "，"
"""A comma as Chinese and Japanese texts have it: between values it can mean nothing else."""
SURROGATE = late("[\ud800-\udfff]")
"""Half of a character, which no text in UTF-8 can hold."""


class Broken(Exception):
    """The text has no single reading; `str()` says why, in words for a person."""


class Repeated(Broken):
    """One key is given two values."""


class Cut(Exception):
    """The text ended inside a value."""


@dataclass(frozen=True, slots=True)
class Form:
    """How this notation writes objects and strings.

    `close` ends the outermost object, `pair` stands between key and value there (":" is accepted too), `quotes` are
    extra string delimiters without escapes, `python` switches on Python's strings, tuples and adjacent literals.
    """

    open: str = "{"
    close: str = "}"
    pair: tuple[str, ...] = (":",)
    quotes: tuple[str, ...] = ()
    python: bool = False
    bare: bool = False


JSON = Form()
PYTHON = Form(open="(", close=")", pair=("=",), python=True)
INNER_PYTHON = Form(python=True)
