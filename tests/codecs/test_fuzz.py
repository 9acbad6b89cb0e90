"""Whatever a peer or client sends: a value, a `CodecError` with a path, or the peer's own error; nothing else."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.codecs import CODECS, decode
from dragoman.codecs.shared.frames import Frame
from dragoman.errors import CodecError, ProviderError
from dragoman.events import Event, assemble, replay
from dragoman.jsontext import to_json
from dragoman.types import Message, Reasoning, Response, Stop, Text, ToolCall, Usage
from tests.support.recordings import VECTORS, assert_strict, codec, decoded, paths_in, pieces, rows, written
from tests.support.values import WIRES, requests

ODDITIES: list[Any] = [None, True, False, 0, -1, 1.5, 10**30, "", "x", "\ud800", [], {}, [[]], [{}], {"a": 1}, "{}", [None],
                  {"type": "text"}, {"type": 5}, "[DONE]", "data:;base64,AA", "http://["]  # fmt: skip
thorough = settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=60)
ANSWER = Response(
    message=Message(
        "assistant", [Reasoning("hm"), Text("Let me see."), ToolCall(id="a", name="f", arguments={"x": "é"})]
    ),
    stop=Stop.TOOL_CALLS,
    usage=Usage(input=3, output=4),
    model="m",
    id="r",
)


@st.composite
def mutated(draw: st.DrawFn, value: Any) -> Any:
    """`value` with a few of its parts replaced, dropped or repeated."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        known = list(paths_in(value))
        if not known:
            return draw(st.sampled_from(ODDITIES))
        *path, last = draw(st.sampled_from(known))
        inside = value
        for key in path:
            inside = inside[key]
        deed = draw(st.sampled_from(["replace", "replace", "drop", "repeat"]))
        if deed == "drop":
            del inside[last]
        elif deed == "repeat" and isinstance(inside, list):
            inside.append(copy.deepcopy(inside[last]))
        else:
            inside[last] = copy.deepcopy(draw(st.sampled_from(ODDITIES)))
    return value


def write_on_every_wire(events: list[Event]) -> None:
    """Write the answer on every wire, whole and streamed."""
    response = assemble(events)
    for name in WIRES:
        to_json(codec(name).encode_response(response))
        for whole_calls in (True, False):
            encoder = codec(name).encode_stream(whole_calls=whole_calls)
            for event in events:
                encoder.feed(event)
            encoder.close()


@pytest.mark.parametrize("api", WIRES)
@thorough
@given(data=st.data())
def test_any_request_is_read_or_refused(api: str, data: st.DataObject) -> None:
    body = json.loads(json.dumps(codec(api).encode_request(data.draw(requests(api)))))
    try:
        request = codec(api).decode_request(data.draw(mutated(body)))
    except CodecError as error:
        assert error.path.startswith("$")  # noqa: PT017
        return
    for name in WIRES:
        to_json(codec(name).encode_request(request))


@pytest.mark.parametrize("api", CODECS)
@thorough
@given(data=st.data())
def test_any_answer_is_read_or_refused(api: str, data: st.DataObject) -> None:
    whole = [row["response"] for row in rows(VECTORS / f"{api}.jsonl") if "response" in row]
    body = data.draw(st.sampled_from(whole).flatmap(mutated))
    try:
        response = codec(api).decode_response(body)
    except CodecError as error:
        assert error.path.startswith("$")  # noqa: PT017
    except ProviderError:
        pass
    else:
        for name in WIRES:
            to_json(codec(name).encode_response(response))


@pytest.mark.parametrize("api", CODECS)
@thorough
@given(data=st.data())
def test_any_stream_is_read(api: str, data: st.DataObject) -> None:
    streams = [row["stream"] for row in rows(VECTORS / f"{api}.jsonl") if "stream" in row]
    chunks = data.draw(st.sampled_from(streams).flatmap(mutated))
    decoder = codec(api).decode_stream()
    events: list[Event] = []
    try:
        for chunk in chunks if isinstance(chunks, list) else [chunks]:
            text = chunk if isinstance(chunk, str) else json.dumps(chunk)
            events += decoder.feed(Frame(text))
        events += decoder.close()
    except ProviderError:
        return
    assert_strict(events)
    write_on_every_wire(events)


# ── every place of every vector ──────────────────────────────────────────────

STRIDE = 37
"""Every so many of all replacements are tried by default, the others when slow tests are asked for."""


def replacements(value: Any, strides: int) -> Iterator[Any]:
    """`value` with one place after another replaced by one odd value after another; every `strides`-th of them."""
    for n, (path, oddity) in enumerate(itertools.product(paths_in(value), ODDITIES)):
        if n % strides == 0:
            made = copy.deepcopy(value)
            *outer, last = path
            inside = made
            for key in outer:
                inside = inside[key]
            inside[last] = oddity
            yield made


def assert_read_or_refused(api: str, row: dict[str, Any], strides: int) -> None:
    for body in replacements(row.get("response"), strides):
        with contextlib.suppress(ProviderError):
            try:
                codec(api).decode_response(body)
            except CodecError as error:
                assert error.path.startswith("$")  # noqa: PT017
    for frames in replacements(row.get("stream"), strides):
        decoder = codec(api).decode_stream()
        with contextlib.suppress(ProviderError):
            events = [event for frame in frames for event in decoder.feed(_frame(frame))]
            assert_strict([*events, *decoder.close()])


def _frame(frame: Any) -> Frame:
    return Frame(frame if isinstance(frame, str) else json.dumps(frame))


@pytest.mark.parametrize("api", CODECS)
def test_no_odd_value_anywhere_breaks_a_codec(api: str) -> None:
    for row in rows(VECTORS / f"{api}.jsonl"):
        assert_read_or_refused(api, row, STRIDE)


@pytest.mark.slow
@pytest.mark.parametrize("api", CODECS)
def test_no_place_at_all_can_break_its_codec(api: str) -> None:
    for row in rows(VECTORS / f"{api}.jsonl"):
        assert_read_or_refused(api, row, 1)


@pytest.mark.parametrize("api", CODECS)
@thorough
@given(data=st.data())
def test_damaged_bytes_are_read_or_refused(api: str, data: st.DataObject) -> None:
    encoder = codec(api).encode_stream(whole_calls=False)
    frames = [*(frame for event in replay(ANSWER) for frame in encoder.feed(event)), *encoder.close()]
    damaged = bytearray(written(codec(api), frames))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at : at + data.draw(st.integers(0, 20))] = data.draw(st.binary(max_size=8))
    events, error = decoded(codec(api), pieces(bytes(damaged), 50))
    if error is None:
        assert_strict(events)


@pytest.mark.parametrize("api", CODECS)
@thorough
@given(data=st.binary(max_size=60) | st.text('{}[]":,0123456789truefalsn ', max_size=40))
def test_a_body_that_is_any_text_is_read_or_refused(api: str, data: bytes | str) -> None:
    with contextlib.suppress(ProviderError, CodecError):
        decode(api, data)


@pytest.mark.parametrize("api", CODECS)
@thorough
@given(data=st.text() | st.text('{}[]":,0123456789truefalsn ', max_size=40))
def test_any_text_in_a_frame_is_read(api: str, data: str) -> None:
    decoder = codec(api).decode_stream()
    with contextlib.suppress(ProviderError):
        assemble([*decoder.feed(Frame(data)), *decoder.close()])
