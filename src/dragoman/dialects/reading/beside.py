"""Fields beside a call's name that wires put there: which say nothing of the call, and which may be its arguments.

Knows keys and values; nothing of tools, rows or text.
Contract: a field whose value no wire would put there is never said to mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from ...late import late

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
FIELDS = SPOKEN | WIRES.keys() | {"thought", "thoughts", "reason", "reasoning"}
"""Keys a call object may carry beside its name and arguments (recorded traffic; malformations.md §3)."""


RESULTS: Mapping[str, Callable[[Any], bool]] = {
    "role": _one_of("tool", "function", "tool_result", "tool_response", "observation", "ipython"),
    "type": _one_of("tool_result", "tool_response", "tool_output", "function_call_output", "function_response"),
}
"""What says that a record is the result of a call; a role where there is a content."""


def tells_result(beside: Mapping[str, Any]) -> str:
    """By which of these fields this is the record of a result, which is no call; "" for none."""
    if RESULTS["type"](beside.get("type")):
        return "type"
    return "role" if RESULTS["role"](beside.get("role")) and beside.get("content") not in (None, "") else ""


def says_nothing(key: str, value: Any, beside: Collection[str]) -> bool:
    """Does this field, of those `beside` a name, say nothing of the call, whatever arguments its tool has?"""
    if value in (None, "", [], {}):
        return True
    return (key in SPOKEN and "role" in beside) or (key in WIRES and WIRES[key](value))
