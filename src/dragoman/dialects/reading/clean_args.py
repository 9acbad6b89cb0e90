"""A call with its name in markup and its arguments as JSON, in one look: marks as the row writes them, strict JSON.

Knows rows' marks; does not know dialects, nor where in a message it stands.

Contract: what it takes, the reader of `json.py` would read to the same drafts; what it does not take, that reader
reads.  It takes only what stands in a text that has ended: a call, or all calls of a section that is closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ...lenient.notation import Broken, Cut
from ...lenient.source import SPACE
from ...records import NamedTuple
from ..judge.candidate import Draft
from ..spec import JsonArgs, Listing
from .call import Attempt, Mismatch
from .clean import MOST, Given, at_once, given, is_over, one_of, tell
from .compiled import JOINTS, Row
from .keys import MEMBER


class Marks(NamedTuple):
    """What stands before the first call, before the next one, between name and arguments, and behind these.

    Of the tail the group `call` ends the call, `over` the section.
    """

    head: re.Pattern[str]
    again: re.Pattern[str]
    body: re.Pattern[str]
    tail: re.Pattern[str]


class Read(NamedTuple):
    """A call that was read and not begun: its draft, its name as it is spelt, its id."""

    draft: Draft
    name: str
    id: str | None
    given: Given


@lru_cache(maxsize=1024)
def _marks(row: Row) -> Marks | None:
    """The marks of a row; None where they do not tell by themselves what stands where."""
    d = row.dialect
    if not isinstance(d.args, JsonArgs) or d.listing is not Listing.REPEAT or d.suffix or row.forms:
        return None
    opens = row.call_open + row.tool_open
    if not opens or not JOINTS.isdisjoint(row.between) or (row.section_open and not row.section_close):
        return None
    if _may_begin(row.body_close + row.call_close + row.section_close, opens):
        return None
    space = SPACE.pattern
    call = one_of(row.call_open) if row.call_open else ""
    body = f"(?:{space}{one_of(row.body_close)})?+" if row.body_close else ""
    close = space + one_of(row.call_close) if row.call_close else ""
    over = space + one_of(row.section_close) if row.section_close else "(?!)"
    section = one_of(row.section_open) if row.section_open else "(?!)"
    opened = f"(?:{space}{one_of(row.body_open)})?+" if row.body_open else ""
    return Marks(
        head=re.compile(f"(?:(?P<section>{section}){space})?+{call}{space}"),
        again=re.compile(f"{space}{call}{space}"),
        body=re.compile(f"{opened}{space}(?={{)"),
        tail=re.compile(f"(?P<call>{body}{close})(?P<over>{over})?+"),
    )


def _may_begin(marks: Iterable[str], others: Iterable[str]) -> bool:
    """May one of these marks be the beginning of one of the others?"""
    folded = tuple(mark.casefold() for mark in marks)
    return any(other.casefold().startswith(folded) for other in others)


def clean_args(attempt: Attempt) -> bool:
    """Read all that stands here, if it is calls in a text that has ended, and needs nothing."""
    src = attempt.src
    marks = _marks(attempt.row)
    found = marks.head.match(src.buf, src.pos) if marks is not None else None
    if marks is None or found is None:
        return False
    start, src.pos = src.pos, found.end()
    calls: list[Read] = []
    end = _calls(attempt, marks, calls, within=found["section"] is not None)
    src.pos = start
    if end < 0:
        return False
    for draft, name, identity, told in calls:
        draft.id = identity or draft.id
        tell(attempt, draft, name, told, told.end)
    src.pos = end
    return True


def _calls(attempt: Attempt, marks: Marks, calls: list[Read], *, within: bool) -> int:
    """Add the calls of which the first one's name begins here; where they end, -1 where that is not plain."""
    src = attempt.src
    while len(calls) < MOST:
        one = _call(attempt, marks)
        tail = marks.tail.match(src.buf, one.given.end) if one is not None else None
        if one is None or tail is None or not is_over(src, one.given.end):
            return -1
        if tail.end() == one.given.end and MEMBER.match(src.buf, tail.end()) is not None:
            return -1
        calls.append(one)
        if not within:
            return tail.end("call")
        if tail["over"] is not None:
            return tail.end()
        following = marks.again.match(src.buf, tail.end())
        if following is None:
            return -1
        src.pos = following.end()
    return -1


def _call(attempt: Attempt, marks: Marks) -> Read | None:
    """The call whose name begins here."""
    src, draft = attempt.src, attempt.new()
    try:
        tool = at_once(attempt.tool())
    except (Mismatch, Broken, Cut):
        return None
    if tool is None:
        return None
    name, identity, mark = tool
    body = marks.body.match(src.buf, src.pos - (mark == "{"))
    told = given(attempt, name, body.end()) if body is not None else None
    return Read(draft, name, identity, told) if told is not None else None
