"""Results of functions by their arguments, and values by their keys: made or fetched once and remembered.

Clients send all their tools and messages with every request: reading, checking, cutting and writing them is most of
what a short request costs.  Knows tools and messages as values; nothing of wires, schemas or dialects.
Contract: a memo states what a call is known again by and how many are remembered, the least recently used go first,
and nothing very large stays: what a stranger sends must not fill the memory.  What is known by content is made of a
copy that nobody else holds; what is known by identity lives as long as what was made of it.  Threads may share all.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any, Generic, Protocol, TypeVar, cast

from .jsontext import exact_json, from_json, is_written
from .records import NamedTuple
from .types import EMPTY_OBJECT_SCHEMA, Media, Message, Opaque, Reasoning, Text, Tool, ToolCall, ToolChoice, ToolResult

K = TypeVar("K", bound=Hashable)
S = TypeVar("S")
T = TypeVar("T")
Made = TypeVar("Made", bound=Callable[..., Any])
Things = tuple[Any, ...]

LARGE = 256 * 1024
"""Bytes of a set of tools of which few are remembered; the largest of known clients is a quarter of it."""
LARGEST = 2 * 1024 * 1024
"""Bytes of a set that is remembered."""
LARGE_SETS = 2
OBJECTS = 512
SMALL = 4096
"""Bytes of a message that is remembered: what a longer one costs is its text, which is read and written at once."""
_FORM = 2  # of marshal: the last one whose bytes depend on nothing but the value


class Recent(Generic[K, T]):
    """Values by key, up to `limit` in sum of their sizes; the least recently used go first.

    version  another with all that is put; None as long as nothing was
    """

    version: object = None

    def __init__(self, limit: int) -> None:
        self._limit, self._size = limit, 0
        self._values: OrderedDict[K, tuple[T, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> T | None:
        """The value under `key`, which counts as used."""
        found = self._values.get(key)
        if found is None:
            return None
        try:  # noqa: SIM105 -- `suppress` takes longer than all the rest
            self._values.move_to_end(key)
        except KeyError:  # another thread has just forgotten it
            pass
        return found[0]

    def put(self, key: K, value: T, size: int = 1) -> None:
        """Remember this, and forget what there is no room for."""
        old = self._values.pop(key, None)
        self._values[key] = value, size
        self._size += size - (old[1] if old is not None else 0)
        while self._size > self._limit and self._values:
            with suppress(KeyError):
                self._size -= self._values.popitem(last=False)[1][1]
        if not self._values:
            self._size = 0  # what two threads counted at once heals here
        self.version = object()  # when all is in its place


# ── values that several processes share ──────────────────────────────────────


class Backing(Protocol[T]):
    """The memory of several processes together.  It may have forgotten anything, and it never raises."""

    def get(self, keys: Sequence[str]) -> Mapping[str, T]:
        """The values of those of `keys` that are known."""

    def put(self, rows: Mapping[str, T]) -> None:
        """Remember these."""

    def keys(self) -> Sequence[str]:
        """The keys of all that is known."""


# ── results of functions ─────────────────────────────────────────────────────


class FrozenTools(tuple[Tool, ...]):
    """Tools that cannot change: they were read from a copy of their own, each has a name of its own.

    What was made of them is held by them, and goes with them.
    """


THEMSELVES: Any = object()
"""Stands for the tools where what was made of them is they."""


class Capacity(NamedTuple):
    """Entries remembered, of those up to a size; None: of any."""

    entries: int
    size: int | None = None


class Memo(NamedTuple):
    """The key of a call, and the number of calls remembered."""

    key: Callable[[Things], tuple[Hashable, int] | None]
    """Equal for calls that are the same, with their size; None: not remembered."""
    bounds: tuple[Capacity, ...]
    """The first that a call fits is its own; one that fits none is not remembered."""
    copied: Callable[[Any], Things] | None = None
    """The arguments anew, from their key; None: the key is their identity."""


def memoize(memo: Memo, keep: Callable[..., Any] | None = None) -> Callable[[Made], Made]:
    """Makes a function one that is asked once for the same arguments, which are given by position.

    `keep` says, of the result and the arguments, what is remembered and given; None: the result is not remembered.
    """

    def decorate(make: Made) -> Made:
        if memo is TOOLS:
            return _of_tools(make)
        shelves = [(bound.size, Recent[Hashable, tuple[Things, Any]](bound.entries)) for bound in memo.bounds]

        def fill(shelf: Recent[Hashable, tuple[Things, Any]], key: Hashable, things: Things) -> tuple[Things, Any]:
            owned, given = (things, things) if memo.copied is None else ((), memo.copied(key))
            result = make(*given)
            value = result if keep is None else keep(result, *given)
            if keep is not None and value is None:
                return owned, result
            shelf.put(key, (owned, value))  # what is known by its identity must live as long
            return owned, value

        if memo.key is identity:
            shelf = shelves[0][1]

            @wraps(make)
            def at_hand(*things: Any) -> Any:
                key = tuple([one if type(one) in WORDS else id(one) for one in things])
                return (shelf.get(key) or fill(shelf, key, things))[1]

            return cast("Made", at_hand)

        @wraps(make)
        def remembering(*things: Any) -> Any:
            known = memo.key(things)
            if known is not None:
                key, size = known
                for most, shelf in shelves:
                    if most is None or size <= most:
                        return (shelf.get(key) or fill(shelf, key, things))[1]
            return make(*things)

        return cast("Made", remembering)

    return decorate


def _of_tools(make: Made) -> Made:
    """`make`, which is asked once for the same `FrozenTools` and constants."""

    @wraps(make)
    def remembering(tools: Any, *constants: Any) -> Any:
        if type(tools) is not FrozenTools:
            return make(tools, *constants)
        made: Any = tools.__dict__
        key = (make, *[one if type(one) in WORDS else id(one) for one in constants]) if constants else make
        found = made.get(key)
        if found is None:
            if len(made) >= OBJECTS:
                made.clear()
            result = make(tools, *constants)
            kept = THEMSELVES if result is tools else result  # else they would hold themselves, and never go
            found = made[key] = constants, kept  # the constants' identities stay their own
        return tools if found[1] is THEMSELVES else found[1]

    return cast("Made", remembering)


def per_object(make: Callable[[S], T]) -> Callable[[S], T]:
    """`make`, called once for the same object: for what every call of a tool asks, where a key would cost the most."""
    made: dict[int, tuple[S, T]] = {}

    @wraps(make)
    def remembering(thing: S) -> T:
        found = made.get(id(thing))
        if found is None:
            if len(made) >= OBJECTS:
                made.clear()
            found = made[id(thing)] = thing, make(thing)  # which keeps its identity its own
        return found[1]

    return remembering


WORDS = frozenset({str, int, type(None), frozenset, ToolChoice})
"""Kinds of small values, which are compared by value; True and False by their identity, for 1 and 0 are equal to them
and are not told alike."""


def identity(things: Things) -> tuple[Hashable, int]:
    """Equal for the same objects, and for small values that are equal."""
    return tuple([one if type(one) in WORDS else id(one) for one in things]), 0


def exact(value: Any) -> bytes:
    """Other bytes for 1, 1.0 and True, which are equal and not written alike.  Raises ValueError for what is not of
    Python's own kinds, or nested without end."""
    return marshal.dumps(value, _FORM)


def _content(things: Things) -> tuple[Hashable, int] | None:
    try:
        written = exact(things[0])
    except ValueError:  # values of kinds of their own, or nested without end
        return None
    return (written, things[1:]), len(written)


def _copied(key: tuple[bytes, Things]) -> Things:
    return marshal.loads(key[0]), *key[1]


CONSTANTS = Memo(identity, (Capacity(OBJECTS),))
"""Of constants, such as rows are."""
TOOLS = Memo(identity, ())
"""Of `FrozenTools` and constants: held by the tools."""
MESSAGES = Memo(identity, (Capacity(2048),))
"""Of a message and constants: those of some dozens of conversations, which agents send again with each turn."""
JSON_MESSAGES = Memo(_content, (Capacity(2048, SMALL),), _copied)
"""Of a small JSON value, by what it says, and words beside it."""


def _words(things: Things) -> tuple[Hashable, int]:
    return things, sum(map(len, things))


WORDS_MESSAGES = Memo(_words, (Capacity(2048, SMALL),))
"""Of a few words, by what they say."""


def fields(*names: str) -> Memo:
    """Of the fields `names` of a JSON object, by what they say; the others do not count."""

    def key(things: Things) -> tuple[Hashable, int] | None:
        (body,) = things
        found = {name: body[name] for name in names if body.get(name) is not None}
        return _content((found,)) if found else None

    return Memo(key, (Capacity(64, LARGE), Capacity(LARGE_SETS, LARGEST)), _copied)


def _tools_content(things: Things) -> tuple[Hashable, int] | None:
    """What tools say, of those without fields of a wire; each has a name of its own, and is strict or not: 0 is equal
    to False, and is not written alike.

    `things` are the tools, their schemas, each object once, and the JSON of these.
    """
    tools, schemas, written = things
    places = {id(schema): at for at, schema in enumerate(schemas)}
    told = tuple([
        (tool.name, tool.description, tool.strict, places[id(tool.parameters)])
        for tool in tools if not tool.metadata and (tool.strict is False or tool.strict is True)
    ])  # fmt: skip
    if len(told) < len(tools) or len({one[0] for one in told}) < len(told):
        return None
    empty = places.get(id(EMPTY_OBJECT_SCHEMA), -1)
    return (told, empty, written), len(written) + sum([len(one[0]) + len(one[1] or "") for one in told])


def _tools_copied(key: tuple[Any, int, bytes]) -> Things:
    told, empty, written = key
    schemas = from_json(written)
    if empty >= 0:
        schemas[empty] = EMPTY_OBJECT_SCHEMA
    made = [
        Tool(name=name, description=about, parameters=schemas[at], strict=strict) for name, about, strict, at in told
    ]
    return FrozenTools(made), (), b""


@memoize(Memo(_tools_content, (Capacity(64, LARGE), Capacity(LARGE_SETS, LARGEST)), _tools_copied))
def _frozen(tools: tuple[Tool, ...], schemas: Sequence[Any], written: bytes) -> tuple[Tool, ...]:
    return tools


class _Given(NamedTuple):
    """Tools that came before, the schemas that may since have been changed in place, and their JSON then."""

    tools: tuple[Tool, ...]
    schemas: list[Any]
    written: bytes
    frozen: FrozenTools


_GIVEN: Recent[int, _Given] = Recent(16)


def frozen(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    """The same tools, as a copy of their own that comes again whenever they do; themselves where that cannot be.

    Of the very tools that came before only the schemas are looked at, which their owner may have changed.
    """
    given = _GIVEN.get(id(tools))
    if given is not None and given.tools is tools and is_written(given.schemas, given.written):
        return given.frozen
    if {*map(type, tools)} != {Tool}:
        return tools
    schemas = [*{id(tool.parameters): tool.parameters for tool in tools}.values()]
    written = exact_json(schemas)
    if written is None:
        return tools
    made: tuple[Tool, ...] = _frozen(tools, schemas, written)
    if type(made) is FrozenTools and len(written) <= LARGE and b"null" not in written:
        _GIVEN.put(id(tools), _Given(tools, schemas, written, made))
    return made


@memoize(TOOLS)
def names_of(tools: Sequence[Tool]) -> frozenset[str]:
    """The names of tools."""
    return frozenset([tool.name for tool in tools])


def if_small(size: Callable[[Any], int]) -> Callable[..., Any]:
    """Keeps what was made of a message where both are small; `size` counts the characters of the former."""

    def keep(made: T, message: Message, *_: Any) -> T | None:
        return made if size(made) <= SMALL and _is_lean(message) else None

    return keep


def _is_lean(message: Message) -> bool:
    """Is nothing long in this message beside what is made of it anyway: its text, its calls and their results?"""
    beside = len(repr(message.metadata)) if message.metadata else 0
    for part in message.parts:
        if isinstance(part, (Media, Opaque)):
            return False
        if part.metadata:
            beside += len(repr(part.metadata))
        if isinstance(part, Text | ToolCall):
            continue
        if isinstance(part, Reasoning) and len(part.text) > SMALL:
            return False
        if isinstance(part, ToolResult) and not all(isinstance(one, Text) for one in part.content):
            return False
    return beside <= SMALL
