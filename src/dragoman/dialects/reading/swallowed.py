"""Another call in a string that was read past its end: a quote or a comma was missing, and the string went on.

Where quotes inside a string were not escaped, the string ends where all behind it is JSON again, and that may be in the
next call: `{"city": "Oslo""days": 3}} … {"name": "search", "query": "red"`.  Such a call has two readings, and one of
them loses a call (judge-rules.md D and E).

Knows the marks of a row and how a call's name stands in each notation; does not read a source or decide anything.
Contract: asks `known` about names only, and looks at the arguments as they are written, strict JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from ...late import late
from ...lenient.notation import Broken
from ...schema.validation import ANYTHING, Shape
from ...types import Edit
from ..spec import JsonArgs, JsonCall, KeywordArgs, Notation
from .compiled import Row
from .likeness import stands_behind_quote

Known = Callable[[str], bool]

class Swallowed(Broken):
    """A string was read past the end of its call, and holds another one: what stands there is to be read again."""


NAME = r"[A-Za-z_$][\w.\-:]*"
CALL = late(rf"[\"')](?:[\s)\]}}]|\\[nrt])*[,;]?(?:\s|\\[nrt])*({NAME})\(")
"""Behind a string or a call: `name(`."""
OBJECT = late(rf"(?:\\[nrt]|[^\w\\]|\A)({NAME})(?:\\[nrt]|\s)*\{{")
"""A name and an object behind it."""
MEMBER = late(r"\\\"(?:(?P<key>\w+)\\\"\s*:\s*\\\")?(?P<name>[\w.\-:/]+)\\\"(?P<object>\s*:\s*\{)?")
"""A name in quotes: the value of a key, or itself the key of an object."""


def holds_mark(row: Row, written: str) -> bool:
    """Does a mark of this row stand in the arguments?"""
    around = (*row.section_open, *row.call_open, *row.call_close, *row.section_close)
    named = (mark for form in row.forms for mark in form)
    marks = (*around, *row.tool_open, *row.tool_close, *row.body_open, *named)
    return any(len(mark) > 2 and mark in written for mark in marks)


def holds_call(args: Notation, known: Known, written: str) -> bool:
    """Does a declared name stand in the arguments where a call of this notation has its own?"""
    look = LOOKS.get(type(args))
    return look is not None and look(args, known, written)


EDGE = late(r"\A\s*\"?\s*[:,]\s*\"|\"\s*[,:]\s*\Z")
"""A sign of JSON's own at the edge of a text: a quote too many, rather than one that was not escaped."""
BEFORE, BEHIND = late(r"\s*[,:\]}]"), late(r"[,:\[{]\s*\Z")
"""A sign of JSON's own, as behind a string and before one."""
PARTING = late(r"\s(?:.*\S)?\s|\W*", re.DOTALL)
"""What stands between two strings: in white space, or no word."""
NO_WORDS, KEYWORD = late(r"\W*"), late(r"\W*\w+=[\"']")


def has_edge(shape: Shape, arguments: Mapping[str, Any], paths: Iterable[str]) -> bool:
    """Does a text begin or end as what stands between two members of an object?  `paths` are where quotes were not
    escaped."""
    if any(isinstance(value, str) and EDGE.search(value) for value in arguments.values()):
        return True
    places = tuple(paths)
    return any(
        any(path.endswith(place) for path in places) and _is_unclear(value, free)
        for place, value, free in _values("", arguments, shape)
    )


def _is_unclear(value: Any, free: bool) -> bool:
    """Is a value in which a quote was taken for its own perhaps another?

    In an object it is a key of it that has the quote, and a key has none (judge-rules.md E).  A quote alone at an edge
    may be one too many.  An item of a list and a value under a `free` key, which no schema names, have nothing behind
    them by which their end is told from a quote inside: those inside come in pairs, with words between, or stand beside
    no sign that parts items.
    """
    if isinstance(value, dict):
        return any('"' in key or "'" in key for key in value)
    if not isinstance(value, str):
        return False
    return _is_parted(value.split('"' if '"' in value else "'"), free)


def _is_parted(pieces: list[str], free: bool) -> bool:
    """Do the quotes between the pieces of a text stand as those of several texts do?"""
    inner = pieces[1:-1:2]
    if any(piece and PARTING.fullmatch(piece) and (piece.isspace() or _is_inside_out(pieces)) for piece in inner):
        return True
    if len(pieces) % 2 == 0 and (not pieces[0] or not pieces[-1] or (free and any("," in piece for piece in pieces))):
        return True
    if not free:
        return False
    if len(pieces) % 2:
        return any(map(NO_WORDS.fullmatch, inner))
    return any(BEFORE.match(piece) for piece in pieces[1:]) or any(BEHIND.search(piece) for piece in pieces[:-1])


def _is_inside_out(pieces: list[str]) -> bool:
    """Does the first quote stand behind a word, and the last before one: as an end, and a beginning?"""
    return bool(pieces[0]) and not pieces[0][-1].isspace() and bool(pieces[-1]) and not pieces[-1][0].isspace()


def swapped(shape: Shape, arguments: Mapping[str, Any], edits: Collection[Edit]) -> str:
    """Which sign is missing that stands beside its place, so that arguments begin or end elsewhere; "" for none."""
    texts = [value for _, value, _ in _values("", arguments, ANYTHING) if isinstance(value, str)]
    mends = {edit.kind for edit in edits}
    if shape.keys and not all(map(shape.has, arguments)):
        if "positional" in mends:
            return "the tool has no argument of a name that is given, and another has no name"
        if any(edit.kind == "stray_closer" and edit.before.strip("</> ") in shape.keys for edit in edits):
            return "a closer stands where none belongs, and the tool has no argument of a name that is given"
        if "missing_comma" in mends:
            return "where an object ends is not clear: a comma is missing, and the tool has no argument of a name in it"
    if {"positional", "unescaped_quote"} <= mends and any(KEYWORD.match(text) for text in texts):
        return "where a value begins is not clear: a name stands in one that has none"
    for edit in edits:
        if edit.kind == "missing_comma" and any(text.endswith(",") for text in texts):
            return "where a value ends is not clear: a comma is missing behind one, and ends another"
        if edit.kind == "missing_bracket" and texts and _ends_in_bracket(texts[-1]):
            return "where a value ends is not clear: a bracket is missing behind one that ends with a bracket too many"
        if edit.kind == "unopened_string" and edit.path.endswith("]") and "," in edit.before:
            return "where a value begins is not clear: a comma stands in one that nothing opens"
    return ""


def _ends_in_bracket(text: str) -> bool:
    """Does a text end with a bracket that nothing in it opens?"""
    opener = {"}": "{", "]": "["}.get(text[-1:])
    return opener is not None and text.count(opener) < text.count(text[-1])


def _values(path: str, value: Any, shape: Shape, free: bool = False) -> Iterator[tuple[str, Any, bool]]:
    """Every value with its path as edits tell it, and whether it is an item of a list or under a key of any name."""
    yield path, value, free
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(f"{path}.{key}", inner, shape.property(key), not shape.has(key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _values(f"{path}[{number}]", inner, shape.item, True)


def holds_missing(shape: Shape, arguments: Mapping[str, Any], kind: type) -> str:
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


def _named_object(args: Notation, known: Known, written: str) -> bool:
    keys = args.name if isinstance(args, JsonCall) else ()
    return any(
        (found["key"] in keys if found["key"] else found["object"]) and known(found["name"])
        for found in MEMBER.finditer(written)
    )


def _object_behind(_: Notation, known: Known, written: str) -> bool:
    return any(map(known, OBJECT.findall(written)))


def _call_behind(_: Notation, known: Known, written: str) -> bool:
    return any(map(known, CALL.findall(written)))


LOOKS: Mapping[type, Callable[[Notation, Known, str], bool]] = {
    JsonCall: _named_object,
    JsonArgs: _object_behind,
    KeywordArgs: _call_behind,
}
