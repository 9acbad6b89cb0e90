"""Answers of Ollama, Gemini and Responses that are read at once say what the decoder makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.codecs.gemini import generate
from dragoman.codecs.gemini.generate_plain import plain_answer as plain_gemini
from dragoman.codecs.ollama import chat
from dragoman.codecs.ollama.chat_plain import plain_answer as plain_ollama
from dragoman.codecs.openai import responses
from dragoman.codecs.openai.responses_plain import plain_answer as plain_responses
from dragoman.errors import DragomanError
from dragoman.events import assemble
from dragoman.types import Response
from tests.codecs.test_plain import COUNTS, ODD, RARE, TEXTS, objects, shown
from tests.support.places import RECORDINGS
from tests.support.recordings import VECTORS, rows


class Wire(NamedTuple):
    """How a wire's answers are read at once, by its decoder, and where recorded ones are."""

    plain: Callable[[Any], Response | None]
    decoder: Callable[[], Any]
    vectors: str
    real: str


WIRES = {
    "ollama": Wire(plain_ollama, chat.Decoder, "ollama_chat.jsonl", "ollama_chat.jsonl"),
    "gemini": Wire(lambda body: plain_gemini(body, None), generate._Decoder, "gemini.jsonl", "gemini_generatecontent.jsonl"),
    "responses": Wire(plain_responses, responses._Decoder, "openai_responses.jsonl", "openai_responses.jsonl"),
}
RECORDED = [
    (api, row["response"])
    for api, wire in WIRES.items()
    for path in (VECTORS / wire.vectors, RECORDINGS / "wire" / wire.real)
    if path.exists()
    for row in rows(path)
    if isinstance(row.get("response"), dict)
]


def by_decoder(api: str, body: dict[str, Any]) -> str:
    try:
        return shown(assemble(WIRES[api].decoder().whole(deepcopy(body))))
    except DragomanError as error:
        return repr(error)


def alike(api: str, body: dict[str, Any]) -> bool:
    found = WIRES[api].plain(deepcopy(body))
    return found is None or shown(found) == by_decoder(api, body)


@pytest.mark.parametrize(("api", "body"), RECORDED)
def test_a_recorded_answer_is_read_alike(api: str, body: dict[str, Any]) -> None:
    assert alike(api, body)


OBJECTS: st.SearchStrategy[Any] = st.sampled_from([{}, {"a": 1}, {"ä": [1.5, None]}, {"a": 2**70}, {"a": float("inf")}, None, [], "x", '{"a": 1}'])
IDS = st.sampled_from(["c1", "c2", "", None, 1])
NAMES = st.sampled_from(["f", "g", "", None])
TIMES = st.sampled_from([0, 5, -1, None, "1970-01-01T00:00:00Z", "2026-01-01T00:00:00Z", 1.5])

OLLAMA_CALLS = objects(
    {"id": IDS, "function": objects({"name": NAMES, "arguments": OBJECTS, "index": COUNTS, "note": ODD}, "name", "arguments"),
     "note": ODD},
    "id", "function",
)  # fmt: skip
OLLAMA = objects(
    {"model": TEXTS, "created_at": TIMES, "done": st.sampled_from([True, True, True, False, None, 1]),
     "message": objects({"role": st.just("assistant"), "content": TEXTS | RARE, "thinking": TEXTS | RARE, "images": ODD,
                         "tool_calls": st.lists(OLLAMA_CALLS, max_size=3) | RARE, "tool_name": ODD}, "content") | RARE,
     "done_reason": st.sampled_from(["stop", "length", "load", "odd", "", None, 1]), "prompt_eval_count": COUNTS,
     "eval_count": COUNTS, "total_duration": TIMES, "load_duration": TIMES, "response": RARE, "thinking": RARE,
     "logprobs": ODD, "error": RARE, "base_resp": RARE},
    "message", "done",
)  # fmt: skip

SIGNATURES = st.sampled_from(["abc", "", None, 1])
GEMINI_PARTS = st.one_of(
    objects({"text": TEXTS, "thought": st.sampled_from([True, False, None]), "thoughtSignature": SIGNATURES, "note": ODD}, "text"),
    objects({"functionCall": objects({"name": NAMES, "args": OBJECTS, "id": IDS, "willContinue": RARE, "note": ODD}, "name", "args"),
             "thoughtSignature": SIGNATURES, "thought_signature": RARE, "note": ODD}, "functionCall"),
    objects({"text": st.just("a")}, "text"),
    objects({"functionCall": st.sampled_from([{"name": "f", "args": {"a": 1}}, {"name": "f", "args": {}, "id": "call_1"}])},
            "functionCall"),
    ODD,
)  # fmt: skip
CANDIDATES = objects(
    {"content": objects({"parts": st.lists(GEMINI_PARTS, max_size=4), "role": ODD}, "parts") | RARE,
     "finishReason": st.sampled_from(["STOP", "STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL", "1", "odd", "", None, 1]),
     "index": st.sampled_from([0, 1, None]), "avgLogprobs": ODD, "safetyRatings": ODD},
    "content", "finishReason",
)  # fmt: skip
GEMINI = objects(
    {"candidates": st.lists(CANDIDATES, min_size=1, max_size=1), "modelVersion": TEXTS | ODD, "responseId": TEXTS,
     "usageMetadata": RARE | objects({"promptTokenCount": COUNTS, "candidatesTokenCount": COUNTS, "totalTokenCount": COUNTS,
                                      "thoughtsTokenCount": COUNTS, "cachedContentTokenCount": COUNTS, "details": ODD}),
     "promptFeedback": RARE, "createTime": ODD, "error": RARE},
    "candidates",
)  # fmt: skip

STATUS = st.sampled_from(["completed", "completed", "completed", "incomplete", "in_progress", None])
CONTENTS = objects(
    {"type": st.sampled_from(["output_text", "output_text", "refusal", "odd"]), "text": TEXTS, "refusal": RARE,
     "annotations": st.sampled_from([[], None, [{"a": 1}]]), "logprobs": RARE, "note": ODD},
    "type", "text",
)  # fmt: skip
ITEMS = st.one_of(
    objects({"type": st.just("message"), "id": st.sampled_from(["msg_1_0", "msg_x", None]), "role": st.just("assistant"),
             "status": STATUS, "content": st.lists(CONTENTS, max_size=2) | RARE, "phase": ODD}, "type", "content"),
    objects({"type": st.just("function_call"), "id": st.sampled_from(["fc_1_0", "fc_1_1", "fc_x", None]), "call_id": IDS,
             "name": NAMES, "status": STATUS, "namespace": RARE,
             "arguments": st.sampled_from(['{"a": 1}', "{}", '{"a": 1, "a": 2}', '{"a": NaN}', "", None, " {}", '{"ä": 1}'])},
            "type", "call_id", "name", "arguments", "status"),
    objects({"type": st.just("reasoning"), "id": st.sampled_from(["rs_1_0", "rs_x"]), "status": STATUS,
             "summary": st.lists(objects({"type": st.just("summary_text"), "text": TEXTS}, "text"), max_size=2),
             "encrypted_content": st.sampled_from([None, "abc"]), "content": RARE}, "type", "id"),
    objects({"type": st.sampled_from(["web_search_call", "custom_tool_call", "shell_call", None]), "id": IDS}, "type"),
    ODD,
)  # fmt: skip
RESPONSES = objects(
    {"id": st.sampled_from(["resp_1", "1", "", None, 1]), "object": st.just("response"), "created_at": COUNTS, "model": TEXTS,
     "status": STATUS, "output": st.lists(ITEMS, max_size=3), "error": RARE, "incomplete_details": RARE, "store": ODD,
     "temperature": ODD, "metadata": st.sampled_from([{}, {"a": 1}, None]), "note": ODD,
     "usage": RARE | objects({"input_tokens": COUNTS, "output_tokens": COUNTS, "total_tokens": COUNTS,
                              "input_tokens_details": st.sampled_from([None, {"cached_tokens": 0}, {"cached_tokens": 2}]),
                              "output_tokens_details": st.sampled_from([None, {"reasoning_tokens": 0}])})},
    "output", "status",
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(OLLAMA)
def test_any_answer_of_ollama_is_read_alike(body: dict[str, Any]) -> None:
    assert alike("ollama", body)


@settings(max_examples=500, deadline=None)
@given(GEMINI)
def test_any_answer_of_gemini_is_read_alike(body: dict[str, Any]) -> None:
    assert alike("gemini", body)


@settings(max_examples=500, deadline=None)
@given(RESPONSES)
def test_any_answer_of_responses_is_read_alike(body: dict[str, Any]) -> None:
    assert alike("responses", body)


CALL = {"name": "f", "arguments": {"a": 1}}
PLAIN: list[tuple[str, dict[str, Any]]] = [
    ("ollama", {"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": "stop", "eval_count": 3,
                "message": {"role": "assistant", "content": "Hello.", "tool_calls": [{"id": "c", "function": CALL}]}}),
    ("gemini", {"candidates": [{"content": {"role": "model", "parts": [
        {"text": "Hm.", "thought": True}, {"text": "Hello."},
        {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "abc"},
        {"functionCall": {"name": "f", "args": {}}}]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}, "modelVersion": "m"}),
    ("responses", {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "created_at": 1, "output": [
        {"type": "reasoning", "id": "rs_x", "summary": []},
        {"type": "message", "id": "msg_x", "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": "Hello.", "annotations": [], "logprobs": []}]},
        {"type": "function_call", "id": "fc_x", "call_id": "c", "name": "f", "arguments": '{"a": 1}', "status": "completed"}],
        "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}}),
]  # fmt: skip


@pytest.mark.parametrize(("api", "body"), PLAIN)
def test_what_nearly_all_answers_are_is_plain(api: str, body: dict[str, Any]) -> None:
    found = WIRES[api].plain(json.loads(json.dumps(body)))
    assert found is not None
    assert shown(found) == by_decoder(api, body)
