"""A type annotation → its `JsonForm`: the JSON Schema of its values, and the way from JSON back to them.

Asks, in turn: is it a qualifier or alias of something else, a union, a list of values, a scalar, a container, a class
with fields.  Contract: `form_of` gives a finished schema, sound and with every reference inside it; an annotation that
has no JSON raises `Undescribed`, a `UsageError` that says what to do instead.
"""

from __future__ import annotations

import typing
from typing import Any

from .constraints import constrained
from .containers import container_form, union_form
from .records import adapted_form, model_form, record_form
from .scalars import literal_form, scalar_form
from .type_hints import alias_value, applied, is_alias, is_union, members, of_variable, resolved_text, stripped
from .type_schema import ANYTHING, Definitions, JsonForm, Undescribed, finished_schema


def form_of(annotation: Any) -> JsonForm:
    """The form of one type, its schema finished: what a structured answer of that type must look like."""
    forms = Forms()
    form = forms.form(annotation)
    schema = form.schema
    if set(schema) == {"$ref"}:  # APIs want an object at the root, also where it holds itself
        schema = forms.definitions.schemas[schema["$ref"].removeprefix("#/$defs/")]
    return JsonForm(finished_schema(schema, forms.definitions), form.read, form.rank)


class Forms:
    """The forms of all types that stand in one schema; they share its `$defs`."""

    def __init__(self) -> None:
        self.definitions: Definitions = Definitions()

    def form(self, annotation: Any) -> JsonForm:
        """The form of `annotation`, its references open (`finished_schema` closes them)."""
        hint, notes, _ = stripped(annotation)
        if any(hasattr(note, "__get_pydantic_core_schema__") for note in notes):
            adapted = adapted_form(annotation, self.definitions)
            if adapted is not None:
                return constrained(adapted, (note for note in notes if isinstance(note, str)))
        return constrained(self._form(hint), notes)

    def _form(self, hint: Any) -> JsonForm:
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if hint is None:
            hint = type(None)
        if hint in _ANY:
            return ANYTHING
        if hint is typing.LiteralString:
            hint = str
        if is_union(hint):
            return union_form([self.form(each) for each in members(hint)], self.definitions)
        if origin is typing.Literal or _is_literal(origin):
            return literal_form(arguments)
        if isinstance(hint, str | typing.ForwardRef):
            return self.form(resolved_text(hint, getattr(hint, "__forward_module__", None) or "builtins"))
        return self._alias(hint, origin, arguments) or self._class(hint, origin or hint, arguments)

    def _alias(self, hint: Any, origin: Any, arguments: tuple[Any, ...]) -> JsonForm | None:
        """The form of a name for another type."""
        if is_alias(hint):
            return self.definitions.form(hint, hint.__name__, lambda: self.form(alias_value(hint)))
        if is_alias(origin):
            values = dict(zip(origin.__type_params__, arguments, strict=False))
            return self.form(applied(alias_value(origin), values))
        if isinstance(hint, typing.TypeVar):
            return self.form(of_variable(hint))
        if hasattr(hint, "__supertype__"):  # NewType
            return self.form(hint.__supertype__)
        return None

    def _class(self, hint: Any, kind: Any, arguments: tuple[Any, ...]) -> JsonForm:
        container = container_form(kind, arguments or ((),) * (hint == tuple[()]), self.form)
        if container is not None:
            return container
        if not isinstance(kind, type):
            raise Undescribed(f"{_shown(hint)} {_NO_JSON}")
        form = (
            model_form(hint if isinstance(hint, type) else kind, self.definitions)
            or scalar_form(kind)
            or record_form(kind, arguments, self.form, self.definitions)
            or (adapted_form(hint, self.definitions) if hasattr(kind, "__get_pydantic_core_schema__") else None)
        )
        if form is None:
            raise Undescribed(f"{_shown(hint)} {_NO_JSON}")
        return form


_ANY = (Any, object)
_NO_JSON = (
    "cannot be written as JSON: annotate with a type that can (str, int, list, a dataclass …), or give the tool's "
    "schema yourself with parameters=…"
)


def _is_literal(origin: Any) -> bool:
    return getattr(origin, "_name", None) == "Literal"


def _shown(hint: Any) -> str:
    return hint.__qualname__ if isinstance(hint, type) else repr(hint)
