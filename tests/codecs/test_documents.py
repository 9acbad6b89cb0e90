"""The documents' own functions, and what their systems' tests say of native calls, results and definitions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from dragoman.codecs import CODECS, decode_tool_calls, encode_definitions, encode_result
from dragoman.codecs.shared.spec import Quirks
from dragoman.errors import CodecError, DragomanError, ExtractError, ProviderError, UnknownName, UsageError
from dragoman.events import assemble
from dragoman.types import Media, Text, Tool, ToolResult
from tests.support.recordings import SHARED, codec, decoded, rows

OPENAI = {"choices": [{"message": {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}}]}
PING = Tool(name="ping", description="Ping", parameters={"type": "object"})
PING_AS_FUNCTION = {
    "type": "function",
    "function": {"name": "ping", "description": "Ping", "parameters": {"type": "object"}},
}


@pytest.mark.parametrize(
    ("api", "wire"),
    [
        ("openai", PING_AS_FUNCTION),
        ("ollama", PING_AS_FUNCTION),
        ("anthropic", {"name": "ping", "description": "Ping", "input_schema": {"type": "object"}}),
        ("openai_chat", PING_AS_FUNCTION),
    ],
)
def test_definitions_take_the_form_the_document_gives(api: str, wire: Any) -> None:
    assert encode_definitions([PING], api) == [wire]
    assert encode_definitions([wire], api) == [wire]


def test_definitions_without_parameters_get_a_plain_empty_object() -> None:
    for api in ("openai", "anthropic", "ollama"):
        assert '"properties": {}' in json.dumps(encode_definitions([{"name": "ping"}], api))


@pytest.mark.parametrize("given", ['{"x": 1}', {"x": 1}, '"{\\"x\\": 1}"'])
def test_arguments_may_be_an_object_or_text(given: Any) -> None:
    body = {"choices": [{"message": {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": given}}]}}]}
    (call,) = decode_tool_calls(body, "openai")
    assert call.arguments == {"x": 1}


@pytest.mark.parametrize("given", ["", "  ", None, "null", {}])
def test_no_arguments_are_an_empty_object(given: Any) -> None:
    body = {"message": {"tool_calls": [{"function": {"name": "f", "arguments": given}}]}}
    (call,) = decode_tool_calls(body, "ollama")
    assert call.arguments == {}
    assert call.id


@pytest.mark.parametrize("given", ["[1]", "5", "true", "not json", [1], 5, True, '"text"'])
def test_other_arguments_raise_with_their_text(given: Any) -> None:
    body = {"choices": [{"message": {"tool_calls": [{"id": "keepme", "function": {"name": "f", "arguments": given}}]}}]}
    with pytest.raises(ExtractError) as raised:
        decode_tool_calls(body, "openai")
    (issue,) = raised.value.issues
    assert (issue.name, issue.call_id) == ("f", "keepme")
    assert issue.raw == (given if isinstance(given, str) else json.dumps(given))
    assert "Send the call again" in issue.correction


def test_a_bad_call_does_not_cost_the_good_ones() -> None:
    calls = [{"id": "a", "function": {"name": "f", "arguments": "{bad"}}, {"id": "b", "function": {"name": "g"}}]
    found = decode_tool_calls({"choices": [{"message": {"tool_calls": calls}}]}, "openai")
    assert [call.id for call in found] == ["b"]
    assert [issue.call_id for issue in found.issues] == ["a"]


@pytest.mark.parametrize(
    ("api", "body"),
    [
        ("openai", {}),
        ("openai", {"choices": []}),
        ("openai", {"choices": None}),
        ("openai", {"choices": [{"message": {"content": "hi", "tool_calls": None}}]}),
        ("openai", {"role": "assistant", "content": "hi"}),
        ("anthropic", {}),
        ("anthropic", {"content": None}),
        ("anthropic", {"content": "hi"}),
        ("anthropic", {"content": [{"type": "text", "text": "hi"}]}),
        ("ollama", {}),
        ("ollama", {"message": {"role": "assistant", "content": "hi"}}),
    ],
)
def test_a_body_without_calls_gives_an_empty_list(api: str, body: Any) -> None:
    assert decode_tool_calls(body, api) == []


def test_calls_count_whatever_the_reason_to_stop_says() -> None:
    for finish in ("stop", "tool_calls", None, "odd"):
        body = {"choices": [{**OPENAI["choices"][0], "finish_reason": finish}]}
        assert len(decode_tool_calls(body, "openai")) == 1


def test_a_bare_message_is_read_like_the_body_around_it() -> None:
    assert decode_tool_calls(OPENAI["choices"][0]["message"], "openai") == decode_tool_calls(OPENAI, "openai")


def test_what_is_no_body_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError, match="parsed from JSON"):
        decode_tool_calls("{}", "openai")  # type: ignore[arg-type]


def test_an_unknown_api_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="anthropic"):
        encode_result(ToolResult(call_id="c"), "antropic")


RESULT = ToolResult(call_id="call_9", name="calc", content="42")


@pytest.mark.parametrize(
    ("api", "wire"),
    [
        ("openai", {"role": "tool", "tool_call_id": "call_9", "content": "42"}),
        (
            "anthropic",
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_9", "content": "42"}]},
        ),
        ("ollama", {"role": "tool", "content": "42"}),
    ],
)
def test_a_result_takes_the_form_the_document_gives(api: str, wire: Any) -> None:
    assert encode_result(RESULT, api) == wire


@pytest.mark.parametrize(
    ("is_error", "code", "body", "openai", "anthropic"),
    [
        (False, None, "ok", "ok", "ok"),
        (False, "ENOENT", "still ok", "still ok", "still ok"),
        (True, "ENOENT", "no file", "[ERROR:ENOENT] no file", "[ERROR:ENOENT] no file"),
        (True, None, "wrong", "[ERROR] wrong", "wrong"),
        (True, "Timeout", "", "[ERROR:Timeout] ", "[ERROR:Timeout] "),
        (
            True,
            "BusinessError:ItemNotFound",
            "x",
            "[ERROR:BusinessError:ItemNotFound] x",
            "[ERROR:BusinessError:ItemNotFound] x",
        ),
    ],
)
def test_a_failure_is_marked_where_the_wire_has_no_field(
    is_error: bool, code: str | None, body: str, openai: str, anthropic: str
) -> None:
    result = ToolResult(call_id="c", content=body, is_error=is_error, error_code=code)
    assert encode_result(result, "openai")["content"] == openai
    assert encode_result(result, "ollama")["content"] == openai
    (block,) = encode_result(result, "anthropic")["content"]
    assert block["content"] == anthropic
    assert block.get("is_error") == (True if is_error else None)


def test_result_media_are_named_where_they_cannot_go() -> None:
    result = ToolResult(call_id="c", content=[Text("see"), Media(mime="image/png", data="AA==", name="plot")])
    assert "plot" in json.dumps(encode_result(result, "openai"))
    assert encode_result(result, "anthropic")["content"][0]["content"][1]["type"] == "image"


# ── vectors of the documents' systems ────────────────────────────────────────

DOCUMENTS = rows(SHARED / "documents.jsonl")
APIS: Mapping[str, str] = {
    "openai_tool_calls": "openai_chat",
    "openai_sse": "openai_chat",
    "anthropic_messages": "anthropic_messages",
    "anthropic_sse": "anthropic_messages",
}
DIVERGENCES: Mapping[str, str] = {
    "chatcli-moonshot-malformed-args": "the seed runs it with {raw: …}; seeds.md (c) ChatCLI 11 asks for an error",
    "chatcli-minimax-empty-length": "an issue that names max_tokens, not an exception: the answer is still an answer",
}


def vectors(*ops: str) -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in DOCUMENTS if row["op"] in ops and row["dialect"] in APIS]


@pytest.mark.parametrize("row", vectors("decode_response"))
def test_document_bodies_read_as_their_systems_read_them(row: dict[str, Any]) -> None:
    api, body = codec(APIS[row["dialect"]]), row["text"]
    if isinstance(body, Mapping) and "status" in body:
        assert api.decode_error(body["status"], body["body"]).status == body["status"]
        return
    if row["id"] in DIVERGENCES:
        response = api.decode_response(body)
        assert not response.calls
        assert response.issues
        return
    if row.get("expected_error"):
        with pytest.raises(DragomanError) as raised:
            api.decode_response(body)
        assert isinstance(raised.value, ProviderError | CodecError)
        if isinstance(raised.value, ProviderError):
            assert row["expected_error"] in str(raised.value)
        return
    response = api.decode_response(body)
    assert [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in response.calls] == row["calls"]
    assert response.text == (row["content"] or "")


@pytest.mark.parametrize("row", vectors("decode_stream"))
def test_document_streams_read_as_their_systems_read_them(row: dict[str, Any]) -> None:
    events, error = decoded(codec(APIS[row["dialect"]]), [row["text"].encode()])
    if row.get("expected_error"):
        assert error is not None
        assert row["expected_error"] in error.message
        return
    response = assemble(events)
    assert error is None
    assert response.text == (row["content"] or "")
    usage = row["expected"].get("usage")
    if usage:
        assert response.usage is not None
        assert response.usage.input == usage["prompt_tokens"]
        assert response.usage.cached == usage.get("cache_read_tokens", 0)


SENT = [row for row in DOCUMENTS if row["op"] == "encode_messages" and row["dialect"] == "openai_messages"]
NOT_OURS: Mapping[str, str] = {
    "llmcore-chat-wraps-binary": "a bare string is no body of this API",
    "llmcore-chat-filters-bad-role": "an unknown role counts as the user (ChatCLI's reading), it is not dropped",
    "llmcore-chat-malformed-filtered": "a call that is no object is the client's mistake: CodecError with its path",
    "chatcli-trailing-prompt": "the prompt is a message like any other here",
}


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in SENT if row["id"] not in NOT_OURS])
def test_document_messages_go_out_as_their_systems_send_them(row: dict[str, Any]) -> None:
    messages = [_as_wire(message) for message in row["text"]]
    request = codec("openai_chat").decode_request({"model": "m", "messages": messages})
    sent = codec("openai_chat").encode_request(request, Quirks(empty_content="empty"))["messages"]
    expected = row["expected"]
    if isinstance(expected, Mapping):
        assert [message["role"] for message in sent] == expected["roles"]
        for key, wanted in expected.items():
            if key.startswith("messages["):
                assert wanted.items() <= sent[int(key[9:-1])].items()
    else:
        assert [_parsed(message) for message in sent] == [_parsed(message) for message in expected]


def _as_wire(message: dict[str, Any]) -> dict[str, Any]:
    """LlmCore's canonical call {id, name, arguments} in the wire's form."""
    calls = [
        call if "function" in call else {"id": call["id"], "type": "function", "function": call}
        for call in message.get("tool_calls", [])
    ]
    return {**message, "tool_calls": calls} if calls else message


def _parsed(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message with its argument texts as values ({"$json": X} is text that says X)."""
    calls = []
    for call in message.get("tool_calls", []):
        given = call["function"]["arguments"]
        arguments = given["$json"] if isinstance(given, dict) else json.loads(given)
        calls.append({**call, "function": {"name": call["function"]["name"], "arguments": arguments}})
    return {**message, "tool_calls": calls}


def test_codecs_are_found_by_name_and_alias() -> None:
    assert CODECS["openai"] is CODECS["openai_chat"]
    assert CODECS["anthropic"] is CODECS["anthropic_messages"]
    assert CODECS["ollama"] is CODECS["ollama_chat"]
    with pytest.raises(UnknownName, match="did you mean"):
        CODECS["openai_chatt"]
