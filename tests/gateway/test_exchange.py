"""Any of the fronts over any of the backends, in process: what a client asked for in its API is what it gets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.gateway import GatewayConfig, create_app
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.asgi import call
from tests.support.gateways import (
    ASKS,
    FENCE,
    HERMES,
    PATHS,
    USER,
    app,
    ask,
    called,
    every_back,
    every_front,
    read,
    streamed_and_whole,
)
from tests.support.upstreams import ScriptedReply, model, refusal, sent, text_reply

USED = {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "sky"}}
OLLAMA_CALL = {"function": {"name": "look", "arguments": {"at": "sky"}}}
STREAM_TYPES = {front: "application/x-ndjson" if front == "ollama_chat" else "text/event-stream" for front in PATHS}


# ── all over all ─────────────────────────────────────────────────────────────


@every_front
@every_back
@streamed_and_whole
@pytest.mark.parametrize("way", ["native", "fence", "hermes", "leak"])
def test_every_front_gets_its_calls_over_every_back(front: str, back: str, stream: bool, way: str) -> None:
    scripted = {
        "native": ScriptedReply(("I look.",), (("a1", "look", {"at": "sky"}), ("a2", "look", {"at": "sea"}))),
        "fence": text_reply(f"I look.\n{FENCE}\n{FENCE.replace('sky', 'sea')}"),
        "hermes": text_reply(f"I look.\n{HERMES}\n{HERMES.replace('sky', 'sea')}"),
        "leak": text_reply(f"I look.\n{HERMES}\n{HERMES.replace('sky', 'sea')}"),
    }[way]
    speak = "hermes" if way == "hermes" else "tool_call_fence"
    mode = Tools.TEXT if way in {"fence", "hermes"} else Tools.NATIVE
    memory = model(back, scripted)
    reply = ask(app(memory, back, tools=mode, prompt_dialect=speak), front, stream=stream)
    assert reply.status == 200
    assert reply.ended
    got = read(front, reply, stream=stream)
    assert called(got) == [("look", {"at": "sky"}), ("look", {"at": "sea"})]
    assert len({c.id for c in got.calls}) == 2
    assert got.text.strip() == "I look."
    assert ("tools" in sent(memory)) is (mode is Tools.NATIVE)


@every_front
@every_back
@streamed_and_whole
def test_every_front_gets_plain_text_over_every_back(front: str, back: str, stream: bool) -> None:
    reply = ask(app(model(back, text_reply("It is blue.")), back), front, stream=stream)
    got = read(front, reply, stream=stream)
    assert (got.text, got.calls) == ("It is blue.", ())
    assert got.usage is not None
    assert got.usage.output == 5


@every_front
def test_streams_carry_the_headers_that_keep_proxies_from_buffering(front: str) -> None:
    reply = ask(app(model("openai_chat", text_reply("hi"))), front, stream=True, headers={"x-request-id": "mine-1"})
    assert reply.headers["content-type"].startswith(STREAM_TYPES[front])
    assert reply.headers["cache-control"] == "no-cache"
    assert reply.headers["x-accel-buffering"] == "no"
    assert reply.headers["x-request-id"] == "mine-1"


@every_front
def test_text_leaves_with_the_read_that_brought_it(front: str) -> None:
    reply = ask(app(model("openai_chat", ScriptedReply(("Once ", "upon ", "a time")))), front, stream=True)
    carrying = [n for n, p in enumerate(reply.pieces) if any(w in p for w in (b"Once", b"upon", b"a time"))]
    assert len(carrying) >= 3
    assert carrying[:3] == [carrying[0] + n for n in range(3)]


def test_ollama_streams_where_the_client_does_not_say() -> None:
    body = {k: v for k, v in ASKS["ollama_chat"].items() if k != "stream"}
    reply = call(app(model("openai_chat", text_reply("hi"))), "/api/chat", body)
    assert reply.headers["content-type"] == "application/x-ndjson"


@every_front
def test_a_whole_answer_says_what_its_calls_went_through(front: str) -> None:
    mended = HERMES.replace('"sky"}', '"sky",}')
    reply = ask(app(model("openai_chat", text_reply(mended)), tools=Tools.TEXT), front, stream=False)
    assert reply.headers["x-dragoman-dialect"] == "hermes"
    assert reply.headers["x-dragoman-tier"] == "tagged"
    assert "comma" in reply.headers["x-dragoman-edits"]
    assert reply.headers["x-request-id"].startswith("req_")
    assert int(reply.headers["content-length"]) == len(reply.body)


def test_native_calls_say_so() -> None:
    reply = ask(app(model("openai_chat", ScriptedReply(calls=(("a", "look", {"at": "sky"}),)))), "openai_chat", stream=False)
    assert reply.headers["x-dragoman-tier"] == "native"
    assert "x-dragoman-edits" not in reply.headers


@every_front
@streamed_and_whole
def test_a_call_that_may_not_run_stays_text(front: str, stream: bool) -> None:
    cut = text_reply('<tool_call>\n{"name": "look", "arguments": {"at": "/do not', stop="length")
    gateway = app(model("openai_chat", cut), tools=Tools.TEXT, config={"reasks": 0})
    got = read(front, ask(gateway, front, stream=stream), stream=stream)
    assert got.calls == ()
    assert "/do not" in got.text
    assert got.stop is not None
    assert got.stop.value == "length"


@every_front
@streamed_and_whole
def test_a_broken_call_is_asked_for_again_first(front: str, stream: bool) -> None:
    broken = text_reply('I will look. <tool_call>\n{"name": "look", "arguments": {"at": 7, "with": }}\n</tool_call>')
    unknown = text_reply('<tool_call>\n{"name": "see", "arguments": {}}\n</tool_call>')
    memory = model("openai_chat", broken, unknown, text_reply(f"Sorry. {HERMES}"))
    reply = ask(app(memory, tools=Tools.TEXT), front, stream=stream)
    got = read(front, reply, stream=stream)
    assert called(got) == [("look", {"at": "sky"})]
    assert got.text.strip() == "I will look."
    assert len(memory.sent) == 3
    assert stream or reply.headers["x-dragoman-reasks"] == "2"


@every_front
@streamed_and_whole
def test_an_unmet_demand_is_reported_in_words_of_the_api(front: str, stream: bool) -> None:
    memory = model("openai_chat", *[text_reply("No.")] * 3)
    must: dict[str, dict[str, Any]] = {
        "anthropic_messages": {"tool_choice": {"type": "any"}},
        "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
    }
    demand = must.get(front, {"tool_choice": "required"})
    reply = ask(app(memory, tools=Tools.TEXT), front, stream=stream, **demand)
    if front == "ollama_chat":  # an API without tool_choice
        assert read(front, reply, stream=stream).text == "No."
        return
    assert b"did not give a call" in reply.body
    assert reply.status == (200 if stream else 422)


def test_arguments_may_be_streamed_as_they_come() -> None:
    scripted = text_reply(FENCE.replace("sky", "s" * 200))
    for early, least in ((True, 10), (False, 1)):
        gateway = app(model("openai_chat", scripted), tools=Tools.TEXT, config={"stream_arguments": early})
        reply = ask(gateway, "openai_chat", stream=True)
        carrying = [p for p in reply.pieces if b"sss" in p]
        assert len(carrying) >= least if early else len(carrying) == 1
        assert called(read("openai_chat", reply, stream=True)) == [("look", {"at": "s" * 200})]


@every_front
def test_a_conversation_of_several_turns_comes_through(front: str) -> None:
    turns: dict[str, Any] = {
        "openai_responses": [
            USER,
            {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at":"sky"}'},
            {"type": "function_call_output", "call_id": "c1", "output": "blue"},
        ],
        "gemini": [
            {"role": "user", "parts": [{"text": "What is up?"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"at": "sky"}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": "blue"}}}]},
        ],
        "openai_chat": [
            USER,
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at":"sky"}'}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "blue"},
        ],
        "anthropic_messages": [
            USER,
            {"role": "assistant", "content": [USED]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "blue"}]},
        ],
        "ollama_chat": [
            USER,
            {"role": "assistant", "content": "", "tool_calls": [OLLAMA_CALL]},
            {"role": "tool", "tool_name": "look", "content": "blue"},
        ],
    }  # fmt: skip
    memory = model("openai_chat", text_reply("It is blue."))
    field = {"openai_responses": "input", "gemini": "contents"}.get(front, "messages")
    reply = ask(app(memory, tools=Tools.TEXT), front, stream=False, **{field: turns[front]})
    assert read(front, reply, stream=False).text == "It is blue."
    roles = [m["role"] for m in sent(memory)["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert "~~~tool_call" in sent(memory)["messages"][2]["content"]
    assert "blue" in sent(memory)["messages"][3]["content"]


# ── what only one front has ──────────────────────────────────────────────────


@streamed_and_whole
def test_a_client_of_responses_may_refer_to_earlier_items(stream: bool) -> None:
    memory = model("openai_chat", text_reply("It is blue."), text_reply("Because."))
    gateway = app(memory)
    reply = ask(gateway, "openai_responses", stream=stream)
    done = [json.loads(line[6:]) for line in reply.body.decode().splitlines() if line.startswith("data: ")]
    (item,) = (done[-1]["response"] if stream else reply.json)["output"]
    turns = [USER, {"type": "item_reference", "id": item["id"]}, {"role": "user", "content": "Why?"}]
    again = ask(gateway, "openai_responses", stream=stream, input=turns)
    assert read("openai_responses", again, stream=stream).text == "Because."
    assert [m["content"] for m in sent(memory)["messages"]][-2:] == ["It is blue.", "Why?"]


def test_what_a_client_keeps_itself_is_not_kept_here() -> None:
    gateway = app(model("openai_chat", text_reply("It is blue.")))
    (item,) = ask(gateway, "openai_responses", stream=False, store=False).json["output"]
    again = ask(gateway, "openai_responses", stream=False, input=[USER, {"type": "item_reference", "id": item["id"]}])
    assert again.json["error"]["code"] == "item_not_found"


def test_a_reference_to_an_unknown_item_is_refused_with_advice() -> None:
    reply = ask(app(model("openai_chat")), "openai_responses", stream=False, input=[{"id": "msg_gone"}])
    assert reply.status == 400
    assert reply.json["error"]["code"] == "item_not_found"
    assert "send the whole item" in reply.json["error"]["message"]


@streamed_and_whole
def test_a_prompt_is_completed(stream: bool) -> None:
    body = {"model": "m", "prompt": "What is up?", "stream": stream}
    reply = call(app(model("openai_chat", text_reply("It is blue."))), "/api/generate", body)
    lines = [json.loads(line) for line in reply.body.splitlines()]
    assert "".join(line["response"] for line in lines) == "It is blue."
    assert lines[-1]["done"] is True


@pytest.mark.parametrize("name", ["m", "org/m", "tuned:m"])
def test_gemini_names_the_model_in_the_path(name: str) -> None:
    memory = model("openai_chat", text_reply("hi"))
    reply = call(app(memory), f"/v1beta/models/{name}:generateContent", ASKS["gemini"])
    assert reply.json["candidates"][0]["content"]["parts"] == [{"text": "hi"}]
    assert sent(memory)["model"] == name


@every_front
def test_a_model_that_refuses_tools_is_served_in_text(front: str) -> None:
    no = refusal(400, {"error": {"message": "this model does not support tools"}})
    memory = model("openai_chat", no, text_reply(FENCE), text_reply(FENCE))
    gateway = app(memory)
    for _ in range(2):
        assert called(read(front, ask(gateway, front, stream=True), stream=True)) == [("look", {"at": "sky"})]
    assert len(memory.sent) == 3


# ── models and the rest ──────────────────────────────────────────────────────

LISTED = Answer((json.dumps({"object": "list", "data": [{"id": "big"}, {"id": "small"}]}).encode(),))


def test_models_are_listed_as_the_provider_lists_them() -> None:
    openai = call(app(ScriptedPeer([LISTED])), "/v1/models", method="GET").json
    assert [m["id"] for m in openai["data"]] == ["big", "small"]
    assert openai["object"] == "list"
    versioned = {"anthropic-version": "2023-06-01"}
    anthropic = call(app(ScriptedPeer([LISTED])), "/v1/models", method="GET", headers=versioned).json
    assert [(m["type"], m["id"]) for m in anthropic["data"]] == [("model", "big"), ("model", "small")]
    ollama = call(app(ScriptedPeer([LISTED])), "/api/tags", method="GET").json
    assert [m["name"] for m in ollama["models"]] == ["big", "small"]


def test_a_provider_without_a_list_leaves_it_to_the_configuration() -> None:
    assert call(app(ScriptedPeer([refusal(404, {})])), "/v1/models", method="GET").json["data"] == []
    named = app(ScriptedPeer([]), model="the-one")
    assert [m["id"] for m in call(named, "/v1/models", method="GET").json["data"]] == ["the-one"]


def test_health_and_version() -> None:
    gateway = app(ScriptedPeer([]))
    assert call(gateway, "/healthz", method="GET").json == {"status": "ok"}
    assert "version" in call(gateway, "/api/version", method="GET").json


def test_tokens_are_counted_about() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "x" * 4000}]}
    counted = call(app(ScriptedPeer([])), "/v1/messages/count_tokens?beta=true", body).json["input_tokens"]
    assert 900 < counted < 1100


SPELLINGS = [
    ("/v1/chat/completions", "openai_chat"),
    ("/chat/completions", "openai_chat"),
    ("/v1/v1/chat/completions", "openai_chat"),
    ("/v1/messages", "anthropic_messages"),
    ("/v1/messages?beta=true", "anthropic_messages"),
    ("/messages", "anthropic_messages"),
    ("/v1/v1/messages", "anthropic_messages"),
    ("/api/chat", "ollama_chat"),
    ("/v1/api/chat", "ollama_chat"),
]


@pytest.mark.parametrize(("path", "front"), SPELLINGS)
def test_base_urls_with_and_without_a_version_both_work(path: str, front: str) -> None:
    odd = {"anthropic-beta": "from-the-future", "x-stainless-lang": "python", "authorization": "Bearer whatever"}
    reply = call(app(model("openai_chat", text_reply("hi"))), path, {**ASKS[front], "stream": False}, headers=odd)
    assert read(front, reply, stream=False).text == "hi"


def test_models_may_be_routed_by_name() -> None:
    here, there = (Route(provider=COMPATIBLE["openai_chat"], base_url=f"http://{h}", model="x") for h in ("a", "b"))
    memory = model("openai_chat", text_reply("hi"), text_reply("hi"))
    gateway = create_app(GatewayConfig(models={"one": here, "two": there}), memory)
    for name in ("one", "two"):
        assert ask(gateway, "openai_chat", stream=False, model=name).status == 200
    assert [effect.url.split("/")[2] for effect in memory.sent] == ["a", "b"]
    unknown = ask(gateway, "openai_chat", stream=False, model="three")
    assert unknown.status == 404
    assert "one, two" in unknown.json["error"]["message"]


def test_big_integers_keep_every_digit() -> None:
    number = 12345678901234567890123
    body = json.loads(json.dumps(ASKS["anthropic_messages"]))
    block = {"type": "tool_use", "id": "c1", "name": "look", "input": {"n": number}}
    body["messages"] = [USER, {"role": "assistant", "content": [block]}, {
        "role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]}]  # fmt: skip
    memory = model("anthropic_messages", text_reply("hi"))
    assert call(app(memory, "anthropic_messages"), "/v1/messages", body).status == 200
    assert str(number).encode() in memory.sent[0].body
