"""The JSON of a Python type, and the way from that JSON back to a value of the type.

A `JsonForm` is both at once.  Here is what a form is and how members, unions and names are put together; the types
there are stand in `scalars.py`, `containers.py` and `records.py`, and `annotations.py` asks them in turn.
Contract: `read` is given JSON that fits `schema` and shares nothing with what it was given; where the type itself
refuses (a date that does not exist), it raises `InvalidValue`.  A type without a form raises `Undescribed`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ..errors import UsageError
from ..schema.validation import Fault, child
from ..types import JsonObject

Read: TypeAlias = Callable[[Any], Any]


class InvalidValue(ValueError):
    """JSON that fits its schema and yet is no value of the type; `faults` say where and what would be right."""

    def __init__(self, *faults: Fault) -> None:
        self.faults = faults
        super().__init__("; ".join(f"{fault.path}: {fault.message}" for fault in faults))

    def under(self, step: str | int) -> InvalidValue:
        """The same error, seen from the container that holds the value at `step`."""
        start = child("$", step)
        return InvalidValue(*(replace(fault, path=start + fault.path[1:]) for fault in self.faults))


class Undescribed(UsageError):
    """A type that has no JSON; `reason` says what to do instead."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)

    def inside(self, where: str) -> Undescribed:
        """The same error, with the place that holds the type."""
        return Undescribed(f"{where}: {self.reason}")


def invalid_value(message: str, schema: JsonObject, keyword: str = "format") -> InvalidValue:
    """The one fault of a value that is wrong as a whole."""
    return InvalidValue(Fault("$", message, keyword, schema))


CLOSED, TYPED, GENERAL, ANY = range(4)
"""Breadth of a form: listed values, one type, what other types are also written as, anything."""


@dataclass(frozen=True, slots=True)
class JsonForm:
    """A type as JSON: the `schema` of its values, and `read`, from such JSON to a value.

    `rank` orders the members of a union: what takes less is tried first.
    """

    schema: JsonObject
    read: Read
    rank: int = TYPED


def read_member(read: Read, value: Any, step: str | int) -> Any:
    """The value of a container's member at `step`; its faults are seen from the container."""
    try:
        return read(value)
    except InvalidValue as error:
        raise error.under(step) from None


def made(make: Callable[..., Any], schema: JsonObject, wanted: str) -> Read:
    """A reader that makes values with the type's own constructor, whose refusals become faults."""

    def read(value: Any) -> Any:
        try:
            return make(value)
        except InvalidValue:
            raise
        except Exception as error:
            raise invalid_value(f"must be {wanted}, not {_short(value)} ({_reason(error)})", schema) from error

    return read


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:59]}…"


def copied(value: Any) -> Any:
    """JSON that shares no container with `value`: a tool may change what it is given."""
    if isinstance(value, Mapping):
        return {key: copied(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [copied(inner) for inner in value]
    return value


ANYTHING = JsonForm({}, copied, ANY)


# ── types with a name ────────────────────────────────────────────────────────


@dataclass(slots=True)
class Definitions:
    """The types that have a name of their own in one schema (`$defs`), so that they may hold themselves.

    `schemas` by name; `reads` by name, filled once the type is understood; `keys` the type a name stands for.
    """

    schemas: dict[str, JsonObject] = field(default_factory=dict)
    reads: dict[str, Read] = field(default_factory=dict)
    keys: dict[Any, str] = field(default_factory=dict)

    def form(self, key: Any, name: str, build: Callable[[], JsonForm]) -> JsonForm:
        """The form of a named type: a reference, resolved when it is read."""
        known = self.keys.get(key)
        if known is None:
            known = self.keys[key] = self.unused_name(name)
            self.schemas[known] = {}
            try:
                built = build()
            except Undescribed:
                del self.keys[key], self.schemas[known]
                raise
            self.schemas[known], self.reads[known] = built.schema, built.read

        def read(value: Any) -> Any:
            return self.reads[known](value)  # looked up late: a type that holds itself is not known yet

        return JsonForm({"$ref": f"#/$defs/{known}"}, read)

    def unused_name(self, name: str) -> str:
        """A name like `name` that stands for nothing yet, and needs no escaping in a reference."""
        base = "".join(c if c.isalnum() or c in "_.-" else "_" for c in name).strip("_") or "Type"
        number, candidate = 1, base
        while candidate in self.schemas:
            number += 1
            candidate = f"{base}_{number}"
        return candidate

    def rooted(self, schema: JsonObject) -> JsonObject:
        """`schema` with the definitions it may refer to."""
        return {**schema, "$defs": self.schemas} if self.schemas else schema


def refs(schema: Any) -> list[str]:
    """The names a schema refers to, as often as it does."""
    if isinstance(schema, Mapping):
        own = schema.get("$ref")
        found = [own.removeprefix("#/$defs/")] if isinstance(own, str) else []
        return found + [name for value in schema.values() for name in refs(value)]
    return [name for value in schema for name in refs(value)] if isinstance(schema, list | tuple) else []


def finished_schema(schema: JsonObject, definitions: Definitions) -> JsonObject:
    """The finished schema: what is referred to once and holds not itself stands in its place, the rest in `$defs`."""
    once = _inlined(schema, definitions.schemas)
    whole = _placed(schema, once)
    left = {name: _placed(definitions.schemas[name], once) for name in _reached(whole, definitions.schemas, once)}
    return {**whole, "$defs": left} if left else whole


def _inlined(schema: JsonObject, schemas: Mapping[str, JsonObject]) -> dict[str, JsonObject]:
    uses = refs(schema)
    seen = _closure(uses, schemas)
    uses = uses + [name for each in seen for name in refs(schemas[each])]
    return {
        name: schemas[name]
        for name in seen
        if uses.count(name) == 1 and name not in _closure(refs(schemas[name]), schemas)
    }


def _closure(start: Sequence[str], schemas: Mapping[str, JsonObject]) -> list[str]:
    """Every name reached from `start`, in the order of first reaching."""
    found: dict[str, None] = {}
    waiting = list(reversed(start))
    while waiting:
        name = waiting.pop()
        if name in schemas and name not in found:
            found[name] = None
            waiting.extend(reversed(refs(schemas[name])))
    return list(found)


def _reached(whole: JsonObject, schemas: Mapping[str, JsonObject], once: Mapping[str, JsonObject]) -> list[str]:
    return [name for name in _closure(refs(whole), schemas) if name not in once]


def _placed(node: Any, once: Mapping[str, JsonObject]) -> Any:
    """A copy of `node` with the definitions of `once` in place of the references to them."""
    if isinstance(node, list | tuple):
        return [_placed(value, once) for value in node]
    if not isinstance(node, Mapping):
        return node
    name = node.get("$ref")
    target = once.get(name.removeprefix("#/$defs/")) if isinstance(name, str) else None
    if target is None:
        return {key: _placed(value, once) for key, value in node.items()}
    return _placed({**target, **{key: value for key, value in node.items() if key != "$ref"}}, once)
