"""A sign that is missing, or stands beside its place, so that a value of a mended call begins or ends elsewhere.

A reader that mends takes a quote without its escape for a sign of the string, and a bracket that is missing for one
that was left out at the end; where the sign was damaged instead, what should stand beside the value stands in it:
`{"path": "a.py"|, "content": "x"}`.  Such arguments have two readings (judge-rules.md E).

Knows what mends were made and what the schema declares; nothing of marks, rows or sources.
Contract of `unclear`: "" where nothing speaks against the arguments; asked of mended calls, once they are complete.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...late import late
from ...schema.validation import Shape
from ...types import Edit
from ..judge.candidate import Draft
from ..judge.judge import WRAPPERS
from .likeness import stands_behind_quote

GUESSES = frozenset({"unescaped_quote", "comment", "missing_bracket", "unclosed_argument"})
"""Mends that guess where a value ends."""
MISPLACES: Mapping[str, type] = {"unescaped_quote": str, "missing_bracket": dict}
"""Mends that guess what belongs to a value, and what kind of value."""
SWAPS = frozenset({
    "missing_comma", "missing_bracket", "unopened_string", "positional", "invalid_escape", "flat", "stray_closer",
})  # fmt: skip
"""Mends of a sign that is missing where it should stand, and may stand in a value beside it."""
WRAPPED = frozenset({"flat", "json_text"})
"""Mends of arguments beside the name, of which one is an object where a text should be."""
EDGE = late(r"\A\s*\"?\s*[:,]\s*\"|\"\s*[,:]\s*\Z")
"""A sign of JSON's own at the edge of a text: a quote too many, rather than one that was not escaped."""
BESIDE = late(r"\"\s*[,:\]}]|[,:\[{]\s*\"")
"""A quote beside a sign of JSON's own, as at the end or the beginning of a string."""
CLOSES = late(r"[^\s(\[{=,:+]")
"""Before a quote that ends a string rather than begins one."""
BETWEEN, KEY, COLON = late(r"[,:{\[]|\A\Z"), late(r"[\w.-]+"), late(r"\s*:")
"""What is there where two strings stand side by side in an object, and of a member what stands before its value."""
PARTS = late(r"\s*[,\]]|.*[,\[]\s*\Z", re.DOTALL)
"""What stands between two items of a list, be there words in it."""
PARTING = late(r"\s(?:.*\S)?\s|\W*", re.DOTALL)
"""What stands between two strings: in white space, or no word."""
NO_WORDS, KEYWORD = late(r"\W*"), late(r"\W*\w+=[\"']")


def unclear(draft: Draft) -> str:
    """Why it is not clear where the values of a mended call begin and end; "" for nothing."""
    mends = {edit.kind for edit in draft.edits}
    if len(GUESSES & mends) > 1:
        return "where a value ends is guessed twice over"
    kinds = [kind for mend, kind in MISPLACES.items() if mend in mends]
    if not (kinds or mends & SWAPS):
        return ""
    arguments, shape = draft.arguments(), draft.shape
    if mends >= WRAPPED and any(isinstance(text, str) and _is_wrapped(text) for text in arguments.values()):
        return "an object of arguments stands in one of them"
    if key := next(filter(None, (_holds_missing(shape, arguments, kind) for kind in kinds)), ""):
        return f"where a value ends is not clear: {key!r} stands in one, and is missing"
    if str in kinds and _has_edge(shape, arguments, [e.path for e in draft.edits if e.kind == "unescaped_quote"]):
        return "where a value begins or ends is not clear: a quote is one too many"
    return _swapped(shape, arguments, draft.edits)


def _has_edge(shape: Shape, arguments: Mapping[str, Any], paths: Iterable[str]) -> bool:
    """Does a text begin or end as what stands between two members of an object?  `paths` are where quotes were not
    escaped."""
    if any(isinstance(value, str) and EDGE.search(value) for value in arguments.values()):
        return True
    mirrored = sorted(path[::-1] for path in paths)
    return any(
        _begins_one(mirrored, place[::-1]) and _is_unclear(value, free)
        for place, value, _, free in _values("", arguments, shape)
    )


def _begins_one(ordered: Sequence[str], text: str) -> bool:
    """Does one of the ordered texts begin with this one?"""
    at = bisect_left(ordered, text)
    return at < len(ordered) and ordered[at].startswith(text)


def _is_unclear(value: Any, free: bool) -> bool:
    """Is a value in which a quote was taken for its own perhaps another?

    In an object it is a key of it that has the quote, and a key has none (judge-rules.md E).  Quotes inside a text come
    in pairs: one alone at an edge may be one too many, and one beside a sign of JSON's own the end of the string.  An
    item of a list and a value under a `free` key, which no schema names, have nothing behind them by which their end is
    told from a quote inside: between those of a pair stand words.
    """
    if isinstance(value, dict):
        return any('"' in key or "'" in key for key in value)
    if not isinstance(value, str):
        return False
    pieces = value.split('"' if '"' in value else "'")
    parting = [piece for piece in pieces[1:-1:2] if piece and PARTING.fullmatch(piece)]
    if any(map(str.isspace, parting)) or (parting and _is_inside_out(pieces)):
        return True
    if len(pieces) % 2 == 0:
        at_edge = not pieces[0] or NO_WORDS.fullmatch(pieces[-1]) is not None
        return at_edge or (free and "," in value) or BESIDE.search(value) is not None
    return _ends_early(pieces, free) or (free and any(map(NO_WORDS.fullmatch, pieces[1::2])))


def _is_inside_out(pieces: list[str]) -> bool:
    """Does the first quote stand behind a word, and the last before one: as an end, and a beginning?"""
    return CLOSES.fullmatch(pieces[0][-1:]) is not None and pieces[-1][:1].isalnum()


def _ends_early(pieces: list[str], free: bool) -> bool:
    """Does the first quote of a pair end a string, so that what stands in the pair is what parts two members?"""
    between = zip(pieces[::2], pieces[1::2], pieces[2::2], (*pieces[3::2], ":"), strict=False)
    for before, within, behind, more in between:
        ends = CLOSES.fullmatch(before[-1:])
        if free and ends and PARTS.match(within):
            return True
        begins = ends or (KEY.fullmatch(behind) and COLON.match(more))
        if begins and NO_WORDS.fullmatch(within) and BETWEEN.search(within):
            return True
    return False


def _swapped(shape: Shape, arguments: Mapping[str, Any], edits: Collection[Edit]) -> str:
    """Which sign is missing that stands beside its place, so that arguments begin or end elsewhere; "" for none."""
    values = list(_values("", arguments, shape))
    texts = [value for _, value, _, _ in values if isinstance(value, str)]
    mends = {edit.kind for edit in edits}
    if shape.keys and not all(map(shape.has, arguments)):
        if "invalid_escape" in mends and any("\\" in key for key in arguments):
            return "an escape that is none stands in the name of an argument"
        if any(edit.kind == "stray_closer" and edit.before.strip("</> ") in shape.keys for edit in edits):
            return "a closer stands where none belongs, and the tool has no argument of a name that is given"
        if "positional" in mends:
            return "the tool has no argument of a name that is given, and another has no name"
    if "missing_comma" in mends and any(_holds_unknown(value, wanted) for _, value, wanted, _ in values):
        return "where an object ends is not clear: a comma is missing, and the tool has no argument of a name in it"
    if {"positional", "unescaped_quote"} <= mends and any(KEYWORD.match(text) for text in texts):
        return "where a value begins is not clear: a name stands in one that has none"
    if {"missing_comma", "unopened_string"} <= mends:
        return "where a value begins is not clear: neither the comma before it nor its own mark is there"
    for edit in edits:
        if edit.kind == "missing_comma" and any(text.endswith(",") for text in texts):
            return "where a value ends is not clear: a comma is missing behind one, and ends another"
        if edit.kind == "missing_bracket" and texts and _ends_in_bracket(texts[-1]):
            return "where a value ends is not clear: a bracket is missing behind one that ends with a bracket too many"
        if edit.kind == "unopened_string" and edit.path.endswith("]") and "," in edit.before:
            return "where a value begins is not clear: a comma stands in one that nothing opens"
    return ""


def _is_wrapped(text: str) -> bool:
    """Is a text an object under a key that arguments have around them?"""
    return text.startswith("{") and not WRAPPERS.isdisjoint(json.loads(text))


def _ends_in_bracket(text: str) -> bool:
    """Does a text end with a bracket that nothing in it opens?"""
    opener = {"}": "{", "]": "["}.get(text[-1:])
    return opener is not None and text.count(opener) < text.count(text[-1])


def _holds_unknown(value: Any, shape: Shape) -> bool:
    """Does an object hold a name that the schema, which names some, does not?"""
    return isinstance(value, dict) and bool(shape.keys) and not all(map(shape.has, value))


def _values(path: str, value: Any, shape: Shape, free: bool = False) -> Iterator[tuple[str, Any, Shape, bool]]:
    """Every value with its path as edits tell it, what the schema says of it, and whether it is an item of a list or
    under a key of any name."""
    yield path, value, shape, free
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(f"{path}.{key}", inner, shape.property(key), not shape.has(key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _values(f"{path}[{number}]", inner, shape.item, True)


def _holds_missing(shape: Shape, arguments: Mapping[str, Any], kind: type) -> str:
    """A declared argument that is missing, and whose name stands in another of this kind: a text, or an object."""
    for key in shape.keys:
        for name, value in arguments.items() if key not in arguments else ():
            if isinstance(value, kind) and HOLDS[kind](value, key, shape.property(name)):
                return key
    return ""


def _quotes(text: str, key: str, _: Shape) -> bool:
    spelt = f'"{key}"', f'{key}":', f'"{key}:', f'"{key}\\":'
    return any(one in text for one in spelt) or text.endswith(f'"{key}') or stands_behind_quote(key, text)


def _has(value: dict[str, Any], key: str, shape: Shape) -> bool:
    return key in value and key not in shape.keys


HOLDS: Mapping[type, Callable[[Any, str, Shape], bool]] = {str: _quotes, dict: _has}
