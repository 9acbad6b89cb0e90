"""Recorded traffic of many providers: every answer reads as the reference reads it, every request comes back."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from dragoman.codecs.shared.frames import Frame, FrameKind
from dragoman.codecs.shared.spec import Unsupported
from dragoman.errors import ProviderError
from dragoman.events import CallEnded, CallStarted, assemble
from dragoman.jsontext import to_json
from dragoman.types import Response, Stop
from tests.support.recordings import CHUNKS, SHARED, codec, decoded, pieces, rows, written

APIS = {
    "openai_chat": sorted(path.name for path in (SHARED / "wire").glob("chat_*.jsonl")),
    "anthropic_messages": ["anthropic_messages.jsonl"],
    "ollama_chat": ["ollama_chat.jsonl"],
    "openai_responses": ["openai_responses.jsonl"],
    "gemini": ["gemini_generatecontent.jsonl"],
    "gemini_interactions": ["gemini_interactions.jsonl"],
    "bedrock_converse": ["bedrock_converse.jsonl"],
    "bedrock_invoke": ["bedrock_invoke.jsonl"],
    "cohere_chat": ["cohere_chat.jsonl"],
}

STOPS: Mapping[str | int | None, str | None] = {
    "stop": "end",
    "end_turn": "end",
    "": "end",  # Snowflake fills fields with empty strings
    "tool_calls": "tool_calls",
    "tool_call": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "COMPLETE": "end",
    "TOOL_CALL": "tool_calls",
    "STOP": "end",
    1: "end",  # Vertex over gRPC
    "UNEXPECTED_TOOL_CALL": "end",
    "MAX_TOKENS": "length",
    "completed": "end",
    "incomplete": "length",
    "length": "length",
    "max_tokens": "length",
    None: None,
}
"""The wire's word in the reading → ours."""

NOT_STOPPED = frozenset({"end", None})
"""An answer that made calls stopped for them, whatever its word (49 recordings say `stop`)."""

TYPED = "the reading knows no calls of tools with a type; ours are calls, for the client runs them"
DIVERGENCES: Mapping[str, str] = {
    "anthropics+anthropic-sdk-python/tests/lib/streaming/fixtures/incomplete_partial_json_response.txt#0": (
        "the call was cut off by max_tokens: the reading keeps its broken text as arguments, we give no call and keep"
        " the text in an issue"
    ),
    "vercel+ai/packages/google/src/__fixtures__/"
    "google-stream-tool-call-array-arguments-missing-terminal-function-call.chunks.txt#0": (
        "the reading leaves arguments out whose paths lead into arrays; we fill them in"
    ),
    "vercel+ai/packages/openai/src/responses/__fixtures__/openai-apply-patch-tool.1.json#0": TYPED,
    "vercel+ai/packages/openai/src/responses/__fixtures__/openai-shell-tool.1.json#0": TYPED,
}
"""Row → why our reading differs."""


def recorded(api: str) -> list[dict[str, Any]]:
    return [row for name in APIS[api] for row in rows(SHARED / "wire" / name)]


def _is_older(row: dict[str, Any]) -> bool:
    """Is this a request of Cohere's first version, or of a model that is not Claude behind InvokeModel?"""
    return "message" in row["request"] or (row["shape"] == "bedrock.invoke" and "anthropic" not in row["model"])


def _is_read(row: dict[str, Any], stream: bool | None) -> bool:
    return "reading" in row and stream in (None, row["stream"])


def cases(*, stream: bool | None = None, request: bool = False) -> list[Any]:
    return [
        pytest.param(api, row, id=f"{api}:{row['id'][-90:]}")
        for api in APIS
        for row in recorded(api)
        if (isinstance(row["request"], dict) and not _is_older(row) if request else _is_read(row, stream))
    ]


def reading_of(response: Response) -> dict[str, Any]:
    calls = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in response.calls]
    return {"calls": calls, "text": response.text, "stop": response.stop and response.stop.value}


def assert_reads_as(row: dict[str, Any], response: Response) -> None:
    got, expected = reading_of(response), dict(row["reading"])
    expected["calls"] = [call for call in expected["calls"] if call.get("kind") != "server_tool_use"]
    stop = STOPS[expected["finish"]]
    assert got["stop"] == ("tool_calls" if expected["calls"] and stop in NOT_STOPPED else stop)
    assert got["text"] == expected["text"]
    assert len(got["calls"]) == len(expected["calls"])
    for mine, theirs in zip(got["calls"], expected["calls"], strict=True):
        assert mine["id"] == (theirs["id"] or mine["id"]) != ""  # where the wire has no id, ours is minted
        written_ = {"input": theirs["arguments"]} if theirs.get("kind") == "custom" else theirs["arguments"]
        assert (mine["name"], mine["arguments"]) == (theirs["name"], written_)


@pytest.mark.parametrize(("api", "row"), cases(stream=False))
def test_a_recorded_answer_reads_as_the_reference_reads_it(api: str, row: dict[str, Any]) -> None:
    response = codec(api).decode_response(row["response"])
    if row["id"] in DIVERGENCES:
        with pytest.raises(AssertionError):
            assert_reads_as(row, response)
        return
    assert_reads_as(row, response)
    assert not response.issues or (response.stop is Stop.LENGTH and not response.text)


def stream_bytes(api: str, row: dict[str, Any]) -> bytes:
    """The recorded frames as they stood on the wire; the recordings keep their data lines only."""
    if api == "bedrock_invoke":
        wrapped = [{"bytes": base64.b64encode(data.encode()).decode()} for data in row["response"]]
        return written(codec(api), [Frame(json.dumps(one), "chunk") for one in wrapped])
    if codec(api).frames is FrameKind.AWS:
        pairs = [next(iter(json.loads(data).items())) for data in row["response"]]
        return written(codec(api), [Frame(json.dumps(fields), name) for name, fields in pairs])
    named = api in ("anthropic_messages", "openai_responses")
    return written(codec(api), [Frame(data, json.loads(data)["type"] if named else "") for data in row["response"]])


@pytest.mark.parametrize(("api", "row"), cases(stream=True))
def test_recorded_streams_read_as_the_reference_however_cut(api: str, row: dict[str, Any]) -> None:
    data = stream_bytes(api, row)
    events, error = decoded(codec(api), [data])
    response = assemble(events)
    if "error_event" in row["reading"]["notes"]:
        assert isinstance(error, ProviderError)
        assert response.text == row["reading"]["text"]
    elif row["id"] in DIVERGENCES:
        with pytest.raises(AssertionError):
            assert_reads_as(row, response)
    else:
        assert error is None
        assert_reads_as(row, response)
    for size in CHUNKS:
        assert decoded(codec(api), pieces(data, size))[0] == events


@pytest.mark.parametrize("api", APIS)
def test_a_cut_call_is_an_issue_with_its_text(api: str) -> None:
    for row in recorded(api):
        if row["id"] in DIVERGENCES and "args_invalid" in row["reading"]["notes"]:
            events, _ = decoded(codec(api), [stream_bytes(api, row)])
            issue = assemble(events).issues[0]
            assert issue.raw == row["reading"]["calls"][0]["arguments"]
            started = [event for event in events if isinstance(event, CallStarted)]
            ended = [event for event in events if isinstance(event, CallEnded)]
            assert len(started) == len(ended) == 1
            assert ended[0].report is not None


# ── requests ─────────────────────────────────────────────────────────────────

SAME: tuple[tuple[str, str], ...] = (
    ("null", "a field that is null says the same as one that is absent"),
    ("empty list", "no tools, no calls, no stop words: an empty list says the same as an absent one"),
    ("false", "`stream`, `strict`, `is_error` and the like are false unless said"),
    ("no description", "an empty description says nothing"),
    ("text part", "a content of one plain text part is that text"),
    ("empty content", 'an assistant turn that only calls has no content: "", null, [] and absent are one'),
    ("one stop word", "a stop word alone is a list of one"),
    ("function type", "`type: function` is the default of tools, calls and choices"),
    ("call index", "`index` belongs to streams; clients echo it in history"),
    ("tool choice words", "Mistral's `any` is `required`; Databricks' {type: tool, name} is a named function"),
    ("legacy functions", "`functions` and `function_call` are the deprecated form of `tools` and `tool_choice`"),
    ("joined turns", "Anthropic reads neighbouring user turns as one; results and the text after them go out as one"),
    ("message type", "an item with a role is a message; a completed item is what an item is"),
    ("empty input", "Responses reads a bare string as one user message, and empty instructions as none"),
    ("camel case", "Gemini's clients write its keys in camel or in snake case"),
    ("one part", "Gemini reads one part like a list of one; its instructions have no role of their own"),
    ("capitals", "modes and levels are read in any case"),
    ("success", "a result of Bedrock is a success unless said; an empty inferenceConfig says nothing"),
    ("call id", "a call without an id gets one: its result needs it"),
)
"""What may differ between a recorded request and ours, and why; `normal` erases exactly these."""

FALSE_DEFAULTS = frozenset({"stream", "strict", "is_error"})
STORED = ("previous_response_id", "conversation")


def normal(value: Any, key: str = "") -> Any:
    """A request body with everything in `SAME` erased."""
    if isinstance(value, list):
        return [normal(one) for one in value]
    if not isinstance(value, dict):
        return value
    opaque = ("parameters", "input_schema", "schema", *(["input"] if isinstance(value.get("input"), dict) else []))
    body = {k: v if k in opaque else normal(v, k) for k, v in value.items()}
    for name in ("stop", "stop_sequences"):
        if isinstance(body.get(name), str):
            body[name] = [body[name]]
    for name in ("content", "output"):
        if isinstance(body.get(name), str):
            body[name] = [{"type": "text", "text": body[name]}]
        if body.get(name) == [{"type": "text", "text": ""}]:
            body[name] = []
    if body.get("type") in ("input_text", "output_text"):
        body["type"] = "text"
    body.pop("index", None)
    if body.get("type") in ("function", "message"):
        del body["type"]
    if body.get("status") in ("completed", "success"):
        del body["status"]
    return {k: v for k, v in body.items() if not _says_nothing(k, v)}


def _says_nothing(key: str, value: Any) -> bool:
    return (
        (value in (None, []) and key != "summary")
        or (value == {} and key == "inferenceConfig")
        or (value is False and key in FALSE_DEFAULTS)
        or (key == "description" and value == "")
    )


def camel(value: Any) -> Any:
    """A Gemini body with its own keys in camel case."""
    if isinstance(value, list):
        return [camel(one) for one in value]
    if not isinstance(value, dict):
        return value
    renamed = {re.sub(r"_([a-z])", lambda m: m[1].upper(), key): inner for key, inner in value.items()}
    return {key: inner if key in OPAQUE else bytes_of(inner) if key == "data" else camel(inner) for key, inner in renamed.items()}


def bytes_of(data: Any) -> Any:
    """Bytes in either alphabet of base64: Gemini takes both, other wires one."""
    return data.translate(str.maketrans("-_", "+/")).rstrip("=") if isinstance(data, str) else camel(data)


OPAQUE = ("args", "response", "parameters", "parametersJsonSchema", "responseJsonSchema", "fileSearch", "toolResponse")


def normal_gemini(body: dict[str, Any]) -> Any:
    body = {key: value for key, value in normal(camel(body)).items() if value != {}}
    system = dict(body.pop("systemInstruction", {}))
    parts = system.get("parts", [])
    body["systemInstruction"] = [parts] if isinstance(parts, dict) else parts
    calling = body.get("toolConfig", {}).get("functionCallingConfig", {})
    if "mode" in calling:
        calling["mode"] = calling["mode"].upper()
    thinking = body.get("generationConfig", {}).get("thinkingConfig", {})
    if "thinkingLevel" in thinking:
        thinking["thinkingLevel"] = thinking["thinkingLevel"].upper()
    contents: list[Any] = []
    for content in body.pop("contents"):
        parts = sorted(content.get("parts", []), key=lambda part: "functionResponse" not in part)
        if contents and contents[-1]["role"] == content.get("role"):
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": content.get("role"), "parts": parts})
    return {**body, "contents": contents}


def normal_request(api: str, body: dict[str, Any]) -> Any:
    if api == "gemini":
        return normal_gemini(body)
    if isinstance(body.get("input"), str):
        body = {**body, "input": [{"role": "user", "content": body["input"]}]}
    if isinstance(body.get("input"), list):
        listed = [item for item in body["input"] if item.get("content") != "" or item.get("role") != "assistant"]
        body = {**body, "input": listed, "instructions": body.get("instructions") or None}
    if isinstance(body.get("system"), str):
        body = {**body, "system": [{"type": "text", "text": body["system"]}]}
    body = normal(body)
    if "functions" in body:
        tools = [{"function": one} for one in body.pop("functions")]
        body |= {"tools": tools, "tool_choice": body.pop("function_call", None), "parallel_tool_calls": False}
    choice = body.get("tool_choice")
    if choice == "any":
        body["tool_choice"] = "required"
    if api == "openai_chat" and isinstance(choice, dict) and choice.get("type") == "tool":
        body["tool_choice"] = {"function": {"name": choice["name"]}}
    messages: list[Any] = []
    for message in body.get("messages", []):
        joins = api == "anthropic_messages" and messages and message["role"] == messages[-1]["role"] == "user"
        if joins:
            messages[-1] = {**messages[-1], "content": [*messages[-1]["content"], *message["content"]]}
        else:
            messages.append(message)
        for call in message.get("tool_calls", []):
            call.setdefault("id", "call_h0")
    return {**body, "messages": messages}


@pytest.mark.parametrize(("api", "row"), cases(request=True))
def test_a_recorded_request_comes_back_equivalent(api: str, row: dict[str, Any]) -> None:
    if any(row["request"].get(key) for key in STORED):
        with pytest.raises(Unsupported):
            codec(api).decode_request(row["request"])
        return
    request = codec(api).decode_request(row["request"])
    body = json.loads(to_json(codec(api).encode_request(request)))
    assert normal_request(api, body) == normal_request(api, row["request"])
    tools = tuple(replace(tool, metadata={}) if tool.metadata == {"legacy": True} else tool for tool in request.tools)
    assert codec(api).decode_request(body) == replace(request, tools=tools)


# ── golden streams ───────────────────────────────────────────────────────────

GOLDEN = {
    "openai_chat": "chat_completions.sse.txt",
    "anthropic_messages": "messages.sse.txt",
    "ollama_chat": "ollama_api_chat.ndjson.txt",
    "openai_responses": "responses.sse.txt",
    "gemini": "gemini_streamGenerateContent.sse.txt",
}
needs_golden = pytest.mark.skipif(not (SHARED / "golden-streams").exists(), reason="the golden streams are not here")
NOTES = [{"path": "a.txt", "content": "alpha"}, {"path": "b.txt", "content": "beta"}]


@needs_golden
@pytest.mark.parametrize("api", GOLDEN)
def test_a_golden_stream_reads_as_text_and_two_calls(api: str) -> None:
    data = (SHARED / "golden-streams" / GOLDEN[api]).read_bytes()
    events, error = decoded(codec(api), [data])
    response = assemble(events)
    assert error is None
    assert response.text == "Let me write both notes — “ok” 日本 \u2028 line."
    assert [call.arguments for call in response.calls] == NOTES
    assert response.usage is not None
    assert (response.usage.input, response.usage.output) == (11, 7)


@needs_golden
@pytest.mark.parametrize("api", GOLDEN)
def test_golden_streams_have_the_frames_every_client_accepted(api: str) -> None:
    data = (SHARED / "golden-streams" / GOLDEN[api]).read_bytes()
    events, _ = decoded(codec(api), [data])
    encoder = codec(api).encode_stream(whole_calls=False)
    ours = [*(frame for event in events for frame in encoder.feed(event)), *encoder.close()]
    again, error = decoded(codec(api), [written(codec(api), ours)])
    assert error is None
    assert reading_of(assemble(again)) == reading_of(assemble(events))
    assert _shapes(api, written(codec(api), ours)) == _shapes(api, data)


def _shapes(api: str, data: bytes) -> list[Any]:
    """The frames of a stream without their values: what keys stand where, in which order, repeats told once."""
    shapes: list[Any] = []
    for line in data.decode().split("\n"):
        text = line.removeprefix("data: ")
        shape = _shape(api, json.loads(text)) if text.startswith("{") else text
        if text and not text.startswith("event:") and "ping" not in text and shape not in shapes[-1:]:
            shapes.append(shape)
    return shapes


OPTIONAL: Mapping[str, frozenset[str]] = {
    "openai_chat": frozenset({"id", "type", "name"}),  # repeated empty in later fragments: form (b) of streaming.md §1
    "anthropic_messages": frozenset({"usage"}),
    "ollama_chat": frozenset(),
    "openai_responses": frozenset({"response"}),
    "gemini": frozenset({"usageMetadata", "id"}),
}


def _shape(api: str, value: Any) -> Any:
    if isinstance(value, dict):
        known = {k: v for k, v in sorted(value.items()) if k not in OPTIONAL[api]}
        return {k: v if k == "type" else _shape(api, v) for k, v in known.items()}
    if isinstance(value, list):
        return [_shape(api, v) for v in value[:1]]
    return type(value).__name__
