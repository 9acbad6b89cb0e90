"""Any `ToolSet` as an MCP server: over stdio, or streamable HTTP at `/mcp`.

The other way round of `servers`.  Calls are checked and run as a loop runs them: arguments are mended in notation,
wrong ones are answered with what is wrong, each tool has its time, a client can cancel.
Contract: whatever a tool does, the client gets a result; a failure has `isError` and `[ERROR:CODE]` in its text.
Whether a call may run is for the host to ask its user: approvals become annotations and are not asked here.
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal

import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.applications import Starlette

from ..effects import Job, RunTools, ToolProgress
from ..errors import UsageError
from ..io.ids import mint
from ..io.tasks import TaskToolRunner
from ..loop.check_calls import Checker, ReadyCall, no_such_tool
from ..loop.corrections import answer
from ..tools import Approval, Runnable, ToolSet, failure_of
from ..types import ToolCall, ToolResult
from ..version import __version__
from .results import written

log: logging.Logger = logging.getLogger("dragoman.mcp")

PATH = "/mcp"
"""The path of the HTTP endpoint, as in the SDK's own servers."""
NAME = re.compile(r"[A-Za-z0-9._-]{1,128}")
"""Source: https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names"""
READS_ON: Literal["h11"] = "h11"
"""uvicorn's other parser drops the body of a request that offers another protocol, as Java's `HttpClient` does."""


def server(tools: ToolSet, *, name: str = "dragoman", instructions: str = "") -> Server[Any]:
    """The SDK's server for these tools.  Raises UsageError for a name that MCP does not allow."""
    served = _Served(tools)
    return Server(
        name,
        version=__version__,
        instructions=instructions or None,
        on_list_tools=served.list,
        on_call_tool=served.call,
    )


def http_app(tools: ToolSet, *, name: str = "dragoman", instructions: str = "", host: str = "127.0.0.1") -> Starlette:
    """An ASGI application that serves the tools at `/mcp`.

    On a loopback `host`, requests that come by another name (from a web page, by DNS rebinding) are refused.
    """
    return server(tools, name=name, instructions=instructions).streamable_http_app(streamable_http_path=PATH, host=host)


async def serve_stdio(tools: ToolSet, *, name: str = "dragoman", instructions: str = "") -> None:
    """Serve over standard input and output until the client closes them; what tools print goes to stderr."""
    served = server(tools, name=name, instructions=instructions)
    async with stdio_server() as (incoming, outgoing):
        await served.run(incoming, outgoing, served.create_initialization_options())


def serve(tools: ToolSet, http: socket.socket | None = None, **options: Any) -> None:
    """Serve until the client leaves (stdio), or until interrupted, on a listening socket (HTTP)."""
    if http is None:
        asyncio.run(serve_stdio(tools, **options))
        return
    app = http_app(tools, host=http.getsockname()[0], **options)
    config = uvicorn.Config(app, log_level="warning", access_log=False, ws="none", http=READS_ON)
    uvicorn.Server(config).run([http])


class _Served:
    """The handlers of a server."""

    def __init__(self, tools: ToolSet) -> None:
        self._checker = Checker(tools, no_such_tool)
        self._listed = types.ListToolsResult.model_validate({"tools": [listed(each) for each in tools.values()]})

    async def list(self, _: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return self._listed

    async def call(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        call = ToolCall(id=mint("call_"), name=params.name, arguments=params.arguments or {})
        checked = self._checker.check(call)
        if isinstance(checked, ReadyCall):
            result = await self._result(checked, context.session.report_progress)
        else:
            text = answer(checked, self._checker.tools, level=1)
            result = ToolResult(call_id=call.id, name=call.name, content=text, is_error=True, error_code=checked.code)
        modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        return types.CallToolResult.model_validate(written(result, any_json=modern))

    async def _result(self, ready: ReadyCall, progress: Callable[..., Any]) -> ToolResult:
        """The tool's result; whatever goes wrong around it is shown like a failure of its own, and logged."""
        try:
            return await _run(ready, progress)
        except Exception as error:
            log.exception("a call of %s could not be run", ready.call.name)
            return failure_of(ready.call, error)


async def _run(ready: ReadyCall, progress: Callable[[float, float | None, str | None], Any]) -> ToolResult:
    job = Job(runnable=ready.runnable, call=ready.call, key=ready.call.id, timeout=ready.runnable.timeout)
    async with _runner() as runner:
        await runner.begin(RunTools((job,)))
        steps = 0
        while isinstance(found := await runner.attend(), ToolProgress):
            steps += 1
            await progress(float(steps), None, found.text)
        [result] = found
        return result


@asynccontextmanager
async def _runner() -> AsyncIterator[TaskToolRunner]:
    runner = TaskToolRunner()
    try:
        yield runner
    finally:
        runner.close()


def listed(each: Runnable) -> dict[str, Any]:
    """A tool as `tools/list` has it."""
    tool = each.tool
    if not NAME.fullmatch(tool.name):
        raise UsageError(
            f"MCP does not allow the tool name {tool.name!r}: use up to 128 letters, digits, dots, dashes and "
            f"underscores; rename it with tools.renamed({{{tool.name!r}: '…'}})"
        )
    annotations = {"readOnlyHint": each.read_only, "idempotentHint": each.idempotent or each.read_only}
    if not each.read_only:
        annotations["destructiveHint"] = each.approval is Approval.ALWAYS
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": {"type": "object", **tool.parameters},
        "annotations": annotations,
    }
