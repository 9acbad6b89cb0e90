"""What the requirement tests share: tools as the documents have them, and a call's name and arguments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dragoman.types import Tool, ToolCall

READ_FILE = Tool(
    name="read_file",
    description="Read a file from the filesystem. Returns its content.",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path"],
    },
)
UPSERT = Tool(
    name="kom.memory.v1.upsert_memory",
    description="Store notes.",
    parameters={
        "type": "object",
        "properties": {
            "namespace": {"type": "string"},
            "items": {
                "type": "array",
                "items": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
            },
        },
        "required": ["namespace", "items"],
    },
)
SEARCH = Tool(
    name="kom.memory.v1.search_memory",
    description="Find notes.",
    parameters={
        "type": "object",
        "properties": {"namespace": {"type": "string"}, "query": {"type": "object"}},
        "required": ["namespace"],
    },
)


def calls_of(calls: Iterable[ToolCall]) -> list[tuple[str, Any]]:
    """Names and arguments, in order."""
    return [(c.name, dict(c.arguments)) for c in calls]


def fence(body: str) -> str:
    """A `~~~tool_call` block."""
    return f"~~~tool_call\n{body}\n~~~"
