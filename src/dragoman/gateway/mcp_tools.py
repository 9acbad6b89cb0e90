"""The MCP servers of a gateway: reached once per process, left when they fail, reached again.

Imported where servers are configured: it brings in MCP's SDK.  Knows `McpServers` and attachments; nothing of requests.
Contract: a server that cannot be used has no tools, for as long as that lasts, and is named among those that are
missing, with why and when it is tried again; the log says it too.  What runs here only reads, or was allowed by name;
other servers are left alone when one of them changes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..errors import ProviderError
from ..mcp import McpServers
from ..mcp.config import named
from ..server_tools.machine import named as apart
from ..tools import Approval, Runnable, ToolSet
from ..types import NOTHING
from .attached import Attached, Missing
from .config.model import Attachment, Mcp

log: logging.Logger = logging.getLogger("dragoman.gateway.mcp")

READY = 10.0
"""Seconds servers get before requests are taken; those that need one that is not ready wait for it."""
EVERY = 1.0
"""Seconds between two looks whether a server has failed."""
FIRST, LONGEST = 1.0, 60.0
"""Seconds until a server that failed is tried again: they double, up to the longest."""
FAILED = "MCP server %r cannot be used; its tools are not offered, it is tried again in %g s: %s"
LOST = "MCP server %r has failed; its tools are not offered until it is back: %s"
NO_TOOLS = ToolSet()


class McpTools:
    """The servers of one process; open between `open` and `aclose`, in one event loop."""

    def __init__(self, mcp: Mcp, environ: Mapping[str, str] | None = None) -> None:
        self._mcp, self._environ = mcp, environ
        self._servers: dict[str, _Server] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._open = False
        self._chosen: dict[Attachment, tuple[ToolSet, ToolSet]] = {}

    async def open(self) -> None:
        """Reach the servers; returns when each was tried, or `READY` seconds are over."""
        self._open = True
        self.take(self._mcp)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(READY):
                for server in list(self._servers.values()):
                    await server.tried.wait()

    async def aclose(self) -> None:
        """Leave all servers; their processes have ended when this returns."""
        self._open = False
        server, self._servers = self._servers, {}
        await asyncio.gather(*(each.close() for each in server.values()), *self._tasks)

    def take(self, mcp: Mcp) -> None:
        """From now on these are the servers; those that are configured as before stay as they are."""
        self._mcp = mcp
        if not self._open:
            return
        for name, server in list(self._servers.items()):
            if mcp.servers.get(name) != server.config:
                self._later(self._servers.pop(name).close())
        for name, config in mcp.servers.items():
            if name not in self._servers:
                self._servers[name] = _Server(name, config, self._environ)

    def attached(
        self, attachments: Iterable[Attachment], stand_ins: Mapping[str, Attachment] = NOTHING
    ) -> Attached:
        """What there is now of the tools of these attachments; a stand-in's one tool has the name of its kind."""
        missing: list[Missing] = []
        runs: dict[str, ToolSet] = {}
        offers: dict[str, ToolSet] = {}
        for kind, each in [*(("", one) for one in attachments), *stand_ins.items()]:
            server = self._servers.get(each.server)
            listed = server.tools() if server is not None else NO_TOOLS
            if server is None or not server.ready:
                missing.append(_missing(each, server))
            seen, tools = self._chosen.get(each, (None, NO_TOOLS))
            if seen is not listed:
                tools = chosen(listed, each)
                self._chosen[each] = listed, tools
            if kind:
                tools = ToolSet(*(replace(one, tool=replace(one.tool, name=kind)) for one in tools.values()))
                runs[f"{each.server}.{kind}"] = tools
                if not tools and server is not None and server.ready:
                    missing.append(Missing(server=each.server, why=f"it has no tool {each.tools[0]!r} for {kind}"))
            else:
                (runs if each.run_on == "server" else offers)[each.server] = tools
        return Attached(
            tools=runs, offered=apart(offers, ()).definitions, policy=self._mcp.policy, missing=tuple(missing),
            patience=self._mcp.patience,
        )  # fmt: skip

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def chosen(listed: ToolSet, attachment: Attachment) -> ToolSet:
    """Those of a server's tools that a model gets by `attachment`."""
    wanted = [each for name, each in listed.items() if named(name, attachment.tools)]
    if attachment.run_on == "client":
        return ToolSet(*wanted)
    return ToolSet(*(replace(each, approval=Approval.NEVER) for each in wanted if may_run(each, attachment)))


def may_run(each: Runnable, attachment: Attachment) -> bool:
    """May the gateway run it, whom nobody watches?  What only reads, and what was allowed by name."""
    return each.read_only or each.approval is Approval.NEVER or named(each.tool.name, attachment.allow)


def _missing(attachment: Attachment, server: _Server | None) -> Missing:
    why, due = ("it is being left or has not been begun", 0.0) if server is None else (server.fault, server.due())
    return Missing(server=attachment.server, why=why, due=due, optional=attachment.optional)


class _Server:
    """One server, as long as it is configured; `fault` is why it cannot be used, while it cannot."""

    def __init__(self, name: str, config: Mapping[str, Any] | str, environ: Mapping[str, str] | None) -> None:
        self.name, self.config, self._environ = name, config, environ
        self.tried = asyncio.Event()
        self.fault = "it has not answered yet"
        self._next = 0.0
        self._client: McpServers | None = None
        self._task = asyncio.ensure_future(self._live())

    def tools(self) -> ToolSet:
        """Its tools as it lists them now; none while it cannot be used."""
        return NO_TOOLS if self._client is None or self._client.failures else self._client.tools()

    @property
    def ready(self) -> bool:
        """Can it be used?"""
        return self._client is not None and not self._client.failures

    def due(self) -> float:
        """Seconds until it is tried again; 0 while it is being tried."""
        return max(0.0, self._next - asyncio.get_running_loop().time())

    async def close(self) -> None:
        """Leave it."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _live(self) -> None:
        wait = FIRST
        while True:
            try:
                async with McpServers(self.config, only=[self.name], environ=self._environ) as servers:
                    wait = FIRST
                    await self._serve(servers)
            except ProviderError as error:
                self.fault = str(error)
                log.warning(FAILED, self.name, wait, error)
            except Exception as error:
                self.fault = f"{type(error).__name__}; the server's log says more"
                log.exception("MCP server %r failed for a reason of our own", self.name)
            finally:
                self._client = None
                self.tried.set()
            self._next = asyncio.get_running_loop().time() + wait
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST)

    async def _serve(self, servers: McpServers) -> None:
        """Until it fails."""
        self._client = servers
        self.tried.set()
        log.info("MCP server %r offers %s", self.name, ", ".join(servers.tools()) or "no tools")
        while not servers.failures:
            await asyncio.sleep(EVERY)
        self.fault = "; ".join(servers.failures.values())
        log.warning(LOST, self.name, self.fault)
