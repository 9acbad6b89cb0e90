"""A dialect's row as plain data and back, so that a row can be a file: what `dragoman learn` writes.

Fields that say nothing are left out; the notation says its kind.  Knows the records of `dialects/spec.py` and their
types; reads no files, and knows no row.
"""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from ...errors import UsageError
from .. import spec
from ..spec import Dialect

NOTATIONS: Mapping[str, type] = {kind.__name__: kind for kind in typing.get_args(spec.Notation)}
KIND = "kind"
SEE = "dragoman learn --json shows the form"
PATTERNS = ("tool_re", "preface", "suffix")


def to_record(row: Dialect) -> dict[str, Any]:
    """The row as JSON values, without the fields that have their default."""
    found = _plain(row)
    found["args"] = {KIND: type(row.args).__name__, **found["args"]}
    return dict(found)


def from_record(value: Any) -> Dialect:
    """The row that `to_record` wrote, or that somebody wrote in its form.  Raises UsageError naming the field."""
    row: Dialect = _read(Dialect, value, "")
    for name in PATTERNS:
        _compiled(getattr(row, name), name)
    if "name" not in _compiled(row.tool_re, "tool_re").groupindex:
        raise UsageError("tool_re of a dialect's row has no group (?P<name>…); name what the tool's name is")
    try:
        row.tool_form.format(name="f", id="", index=0)
    except (LookupError, ValueError) as error:
        raise UsageError(f"tool_form of a dialect's row is no form with {{name}}, {{id}} and {{index}}: {error}") from None
    return row


def from_json(text: str, where: str) -> Dialect:
    """The row in the text of a file; `where` names it in the error."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{where} is not JSON: {error}; {SEE}") from error
    return from_record(value)


def _compiled(pattern: str, name: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"{name} of a dialect's row is no regular expression: {error}") from None


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        shown = {f.name: getattr(value, f.name) for f in fields(value)}
        return {f.name: _plain(shown[f.name]) for f in fields(value) if shown[f.name] != _default(f)}
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return str(value) if isinstance(value, StrEnum) else value


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


@lru_cache(maxsize=64)
def _types(record: type) -> Mapping[str, Any]:
    return typing.get_type_hints(record, vars(spec))


def _read(kind: Any, value: Any, path: str) -> Any:
    """`value` as a value of this type; `path` is where it stands in the row."""
    if kind == spec.Notation:
        return _notation(value, path)
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        inner = next(k for k in typing.get_args(kind) if k is not type(None))
        return None if value is None else _read(inner, value, path)
    if typing.get_origin(kind) is tuple:
        return _tuple(kind, value, path)
    if is_dataclass(kind):
        return _record(typing.cast("type", kind), value, path)
    if issubclass(kind, StrEnum):
        if value not in list(kind):
            raise _wrong(path, f"is none of {', '.join(kind)}")
        return kind(value)
    if not isinstance(value, kind):
        raise _wrong(path, f"is no {'text' if kind is str else 'true or false'}")
    return value


def _record(kind: type, value: Any, path: str) -> Any:
    if not isinstance(value, Mapping):
        raise _wrong(path, "is no object")
    known = _types(kind)
    for key in value:
        if key not in known:
            raise _wrong(f"{path}.{key}" if path else str(key), "is no field there")
    given = {key: _read(known[key], inner, f"{path}.{key}" if path else key) for key, inner in value.items()}
    try:
        return kind(**given)
    except TypeError as error:
        missing = re.findall(r"'(\w+)'", str(error))
        raise _wrong(path, f"lacks {' and '.join(missing)}") from None


def _notation(value: Any, path: str) -> Any:
    kind = str(value.get(KIND)) if isinstance(value, Mapping) else ""
    if kind not in NOTATIONS:
        raise _wrong(path, f'names no notation; "kind" is one of {", ".join(NOTATIONS)}')
    return _record(NOTATIONS[kind], {k: v for k, v in value.items() if k != KIND}, path)


def _tuple(kind: Any, value: Any, path: str) -> tuple[Any, ...]:
    inner = typing.get_args(kind)
    if inner == (str, ...) and isinstance(value, str):
        return (value,)
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise _wrong(path, "is no list")
    kinds = [inner[0]] * len(value) if inner[-1] is ... else list(inner)
    if len(kinds) != len(value):
        raise _wrong(path, f"holds {len(value)} values, not {len(kinds)}")
    return tuple(_read(k, v, f"{path}[{n}]") for n, (k, v) in enumerate(zip(kinds, value, strict=True)))


def _wrong(path: str, what: str) -> UsageError:
    where = f"{path} of a dialect's row" if path else "a dialect's row"
    return UsageError(f"{where} {what}; {SEE}")
