"""The laws of codecs: what is written is read back, streamed as whole, and from any wire to any other."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.codecs import CODECS
from dragoman.events import assemble, replay
from dragoman.types import Message, Reasoning, Request, Response, Text
from tests.support.recordings import assert_strict, codec, decoded, folded, pieces, round_trip, streamed, written
from tests.support.values import WIRES, requests, responses

SERVED = sorted(WIRES)
PAIRS = list(itertools.product(SERVED, SERVED))
slow = settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=50)
brief = settings(slow, max_examples=12)
"""For laws that hold for every pair: there are many."""


@pytest.mark.parametrize("api", SERVED)
@slow
@given(data=st.data())
def test_a_request_survives_its_wire(api: str, data: st.DataObject) -> None:
    request: Request = data.draw(requests(api))
    body = codec(api).encode_request(request)
    assert codec(api).decode_request(json.loads(json.dumps(body))) == request


@pytest.mark.parametrize("api", SERVED)
@slow
@given(data=st.data())
def test_an_answer_survives_its_wire_whole(api: str, data: st.DataObject) -> None:
    response: Response = data.draw(responses(api))
    body = json.loads(json.dumps(codec(api).encode_response(response)))
    assert codec(api).decode_response(body) == response


@pytest.mark.parametrize("whole_calls", [True, False])
@pytest.mark.parametrize("api", SERVED)
@slow
@given(data=st.data())
def test_an_answer_survives_its_wire_streamed(api: str, whole_calls: bool, data: st.DataObject) -> None:
    response: Response = data.draw(responses(api))
    assert round_trip(codec(api), response, whole_calls=whole_calls) == response


@pytest.mark.parametrize(("source", "target"), PAIRS)
@brief
@given(data=st.data())
def test_streams_between_wires_equal_whole_answers(source: str, target: str, data: st.DataObject) -> None:
    response: Response = data.draw(responses(source))
    events, error = decoded(codec(source), [written(codec(source), streamed(codec(source), replay(response)))])
    assert error is None
    whole = codec(target).decode_response(codec(target).encode_response(assemble(events)))
    for whole_calls in (True, False):
        again = folded(codec(target), streamed(codec(target), events, whole_calls=whole_calls))
        assert _comparable(target, again) == _comparable(target, whole)


def _comparable(api: str, response: Response) -> Response:
    """The answer as its wire orders it whole: a stream keeps the order of text and reasoning, the whole body cannot."""
    if not WIRES[api].in_order:
        return response
    reasoning = [Reasoning(response.reasoning)] if response.reasoning else []
    text = [Text(response.text)] if response.text else []
    return replace(response, message=Message("assistant", [*reasoning, *text, *response.calls]))


@pytest.mark.parametrize(("source", "target"), PAIRS)
@brief
@given(data=st.data())
def test_requests_between_wires_keep_calls_and_results(source: str, target: str, data: st.DataObject) -> None:
    request: Request = replace(data.draw(requests(source)), model="m")
    carried = codec(target).decode_request(json.loads(json.dumps(codec(target).encode_request(request))))
    assert [c for m in carried.messages for c in m.calls] == [c for m in request.messages for c in m.calls]
    assert [_gist(r) for m in carried.messages for r in m.results] == [
        _gist(r) for m in request.messages for r in m.results
    ]
    mode = request.tool_choice.mode if request.tool_choice else "auto"
    if mode not in ("none", "named") or mode in WIRES[target].choices:  # else fewer tools are offered, which says it
        assert [t.name for t in carried.tools] == [t.name for t in request.tools]


def _gist(result: Any) -> tuple[Any, ...]:
    return result.call_id, result.name, result.is_error, result.error_code, result.text.split("\n\nThe result")[0]


@pytest.mark.parametrize("api", SERVED)
@slow
@given(data=st.data())
def test_bytes_may_be_cut_anywhere(api: str, data: st.DataObject) -> None:
    response: Response = data.draw(responses(api))
    wire = written(codec(api), streamed(codec(api), replay(response), whole_calls=False))
    whole, _ = decoded(codec(api), [wire])
    size = data.draw(st.integers(1, 40))
    assert decoded(codec(api), pieces(wire, size)) == (whole, None)


@pytest.mark.parametrize("api", SERVED)
@slow
@given(data=st.data())
def test_call_deltas_are_strict_json_however_cut(api: str, data: st.DataObject) -> None:
    response: Response = data.draw(responses(api))
    wire = written(codec(api), streamed(codec(api), replay(response), whole_calls=False))
    events, error = decoded(codec(api), [wire[: data.draw(st.integers(0, len(wire)))]])
    if error is None:  # a frame with a checksum, cut within, is an error of its own
        assert_strict(events)


@pytest.mark.parametrize("api", sorted(CODECS))
def test_fields_of_one_wire_never_reach_another(api: str) -> None:
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "hi", "name": "bob"}],
        "store": True,
        "max_tokens": 5,
    }
    request = codec("openai_chat").decode_request(body)
    if api == "openai_chat":
        assert codec(api).encode_request(request) == body
    else:
        wire = json.dumps(codec(api).encode_request(request))
        assert "store" not in wire
        assert "bob" not in wire


def test_extra_fields_go_out_on_every_wire() -> None:
    request = replace(codec("ollama_chat").decode_request({"model": "m", "messages": []}), extra={"keep_alive": "5m"})
    assert all(codec(api).encode_request(request)["keep_alive"] == "5m" for api in SERVED)
