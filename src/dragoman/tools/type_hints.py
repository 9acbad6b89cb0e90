"""Annotations as they stand in the source → types: forward references, aliases, type variables, qualifiers.

Knows typing's own forms and no JSON.  Contract: a name that cannot be resolved raises `Undescribed` and says which.
Names are looked for where the annotation stands, then in the functions that are being run: a class defined inside a
function is known there and nowhere else.
"""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from ..records import NamedTuple
from .qualified_names import lineage
from .type_schema import Undescribed

_OWN = __name__.rpartition(".")[0]
_QUALIFIERS = frozenset({"Required", "NotRequired", "ReadOnly", "Final", "ClassVar"})


def class_hints(kind: Any) -> dict[str, Any]:
    """The resolved annotations of a class and its bases, qualifiers and `Annotated` kept."""
    return _resolved(kind, {kind.__name__: kind})


def function_hints(function: Any, names: Mapping[str, Any]) -> dict[str, Any]:
    """`names` (parameter → annotation as written) resolved where `function` was defined."""
    found: dict[str, Any] = {}
    scope = getattr(function, "__globals__", {})
    for name, written in names.items():
        holder = types.SimpleNamespace(__annotations__={name: written}, __globals__=scope)
        try:
            found.update(_resolved(holder, _enclosed(function)))
        except Undescribed as error:
            raise error.inside(f"parameter {name!r}") from None
    return found


def resolved_text(written: Any, module: str) -> Any:
    """A forward reference that stands in an alias of `module`, resolved."""
    text = written.__forward_arg__ if isinstance(written, typing.ForwardRef) else written
    scope = vars(sys.modules[module]) if module in sys.modules else {}
    holder = types.SimpleNamespace(__annotations__={"it": text}, __globals__=scope)
    return _resolved(holder, {})["it"]


def _resolved(holder: Any, local: dict[str, Any]) -> dict[str, Any]:
    try:
        try:
            return typing.get_type_hints(holder, localns=local, include_extras=True)
        except NameError:
            return typing.get_type_hints(holder, localns={**_around(), **local}, include_extras=True)
    except NameError as error:
        raise Undescribed(
            f"the name {error.name!r} in its annotation is not known when the program runs: import or define it there, "
            "outside `if TYPE_CHECKING`"
        ) from None
    except (SyntaxError, TypeError) as error:
        raise Undescribed(f"its annotation cannot be read ({error}): write a type there") from None


def _enclosed(function: Any) -> dict[str, Any]:
    """The names a function takes from the functions around it."""
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    cells = zip(names, getattr(function, "__closure__", None) or (), strict=False)
    found = {}
    for name, cell in cells:
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def _around() -> dict[str, Any]:
    """The local names of the functions that led here, nearest first."""
    found: dict[str, Any] = {}
    frame = sys._getframe()
    while frame is not None:
        if not str(frame.f_globals.get("__name__", "")).startswith(_OWN) and frame.f_locals is not frame.f_globals:
            found = {**frame.f_locals, **found}
        frame = frame.f_back  # type: ignore[assignment]
    return found


# ── taking a hint apart ──────────────────────────────────────────────────────


class StrippedHint(NamedTuple):
    """A type without what stands around it: the notes of `Annotated`, inner ones first, and the qualifiers."""

    hint: Any
    notes: tuple[Any, ...]
    qualifiers: frozenset[str]


def stripped(hint: Any) -> StrippedHint:
    """Take `Annotated`, `Required`, `NotRequired`, `ReadOnly`, `Final`, `ClassVar` and `InitVar` off."""
    notes: tuple[Any, ...] = ()
    qualifiers: set[str] = set()
    while True:
        origin = typing.get_origin(hint)
        if hasattr(hint, "__metadata__"):
            hint, notes = hint.__origin__, (*hint.__metadata__, *notes)
        elif (name := _form_name(origin)) in _QUALIFIERS:
            qualifiers.add(name)
            hint = typing.get_args(hint)[0]
        elif _form_name(hint) in _QUALIFIERS:  # `x: Final = 3`
            qualifiers.add(_form_name(hint))
            hint = Any
        elif "dataclasses.InitVar" in lineage(type(hint)):
            hint = hint.type
        else:
            return StrippedHint(hint, notes, frozenset(qualifiers))


def _form_name(form: Any) -> str:
    """The name of one of typing's special forms, whichever package it is from."""
    module = getattr(form, "__module__", "")
    return str(getattr(form, "_name", "") or "") if module in ("typing", "typing_extensions") else ""


def is_alias(hint: Any) -> bool:
    """Is it a `type` statement's alias, or typing_extensions' of the same kind?"""
    return type(hint).__name__ == "TypeAliasType"


def alias_value(hint: Any) -> Any:
    """The type that a `type` statement's alias stands for."""
    try:
        value = hint.__value__
    except NameError as error:
        raise Undescribed(
            f"the name {error.name!r} in the alias {hint.__name__} is not known: define it first"
        ) from None
    return resolved_text(value, hint.__module__) if isinstance(value, str | typing.ForwardRef) else value


def applied(hint: Any, values: Mapping[Any, Any]) -> Any:
    """`hint` with its type variables replaced."""
    if isinstance(hint, typing.TypeVar):
        return values.get(hint, hint)
    open_ones = getattr(hint, "__parameters__", ())
    if not open_ones or isinstance(hint, type):
        return hint
    return hint[tuple(values.get(each, each) for each in open_ones)]


def variables(kind: Any, arguments: tuple[Any, ...]) -> dict[Any, Any]:
    """The type variables of a generic class and its bases, and what they stand for."""
    found = dict(zip(getattr(kind, "__parameters__", ()), arguments, strict=False))
    for base in getattr(kind, "__orig_bases__", ()):
        origin: Any = typing.get_origin(base)
        if origin not in (None, typing.Generic) and hasattr(origin, "__parameters__"):
            inner = tuple(applied(each, found) for each in typing.get_args(base))
            found = {**variables(origin, inner), **found}
    return found


def of_variable(variable: Any) -> Any:
    """The type of a variable that nothing fixes: its default, its bound, one of its constraints, anything."""
    default = getattr(variable, "__default__", None)
    if default is not None and type(default).__name__ not in ("NoDefaultType", "NoDefault"):
        return default
    if variable.__bound__ is not None:
        return variable.__bound__
    return typing.Union[variable.__constraints__] if variable.__constraints__ else Any  # noqa: UP007


def members(hint: Any) -> Iterator[Any]:
    """The members of a union."""
    yield from typing.get_args(hint)


def is_union(hint: Any) -> bool:
    """`A | B`, `Union[A, B]`, `Optional[A]`?"""
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def of_unpacked(hint: Any) -> Any:
    """The TypedDict of `**options: Unpack[…]`; None for every other hint."""
    return typing.get_args(hint)[0] if _form_name(typing.get_origin(hint)) == "Unpack" else None
