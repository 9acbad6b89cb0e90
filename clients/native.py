"""A model with tools of its own, as an ASGI application: OpenAI's chat completions, streamed and whole.

It is the scripted model, which knows text only, behind the part of a server that puts tools into a prompt and takes
calls out of an answer.  Written by hand, without Dragoman's codecs or parsers, for the reasons of `sim.server`.
Contract: what the model writes on lines of its own as a call goes out as `tool_calls`, its arguments as it wrote them,
broken or not; all else is content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from dragoman.sim import WeakModel, WeakReply
from dragoman.types import Message, Role

MODEL = "weak-hermes"
"""What the model is asked by: its template is that of Hermes."""
HEAD = {"id": "chatcmpl-native", "created": 1_700_000_000, "model": "weak-native"}
_CALL = re.compile(
    r'^<tool_call>\n\{"name": "(?P<name>[^"\n]*)", "arguments": (?P<arguments>[^\n]*?)(?:\}\n</tool_call>|\Z)\n?',
    re.MULTILINE,
)
_THOUGHT = re.compile(r"<think>.*?</think>\s*", re.DOTALL)
PIECE = 12
"""Characters of an argument in one frame."""


def native(model: WeakModel) -> Starlette:
    """Serve `model` with tools."""

    async def chat(request: Request) -> Response:
        body = json.loads(await request.body())
        reply = model.reply(_messages(body), model=MODEL)
        if body.get("stream"):
            return StreamingResponse(_frames(reply), media_type="text/event-stream")
        message, finish = _message(reply)
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
        return JSONResponse({**HEAD, "object": "chat.completion", "choices": [choice], "usage": _usage(reply)})

    return Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])


# ── the template ─────────────────────────────────────────────────────────────


def _messages(body: Mapping[str, Any]) -> list[Message]:
    tools = "\n".join(json.dumps(tool) for tool in body.get("tools") or ())
    told = [Message("system", f"Tools:\n{tools}")] if tools else []
    return [*told, *map(_turn, body["messages"])]


def _turn(message: Mapping[str, Any]) -> Message:
    calls = "".join(map(_written, message.get("tool_calls") or ()))
    role = {"developer": "system"}.get(message["role"], message["role"])
    return Message(cast("Role", role), _text(message.get("content")) + calls)


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content if isinstance(content, str) else ""


def _written(call: Mapping[str, Any]) -> str:
    made = call["function"]
    return f'\n<tool_call>\n{{"name": {json.dumps(made["name"])}, "arguments": {made["arguments"]}}}\n</tool_call>'


# ── taking calls out ─────────────────────────────────────────────────────────


def _taken(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The content, and the calls: name and arguments."""
    thoughts = [found.span() for found in _THOUGHT.finditer(text)]
    calls = [c for c in _CALL.finditer(text) if not any(a <= c.start() < b for a, b in thoughts)]
    rest, end = "", 0
    for call in calls:
        rest, end = rest + text[end : call.start()], call.end()
    return (rest + text[end:]).strip(), [(call["name"], call["arguments"]) for call in calls]


def _message(reply: WeakReply) -> tuple[dict[str, Any], str]:
    content, calls = _taken(reply.text)
    if not calls:
        return {"content": content}, reply.finish
    made = [_call(n, reply, name, arguments) for n, (name, arguments) in enumerate(calls)]
    return {"content": content or None, "tool_calls": made}, "tool_calls" if reply.finish == "stop" else reply.finish


def _call(number: int, reply: WeakReply, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": f"call_{len(reply.text)}_{number}", "type": "function", "index": number, "function": function}


def _usage(reply: WeakReply) -> dict[str, int]:
    return {"prompt_tokens": 100, "completion_tokens": len(reply.chunks), "total_tokens": 100 + len(reply.chunks)}


def _frames(reply: WeakReply) -> Iterator[bytes]:
    message, finish = _message(reply)
    yield _frame({"role": "assistant", "content": ""})
    for piece in _pieces(message["content"] or ""):
        yield _frame({"content": piece})
    for call in message.get("tool_calls", ()):
        arguments = call["function"]["arguments"]
        yield _frame({"tool_calls": [{**call, "function": {**call["function"], "arguments": ""}}]})
        for piece in _pieces(arguments):
            yield _frame({"tool_calls": [{"index": call["index"], "function": {"arguments": piece}}]})
    yield _frame({}, finish)
    yield _sse({"choices": [], "usage": _usage(reply)})
    yield b"data: [DONE]\n\n"


def _pieces(text: str) -> Sequence[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def _frame(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
    return _sse({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _sse(value: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps({**HEAD, "object": "chat.completion.chunk", **value}).encode() + b"\n\n"
