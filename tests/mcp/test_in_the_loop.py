"""Tools of MCP servers in runs of both clients: like any other tools."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from dragoman import AsyncClient, Cancel, Client, Corrected, Interrupted, Policy, Run, ToolProgress, ToolStarted
from dragoman.errors import UsageError
from dragoman.mcp import McpServers
from dragoman.sim import WeakModel, running, serving
from dragoman.tools import ToolSet, tool
from dragoman.types import ToolResult
from tests.support import mcp_lab as lab


@pytest.fixture(scope="module")
def weak() -> Iterator[str]:
    with running(WeakModel()) as url:
        yield f"{url}/v1"


@pytest.fixture(scope="module")
def config() -> Iterator[dict[str, Any]]:
    with serving(lab.app()) as url:
        yield {"mcpServers": {"lab": {"url": f"{url}/mcp"}}}


@pytest.fixture(scope="module")
def servers(config: dict[str, Any]) -> Iterator[McpServers]:
    with McpServers(config) as opened:
        yield opened


def results(run: Run) -> list[ToolResult]:
    return [result for message in run.messages for result in message.results]


@tool(read_only=True)
def local(text: str) -> str:
    """A tool of our own."""
    return f"here: {text}"


ORDER = 'Call echo with text="there" and call local with text="here", then call fail with text="ENOENT: gone".'


def test_they_run_beside_our_own_in_the_synchronous_client(servers: McpServers, weak: str) -> None:
    with Client("weak", base_url=weak, tools=servers.tools() | ToolSet(local)) as client:
        outcomes = [(result.name, result.text, result.error_code) for result in results(client.run(ORDER))]
    assert outcomes[:3] == [("echo", "there", None), ("local", "here: here", None), ("fail", "ENOENT: gone", "ENOENT")]


def test_they_run_beside_our_own_in_the_asynchronous_client(config: dict[str, Any], weak: str) -> None:
    async def main() -> list[tuple[str, str, str | None]]:
        async with McpServers(config) as opened, AsyncClient("weak", base_url=weak) as client:
            run = await client.run(ORDER, tools=opened.tools() | ToolSet(local))
        return [(result.name, result.text, result.error_code) for result in results(run)]

    assert asyncio.run(main())[:3] == [
        ("echo", "there", None),
        ("local", "here: here", None),
        ("fail", "ENOENT: gone", "ENOENT"),
    ]


def test_progress_is_passed_on_and_runs_can_be_cancelled(servers: McpServers, weak: str) -> None:
    cancel, steps = Cancel(), list[str]()

    def listen(step: Any) -> None:
        if isinstance(step, ToolProgress):
            steps.append(step.text)
            if len(steps) == 2:
                cancel.cancel()

    with Client("weak", base_url=weak, tools=servers.tools()) as client:
        run = client.run("Call slow with seconds=600.", on_event=listen, cancel=cancel)
        assert isinstance(run.end, Interrupted)
        assert steps == ["working (1/2)", "working (2/2)"]
        assert [result.error_code for result in results(run)] == ["Canceled"]
        assert client.run('Call echo with text="still here".').done


def test_they_are_given_up_when_they_take_too_long(servers: McpServers, weak: str) -> None:
    with Client("weak", base_url=weak, tools=servers.tools(), policy=Policy(tool_timeout=0.1)) as client:
        run = client.run("Call slow with seconds=600.")
    assert results(run)[0].error_code == "Timeout"


def test_a_destructive_one_runs_only_where_somebody_allows_it(servers: McpServers, weak: str) -> None:
    order = 'Call wipe with text="all".'
    with Client("weak", base_url=weak, tools=servers.tools()) as client:
        assert {result.error_code for result in results(client.run(order))} == {"Denied"}
        allowed = client.run(order, policy=Policy(approve=lambda _: True))
    assert [result.text for result in results(allowed)] == ["gone: all"]


def test_wrong_arguments_are_corrected_before_the_server_sees_them(servers: McpServers, weak: str) -> None:
    steps: list[Any] = []
    with Client("weak", base_url=weak, tools=servers.tools()) as client:
        run = client.run("Call echo with words=3.", on_event=steps.append, raise_on_failure=False)
    assert {issue.kind for step in steps if isinstance(step, Corrected) for issue in step.issues} >= {
        "invalid_arguments"
    }
    assert not any(isinstance(step, ToolStarted) for step in steps)
    assert results(run) == []


def test_every_kind_of_content_reaches_the_conversation(servers: McpServers, weak: str) -> None:
    with Client("weak", base_url=weak, tools=servers.tools()) as client:
        run = client.run("Call shapes.")
    [result] = results(run)
    assert len(result.content) == len(lab.SHAPES["content"]) + 1
    assert run.done


def test_a_set_is_fetched_once_and_joins_with_itself(servers: McpServers) -> None:
    assert list(servers.tools() | servers.tools()) == list(servers.tools())

    @tool
    def echo() -> str:
        """Another one."""
        return ""

    with pytest.raises(UsageError, match="two tools are named 'echo'"):
        _ = servers.tools() | ToolSet(echo)
    assert "lab.echo" in servers.tools().namespaced("lab") | ToolSet(echo)
