"""Tools with dots in their names, as MCP servers have them, in every notation on every wire, by both their spellings."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from dragoman.dialects.judge.declared import declared
from dragoman.gateway import GatewayConfig, create_app
from dragoman.providers.route import Route
from dragoman.providers.rows import PROVIDERS, Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.types import Tool
from tests.support.asgi import call
from tests.support.upstreams import model, text_reply

OWN, WIRE = "kom.memory.search", "kom_memory_search"
ARGUMENTS = {"query": "x"}
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
SEARCH = {"type": "function", "function": {"name": OWN, "description": "Search.", "parameters": SCHEMA}}


def obj(name: str, names: str = "name", arguments: str = "arguments") -> str:
    return json.dumps({names: name, arguments: ARGUMENTS})


NOTATIONS: dict[str, Callable[[str], str]] = {
    "fence": lambda name: f"~~~tool_call\n{obj(name)}\n~~~",
    "hermes": lambda name: f"<tool_call>\n{obj(name)}\n</tool_call>",
    "bare": obj,
    "action": lambda name: json.dumps({"thought": "t", "action": {"tool": name, "args": ARGUMENTS}}),
    "at": lambda name: f"@tool {name} {json.dumps(ARGUMENTS)}",
    "pythonic": lambda name: f'[{name}(query="x")]',
    "elements": lambda name: f'<function_calls>\n<invoke name="{name}">\n<parameter name="query">x</parameter>\n'
    "</invoke>\n</function_calls>",
}


def gemini_says(text: str) -> ScriptedPeer:
    content = {"role": "model", "parts": [{"text": text}]}
    body = json.dumps({"candidates": [{"content": content, "finishReason": "STOP"}]}).encode()
    return ScriptedPeer([Answer((body,), headers={"content-type": "application/json"})])


def responses_says(text: str) -> ScriptedPeer:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    body = {"id": "r", "object": "response", "model": "up", "status": "completed", "output": [item]}
    return ScriptedPeer([Answer((json.dumps(body).encode(),), headers={"content-type": "application/json"})])


PLACES: dict[str, tuple[str, Tools, Callable[[str], ScriptedPeer]]] = {
    "openai": ("openai", Tools.NATIVE, lambda text: model("openai_chat", text_reply(text))),
    "openai-responses": ("openai-responses", Tools.NATIVE, responses_says),
    "anthropic": ("anthropic", Tools.NATIVE, lambda text: model("anthropic_messages", text_reply(text))),
    "gemini": ("gemini", Tools.NATIVE, gemini_says),
    "vllm": ("vllm", Tools.NATIVE, lambda text: model("openai_chat", text_reply(text))),
    "text": ("openai", Tools.TEXT, lambda text: model("openai_chat", text_reply(text))),
}


@pytest.mark.parametrize("written", [OWN, WIRE])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("notation", NOTATIONS)
def test_dotted_name_is_found_in_both_spellings(notation: str, place: str, written: str) -> None:
    row, tools, says = PLACES[place]
    route = Route(provider=PROVIDERS[row], base_url="http://model.test", key="k", tools=tools)
    gateway = create_app(GatewayConfig(default=route), says(NOTATIONS[notation](written)))
    body = {"model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": [SEARCH]}
    made = call(gateway, "/v1/chat/completions", body).json["choices"][0]["message"]["tool_calls"]
    assert [(one["function"]["name"], json.loads(one["function"]["arguments"])) for one in made] == [(OWN, ARGUMENTS)]


def test_spelling_that_two_tools_share_is_neither() -> None:
    tools = declared([Tool(name="a.b"), Tool(name="a/b"), Tool(name="c.d"), Tool(name="c_d")])
    assert tools is not None
    assert [tools.exact(name) for name in ("a_b", "a.b", "c_d", "c.d")] == ["", "a.b", "c_d", "c.d"]
