"""Lists, tuples, sets, mappings and unions of other types.

Asks for the forms of the members and knows none of them.
"""

from __future__ import annotations

import collections
from collections import abc
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from ..schema.validation import faults
from ..types import JsonObject
from .type_schema import (
    ANYTHING,
    GENERAL,
    TYPED,
    Definitions,
    InvalidValue,
    JsonForm,
    Read,
    Undescribed,
    invalid_value,
    made,
    read_member,
)

Ask: TypeAlias = Callable[[Any], JsonForm]

ARRAYS: Mapping[Any, Callable[[list[Any]], Any]] = {
    list: list, collections.deque: collections.deque, abc.Sequence: list, abc.MutableSequence: list,
    abc.Collection: list, abc.Iterable: list, abc.Reversible: list, abc.Iterator: iter,
}  # fmt: skip
SETS: Mapping[Any, Callable[[list[Any]], Any]] = {
    set: set,
    frozenset: frozenset,
    abc.Set: set,
    abc.MutableSet: set,
}
MAPPINGS: Mapping[Any, Callable[[dict[Any, Any]], Any]] = {
    dict: dict, abc.Mapping: dict, abc.MutableMapping: dict, collections.OrderedDict: collections.OrderedDict,
    collections.defaultdict: lambda value: collections.defaultdict(None, value),
    collections.Counter: collections.Counter,
}  # fmt: skip


def container_form(origin: Any, arguments: Sequence[Any], ask: Ask) -> JsonForm | None:
    """The form of `origin[arguments]` where that is a list, tuple, set or mapping."""
    if origin is tuple:
        return _tuple(arguments, ask) if arguments else _array((), ask, tuple)
    if origin in ARRAYS:
        return _array(arguments, ask, ARRAYS[origin])
    if origin in SETS:
        return _set(arguments, ask, SETS[origin])
    return _mapping(origin, arguments, ask, MAPPINGS[origin]) if origin in MAPPINGS else None


def _array(arguments: Sequence[Any], ask: Ask, make: Callable[[list[Any]], Any]) -> JsonForm:
    item = ask(arguments[0]) if arguments else ANYTHING
    schema = {"type": "array", "items": item.schema}
    return JsonForm(schema, _items_reader(item.read, make, schema), TYPED if arguments else GENERAL)


def _set(arguments: Sequence[Any], ask: Ask, make: Callable[[list[Any]], Any]) -> JsonForm:
    item = ask(arguments[0]) if arguments else ANYTHING
    schema = {"type": "array", "items": item.schema, "uniqueItems": True}
    return JsonForm(schema, _items_reader(item.read, make, schema))


def _items_reader(read: Read, make: Callable[[list[Any]], Any], schema: JsonObject) -> Read:
    whole = made(make, schema, "a list of items that can be held together")
    return lambda value: whole([read_member(read, inner, index) for index, inner in enumerate(value)])


def _tuple(arguments: Sequence[Any], ask: Ask) -> JsonForm:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return _array(arguments[:1], ask, tuple)
    if any(repr(each).startswith(("*", "typing.Unpack", "typing_extensions.Unpack")) for each in arguments):
        raise Undescribed("a tuple with an unpacked part has no JSON Schema of its own: use tuple[X, ...] or a list")
    forms = [ask(each) for each in arguments if each != ()]
    count = len(forms)
    schema: dict[str, Any] = {"type": "array", "minItems": count, "maxItems": count}
    if forms:
        schema["prefixItems"] = [form.schema for form in forms]

    def read(value: Sequence[Any]) -> Any:
        return tuple(read_member(form.read, inner, i) for i, (form, inner) in enumerate(zip(forms, value, strict=True)))

    return JsonForm(schema, read)


def _mapping(origin: Any, arguments: Sequence[Any], ask: Ask, make: Callable[[dict[Any, Any]], Any]) -> JsonForm:
    keys = _key(ask(arguments[0])) if arguments else ANYTHING
    counts = origin is collections.Counter
    values = ask(int) if counts else ask(arguments[1]) if len(arguments) > 1 else ANYTHING
    schema: dict[str, Any] = {"type": "object", "additionalProperties": values.schema or True}
    if keys.schema:
        schema["propertyNames"] = keys.schema

    def read(value: Mapping[str, Any]) -> Any:
        return make({read_member(keys.read, k, k): read_member(values.read, v, k) for k, v in value.items()})

    return JsonForm(schema, read, TYPED if arguments else GENERAL)


_NUMBERS = {"integer": (int, r"^-?[0-9]+$"), "number": (float, r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$")}


def _key(form: JsonForm) -> JsonForm:
    """The form of a type as the key of a JSON object, which is a text: `schema` says what beyond that."""
    kind, values = form.schema.get("type"), form.schema.get("enum")
    if form is ANYTHING or form.schema == {"type": "string"}:
        return JsonForm({}, form.read)
    if values is not None and "$ref" not in form.schema:
        texts = {str(each): each for each in values if isinstance(each, str | int) and not isinstance(each, bool)}
        if len(texts) == len(values):
            return JsonForm({"enum": list(texts)}, lambda key: form.read(texts[key]))
    elif kind == "string":
        return JsonForm({k: value for k, value in form.schema.items() if k != "type"}, form.read)
    elif isinstance(kind, str) and kind in _NUMBERS:
        make, pattern = _NUMBERS[kind]
        return JsonForm({"pattern": pattern}, lambda key: form.read(make(key)))
    raise Undescribed("the keys of a JSON object are texts: use str keys, or a list of pairs")


# ── unions ───────────────────────────────────────────────────────────────────

NULL = {"type": "null"}


def union_form(forms: Sequence[JsonForm], definitions: Definitions) -> JsonForm:
    """The form of a union; of the members a value fits, the one that takes least reads it, else the one named first."""
    by_schema: dict[str, JsonForm] = {}
    for form in forms:
        by_schema.setdefault(repr(form.schema), form)
    differing = list(by_schema.values())
    if any(form.schema == {} for form in differing):
        return ANYTHING
    if len(differing) == 1:
        return differing[0]
    return JsonForm(_either([form.schema for form in differing]), _union_reader(differing, definitions), GENERAL)


def _either(schemas: Sequence[JsonObject]) -> JsonObject:
    """One schema for all: a list of types where no more than one says anything beside its type."""
    kinds = [schema.get("type") for schema in schemas]
    wordy = [schema for schema in schemas if set(schema) != {"type"}]
    are_kinds = all(isinstance(kind, str) for kind in kinds) and len(set(kinds)) == len(kinds)
    if are_kinds and len(wordy) <= 1:
        words = wordy[0] if wordy else {}
        if not {"enum", "const", "description", "default"} & set(words):
            return {"type": kinds, **{key: value for key, value in words.items() if key != "type"}}
    return {"anyOf": list(schemas)}


def _union_reader(forms: Sequence[JsonForm], definitions: Definitions) -> Read:
    ordered = sorted(forms, key=lambda form: form.rank)
    others = [form for form in ordered if form.schema != NULL]
    takes_null = len(others) < len(ordered)

    @cache
    def schemas() -> list[JsonObject]:
        return [definitions.rooted(form.schema) for form in others]

    def read(value: Any) -> Any:
        if value is None and takes_null:
            return None
        if len(others) == 1:
            return others[0].read(value)
        refused: InvalidValue | None = None
        for form, schema in zip(others, schemas(), strict=True):
            if not faults(schema, value):
                try:
                    return form.read(value)
                except InvalidValue as error:
                    refused = refused or error
        raise refused or invalid_value(
            "fits none of the allowed forms", {"anyOf": [form.schema for form in forms]}, "anyOf"
        )

    return read
