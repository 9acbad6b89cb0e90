"""What bench/codecs.py and bench/counts.py encode and decode: a long conversation, an answer whole and streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dragoman.codecs import CODECS
from dragoman.codecs.fidelity.decoding import decode_chunks
from dragoman.codecs.shared.frames import readers, writers
from dragoman.events import CallDelta, CallEnded, CallStarted, Ended, Event, Started, TextDelta, assemble
from dragoman.jsontext import to_json
from dragoman.types import Message, Request, Response, Sampling, Stop, Text, Tool, ToolCall, ToolResult, Usage

TOOLS, MESSAGES, CHUNKS = 50, 200, 200
MOST_REPEATS = 60
"""Peers that change what they are given are given one copy for each."""

Work = Callable[[], Any]


def declared(count: int = TOOLS) -> tuple[Tool, ...]:
    """Tools with schemas of a common size."""
    text = {"type": "string", "description": "A path relative to the root of the project, with forward slashes."}
    number = {"type": "integer", "minimum": 0, "description": "How many lines to read at most, from the start."}
    schema = {
        "type": "object",
        "properties": {
            "path": text,
            "limit": number,
            "mode": {"type": "string", "enum": ["r", "w", "a"]},
            "options": {"type": "object", "properties": {"recursive": {"type": "boolean"}, "filter": text}},
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    about = "Does one thing to a file of the project and says what came of it. Ask for as little as you need."
    return tuple(Tool(name=f"tool_{i}", description=about, parameters=schema) for i in range(count))


def request(tools: int = TOOLS, messages: int = MESSAGES) -> Request:
    """A conversation of questions, calls, results and answers."""
    told = [Message("system", "You are a careful engineer. " * 20)]
    for i in range((messages - 1) // 4 + 1):
        call = ToolCall(id=f"call_{i:04}", name=f"tool_{i % tools}", arguments={"path": f"src/file_{i}.py", "limit": i})
        result = ToolResult(call_id=call.id, name=call.name, content=f"line {i}: value = compute(x)\n" * 40)
        told += [
            Message("user", f"Please look at file {i} and tell me what it does. " * 4),
            Message("assistant", [Text(f"I read file {i} first. " * 3), call]),
            Message("tool", [result]),
            Message("assistant", f"File {i} computes a value and returns it to its caller. " * 6),
        ]
    kept, sampling = tuple(told[:messages]), Sampling(max_tokens=4096)
    return Request(model="m", messages=kept, tools=declared(tools), sampling=sampling, stream=True)


def answer() -> Iterable[Event]:
    """A text in pieces, then a call in pieces."""
    half = CHUNKS // 2
    yield Started("m", "id")
    yield from (TextDelta(f"word {i} ") for i in range(half))
    yield CallStarted(0, "call_1", "tool_1")
    yield CallDelta(0, '{"path": "')
    yield from (CallDelta(0, f"part {i} ") for i in range(half - 2))
    yield CallDelta(0, '"}')
    yield CallEnded(0)
    yield Ended(Stop.TOOL_CALLS, Usage(input=10, output=200))


def stream(api: str) -> bytes:
    """The answer as bytes of `api`."""
    encoder = CODECS[api].encode_stream(whole_calls=False)
    frames = [*(frame for event in answer() for frame in encoder.feed(event)), *encoder.close()]
    return b"".join(map(writers[CODECS[api].frames], frames))


def payloads(api: str, data: bytes) -> list[str]:
    """The JSON texts in a stream."""
    reader = readers[CODECS[api].frames]()
    return [frame.data for frame in (*reader.feed(data), *reader.close()) if frame.data.startswith("{")]


def decoded(api: str, data: bytes) -> Response:
    """The stream read, in pieces as a network gives them."""
    return decode_chunks(CODECS[api], (data[i : i + 1400] for i in range(0, len(data), 1400)))


def whole(api: str) -> bytes:
    """The answer as one body of `api`."""
    return to_json(CODECS[api].encode_response(assemble(list(answer())))).encode()
