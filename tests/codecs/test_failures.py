"""Refused requests: what they mean, and how clients of each API are told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import CODECS, decode_stream
from dragoman.codecs.shared.errors import read_failure
from dragoman.codecs.shared.frames import Frame
from dragoman.errors import CodecError, ErrorKind, ProviderError, UsageError
from dragoman.events import assemble
from dragoman.jsontext import to_json
from dragoman.redaction import redact_patterns as redact
from tests.support.recordings import SHARED, codec, rows

MEANINGS: list[tuple[int, Any, ErrorKind]] = [
    (401, {"error": {"code": "invalid_api_key", "message": "Invalid API Key"}}, ErrorKind.AUTH),
    (400, {"error": {"message": "API key not valid", "details": [{"reason": "API_KEY_INVALID"}]}}, ErrorKind.AUTH),
    (403, {"error": {"code": None, "message": "You are not allowed to sample from this model"}}, ErrorKind.AUTH),
    (404, {"type": "error", "error": {"type": "not_found_error", "message": "model: x"}}, ErrorKind.NOT_FOUND),
    (404, {"code": "Some requested entity was not found", "error": "The model grok-beta …"}, ErrorKind.NOT_FOUND),
    (400, {"error": {"code": "model_decommissioned", "message": "gone"}}, ErrorKind.NOT_FOUND),
    (400, {"error": {"message": "`tool calling` is not supported with this model"}}, ErrorKind.NO_TOOLS),
    (400, {"error": "registry.ollama.ai/library/gemma:2b does not support tools"}, ErrorKind.NO_TOOLS),
    (404, {"error": {"message": "No endpoints found that support tool use.", "code": 404}}, ErrorKind.NO_TOOLS),
    (500, {"error": {"code": 500, "message": "tools param requires --jinja flag"}}, ErrorKind.NO_TOOLS),
    (400, {"error": {"code": "context_length_exceeded", "message": "too long"}}, ErrorKind.CONTEXT),
    (400, {"error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"}}, ErrorKind.CONTEXT),
    (413, "", ErrorKind.CONTEXT),
    (429, {"error": {"type": "insufficient_quota", "code": "insufficient_quota"}}, ErrorKind.QUOTA),
    (429, {"error": {"message": "slow down, this model does not support tools"}}, ErrorKind.RATE_LIMIT),
    (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, ErrorKind.OVERLOADED),
    (200, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, ErrorKind.OVERLOADED),
    (400, {"__type": "com.amazon#ThrottlingException", "message": "Too many requests"}, ErrorKind.RATE_LIMIT),
    (400, {"message": "This model doesn't support the video content block"}, ErrorKind.BAD_REQUEST),
    (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, ErrorKind.BAD_REQUEST),
    (502, "<html>Bad Gateway</html>", ErrorKind.SERVER),
    (504, b"\xff\xfe", ErrorKind.TIMEOUT),
    (500, {"error": {"message": "exceeds the available context size"}}, ErrorKind.CONTEXT),
    (400, [{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "bad"}}], ErrorKind.BAD_REQUEST),
]


@pytest.mark.parametrize(("status", "body", "kind"), MEANINGS)
def test_a_refusal_is_understood(status: int, body: Any, kind: ErrorKind) -> None:
    given_ = body if isinstance(body, bytes | str) else json.dumps(body)
    error = read_failure(status, given_)
    assert error.kind is kind
    assert error.status == status
    assert ";" in error.message  # what to do


@pytest.mark.parametrize("body", [
    {"errors": [{"code": 7000, "message": "no such thing"}]},
    {"success": False, "errors": [{"message": "no such thing"}, {"message": "more"}], "result": None},
    {"errors": [{"status": "400", "detail": "no such thing"}]},
    {"errors": ["no such thing"]},
])  # fmt: skip
def test_the_first_of_several_errors_is_told(body: dict[str, Any]) -> None:
    assert "no such thing" in read_failure(400, json.dumps(body)).message


@pytest.mark.parametrize("row", [pytest.param(r, id=r["id"][-60:]) for r in rows(SHARED / "wire" / "errors.jsonl")])
def test_recorded_refusals_are_understood(row: dict[str, Any]) -> None:
    error = read_failure(row["status"], row["response"])
    assert error.kind is not ErrorKind.UNKNOWN
    assert not error.retryable
    assert "no reason given" not in error.message


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"Retry-After": "7"}, {}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, {}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, {}, None),
        ({}, {"error": {"details": [{"@type": "RetryInfo", "retryDelay": "30s"}]}}, 30.0),
        ({"retry-after": "-1"}, {}, None),
        ({"retry-after": "315360000"}, {}, 86400.0),
        ({"retry-after": "nan"}, {}, None),
        ({"retry-after": "1e400"}, {}, None),
    ],
)
def test_the_peer_says_when_to_come_back(headers: dict[str, str], body: Any, seconds: float | None) -> None:
    assert read_failure(429, body, headers).retry_after == seconds


@pytest.mark.parametrize(
    "secret",
    ["sk-proj-abcdefghijkl", "AIzaSyA1234567890", "Bearer abc.def-ghi", "gsk_abcdefghijkl", "eyJhbGciOi.eyJzdWIi.c2ln"],
)
def test_keys_are_blotted_out(secret: str) -> None:
    error = read_failure(401, {"error": {"message": f"Incorrect API key provided: {secret}."}})
    assert secret not in error.message + error.body + redact(secret)


@pytest.mark.parametrize(
    ("body", "most"),
    [
        ("x" * 100_000, 400),
        (b"\x1b[2J\x1b]0;owned\x07" * 5000, 400),
        ("<html>\r\n" + "<p>Bad gateway</p>\n" * 1000, 400),
        ({"error": {"message": "\u202e\x00\x85no\nsuch\tmodel" * 5000}}, 1100),
        ({"detail": [{"loc": ["body", "messages", n], "msg": "field required"} for n in range(1000)]}, 1100),
    ],
)
def test_of_a_long_refusal_a_client_is_told_the_start_on_one_line(body: Any, most: int) -> None:
    message = read_failure(500, body if isinstance(body, bytes | str) else json.dumps(body)).message
    assert len(message) <= most
    assert "…; " in message  # and then what to do
    assert message.replace("…", "").isprintable()


def test_a_refusal_means_what_it_says_behind_the_part_that_is_shown() -> None:
    error = read_failure(400, {"error": {"message": "x " * 900 + "This model's maximum context length is 8"}})
    assert error.kind is ErrorKind.CONTEXT


@given(st.integers(0, 700), st.binary() | st.text() | st.dictionaries(st.text(), st.none() | st.integers() | st.text()))
def test_no_body_breaks_the_error_reader(status: int, body: Any) -> None:
    assert isinstance(read_failure(status, body), ProviderError)


ERRORS = [
    (ProviderError("slow down", status=429, kind=ErrorKind.RATE_LIMIT), 429),
    (ProviderError("no host", kind=ErrorKind.NETWORK), 502),
    (CodecError("wrong", "$.messages"), 400),
    (UsageError("wrong"), 400),
    (ZeroDivisionError("secret detail"), 500),
]


@pytest.mark.parametrize("api", CODECS)
@pytest.mark.parametrize(("error", "status"), ERRORS)
def test_error_bodies_speak_the_clients_api_and_leak_nothing(api: str, error: Exception, status: int) -> None:
    code, body = codec(api).encode_error(error)
    assert code == status
    assert "secret detail" not in to_json(body)
    again = codec(api).decode_error(code, body)
    assert again.status == status


@pytest.mark.parametrize("api", CODECS)
def test_an_error_within_a_stream_ends_it(api: str) -> None:
    error = ProviderError("the peer is overloaded", status=503, kind=ErrorKind.OVERLOADED)
    frame = codec(api).error_frame(error, codec(api).encode_stream().number)
    with pytest.raises(ProviderError, match="the peer is overloaded"):
        codec(api).decode_stream().feed(frame)


@pytest.mark.parametrize("body", [
    {"object": "error", "message": "engine died", "type": "InternalServerError", "code": 500},
    {"error": {"message": "engine died"}, "choices": []},
    {"error": "engine died"},
])  # fmt: skip
def test_an_error_is_one_in_whatever_form_servers_of_chat_put_it(body: dict[str, Any]) -> None:
    with pytest.raises(ProviderError, match="engine died"):
        codec("openai_chat").decode_stream().feed(Frame(to_json(body)))


@pytest.mark.parametrize("error", [None, "", False, {}])
@pytest.mark.parametrize("api", ["openai_chat", "ollama_chat", "gemini"])
def test_an_error_that_is_none_ends_nothing_and_goes_to_nobody(api: str, error: Any) -> None:
    decoder, encoder = codec(api).decode_stream(), codec(api).encode_stream()
    events = [*decoder.feed(Frame(to_json({**SAYING[api], "error": error}))), *decoder.close()]
    assert assemble(events).text == "Hi"
    if api == "ollama_chat":  # its own clients look for the field, and not for what is in it (ollama-js)
        assert all("error" not in frame.data for event in events for frame in encoder.feed(event))


SAYING: dict[str, dict[str, Any]] = {
    "openai_chat": {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]},
    "ollama_chat": {"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": True},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]},
}


def test_anthropic_says_overloaded_with_its_own_status() -> None:
    status, body = codec("anthropic_messages").encode_error(ProviderError("x", status=503, kind=ErrorKind.OVERLOADED))
    assert (status, body["error"]["type"]) == (529, "overloaded_error")


def test_openai_clients_learn_where_the_mistake_is() -> None:
    _, body = codec("openai_chat").encode_error(CodecError("wrong", "$.messages[2].content"))
    assert body["error"]["param"] == "$.messages[2].content"


# ── too long, in the words of each API ───────────────────────────────────────

TOO_LONG: dict[str, tuple[int, Any]] = {
    "openai": (400, {"error": {"message": "maximum context length is 8192 tokens", "code": "context_length_exceeded"}}),
    "anthropic": (400, {"error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}}),
    "llama.cpp": (400, {"error": {"code": 400, "message": "exceeds the available context size", "type": "exceed_context_size_error"}}),
    "gemini": (400, {"error": {"code": 400, "message": "The input token count (9) exceeds the maximum", "status": "INVALID_ARGUMENT"}}),
    "bedrock": (400, {"message": "Input is too long for requested model."}),
}  # fmt: skip


@pytest.mark.parametrize("who", TOO_LONG)
def test_context_overflow_is_worded_as_each_apis_clients_know_it(who: str) -> None:
    error = read_failure(*TOO_LONG[who])
    bodies = {api: json.dumps(CODECS[api].encode_error(error)[1]) for api in CODECS}
    assert '"code": "context_length_exceeded"' in bodies["openai_chat"]
    assert '"code": "context_length_exceeded"' in bodies["openai_responses"]
    assert '"code": "context_length_exceeded"' in CODECS["openai_responses"].error_frame(error).data.replace(
        '":"', '": "'
    )
    assert bodies["anthropic_messages"].count("prompt is too long") == 1
    assert "input token count" in bodies["gemini"].lower()


def test_a_code_that_only_repeats_the_status_is_none() -> None:
    error = read_failure(*TOO_LONG["gemini"])
    assert error.code == "INVALID_ARGUMENT"
    assert "400: 400" not in error.message
    assert read_failure(400, {"error": {"code": "1261", "message": "too long"}}).code == "1261"


@pytest.mark.parametrize("tool", [{"type": "function"}, {"type": "function", "function": None}, {"function": None}])
@pytest.mark.parametrize("api", ["openai_chat", "ollama_chat"])
def test_a_function_that_is_none_is_refused_with_its_place(api: str, tool: dict[str, Any]) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [tool]}
    with pytest.raises(CodecError, match="give its name") as caught:
        CODECS[api].decode_request(body)
    assert caught.value.path == "$.tools[0].function"


@pytest.mark.parametrize("item", [{}, {"content": "Hi"}, {"type": "", "content": []}])
def test_an_item_that_is_none_is_refused_with_its_place(item: dict[str, Any]) -> None:
    with pytest.raises(CodecError, match="neither role nor type") as caught:
        CODECS["openai_responses"].decode_request({"model": "m", "input": [{"role": "user", "content": "Hi"}, item]})
    assert caught.value.path == "$.input[1]"


def test_an_id_alone_refers_to_an_item() -> None:
    assert CODECS["openai_responses"].decode_request({"model": "m", "input": [{"id": "msg_1"}]}).messages


STREAMS = {
    "openai_chat": 'data: {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}\n\n',
    "anthropic_messages": 'event: message_start\ndata: {"type": "message_start", "message": {"content": []}}\n\n',
    "openai_responses": 'event: response.created\ndata: {"type": "response.created", "response": {"id": "r"}}\n\n',
    "gemini": 'data: {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}\n\n',
    "ollama_chat": '{"message": {"role": "assistant", "content": "Hi"}, "done": false}\n',
    "cohere_chat": 'event: message-start\ndata: {"type": "message-start", "id": "c"}\n\n',
}


@pytest.mark.parametrize("named", STREAMS)
@pytest.mark.parametrize("real", STREAMS)
def test_a_stream_of_another_api_is_told_by_its_name(named: str, real: str) -> None:
    if named == real:
        assert decode_stream(named, STREAMS[named]) is not None
        return
    with pytest.raises(CodecError, match=f"of {real}, not of {named}"):
        decode_stream(named, STREAMS[real])
