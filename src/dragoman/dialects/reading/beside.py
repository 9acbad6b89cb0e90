"""Fields beside a call's name that wires put there: which say nothing of the call, and which may be its arguments.

Knows keys and values; nothing of tools, rows or text.
Contract: a field whose value no wire would put there is never said to mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...late import late

FIELDS = frozenset(
    {"id", "type", "index", "role", "thought", "thoughts", "call_id", "tool_call_id", "tool_use_id", "reason",
     "reasoning", "content", "status"}
)  # fmt: skip
"""Keys a call object may carry beside its name and arguments (recorded traffic; malformations.md §3)."""
CALL_ID = late(r"(?:call|toolu|tool|tooluse|fc|chatcmpl|func|functions?)(?:[_.:-].*)?|[0-9a-fA-F]{8}[0-9a-fA-F-]*")
"""An id as servers and models make them."""


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and CALL_ID.fullmatch(value) is not None


def _one_of(*words: str) -> Callable[[Any], bool]:
    known = frozenset(words)
    return lambda value: isinstance(value, str) and value.casefold() in known


WIRES: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("id", "call_id", "tool_call_id", "tool_use_id"), _is_id),
    "type": _one_of("function", "function_call", "tool_use", "tool_call", "tool", "tooluse", "call", "custom"),
    "role": _one_of("assistant", "model", "tool", "function"),
    "status": _one_of("completed", "in_progress", "incomplete"),
    "index": lambda value: type(value) is int,
}
"""What wires write under these keys."""
SPOKEN = frozenset({"content"})
"""What a message says, where it says whose it is."""


def says_nothing(key: str, value: Any, *, spoken: bool) -> bool:
    """Does this field say nothing of the call, whatever arguments its tool has?  `spoken` that it is a message's."""
    if value in (None, "", [], {}):
        return True
    return (spoken and key in SPOKEN) or (key in WIRES and WIRES[key](value))
