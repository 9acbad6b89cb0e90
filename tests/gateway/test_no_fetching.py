"""Addresses in requests are passed on or refused, and never asked: nobody reaches a network through the gateway."""

from __future__ import annotations

import builtins
import socket
from pathlib import Path
from typing import Any

import pytest

from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.asgi import call
from tests.support.gateways import always, app

ADDRESSES = [
    "http://169.254.169.254/latest/meta-data/iam", "http://metadata.google.internal/computeMetadata/v1/",
    "http://127.0.0.1:6379/", "http://[::1]/", "http://10.0.0.1/a.png", "https://example.com/a.png", "//example.com/a",
    "file:///etc/passwd", "/etc/passwd", "ftp://example.com/a", "gopher://127.0.0.1:25/_x", "data:,x", "http://0/",
    "http://2130706433/", "http://a@b@c/", "unix:///var/run/docker.sock", "http://example.com\\@127.0.0.1/", "",
]  # fmt: skip
BACKS = ["openai_chat", "openai_responses", "anthropic_messages", "gemini", "ollama_chat"]


def asked(address: str) -> dict[str, dict[str, Any]]:
    """Requests that name an address in every way the APIs have."""
    chat = [{"type": "image_url", "image_url": {"url": address}}, {"type": "text", "text": "What is it?"}]
    chat_file = [{"type": "file", "file": {"file_data": address, "filename": "a.pdf"}}]
    parts = [{"type": "input_image", "image_url": address}, {"type": "input_file", "file_url": address}]
    url = {"type": "url", "url": address}
    blocks = [{"type": "image", "source": url}, {"type": "document", "source": url}]
    tool = {"type": "function", "function": {"name": "f", "parameters": {"$ref": address, "$schema": address}}}
    server = {"type": "mcp", "server_label": "x", "server_url": address}
    return {
        "/v1/chat/completions": {"messages": [{"role": "user", "content": chat}], "tools": [tool]},
        "/v1/chat/completions?": {"messages": [{"role": "user", "content": chat_file}]},
        "/v1/responses": {"input": [{"role": "user", "content": parts}], "tools": [server]},
        "/v1/messages": {"max_tokens": 9, "messages": [{"role": "user", "content": blocks}],
                         "mcp_servers": [{"type": "url", "url": address, "name": "x"}]},
        "/v1beta/models/m:generateContent": {"contents": [{"role": "user", "parts": [
            {"fileData": {"fileUri": address, "mimeType": "image/png"}}, {"text": "What is it?"}]}]},
        "/api/chat": {"messages": [{"role": "user", "content": "What is it?", "images": [address]}], "stream": False},
        "/v1/embeddings": {"input": address},
    }  # fmt: skip


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No network, and no file but those of modules; what was tried in spite of that."""
    tried: list[str] = []
    real = builtins.open

    def refuse(*args: Any, **_: Any) -> Any:
        tried.append(repr(args))
        raise OSError("closed")

    def guarded(file: Any, *args: Any, **more: Any) -> Any:
        return refuse(file) if str(file).startswith(("/etc", "file:", "http")) else real(file, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(builtins, "open", guarded)
    monkeypatch.setattr(Path, "open", guarded)
    return tried


@pytest.mark.parametrize("back", BACKS)
@pytest.mark.costly
def test_no_address_in_a_request_is_asked(back: str, closed: list[str]) -> None:
    for address in ADDRESSES:
        for path, body in asked(address).items():
            peer = ScriptedPeer(always)
            reply = call(app(peer, back), path.rstrip("?"), {"model": "m", **body})
            assert reply.status, path
            assert {sent.url.split("/")[2] for sent in peer.sent} <= {"model.test"}, (path, address)
    assert closed == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_an_answer_that_sends_us_elsewhere_is_not_followed(status: int, closed: list[str]) -> None:
    for address in ADDRESSES:
        peer = ScriptedPeer([Answer((b"gone",), status, {"location": address})] * 5)
        body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        assert call(app(peer), "/v1/chat/completions", body).status >= 400
        assert {sent.url.split("/")[2] for sent in peer.sent} == {"model.test"}
    assert closed == []
