"""What is exported is taken by our own tests as it is, and says what was recorded."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.dialects import DIALECTS
from dragoman.dialects.spec import Strength
from dragoman.gateway.inspector.export import VARIABLE
from dragoman.providers.spec import Tools
from tests.support.asgi import call
from tests.support.dialect_vectors import check, vectors, whole
from tests.support.gateways import FENCE, PATHS, ask, asking, every_back, streamed_and_whole
from tests.support.inspecting import SECRET, look, recording, see
from tests.support.recordings import assert_says
from tests.support.recordings import read as read_wire
from tests.support.upstreams import ScriptedReply, model, refusal, text_reply

CHAT = PATHS["openai_chat"]


def exported(gateway: Any, form: str, number: int = 1) -> dict[str, Any]:
    exported = see(gateway, f"exchanges/{number}/export/{form}")
    assert "\n" not in exported["text"]
    row: dict[str, Any] = {**json.loads(exported["text"]), "file": exported["file"]}
    return row


@pytest.mark.parametrize("name", list(DIALECTS))
def test_a_recorded_text_comes_out_as_a_vector_that_passes(name: str) -> None:
    chosen = [*vectors(name)[:2], *(v for v in vectors(name) if not v["calls"])][:3]
    texts = [text_reply(v["text"], size=40, stop=v.get("finish") or "stop") for v in chosen]
    gateway, _ = recording(model("openai_chat", *texts), tools=Tools.TEXT, dialects=name, config={"reasks": 0})
    for number, v in enumerate(chosen, 1):
        tools = [{"type": "function", "function": tool} for tool in v["tools"]]
        messages = [{"role": "user", "content": "Do it."}]
        call(gateway, CHAT, {"model": "m", "stream": True, "messages": messages, "tools": tools})
        row = exported(gateway, f"dialect?dialect={name}", number)
        assert (row["text"], row["file"]) == (v["text"], f"tests/vectors/dialects/{name}.jsonl")
        assert row["id"].startswith(name)
        assert row["source"]
        if not v["prefix"]:
            assert (row["calls"], row["content"], row["reasoning"]) == (v["calls"], v["content"], v["reasoning"])
        check(row, whole(row, name))
        if DIALECTS[name].strength is not Strength.ASKED:
            check(row | row.get("blind", {}), whole(row))


def test_a_vector_names_the_dialect_that_was_written() -> None:
    hermes = '<tool_call>\n{"name": "look", "arguments": {"at": "sky"}}\n</tool_call>'
    gateway, _ = recording(model("openai_chat", text_reply(hermes), text_reply("Nothing.")), tools=Tools.TEXT)
    for _ in range(2):
        ask(gateway, "openai_chat", stream=True)
    assert exported(gateway, "dialect")["file"].endswith("/hermes.jsonl")
    assert exported(gateway, "dialect", 2)["calls"] == []


@every_back
@streamed_and_whole
@pytest.mark.parametrize("scripted", [text_reply("Up."), text_reply(FENCE), ScriptedReply(("Look",), (("c1", "look", {"at": "sky"}),))])
def test_a_recorded_wire_comes_out_as_a_vector_that_passes(back: str, stream: bool, scripted: ScriptedReply) -> None:
    gateway, _ = recording(model(back, scripted), back, tools=Tools.NATIVE)
    ask(gateway, "openai_chat", stream=stream)
    row = exported(gateway, "wire")
    assert row["file"] == f"tests/vectors/codecs/{back}.jsonl"
    response, error = read_wire(CODECS[back], row)
    assert error is None
    assert response is not None
    assert_says(response, row)
    assert [each["name"] for each in row["calls"]] == [name for _, name, _ in scripted.calls]


def test_a_step_without_an_answer_has_no_vector() -> None:
    gateway, _ = recording(model("openai_chat", refusal(400, {"error": "no"}), text_reply("Up.")))
    call(gateway, CHAT, {"model": "m", "messages": [{"role": "user", "content": "Hi."}]})
    call(gateway, CHAT, {"model": "m", "messages": [{"role": "user", "content": "Hi."}]})
    refused = look(gateway, "exchanges/1/export/wire")
    plain = look(gateway, "exchanges/2/export/dialect")
    assert (refused.status, plain.status) == (400, 400)
    assert "choose a step" in refused.json["error"]["message"]
    assert "export it as a wire vector" in plain.json["error"]["message"]


def test_a_command_says_the_same_without_keys() -> None:
    gateway, _ = recording(model("openai_chat", text_reply("It's up.")))
    body = {**asking("openai_chat", stream=False)[1], "user": "O'Brien"}
    call(gateway, f"{CHAT}?key=sk-secret-123", body, headers={"authorization": "Bearer sk-secret-456", "accept": "*/*"})
    client, upstream = (see(gateway, f"exchanges/1/export/{form}")["text"] for form in ("curl", "curl?hop=0"))
    words = shlex.split(client.replace("\\\n", " "))
    assert json.loads(words[words.index("--data-raw") + 1]) == body
    assert words[4].startswith("http://127.0.0.1:4242/v1/chat/completions")
    assert f"authorization: Bearer {VARIABLE}" in words
    assert not [secret for secret in ("sk-secret-123", "sk-secret-456", SECRET) if secret in client + upstream]
    assert "http://model.test/v1/chat/completions" in upstream
