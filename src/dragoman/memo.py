"""What is made of the same tools, or the same rows, again and again, made once.

Clients send all their tools with every request: reading, checking, cutting and writing them is most of what a short
request costs.  Knows tools as values; nothing of wires, schemas or dialects.
Contract: what is kept was read from a copy that nobody else holds, so that it cannot change; the same content comes
back as the same `KeptTools`, and what is made of one of those is kept by its identity.  Few sets are remembered, of
the large ones a handful, and none that is very large: what a stranger sends must not fill the memory.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any, TypeVar

from .types import JsonObject, Media, Message, Opaque, Reasoning, Text, Tool, ToolChoice, ToolResult

T = TypeVar("T")

SETS = 64
"""How many sets of tools are remembered at each place."""
ROWS = 512
"""How many combinations of rows are remembered at each place."""
LARGE = 256 * 1024
"""Bytes of a set of which few are remembered; the largest of known clients is a quarter of it."""
MANY = 1000
"""Tools of such a set."""
LARGE_SETS = 2
LARGEST = 2 * 1024 * 1024
"""Bytes of a set that is remembered."""
MESSAGES = 2048
"""How many messages are remembered at each place: those of some dozens of conversations."""
SMALL = 4096
"""Bytes of a message that is remembered: what a longer one costs is its text, which is read and written at once."""
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
        def make(content: _Content) -> tuple[tuple[Tool, ...], list[Any] | None]:
            tools, foreign = read(content.fields())
            return (KeptTools(tools) if len({tool.name for tool in tools}) == len(tools) else tools), foreign

        remembered, large = lru_cache(maxsize=SETS)(make), lru_cache(maxsize=LARGE_SETS)(make)

        @wraps(read)
        def reading(body: JsonObject) -> tuple[tuple[Tool, ...], list[Any] | None]:
            fields = {name: body[name] for name in names if body.get(name) is not None}
            try:
                written = marshal.dumps(fields, _FORM)
            except ValueError:  # values of kinds of their own, or nested without end
                return read(body)
            if not fields or len(written) > LARGEST:
                return read(body)
            tools, foreign = (remembered if len(written) <= LARGE else large)(_Content(written))
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

    made: dict[tuple[Any, ...], tuple[Any, T]] = {}

    @wraps(make)
    def making(*things: Any) -> T:
        # Asked for several times with each request: a key of its own kind would cost more than what it finds.
        key = tuple([one if type(one) in _WORDS else id(one) for one in things])
        found = made.get(key)
        if found is None:
            if len(made) >= ROWS:
                made.clear()
            found = made[key] = things, make(*things)  # what is known by its identity must live as long
        return found[1]

    return making


def by_identity(make: Callable[..., T]) -> Callable[..., T]:
    """`make`, which is asked once for the same `KeptTools` and the same other arguments."""

    def make_of(same: _Same) -> T:
        return make(*same.things)

    remembered, large = lru_cache(maxsize=SETS)(make_of), lru_cache(maxsize=LARGE_SETS)(make_of)

    @wraps(make)
    def making(tools: Sequence[Tool], *others: Any) -> T:
        if type(tools) is not KeptTools:
            return make(tools, *others)
        return (remembered if len(tools) <= MANY else large)(_Same(tools, *others))

    return making


# ── messages: agents send all of a conversation again with each turn ─────────


def by_saying(read: Callable[..., T]) -> Callable[..., T]:
    """`read`, which reads an object that says the same, with the same words beside it, once, where it is small."""

    @lru_cache(maxsize=MESSAGES)
    def remembered(said: _Content, words: tuple[Any, ...]) -> T:
        return read(said.fields(), *words)

    @wraps(read)
    def reading(said: Any, *words: Any) -> T:
        try:
            written = marshal.dumps(said, _FORM)
        except ValueError:  # values of kinds of their own, or nested without end
            return read(said, *words)
        return remembered(_Content(written), words) if len(written) <= SMALL else read(said, *words)

    return reading


def _is_lean(message: Message) -> bool:
    """Is nothing long in this message beside what is told of it anyway: its text, its calls and their results?"""
    beside = [message.metadata]
    for part in message.parts:
        if isinstance(part, Media | Opaque) or (isinstance(part, Reasoning) and len(part.text) > SMALL):
            return False
        if isinstance(part, ToolResult) and not all(isinstance(one, Text) for one in part.content):
            return False
        beside.append(part.metadata)
    return sum(len(repr(fields)) for fields in beside if fields) <= SMALL


class _Long(Exception):
    """What was made is too long to be remembered."""

    def __init__(self, made: Any) -> None:
        self.made = made


def by_message(size: Callable[[T], int]) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Makes a function of a message one that is asked once for the same message and the same other things.

    It is not remembered where it is long, or what is made of it, which has so many characters as `size` says.
    """

    def decorate(make: Callable[..., T]) -> Callable[..., T]:
        @lru_cache(maxsize=MESSAGES)
        def remembered(same: _Same) -> T:
            made = make(*same.things)
            if size(made) > SMALL or not _is_lean(same.things[0]):
                raise _Long(made)
            return made

        @wraps(make)
        def making(*things: Any) -> T:
            try:
                return remembered(_Same(*things))
            except _Long as long:
                made: T = long.made
                return made

        return making

    return decorate
