"""Streams told again to clients of the same API: what their own words say comes out in those words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.codecs.shared.frames import Frame
from dragoman.events import replay
from tests.support.recordings import codec

Body = dict[str, Any]
RESPONSE: Body = {"id": "resp_1", "model": "m", "output": []}
BEGUN = {"type": "response.created", "response": RESPONSE}
DECLINED = {
    "type": "message",
    "id": "msg_9",
    "role": "assistant",
    "content": [{"type": "refusal", "refusal": "I can't."}],
}


def again(api: str, *bodies: Body) -> list[Body]:
    """The frames of a stream, read and written by its own codec."""
    decoder, encoder = codec(api).decode_stream(), codec(api).encode_stream()
    events = [event for body in bodies for event in decoder.feed(Frame(json.dumps(body)))]
    frames = [*(frame for event in (*events, *decoder.close()) for frame in encoder.feed(event)), *encoder.close()]
    return [json.loads(frame.data) for frame in frames if frame.data != "[DONE]"]


def test_an_event_without_fields_is_json() -> None:
    (told,) = [
        one for one in again("openai_responses", BEGUN, {"type": "response.audio.done"}) if "audio" in one["type"]
    ]
    assert set(told) == {"type", "sequence_number"}


@pytest.mark.parametrize("streamed", [True, False], ids=["in deltas", "in the item"])
def test_a_refusal_in_items_is_streamed_as_one(streamed: bool) -> None:
    place = {"item_id": "msg_9", "output_index": 0, "content_index": 0}
    said = [{"type": "response.refusal.delta", **place, "delta": one} for one in ("I ", "can't.")] if streamed else []
    told = again(
        "openai_responses", BEGUN, *said,
        {"type": "response.output_item.done", "output_index": 0, "item": DECLINED},
        {"type": "response.completed", "response": {**RESPONSE, "status": "completed", "output": [DECLINED]}},
    )  # fmt: skip
    kinds = [one["type"] for one in told]
    assert "response.output_text.delta" not in kinds
    assert "".join(one["delta"] for one in told if one["type"] == "response.refusal.delta") == "I can't."
    (done,) = [one for one in told if one["type"] == "response.refusal.done"]
    assert done["refusal"] == "I can't."
    last = told[-1]
    assert (last["type"], last["response"]["status"]) == ("response.completed", "completed")
    assert last["response"]["output"][0]["content"] == [{"type": "refusal", "refusal": "I can't."}]


SAID: dict[str, list[str]] = {
    "a refusal first": ["refusal", "output_text"],
    "a refusal last": ["output_text", "refusal"],
    "refusals around": ["refusal", "output_text", "refusal"],
}


@pytest.mark.parametrize("known", [{}, {"id": "msg_9"}], ids=["without an id", "with an id"])
@pytest.mark.parametrize("kinds", SAID.values(), ids=SAID)
def test_a_refusal_and_a_text_of_one_item_stay_one(kinds: list[str], known: Body) -> None:
    content = [{"type": one, "refusal" if one == "refusal" else "text": f"{n}."} for n, one in enumerate(kinds)]
    item = {"type": "message", "role": "assistant", "status": "completed", "content": content, **known}
    api = codec("openai_responses")
    response = api.decode_response({**RESPONSE, "object": "response", "status": "completed", "output": [item]})
    written = api.encode_response(response)["output"]
    for output in (written, _replayed(written), _replayed([item])):
        (message,) = (one for one in output if one["type"] == "message")
        assert [part["type"] for part in message["content"]] == kinds
        assert not known or message["id"] == known["id"]
    if not known:  # as it comes from a wire that has no items
        encoder = api.encode_stream()
        frames = [*(frame for event in replay(response) for frame in encoder.feed(event)), *encoder.close()]
        (message,) = json.loads(frames[-1].data)["response"]["output"]
        assert [part["type"] for part in message["content"]] == kinds


def _replayed(output: list[Body]) -> list[Body]:
    """What a history with these items becomes where it is written again."""
    api, user = codec("openai_responses"), {"type": "message", "role": "user", "content": "So?"}
    written: list[Body] = api.encode_request(api.decode_request({"model": "m", "input": [user, *output, user]}))["input"]
    return written[1:-1]


def _chunk(**delta: str) -> Body:
    return {"id": "1", "model": "m", "choices": [{"index": 0, "delta": delta}]}


def test_text_after_a_refusal_is_text_again() -> None:
    told = again(
        "openai_chat", _chunk(refusal="I "), _chunk(refusal="can't."), _chunk(content="But "), _chunk(content="so.")
    )
    deltas = [one["choices"][0]["delta"] for one in told]
    assert "".join(one.get("refusal") or "" for one in deltas) == "I can't."
    assert "".join(one.get("content") or "" for one in deltas) == "But so."


def test_a_refusal_on_the_chat_wire_ends_as_openai_ends_it() -> None:
    end = {"id": "1", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    begun = {"id": "1", "model": "m", "choices": [{"index": 0, "delta": {"refusal": "no"}}]}
    assert again("openai_chat", begun, end)[-1]["choices"][0]["finish_reason"] == "stop"


def test_the_call_of_a_typed_tool_that_nobody_declared_is_told_as_it_came() -> None:
    item = {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "call_1",
        "pending_safety_checks": [],
        "status": "completed",
    }
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    told = again(
        "openai_responses", BEGUN, done, {"type": "response.completed", "response": {**RESPONSE, "output": [item]}}
    )
    assert [one["item"]["type"] for one in told if one["type"] == "response.output_item.done"] == ["computer_call"]


def test_a_compaction_comes_with_its_content() -> None:
    block = {"type": "compaction", "content": None, "encrypted_content": None}
    told = again(
        "anthropic_messages",
        {"type": "message_start", "message": {"id": "msg_1", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0,
         "delta": {"type": "compaction_delta", "content": "so far: hi", "encrypted_content": "e1"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "compaction"}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    )  # fmt: skip
    by_kind = {one["type"]: one for one in told}
    assert by_kind["content_block_start"]["content_block"] == block
    assert by_kind["content_block_delta"]["delta"] == {
        "type": "compaction_delta", "content": "so far: hi", "encrypted_content": "e1",
    }  # fmt: skip
    assert by_kind["message_delta"]["delta"]["stop_reason"] == "compaction"


CITATION = {
    "start": 0,
    "end": 2,
    "text": "ho",
    "sources": [{"type": "document", "id": "doc:1", "document": {"id": "1"}}],
}
CONTENT = [
    {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
    {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "ho"}}}},
]
CITED = {"type": "citation-start", "index": 0, "delta": {"message": {"citations": CITATION}}}
END = {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}


def test_coheres_plan_and_citations_come_in_their_own_events() -> None:
    told = again(
        "cohere_chat", {"type": "message-start", "id": "1", "delta": {"message": {"role": "assistant"}}},
        {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "I will "}}},
        {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "look."}}},
        *CONTENT, CITED, {"type": "citation-end", "index": 0}, {"type": "content-end", "index": 0}, END,
    )  # fmt: skip
    plan = [one["delta"]["message"]["tool_plan"] for one in told if one["type"] == "tool-plan-delta"]
    assert plan == ["I will ", "look."]
    assert [one["type"] for one in told if one["type"].startswith("citation")] == ["citation-start", "citation-end"]
    assert CITED in told


def test_citations_of_a_whole_answer_are_streamed_too() -> None:
    body = {"id": "1", "finish_reason": "COMPLETE", "message": {"role": "assistant", "citations": [CITATION],
            "content": [{"type": "text", "text": "ho"}]}}  # fmt: skip
    from_whole = codec("cohere_chat").decode_response(body)
    assert from_whole.text == "ho"
    encoder = codec("cohere_chat").encode_stream()
    frames = [frame for event in replay(from_whole) for frame in encoder.feed(event)]
    assert any(json.loads(frame.data) == CITED for frame in frames)


def test_a_file_in_base64_without_its_type_is_not_taken_for_an_address() -> None:
    part = {"type": "input_file", "filename": "a.pdf", "file_data": "JVBERi0="}
    body = {"model": "m", "input": [{"role": "user", "content": [part]}]}
    wire = codec("openai_responses").encode_request(codec("openai_responses").decode_request(body))
    assert wire["input"][0]["content"] == [part]


def test_gemini_keeps_names_of_files_and_schemas_of_enums() -> None:
    blob = {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0=", "displayName": "a.pdf"}}
    config = {"responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING", "enum": ["a", "b"]}}
    body = {"contents": [{"role": "user", "parts": [blob]}], "generationConfig": config}
    request = codec("gemini").decode_request(body)
    assert request.messages[0].parts[0].name == "a.pdf"  # type: ignore[union-attr]
    wire = codec("gemini").encode_request(request)
    assert wire["contents"][0]["parts"] == [blob]
    assert wire["generationConfig"] == config
