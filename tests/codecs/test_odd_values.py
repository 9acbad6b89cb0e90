"""What peers write otherwise than their API says, and mean: counts as text, words as numbers, contents in parts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.codecs.shared.frame_stream import FrameStream
from dragoman.codecs.shared.frames import FrameKind
from dragoman.events import Event, assemble
from dragoman.types import Response, Stop, Usage

COUNTED: dict[str, list[dict[str, Any]]] = {
    "openai_chat": [
        {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": "7", "completion_tokens": "5", "total_tokens": "12"}},
    ],
    "ollama_chat": [
        {"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": False},
        {"model": "m", "done": True, "done_reason": "stop", "prompt_eval_count": "7", "eval_count": "5"},
    ],
    "gemini": [
        {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}],
         "usageMetadata": {"promptTokenCount": "7", "candidatesTokenCount": "5", "totalTokenCount": "12"}},
    ],
    "anthropic_messages": [
        {"type": "message_start", "message": {"role": "assistant", "usage": {"input_tokens": "7"}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": "5"}},
        {"type": "message_stop"},
    ],
}  # fmt: skip


def told(api: str, bodies: list[dict[str, Any]]) -> tuple[list[Event], Response]:
    stream = FrameStream(CODECS[api])
    form = "{}\n" if CODECS[api].frames is FrameKind.NDJSON else "data: {}\n\n"
    events = [event for body in bodies for event in stream.feed(form.format(json.dumps(body)).encode())]
    events += stream.close()
    return events, assemble(events)


@pytest.mark.parametrize("api", COUNTED)
def test_counts_that_are_written_as_text_count(api: str) -> None:
    _, response = told(api, COUNTED[api])
    assert (response.text, response.usage) == ("Hi", Usage(input=7, output=5))


def test_clients_of_the_same_wire_get_numbers() -> None:
    _, response = told("openai_chat", COUNTED["openai_chat"])
    usage = CODECS["openai_chat"].encode_response(response)["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (7, 5, 12)


@pytest.mark.parametrize("text", ["", "-1", "1.5", "٣", "9" * 16, "many"])
def test_text_that_is_no_count_counts_nothing(text: str) -> None:
    last = {"choices": [], "usage": {"prompt_tokens": text, "completion_tokens": 5}}
    _, response = told("openai_chat", [COUNTED["openai_chat"][0], last])
    assert response.usage == Usage(output=5)


@pytest.mark.parametrize(("number", "word", "stop"), [(1, "STOP", Stop.END), (2, "MAX_TOKENS", Stop.LENGTH), (3, "SAFETY", Stop.FILTERED)])
def test_vertex_numbers_are_words_to_clients_of_gemini(number: int, word: str, stop: Stop) -> None:
    body = {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": number}]}
    _, response = told("gemini", [body])
    assert response.stop is stop
    assert CODECS["gemini"].encode_response(response)["candidates"][0]["finishReason"] == word


def test_a_content_in_parts_is_read_from_a_peer_of_ollamas_too() -> None:
    parts = [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]
    _, response = told("ollama_chat", [{"model": "m", "message": {"content": parts}, "done": True}])
    assert response.text == "Hi"


def test_the_first_event_of_anthropics_has_both_counts() -> None:
    events, _ = told("anthropic_messages", COUNTED["anthropic_messages"])
    encoder = CODECS["anthropic_messages"].encode_stream()
    start = json.loads(encoder.feed(events[0])[0].data)
    assert start["message"]["usage"].keys() >= {"input_tokens", "output_tokens"}


DEPRECATED = {"message": {"function_call": {"name": "look", "arguments": "{}"}}, "finish_reason": "function_call"}


@pytest.mark.parametrize(("asked", "field"), [("tools", "tool_calls"), ("functions", "function_call")])
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_deprecated_call_is_told_in_the_form_that_was_asked_for(asked: str, field: str, stream: bool) -> None:
    codec, function = CODECS["openai_chat"], {"name": "look", "parameters": {"type": "object"}}
    tools = [{"type": "function", "function": function}] if asked == "tools" else [function]
    request = codec.decode_request({"model": "m", "messages": [{"role": "user", "content": "go"}], asked: tools})
    events, response = told("openai_chat", [{"choices": [{"index": 0, **DEPRECATED}]}])
    if not stream:
        choice = codec.encode_response(response, request=request)["choices"][0]
        said, stops = choice["message"], choice["finish_reason"]
    else:
        encoder = codec.encode_stream(request=request)
        chunks = [json.loads(frame.data) for event in events for frame in encoder.feed(event)]
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
        said = {key: one for delta in deltas for key, one in delta.items()}
        stops = chunks[-1]["choices"][0]["finish_reason"]
    assert field in said
    assert not {"tool_calls", "function_call"} - {field} & said.keys()
    assert stops == ("tool_calls" if asked == "tools" else "function_call")
