"""What OpenAI Responses has and other wires have not: items, namespaces, free-form tools, encrypted reasoning."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.codecs.shared.spec import Quirks, Stamp, Unsupported, wire_fields
from dragoman.events import assemble, replay
from dragoman.types import Message, Reasoning, Request, Response, Stop, Text, Tool, ToolCall, ToolResult
from tests.support.recordings import codec, decoded, folded, streamed, written

API = codec("openai_responses")
FUNCTION = {"type": "function", "name": "write_file", "parameters": {"type": "object"}, "strict": False}
NAMESPACE = {"type": "namespace", "name": "mcp__fs", "tools": [FUNCTION]}
PATCH = {"type": "custom", "name": "apply_patch", "description": "Patch.", "format": {
    "type": "grammar", "syntax": "lark", "definition": "start: x"}}  # fmt: skip


def read(*items: Any, **fields: Any) -> Request:
    return API.decode_request({"model": "m", "input": list(items), **fields})


def answer(call: ToolCall) -> Response:
    return Response(message=Message("assistant", [call]), stop=Stop.TOOL_CALLS, id="resp_1")


def items_of(response: Response, request: Request) -> tuple[list[Any], list[Any]]:
    """The output items of an answer, whole and as the last event of a stream tells them."""
    encoder = API.encode_stream(Stamp(), request)
    frames = [*(frame for event in replay(response) for frame in encoder.feed(event)), *encoder.close()]
    last = json.loads(frames[-1].data)["response"]["output"]
    return API.encode_response(response, Stamp(), request)["output"], last


def test_namespaced_tools_join_their_names_and_come_back_apart() -> None:
    request = read(tools=[NAMESPACE])
    assert [tool.name for tool in request.tools] == ["mcp__fs__write_file"]
    sent = codec("openai_chat").encode_request(request)["tools"]
    assert [tool["function"]["name"] for tool in sent] == ["mcp__fs__write_file"]
    call = ToolCall(id="c", name="mcp__fs__write_file")
    for output in items_of(answer(call), request):
        assert (output[0]["namespace"], output[0]["name"]) == ("mcp__fs", "write_file")


def test_namespaces_go_back_to_their_own_wire_as_they_came() -> None:
    assert API.encode_request(read(tools=[NAMESPACE, FUNCTION]))["tools"] == [NAMESPACE, FUNCTION]


def test_past_namespaced_calls_are_named_as_their_tools() -> None:
    item = {"type": "function_call", "call_id": "c", "namespace": "mcp__fs", "name": "write_file", "arguments": "{}"}
    request = read(item, tools=[NAMESPACE])
    assert request.messages[0].calls[0].name == "mcp__fs__write_file"
    assert API.encode_request(request)["input"] == [item]


def test_free_form_tools_are_functions_of_one_text_elsewhere() -> None:
    request = read(tools=[PATCH])
    (tool,) = codec("anthropic_messages").encode_request(request)["tools"]
    assert tool["input_schema"]["required"] == ["input"]
    assert "lark grammar" in tool["description"]
    assert API.encode_request(request)["tools"] == [PATCH]
    call = ToolCall(id="c", name="apply_patch", arguments={"input": "*** Begin"})
    for output in items_of(answer(call), request):
        assert output[0]["type"] == "custom_tool_call"
        assert output[0]["input"] == "*** Begin"
        assert "arguments" not in output[0]


def test_past_free_form_calls_are_answered_in_kind() -> None:
    items = [
        {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "ok"},
    ]
    assert API.encode_request(read(*items, tools=[PATCH]))["input"] == items
    assert API.encode_request(read(*items))["input"] == items


def test_the_stream_of_a_free_form_call_tells_its_input() -> None:
    call = ToolCall(id="c", name="apply_patch", arguments={"input": "*** Begin"})
    encoder = API.encode_stream(Stamp(), read(tools=[PATCH]), whole_calls=False)
    frames = [*(frame for event in replay(answer(call)) for frame in encoder.feed(event)), *encoder.close()]
    assert [f.event for f in frames if "custom" in f.event or "function" in f.event] == [
        "response.custom_tool_call_input.delta",
        "response.custom_tool_call_input.done",
    ]
    assert folded(API, frames).calls[0].arguments == call.arguments


@pytest.mark.parametrize("key", ["previous_response_id", "conversation", "background"])
def test_what_a_server_keeps_is_refused_with_a_reason(key: str) -> None:
    with pytest.raises(Unsupported, match="in the background" if key == "background" else "not stored") as raised:
        read(**{key: "resp_1"})
    status, body = API.encode_error(raised.value)
    assert status == 400
    assert body["error"]["code"] == "unsupported_parameter"
    assert body["error"]["param"] == f"$.{key}"


def test_first_instructions_stand_beside_the_input_later_inside() -> None:
    request = Request(model="m", messages=(Message("system", "a"), Message("user", "hi"), Message("system", "b")))
    body = API.encode_request(request, Quirks(system_role="developer"))
    assert body["instructions"] == "a"
    assert [(item["role"], item["content"]) for item in body["input"]] == [("user", "hi"), ("developer", "b")]


def test_items_of_a_turn_come_back_in_order() -> None:
    items = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "message", "role": "assistant", "id": "msg_1", "phase": "commentary", "content": [
            {"type": "output_text", "text": "Let me look."}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
    ]  # fmt: skip
    request = read(*items)
    assert [message.role for message in request.messages] == ["assistant", "tool"]
    assert API.encode_request(request)["input"] == items


def test_results_are_text_or_parts_and_failures_are_marked() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
    items = [
        {"type": "function_call_output", "call_id": "a", "output": "[ERROR:ENOENT] no file"},
        {"type": "function_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "see"}, image]},
    ]
    request = read(*items)
    first, second = request.messages[0].results
    assert first == ToolResult(call_id="a", content="no file", is_error=True, error_code="ENOENT")
    assert second.content[1].mime == "image/png"  # type: ignore[union-attr]
    assert API.encode_request(request)["input"] == items


def test_encrypted_reasoning_returns_under_its_own_id() -> None:
    summary = [{"type": "summary_text", "text": "hm"}]
    item = {"type": "reasoning", "id": "rs_true", "summary": summary, "encrypted_content": "gAAA"}
    body = {"id": "resp_1", "status": "completed", "output": [item]}
    frames = streamed(API, replay(API.decode_response(body)))
    events = [json.loads(frame.data) for frame in frames]
    ids = {one["item"]["id"] for one in events if "item" in one} | {
        one["item_id"] for one in events if "item_id" in one
    }
    assert len(ids) == 1  # clients demand one id from the first event to the last
    assert assemble(decoded(API, [written(API, frames)])[0]).message == API.decode_response(body).message
    lent = events[-1]["response"]["output"][0]
    assert API.encode_request(read(lent))["input"] == [item]


def test_foreign_reasoning_is_sent_only_where_it_is_taken() -> None:
    request = Request(model="m", messages=(Message("assistant", [Reasoning("hm"), Text("ok")]),))
    assert [item["type"] for item in API.encode_request(request)["input"]] == ["message"]
    both = API.encode_request(request, Quirks(unsigned_reasoning="send"))["input"]
    assert [item["type"] for item in both] == ["reasoning", "message"]


def test_strictness_is_said_for_the_api_would_assume_it() -> None:
    body = API.encode_request(Request(model="m", tools=(Tool(name="f"),)))
    assert body["tools"][0]["strict"] is False
    silent = {"type": "function", "name": "f", "parameters": {"type": "object"}}
    assert API.encode_request(read(tools=[silent]))["tools"] == [silent]


def test_a_cut_answer_is_incomplete() -> None:
    response = Response(message=Message("assistant", "half"), stop=Stop.LENGTH)
    body = API.encode_response(response)
    assert (body["status"], body["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    assert streamed(API, replay(response))[-1].event == "response.incomplete"


def test_events_are_numbered_and_items_announced_filled_ended() -> None:
    response = Response(
        message=Message("assistant", [Reasoning("hm"), Text("a"), ToolCall(id="c", name="f"), Text("b")])
    )
    events = [json.loads(frame.data) for frame in streamed(API, replay(response))]
    assert [one["sequence_number"] for one in events] == list(range(len(events)))
    assert [one["type"] for one in events[:2]] == ["response.created", "response.in_progress"]
    for index in range(4):
        kinds = [one["type"] for one in events if one.get("output_index") == index]
        assert kinds[0] == "response.output_item.added"
        assert kinds[-1] == "response.output_item.done"
    assert [item["type"] for item in events[-1]["response"]["output"]] == [
        "reasoning",
        "message",
        "function_call",
        "message",
    ]


def test_what_the_request_asked_for_is_repeated_in_the_answer() -> None:
    request = read(tools=[FUNCTION], instructions="be brief", max_output_tokens=5)
    body = API.encode_response(Response(), Stamp(id="resp_9", created=7, model="x"), request)
    assert (body["id"], body["created_at"], body["model"]) == ("resp_9", 7, "x")
    assert (body["tools"], body["instructions"], body["max_output_tokens"]) == ([FUNCTION], "be brief", 5)


def test_fields_of_several_words_are_repeated_with_the_words_that_were_not_said() -> None:
    form = {"type": "json_schema", "name": "a", "schema": {"type": "object"}, "strict": True}
    request = read(text={"format": form}, reasoning={"effort": "high"}, top_logprobs=3, max_tool_calls=2)
    body = API.encode_response(Response(), Stamp(id="resp_9", created=7, model="x"), request)
    assert body["text"] == {"format": form}
    assert body["reasoning"] == {"effort": "high", "summary": None}
    assert (body["top_logprobs"], body["max_tool_calls"]) == (3, 2)
    plain = API.encode_response(Response(), Stamp(id="resp_9", created=7, model="x"), read(text={"verbosity": "low"}))
    assert plain["text"] == {"format": {"type": "text"}, "verbosity": "low"}


def test_what_a_text_rests_on_is_told_in_the_order_of_its_numbers() -> None:
    notes = [{"type": "url_citation", "url": "https://a.example", "title": "a", "start_index": 0, "end_index": 1}] * 2
    text = Text("It rains.", metadata=wire_fields("openai_responses", {"annotations": notes}))
    encoder = API.encode_stream(Stamp(), read())
    said = Response(message=Message("assistant", [text]), stop=Stop.END, id="resp_1")
    frames = [*(frame for event in replay(said) for frame in encoder.feed(event)), *encoder.close()]
    told = [json.loads(frame.data) for frame in frames]
    assert [one["sequence_number"] for one in told] == [*range(len(told))]
    assert [one["type"] for one in told].count("response.output_text.annotation.added") == 2
