"""Another call in a string that was read past its end: a quote or a comma was missing, and the string went on.

Where quotes inside a string were not escaped, the string ends where all behind it is JSON again, and that may be in the
next call: `{"city": "Oslo""days": 3}} … {"name": "search", "query": "red"`.  Such a call has two readings, and one of
them loses a call (judge-rules.md D and E).

Knows the marks of a row and how a call's name stands in each notation; does not read a source or decide anything.
Contract: asks `known` about names only, and looks at the arguments as they are written, strict JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...late import late
from ...lenient.notation import Broken
from ...schema.validation import Shape
from ..spec import JsonArgs, JsonCall, KeywordArgs, Notation
from .compiled import Row

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
BESIDE = late(r"\"\s*[,:\]}]|[,:\[{]\s*\"")
"""A quote beside a sign of JSON's own, as at the end or the beginning of a string."""
NO_WORDS = late(r"\W+")


def has_edge(arguments: Mapping[str, Any], paths: Iterable[str]) -> bool:
    """Does a text begin or end as what stands between two members of an object?  `paths` are where quotes were not
    escaped."""
    if any(isinstance(value, str) and EDGE.search(value) for value in arguments.values()):
        return True
    places = {path.removeprefix("$").removeprefix(".arguments") for path in paths}
    return any(place in places and _is_unclear(value, item) for place, value, item in _values("", arguments))


def _is_unclear(value: Any, item: bool) -> bool:
    """Is a value in which a quote was taken for its own perhaps another?

    In an object it is a key of it that has the quote, and a key has none (judge-rules.md E).  A quote alone at an edge
    may be one too many.  An item of a list has nothing behind it by which its end is told from a quote inside: those
    inside come in pairs, with words between, or stand beside no sign that parts items.
    """
    if isinstance(value, dict):
        return any('"' in key for key in value)
    if not isinstance(value, str):
        return False
    pieces = value.split('"')
    if len(pieces) % 2 == 0 and (not pieces[0] or not pieces[-1]):
        return True
    if not item:
        return False
    return bool(BESIDE.search(value) if len(pieces) % 2 == 0 else any(map(NO_WORDS.fullmatch, pieces[1::2])))


def _values(path: str, value: Any, item: bool = False) -> Iterator[tuple[str, Any, bool]]:
    """Every value with its path as edits tell it, and whether it is an item of a list."""
    yield path, value, item
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(f"{path}.{key}", inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _values(f"{path}[{number}]", inner, True)


def holds_missing(shape: Shape, arguments: Mapping[str, Any], kind: type) -> str:
    """A declared argument that is missing, and whose name stands in another of this kind: a text, or an object."""
    for key in shape.keys:
        for name, value in arguments.items() if key not in arguments else ():
            if isinstance(value, kind) and HOLDS[kind](value, key, shape.property(name)):
                return key
    return ""


def _quotes(text: str, key: str, _: Shape) -> bool:
    return f'"{key}"' in text or f'{key}":' in text or f'"{key}:' in text


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
