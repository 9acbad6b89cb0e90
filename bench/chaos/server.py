"""The weak model behind two servers: without a tool API, and with one such as vLLM gives a Hermes model.

The second renders tools, calls and results into the prompt as a chat template does, and reads back calls that are
written to the letter (as the servers' own parsers do); everything else it leaves as text.  Both count their requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dragoman.codecs import CODECS
from dragoman.dialects import DIALECTS
from dragoman.sim.loopback import serving
from dragoman.sim.model import WeakModel
from dragoman.turn.text_tools import PromptStyle, to_text
from dragoman.types import Message, Text

from .memory import Remembering

CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)
HERMES = PromptStyle(dialect=DIALECTS["hermes"])


class Counted:
    """A server and how often it was asked."""

    def __init__(self, model: WeakModel | Remembering, *, native: bool) -> None:
        self._model, self._native = model, native
        self.asked = 0
        self.url = ""

    async def chat(self, request: Request) -> Response:
        """`POST /v1/chat/completions`, whole."""
        body = await request.json()
        self.asked += 1
        if body.get("tools") and not self._native:
            return JSONResponse({"error": {"message": "this model does not support tools"}}, 400)
        asked = CODECS["openai_chat"].decode_request(body)
        told = to_text(asked, HERMES) if asked.tools else asked
        messages = [Message(m.role, [Text(m.text)]) for m in told.messages]
        reply = self._model.reply(messages, model=body["model"], max_tokens=body.get("max_tokens"))
        message, finish = {"role": "assistant", "content": reply.text}, reply.finish
        if asked.tools and (calls := _strictly(reply.text, self.asked)):
            content = reply.text[: reply.text.index("<tool_call>")].strip() or None
            message, finish = {"role": "assistant", "content": content, "tool_calls": calls}, "tool_calls"
        used = {"prompt_tokens": 1, "completion_tokens": len(reply.chunks), "total_tokens": 1 + len(reply.chunks)}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"]}
        return JSONResponse({**head, "choices": [choice], "usage": used})

    async def models(self, _: Request) -> Response:
        """`GET /v1/models`."""
        data = [{"id": "weak", "object": "model", "created": 1, "owned_by": "sim", "max_model_len": 32768}]
        return JSONResponse({"object": "list", "data": data})


def _strictly(text: str, turn: int) -> list[dict[str, Any]]:
    """The calls, if all of them are written to the letter."""
    try:
        found = [json.loads(body) for body in CALL.findall(text)]
        made = [(call["name"], json.dumps(call["arguments"])) for call in found]
    except (ValueError, KeyError, TypeError):
        return []
    return [
        {"id": f"call_{turn}_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(made)
    ]


@contextmanager
def running(*, native: bool, seed: int, model: Remembering | None = None) -> Iterator[Counted]:
    """Serve a model on loopback: the weak one, unless another is given."""
    counted = Counted(model or WeakModel(seed=seed), native=native)
    routes = [
        Route("/v1/chat/completions", counted.chat, methods=["POST"]),
        Route("/v1/models", counted.models),
    ]
    with serving(Starlette(routes=routes)) as url:
        counted.url = url
        yield counted
