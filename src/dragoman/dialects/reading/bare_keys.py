"""Keys that no mark opens: a word, and behind it what begins the value (`path:「始」a.md「末」`).

Knows a row's pattern for them, a source and the text of a value; not which keys are declared.
Contract of `holds_mark`: one look over the text.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...lenient.source import Need, Source
from .compiled import Row

MAX_KEY = 160
"""A key with its marks, and the white space before it, is no longer."""
NEAR = 4
"""A damaged mark stands so near to the key that it belongs to."""


def key_at(src: Source, row: Row) -> Need[str]:
    """The key that stands here behind white space, with all its marks; "" where none does.  Nothing is consumed."""
    if row.bare_key is None:
        return ""
    found = yield from src.match(row.bare_key, MAX_KEY)
    return found["key"] if found is not None else ""


def holds_mark(row: Row, text: str, missing: list[str]) -> bool:
    """Does a value hold a mark of another argument: one that closes nothing in it, or a piece of one beside the name of
    an argument that is `missing`, on a line of its own?"""
    if row.bare_key is None:
        return False
    mark, begun = _patterns(row)
    depth = 0
    for found in mark.finditer(text):
        depth += 1 if found["opens"] else -1
        if depth < 0:
            return True
    return depth > 0 or any(found["key"] in missing for found in begun.finditer(text))


@lru_cache(maxsize=64)
def _patterns(row: Row) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A mark of a value; and a word that begins a line, with a sign of such a mark near behind it."""
    opens, closes = ("|".join(map(re.escape, marks)) for marks in (row.value_open, row.value_close))
    signs = re.escape("".join(sorted(set("".join(row.value_open)))))
    mark = re.compile(f"(?P<opens>{opens})|(?:{closes})")
    return mark, re.compile(rf"^[^\S\n]*+(?P<key>[\w.-]++)[^\n{signs}]{{0,{NEAR}}}[{signs}]", re.MULTILINE)
