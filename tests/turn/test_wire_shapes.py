"""Answers in shapes that no API describes, asked for by a client: read as what they are, whole, streamed and cut anywhere."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.effects import run
from dragoman.errors import ProviderError
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn.machine import turn
from dragoman.types import Message, Request, Response, Stop, Tool
from tests.support.shapes import SHAPES, answering, asks, faults, route

LOOK = Tool(
    name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
)  # fmt: skip
SIZES = (1, 7, 64, 10**9)
LABELS = ("", "application/json", "text/event-stream", "application/x-ndjson", "text/plain")


def came(shape: dict[str, Any], memory: ScriptedPeer, *, stream: bool) -> Response | str:
    request = Request(model="m", messages=(Message("user", "Look."),), tools=(LOOK,), stream=stream)
    try:
        return run(turn(request, route(shape)), memory.sync_performer())
    except ProviderError as error:
        return error.message


def said(response: Response | str) -> Any:
    if isinstance(response, str):
        return response
    calls = [(call.id, call.name, dict(call.arguments)) for call in response.calls]
    return response.text, response.reasoning, calls, response.stop, response.usage, response.issues


every_shape = pytest.mark.parametrize("shape", SHAPES, ids=[shape["id"] for shape in SHAPES])


@every_shape
def test_an_odd_shape_says_the_same_whole_streamed_and_cut_anywhere(shape: dict[str, Any]) -> None:
    answers = [
        came(shape, answering(shape, stream=stream, size=size), stream=stream)
        for stream in (True, False) if asks(shape, stream=stream) for size in SIZES
    ]  # fmt: skip
    assert faults(shape, answers[0]) == []
    assert [answer for answer in answers if said(answer) != said(answers[0])] == []
    if shape.get("sound"):
        assert not isinstance(answers[0], str)
        assert answers[0].issues == ()


@every_shape
def test_an_odd_shape_is_read_whatever_it_is_called(shape: dict[str, Any]) -> None:
    for label in LABELS:
        for stream in (True, False):
            if asks(shape, stream=stream):
                memory = answering(shape, stream=stream, label=label)
                assert faults(shape, came(shape, memory, stream=stream)) == []


# ── bytes that are no text ───────────────────────────────────────────────────

CHAT = {"api": "openai_chat"}
GREEN = {"index": 0, "finish_reason": "stop"}
LATIN: dict[str, dict[str, Any]] = {
    "whole": {"choices": [{**GREEN, "message": {"role": "assistant", "content": "Grün."}}]},
    "lines": {"choices": [{**GREEN, "delta": {"content": "Grün."}}]},
}


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("body", LATIN.values(), ids=LATIN)
def test_bytes_that_are_not_utf_8_become_replacement_characters_whole_and_streamed(
    body: dict[str, Any], stream: bool
) -> None:
    data = json.dumps(body, ensure_ascii=False).encode("latin-1")
    response = came(CHAT, ScriptedPeer(lambda _: Answer((data[:30], data[30:]))), stream=stream)
    assert isinstance(response, Response)
    assert (response.text, response.stop) == ("Gr�n.", Stop.END)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_body_that_is_packed_unlabelled_is_an_error_that_says_so(stream: bool) -> None:
    packed = b"\x1f\x8b\x08\x00rest"
    error = came(CHAT, ScriptedPeer(lambda _: Answer((packed[:1], packed[1:]))), stream=stream)
    assert isinstance(error, str)
    assert "gzip" in error
    assert "check the base URL" in error
