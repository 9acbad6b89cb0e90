"""A function's parameters as one JSON object: its schema, and the way from arguments to a call.

Knows functions of every kind (plain, methods, partial, objects that can be called) and calls none.
Contract: `Parameters.of` raises `UsageError` naming the parameter and what to do when one has no JSON; `read` is given
arguments that fit the schema, and raises `InvalidValue` with every fault where a type refuses them all the same.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import types
import typing
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..types import JsonObject
from .annotations import Forms
from .constraints import description_of
from .docstrings import Documentation, documentation
from .records import NO_DEFAULT, Field, fields_of_typed_dict, members_reader, object_schema
from .spec import Context
from .type_hints import function_hints, is_union, members, of_unpacked, stripped
from .type_schema import JsonForm, Undescribed, copied, finished_schema

_MANY = inspect.Parameter.VAR_POSITIONAL
_NAMED = inspect.Parameter.VAR_KEYWORD


@dataclass(frozen=True, slots=True)
class Parameters:
    """A function's parameters: the `schema` of its arguments, its docstring, and how a call is made of them."""

    schema: JsonObject
    doc: Documentation
    read: Callable[[JsonObject], dict[str, Any]]
    wanted: tuple[inspect.Parameter, ...]
    contexts: tuple[str, ...]
    defaults: Mapping[str, Any]

    @classmethod
    def of(cls, function: Any, *, skip_first: bool = False) -> Parameters:
        """The parameters of `function`; `skip_first` leaves out the `self` of a method that is not bound yet."""
        wanted = signature(function)[1 if skip_first else 0 :]
        return _FunctionReader(function, wanted).parameters()

    def call(self, arguments: JsonObject, context: Context) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The positional and the named arguments of the call."""
        found = {**self.defaults, **self.read(arguments), **dict.fromkeys(self.contexts, context)}
        names = {each.name for each in self.wanted}
        bound = inspect.BoundArguments(
            inspect.Signature(self.wanted), OrderedDict((name, value) for name, value in found.items() if name in names)
        )
        rest = next((each.name for each in self.wanted if each.kind is _NAMED), None)
        if rest is not None:
            bound.arguments[rest] = {name: value for name, value in found.items() if name not in names}
        bound.apply_defaults()
        return bound.args, bound.kwargs


# ── reading a function ───────────────────────────────────────────────────────


_UNRESOLVED: dict[str, Any] = {"annotation_format": 3} if sys.version_info >= (3, 14) else {}
"""From Python 3.14 on annotations are evaluated when they are asked for; 3 leaves unknown names as references."""


def signature(function: Any) -> tuple[inspect.Parameter, ...]:
    """The parameters that are left to give, without those that a partial fixed by name."""
    try:
        found = inspect.signature(function, **_UNRESOLVED)
    except (TypeError, ValueError):
        raise Undescribed(
            "its parameters cannot be read: wrap it in a function of your own, or give parameters=…"
        ) from None
    fixed: set[str] = set()
    while isinstance(function, functools.partial):
        fixed |= set(function.keywords)
        function = function.func
    return tuple(each for each in found.parameters.values() if each.name not in fixed)


def defined_in(function: Any) -> Any:
    """The plain function behind `function`: where its annotations are to be read."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif isinstance(function, type):
            return function.__init__  # type: ignore[misc]
        elif inspect.isroutine(function) or not hasattr(type(function), "__call__"):  # noqa: B004
            return function
        else:
            function = type(function).__call__


def doc_of(function: Any) -> str:
    """The docstring of what is called; of a callable object that of its call, else its class's."""
    while isinstance(function, functools.partial):
        function = function.func
    if not (inspect.isroutine(function) or isinstance(function, type)):
        call = type(function).__call__
        function = call if call.__doc__ else type(function)
    return inspect.getdoc(function) or ""


class _FunctionReader:
    """One function being read."""

    def __init__(self, function: Any, wanted: tuple[inspect.Parameter, ...]) -> None:
        self.wanted = wanted
        source = defined_in(function)
        written = {each.name: each.annotation for each in wanted if each.annotation is not each.empty}
        self.hints = function_hints(source, written)
        self.doc = documentation(doc_of(function), {each.name for each in wanted})
        self.scope = getattr(source, "__globals__", {})
        self.forms = Forms()
        self.defaults: dict[str, Any] = {}
        self.rest: JsonForm | None = None

    def parameters(self) -> Parameters:
        contexts = tuple(each.name for each in self.wanted if _is_context(self.hints.get(each.name)))
        fields: list[Field] = []
        for each in self.wanted:
            if each.name in contexts:
                continue
            try:
                fields += self._fields(each)
            except Undescribed as error:
                raise error.inside(f"parameter {each.name!r}") from None
        schema = finished_schema(object_schema(fields, self.rest), self.forms.definitions)
        return Parameters(schema, self.doc, members_reader(fields, self.rest), self.wanted, contexts, self.defaults)

    def _fields(self, parameter: inspect.Parameter) -> list[Field]:
        hint = self._hint(parameter)
        if parameter.kind is _NAMED:
            unpacked = of_unpacked(hint)
            if unpacked is not None:
                return fields_of_typed_dict(unpacked, self.forms.form)
            self.rest = self.forms.form(hint)
            return []
        if parameter.kind is _MANY:
            form = self.forms.form(list[hint])  # type: ignore[valid-type]
            return [Field(parameter.name, form, False, description=self._description(parameter.name, hint))]
        hint, default = _fixed_default(hint, parameter.default)
        if default is not parameter.default and default is not NO_DEFAULT:
            self.defaults[parameter.name] = default
        description = self._description(parameter.name, hint)
        return [Field(parameter.name, self.forms.form(hint), default is NO_DEFAULT, default, description)]

    def _description(self, name: str, hint: Any) -> str:
        """A description beside the parameter goes before the docstring's."""
        return "" if description_of(stripped(hint).notes) else self.doc.parameters.get(name, "")

    def _hint(self, parameter: inspect.Parameter) -> Any:
        """Its annotation, else the type its docstring names, else the type of its default."""
        if parameter.name in self.hints:
            return self.hints[parameter.name]
        written = self.doc.types.get(parameter.name, "")
        kind = _DOCUMENTED.get(re.sub(r"\s", "", written).casefold())
        if kind is None and type(parameter.default) in (str, int, float, bool):
            kind = type(parameter.default)
        if kind is None and parameter.kind is _NAMED:
            kind = Any
        if kind is None:
            raise Undescribed(f"it has no annotation: write its type, as in `{parameter.name}: str`")
        return kind


_DOCUMENTED: Mapping[str, Any] = {
    "str": str, "string": str, "int": int, "integer": int, "float": float, "number": float, "bool": bool,
    "boolean": bool, "list": list, "array": list, "dict": dict, "object": dict, "any": Any,
    "list[str]": list[str], "listofstr": list[str], "list[int]": list[int], "list[float]": list[float],
}  # fmt: skip
"""Types as docstrings write them, without spaces."""


def _is_context(hint: Any) -> bool:
    hint = stripped(hint).hint
    return hint is Context or (is_union(hint) and any(each is Context for each in members(hint)))


def _fixed_default(hint: Any, default: Any) -> tuple[Any, Any]:
    """`x: int = Field(3, ge=0)`, as pydantic's users write it, is an annotation and a default."""
    if callable(getattr(default, "is_required", None)) and hasattr(default, "metadata"):
        inner = NO_DEFAULT if default.is_required() else default.get_default(call_default_factory=True)
        return typing.Annotated[hint, default], inner
    return hint, default


# ── a schema of the caller's own ─────────────────────────────────────────────


def explicit(function: Any, schema: JsonObject, *, skip_first: bool = False) -> Parameters:
    """The parameters of a function whose schema is given: it gets the JSON as it is.

    By name, where its parameters are the schema's properties; all arguments as one dict, where it takes one parameter
    that is none of them.
    """
    wanted = signature(function)[1 if skip_first else 0 :]
    contexts = tuple(each.name for each in wanted if _asks_for_context(function, each))
    properties = schema.get("properties")
    declared = set(properties) if isinstance(properties, Mapping) else set()
    others = tuple(each for each in wanted if each.name not in contexts)
    whole = _takes_all(others, declared)
    if whole is None:
        _check_names(others, declared, schema)
    read = copied if whole is None else lambda arguments: {whole: copied(arguments)}
    doc = documentation(doc_of(function), {each.name for each in wanted})
    return Parameters(schema, doc, read, wanted, contexts, {})


def _asks_for_context(function: Any, parameter: inspect.Parameter) -> bool:
    try:
        hints = function_hints(defined_in(function), {parameter.name: parameter.annotation})
    except Undescribed:  # its type matters to nobody here; a Context would be known
        return False
    return _is_context(hints[parameter.name])


def _takes_all(wanted: tuple[inspect.Parameter, ...], declared: set[str]) -> str | None:
    """The one parameter that takes all arguments, if there is one."""
    needed = [each for each in wanted if each.kind not in (_MANY, _NAMED)]
    first = [each for each in needed if each.default is each.empty] or needed
    if len(first) == 1 and first[0].name not in declared and first[0].kind is not inspect.Parameter.KEYWORD_ONLY:
        return first[0].name
    return None


def _check_names(wanted: tuple[inspect.Parameter, ...], declared: set[str], schema: JsonObject) -> None:
    named = [each for each in wanted if each.kind not in (_MANY, _NAMED)]
    missing = sorted(declared.difference(each.name for each in named))
    if missing and not any(each.kind is _NAMED for each in wanted):
        raise Undescribed(
            f"the schema has {', '.join(map(repr, missing))}, which the function does not take: add a parameter of "
            "that name, or take all arguments as one dict: def f(arguments)"
        )
    required = set(schema.get("required") or ())
    lost = sorted(each.name for each in named if each.default is each.empty and each.name not in required)
    if lost:
        raise Undescribed(
            f"the function needs {', '.join(map(repr, lost))}, which the schema does not require: require it there, or "
            "give the parameter a default"
        )
