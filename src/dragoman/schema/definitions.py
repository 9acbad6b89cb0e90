"""Tool definitions as any provider writes them → `Tool`.

Reads the forms; does not judge the schemas (`schema.check_schema` does) and writes nothing (codecs do).
Contract: a definition is recognised by its own keys, in the order of `_WRAPPERS` and `_SCHEMA_KEYS`; fields we do not
model are kept in `Tool.metadata`; what is no function definition raises `UsageError` and says which one it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import UsageError
from ..memo import FrozenTools
from ..types import EMPTY_OBJECT_SCHEMA, NOTHING, JsonObject, Tool
from .shape import KINDS
from .validation import standard

_LISTS = ("functionDeclarations", "function_declarations")  # Gemini: one entry of the list holds many definitions
_WRAPPERS = ("function", "toolSpec", "tool_spec")           # OpenAI Chat and Ollama; Bedrock Converse
_SCHEMA_KEYS = (
    "parameters",              # OpenAI Chat and Responses, Ollama, Gemini (its own OpenAPI types)
    "input_schema",            # Anthropic
    "inputSchema",             # MCP; Bedrock Converse, there inside {"json": …}
    "parametersJsonSchema",    # Gemini
    "parameters_json_schema",  # Gemini's Python SDK
    "schema",                  # ExAthena (seed document 000)
)
_OURS = frozenset({"name", "description", "strict", "type", *_SCHEMA_KEYS, *_WRAPPERS, *_LISTS})
_FUNCTION_TYPES = (None, "function", "custom")  # Anthropic calls a plain tool "custom"; others are run by the server


def tools(definitions: Iterable[Tool | Mapping[str, Any]] | None) -> tuple[Tool, ...] | None:
    """All definitions as tools, in order; None stays None (*not known*, which is not *none*).

    The same definition given twice counts once.  Raises `UsageError` when one cannot be read or two different ones have
    the same name.
    """
    if definitions is None or type(definitions) is FrozenTools:
        return definitions
    definitions = _of_a_set(definitions)
    if isinstance(definitions, Tool | Mapping | str | bytes) or not isinstance(definitions, Iterable):
        raise _no_list(definitions)
    found: dict[str, Tool] = {}
    twice: dict[str, None] = {}
    for index, entry in enumerate(definitions):
        for read in _read_entry(entry, f"tools[{index}]"):
            if (first := found.setdefault(read.name, read)) is not read and _sent(first) != _sent(read):
                twice[read.name] = None
    if twice:
        raise UsageError(f"two tools are named {', '.join(map(repr, twice))}: names must differ, rename or drop one")
    return tuple(found.values())


def _of_a_set(given: Any) -> Any:
    """The definitions of a set of tools to run (`tools.ToolSet`), if it is one; else what is given."""
    found = getattr(given, "definitions", None)
    return found if isinstance(given, Mapping) and isinstance(found, tuple) else given


def _no_list(given: Any) -> UsageError:
    kind = type(given).__name__
    if callable(given):
        return UsageError(f"tools must be a list of definitions, not {kind}: {OF_FUNCTIONS}")
    if isinstance(given, Tool | Mapping) or isinstance(getattr(given, "tool", None), Tool):
        return UsageError(f"tools must be a list of definitions, not {kind}: put it in a list")
    return UsageError(f"tools must be a list of definitions, not {kind}: give Tools, or any provider's definitions")


OF_FUNCTIONS = "ToolSet(function, …).definitions makes definitions of functions"


def _sent(tool: Tool) -> tuple[Any, ...]:
    """What a model is sent of it: all but its metadata."""
    return tool.name, tool.description, tool.parameters, tool.strict


def tool(definition: Tool | Mapping[str, Any]) -> Tool:
    """One definition as a tool.  Raises `UsageError` when it cannot be read or holds several."""
    found = list(_read_entry(definition, "the definition"))
    if len(found) != 1:
        raise UsageError(f"the definition holds {len(found)} tools: use tools([…]) for several")
    return found[0]


def _read_entry(entry: Any, where: str) -> Iterator[Tool]:
    if isinstance(entry, Tool):
        yield entry
        return
    if isinstance(runs := getattr(entry, "tool", None), Tool):  # a `tools.Runnable`
        yield runs
        return
    entry = _of_a_set(entry)
    if isinstance(entry, tuple):  # `(Tool, function)` where it was given as a pair
        yield from _read_entry(entry[0], where) if callable(entry[-1]) and len(entry) == 2 else entry
        return
    if not isinstance(entry, Mapping):
        why = OF_FUNCTIONS if callable(entry) else "give a Tool or a definition as a mapping"
        raise UsageError(f"{where} is a {type(entry).__name__}: {why}")
    listed = next((key for key in _LISTS if key in entry), None)
    if listed is None:
        yield _read(entry, where)
        return
    members = entry[listed]
    if not isinstance(members, list | tuple):
        raise UsageError(f"{where}.{listed} must be a list of function declarations")
    for index, member in enumerate(members):
        yield from _read_entry(member, f"{where}.{listed}[{index}]")


def _read(entry: Mapping[str, Any], where: str) -> Tool:
    inner = next((wrapped for key in _WRAPPERS if isinstance(wrapped := entry.get(key), Mapping)), entry)
    name = inner.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError(f"{where} has no name: give it a name, a description and the JSON Schema of its arguments")
    key = next((key for key in _SCHEMA_KEYS if inner.get(key) is not None), None)
    declared = entry.get("type")
    if key is None and (declared not in _FUNCTION_TYPES or (declared == "custom" and "format" in inner)):
        raise UsageError(f"{where} ({name!r}) is of type {declared!r}, not a function with a schema: leave it out here")
    description = inner.get("description")
    return Tool(
        name=name,
        description=description if isinstance(description, str) else "",
        parameters=EMPTY_OBJECT_SCHEMA if key is None else _parameters(inner[key], f"{where}.{key} ({name!r})"),
        strict=(inner.get("strict") or entry.get("strict")) is True,
        metadata=_unmodelled(entry, inner),
    )


def _parameters(schema: Any, where: str) -> JsonObject:
    if isinstance(schema, Mapping) and isinstance(schema.get("json"), Mapping):  # Bedrock
        schema = schema["json"]
    if isinstance(schema, bool):  # JSON Schema's "anything" and "nothing"
        return {} if schema else {"not": {}}
    if not isinstance(schema, Mapping):
        raise UsageError(f"{where} must be a JSON Schema object, not {type(schema).__name__}")
    declared = schema.get("type")
    # Gemini and some generators write OBJECT, STRING …; what no validator knows is rewritten, the rest stays as given.
    return standard(schema) if isinstance(declared, str) and declared not in KINDS else schema


def _unmodelled(entry: Mapping[str, Any], inner: Mapping[str, Any]) -> JsonObject:
    """The fields we do not model: `annotations`, `cache_control`, `outputSchema` …"""
    if entry.keys() <= _OURS and inner.keys() <= _OURS:
        return NOTHING
    return {k: v for source in (entry, inner) for k, v in source.items() if k not in _OURS}
