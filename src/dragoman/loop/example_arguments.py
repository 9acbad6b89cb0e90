"""An example of arguments that fit a schema: what a model is shown when words did not help.

Knows schemas; nothing of tools or dialects.  Contract: `specimen` gives a value that the validator accepts, or None;
what the model gave itself and is right is kept, the rest are stand-ins that nobody takes for data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..schema.validation import ANYTHING, Shape, coerce, faults, kind_of, shape
from ..types import JsonObject

DEEPEST = 6
STAND_INS: Mapping[str, Any] = {"integer": 1, "number": 1.5, "boolean": True, "null": None}
ORDER = ("string", "integer", "number", "boolean", "array", "object", "null")


def specimen(schema: JsonObject, given: Any = None) -> JsonObject | None:
    """Arguments of the right shape, with what is right in `given` in its place; None where none can be made up."""
    if not isinstance(schema, Mapping):
        return None
    wanted = shape(schema)
    right = {k: v for k, v in given.items() if wanted.has(k)} if isinstance(given, Mapping) else {}
    made = {key: _value(schema, wanted, key) for key in wanted.required}
    for value in ({**made, **right}, _mixed(schema, made, right), made):
        fixed = coerce(value, wanted)[0]
        if not faults(schema, fixed):
            return dict(fixed)
    return None


def _mixed(schema: JsonObject, made: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The stand-ins, with each of the values given that does not spoil them."""
    value = dict(made)
    for key, member in given.items():
        if not faults(schema, {**value, key: member}):
            value[key] = member
    return value


def _value(schema: JsonObject, wanted: Shape, key: str) -> Any:
    return _stand_in(key, wanted.property(key), _own(schema, key), 0)


def _own(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A property's own schema, references left alone."""
    properties = schema.get("properties")
    own = properties.get(key) if isinstance(properties, Mapping) else None
    return own if isinstance(own, Mapping) else {}


def _stand_in(name: str, wanted: Shape, own: Mapping[str, Any], depth: int) -> Any:
    """A value for the member `name`: the schema's own example, else one that names what belongs there."""
    examples = [*_examples(own), *wanted.enum[:1]]
    if examples:
        return examples[0]
    kind = next((kind for kind in ORDER if kind in wanted.kinds), "string")
    match kind:
        case "string":
            return _text(name, own)
        case "integer" | "number":
            return _number(own, STAND_INS[kind])
        case "boolean" | "null":
            return STAND_INS[kind]
    return _container(kind, name, wanted, own, depth)


def _container(kind: str, name: str, wanted: Shape, own: Mapping[str, Any], depth: int) -> Any:
    if depth >= DEEPEST or wanted is ANYTHING:
        return [] if kind == "array" else {}
    if kind == "object":
        return {key: _stand_in(key, wanted.property(key), _own(own, key), depth + 1) for key in wanted.required}
    items = own.get("items")
    return [_stand_in(name, wanted.at(0), items if isinstance(items, Mapping) else {}, depth + 1)]


def _examples(own: Mapping[str, Any]) -> list[Any]:
    """The values that the schema itself gives."""
    listed = own.get("examples")
    return [own[word] for word in ("const", "default") if word in own] + (listed if isinstance(listed, list) else [])


def _number(own: Mapping[str, Any], plain: Any) -> Any:
    """A number within the schema's bounds."""
    low, high = own.get("minimum", own.get("exclusiveMinimum")), own.get("maximum", own.get("exclusiveMaximum"))
    if kind_of(low) in ("integer", "number") and plain <= low:
        plain = low + ("exclusiveMinimum" in own and "minimum" not in own)
    if kind_of(high) in ("integer", "number") and plain >= high:
        plain = high - ("exclusiveMaximum" in own and "maximum" not in own)
    return plain


def _text(name: str, own: Mapping[str, Any]) -> str:
    """A text that says what belongs there, of a length that is allowed."""
    text = f"<{name}>"
    least, most = own.get("minLength", 0), own.get("maxLength")
    if isinstance(least, int):
        text = text.ljust(least, ".")
    return text[:most] if isinstance(most, int) and most >= 0 else text
