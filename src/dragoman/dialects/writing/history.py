"""Results and past turns as the text a model of a dialect is shown: what was said, the calls, and what came of them.

Knows the record of `dialects/spec.py`, and `render.py` for the calls; no dialect by name, nothing of parsing.
Contract: never raises for a call that a dialect cannot carry, for history is read by the model and not by the parser.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...errors import mark
from ...jsontext import dumps
from ...types import Json, Media, Message, Text, Tool, ToolCall, ToolResult
from ..spec import Dialect, JsonCall, Span
from .render import Unrenderable, render

MAX_THOUGHT = 200
"""Characters of a protocol's `thought` (seed document 004, guardrails)."""
AS_WRITTEN = "as_written"
"""Key of the metadata of a text that a model was corrected for: no history shows it in another form."""
DEFAULT_RESULT = '<tool_result name="{name}">\n{content}\n</tool_result>'
"""How a result is told where the row says nothing: marked, named, on lines of its own."""
PLAIN_TURN = Dialect(name="past_call", call=Span(("<tool_call>\n",), ("\n</tool_call>",)), args=JsonCall())
"""How a past call is shown in a dialect that cannot carry it: history is read by the model, not by the parser."""


def render_result(result: ToolResult, dialect: Dialect) -> str:
    """A tool's result as the model of `dialect` is shown it; a failure is headed by `[ERROR:CODE] `.

    In a result form that is itself a JSON object, the fields are written as JSON: a content that is JSON stands as it
    is, any other as a string.  Pass untrusted content through `neutral.neutralise` first.
    """
    form = dialect.result or DEFAULT_RESULT
    content = "".join(p.text if isinstance(p, Text) else _media(p) for p in result.content)
    if result.is_error:
        content = mark(result.error_code, content)
    if form.startswith("{{"):
        inside = {"name": dumps(result.name)[1:-1], "id": dumps(result.call_id)[1:-1], "content": _as_json(content)}
    else:
        inside = {"name": result.name, "id": result.call_id, "content": content}
    return form.format(**inside)


def _media(part: Media) -> str:
    return f"[{' '.join(filter(None, (part.mime or 'media', part.name or part.url)))}]"


def _as_json(text: str) -> str:
    """`text` if it is JSON on one line, else `text` as a JSON string."""
    try:
        return dumps(json.loads(text))
    except ValueError:
        return dumps(text)


def render_message(message: Message, dialect: Dialect, *, tools: Sequence[Tool] | None = None, start: int = 0) -> str:
    """One past message as text: what was said, then the calls; for a message of results, the results in order.

    Never raises for a call the dialect cannot carry: it is shown in a plain JSON spelling instead.  In a protocol where
    a message is one JSON object, what was said beside a call becomes its thought, and an answer its final form, but for
    one that was refused (`AS_WRITTEN`).
    """
    if message.results:
        return "\n".join(render_result(r, dialect) for r in message.results)
    notation = dialect.args
    if isinstance(notation, JsonCall) and notation.answer and message.role == "assistant":
        return _protocol_turn(message, dialect, notation, tools, start)
    calls = _past_calls(message.calls, dialect, tools, start, "")
    text = "".join(p.text if isinstance(p, Text) else _media(p) for p in message.parts if isinstance(p, Text | Media))
    return text + ("\n" if text and calls and not text.endswith("\n") else "") + calls


def _past_calls(
    calls: Sequence[ToolCall], dialect: Dialect, tools: Sequence[Tool] | None, start: int, thought: str
) -> str:
    try:
        return render(calls, dialect, tools=tools, start=start, thought=thought)
    except Unrenderable:
        return render(calls, PLAIN_TURN)


def _protocol_turn(
    message: Message, dialect: Dialect, notation: JsonCall, tools: Sequence[Tool] | None, start: int
) -> str:
    if message.calls:
        return _past_calls(message.calls, dialect, tools, start, _thought(message.reasoning or message.text))
    refused = any(part.metadata.get(AS_WRITTEN) for part in message.parts if isinstance(part, Text))
    return message.text if refused or not message.text else final_answer(message.text, notation)


def final_answer(content: Json, notation: JsonCall) -> str:
    """A final answer in a protocol that has a form for it: `{"final": {"content": …}}`."""
    value = content
    for key in reversed(notation.answer):
        value = {key: value}
    return dumps(value)


def _thought(said: str) -> str:
    said = " ".join(said.split())
    return said if len(said) <= MAX_THOUGHT else said[: MAX_THOUGHT - 1].rsplit(" ", 1)[0] + "…"
