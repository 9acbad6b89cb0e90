"""Calls written as literals that need no mending, in one look: `[get_weather(city="Oslo", days=3), …]`, Gemma's braces.

Knows rows' marks; does not know dialects, nor where in a message a call stands.

Contract: what it takes, the readers of `literals.py` would read to the same drafts; what it does not take, they read.
It takes only what stands in a text that has ended: all calls of a list, or a call that its mark closes.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial

from ...lenient.notation import PYTHON, Form
from ...lenient.source import SPACE
from ...records import NamedTuple
from ..spec import BraceArgs, KeywordArgs, Listing
from .call import Attempt
from .clean import MOST, Given, Read, one_of, taker, tell_all
from .clean_members import members_at
from .compiled import Row

NAME = r"(?P<name>[A-Za-z_][\w.\-]*+)"


class Marks(NamedTuple):
    """What stands before the first call, a call's name, what parts it from the next one, and what stands behind all.

    Of the joint the group `over` ends a list.
    """

    head: re.Pattern[str]
    name: re.Pattern[str]
    joint: re.Pattern[str]
    tail: re.Pattern[str]
    form: Form


@lru_cache(maxsize=1024)
def _marks(row: Row) -> Marks | None:
    """The marks of a row; None where they do not tell by themselves what stands where."""
    d, space = row.dialect, SPACE.pattern
    if d.suffix or row.forms or row.tool_open or row.body_open or row.body_close or row.between:
        return None
    if isinstance(d.args, KeywordArgs) and d.listing is Listing.ARRAY and not row.call_open:
        section = one_of(row.section_open) + space if row.section_open else ""
        close = space + one_of(row.section_close) if row.section_close else rf"(?!{space}[\[\],;])"
        joint = re.compile(rf"{space}(?:,{space}(?=[A-Za-z_])|(?P<over>\]))")
        return Marks(
            re.compile(rf"{section}\[{space}"), re.compile(rf"{NAME}(?=\()"), joint, re.compile(close), PYTHON
        )  # fmt: skip
    if isinstance(d.args, BraceArgs) and row.call_open and row.call_close and not row.section_open:
        form, close = Form(quotes=d.args.quotes, bare=True), space + one_of(row.call_close)
        head = re.compile(f"{one_of(row.call_open)}{space}")
        return Marks(head, re.compile(rf"{NAME}(?=\{{)"), re.compile("(?P<over>)"), re.compile(close), form)
    return None


def clean_literals(attempt: Attempt) -> bool:
    """Read all that stands here, if it is calls in a text that has ended, and needs nothing."""
    marks = _marks(attempt.row)
    return marks is not None and tell_all(attempt, marks.head, marks.tail, partial(_calls, attempt, marks))


def _calls(attempt: Attempt, marks: Marks, calls: list[Read], at: int) -> int:
    """Add the calls of which the first stands here; where they end, -1 where that is not plain."""
    buf = attempt.src.buf
    while len(calls) < MOST:
        head = marks.name.match(buf, at)
        takes = taker(attempt, head["name"]) if head is not None else None
        if head is None or takes is None:
            return -1
        members = members_at(attempt.src, head.end(), takes, marks.form)
        joint = marks.joint.match(buf, members.end) if members is not None else None
        if members is None or joint is None:
            return -1
        calls.append(Read(at, head["name"], Given(*members, takes), members.end))
        if joint["over"] is not None:
            return joint.end()
        at = joint.end()
    return -1
