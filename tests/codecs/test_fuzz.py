"""Whatever a peer or client sends: a value, a `CodecError` with a path, or the peer's own error; nothing else."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.codecs import CODECS
from dragoman.errors import CodecError, ProviderError
from dragoman.events import Event, assemble
from dragoman.frames import Frame, to_json

from .test_laws import assert_strict
from .values import WIRES, requests
from .wire import VECTORS, codec, rows

ODD: list[Any] = [None, True, False, 0, -1, 1.5, 10**30, "", "x", "\ud800", [], {}, [[]], [{}], {"a": 1}, "{}", [None],
                  {"type": "text"}, {"type": 5}, "[DONE]", "data:;base64,AA", "http://["]  # fmt: skip
thorough = settings(suppress_health_check=list(HealthCheck), deadline=None)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


@st.composite
def mutated(draw: st.DrawFn, value: Any) -> Any:
    """`value` with a few of its parts replaced, dropped or repeated."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        known = list(places(value))
        if not known:
            return draw(st.sampled_from(ODD))
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
            inside[last] = copy.deepcopy(draw(st.sampled_from(ODD)))
    return value


def tell_everybody(events: list[Event]) -> None:
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
    tell_everybody(events)


@pytest.mark.parametrize("api", CODECS)
@thorough
@given(data=st.text() | st.text('{}[]":,0123456789truefalsn ', max_size=40))
def test_any_text_in_a_frame_is_read(api: str, data: str) -> None:
    decoder = codec(api).decode_stream()
    with contextlib.suppress(ProviderError):
        assemble([*decoder.feed(Frame(data)), *decoder.close()])
