"""A call whose one argument stands as plain text: `Action: f`, then `Action Input: some words`, at a message's end.

ReAct was made for tools of one text, and models that learnt it write no JSON for them, or put theirs between
backticks.  What the text is meant for is known where a tool takes one text and demands nothing else; even so nothing
found here runs by itself (`overlooked.py`).  Knows texts and tools; nothing of dialects, judging or events.

Contract: pure and linear; None where the message does not end so, or the tool takes anything but one text.
Source: Yao et al., ReAct (`Search[…]`, one text a tool); LangChain's single-input agents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ...late import late
from ...records import NamedTuple
from ...types import Tool

SAID = "Action Input"
INPUT = late(
    r"(?:\A|\n)[ \t]*(?P<call>\*{0,2}Action\*{0,2}[:：]\*{0,2}[ \t]*[`\"']?(?P<name>[\w.:/-]{1,256})[`\"']?[ \t]*\n"
    r"[ \t]*\*{0,2}Action Input\*{0,2}[:：]\*{0,2}[ \t]*(?P<input>[^\n]++))"
    r"(?:\n\s*\*{0,2}Observation\*{0,2}[:：]?)?\s*\Z"
)
AROUND = "`\"'"
"""Signs between which a text may stand; they are no part of it."""


class Plain(NamedTuple):
    """One of them: where it stands, its tool's name, and its arguments."""

    start: int
    end: int
    name: str
    arguments: Mapping[str, Any]


def plain_input(text: str, find: Callable[[str], Tool | None]) -> Plain | None:
    """The call with which `text` ends, of a tool that `find` knows."""
    said = text.rfind(SAID)
    found = INPUT.search(text, _line_before(text, said)) if said >= 0 else None
    tool = find(found["name"]) if found is not None else None
    if found is None or tool is None:
        return None
    given = _arguments(found["input"].strip(), tool)
    return Plain(*found.span("call"), tool.name, given) if given is not None else None


def _line_before(text: str, at: int) -> int:
    """Where the line ends before the one before this place; 0 where there is none."""
    begin = text.rfind("\n", 0, at)
    return max(0, text.rfind("\n", 0, begin)) if begin >= 0 else 0


def _arguments(said: str, tool: Tool) -> Mapping[str, Any] | None:
    """An object between backticks; else the text, for a tool that takes one."""
    bare = said[1:-1] if len(said) > 1 and said[0] == said[-1] and said[0] in AROUND else said
    if bare.startswith(("{", "[")):
        try:
            value = json.loads(bare)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None
    name = _one_text(tool.parameters)
    return {name: bare} if name and bare and not _is_object(bare, tool) else None


def _is_object(said: str, tool: Tool) -> bool:
    """Is it an object with a sign that is wrong, rather than a text: does a parameter's name stand in it as a key?"""
    return any(f'"{name}":' in said for name in tool.parameters["properties"])


def _one_text(schema: Mapping[str, Any]) -> str:
    """The property that takes the text of a tool that demands nothing else; "" where there is none, or a choice."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ""
    required = schema.get("required")
    names = list(required) if isinstance(required, list | tuple) and required else list(properties)
    one = properties.get(names[0]) if len(names) == 1 and isinstance(names[0], str) else None
    return names[0] if isinstance(one, Mapping) and one.get("type") == "string" else ""
