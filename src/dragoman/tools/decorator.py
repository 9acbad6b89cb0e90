"""`@tool` marks a function as a tool; `runnable` makes a tool of anything that can be called.

Knows how a call of the model becomes a call of the function; does not run it by itself.
Contract: `@tool` returns the very function it was given, and raises `UsageError` there and then when the function
cannot be described to a model; the arguments a function gets are Python values of the types it asked for, and its
own to change.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, TypeVar, Unpack, overload

from ..errors import ErrorCode, ToolError, UsageError
from ..schema.definitions import tool as read_definition
from ..schema.validation import Fault, check_schema
from ..types import JsonObject, Tool
from .parameters import Parameters, explicit, signature
from .spec import Approval, Context, Runnable
from .type_schema import InvalidValue, Undescribed

F = TypeVar("F", bound=Callable[..., Any])
_MARK = "__dragoman_tool__"


class Options(TypedDict, total=False):
    """Properties of a tool that its function does not show; see `Runnable` for the meanings."""

    name: str | None
    description: str | None
    parameters: JsonObject | None
    read_only: bool
    idempotent: bool
    timeout: float | None
    approval: Approval
    final: bool
    strict: bool


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(**options: Unpack[Options]) -> Callable[[F], F]: ...
def tool(function: Any = None, /, **options: Any) -> Any:
    """Mark a function as a tool, and return it: `@tool` or `@tool(read_only=True, timeout=30)`.

    Types become the JSON Schema of the arguments, the docstring (Google, NumPy or Sphinx) the descriptions; a parameter
    annotated `Context` is given one.  The options are those of `runnable`.  Raises `UsageError` when the function
    cannot be described to a model.
    """
    _check_options(options)
    return functools.partial(_marked, options=options) if function is None else _marked(function, options)


def runnable(what: Any, /, **options: Unpack[Options]) -> Runnable:
    """A function (marked or plain), a `Runnable`, or `(Tool, function)` as a `Runnable`.

    name         what models call it; the function's own name
    description  the one that models see; the docstring
    parameters   the JSON Schema of the arguments; made from the annotations.  With it the function gets plain JSON: by
                 name, or all arguments as one dict where it takes one parameter that is no property of the schema
    strict       ask APIs that can to hold the model to the schema
    read_only, idempotent, timeout, approval, final  are those of `Runnable`

    In `(Tool, function)` the tool may be written as any provider writes definitions.
    """
    _check_options(options)
    if isinstance(what, Runnable):
        return _changed(what, options)
    if isinstance(what, tuple) and len(what) == 2:
        definition = read_definition(what[0])
        return _changed(_explicit(definition, what[1], definition.name), options)
    if not callable(what) and not isinstance(what, classmethod):
        raise UsageError(
            f"a {type(what).__name__} is no tool: give a function, a Runnable or a pair (Tool, function); for the "
            "tools of a module or an object use ToolSet.of(…)"
        )
    mark = _mark_of(what.func if isinstance(what, functools.partial) else what)
    if mark is not None and not options and mark.function is what:
        return mark.prepared()
    return _made(what, Options(**{**(mark.options if mark else {}), **options}))  # type: ignore[typeddict-item]


def marked_in(holder: Any) -> Iterator[Any]:
    """Everything marked with `@tool` in a module, or among the methods of an object, in the order it was written."""
    if isinstance(holder, types.ModuleType):
        yield from (each for each in vars(holder).values() if isinstance(each, Runnable) or _mark_of(each))
        return
    kind = holder if isinstance(holder, type) else type(holder)
    names = dict.fromkeys(name for base in reversed(kind.__mro__) for name in vars(base))
    for name in names:
        if _mark_of(inspect.getattr_static(kind, name)):
            yield getattr(holder, name)


# ── marking ──────────────────────────────────────────────────────────────────


@dataclass(slots=True, eq=False)
class _Mark:
    """The mark that `@tool` leaves on a function: the options, and the runnable once it is known not to be a method."""

    function: Any
    options: dict[str, Any]
    made: Runnable | None = None

    def prepared(self) -> Runnable:
        if self.made is None:
            self.made = _made(self.function, self.options)
        return self.made


def _marked(function: Any, options: dict[str, Any]) -> Any:
    if not callable(function) and not isinstance(function, classmethod | staticmethod):
        raise UsageError(f"@tool stands before a function, not a {type(function).__name__}: use runnable(…) for others")
    inner = getattr(function, "__func__", function) if isinstance(function, classmethod | staticmethod) else function
    is_method = _waits_for_self(inner) or isinstance(function, classmethod)
    mark = _Mark(inner, options)
    mark.made = _made(inner, options, skip_first=is_method)
    if is_method:
        mark.made = None  # it was only a check: the runnable is made of the bound method
    try:
        setattr(inner, _MARK, mark)
    except (AttributeError, TypeError):
        raise UsageError(
            f"a {type(inner).__name__} cannot be marked: use runnable({_name(inner, {}) or '…'}) where it is needed"
        ) from None
    return function


def _mark_of(what: Any) -> _Mark | None:
    inner = getattr(what, "__func__", what) if isinstance(what, types.MethodType | classmethod | staticmethod) else what
    found = getattr(inner, "__dict__", {}).get(_MARK) if not isinstance(inner, type) else vars(inner).get(_MARK)
    return found if isinstance(found, _Mark) else None


def _waits_for_self(function: Any) -> bool:
    """Is it a function that stands in a class, and so will be called with the object first?"""
    if not inspect.isfunction(function) or not re.search(r"(^|\.)(?!<)[^.]+\.[^.]+$", function.__qualname__):
        return False
    first = next(iter(signature(function)), None)
    return first is not None and first.name in ("self", "cls") and first.annotation is first.empty


# ── making ───────────────────────────────────────────────────────────────────


def _check_options(options: Any) -> None:
    unknown = sorted(set(options) - set(Options.__annotations__))
    if unknown:
        raise UsageError(f"a tool has no option {unknown[0]!r}: there are {', '.join(Options.__annotations__)}")
    for option in ("name", "description"):
        given = options.get(option)
        if given is not None and not (isinstance(given, str) and (given or option != "name")):
            raise UsageError(f"a tool's {option} is {given!r}: give a text, or None for the function's own")
    schema = options.get("parameters")
    if schema is not None and not isinstance(schema, Mapping):
        raise UsageError(f"a tool's parameters are a {type(schema).__name__}: give a JSON Schema as a mapping")


def _made(function: Any, options: Any, *, skip_first: bool = False) -> Runnable:
    name = _name(function, options)
    if not name:
        raise UsageError("this function has no name a model could use: give it one with name=…")
    if not skip_first and _waits_for_self(function):
        raise UsageError(f"tool {name!r} is a method: give the method of an object (thing.{name}), not of the class")
    schema = options.get("parameters")
    if schema is not None:
        found = _explicit(Tool(name=name, parameters=schema), function, name, skip_first=skip_first)
        return _changed(found, {"description": found.tool.description, **_given(options)})
    parameters = _of(name, lambda: Parameters.of(function, skip_first=skip_first))
    found = _runnable(
        Tool(name=name, description=_description(parameters), parameters=parameters.schema), function, parameters
    )
    return _changed(found, options)


def _explicit(definition: Tool, function: Any, name: str, *, skip_first: bool = False) -> Runnable:
    if not callable(function):
        raise UsageError(f"tool {name!r} is given with a {type(function).__name__}: give what runs it, a function")
    parameters = _of(name, lambda: explicit(function, definition.parameters, skip_first=skip_first))
    if not definition.description:
        definition = replace(definition, description=_description(parameters))
    return _runnable(definition, function, parameters)


def _of(name: str, read: Callable[[], Parameters]) -> Parameters:
    try:
        return read()
    except Undescribed as error:
        raise UsageError(f"tool {name!r}: {error.reason}") from None


def _runnable(definition: Tool, function: Any, parameters: Parameters) -> Runnable:
    check_schema(definition.parameters, definition.name)
    call = Call(function, parameters)
    return Runnable(tool=definition, function=call, check=call.check)


def _given(options: Any) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}


def _changed(found: Runnable, options: Any) -> Runnable:
    """`found` with the options in place of its own."""
    given = _given(options)
    definition = {key: given.pop(key) for key in ("name", "description", "strict") if key in given}
    schema = given.pop("parameters", None)
    if schema is not None and schema is not found.tool.parameters:
        raise UsageError(
            "parameters=… belongs to a function: a Runnable has its schema, make a new one with (Tool, function)"
        )
    return replace(found, tool=replace(found.tool, **definition), **given) if definition or given else found


def _name(function: Any, options: Any) -> str:
    if options.get("name"):
        return str(options["name"])
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", "")
    if name and name != "<lambda>":
        return str(name)
    kind = "" if inspect.isroutine(function) else type(function).__name__
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind).lower()


def _description(parameters: Parameters) -> str:
    returns = f"Returns: {parameters.doc.returns}" if parameters.doc.returns else ""
    return "\n\n".join(filter(None, (parameters.doc.text, returns)))


# ── calling ──────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Call:
    """Calls `function` with the arguments a model gave.  Two are equal when they call the same function."""

    function: Any
    parameters: Parameters = field(compare=False, repr=False)

    def __call__(self, arguments: JsonObject, context: Context) -> Any:
        """The function's value, or an awaitable of it; arguments it cannot take are a `ToolError`."""
        try:
            positional, named = self.parameters.call(arguments, context)
        except InvalidValue as error:
            raise ToolError(ErrorCode.INVALID_ARGS, f"{error}; correct the arguments and call again") from error
        return drained(self.function(*positional, **named), context.report)

    def check(self, arguments: JsonObject) -> list[Fault]:
        """Faults that the types find, though the schema does not."""
        try:
            self.parameters.read(arguments)
        except InvalidValue as error:
            return list(error.faults)
        return []


def drained(value: Any, report: Callable[[str], None]) -> Any:
    """The value of a call: generators are run to their end, and texts they yield on the way reported as progress.

    The result of a generator is what it returns; when it returns nothing, all it yielded: texts joined, else a list.
    """
    if isinstance(value, types.GeneratorType):
        return _run_through(value, report)
    if isinstance(value, types.AsyncGeneratorType):
        return _run_through_async(value, report)
    if isinstance(value, Awaitable):
        return _awaited(value, report)
    return value


async def _awaited(value: Awaitable[Any], report: Callable[[str], None]) -> Any:
    found = await value
    ended = drained(found, report) if isinstance(found, types.GeneratorType | types.AsyncGeneratorType) else found
    return await ended if isinstance(ended, Awaitable) else ended


def _run_through(steps: types.GeneratorType[Any, Any, Any], report: Callable[[str], None]) -> Any:
    yielded: list[Any] = []
    while True:
        try:
            yielded.append(_reported(next(steps), report))
        except StopIteration as done:
            return _all(yielded) if done.value is None else done.value


async def _run_through_async(steps: AsyncIterable[Any], report: Callable[[str], None]) -> Any:
    return _all([_reported(each, report) async for each in steps])


def _reported(each: Any, report: Callable[[str], None]) -> Any:
    if isinstance(each, str):
        report(each)
    return each


def _all(yielded: list[Any]) -> Any:
    return "".join(yielded) if yielded and all(isinstance(each, str) for each in yielded) else yielded
