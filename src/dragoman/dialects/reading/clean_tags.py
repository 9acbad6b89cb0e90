"""A tagged call that needs no mending, in one look: its marks as the row writes them, and no mark in any value.

Knows rows' marks and tools' shapes; does not know dialects, nor where in a message it stands.

Contract: what it takes, the reader of `tags.py` would read to the same draft; what it does not take, that reader reads.
It takes only a call, or all calls of a section, in a text that has ended, with another call of the row right behind
it, no sign that a mark begins with, or words, where `strays.py` says that no value can go on in what follows them.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from ...lenient.source import SPACE
from ...records import NamedTuple
from ...schema.validation import ANYTHING, Shape
from ..spec import TaggedArgs, Typing
from .arguments import MOST_OTHERS, RawArguments
from .call import Attempt
from .clean import MOST, at_once
from .compiled import JOINTS, Row
from .exact import Wanted, is_json, wanted
from .keys import SCALAR, SCALARS, TEXT
from .strays import Behind, CallMarks

SIGN = "<"
"""Every mark of these rows holds it, so a value without it holds none."""
QUOTES = "\"'"
NAME = r"[\w.-]{1,128}"
INDENTS = (" ", "\t")
BRACKETS, CONTAINERS = ("[", "{"), frozenset({"array", "object"})
PROBE = "a_b.c-1"
"""A name with all signs that one may have."""


class Marks(NamedTuple):
    """What stands before the arguments, one argument, and what stands behind them; `trim` is dropped from values.

    `again` is what stands between two calls of one section, None where a section holds one.
    Behind the `tail` something is seen that is no part of the call; words may be in its group.
    """

    head: re.Pattern[str]
    argument: re.Pattern[str]
    tail: re.Pattern[str]
    again: re.Pattern[str] | None
    stray: CallMarks
    others: re.Pattern[str] | None
    trim: str
    typing: Typing
    raw: tuple[str, ...]
    json: tuple[str, ...]


class Read(NamedTuple):
    """A call that was read and not begun: its place, its name as it is spelt, its arguments, where these end."""

    start: int
    name: str
    given: list[tuple[str, str, Typing | None]]
    end: int


@lru_cache(maxsize=1024)
def _marks(row: Row) -> Marks | None:
    """The marks of a row; None where they do not tell by themselves what stands where."""
    args = row.dialect.args
    if not isinstance(args, TaggedArgs) or not _is_plain(row, args):
        return None
    space = SPACE.pattern
    section, call, tool, over, body, close, end, opens, gives = (
        re.escape(marks[0]) if marks else ""
        for marks in (
            row.section_open, row.call_open, row.tool_open, row.tool_close, row.body_close, row.call_close,
            row.section_close, row.key_open, row.value_open,
        )
    )  # fmt: skip
    over_call = "".join(space + mark for mark in (body, close) if mark)
    behind = over_call + (space + end if end else "")
    # a quote behind a tag that has lost it may be that one
    over_key = f"(?![{QUOTES}])" if row.key_open[0][-1] in QUOTES else ""
    keys = "|".join(
        re.escape(mark) + (over_key if mark[0] not in QUOTES else "")
        for mark in sorted({*row.key_close}.difference(args.joined), key=len, reverse=True)
    )
    others = [mark for mark in row.value_marks if SIGN not in mark]
    # one that opens no section of its own goes on a section that nothing closes
    again = "|".join(map(re.escape, row.section_open or row.opens_call)) if end or not section else "(?!)"
    words = rf"{space}(?P<words>[^{SIGN}\s])" if all(mark.startswith(SIGN) for mark in row.between) else "(?!)"
    named = rf"(?P<call>{tool}{space if tool else ''}(?P<name>{NAME}){over})"
    valued = rf"{space + gives if gives else ''}(?P<value>[^{SIGN}]*+){re.escape(row.value_close[0])}"
    return Marks(
        head=re.compile(f"{section}{space}{call}{space}{named}"),
        argument=re.compile(f"{space}{opens}(?P<key>{NAME})(?P<mark>{keys}){valued}"),
        tail=re.compile(rf"{behind}(?=[^{SIGN}]*+\Z|{space}(?:{again})|{words})"),
        again=re.compile(f"{over_call}{space}{call}{space}{named}") if section and end else None,
        stray=CallMarks(row.value_close, row.ends, row.opens_call),
        others=re.compile("|".join(map(re.escape, others))) if others else None,
        trim=args.trim,
        typing=args.typing,
        raw=args.raw_flag,
        json=args.json_flag,
    )


def _is_plain(row: Row, args: TaggedArgs) -> bool:
    """Is a call of this row nothing but marks that `SIGN` is in, a name, keys and values?"""
    if args.entities or args.attributes or row.type_open or row.dialect.suffix or row.forms or row.headed:
        return False
    if not (row.key_open and row.key_close and row.value_close and row.call_close and row.tool_close):
        return False
    inner = (*row.value_close, *row.ends, *row.key_open, *row.call_open, *row.section_open)
    if "\n" in row.key_close or not JOINTS.isdisjoint(row.between) or any(SIGN not in mark for mark in inner):
        return False
    over, around = row.tool_close[0], (row.section_open, row.call_open, row.tool_open)
    if over in row.key_open + row.ends or over.startswith("</") or over.endswith("/>") or not any(around):
        return False
    told = re.fullmatch(row.dialect.tool_re, PROBE, re.DOTALL)
    if told is None or told["name"] != PROBE or told.groupdict().get("id"):
        return False
    ends = (row.tool_close, row.body_close, row.call_close, row.section_close, row.value_close)
    return not any(map(_is_begun, (*around, *ends, row.key_open, row.value_open)))


def _is_begun(marks: Collection[str]) -> bool:
    """May the first of these spellings be the beginning of another?"""
    first = next(iter(marks), "").casefold()
    return bool(first) and any(mark.casefold().startswith(first) and mark.casefold() != first for mark in marks)


def clean_tags(attempt: Attempt) -> bool:
    """Read all that stands here, if it is tagged calls in a text that has ended, and needs nothing."""
    src, marks = attempt.src, _marks(attempt.row)
    head = marks.head.match(src.buf, src.pos) if marks is not None else None
    if marks is None or (attempt.strays is not None and attempt.strays.cut()):
        return False
    calls: list[Read] = []
    tail = None
    while head is not None and tail is None and len(calls) < MOST:
        call = _read(attempt, marks, head)
        if call is None:
            return False
        calls.append(call)
        tail = marks.tail.match(src.buf, call.end)
        head = marks.again.match(src.buf, call.end) if tail is None and marks.again is not None else None
    if tail is None:
        return False
    for call in calls if len(calls) > 1 or tail["words"] else ():
        if call.given and not _is_clear(attempt, marks.stray, call.end):
            return False
    for call in calls:
        _tell(attempt, marks, call)
    src.pos = tail.end()
    return True


def _read(attempt: Attempt, marks: Marks, head: re.Match[str]) -> Read | None:
    """The call behind this head, if a tool is declared by just its name."""
    declared, name = attempt.judge.declared, head["name"]
    exact = declared.exact(name)
    given = _arguments(marks, wanted(declared[exact]), attempt.src.buf, head.end()) if exact else None
    return Read(head.start("call"), name, *given) if given is not None else None


def _tell(attempt: Attempt, marks: Marks, call: Read) -> None:
    """Begin and finish the draft of a call."""
    attempt.src.pos = call.start
    draft = attempt.new()
    attempt.begin(draft, call.name)
    out = RawArguments(draft, typing=marks.typing)
    for key, value, typing in call.given:
        kinds = draft.shape.property(key).kinds
        if kinds == TEXT or (not kinds and out.is_text(key, typing)):
            out.put_text(key, value)
        else:
            out.put(key, value, typing)
    out.finish()
    attempt.src.pos = call.end
    attempt.finish(draft)


def _is_clear(attempt: Attempt, marks: CallMarks, end: int) -> bool:
    """Does what follows tell that no value goes on behind the closer that ends here?"""
    src, strays, begin = attempt.src, attempt.strays, attempt.src.pos
    if strays is None:
        return True
    size = len(marks.value[0])
    src.pos = end - size
    found = at_once(strays.behind(src, size, marks, attempt.another, text=True))
    src.pos = begin
    return found is Behind.CLEAR


def _arguments(
    marks: Marks, takes: Wanted, text: str, at: int
) -> tuple[list[tuple[str, str, Typing | None]], int] | None:
    """The keys, values and what the marks say of their types, and where they end; None where any needs more."""
    found: dict[str, tuple[str, str, Typing | None]] = {}
    while (one := marks.argument.match(text, at)) is not None:
        key, mark, value = one.group("key", "mark", "value")
        at = one.end()
        if key in found or not takes.declares(key) or len(found) > MOST_OTHERS:
            return None
        if marks.others is not None and (marks.others.search(value) or marks.others.search(key)):
            return None
        if marks.trim and (value.startswith("\r") or value[-1:] in INDENTS):
            return None
        wanted = takes.shape.property(key)
        if (wanted.kinds != TEXT or wanted.enum) and not _is_told(value, wanted):
            return None
        if marks.trim and value.startswith(marks.trim):
            value = value.removeprefix(marks.trim).removesuffix(marks.trim)
        typing = Typing.TEXT if mark in marks.raw else Typing.LITERAL if mark in marks.json else None
        found[key] = key, value, typing
    return list(found.values()), at


def _is_told(value: str, wanted: Shape) -> bool:
    """Is this plainly one of the kinds that are wanted: a number, a truth, a list or an object in JSON?"""
    kinds = wanted.kinds
    if wanted.enum or not kinds:
        return wanted is ANYTHING
    value = value.strip()
    if kinds <= SCALARS:
        return SCALAR.fullmatch(value) is not None
    return kinds <= CONTAINERS and value[:1] in BRACKETS and is_json(value)
