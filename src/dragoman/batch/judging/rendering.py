"""Rows put through somebody's chat template, in a box: what the template writes of every turn in which the model calls.

Runs in the process that `io/learning/box.py` starts: without files or network, with an end to time and memory.
Knows templates and messages; nothing of what is read back (`proof.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...dialects.learning.marks import prefix
from ...dialects.learning.sandbox import compile_template
from ...dialects.learning.voice import CannotWrite, LearnError

Write = Callable[[Mapping[str, Any]], str]
MOST_TURNS = 32
"""Turns of one row that are rendered: a long run shows in these what it shows in all."""
WARM: dict[str, Any] = {
    "template": "{% for m in messages %}{{ m.role }}{{ m.tool_calls | tojson if m.tool_calls }}{% endfor %}",
    "rows": [{"messages": [{"role": "user", "content": "x"}], "tools": []}],
}
"""What the box does once before its limits hold."""


def render(order: Mapping[str, Any]) -> Any:
    """For each row: `turns`, the text of each turn with calls by the number of its message, and `tools`, whether the
    names of all tools are in the prompt; or `error`, in the template's own words."""
    try:
        write = compile_template(order["template"])
    except LearnError as why:
        return [{"error": str(why)} for _ in order["rows"]]
    return [_row(write, row, order.get("tokens") or {}) for row in order["rows"]]


def compiles(order: Mapping[str, Any]) -> str:
    """Why this is no template; "" for one that can be rendered."""
    try:
        compile_template(order["template"])
    except LearnError as why:
        return str(why)
    return ""


def _row(write: Write, row: Mapping[str, Any], tokens: Mapping[str, str]) -> dict[str, Any]:
    messages, tools = row["messages"], row["tools"] or None
    variables = {"bos_token": "", "eos_token": "", **tokens, "tools": tools, "add_generation_prompt": False}
    try:
        whole = write({**variables, "messages": messages})
        turns = {str(i): _turn(write, variables, messages, i) for i in _calling(messages)}
    except CannotWrite as why:
        return {"error": str(why)}
    return {"turns": turns, "tools": all(_name(tool) in whole for tool in tools or ())}


def _calling(messages: list[dict[str, Any]]) -> list[int]:
    return [i for i, message in enumerate(messages) if message.get("tool_calls")][:MOST_TURNS]


def _turn(write: Write, variables: Mapping[str, Any], messages: list[dict[str, Any]], i: int) -> str:
    """What message `i` adds to what stands before it."""
    before = write({**variables, "messages": messages[:i]}) if i else ""
    after = write({**variables, "messages": messages[: i + 1]})
    return after[len(prefix(before, after)) :]


def _name(tool: Any) -> str:
    inner = tool.get("function", tool) if isinstance(tool, dict) else {}
    return str(inner.get("name", ""))
