"""A call that could not be read, read once more as what it was before one sign in it was damaged.

Asked of what broke, with all of its text at hand.  `lenient.one_sign` says what the text may have been, the row's own
reader reads each candidate, and the schema decides: where one call comes out, and no other, that is the call.  Knows
rows, drafts and the judge; nothing of where in the message the text stands.

Contract of `read_again`: None unless there is one reading, which is then complete, declared key by key and fits its
tool's schema; the work is in proportion to the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ...late import late_call
from ...lenient.notation import Broken, Cut
from ...lenient.one_sign import Reading, readings
from ...lenient.source import Source
from ...records import NamedTuple
from ...schema.validation import ANYTHING, Shape, shape
from ...types import Tool
from ..judge.candidate import Draft
from ..judge.judge import Judge
from ..reading.call import Attempt, Mismatch
from ..reading.compiled import Row
from ..reading.table import READERS
from ..spec import JsonCall, KeywordArgs

Signs: TypeAlias = tuple[str, str, Callable[[str, Mapping[str, Shape]], Iterator[Reading]]]
"""The brackets round what is read again, and what it may have been."""
JSON: Signs = "{", "}", readings
PYTHON: Signs = "(", ")", late_call("...lenient.one_sign_python", "python_readings", __name__)
DEEPEST = 6
"""So deep keys are looked for in a schema, which may hold itself."""
ENVELOPE = ("type", "function", "id")
"""Keys round a call beside those that its row names."""
UNSETTLING = frozenset({"unclosed", "missing_bracket", "unescaped_quote", "wrong_closer", "missing_comma", "coerced"})
"""Mends after which more than one sign was damaged, or a value is none that was wanted."""


class Again(NamedTuple):
    """What was read: the attempt, with its one call, and how many characters behind it are none of it."""

    attempt: Attempt
    draft: Draft
    left: int


def read_again(row: Row, raw: str, judge: Judge, at: int, broken: Draft | None) -> Again | None:
    """The one call that `raw`, which stands `at` this place, was before one sign in it was damaged.

    `broken` is what was read of it, if its name was.
    """
    opens, closes, may_be = PYTHON if isinstance(row.dialect.args, KeywordArgs) else JSON
    begin, end = raw.find(opens), raw.rfind(closes) + 1
    tool = (broken.tool if broken is not None else _tool(raw, judge)) if 0 <= begin < end else None
    if tool is None:
        return None
    tail, found = raw[end:], list[tuple[Reading, Again]]()
    for reading in may_be(raw[begin:end], _wanted(row, tool)):
        again = _read(row, raw[:begin] + reading.text + tail, judge, at)
        if again is not None and again.left <= len(tail):
            found.append((reading, again))
    if len({again.draft.value() for _, again in found}) != 1:
        return None
    reading, again = found[0]
    again.draft.end = at + len(raw) - again.left
    again.draft.edits.append(reading.edit)
    return again


def _tool(raw: str, judge: Judge) -> Tool | None:
    """The one tool that is named in the text as in a call."""
    named = set(judge.declared.called_in(raw.replace("\\", ""), 2))
    return judge.declared[named.pop()] if len(named) == 1 else None


def _wanted(row: Row, tool: Tool) -> Mapping[str, Shape]:
    """The keys that may stand in the call, and what under each; of one that stands in two places, nothing is known."""
    found: dict[str, Shape] = {}
    for key, under in _keys(shape(tool.parameters), DEEPEST):
        found[key] = ANYTHING if found.get(key, under) is not under else under
    args = row.dialect.args
    if isinstance(args, JsonCall):
        for key in (*args.name, *args.args, *args.id, *args.inside, *ENVELOPE):
            found.setdefault(key, ANYTHING)
    return found


def _keys(under: Shape, depth: int) -> Iterator[tuple[str, Shape]]:
    if not depth:
        return
    for key in under.keys:
        yield key, (inner := under.property(key))
        yield from _keys(inner, depth - 1)
    if "array" in under.kinds:
        yield from _keys(under.item, depth - 1)


def _read(row: Row, text: str, judge: Judge, at: int) -> Again | None:
    """The call that all of this text is, if it is one that can run."""
    src = Source()
    src.feed(text)
    src.base, src.eof = at, True
    attempt = Attempt(src, row, judge, _ignore, READERS)
    try:
        for _ in attempt.run():
            return None
    except (Mismatch, Broken, Cut):
        return None
    drafts: Sequence[Any] = attempt.items
    if len(drafts) != 1 or not isinstance(draft := drafts[0], Draft) or not _is_sound(draft, judge):
        return None
    return Again(attempt, draft, len(text) - src.pos)


def _is_sound(draft: Draft, judge: Judge) -> bool:
    """Does the call fit its tool's schema, each of its keys declared, with nothing else in it damaged?"""
    if not draft.done or any(edit.kind in UNSETTLING for edit in draft.edits) or not judge.settle(draft):
        return False
    return draft.refusal is None and _is_declared(draft.arguments(), draft.shape)


def _is_declared(value: Any, under: Shape) -> bool:
    """Is each key of each object one that the schema names, where it names any?"""
    if isinstance(value, dict):
        named = not under.keys or all(map(under.has, value))
        return named and all(_is_declared(inner, under.property(key)) for key, inner in value.items())
    return not isinstance(value, list) or all(_is_declared(inner, under.item) for inner in value)


def _ignore(_: object) -> None:
    return None


__all__ = ["Again", "read_again"]
