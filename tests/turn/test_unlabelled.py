"""Answers whose content type says something else than their bytes: they are read as what they are."""

from __future__ import annotations

import json

import pytest

from dragoman.effects import Machine, drive, run
from dragoman.errors import ErrorKind, ProviderError
from dragoman.events import Event, TextDelta
from dragoman.providers.route import Route
from dragoman.providers.spec import Provider
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn.machine import turn
from dragoman.types import Message, Request, Response, Tool
from tests.support.wires import AWS, WIRES

LOOK = Tool(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}})
LABELS = ("application/json", "text/plain", "text/event-stream", "")
READABLE = [codec for codec, wire in WIRES.items() if wire.kind != AWS]
PIECES = (1, 7, 1_000_000)


def cut(data: bytes, size: int) -> tuple[bytes, ...]:
    return tuple(data[at : at + size] for at in range(0, len(data), size))


def asked(codec: str, *, stream: bool) -> Machine[Response]:
    to = Route(provider=Provider(name="mislabelled", codec=codec), base_url="http://model.test")
    request = Request(model="m", messages=(Message("user", "Look."),), tools=(LOOK,), stream=stream)
    return turn(request, to)


def answered(codec: str, data: bytes, label: str, size: int, *, stream: bool) -> Response:
    memory = ScriptedPeer([Answer(cut(data, size), headers={"content-type": label} if label else {})])
    return run(asked(codec, stream=stream), memory.sync_performer())


over_every_wire = pytest.mark.parametrize("codec", READABLE)
under_every_label = pytest.mark.parametrize("label", LABELS)
streamed_and_whole = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
in_pieces = pytest.mark.parametrize("size", PIECES)


def called(response: Response) -> list[tuple[str, object]]:
    return [(call.name, dict(call.arguments)) for call in response.calls]


@over_every_wire
@under_every_label
@streamed_and_whole
@in_pieces
def test_frames_are_read_whatever_they_are_called(codec: str, label: str, stream: bool, size: int) -> None:
    data = b"".join(WIRES[codec].stream("c1", "look", {"at": "sky"}))
    assert called(answered(codec, data, label, size, stream=stream)) == [("look", {"at": "sky"})]


MISNAMED = [label for label in LABELS if label != "text/event-stream"]
STREAMS = ("text/event-stream", "application/x-ndjson")


@over_every_wire
@pytest.mark.parametrize("label", [*LABELS, "application/x-ndjson"])
@streamed_and_whole
@in_pieces
def test_a_whole_answer_is_read_whatever_it_is_called(codec: str, label: str, stream: bool, size: int) -> None:
    data = WIRES[codec].whole("c1", "look", {"at": "sky"})
    for begin in (b"", b"\n ", b"\xef\xbb\xbf"):
        assert called(answered(codec, begin + data, label, size, stream=stream)) == [("look", {"at": "sky"})]


@over_every_wire
@pytest.mark.parametrize("label", STREAMS)
@in_pieces
def test_a_whole_answer_on_many_lines_is_read_where_it_is_called_a_stream(codec: str, label: str, size: int) -> None:
    data = json.dumps(json.loads(WIRES[codec].whole("c1", "look", {"at": "sky"})), indent=2).encode()
    assert called(answered(codec, data, label, size, stream=True)) == [("look", {"at": "sky"})]


@pytest.mark.parametrize("label", MISNAMED)
def test_text_of_misnamed_frames_is_told_before_a_reset(label: str) -> None:
    piece = b'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n'
    reset = ProviderError("the peer broke off; try again", kind=ErrorKind.NETWORK)
    memory = ScriptedPeer([Answer((piece, reset), headers={"content-type": label} if label else {})])
    steps = drive(asked("openai_chat", stream=True), memory.sync_performer())
    seen: list[Event] = []
    with pytest.raises(ProviderError, match="broke off"):
        seen.extend(steps)  # extend keeps what came before the exception
    assert TextDelta("Hel") in seen


@pytest.mark.parametrize("data", [b"", b"<html>It works</html>", b"[1", b"{", b"data", b"null", b"{}", b"{\n}", b'{"a": 1}\n'])
@under_every_label
@streamed_and_whole
def test_what_is_neither_is_told(data: bytes, label: str, stream: bool) -> None:
    with pytest.raises(ProviderError) as caught:
        answered("openai_chat", data, label, 1, stream=stream)
    assert caught.value.kind is ErrorKind.GARBLED
