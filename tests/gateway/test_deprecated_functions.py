"""Clients of before `tools`: they declare `functions`, and read one `function_call`, whole and streamed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.asgi import call
from tests.support.gateways import FENCE, SCHEMA, USER, app, every_back, streamed_and_whole
from tests.support.upstreams import ScriptedReply, model, sent, text_reply

PATH = "/v1/chat/completions"
FUNCTION = {"name": "look", "description": "Look.", "parameters": SCHEMA}
BODY: dict[str, Any] = {"model": "m", "messages": [USER], "functions": [FUNCTION]}
CALLED = {"name": "look", "arguments": {"at": "sky"}}
ONE = (("a1", "look", {"at": "sky"}),)
TWO = (*ONE, ("a2", "look", {"at": "sea"}))


def _asked(gateway: Any, *, stream: bool, **more: Any) -> tuple[dict[str, Any], str]:
    """The message as such a client puts it together, and why it stopped; it knows no other field."""
    reply = call(gateway, PATH, {**BODY, "stream": stream, **more})
    assert reply.status == 200, reply.body
    if not stream:
        [choice] = reply.json["choices"]
        return choice["message"], choice["finish_reason"]
    message: dict[str, Any] = {"function_call": {"name": "", "arguments": ""}}
    finish = ""
    for line in reply.body.decode().splitlines():
        if not line.startswith("data: {"):
            continue
        for choice in json.loads(line[6:])["choices"]:
            assert "tool_calls" not in choice["delta"]
            for key, piece in choice["delta"].get("function_call", {}).items():
                message["function_call"][key] += piece
            message["content"] = (message.get("content") or "") + (choice["delta"].get("content") or "")
            finish = choice["finish_reason"] or finish
    return message, finish


def _made(message: dict[str, Any]) -> Any:
    assert "tool_calls" not in message
    made = message["function_call"]
    return {**made, "arguments": json.loads(made["arguments"])}


@every_back
@streamed_and_whole
@pytest.mark.parametrize("calls", [ONE, TWO], ids=["one call", "two, of which one is taken"])
def test_a_native_call_comes_back_as_function_call(back: str, stream: bool, calls: Any) -> None:
    message, finish = _asked(app(model(back, ScriptedReply((), calls)), back), stream=stream)
    assert (_made(message), finish) == (CALLED, "function_call")


@streamed_and_whole
@pytest.mark.parametrize("pieces", [False, True], ids=["as one", "in pieces"])
def test_a_call_in_text_comes_back_as_function_call(stream: bool, pieces: bool) -> None:
    gateway = app(model("openai_chat", text_reply(f"Well.\n{FENCE}")), config={"stream_arguments": pieces})
    message, finish = _asked(gateway, stream=stream)
    assert (_made(message), finish) == (CALLED, "function_call")
    assert message["content"].strip() == "Well."


@streamed_and_whole
def test_an_answer_without_a_call_stops_as_any_other(stream: bool) -> None:
    message, finish = _asked(app(model("openai_chat", text_reply("Hello."))), stream=stream)
    assert (message["content"], finish) == ("Hello.", "stop")


@streamed_and_whole
def test_a_client_that_declares_tools_gets_no_function_call(stream: bool) -> None:
    gateway = app(model("openai_chat", ScriptedReply((), ONE)))
    reply = call(gateway, PATH, {"model": "m", "messages": [USER], "stream": stream, "tools": [{"type": "function", "function": FUNCTION}]})
    assert "function_call" not in reply.body.decode()
    assert "tool_calls" in reply.body.decode()


@every_back
def test_the_history_of_such_a_client_is_read(back: str) -> None:
    history = [
        USER,
        {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": '{"at": "sky"}'}},
        {"role": "function", "name": "look", "content": "It is blue."},
        {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": '{"at": "sea"}'}},
        {"role": "function", "name": "look", "content": "It is grey."},
    ]
    memory = model(back, text_reply("Blue and grey."))
    message, finish = _asked(app(memory, back), stream=False, messages=history)
    assert (message["content"], finish) == ("Blue and grey.", "stop")
    if back == "openai_chat":
        _, first, blue, second, grey = sent(memory)["messages"]
        ids = [one["tool_calls"][0]["id"] for one in (first, second)]
        assert [(one["role"], one["tool_call_id"], one["content"]) for one in (blue, grey)] == [
            ("tool", ids[0], "It is blue."), ("tool", ids[1], "It is grey.")
        ]  # fmt: skip
        assert ids[0] != ids[1]
    written = json.dumps(sent(memory))
    assert written.index("sky") < written.index("blue") < written.index("sea") < written.index("grey")


def test_a_function_that_is_demanded_is_demanded_of_the_model() -> None:
    memory = model("openai_chat", ScriptedReply((), ONE))
    _asked(app(memory), stream=False, function_call={"name": "look"})
    assert sent(memory)["tool_choice"] == {"type": "function", "function": {"name": "look"}}
    assert sent(memory)["parallel_tool_calls"] is False
