"""Members of Anthropic's toolsets in calls: on this wire a call names the member and its set, elsewhere one tool.

Knows the two fields of a `tool_use` block; nothing of other blocks.
Source: anthropic 2.12, types/beta/beta_computer_*_tool_use_block.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...conversation.grown import same
from ...types import JsonObject, Message, Part, Request, Tool, ToolCall
from ..shared.body import mapping, string
from ..shared.spec import TOOLSET, own
from .messages_blocks import NAME

_SET = "toolset_name"


def members_of(request: Request | None) -> Mapping[str, dict[str, Any]]:
    """Canonical name → the fields of a call of it, for the members of toolsets in `request`."""
    return _members(request.tools) if request is not None else {}


def _members(tools: Iterable[Tool]) -> dict[str, dict[str, Any]]:
    given = ((tool.name, mapping(own(NAME, tool.metadata).get(TOOLSET))) for tool in tools)
    return {name: {"name": one["member"], _SET: one["name"]} for name, one in given if one}


def canonical_calls(messages: Sequence[Message], tools: Iterable[Tool]) -> tuple[Message, ...]:
    """The history, its calls by the names that the tools have here: members of two sets may share one there."""
    names = {(one["name"], one[_SET]): name for name, one in _members(tools).items() if one["name"] != name}
    return tuple(_renamed(message, names) for message in messages) if names else same(messages)


def _renamed(message: Message, names: Mapping[tuple[str, str], str]) -> Message:
    return message.with_parts([_call(part, names) for part in message.parts])


def _call(part: Part, names: Mapping[tuple[str, str], str]) -> Part:
    if not isinstance(part, ToolCall):
        return part
    left: JsonObject = own(NAME, part.metadata)
    name = names.get((part.name, string(left.get(_SET))))
    return part if name is None else replace(part, name=name)
