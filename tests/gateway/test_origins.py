"""Web pages: those of this machine may use the gateway, others only where somebody said so."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

import pytest

from dragoman.gateway import Access, GatewayConfig, create_app
from dragoman.gateway.config.load import read
from dragoman.gateway.http.origins import is_local
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import ScriptedPeer
from tests.support.asgi import Client, Reply
from tests.support.upstreams import model, text_reply

HERE = ["http://localhost:3000", "http://127.0.0.1:8080", "http://app.localhost", "http://[::1]:5173", "app://obsidian.md",
        "vscode-webview://1a2b", "http://0.0.0.0:3000", "tauri://localhost"]  # fmt: skip
AWAY = ["https://evil.test", "http://localhost.evil.test", "http://127.0.0.1.evil.test", "http://192.168.1.7", "null", "",
        "http://[", "https://evil.test/http://localhost"]  # fmt: skip
KEY = "sk-a-page"
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Hello?"}]}


def gateway(**more: Any) -> tuple[Any, ScriptedPeer]:
    peer = model("openai_chat", text_reply("Hello."))
    route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    return create_app(GatewayConfig(default=route, **more), peer), peer


def ask(origin: str | None, app: Any, **headers: str) -> Reply:
    sent = {**headers, **({} if origin is None else {"origin": origin})}
    return asyncio.run(Client(app, "/v1/chat/completions", ASKED, headers={"host": "127.0.0.1:4242", **sent}).run())


@pytest.mark.parametrize("origin", HERE)
def test_a_page_of_this_machine_is_local(origin: str) -> None:
    assert is_local(origin)


@pytest.mark.parametrize("origin", AWAY)
def test_a_page_of_anywhere_else_is_not(origin: str) -> None:
    assert not is_local(origin)


def test_a_page_from_elsewhere_is_refused_before_anything_is_done() -> None:
    app, peer = gateway()
    reply = ask("https://evil.test", app, **{"content-type": "text/plain"})
    assert (reply.status, peer.sent) == (403, [])
    assert "cors_origins" in reply.json["error"]["message"]
    assert "access-control-allow-origin" not in reply.headers


def test_a_program_without_an_origin_gets_its_answer() -> None:
    app, _ = gateway()
    reply = ask(None, app)
    assert reply.status == 200
    assert not [name for name in reply.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    ("origin", "more"),
    [
        ("http://localhost:3000", {}),
        ("https://chat.example.com", {"cors_origins": ("https://chat.example.com",)}),
        ("https://a.example.com", {"cors_origins": ("https://*.example.com",)}),
        ("https://anywhere.test", {"cors_origins": ("*",)}),
    ],
    ids=["local", "listed", "pattern", "all"],
)
def test_an_allowed_page_can_read_answer_and_headers(origin: str, more: dict[str, Any]) -> None:
    app, _ = gateway(**more)
    reply = ask(origin, app)
    assert (reply.status, reply.headers["access-control-allow-origin"]) == (200, origin)
    assert reply.headers["access-control-expose-headers"] == "*"
    assert "Origin" in reply.headers["vary"]


def test_the_own_page_is_allowed_by_address_not_by_name() -> None:
    app, _ = gateway()
    assert (ask("http://192.168.1.7:4242", app, host="192.168.1.7:4242")).status == 200
    assert (ask("http://evil.test:4242", app, host="evil.test:4242")).status == 403


def test_any_page_may_ask_where_a_key_is_needed() -> None:
    access = (Access(name="page", sha256=hashlib.sha256(KEY.encode()).hexdigest()),)
    app, _ = gateway(access=access)
    assert (ask("https://chat.test", app)).status == 401
    assert (ask("https://chat.test", app, authorization=f"Bearer {KEY}")).status == 200


def test_a_preflight_is_answered_with_what_may_be_sent() -> None:
    app, peer = gateway()
    headers = {
        "origin": "http://localhost:3000",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,x-stainless-os",
        "access-control-request-private-network": "true",
    }
    reply = asyncio.run(Client(app, "/v1/chat/completions", method="OPTIONS", headers=headers).run())
    assert (reply.status, peer.sent) == (200, [])
    assert reply.headers["access-control-allow-headers"] == "authorization,x-stainless-os"
    assert "POST" in reply.headers["access-control-allow-methods"]
    refused = asyncio.run(
        Client(app, "/v1/messages", method="OPTIONS", headers={**headers, "origin": "https://evil.test"}).run()
    )
    assert refused.status == 403


def test_origins_are_set_by_file_and_by_environment() -> None:
    written = {"server": {"cors_origins": ["https://a.test"]}, "default": {"route": "ollama"}}
    assert read(written, {}).config.cors_origins == ("https://a.test",)
    settings = read(written, {"DRAGOMAN_CORS_ORIGINS": "https://b.test, https://c.test"})
    assert settings.config.cors_origins == ("https://b.test", "https://c.test")


def test_an_origin_that_is_none_is_refused_with_an_example() -> None:
    with pytest.raises(Exception, match="write one like https"):
        read({"server": {"cors_origins": ["chat.example.com/path"]}, "default": {"route": "ollama"}}, {})
