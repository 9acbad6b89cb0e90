"""What is made of the same tools, or the same rows, again and again, made once.

Clients send all their tools with every request: reading, checking, cutting and writing them is most of what a short
request costs.  Knows tools as values; nothing of wires, schemas or dialects.
Contract: what is kept was read from a copy that nobody else holds, so that it cannot change; the same content comes
back as the same `KeptTools`, and what is made of one of those is kept by its identity.  Few sets are remembered, and
none that is very large: what a stranger sends must not fill the memory.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any, TypeVar

from .types import JsonObject, Tool, ToolChoice

T = TypeVar("T")

SETS = 64
"""How many sets of tools are remembered at each place."""
ROWS = 512
"""How many combinations of rows are remembered at each place."""
LARGEST = 256 * 1024
"""Bytes of a set that is remembered; the largest of known clients is a quarter of it."""
_FORM = 2  # of marshal: the last one whose bytes depend on nothing but the value


class KeptTools(tuple[Tool, ...]):
    """Tools that cannot change: they were read from a copy of their own, each has a name of its own."""

    __slots__ = ()


class KeptWire(list[Any]):
    """The tools as a wire has them, and their JSON, which is written once."""

    __slots__ = ("json",)

    def __init__(self, listed: Sequence[Any], json: str) -> None:
        super().__init__(listed)
        self.json = json


class _Content:
    """Fields by what they say."""

    __slots__ = ("_written",)

    def __init__(self, written: bytes) -> None:
        self._written = written

    def fields(self) -> dict[str, Any]:
        """A copy of the fields."""
        fields: dict[str, Any] = marshal.loads(self._written)
        return fields

    def __hash__(self) -> int:
        return hash(self._written)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Content) and self._written == other._written


Read = Callable[[JsonObject], tuple[tuple[Tool, ...], list[Any] | None]]
"""Reads the tools in the fields of a body, and tells which of them are the wire's own."""


def by_content(*names: str) -> Callable[[Read], Read]:
    """A reader of tools that looks at the fields `names` of a body, and reads the same content once."""

    def decorate(read: Read) -> Read:
        @lru_cache(maxsize=SETS)
        def remembered(content: _Content) -> tuple[tuple[Tool, ...], list[Any] | None]:
            tools, foreign = read(content.fields())
            return (KeptTools(tools) if len({tool.name for tool in tools}) == len(tools) else tools), foreign

        @wraps(read)
        def reading(body: JsonObject) -> tuple[tuple[Tool, ...], list[Any] | None]:
            fields = {name: body[name] for name in names if body.get(name) is not None}
            try:
                written = marshal.dumps(fields, _FORM)
            except ValueError:  # values of kinds of their own, or nested without end
                return read(body)
            if not fields or len(written) > LARGEST:
                return read(body)
            tools, foreign = remembered(_Content(written))
            return tools, foreign and [dict(one) if isinstance(one, dict) else one for one in foreign]

        return reading

    return decorate


_WORDS = frozenset({str, int, bool, type(None), frozenset, ToolChoice})
"""Kinds of small values, which are told apart by what they say."""


class _Same:
    """Things by their identity, words by what they say; they live as long as what is kept under them."""

    __slots__ = ("_keys", "things")

    def __init__(self, *things: Any) -> None:
        self.things = things
        self._keys = tuple([one if type(one) in _WORDS else id(one) for one in things])

    def __hash__(self) -> int:
        return hash(self._keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._keys == other._keys


def by_rows(make: Callable[..., T]) -> Callable[..., T]:
    """`make`, which is asked once for the same arguments: constants, such as rows are."""

    @lru_cache(maxsize=ROWS)
    def remembered(same: _Same) -> T:
        return make(*same.things)

    @wraps(make)
    def making(*things: Any) -> T:
        return remembered(_Same(*things))

    return making


def by_identity(make: Callable[..., T]) -> Callable[..., T]:
    """`make`, which is asked once for the same `KeptTools` and the same other arguments."""

    @lru_cache(maxsize=SETS)
    def remembered(same: _Same) -> T:
        return make(*same.things)

    @wraps(make)
    def making(tools: Sequence[Tool], *others: Any) -> T:
        return remembered(_Same(tools, *others)) if type(tools) is KeptTools else make(tools, *others)

    return making
