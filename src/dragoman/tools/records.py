"""Types with named fields: dataclasses, attrs classes, TypedDicts, named tuples, and pydantic's models.

Asks for the forms of the fields.  The classes' own docstrings describe them.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..redaction import redact_patterns as redact
from ..schema.validation import Fault, child
from ..types import JsonObject
from .containers import Ask
from .docstrings import documentation
from .to_json import Unwritable, as_text, plain
from .type_hints import applied, class_hints, stripped, variables
from .type_schema import Definitions, InvalidValue, JsonForm, Read, Undescribed, made, read_member

_LONGEST_DEFAULT = 500  # characters of JSON; a longer one tells a model nothing
NO_DEFAULT: Any = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Field:
    """One member of an object: its `name` in JSON, its form, whether it must be there, its default where it has one."""

    name: str
    form: JsonForm
    required: bool = True
    default: Any = NO_DEFAULT
    description: str = ""


def object_form(
    fields: list[Field], make: Callable[..., Any], wanted: str, doc: str = "", rest: JsonForm | None = None
) -> JsonForm:
    """The form of an object with these fields; `rest` is the form of any others, None where there are none."""
    schema = object_schema(fields, rest)
    if doc:
        schema = {**schema, "description": doc}
    whole = made(
        lambda inner: make(**inner), {key: inner for key, inner in schema.items() if key != "properties"}, wanted
    )
    read = members_reader(fields, rest)
    return JsonForm(schema, lambda value: whole(read(value)))


def object_schema(fields: list[Field], rest: JsonForm | None = None) -> JsonObject:
    """The schema of an object with these fields."""
    schema: dict[str, Any] = {"type": "object", "properties": {each.name: _property(each) for each in fields}}
    required = [each.name for each in fields if each.required]
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False if rest is None else rest.schema or True
    return schema


def members_reader(fields: list[Field], rest: JsonForm | None = None) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """From a JSON object to the values of its fields, by name; all faults at once."""
    known = {each.name: each for each in fields}

    def read(value: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        faults: list[Fault] = []
        for name, inner in value.items():
            each = known.get(name)
            form = each.form if each is not None else rest
            if form is None:
                continue
            try:
                found[name] = read_member(form.read, inner, name)
            except InvalidValue as error:
                faults += error.faults
        if faults:
            raise InvalidValue(*faults)
        return found

    return read


def _property(each: Field) -> JsonObject:
    schema = dict(each.form.schema)
    if each.description:
        schema["description"] = each.description
    written = _default(each.default)
    if written is not NO_DEFAULT:
        schema["default"] = written
    return schema


def _default(value: Any) -> Any:
    """The default as models see it; none that is long, has no JSON or looks like a secret."""
    if value is NO_DEFAULT:
        return NO_DEFAULT
    try:
        text = as_text(value)
    except (Unwritable, ValueError):
        return NO_DEFAULT
    return plain(value) if len(text) <= _LONGEST_DEFAULT and redact(text) == text else NO_DEFAULT


FieldsOf: TypeAlias = "Callable[[Any, Mapping[str, Any]], Iterator[DeclaredField]]"

# ── the classes ──────────────────────────────────────────────────────────────


def record_form(kind: Any, arguments: tuple[Any, ...], ask: Ask, definitions: Definitions) -> JsonForm | None:
    """The form of a class with named fields; None for every other."""
    row = next((row for row in _RECORDS if row[0](kind)), None)
    if row is None:
        return None
    title = kind.__name__ + "".join(f"_{getattr(each, '__name__', 'x')}" for each in arguments)
    return definitions.form((kind, arguments), title, lambda: _record(kind, arguments, ask, row[1], row[2]))


def _record(
    kind: Any, arguments: tuple[Any, ...], ask: Ask, fields_of: FieldsOf, make: Callable[[Any], Any]
) -> JsonForm:
    doc = documentation(_doc(kind), class_hints(kind))
    fields = _fields(kind, arguments, ask, fields_of, doc.parameters)
    return object_form(fields, make(kind), f"a {kind.__name__}", doc.text)


def fields_of_typed_dict(kind: Any, ask: Ask) -> list[Field]:
    """The fields of a TypedDict that stands for the keyword arguments of a function."""
    doc = documentation(_doc(kind), class_hints(kind))
    return _fields(kind, (), ask, _typed_dict_fields, doc.parameters)


def _fields(
    kind: Any, arguments: tuple[Any, ...], ask: Ask, fields_of: FieldsOf, texts: Mapping[str, str]
) -> list[Field]:
    hints, values = class_hints(kind), variables(kind, arguments)
    fields = []
    for each in fields_of(kind, hints):
        try:
            form = ask(applied(each.hint, values))
        except Undescribed as error:
            raise error.inside(f"field {each.name!r} of {kind.__name__}") from None
        description = each.description or _documented(each, form, texts)
        fields.append(Field(each.name, form, each.required, each.default, description))
    return fields


def _documented(each: DeclaredField, form: JsonForm, texts: Mapping[str, str]) -> str:
    return "" if "description" in form.schema and stripped(each.hint).notes else texts.get(each.name, "")


@dataclass(frozen=True, slots=True)
class DeclaredField:
    """A field as its class declares it."""

    name: str
    hint: Any
    required: bool = True
    default: Any = NO_DEFAULT
    description: str = ""


def _doc(kind: Any) -> str:
    """A class's own docstring; not one its base or a decorator wrote."""
    own = vars(kind).get("__doc__") or ""
    return "" if own.startswith((f"{kind.__name__}(", "Method generated by attrs")) else inspect.cleandoc(own)


def _dataclass_fields(kind: Any, hints: Mapping[str, Any]) -> Iterator[DeclaredField]:
    for each in kind.__dataclass_fields__.values():
        hint = hints.get(each.name, Any)
        if not each.init or "ClassVar" in stripped(hint).qualifiers:
            continue
        description = each.metadata.get("description") or getattr(each, "doc", None) or ""
        required = each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        default = NO_DEFAULT if each.default is dataclasses.MISSING else each.default
        yield DeclaredField(each.name, hint, required, default, description)


def _attrs_fields(kind: Any, hints: Mapping[str, Any]) -> Iterator[DeclaredField]:
    for each in kind.__attrs_attrs__:
        if each.init:
            is_fixed = type(each.default).__name__ not in ("_Nothing", "Factory")
            required = type(each.default).__name__ == "_Nothing"
            default = each.default if is_fixed else NO_DEFAULT
            hint = hints.get(each.name, each.type or Any)
            yield DeclaredField(each.alias, hint, required, default, each.metadata.get("description", ""))


def _typed_dict_fields(kind: Any, hints: Mapping[str, Any]) -> Iterator[DeclaredField]:
    for name, hint in hints.items():
        qualifiers = stripped(hint).qualifiers
        required = "NotRequired" not in qualifiers and ("Required" in qualifiers or name in kind.__required_keys__)
        yield DeclaredField(name, hint, required)


def _tuple_fields(kind: Any, hints: Mapping[str, Any]) -> Iterator[DeclaredField]:
    for name in kind._fields:
        default = kind._field_defaults.get(name, NO_DEFAULT)
        yield DeclaredField(name, hints.get(name, Any), default is NO_DEFAULT, default)


_RECORDS: tuple[tuple[Callable[[Any], bool], Any, Callable[[Any], Any]], ...] = (
    (typing.is_typeddict, _typed_dict_fields, lambda kind: dict),
    (lambda kind: type(kind).__name__ == "_TypedDictMeta", _typed_dict_fields, lambda kind: dict),
    (dataclasses.is_dataclass, _dataclass_fields, lambda kind: kind),
    (lambda kind: hasattr(kind, "__attrs_attrs__"), _attrs_fields, lambda kind: kind),
    (lambda kind: issubclass(kind, tuple) and hasattr(kind, "_fields"), _tuple_fields, lambda kind: kind),
)
"""Classes with fields, where these stand, and what makes a value of them."""


# ── pydantic ─────────────────────────────────────────────────────────────────


def model_form(kind: Any, definitions: Definitions) -> JsonForm | None:
    """The form of a pydantic model, by its own schema and its own validation; None for what is none."""
    if not (isinstance(kind, type) and hasattr(kind, "model_json_schema") and hasattr(kind, "model_validate")):
        return None
    read = _model_reader(getattr(kind, "model_validate_json", None), kind.model_validate)
    return definitions.form(
        (kind, ()), kind.__name__, lambda: JsonForm(_adopted(kind.model_json_schema(), definitions), read)
    )


def adapted_form(hint: Any, definitions: Definitions) -> JsonForm | None:
    """The form of a type that pydantic understands by itself (its URLs, validators in `Annotated` …)."""
    adapter_of = getattr(sys.modules.get("pydantic"), "TypeAdapter", None)
    if adapter_of is None:
        return None
    try:
        adapter = adapter_of(hint)
        schema = _adopted(adapter.json_schema(), definitions)
    except Exception as error:  # pydantic's own errors have no common class we could name
        raise Undescribed(f"pydantic cannot describe {hint!r}: {' '.join(str(error).split())[:200]}") from None
    return JsonForm(schema, _model_reader(adapter.validate_json, adapter.validate_python))


def _model_reader(from_json: Callable[[str], Any] | None, from_python: Callable[[Any], Any]) -> Read:
    """JSON's own mode of validation where there is one: there a text may be a date also for strict models."""

    def read(value: Any) -> Any:
        try:
            return from_json(as_text(value)) if from_json is not None else from_python(value)
        except Exception as error:
            raise InvalidValue(*_model_faults(error)) from error

    return read


def _model_faults(error: Exception) -> Iterator[Fault]:
    try:
        errors = error.errors()  # type: ignore[attr-defined]
    except Exception:
        errors = [{"loc": (), "msg": str(error)}]
    for each in errors:
        path = "$"
        for step in each.get("loc", ()):
            path = child(path, step)
        yield Fault(path, str(each.get("msg", error)), str(each.get("type", "value")), {})


def _adopted(schema: JsonObject, definitions: Definitions) -> JsonObject:
    """Somebody else's schema as part of ours: its definitions get names of ours, generated titles go."""
    local = schema.get("$defs", {})
    renamed = {name: definitions.unused_name(name) for name in local}
    definitions.schemas.update({name: {} for name in renamed.values()})
    for name, target in renamed.items():
        definitions.schemas[target] = _rewritten(local[name], renamed)
    whole: JsonObject = _rewritten({key: value for key, value in schema.items() if key != "$defs"}, renamed)
    return whole


_NAMED = ("properties", "patternProperties", "dependentSchemas")
_DATA = ("default", "examples", "enum", "const", "required")


def _rewritten(node: Any, renamed: Mapping[str, str]) -> Any:
    if isinstance(node, list):
        return [_rewritten(inner, renamed) for inner in node]
    if not isinstance(node, dict):
        return node
    return {key: _rewritten_at(key, value, renamed) for key, value in node.items() if not _is_generated(key, value)}


def _is_generated(key: str, value: Any) -> bool:
    """A title of pydantic's, or OpenAPI's discriminator: the members' own constants say the same."""
    return (key == "title" and isinstance(value, str)) or (key == "discriminator" and isinstance(value, dict))


def _rewritten_at(key: str, value: Any, renamed: Mapping[str, str]) -> Any:
    if key in _DATA:
        return value
    if key in _NAMED and isinstance(value, dict):
        return {name: _rewritten(each, renamed) for name, each in value.items()}
    if key == "$ref" and isinstance(value, str):
        name = value.removeprefix("#/$defs/")
        return f"#/$defs/{renamed.get(name, name)}"
    return _rewritten(value, renamed)
