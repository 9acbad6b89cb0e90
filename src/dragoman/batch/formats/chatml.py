"""The format in which a row is a whole conversation as one text, its turns between ChatML's marks.

Knows the marks; nothing of how calls in a turn are judged.
Source: github.com/openai/openai-python chatml.md (v0.28); Qwen's chat templates, in which results stand in the user's
turns between `<tool_response>` marks, and tools in the system prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..row_json import BadRow
from .chat import TOOL_KEYS, sorted_fields, tools_of
from .chat_row import Chat, ChatRow, paired, said
from .conversations import RESPONSES
from .speakers import CALL, role_of
from .spec import ANY, Demands, Format
from .toolbox import tools_in_text

COLUMNS = ("text", "content", "prompt", "conversation")
BEGIN, END = "<|im_start|>", "<|im_end|>"
_TURN = re.compile(r"<\|im_start\|>([^\n<]*)\n?(.*?)(?:<\|im_end\|>|(?=<\|im_start\|>)|\Z)", re.DOTALL)


def _column(obj: Mapping[str, Any]) -> str:
    """The column of the text."""
    return next((key for key in COLUMNS if isinstance(obj.get(key), str) and BEGIN in obj[key]), "")


def _fits(obj: Mapping[str, Any]) -> bool:
    return "messages" not in obj and "completion" not in obj and bool(_column(obj))


def _read(obj: dict[str, Any]) -> ChatRow:
    column = _column(obj)
    text = obj[column]
    if _TURN.sub("", text).strip():
        raise BadRow("unreadable", f"words stand outside of {BEGIN} and {END}", f"$.{column}")
    made = [one for found in _TURN.finditer(text) for one in _turn(found[1].strip(), found[2], f"$.{column}")]
    while made and made[-1]["role"] == "assistant" and not made[-1]["content"]:  # what asks for an answer
        made.pop()
    tools = tools_of(obj)
    if tools is None and made and made[0]["role"] == "system":
        tools = tools_in_text(made[0]["content"]) or None
    rest = {key: value for key, value in obj.items() if key != column and key not in TOOL_KEYS}
    return sorted_fields(ChatRow(messages=paired(made), tools=tools), rest)


def _turn(speaker: str, text: str, path: str) -> Iterator[Chat]:
    role = role_of(speaker)
    if role is None or role == CALL:
        raise BadRow("unreadable", f"nobody is called {speaker!r}", path)
    text = text.strip("\n")
    results = RESPONSES.findall(text) if role in ("user", "tool") else []
    if results and not RESPONSES.sub("", text).strip():
        yield from (said("tool", one) for one in results)
    else:
        yield said(role, text)


CHATML = Format(
    name="chatml", fits=_fits, read=_read, demands=Demands(ids="none", tools="text", dialect=ANY),
    sample='{"text":"<|im_start|>user\\nhi<|im_end|>\\n<|im_start|>assistant\\n<tool_call>\\n{\\"name\\": \\"f\\", \\"arguments\\": {\\"a\\": 1}}\\n</tool_call><|im_end|>\\n<|im_start|>user\\n<tool_response>\\n7\\n</tool_response><|im_end|>\\n<|im_start|>assistant\\nSeven.<|im_end|>\\n","tools":[{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"integer"}}}}]}',
    source="https://github.com/openai/openai-python/blob/release-v0.28.0/chatml.md",
)  # fmt: skip
