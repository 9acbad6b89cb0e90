"""Requests: what each wire says its own way."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from dragoman.codecs.shared.spec import Quirks, Unsupported, WireFields
from dragoman.codecs.shared.tools import without_tools
from dragoman.errors import CodecError
from dragoman.events import replay
from dragoman.providers.rows import PROVIDERS
from dragoman.types import (
    Media,
    Message,
    Opaque,
    OutputSchema,
    Reasoning,
    Request,
    Response,
    Sampling,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from tests.support.recordings import codec

PNG = Media(mime="image/png", data="iVBORw0KGgo=")
CALL = ToolCall(id="c1", name="look", arguments={"at": "a"})
PAST = Message("assistant", [CALL])


def sent(api: str, *messages: Message, quirks: Quirks = Quirks(), **fields: Any) -> dict[str, Any]:  # noqa: B008
    return codec(api).encode_request(Request(model="m", messages=messages, **fields), quirks)


def read(api: str, *messages: Any, **fields: Any) -> Request:
    return codec(api).decode_request({"model": "m", "messages": list(messages), **fields})


# ── content and roles ────────────────────────────────────────────────────────


@pytest.mark.parametrize("role", ["system", "user", "assistant", "developer"])
@pytest.mark.parametrize(("content", "text"), [("hi", "hi"), (None, ""), ("", ""), ([], ""), (["hi"], "hi")])
def test_content_is_a_string_null_or_list_everywhere(role: str, content: Any, text: str) -> None:
    assert read("openai_chat", {"role": role, "content": content}).messages[0].text == text


@pytest.mark.parametrize(("place", "role"), [("openai", "developer"), ("compatible", "system"), ("deepseek", "system")])
def test_the_developer_role_goes_to_those_who_know_it(place: str, role: str) -> None:
    request = read("openai_chat", {"role": "developer", "content": "be brief"})
    body = codec("openai_chat").encode_request(request, PROVIDERS[place].quirks)
    assert body["messages"] == [{"role": role, "content": "be brief"}]


def test_the_developer_role_is_a_system_role_and_comes_back() -> None:
    request = read("openai_chat", {"role": "developer", "content": "be brief"})
    assert request.messages[0].role == "system"
    assert codec("openai_chat").encode_request(request)["messages"][0]["role"] == "developer"
    assert codec("anthropic_messages").encode_request(request)["system"] == "be brief"


def test_an_unknown_role_counts_as_the_user() -> None:
    assert read("openai_chat", {"role": "weird", "content": "x"}).messages == (Message("user", "x"),)


@pytest.mark.parametrize(
    ("api", "body", "path"),
    [
        ("openai_chat", [], "$"),
        ("openai_chat", {"model": "m"}, "$.messages"),
        ("openai_chat", {"messages": "hi"}, "$.messages"),
        ("openai_chat", {"messages": [{"content": "hi"}]}, "$.messages[0].role"),
        ("openai_chat", {"messages": [{"role": "user", "content": 5}]}, "$.messages[0].content"),
        ("openai_chat", {"messages": [{"role": "user", "content": [5]}]}, "$.messages[0].content[0]"),
        ("openai_chat", {"messages": [], "tools": [{"type": "function", "function": {}}]}, "$.tools[0].function.name"),
        ("openai_chat", {"messages": [], "temperature": "hot"}, "$.temperature"),
        ("openai_chat", {"messages": [], "stream": "yes"}, "$.stream"),
        ("openai_chat", {"messages": [], "stop": [1]}, "$.stop[0]"),
        ("openai_chat", {"messages": [{"role": "assistant", "tool_calls": ["bad"]}]}, "$.messages[0].tool_calls[0]"),
        (
            "anthropic_messages",
            {"messages": [{"role": "user", "content": [{"type": "tool_use"}]}]},
            "$.messages[0].content[0].id",
        ),
        ("anthropic_messages", {"messages": [], "max_tokens": 1.5}, "$.max_tokens"),
        ("anthropic_messages", {"messages": [], "tool_choice": {"type": "tool"}}, "$.tool_choice.name"),
        ("ollama_chat", {"messages": []}, "$.model"),
        ("ollama_chat", {"model": "m", "messages": [{"role": "user", "content": 5}]}, "$.messages[0].content"),
        ("ollama_chat", {"model": "m", "messages": [], "options": {"seed": "x"}}, "$.options.seed"),
    ],
)
def test_what_is_not_the_api_is_told_with_its_path(api: str, body: Any, path: str) -> None:
    with pytest.raises(CodecError) as raised:
        codec(api).decode_request(body)
    assert raised.value.path == path
    assert ";" in str(raised.value)


def test_anthropic_system_messages_stand_beside_late_ones_in_place() -> None:
    body = sent("anthropic_messages", Message("system", "a"), Message("system", "b"), Message("user", "hi"),
                Message("assistant", "yes?"), Message("system", "hurry"))  # fmt: skip
    assert [block["text"] for block in body["system"]] == ["a", "b"]
    assert body["messages"][-1] == {"role": "user", "content": [{"type": "text", "text": "<system>\nhurry\n</system>"}]}


def test_anthropic_results_and_later_text_are_one_turn() -> None:
    results = Message("tool", [ToolResult(call_id="c1", name="look", content="ok")])
    body = sent("anthropic_messages", PAST, results, Message("user", "and?"))
    assert [m["role"] for m in body["messages"]] == ["assistant", "user"]
    assert [block["type"] for block in body["messages"][1]["content"]] == ["tool_result", "text"]
    mixed = {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "tool_result", "tool_use_id": "c1"}]}
    assert [m.role for m in read("anthropic_messages", mixed).messages] == ["tool", "user"]


def test_neighbouring_results_merge_here_and_part_for_openai() -> None:
    wire = [{"role": "tool", "tool_call_id": c, "content": c} for c in ("a", "b")]
    request = read("openai_chat", *wire)
    assert [[r.call_id for r in m.results] for m in request.messages] == [["a", "b"]]
    assert codec("openai_chat").encode_request(request)["messages"] == wire


@pytest.mark.parametrize("api", ["openai_chat", "anthropic_messages", "ollama_chat"])
def test_results_learn_tool_names_from_calls(api: str) -> None:
    result = ToolResult(call_id="c1", name="look", content="ok")
    body = sent(api, Message("user", "hi"), PAST, Message("tool", [result]))
    assert codec(api).decode_request(body).messages[-1].results == (result,)


def test_ollamas_results_without_ids_answer_the_calls_in_order() -> None:
    calls = [{"function": {"name": n, "arguments": dict[str, Any]()}} for n in ("a", "b", "a")]
    answers = [{"role": "tool", "content": str(i), "tool_name": n} for i, n in enumerate(("a", "b", "a"))]
    request = read("ollama_chat", {"role": "assistant", "content": "", "tool_calls": calls}, *answers)
    ids = [call.id for call in request.messages[0].calls]
    assert len(set(ids)) == 3
    assert [result.call_id for result in request.messages[1].results] == ids


def test_ollama_results_with_invented_ids_answer_calls_without() -> None:
    calls = [{"function": {"name": "look", "arguments": {"at": at}}} for at in ("a", "b")]
    results = [{"role": "tool", "tool_call_id": f"made-up-{n}", "content": str(n)} for n in (1, 2)]
    messages = read("ollama_chat", {"role": "assistant", "content": "", "tool_calls": calls}, *results).messages
    assert [r.call_id for r in messages[1].results] == [c.id for c in messages[0].calls]


def test_ollama_results_with_unknown_ids_answer_no_numbered_call() -> None:
    calls = [{"id": "c1", "function": {"name": "look", "arguments": {}}}]
    result = {"role": "tool", "tool_call_id": "c9", "content": "?"}
    messages = read("ollama_chat", {"role": "assistant", "content": "", "tool_calls": calls}, result).messages
    assert messages[1].results[0].call_id == "c9"


def test_split_ollama_turns_are_one_turn_with_answered_calls() -> None:
    """Recorded: Strands Agents 1.62, which sends neither ids nor the names of the tools."""
    calls = [{"function": {"name": "look", "arguments": {"city": city}}} for city in ("Oslo", "Paris")]
    turns = [{"role": "assistant", "tool_calls": [one]} for one in calls]
    answers = [{"role": "tool", "content": content} for content in ("rain", "sun")]
    messages = read("ollama_chat", *turns, *answers).messages
    assert [m.role for m in messages] == ["assistant", "tool"]
    assert [r.call_id for r in messages[1].results] == [c.id for c in messages[0].calls]


def test_split_gemini_turns_are_one_turn_with_answered_calls() -> None:
    """Recorded: google-genai 3.4 calling functions itself while it streams."""
    pieces = [
        {"text": "\n"},
        *({"functionCall": {"id": f"c{n}", "name": "look", "args": {}}} for n in (1, 2)),
        {"text": ""},
    ]
    turns = [{"role": "model", "parts": [piece]} for piece in pieces]
    answers = [{"functionResponse": {"name": "look", "response": {"result": str(n)}}} for n in (1, 2)]
    body = {"contents": [*turns, {"role": "user", "parts": answers}]}
    messages = codec("gemini").decode_request({"model": "m", **body}).messages
    assert [m.role for m in messages] == ["assistant", "assistant", "tool"]
    assert [r.call_id for r in messages[2].results] == [c.id for c in messages[1].calls] == ["c1", "c2"]


@pytest.mark.parametrize("broken", ["{bad", "[1]", '"x"'])
def test_broken_past_calls_go_out_without_arguments_and_invent_nothing(broken: str) -> None:
    wire = {
        "role": "assistant",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": broken}}],
    }
    request = read("openai_chat", wire)
    (call,) = request.messages[0].calls
    assert call.report is not None
    assert call.report.verdict == "refused"
    assert call.raw == broken
    again = codec("openai_chat").encode_request(request)["messages"][0]
    assert [one["function"]["arguments"] for one in again["tool_calls"]] == ["{}"]
    (item,) = codec("openai_responses").encode_request(request)["input"]
    assert item["arguments"] == broken


def test_arguments_are_replayed_byte_for_byte_while_equal() -> None:
    call = ToolCall(id="c", name="f", arguments={"x": 1}, raw='{ "x" :1}')
    stale = ToolCall(id="c", name="f", arguments={"x": 2}, raw='{ "x" :1}')
    body = sent("openai_chat", Message("assistant", [call, stale]))
    assert [c["function"]["arguments"] for c in body["messages"][0]["tool_calls"]] == ['{ "x" :1}', '{"x": 2}']


def test_deprecated_functions_become_tools() -> None:
    request = read(
        "openai_chat",
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"x":1}'}},
        {"role": "function", "name": "f", "content": "ok"},
        functions=[{"name": "f", "parameters": {"type": "object"}}],
        function_call={"name": "f"},
    )
    assert request.tools == (Tool(name="f", parameters={"type": "object"}, metadata={"legacy": True}),)
    assert request.tool_choice == ToolChoice("named", "f")
    assert request.messages[1].results[0].call_id == request.messages[0].calls[0].id
    assert "function_call" not in str(codec("openai_chat").encode_request(request))


# ── media ────────────────────────────────────────────────────────────────────


def test_result_media_follow_where_results_take_text_only() -> None:
    results = [ToolResult(call_id=c, content=[Text(c), PNG]) for c in ("a", "b")]
    wires = sent("openai_chat", Message("tool", results), Message("user", "so?"))["messages"]
    assert [w["role"] for w in wires] == ["tool", "tool", "user", "user"]
    assert [p["type"] for p in wires[2]["content"]] == ["text", "image_url", "text", "image_url"]
    native = sent("openai_chat", Message("tool", results), quirks=Quirks(result_media="native"))["messages"]
    assert [w["role"] for w in native] == ["tool", "tool"]


def test_media_of_results_are_native_where_the_wire_takes_them() -> None:
    results = Message("tool", [ToolResult(call_id="a", content=[Text("see"), PNG])])
    (turn,) = sent("anthropic_messages", results)["messages"]
    assert [block["type"] for block in turn["content"][0]["content"]] == ["text", "image"]
    (line,) = sent("ollama_chat", results)["messages"]
    assert line["images"] == [PNG.data]


MEDIA: list[tuple[Media, str, Any]] = [
    (PNG, "openai_chat", {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}),
    (Media(url="https://x.org/a"), "openai_chat", {"type": "image_url", "image_url": {"url": "https://x.org/a"}}),
    (
        Media(mime="audio/wav", data="AA=="),
        "openai_chat",
        {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
    ),
    (
        Media(mime="application/pdf", data="AA==", name="a.pdf"),
        "openai_chat",
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}},
    ),
    (
        PNG,
        "anthropic_messages",
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG.data}},
    ),
    (
        Media(mime="application/pdf", url="https://x.org/a.pdf", name="A"),
        "anthropic_messages",
        {"type": "document", "source": {"type": "url", "url": "https://x.org/a.pdf"}, "title": "A"},
    ),
    (
        Media(mime="text/plain", data=base64.b64encode(b"hi").decode()),
        "anthropic_messages",
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hi"}},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("media", "api", "wire"), MEDIA)
def test_media_take_the_wires_form_and_come_back(media: Media, api: str, wire: Any) -> None:
    body = sent(api, Message("user", [Text("see"), media]))
    assert body["messages"][0]["content"][1] == wire
    assert codec(api).decode_request(body).messages[0].parts[1] == media


@pytest.mark.parametrize(
    ("api", "media"),
    [
        ("anthropic_messages", Media(mime="audio/wav", data="AA==")),
        ("ollama_chat", Media(mime="image/png", url="https://x.org/a.png")),
        ("ollama_chat", Media(mime="application/pdf", data="AA==", name="a.pdf")),
    ],
)
def test_media_a_wire_cannot_carry_are_named_in_the_text(api: str, media: Media) -> None:
    body = sent(api, Message("user", [Text("see"), media]))
    assert (media.url or media.name or media.mime) in str(body["messages"])


def test_blocks_of_one_api_stay_on_it() -> None:
    block = {"type": "container_upload", "file_id": "f"}
    request = read("anthropic_messages", {"role": "user", "content": [block, {"type": "text", "text": "hi"}]})
    assert request.messages[0].parts[0] == Opaque(api="anthropic_messages", block=block)
    assert codec("anthropic_messages").encode_request(request)["messages"][0]["content"][0] == block
    assert codec("openai_chat").encode_request(request)["messages"] == [{"role": "user", "content": "hi"}]


# ── tools and choices ────────────────────────────────────────────────────────


def test_server_tools_keep_their_place_and_wire() -> None:
    listed = [{"name": "a", "input_schema": {"type": "object"}}, {"type": "web_search_20250305", "name": "web_search"},
              {"name": "b", "input_schema": {"type": "object"}, "defer_loading": True}]  # fmt: skip
    request = read("anthropic_messages", tools=listed)
    assert [tool.name for tool in request.tools] == ["a", "b"]
    assert codec("anthropic_messages").encode_request(request)["tools"] == listed
    assert [t["function"]["name"] for t in codec("openai_chat").encode_request(request)["tools"]] == ["a", "b"]


def test_without_tools_nothing_of_them_is_left() -> None:
    request = read("openai_chat", tools=[{"type": "custom", "custom": {"name": "x"}}], tool_choice="required", seed=1)
    body = codec("openai_chat").encode_request(without_tools(request))
    assert body == {"model": "m", "messages": [], "seed": 1}


@pytest.mark.parametrize(
    ("choice", "parallel", "openai", "anthropic"),
    [
        (ToolChoice(), None, "auto", {"type": "auto"}),
        (ToolChoice("none"), None, "none", {"type": "none"}),
        (ToolChoice("required"), None, "required", {"type": "any"}),
        (
            ToolChoice("named", "f"),
            None,
            {"type": "function", "function": {"name": "f"}},
            {"type": "tool", "name": "f"},
        ),
        (None, False, None, {"type": "auto", "disable_parallel_tool_use": True}),
        (ToolChoice("required"), True, "required", {"type": "any", "disable_parallel_tool_use": False}),
    ],
)
def test_the_choice_of_tools_and_the_parallel_switch(
    choice: ToolChoice | None, parallel: bool | None, openai: Any, anthropic: Any
) -> None:
    chat = sent("openai_chat", tool_choice=choice, parallel=parallel)
    assert chat.get("tool_choice") == openai
    assert chat.get("parallel_tool_calls") == parallel
    assert sent("anthropic_messages", tool_choice=choice, parallel=parallel)["tool_choice"] == anthropic


def test_refused_choices_go_out_as_the_nearest() -> None:
    named = ToolChoice("named", "f")
    only_auto = Quirks(choices=frozenset({"auto"}))
    assert sent("openai_chat", tool_choice=named, quirks=only_auto)["tool_choice"] == "auto"
    mistral = Quirks(choices=frozenset({"auto", "none", "required"}), required_word="any")
    assert sent("openai_chat", tool_choice=named, quirks=mistral)["tool_choice"] == "any"


def test_ollama_is_not_shown_tools_it_must_not_use() -> None:
    assert "tools" not in sent("ollama_chat", tools=(Tool(name="f"),), tool_choice=ToolChoice("none"))


def test_choices_of_one_api_come_back_and_approximate_elsewhere() -> None:
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}
    request = read("openai_chat", tool_choice=allowed)
    assert codec("openai_chat").encode_request(request)["tool_choice"] == allowed
    assert codec("anthropic_messages").encode_request(request)["tool_choice"] == {"type": "auto"}


# ── sampling, quirks, streaming ──────────────────────────────────────────────


def test_modern_limit_names_come_back() -> None:
    request = read("openai_chat", max_completion_tokens=7)
    assert request.sampling.max_tokens == 7
    body = codec("openai_chat").encode_request(request)
    assert body == {"model": "m", "messages": [], "max_completion_tokens": 7}
    assert codec("anthropic_messages").encode_request(request)["max_tokens"] == 7


def test_quirks_rename_leave_out_and_add_fields() -> None:
    quirks = Quirks(rename={"max_tokens": "max_completion_tokens"}, omit=frozenset({"seed"}), add={"store": False})
    body = sent("openai_chat", sampling=Sampling(max_tokens=5, seed=1), quirks=quirks)
    assert body == {"model": "m", "messages": [], "max_completion_tokens": 5, "store": False}


@pytest.mark.parametrize(
    ("quirks", "wire"),
    [
        (Quirks(), {"content": None, "reasoning_content": "hm"}),
        (Quirks(reasoning_field="reasoning", empty_content="empty"), {"content": "", "reasoning": "hm"}),
        (Quirks(reasoning_field="", empty_content="absent"), {}),
    ],
)
def test_past_reasoning_and_empty_content_as_the_peer_wants_them(quirks: Quirks, wire: Any) -> None:
    (message,) = sent("openai_chat", Message("assistant", [Reasoning("hm"), CALL]), quirks=quirks)["messages"]
    assert {key: message[key] for key in message if key not in ("role", "tool_calls")} == wire


def test_reasoning_goes_back_under_the_name_it_came() -> None:
    wire = {"role": "assistant", "content": "ok", "reasoning": "hm", "reasoning_details": [{"type": "x"}]}
    assert codec("openai_chat").encode_request(read("openai_chat", wire))["messages"] == [wire]


def test_anthropic_gets_signed_reasoning_only_unless_the_peer_wants_all() -> None:
    signed = Reasoning("hm", metadata={"signature": "s"})
    hidden = Reasoning("", metadata={"redacted": "xyz"})
    past = Message("assistant", [Reasoning("mine"), signed, hidden, Text("ok")])
    (message,) = sent("anthropic_messages", past)["messages"]
    assert [block["type"] for block in message["content"]] == ["thinking", "redacted_thinking", "text"]
    (message,) = sent("anthropic_messages", past, quirks=Quirks(unsigned_reasoning="send"))["messages"]
    assert message["content"][0] == {"type": "thinking", "thinking": "mine", "signature": ""}


def test_a_limit_anthropic_demands_is_made_up_and_unmade() -> None:
    body = sent("anthropic_messages")
    assert body["max_tokens"] > 0
    assert codec("anthropic_messages").decode_request(body).sampling.max_tokens is None


@pytest.mark.parametrize(
    ("output", "openai", "ollama"),
    [
        (OutputSchema(), {"type": "json_object"}, "json"),
        (
            OutputSchema(schema={"type": "object"}, name="n", strict=True),
            {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}, "strict": True}},
            {"type": "object"},
        ),
    ],
)
def test_a_demand_on_the_form_of_the_answer(output: OutputSchema, openai: Any, ollama: Any) -> None:
    assert sent("openai_chat", output_schema=output)["response_format"] == openai
    assert sent("ollama_chat", output_schema=output)["format"] == ollama


def test_streams_ask_for_usage_unless_declined() -> None:
    assert sent("openai_chat", stream=True)["stream_options"] == {"include_usage": True}
    assert "stream_options" not in codec("openai_chat").encode_request(read("openai_chat", stream=True))
    request = read("openai_chat", stream=True, stream_options={"include_usage": True})
    assert request.extra == {}
    other = read("openai_chat", stream=True, stream_options={"include_usage": False, "x": 1})
    assert codec("openai_chat").encode_request(other)["stream_options"] == {"include_usage": False, "x": 1}


def test_ollama_streams_unless_told_not_to() -> None:
    assert read("ollama_chat").stream
    assert not read("ollama_chat", stream=False).stream


@pytest.mark.parametrize(
    ("think", "effort", "wire"), [(True, None, True), (False, "none", False), ("high", "high", "high")]
)
def test_ollamas_thinking(think: Any, effort: str | None, wire: Any) -> None:
    request = read("ollama_chat", think=think)
    assert request.sampling.effort == effort
    assert codec("ollama_chat").encode_request(request)["think"] == wire


# ── Anthropic's own ──────────────────────────────────────────────────────────

EPHEMERAL = {"type": "ephemeral"}


def marks(body: dict[str, Any]) -> list[str]:
    """Where cache markers stand, in the order of the prompt."""
    found = [f"tool {t['name']}" for t in body.get("tools", []) if "cache_control" in t]
    system = body.get("system", [])
    found += [b["text"] for b in system if isinstance(b, dict) and "cache_control" in b]
    return found + [b["text"] for m in body["messages"] for b in m["content"] if "cache_control" in b]


def test_cached_messages_bear_a_marker_on_the_last_block() -> None:
    body = sent(
        "anthropic_messages", Message("system", [Text("a"), Text("b")], cache=True), Message("user", "c", cache=True)
    )
    assert marks(body) == ["b", "c"]
    assert codec("anthropic_messages").encode_request(codec("anthropic_messages").decode_request(body)) == body


def test_at_most_four_markers_go_out_the_earliest_are_dropped() -> None:
    users = [Message("user", str(i), cache=True) for i in range(6)]
    assert marks(sent("anthropic_messages", *users)) == ["2", "3", "4", "5"]
    marked = Tool(name="f", metadata=WireFields("anthropic_messages", {"cache_control": EPHEMERAL}))
    assert marks(sent("anthropic_messages", *users, tools=(marked,))) == ["tool f", "3", "4", "5"]


def test_markers_may_be_asked_for_always_or_never() -> None:
    messages = (Message("system", "s"), Message("user", "u", cache=True))
    tools = (Tool(name="f"), Tool(name="g"))
    always = sent("anthropic_messages", *messages, tools=tools, quirks=Quirks(cache="always"))
    assert marks(always) == ["tool g", "s", "u"]
    assert marks(sent("anthropic_messages", *messages, tools=tools, quirks=Quirks(cache="never"))) == []


def test_a_marker_never_comes_into_the_callers_own_tools() -> None:
    theirs = {"type": "web_search_20250305", "name": "web_search"}
    request = Request(model="m", messages=(Message("user", "u"),), tools=(Tool(name="f"),), extra={"tools": [None, theirs]})
    body = codec("anthropic_messages").encode_request(request, Quirks(cache="always"))
    assert body["tools"][-1]["cache_control"] == EPHEMERAL
    assert theirs == {"type": "web_search_20250305", "name": "web_search"}


def test_a_marker_with_a_lifetime_comes_back_with_it() -> None:
    hour = {"type": "ephemeral", "ttl": "1h"}
    content = [{"type": "text", "text": "a", "cache_control": hour}, {"type": "text", "text": "b"}]
    wire = {"role": "user", "content": content}
    assert codec("anthropic_messages").encode_request(read("anthropic_messages", wire))["messages"] == [wire]


def test_message_threads_are_refused_so_that_clients_continue() -> None:
    with pytest.raises(Unsupported) as raised:
        read("anthropic_messages", {"role": "user", "content": "hi"}, thread={"type": "create"})
    status, body = codec("anthropic_messages").encode_error(raised.value)
    assert status == 400
    assert body["type"] == "error"
    assert body["error"]["type"] == "invalid_request_error"
    assert body["error"]["details"] == {
        "error_code": "thread_unsupported_request",
        "unsupported": ["message_threads"],
    }


def test_results_with_blocks_only_anthropic_has_come_back() -> None:
    block = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "tool_reference", "tool_name": "f"}]}
    wire = {"role": "user", "content": [block]}
    assert codec("anthropic_messages").encode_request(read("anthropic_messages", wire))["messages"] == [wire]


def test_fields_nobody_models_come_back_on_every_level() -> None:
    body = {
        "model": "m",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "a", "x": 1}], "name": "bob", "y": {"z": []}},
            {"role": "assistant", "content": "b", "tool_calls": [
                {"id": "c", "type": "function", "extra_content": {"g": 1},
                 "function": {"name": "f", "arguments": "{}", "u": 1}}
            ]},
            {"role": "tool", "tool_call_id": "c", "content": "ok", "name": "f"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}, "k": 1}, "v": 2}],
        "store": True,
        "client_metadata": {"a": 1},
    }  # fmt: skip
    assert codec("openai_chat").encode_request(codec("openai_chat").decode_request(body)) == body


@pytest.mark.parametrize(
    ("api", "wanted", "meant"),
    [
        ("openai_chat", {"type": "auto"}, ToolChoice("auto")),
        ("openai_chat", {"type": "any"}, ToolChoice("required")),
        ("openai_chat", {"type": "none"}, ToolChoice("none")),
        ("openai_chat", {"type": "custom", "custom": {"name": "grep"}}, ToolChoice("named", "grep")),
        ("openai_responses", {"type": "custom", "name": "grep"}, ToolChoice("named", "grep")),
        ("openai_responses", {"type": "web_search"}, ToolChoice("auto")),
    ],
)
def test_foreign_spellings_of_choices_are_read_and_come_back(api: str, wanted: Any, meant: ToolChoice) -> None:
    turn: dict[str, Any] = {"messages": []} if api == "openai_chat" else {"input": []}
    request = codec(api).decode_request({"model": "m", **turn, "tool_choice": wanted})
    assert request.tool_choice == meant
    assert codec(api).encode_request(request)["tool_choice"] == wanted


def test_sealed_reasoning_comes_back_as_the_same() -> None:
    """Microsoft's Agent Framework 1.23 goes no further without it."""
    responses = codec("openai_responses")
    body = {"model": "m", "input": "go", "store": False, "include": ["reasoning.encrypted_content"]}
    answer = Response(message=Message("assistant", [Reasoning("hm"), ToolCall(id="c", name="look")]))
    for request, sealed in ((responses.decode_request(body), True), (None, False)):
        whole = responses.encode_response(answer, request=request)["output"]
        encoder = responses.encode_stream(request=request)
        frames = [frame for event in replay(answer) for frame in encoder.feed(event)]
        for output in (whole, json.loads(frames[-1].data)["response"]["output"]):
            assert [bool(item.get("encrypted_content")) for item in output] == [sealed, False]
            back = responses.decode_request({"model": "m", "input": output}).messages[0]
            assert back.reasoning == "hm"
            assert "encrypted_content" not in repr(back)
