"""The tools of a request, read and written: definitions, and lists in which the server's own tools stand too.

Knows what definitions have in common on all wires, and the shape {"type": "function", "function": {…}} that OpenAI's
chat, Cohere and Ollama share; nothing else of any wire.  Tools that come with every request are read and written once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

from ...conversation.grown import Grown, by_growth
from ...errors import CodecError
from ...memo import TOOLS, FrozenTools, fields, memoize
from ...types import EMPTY_OBJECT_SCHEMA, NOTHING, JsonObject, Request, Tool
from .body import an_object, items, mapping, name_at, object_at, objects, plain, rest, string_at, switch_at
from .spec import LEGACY, TYPED, WireFields, own, wire_fields
from .written import written_once

Found = tuple[tuple[Tool, ...], list[Any] | None]
"""Tools, and the list they stand in with null for each of them; None where nothing else stands there."""
Read = Callable[[JsonObject], Found]

_CALLING = frozenset({"tools", "tool_choice", "parallel_tool_calls", "toolConfig"})
_FUNCTIONS = "openai_chat"
"""The wire whose fields function tools carry, wherever they come from."""

# ── reading ──────────────────────────────────────────────────────────────────


def read_tool(one: JsonObject, path: str, schema: JsonObject | None, left: JsonObject, *, strict: bool = True) -> Tool:
    """The tool whose definition is `one`; without a `schema` it takes no arguments.  `strict`: the wire has such."""
    return Tool(
        name=name_at(one, "name", path),
        description=string_at(one, "description", path),
        parameters=EMPTY_OBJECT_SCHEMA if schema is None else schema,
        strict=(strict and switch_at(one, "strict", path)) or False,
        metadata=left,
    )


def read_tools(listed: Iterable[tuple[str, JsonObject]], read: Callable[[JsonObject, str], Tool | None]) -> Found:
    """The tools in a list, `read` giving None for one of the server's own."""
    tools: list[Tool] = []
    places: list[Any] = []
    for path, one in listed:
        tool = read(one, path)
        tools += [] if tool is None else [tool]
        places.append(one if tool is None else None)
    return tuple(tools), foreign_tools(places)


def foreign_tools(listed: Sequence[Any]) -> list[Any] | None:
    """What `interleaved` needs: the tools that are not functions in their places; None when all are functions."""
    return list(listed) if any(one is not None for one in listed) else None


def read_once(*names: str) -> Callable[[Read], Read]:
    """A reader of the tools in the fields `names` of a body, which reads the same content once."""

    def decorate(read: Read) -> Read:
        remembering = memoize(fields(*names), _frozen)(read)

        @by_growth
        def of_known(listed: Sequence[Any], start: int, known: None) -> Found:
            return _frozen(read({names[0]: listed}))

        @wraps(read)
        def reading(body: JsonObject) -> Found:
            given: Any = body.get(names[0])
            alone = type(given) is Grown and not any(body.get(name) for name in names[1:])
            tools, foreign = of_known(given) if alone else remembering(body)
            return tools, foreign and [dict(one) if isinstance(one, dict) else one for one in foreign]

        return reading

    return decorate


def _frozen(found: Found, *_: Any) -> Found:
    tools, foreign = found
    return (FrozenTools(tools) if len({tool.name for tool in tools}) == len(tools) else tools), foreign


def without_tools(request: Request) -> Request:
    """`request` with everything about tools taken off: for models whose tools stand in the prompt."""
    extra = {key: value for key, value in request.extra.items() if key not in _CALLING}
    reduced: JsonObject = WireFields(request.extra.api, extra) if isinstance(request.extra, WireFields) else extra
    return replace(request, tools=(), tool_choice=None, parallel=None, extra=reduced or NOTHING)


# ── writing ──────────────────────────────────────────────────────────────────


def definition(tool: Tool, key: str, schema: Any) -> dict[str, Any]:
    """The name, the description, the `schema` under the wire's own `key`, and whether it is strict."""
    wire: dict[str, Any] = {"name": tool.name}
    if tool.description:
        wire["description"] = tool.description
    wire[key] = schema
    if tool.strict:
        wire["strict"] = True
    return wire


def interleaved(tools: Iterable[dict[str, Any]], foreign: Any) -> list[Any]:
    """The tools of a body: ours in the places marked null in `foreign`, its own where they stood, the rest after."""
    ours = iter(tools)
    placed = [next(ours, None) if one is None else one for one in items(foreign)]
    return [one for one in placed if one is not None] + list(ours)


def write_tools(tools: tuple[Tool, ...], write: Callable[[Tool], dict[str, Any]], foreign: Any) -> list[Any]:
    """The tools of a body, as `interleaved` gives them: those that come with every request are written once."""
    return _written_once(tools, write) if foreign is None else interleaved(map(write, tools), foreign)


@memoize(TOOLS)
def _written_once(tools: tuple[Tool, ...], write: Callable[[Tool], dict[str, Any]]) -> list[Any]:
    listed = [write(tool) for tool in tools]
    return written_once(listed) if type(tools) is FrozenTools else listed


# ── functions ────────────────────────────────────────────────────────────────


@read_once("tools", "functions")
def read_functions(body: JsonObject) -> Found:
    """The functions among the tools of `body`."""
    return list_functions(body, lambda one, path: None)


def list_functions(body: JsonObject, read_other: Callable[[JsonObject, str], Tool | None]) -> Found:
    """The functions among the tools of `body`, and what `read_other` takes for a tool."""

    def read(one: JsonObject, path: str) -> Tool | None:
        return _read_function(one, path) or read_other(one, path)

    tools, foreign = read_tools(objects(body, "tools"), read)
    older = [_read_function({"function": one, LEGACY: True}, path) for path, one in objects(body, "functions")]
    return (*tools, *filter(None, older)), foreign


def _read_function(one: JsonObject, path: str) -> Tool | None:
    nested = one.get("function") is not None
    if one.get("type", "function") != "function" or not (nested or "name" in one):
        if one.get("type") == "function" or "function" in one:
            raise CodecError(NO_FUNCTION, f"{path}.function", _FUNCTIONS)
        return None
    function = an_object(one["function"], f"{path}.function") if nested else one
    where = f"{path}.function" if nested else path
    others = rest(function, ("type", "name", "description", "parameters", "strict"))
    left = rest(one, ("type", "function")) if nested else {}
    schema = object_at(function, "parameters", where)
    return read_tool(function, where, schema, wire_fields(_FUNCTIONS, {**left, "function": others or None}))


NO_FUNCTION = "a tool of type function has none; give its name, description and parameters"


def write_function(tool: Tool) -> dict[str, Any]:
    """The definition of a function."""
    left = rest(own(_FUNCTIONS, tool.metadata), (TYPED, LEGACY))
    function = definition(tool, "parameters", plain(tool.parameters))
    return {"type": "function", **left, "function": {**function, **mapping(left.get("function"))}}
