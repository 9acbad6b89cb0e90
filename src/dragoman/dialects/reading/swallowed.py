"""Another call in a string that was read past its end: a quote or a comma was missing, and the string went on.

Where quotes inside a string were not escaped, the string ends where all behind it is JSON again, and that may be in the
next call: `{"city": "Oslo""days": 3}} … {"name": "search", "query": "red"`.  Such a call has two readings, and one of
them loses a call (judge-rules.md D and E).

Knows the marks of a row and how a call's name stands in each notation; does not read a source or decide anything.
Contract: asks `known` about names only, and looks at the arguments as they are written, strict JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...late import late
from ..spec import JsonArgs, JsonCall, KeywordArgs, Notation
from .compiled import Row, telling

Known = Callable[[str], bool]


NAME = r"[A-Za-z_$][\w.\-:]*"
CALL = late(rf"(?:\\[nrt]|[^\w\\.]|\A)({NAME})\(")
"""`name(`."""
OBJECT = late(rf"(?:\\[nrt]|[^\w\\]|\A)({NAME})(?:\\[nrt]|\s)*\{{")
"""A name and an object behind it."""
MEMBER = late(r"\\\"(?:(?P<key>\w+)\\\"\s*:\s*\\\")?(?P<name>[\w.\-:/]+)\\\"(?P<object>\s*:\s*\{)?")
"""A name in quotes: the value of a key, or itself the key of an object."""


def holds_mark(row: Row, written: str) -> bool:
    """Does a mark of this row stand in the arguments?"""
    around = (*row.section_open, *row.call_open, *row.call_close, *row.section_close)
    named = (mark for form in row.forms for mark in form)
    marks = (*around, *row.tool_open, *row.tool_close, *row.body_open, *named)
    return any(mark in written for mark in telling(marks))


def holds_call(args: Notation, known: Known, written: str) -> bool:
    """Does a declared name stand in the arguments where a call of this notation has its own?"""
    look = LOOKS.get(type(args))
    return look is not None and look(args, known, written)


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
