"""The laws of what crosses between wires: texts and calls are untouched, a wire's own words stay, nothing we made for
a client goes back to a vendor."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.codecs.crossing.parts import parts_crossed
from dragoman.codecs.crossing.settings import ALL, SETTINGS, crossed
from dragoman.codecs.shared.spec import WireFields
from dragoman.events import assemble, replay
from dragoman.gateway.crossing.answers import AnswerCrossing, crossed_answer
from dragoman.types import Media, Message, Opaque, Request, Response, Text, ToolCall

APIS = ("openai_chat", "openai_responses", "anthropic_messages", "gemini", "ollama_chat")
URL = "https://e.x/a"
NOTE = {"type": "url_citation", "url": URL, "title": "T", "start_index": 0, "end_index": 2}
SEARCH = {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}}
ANSWER = Response(
    message=Message(
        "assistant",
        (
            Opaque(api="openai_responses", block=SEARCH),
            Text("é☀ first", metadata=WireFields("openai_responses", {"annotations": [NOTE]})),
            ToolCall(id="c1", name="w", arguments={"city": "Oslo"}),
            Text("second", metadata=WireFields("openai_responses", {"annotations": [NOTE]})),
            Media(mime="image/png", data="AAAA"),
        ),
    ),
    extra=WireFields("openai_responses", {"service_tier": "flex"}),
)


@pytest.mark.parametrize("api", APIS)
def test_texts_and_calls_stay_as_they_are(api: str) -> None:
    made = crossed_answer(ANSWER, api)
    assert made.text == ANSWER.text
    assert made.calls == ANSWER.calls


@pytest.mark.parametrize("api", APIS)
def test_a_whole_answer_crosses_as_a_streamed_one(api: str) -> None:
    crossing = AnswerCrossing(api)
    events = [out for event in replay(ANSWER) for out in crossing.feed(event)]
    assert assemble(events) == crossed_answer(ANSWER, api)


def test_an_answer_stays_as_it_is_on_its_own_wire() -> None:
    plain = Response(message=Message("assistant", ANSWER.message.parts[:-1]), extra=ANSWER.extra)
    assert crossed_answer(plain, "openai_responses") == plain


def test_an_answer_of_which_only_the_tier_is_known_has_counts_for_clients_of_anthropic() -> None:
    tier = WireFields("openai_chat", {"service_tier": "default"})
    tiered = Response(message=Message("assistant", (Text("Blue."),)), extra=tier)
    body = CODECS["anthropic_messages"].encode_response(crossed_answer(tiered, "anthropic_messages"))
    assert body["usage"] == {"service_tier": "standard", "input_tokens": 0, "output_tokens": 0}


def test_what_was_made_for_a_client_goes_back_to_no_vendor() -> None:
    made = crossed_answer(ANSWER, "anthropic_messages").message
    back = parts_crossed(Request(model="m", messages=(made,)), "anthropic_messages").messages[0]
    assert not [part for part in back.parts if isinstance(part, Opaque)]
    assert not [part for part in back.parts if isinstance(part, Text) and part.metadata.get("citations")]
    assert back.text == ANSWER.text


@pytest.mark.parametrize("row", SETTINGS, ids=lambda row: row.name)
def test_a_setting_stays_on_its_own_wire_and_is_left_where_a_peer_does_not_take_it(row: Any) -> None:
    for api, path in row.words.items():
        fields = WireFields(api, {path.partition(".")[0].partition("[")[0]: "word"})
        assert crossed(fields, api, ALL) == ({}, fields)
        assert crossed(fields, "bedrock_invoke") == ({}, fields)
