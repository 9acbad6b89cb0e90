"""Rows of batch files: a request or an answer under its `custom_id`, of OpenAI, vLLM and Anthropic.

Knows the wrapping; what stands inside is read by the codec of its API.
Sources: OpenAI batch API; vLLM `run-batch`; Anthropic message batches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from ..row_json import dumps
from .chat import sorted_fields, written_messages, written_tools
from .chat_row import ChatRow, an_object, paired
from .exchanges import read_answer, read_request
from .spec import Demands, Format

ASKED = ("body", "params")
TOLD = ("response", "result")
"""Columns of the request and of the answer: OpenAI's, Anthropic's."""


def _fits(obj: Mapping[str, Any]) -> bool:
    if "custom_id" not in obj:
        return False
    return any(isinstance(obj.get(key), dict) for key in (*ASKED, "result")) or "response" in obj


def _read(obj: dict[str, Any]) -> ChatRow:
    rest = {key: value for key, value in obj.items() if key not in (*ASKED, *TOLD)}
    asked = next((key for key in ASKED if isinstance(obj.get(key), dict)), "")
    if asked:
        body = obj[asked]
        row = read_request(body, f"$.{asked}")
        row.extra["body"] = {key: value for key, value in body.items() if key not in ("messages", "tools")}
        return sorted_fields(row, rest)
    told = next((key for key in TOLD if key in obj), TOLD[0])
    answer = an_object(obj.get(told), f"$.{told}")
    body = answer.get("body", answer.get("message", answer))  # vLLM once wrote no `body` level
    is_answer = isinstance(body, dict) and not ({"choices", "content", "output", "candidates"}).isdisjoint(body)
    row = ChatRow(messages=paired(read_answer(body, f"$.{told}") if is_answer else []))
    row.extra["response"] = answer
    return sorted_fields(row, rest)


def _write(row: ChatRow, demands: Demands) -> dict[str, Any]:
    """A request for each row: the conversation is what is asked, and answers beside it are not."""
    body = row.extra.get("body")
    model = body if isinstance(body, dict) else {"model": str(row.metadata.get("model", ""))}
    asked = {**model, "messages": written_messages(row.messages, demands), **written_tools(row.tools, demands)}
    name = row.metadata.get("custom_id", row.metadata.get("id"))
    key = hashlib.sha256(dumps(asked)).hexdigest()[:16]
    return {
        "custom_id": str(name) if name is not None else f"row-{key}",
        "method": row.extra.get("method", "POST"), "url": row.extra.get("url", "/v1/chat/completions"), "body": asked,
    }  # fmt: skip


BATCH = Format(
    name="batch", fits=_fits, read=_read, write=_write, demands=Demands(answers="any"),
    sample='{"custom_id":"r1","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"hi"}]}}',
    source="https://platform.openai.com/docs/guides/batch",
)  # fmt: skip
