"""A character that a server cut in two, as those do that cut text by UTF-16 units, is one however the bytes come."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.codecs.shared.frame_stream import FrameStream
from dragoman.codecs.shared.frames import Frame
from dragoman.codecs.shared.halves import Halves
from dragoman.errors import ProviderError
from dragoman.events import Event, TextDelta, assemble
from dragoman.types import Response

HIGH, LOW, ROCKET = "\ud83d", "\ude80", "\U0001f680"


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"id": "x", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def fragment(arguments: str, **more: Any) -> dict[str, Any]:
    return chunk(
        {"tool_calls": [{"index": 0, **more, "function": {"name": "look" if more else "", "arguments": arguments}}]}
    )


def stream(*bodies: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(body).encode() + b"\n\n" for body in bodies)


def answer(data: bytes, size: int) -> Response:
    reading = FrameStream(CODECS["openai_chat"])
    events: list[Event] = []
    for at in range(0, len(data), size):
        events += reading.feed(data[at : at + size])
    return assemble([*events, *reading.close()])


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("key", ["content", "reasoning_content"])
def test_a_pair_in_two_deltas_is_one_character(key: str, size: int) -> None:
    pieces = ["a", "b", f"c{HIGH}", f"{LOW}{HIGH}", f"{LOW}d", "e"]
    response = answer(stream(*(chunk({key: piece}) for piece in pieces), chunk({}, "stop")), size)
    said = response.text if key == "content" else response.reasoning
    assert said == f"abc{ROCKET}{ROCKET}de"


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_pair_in_two_fragments_of_arguments_is_one_character(size: int) -> None:
    first = fragment(f'{{"at": "{HIGH}', id="c1", type="function")
    response = answer(stream(first, fragment(f"{LOW}"), fragment('!"}'), chunk({}, "tool_calls")), size)
    (call,) = response.calls
    assert call.arguments == {"at": f"{ROCKET}!"}


def test_half_a_character_that_stays_alone_is_not_lost() -> None:
    for last in ([chunk({"content": "b"})], []):
        text = answer(stream(chunk({"content": f"a{HIGH}"}), *last, chunk({}, "stop")), 100_000).text
        assert text.startswith(f"a{HIGH}")
    assert answer(stream(chunk({"content": f"a{HIGH}"})), 100_000).text == f"a{HIGH}"


def test_what_waits_goes_out_before_an_error() -> None:
    reading = FrameStream(CODECS["openai_chat"])
    events: list[Event] = []
    given = stream(chunk({"content": f"a{HIGH}"}), {"error": {"message": "busy"}})
    with pytest.raises(ProviderError):
        events.extend(reading.feed(given))  # what came before the error counts
    assert [event.text for event in events if isinstance(event, TextDelta)] == [f"a{HIGH}"]


@pytest.mark.parametrize(
    "first", [r'{"a":"x\\ud83d"}', r'{"a":"\ud83d x"}', r'{"a":"\ude80"}', r'{"a":"\u00e9"}', r'{"a":"\ud83d\ude80"}']
)
def test_a_frame_in_which_nothing_is_half_does_not_wait(first: str) -> None:
    assert Halves().feed(Frame(first)) == [Frame(first)]


def test_halves_that_are_no_pairs_stay_where_they_are() -> None:
    halves, first, second = Halves(), Frame(r'{"a":"\ud83d","b":"\ud83d"}'), Frame(r'{"a":"\ude80"}')
    assert halves.feed(first) == []
    assert halves.feed(second) == [first, second]
