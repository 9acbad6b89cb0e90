"""Is a value plainly valid?  Answered for the keywords of ordinary tools, without the validator.

Most calls are valid, and most tools ask for types, names and a few bounds: loading the validator for those (15 MB, a
tenth of the first parse of a process), and compiling each schema, would cost more than all else.  Knows the keywords
below, nothing of faults: what it does not accept, the validator judges.
Contract: `acceptor(schema)(value)` is True only where the validator finds no fault, by whichever draft it reads the
schema; False says nothing.  None for a schema with a keyword that is not known here.  A value of other types than
JSON's own, or nested too deeply to be read, is never accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, TypeAlias

from .shape import resolve

Accepts: TypeAlias = Callable[[Any], bool]

DEEPEST, MOST = 100, 1000
"""How deep a value and how many subschemas are looked at."""
ALIKE = 1024
"""So many checks of objects and lists are remembered."""
_EXACT = 2**53
"""Numbers beyond it are told apart differently by different readers."""


class _Unknown(Exception):
    """This schema asks for something that is not known here."""


def acceptor(schema: Mapping[str, Any]) -> Accepts | None:
    """What accepts values of `schema` (plain containers, JSON Schema's own type names); None where it cannot tell."""
    try:
        return _Made(schema).of(schema)
    except _Unknown:
        return None


class _Made:
    """The acceptors of one schema, with what its references name in their place; one that names itself is unknown."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = MOST
        self._open: set[str] = set()

    def of(self, schema: Any, depth: int = DEEPEST // 2) -> Accepts:
        """What accepts values of this subschema; each looks into all containers, or takes them for JSON itself."""
        if schema is True:
            return _anything
        self._left -= 1
        if type(schema) is not dict or not depth or not self._left:
            raise _Unknown
        made = [self._check(key, value, schema, depth - 1) for key, value in schema.items()]
        checks = [check for check in made if check is not None]
        looked_into = schema.get("type") in _SCALARS if type(schema.get("type")) is str else False
        return _all(checks if looked_into or not _OPENED.isdisjoint(schema) else [*checks, _anything])

    def _check(self, key: str, value: Any, schema: Mapping[str, Any], depth: int) -> Accepts | None:
        if key in _NOTES or key.startswith("x-"):
            if not isinstance(value, _NOTES.get(key, object)):
                raise _Unknown
            return None
        if key in ("properties", "required", "additionalProperties"):
            return self._object(schema, depth) if key == next(k for k in schema if k in _OBJECT) else None
        if key == "type" and type(value) is str and not _ASKED_TOO.get(value, frozenset()).isdisjoint(schema):
            return None
        make = _PLAIN_CHECKS.get(key)
        if make is not None:
            return make(value)
        if key == "items":
            return _items(self.of(value, depth), _never if schema.get("type") == "array" else _anything)
        if key in ("anyOf", "allOf") and type(value) is list and value:
            branches = [self.of(branch, depth) for branch in value]
            return _all(branches) if key == "allOf" else partial(_any, branches)
        if key == "$ref":
            return self._reference(value, depth)
        raise _Unknown

    def _object(self, schema: Mapping[str, Any], depth: int) -> Accepts:
        declared, required = schema.get("properties", {}), schema.get("required", [])
        if type(declared) is not dict or type(required) is not list or not all(type(name) is str for name in required):
            raise _Unknown
        if len(set(required)) < len(required):
            raise _Unknown
        others = schema.get("additionalProperties", True)
        members = tuple((name, self.of(member, depth)) for name, member in declared.items())
        otherwise = _never if schema.get("type") == "object" else _anything
        return _members(members, tuple(required), None if others is False else self.of(others, depth), otherwise)

    def _reference(self, name: Any, depth: int) -> Accepts:
        if type(name) is not str or not name.startswith("#/") or not _PLAIN_POINTER.issuperset(name):
            raise _Unknown
        if name in self._open:
            raise _Unknown
        self._open.add(name)
        accepts = self.of(resolve(self._root, name), depth)
        self._open.remove(name)
        return accepts


_PLAIN_POINTER = frozenset("#/$_.-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_NOTES: Mapping[str, type] = {
    "$schema": str, "title": str, "description": str, "$comment": str, "default": object, "examples": list,
    "deprecated": bool, "readOnly": bool, "writeOnly": bool, "$defs": dict, "definitions": dict, "nullable": object,
    "example": object, "propertyOrdering": object,
}  # fmt: skip
"""Keywords that rule nothing out, where they are well formed: a validator would read another as of an older draft."""
_OBJECT = ("properties", "required", "additionalProperties")
_OPENED = frozenset({"items", "enum", "const", "anyOf", "allOf", "$ref", *_OBJECT})
"""Keywords whose checks know, of any container, what stands in it."""
_ASKED_TOO: Mapping[str, frozenset[str]] = {"object": frozenset(_OBJECT), "array": frozenset({"items"})}
"""Types for which checks of other keywords ask themselves."""
_SCALARS = ("string", "integer", "number", "boolean", "null")


# ── values ───────────────────────────────────────────────────────────────────


def _number(value: Any) -> bool:
    return (type(value) is int and -_EXACT < value < _EXACT) or (type(value) is float and -_EXACT < value < _EXACT)


_OF_TYPE: Mapping[str, Accepts] = {
    "string": lambda value: type(value) is str,
    "integer": lambda value: type(value) is int and -_EXACT < value < _EXACT,
    "number": _number,
    "boolean": lambda value: type(value) is bool,
    "null": lambda value: value is None,
    "object": lambda value: type(value) is dict,
    "array": lambda value: type(value) is list,
}


def _anything(value: Any, depth: int = DEEPEST) -> bool:
    """Is it JSON, and not too deep?"""
    kind = type(value)
    if kind is dict:
        return depth > 0 and all(type(k) is str and _anything(v, depth - 1) for k, v in value.items())
    if kind is list:
        return depth > 0 and all(_anything(v, depth - 1) for v in value)
    return kind is str or kind is bool or value is None or _number(value)


_KINDS: Mapping[Accepts, type] = {
    _OF_TYPE["string"]: str, _OF_TYPE["boolean"]: bool, _OF_TYPE["null"]: type(None), _OF_TYPE["integer"]: int,
}  # fmt: skip
"""Checks that ask for a type of Python and little else: for most members of objects, no function need be called."""


@lru_cache(ALIKE)
def _members(
    members: tuple[tuple[str, Accepts], ...], required: tuple[str, ...], others: Accepts | None, otherwise: Accepts
) -> Accepts:
    """What accepts objects; values of other types are for `otherwise`.

    Where schemas differ in words alone it is the same function: what is called often stays near.
    """
    plan: dict[str, Any] = {name: _KINDS.get(check, check) for name, check in members}

    def accepts(value: Any) -> bool:
        if type(value) is not dict:
            return otherwise(value)
        for name in required:
            if name not in value:
                return False
        for name, member in value.items():
            wanted, kind = plan.get(name, others), type(member)
            if type(name) is not str:
                return False
            if wanted is kind:
                if kind is int and not -_EXACT < member < _EXACT:
                    return False
            elif wanted is None or type(wanted) is type or not wanted(member):
                return False
        return True

    return accepts


@lru_cache(ALIKE)
def _items(check: Accepts, otherwise: Accepts) -> Accepts:
    """What accepts lists; values of other types are for `otherwise`."""
    kind = _KINDS.get(check, int)

    def accepts(value: Any) -> bool:
        if type(value) is not list:
            return otherwise(value)
        for one in value:  # noqa: SIM110  a generator takes twice as long
            if not check(one):
                return False
        return True

    def accepts_plainly(value: Any) -> bool:
        if type(value) is not list:
            return otherwise(value)
        for one in value:  # noqa: SIM110
            if type(one) is not kind:
                return False
        return True

    return accepts if kind is int else accepts_plainly


def _never(value: Any) -> bool:
    return False


def _all(checks: list[Accepts]) -> Accepts:
    if len(checks) == 1:
        return checks[0]
    if len(checks) == 2:
        first, second = checks
        return lambda value: first(value) and second(value)
    return lambda value: all(check(value) for check in checks)


def _any(branches: list[Accepts], value: Any) -> bool:
    return any(accepts(value) for accepts in branches)


# ── keywords that stand alone ────────────────────────────────────────────────


def _type(wanted: Any) -> Accepts:
    names = wanted if type(wanted) is list else [wanted]
    if not names or not all(type(name) is str and name in _OF_TYPE for name in names) or len(set(names)) < len(names):
        raise _Unknown
    checks = [_OF_TYPE[name] for name in names]
    return checks[0] if len(checks) == 1 else partial(_any, checks)


def _enum(listed: Any) -> Accepts:
    if type(listed) is not list or not listed:
        raise _Unknown
    known = frozenset((type(one), one) for one in listed if type(one) in (str, bool, int, type(None)))
    if len(known) < len(listed):
        raise _Unknown
    return lambda value: type(value).__hash__ is not None and (type(value), value) in known


def _bound(holds: Callable[[Any, Any], bool], measured: type[Any], bound: Any) -> Accepts:
    """A bound of numbers, or of the length of what is `measured`; other values pass."""
    of_numbers = measured is float
    if type(bound) is not int and not (of_numbers and type(bound) is float):
        raise _Unknown
    if not -_EXACT < bound < _EXACT or (not of_numbers and bound < 0):
        raise _Unknown
    if of_numbers:
        return lambda value: type(value) not in (int, float) or (_number(value) and holds(value, bound))
    return lambda value: type(value) is not measured or holds(len(value), bound)


def _least(value: Any, bound: Any) -> bool:
    return bool(value >= bound)


def _most(value: Any, bound: Any) -> bool:
    return bool(value <= bound)


def _unique(wanted: Any) -> Accepts | None:
    if wanted is not False:
        raise _Unknown
    return None


_PLAIN_CHECKS: Mapping[str, Callable[[Any], Accepts | None]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda value: _enum([value]),
    "minimum": partial(_bound, _least, float),
    "maximum": partial(_bound, _most, float),
    "exclusiveMinimum": partial(_bound, lambda value, bound: value > bound, float),
    "exclusiveMaximum": partial(_bound, lambda value, bound: value < bound, float),
    "minLength": partial(_bound, _least, str),
    "maxLength": partial(_bound, _most, str),
    "minItems": partial(_bound, _least, list),
    "maxItems": partial(_bound, _most, list),
    "minProperties": partial(_bound, _least, dict),
    "maxProperties": partial(_bound, _most, dict),
    "uniqueItems": _unique,
}
