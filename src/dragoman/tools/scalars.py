"""The types that are one JSON text, number, boolean or null: rows of a table, and enumerations.

Knows nothing of containers.  Types of modules that may not be imported here (`uuid`, `pathlib`) and of other packages
are known by their qualified names.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import decimal
import enum
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..types import Json, JsonObject
from .qualified_names import lineage, row_for
from .to_json import is_scalar, plain
from .type_schema import CLOSED, GENERAL, TYPED, JsonForm, Undescribed, invalid_value, made

_INTEGER = r"^[+-]?[0-9]+$"
_DECIMAL = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"


@dataclass(frozen=True, slots=True)
class ScalarRow:
    """A type written as one text: the rest of its schema, how its values are made, and what to call them.

    `make` is None where the type's own constructor takes the text; `rank` is its place in a union (`type_schema.py`).
    """

    schema: JsonObject
    wanted: str
    make: Callable[[str], Any] | None = None
    rank: int = TYPED


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError("not base64") from None


def _datetime(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text.strip())


_DURATION = re.compile(
    r"([+-]?)P(?:([\d.,]+)W)?(?:([\d.,]+)D)?(?:T(?:([\d.,]+)H)?(?:([\d.,]+)M)?(?:([\d.,]+)S)?)?", re.ASCII
)
_UNITS = ("weeks", "days", "hours", "minutes", "seconds")


def _duration(text: str) -> dt.timedelta:
    """ISO 8601 without years and months, whose length varies."""
    found = _DURATION.fullmatch(text.strip().upper())
    if found is None or not any(found.groups()[1:]):
        raise ValueError("not an ISO 8601 duration")
    parts = {unit: float(n.replace(",", ".")) for unit, n in zip(_UNITS, found.groups()[1:], strict=True) if n}
    return dt.timedelta(**parts) * (-1 if found[1] == "-" else 1)


_BYTES = ScalarRow({"type": "string", "contentEncoding": "base64"}, "base64", _bytes, GENERAL)
_PATH = ScalarRow({"type": "string", "format": "path"}, "a path")

ROWS: Mapping[str, ScalarRow] = {
    "builtins.bytes": _BYTES,
    "builtins.bytearray": ScalarRow(_BYTES.schema, "base64", lambda text: bytearray(_bytes(text)), GENERAL),
    "datetime.datetime": ScalarRow(
        {"type": "string", "format": "date-time"}, "a date and time (2024-05-31T14:30:00Z)", _datetime
    ),
    "datetime.date": ScalarRow({"type": "string", "format": "date"}, "a date (2024-05-31)", dt.date.fromisoformat),
    "datetime.time": ScalarRow({"type": "string", "format": "time"}, "a time (14:30:00)", dt.time.fromisoformat),
    "datetime.timedelta": ScalarRow(
        {"type": "string", "format": "duration"}, "an ISO 8601 duration (PT1H30M)", _duration
    ),
    "decimal.Decimal": ScalarRow(
        {"type": "string", "pattern": _DECIMAL}, "a decimal number as a text (12.50)", decimal.Decimal
    ),
    "fractions.Fraction": ScalarRow({"type": "string"}, "a fraction (3/4)"),
    "uuid.UUID": ScalarRow({"type": "string", "format": "uuid"}, "a UUID"),
    "re.Pattern": ScalarRow({"type": "string", "format": "regex"}, "a Python regular expression", re.compile),
    "zoneinfo.ZoneInfo": ScalarRow({"type": "string"}, "a time zone (Europe/Paris)"),
    "ipaddress.IPv4Address": ScalarRow({"type": "string", "format": "ipv4"}, "an IPv4 address"),
    "ipaddress.IPv6Address": ScalarRow({"type": "string", "format": "ipv6"}, "an IPv6 address"),
    "ipaddress.IPv4Network": ScalarRow({"type": "string"}, "an IPv4 network (10.0.0.0/8)"),
    "ipaddress.IPv6Network": ScalarRow({"type": "string"}, "an IPv6 network"),
    "ipaddress.IPv4Interface": ScalarRow({"type": "string"}, "an IPv4 interface (10.0.0.1/8)"),
    "ipaddress.IPv6Interface": ScalarRow({"type": "string"}, "an IPv6 interface"),
}
"""Types that are one text, by qualified name."""


def _whole(value: Any) -> int:
    """JSON Schema calls 3.0 an integer."""
    return int(value)


PLAIN: Mapping[type, JsonForm] = {
    str: JsonForm({"type": "string"}, str),
    bool: JsonForm({"type": "boolean"}, bool),
    int: JsonForm({"type": "integer"}, _whole),
    float: JsonForm({"type": "number"}, made(float, {"type": "number"}, "a number that fits a double"), GENERAL),
    type(None): JsonForm({"type": "null"}, lambda value: None),
}
"""The types JSON has itself."""


def scalar_form(kind: type) -> JsonForm | None:
    """The form of a class that is written as one JSON scalar; None for every other class."""
    if kind in PLAIN:
        return PLAIN[kind]
    if issubclass(kind, enum.Enum):
        return _flag_form(kind) if issubclass(kind, enum.Flag) else _enum_form(kind)
    row = row_for(kind, ROWS)
    if row is not None:
        own = row.make if f"{kind.__module__}.{kind.__qualname__}" in ROWS else None
        return JsonForm(row.schema, made(own or kind, row.schema, row.wanted), row.rank)
    if callable(getattr(kind, "__fspath__", None)):
        is_abstract = lineage(kind)[0] == "os.PathLike"  # a text will do where any path does
        return JsonForm(_PATH.schema, str if is_abstract else made(kind, _PATH.schema, _PATH.wanted))
    base = next((base for base in (str, int, float) if issubclass(kind, base)), None)
    if base is None:
        return None
    return JsonForm(PLAIN[base].schema, made(kind, PLAIN[base].schema, f"a {kind.__name__}"))


# ── a closed list of values ──────────────────────────────────────────────────


def literal_form(values: Iterable[Any]) -> JsonForm:
    """The form of `Literal[…]`: its values, enumeration members by what they are written as."""
    pairs = [(plain(value), value) for value in values]
    if any(isinstance(written, list | dict) for written, _ in pairs):
        raise Undescribed("a Literal of JSON cannot hold flags: list texts, numbers, booleans or None")
    return _chosen(pairs)


def _enum_form(kind: type[enum.Enum]) -> JsonForm:
    members = list(kind)
    if not members:
        raise Undescribed(f"the enumeration {kind.__name__} has no members: give it some, or annotate with str")
    by_value = all(is_scalar(each.value) and each.value == each.value for each in members)
    pairs = [(plain(each.value) if by_value else each.name, each) for each in members]
    form = _chosen(pairs)
    if by_value and not all(isinstance(each.value, str) for each in members):
        meaning = ", ".join(f"{written} = {each.name}" for written, each in pairs)
        form = JsonForm({**form.schema, "description": meaning}, form.read, CLOSED)
    return form


def _flag_form(kind: type[enum.Flag]) -> JsonForm:
    names = [each.name for each in kind if each.name]
    schema = {"type": "array", "items": {"type": "string", "enum": names}, "uniqueItems": True}

    def read(value: list[str]) -> enum.Flag:
        joined = kind(0)
        for name in value:
            joined |= kind[name]
        return joined

    return JsonForm(schema, read)


def _chosen(pairs: list[tuple[Json, Any]]) -> JsonForm:
    written = [each for each, _ in pairs]
    schema: dict[str, Any] = {"enum": written}
    kinds = list(dict.fromkeys(map(_kind, written)))
    schema = {"type": kinds[0] if len(kinds) == 1 else kinds, **schema}

    def read(value: Any) -> Any:
        for each, meant in pairs:
            if each == value and isinstance(each, bool) == isinstance(value, bool):
                return meant
        raise invalid_value(f"must be one of {', '.join(map(repr, written))}, not {value!r}", schema, "enum")

    return JsonForm(schema, read, CLOSED)


def _kind(value: Json) -> str:
    return next(name for kind, name in _KINDS if isinstance(value, kind))


_KINDS: tuple[tuple[type, str], ...] = (
    (str, "string"), (bool, "boolean"), (int, "integer"), (float, "number"), (type(None), "null"),
)  # fmt: skip
