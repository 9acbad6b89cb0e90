"""Values of a type, made from its hints: the least there may be, and one for each field and each choice besides.

Knows type hints, typed dictionaries and pydantic models; no SDK and no API.  Contract: `samples(T)` is finite, ordered,
and each sample stands at a place (`input[].FunctionCall.status=incomplete`) that says by what it differs from the first.
"""

from __future__ import annotations

import datetime
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin

import pydantic
import typing_extensions

WRAPPERS = {typing.Annotated, typing.Required, typing.NotRequired, typing_extensions.Required,
            typing_extensions.NotRequired}  # fmt: skip
DEEPEST = 9
_NO_TYPES = ("Unknown", "Unset", "UNSET", "Any", "IO", "PathLike")
"""Types that stand, among others, for what the SDK does not know, what nobody gave, and what it reads itself."""
PICTURE = "iVBORw0KGgo="
WORDS: Mapping[str, Any] = {
    "arguments": '{"a": 1}', "call_id": "call_1", "data": PICTURE, "description": "says what", "file_data": PICTURE,
    "file_url": "https://house.test/a.pdf", "format_schema": {}, "id": "id_1", "image_url": "https://house.test/a.png",
    "media_type": "image/png", "mime_type": "image/png", "mimeType": "image/png", "name": "look",
    "tool_call_id": "call_1", "tool_use_id": "call_1", "uri": "https://house.test/a.png",
    "url": "https://house.test/a.png",
}  # fmt: skip
"""Field → a string that may stand there; any other gets its own name, so that a leaf says where it came from."""
PLAIN: Mapping[Any, Any] = {
    bool: True, int: 3, float: 0.5, bytes: PICTURE, object: {"any": "thing"}, Any: {"any": "thing"},
    dict: {"any": "thing"}, list: ["one"], datetime.datetime: "2026-01-02T03:04:05Z", datetime.date: "2026-01-02",
    pydantic.AwareDatetime: "2026-01-02T03:04:05Z", datetime.timedelta: "3s",
}  # fmt: skip


ONE_OF = "holds_one_field"
"""Marks a type whose records hold one of their fields."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A value, and by what it differs from the first of its type, "" for the first."""

    value: Any
    place: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record: its name on the wire, its type, whether it must be there."""

    key: str
    kind: Any
    required: bool


@dataclass(slots=True)
class Maker:
    """Makes the samples of types.

    `values` are fields whose sample is given, by `Record.field` or `field`; `one_of` records that hold one field.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    one_of: frozenset[str] = frozenset()
    _made: dict[Any, list[Sample]] = field(default_factory=dict)
    _stack: list[Any] = field(default_factory=list)

    def samples(self, kind: Any, key: str = "") -> list[Sample]:
        """The samples of `kind`, which stands in a field `key`."""
        kind = bare(kind)
        if is_record(kind):
            return self._known(kind)
        return list(self._of(kind, key))

    def _known(self, kind: Any) -> list[Sample]:
        if kind not in self._made:
            if kind in self._stack or len(self._stack) > DEEPEST:
                return []
            self._stack.append(kind)
            made = list(self._records(kind))
            self._stack.pop()
            if self._stack and any(one in self._stack for one in inner_records(kind)):
                return made  # cut short here for what stands around it: elsewhere it may have more
            self._made[kind] = made
        return self._made[kind]

    def _of(self, kind: Any, key: str) -> Iterator[Sample]:
        origin, given = get_origin(kind), get_args(kind)
        if kind in PLAIN:
            yield Sample(PLAIN[kind])
        elif kind is str or (isinstance(kind, type) and issubclass(kind, str) and not issubclass(kind, Enum)):
            yield Sample(WORDS.get(key, key or "text"))
        elif isinstance(kind, type) and issubclass(kind, Enum):
            yield from (Sample(one.value, f"={one.value}" if n else "") for n, one in enumerate(kind))
        elif origin is Literal:
            yield from (Sample(one, f"={one}" if n else "") for n, one in enumerate(given))
        elif origin in (Union, types.UnionType):
            yield from self._choices(given, key)
        elif is_listing(origin) and given:
            yield from (Sample([one.value], f"[]{one.place}") for one in self.samples(given[0], key))
        elif isinstance(origin, type) and issubclass(origin, Mapping) and given:
            yield from (Sample({"key": one.value}, f"{{}}{one.place}") for one in self.samples(given[1], key))
        elif is_listing(kind):
            yield Sample(["one"])
        else:
            yield Sample({"any": "thing"})

    def _choices(self, given: Sequence[Any], key: str) -> Iterator[Sample]:
        first = True
        for one in given:
            if bare(one) is type(None) or named(bare(one)).startswith(_NO_TYPES):
                continue
            name = "" if first or is_record(bare(one)) else f"|{named(bare(one))}"
            for each in self.samples(one, key):
                yield Sample(each.value, name + each.place)
            first = False

    def _records(self, kind: Any) -> Iterator[Sample]:
        """The least and each other field on top of it; where nothing must be there, all of it and each choice.

        Records in `one_of` hold one of their fields.
        """
        given = {one: self._field(kind, one) for one in fields_of(kind)}
        made = {one: samples for one, samples in given.items() if samples}
        least = {one.key: samples[0].value for one, samples in made.items() if one.required}
        by_field = bool(least) or named(kind) in self.one_of or hasattr(kind, ONE_OF)
        first = least if by_field else {one.key: samples[0].value for one, samples in made.items()}
        name = f".{named(kind)}"
        yield Sample(first, name)
        for one, samples in made.items():
            for each in samples if one.key not in first else samples[1:]:
                yield Sample({**first, one.key: each.value}, f"{name}.{one.key}{each.place}")

    def _field(self, kind: Any, one: Field) -> list[Sample]:
        given = self.values.get(f"{named(kind)}.{one.key}", self.values.get(one.key))
        return self.samples(one.kind, one.key) if given is None else [Sample(given)]


_ALIASES = (typing_extensions.TypeAliasType, getattr(typing, "TypeAliasType", typing_extensions.TypeAliasType))


def bare(kind: Any) -> Any:
    """A type without what is annotated to it."""
    while True:
        if get_origin(kind) in WRAPPERS:
            kind = get_args(kind)[0]
        elif isinstance(generic := get_origin(kind), _ALIASES):
            kind = generic.__value__[get_args(kind)]
        elif isinstance(kind, _ALIASES):
            kind = kind.__value__
        else:
            return kind


def is_record(kind: Any) -> bool:
    """Is this a typed dictionary or a model, whose fields are known?"""
    if get_origin(kind) is not None or not isinstance(kind, type):
        return False
    return typing_extensions.is_typeddict(kind) or (
        issubclass(kind, pydantic.BaseModel) and not issubclass(kind, pydantic.RootModel)
    )


def is_listing(kind: Any) -> bool:
    """Is it a list, or another kind of many?"""
    return isinstance(kind, type) and issubclass(kind, Iterable) and not issubclass(kind, str | bytes | Mapping)


def named(kind: Any) -> str:
    """The name of a type, as short as SDKs have it."""
    return str(getattr(kind, "__name__", kind))


def fields_of(kind: Any) -> Iterator[Field]:
    """The fields of a record."""
    if typing_extensions.is_typeddict(kind):
        hints = typing_extensions.get_type_hints(kind, include_extras=True)
        for key, hint in hints.items():
            yield Field(alias(hint) or key, hint, is_required(kind, key, hint))
        return
    for key, info in kind.model_fields.items():
        if not info.exclude:
            name = info.serialization_alias or info.alias or key
            yield Field(name, info.annotation, info.is_required() or is_tag(info.annotation))


def is_tag(hint: Any) -> bool:
    """Is this one word, by which records of several kinds are told apart?  (SDKs give it as a default.)"""
    kind = bare(hint)
    if get_origin(kind) in (Union, types.UnionType):
        given = [one for one in map(bare, get_args(kind)) if one is not type(None)]
        return len(given) == 1 and is_tag(given[0])
    return get_origin(kind) is Literal and len(get_args(kind)) == 1


def is_required(kind: Any, key: str, hint: Any) -> bool:
    """Must a field of a typed dictionary be there?  (`__required_keys__` errs where hints are strings.)"""
    while (origin := get_origin(hint)) in WRAPPERS:
        if origin is not typing.Annotated:
            return origin in (typing.Required, typing_extensions.Required)
        hint = get_args(hint)[0]
    return bool(kind.__total__) and key in kind.__required_keys__


def alias(hint: Any) -> str:
    """The name on the wire that an annotation gives a field of a typed dictionary."""
    while get_origin(hint) in WRAPPERS:
        for note in get_args(hint)[1:]:
            if given := getattr(note, "alias", None):
                return str(given)
        hint = get_args(hint)[0]
    return ""


def inner_records(kind: Any) -> set[Any]:
    """The records that stand in a type, at any depth."""
    found: set[Any] = set()
    todo = [one.kind for one in fields_of(kind)]
    while todo:
        one = bare(todo.pop())
        if is_record(one):
            if one not in found:
                found.add(one)
                todo += [each.kind for each in fields_of(one)]
        else:
            todo += [each for each in get_args(one) if not isinstance(each, str | int)]
    return found
