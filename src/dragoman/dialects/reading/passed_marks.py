"""What may be passed over in a raw value at once: marks that open or close nothing there, or only what is inside it.

Knows the marks of a row and how they nest; not how a value is read, nor what is decided on where it ends.
Contract: what is passed leaves the value, and `depth`, what is open in it, as looking at each mark would; only text
of which enough has come is passed.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .compiled import Row
from .nesting import MAX_OPENER, NAME_OVER, OPENING_TAG, TAG_OVER, Nesting

BLANKS = r" \t\r\n\f\v\u00a0\ufeff"
"""What `Source.glance` passes over."""


@lru_cache(maxsize=256)
def false_closers(marks: tuple[str, ...], own: tuple[str, ...], after: tuple[str, ...]) -> re.Pattern[str] | None:
    """Text with closers in it behind each of which a sign stands that begins none of the marks `after` it."""
    closers = [mark for mark in own if mark in marks and not any(m != mark and m.startswith(mark) for m in marks)]
    if not closers or not after or not all(after):
        return None
    begins = re.escape("".join(sorted({case(mark[0]) for mark in marks if mark for case in (str.lower, str.upper)})))
    follows = re.escape("".join(sorted({case(mark[0]) for mark in after for case in (str.lower, str.upper)})))
    closer = "|".join(map(re.escape, sorted(closers, key=len, reverse=True)))
    return re.compile(rf"(?:[^{begins}]*+(?:{closer})[{BLANKS}]*+[^{BLANKS}{begins}{follows}])++")


@lru_cache(maxsize=256)
def no_tags(row: Row) -> re.Pattern[str] | None:
    """Text with the beginnings of tags in it that are none, and no other mark of a value of this row."""
    nesting, marks = row.nesting, [mark for mark in row.value_marks if mark]
    certain = (*nesting.closes, *row.key_open)
    begun = [mark for mark in marks if nesting.opens.get(mark) == mark[1:] and mark not in certain]
    if not begun:
        return None
    others = _either([mark for mark in marks if mark not in begun])
    no_tag = rf"(?!{others}){_either(begun)}(?=[^ \t=>]|[^<>]*+<)"
    return _run(marks, rf"(?:(?!{_either(marks)})(?s:.)|{no_tag})")


@lru_cache(maxsize=256)
def no_own(row: Row) -> re.Pattern[str] | None:
    """Text in which no mark of an argument of this row stands."""
    nesting = row.nesting
    kinds = {mark: nesting.closes.get(mark) or nesting.kind_of(mark) for mark in row.value_marks if mark}
    mine = [mark for mark, kind in kinds.items() if mark in row.key_open or kind in nesting.values]
    return _run(mine, rf"(?!{_either(mine)})(?s:.)") if mine else None


def _run(marks: list[str], passed: str) -> re.Pattern[str]:
    """Text without the first signs of `marks`, and with what of them is `passed`; only where all of a mark has come."""
    signs, longest = re.escape("".join(sorted({mark[0] for mark in marks}))), max(map(len, marks))
    return re.compile(rf"(?:[^{signs}]*+(?=[{signs}](?s:.{{{longest}}})){passed})++")


@lru_cache(maxsize=256)
def own_marks(row: Row) -> tuple[re.Pattern[str], re.Pattern[str], int]:
    """The marks of a row's arguments; what may follow where one ends, or more text must tell; the longest mark."""
    nesting, marks = row.nesting, [mark for mark in row.value_marks if mark]
    after = max(map(len, row.after_value), default=0)
    ends = _either([mark for mark in row.after_value if mark]) if all(row.after_value) and after else ""
    follows = re.compile(rf"[{BLANKS}]*+(?:(?ai:{ends})|(?!(?s:.{{{after}}})))")
    mine = [m for m in marks if m in row.key_open or (nesting.closes.get(m) or nesting.kind_of(m)) in nesting.values]
    return re.compile(_either(mine)), follows, max(map(len, marks), default=0)


@lru_cache(maxsize=256)
def own_tags(key: str) -> re.Pattern[str]:
    """Tags with this name: one that closes has a `slash`, others are `over` and `opens`; of a longer name is `more`."""
    opens = rf"(?:[ \t=][^<>\n]{{0,{MAX_OPENER - len(key) - 1}}}+)?+(?<!/)>"
    ahead = rf"(?=(?P<more>[\w.:-])?+)(?=(?P<over>[^<>]*+[<>])?+)(?=(?P<opens>{opens})?+)"
    return re.compile(rf"<(?P<slash>/?+){re.escape(key)}{ahead}")


@lru_cache(maxsize=256)
def own_stops(row: Row, key: str) -> re.Pattern[str]:
    """Where a tag with this name may begin or end, and no mark of the row that is longer."""
    name = re.escape(key)
    longer = _either([mark for mark in row.value_marks if mark.startswith((f"<{key}", f"</{key}"))])
    return re.compile(rf"(?!{longer})<(?:/{name}|{name}(?:[ \t=>]|\Z))")


def _either(marks: list[str]) -> str:
    """A pattern for the longest of the marks that stands at a place."""
    return f"(?>{'|'.join(map(re.escape, sorted(marks, key=len, reverse=True)))})" if marks else "(?!)"


def past_nested(
    row: Row, text: str, pos: int, limit: int, depth: dict[str, int], *, nests: bool, whole: bool
) -> int:
    """How far from here only arguments begin, and what began ends where nothing follows that would end this value.

    Where it `nests`, what follows tells nothing.  The text up to the limit may be `whole`, or end within a mark.
    """
    nesting = row.nesting
    marks, follows, longest = own_marks(row)
    last, end = limit if whole else min(limit, len(text)) - longest, pos
    for found in marks.finditer(text, pos, limit):
        at, mark = found.start(), found.group()
        if at > last:
            break
        kind = nesting.closes.get(mark)
        if kind is None:
            opens = _opens(nesting, text, at, mark)
            if opens is None:
                return at
            depth[nesting.kind_of(mark)] += opens
        elif depth[kind] and (nests or follows.match(text, found.end()) is None):
            depth[kind] -= 1
        else:
            return at
        end = found.end()
    return max(end, last)


def _opens(nesting: Nesting, text: str, at: int, mark: str) -> bool | None:
    """Does the mark that stands here open something?  None where more text must tell."""
    if nesting.opens.get(mark) != mark[1:]:
        return True
    if TAG_OVER.search(text, at + 1, at + MAX_OPENER) is None:
        return None
    return text[at + len(mark)] in NAME_OVER and OPENING_TAG.match(text, at) is not None


def past_own(key: str, text: str, pos: int, end: int, depth: dict[str, int]) -> int:
    """How far from here up to `end` no tag with the argument's name stands but what opens, or closes what is open."""
    for found in own_tags(key).finditer(text, pos, end + len(key) + 1):
        at = found.start()
        if at >= end:
            break
        if found["slash"]:
            if found["more"] is not None or not depth[key]:
                return at
            depth[key] -= 1
        elif found["over"] is None:
            return at
        else:
            depth[key] += found["opens"] is not None
    return end
