"""A `ToolSet` served over MCP: an official client, and our own, find the tools and call them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from dragoman.errors import UsageError
from dragoman.mcp import McpServers, http_app
from dragoman.mcp.server import server
from dragoman.sim import serving
from dragoman.tools import Context, ToolSet
from dragoman.types import Media, ToolCall
from tests.support import places
from tests.support.mcp_workbench import TOOLS, add

ROOT = str(places.ROOT)
COMMAND = ["-m", "dragoman", "mcp", "serve", "tests.support.mcp_workbench:TOOLS"]

# (call, what comes back: isError, text, structured content)
CALLS: list[tuple[str, dict[str, Any], bool, str, Any]] = [
    ("add", {"a": 2, "b": 3}, False, "5", None),
    ("add", {"a": "2", "b": "3"}, False, "5", None),
    ("add", {"a": "two", "b": 3}, True, "[ERROR:InvalidArgs] The arguments of 'add' do not fit", None),
    ("add", {}, True, "[ERROR:InvalidArgs]", None),
    ("adder", {}, True, "[ERROR:UnknownTool] There is no tool named 'adder'. Did you mean 'add'?", None),
    ("person", {"name": "Ann"}, False, "", {"name": "Ann", "age": 42}),
    ("read_file", {"path": "/nonexistent"}, True, "[ERROR:ENOENT]", None),
    ("wipe", {}, True, "[ERROR:Locked] it is locked; ask for the key", None),
    ("slow", {}, True, "[ERROR:Timeout]", None),
    ("noisy", {}, False, "quiet", None),
]


async def _check(client: Client) -> None:
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(listed) == list(TOOLS)
    assert listed["add"].input_schema == TOOLS["add"].tool.parameters
    hints = {name: tool.annotations for name, tool in listed.items() if tool.annotations}
    assert (hints["add"].read_only_hint, hints["add"].idempotent_hint) == (True, True)
    assert (hints["read_file"].read_only_hint, hints["read_file"].destructive_hint) == (False, False)
    assert hints["wipe"].destructive_hint is True
    for name, arguments, failed, text, structured in CALLS:
        result = await client.call_tool(name, arguments)
        shown = "".join(block.text for block in result.content if block.type == "text")
        assert (result.is_error, result.structured_content) == (failed, structured), (name, shown)
        assert shown.startswith(text), shown
    messages: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        messages.append(message)

    drawn = await client.call_tool("picture", {}, progress_callback=hear)
    assert [block.type for block in drawn.content] == ["text", "image"]
    assert messages == ["drawing"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_official_client_is_served_over_http(mode: str) -> None:
    async def main() -> None:
        with serving(http_app(TOOLS)) as url:
            async with Client(f"{url}/mcp", mode=mode) as client:
                await _check(client)

    asyncio.run(main())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_official_client_is_served_in_process(mode: str) -> None:
    async def main() -> None:
        async with Client(server(TOOLS, instructions="Be brief."), mode=mode) as client:
            assert client.instructions == "Be brief."
            await _check(client)

    asyncio.run(main())


def test_an_official_client_is_served_over_stdio_by_the_command() -> None:
    async def main() -> None:
        parameters = StdioServerParameters(command=sys.executable, args=COMMAND, cwd=ROOT)
        async with Client(stdio_client(parameters)) as client:
            await _check(client)

    asyncio.run(main())


@contextmanager
def ours() -> Iterator[ToolSet]:
    """The same tools, served by us and fetched by us."""
    with serving(http_app(TOOLS)) as url, McpServers({"mcpServers": {"own": {"url": f"{url}/mcp"}}}) as servers:
        yield servers.tools()


def test_what_we_serve_and_fetch_is_what_it_was() -> None:
    with ours() as fetched:
        for before, after in zip(TOOLS.values(), fetched.values(), strict=True):
            assert (after.tool.name, after.tool.description) == (before.tool.name, before.tool.description)
            assert after.tool.parameters == before.tool.parameters
            assert (after.read_only, after.approval) == (before.read_only, before.approval)

        context = Context(call=ToolCall(id="c1", name="wipe"))
        failed = asyncio.run(fetched["wipe"].function({}, context))
        assert (failed.is_error, failed.error_code, failed.text) == (True, "Locked", "it is locked; ask for the key")
        drawn = asyncio.run(fetched["picture"].function({}, context))
        assert [type(part) for part in drawn.content][1] is Media


def test_a_name_mcp_does_not_allow_is_refused() -> None:
    with pytest.raises(UsageError, match=r"rename it with tools.renamed\(\{'a b': '…'\}\)"):
        http_app(ToolSet(add).renamed({"add": "a b"}))


def test_a_page_that_rebinds_its_name_to_loopback_is_refused() -> None:
    with serving(http_app(TOOLS)) as url:
        answer = httpx2.post(f"{url}/mcp", json={}, headers={"host": "evil.example"}, trust_env=False)
    assert answer.status_code == 421
