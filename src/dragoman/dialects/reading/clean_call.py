"""A JSON call that needs no mending, in one step: `{"name": …, "arguments": {…}}` as `json` itself reads it.

`clean_call` reads the object, `clean_attempt` the object and the marks around it, where all of the text is there.

Knows rows' keys and tools' shapes; does not know dialects, nor where in a message it stands.

Contract: what it takes, the reader of `json.py` would read to the same draft; what it does not take, that reader reads.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...late import late
from ...lenient.source import SPACE, Source
from ..judge.candidate import Draft
from ..spec import JsonCall, Listing
from .call import Attempt
from .compiled import JOINTS, Row
from .exact import Wanted, object_at, spelt, wanted
from .keys import NO_KEY

END = late(r"[ \t\r\n]*\}")


@lru_cache(maxsize=256)
def _head(args: JsonCall) -> re.Pattern[str] | None:
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

    Behind the closer nothing stands that joins another call to this one.
    """
    args, opens, closes = row.dialect.args, row.call_open, row.call_close
    if not isinstance(args, JsonCall) or row.dialect.listing is not Listing.REPEAT:
        return None
    if not (row.strong and opens and closes):  # behind one that proves little a bracket may be one too many
        return None
    if row.section_open or row.tool_open or row.forms or row.dialect.suffix or (head := _head(args)) is None:
        return None
    marks = {mark.casefold() for mark in closes + opens}
    for close in closes:
        folded = close.casefold()
        if close[0] in "{,;" or any(mark.startswith(folded) for mark in marks - {folded}):
            return None  # which of them stands there is not told by one look
    opened, closed = (
        "|".join(map(re.escape, sorted(spelt, key=len, reverse=True))) for spelt in (opens, closes)
    )
    joint = "".join(re.escape(mark) for mark in row.between if mark in JOINTS)
    apart = rf"(?!{SPACE.pattern}[{joint}])" if joint else ""
    return (
        re.compile(rf"(?ai:{opened}){SPACE.pattern}(?P<object>{head.pattern})"),
        re.compile(rf"({END.pattern}){SPACE.pattern}(?ai:{closed}){apart}"),
    )


def clean_attempt(attempt: Attempt) -> bool:
    """Read all that stands here, if it is one call between its marks in a text that has ended, and needs nothing."""
    src = attempt.src
    around = _around(attempt.row) if src.eof else None
    found = around[0].match(src.buf, src.pos) if around is not None else None
    if around is None or found is None:
        return False
    begin, src.pos = src.pos, found.start("object")
    end = _read(attempt, found, around[1])
    src.pos = begin if end is None else end.end()
    return end is not None


def clean_call(attempt: Attempt, args: JsonCall) -> bool:
    """Read the call object that stands here, if all of it has come and it needs nothing."""
    src, head = attempt.src, _head(args)
    found = head.match(src.buf, src.pos) if head is not None else None
    return found is not None and _read(attempt, found, None) is not None


def _read(attempt: Attempt, head: re.Match[str], tail: re.Pattern[str] | None) -> re.Match[str] | None:
    """Read the arguments behind `head`, and go behind the object; None where any of it needs more than that.

    With a `tail`, what stands behind the arguments is that; its first group ends the object.
    """
    src, name = attempt.src, head["name"]
    takes = _taker(attempt, name)
    held = object_at(src.buf, head.end()) if takes is not None else None
    if takes is None or held is None or not takes.fit(held[0]):
        return None
    if not held[0].keys() <= takes.sound:
        for key in held[0]:
            if NO_KEY.search(key) is not None:
                return None
    end = (tail or END).match(src.buf, held[2])
    if end is None or (tail is None and not _is_over(src, end.end())):
        return None
    draft = attempt.new()
    begin(attempt, draft, name, takes)
    draft.pieces.append(held[1])
    draft.read = 1, held[0]
    src.pos = end.end(1 if tail else 0)
    attempt.finish(draft)
    return end


def _taker(attempt: Attempt, written: str) -> Wanted | None:
    """What the declared tool wants that is spelt so; None for none."""
    declared = attempt.judge.declared
    return spelt(declared, written) or (wanted(declared[name]) if (name := declared.exact(written)) else None)


def begin(attempt: Attempt, draft: Draft, written: str, takes: Wanted) -> None:
    """Begin the draft of a call of this tool: one that is spelt in another way is the judge's to name."""
    if takes.tool is not None and takes.tool.name == written:
        attempt.begin_known(draft, written, takes.tool, takes.shape)
    else:
        attempt.begin(draft, written)


def _is_over(src: Source, pos: int) -> bool:
    """Would no string be taken to go on behind the call's last bracket?"""
    return src.eof if pos == len(src.buf) else src.buf[pos] not in "\"'"
