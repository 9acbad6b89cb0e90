"""JSON Schema of a tool's parameters: is it sound, where does a value fail it, and what is it in one line.

The one door to everything about schemas: `Shape` and `shape` (shape.py), `coerce` and `read_text` (coercion.py) are
exported here too.  Validation itself is `jsonschema_rs`.  Does not know about dialects or wires.
Contract: `check_schema` tells the caller of a broken schema; afterwards nothing here raises because of one: a schema
that cannot be compiled finds no faults.  References are resolved inside the schema only, never over the network.
Schemas are constants, compiled once each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

from ..errors import UsageError
from ..late import late_call
from ..memo import per_object
from ..records import NamedTuple, dataclass
from ..types import Edit, JsonObject, Tool
from .acceptance import Accepts, acceptor
from .patterns import GAVE_UP, affordable, options
from .shape import ALIASES, ANYTHING, KINDS, Shape, child, kind_of, nests_deeper, resolve, shape
from .vocabulary import LISTS, MAPS, SINGLES, holds_schemas, over_schemas

__all__ = [
    "ANYTHING", "Fault", "Shape", "check_schema", "child", "coerce", "excerpt", "faults", "kind_of", "read_text",
    "shape", "signature", "standard",
]  # fmt: skip

_MOST_FAULTS = 100  # a list of a million wrong items is one mistake, not a million
_DEEPEST = 200  # jsonschema_rs gives up at 255
_LONGEST_MESSAGE = 300


coerce: Callable[..., tuple[Any, list[Edit]]] = late_call(".coercion", "coerce", __name__)
read_text: Callable[[str, Shape], tuple[Any, Edit | None]] = late_call(".coercion", "read_text", __name__)
"""Most values are what was asked for; whoever never coerces any need not load a parser of Python."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One way a value fails its schema.

    `path` is where in the value (`$.items[2].name`), `keyword` which rule, `message` what to do about it in words for a
    model, `schema` the smallest piece of the schema that shows what would be right.
    """

    path: str
    message: str
    keyword: str
    schema: JsonObject


def check_schema(schema: JsonObject, name: str = "") -> None:
    """Raise `UsageError` when `schema` is not a JSON Schema; `name` is the tool it belongs to."""
    whose = f"the parameters of tool {name!r} are" if name else "this is"
    if not isinstance(schema, Mapping):
        raise UsageError(f"{whose} not a JSON Schema: give an object, not {kind_of(schema) or type(schema).__name__}")
    try:
        _compile(_plain(schema))
    except _BROKEN as error:
        where = "$"
        for step in getattr(error, "instance_path", ()):
            where = child(where, step)
        what = getattr(error, "message", None) or str(error)
        raise UsageError(f"{whose} not a sound JSON Schema: {_cut(what)} (at {where}); correct it there") from error


def faults(schema: JsonObject, value: Any) -> list[Fault]:
    """All the ways `value` fails `schema`, at most a hundred; none when the schema cannot be compiled."""
    accepts = _acceptor(schema)
    if accepts is not None and accepts(value):
        return []
    compiled = _compiled(schema)
    if compiled is None:
        return []
    if compiled.recursive and nests_deeper(value, _DEEPEST):
        return [_UNREADABLE]
    try:
        if compiled.validator.is_valid(value):
            return []
        errors = list(islice(compiled.validator.iter_errors(value), _MOST_FAULTS))
    except (ValueError, TypeError):  # a mapping of our own, a lone surrogate, deep nesting
        return _second_look(compiled, value)
    return list(islice(compiled.faults(errors), _MOST_FAULTS))


def excerpt(schema: Any, root: JsonObject, depth: int = 2) -> Any:
    """A copy of a subschema short enough to show: `depth` levels, references filled in, long texts cut."""
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        target = resolve(root, schema["$ref"])
        rest = {k: v for k, v in schema.items() if k != "$ref"}
        schema = {**target, **rest} if isinstance(target, Mapping) else rest
    shown: dict[str, Any] = {}
    for key, value in islice(schema.items(), 40):
        if key not in _UNSHOWN:
            part = _excerpt_of(key, value, root, depth)
            if part is not _NOTHING:
                shown[key] = part
    return shown


def standard(schema: JsonObject) -> JsonObject:
    """The schema with JSON Schema's own type names, where it used Gemini's or Python's, and without `nullable`.

    `schema` itself where it nests too deeply to be rewritten.
    """
    try:
        rewritten: dict[str, Any] = _plain(schema, lenient=True)
    except _BROKEN:
        return schema
    return rewritten


def signature(tool: Tool) -> str:
    """A tool in one line: `name(path: string, limit?: integer) — First sentence.`

    Required parameters first, each group by alphabet; a list of scalars is `type[]`; what has no simple type is
    `object`; the description's first sentence, at most 80 characters.  Source: seeds.md A4.
    """
    properties = tool.parameters.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    listed = tool.parameters.get("required")
    required = {k for k in listed if isinstance(k, str)} if isinstance(listed, list | tuple) else set()
    names = sorted(properties, key=lambda name: (name not in required, name))
    inside = ", ".join(f"{n}{'' if n in required else '?'}: {_type_word(properties[n])}" for n in names)
    sentence = " ".join(tool.description.split())
    end = sentence.find(". ")
    sentence = (sentence[: end + 1] if end >= 0 else sentence)[:80]
    return f"{tool.name or '<unnamed>'}({inside})" + (f" — {sentence}" if sentence else "")


def _type_word(schema: Any) -> str:
    schema = _not_null(schema)
    if schema.get("type") == "array":
        item = _scalar(schema.get("items"))
        return f"{item}[]" if item else "array"
    return _scalar(schema) or "object"


def _not_null(schema: Any) -> Mapping[str, Any]:
    """The schema of a value that is not null: what may also be null is named by what it is otherwise."""
    if not isinstance(schema, Mapping):
        return {}
    declared, branches = schema.get("type"), schema.get("anyOf")
    if isinstance(declared, list) and len(kinds := [kind for kind in declared if kind != "null"]) == 1:
        return {**schema, "type": kinds[0]}
    if isinstance(branches, list) and len(others := [each for each in branches if each != {"type": "null"}]) == 1:
        return _not_null(others[0])
    return schema


def _scalar(schema: Any) -> str:
    declared = schema.get("type") if isinstance(schema, Mapping) else None
    return declared if isinstance(declared, str) and declared in _SCALARS else ""


_SCALARS = ("string", "number", "integer", "boolean", "null")


# ── compiling ────────────────────────────────────────────────────────────────

_BROKEN = (ValueError, TypeError, RecursionError)  # jsonschema_rs' own errors are ValueErrors


@cache
def _makers() -> tuple[Callable[..., Any], ...]:
    """The makers of validators: by the draft the schema names, then by each draft, newest first."""
    # Loaded when first needed: it takes a fifth of the package's import time and brings sockets along.
    import jsonschema_rs as engine  # noqa: PLC0415

    drafts = (engine.Draft202012Validator, engine.Draft201909Validator, engine.Draft7Validator, engine.Draft4Validator)
    return (engine.validator_for, *drafts)


class _Compiled(NamedTuple):
    """`recursive`: may validation go as deep as the value does?  jsonschema_rs overflows the stack there."""

    validator: Any
    schema: dict[str, Any]
    recursive: bool

    def faults(self, errors: Iterable[Any], depth: int = 0) -> Iterator[Fault]:
        """The faults behind the validator's errors; an error of a union becomes those of the branch that was meant."""
        for error in errors:
            if error.message.startswith(GAVE_UP):
                continue
            meant = _meant(error) if depth < 8 else None
            if meant:
                yield from self.faults(meant, depth + 1)
            else:
                yield self._fault(error)

    def _fault(self, error: Any) -> Fault:
        keyword = str(error.kind.name)
        holder = self._holder(error.schema_path)
        write = _MESSAGES.get(keyword)
        message = write(holder, error) if write else str(error.message)
        return Fault(_path(error.instance_path), _cut(message), keyword, _shown(holder, error, self.schema))

    def _holder(self, path: Sequence[str | int]) -> Mapping[str, Any]:
        """The subschema that holds the keyword at `path`."""
        node: Any = self.schema
        for step in path[:-1]:
            try:
                node = node[step]
            except (KeyError, IndexError, TypeError):
                return {}
        return node if isinstance(node, Mapping) else {}


@per_object
def _acceptor(schema: JsonObject) -> Accepts | None:
    """What accepts a value without the validator, where the schema is an ordinary one."""
    try:
        return acceptor(_plain(schema, lenient=True))
    except _BROKEN:
        return None


@per_object
def _compiled(schema: JsonObject) -> _Compiled | None:
    """A validator of as much of the schema as can be had; references that lead nowhere say nothing."""
    for dangling in (True, False):
        try:
            plain = _plain(schema, lenient=True)
            if not dangling:
                plain = _linked(plain, plain)
            return _Compiled(_compile(plain), plain, any(word in json.dumps(plain) for word in _REFERENCES))
        except _BROKEN:
            continue
    return None


def _linked(node: Any, root: JsonObject) -> Any:
    """A plain schema without the references that cannot be followed."""
    if isinstance(node, list):
        return [_linked(member, root) for member in node]
    if not isinstance(node, dict):
        return node
    lost = isinstance(node.get("$ref"), str) and resolve(root, node["$ref"]) is True
    return {key: _linked(value, root) for key, value in node.items() if not (lost and key == "$ref")}


_REFERENCES = ('"$ref"', '"$dynamicRef"', '"$recursiveRef"')


def _compile(schema: dict[str, Any]) -> Any:
    """A validator by the draft the schema names, else by the newest draft that accepts it."""
    first: Exception | None = None
    schema = affordable(schema)
    unnamed = {key: value for key, value in schema.items() if key != "$schema"}
    for index, make in enumerate(_makers()):
        try:
            return make(unnamed if index else schema, retriever=_refuse, pattern_options=options())
        except _BROKEN as error:
            first = first or error
    assert first is not None
    raise first


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is outside this schema; move what it names into $defs")


def _plain(schema: Any, *, lenient: bool = False, depth: int = 0) -> Any:
    """The schema in plain dicts and lists.  `lenient` reads foreign type names and OpenAPI's `nullable`."""
    if depth > _DEEPEST:
        raise ValueError(f"it nests deeper than {_DEEPEST} levels")
    if not isinstance(schema, Mapping):
        return schema
    made: dict[str, Any] = {}
    for key, value in schema.items():  # few frames a level: a schema may nest as deep as the interpreter goes
        if key in MAPS and isinstance(value, Mapping):
            made[key] = {k: _plain(v, lenient=lenient, depth=depth + 1) for k, v in value.items()}
        elif key in LISTS and isinstance(value, list | tuple):
            made[key] = [_plain(v, lenient=lenient, depth=depth + 1) for v in value]
        elif key in SINGLES and isinstance(value, Mapping):
            made[key] = _plain(value, lenient=lenient, depth=depth + 1)
        else:
            made[key] = _data(value)
    return _standard(made) if lenient else made


def _standard(schema: dict[str, Any]) -> dict[str, Any]:
    """One subschema with JSON Schema's own type names, where it used others."""
    kinds = [ALIASES.get(name, name) for name in _type_names(schema.get("type"))]
    if not kinds:
        return schema
    if not KINDS.issuperset(kinds):  # "any": what is not a type rules nothing out
        return {key: value for key, value in schema.items() if key != "type"}
    if schema.get("nullable") is True:
        kinds.append("null")
        schema = {key: value for key, value in schema.items() if key != "nullable"}
        if isinstance(schema.get("enum"), list):
            schema = {**schema, "enum": [*schema["enum"], None]}
    kinds = list(dict.fromkeys(kinds))
    return {**schema, "type": kinds[0] if len(kinds) == 1 else kinds}


def _type_names(declared: Any) -> list[str]:
    """The names in a `type`, in lower case; none where one is no name."""
    named = declared if isinstance(declared, list) else [declared]
    return [name.casefold() for name in named] if all(isinstance(name, str) for name in named) else []


def _data(value: Any) -> Any:
    """Plain containers for what is not a schema: the validator reads nothing else."""
    if isinstance(value, Mapping):
        return {str(key): _data(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_data(member) for member in value]
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "replace").decode()
    return value


_UNREADABLE = Fault("$", f"this is not JSON nested at most {_DEEPEST} levels; send plain, flatter values", "", {})


def _second_look(compiled: _Compiled, value: Any) -> list[Fault]:
    """Faults of a value that the validator could not read as it was."""
    try:
        errors = list(islice(compiled.validator.iter_errors(_data(value)), _MOST_FAULTS))
    except (ValueError, TypeError, RecursionError):
        return [_UNREADABLE]
    return list(islice(compiled.faults(errors), _MOST_FAULTS))


# ── messages ─────────────────────────────────────────────────────────────────


def _path(steps: Iterable[str | int]) -> str:
    path = "$"
    for step in steps:
        path = child(path, step)
    return path


def _meant(error: Any) -> list[Any] | None:
    """The errors of the one branch of a union that the value tried to be, if there is one."""
    if error.kind.name not in ("anyOf", "oneOf"):
        return None
    branches = [list(branch) for branch in getattr(error.kind, "context", ())]
    for beside in (_is_other_kind, _is_other_variant):
        left = [b for b in branches if b and not any(beside(e, error) for e in b)]
        if len(left) == 1:
            return left[0]
        branches = left or branches
    return None


def _is_other_kind(error: Any, union: Any) -> bool:
    return error.kind.name == "type" and len(error.instance_path) == len(union.instance_path)


def _is_other_variant(error: Any, union: Any) -> bool:
    return error.kind.name in ("const", "enum") and len(error.instance_path) == len(union.instance_path) + 1


def _shown(holder: Mapping[str, Any], error: Any, root: JsonObject) -> JsonObject:
    """The smallest piece of schema that shows what would be right."""
    properties = holder.get("properties")
    missing = getattr(error.kind, "property", None)
    if missing is not None and isinstance(properties, Mapping) and missing in properties:
        return {"required": [missing], "properties": {missing: excerpt(properties[missing], root, 1)}}
    shown = excerpt(holder, root, 1 if error.kind.name == "additionalProperties" else 2)
    return shown if isinstance(shown, dict) else {}


_NOTHING = object()
_UNSHOWN = ("$defs", "definitions", "$schema", "$id", "$comment", "title", "examples")


def _excerpt_of(key: str, value: Any, root: JsonObject, depth: int) -> Any:
    if holds_schemas(key, value):
        return over_schemas(key, _first(key, value), lambda part: excerpt(part, root, depth - 1)) if depth else _NOTHING
    if isinstance(value, list):
        return value[:40]
    return _cut(value, 160) if isinstance(value, str) else value


def _first(key: str, value: Any) -> Any:
    """As many of the schemas in `value` as are worth showing."""
    return dict(islice(value.items(), 40)) if key in MAPS else value[:20] if key in LISTS else value


def _cut(text: str, limit: int = _LONGEST_MESSAGE) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _literal(value: Any, limit: int = 60) -> str:
    if isinstance(value, str) and len(value) > limit:
        value = value[: limit - 1] + "…"
    try:
        return _cut(json.dumps(value, ensure_ascii=False), limit + 20)
    except (TypeError, ValueError, RecursionError):
        return "…"


def _seen(error: Any) -> str:
    """The value, in a few words: its kind, and itself where that is short."""
    value = error.instance
    kind = kind_of(value) or type(value).__name__
    return kind if kind in ("object", "array", "null") else f"{kind} {_literal(value)}"


def _listed(values: Iterable[Any], limit: int = 200) -> str:
    return _cut(", ".join(map(_literal, values)), limit)


def _type(holder: Mapping[str, Any], error: Any) -> str:
    wanted = holder.get("type")
    words = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else ["of another type"]
    return f"must be {' or '.join(map(str, words))}, not {_seen(error)}"


def _required(holder: Mapping[str, Any], error: Any) -> str:
    return f"the required property {_literal(error.kind.property)} is missing"


def _undeclared(holder: Mapping[str, Any], error: Any) -> str:
    known = holder.get("properties")
    allowed = f"; allowed: {_listed(known)}" if isinstance(known, Mapping) and known else ""
    return f"unknown properties: {_listed(error.kind.unexpected, 100)}{allowed}"


def _union(holder: Mapping[str, Any], error: Any) -> str:
    branches = [list(branch) for branch in error.kind.context]
    kinds = dict.fromkeys(k for b in branches for e in b if _is_other_kind(e, error) for k in e.kind.types)
    wanted = f" ({' or '.join(kinds)})" if kinds else ""
    several = any(not branch for branch in branches)
    return f"{_seen(error)} fits {'more than one' if several else 'none'} of the allowed forms{wanted}"


def _template(text: str) -> Callable[[Mapping[str, Any], Any], str]:
    """A message from a template: `{rule}` is what the keyword demands, `{seen}` what stood there."""

    def write(holder: Mapping[str, Any], error: Any) -> str:
        return text.format(rule=_literal(holder.get(error.kind.name), 120), seen=_seen(error))

    return write


_MESSAGES: Mapping[str, Callable[[Mapping[str, Any], Any], str]] = {
    "type": _type,
    "required": _required,
    "additionalProperties": _undeclared,
    "unevaluatedProperties": _undeclared,
    "anyOf": _union,
    "oneOf": _union,
    "enum": lambda holder, error: f"must be one of {_listed(holder.get('enum', ()))}, not {_seen(error)}",
    "const": _template("must be {rule}, not {seen}"),
    "not": _template("{seen} is not allowed here"),
    "falseSchema": lambda holder, error: "nothing is allowed here; leave it out",
    "pattern": _template("must match the pattern {rule}, not {seen}"),
    "format": _template("must be a valid {rule}, not {seen}"),
    "minimum": _template("must be at least {rule}, not {seen}"),
    "maximum": _template("must be at most {rule}, not {seen}"),
    "exclusiveMinimum": _template("must be greater than {rule}, not {seen}"),
    "exclusiveMaximum": _template("must be less than {rule}, not {seen}"),
    "multipleOf": _template("must be a multiple of {rule}, not {seen}"),
    "minLength": _template("must have at least {rule} characters, not {seen}"),
    "maxLength": _template("must have at most {rule} characters"),
    "minItems": _template("must have at least {rule} items"),
    "maxItems": _template("must have at most {rule} items"),
    "minProperties": _template("must have at least {rule} properties"),
    "maxProperties": _template("must have at most {rule} properties"),
    "uniqueItems": _template("the items must differ from each other"),
    "contains": _template("no item fits what the array must contain"),
    "propertyNames": lambda holder, error: f"a property name is not allowed: {error.kind.error.message}",
}
