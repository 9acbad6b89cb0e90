"""Reading a body that may be anything: each field is what its API says, or a `CodecError` says where it is not.

Knows JSON kinds and paths, no API.  Contract: a field that is absent or null gives its default; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import isfinite
from typing import Any

from ...errors import CodecError
from ...types import JsonObject


def kind(value: Any) -> str:
    """What JSON calls `value`."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case Mapping():
            return "an object"
        case list() | tuple():
            return "an array"
    return type(value).__name__


def an_object(value: Any, path: str) -> JsonObject:
    """`value`, an object."""
    if not (type(value) is dict or isinstance(value, Mapping)):
        raise CodecError(f"expected an object, got {kind(value)}; send what this API describes", path)
    return value


def an_array(value: Any, path: str) -> Sequence[Any]:
    """`value`, an array."""
    if not isinstance(value, list | tuple):
        raise CodecError(f"expected an array, got {kind(value)}; send what this API describes", path)
    return value


def list_at(body: JsonObject, key: str, path: str = "$") -> Sequence[Any]:
    """The array `body[key]`, which must be there."""
    if body.get(key) is None:
        raise CodecError(f"{key} is missing; send it", f"{path}.{key}")
    return an_array(body[key], f"{path}.{key}")


def a_word(value: str, known: Collection[str], path: str) -> str:
    """`value`, one of the words that the API `known` has there."""
    if value not in known:
        raise CodecError(f"{value!r} is no word of this API; give one of: {', '.join(known)}", path)
    return value


def a_string(value: Any, path: str) -> str:
    """`value`, a string."""
    if not isinstance(value, str):
        raise CodecError(f"expected a string, got {kind(value)}; send what this API describes", path)
    return value


def objects(body: JsonObject, key: str, path: str = "$") -> list[tuple[str, JsonObject]]:
    """The objects of the array `body[key]`, each with its path; none when absent or null."""
    listed = an_array(body[key], f"{path}.{key}") if body.get(key) is not None else ()
    return [(where, an_object(one, where)) for i, one in enumerate(listed) for where in (f"{path}.{key}[{i}]",)]


def object_at(body: JsonObject, key: str, path: str = "$") -> JsonObject | None:
    """The object `body[key]`, None when absent or null."""
    return None if body.get(key) is None else an_object(body[key], f"{path}.{key}")


def string_at(body: JsonObject, key: str, path: str = "$", default: str = "") -> str:
    """The string `body[key]`, `default` when absent or null."""
    return default if body.get(key) is None else a_string(body[key], f"{path}.{key}")


def name_at(body: JsonObject, key: str, path: str = "$") -> str:
    """The string `body[key]`, which must be there and not empty."""
    name = string_at(body, key, path)
    if not name:
        raise CodecError(f"{key} is missing or empty; give it", f"{path}.{key}")
    return name


def whole_at(body: JsonObject, key: str, path: str = "$") -> int | None:
    """The integer `body[key]`, None when absent or null."""
    value = number_at(body, key, path)
    if isinstance(value, float) and not value.is_integer():
        raise CodecError(f"expected a whole number, got {value}; round it", f"{path}.{key}")
    return None if value is None else int(value)


def number_at(body: JsonObject, key: str, path: str = "$") -> int | float | None:
    """The number `body[key]`, None when absent or null."""
    value = body.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise CodecError(f"expected a number, got {kind(value)}; send what this API describes", f"{path}.{key}")
    return value


def _is_finite(value: int | float) -> bool:
    return isinstance(value, int) or isfinite(value)


def switch_at(body: JsonObject, key: str, path: str = "$") -> bool | None:
    """The boolean `body[key]`, None when absent or null."""
    value = body.get(key)
    if value is not None and not isinstance(value, bool):
        raise CodecError(f"expected true or false, got {kind(value)}; send what this API describes", f"{path}.{key}")
    return value


def strings_at(body: JsonObject, key: str, path: str = "$") -> tuple[str, ...]:
    """The strings of `body[key]`, which may be one string or an array; none when absent or null."""
    value = body.get(key)
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    listed = an_array(value, f"{path}.{key}")
    return tuple(a_string(one, f"{path}.{key}[{i}]") for i, one in enumerate(listed))


def rest(body: JsonObject, known: Collection[str]) -> dict[str, Any]:
    """The fields of `body` that are not `known`."""
    return {key: value for key, value in body.items() if key not in known}


def present(fields: JsonObject, known: Collection[str] = ()) -> dict[str, Any]:
    """The fields that are not null, nor `known`."""
    return {key: value for key, value in fields.items() if value is not None and key not in known}


# ── writing ──────────────────────────────────────────────────────────────────


def filled(**fields: Any) -> dict[str, Any]:
    """The fields that hold something: no null, nothing empty, no false."""
    return {key: value for key, value in fields.items() if value}


def plain(value: Any) -> Any:
    """`value` as JSON libraries take it: what is a mapping of another kind becomes a dict, all the way down.

    A dict is taken as it is: bodies and callers give plain ones.
    """
    if isinstance(value, dict):
        return value
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, tuple) else value


# ── answers: what is no such thing is passed over, not raised ────────────────


def string(value: Any) -> str:
    """`value` if it is a string, else ""."""
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> JsonObject:
    """`value` if it is an object, else an empty one."""
    if isinstance(value, dict):
        return value
    return value if value is not None and isinstance(value, Mapping) else {}


def items(value: Any) -> Sequence[Any]:
    """`value` if it is an array, else an empty one."""
    return value if isinstance(value, list | tuple) else ()


def count(value: Any) -> int:
    """`value` if it is a count of something, else 0; some peers write their counts as text."""
    if isinstance(value, str):
        return _in_words(value) or 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value < MOST else 0


def _in_words(text: str) -> int | None:
    """The count that stands there in decimals; None where none does."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST else None


MOST = 2**53
"""Above it a client written in JavaScript counts wrong; no count of tokens or nanoseconds comes near."""


LONGEST = 15
"""Decimals of a count below that."""


def counts(fields: JsonObject) -> dict[str, Any]:
    """`fields` in which providers count; numbers that count nothing (negative, endless, absurd) are 0."""
    return {key: _counted(value) for key, value in fields.items()}


def _counted(value: Any) -> Any:
    if type(value) is int or type(value) is float:
        return value if 0 <= value < MOST else 0
    if isinstance(value, str):
        found = _in_words(value)
        return value if found is None else found
    if isinstance(value, Mapping):
        return counts(value)
    return [_counted(each) for each in value] if isinstance(value, list) else value
