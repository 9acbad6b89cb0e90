"""The qualified names of a class and its bases: how types of libraries we do not import are known.

Contract: nothing is imported and no instance is touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def lineage(kind: type) -> tuple[str, ...]:
    """The qualified names (`socket.gaierror`) of `kind` and its bases, in method resolution order."""
    return tuple(f"{each.__module__}.{each.__qualname__}" for each in kind.__mro__)


def row_for(kind: type, rows: Mapping[str, T]) -> T | None:
    """The row of the nearest class, `kind` itself first, that has one by its qualified name."""
    return next((rows[name] for name in lineage(kind) if name in rows), None)


def descends(value: Any, name: str) -> bool:
    """Is `value` an instance of the class of that qualified name?"""
    return name in lineage(type(value))
