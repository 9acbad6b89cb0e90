"""Python values → JSON: what a tool returned, the default of a parameter, a member of an enumeration.

Knows values, not annotations: the way from JSON back to a type is `type_schema.py`.  Libraries (pydantic, attrs,
numpy …) are known by what their values can do, never imported.
Contract: the same value gives the same JSON, also where Python's order is not fixed (sets); every answer is strict JSON
(NaN and the infinities become their names); what has no JSON raises `Unwritable`.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import enum
import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

from ..types import Json
from .qualified_names import lineage

_DEEPEST = 100  # validators give up not far beyond; a result nested deeper helps no model

Write: TypeAlias = Callable[[Any, int], Json]


class Unwritable(TypeError):
    """A value that has no JSON; the message says which."""


def plain(value: Any) -> Json:
    """`value` as JSON: dicts with text keys, lists, texts, numbers, booleans, None.  Raises `Unwritable`."""
    return _plain(value, 0)


def as_text(value: Any) -> str:
    """`value` as one line of JSON, its letters unescaped."""
    return json.dumps(plain(value), ensure_ascii=False)


def _plain(value: Any, depth: int) -> Json:
    if value is None or isinstance(value, bool):
        return value
    if depth > _DEEPEST:
        raise Unwritable(f"it nests deeper than {_DEEPEST} levels or holds itself: return a flatter value")
    for fits, write in _WRITERS:
        if fits(value):
            return write(value, depth + 1)
    raise Unwritable(f"a {type(value).__qualname__} is not JSON: return text, JSON or a dataclass")


# ── one writer for each kind ─────────────────────────────────────────────────


def _number(value: float, _: int) -> Json:
    if math.isfinite(value):
        return float(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _text(value: str, _: int) -> Json:
    """The text, where half a character (a lone surrogate) became U+FFFD: no wire carries one."""
    return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _member(value: enum.Enum, depth: int) -> Json:
    """An enumeration's member as its value where that is a JSON scalar, else as its name; flags as a list of names."""
    if isinstance(value, enum.Flag):
        return [each.name for each in type(value) if each in value and each.name]
    return _plain(value.value, depth) if is_scalar(value.value) else value.name


def is_scalar(value: Any) -> bool:
    """Is `value` a JSON scalar: text, number, boolean, null?"""
    return value is None or (isinstance(value, str | int | float) and not isinstance(value, enum.Enum))


def _mapping(value: Mapping[Any, Any], depth: int) -> Json:
    return {_key(key, depth): _plain(inner, depth) for key, inner in value.items()}


def _key(key: Any, depth: int) -> str:
    written = _plain(key, depth)
    if isinstance(written, dict | list):
        raise Unwritable(f"a {type(key).__qualname__} cannot be the key of a JSON object: use text keys")
    return written if isinstance(written, str) else json.dumps(written)


def _items(value: Collection[Any] | Iterator[Any], depth: int) -> Json:
    return [_plain(inner, depth) for inner in value]


def _sorted(value: AbstractSet[Any], depth: int) -> Json:
    return sorted((_plain(inner, depth) for inner in value), key=lambda inner: json.dumps(inner, sort_keys=True))


def _dataclass(value: Any, depth: int) -> Json:
    return {field.name: _plain(getattr(value, field.name), depth) for field in dataclasses.fields(value)}


def _attrs(value: Any, depth: int) -> Json:
    return {field.alias: _plain(getattr(value, field.name), depth) for field in type(value).__attrs_attrs__}


def duration_text(value: dt.timedelta) -> str:
    """A span of time as ISO 8601 writes it: `P1DT2H`, `-PT0.5S`."""
    sign, value = ("-", -value) if value < dt.timedelta() else ("", value)
    minutes, seconds = divmod(value.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    second = f"{seconds}.{value.microseconds:06}".rstrip("0").rstrip(".")
    days = f"{value.days}D" if value.days else ""
    pieces = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M"), (second, "S")) if n not in (0, "0"))
    return f"{sign}P{days}T{pieces}" if pieces else f"{sign}P{days or 'T0S'}"


def _by_method(name: str, **options: Any) -> tuple[Callable[[Any], bool], Write]:
    """Values with a method that gives plain data of themselves."""

    def fits(value: Any) -> bool:
        return callable(getattr(type(value), name, None))

    def write(value: Any, depth: int) -> Json:
        return _plain(getattr(value, name)(**options), depth)

    return fits, write


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _is_text_of_itself(value: Any) -> bool:
    """Types whose text is what everybody writes for them."""
    return not _TEXTS.isdisjoint(lineage(type(value)))


_TEXTS = frozenset(
    {
        "builtins.complex", "decimal.Decimal", "fractions.Fraction", "uuid.UUID", "zoneinfo.ZoneInfo",
        "ipaddress.IPv4Address", "ipaddress.IPv6Address", "ipaddress.IPv4Network", "ipaddress.IPv6Network",
        "ipaddress.IPv4Interface", "ipaddress.IPv6Interface", "pydantic.networks._BaseUrl",
        "pydantic_core._pydantic_core.Url",
    }
)  # fmt: skip

_WRITERS: tuple[tuple[Callable[[Any], bool], Write], ...] = (
    (_is(enum.Enum), _member),
    (_is(str), _text),
    (_is(int), lambda value, _: int(value)),
    (_is(float), _number),
    (_is(bytes, bytearray, memoryview), lambda value, _: base64.b64encode(bytes(value)).decode()),
    (_is(dt.datetime, dt.date, dt.time), lambda value, _: value.isoformat()),
    (_is(dt.timedelta), lambda value, _: duration_text(value)),
    _by_method("model_dump", mode="json", by_alias=True),  # pydantic
    (lambda value: dataclasses.is_dataclass(value) and not isinstance(value, type), _dataclass),
    (lambda value: hasattr(type(value), "__attrs_attrs__"), _attrs),
    _by_method("_asdict"),  # named tuples
    (_is(Mapping), _mapping),
    (_is(AbstractSet), _sorted),
    (_is_text_of_itself, lambda value, _: str(value)),
    _by_method("__fspath__"),  # paths
    (lambda value: "re.Pattern" in lineage(type(value)), lambda value, _: str(value.pattern)),
    _by_method("tolist"),  # numpy's arrays and scalars
    _by_method("to_dict"),  # pandas, and many others
    (_is(Collection, Iterator), _items),
)
"""Kinds of values, and how they are written; the first that fits decides."""
