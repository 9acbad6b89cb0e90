"""Patterns for the inside of a string, by the quote that opens it.

They tell runs of characters that need no look from those that do; what becomes of these is for `strings.py` to say.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..late import late
from .notation import CLOSERS

PAIR = r"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
ESCAPE = rf"[\"/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{{4}}|{PAIR}"
"""What stands behind a backslash in one that is well spelt, but for another backslash."""


class Inside:
    """Patterns for the inside of a string, by its opening quote.

    `search` finds a character that needs a look, `stop` one that still does where escapes are well spelt, but for an
    escaped backslash; `run` matches what needs none, well-spelt escapes among it; `raw` takes text
    with control characters in it, `plain` text without, both with quotes that do not end the string.
    """

    __slots__ = ("closers", "plain", "raw", "run", "search", "stop")

    def __init__(self, closers: str) -> None:
        ends = re.escape(closers)
        quotes = ends if '"' in closers else ends + '"'
        bad = f"{quotes}\\\\\\x00-\\x1f\ud800-\udfff"
        self.closers: str = closers
        self.search = late(f"[{bad}]")
        self.run = late(rf"[^{bad}]*+(?:\\(?:\\|{ESCAPE})[^{bad}]*+)*+")
        self.stop = late(rf"[{bad}](?:(?<![\\\"])|(?<=\")(?<!\\\")|(?<=\\)(?!{ESCAPE}))")
        self.raw = late(f"[^{ends}\\\\\ud800-\udfff]+")
        self.plain = late(f"[^{ends}\\\\\\x00-\\x1f\ud800-\udfff]+")


class First(Inside):
    """Before anything else was written: what is written first tells a Windows path."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("")
        self.raw, self.plain = late("[\\x00-\\x1f]+"), late('"+')


FIRST: First = First()


@lru_cache(maxsize=64)
def inside(quote: str) -> Inside:
    """The patterns for a string that this quote opens."""
    return Inside(CLOSERS.get(quote, quote))


HALF = (
    r"|x(?=(?s:..))(?![0-9a-fA-F]{2})|U(?=(?s:.{8}))(?![0-9a-fA-F]{8})"
    r"|[123](?=(?s:..))(?![0-7]{2})"
)
"""Beginnings of Python's escapes for a character's number that are none."""


@lru_cache(maxsize=64)
def odd_escapes(closers: str, *, python: bool, raw: bool) -> re.Pattern[str]:
    """Text with escapes in it that are none, and no others, of which all has come; `raw` with control characters.

    One before what ends the string or is no text, or means something to Python, is looked at alone.
    """
    ends = re.escape(closers)
    controls = "" if raw else "\x00-\x1f"
    plain = f"[^{ends}\"\\\\{controls}\ud800-\udfff]"
    known = "xUav0123'" if python else ""
    half = HALF if python else ""
    none = rf"[^{ends}{known}\"\\/bfnrtu\x00-\x1f\ud800-\udfff]|u(?=(?s:.{{4}}))(?![0-9a-fA-F]{{4}}){half}"
    return re.compile(rf"{plain}*+(?:\\(?:{none}){plain}*+)*+")
