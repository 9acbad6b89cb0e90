"""An answer that its server failed ends in a word that strict clients know."""

from __future__ import annotations

import json

import pytest

from dragoman.codecs.shared.spec import Stamp
from dragoman.events import replay
from dragoman.types import Message, Request, Response, Stop
from tests.support.recordings import codec

FAILED = Response(message=Message("assistant", "Hel"), stop=Stop.ERROR, id="a")
LEGAL = {
    "openai_chat": {"stop", "length", "tool_calls", "content_filter", "function_call"},
    "openai_responses": {"completed", "incomplete", "failed"},
}


@pytest.mark.parametrize("api", LEGAL)
def test_a_failed_answer_ends_in_a_word_that_strict_clients_know(api: str) -> None:
    body = codec(api).encode_response(FAILED)
    word = body["choices"][0]["finish_reason"] if api == "openai_chat" else body["status"]
    assert word in LEGAL[api]


def test_a_failed_answer_of_responses_ends_in_the_event_that_says_so() -> None:
    encoder = codec("openai_responses").encode_stream(Stamp(), Request(model="m"))
    frames = [*(frame for event in replay(FAILED) for frame in encoder.feed(event)), *encoder.close()]
    last = json.loads(frames[-1].data)
    assert (last["type"], last["response"]["status"]) == ("response.incomplete", "incomplete")


@pytest.mark.parametrize("word", ["error", "network_error", "insufficient_system_resource"])
def test_a_peers_own_word_for_a_failure_does_not_go_on(word: str) -> None:
    body = codec("openai_chat").encode_response(FAILED)
    body["choices"][0]["finish_reason"] = word
    again = codec("openai_chat").encode_response(codec("openai_chat").decode_response(body))
    assert again["choices"][0]["finish_reason"] in LEGAL["openai_chat"]
