"""Servers on this machine give themselves away; strangers on their ports do not pass for them."""

from __future__ import annotations

import asyncio
import json

import pytest

from dragoman.effects import run
from dragoman.errors import ErrorKind, ProviderError
from dragoman.gateway import Found, discover
from dragoman.gateway.discovery import Place, adiscover, look, usual_places
from dragoman.providers.rows import PROVIDERS
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.peer import Exchange, peer, refusing_port


def listed(owner: str | None, *names: str) -> bytes:
    data = [{"id": name, "object": "model", **({"owned_by": owner} if owner else {})} for name in names]
    return json.dumps({"object": "list", "data": data}).encode()


TAGS = json.dumps({"models": [{"name": "qwen3:8b", "model": "qwen3:8b"}]}).encode()

ANSWERS = [
    ("ollama", TAGS, "ollama", ("qwen3:8b",)),
    ("llamacpp", listed("llamacpp", "a.gguf"), "llamacpp", ("a.gguf",)),
    ("lmstudio", listed("organization_owner", "x", "y"), "lmstudio", ("x", "y")),
    ("vllm", listed("vllm", "x"), "vllm", ("x",)),
    ("sglang", listed("sglang", "x"), "sglang", ("x",)),
    ("vllm", listed("sglang", "x"), "sglang", ("x",)),  # on somebody else's port
    ("llamacpp", listed("somebody", "x"), "llamacpp", ("x",)),
    ("llamacpp", listed(None, "x"), "llamacpp", ("x",)),
    ("lmstudio", listed(None), "lmstudio", ()),
]


@pytest.mark.parametrize(("place", "body", "provider", "models"), ANSWERS)
def test_a_server_is_known_by_what_it_says(place: str, body: bytes, provider: str, models: tuple[str, ...]) -> None:
    row = PROVIDERS[place]
    found = run(look(Place(provider=row, base_url=row.base_url)), ScriptedPeer([Answer((body,))]).sync_performer())
    assert found == Found(provider=PROVIDERS[provider], base_url=row.base_url, models=models)


STRANGERS = [
    Answer((b"<html>Jenkins</html>",)),
    Answer((b'{"data": "yes"}',)),
    Answer((b'{"data": [{"no": "id"}]}',)),
    Answer((b"[]",)),
    Answer((listed("vllm", "x"),), status=401),
    Answer(status=ProviderError("refused", kind=ErrorKind.NETWORK)),
    Answer((b"{", ProviderError("reset", kind=ErrorKind.NETWORK))),
]


@pytest.mark.parametrize("answer", STRANGERS, ids=range(len(STRANGERS)))
def test_whoever_else_answers_is_not_taken_for_a_model_server(answer: Answer) -> None:
    row = PROVIDERS["vllm"]
    assert run(look(Place(provider=row, base_url=row.base_url)), ScriptedPeer([answer]).sync_performer()) is None


def test_real_servers_are_asked_at_once_and_found_in_order() -> None:
    def talk(it: Exchange) -> None:
        tags = it.request.startswith(b"GET /api/tags ")
        it.whole(TAGS if tags else listed("vllm", "x"), headers="content-type: application/json\r\n")

    with peer(talk) as served:
        places = [
            Place(provider=PROVIDERS["sglang"], base_url=f"http://127.0.0.1:{refusing_port()}/v1"),
            Place(provider=PROVIDERS["vllm"], base_url=f"{served.url}/v1"),
            Place(provider=PROVIDERS["ollama"], base_url=served.url),
        ]
        found = discover(places)
        assert [f.provider.name for f in found] == ["vllm", "ollama"]
        assert asyncio.run(adiscover(places)) == found


def test_usual_places_are_default_ports_unless_the_environment_says_otherwise() -> None:
    usual = {place.provider.name: place.base_url for place in usual_places({})}
    assert usual == {
        "ollama": "http://127.0.0.1:11434",
        "llamacpp": "http://127.0.0.1:8080/v1",
        "vllm": "http://127.0.0.1:8000/v1",
        "sglang": "http://127.0.0.1:30000/v1",
        "lmstudio": "http://127.0.0.1:1234/v1",
        "exo": "http://127.0.0.1:52415/v1",
        "litellm": "http://127.0.0.1:4000/v1",
        "koboldcpp": "http://127.0.0.1:5001/v1",
    }
    moved = {place.provider.name: place.base_url for place in usual_places({"OLLAMA_HOST": "0.0.0.0:9999"})}
    assert moved["ollama"] == "http://127.0.0.1:9999"


def test_what_was_found_can_be_said_in_one_line() -> None:
    found = Found(provider=PROVIDERS["vllm"], base_url="http://h/v1", models=("a", "b", "c", "d", "e"))
    assert str(found) == "vllm at http://h/v1 (a, b, c and 2 more)"
    assert "no model loaded" in str(Found(provider=PROVIDERS["vllm"], base_url="http://h/v1", models=()))
