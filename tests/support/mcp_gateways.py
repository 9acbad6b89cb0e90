"""A gateway in process that attaches MCP servers, and its life as a server runs it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from dragoman.gateway.app import create_app
from dragoman.gateway.config.model import Attachment, GatewayConfig, Mcp
from dragoman.gateway.telemetry.logs import Logs
from dragoman.gateway.telemetry.metrics import Metrics
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import ScriptedPeer
from tests.support import places
from tests.support.clocks import LONG
from tests.support.upstreams import ScriptedReply

ROOT = str(places.ROOT)
LAB: dict[str, Any] = {"command": sys.executable, "args": ["-m", "tests.support.mcp_lab"], "cwd": ROOT}
ECHO = ScriptedReply(("I ask.",), (("e1", "echo", {"text": "blue"}),))


def served(
    memory: ScriptedPeer,
    *attachments: Attachment,
    servers: dict[str, Any] | None = None,
    observers: tuple[Any, ...] = (),
    patience: float = LONG,
    **route: Any,
) -> Any:
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test", **route)
    rows = {"lab": LAB} if servers is None else servers
    mcp = Mcp(
        servers={name: {"mcpServers": {name: row}} for name, row in rows.items()},
        every=attachments or (Attachment(server="lab"),),
        patience=patience,
    )
    return create_app(GatewayConfig(default=to, mcp=mcp), memory, observers=[Metrics(), Logs(), *observers])


@asynccontextmanager
async def alive(app: Any) -> AsyncIterator[Any]:
    """`app` between its start and its end, as a server runs it."""
    inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    task = asyncio.ensure_future(app({"type": "lifespan", "asgi": {"version": "3.0"}}, inbox.get, outbox.put))
    await inbox.put({"type": "lifespan.startup"})
    assert (await outbox.get())["type"] == "lifespan.startup.complete"
    try:
        yield app
    finally:
        await inbox.put({"type": "lifespan.shutdown"})
        await task
