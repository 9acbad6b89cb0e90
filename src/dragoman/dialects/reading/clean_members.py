"""Arguments as literals that need no mending, in one look: `(city="Oslo", days=3)`, `{city:<|"|>Oslo<|"|>,days:3}`.

Knows forms and tools' shapes; does not know marks, nor in what the arguments stand.

Contract: what it takes, the lenient reader would read to the same arguments, and note nothing; the rest it leaves.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...lenient.notation import PYTHON, Form
from ...lenient.reader import quoted
from ...lenient.source import Source
from ..judge.candidate import Draft
from .exact import Wanted, wanted
from .keys import TEXT as STRING

SPACE = r"[ \t\r\n]*+"
TEXT = r"\\\x00-\x1f\ud800-\udfff"
"""Signs of a string that an escape stands for, or may."""
INTEGER = r"(?P<integer>0|-?[1-9][0-9]{0,14})"
END = rf"{SPACE}(?P<end>,{SPACE}(?=[A-Za-z_])|"
BEHIND = re.compile(r"[\])}]*+(?:(?P<over>\Z)|[^\w\"'\])}])")
"""What stands behind a Python call whose last string does not go on."""
NONE, NUMBERS, TRUTH = frozenset[str](), frozenset({"integer", "number"}), frozenset({"boolean"})


@lru_cache(maxsize=64)
def _member(form: Form) -> re.Pattern[str] | None:
    """One argument and the sign behind it; None for a form whose strings are not told by their quotes alone."""
    if form == PYTHON:
        strings = rf"\"(?P<text>[^\"{TEXT}]*+)\"|'(?P<other>[^'{TEXT}]*+)'"
        # a truth as Python spells it is noted
        return re.compile(rf"(?P<key>[A-Za-z_]\w*+){SPACE}={SPACE}(?:{strings}|{INTEGER}|(?P<word>(?!))){END}\))")
    if form.bare and len(form.quotes) == 1 and form.quotes[0][0] == "<":
        quote = re.escape(form.quotes[0])
        strings = rf"{quote}(?P<text>[^<{TEXT}]*+){quote}(?P<other>(?!))?"
        return re.compile(rf"(?P<key>[A-Za-z_]\w*+):{SPACE}(?:{strings}|{INTEGER}|(?P<word>true|false)){END}\}})")
    return None


def clean_members(draft: Draft, src: Source, form: Form) -> bool:
    """Write the arguments that stand here to the draft, if all of them have come and need nothing."""
    pattern = _member(form) if draft.tool is not None else None
    if pattern is None or not src.buf.startswith(form.open, src.pos):
        return False
    takes, buf, at = wanted(draft.tool), src.buf, src.pos + 1
    written: dict[str, str] = {}
    while True:
        found = pattern.match(buf, at)
        if found is None:
            return False
        key, at = found["key"], found.end()
        value = _value(found, takes, key)
        if not value or key in written:
            return False
        written[key] = value
        if found["end"] == form.close:
            break
    behind = BEHIND.match(buf, at) if form.python else None
    if form.python and (behind is None or (behind["over"] is not None and not src.eof)):
        return False
    draft.write("{" + ",".join([f"{quoted(key)}:{value}" for key, value in written.items()]) + "}")
    src.pos = at
    return True


def _value(found: re.Match[str], takes: Wanted, key: str) -> str:
    """The argument's value as JSON, if the tool wants just that; else nothing."""
    text, other, integer, word = found.group("text", "other", "integer", "word")
    kinds = takes.kinds.get(key, NONE)
    if integer is not None:
        return integer if kinds and kinds <= NUMBERS else ""
    if word is not None:
        return word if kinds == TRUTH else ""
    return quoted(text if text is not None else other) if kinds == STRING else ""
