"""Content blocks of Claude, which Anthropic Messages and Bedrock's Converse spell each in its own way.

Knows in which order blocks stand, which reasoning may go back and how cached input is counted; no field of a block.
"""

from __future__ import annotations

from typing import Any, Protocol

from ...records import NamedTuple
from ...types import JsonObject, Message, Reasoning, ToolResult, Usage
from .body import count
from .spec import Quirks


class WritePart(Protocol):
    """A part → the blocks of a wire; `unsigned` lets reasoning pass that bears no signature."""

    def __call__(self, part: Any, *, unsigned: bool) -> list[dict[str, Any]]: ...


def write_blocks(message: Message, write: WritePart, quirks: Quirks) -> list[dict[str, Any]]:
    """The blocks of a message, results first: the API demands it."""
    others = [part for part in message.parts if not isinstance(part, ToolResult)]
    unsigned = quirks.unsigned_reasoning == "send"
    return [block for part in (*message.results, *others) for block in write(part, unsigned=unsigned)]


def may_go_back(part: Reasoning, *, unsigned: bool) -> bool:
    """Is this reasoning signed, or taken without?"""
    return bool(part.metadata.get("signature") or (unsigned and part.text))


class Counts(NamedTuple):
    """The names of a wire's token counts, in which cached input is no part of the input."""

    input: str
    output: str
    read: str
    written: str

    def usage(self, counts: JsonObject, reasoning: int = 0) -> Usage | None:
        """What `counts` say; None when they say nothing."""
        given, made, cached, written = (count(counts.get(key)) for key in self)
        total = Usage(
            input=given + cached + written, output=made, cached=cached, cache_written=written, reasoning=reasoning
        )
        return total if total != Usage() else None


def uncached(usage: Usage) -> int:
    """The input that no cache had a part in."""
    return max(0, usage.input - usage.cached - usage.cache_written)
