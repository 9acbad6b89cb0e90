"""A section that holds a JSON list of calls which need no mending, in one look: `[{"name": …, "arguments": {…}}, …]`.

Knows rows' marks and keys; does not know dialects, nor where in a message it stands.

Contract: what it takes, the reader of `json.py` would read to the same drafts; that one reads what it does not take.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial

from ...late import late
from ...lenient.source import SPACE
from ...records import NamedTuple
from ..spec import JsonCall, Listing
from .call import Attempt
from .clean import MOST, Read, given, one_of, tell_all
from .clean_call import END, call_head
from .compiled import Row

JOINT = late(rf"(?P<end>{END.pattern}){SPACE.pattern}(?:,{SPACE.pattern}(?=\{{)|(?P<over>\]))")
"""The call's last bracket, and what parts it from the next call or ends the list."""


class Marks(NamedTuple):
    """What stands before the first call, before the arguments of each, and behind the list."""

    head: re.Pattern[str]
    call: re.Pattern[str]
    tail: re.Pattern[str]


@lru_cache(maxsize=1024)
def _marks(row: Row) -> Marks | None:
    """The marks of a row; None where what it reads is no such list."""
    args = row.dialect.args
    if not isinstance(args, JsonCall) or row.dialect.listing is not Listing.ARRAY or not row.section_open:
        return None
    head = call_head(args)
    if head is None or row.call_open or row.tool_open or row.forms or row.dialect.suffix:
        return None
    space = SPACE.pattern
    # without a mark of its own, one bracket too many ends it
    over = f"(?:{space}{one_of(row.section_close)})?+" if row.section_close else rf"(?!{space}\])"
    return Marks(re.compile(rf"{one_of(row.section_open)}{space}\[{space}(?=\{{)"), head, re.compile(over))


def clean_list(attempt: Attempt) -> bool:
    """Read all that stands here, if it is a list of calls in a text that has ended, and needs nothing."""
    marks = _marks(attempt.row)
    return marks is not None and tell_all(attempt, marks.head, marks.tail, partial(_calls, attempt, marks))


def _calls(attempt: Attempt, marks: Marks, calls: list[Read], at: int) -> int:
    """Add the calls of which the first stands here; where their list ends, -1 where that is not plain."""
    buf = attempt.src.buf
    while len(calls) < MOST:
        head = marks.call.match(buf, at)
        told = given(attempt, head["name"], head.end()) if head is not None else None
        joint = JOINT.match(buf, told.end) if told is not None else None
        if head is None or told is None or joint is None:
            return -1
        calls.append(Read(at, head["name"], told, joint.end("end")))
        if joint["over"]:
            return joint.end()
        at = joint.end()
    return -1
