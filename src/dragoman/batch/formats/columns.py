"""The columns of a row under the names, and in the form, that readers know: turns in JSON text, columns of other names.

Knows keys; nothing of what a format makes of them.  Contract: a row that has nothing of it comes back as it was.
Sources: SWE-bench/SWE-smith-trajectories, Agent-Ark/Toucan-1.5M (`messages` as text), internlm/Agent-FLAN,
BitAgent/tool_calling (`conversation`), nvidia/When2Call train_pref (`chosen_response`), ms-swift (`rejected_response`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..row_json import BadRow, loads

TURNS = ("messages", "conversations", "chosen", "rejected")
"""Columns of turns, which some corpora write as text."""
RENAMED: Mapping[str, str] = {
    "conversation": "conversations", "chosen_response": "chosen", "rejected_response": "rejected",
    "chosen_messages": "chosen", "rejected_messages": "rejected",
}  # fmt: skip
"""Other names of them."""
ANSWERS = ("chosen", "rejected")


def with_known_columns(obj: dict[str, Any]) -> dict[str, Any]:
    """The row, its turns as lists under the names that readers know."""
    for old, new in RENAMED.items():
        if old in obj and new not in obj:
            obj = {new if key == old else key: value for key, value in obj.items()}
    for key in TURNS:
        value = obj.get(key)
        if type(value) is str and (turns := _turns_in(value)) is not None:
            obj = {**obj, key: turns}
    return obj


def _turns_in(text: str) -> list[Any] | None:
    """The turns that a text holds as JSON; None for any other text."""
    if text.lstrip()[:1] != "[":
        return None
    try:
        found = loads(text.encode("utf-8", "surrogatepass"))
    except BadRow:
        return None
    is_talk = isinstance(found, list) and all(isinstance(one, dict) and ("role" in one or "from" in one) for one in found)
    return found if is_talk else None
