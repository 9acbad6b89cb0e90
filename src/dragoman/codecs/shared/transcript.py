"""A conversation as one text, for wires that take a prompt and no messages.

Knows canonical messages; no wire.  Contract: no text is left out; one user message alone is itself.
Source: seeds.md A1 and (b) ("flattened `User:` / `Assistant:`").
"""

from __future__ import annotations

from collections.abc import Sequence

from ...types import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from .arguments import arguments_text
from .media import note
from .results import marked

_SPEAKERS = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}


def instructions(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """The text of the system messages the conversation begins with, and the other messages."""
    start = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    return "\n\n".join(filter(None, map(message_as_text, messages[:start]))), messages[start:]


def transcript(messages: Sequence[Message]) -> str:
    """The conversation, turn by turn, ending where the assistant is to speak."""
    if len(messages) == 1 and messages[0].role == "user":
        return message_as_text(messages[0])
    turns = [f"{_SPEAKERS[message.role]}: {message_as_text(message)}" for message in messages]
    return "\n\n".join([*turns, "Assistant:"])


def message_as_text(message: Message) -> str:
    """What a message says, its calls and results in words."""
    return "\n\n".join(filter(None, map(_part_as_text, message.parts)))


def _part_as_text(part: Part) -> str:
    match part:
        case Text(text):
            return text
        case Media():
            return note(part)
        case ToolCall():
            return f"[called {part.name} with {arguments_text(part, broken=True)}]"
        case ToolResult():
            content = "\n\n".join(_part_as_text(piece) for piece in marked(part))
            return f"[{part.name or part.call_id} answered]\n{content}"
        case Reasoning() | Opaque():
            return ""
    return ""
