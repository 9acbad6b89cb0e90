"""Calls that no marker led to: amid the words of a line, or in an object with a key too many.

Marks that prove little are looked for where they begin a line: anywhere else they would be found in every text that
speaks of code.  So once an answer has ended, what it shows is looked through for what names a declared tool the way a
call does, and only that.  Nothing found here ever runs by itself: at the end of a line it is in doubt, amid one it is
text, and told of; what is quoted is left alone.  Knows texts, tools and schemas; nothing of dialects or events.
Contract: pure; linear, for only `MOST` places are read, each up to its own end.
Source: judge-rules.md, second edition, B; the law that no declared call disappears.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ...late import late, late_call
from ...records import NamedTuple
from ...schema.validation import faults
from ...types import Tool
from ..judge.declared import Declared
from .plain_input import SAID, plain_input

if TYPE_CHECKING:
    from ..judge.boxes import Standing
    from ..judge.quotation import Context
    from .enveloped import Enveloped

_context: Callable[[], Context] = late_call("..judge.quotation", "Context", __name__)
_closes_behind: Callable[[Standing, str, int], bool] = late_call("..judge.boxes", "closes_behind", __name__)
_enveloped: Callable[..., Iterator[Enveloped]] = late_call(".enveloped", "enveloped", __name__)
"""Loaded with the first text that may hold such a call."""

MOST = 16
"""Places that are read."""
FEW = 4
"""So many names are looked for in a text sooner than for what may begin a call."""
LONGEST = 64 * 1024
"""Characters of one."""
NAME_KEYS = r"(?:name|tool|tool_name|function|function_name|action)"
NAME_KEY = late(rf"{NAME_KEYS}|id|type")
ARGUMENT_KEYS = ("arguments", "args", "parameters", "params", "input")
OBJECT = late(rf"\{{\s*\"{NAME_KEYS}\"\s*:\s*\"(?P<name>[^\"\n]{{1,256}})\"")
BEGUN = late(
    r"(?:\{\s*(?:\"(?:[a-z_]{0,13}(?:\"\s*(?::\s*(?:\"(?P<name>[^\"\n]{0,256}))?)?)?)?)?|<\s?(?P<tag>[^\s/<>]{0,256}))\Z"
)
"""The beginning of an opener, at the end of what has come."""
LONGEST_BEGUN = 400
LONGEST_ESCAPE = 6
QUOTES = frozenset("`\"'“„«‹‘")
QUOTED_LINE = late(r"(?: {4}|\t|\s{0,3}[>|])")
LATE_FENCE = late(r"[^\n`]*[^\s`>|][^\n`]*(?P<run>`{3,})[\w-]*[ \t]*\n\s*\Z")
"""A fence that opens behind words on their line, right before a place: Markdown reads a code span, who writes it means
the fence that would be asked about on a line of its own."""
LONGEST_LINE = 1024
NESTED = late(r"(?:[\"'“”]\s*:\s*\[?|[}\]\"]\s*,|[({])\s*\Z")
"""What stands before a part of something larger."""
NEAR = 40
"""Characters before a place that show it."""
GOES_ON = late(r"[ \t]*[,;:.!?)]?[ \t]*[^\W_]")

VALUE_ENDS = frozenset("}]`~")

Read = Callable[[str], "Mapping[str, Any] | None"]
"""The arguments of the one call of a tool that a text is; None where it is none."""


class Overlooked(NamedTuple):
    """One of them: where it stands, what it calls, and whether words go on behind it on its line."""

    start: int
    end: int
    name: str
    arguments: Mapping[str, Any]
    inside: bool


def overlooked(
    text: str, tools: Declared, read: Read, context: Context | None = None, calls: Iterable[str] = ()
) -> Iterator[Overlooked]:
    """The calls in `text`, in order; `read` reads one that stands alone, `context` has read the text before.

    Nothing in one of the `calls` that stand in the text is one (judge-rules.md D).
    """
    names = tools.written
    if not any(sign in text for sign in ("{", "<", SAID)):
        return
    if len(names) <= FEW and not any(name in text for name in names):
        return
    taken, some = _places(text, calls), False
    for found in _marked(text, tools, read, context, taken):
        some = True
        yield found
    if not some and text.rstrip()[-1:] in VALUE_ENDS:
        for found in _in_value(text, tools, context, taken):
            some = True
            yield found
    if not some and SAID in text:
        yield from _plain(text, tools, context, taken)


def _plain(text: str, tools: Declared, context: Context | None, taken: list[tuple[int, int]]) -> Iterator[Overlooked]:
    """The call with which the text ends whose argument is plain text."""
    found = plain_input(text, lambda written: tools[name] if (name := tools.exact(written)) else None)
    if found is None or any(start < found.end and found.start < end for start, end in taken):
        return
    context = context or _context()
    context.add(text[: found.start])
    if not _is_quoted(text, found.start, found.end, context) and _fits(found.arguments, tools[found.name]):
        yield Overlooked(found.start, found.end, found.name, found.arguments, inside=False)


def _in_value(
    text: str, tools: Declared, context: Context | None, taken: list[tuple[int, int]]
) -> Iterator[Overlooked]:
    """The calls in the JSON value with which the text ends; a fence around all of the message quotes nothing."""
    read_to = 0
    for found in _enveloped(text, tools.written):
        name = tools.exact(found.name)
        if not name or any(start < found.end and found.start < end for start, end in taken):
            continue
        if not (found.fenced and context is None and text.lstrip()[:1] in "`~"):
            context = context or _context()
            context.add(text[read_to : found.start])
            read_to = found.start
            if _is_quoted(text, found.start, found.end, context):
                return
        if _fits(found.arguments, tools[name]):
            yield Overlooked(found.start, found.end, name, found.arguments, inside=False)


def _marked(
    text: str, tools: Declared, read: Read, context: Context | None, taken: list[tuple[int, int]]
) -> Iterator[Overlooked]:
    """Those that begin with what names a tool."""
    names = tools.written
    behind = left = read_to = in_vain = 0
    for mark in _marks(names, text):
        if left >= MOST:
            return
        if mark.start() < behind or _is_in(taken, mark.start()):
            continue
        if mark["tag"] is None and is_nested(text[max(0, mark.start() - NEAR) : mark.start()]):
            continue
        left += 1
        end = _end(text, mark)
        name = tools.exact(mark["name"] or mark["tag"])
        found = _arguments(text[mark.start() : end], tools[name], read) if end and name else None
        in_vain += 0 if found is not None else end - mark.start() if end and name else 0
        if in_vain > LONGEST:
            return
        if found is not None:
            behind, context = end, context or _context()
            context.add(text[read_to : mark.start()])
            read_to = mark.start()
            if not _is_quoted(text, mark.start(), end, context):
                inside = GOES_ON.match(text, end) is not None
                yield Overlooked(mark.start(), end, name, found, inside)


def _is_in(taken: list[tuple[int, int]], at: int) -> bool:
    """Does this place stand in one of those that are `taken`, which are in order?"""
    before = bisect_right(taken, at, key=itemgetter(0)) - 1
    return before >= 0 and at < taken[before][1]


def _places(text: str, pieces: Iterable[str]) -> list[tuple[int, int]]:
    """Where each of these stands in `text`, in order."""
    places, at = [], 0
    for piece in pieces:
        found = text.find(piece, at)
        if found >= 0:
            places.append((found, at := found + len(piece)))
    return places


# ── as text comes ────────────────────────────────────────────────────────────


def mark_at(text: str, names: tuple[str, ...], pos: int = 0) -> int:
    """Where what may be a call of one of the tools begins, from `pos` on; -1 where nothing does."""
    marks = _marks(names, text, pos)
    return next((mark.start() for mark in marks if mark["tag"] is not None or mark["name"] in names), -1)


def may_begin(text: str, names: Collection[str]) -> int:
    """Where what may be the beginning of one stands at the end of `text`; the end where nothing does."""
    found = BEGUN.search(text, max(0, len(text) - LONGEST_BEGUN))
    if found is None:
        return len(text)
    begun = found["name"] or found["tag"] or ""
    return found.start() if not begun or any(name.startswith(begun) for name in names) else len(text)


def failed(text: str, names: tuple[str, ...]) -> bool:
    """Can what begins `text` be in doubt no more, whatever follows it?"""
    mark = next((found for pattern in _openers(names) if (found := pattern.match(text)) is not None), None)
    if mark is None:
        return True
    end = _end(text, mark)
    if end:
        return GOES_ON.match(text, end) is not None
    return len(text) >= LONGEST or (mark["tag"] is None and _breaks(text))


def is_nested(before: str) -> bool:
    """Does this stand before a part of something larger?"""
    return NESTED.search(before) is not None


def _breaks(text: str) -> bool:
    """Does the object that begins `text` break before its end?"""
    try:
        json.JSONDecoder(strict=False).raw_decode(text)
    except json.JSONDecodeError as error:
        return error.pos < len(text) - LONGEST_ESCAPE and not error.msg.startswith("Unterminated")
    except (ValueError, RecursionError):
        return True
    return False


@lru_cache(maxsize=64)
def _openers(names: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What begins a call of one of these tools: an object that names it, and a tag that is its name.

    Each begins with one literal, which `re` looks for at ten times the speed of a choice.
    """
    tags = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    never = "(?!)"
    return (
        re.compile(rf"{OBJECT.pattern}(?P<tag>{never})?"),
        re.compile(rf"<\s?(?P<tag>{tags})(?=[\s/>])(?P<name>{never})?"),
    )


def _marks(names: tuple[str, ...], text: str, pos: int = 0) -> Iterator[re.Match[str]]:
    """Where one of either stands, in order; none in what another is written with."""
    objects, tags = _openers(names)
    one, other = objects.search(text, pos), tags.search(text, pos)
    while (first := one if other is None or (one is not None and one.start() < other.start()) else other) is not None:
        yield first
        pos = first.end()
        one = objects.search(text, pos) if one is not None and one.start() < pos else one
        other = tags.search(text, pos) if other is not None and other.start() < pos else other


def _end(text: str, mark: re.Match[str]) -> int:
    """Where what begins here ends; 0 where it does not."""
    if mark["tag"] is None:
        try:
            return json.JSONDecoder(strict=False).raw_decode(text[: mark.start() + LONGEST], mark.start())[1]
        except (ValueError, RecursionError):
            return 0
    rest = text[mark.end() : mark.end() + LONGEST]
    if closed := re.match(r"\s*/>", rest):
        return mark.end() + closed.end()
    closer = f"</{mark['tag']}>"
    at = rest.find(closer)
    return mark.end() + at + len(closer) if at >= 0 else 0


def _arguments(written: str, tool: Tool, read: Read) -> Mapping[str, Any] | None:
    """The arguments of a call, where they are complete and fit."""
    found = read(written)
    if found is None and written.startswith("{"):
        value = json.loads(written, strict=False)
        given = [value[key] for key in ARGUMENT_KEYS if isinstance(value.get(key), dict)]
        found = given[0] if len(given) == 1 and not _stands_beside(value, tool) else None
    return found if found is not None and _fits(found, tool) else None


def _stands_beside(value: Mapping[str, Any], tool: Tool) -> bool:
    """Does an argument of the tool stand beside its name, where the others may have been ended too early?"""
    keys = tool.parameters.get("properties")
    return isinstance(keys, Mapping) and any(NAME_KEY.fullmatch(key) is None and key in keys for key in value)


def _fits(arguments: Mapping[str, Any], tool: Tool) -> bool:
    """Are the arguments complete, and all of them the tool's?"""
    if faults(tool.parameters, arguments):
        return False
    keys = tool.parameters.get("properties")
    return not isinstance(keys, Mapping) or all(key in keys for key in arguments)


def _in_late_fence(text: str, start: int, end: int) -> bool:
    """Is this all that a fence holds which opens behind words on a line?"""
    opened = text.rfind("\n", 0, len(text[:start].rstrip()))
    line = text[max(opened + 1, start - LONGEST_LINE) : start]
    found = LATE_FENCE.match(line)
    if found is None or QUOTED_LINE.match(line):
        return False
    behind = text[end : end + LONGEST_LINE].lstrip()
    return not behind or behind.startswith(found["run"])


def _is_quoted(text: str, start: int, end: int, context: Context) -> bool:
    """Does anything quote this place, which `context` was read up to?  What quotes all of a message quotes nothing."""
    if _in_late_fence(text, start, end):
        return False
    line = text.rfind("\n", 0, start) + 1
    before, behind = text[start - 1 : start], text[end : end + 1]
    if before and before in QUOTES and not (text[line : start - 1].strip() or text[end + 1 :].strip()):
        return QUOTED_LINE.match(text, line) is not None
    if (before and before in QUOTES) or (behind and behind in QUOTES and before != behind):
        return True
    standing = context.standing()
    return QUOTED_LINE.match(text, line) is not None or standing.sure or _closes_behind(standing, text, end)
