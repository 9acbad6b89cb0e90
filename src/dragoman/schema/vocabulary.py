"""JSON Schema's vocabulary as data: where schemas hold schemas, what belongs to which kind, and two schemas as one.

Knows keywords; nothing of APIs or tools.  Contract: `join(a, b)` takes what both take, as far as one schema can say it;
what it cannot say is passed to `lost`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..types import JsonObject
from .shape import KINDS, among, kind_of

Lost = Callable[[str], None]
"""Called with the keyword of which a part was lost."""


def words(text: str) -> frozenset[str]:
    """The words of `text`."""
    return frozenset(text.split())


# Where a schema holds schemas; everything else in it is data.
MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SINGLES = words(
    """items additionalProperties not if then else contains propertyNames additionalItems unevaluatedItems
    unevaluatedProperties"""
)

_MAPPINGS = MAPS | SINGLES

ANNOTATIONS = words(
    """$schema $id $comment $anchor $dynamicAnchor $defs definitions title description default examples deprecated
    readOnly writeOnly propertyOrdering"""
)
"""Words that say nothing of which values fit."""

OF_KIND: Mapping[str, frozenset[str]] = {
    "object": words(
        """properties patternProperties additionalProperties unevaluatedProperties propertyNames required
        minProperties maxProperties dependentRequired dependentSchemas dependencies propertyOrdering"""
    ),
    "array": words(
        """items prefixItems additionalItems unevaluatedItems contains minContains maxContains minItems maxItems
        uniqueItems"""
    ),
    "string": words("minLength maxLength pattern contentEncoding contentMediaType contentSchema"),
    "number": words("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
}
"""Kind → the keywords that speak of it alone; `format` speaks of strings and numbers."""

IMPLIED: tuple[tuple[str, str], ...] = tuple((word, kind) for kind, words in OF_KIND.items() for word in sorted(words))
"""A keyword that speaks of one kind means that kind, whatever the standard says of others."""

HINTED = words(
    """format pattern default enum multipleOf uniqueItems contains minimum maximum exclusiveMinimum exclusiveMaximum
    minLength maxLength minItems maxItems minProperties maxProperties additionalProperties patternProperties
    dependentRequired propertyNames"""
)
"""Words that a reader understands where only a description can be sent."""


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_schema(value: Any) -> bool:
    return isinstance(value, Mapping | bool)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_kind(value: Any) -> bool:
    return (isinstance(value, str) and value in KINDS) or (_is_names(value) and bool(value) and KINDS.issuperset(value))


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_is_schema(inner) for inner in value.values())


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_schema(inner) for inner in value)


_COUNTED = words("minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains")
_MEASURED = words("minimum maximum exclusiveMinimum exclusiveMaximum")
_TEXTS = words("description title pattern format $ref $schema $id $comment")
_WELL_FORMED: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(_COUNTED, _is_count),
    **dict.fromkeys(_MEASURED, _is_number),
    **dict.fromkeys(_TEXTS, lambda value: isinstance(value, str)),
    **dict.fromkeys(MAPS - {"dependentSchemas"}, _is_map),
    **dict.fromkeys(LISTS, _is_list),
    **dict.fromkeys(SINGLES - {"items"}, _is_schema),
    "items": lambda value: _is_schema(value) or _is_list(value),
    "type": _is_kind,
    "required": _is_names,
    "enum": lambda value: isinstance(value, list) and bool(value),
    "multipleOf": lambda value: _is_number(value) and value > 0,
    "uniqueItems": lambda value: isinstance(value, bool),
}


def well_formed(key: str, value: Any) -> bool:
    """Is `value` what the keyword `key` may hold?  Generators write `"required": true` and types called "any"."""
    check = _WELL_FORMED.get(key)
    return check is None or check(value)


def tidy(key: str, value: Any) -> Any:
    """`value`, each name in it once."""
    return list(dict.fromkeys(value)) if key in ("required", "type") and isinstance(value, list) else value


def kinds_of_values(values: Iterable[Any]) -> list[str]:
    """The kinds of these values, each once, in order."""
    return [kind for kind in dict.fromkeys(map(kind_of, values)) if kind]


# ── schemas inside schemas ───────────────────────────────────────────────────


def holds_schemas(key: str, value: Any) -> bool:
    """Is `value`, of the keyword `key`, made of schemas?"""
    return isinstance(value, Mapping) if key in _MAPPINGS else key in LISTS and isinstance(value, list | tuple)


def over_schemas(key: str, value: Any, change: Callable[[Any], Any]) -> Any:
    """`value`, of a keyword that holds schemas, with each of them changed."""
    if key in MAPS:
        return {name: change(schema) for name, schema in value.items()}
    return [change(schema) for schema in value] if key in LISTS else change(value)


def any_of(schemas: Iterable[Any]) -> Any:
    """One schema that takes what any of `schemas` does, each once."""
    distinct: list[Any] = []
    for schema in schemas:
        distinct += [schema] if schema not in distinct else []
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


# ── two schemas as one ───────────────────────────────────────────────────────


def join(first: JsonObject, second: JsonObject, lost: Lost) -> dict[str, Any]:
    """One schema for what fits both, without `allOf`; words for the reader are the first's where it has any."""
    made: dict[str, Any] = dict(first)
    for key, value in second.items():
        if key not in made:
            made[key] = value
        elif made[key] != value and key not in ANNOTATIONS:
            meet = _MEETS.get(key)
            met = meet(made[key], value) if meet else None
            if met is None:
                lost(key)
            else:
                made[key] = met
        elif isinstance(value, Mapping) and isinstance(made[key], Mapping):
            made[key] = {**value, **made[key]}  # definitions
    return made


def _meet_kinds(a: Any, b: Any) -> Any:
    mine, theirs = as_list(a), as_list(b)
    both = [k for k in mine if k in theirs or (k == "integer" and "number" in theirs)]
    both += [k for k in theirs if k == "integer" and "number" in mine and k not in both]
    return (both[0] if len(both) == 1 else both) or None


def _meet_values(a: Any, b: Any) -> Any:
    return [value for value in a if among(value, b)] or None


def difference(first: Iterable[Any], second: Iterable[Any]) -> list[Any]:
    """The values of `first` that are not in `second`, as JSON counts."""
    return [value for value in first if not among(value, second)]


def _meet_maps(a: Any, b: Any) -> Any:
    return {**a, **{key: _meet_schemas(a[key], value) if key in a else value for key, value in b.items()}}


def _meet_schemas(a: Any, b: Any) -> Any:
    if a is False or b is False:
        return False
    if a is True or b is True:
        return b if a is True else a
    return a if a == b else {"allOf": [a, b]}


def _meet_names(a: Any, b: Any) -> Any:
    return [*a, *(name for name in b if name not in a)]


def _meet_choices(a: Any, b: Any) -> Any:
    """Every pair of alternatives; None where that would be many."""
    return [_meet_schemas(x, y) for x in a for y in b] if len(a) * len(b) <= 16 else None


_MEETS: Mapping[str, Callable[[Any, Any], Any]] = {
    "type": _meet_kinds,
    "enum": _meet_values,
    "required": _meet_names,
    "anyOf": _meet_choices,
    **dict.fromkeys(("properties", "patternProperties"), _meet_maps),
    **dict.fromkeys(("items", "additionalProperties", "propertyNames"), _meet_schemas),
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"), min),
    "uniqueItems": lambda a, b: a or b,
}


# ── questions about one schema ───────────────────────────────────────────────


def refs_in(schema: Any) -> Iterator[str]:
    """The references written anywhere in `schema`."""
    left = [schema]
    while left:
        value = left.pop()
        if isinstance(value, Mapping):
            if isinstance(value.get("$ref"), str):
                yield value["$ref"]
            left += value.values()
        elif isinstance(value, list):
            left += value


def as_list(value: Any) -> list[str]:
    """The kinds that `type` names."""
    return [value] if isinstance(value, str) else list(value or ())


def is_null(schema: Any) -> bool:
    """Does the schema take null and nothing else?"""
    return isinstance(schema, Mapping) and (schema.get("type") == "null" or schema.get("enum") == [None])


def takes_null(schema: Any) -> bool:
    """Does the schema say that null will do?"""
    if not isinstance(schema, Mapping):
        return schema is True
    return "null" in as_list(schema.get("type")) or any(map(takes_null, schema.get("anyOf") or ()))


def is_anchored(pattern: str) -> bool:
    """Does the pattern speak of the whole text?"""
    return pattern.startswith("^") and pattern.endswith("$")


def only_kind(flat: JsonObject, kind: str) -> dict[str, Any]:
    """`flat` for values of one kind."""
    family = "number" if kind == "integer" else kind
    others = frozenset().union(*(words for name, words in OF_KIND.items() if name != family))
    left = {k: inner for k, inner in flat.items() if k not in others | ANNOTATIONS | LISTS and k != "nullable"}
    if "enum" in left:
        fitting = (kind, "integer") if kind == "number" else (kind,)
        left["enum"] = [value for value in left["enum"] if kind_of(value) in fitting]
        if not left["enum"]:
            del left["enum"]
    return {**left, "type": kind}


def collapsed(flat: dict[str, Any], branches: Sequence[JsonObject]) -> dict[str, Any]:
    """One object for all of `branches`: their properties, of which those all require are required."""
    properties: dict[str, list[Any]] = {}
    for branch in branches:
        for key, value in (branch.get("properties") or {}).items():
            properties.setdefault(key, []).append(value)
    own = flat.get("properties") or {}
    united = {key: any_of(values) for key, values in properties.items()}
    each = [set(branch.get("required") or ()) for branch in branches]
    common = sorted(set.intersection(*each)) if each else []
    required = dict.fromkeys([*(flat.get("required") or ()), *common])
    return {**flat, "properties": {**united, **own}, "required": list(required)}
