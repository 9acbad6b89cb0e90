"""Tools that a server runs: asked of backends that have them, else run by an MCP server, else told or refused."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from dragoman.errors import UsageError
from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.config.load import read
from dragoman.gateway.config.model import Attachment, Mcp
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS, Tools
from dragoman.sim import serving
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support import mcp_lab as lab
from tests.support.asgi import Client, Reply, call
from tests.support.clocks import LONG
from tests.support.mcp_gateways import alive
from tests.support.upstreams import ScriptedReply, model, sent, text_reply

SEARCH = {"type": "web_search_20250305", "name": "web_search", "allowed_domains": ["a.org"], "max_uses": 3}
EXECUTION = {"type": "code_execution_20250825", "name": "code_execution"}
LOOK = {"name": "look", "input_schema": {"type": "object", "properties": {}}}
RESPONSE = {"id": "r", "object": "response", "model": "up", "status": "completed", "output": []}
DEMAND = {"type": "tool", "name": "web_search"}


def answers(body: Any) -> ScriptedPeer:
    return ScriptedPeer([Answer((json.dumps(body).encode(),), headers={"content-type": "application/json"})])


def ask(peer: ScriptedPeer, provider: str, tools: list[Any], **more: Any) -> Reply:
    row = PROVIDERS.get(provider) or COMPATIBLE[provider]
    mode = more.pop("mode", Tools.NATIVE)
    route = Route(provider=row, base_url="http://model.test", key="k", tools=mode)
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Go."}], "tools": tools, **more}
    return call(create_app(GatewayConfig(default=route), peer), "/v1/messages", body)


def test_search_is_asked_of_openai_in_its_words() -> None:
    said = {"type": "message", "id": "m1", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}
    peer = answers({**RESPONSE, "output": [said]})
    reply = ask(peer, "openai-responses", [SEARCH, EXECUTION])
    assert sent(peer)["tools"] == [
        {"type": "web_search", "filters": {"allowed_domains": ["a.org"]}},
        {"type": "code_interpreter", "container": {"type": "auto"}},
    ]
    assert reply.headers["x-dragoman-unsupported-params"] == "tools.web_search.max_uses"


def test_search_is_asked_of_gemini_where_no_functions_are() -> None:
    said = {"candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}, "finishReason": "STOP"}]}
    alone, beside = answers(said), answers(said)
    ask(alone, "gemini", [{"type": "web_search_20250305", "name": "web_search"}])
    assert sent(alone)["tools"] == [{"googleSearch": {}}]
    reply = ask(beside, "gemini", [SEARCH, LOOK])
    assert [list(one) for one in sent(beside)["tools"]] == [["functionDeclarations"]]
    assert reply.headers["x-dragoman-unsupported-params"] == "tools"


@pytest.mark.parametrize("choice", [DEMAND, {"type": "any"}], ids=["named", "any"])
def test_demand_that_nobody_meets_is_refused_in_words(choice: dict[str, Any]) -> None:
    peer = model("openai_chat", text_reply("hi"))
    reply = ask(peer, "openai_chat", [SEARCH], mode=Tools.TEXT, tool_choice=choice)
    assert (reply.status, peer.sent) == (400, [])
    assert "[server_tools] web_search" in reply.json["error"]["message"]


def test_demand_passes_to_the_api_it_is_of() -> None:
    peer = model("anthropic_messages", text_reply("hi"))
    reply = ask(peer, "anthropic_messages", [SEARCH, LOOK], tool_choice=DEMAND)
    assert (reply.status, len(peer.sent)) == (200, 1)
    assert sent(peer)["tool_choice"] == DEMAND


def test_wish_that_nobody_meets_is_told() -> None:
    reply = ask(model("openai_chat", text_reply("hi")), "openai_chat", [SEARCH, LOOK], mode=Tools.TEXT)
    assert (reply.status, reply.headers["x-dragoman-unsupported-params"]) == (200, "tools")


@pytest.mark.parametrize("choice", [None, DEMAND], ids=["wish", "demand"])
def test_mcp_tool_stands_in_for_a_search(choice: Any) -> None:
    calls = ScriptedReply((), (("s1", "web_search", {"text": "blue"}),))
    peer = model("openai_chat", calls, text_reply("It is blue."))
    route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test", tools=Tools.NATIVE)
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Go."}], "tools": [SEARCH]}

    async def go(url: str) -> Reply:
        stand_in = Attachment(server="lab", tools=("echo",), allow=("echo",))
        servers = {"lab": {"mcpServers": {"lab": {"url": url, "type": "http"}}}}
        mcp = Mcp(servers=servers, stand_ins={"web_search": stand_in}, patience=LONG)
        async with alive(create_app(GatewayConfig(default=route, mcp=mcp), peer)) as app:
            return await Client(app, "/v1/messages", {**body, **({"tool_choice": choice} if choice else {})}).run()

    with serving(lab.app()) as url:
        reply = asyncio.run(go(f"{url}/mcp"))
    assert reply.status == 200, reply.body
    assert [block["text"] for block in reply.json["content"]] == ["It is blue."]
    assert sent(peer)["messages"][-1]["content"] == "blue"
    forced = [body.get("tool_choice", "") for body in (sent(peer, 0), sent(peer, 1))]
    assert forced == ([{"type": "function", "function": {"name": "web_search"}}, ""] if choice else ["", ""])
    assert "x-dragoman-unsupported-params" not in reply.headers


def test_settings_name_the_tools_that_stand_in() -> None:
    rows = {"default": {"route": "ollama"}, "mcpServers": {"srv": {"command": "x"}}}
    config = read({**rows, "server_tools": {"web_search": "srv.kom.search"}}, {}).config
    assert config.mcp.stand_ins == {"web_search": Attachment(server="srv", tools=("kom.search",), allow=("kom.search",))}
    assert set(config.mcp.servers) == {"srv"}
    with pytest.raises(UsageError, match="no MCP server is named 'svr'"):
        read({**rows, "server_tools": {"web_search": "svr.search"}}, {})
