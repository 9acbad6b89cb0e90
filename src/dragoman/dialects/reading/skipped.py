"""A bracketed value that is passed over without being read, since it is damaged: where it ends by its brackets.

Knows brackets, and the strings in which they mean nothing; nothing of what the value says, or of calls.
Contract: linear time; a value longer than `LONGEST` has no end.
"""

from __future__ import annotations

from ...late import late
from ...lenient.source import Need, Source

STRINGS = {
    1: late(r'(?:[^{}\[\]"]*+"[^"\\]*+")++'),
    2: late(r"""(?:[^{}\[\]()"']*+(?:"[^"\\]*+"|'[^'\\]*+'))++"""),
}
"""Strings without escapes, by how many kinds of quotes there are, and the text before them."""
OPENING = {1: late(r'(?:[^{}\[\]"]*+[{\[])++'), 2: late(r"""(?:[^{}\[\]()"']*+[{\[(])++""")}
"""Brackets that open, and the text before them."""
LONGEST = 150_000
"""Characters of a damaged value that are looked through for its end."""


def skip_value(src: Source, *, printed: bool) -> Need[bool]:
    """Pass over the value that stands here, of JSON or `printed` as Python is; False where it has no end."""
    depth, far = 0, src.at + LONGEST
    quotes = ('"', "'") if printed else ('"',)
    brackets = ("{", "}", "[", "]") + (("(", ")") if printed else ())
    strings, opening = STRINGS[len(quotes)], OPENING[len(quotes)]
    while src.at <= far:
        if depth and (run := strings.match(src.buf, src.pos)):
            src.pos = run.end()
        if depth and (run := opening.match(src.buf, src.pos)):
            depth += sum(map(run.group().count, "({[" if printed else "{["))
            src.pos = run.end()
        mark = yield from src.until(brackets + quotes, _ignore)
        if mark and mark in quotes:
            while (inner := (yield from src.until((mark, "\\\\", f"\\{mark}"), _ignore))) != mark:
                if not inner or src.at > far:
                    return False
        elif not mark or (mark in ")}]" and not depth):
            return False
        else:
            depth += 1 if mark in "({[" else -1
        if not depth:
            return src.at <= far
    return False


def _ignore(text: str) -> None:
    return None
