"""Most chunks of a stream only go on with the text: they are read and written by a shorter way, to the same end."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import CODECS
from dragoman.codecs.shared.frames import Frame, write_sse
from dragoman.codecs.shared.spec import Stamp
from dragoman.errors import ProviderError
from dragoman.events import (
    CallDelta,
    CallEnded,
    CallStarted,
    Ended,
    Event,
    IssueReported,
    ReasoningDelta,
    Started,
    TextDelta,
    assemble,
)
from dragoman.jsontext import quoted, to_json
from dragoman.types import Issue, IssueKind, Request, Stop

CHAT = CODECS["openai_chat"]
CALL = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
DELTAS: list[dict[str, Any]] = [
    {"content": "a"},
    {"content": "b"},
    {"content": ""},
    {"content": None},
    {"content": [{"type": "text", "text": ""}]},
    {"content": "c", "annotations": []},
    {"role": "assistant", "content": ""},
    {"reasoning_content": "d"},
    {"refusal": "no"},
    {"tool_calls": [CALL]},
    {},
]
AROUND: list[dict[str, Any]] = [
    {"id": "1", "model": "m", "created": 7},
    {"id": "1", "model": "m", "created": 7, "system_fingerprint": "x"},
    {"id": "1", "model": "m", "created": 7, "system_fingerprint": None},
    {"id": "1", "model": "m", "created": 7, "service_tier": None},
    {"id": "1", "model": "m", "created": 7, "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
    {"id": "1", "model": "m", "created": 7, "logprobs": {"content": [1]}},
]
BESIDE: list[dict[str, Any]] = [
    {"index": 0},
    {"index": 0, "finish_reason": None},
    {"index": 0, "finish_reason": None, "logprobs": None},
    {"index": 0, "logprobs": {"content": [{"token": "a"}]}},
    {"index": 1, "finish_reason": None},
    {"index": 0, "finish_reason": "stop"},
    {"index": 0, "stop_reason": 3},
]
CHUNKS = st.builds(
    lambda around, beside, delta: {**around, "choices": [{**beside, "delta": delta}]},
    st.sampled_from(AROUND),
    st.sampled_from(BESIDE),
    st.sampled_from(DELTAS),
)


def read(chunks: list[dict[str, Any]]) -> list[Event]:
    decoder = CHAT.decode_stream(lambda index: f"id{index}")
    return [
        *(event for chunk in chunks for event in decoder.feed(Frame(json.dumps(chunk)))),
        *decoder.feed(Frame("[DONE]")),
        *decoder.close(),
    ]


@given(st.lists(CHUNKS | st.just({"choices": []}), max_size=12))
def test_surroundings_of_a_text_do_not_change_it(chunks: list[dict[str, Any]]) -> None:
    numbers = count()
    unlike = [{**chunk, "object": next(numbers)} for chunk in chunks]  # a field that is never kept, always new
    assert read(chunks) == read(unlike)


def test_an_error_in_a_running_text_is_raised() -> None:
    chunk = {"id": "1", "choices": [{"index": 0, "delta": {"content": "a"}}]}
    with pytest.raises(ProviderError, match="broke"):
        read([chunk, chunk, {**chunk, "error": {"message": "it broke"}}])


EVENTS = st.lists(
    st.builds(TextDelta, st.text(min_size=1)) | st.builds(ReasoningDelta, st.text(min_size=1)), max_size=6
)


@given(EVENTS, st.text(max_size=8))
def test_chunks_are_written_as_all_json_is(events: list[Event], model: str) -> None:
    call: list[Event] = [CallStarted(0, "c", "f"), CallDelta(0, "{}"), CallEnded(0)]
    encoder = CHAT.encode_stream(Stamp("id", 5, model), Request(model=model))
    whole: list[Event] = [Started(model, "x"), *events, *call, Ended(Stop.TOOL_CALLS)]
    frames = [*(frame for event in whole for frame in encoder.feed(event)), *encoder.close()]
    bodies = [json.loads(frame.data) for frame in frames[:-1]]
    assert [to_json(body) for body in bodies] == [frame.data for frame in frames[:-1]]
    deltas = [choice["delta"] for body in bodies for choice in body["choices"]]
    assert "".join(delta.get("content") or "" for delta in deltas) == "".join(
        event.text for event in events if isinstance(event, TextDelta)
    )


NAMES = sorted(CODECS)


@pytest.mark.parametrize("name", NAMES)
@given(EVENTS, st.text(max_size=8) | st.just("\ufdd0"))
def test_running_text_is_written_as_text_that_something_stands_before(
    name: str, running: list[Event], model: str
) -> None:
    codec, silence = CODECS[name], IssueReported(Issue(kind=IssueKind.NOISE, message="nothing any client is told"))
    call: list[Event] = [CallStarted(0, "c", "f"), CallDelta(0, "{}"), CallEnded(0)]
    begun, ended = Started(model, "x"), Ended(Stop.END)

    def written(events: list[Event]) -> list[Frame]:
        encoder = codec.encode_stream(Stamp("id", 5, model), Request(model=model))
        return [*(frame for event in events for frame in encoder.feed(event)), *encoder.close()]

    plain: list[Event] = [begun, *running, *call, *running, ended]
    assert written(plain) == written([one for event in plain for one in (silence, event)])


def _slower_chat(body: dict[str, Any]) -> None:
    body["object"] = f"chunk {len(json.dumps(body))}"


def _slower_ollama(body: dict[str, Any]) -> None:
    body["message"]["tool_calls"] = None


def _slower_gemini(body: dict[str, Any]) -> None:
    body["candidates"][0]["content"]["parts"].append({"text": ""})


def _slower_responses(body: dict[str, Any]) -> None:
    if "content_index" in body:
        body["content_index"] = False


SLOWER = {
    "openai_chat": _slower_chat,
    "ollama_chat": _slower_ollama,
    "gemini": _slower_gemini,
    "openai_responses": _slower_responses,
}
"""By codec what makes no difference to what a chunk says, but that it is not one that only goes on."""


@pytest.mark.parametrize("name", SLOWER)
@given(EVENTS)
def test_running_text_is_read_as_text_that_something_stands_beside(name: str, running: list[Event]) -> None:
    codec = CODECS[name]
    encoder = codec.encode_stream(Stamp("id", 5, "m"), Request(model="m"))
    whole: list[Event] = [Started("m", "x"), *running, Ended(Stop.END)]
    frames = [*(frame for event in whole for frame in encoder.feed(event)), *encoder.close()]

    def slower(frame: Frame) -> Frame:
        if not frame.data.startswith("{"):
            return frame
        body = json.loads(frame.data)
        SLOWER[name](body)
        return frame._replace(data=json.dumps(body))

    def events(frames: list[Frame]) -> list[Event]:
        decoder = codec.decode_stream(lambda index: f"id{index}")
        return [*(event for frame in frames for event in decoder.feed(frame)), *decoder.close()]

    assert assemble(events(frames)) == assemble(events(list(map(slower, frames))))


@given(st.text() | st.text(alphabet='\x85\u2028\u2029\ud800\U0001f600"\\\n'))
def test_text_is_quoted_in_ascii_as_json_has_it(text: str) -> None:
    assert quoted(text) == to_json(text) == json.dumps(text)
    assert quoted(text).isascii()
    assert write_sse(Frame(quoted(text))).count(b"\n") == len("\n\n")


def test_circles_and_depth_are_refused_however_often_they_come() -> None:
    circle: dict[str, Any] = {}
    circle["self"] = circle
    for _ in range(2):
        with pytest.raises(Exception, match="not JSON"):
            to_json(circle)
        assert to_json({"a": circle.keys() == {"self"}}) == '{"a":true}'
