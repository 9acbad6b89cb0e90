"""What a client asks of an answer, over any backend: kept, or told not to be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.providers.rows import Tools
from dragoman.sim.scripted import Answer
from tests.support.asgi import call
from tests.support.gateways import FENCE, app, ask, called, every_back, every_front, read, streamed_and_whole
from tests.support.upstreams import UPSTREAMS, ScriptedReply, model, sent, text_reply

LOOKS = ScriptedReply(calls=(("a1", "look", {"at": "sky"}),))
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
JSON: dict[str, dict[str, Any]] = {
    "openai_chat": {"response_format": {"type": "json_schema", "json_schema": {"name": "r", "schema": SCHEMA}}},
    "openai_responses": {"text": {"format": {"type": "json_schema", "name": "r", "schema": SCHEMA}}},
    "anthropic_messages": {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
    "ollama_chat": {"format": SCHEMA},
    "gemini": {"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}},
}
LIMITS: dict[str, dict[str, Any]] = {
    "openai_chat": {"max_tokens": 5},
    "openai_responses": {"max_output_tokens": 5},
    "anthropic_messages": {"max_tokens": 5},
    "ollama_chat": {"options": {"num_predict": 5}},
    "gemini": {"generationConfig": {**JSON["gemini"]["generationConfig"], "maxOutputTokens": 5}},
}
NONE: dict[str, dict[str, Any]] = {
    "openai_chat": {"tool_choice": "none"},
    "openai_responses": {"tool_choice": "none"},
    "anthropic_messages": {"tool_choice": {"type": "none"}},
    "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
}


@every_front
@every_back
@streamed_and_whole
def test_a_value_cut_by_the_client_limit_arrives_so_far(front: str, back: str, stream: bool) -> None:
    memory = model(back, text_reply('{"n": 1', stop="length"))
    reply = ask(app(memory, back), front, stream=stream, **{**JSON[front], **LIMITS[front]})
    assert read(front, reply, stream=stream).text == '{"n": 1'
    assert len(memory.sent) == 1


@every_front
@every_back
def test_a_stream_the_provider_left_open_ends_in_error(front: str, back: str) -> None:
    wire = UPSTREAMS[back]
    pieces = [
        piece
        for piece in wire.stream(text_reply("Half an answer"))
        if b"Half" in piece or b"ans" in piece or b"start" in piece
    ]
    memory = model(back, Answer(tuple(pieces), headers={"content-type": wire.kind}))
    reply = ask(app(memory, back), front, stream=True)
    assert b"broke off" in reply.pieces[-1]
    assert b"ans" in reply.body
    assert reply.ended


@every_front
def test_a_whole_answer_of_an_open_stream_is_a_failure(front: str) -> None:
    half = [piece for piece in UPSTREAMS["openai_chat"].stream(text_reply("Half")) if b"Half" in piece]
    memory = model("openai_chat", Answer(tuple(half), headers={"content-type": "text/event-stream"}))
    reply = ask(app(memory), front, stream=False)
    assert reply.status == 502
    assert b"broke off" in reply.body


@pytest.mark.parametrize("front", NONE)
@every_back
@streamed_and_whole
def test_tool_choice_none_gets_an_answer_in_text(front: str, back: str, stream: bool) -> None:
    memory = model(back, LOOKS, text_reply("It is blue."))
    got = read(front, ask(app(memory, back), front, stream=stream, **NONE[front]), stream=stream)
    assert (got.text, got.calls) == ("It is blue.", ())


@every_front
@streamed_and_whole
def test_calls_in_text_leave_no_empty_item(front: str, stream: bool) -> None:
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"}
    whole = {"id": "r", "object": "response", "status": "completed", "model": "up", "error": None}
    output = [{**item, "content": [{"type": "output_text", "text": FENCE, "annotations": []}]}]
    memory = model(
        "openai_chat",
        Answer((json.dumps({**whole, "output": output}).encode(),), headers={"content-type": "application/json"}),
    )
    reply = ask(app(memory, "openai_responses", tools=Tools.TEXT), front, stream=stream)
    got = read(front, reply, stream=stream)
    assert called(got) == [("look", {"at": "sky"})]
    assert got.reasoning == ""
    if front == "openai_responses" and not stream:
        assert [one["type"] for one in reply.json["output"]] == ["function_call"]


# ── what is lost is told ─────────────────────────────────────────────────────

WISHES: list[tuple[str, dict[str, Any], str, str]] = [
    ("openai_chat", {"n": 2}, "ollama_chat", "n"),
    ("openai_chat", {"logprobs": True}, "anthropic_messages", "logprobs"),
    ("openai_chat", {"seed": 1}, "anthropic_messages", "sampling.seed"),
    ("openai_chat", {"parallel_tool_calls": False}, "ollama_chat", "parallel"),
    ("openai_chat", {"tool_choice": "required"}, "ollama_chat", "tool_choice"),
    ("openai_responses", {"prompt": {"id": "p1"}}, "openai_chat", "prompt.id"),
    ("openai_responses", {"tools": [{"type": "web_search"}]}, "openai_chat", "tools"),
    (
        "anthropic_messages",
        {"mcp_servers": [{"type": "url", "url": "http://x", "name": "x"}]},
        "openai_chat",
        "mcp_servers",
    ),
    ("anthropic_messages", {"top_k": 3, "container": "c"}, "openai_chat", "container"),
    ("gemini", {"tools": [{"googleSearch": {}}]}, "openai_chat", "tools"),
    ("gemini", {"cachedContent": "c/1"}, "anthropic_messages", "cachedContent"),
    ("ollama_chat", {"keep_alive": "5m"}, "openai_chat", "keep_alive"),
]


@pytest.mark.parametrize(("front", "more", "back", "lost"), WISHES)
@streamed_and_whole
def test_an_unsupported_parameter_stands_in_a_header(
    front: str, more: dict[str, Any], back: str, lost: str, stream: bool
) -> None:
    scripted = LOOKS if "tool_choice" in more else text_reply("hi")
    reply = ask(app(model(back, scripted), back), front, stream=stream, **more)
    assert reply.status == 200
    header = reply.headers["x-dragoman-unsupported-params"].split(",")
    assert [field for field in header if field != "stream_options.include_usage"] == [lost]


@every_front
@streamed_and_whole
def test_nothing_is_said_to_be_lost_where_nothing_was(front: str, stream: bool) -> None:
    reply = ask(app(model("openai_chat", text_reply("hi"))), front, stream=stream)
    assert "x-dragoman-unsupported-params" not in reply.headers


@pytest.mark.parametrize("field", ["raw", "suffix", "template", "context"])
def test_completion_only_parameters_are_reported_lost_in_a_chat(field: str) -> None:
    value: Any = {"raw": True, "context": [1, 2]}.get(field, "x")
    memory = model("ollama_chat", text_reply("hi"))
    body = {"model": "m", "prompt": "def f(", field: value, "stream": False}
    reply = call(app(memory, "ollama_chat"), "/api/generate", body)
    assert reply.headers["x-dragoman-unsupported-params"] == field
    assert field not in sent(memory)


LOGPROBS = {"content": [{"token": "hi", "logprob": -0.1, "bytes": [104], "top_logprobs": []}]}


@streamed_and_whole
def test_log_probabilities_come_through_streamed_too(stream: bool) -> None:
    chunk: dict[str, Any] = {"id": "u", "object": "chat.completion.chunk", "created": 1, "model": "up"}
    choices = [
        {"index": 0, "delta": {"role": "assistant", "content": "hi"}, "logprobs": LOGPROBS, "finish_reason": None},
        {"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"},
    ]
    lines = [f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n".encode() for choice in choices]
    memory = model("openai_chat", Answer((*lines, b"data: [DONE]\n\n"), headers={"content-type": "text/event-stream"}))
    reply = ask(app(memory, stream=True), "openai_chat", stream=stream, logprobs=True)
    frames = (
        [json.loads(line[6:]) for line in reply.body.decode().splitlines() if line.startswith("data: {")]
        if stream
        else [reply.json]
    )
    found = [choice["logprobs"] for one in frames for choice in one["choices"] if choice.get("logprobs")]
    assert found == [LOGPROBS]


# ── beside the fronts ────────────────────────────────────────────────────────

BESIDE = {
    "/v1/messages/count_tokens": "anthropic_messages",
    "/v1beta/models/m:countTokens": "gemini",
    "/api/show": "ollama_chat",
    "/v1/parse": "openai_chat",
}


@pytest.mark.parametrize("path", BESIDE)
def test_errors_come_in_the_shape_of_the_api_asked(path: str) -> None:
    reply = call(app(model("openai_chat")), path, b"[1]")
    failed = CODECS[BESIDE[path]].decode_error(reply.status, reply.json)
    assert reply.status == 400
    assert "not a JSON object" in failed.message
    assert isinstance(reply.json["error"], str) is (path == "/api/show")
    assert (reply.json.get("type") == "error") is (path == "/v1/messages/count_tokens")


REFUSED: dict[str, dict[str, Any]] = {
    "openai_chat": {
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": None, "refusal": "No."}, "finish_reason": "stop"}
        ]
    },
    "openai_responses": {
        "status": "completed",
        "output": [
            {"id": "msg_1", "type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
        ],
    },
}


@pytest.mark.parametrize("api", REFUSED)
def test_a_refusal_comes_back_as_its_own_api_tells_one(api: str) -> None:
    answer = Answer(
        (json.dumps({"id": "u", "model": "up", **REFUSED[api]}).encode(),), headers={"content-type": "application/json"}
    )
    reply = ask(app(model("openai_chat", answer), api), api, stream=False, **JSON[api])
    if api == "openai_chat":
        (choice,) = reply.json["choices"]
        assert (choice["message"]["refusal"], choice["message"]["content"], choice["finish_reason"]) == (
            "No.",
            None,
            "stop",
        )
    else:
        assert reply.json["status"] == "completed"
        assert reply.json["output"][0]["content"] == [{"type": "refusal", "refusal": "No."}]
