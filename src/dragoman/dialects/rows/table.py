"""Every dialect by name: the rows of all families, in the order in which rows that share an opener are tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import cast

from ...errors import UnknownName, UsageError
from ...memo import CONSTANTS, memoize
from ..spec import Dialect
from . import (
    channels as channel_families,
)
from . import (
    documents,
)
from . import (
    elements as element_families,
)
from . import (
    json as json_families,
)
from . import (
    literals as literal_families,
)
from . import (
    names as name_families,
)
from . import (
    tags as tag_families,
)

ALL: tuple[Dialect, ...] = (
    *documents.STRONG,
    *json_families.STRONG,
    *tag_families.ROWS,
    *name_families.ROWS,
    *channel_families.ROWS,
    *literal_families.STRONG,
    *element_families.STRONG,
    *json_families.SAME_AS_HERMES,
    *literal_families.WEAK,
    *name_families.WEAK,
    *tag_families.WEAK,
    *json_families.WEAK,
    *documents.WEAK,
    *element_families.WEAK,
)


class Dialects(Mapping[str, Dialect]):
    """Name or alias → row; the first, where several rows share an alias.  Iterating gives the rows' own names."""

    def __init__(self, rows: Sequence[Dialect]) -> None:
        self._rows = {row.name: row for row in rows}
        self._aliases: dict[str, Dialect] = {}
        for row in rows:
            for alias in row.aliases:
                self._aliases.setdefault(alias, row)

    def __getitem__(self, name: str) -> Dialect:
        found = (self._rows.get(name) or self._aliases.get(name)) if isinstance(name, str) else None
        if found is None:
            raise UnknownName("dialect", name, [*self._rows, *self._aliases], "dragoman list dialects")
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._rows or name in self._aliases)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


DIALECTS = Dialects(ALL)


def row_of(dialect: str | Dialect) -> Dialect:
    """The row itself, or the one of this name.  Raises UnknownName (a UsageError), with the names that are near."""
    if isinstance(dialect, Dialect):
        return dialect
    if isinstance(dialect, Mapping):
        raise UsageError(A_RECORD)
    return DIALECTS[dialect]


def resolve(dialects: str | Dialect | Sequence[str | Dialect]) -> tuple[Dialect, ...]:
    """The rows meant by "auto", a name, a row, or a list of names and rows; a name stands for its `family`."""
    if dialects == "auto":
        return ALL
    if isinstance(dialects, str):
        return family(dialects)
    if isinstance(dialects, Dialect):
        return (dialects,)
    if isinstance(dialects, tuple) and _are_rows(dialects):
        return cast("tuple[Dialect, ...]", dialects)  # the very same one: what was made of it is known by it
    if isinstance(dialects, Mapping) or not isinstance(dialects, Iterable):
        raise UsageError(A_RECORD if isinstance(dialects, Mapping) else NO_DIALECTS.format(kind=type(dialects).__name__))
    found = [row for d in dialects for row in (family(d) if isinstance(d, str) else (row_of(d),))]
    return tuple(dict.fromkeys(found))


A_RECORD = "a mapping is no dialect; make a row of it: dragoman.dialects.from_record(json.load(file))"
NO_DIALECTS = 'dialects are "auto", a name, a row, or several of them, not {kind} (see: dragoman list dialects)'


@memoize(CONSTANTS)
def _are_rows(dialects: tuple[str | Dialect, ...]) -> bool:
    return all(type(one) is Dialect for one in dialects)


@lru_cache(maxsize=512)
def family(name: str) -> tuple[Dialect, ...]:
    """All that a model of this dialect writes: the row of that name, and the rows that list it as an alias."""
    first = DIALECTS[name]
    return first, *(row for row in ALL if name in row.aliases and row is not first)
