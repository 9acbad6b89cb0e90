"""What makes two rows the same: a key of sixteen bytes for each row that is kept.

Knows outcomes; nothing of files.  Contract: the same row and rule give the same key everywhere.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from ..formats.alternatives import straightened
from ..formats.chat_row import ChatRow, plain_text
from ..formats.losses import normal
from ..judging.row_judge import Outcome
from ..row_json import text

SIZE = 16
_BLANK = re.compile(r"\W+")


def key_of(outcome: Outcome, rule: str) -> bytes:
    """The key of a row by `rule`: its bytes ("rows"), what it asks and calls ("calls"), what it asks ("questions")."""
    chat = outcome.chat
    if chat is None or rule in ("none", "rows"):
        own = bytes.fromhex(outcome.id)
        return (hashlib.sha256(own + b"%d" % chat.part).digest() if chat is not None and chat.part else own)[:SIZE]
    told: Any = questions(chat) if rule == "questions" else [signatures(chat), questions(chat), calls_of(chat)]
    return hashlib.sha256(text(told).encode("utf-8", "surrogatepass")).digest()[:SIZE]


def questions(chat: ChatRow) -> list[str]:
    """What the user says, in lower case and without signs."""
    return [_BLANK.sub(" ", plain_text(m)).strip().casefold() for m in chat.messages if m.get("role") == "user"]


def signatures(chat: ChatRow) -> list[Any]:
    """The tools' names and the names of their parameters, by alphabet."""
    made = []
    for tool in chat.tools or ():
        inner = tool.get("function", tool) if isinstance(tool, dict) else {}
        schema = inner.get("parameters", inner.get("input_schema")) if isinstance(inner, dict) else None
        properties = schema.get("properties") if isinstance(schema, dict) else None
        made.append([str(inner.get("name")), sorted(properties) if isinstance(properties, dict) else []])
    return sorted(made)


def calls_of(chat: ChatRow) -> list[Any]:
    """Names and arguments of the calls, those of the row's own answer among them, in order; keys by alphabet."""
    return [_ordered(call) for message in normal(straightened(chat))["messages"] for call in message.get("calls", ())]


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return [_ordered(one) for one in value] if isinstance(value, list) else value
