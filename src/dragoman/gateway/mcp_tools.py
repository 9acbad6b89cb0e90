"""The MCP servers of a gateway: reached once per process, left when they fail, reached again.

Imported where servers are configured: it brings in MCP's SDK.  Knows `McpServers` and attachments; nothing of requests.
Contract: a server that cannot be used only has no tools, for as long as that lasts, and the log says why; what runs
here only reads, or was allowed by name; other servers are left alone when one of them changes.
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
from .config.model import Attachment, Mcp
from .exchange import Attached

log = logging.getLogger("dragoman.gateway.mcp")

READY = 10.0
"""Seconds servers get before requests are taken without the tools of those that are not ready."""
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

    def attached(self, attachments: Iterable[Attachment]) -> Attached:
        """What there is now of the tools of these attachments."""
        runs: dict[str, ToolSet] = {}
        offers: dict[str, ToolSet] = {}
        for each in attachments:
            listed = self._servers[each.server].tools() if each.server in self._servers else NO_TOOLS
            seen, tools = self._chosen.get(each, (None, NO_TOOLS))
            if seen is not listed:
                tools = chosen(listed, each)
                self._chosen[each] = listed, tools
            (runs if each.run_on == "server" else offers)[each.server] = tools
        return Attached(tools=runs, offered=apart(offers, ()).definitions, policy=self._mcp.policy)

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


class _Server:
    """One server, as long as it is configured."""

    def __init__(self, name: str, config: Mapping[str, Any] | str, environ: Mapping[str, str] | None) -> None:
        self.name, self.config, self._environ = name, config, environ
        self.tried = asyncio.Event()
        self._client: McpServers | None = None
        self._task = asyncio.ensure_future(self._live())

    def tools(self) -> ToolSet:
        """Its tools as it lists them now; none while it cannot be used."""
        return NO_TOOLS if self._client is None or self._client.failures else self._client.tools()

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
                log.warning(FAILED, self.name, wait, error)
            except Exception:
                log.exception("MCP server %r failed for a reason of our own", self.name)
            finally:
                self._client = None
                self.tried.set()
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST)

    async def _serve(self, servers: McpServers) -> None:
        """Until it fails."""
        self._client = servers
        self.tried.set()
        log.info("MCP server %r offers %s", self.name, ", ".join(servers.tools()) or "no tools")
        while not servers.failures:
            await asyncio.sleep(EVERY)
        log.warning(LOST, self.name, "; ".join(servers.failures.values()))
