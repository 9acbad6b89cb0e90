"""What the stream decoders share: a frame that is like the one before is read by comparison, and to the same end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.codecs.shared.decoder import AnswerDecoder
from dragoman.codecs.shared.frames import Frame
from dragoman.errors import ProviderError
from dragoman.events import Event, TextDelta, replay
from dragoman.types import Message, Reasoning, Response, Text, ToolCall

from ..support.recordings import VECTORS, codec, rows, streamed

APIS = [api for api in CODECS if isinstance(CODECS[api].decode_stream(), AnswerDecoder)]
ANSWER = Response(
    message=Message(
        "assistant", [Reasoning("hm " * 9), Text("la " * 9), ToolCall(id="a", name="f", arguments={"x": 1})]
    )
)


def frame(one: Any) -> Frame:
    return Frame(one) if isinstance(one, str) else Frame(json.dumps(one), one.get("type") or "")


def streams(api: str) -> list[list[Frame]]:
    recorded = [[frame(one) for one in row["stream"]] for row in rows(VECTORS / f"{api}.jsonl") if "stream" in row]
    pieces = [event for event in replay(ANSWER) for event in split(event)]
    return [*recorded, *(streamed(codec(api), pieces, whole_calls=whole) for whole in (True, False))]


def split(event: Event) -> list[Event]:
    return [TextDelta(c) for c in event.text] if isinstance(event, TextDelta) else [event]


def read(api: str, frames: list[Frame], *, alone: bool = False, rests: bool = False) -> list[list[Event]]:
    decoder = codec(api).decode_stream()
    assert isinstance(decoder, AnswerDecoder)
    events: list[list[Event]] = []
    try:
        for one in frames:
            if alone:
                decoder._like = None
            elif rests and decoder.like is not None:
                decoder.like.rest()
            events.append(decoder.feed(one))
        events.append(decoder.close())
    except ProviderError:
        pass
    return events


@pytest.mark.parametrize("api", APIS)
def test_repeated_frames_say_what_each_says_alone(api: str) -> None:
    for frames in streams(api):
        assert read(api, frames) == read(api, frames, alone=True)


@pytest.mark.parametrize("api", APIS)
def test_a_frame_that_is_held_no_more_is_like_no_other(api: str) -> None:
    for frames in streams(api):
        assert read(api, frames, rests=True) == read(api, frames, alone=True)


@pytest.mark.parametrize("api", APIS)
def test_repeated_text_frames_are_read_by_comparison(api: str) -> None:
    decoder, frames, compared = codec(api).decode_stream(), streams(api)[-1], 0
    assert isinstance(decoder, AnswerDecoder)
    for one in frames:
        like = decoder._like
        decoder.feed(one)
        compared += like is not None and decoder._like is like
    assert compared > len(frames) / 2


def test_all_but_wrappers_share_the_decoder() -> None:
    assert set(CODECS) - set(APIS) == {"bedrock_invoke"}
