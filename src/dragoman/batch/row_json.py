"""The JSON of a row: bytes → a value that every reader would read the same, or the reason why there is none.

The quick reader first; what it reads differently from the standard (numbers beyond 64 bits, keys that come twice) or
refuses is read again with care.  Knows JSON; nothing of rows or formats.
Contract: `loads` gives a JSON value in which no digit and no key was lost, or raises `BadRow`, whose code is one of
`codes.CODES`; never anything else, whatever the bytes.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

quick = orjson.loads
"""The quick reader alone: digits may become floats, and of a key that comes twice the last one counts."""
NotJson = orjson.JSONDecodeError
TABLE = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
LONG = b"0" * 19
"""So many digits may be more than 64 bits hold: the quick reader would make a float of them."""
ESCAPED = b"u003"
"""With it a colon may be written so that it is not seen."""
SURROGATE = b"\\u"
DEEPEST = 200
"""Nested containers of a row; validators and templates give up not far beyond."""


class BadRow(ValueError):
    """A row that cannot be used: the code, the words, and the path where there is one."""

    code: str
    path: str

    def __init__(self, code: str, message: str, path: str = "") -> None:
        self.code, self.path = code, path
        super().__init__(message)


def loads(data: bytes) -> Any:
    """The value that `data` holds.  Raises `BadRow`."""
    try:
        value = orjson.loads(data)
    except (orjson.JSONDecodeError, RecursionError):
        return _carefully(data)
    if data.count(b":") != colons(value) or ESCAPED in data or LONG in data.translate(TABLE):
        return _carefully(data)
    return value


def is_json(data: bytes) -> bool:
    """Is it JSON, however it may be wrong otherwise?"""
    try:
        loads(data)
    except BadRow as why:
        return why.code != "not_json"
    return True


def colons(value: Any) -> int:
    """How many colons the JSON of `value` has, none of them escaped: one for each key, and those in strings.

    A text with more of them has a key twice, whose first value was lost.  Far below 0 where it nests too deeply.
    """
    count, level, depth = 0, [value], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            return TOO_DEEP
        below: list[Any] = []
        for one in level:
            kind = type(one)
            if kind is str:
                count += one.count(":")
            elif kind is dict:
                count += len(one)
                for key, member in one.items():
                    if ":" in key:
                        count += key.count(":")
                    if type(member) in LOOKED_INTO:
                        below.append(member)
            elif kind is list:
                below += one
        level = below
    return count


def too_deep(value: Any) -> bool:
    """Does it nest deeper than a row may?"""
    return type(value) in CONTAINERS and colons(value) < 0


def is_whole(value: Any, data: bytes) -> bool:
    """Is the quick reader's `value` all that `data` says?  False where a key may stand in it twice.

    What is written again as it was holds all of it; so it does with as many colons, where none can be hidden.
    """
    written = orjson.dumps(value)
    return written == data or (written.count(b":") == data.count(b":") and ESCAPED not in data)


TOO_DEEP = -(1 << 60)
CONTAINERS = frozenset({dict, list})
LOOKED_INTO = frozenset({str, dict, list})


def _carefully(data: bytes) -> Any:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        why = f"byte {error.start} is {data[error.start]:#04x}, which no UTF-8 text has there"
        raise BadRow("not_utf8", why) from None
    try:
        value = json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float)
        count = colons(value)
    except RecursionError:
        count = TOO_DEEP
    except BadRow:
        raise
    except ValueError as error:
        raise BadRow("not_json", str(error)) from None
    if count < 0:
        raise BadRow("too_deep", f"it nests deeper than {DEEPEST} levels")
    if SURROGATE in data:
        _check_characters(value)
    return value


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: dict[str, Any] = {}
        for key, value in pairs:
            if key in seen and not _same(seen[key], value):
                raise BadRow("duplicate_keys", f"the key {key[:80]!r} comes twice with different values")
            seen[key] = value
    return made


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def _float(digits: str) -> float:
    value = float(digits)
    if value - value != 0:
        raise BadRow("not_finite", f"{digits[:40]} is more than a number of 64 bits holds")
    return value


def _constant(word: str) -> Any:
    raise BadRow("not_finite", f"{word} is not JSON")


def _check_characters(value: Any) -> None:
    """Raise where a string holds half a character."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if not one.isascii() and any("\ud800" <= c <= "\udfff" for c in one):
                raise BadRow("half_character", "a lone surrogate stands in it")
        elif isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one


def dumps(value: Any) -> bytes:
    """`value` as compact JSON, characters as they are; long integers keep their digits."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def text(value: Any) -> str:
    """The same as text."""
    return dumps(value).decode()
