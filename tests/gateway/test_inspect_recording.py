"""What is recorded of an exchange: both wires byte for byte, every step; never a secret, never more than there is room."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any

import pytest

from dragoman.effects import Read
from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.config.load import Server, read
from dragoman.gateway.config.words import INSPECT
from dragoman.gateway.inspector.recorder import Recorder
from dragoman.gateway.inspector.recording import PACKED, WITHHELD
from dragoman.gateway.inspector.redaction import is_secret, shown_query, shown_url, spellings
from dragoman.gateway.observers import observers
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS
from dragoman.providers.spec import Tools
from dragoman.sim import serving
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support import mcp_lab as lab
from tests.support.asgi import Client, call
from tests.support.gateways import (
    ASKS,
    DOWN,
    FENCE,
    PATHS,
    app,
    ask,
    asking,
    every_back,
    every_front,
    streamed_and_whole,
)
from tests.support.inspecting import JSON, SECRET, look, recording, see
from tests.support.mcp_gateways import ECHO, alive, served
from tests.support.upstreams import ScriptedReply, model, refusal, text_reply

BROKEN, SLANTED = FENCE.replace('"look"', '"lok_at_it"'), FENCE.replace('"sky"}}', '"sky",}}')
CHAT = PATHS["openai_chat"]


@every_front
@every_back
@streamed_and_whole
def test_both_wires_are_kept_byte_for_byte(front: str, back: str, stream: bool) -> None:
    memory = model(back, text_reply(FENCE))
    gateway, recorder = recording(memory, back, tools=Tools.TEXT)
    reply = ask(gateway, front, stream=stream)
    (record,), (hop,) = list(recorder), next(iter(recorder)).hops
    assert json.loads(record.request.data) == {**asking(front, stream=stream)[1]}
    assert (record.response.data, record.status) == (reply.body, reply.status)
    assert hop.sent.data == memory.sent[0].body
    answer = see(gateway, f"exchanges/{record.number}/wire/got-0")
    assert answer["text"].encode() == hop.got.data
    assert answer["pieces"][-1][1] == len(answer["text"])
    whole = see(gateway, "exchanges/1")
    assert whole["steps"][0]["wrote"]["text"] == FENCE
    assert [call["name"] for call in whole["answer"]["response"]["calls"]] == ["look"]
    assert "CallStarted" in [event["kind"] for event in whole["answer"]["events"]]


@every_front
def test_an_exchange_is_served_as_it_would_be_without(front: str) -> None:
    plain = ask(app(model("openai_chat", text_reply(SLANTED)), tools=Tools.TEXT), front, stream=True)
    gateway, _ = recording(model("openai_chat", text_reply(SLANTED)), tools=Tools.TEXT)
    assert ask(gateway, front, stream=True).pieces == plain.pieces


def test_spans_add_up_to_the_text_and_name_verdicts() -> None:
    text = f"<think>\nhm</think>\nFirst.\n{SLANTED}\nNot `{FENCE}`, though."
    gateway, _ = recording(model("openai_chat", text_reply(text)), tools=Tools.TEXT)
    ask(gateway, "openai_chat", stream=True)
    wrote = see(gateway, "exchanges/1")["steps"][0]["wrote"]
    assert "".join(text[start:end] for start, end, *_ in wrote["spans"]) == wrote["text"] == text
    assert {kind for _, _, kind, _ in wrote["spans"]} >= {"text", "reasoning", "markup", "mended"}
    (mended,) = [found for found in wrote["findings"] if found["verdict"] == "mended"]
    assert [edit["kind"] for edit in mended["edits"]] == ["trailing_comma"]
    assert [text[start:end] for start, end, *_ in wrote["marks"]] == [","]


def test_a_reask_is_a_step_that_says_what_was_wrong() -> None:
    gateway, _ = recording(model("openai_chat", text_reply(BROKEN), text_reply(SLANTED)), tools=Tools.TEXT)
    ask(gateway, "openai_chat", stream=True)
    (row,) = see(gateway, "exchanges?since=0")["rows"]
    assert set(row["marks"]) == {"mended", "refused", "reasked", "calls"}
    first, second = see(gateway, "exchanges/1")["steps"]
    assert (first["reask"], second["reask"], second["tools_as"]) == (0, 1, "text")
    assert [found["rule"] for found in first["wrote"]["findings"]] == ["unknown_tool"]
    assert "lok_at_it" in second["correction"][-1]["parts"][0]["text"]


def test_additions_to_a_prompt_are_told_apart() -> None:
    gateway, _ = recording(model("openai_chat", text_reply("Up.")), tools=Tools.TEXT)
    system = {"role": "system", "content": "Be brief."}
    call(gateway, CHAT, {**ASKS["openai_chat"], "messages": [system, *ASKS["openai_chat"]["messages"]]})
    sent = see(gateway, "exchanges/1")["steps"][0]["sent"]
    assert [message["origin"] for message in sent["messages"]] == ["changed", "same"]
    assert "Be brief." in sent["messages"][0]["parts"][0]["text"]


def test_a_refusal_of_native_tools_shows_as_two_steps() -> None:
    down = refusal(400, {"error": {"message": "model does not support tools"}})
    gateway, _ = recording(model("openai_chat", down, text_reply(FENCE)), tools=Tools.BOTH)
    ask(gateway, "openai_chat", stream=True)
    first, second = see(gateway, "exchanges/1")["steps"]
    assert (first["status"], first["tools_as"], second["tools_as"]) == (400, "native", "text")
    assert "does not support tools" in first["refusal"]


def test_each_route_that_was_asked_is_a_step() -> None:
    one = Route(provider=COMPATIBLE["openai_chat"], base_url="http://one.test", tools=Tools.TEXT)
    two = Route(provider=COMPATIBLE["openai_chat"], base_url="http://two.test", tools=Tools.TEXT, model="other")
    gateway, _ = recording(model("openai_chat", DOWN, DOWN, DOWN, text_reply(FENCE)), config={"default": [one, two]})
    ask(gateway, "openai_chat", stream=False)
    (row,) = see(gateway, "exchanges?since=0")["rows"]
    steps = see(gateway, "exchanges/1")["steps"]
    assert "fallback" in row["marks"]
    assert [step["address"] for step in steps if step["failure"] is None] == ["http://two.test"]
    assert "is it running?" in steps[0]["error"]


def test_text_calls_beside_native_ones_do_not_show_as_run() -> None:
    scripted = ScriptedReply((FENCE,), (("c1", "look", {"at": "sky"}),))
    gateway, _ = recording(model("openai_chat", scripted), tools=Tools.NATIVE)
    ask(gateway, "openai_chat", stream=True)
    wrote = see(gateway, "exchanges/1")["steps"][0]["wrote"]
    assert [(made["id"], made["name"]) for made in wrote["calls"]] == [("c1", "look")]
    assert [(found["verdict"], found["rule"]) for found in wrote["findings"]] == [("quoted", "gave_way")]


BAD: list[tuple[bytes, str]] = [(b"{", "not JSON"), (b"[1]", "not a JSON object"), (b'{"model": "m"}', "messages")]


@pytest.mark.parametrize(("body", "message"), BAD)
def test_an_unreadable_request_is_shown_with_the_reason(body: bytes, message: str) -> None:
    gateway, _ = recording(ScriptedPeer([]))
    call(gateway, CHAT, body)
    (row,) = see(gateway, "exchanges?since=0")["rows"]
    assert row["status"] == 400
    assert "failed" in row["marks"]
    assert see(gateway, "exchanges/1")["client"]["size"] == len(body)
    assert see(gateway, "exchanges/1/wire/request")["text"] == body.decode()
    assert message in row["error"]


def test_garbage_of_a_provider_is_shown_as_it_came() -> None:
    gateway, _ = recording(ScriptedPeer([Answer((b"<html>\xff", b"no</html>"), headers={"content-type": "text/html"})]))
    ask(gateway, "openai_chat", stream=False)
    whole, got = see(gateway, "exchanges/1"), see(gateway, "exchanges/1/wire/got-0")
    assert got["text"] == "<html>�no</html>"
    assert whole["steps"][0]["failure"]["kind"] == "garbled"


def test_an_exchange_is_shown_while_it_runs_and_once_abandoned() -> None:
    async def go() -> tuple[dict[str, Any], dict[str, Any]]:
        begun, more = asyncio.Event(), asyncio.Event()
        slow = model("openai_chat", text_reply("one two three"))
        gateway, recorder = recording(_Paused(slow, begun, more))  # type: ignore[arg-type]
        client = Client(gateway, CHAT, asking("openai_chat", stream=True)[1])
        serving = asyncio.ensure_future(client.run())
        await begun.wait()
        during = (await fetched(gateway, "exchanges?since=0"))["rows"][0]
        waiting = asyncio.ensure_future(fetched(gateway, f"exchanges?since={recorder.version}&wait=100"))
        client.hang_up()
        await serving
        return during, (await waiting)["rows"][0]

    during, after = asyncio.run(go())
    assert (during["live"], during["model"]) == (True, "m")
    assert after["number"] == during["number"]


async def fetched(gateway: Any, path: str) -> Any:
    return (await Client(gateway, f"/inspect/api/{path}", method="GET", headers={"host": "localhost"}).run()).json


class _Paused:
    """Connections that say nothing after the first bytes (so many `reads` of them), until told."""

    def __init__(self, memory: ScriptedPeer, begun: asyncio.Event, more: asyncio.Event, reads: int = 1) -> None:
        self._memory, self._begun, self._more, self._reads = memory, begun, more, reads

    def performer(self) -> Any:
        perform, count = self._memory.performer(), 0

        async def performed(effect: Any) -> Any:
            nonlocal count
            count += isinstance(effect, Read)
            if count == self._reads + 1 and isinstance(effect, Read):
                self._begun.set()
                await self._more.wait()
            return await perform(effect)

        return performed

    async def aclose(self) -> None:
        await self._memory.aclose()


# ── what is bounded ──────────────────────────────────────────────────────────


def test_the_oldest_go_first_when_there_are_too_many() -> None:
    gateway, recorder = recording(model("openai_chat", *[text_reply("Up.")] * 5), recorder=Recorder(most=3))
    for _ in range(5):
        ask(gateway, "openai_chat", stream=False)
    assert [record.number for record in recorder] == [3, 4, 5]
    news = see(gateway, "exchanges?since=0")
    assert (news["dropped"], news["numbers"]) == (2, [3, 3])
    assert look(gateway, "exchanges/1").status == 404


def test_the_oldest_go_first_when_all_are_too_large() -> None:
    gateway, recorder = recording(
        model("openai_chat", *[text_reply("x" * 3000, size=3000)] * 20), recorder=Recorder(most_bytes=100_000)
    )
    for _ in range(20):
        ask(gateway, "openai_chat", stream=False)
    assert 0 < len(list(recorder)) < 20
    assert recorder.size == sum(record.size for record in recorder) <= 100_000


def test_a_body_too_long_to_keep_is_cut_visibly() -> None:
    gateway, _ = recording(model("openai_chat", text_reply("y" * 9000, size=500)), recorder=Recorder(longest=1000))
    reply = ask(gateway, "openai_chat", stream=True)
    wire = see(gateway, "exchanges/1/wire/response")
    assert (wire["cut"], wire["size"]) == (True, len(reply.body))
    assert reply.body.decode().startswith(wire["text"])
    assert see(gateway, "exchanges/1")["answer"]["response"]["text"] == "y" * 9000


def test_what_is_cleared_is_gone_and_costs_nothing() -> None:
    gateway, recorder = recording(model("openai_chat", text_reply("Up.")))
    ask(gateway, "openai_chat", stream=False)
    assert call(gateway, "/inspect/api/exchanges", method="DELETE", headers={"host": "[::1]:1"}).status == 200
    assert (list(recorder), recorder.size) == ([], 0)


# ── what is secret ───────────────────────────────────────────────────────────

CLIENT = "sk-of-the-client-0123456789"


def everything(gateway: Any, recorder: Recorder) -> str:
    """All that the inspector can be made to say."""
    seen = [see(gateway, "exchanges?since=0")]
    for record in recorder:
        seen.append(see(gateway, f"exchanges/{record.number}"))
        wires = ["request", "response", *(f"{way}-{n}" for n in range(len(record.hops)) for way in ("sent", "got"))]
        seen += [see(gateway, f"exchanges/{record.number}/wire/{which}") for which in wires]
        paths = ["export/curl", "export/curl?hop=0", "export/dialect", "export/wire"]
        seen += [look(gateway, f"exchanges/{record.number}/{path}").json for path in paths]
    return json.dumps(seen)


@streamed_and_whole
def test_no_secret_is_kept_wherever_it_stood(stream: bool) -> None:
    echo = f"Your key is {SECRET} and yours {CLIENT}."
    memory = model("openai_chat", text_reply(echo, size=len(echo)), refusal(401, {"error": f"bad key {SECRET}"}))
    gateway, recorder = recording(memory)
    body = {**asking("openai_chat", stream=stream)[1], "user": CLIENT}
    for _ in range(2):
        headers = {"authorization": f"Bearer {CLIENT}", "cookie": "session=abcdefgh", "x-my-token": "t0psecret"}
        call(gateway, f"{CHAT}?api_key=quite-secret&a=1", body, headers=headers)
    shown = everything(gateway, recorder)
    assert not [secret for secret in (SECRET, CLIENT, "abcdefgh", "t0psecret", "quite-secret") if secret in shown]
    bodies = [body.data for r in recorder for body in (r.request, r.response, *(b for h in r.hops for b in (h.sent, h.got)))]
    assert not [data for data in bodies if SECRET.encode() in data or CLIENT.encode() in data]
    assert all(dict(record.exchange.headers) == {} for record in recorder if record.exchange)
    assert "a=1" in next(iter(recorder)).query


@pytest.mark.parametrize("coding", ["gzip", "br"])
def test_a_packed_request_is_kept_unpacked_or_not_at_all(coding: str) -> None:
    gateway, recorder = recording(model("openai_chat", text_reply("Up.")))
    body = json.dumps({**asking("openai_chat", stream=False)[1], "user": SECRET}).encode()
    call(gateway, CHAT, gzip.compress(body), headers={"content-encoding": coding})
    shown = see(gateway, "exchanges/1/wire/request")["text"]
    assert shown == (body.decode().replace(SECRET, "*" * len(SECRET)) if coding == "gzip" else PACKED.decode())
    assert SECRET not in everything(gateway, recorder)


def test_a_secret_in_pieces_is_withheld_with_its_bytes() -> None:
    gateway, recorder = recording(model("openai_chat", text_reply(f"It is {SECRET}.", size=3)))
    ask(gateway, "openai_chat", stream=True)
    assert SECRET not in everything(gateway, recorder)
    (record,) = recorder
    assert (record.response.data, record.hops[0].got.data) == (WITHHELD, WITHHELD)


def test_a_secret_is_hidden_while_it_still_arrives() -> None:
    async def go() -> list[Any]:
        begun, more = asyncio.Event(), asyncio.Event()
        paused = _Paused(model("openai_chat", text_reply(f"It is {SECRET}.", size=3)), begun, more, reads=15)
        gateway, _ = recording(paused)  # type: ignore[arg-type]
        client = Client(gateway, CHAT, asking("openai_chat", stream=True)[1])
        serving = asyncio.ensure_future(client.run())
        await begun.wait()
        seen = [await fetched(gateway, f"exchanges/1{path}") for path in ("", "/wire/got-0", "/wire/response")]
        judged = await Client(gateway, "/inspect/api/exchanges/1/judge", {}, headers=JSON).run()
        client.hang_up()
        await serving
        return [*seen, judged.json]

    whole, got, response, judged = asyncio.run(go())
    assert whole["row"]["live"]
    assert SECRET not in json.dumps([whole, got, response])
    assert (got["text"], response["text"]) == (WITHHELD.decode(), WITHHELD.decode())
    assert "still runs" in judged["error"]["message"]


def test_what_keys_are_exchanged_for_is_not_kept() -> None:
    token = Answer(
        (b'{"access_token": "a-fresh-token", "expires_in": 60}',), headers={"content-type": "application/json"}
    )
    answer = Answer((b'{"message": "Up."}',), headers={"content-type": "application/json"})
    to = Route(
        provider=PROVIDERS["stackspot"],
        model="agent",
        key="client-secret",
        secrets={"client_id": "client-id"},
        settings={"realm": "r"},
    )
    gateway, recorder = recording(ScriptedPeer([token, answer, answer]), config={"default": to})
    ask(gateway, "openai_chat", stream=False)
    shown = everything(gateway, recorder)
    assert not [secret for secret in ("a-fresh-token", "client-secret", "client-id") if secret in shown]
    assert see(gateway, "exchanges/1")["steps"][0]["kind"] == "keys"


NAMES = [
    ("authorization", "Bearer x", True), ("X-Api-Key", "abc", True), ("cookie", "a=b", True), ("x-amz-security-token", "abc", True),
    ("x-ratelimit-remaining-tokens", "soon", False), ("content-length", "12", False), ("max_tokens", "many", False), ("accept", "a/b", False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "secret"), NAMES)
def test_a_header_is_secret_by_its_name(name: str, value: str, secret: bool) -> None:
    assert is_secret(name, value) is secret


def test_addresses_are_shown_without_who_asks() -> None:
    assert shown_query("key=abcdef&alt=sse", ()) == "key=[redacted]&alt=sse"
    assert shown_query("alt=sse&b=%20", ()) == "alt=sse&b=%20"
    assert shown_url("https://me:pw@host/v1?api_key=abc", ()) == "https://[redacted]@host/v1?api_key=[redacted]"
    assert 'a"bcdef' in spellings(['a"bcdef'])
    assert 'a\\"bcdef' in spellings(['a"bcdef'])
    assert spellings(["none"]) == ()


# ── off ──────────────────────────────────────────────────────────────────────


def test_nothing_is_kept_unless_somebody_asks_for_it() -> None:
    config = GatewayConfig()
    assert not [o for o in observers(Server(metrics=False), config, {}) if isinstance(o, Recorder)]
    assert [o for o in observers(Server(inspect=True), config, {}) if isinstance(o, Recorder)]
    assert [o for o in observers(Server(), config, {INSPECT: "true"}) if isinstance(o, Recorder)]
    assert not [o for o in observers(Server(inspect=True), config, {INSPECT: "off"}) if isinstance(o, Recorder)]
    assert read({"server": {"inspect": True}}, {}).server.inspect is True
    assert read({"keys": [{"name": "a", "key": "${K}", "inspect": True}]}, {"K": "abcdefgh"}).config.access[0].inspect


@pytest.mark.parametrize("path", ["/inspect", "/inspect/", "/inspect/api/exchanges"])
def test_off_the_address_says_how_to_turn_it_on(path: str) -> None:
    reply = call(create_app(GatewayConfig(), ScriptedPeer([])), path, method="GET")
    assert reply.status == 404
    assert "dragoman serve --inspect" in reply.json["error"]["message"]


# ── tools that are run here ──────────────────────────────────────────────────


def test_server_tools_stand_between_the_answers_that_called_them() -> None:
    recorder = Recorder()

    async def go() -> Any:
        servers = {"lab": {"url": f"{url}/mcp", "type": "http"}}
        memory = model("openai_chat", ECHO, text_reply("It is blue."))
        async with alive(served(memory, servers=servers, observers=(recorder,))) as gateway:
            await Client(gateway, *asking("openai_chat", stream=False)).run()
            return await fetched(gateway, "exchanges/1")

    with serving(lab.app()) as url:
        whole = asyncio.run(go())
    assert [step["kind"] for step in whole["steps"]] == ["attempt", "server_tools", "attempt"]
    ((ran,),) = [step["results"] for step in whole["steps"] if step["kind"] == "server_tools"]
    assert (ran["call"]["name"], ran["text"]) == ("echo", "blue")
    assert "tools run here" in whole["row"]["marks"]
