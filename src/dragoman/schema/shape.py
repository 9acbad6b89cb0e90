"""One value as a JSON Schema describes it, looked at lazily: its kinds, properties, items, enumerated values.

Resolves local `$ref`, `allOf`, `anyOf` and `oneOf`; says nothing of validity (`validation.py` does).  Does not know
about tools or text.
Contract: asking never raises and never recurses deeply, whatever the schema holds; what a broken or contradictory
schema leaves open is *anything*.  Schemas are constants: a change made after the first question goes unseen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, TypeAlias

from ..late import late
from ..memo import per_object
from ..types import JsonObject
from .patterns import BUDGET, cost, options

KINDS = frozenset({"string", "integer", "number", "boolean", "null", "object", "array"})

ALIASES: Mapping[str, str] = {
    "int": "integer", "long": "integer", "float": "number", "double": "number", "str": "string", "bool": "boolean",
    "dict": "object", "map": "object", "list": "array", "tuple": "array", "none": "null",
}  # fmt: skip
"""Type names that are not JSON Schema's, seen in tool definitions (the BFCL corpus has Python's)."""

OTHERS = "additionalProperties"

_MOST_BRANCHES = 64   # more combinations than this say too little to be worth the time
_MOST_STEPS = 500     # subschemas looked at for one value: a schema may nest allOf in $ref in anyOf without end
_MOST_SHAPES = 512    # regular expressions remembered
_MOST_PATTERNS = 64   # patterns of keys looked at for one object: each is tried on every key
_LONGEST_KEY = 200    # a longer key, written by a model, is not put to a schema's own regular expressions

_Parts: TypeAlias = tuple[JsonObject, ...]  # one way a value may fit: every part applies at once


def kind_of(value: Any) -> str:
    """The JSON kind of a value; `integer` for an int, `number` for a float, "" for what is not JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for types, kind in _PYTHON_KINDS:
        if isinstance(value, types):
            return kind
    return ""


_PYTHON_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (str, "string"), (int, "integer"), (float, "number"), (Mapping, "object"), ((list, tuple), "array"),
)  # fmt: skip


def child(path: str, key: str | int) -> str:
    """The JSON path of a member: `$.items[2]`, `$["odd key"]`."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if key.isidentifier() else f'{path}["{key}"]'


def nests_deeper(value: Any, levels: int) -> bool:
    """Do containers stand in each other more than `levels` deep?  Asked level by level, without recursion."""
    level = [value]
    for _ in range(levels + 1):
        level = [member for inner in level if isinstance(inner, _CONTAINERS) for member in _members(inner)]
        if not level:
            return False
    return True


_CONTAINERS = (Mapping, list, tuple)


def _members(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, Mapping) else value


class Shape:
    """One value, as a schema describes it.

    `kinds`     the JSON kinds allowed; empty means anything
    `enum`      the values allowed, where they are enumerated; empty means not
    `keys`      the declared properties of an object, in order; `required` those it must have
    `open`      may an object have undeclared properties?
    `item`      the shape of an array's items
    """

    def __init__(self, schema: Any, root: JsonObject, book: dict[int, Shape]) -> None:
        self._schema, self._root, self._book = schema, root, book

    def __repr__(self) -> str:
        return f"Shape(kinds={sorted(self.kinds)}, keys={self.keys})"

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The JSON kinds allowed; empty means anything."""
        found: set[str] = set()
        for parts in self._branches:
            kinds = _kinds(parts)
            if kinds is None:
                return frozenset()
            found |= kinds
        return frozenset(found)

    @cached_property
    def enum(self) -> tuple[Any, ...]:
        """The values allowed, where every branch enumerates its own; empty otherwise."""
        found: list[Any] = []
        for parts in self._branches:
            values = _values(parts)
            if values is None:
                return ()
            found += [v for v in values if not among(v, found)]
        return tuple(found)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The declared properties, in order."""
        return tuple(dict.fromkeys(key for parts in self._branches for part in parts for key in _properties(part)))

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The properties every branch requires, in order."""
        lists = [dict.fromkeys(k for part in parts for k in _strings(part.get("required"))) for parts in self._branches]
        return tuple(k for k in lists[0] if all(k in each for each in lists)) if lists else ()

    @cached_property
    def open(self) -> bool:
        """May an object have properties that are not declared?"""
        return any(all(_is_open(part) for part in parts) for parts in self._branches)

    @cached_property
    def item(self) -> Shape:
        """The shape of an array's items, whichever their place."""
        found: list[Any] = []
        for parts in self._branches:
            placed = [s for part in parts for s in _prefix(part)]
            rest = [part["items"] for part in parts if _is_schema(part.get("items"))]
            found.append({"anyOf": [*placed, _all(rest)]} if placed else _all(rest))
        return self._sub(_any(found))

    def at(self, index: int) -> Shape:
        """The shape of the array item at `index`."""
        if not self._has_prefix:
            return self.item
        found = [_all([_item_of(part, index) for part in parts]) for parts in self._branches]
        return self._sub(_any(found))

    def property(self, key: str) -> Shape:
        """The shape of property `key`, declared or not."""
        found = self._members.get(key)
        if found is None:
            declared = key in self.keys  # the keys a model makes up are without end: they are not remembered
            if not (declared or self._named_so):
                return self._other
            schemas = [_all(list(_member_of(parts, key))) for parts in self._branches]
            found = self._sub(_any(schemas), keep=declared)
            if declared:
                self._members[key] = found
        return found

    @cached_property
    def _other(self) -> Shape:
        """The shape of every property that is not declared, where no pattern of names declares any."""
        rest = [[s for part in parts if isinstance(s := part.get(OTHERS), Mapping)] for parts in self._branches]
        return self._sub(_any(list(map(_all, rest))), keep=False)

    def has(self, key: str) -> bool:
        """Is `key` a declared property?"""
        return key in self.keys or (bool(self._named_so) and any(_matches(pattern, key) for pattern in self._named_so))

    @cached_property
    def _named_so(self) -> tuple[str, ...]:
        """Patterns of names of declared properties."""
        return tuple(pattern for parts in self._branches for part in parts for pattern in _patterns(part))

    def narrowed(self, value: Mapping[str, Any]) -> Shape:
        """The branches of a union that an object's own `const` and `enum` properties leave open; self when none."""
        if len(self._branches) < 2:
            return self
        left = [parts for parts in self._branches if not _contradicts(parts, value)]
        if not left or len(left) == len(self._branches):
            return self
        return self._sub({"anyOf": [_all(list(parts)) for parts in left]}, keep=False)

    @cached_property
    def _branches(self) -> list[_Parts]:
        """The ways to fit, contradictory ones left out.  Never empty: nothing left means anything."""
        branches = _Expansion(self._root).of(self._schema)
        return [parts for parts in branches if _kinds(parts) != frozenset()] or [()]

    @cached_property
    def _members(self) -> dict[str, Shape]:
        return {}

    @cached_property
    def _has_prefix(self) -> bool:
        return any(_prefix(part) for parts in self._branches for part in parts)

    def _sub(self, schema: Any, *, keep: bool = True) -> Shape:
        """The shape of a subschema; one shape per subschema object, so that cycles close."""
        if schema is True or schema == {}:
            return ANYTHING
        known = self._book.get(id(schema))
        if known is None or known._schema is not schema:
            known = Shape(schema, self._root, self._book)
            if keep:
                self._book[id(schema)] = known
        return known


ANYTHING = Shape({}, {}, {})
"""The shape of a value of which nothing is known."""

def shape(schema: JsonObject | None) -> Shape:
    """The shape of `schema`; `ANYTHING` for None and for what is not a schema.  Remembered per schema object."""
    return _remembered(schema) if schema and (type(schema) is dict or isinstance(schema, Mapping)) else ANYTHING


@per_object
def _remembered(schema: JsonObject) -> Shape:
    return Shape(schema, schema, {})


# ── references and combinations ──────────────────────────────────────────────


def resolve(root: JsonObject, ref: Any) -> Any:
    """The subschema that a local reference (`#/$defs/City`) names; True, which says nothing, where there is none."""
    if not isinstance(ref, str) or not ref.startswith("#"):
        return True
    node: Any = root
    for step in _ESCAPED.sub(_unescaped, ref[1:]).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and key in node:
            node = node[key]
        elif isinstance(node, list | tuple) and key.isdecimal() and len(key) < 9 and int(key) < len(node):
            node = node[int(key)]
        else:
            return True
    return node if "/" in ref or ref == "#" else True


_ESCAPED = late("(?:%[0-9A-Fa-f]{2})+")


def _unescaped(found: re.Match[str]) -> str:
    return bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace")


class _Expansion:
    """Turns one schema into its branches: every choice of anyOf/oneOf members, with allOf and $ref laid beside."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._steps = 0
        self._inside: set[int] = set()  # what is being expanded: meeting it again adds nothing

    def of(self, schema: Any) -> list[_Parts]:
        self._steps += 1
        if not isinstance(schema, Mapping) or id(schema) in self._inside or self._steps > _MOST_STEPS:
            return [()]
        if len(self._inside) > 100:  # deeper than any schema written on purpose
            return [()]
        self._inside.add(id(schema))
        branches: list[_Parts] = [(schema,)]
        for choices in self._choices(schema):
            if len(branches) * len(choices) <= _MOST_BRANCHES:
                branches = [a + b for a in branches for b in choices]
        self._inside.discard(id(schema))
        return branches

    def _choices(self, schema: JsonObject) -> Iterator[list[_Parts]]:
        """The branches to choose from, for each keyword that applies beside the schema's own."""
        if "$ref" in schema:
            yield self.of(resolve(self._root, schema["$ref"]))
        for member in _list(schema.get("allOf")):
            yield self.of(member)
        for keyword in ("anyOf", "oneOf"):
            members = [m for m in _list(schema.get(keyword)) if m is not False]
            if members:
                yield [parts for member in members[:_MOST_BRANCHES] for parts in self.of(member)]


def _all(schemas: list[Any]) -> Any:
    useful = [s for s in schemas if s is not True]
    return useful[0] if len(useful) == 1 else {"allOf": useful} if useful else True


def _any(schemas: list[Any]) -> Any:
    if any(s is True for s in schemas) or not schemas:
        return True
    distinct = list({id(s): s for s in schemas}.values())
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


# ── of one part ──────────────────────────────────────────────────────────────


def _kinds(parts: Iterable[JsonObject]) -> frozenset[str] | None:
    """The kinds all parts allow together; None is anything, the empty set a contradiction."""
    found: frozenset[str] | None = None
    for part in parts:
        kinds = _own_kinds(part)
        found = kinds if found is None else found if kinds is None else _meet(found, kinds)
    return found


def _meet(a: frozenset[str], b: frozenset[str]) -> frozenset[str]:
    both = a & b
    if ("integer" in a and "number" in b) or ("number" in a and "integer" in b):
        both |= {"integer"}
    return both


def _own_kinds(part: JsonObject) -> frozenset[str] | None:
    declared = part.get("type")
    if declared is not None:
        kinds = _named(declared)
        return kinds | {"null"} if kinds and part.get("nullable") is True else kinds
    values = _own_values(part)
    if values:
        return frozenset(map(kind_of, values))
    # A schema that lists properties means an object, whatever the standard says of other kinds.
    return next((frozenset({kind}) for keyword, kind in _IMPLIED if keyword in part), None)


_IMPLIED = (("properties", "object"), (OTHERS, "object"), ("items", "array"), ("prefixItems", "array"))


def _named(declared: Any) -> frozenset[str] | None:
    """The kinds a `type` keyword names; None where it names one we do not know."""
    if isinstance(declared, str):
        return _kind_named(declared)
    named = [_kind_named(name) for name in _list(declared) if isinstance(name, str)]
    if not named or None in named:
        return None
    return frozenset().union(*(n for n in named if n))


@lru_cache(256)
def _kind_named(name: str) -> frozenset[str] | None:
    folded = name.casefold()
    kind = ALIASES.get(folded, folded)
    return frozenset({kind}) if kind in KINDS else None


def _own_values(part: JsonObject) -> list[Any] | None:
    if "const" in part:
        return [part["const"]]
    values = part.get("enum")
    return list(values) if isinstance(values, list | tuple) and values else None


def _values(parts: _Parts) -> list[Any] | None:
    """The values all parts allow together, where any enumerates them."""
    found: list[Any] | None = None
    for part in parts:
        values = _own_values(part)
        if values is not None:
            found = values if found is None else [v for v in found if among(v, values)]
    return [None] if found is None and _kinds(parts) == frozenset({"null"}) else found


def among(value: Any, values: Iterable[Any]) -> bool:
    """Is `value` one of `values`, as JSON counts: true is not 1, 1.0 is 1."""
    return any(value == v and isinstance(value, bool) is isinstance(v, bool) for v in values)


def _properties(part: JsonObject) -> Mapping[str, Any]:
    found = part.get("properties")
    return found if isinstance(found, Mapping) else {}


def _patterns(part: JsonObject) -> Mapping[str, Any]:
    found = part.get("patternProperties")
    if not isinstance(found, Mapping):
        return {}
    return found if len(found) <= _MOST_PATTERNS else dict(islice(found.items(), _MOST_PATTERNS))


def _member_of(parts: _Parts, key: str) -> Iterator[Any]:
    """The subschemas that apply to property `key`."""
    for part in parts:
        declared = [_properties(part)[key]] if key in _properties(part) else []
        declared += [schema for pattern, schema in _patterns(part).items() if _matches(pattern, key)]
        rest = part.get(OTHERS)
        yield from declared or ([rest] if isinstance(rest, Mapping) else [])


def _matches(pattern: str, key: str) -> bool:
    if len(key) > _LONGEST_KEY:
        return False
    compiled = _pattern(pattern)
    try:
        return compiled is not None and bool(compiled.is_valid(key))
    except (ValueError, TypeError):  # half a surrogate pair
        return False


@lru_cache(maxsize=_MOST_SHAPES)
def _pattern(pattern: str) -> Any:
    """A schema's own regular expression as the validator reads it: there no pattern can be made to run for minutes."""
    # Loaded when first needed, as in schema.py.
    import jsonschema_rs as engine  # noqa: PLC0415

    if cost(pattern) > BUDGET:
        return None
    try:
        return engine.validator_for({"type": "string", "pattern": pattern}, pattern_options=options())
    except (ValueError, TypeError):
        return None


def _is_open(part: JsonObject) -> bool:
    return part.get(OTHERS) is not False and part.get("unevaluatedProperties") is not False


def _prefix(part: JsonObject) -> list[Any]:
    """The schemas of the first items: `prefixItems`, or `items` as a list in drafts before 2020."""
    return [s for s in _list(part.get("prefixItems") or part.get("items")) if _is_schema(s)]


def _item_of(part: JsonObject, index: int) -> Any:
    placed = _prefix(part)
    if index < len(placed):
        return placed[index]
    rest = part.get("additionalItems" if isinstance(part.get("items"), list | tuple) else "items")
    return rest if _is_schema(rest) else True


def _contradicts(parts: _Parts, value: Mapping[str, Any]) -> bool:
    """Does a property of `value` have a value that its enumeration in `parts` rules out?"""
    for part in parts:
        for key, schema in _properties(part).items():
            values = _own_values(schema) if isinstance(schema, Mapping) and key in value else None
            if values is not None and not among(value[key], values):
                return True
    return False


def _is_schema(value: Any) -> bool:
    return isinstance(value, Mapping) or value is True


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _strings(value: Any) -> list[str]:
    return [v for v in _list(value) if isinstance(v, str)]
