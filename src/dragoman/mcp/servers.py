"""The servers of a configuration, and their tools as ordinary tools.

`with McpServers("mcp.json") as servers: client.run("…", tools=servers.tools(), model="…")`, or `async with`.
Connections live in one event loop: the caller's own with `async with`, that of a private thread with `with`.  The
tools work from any loop and any thread, as long as the servers are open.

Names.  A tool keeps the name its server gives it, as long as no other server has one of that name; tools that share a
name are all called `server.tool`.  Weak models do better with short names.  Who needs names that do not depend
on the other servers asks for `naming="always"`.
Annotations are hints of the server: read-only tools may run beside others, idempotent ones again after a
crash, and destructive ones are asked about (`Approval.ALWAYS`) unless the configuration allows them.

Contract: a server that cannot be used is a `ProviderError` when the servers are opened, or, with `missing="skip"`, an
entry of `failures`; whatever goes wrong with a call is a failed result with a code; after the block no process is left.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Literal

from ..errors import ErrorCode, ProviderError, ToolError, UnknownName, UsageError
from ..tools import Approval, Context, Runnable, ToolSet
from ..types import EMPTY_OBJECT_SCHEMA, JsonObject, Tool, ToolResult
from .client_callbacks import NO_CALLBACKS, ClientCallbacks
from .config import ServerSpec, named, read_servers
from .connection import McpConnection
from .loop_thread import Portal
from .results import read

Naming = Literal["clash", "always"]
Missing = Literal["raise", "skip"]

CLOSED = "the MCP servers are closed; call their tools inside the `with` block that opened them"


class McpServers:
    """The MCP servers of a configuration (a path, or the content of one), open inside a `with` or `async with` block.

    `only`     the servers to use, by name; all that are not switched off when not given
    `callbacks`  for requests of servers: roots, elicitation, sampling
    `naming`   when tools are named `server.tool`: where names clash, or always
    `missing`  the fate of a server that cannot be used
    `environ`  where the configuration's variables come from; the environment when not given
    """

    def __init__(
        self,
        config: str | Path | Mapping[str, Any],
        *,
        only: Sequence[str] | None = None,
        callbacks: ClientCallbacks = NO_CALLBACKS,
        naming: Naming = "clash",
        missing: Missing = "raise",
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.specs: tuple[ServerSpec, ...] = _chosen(read_servers(config, environ), only)
        self._callbacks, self._naming, self._missing = callbacks, naming, missing
        self._connections: tuple[McpConnection, ...] = ()
        self._failures: dict[str, str] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._portal: Portal | None = None
        self._tools: ToolSet | None = None

    # ── what there is ────────────────────────────────────────────────────────

    def tools(self) -> ToolSet:
        """The tools as the servers list them now; a list that changes shows in the next call of this."""
        if self._loop is None:
            raise UsageError(CLOSED)
        if self._tools is None:
            self._tools = ToolSet(*self._runnables())
        return self._tools

    @property
    def failures(self) -> Mapping[str, str]:
        """The servers that could not be used, or have died since, and why; with their last words."""
        died = {c.spec.name: c.fault for c in self._connections if c.fault}
        return MappingProxyType({**self._failures, **died})

    @property
    def instructions(self) -> Mapping[str, str]:
        """The servers' own instructions, by name; for the system prompt, where their author is trusted."""
        return {c.spec.name: c.instructions for c in self._connections if c.instructions}

    # ── opening and closing ──────────────────────────────────────────────────

    async def __aenter__(self) -> McpServers:
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    def __enter__(self) -> McpServers:
        portal = Portal("dragoman-mcp")
        try:
            portal.run(self._open())
        except BaseException:
            portal.close()  # what `_open` had begun it closes itself, also when it was interrupted
            raise
        self._portal = portal
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        portal, self._portal = self._portal, None
        if portal is not None:
            try:
                portal.run(self._close())
            finally:
                portal.close()

    async def _open(self) -> None:
        if self._loop is not None:
            raise UsageError("these MCP servers are open already; make another McpServers to open them twice")
        self._loop, self._failures, self._tools = asyncio.get_running_loop(), {}, None
        wanted = [McpConnection(spec, self._callbacks, self._forget) for spec in self.specs]
        self._connections = tuple(wanted)
        try:
            outcomes = await asyncio.gather(*(c.open() for c in wanted), return_exceptions=True)
            self._sort_out(wanted, outcomes)
        except BaseException:
            await self._close()
            raise

    def _sort_out(self, wanted: Sequence[McpConnection], outcomes: Sequence[BaseException | None]) -> None:
        failed = {c: error for c, error in zip(wanted, outcomes, strict=True) if error is not None}
        unexpected = next((error for error in failed.values() if not isinstance(error, ProviderError)), None)
        if unexpected is not None:
            raise unexpected
        if failed and self._missing == "raise":
            [first, *_] = failed.values()
            if len(failed) == 1:
                raise first
            raise ProviderError("\n".join(str(error) for error in failed.values()))
        self._failures = {c.spec.name: str(error) for c, error in failed.items()}

    async def _close(self) -> None:
        connections, self._connections, self._tools = self._connections, (), None
        try:
            await asyncio.gather(*(connection.close() for connection in connections))
        finally:
            self._loop = None

    def _forget(self) -> None:
        """A list has changed; the set is made anew when it is asked for."""
        self._tools = None

    # ── the tools ────────────────────────────────────────────────────────────

    def _runnables(self) -> Iterator[Runnable]:
        listed = [(c, tool) for c in self._connections for tool in c.tools if c.spec.wants(str(tool.get("name", "")))]
        names = spelt([(c.spec.name, str(tool.get("name", ""))) for c, tool in listed], self._naming)
        for (connection, tool), name in zip(listed, names, strict=True):
            yield self._runnable(connection, tool, name)

    def _runnable(self, connection: McpConnection, listed: JsonObject, name: str) -> Runnable:
        spec, own = connection.spec, str(listed.get("name", ""))
        hints = listed.get("annotations") or {}

        async def call(arguments: JsonObject, context: Context) -> ToolResult:
            return await self._call(connection, own, arguments, context)

        return Runnable(
            tool=definition(listed, name, spec.name),
            function=call,
            read_only=hints.get("readOnlyHint") is True,
            idempotent=hints.get("idempotentHint") is True or hints.get("readOnlyHint") is True,
            timeout=spec.timeout,
            approval=approval(spec, own, hints),
        )

    async def _call(self, connection: McpConnection, name: str, arguments: JsonObject, context: Context) -> ToolResult:
        home = self._loop
        if home is None:
            raise ToolError(ErrorCode.CANCELED, CLOSED)
        work = connection.call(name, arguments, context.report)
        if home is asyncio.get_running_loop():
            result = await work
        else:
            result = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, home))
        return read(result, context.call.id, context.call.name)


def _chosen(specs: Sequence[ServerSpec], only: Sequence[str] | None) -> tuple[ServerSpec, ...]:
    known = [spec.name for spec in specs]
    for name in only or ():
        if name not in known:
            raise UnknownName("MCP server", name, known, "the names in the configuration that are not disabled")
    return tuple(spec for spec in specs if only is None or spec.name in only)


def definition(listed: JsonObject, name: str, server: str) -> Tool:
    """A tool out of the JSON of MCP's `Tool`, for models as `name`; its metadata is the rest."""
    schema = listed.get("inputSchema")
    rest = {key: value for key, value in listed.items() if key not in ("description", "inputSchema", "_meta")}
    return Tool(
        name=name,
        description=str(listed.get("description") or listed.get("title") or ""),
        parameters=schema if isinstance(schema, Mapping) and schema else EMPTY_OBJECT_SCHEMA,
        metadata={"mcp": {"server": server, **rest}},
    )


def approval(spec: ServerSpec, tool: str, hints: JsonObject) -> Approval:
    """Must a call be allowed by a person?  The configuration's word stands above the server's."""
    if named(tool, spec.allowed):
        return Approval.NEVER
    destructive = hints.get("destructiveHint") is True and hints.get("readOnlyHint") is not True
    return Approval.ALWAYS if destructive else Approval.POLICY


def spelt(tools: Sequence[tuple[str, str]], naming: Naming) -> list[str]:
    """The names of tools, given as (server, tool), each once."""
    shared = Counter(tool for _, tool in tools)
    wished = [
        f"{namespace(server)}.{tool}" if naming == "always" or shared[tool] > 1 else tool for server, tool in tools
    ]
    taken: set[str] = set()
    unique: list[str] = []
    for name in wished:
        number, spelling = 1, name
        while spelling in taken:
            number += 1
            spelling = f"{name}_{number}"
        taken.add(spelling)
        unique.append(spelling)
    return unique


def namespace(server: str) -> str:
    """The name of a server as part of a tool's name."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", server).strip("_") or "server"
