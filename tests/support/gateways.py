"""What the tests of the gateway share: a gateway in process, the same request in every front's API, slow providers, keys."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

import openai
import pytest

from dragoman.codecs import CODECS
from dragoman.codecs.shared.frames import readers
from dragoman.effects import Close, Effect, Open, Opened, PerformAsync, Read
from dragoman.errors import ErrorKind, ProviderError
from dragoman.events import Event, assemble
from dragoman.gateway import Access, GatewayConfig, create_app
from dragoman.gateway.telemetry.exchange_record import Observer
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.types import Response
from tests.support.asgi import Client, Reply, call
from tests.support.clocks import LONG
from tests.support.upstreams import UPSTREAMS, ScriptedReply, answered, model, text_reply

ALICE, BOB = "sk-alice", "sk-bob"
SCHEMA = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
FENCE = '~~~tool_call\n{"name": "look", "arguments": {"at": "sky"}}\n~~~'
HERMES = '<tool_call>\n{"name": "look", "arguments": {"at": "sky"}}\n</tool_call>'
PATHS = {
    "openai_chat": "/v1/chat/completions",
    "openai_responses": "/v1/responses",
    "anthropic_messages": "/v1/messages",
    "ollama_chat": "/api/chat",
    "gemini": "/v1beta/models/m:generateContent",
}


FUNCTION: dict[str, Any] = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": SCHEMA}}
USER = {"role": "user", "content": "What is up?"}
ASKS: dict[str, dict[str, Any]] = {
    "openai_chat": {
        "model": "m",
        "messages": [USER],
        "tools": [FUNCTION],
        "stream_options": {"include_usage": True},
    },
    "anthropic_messages": {
        "model": "m",
        "max_tokens": 100,
        "messages": [USER],
        "tools": [{"name": "look", "description": "Look.", "input_schema": SCHEMA}],
    },
    "ollama_chat": {"model": "m", "messages": [USER], "tools": [FUNCTION]},
    "openai_responses": {"model": "m", "input": "What is up?", "tools": [{"type": "function", **FUNCTION["function"]}]},
    "gemini": {
        "contents": [{"role": "user", "parts": [{"text": "What is up?"}]}],
        "tools": [{"functionDeclarations": [{"name": "look", "parametersJsonSchema": SCHEMA}]}],
    },
}


every_front = pytest.mark.parametrize("front", PATHS)
every_back = pytest.mark.parametrize("back", UPSTREAMS)
streamed_and_whole = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


def app(
    memory: ScriptedPeer, back: str = "openai_chat", *, config: dict[str, Any] | None = None,
    observers: Sequence[Observer] = (), **route: Any,
) -> Any:
    to = Route(provider=COMPATIBLE[back], base_url="http://model.test", **route)
    return create_app(GatewayConfig(default=to, **(config or {})), memory, observers=observers)


def ask(gateway: Any, front: str, *, stream: bool, **more: Any) -> Reply:
    headers = more.pop("headers", {})
    path, body = asking(front, stream=stream)
    return call(gateway, path, {**body, **more}, headers=headers)


def asking(front: str, *, stream: bool) -> tuple[str, dict[str, Any]]:
    """The address and the body of a request."""
    if front == "gemini":
        return (PATHS[front].replace(":g", ":streamG") + "?alt=sse" if stream else PATHS[front]), ASKS[front]
    return PATHS[front], {**ASKS[front], "stream": stream}


def read(front: str, reply: Reply, *, stream: bool) -> Response:
    """The reply by the rules of its API."""
    codec = CODECS[front]
    if not stream:
        return codec.decode_response(reply.json)
    decoder, reader = codec.decode_stream(), readers[codec.frames]()
    frames = [*reader.feed(reply.body), *reader.close()]
    events: list[Event] = [e for frame in frames for e in decoder.feed(frame)]
    return assemble([*events, *decoder.close()])


def called(response: Response) -> list[tuple[str, Any]]:
    return [(c.name, dict(c.arguments)) for c in response.calls]


def message_of(front: str, reply: Reply) -> str:
    """The message of an error, by the rules of the caller's API; fails where it is not told by them."""
    body = reply.json
    if front == "ollama_chat":
        assert list(body) == ["error"]
        error = body["error"]
    else:
        assert front != "anthropic_messages" or body["type"] == "error"
        assert isinstance(body["error"]["status" if front == "gemini" else "type"], str)
        error = body["error"]["message"]
    assert isinstance(error, str)
    return error


PIECE = b'data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n'


class Slow:
    """A provider that answers when it is told to, piece by piece; `closed` is set when it is let go."""

    def __init__(self, *, head: bool = True) -> None:
        self.pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self.opened, self.closed = asyncio.Event(), asyncio.Event()
        self._answers = head

    def performer(self) -> Callable[[Effect], Any]:
        return self.perform

    async def aclose(self) -> None:
        return None

    async def perform(self, effect: Effect) -> Any:
        match effect:
            case Open():
                self.opened.set()
                if not self._answers:
                    await asyncio.Event().wait()
                return Opened(200, {"content-type": "text/event-stream"})
            case Read():
                return await self.pieces.get()
            case Close():
                self.closed.set()
                return None
            case _:
                return "" if "NewId" in type(effect).__name__ else 0.0


def slow_app(slow: Slow, **config: Any) -> Any:
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    return create_app(GatewayConfig(default=to, **config), slow)


async def converse(front: str, slow: Slow, script: Callable[[Client], Any], **config: Any) -> Reply:
    client = Client(slow_app(slow, **config), *asking(front, stream=True))
    running = asyncio.ensure_future(client.run())
    await script(client)
    return await asyncio.wait_for(running, LONG)


KEY = "sk-a-key-of-alice"


def row(key: str = KEY, name: str = "alice", **more: Any) -> Access:
    return Access(name=name, sha256=hashlib.sha256(key.encode()).hexdigest(), **more)


def held(**more: Any) -> dict[str, Any]:
    """A configuration that asks for Alice's key."""
    return {"access": (row(**more),)}


def bearer(key: str = KEY) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


DOWN = Answer(status=ProviderError("cannot reach it; is it running?", kind=ErrorKind.NETWORK))
CALLS = ScriptedReply(("I look.",), (("a1", "look", {"at": "sky"}),))


def always(sent: Open) -> Answer:
    """A model that answers whatever it is asked."""
    return answered("openai_chat", CALLS, json.loads(sent.body) if sent.body else {})


class Stage:
    """What a gateway on a real socket, one for all tests of a module, asks; `plays` is the model that answers now."""

    def __init__(self) -> None:
        self.plays, self.url = ScriptedPeer([]), ""

    def performer(self) -> PerformAsync:
        return self.plays.performer()

    async def aclose(self) -> None:
        return None

    def script(self, *texts: str) -> ScriptedPeer:
        """From now on a model of OpenAI's chat API that says these."""
        self.plays = model("openai_chat", *map(text_reply, texts))
        return self.plays


def openai_client(address: str, key: str) -> Any:  # the SDK types every event and item: here they are what they are
    return openai.OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0)
