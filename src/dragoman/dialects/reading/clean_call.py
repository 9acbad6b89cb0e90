"""A JSON call that needs no mending, in one step: `{"name": …, "arguments": {…}}` as `json` itself reads it.

`clean_call` reads the object, `clean_marked` the object and the marks around it, where all of the text is there.

Knows rows' keys and tools' shapes; does not know dialects, nor where in a message it stands.

Contract: what it takes, the reader of `json.py` would read to the same draft; what it does not take, that reader reads.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...late import late
from ...lenient.source import SPACE
from ..spec import JsonCall, Listing
from .call import Attempt
from .clean import given, is_over, one_of, tell
from .compiled import JOINTS, Row

END = late(r"[ \t\r\n]*\}")


@lru_cache(maxsize=256)
def call_head(args: JsonCall) -> re.Pattern[str] | None:
    """What stands before the arguments, if the name stands first; None where the call is not written so."""
    if args.inside or args.single_key or not (args.name and args.args):
        return None
    names, keys = ("|".join(map(re.escape, keys)) for keys in (args.name, args.args))
    return re.compile(
        rf'\{{[ \t\r\n]*"(?:{names})"[ \t\r\n]*:[ \t\r\n]*"(?P<name>[\w.-]{{1,128}})"[ \t\r\n]*,[ \t\r\n]*"(?:{keys})"'
        r"[ \t\r\n]*:[ \t\r\n]*(?=\{)"
    )


@lru_cache(maxsize=1024)
def _around(row: Row) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """What stands before the arguments and behind them, marks and all; None where a call has more parts than these.

    Behind the closer nothing stands that joins another call to this one; where the row has none, nothing at all.
    """
    args, opens, closes = row.dialect.args, row.call_open or row.section_open, row.call_close
    if not isinstance(args, JsonCall) or row.dialect.listing is not Listing.REPEAT:
        return None
    if not (row.strong and opens):  # behind one that proves little a bracket may be one too many
        return None
    if row.tool_open or row.forms or row.dialect.suffix or (head := call_head(args)) is None:
        return None
    if row.section_close or (row.section_open and row.call_open):
        return None
    behind = _behind(row, closes, opens) if closes else rf"(?={SPACE.pattern}\Z)"
    if not behind:
        return None
    return (
        re.compile(rf"{one_of(opens)}{SPACE.pattern}(?P<object>{head.pattern})"),
        re.compile(rf"({END.pattern}){behind}"),
    )


def _behind(row: Row, closes: tuple[str, ...], opens: tuple[str, ...]) -> str:
    """A pattern for what stands behind the object of a row with closers; "" where one look does not tell which."""
    marks = {mark.casefold() for mark in closes + opens}
    for close in closes:
        folded = close.casefold()
        if close[0] in "{,;\"'" or any(mark.startswith(folded) for mark in marks - {folded}):
            return ""
    joint = "".join(re.escape(mark) for mark in row.between if mark in JOINTS)
    return SPACE.pattern + one_of(closes) + (rf"(?!{SPACE.pattern}[{joint}])" if joint else "")


def clean_marked(attempt: Attempt) -> bool:
    """Read all that stands here, if it is one call between its marks in a text that has ended, and needs nothing."""
    src = attempt.src
    around = _around(attempt.row)
    found = around[0].match(src.buf, src.pos) if around is not None else None
    if around is None or found is None:
        return False
    begin, src.pos = src.pos, found.start("object")
    end = _read(attempt, found, around[1])
    src.pos = begin if end is None else end.end()
    return end is not None


def clean_call(attempt: Attempt, args: JsonCall) -> bool:
    """Read the call object that stands here, if all of it has come and it needs nothing."""
    src, head = attempt.src, call_head(args)
    found = head.match(src.buf, src.pos) if head is not None else None
    return found is not None and _read(attempt, found, None) is not None


def _read(attempt: Attempt, head: re.Match[str], tail: re.Pattern[str] | None) -> re.Match[str] | None:
    """Read the arguments behind `head`, and go behind the object; None where any of it needs more than that.

    With a `tail`, what stands behind the arguments is that; its first group ends the object.
    """
    src, name = attempt.src, head["name"]
    told = given(attempt, name, head.end())
    end = (tail or END).match(src.buf, told.end) if told is not None else None
    if told is None or end is None or (tail is None and not is_over(src, end.end())):
        return None
    tell(attempt, attempt.new(), name, told, end.end(1 if tail else 0))
    return end
