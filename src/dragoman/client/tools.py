"""The tools a caller gives, as what a run or a turn wants: things to run, or definitions.

Knows functions, tool sets and the definitions of all APIs; runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ..errors import UsageError
from ..schema import definitions
from ..tools import Runnable, ToolSet
from ..types import Tool

Tools: TypeAlias = "ToolSet | Sequence[Any]"

NOT_RUNNABLE = "{name!r} is only a definition and nothing here can run it; give a function, or (Tool, function)"


def toolset(tools: Any) -> ToolSet:
    """Tools to run: a tool set, several of anything that makes one, or a single one.  Raises UsageError."""
    if isinstance(tools, ToolSet):
        return tools
    members = list(_members(tools))
    definition = next(filter(_is_definition, members), None)
    if definition is not None:
        raise UsageError(NOT_RUNNABLE.format(name=_name(definition)))
    return ToolSet(*members)


def definitions_of(tools: Any) -> tuple[Tool, ...]:
    """Tools to offer: the same, and definitions as any API writes them.  Raises UsageError for two of one name."""
    found: list[Tool] = []
    for each in _members(tools):
        found += (definitions.tools([each]) or ()) if _is_definition(each) else ToolSet(each).definitions
    return tuple(found)


def _is_definition(tool: Any) -> bool:
    return isinstance(tool, Tool | Mapping) and not isinstance(tool, ToolSet)


def _members(tools: Any) -> Iterable[Any]:
    single = isinstance(tools, Tool | Runnable | Mapping) or callable(tools) or _is_pair(tools)
    if not single and (not isinstance(tools, Iterable) or isinstance(tools, str | bytes)):
        raise UsageError(f"a {type(tools).__name__} is no tools; give functions, definitions or sets of them in a list")
    return (tools,) if single else tools


def _is_pair(tools: Any) -> bool:
    """Is it `(Tool, function)`?"""
    return isinstance(tools, tuple) and len(tools) == 2 and isinstance(tools[0], Tool) and callable(tools[1])


def _name(definition: Any) -> str:
    return next((tool.name for tool in definitions.tools([definition]) or ()), "")
