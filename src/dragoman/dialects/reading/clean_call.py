"""A JSON call that needs no mending, in one step: `{"name": …, "arguments": {…}}` as `json` itself reads it.

Knows rows' keys and tools' shapes; does not know dialects, nor where in a message it stands.

Contract: what it takes, the reader of `json.py` would read to the same draft; what it does not take, that reader reads.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...late import late
from ...lenient.source import Source
from ..spec import JsonCall
from .arguments import NO_KEY
from .call import Attempt
from .exact import object_at, wanted

END = late(r"[ \t\r\n]*\}")


@lru_cache(maxsize=256)
def _head(args: JsonCall) -> re.Pattern[str] | None:
    """What stands before the arguments, if the name stands first; None where the call is not written so."""
    if args.inside or args.single_key or not (args.name and args.args):
        return None
    names, keys = ("|".join(map(re.escape, keys)) for keys in (args.name, args.args))
    return re.compile(
        rf'\{{[ \t\r\n]*"(?:{names})"[ \t\r\n]*:[ \t\r\n]*"([\w.-]{{1,128}})"[ \t\r\n]*,[ \t\r\n]*"(?:{keys})"'
        r"[ \t\r\n]*:[ \t\r\n]*(?=\{)"
    )


def clean_call(attempt: Attempt, args: JsonCall) -> bool:
    """Read the call object that stands here, if all of it has come and it needs nothing."""
    src, head = attempt.src, _head(args)
    found = head.match(src.buf, src.pos) if head is not None else None
    if found is None:
        return False
    name = attempt.judge.declared.exact(found[1])
    if not name:
        return False
    tool = attempt.judge.declared[name]
    held = object_at(src.buf, found.end())
    if held is None or not wanted(tool).fit(held[0]):
        return False
    for key in held[0]:
        if NO_KEY.search(key) is not None:
            return False
    end = END.match(src.buf, held[2])
    if end is None or not _is_over(src, end.end()):
        return False
    draft = attempt.new()
    attempt.begin(draft, found[1])
    draft.write(held[1])
    draft.read = 1, held[0]
    src.pos = end.end()
    attempt.finish(draft)
    return True


def _is_over(src: Source, pos: int) -> bool:
    """Would no string be taken to go on behind the call's last bracket?"""
    return src.eof if pos == len(src.buf) else src.buf[pos] not in "\"'"
