"""Text that was held comes out behind what its chunks said beside it: none of that is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.codecs.fidelity.decoding import decode_chunks
from dragoman.codecs.shared.frames import writers
from dragoman.events import Event, Started, TextDelta, WireEvent


def token(text: str) -> dict[str, Any]:
    return {"token": text, "logprob": -0.5, "bytes": None, "top_logprobs": []}


CHAT = [WireEvent("openai_chat", "choice", {"logprobs": {"content": [token(text)]}}) for text in "ab"]
OLLAMA = [WireEvent("ollama_chat", "line", {"logprobs": [token(text)]}) for text in "ab"]


@pytest.mark.parametrize(("api", "besides"), [("openai_chat", CHAT), ("ollama_chat", OLLAMA)])
def test_log_probabilities_of_all_pieces_come_with_a_text_that_was_held(api: str, besides: list[Event]) -> None:
    codec = CODECS[api]
    encoder = codec.encode_stream()
    events = [Started("m", "id"), *besides, TextDelta("ab")]
    frames = [frame for event in events for frame in encoder.feed(event)]
    text = json.dumps(dict(decode_chunks(codec, [*map(writers[codec.frames], frames)]).extra))
    assert text.index(json.dumps(token("a"))) < text.index(json.dumps(token("b")))
