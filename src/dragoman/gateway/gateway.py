"""What all endpoints of the gateway share: the configuration, the connections, and what was learnt about models.

Knows pools, stores and observers; nothing of addresses, nor of how an exchange is served.

Contract: what `take` was given holds from the next request on; whoever opened a `Gateway` closes it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from ..effects import PerformAsync, arun
from ..errors import DragomanError, ErrorKind, ProviderError
from ..fallback import Balancer, Health, place
from ..io.held_bytes import HeldBytes
from ..io.ids import mint
from ..providers.route import Route as To
from .attached import ALONE, Attached
from .config.model import GatewayConfig
from .exchange import ExchangeServices
from .http.asgi import Scope
from .http.background import Background
from .http.endpoints import headers_of, named
from .http.events import Events
from .http.keys import AccessControl
from .http.known_bodies import KnownBodies
from .http.models import list_models, shown
from .state.stores import StateStores
from .telemetry.exchange_record import ExchangeRecord, Observer
from .telemetry.metrics import Metrics
from .telemetry.trace_context import trace_headers

if TYPE_CHECKING:
    from .mcp_tools import McpTools

LAST = 30.0
"""Seconds that answers get which still run when no new ones are taken: as long as the server gives its connections."""
ENDING = "this gateway is about to end and takes nothing new; send the request again, another will take it"
ENDS = "ending"
"""The code of that; its status is 503 in every API, which balancers know: Anthropic's own is 529."""


class Upstreams(Protocol):
    """Whatever gives performers: `io.aio.AsyncPool`, `sim.scripted.ScriptedPeer`."""

    def performer(self) -> PerformAsync:
        """Performs the effects of one machine."""

    async def aclose(self) -> None:
        """Let go of everything."""


class Gateway:
    """What all endpoints share: the configuration, the connections, and what was learnt about models."""

    observers: tuple[Observer, ...]
    upstreams: Upstreams
    drain_seconds: float
    draining: bool

    def __init__(
        self,
        config: GatewayConfig,
        upstreams: Upstreams,
        observers: Sequence[Observer] = (),
        *,
        draining: bool = False,
        stores: StateStores | None = None,
        held: HeldBytes | None = None,
    ) -> None:
        self.held = held or HeldBytes()
        self.upstreams, self.observers, self.draining = upstreams, tuple(observers), draining
        self.stores: StateStores = stores or StateStores()
        self.health: Health = self.stores.health
        self.balancer: Balancer = Balancer()
        self.access_control: AccessControl = AccessControl(time.monotonic, self.stores.counter)
        self.known_bodies: KnownBodies = KnownBodies(config.known_bytes)
        self.background: Background = Background(self.stores, self.access_control, self._count)
        self.events: Events = Events(self.stores, self.background, lambda: self.config.keep_alive)
        self.drain_seconds = self._drained = 0.0
        self.times_chunks: bool = any(getattr(observer, "times_chunks", False) for observer in self.observers)
        self.adds_headers: bool = any(getattr(observer, "adds_headers", True) for observer in self.observers)
        self._mcp_tools: McpTools | None = None
        self._open = False
        self._loop: asyncio.AbstractEventLoop | None = None
        for metrics in self.metrics:
            metrics.health = self.health
        if self.stores.keeper is not None:
            self.stores.keeper.meters = self.metrics
        self.take(config)

    def take(self, config: GatewayConfig) -> None:
        """From the next request on `config` holds."""
        self.config = config
        self.known_bodies.limit = config.known_bytes
        self.held.limit = config.limits.upstream_bytes
        self.services: ExchangeServices = ExchangeServices(
            config=config,
            learned=self.stores.learned,
            health=self.health,
            balancer=self.balancer,
            responses=self.stores.responses,
            memory=self.stores.memory,
            attach=lambda model, kinds: self.attached(config, model, kinds),
        )
        if config.mcp.servers and self._mcp_tools is None:
            self._mcp_tools = import_module(".mcp_tools", __package__).McpTools(config.mcp)  # it brings in MCP's SDK
            if self._open:
                self._opening = asyncio.ensure_future(self._mcp_tools.open())
        elif self._mcp_tools is not None:
            self._mcp_tools.take(config.mcp)
        for observer in self.observers:
            observer.take(config)

    @property
    def metrics(self) -> list[Metrics]:
        """Those of the observers that count."""
        return [observer for observer in self.observers if isinstance(observer, Metrics)]

    async def open(self) -> None:
        """Reach what is to be reached before requests are taken."""
        self._open, self._loop = True, asyncio.get_running_loop()
        await self.stores.exchange()
        if self._mcp_tools is not None:
            await self._mcp_tools.open()

    async def aclose(self) -> None:
        """Let go of everything; once it was said that this would come, running answers get `LAST` seconds more."""
        left = self._drained + self.drain_seconds + LAST - time.monotonic() if self.draining else 0.0
        await self.background.aclose(left)
        if self._mcp_tools is not None:
            await self._mcp_tools.aclose()
        await self.upstreams.aclose()
        await self.stores.aclose()

    def attached(self, config: GatewayConfig, model: str, kinds: Collection[str] = ()) -> Attached:
        """The tools `model` gets besides its client's; `kinds` are those that stand in for a backend's own."""
        if self._mcp_tools is None:
            return ALONE
        attachments = config.attached(model)
        stand_ins = {kind: each for kind, each in config.mcp.stand_ins.items() if kind in kinds}
        if not (attachments or stand_ins):
            return ALONE
        return self._mcp_tools.attached(attachments, stand_ins)

    def drain(self) -> None:
        """Take nothing new any more."""
        self.draining, self._drained = True, time.monotonic()

    def hurry(self) -> None:
        """Wait for nothing any more."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.background.hurry)

    def _count(self, status: str, more: int) -> None:
        for metrics in self.metrics:
            metrics.in_background(status, more)

    def unless_draining(self) -> None:
        """Raises ProviderError (503) while nothing new is taken."""
        if self.draining:
            raise ProviderError(ENDING, status=503, kind=ErrorKind.OVERLOADED, code=ENDS, retry_after=1.0)

    def record(self, scope: Scope, front: str) -> ExchangeRecord:
        """The record of a request that begins."""
        headers = headers_of(scope)
        return ExchangeRecord(
            request_id=headers.get("x-request-id", "")[:128].strip() or mint("req_"),
            front=front,
            headers=headers,
            trace_headers=trace_headers(headers),
            clock=time.monotonic,
            observers=self.observers,
        )

    def why_not_ready(self) -> tuple[str, float]:
        """Why no requests should be sent here, and for how many seconds; "" where they should."""
        if self.draining:
            return "ending", 1.0
        rests = [self.health.rests(place(route), time.time()) for route in self.config.all_routes()]
        return ("resting", min(rests)) if rests and all(rests) else ("", 0.0)

    async def models(self) -> list[str]:
        """The models served: those configured by name, then those the default route's provider lists."""
        named = [name for name in self.config.models if "*" not in name]
        for route in self.config.routes("") if self.config.default is not None else ():
            named += [route.model] if route.model else await self._listed(route)
        return list(dict.fromkeys(named))

    def serves(self, model: str) -> bool:
        """Is this model configured, by its name or by a pattern?"""
        return self.config.names(model)

    def show(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Ollama's `/api/show`.  Raises ProviderError for a model that is not served, CodecError for none."""
        model = named(body)
        self.config.routes(model)
        return shown(model)

    async def _listed(self, route: To) -> list[str]:
        try:
            return await arun(list_models(route), self.upstreams.performer())
        except DragomanError:
            return []  # a provider without a list still serves models; clients ask by name
