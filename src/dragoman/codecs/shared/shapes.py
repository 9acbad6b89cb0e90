"""The shape of a body as data: what it has in which places, by which one API is told from another.

Knows JSON; no API.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from ...types import JsonObject

Kind: TypeAlias = "type | frozenset[str]"
Field: TypeAlias = "tuple[str, Kind]"
"""A place in a body (`[]`: in any item of a list), and what stands there: a value of a type, or one of some words."""
Shape: TypeAlias = "tuple[str, tuple[Field, ...]]"
"""What is known by a shape, and all that such a body has."""

LIST, OBJECT, TEXT, ABSENT = list, Mapping, str, type(None)


def has(body: JsonObject, fields: Iterable[Field]) -> bool:
    """Does `body` have all of these?"""
    return all(any(_is(value, kind) for value in _at([body], path.split("."))) for path, kind in fields)


def _at(values: Iterable[Any], path: Iterable[str]) -> Iterable[Any]:
    """The values at a path; through a list, those in each of its items."""
    for name in path:
        values = _inside(values, name.removesuffix("[]"), listed=name.endswith("[]"))
    return values


def _inside(values: Iterable[Any], name: str, *, listed: bool) -> Iterator[Any]:
    for value in values:
        found = value.get(name) if isinstance(value, Mapping) else None
        if not listed:
            yield found
        elif isinstance(found, list | tuple):
            yield from found


def _is(value: Any, kind: Kind) -> bool:
    if isinstance(kind, frozenset):
        return isinstance(value, str) and value in kind
    return isinstance(value, list | tuple) if kind is LIST else isinstance(value, kind)
