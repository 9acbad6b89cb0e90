"""JSON as types, and a mapping that nobody can change.

Knows nothing of what is said in it.  Contract: a `FrozenDict` is a JSON object to every reader, and may be a default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Any] | dict[str, Any] | None"
JsonObject: TypeAlias = Mapping[str, Any]


class FrozenDict(dict[str, Any]):
    """A mapping nobody can change: a JSON object to every reader, and hashable, so that it may be a default."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self))

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping is shared and cannot change; copy it with dict(…) first")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse


NOTHING: JsonObject = FrozenDict()
EMPTY_OBJECT_SCHEMA: JsonObject = FrozenDict(type="object", properties=FrozenDict())
