"""Document 002: the codec's three functions; what 003 says of results on the wires; what LlmCore got wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.codecs import CODECS, decode_tool_calls, encode_definitions, encode_result
from dragoman.codecs.shared.frames import Frame
from dragoman.errors import ExtractError, UsageError
from dragoman.events import assemble
from dragoman.types import Message, Request, Tool, ToolCall, ToolResult
from tests.support.documents import READ_FILE, calls_of

PING = Tool(name="ping", description="Ping", parameters={"type": "object"}, metadata={"secret": "kept"})
APIS = pytest.mark.parametrize("api", ["openai", "anthropic", "ollama"])
FAILED = ToolResult(call_id="id1", name="open", content="<body>", is_error=True, error_code="ENOENT")
UNCODED = ToolResult(call_id="id1", name="open", content="<body>", is_error=True)


# ── definitions ──────────────────────────────────────────────────────────────


@pytest.mark.requirement("002-definitions-openai")
@pytest.mark.requirement("002-definitions-ollama")
@pytest.mark.parametrize("api", ["openai", "ollama"])
def test_openai_and_ollama_get_a_wrapped_function(api: str) -> None:
    function = {"name": "ping", "description": "Ping", "parameters": {"type": "object"}}
    assert encode_definitions([PING], api) == [{"type": "function", "function": function}]


@pytest.mark.requirement("002-definitions-anthropic")
def test_anthropic_gets_an_input_schema() -> None:
    expected = [{"name": "ping", "description": "Ping", "input_schema": {"type": "object"}}]
    assert encode_definitions([PING], "anthropic") == expected


@APIS
@pytest.mark.requirement("002-metadata")
def test_metadata_is_never_sent(api: str) -> None:
    assert "secret" not in json.dumps(encode_definitions([PING], api))
    request = Request(model="m", messages=(Message("user", "hi"),), tools=(PING,))
    assert "secret" not in json.dumps(CODECS[api].encode_request(request))


# ── calls ────────────────────────────────────────────────────────────────────

CALL = {"id": "call_a", "type": "function", "function": {"name": "search", "arguments": '{"query":"hello"}'}}
OPENAI = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}]}
ANTHROPIC = {
    "content": [
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"query": "hello"}},
    ]
}
FUNCTION = {"name": "search", "arguments": {"query": "hello"}}
OLLAMA = {"message": {"role": "assistant", "content": "", "tool_calls": [{"function": FUNCTION}]}}


@pytest.mark.requirement("002-decode-openai")
def test_openais_calls_are_decoded_from_json_text() -> None:
    assert decode_tool_calls(OPENAI, "openai") == [ToolCall(id="call_a", name="search", arguments={"query": "hello"})]


@pytest.mark.requirement("002-decode-anthropic")
def test_anthropics_calls_are_decoded_from_blocks() -> None:
    [call] = decode_tool_calls(ANTHROPIC, "anthropic")
    assert (calls_of([call]), call.id) == ([("search", {"query": "hello"})], "toolu_1")


@pytest.mark.requirement("002-decode-ollama")
@pytest.mark.requirement("settled-ollama-ids")
def test_ollamas_calls_are_decoded_and_given_ids() -> None:
    [call] = decode_tool_calls(OLLAMA, "ollama")
    assert calls_of([call]) == [("search", {"query": "hello"})]
    assert call.id


@pytest.mark.requirement("002-decode-none")
@pytest.mark.parametrize(
    ("body", "api"),
    [
        ({"choices": [{"message": {"role": "assistant", "content": "hi"}}]}, "openai"),
        ({"choices": []}, "openai"),
        ({"content": [{"type": "text", "text": "hi"}]}, "anthropic"),
        ({"message": {"role": "assistant", "content": "hi"}}, "ollama"),
    ],
)
def test_a_body_without_calls_is_an_empty_list(body: dict[str, Any], api: str) -> None:
    assert decode_tool_calls(body, api) == []


@pytest.mark.requirement("weak-llmcore-1")
def test_undecodable_arguments_are_an_error_and_not_an_empty_call() -> None:
    bad = {"choices": [{"message": {"tool_calls": [{"id": "c", "function": {"name": "t", "arguments": "{broken"}}]}}]}
    with pytest.raises(ExtractError):
        decode_tool_calls(bad, "openai")


@pytest.mark.requirement("weak-llmcore-2")
@pytest.mark.parametrize("reason", ["stop", "tool_calls", "length"])
def test_calls_are_decoded_whatever_the_reason_to_stop(reason: str) -> None:
    body = {"choices": [{"message": {"tool_calls": [CALL]}, "finish_reason": reason}]}
    assert calls_of(decode_tool_calls(body, "openai")) == [("search", {"query": "hello"})]


@pytest.mark.requirement("weak-llmcore-5")
@pytest.mark.parametrize("content", [None, "text"])
def test_anthropic_content_that_is_no_list_never_raises(content: Any) -> None:
    assert decode_tool_calls({"content": content}, "anthropic") == []


@pytest.mark.requirement("weak-llmcore-3")
def test_streamed_call_deltas_become_calls() -> None:
    function = {"name": "search", "arguments": ""}
    deltas = [
        {"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": function}]},
        *({"tool_calls": [{"index": 0, "function": {"arguments": p}}]} for p in ('{"que', 'ry":"he', 'llo"}')),
    ]
    decoder = CODECS["openai"].decode_stream()
    frames = [Frame(json.dumps({"choices": [{"index": 0, "delta": d}]})) for d in deltas]
    events = [e for frame in [*frames, Frame("[DONE]")] for e in decoder.feed(frame)] + decoder.close()
    assert calls_of(assemble(events).calls) == [("search", {"query": "hello"})]


@APIS
@pytest.mark.requirement("weak-llmcore-3")
def test_a_streamed_request_carries_its_tools(api: str) -> None:
    request = Request(model="m", messages=(Message("user", "hi"),), tools=(READ_FILE,), stream=True)
    body = CODECS[api].encode_request(request)
    assert body["stream"] is True
    assert "read_file" in json.dumps(body["tools"])


# ── results ──────────────────────────────────────────────────────────────────

OK = ToolResult(call_id="call_9", name="calc", content="42")


@pytest.mark.requirement("002-result-openai")
def test_openai_gets_a_tool_message_that_names_the_call() -> None:
    assert encode_result(OK, "openai") == {"role": "tool", "tool_call_id": "call_9", "content": "42"}


@pytest.mark.requirement("002-result-anthropic")
def test_anthropic_gets_a_user_message_with_a_result_block() -> None:
    block = {"type": "tool_result", "tool_use_id": "call_9", "content": "42"}
    assert encode_result(OK, "anthropic") == {"role": "user", "content": [block]}


@pytest.mark.requirement("002-result-ollama")
def test_ollama_gets_a_tool_message() -> None:
    assert encode_result(OK, "ollama") == {"role": "tool", "content": "42"}


@pytest.mark.requirement("003-mark-openai")
@pytest.mark.requirement("weak-llmcore-6")
@pytest.mark.requirement("settled-code-anthropic")
@pytest.mark.parametrize("api", ["openai", "ollama"])
def test_a_failure_is_marked_in_the_content(api: str) -> None:
    assert encode_result(FAILED, api)["content"] == "[ERROR:ENOENT] <body>"
    assert encode_result(UNCODED, api)["content"] == "[ERROR] <body>"


@pytest.mark.requirement("003-mark-anthropic")
@pytest.mark.requirement("weak-llmcore-6")
@pytest.mark.requirement("settled-code-anthropic")
def test_anthropic_is_told_by_its_own_field_and_the_code() -> None:
    [coded] = encode_result(FAILED, "anthropic")["content"]
    [uncoded] = encode_result(UNCODED, "anthropic")["content"]
    [fine] = encode_result(OK, "anthropic")["content"]
    assert (coded["is_error"], coded["content"]) == (True, "[ERROR:ENOENT] <body>")
    assert (uncoded["is_error"], uncoded["content"]) == (True, "<body>")
    assert "is_error" not in fine


HISTORY = (
    Message("user", "go"),
    Message("assistant", [ToolCall(id=i, name="ping") for i in "ab"]),
    Message("tool", [ToolResult(call_id=i, name="ping", content="pong") for i in "ab"]),
)


@pytest.mark.requirement("003-links")
def test_results_in_the_history_are_linked_to_their_calls() -> None:
    chat = CODECS["openai"].encode_request(Request(model="m", messages=HISTORY))["messages"]
    assert [c["id"] for c in chat[1]["tool_calls"]] == [m["tool_call_id"] for m in chat[2:]] == ["a", "b"]


@pytest.mark.requirement("003-links")
@pytest.mark.requirement("weak-chatcli-12")
def test_anthropic_gets_all_results_in_one_user_message() -> None:
    turns = CODECS["anthropic"].encode_request(Request(model="m", messages=HISTORY))["messages"]
    assert [t["role"] for t in turns] == ["user", "assistant", "user"]
    assert [b["tool_use_id"] for b in turns[2]["content"]] == ["a", "b"]


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
FORMS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "openai_responses": (
        {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA, "strict": False},
        {"type": "function_call_output", "call_id": "c", "output": "42"},
    ),
    "gemini": (
        {"functionDeclarations": [{"name": "f", "description": "d", "parametersJsonSchema": SCHEMA}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "f", "response": {"output": "42"}}}]},
    ),
    "gemini_interactions": (
        {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA},
        {"type": "function_result", "call_id": "c", "result": "42", "name": "f"},
    ),
    "bedrock_converse": (
        {"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": SCHEMA}}},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "42"}]}}]},
    ),
    "bedrock_invoke": (
        {"name": "f", "description": "d", "input_schema": SCHEMA},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "42"}]},
    ),
    "cohere_chat": (
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}},
        {"role": "tool", "tool_call_id": "c", "content": "42"},
    ),
}


@pytest.mark.requirement("002-every-api")
@pytest.mark.parametrize("api", FORMS)
def test_other_apis_have_forms_of_their_own(api: str) -> None:
    definition, message = FORMS[api]
    tool = Tool(name="f", description="d", parameters=SCHEMA)
    assert encode_definitions([tool], api) == [definition]
    assert encode_definitions([], api) == []
    assert encode_result(ToolResult(call_id="c", name="f", content="42"), api) == message


@pytest.mark.requirement("002-every-api")
@pytest.mark.parametrize("api", ["ollama_generate", "stackspot"])
def test_an_api_without_tools_says_how_they_are_told(api: str) -> None:
    with pytest.raises(UsageError, match="tool_prompt"):
        encode_definitions([PING], api)
    with pytest.raises(UsageError, match="text of the user"):
        encode_result(OK, api)


@pytest.mark.requirement("002-every-api")
def test_no_api_is_left_out() -> None:
    assert {*FORMS, "openai_chat", "anthropic_messages", "ollama_chat", "ollama_generate", "stackspot"} == {*CODECS}
