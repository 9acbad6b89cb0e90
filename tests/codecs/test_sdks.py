"""The official clients' own accumulators, unmodified, fold our streams to what the whole answer says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.codecs.shared.frames import Frame
from dragoman.events import replay
from dragoman.types import Response
from tests.support.recordings import codec, streamed
from tests.support.values import responses

openai = pytest.importorskip("openai")
openai_models = pytest.importorskip("openai._models")
openai_responses = pytest.importorskip("openai.types.responses")
responses_stream = pytest.importorskip("openai.lib.streaming.responses._responses")
openai_stream = pytest.importorskip("openai.lib.streaming.chat")
openai_chat = pytest.importorskip("openai.types.chat")
anthropic_types = pytest.importorskip("anthropic.types")
anthropic_messages = pytest.importorskip("anthropic.lib.streaming._messages")
anthropic_models = pytest.importorskip("anthropic._models")
ollama = pytest.importorskip("ollama")

slow = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None, max_examples=40
)


def as_openai_reads(frames: list[Frame]) -> tuple[Any, ...]:
    state = openai_stream.ChatCompletionStreamState()
    for frame in frames:
        if frame.data != "[DONE]":
            state.handle_chunk(openai_chat.ChatCompletionChunk.model_validate(json.loads(frame.data)))
    choice = state.current_completion_snapshot.choices[0]
    calls = choice.message.tool_calls or []
    made = [(call.id, call.function.name, json.loads(call.function.arguments)) for call in calls]
    return choice.message.content or "", made, choice.finish_reason


def as_responses_reads(frames: list[Frame]) -> tuple[Any, ...]:
    state = responses_stream.ResponseStreamState(input_tools=openai.omit, text_format=openai.omit)
    final: Any = None
    for frame in frames:
        event = openai_models.construct_type(type_=openai_responses.ResponseStreamEvent, value=json.loads(frame.data))
        for made in state.handle_event(event):
            final = made.response if made.type in ("response.completed", "response.incomplete") else final
    calls = [item for item in final.output if item.type == "function_call"]
    return final.output_text, [(c.call_id, c.name, json.loads(c.arguments)) for c in calls], final.status


def as_anthropic_reads(frames: list[Frame]) -> tuple[Any, ...]:
    snapshot: Any = None
    pieces: dict[int, Any] = {}
    for frame in frames:
        event = anthropic_models.construct_type(
            type_=anthropic_types.RawMessageStreamEvent, value=json.loads(frame.data)
        )
        snapshot = anthropic_messages.accumulate_event(event=event, current_snapshot=snapshot, json_bufs=pieces)
    blocks = snapshot.content
    calls = [(block.id, block.name, block.input) for block in blocks if block.type == "tool_use"]
    text = "".join(block.text for block in blocks if block.type == "text")
    thought = "".join(block.thinking for block in blocks if block.type == "thinking")
    return text, thought, calls, snapshot.stop_reason


def as_ollama_reads(frames: list[Frame]) -> tuple[Any, ...]:
    lines = [ollama.ChatResponse(**json.loads(frame.data)) for frame in frames]
    calls = [call for line in lines for call in line.message.tool_calls or []]
    made = [(call.function.name, dict(call.function.arguments)) for call in calls]
    return "".join(line.message.content or "" for line in lines), made, lines[-1].done_reason


def calls_of(response: Response) -> list[Any]:
    return [(call.id, call.name, dict(call.arguments)) for call in response.calls]


@pytest.mark.parametrize("whole_calls", [True, False])
@slow
@given(data=st.data())
def test_openai_folds_what_we_say(whole_calls: bool, data: st.DataObject) -> None:
    response: Response = data.draw(responses("anthropic_messages"))
    frames = streamed(codec("openai_chat"), replay(response), whole_calls=whole_calls)
    finish = codec("openai_chat").encode_response(response)["choices"][0]["finish_reason"]
    assert as_openai_reads(frames) == (response.text, calls_of(response), finish)


@pytest.mark.parametrize("whole_calls", [True, False])
@slow
@given(data=st.data())
def test_openai_folds_what_we_say_in_items(whole_calls: bool, data: st.DataObject) -> None:
    response: Response = data.draw(responses("anthropic_messages"))
    frames = streamed(codec("openai_responses"), replay(response), whole_calls=whole_calls)
    status = codec("openai_responses").encode_response(response)["status"]
    if status == "completed":  # the helper raises on what is incomplete
        assert as_responses_reads(frames) == (response.text, calls_of(response), status)


@pytest.mark.parametrize("whole_calls", [True, False])
@slow
@given(data=st.data())
def test_anthropic_folds_what_we_say(whole_calls: bool, data: st.DataObject) -> None:
    response: Response = data.draw(responses("anthropic_messages"))
    frames = streamed(codec("anthropic_messages"), replay(response), whole_calls=whole_calls)
    stop = codec("anthropic_messages").encode_response(response)["stop_reason"]
    assert as_anthropic_reads(frames) == (response.text, response.reasoning, calls_of(response), stop)


@slow
@given(data=st.data())
def test_ollama_folds_what_we_say(data: st.DataObject) -> None:
    response: Response = data.draw(responses("anthropic_messages"))
    frames = streamed(codec("ollama_chat"), replay(response))
    named = [(name, given_) for _, name, given_ in calls_of(response)]
    assert as_ollama_reads(frames)[:2] == (response.text, named)
