"""What other compatibility layers got wrong, or pinned by tests of their own: how our answers look on each wire.

Source of every row: wire-quirks.md, "Ollama's OpenAI / Anthropic / Responses compatibility layers".
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.codecs.shared.spec import Stamp
from dragoman.events import replay
from dragoman.types import Message, Part, Reasoning, Response, Stop, Text, ToolCall, Usage
from tests.support.recordings import codec, streamed

SERVED = ("openai_chat", "openai_responses", "anthropic_messages", "ollama_chat", "gemini")
CALL = ToolCall(id="call_1", name="f", arguments={"x": 1})
OTHER = ToolCall(id="call_2", name="g")


def answer(*parts: Part, stop: Stop = Stop.END) -> Response:
    return Response(message=Message("assistant", parts), stop=stop, model="m", id="r", usage=Usage(input=1, output=2))


def frames_of(api: str, *parts: Part, stop: Stop = Stop.END) -> list[Any]:
    """The frames of a streamed answer, parsed."""
    frames = streamed(codec(api), replay(answer(*parts, stop=stop)))
    return [json.loads(frame.data) for frame in frames if frame.data.startswith("{")]


# ── an answer cut by the limit is never told as complete calls ───────────────

CUT = {
    "openai_chat": ("choices", 0, "finish_reason", "length"),
    "openai_responses": ("status", "incomplete"),
    "anthropic_messages": ("stop_reason", "max_tokens"),
    "ollama_chat": ("done_reason", "length"),
    "gemini": ("candidates", 0, "finishReason", "MAX_TOKENS"),
}


@pytest.mark.parametrize("api", SERVED)
def test_the_limit_wins_over_the_calls(api: str) -> None:
    *path, word = CUT[api]
    body: Any = codec(api).encode_response(answer(CALL, stop=Stop.LENGTH))
    for key in path:
        body = body[key]
    assert body == word
    assert json.dumps(word) in json.dumps(frames_of(api, CALL, stop=Stop.LENGTH))


@pytest.mark.parametrize("api", CODECS)
def test_an_answer_that_says_nothing_is_still_an_answer(api: str) -> None:
    body = json.loads(json.dumps(codec(api).encode_response(answer())))
    assert codec(api).decode_response(body).message.parts == ()


@pytest.mark.parametrize("api", SERVED)
def test_a_call_without_arguments_has_an_empty_object(api: str) -> None:
    body = codec(api).encode_response(answer(OTHER, stop=Stop.TOOL_CALLS))
    (call,) = codec(api).decode_response(json.loads(json.dumps(body))).calls
    assert call.arguments == {}
    wire = json.dumps(body)
    assert any(form in wire for form in ('"input": {}', '"args": {}', '"arguments": {}', '"arguments": "{}"'))


@pytest.mark.parametrize("api", SERVED)
def test_two_calls_with_one_id_are_two_calls(api: str) -> None:
    body = codec(api).encode_response(answer(CALL, CALL, stop=Stop.TOOL_CALLS))
    first, second = codec(api).decode_response(json.loads(json.dumps(body))).calls
    assert first.id != second.id


# ── Anthropic ────────────────────────────────────────────────────────────────


def blocks(frames: Iterable[Any]) -> list[tuple[int, str]]:
    return [(f["index"], f["content_block"]["type"]) for f in frames if f["type"] == "content_block_start"]


def test_blocks_are_counted_in_the_order_they_are_told() -> None:
    frames = frames_of("anthropic_messages", Text("a"), Reasoning("b"), Text("c"), CALL, stop=Stop.TOOL_CALLS)
    assert blocks(frames) == [(0, "text"), (1, "thinking"), (2, "text"), (3, "tool_use")]


def test_thinking_after_text_stays_and_ends_before_calls() -> None:
    frames = frames_of("anthropic_messages", Reasoning("a"), Text("b"), Reasoning("c"), CALL, stop=Stop.TOOL_CALLS)
    assert [kind for _, kind in blocks(frames)] == ["thinking", "text", "thinking", "tool_use"]
    open_blocks = 0
    for frame in frames:
        open_blocks += (frame["type"] == "content_block_start") - (frame["type"] == "content_block_stop")
        assert open_blocks <= 1


def test_thinking_is_signed_before_it_ends_be_it_with_nothing() -> None:
    frames = frames_of("anthropic_messages", Reasoning("a"))
    at = next(i for i, frame in enumerate(frames) if frame["type"] == "content_block_stop")
    assert frames[at - 1]["delta"] == {"type": "signature_delta", "signature": ""}


def test_blocks_begin_with_their_empty_fields_and_no_others() -> None:
    frames = frames_of("anthropic_messages", Reasoning("a"), Text("b"), CALL, stop=Stop.TOOL_CALLS)
    begun = [frame["content_block"] for frame in frames if frame["type"] == "content_block_start"]
    assert begun == [
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "text", "text": ""},
        {"type": "tool_use", "id": "call_1", "name": "f", "input": {}},
    ]


def test_empty_anthropic_answers_have_an_empty_content() -> None:
    assert codec("anthropic_messages").encode_response(answer())["content"] == []


# ── OpenAI Chat Completions ──────────────────────────────────────────────────


def test_chunks_of_chat_completions() -> None:
    frames = frames_of("openai_chat", Reasoning("a"), Text("b"), CALL, OTHER, stop=Stop.TOOL_CALLS)
    deltas = [choice["delta"] for frame in frames for choice in frame["choices"]]
    assert [delta.get("role") for delta in deltas] == ["assistant", *[None] * (len(deltas) - 1)]
    assert all(not ("reasoning_content" in delta and "content" in delta) for delta in deltas)
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert [(call["index"], call["id"], call["type"], call["function"]["name"]) for call in calls] == [
        (0, "call_1", "function", "f"),
        (1, "call_2", "function", "g"),
    ]
    assert json.loads(calls[0]["function"]["arguments"]) == {"x": 1}
    reasons = [choice["finish_reason"] for frame in frames for choice in frame["choices"]]
    assert [reason for reason in reasons if reason] == ["tool_calls"]
    assert deltas[-1] == {}
    assert (frames[-1]["choices"], frames[-1]["usage"]["total_tokens"]) == ([], 3)
    assert len({(frame["id"], frame["created"]) for frame in frames}) == 1


@pytest.mark.parametrize("arguments", ["", "  ", None, "{}", "null"])
def test_a_past_call_without_arguments_is_accepted(arguments: str | None) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    body = {"model": "m", "messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]}
    (message,) = codec("openai_chat").decode_request(body).messages
    assert message.calls[0].arguments == {}
    assert message.calls[0].report is None


# ── OpenAI Responses ─────────────────────────────────────────────────────────


def test_items_are_told_one_after_another_under_their_own_index() -> None:
    frames = frames_of("openai_responses", Reasoning("a"), Text("b"), CALL, Text("c"), stop=Stop.TOOL_CALLS)
    assert [frame["sequence_number"] for frame in frames] == list(range(len(frames)))
    added = [(f["output_index"], f["item"]["type"]) for f in frames if f["type"] == "response.output_item.added"]
    done = [(f["output_index"], f["item"]["type"]) for f in frames if f["type"] == "response.output_item.done"]
    assert added == done == [(0, "reasoning"), (1, "message"), (2, "function_call"), (3, "message")]
    open_items = 0
    for frame in frames:
        what = frame["type"].removeprefix("response.output_item.")
        open_items += (what == "added") - (what == "done")
        assert open_items <= 1
    final = frames[-1]["response"]
    assert [item["type"] for item in final["output"]] == [kind for _, kind in added]
    assert [item["id"] for item in final["output"]] == [
        f["item"]["id"] for f in frames if f["type"] == "response.output_item.added"
    ]


def test_text_beside_calls_stays_in_a_whole_answer_of_responses() -> None:
    body = codec("openai_responses").encode_response(answer(Text("b"), CALL, stop=Stop.TOOL_CALLS))
    assert [item["type"] for item in body["output"]] == ["message", "function_call"]


def test_a_cut_answer_of_responses_says_why() -> None:
    body = codec("openai_responses").encode_response(answer(Text("b"), stop=Stop.LENGTH))
    assert (body["status"], body["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})


ITEMS: list[Any] = [
    {"role": "user", "content": "hi"},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]},
    {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
    {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "wait"}]},
    {"type": "function_call_output", "call_id": "a", "output": "1"},
    {"type": "function_call_output", "call_id": "b", "output": "2"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
]


def test_items_of_a_turn_keep_results_beside_calls() -> None:
    request = codec("openai_responses").decode_request({"model": "m", "input": ITEMS})
    assert [message.role for message in request.messages] == ["user", "assistant", "tool", "assistant"]
    turn = request.messages[1]
    assert (turn.reasoning, [call.id for call in turn.calls], turn.text) == ("hm", ["a", "b"], "wait")


# ── ids ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("api", SERVED)
def test_stamps_win_over_the_peers_name_and_id(api: str) -> None:
    wire = json.dumps(codec(api).encode_response(answer(Text("a")), Stamp(id="stamped", created=5, model="named")))
    assert "named" in wire
    assert "stamped" in wire or api == "ollama_chat"
