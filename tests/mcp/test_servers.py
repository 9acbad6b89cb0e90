"""Real servers in processes and behind ports: their tools are ordinary tools, whatever happens to the server."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from dragoman import Client
from dragoman.dialects import DIALECTS
from dragoman.errors import ProviderError, ToolError, UnknownName, UsageError
from dragoman.mcp import ClientCallbacks, McpServers
from dragoman.mcp.servers import definition, namespace, spelt
from dragoman.sim import Journal, WeakModel, running, serving
from dragoman.tools import Approval, Context
from dragoman.types import EMPTY_OBJECT_SCHEMA, JsonObject, Media, Message, Request, Response, ToolCall, ToolResult
from tests.support import mcp_lab as lab
from tests.support import places
from tests.support.clocks import auntil, until

ROOT = str(places.ROOT)
KINDS = ["stdio", "stdio-legacy", "http", "http-legacy", "sse"]
NAMES = [tool["name"] for tool in lab.TOOLS]


def stdio(*arguments: str, **fields: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-m", "tests.support.mcp_lab", *arguments], "cwd": ROOT, **fields}


@contextmanager
def place(kind: str) -> Iterator[dict[str, Any]]:
    """The fields of a server of this kind, which runs as long as the block."""
    match kind:
        case "stdio":
            yield stdio()
        case "stdio-legacy":
            yield stdio("--legacy")
        case "sse":
            with serving(lab.sse_app()) as url:
                yield {"url": f"{url}/sse"}
        case _:
            with serving(lab.app(legacy=kind.endswith("legacy"))) as url:
                yield {"url": f"{url}/mcp"}


def config(**servers: Any) -> dict[str, Any]:
    return {"mcpServers": servers}


def call(
    servers: McpServers, name: str, report: Callable[[str], None] = print, **arguments: Any
) -> Coroutine[Any, Any, ToolResult]:
    """A call of a tool, as whoever runs tools makes it."""
    context = Context(call=ToolCall(id="c1", name=name, arguments=arguments), key="k", report=report)
    made: Coroutine[Any, Any, ToolResult] = servers.tools()[name].function(arguments, context)
    return made


async def failure(work: Coroutine[Any, Any, ToolResult]) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await work
    return caught.value


ANSWERS = ClientCallbacks(
    roots=["/tmp"],
    elicit=lambda message, schema: {"name": f"Ann, asked {message!r}"} if schema["required"] == ["name"] else None,
    sample=lambda request: Response(message=Message("assistant", summary(request)), model="m1"),
)


def summary(request: Request) -> str:
    return f"{request.sampling.max_tokens} {[(m.role, m.text) for m in request.messages]}"


# ── every transport, every era ───────────────────────────────────────────────


@pytest.fixture(scope="module", params=KINDS)
def servers(request: pytest.FixtureRequest) -> Iterator[McpServers]:
    with place(request.param) as row, McpServers(config(lab=row), callbacks=ANSWERS) as opened:
        yield opened


@pytest.fixture(scope="module")
def http() -> Iterator[dict[str, Any]]:
    with place("http") as row:
        yield row


@pytest.mark.costly
def test_every_page_of_tools_is_listed(servers: McpServers) -> None:
    assert list(servers.tools())[: len(NAMES)] == NAMES
    assert len(NAMES) > 2 * lab.PAGE
    assert servers.instructions == {"lab": "Be kind."}


def test_a_tool_is_called_from_any_thread_and_any_loop(servers: McpServers) -> None:
    assert asyncio.run(call(servers, "echo", text="héllo\n🙂")).text == "héllo\n🙂"
    with ThreadPoolExecutor(4) as threads:
        texts = [f"t{n}" for n in range(12)]
        results = threads.map(lambda text: asyncio.run(call(servers, "echo", text=text)), texts)
        assert [result.text for result in results] == texts


def test_every_kind_of_content_arrives(servers: McpServers) -> None:
    result = asyncio.run(call(servers, "shapes"))
    assert result.metadata["structured"] == lab.SHAPES["structuredContent"]
    assert [part.mime for part in result.content if isinstance(part, Media)] == [
        "image/png",
        "audio/wav",
        "application/pdf",
    ]
    assert "inside" in result.text


def test_a_failed_call_is_a_result_with_a_code(servers: McpServers) -> None:
    result = asyncio.run(call(servers, "fail", text="ENOENT: no such file"))
    assert (result.is_error, result.error_code) == (True, "ENOENT")


def test_a_result_that_breaks_its_schema_still_counts(servers: McpServers) -> None:
    assert asyncio.run(call(servers, "loose")).text.startswith("so")


def test_progress_is_reported(servers: McpServers) -> None:
    progress: list[str] = []
    assert asyncio.run(call(servers, "slow", progress.append)).text == "done"
    assert progress == ["working (1/2)", "working (2/2)"]


def test_what_the_server_asks_is_answered(servers: McpServers) -> None:
    assert asyncio.run(call(servers, "where")).text == "file:///tmp"
    assert asyncio.run(call(servers, "ask")).text == "accept: {'name': \"Ann, asked 'What is your name?'\"}"
    assert asyncio.run(call(servers, "think")).text == "m1: 10 [('system', 'Count.'), ('user', 'Two and two?')]"


def test_a_tool_the_server_has_forgotten_is_unknown(servers: McpServers) -> None:
    [connection] = servers._connections
    assert servers._loop is not None
    gone = asyncio.run_coroutine_threadsafe(connection.call("gone", {}), servers._loop)
    with pytest.raises(ToolError) as error:
        gone.result()
    assert error.value.code == "UnknownTool"


def test_a_list_that_changes_is_heard(servers: McpServers) -> None:
    async def main() -> None:
        before = servers.tools()
        assert before is servers.tools()
        await call(servers, "grow")
        await auntil(lambda: "grown" in servers.tools())
        assert "grown" not in before

    asyncio.run(main())


def test_what_nobody_answers_is_told_to_the_server() -> None:
    async def main() -> None:
        def broken(*_: object) -> Any:
            raise RuntimeError("secret")

        with place("http") as new, place("http-legacy") as old:
            for row in (new, old):
                async with McpServers(config(lab=row)) as opened:
                    for name in ("ask", "think", "where"):
                        assert "not supported" in str(await failure(call(opened, name)))
                async with McpServers(config(lab=row), callbacks=ClientCallbacks(elicit=lambda *_: None)) as opened:
                    assert (await call(opened, "ask")).text == "decline: None"
                async with McpServers(config(lab=row), callbacks=ClientCallbacks(elicit=broken)) as opened:
                    error = await failure(call(opened, "ask"))
                    assert "RuntimeError" in str(error)
                    assert "secret" not in str(error)

    asyncio.run(main())


def test_a_server_may_be_lent_the_clients_own_model(http: dict[str, Any]) -> None:
    with running(WeakModel()) as url, Client("weak", base_url=f"{url}/v1") as client:
        callbacks = ClientCallbacks(sample=lambda request: client.turn(messages=request.messages, sampling=request.sampling))
        with McpServers(config(lab=http), callbacks=callbacks) as opened:
            assert asyncio.run(call(opened, "think")).text.startswith("weak: I am a scripted model")


# ── servers that fail ────────────────────────────────────────────────────────


def test_a_dead_server_is_started_again() -> None:
    async def main() -> None:
        async with McpServers(config(lab=stdio())) as opened:
            [waiting, killing] = await asyncio.gather(
                failure(call(opened, "slow", seconds=600)), failure(call(opened, "die"))
            )
            assert {waiting.code, killing.code} == {"ECONNRESET"}
            assert "last words" not in str(killing)
            assert "It said: last words" in opened.failures["lab"]
            [connection] = opened._connections
            await auntil(lambda: connection._life is not None and connection._life.over)
            assert (await call(opened, "echo", text="back")).text == "back"
            assert opened.failures == {}

    asyncio.run(main())


@pytest.mark.slow
def test_a_forgotten_session_is_opened_again() -> None:
    async def main() -> None:
        with serving(lab.app(legacy=True)) as url:
            port = int(url.rpartition(":")[2])
            opened = await McpServers(config(lab={"url": f"{url}/mcp"})).__aenter__()
        try:
            assert (await failure(call(opened, "echo", text="x"))).code in ("ECONNREFUSED", "ECONNRESET")
            with serving(lab.app(legacy=True), port=port):
                assert (await call(opened, "echo", text="back")).text == "back"
        finally:
            await opened.__aexit__(None, None, None)

    asyncio.run(main())


def test_a_session_lost_behind_our_back_is_found_again() -> None:
    async def main() -> None:
        forgetful = lab.Forgetful()
        with serving(forgetful) as url:
            async with McpServers(config(lab={"url": f"{url}/mcp"})) as opened:
                assert (await call(opened, "echo", text="one")).text == "one"
                forgetful.forget()
                assert (await call(opened, "echo", text="two")).text == "two"
                assert forgetful.sessions == 2

    asyncio.run(main())


def test_a_call_has_the_time_its_configuration_gives_it() -> None:
    async def main() -> None:
        for kind in ("http", "http-legacy"):
            with place(kind) as row:
                async with McpServers(config(lab={**row, "timeout": 0.05})) as opened:
                    assert opened.tools()["slow"].timeout == 0.05
                    assert (await failure(call(opened, "slow", seconds=600))).code == "Timeout"
                    [connection] = opened._connections
                    assert connection._life is not None
                    assert not connection._life.over

    asyncio.run(main())


def test_a_cancelled_call_leaves_the_server_usable() -> None:
    async def main() -> None:
        async with McpServers(config(lab=stdio())) as opened:
            started = asyncio.Event()
            work = asyncio.create_task(call(opened, "slow", lambda _: started.set(), seconds=600))
            await started.wait()
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
            assert (await call(opened, "echo", text="still here")).text == "still here"

    asyncio.run(main())


def _answering(status: int) -> Starlette:
    async def answer(_: Any) -> PlainTextResponse:
        return PlainTextResponse("no", status)

    return Starlette(routes=[Route("/mcp", answer, methods=["GET", "POST"])])


UNUSABLE = [
    ({"command": "/nonexistent/server"}, "cannot start MCP server 'bad': /nonexistent/server: No such file", "ECONNREFUSED"),
    ({"command": sys.executable, "args": ["-c", "import sys; sys.exit('no key')"]}, "ended before it was ready; start", "ECONNRESET"),
    ({"command": sys.executable, "args": ["-c", "import sys; print('Welcome!'); sys.exit('no key')"]}, "It said: no key", "ECONNRESET"),
    ({"command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"], "startup_timeout_sec": 0.3}, "was not ready after 0.3 s", "Timeout"),
    ({"url": "http://127.0.0.1:9/mcp"}, "is the server running", "ECONNREFUSED"),
    ({"url": "http://127.0.0.1:9/sse", "type": "sse"}, "is the server running", "ECONNREFUSED"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "message", "code"), UNUSABLE, ids=[u[1][-20:] for u in UNUSABLE])
def test_an_unusable_server_is_reported_with_its_last_words(row: dict[str, Any], message: str, code: str) -> None:
    with pytest.raises(ProviderError) as error, McpServers(config(bad=row)):
        pass
    assert message in str(error.value)
    assert error.value.code == code


@pytest.mark.parametrize(
    ("status", "message"),
    [(401, '"Authorization" in "headers"'), (403, "Authorization"), (500, "answered 500"), (404, "answered 404")],
)
def test_a_server_that_refuses_us_says_why(status: int, message: str) -> None:
    with (
        serving(_answering(status)) as url,
        pytest.raises(ProviderError) as error,
        McpServers(config(bad={"url": f"{url}/mcp"})),
    ):
        pass
    assert message in str(error.value)


def test_servers_that_cannot_be_used_may_be_skipped(http: dict[str, Any]) -> None:
    row = {"command": "/nonexistent/server"}
    with McpServers(config(bad=row, worse=row, lab=http), missing="skip") as opened:
        assert set(opened.failures) == {"bad", "worse"}
        assert list(opened.tools()) == NAMES
    with pytest.raises(ProviderError, match=r"(?s)'bad'.*'worse'"), McpServers(config(bad=row, worse=row, lab=http)):
        pass


def is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_start_that_is_interrupted_leaves_nothing_behind(tmp_path: Path) -> None:
    script = "import os, sys; open(sys.argv[1], 'w').write(str(os.getpid())); sys.stdin.read()"
    row = {"command": sys.executable, "args": ["-c", script, str(tmp_path / "pid")]}

    async def main() -> None:
        opening = asyncio.create_task(McpServers(config(mute=row)).__aenter__())
        await auntil(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text()))
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening

    asyncio.run(main())
    until(lambda: is_gone(int((tmp_path / "pid").read_text())))  # a thread waits for its end


@pytest.mark.parametrize("method", ["DELETE", "tools/list"])
def test_a_hanging_server_is_left_all_the_same(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.mcp.connection.CLOSING", 0.2)

    async def main() -> None:
        hanging = lab.Hanging(method)
        with serving(hanging) as url:
            async with McpServers(config(lab={"url": f"{url}/mcp"})) as opened:
                assert (await call(opened, "echo", text="hi")).text == "hi"
                hanging.begin()
                await call(opened, "grow")
            hanging.end()

    asyncio.run(main())


def test_no_process_is_left(tmp_path: Path) -> None:
    script = "import os, runpy, sys; open(sys.argv.pop(), 'w').write(str(os.getpid())); runpy.run_module('tests.support.mcp_lab', run_name='__main__')"
    row = {"command": sys.executable, "args": ["-c", script, str(tmp_path / "pid")], "cwd": ROOT}
    with McpServers(config(lab=row)) as opened:
        pid = int((tmp_path / "pid").read_text())
        os.kill(pid, 0)
        with pytest.raises(UsageError, match="open already"):
            opened.__enter__()
    assert is_gone(pid)


def test_tools_of_closed_servers_say_so(http: dict[str, Any]) -> None:
    with McpServers(config(lab=http)) as opened:
        echo = opened.tools()["echo"]
    with pytest.raises(UsageError, match="inside the `with` block"):
        opened.tools()
    context = Context(call=ToolCall(id="c", name="echo"))
    with pytest.raises(ToolError, match="inside the `with` block"):
        asyncio.run(echo.function({}, context))
    with opened:
        assert asyncio.run(call(opened, "echo", text="again")).text == "again"


# ── several servers ──────────────────────────────────────────────────────────


@pytest.mark.requirement("weak-chatcli-15")
def test_names_that_clash_are_told_apart_and_only_those(http: dict[str, Any]) -> None:
    one, two = {**http, "includeTools": ["echo", "fail"]}, {**http, "includeTools": ["echo", "wipe"]}
    with McpServers(config(one=one, two=two)) as opened:
        assert list(opened.tools()) == ["one.echo", "fail", "two.echo", "wipe"]
        assert asyncio.run(call(opened, "two.echo", text="hi")).name == "two.echo"


def test_one_server_of_several_may_be_chosen(http: dict[str, Any]) -> None:
    both = config(one=http, two={"command": "/nonexistent"})
    with McpServers(both, only=["one"], naming="always") as opened:
        assert list(opened.tools()) == [f"one.{name}" for name in NAMES]
    with pytest.raises(UnknownName, match="did you mean 'one'"):
        McpServers(both, only=["onne"])


SPELT = [
    ([("a", "x"), ("b", "y")], ["x", "y"], ["a.x", "b.y"]),
    ([("a", "x"), ("b", "x")], ["a.x", "b.x"], ["a.x", "b.x"]),
    ([("my server!", "x"), ("b", "x")], ["my_server.x", "b.x"], ["my_server.x", "b.x"]),
    ([("a b", "x"), ("a_b", "x")], ["a_b.x", "a_b.x_2"], ["a_b.x", "a_b.x_2"]),
    ([("a", "x"), ("b", "x"), ("c", "a.x")], ["a.x", "b.x", "a.x_2"], ["a.x", "b.x", "c.a.x"]),
]


@pytest.mark.parametrize(("tools", "clash", "always"), SPELT)
def test_every_tool_has_a_name_of_its_own(tools: list[tuple[str, str]], clash: list[str], always: list[str]) -> None:
    assert spelt(tools, "clash") == clash
    assert spelt(tools, "always") == always


def test_a_server_without_letters_still_has_a_name() -> None:
    assert namespace("!!") == "server"


@pytest.mark.requirement("004-mcp")
def test_dotted_names_work_with_the_json_protocol(http: dict[str, Any]) -> None:
    journal, name = Journal(), "kom.memory.v1.upsert_memory"
    with McpServers(config(kom=http)) as opened, running(WeakModel(), journal=journal) as url:
        tools = opened.tools().only(name)
        with Client("weak", base_url=f"{url}/v1", tools=tools, prompt_dialect=DIALECTS["json_protocol"]) as client:
            run = client.run(f'Call {name} with namespace="project:metal" items=[{{"text": "comparison takeaways"}}].')
    [exchange, *_] = journal.exchanges
    [system] = [message.text for message in exchange.messages if message.role == "system"]
    assert name in system
    assert all(word in system for word in ('"namespace"', '"items"', '"required"'))
    [call] = [call for message in run.messages for call in message.calls]
    [result] = [result for message in run.messages for result in message.results]
    assert (call.name, call.arguments["namespace"]) == (name, "project:metal")
    assert call.report is not None
    assert call.report.dialect == "json_protocol"
    assert (result.text, result.is_error) == ('{"upserted": 1}', False)
    assert run.done


# ── definitions ──────────────────────────────────────────────────────────────


def test_hints_become_what_the_loop_asks_for(http: dict[str, Any]) -> None:
    with McpServers(config(lab={**http, "alwaysAllow": ["fail"]})) as opened:
        tools = opened.tools()
    hints = {name: (each.read_only, each.idempotent, each.approval) for name, each in tools.items()}
    assert hints["echo"] == (True, True, Approval.POLICY)
    assert hints["wipe"] == (False, False, Approval.ALWAYS)
    assert hints["fail"] == (False, False, Approval.NEVER)
    assert hints["shapes"] == (False, False, Approval.POLICY)


LISTED: list[tuple[JsonObject, str, JsonObject]] = [
    ({"name": "t", "description": "d", "title": "T", "inputSchema": lab.TEXT}, "d", lab.TEXT),
    ({"name": "t", "title": "T", "inputSchema": {}}, "T", EMPTY_OBJECT_SCHEMA),
    ({"name": "t"}, "", EMPTY_OBJECT_SCHEMA),
]


@pytest.mark.parametrize(("listed", "description", "schema"), LISTED)
def test_a_listed_tool_is_a_definition(listed: JsonObject, description: str, schema: JsonObject) -> None:
    tool = definition(listed, "n", "srv")
    assert (tool.name, tool.description, tool.parameters) == ("n", description, schema)
    assert tool.metadata["mcp"]["server"] == "srv"


def test_a_configuration_file_is_all_it_takes(http: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps(config(lab=http)), encoding="utf-8")
    with McpServers(path) as opened:
        assert list(opened.tools()) == NAMES
