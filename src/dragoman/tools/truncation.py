"""Results too long for a model: head and tail stay, the rest is to be had on demand.

Counts characters, not tokens; keeps no store of its own: `Shortener` puts whole texts into a mapping the caller gives,
and `read_more` is a tool that serves them from there.
Contract: what is left of a text is its exact head and its exact tail; no character, as readers see them, is cut in two;
media are kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import ErrorCode, ToolError, nearest
from ..types import JsonObject, Media, Text, Tool, ToolResult
from .spec import Approval, Context, Runnable

_HEAD = 4, 5  # four fifths of what is kept are head (seeds A11: 4000 head, 1000 tail)
_LEEWAY = 4  # a line border is taken where it costs no more than a fourth of the piece
_LONGEST_CLUSTER = 32  # code points of one visible character
_LONGEST_FLAGS = 10_000  # flags in a row are told apart by counting from the first


def shortened(result: ToolResult, limit: int, note: str) -> ToolResult:
    """`result` with at most `limit` characters of text: its head, what is missing and how to get it (`note`), its tail.

    The result itself where it is short enough.  A limit too small for the notice keeps nothing but that.
    """
    total = sum(len(part.text) for part in result.content if isinstance(part, Text))
    if total <= limit:
        return result
    notice = _notice(result, total, total, note)
    start, end = _gap(result.text, max(limit - len(notice), 0))
    notice = _notice(result, end - start, total, note)
    return replace(result, content=_around(result.content, start, end, notice))


def _notice(result: ToolResult, missing: int, total: int, note: str) -> str:
    is_json = "value" in result.metadata or result.text.lstrip()[:1] in ("{", "[")
    what = "characters of JSON" if is_json else "characters"
    return f"\n[… {missing:,} of {total:,} {what} left out here{'; ' + note if note else ''} …]\n"


def _gap(text: str, keep: int) -> tuple[int, int]:
    """The part of `text` to leave out so that about `keep` characters, and never more, are left."""
    head = keep * _HEAD[0] // _HEAD[1]
    tail = keep - head
    start = text.rfind("\n", head - head // _LEEWAY, head) + 1 or whole_before(text, head)
    stop = len(text) - tail
    border = text.find("\n", stop, stop + tail // _LEEWAY)
    return start, border + 1 if border >= 0 else whole_after(text, stop)


def _around(content: tuple[Text | Media, ...], start: int, end: int, notice: str) -> tuple[Text | Media, ...]:
    """The parts with the characters from `start` to `end`, counted through all texts, replaced by the notice."""
    parts: list[Text | Media] = []
    at, is_noted = 0, False
    for part in content:
        if not isinstance(part, Text):
            parts.append(part)
            continue
        head, tail = part.text[: max(start - at, 0)], part.text[max(end - at, 0) :]
        is_cut = at + len(part.text) > start and at < end
        at += len(part.text)
        text = part.text if not is_cut else head + tail if is_noted else head + notice + tail
        is_noted = is_noted or is_cut
        if text:
            parts.append(replace(part, text=text))
    return tuple(parts)


# ── where a text may be cut ──────────────────────────────────────────────────

_JOINER = "\u200d"
_MODIFIERS = re.compile("[\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef\u200d]")


def whole_before(text: str, at: int) -> int:
    """The last place not behind `at` where `text` can be cut without cutting a visible character."""
    for place in range(at, max(at - _LONGEST_CLUSTER, 0), -1):
        if not _is_inside(text, place):
            return place
    return at if at > _LONGEST_CLUSTER else 0


def whole_after(text: str, at: int) -> int:
    """The first place not before `at` where `text` can be cut without cutting a visible character."""
    for place in range(at, min(at + _LONGEST_CLUSTER, len(text))):
        if not _is_inside(text, place):
            return place
    return at if at + _LONGEST_CLUSTER < len(text) else len(text)


def _is_inside(text: str, at: int) -> bool:
    """Does a visible character go on over place `at`?  Combining marks, joined emoji, flags, CRLF, surrogates."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if after.isascii():
        return before == "\r" and after == "\n"
    return (
        unicodedata.category(after)[0] == "M"
        or _MODIFIERS.match(after) is not None
        or before == _JOINER
        or ("\udc00" <= after <= "\udfff" and "\ud800" <= before <= "\udbff")
        or _is_second_of_flag(text, at)
    )


def _is_regional(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


def _is_second_of_flag(text: str, at: int) -> bool:
    if not (_is_regional(text[at]) and _is_regional(text[at - 1])):
        return False
    first = at
    while first > 0 and at - first < _LONGEST_FLAGS and _is_regional(text[first - 1]):
        first -= 1
    return (at - first) % 2 == 1


# ── the rest ─────────────────────────────────────────────────────────────────


def rest(texts: Mapping[str, str], key: str, start: int = 0, end: int | None = None, limit: int = 8000) -> str:
    """The characters from `start` to `end` of the text under `key`, at most `limit` of them, and what follows.

    Raises `ToolError` with what to do when the key is unknown or nothing stands there.
    """
    if key not in texts:
        near = nearest(key, texts) or list(texts)[-3:]
        hint = f"; there are {', '.join(map(repr, near))}" if near else "; nothing was shortened, so nothing is kept"
        raise ToolError(ErrorCode.ENOENT, f"nothing is kept under {key!r}{hint}")
    text = texts[key]
    if start >= len(text):
        raise ToolError(ErrorCode.INVALID_ARGS, f"the text has {len(text)} characters; start below that")
    start = whole_before(text, max(start, 0))
    stop = min(len(text) if end is None else max(end, start + 1), len(text), start + max(limit, 1))
    stop = whole_before(text, stop) if whole_before(text, stop) > start else whole_after(text, start + 1)
    left = len(text) - stop
    return text[start:stop] + (f"\n[… {left:,} characters follow: go on with start={stop}]" if left else "")


@dataclass(frozen=True, slots=True)
class Shortener:
    """Shortens results of more than `limit` characters and keeps their whole text under a key, for `read_more`."""

    texts: MutableMapping[str, str]
    limit: int
    tool: str = "read_more"

    def __call__(self, result: ToolResult, key: str = "") -> ToolResult:
        """The result as the model gets it; `key` is its call's id where none is given."""
        key = key or result.call_id
        text = result.text
        cut = shortened(result, self.limit, f'the rest: {self.tool}(key="{key}", start={self.limit * 4 // 5})')
        if cut is not result:
            self.texts[key] = text
        return cut


_PARAMETERS: JsonObject = {
    "type": "object",
    "properties": {
        "key": {"type": "string", "description": "The key named where the text was shortened."},
        "start": {"type": "integer", "minimum": 0, "default": 0, "description": "The first character wanted."},
        "end": {"type": "integer", "minimum": 1, "description": "Where to stop; as far as possible by default."},
    },
    "required": ["key"],
    "additionalProperties": False,
}


def read_more(texts: Mapping[str, str], limit: int = 8000, name: str = "read_more") -> Runnable:
    """A tool that reads the shortened texts in `texts`, `limit` characters at a time."""

    def function(arguments: JsonObject, _: Context) -> Any:
        end = arguments.get("end")
        return rest(
            texts, str(arguments["key"]), int(arguments.get("start", 0)), None if end is None else int(end), limit
        )

    description = "Read more of a tool result that was shortened."
    definition = Tool(name=name, description=description, parameters=_PARAMETERS)
    return Runnable(tool=definition, function=function, read_only=True, idempotent=True, approval=Approval.NEVER)
