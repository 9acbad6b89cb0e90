"""Who speaks in a turn, by any of the names that corpora give.

Knows names; nothing of what is said.  Contract: capitals, blanks, hyphens and underscores make no other name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

CALL = "call"
"""The model, calling: a turn of its own in formats that part it from what is said."""
SPEAKERS: Mapping[str, str] = {
    "human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "model": "assistant",
    "chatgpt": "assistant", "chatbot": "assistant", "bing": "assistant", "bard": "assistant", "ai": "assistant", "bot": "assistant",
    "system": "system", "developer": "system", "tool": "tool", "function": "tool", "observation": "tool",
    "tool_response": "tool", "tool_result": "tool", "ipython": "tool", "environment": "tool",
    "function_response": "tool", "function_result": "tool", "function_call": CALL, "tool_call": CALL, "tool_calls": CALL,
}  # fmt: skip
"""Name → the role in the chat API, or `CALL`."""
_APART = re.compile(r"[\s-]+")


def role_of(name: str) -> str | None:
    """The role of who is called so; None for nobody."""
    known = SPEAKERS.get(name)
    return known if known is not None else SPEAKERS.get(_APART.sub("_", name.strip().casefold()))
