"""What one gateway process keeps another finds: any of them may answer any request, and only whom it was told to."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dragoman.codecs.shared.spec import WireFields
from dragoman.errors import UsageError
from dragoman.gateway import Access, GatewayConfig, create_app
from dragoman.gateway.config.load import read
from dragoman.gateway.config.words import STATE_DIR
from dragoman.gateway.factory import from_file
from dragoman.gateway.state.sqlite_cache import FILE
from dragoman.gateway.state.stores import StateStores, open_stores
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn.shared_cache import retain
from dragoman.types import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from tests.support.asgi import Reply, call
from tests.support.clocks import LONG, OFTEN
from tests.support.gateways import USER, ask, streamed_and_whole
from tests.support.gateways import read as answer_of
from tests.support.kept import told
from tests.support.upstreams import model, sent, text_reply

KEYS = {"alice": "sk-of-alice", "bob": "sk-of-bob"}


def gateway(memory: ScriptedPeer, directory: Path | None, **limits: Any) -> Any:
    """One process: what it keeps besides is in the directory."""
    rows = [Access(name=n, sha256=hashlib.sha256(key.encode()).hexdigest(), **limits) for n, key in KEYS.items()]
    route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    return create_app(GatewayConfig(default=route, access=tuple(rows)), memory, stores=StateStores(directory))


def of(name: str) -> dict[str, str]:
    return {"authorization": f"Bearer {KEYS[name]}"}


def item_of(reply: Reply, *, stream: bool) -> dict[str, Any]:
    lines = [line[6:] for line in reply.body.decode().splitlines() if line.startswith("data: ")]
    answer = json.loads(lines[-1])["response"] if stream else reply.json
    (item,) = answer["output"]
    return dict(item)


# ── items of Responses ───────────────────────────────────────────────────────


@streamed_and_whole
def test_an_item_of_one_process_is_known_to_another(tmp_path: Path, stream: bool) -> None:
    memory = model("openai_chat", text_reply("It is blue."), text_reply("Because."), text_reply("Because."))
    item = item_of(
        ask(gateway(memory, tmp_path), "openai_responses", stream=stream, headers=of("alice")), stream=stream
    )
    turns = [USER, {"type": "item_reference", "id": item["id"]}, {"role": "user", "content": "Why?"}]
    for _ in range(2):
        again = ask(gateway(memory, tmp_path), "openai_responses", stream=stream, input=turns, headers=of("alice"))
        assert answer_of("openai_responses", again, stream=stream).text == "Because."
        assert [m["content"] for m in sent(memory)["messages"]][-2:] == ["It is blue.", "Why?"]


@pytest.mark.parametrize("shared", [True, False], ids=["several processes", "one process"])
def test_an_item_is_known_only_to_its_own_key(tmp_path: Path, shared: bool) -> None:
    app = gateway(model("openai_chat", text_reply("It is blue."), text_reply("Because.")), tmp_path if shared else None)
    item = item_of(ask(app, "openai_responses", stream=False, headers=of("alice")), stream=False)
    apps = [gateway(model("openai_chat"), tmp_path), app] if shared else [app]
    for each in apps:
        reply = ask(each, "openai_responses", stream=False, input=[{"id": item["id"]}], headers=of("bob"))
        assert (reply.status, reply.json["error"]["code"]) == (400, "item_not_found")
    reply = ask(app, "openai_responses", stream=False, input=[USER, {"id": item["id"]}, USER], headers=of("alice"))
    assert reply.status == 200


def test_one_reference_among_thousands_that_is_not_known_is_named(tmp_path: Path) -> None:
    app = gateway(model("openai_chat", text_reply("It is blue.")), tmp_path)
    item = item_of(ask(app, "openai_responses", stream=False, headers=of("alice")), stream=False)
    given = [{"id": item["id"]}, *({"id": f"msg_{n}"} for n in range(5000))]
    error = ask(app, "openai_responses", stream=False, input=given, headers=of("alice")).json["error"]
    assert (error["code"], error["param"]) == ("item_not_found", "$.input[1].id")


def test_a_file_that_cannot_be_used_breaks_no_request(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / FILE).mkdir()
    app = gateway(model("openai_chat", text_reply("It is blue."), text_reply("Because.")), tmp_path)
    with caplog.at_level(logging.WARNING, "dragoman.gateway"):
        item = item_of(ask(app, "openai_responses", stream=False, headers=of("alice")), stream=False)
        turns = [USER, {"id": item["id"]}, USER]
        assert ask(app, "openai_responses", stream=False, input=turns, headers=of("alice")).status == 200
    assert [record.levelname for record in caplog.records] == ["WARNING"]


# ── what models must get back, and what the house did ────────────────────────


def thoughtful() -> Answer:
    function = {"name": "look", "arguments": '{"at":"sky"}'}
    message = {
        "role": "assistant",
        "content": None,
        "reasoning_content": "I must look.",
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }
    body = {"id": "u1", "model": "up", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    return Answer((json.dumps(body).encode(),), headers={"content-type": "application/json"})


def test_dropped_reasoning_comes_back_from_another_process(tmp_path: Path) -> None:
    answer = ask(
        gateway(model("openai_chat", thoughtful()), tmp_path), "openai_chat", stream=False, headers=of("alice")
    )
    (choices,) = answer.json["choices"]
    bare = {key: choices["message"][key] for key in ("role", "content", "tool_calls")}
    history = [USER, bare, {"role": "tool", "tool_call_id": bare["tool_calls"][0]["id"], "content": "blue"}]
    thoughts = {}
    for name in KEYS:
        memory = model("openai_chat", text_reply("It is blue."))
        ask(gateway(memory, tmp_path), "openai_chat", stream=False, messages=history, headers=of(name))
        thoughts[name] = sent(memory)["messages"][1].get("reasoning_content")
    assert thoughts == {"alice": "I must look.", "bob": None}


def test_everything_a_model_must_get_back_passes_through_the_file(tmp_path: Path) -> None:
    here, there = StateStores(tmp_path), StateStores(tmp_path)
    question = [Message("user", "What is up?")]
    signed = WireFields("gemini", {"thought_signature": "AbC=", "nested": [{"n": 1}, None]})
    thought = Reasoning("hm \udcff", metadata={"signature": "s", "!": "kept"})
    own = ToolCall(id="functions.look:0", name="look", arguments={"at": "sky"}, metadata=signed)
    told(here, here.learned.reasoning.remember(question, Message("assistant", [thought, own])))
    echoed = Message("assistant", [ToolCall(id="functions_look_0", name="look", arguments={"at": "sky"})])
    (_, filled) = told(there, there.learned.reasoning.refill([*question, echoed]))
    assert filled.parts == (thought, own)
    assert isinstance(filled.calls[0].metadata, WireFields)


def test_what_cannot_be_written_down_is_kept_in_memory_alone(tmp_path: Path) -> None:
    here, there = StateStores(tmp_path), StateStores(tmp_path)
    deep: Any = 1
    for _ in range(400):
        deep = [deep]
    question, answer = [Message("user", "What time is it?")], Message("assistant", "Noon.")
    for metadata in ({"deep": deep}, {"odd": object()}):
        turns = (Message("tool", [ToolResult(call_id="c", content="12:00", metadata=metadata)]),)
        told(here, here.memory.remember("", question, answer, turns))
        assert told(here, here.memory.refill("", [*question, answer])) == (*question, *turns, answer)
        told(there, there.memory.refill("", [*question, answer]))


def test_what_another_version_wrote_is_as_good_as_not_kept(tmp_path: Path) -> None:
    there = StateStores(tmp_path)
    question = [Message("user", "What is up?"), Message("assistant", [ToolCall(id="c", name="look")])]
    for text in ("", "[]", '{"!":"tuple","is":["c",{},["no reasoning"]]}', '{"!":"Unknown"}'):
        here = StateStores(tmp_path)
        answer = Message("assistant", [Reasoning("hm"), *question[1].calls])
        told(here, here.learned.reasoning.remember(question[:1], answer))
        with sqlite3.connect(tmp_path / FILE) as database:
            database.execute("UPDATE kept SET value = ?", (text.encode(),))
        database.close()
        assert told(there, there.learned.reasoning.refill(question)) == tuple(question)


def test_what_the_house_did_passes_through_the_file(tmp_path: Path) -> None:
    here, there = StateStores(tmp_path), StateStores(tmp_path)
    question, answer = [Message("user", "What time is it?")], Message("assistant", "I look.\n\nNoon.")
    result = ToolResult(call_id="c", name="now", content=[Text("12:00"), Media(mime="image/png", data="AA==")])
    turns = (
        Message("assistant", [Reasoning("hm"), Text("I look."), ToolCall(id="c", name="now", raw="{}")]),
        Message("tool", [result]),
        Message("assistant", [Opaque(api="anthropic_messages", block={"type": "x"})]),
    )
    told(here, here.memory.remember("alice", question, answer, turns))
    assert told(there, there.memory.refill("alice", [*question, answer])) == (*question, *turns, Message("assistant", "Noon."))
    assert told(there, there.memory.refill("bob", [*question, answer])) == (*question, answer)


# ── limits ───────────────────────────────────────────────────────────────────


def test_a_limit_of_a_key_holds_for_all_processes_together(tmp_path: Path) -> None:
    apps = [gateway(model("openai_chat", *[text_reply("hi")] * 3), tmp_path, per_minute=3) for _ in range(2)]
    statuses = [ask(apps[n % 2], "openai_chat", stream=False, headers=of("alice")).status for n in range(6)]
    assert statuses == [200] * 3 + [429] * 3
    assert ask(apps[0], "openai_chat", stream=False, headers=of("bob")).status == 200


# ── where ────────────────────────────────────────────────────────────────────


def test_the_state_directory_is_made_for_its_owner_only(tmp_path: Path) -> None:
    open_stores("").items.keep({"output": [{"id": "a"}]})
    assert list(tmp_path.iterdir()) == []
    kept = open_stores(str(tmp_path / "deep" / "state"))
    told(kept, retain(kept.items.keep({"output": [{"id": "a"}]})))
    asyncio.run(kept.aclose())
    assert (tmp_path / "deep" / "state" / FILE).is_file()
    assert (tmp_path / "deep" / "state").stat().st_mode & 0o777 == 0o700


def test_a_directory_that_cannot_be_made_costs_only_sharing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    with caplog.at_level(logging.WARNING, "dragoman.gateway"):
        kept = open_stores(str(tmp_path / "file" / "state"))
    kept.items.keep({"output": [{"id": "a", "type": "message"}]})
    assert told(kept, kept.items.resolve({"input": [{"id": "a"}]}, ""))["input"] == [{"id": "a", "type": "message"}]
    assert "cannot be used" in caplog.text


def test_the_settings_or_the_environment_before_them_name_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(STATE_DIR, raising=False)
    settings: dict[str, Any] = {"server": {"state_dir": str(tmp_path / "told")}, "default": {"route": "ollama/qwen3"}}
    assert read(settings, {}).server.state_dir == str(tmp_path / "told")
    assert read(settings, {STATE_DIR: "/another"}).server.state_dir == "/another"
    assert read({"default": settings["default"]}, {}).server.state_dir == ""
    text = f'[server]\nstate_dir = "{tmp_path / "told"}"\n[default]\nroute = "ollama/qwen3"\n'
    (tmp_path / "dragoman.toml").write_text(text)
    assert call(from_file(tmp_path / "dragoman.toml"), "/healthz", method="GET").status == 200
    assert (tmp_path / "told").is_dir()


def test_what_is_no_directory_is_said_before_anything_is_served(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"server\.state_dir.*is no directory; name one"):
        read({"server": {"state_dir": str(tmp_path / "file")}, "default": {"route": "ollama/qwen3"}}, {})


def test_while_a_gateway_serves_what_is_too_old_is_wiped(tmp_path: Path) -> None:
    kept = StateStores(tmp_path)

    async def go() -> None:
        tidying = asyncio.ensure_future(kept.tidy(every=0.001))
        while not (tmp_path / FILE).exists():
            await asyncio.sleep(OFTEN)
        assert not tidying.done()
        tidying.cancel()
        await kept.aclose()

    asyncio.run(asyncio.wait_for(go(), LONG))
    asyncio.run(asyncio.wait_for(StateStores().tidy(), LONG))  # where there is no file there is nothing to do
