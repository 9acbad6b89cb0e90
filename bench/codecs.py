"""What codecs cost: a long request encoded, a streamed answer decoded, against `json` on the same bytes and peers.

    python bench/codecs.py [--write] [--repeats N]

The request: 50 tools and 200 messages with calls and results.  The stream: 200 chunks, text and one call.  Ratios are
to `json.dumps` of the body made and to `json.loads` of the chunks' data; Dragoman starts from its canonical values and
from the raw bytes, each peer from its own messages and from the events of the SDK it stands on, where it has one.
LiteLLM, LangChain and any-llm are measured where they are installed beside Dragoman.
"""

# ruff: noqa: PLC0415  peers are imported where they are measured: they may be absent

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from table import machine, publish, table

from dragoman.codecs import CODECS
from dragoman.codecs.fidelity.decoding import decode_chunks
from dragoman.codecs.shared.frames import readers, writers
from dragoman.events import CallDelta, CallEnded, CallStarted, Ended, Event, Started, TextDelta
from dragoman.types import Message, Request, Response, Sampling, Stop, Text, Tool, ToolCall, ToolResult, Usage

APIS = ("openai_chat", "openai_responses", "anthropic_messages", "ollama_chat", "gemini")
TOOLS, MESSAGES, CHUNKS = 50, 200, 200
MOST_REPEATS = 60
ENCODE_TARGET, DECODE_TARGET = 1.3, 6.0
"""Times `json.dumps` and `json.loads` of the same bytes."""

Work = Callable[[], Any]


# ── what is measured ─────────────────────────────────────────────────────────


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


# ── peers ────────────────────────────────────────────────────────────────────


def _openai_style(body: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    return list(body["messages"]), list(body["tools"])


def _litellm(api: str) -> Work:
    from litellm.llms.anthropic.chat.transformation import AnthropicConfig
    from litellm.llms.ollama.chat.transformation import OllamaChatConfig
    from litellm.llms.openai.chat.gpt_transformation import OpenAIGPTConfig

    config = {"openai_chat": OpenAIGPTConfig, "anthropic_messages": AnthropicConfig, "ollama_chat": OllamaChatConfig}
    made = config[api]()
    text = json.dumps(CODECS["openai_chat"].encode_request(request()))
    fresh = [json.loads(text) for _ in range(MOST_REPEATS + 1)]  # it changes what it is given

    def work() -> Any:
        messages, offered = _openai_style(fresh.pop())
        asked = made.map_openai_params({"tools": offered, "max_tokens": 4096}, {}, "claude-sonnet-4-5", False)
        return made.transform_request("claude-sonnet-4-5", messages, asked, {}, {})

    return work


def _langchain(api: str) -> Work:
    from langchain_anthropic import ChatAnthropic
    from langchain_core.messages import convert_to_messages
    from langchain_openai import ChatOpenAI

    messages, offered = _openai_style(CODECS["openai_chat"].encode_request(request()))
    model = {
        "openai_chat": lambda: ChatOpenAI(model="m", api_key="k"),
        "anthropic_messages": lambda: ChatAnthropic(model="m", api_key="k"),
    }[api]()
    told = convert_to_messages(messages)

    def work() -> Any:
        bound = model.bind_tools(offered)
        return model._get_request_payload(told, **bound.kwargs)

    return work


def _any_llm(api: str) -> Work:
    from any_llm.providers.anthropic.utils import _convert_messages_for_anthropic, _convert_tool_spec

    messages, offered = _openai_style(CODECS["openai_chat"].encode_request(request()))
    if api != "anthropic_messages":
        raise KeyError(api)
    return lambda: (_convert_messages_for_anthropic(messages), _convert_tool_spec(offered))


def _litellm_stream(api: str) -> Work:
    from litellm.llms.anthropic.chat.handler import ModelResponseIterator
    from litellm.llms.openai.chat.gpt_transformation import OpenAIChatCompletionStreamingHandler

    told = payloads(api, stream(api))
    makers = {
        "anthropic_messages": lambda: ModelResponseIterator(streaming_response=iter(()), sync_stream=True),
        "openai_chat": lambda: OpenAIChatCompletionStreamingHandler(streaming_response=iter(()), sync_stream=True),
    }

    begin = makers[api]

    def work() -> Any:
        parser = begin()
        return [parser.chunk_parser(json.loads(one)) for one in told]

    return work


def _langchain_stream(api: str) -> Work:
    from langchain_core.messages import AIMessageChunk
    from langchain_openai import ChatOpenAI

    if api != "openai_chat":
        raise KeyError(api)
    model, told = ChatOpenAI(model="m", api_key="k"), payloads(api, stream(api))

    def work() -> Any:
        whole: Any = None
        for one in told:
            chunk = model._convert_chunk_to_generation_chunk(json.loads(one), AIMessageChunk, None)
            if chunk is not None:
                whole = chunk.message if whole is None else whole + chunk.message
        return whole

    return work


def _any_llm_stream(api: str) -> Work:
    from anthropic import types
    from anthropic._models import construct_type
    from any_llm.providers.anthropic.utils import _create_openai_chunk_from_anthropic_chunk

    if api != "anthropic_messages":
        raise KeyError(api)
    told = payloads(api, stream(api))

    def work() -> Any:
        events = (construct_type(type_=types.RawMessageStreamEvent, value=json.loads(one)) for one in told)
        return [_create_openai_chunk_from_anthropic_chunk(event, "m") for event in events]

    return work


ENCODERS: Mapping[str, Callable[[str], Work]] = {"LiteLLM": _litellm, "LangChain": _langchain, "any-llm": _any_llm}
DECODERS: Mapping[str, Callable[[str], Work]] = {
    "LiteLLM": _litellm_stream,
    "LangChain": _langchain_stream,
    "any-llm": _any_llm_stream,
}


# ── measuring ────────────────────────────────────────────────────────────────


def costs(works: Sequence[Work], repeats: int) -> list[float]:
    """Median CPU microseconds of each, taken in turns after one run to warm up."""
    for work in works:
        work()
    rounds = [[_once(work) for work in works] for _ in range(repeats)]
    return [statistics.median(told) for told in zip(*rounds, strict=True)]


def _once(work: Work) -> float:
    gc.collect()
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e6


def peers(makers: Mapping[str, Callable[[str], Work]], api: str) -> dict[str, Work]:
    """The peers that are installed and have a transformation of their own for this API."""
    found = {}
    for name, make in makers.items():
        with suppress(ImportError, KeyError):
            found[name] = make(api)
    return found


def ratios(base: Work, ours: Work, others: Mapping[str, Work], repeats: int) -> dict[str, float]:
    """What `base` takes in microseconds, as "base", and what each other takes as a multiple of it."""
    taken = costs([base, ours, *others.values()], repeats)
    names = ["ours", *others]
    return {"base": taken[0], **{name: one / taken[0] for name, one in zip(names, taken[1:], strict=True)}}


def _cells(told: Mapping[str, float], names: Iterable[str], digits: int) -> list[str]:
    return [f"{told[name]:.{digits}f}" if name in told else "" for name in names]


def encoding(repeats: int) -> tuple[str, float]:
    """The table of encoding, and the worst ratio of ours."""
    asked, rows, worst = request(), list[Sequence[str]](), 0.0
    for api in APIS:
        encode = CODECS[api].encode_request
        body = encode(asked)
        told = ratios(partial(json.dumps, body), partial(encode, asked), peers(ENCODERS, api), repeats)
        worst = max(worst, told["ours"])
        size = f"{len(json.dumps(body)) / 1000:.0f}"
        rows.append([api, size, f"{told['base']:.0f}", *_cells(told, ["ours", *ENCODERS], 2)])
    head = ["a request encoded", "kB", "`json.dumps`, µs", "Dragoman, ×", *(f"{name}, ×" for name in ENCODERS)]
    return table(head, rows), worst


def decoding(repeats: int) -> tuple[str, float]:
    """The table of decoding, and the worst ratio of ours."""
    rows, worst = list[Sequence[str]](), 0.0
    for api in APIS:
        data = stream(api)
        chunks, found = payloads(api, data), decoded(api, data)
        if len(found.calls) != 1 or not found.text.endswith(f"word {CHUNKS // 2 - 1} "):
            raise SystemExit(f"{api} did not read its own stream: the measurement would mean nothing")
        base = partial(list, _Each(chunks))
        told = ratios(base, partial(decoded, api, data), peers(DECODERS, api), repeats)
        worst = max(worst, told["ours"])
        each = f"{told['base'] * told['ours'] / len(chunks):.1f}"
        cells = _cells(told, ["ours", *DECODERS], 1)
        rows.append([api, str(len(chunks)), f"{told['base']:.0f}", cells[0], each, *cells[1:]])
    head = ["a stream decoded", "chunks", "`json.loads`, µs", "Dragoman, ×", "µs a chunk"]
    return table([*head, *(f"{name}, ×" for name in DECODERS)], rows), worst


class _Each:
    """The chunks parsed, anew whenever they are asked for."""

    def __init__(self, chunks: Sequence[str]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[Any]:
        return map(json.loads, self._chunks)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=41)
    options.add_argument("--write", action="store_true", help="put the tables into docs/performance.md")
    chosen = options.parse_args()
    if chosen.repeats > MOST_REPEATS:
        options.error(f"--repeats is at most {MOST_REPEATS}")
    (encoded, slow_encode), (read, slow_decode) = encoding(chosen.repeats), decoding(chosen.repeats)
    note = (
        f"{machine()}; CPU time, median of {chosen.repeats}; {TOOLS} tools, {MESSAGES} messages.  Targets: encoding at"
        f" most {ENCODE_TARGET:.1f} × `json.dumps` (worst here {slow_encode:.2f}), decoding at most"
        f" {DECODE_TARGET:.1f} × `json.loads` (worst here {slow_decode:.1f})."
    )
    text = f"{encoded}\n\n{read}\n\n{note}"
    print(text)
    if chosen.write:
        publish("codecs", text)


if __name__ == "__main__":
    main()
