"""Canonical values as JSON, in the form of `loop.journal.values`, written quickly: what is as by default is left out.

Knows the records of that form; nothing of exchanges, secrets or stores.
Contract: `loop.journal.values.decode` gives an equal value back; what is no such value is null; of a conversation that
grew (`conversation/grown.py`) only what is new is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, EnumType
from inspect import signature
from operator import attrgetter
from typing import Any, cast

import orjson

from ...codecs.shared.spec import WireFields
from ...conversation.grown import by_growth
from ...loop.journal.values import MARK, RECORDS, encode
from ...memo import TOOLS, memoize
from ...records import NamedTuple
from ...types import Message, Tool

OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS
MARKED = f'"{MARK}":'.encode()
PLAIN = frozenset({str, int, float, bool, type(None), dict, list})


def encoded(value: Any) -> bytes:
    """`value` as JSON."""
    plain = _Plain()
    try:
        data = orjson.dumps(plain.of(value), plain.of, OPTIONS)
        if data.count(MARKED) == plain.marks:  # else somebody's own field has that name
            return data
    except TypeError:  # long integers, halves of characters
        pass
    try:
        return encode(value).encode()
    except TypeError:
        return b"null"


class _Plain:
    """Plain data of canonical values, and how many marks are in it."""

    __slots__ = ("marks",)

    def __init__(self) -> None:
        self.marks = 0

    def of(self, each: Any) -> Any:
        """Plain data of one value; what is in it may be such a value still."""
        kind: Any = type(each)
        record = RECORD[kind]
        if record is not None:
            self.marks += 1
            made = {MARK: record.name}
            for name, one, default in zip(record.names, record.values(each), record.defaults, strict=True):
                if one is not default:
                    made[name] = one if type(one) in PLAIN else self.of(one)
            return made
        if kind in PLAIN:
            return each
        self.marks += 1
        if isinstance(each, tuple):
            return {MARK: "tuple", "is": [one if type(one) in PLAIN else self.of(one) for one in each]}
        if isinstance(each, Enum):
            return {MARK: kind.__name__, "is": each.value}
        if kind is WireFields:
            return {MARK: "wire", "api": each.api, "is": dict(each)}
        self.marks -= 1
        if isinstance(each, Mapping):
            return dict(each)
        raise TypeError(kind)


def plain_json(value: Any) -> bytes:
    """Plain data as JSON."""
    try:
        return orjson.dumps(value, _default, OPTIONS)
    except TypeError:  # halves of characters, long integers
        return json.dumps(value, default=_plain_default).encode()


def _default(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(type(value).__name__)


def _plain_default(value: Any) -> Any:
    if isinstance(value, orjson.Fragment):
        return json.loads(orjson.dumps(value))
    return _default(value)


class _Record(NamedTuple):
    """A record's name, its fields, what they are where they are left out, and what gives their values."""

    name: str
    names: Sequence[str]
    defaults: Sequence[Any]
    values: Callable[[Any], Sequence[Any]]


class _Records(dict[Any, _Record | None]):
    """The records by their classes, each looked at once; None for what is none."""

    def __missing__(self, kind: Any) -> _Record | None:
        found: _Record | None = None
        if RECORDS.get(kind.__name__) is kind and not isinstance(kind, EnumType):
            given = signature(cast("type", kind)).parameters
            names, defaults = [*given], [each.default for each in given.values()]
            get: Any = attrgetter(*names) if names else lambda _: ()
            values = get if len(names) != 1 else lambda one: (get(one),)
            found = _Record(cast("type", kind).__name__, names, defaults, values)
        self[kind] = found
        return found


RECORD = _Records()


def messages_json(messages: Sequence[Message]) -> bytes:
    """The inside of the list of messages."""
    written: bytes = _messages(messages)
    return written


@by_growth
def _messages(messages: Sequence[Message], start: int, known: bytes | None) -> bytes:
    more = encoded([*messages[start:]])[1:-1]
    return b",".join([known, more]) if known and more else known or more


@memoize(TOOLS)
def tools_json(tools: Sequence[Tool]) -> bytes:
    """The inside of the list of tools: the same object for the same tools."""
    return encoded([*tools])[1:-1]
