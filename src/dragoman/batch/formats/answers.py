"""Formats of answers alone: a text that a model wrote, the tools it was given, and perhaps what was expected of it.

Knows the columns in which such texts stand; nothing of how they are judged.
Sources: the corpora of `bench/real.py` (recorded outputs of models on the Berkeley leaderboard, and texts of issues);
the columns `response` and `completion` of vendors' logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..row_json import BadRow
from .chat import TOOL_KEYS, sorted_fields, tools_of
from .chat_row import ChatRow, a_text, said
from .spec import ANY, Demands, Format

TEXTS = ("raw_output", "text", "completion", "response", "output")
"""Columns of the text, the first that there is."""
TRUTHS = ("expected_possible", "expected_calls")
"""Columns of the calls that were expected."""
ASKED = ("prompt", "question", "query")


def _fits(obj: Mapping[str, Any]) -> bool:
    return isinstance(obj.get(_text_key(obj)), str) and any(key in obj for key in TOOL_KEYS) and "messages" not in obj


def _text_key(obj: Mapping[str, Any]) -> str:
    return next((key for key in TEXTS if key in obj), "")


def _read(obj: dict[str, Any]) -> ChatRow:
    rest = dict(obj)
    text = a_text(rest.pop(_text_key(obj)), f"$.{_text_key(obj)}")
    asked = next((key for key in ASKED if isinstance(rest.get(key), str)), "")
    messages = [said("user", rest.pop(asked))] if asked else []
    row = ChatRow(messages=[*messages, said("assistant", text)], tools=tools_of(rest))
    for key in [key for key in TOOL_KEYS if key in rest]:
        del rest[key]
    truth = next((key for key in TRUTHS if key in rest), "")
    if truth:
        row.gold = rest.pop(truth)
        if row.gold is not None and not isinstance(row.gold, list):
            raise BadRow("unreadable", "the expected calls must be a list", f"$.{truth}")
    return sorted_fields(row, rest)


ANSWER = Format(
    name="answer", fits=_fits, read=_read, demands=Demands(dialect=ANY),
    sample='{"raw_output":"No.","tools":[{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"integer"}}}}],"expected_possible":[]}',
    source="bench/real.py; docs/recall.md",
)  # fmt: skip
