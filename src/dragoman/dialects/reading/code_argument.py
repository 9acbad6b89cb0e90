"""A JSON call without arguments and, between the same marks, its code as text: `{"name": "f", "arguments": {}}<code>…`.

Models that were taught to call an interpreter so (Tongyi DeepResearch, formats-2026.md N18) keep code out of JSON.
Knows tools' shapes; not what marks stand round the call.

Contract: what it takes is a whole element of code, and a tool with one parameter that it can mean.
"""

from __future__ import annotations

import json

from ...late import late
from ...lenient.notation import Cut
from ...lenient.source import Need
from ...schema.validation import shape
from ...types import Edit, IssueKind, Tool
from .call import Attempt

HEAD = late(
    r'\{\s*"name"\s*:\s*"(?P<name>[\w.:/-]{1,128})"\s*,\s*"(?:arguments|parameters)"\s*:\s*'
    r'\{\s*(?:"\w{1,64}"\s*:\s*""\s*)?\}\s*\}\s*<code>\n?'
)
BEGUN = late(
    r'\{[^{}]*(?:\{\s*(?:"\w{0,64}(?:"\s*(?::\s*(?:"(?:"\s*)?)?)?)?)?(?:\}\s*(?:\}\s*(?:<[code]{0,4}>?)?)?)?)?\Z'
)
"""Text that may go on as one."""
NAMES = frozenset({"code", "python_code", "source", "source_code", "script", "program", "command"})
MAX_HEAD = 300
CODE, OPENER, CLOSER = "code", "<code>", "</code>"


def code_argument(attempt: Attempt) -> Need[bool]:
    """Read the call that stands here, if it is such a one; what closes it is not taken."""
    src = attempt.src
    found = yield from src.match(HEAD, MAX_HEAD, BEGUN)
    name = attempt.judge.resolve(found["name"]) if found is not None else None
    key = _parameter(attempt.judge.declared[name]) if name is not None else ""
    if found is None or not key:
        return False
    draft = attempt.new()
    src.pos = found.end()
    attempt.begin(draft, found["name"])
    draft.write(json.dumps({key: (yield from _code(attempt))}, ensure_ascii=False))
    draft.edits.append(Edit("wrapped_text", "$", CODE))
    attempt.finish(draft)
    return True


def refuse_code(attempt: Attempt) -> Need[None]:
    """Code behind arguments that are given has two readings: which is meant is not told."""
    draft = attempt.last
    if draft is not None and (yield from attempt.src.glance((OPENER,)))[1]:
        why = "code stands behind the arguments, and is no argument of the tool"
        draft.refuse(IssueKind.MALFORMED, why, attempt.judge.correction(draft, why))


def _code(attempt: Attempt) -> Need[str]:
    """The code, up to the closer behind which the call ends: one inside it is a part of it.

    Where the text ends instead, that closer has a line of its own, and none in the code is without its opener.
    """
    src, got, piece, inside = attempt.src, list[str](), list[str](), 0
    while True:
        if not (yield from src.until((CLOSER,), piece.append)):
            raise Cut
        text = "".join(piece)
        inside += text.count(OPENER)
        got.append(text)
        _, ended = yield from src.glance(attempt.call_close)
        if not ended and text.endswith("\n") and not inside:
            ahead = yield from src.over_space()
            if src.pos + ahead == len(src.buf) and attempt.ends is not None and attempt.ends():
                ended = CLOSER
        if ended:
            return "".join(got).removesuffix("\n")
        got.append(CLOSER)
        piece, inside = [], inside - 1


def _parameter(tool: Tool) -> str:
    """The parameter that code must mean, by its name or since the tool tells of the element; "" where none is.

    The tool that was taught so declares no parameter at all.
    """
    wanted = shape(tool.parameters)
    texts = [key for key in wanted.keys if "string" in wanted.property(key).kinds]
    named = [key for key in texts if key in NAMES]
    if OPENER in tool.description:
        return (named or texts or [CODE])[0] if len(texts) < 2 or named else ""
    return named[0] if len(named) == 1 else ""
