"""What the model server of a load test says, in the words of each API, and what its clients ask.

A model's name says how it answers: `KIND-PACE-CHUNKS`, as `text-20-200`: 200 pieces of text, 20 ms between two.
Kinds: text (prose and Markdown with the signs they hold), thought (reasoning before it), call (arguments of a native
call), counted (text whose chunks say each how many tokens it is so far), plain (prose without a sign).
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, NamedTuple

from dragoman import Message, Request, Tool
from dragoman.codecs import CODECS
from dragoman.codecs.shared.frames import writers
from dragoman.codecs.shared.spec import Codec, Stamp
from dragoman.events import CallDelta, CallEnded, CallStarted, Ended, Event, ReasoningDelta, Started, TextDelta
from dragoman.types import Response, Stop, Text, Usage

from ..pieces import LINE, MARKDOWN, PLAIN, PROSE, THOUGHT, repeated, tokens

STAMP = Stamp(id="chatcmpl-1", created=1, model="m")
WHOLE = "It can stay as it is, as he said; what we'd change is one line. " * 4
PATHS = {
    "openai_chat": "/v1/chat/completions",
    "openai_responses": "/v1/responses",
    "anthropic_messages": "/v1/messages",
    "ollama_chat": "/api/chat",
    "gemini": "/v1beta/models/{model}:{how}",
}
"""Where each API is asked."""
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}, "required": ["path"]}


class Manner(NamedTuple):
    """How a model answers: pieces of a kind, so many, with so many seconds between two."""

    kind: str = "text"
    pause: float = 0.0
    chunks: int = 200


def manner(model: str) -> Manner:
    """What a model's name says."""
    kind, pause, chunks = [*model.rpartition("/")[2].split("-"), "", ""][:3]
    return Manner(kind, int(pause or 0) / 1000, int(chunks or 200))


@lru_cache
def stream(api: str, kind: str, chunks: int) -> list[bytes]:
    """The frames of an answer."""
    codec: Codec = CODECS[api]
    encoder = codec.encode_stream(STAMP, Request(model="m", stream=True), whole_calls=False)
    write = writers[codec.frames]
    frames = [frame for event in _events(kind, chunks) for frame in encoder.feed(event)] + encoder.close()
    written = [write(frame) for frame in frames]
    return [*map(_counted, written, range(len(written)))] if kind == "counted" else written


def _events(kind: str, chunks: int) -> list[Event]:
    usage = Usage(input=20, output=chunks)
    begun, done = Started("m", "chatcmpl-1"), Ended(Stop.END, usage)
    if kind == "call":
        written = json.dumps({"path": "area.py", "content": repeated(LINE, chunks * 6)})
        pieces = [*_so_many(tokens(written), chunks - 1), '"}']
        deltas = [CallDelta(0, piece) for piece in pieces]
        return [begun, CallStarted(0, "call_1", "tool_0"), *deltas, CallEnded(0), Ended(Stop.TOOL_CALLS, usage)]
    source = {"thought": THOUGHT, "plain": PLAIN}.get(kind, PROSE + MARKDOWN)
    pieces = _so_many(tokens(repeated(source, chunks * 8)), chunks)
    if kind == "thought":
        return [begun, *map(ReasoningDelta, pieces), TextDelta("Done."), done]
    return [begun, *map(TextDelta, pieces), done]


def _so_many(pieces: list[str], count: int) -> list[str]:
    if len(pieces) < count:
        raise SystemExit(f"{len(pieces)} pieces are fewer than {count}: make the text longer")
    return pieces[:count]


def _counted(frame: bytes, number: int) -> bytes:
    """A chunk of OpenAI's chat API that says how many tokens the answer has so far, as vLLM's do when asked to."""
    if not frame.startswith(b"data: {"):
        return frame
    body = json.loads(frame[6:])
    counts = {"prompt_tokens": 20, "total_tokens": 20 + number, "completion_tokens": number}
    return b"data: " + json.dumps({**body, "usage": counts}, separators=(",", ":")).encode() + b"\n\n"


@lru_cache
def whole(api: str) -> bytes:
    """An answer in one piece; its count leaves room for any number of tools: else it is asked whether they came."""
    usage = Usage(input=250_000, output=60)
    response = Response(message=Message("assistant", [Text(WHOLE)]), stop=Stop.END, usage=usage)
    return json.dumps(CODECS[api].encode_response(response, STAMP)).encode()


class Question(NamedTuple):
    """What a client asks: the model, how many messages and tools it sends, whether the answer is to stream."""

    model: str = "text"
    messages: int = 1
    tools: int = 10
    stream: bool = False

    def path(self, api: str) -> str:
        """Where it is asked."""
        how = "streamGenerateContent?alt=sse" if self.stream else "generateContent"
        return PATHS[api].format(model=self.model, how=how)

    def body(self, api: str, number: int) -> bytes:
        """The `number`-th time it is asked: its last message is another each time, all before it are the same."""
        return _head(api, self).replace(b"@@", f"{number:02}".encode())


@lru_cache
def _head(api: str, question: Question) -> bytes:
    turns = [
        Message("user" if n % 2 == 0 else "assistant", [Text(f"Message {n}: {PROSE}")])
        for n in range(question.messages - 1)
    ]
    tools = [
        Tool(name=f"tool_{n}", description=f"Does something, the {n}th of its kind.", parameters=SCHEMA)
        for n in range(question.tools)
    ]
    last = Message("user", [Text("Say something: @@")])
    asked = Request(model=question.model, messages=(*turns, last), tools=tuple(tools), stream=question.stream)
    body: dict[str, Any] = CODECS[api].encode_request(asked)
    return json.dumps(body).encode()
