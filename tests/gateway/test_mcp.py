"""MCP servers attached to models: every client of every API gets their tools, and none breaks for a server that does."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dragoman.cli import check
from dragoman.codecs.shared.frames import KEEP_ALIVE
from dragoman.effects import Sleep
from dragoman.errors import ErrorKind, ProviderError, UsageError
from dragoman.gateway import mcp_tools as houses
from dragoman.gateway.app import create_app
from dragoman.gateway.config.load import read
from dragoman.gateway.config.model import Attachment, GatewayConfig, Mcp
from dragoman.gateway.fronts import FRONTS
from dragoman.gateway.gateway import Gateway
from dragoman.gateway.serving import Serve
from dragoman.gateway.telemetry.exchange_record import ExchangeRecord
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, Tools
from dragoman.sim import serving
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.types import ToolCall, ToolResult
from tests.support import mcp_lab as lab
from tests.support.asgi import Client, Reply
from tests.support.clocks import LONG, auntil
from tests.support.gateways import ASKS, asking, called, every_front, message_of, streamed_and_whole
from tests.support.gateways import read as reply_of
from tests.support.mcp_gateways import ECHO, LAB, alive, served
from tests.support.spans import TracingRecorder, attributes
from tests.support.upstreams import ScriptedReply, answered, model, sent, text_reply

BOTH = ScriptedReply(("So.",), (("l1", "look", {"at": "sky"}), ("e1", "echo", {"text": "blue"})))
FENCE = '~~~tool_call\n{"name": "echo", "arguments": {"text": "blue"}}\n~~~'


@pytest.fixture(scope="module")
def web() -> Iterator[dict[str, Any]]:
    """The same server behind HTTP: what a test needs that is not about processes."""
    with serving(lab.app()) as url:
        yield {"url": f"{url}/mcp", "type": "http"}


async def ask(app: Any, front: str = "openai_chat", *, stream: bool = False, **more: Any) -> Reply:
    path, body = asking(front, stream=stream)
    return await Client(app, path, {**body, **more}).run()


def offered(memory: ScriptedPeer, index: int = -1) -> list[str]:
    return [tool["function"]["name"] for tool in sent(memory, index).get("tools", [])]


def shown(memory: ScriptedPeer) -> list[str]:
    """The results the model was shown last."""
    return [message["content"] for message in sent(memory)["messages"] if message["role"] == "tool"]


# ── every front ──────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def replies(web: dict[str, Any]) -> dict[tuple[str, bool, str], tuple[Reply, list[Any]]]:
    """Every front, streamed and whole, in each of three ways, through one gateway with one server."""
    found: dict[tuple[str, bool, str], tuple[Reply, list[Any]]] = {}
    scripts = {"native": ECHO, "both": BOTH, "text": text_reply(f"I ask.\n{FENCE}")}

    async def go() -> None:
        for way, script in scripts.items():
            turns = [each for _ in range(10) for each in (script, text_reply("It is blue."))]
            memory = model("openai_chat", *turns)
            mode = Tools.TEXT if way == "text" else Tools.NATIVE
            servers = {"lab": LAB if way == "native" else web}
            async with alive(served(memory, servers=servers, tools=mode)) as app:
                for front in ("openai_chat", "openai_responses", "anthropic_messages", "ollama_chat", "gemini"):
                    for stream in (True, False):
                        reply = await ask(app, front, stream=stream)
                        found[front, stream, way] = reply, sent(memory)["messages"]

    asyncio.run(go())
    return found


@every_front
@streamed_and_whole
@pytest.mark.costly
def test_the_client_gets_the_answer_and_never_sees_the_call(
    front: str, stream: bool, replies: dict[tuple[str, bool, str], tuple[Reply, list[Any]]]
) -> None:
    reply, messages = replies[front, stream, "native"]
    got = reply_of(front, reply, stream=stream)
    assert (got.text, got.calls) == ("I ask.\n\nIt is blue.", ())
    assert b"echo" not in reply.body
    assert (got.usage.input, got.usage.output) == (14, 10) if got.usage else False
    assert messages[-1]["content"] == "blue"
    assert messages[-2]["tool_calls"][0]["function"]["name"] == "echo"


@every_front
@streamed_and_whole
def test_a_model_without_tools_uses_them_in_text(
    front: str, stream: bool, replies: dict[tuple[str, bool, str], tuple[Reply, list[Any]]]
) -> None:
    reply, messages = replies[front, stream, "text"]
    got = reply_of(front, reply, stream=stream)
    assert (" ".join(got.text.split()), got.calls) == ("I ask. It is blue.", ())
    assert b"~~~" not in reply.body
    assert "blue" in messages[-1]["content"]


@every_front
@streamed_and_whole
def test_the_clients_own_call_beside_it_is_handed_on(
    front: str, stream: bool, replies: dict[tuple[str, bool, str], tuple[Reply, list[Any]]]
) -> None:
    reply, _ = replies[front, stream, "both"]
    assert called(reply_of(front, reply, stream=stream)) == [("look", {"at": "sky"})]
    assert b"echo" not in reply.body


@pytest.mark.parametrize("back", ["anthropic_messages", "ollama_chat"])
@streamed_and_whole
def test_it_is_the_same_over_every_back(back: str, stream: bool, web: dict[str, Any]) -> None:
    async def go() -> None:
        memory = model(back, BOTH, text_reply("It is blue."), text_reply("Done."))
        to = Route(provider=COMPATIBLE[back], base_url="http://model.test")
        mcp = Mcp(servers={"lab": {"mcpServers": {"lab": web}}}, every=(Attachment(server="lab"),))
        async with alive(create_app(GatewayConfig(default=to, mcp=mcp), memory)) as app:
            got = reply_of(back, await ask(app, back, stream=stream), stream=stream)
            assert called(got) == [("look", {"at": "sky"})]
            assert got.text == "So.\n\nIt is blue."
            words = json.dumps(sent(memory))
            assert "This call was taken" in words
            assert '"blue"' in words

    asyncio.run(go())


@every_front
def test_calls_beside_server_tools_come_whole_despite_streamed_arguments(front: str, web: dict[str, Any]) -> None:
    async def go() -> None:
        memory = model("openai_chat", BOTH, text_reply("It is blue."))
        to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
        mcp = Mcp(servers={"lab": {"mcpServers": {"lab": web}}}, every=(Attachment(server="lab"),))
        async with alive(create_app(GatewayConfig(default=to, mcp=mcp, stream_arguments=True), memory)) as app:
            got = reply_of(front, await ask(app, front, stream=True), stream=True)
        assert (called(got), got.text) == ([("look", {"at": "sky"})], "So.\n\nIt is blue.")

    asyncio.run(go())


# ── which tools run ──────────────────────────────────────────────────────────


def test_writing_tools_run_only_when_allowed_by_name(web: dict[str, Any]) -> None:
    async def go(*attachments: Attachment, **row: Any) -> list[str]:
        memory = model("openai_chat", text_reply("hi"))
        async with alive(served(memory, *attachments, servers={"lab": {**web, **row}})) as app:
            await ask(app)
        return offered(memory)

    assert asyncio.run(go()) == ["echo", "look"]
    assert asyncio.run(go(Attachment(server="lab", allow=("wipe",)))) == ["echo", "look", "wipe"]
    assert asyncio.run(go(alwaysAllow=["fail"])) == ["echo", "fail", "look"]
    assert asyncio.run(go(Attachment(server="lab", tools=("w*",), allow=("*",)))) == ["look", "where", "wipe"]


def test_tools_that_are_only_offered_run_at_the_client(web: dict[str, Any]) -> None:
    async def go() -> None:
        memory = model("openai_chat", ECHO)
        async with alive(
            served(memory, Attachment(server="lab", run_on="client", tools=("echo", "wipe")), servers={"lab": web})
        ) as app:
            reply = await ask(app)
        assert offered(memory) == ["echo", "look", "wipe"]
        assert called(reply_of("openai_chat", reply, stream=False)) == [("echo", {"text": "blue"})]

    asyncio.run(go())


def test_an_allowed_destructive_tool_runs_and_is_reported(
    web: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "dragoman.access")

    async def go() -> None:
        memory = model("openai_chat", ScriptedReply((), (("w", "wipe", {"text": "it"}),)), text_reply("Gone."))
        async with alive(served(memory, Attachment(server="lab", allow=("wipe",)), servers={"lab": web})) as app:
            reply = await ask(app)
            counted = (await Client(app, "/metrics", method="GET").run()).body.decode()
        assert shown(memory) == ["gone: it"]
        assert 'dragoman_server_tool_calls_total{outcome="ok",tool="wipe"} 1.0' in counted
        assert reply.headers["x-dragoman-server-tools"] == "wipe"
        (access,) = [record.fields for record in caplog.records if record.name == "dragoman.access"]  # type: ignore[attr-defined]
        assert (access["server_tools"], access["attempts"], access["reasks"]) == ({"wipe": 1}, 2, 0)

    asyncio.run(go())


def test_the_model_remembers_tool_results_in_the_next_request(web: dict[str, Any]) -> None:
    async def go() -> None:
        memory = model("openai_chat", ECHO, text_reply("It is blue."), text_reply("As I said."))
        async with alive(served(memory, servers={"lab": web})) as app:
            first = reply_of("openai_chat", await ask(app), stream=False)
            turns = [
                *ASKS["openai_chat"]["messages"],
                {"role": "assistant", "content": first.text},
                {"role": "user", "content": "Sure?"},
            ]
            await ask(app, messages=turns)
        assert shown(memory) == ["blue"]
        assert [m["role"] for m in sent(memory)["messages"]] == ["user", "assistant", "tool", "assistant", "user"]

    asyncio.run(go())


def test_a_client_gets_comments_while_a_tool_runs() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    class Slow(lab.Lab):
        async def do_slow(self, ctx: Any, arguments: dict[str, Any]) -> str:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return ""

    async def go(url: str) -> None:
        memory = model("openai_chat", ScriptedReply(("I wait.",), (("s", "slow", {}),)))
        to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
        mcp = Mcp(
            servers={"lab": {"mcpServers": {"lab": {"url": url}}}}, every=(Attachment(server="lab", allow=("slow",)),)
        )
        async with alive(create_app(GatewayConfig(default=to, mcp=mcp, keep_alive=0.02), memory)) as app:
            path, body = asking("openai_chat", stream=True)
            client = Client(app, path, body)
            running = asyncio.ensure_future(client.run())
            await client.until(b"I wait.")
            await client.until(KEEP_ALIVE, times=client.reply.body.count(KEEP_ALIVE) + 2)
            client.hang_up()
            await running
            await auntil(ended.is_set)

    with serving(lab.app(Slow())) as url:
        asyncio.run(go(f"{url}/mcp"))
    assert begun.is_set()


# ── servers that fail ────────────────────────────────────────────────────────


def test_an_optional_server_that_cannot_start_is_told_and_left_out(
    web: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def go() -> None:
        memory = model("openai_chat", text_reply("hi"))
        servers = {"lab": web, "gone": {"command": "/nowhere/at/all"}}
        gone = Attachment(server="gone", optional=True)
        async with alive(served(memory, gone, Attachment(server="lab"), servers=servers)) as app:
            reply = await ask(app)
        assert (reply.status, reply.headers["x-dragoman-missing-servers"]) == (200, "gone")
        assert offered(memory) == ["echo", "look"]

    with caplog.at_level(logging.WARNING, "dragoman.gateway.mcp"):
        asyncio.run(go())
    assert "'gone' cannot be used; its tools are not offered" in caplog.text


@every_front
@streamed_and_whole
def test_a_server_that_is_not_ready_in_time_fails_the_request_in_words(front: str, stream: bool) -> None:
    async def go() -> None:
        memory = model("openai_chat", text_reply("hi"))
        async with alive(served(memory, servers={"lab": {"command": "/nowhere/at/all"}}, patience=0.0)) as app:
            reply = await ask(app, front, stream=stream)
        assert reply.status == 503
        assert int(reply.headers["retry-after"]) >= 1
        words = message_of(front, reply)
        assert "MCP server 'lab' is not ready" in words
        assert "optional = true" in words
        assert memory.sent == []

    asyncio.run(go())


class Patient(ScriptedPeer):
    """A scripted model in a world where sleeping takes time."""

    def performer(self, *given: Any) -> Any:
        perform = super().performer(*given)

        async def performed(effect: Any) -> Any:
            if isinstance(effect, Sleep):
                return await asyncio.sleep(effect.seconds)
            return await perform(effect)

        return performed


def test_a_request_waits_for_a_server_that_begins(web: dict[str, Any]) -> None:
    async def go() -> None:
        memory = Patient([answered("openai_chat", text_reply("hi"), {})])
        to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
        gateway = Gateway(GatewayConfig(default=to), memory)
        await gateway.open()
        mcp = Mcp(servers={"lab": {"mcpServers": {"lab": web}}}, every=(Attachment(server="lab"),), patience=LONG)
        gateway.take(GatewayConfig(default=to, mcp=mcp))
        assert [each.server for each in gateway.attached(gateway.config, "m").missing] == ["lab"]
        front = next(one for one in FRONTS if one.codec.name == "openai_chat")
        serve = Serve(gateway, front, front.endpoints[0])
        reply = await ask(serve)
        assert reply.status == 200
        assert offered(memory) == ["echo", "look"]
        await gateway.aclose()

    asyncio.run(go())


def test_a_client_that_forbids_calls_waits_for_no_server() -> None:
    async def go() -> None:
        memory = model("openai_chat", text_reply("hi"))
        async with alive(served(memory, servers={"lab": {"command": "/nowhere/at/all"}}, patience=0.0)) as app:
            assert (await ask(app, tool_choice="none")).status == 200

    asyncio.run(go())


def test_a_clients_tool_keeps_its_name_and_the_servers_is_told(web: dict[str, Any]) -> None:
    async def go() -> None:
        memory = model("openai_chat", text_reply("hi"))
        async with alive(served(memory, servers={"lab": web})) as app:
            function = {"name": "echo", "parameters": {"type": "object", "properties": {}}}
            reply = await ask(app, tools=[{"type": "function", "function": function}])
        assert offered(memory) == ["echo", "lab_echo"]
        assert reply.headers["x-dragoman-renamed-tools"] == "echo"

    asyncio.run(go())


@pytest.mark.slow
def test_a_server_that_dies_comes_back(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(houses, "EVERY", 0.01)

    async def go() -> None:
        dies = ScriptedReply((), (("d", "die", {}),))
        memory = model("openai_chat", dies, text_reply("It died."), text_reply("hi"))
        async with alive(served(memory, Attachment(server="lab", allow=("die",)))) as app:
            assert reply_of("openai_chat", await ask(app), stream=False).text == "It died."
            assert "[ERROR:ECONNRESET]" in shown(memory)[0]
            await auntil(lambda: "has failed" in caplog.text)
            await auntil(lambda: caplog.text.count("offers") == 2)
            await ask(app)
            assert offered(memory) == ["die", "echo", "look"]

    with caplog.at_level(logging.INFO, "dragoman.gateway.mcp"):
        asyncio.run(go())


def test_servers_are_changed_while_it_runs_and_the_others_stay(web: dict[str, Any]) -> None:
    async def go() -> None:
        house = houses.McpTools(Mcp(servers={"a": {"mcpServers": {"a": web}}}))
        await house.open()
        both = Mcp(servers={"a": {"mcpServers": {"a": web}}, "b": {"mcpServers": {"b": web}}})
        house.take(both)
        attachments = (Attachment(server="a"), Attachment(server="b"))
        await auntil(lambda: len(house.attached(attachments).tools["b"]) == 1)
        assert list(house.attached(attachments).tools["a"]) == ["echo"]
        house.take(Mcp(servers={"b": both.servers["b"]}))
        assert [list(tools) for tools in house.attached(attachments).tools.values()] == [[], ["echo"]]
        await house.aclose()

    asyncio.run(go())


def test_servers_of_new_settings_are_reached_while_it_runs(web: dict[str, Any]) -> None:
    async def go() -> None:
        memory = model("openai_chat", text_reply("hi"))
        gateway = Gateway(GatewayConfig(), memory)
        await gateway.open()
        mcp = Mcp(servers={"lab": {"mcpServers": {"lab": web}}}, every=(Attachment(server="lab"),))
        gateway.take(GatewayConfig(mcp=mcp))
        await auntil(lambda: list(gateway.attached(gateway.config, "m").tools.get("lab", ())) == ["echo"])
        gateway.take(GatewayConfig())
        assert gateway.attached(gateway.config, "m").tools == {}
        await gateway.aclose()

    asyncio.run(go())


# ── settings ─────────────────────────────────────────────────────────────────

ROWS = {"mcpServers": {"time": {"command": "t"}, "files": {"command": "f"}, "idle": {"command": "i"}}}


def settings(environ: dict[str, str] | None = None, **data: Any) -> GatewayConfig:
    return read({"default": {"route": "ollama"}, **ROWS, **data}, environ or {}).config


def test_only_servers_that_models_name_are_started() -> None:
    files = {"server": "files", "tools": ["read_*"], "allow": ["write_file"], "run_on": "client"}
    config = settings(
        models={"a": {"route": "ollama/a", "mcp": ["time", files]}, "b": {"route": "ollama/b"}},
        default={"route": "ollama", "mcp": ["time"]},
        mcp={"max_turns": 3, "result_limit": 1000},
    )
    time = Attachment(server="time")
    attachments = Attachment(server="files", run_on="client", tools=("read_*",), allow=("write_file",))
    assert [config.attached(name) for name in ("a", "b", "c")] == [(time, attachments), (), (time,)]
    assert set(config.mcp.servers) == {"time", "files"}
    assert (config.mcp.policy.max_turns, config.mcp.policy.result_limit) == (3, 1000)


def test_checking_a_file_names_the_servers_in_use(tmp_path: Path) -> None:
    file = tmp_path / "dragoman.toml"
    file.write_text(
        '[default]\nroute = "ollama"\nmcp = ["time"]\n[mcpServers]\ntime.command = "t"\nidle.command = "i"\n'
    )
    checked = CliRunner().invoke(check.command, [str(file)])
    assert "MCP servers attached: time;" in checked.output


def test_a_file_of_the_environment_is_for_every_model(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"servers": {"web": {"url": "http://w"}, "off": {"command": "x", "disabled": True}}}))
    config = settings({"DRAGOMAN_MCP": str(file)}, models={"a": {"route": "ollama/a", "mcp": ["time"]}})
    assert [each.server for each in config.attached("a")] == ["time", "web"]
    assert [each.server for each in config.attached("z")] == ["web"]
    assert config.mcp.servers["web"] == str(file)


WRONG = [
    ({"default": {"route": "ollama", "mcp": ["tiem"]}}, "no MCP server is named 'tiem'"),
    ({"default": {"route": "ollama", "mcp": [{"server": "time", "run_on": "both"}]}}, "$.default"),
    ({"mcp": {"max_turns": 0}}, "$.mcp.max_turns"),
    ({"mcpServers": {"time": {}}}, "MCP server 'time'"),
    ({"mcpServers": {"time": {"command": "${NOBODY}"}}}, "NOBODY is not set"),
]


@pytest.mark.parametrize(("data", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_wrong_with_the_settings_is_said(data: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as wrong:
        settings(**data)
    assert message in str(wrong.value)


def test_secrets_of_servers_are_not_shown() -> None:
    rows = {"time": {"command": "t", "env": {"TOKEN": "${TOKEN}"}, "headers": {"x": "plain-secret"}}}
    config = settings({"TOKEN": "env-secret"}, mcpServers=rows, default={"route": "ollama", "mcp": ["time"]})
    assert "secret" not in repr(config)


# ── spans, and a provider that fails ─────────────────────────────────────────


def test_each_server_tool_is_a_span_below_its_exchange(web: dict[str, Any]) -> None:
    recorder, silent = TracingRecorder(content=True), TracingRecorder()

    async def go() -> None:
        memory = model("openai_chat", ECHO, text_reply("It is blue."))
        app = served(memory, servers={"lab": web}, observers=(recorder.tracing, silent.tracing))
        async with alive(app):
            await ask(app)

    asyncio.run(go())
    exchange, first, ran, second = recorder.spans
    assert [span.name for span in (first, ran, second)] == ["chat m", "execute_tool echo", "chat m"]
    assert ran.parent is not None
    assert ran.parent.span_id == exchange.context.span_id
    known = attributes(ran)
    (took,) = recorder.points["gen_ai.execute_tool.duration"]
    assert took.attributes["gen_ai.tool.name"] == "echo"
    assert known["session.id"] == attributes(first)["session.id"]
    assert (known["gen_ai.operation.name"], known["gen_ai.tool.name"]) == ("execute_tool", "echo")
    assert json.loads(known["gen_ai.tool.call.arguments"]) == {"text": "blue"}
    assert known["gen_ai.tool.call.result"] == "blue"
    assert not {key for span in silent.spans for key in attributes(span) if key.endswith(("arguments", "result"))}


def test_a_failed_or_abandoned_tool_marks_its_span() -> None:
    recorder, record = TracingRecorder(), ExchangeRecord()
    call = ToolCall(id="c", name="look", arguments={})
    recorder.tracing.exchange_began(record)
    recorder.tracing.tool_began(record, call)
    failed = ToolResult(call_id="c", name="look", content="no", is_error=True, error_code="ENOENT")
    recorder.tracing.tool_ended(record, call, failed)
    recorder.tracing.tool_began(record, replace(call, id="d"))
    recorder.tracing.exchange_ended(record)
    assert [attributes(span).get("error.type") for span in recorder.spans[1:]] == ["ENOENT", "canceled"]


def test_a_failure_between_two_answers_keeps_what_was_done(web: dict[str, Any]) -> None:
    async def go() -> None:
        wiping = ScriptedReply((), (("w", "wipe", {"text": "it"}),))
        down = Answer(status=ProviderError("cannot reach it; is it running?", kind=ErrorKind.NETWORK))
        memory = model("openai_chat", wiping, down, down, down)
        app = served(memory, Attachment(server="lab", allow=("wipe",)), servers={"lab": web})
        async with alive(app):
            reply = await ask(app)
            counted = (await Client(app, "/metrics", method="GET").run()).body.decode()
        answer = reply_of("openai_chat", reply, stream=False)
        assert (reply.status, reply.headers["x-dragoman-server-tools"]) == (200, "wipe")
        assert answer.text.startswith("[wipe ran for this request")
        assert 'dragoman_upstream_requests_total{outcome="network",route="compatible/m"} 3.0' in counted
        assert "dragoman_reasks_total{" not in counted

    asyncio.run(go())
