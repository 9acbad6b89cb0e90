"""A conversation as one text, for wires that take a prompt and no messages.

Knows canonical messages; no wire.  Contract: nothing said is left out; one user message alone is itself.
Source: seeds.md A1 and (b) ("flattened `User:` / `Assistant:`").
"""

from __future__ import annotations

from collections.abc import Sequence

from ...types import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from .arguments import written
from .media import note
from .results import marked

_SPEAKERS = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}


def instructions(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """The text of the system messages the conversation begins with, and the other messages."""
    start = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    return "\n\n".join(filter(None, map(spoken, messages[:start]))), messages[start:]


def transcript(messages: Sequence[Message]) -> str:
    """The conversation, turn by turn, ending where the assistant is to speak."""
    if len(messages) == 1 and messages[0].role == "user":
        return spoken(messages[0])
    turns = [f"{_SPEAKERS[message.role]}: {spoken(message)}" for message in messages]
    return "\n\n".join([*turns, "Assistant:"])


def spoken(message: Message) -> str:
    """What a message says, its calls and results in words."""
    return "\n\n".join(filter(None, map(_said, message.parts)))


def _said(part: Part) -> str:
    match part:
        case Text(text):
            return text
        case Media():
            return note(part)
        case ToolCall():
            return f"[called {part.name} with {written(part)}]"
        case ToolResult():
            told = "\n\n".join(_said(piece) for piece in marked(part))
            return f"[{part.name or part.call_id} answered]\n{told}"
        case Reasoning() | Opaque():
            return ""
    return ""
