"""Arguments as literals that need no mending, in one look: `(city="Oslo", days=3)`, `{city:<|"|>Oslo<|"|>,days:3}`.

Knows forms and tools' shapes; does not know marks, nor in what the arguments stand.

Contract: what it takes, the lenient reader would read to the same arguments, and note nothing; the rest it leaves.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ...lenient.notation import PYTHON, Form
from ...lenient.quoting import quoted
from ...lenient.source import Source
from ...records import NamedTuple
from ..judge.candidate import Draft
from .arguments import MOST_MEMBERS
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


class Members(NamedTuple):
    """Arguments as a value and as JSON, and where they end."""

    value: dict[str, Any]
    written: str
    end: int


def members_at(src: Source, at: int, takes: Wanted, form: Form) -> Members | None:
    """The arguments in the bracket that opens at this place, if all of them have come and need nothing."""
    pattern, buf = _member(form), src.buf
    if pattern is None or not buf.startswith(form.open, at):
        return None
    at += 1
    value: dict[str, Any] = {}
    written: list[str] = []
    while True:
        found = pattern.match(buf, at)
        if found is None:
            return None
        key, at = found["key"], found.end()
        spelt = _value(found, takes, key)
        if spelt is None or key in value or len(value) > MOST_MEMBERS:
            return None
        value[key] = spelt
        written.append(f"{quoted(key)}:{found['integer'] or found['word'] or quoted(spelt)}")
        if found["end"] == form.close:
            break
    behind = BEHIND.match(buf, at) if form.python else None
    if form.python and (behind is None or (behind["over"] is not None and not src.eof)):
        return None
    return Members(value, f"{{{','.join(written)}}}", at)


def clean_members(draft: Draft, src: Source, form: Form) -> bool:
    """Write the arguments that stand here to the draft, if all of them have come and need nothing."""
    found = members_at(src, src.pos, wanted(draft.tool), form) if draft.tool is not None else None
    if found is None:
        return False
    draft.write(found.written)
    src.pos = found.end
    return True


def _value(found: re.Match[str], takes: Wanted, key: str) -> Any:
    """The argument's value, if the tool wants just that; else None."""
    text, other, integer, word = found.group("text", "other", "integer", "word")
    kinds = takes.kinds.get(key, NONE)
    if not kinds and word is None and takes.leaves_free(key):
        return int(integer) if integer is not None else text if text is not None else other
    if integer is not None:
        return int(integer) if kinds and kinds <= NUMBERS else None
    if word is not None:
        return word == "true" if kinds == TRUTH else None
    return (text if text is not None else other) if kinds == STRING else None
