"""A package that can be asked by name: `dragoman.dialects["hermes"]`.

Makes a module a mapping over one table, so that the package and the table cannot be two things of one name.  Knows
nothing of what is in the table.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any


class TableModule(ModuleType, Mapping[str, Any]):
    """A module that is also a read-only mapping over its `table`."""

    table: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.table[name]

    def __contains__(self, name: object) -> bool:
        return name in self.table

    def __iter__(self) -> Iterator[str]:
        return iter(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def tabulate(module: str, table: Mapping[str, Any]) -> None:
    """Let the module of this name be subscripted, iterated and searched as `table` is."""
    found = sys.modules[module]
    found.__class__ = TableModule
    found.table = table  # type: ignore[attr-defined]
