"""The weak model behind real HTTP: OpenAI's chat completions and Ollama's chat, whole and streamed, without tools.

The bodies are written here by hand, and not by our codecs: a peer that shares our code would share our mistakes.
Like a real server of a model without tools, it answers a request that carries `tools` with 400, unless it ignores
them, and it takes `max_tokens`/`num_predict` and `stop` seriously.

Contract: bad bodies get the API's own error body; what is streamed is exactly what would be sent whole.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ..dialects import DIALECTS
from ..errors import UsageError
from ..types import Message, Role
from .loopback import serving
from .model import FAMILY, WeakModel, WeakReply, is_weak

OLLAMA_VERSION = "0.12.0"
"""The version of Ollama whose behaviour is imitated."""
CREATED = 1_700_000_000
CREATED_AT = "2023-11-14T22:13:20Z"
"""A scripted model has no clock: every answer was made at the same moment."""


@dataclass(frozen=True, slots=True)
class LoggedExchange:
    """One request this server answered, as it understood it, and the reply."""

    model: str
    messages: tuple[Message, ...]
    reply: WeakReply


@dataclass(slots=True)
class Journal:
    """Requests and replies, in order; for showing, and for tests."""

    exchanges: list[LoggedExchange] = field(default_factory=list)


class Refusal(Exception):
    """A request this server does not take: the HTTP status and the sentence that goes back."""

    message: str
    status: int

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class _ChatRequest:
    model: str
    messages: tuple[Message, ...]
    stream: bool
    max_tokens: int | None
    stop: tuple[str, ...]
    usage: bool = False


def app(
    model: WeakModel,
    *,
    ignore_tools: bool = False,
    any_name: bool = False,
    delay: float = 0.0,
    journal: Journal | None = None,
) -> Starlette:
    """The ASGI application.

    `delay` is the pause before each streamed piece, in seconds; `any_name` answers to names of other families too, as
    plain `weak`.
    """
    served = _Handlers(model, ignore_tools, any_name, delay, journal or Journal())
    return Starlette(
        routes=[
            Route("/v1/chat/completions", served.openai, methods=["POST"]),
            Route("/v1/models", _openai_models),
            Route("/api/chat", served.ollama, methods=["POST"]),
            Route("/api/tags", _ollama_tags),
            Route("/api/show", _ollama_show, methods=["POST"]),
            Route("/api/version", _ollama_version),
        ]
    )


@contextmanager
def running(
    model: WeakModel | None = None,
    *,
    ignore_tools: bool = False,
    any_name: bool = False,
    delay: float = 0.0,
    journal: Journal | None = None,
    port: int = 0,
) -> Iterator[str]:
    """Serve a model (a plain `WeakModel()` when none is given) on loopback; gives the base URL, ends with the block."""
    made = app(model or WeakModel(), ignore_tools=ignore_tools, any_name=any_name, delay=delay, journal=journal)
    with serving(made, port=port) as url:
        yield url


@dataclass(frozen=True, slots=True)
class _Handlers:
    model: WeakModel
    ignore_tools: bool
    any_name: bool
    delay: float
    journal: Journal

    async def openai(self, request: Request) -> Response:
        return await self._answer(request, _read_openai, _OPENAI)

    async def ollama(self, request: Request) -> Response:
        return await self._answer(request, _read_ollama, _OLLAMA)

    async def _answer(
        self, request: Request, read: Callable[[Mapping[str, Any]], _ChatRequest], wire: _Wire
    ) -> Response:
        try:
            body = _object(await request.body())
            chat = read(body)
            if body.get("tools") and not self.ignore_tools:
                raise Refusal(400, f"registry.ollama.ai/library/{chat.model} does not support tools")
            reply = self._reply(chat)
        except Refusal as refused:
            return JSONResponse(wire.error(refused), refused.status)
        self.journal.exchanges.append(LoggedExchange(chat.model, chat.messages, reply))
        if not chat.stream:
            return JSONResponse(wire.whole(chat, reply))
        return StreamingResponse(self._paced(wire.stream(chat, reply)), media_type=wire.media_type)

    def _reply(self, chat: _ChatRequest) -> WeakReply:
        name = FAMILY if self.any_name and not is_weak(chat.model) else chat.model
        try:
            return self.model.reply(chat.messages, model=name, max_tokens=chat.max_tokens, stop=chat.stop)
        except UsageError as error:
            raise Refusal(404, f"model {chat.model!r} not found: {error}") from error

    async def _paced(self, frames: Iterator[bytes]) -> AsyncIterator[bytes]:
        for frame in frames:
            await asyncio.sleep(self.delay)
            yield frame


# ── reading requests ─────────────────────────────────────────────────────────


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body)
    except ValueError as error:
        raise Refusal(400, f"invalid JSON in the request body: {error}") from error
    if not isinstance(value, dict):
        raise Refusal(400, "the request body must be a JSON object")
    return value


def _read_openai(body: Mapping[str, Any]) -> _ChatRequest:
    options = body.get("stream_options") or {}
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    return _ChatRequest(
        *_model_and_messages(body),
        bool(body.get("stream", False)),
        _limit(limit),
        _stops(body.get("stop")),
        bool(options.get("include_usage")),
    )


def _read_ollama(body: Mapping[str, Any]) -> _ChatRequest:
    options = body.get("options") or {}
    stream = bool(body.get("stream", True))
    return _ChatRequest(
        *_model_and_messages(body), stream, _limit(options.get("num_predict")), _stops(options.get("stop"))
    )


def _model_and_messages(body: Mapping[str, Any]) -> tuple[str, tuple[Message, ...]]:
    model, messages = body.get("model"), body.get("messages")
    if not isinstance(model, str) or not model:
        raise Refusal(400, "model is required")
    if not isinstance(messages, list) or not messages or not all(isinstance(m, dict) for m in messages):
        raise Refusal(400, "messages must be a list of at least one message")
    return model, tuple(Message(_role(m.get("role")), _flat(m.get("content"))) for m in messages)


_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}


def _role(role: object) -> Role:
    known = _ROLES.get(role) if isinstance(role, str) else None
    if known is None:
        raise Refusal(400, f"unknown role {role!r}; use one of {', '.join(_ROLES)}")
    return known


def _flat(content: object) -> str:
    """The text of a message: a string, null, or a list of parts of which only text is understood."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _limit(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _stops(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(word for word in value if isinstance(word, str)) if isinstance(value, list) else ()


# ── writing answers ──────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Wire:
    media_type: str
    whole: Callable[[_ChatRequest, WeakReply], dict[str, Any]]
    stream: Callable[[_ChatRequest, WeakReply], Iterator[bytes]]
    error: Callable[[Refusal], dict[str, Any]]


def _counts(chat: _ChatRequest, reply: WeakReply) -> tuple[int, int]:
    """Tokens in and out; four characters of the prompt count as one token."""
    return sum(len(m.text) // 4 + 1 for m in chat.messages), len(reply.chunks)


def _openai_usage(chat: _ChatRequest, reply: WeakReply) -> dict[str, int]:
    into, out = _counts(chat, reply)
    return {"prompt_tokens": into, "completion_tokens": out, "total_tokens": into + out}


def _openai_head(chat: _ChatRequest, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-weak", "object": kind, "created": CREATED, "model": chat.model}


def _openai_whole(chat: _ChatRequest, reply: WeakReply) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish}
    return _openai_head(chat, "chat.completion") | {"choices": [choice], "usage": _openai_usage(chat, reply)}


def _openai_stream(chat: _ChatRequest, reply: WeakReply) -> Iterator[bytes]:
    head = _openai_head(chat, "chat.completion.chunk")
    yield _sse(head | _choice({"role": "assistant", "content": ""}))
    for chunk in reply.chunks:
        yield _sse(head | _choice({"content": chunk}))
    yield _sse(head | _choice({}, reply.finish))
    if chat.usage:
        yield _sse(head | {"choices": [], "usage": _openai_usage(chat, reply)})
    yield b"data: [DONE]\n\n"


def _choice(delta: dict[str, str], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _sse(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _openai_error(refused: Refusal) -> dict[str, Any]:
    kind = {404: "not_found_error"}.get(refused.status, "invalid_request_error")
    return {"error": {"message": refused.message, "type": kind, "param": None, "code": None}}


def _ollama_whole(chat: _ChatRequest, reply: WeakReply) -> dict[str, Any]:
    return _ollama_piece(chat, reply.text) | _ollama_end(chat, reply)


def _ollama_stream(chat: _ChatRequest, reply: WeakReply) -> Iterator[bytes]:
    for chunk in reply.chunks:
        yield _line(_ollama_piece(chat, chunk) | {"done": False})
    yield _line(_ollama_piece(chat, "") | _ollama_end(chat, reply))


def _ollama_piece(chat: _ChatRequest, text: str) -> dict[str, Any]:
    return {"model": chat.model, "created_at": CREATED_AT, "message": {"role": "assistant", "content": text}}


def _ollama_end(chat: _ChatRequest, reply: WeakReply) -> dict[str, Any]:
    into, out = _counts(chat, reply)
    durations = dict.fromkeys(("total_duration", "load_duration", "prompt_eval_duration", "eval_duration"), 0)
    return {"done": True, "done_reason": reply.finish, "prompt_eval_count": into, "eval_count": out, **durations}


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"


_OPENAI = _Wire("text/event-stream", _openai_whole, _openai_stream, _openai_error)
_OLLAMA = _Wire("application/x-ndjson", _ollama_whole, _ollama_stream, lambda refused: {"error": refused.message})


# ── listing ──────────────────────────────────────────────────────────────────


def model_names() -> Sequence[str]:
    """Every name this server lists; more are understood (`model.habits`)."""
    return [FAMILY, *(f"{FAMILY}-{row.name}" for row in dict.fromkeys(DIALECTS.values()))]


async def _openai_models(_: Request) -> Response:
    rows = [{"id": name, "object": "model", "created": CREATED, "owned_by": "dragoman"} for name in model_names()]
    return JSONResponse({"object": "list", "data": rows})


async def _ollama_tags(_: Request) -> Response:
    details = {"format": "script", "family": FAMILY, "parameter_size": "0", "quantization_level": "none"}
    rows = [
        {"name": name, "model": name, "modified_at": CREATED_AT, "size": 0, "digest": "0" * 64, "details": details}
        for name in model_names()
    ]
    return JSONResponse({"models": rows})


async def _ollama_show(_: Request) -> Response:
    details = {"format": "script", "family": FAMILY}
    return JSONResponse({"details": details, "model_info": {}, "template": "", "capabilities": ["completion"]})


async def _ollama_version(_: Request) -> Response:
    return JSONResponse({"version": OLLAMA_VERSION})
