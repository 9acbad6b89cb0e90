"""What can be known wrong from a request alone is refused in its API's own shape, and no model is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.asgi import Reply, call
from tests.support.gateways import ASKS, PATHS, app
from tests.support.upstreams import ScriptedReply, model, sent, text_reply

CHOOSING = ("openai_chat", "openai_responses", "anthropic_messages", "gemini")
NAMED: dict[str, Any] = {
    "openai_chat": {"tool_choice": {"type": "function", "function": {"name": "nope"}}},
    "openai_responses": {"tool_choice": {"type": "function", "name": "nope"}},
    "anthropic_messages": {"tool_choice": {"type": "tool", "name": "nope"}},
    "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["nope"]}}},
}
ALLOWED: dict[str, Any] = {
    "openai_chat": {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [
        {"type": "function", "function": {"name": "look"}}, {"type": "function", "function": {"name": "nope"}}]}}},
    "openai_responses": {"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "nope"}]}},
    "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["look", "nope"]}}},
}  # fmt: skip
REQUIRED: dict[str, Any] = {
    "openai_chat": {"tool_choice": "required"},
    "openai_responses": {"tool_choice": "required"},
    "anthropic_messages": {"tool_choice": {"type": "any"}},
    "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
}
ALWAYS: dict[str, Any] = {
    "openai_chat": {"tool_choice": "always"},
    "openai_responses": {"tool_choice": "always"},
    "anthropic_messages": {"tool_choice": {"type": "always"}},
    "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "always"}}},
}
BELOW: dict[str, Any] = {
    "openai_chat": {"max_tokens": -5},
    "openai_responses": {"max_output_tokens": -5},
    "anthropic_messages": {"max_tokens": -5},
    "gemini": {"generationConfig": {"maxOutputTokens": -5}},
}
NOTHING: dict[str, Any] = {
    "openai_chat": {"messages": []},
    "openai_responses": {"input": []},
    "anthropic_messages": {"messages": [], "system": "Be brief."},
    "gemini": {"contents": [], "systemInstruction": {"parts": [{"text": "Be brief."}]}},
}
MISSING: dict[str, Any] = {
    "openai_chat": {"messages": None}, "openai_responses": {"input": None}, "anthropic_messages": {"messages": None}, "gemini": {"contents": None},
}  # fmt: skip
FAULTS = {
    "a tool that is not declared": (NAMED, "names 'nope', which is not among the tools; declare it, or choose one of: look"),
    "among allowed ones": (ALLOWED, "names 'nope', which is not among the tools"),
    "a word the API has not": (ALWAYS, "is no word of this API; give one of: "),
    "a limit below nothing": (BELOW, "the limit is -5; give 1 or more"),
    "no messages": (NOTHING, "empty; send"),
    "messages left out": (MISSING, "missing"),
}


def _asked(front: str, more: dict[str, Any], *, tools: bool = True, **to: Any) -> tuple[Reply, int]:
    memory = model("openai_chat", text_reply("Hello."))
    body = {**ASKS[front], **more}
    body = {name: value for name, value in body.items() if value is not None and (tools or name != "tools")}
    return call(app(memory, **to), PATHS[front], {k: v for k, v in body.items() if k != "stream_options"}), len(memory.sent)


def _message(front: str, reply: Reply) -> str:
    """What is said in the place where the API says it."""
    error = reply.json["error"]
    shapes = {"anthropic_messages": {"type", "message"}, "gemini": {"code", "message", "status"}}
    assert set(error) == shapes.get(front, {"message", "type", "param", "code"})
    return str(error["message"])


@pytest.mark.parametrize("front", CHOOSING)
@pytest.mark.parametrize("fault", FAULTS)
def test_what_nobody_can_do_is_refused_before_anybody_is_asked(front: str, fault: str) -> None:
    requests, words = FAULTS[fault]
    if front not in requests:
        pytest.skip("this API has no words for it")
    reply, asked = _asked(front, requests[front])
    assert (reply.status, asked) == (400, 0), reply.body
    assert words in _message(front, reply)


@pytest.mark.parametrize("front", CHOOSING)
def test_a_call_is_not_demanded_of_whom_nobody_gave_a_tool(front: str) -> None:
    for choice in (REQUIRED, NAMED):
        reply, asked = _asked(front, choice[front], tools=False)
        assert (reply.status, asked) == (400, 0), reply.body
        assert "send tools, or leave the choice out" in _message(front, reply)


SEVERAL: dict[str, Callable[[Any], dict[str, Any]]] = {
    "openai_chat": lambda n: {"n": n}, "gemini": lambda n: {"generationConfig": {"candidateCount": n}},
}  # fmt: skip


@pytest.mark.parametrize("front", SEVERAL)
@pytest.mark.parametrize("number", [0, -1, "two", 1.5, True])
def test_a_number_of_answers_that_is_none_is_refused(front: str, number: Any) -> None:
    reply, asked = _asked(front, SEVERAL[front](number))
    assert (reply.status, asked) == (400, 0), reply.body
    assert "give a whole number of 1 or more" in _message(front, reply)


@pytest.mark.parametrize("front", SEVERAL)
def test_fewer_answers_than_were_asked_for_are_told_in_the_header(front: str) -> None:
    reply, asked = _asked(front, SEVERAL[front](2))
    assert (reply.status, asked) == (200, 1)
    field = {"openai_chat": "n", "gemini": "generationConfig.candidateCount"}[front]
    assert reply.headers["x-dragoman-unsupported-params"] == field


TAKEN: dict[str, tuple[str, dict[str, Any]]] = {
    "a choice that demands nothing, without tools": ("openai_chat", {"tool_choice": "auto", "tools": None}),
    "none, without tools": ("openai_chat", {"tool_choice": "none", "tools": None}),
    "a word in capitals": ("openai_chat", {"tool_choice": "AUTO"}),
    "no limit as llama.cpp says it": ("openai_chat", {"max_tokens": -1}),
    "a limit of nothing": ("openai_chat", {"max_tokens": 0}),
    "no limit as Ollama says it": ("ollama_chat", {"options": {"num_predict": -2}}),
    "a role nobody knows": ("openai_chat", {"messages": [{"role": "usr", "content": "Hello?"}]}),
    "a mode of Gemini's own": ("gemini", {"toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}}}),
    "no limit to the choice": ("gemini", {"toolConfig": {"functionCallingConfig": {"mode": "MODE_UNSPECIFIED"}}}),
}


@pytest.mark.parametrize("what", TAKEN)
def test_what_clients_in_use_send_is_taken(what: str) -> None:
    front, more = TAKEN[what]
    reply, asked = _asked(front, more)
    assert (reply.status, asked) == (200, 1), reply.body


def test_messages_are_not_missed_where_a_model_is_only_loaded() -> None:
    reply, asked = _asked("ollama_chat", {"messages": []})
    assert (reply.status, asked) == (200, 0)


def test_a_limit_that_is_none_is_not_sent_where_it_would_be_refused() -> None:
    for front, more in (("openai_chat", {"max_tokens": -1}), ("ollama_chat", {"options": {"num_predict": -1}})):
        memory = model("openai_chat", text_reply("Hello."))
        reply = call(app(memory), PATHS[front], {**ASKS[front], **more, "stream": False})
        assert "x-dragoman-unsupported-params" not in reply.headers
        assert not {"max_tokens", "max_completion_tokens"} & set(sent(memory))


def test_a_tool_of_the_server_may_be_named() -> None:
    served = {"type": "web_search_20250305", "name": "web_search"}
    memory = model("anthropic_messages", text_reply("Hello."))
    body = {**ASKS["anthropic_messages"], "tools": [served], "tool_choice": {"type": "tool", "name": "web_search"}}
    reply = call(app(memory, "anthropic_messages"), PATHS["anthropic_messages"], body)
    assert (reply.status, len(memory.sent)) == (200, 1), reply.body


def test_a_tool_that_only_the_route_knows_may_be_demanded() -> None:
    tool = {"type": "function", "function": {"name": "nope", "parameters": {"type": "object"}}}
    memory = model("openai_chat", ScriptedReply((), (("a", "nope", {}),)))
    body = {**NAMED["openai_chat"], "model": "m", "messages": [{"role": "user", "content": "Hello?"}]}
    reply = call(app(memory, fields={"tools": [tool]}), PATHS["openai_chat"], body)
    assert (reply.status, len(memory.sent)) == (200, 1), reply.body
