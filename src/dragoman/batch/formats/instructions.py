"""The format in which a row is an instruction and the answer to it, both plain text: Alpaca's, and Dolly's.

Knows these columns; nothing of conversations or of how calls in an answer are judged.
Sources: tatsu-lab/alpaca and databricks/databricks-dolly-15k dataset cards; LLaMA-Factory data/README.md ("Alpaca
Format"), which joins instruction and input by a line's end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..row_json import BadRow
from .chat import TOOL_KEYS, sorted_fields, tools_of
from .chat_row import ChatRow, a_list, a_text, paired, said
from .spec import ANY, Demands, Format

MORE = ("input", "context")
"""What the instruction is about, where that stands apart."""
ANSWERS = ("output", "response")
BESIDE = ("chosen", "rejected")
PAIR = 2
"""What was asked before, and what was answered."""


def _fits(obj: Mapping[str, Any]) -> bool:
    if not isinstance(obj.get("instruction"), str) or "messages" in obj or "conversations" in obj:
        return False
    more = all(isinstance(obj.get(key) or "", str) for key in MORE)
    return more and (bool(_answer(obj)) or all(isinstance(obj.get(key), str) for key in BESIDE))


def _answer(obj: Mapping[str, Any]) -> str:
    """The column of the answer."""
    return next((key for key in ANSWERS if isinstance(obj.get(key), str)), "")


def _read(obj: dict[str, Any]) -> ChatRow:
    rest = dict(obj)
    instruction = a_text(rest.pop("instruction", None), "$.instruction")
    more = [a_text(rest.pop(key), f"$.{key}") for key in MORE if key in rest]
    made = [said("system", rest.pop("system"))] if isinstance(rest.get("system"), str) and rest["system"] else []
    for i, turn in enumerate(a_list(rest.pop("history", None) or [], "$.history")):
        two = a_list(turn, path := f"$.history[{i}]")
        if len(two) != PAIR:
            raise BadRow("unreadable", f"a question and its answer are wanted, not {len(two)} values", path)
        made += [said(role, a_text(text, path)) for role, text in zip(("user", "assistant"), two, strict=True)]
    made.append(said("user", "\n".join(one for one in (instruction, *more) if one)))
    answer = _answer(rest)
    if answer:
        made.append(said("assistant", rest.pop(answer)))
    row = ChatRow(messages=paired(made), tools=tools_of(rest))
    rest = {key: value for key, value in rest.items() if key not in TOOL_KEYS}
    for key in BESIDE:
        if isinstance(rest.get(key), str):
            row.branches[key] = [said("assistant", rest.pop(key))]
    return sorted_fields(row, rest)


ALPACA = Format(
    name="alpaca", fits=_fits, read=_read, demands=Demands(dialect=ANY),
    sample='{"instruction":"hi","input":"there","output":"Seven."}',
    source="https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md",
)  # fmt: skip
