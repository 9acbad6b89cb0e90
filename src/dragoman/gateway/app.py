"""The gateway's endpoints, as one ASGI application, and the server that runs it.

Starlette routes; the endpoints are bare ASGI, for speed.  Knows fronts, exchanges and pools; nothing of wires.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from importlib import import_module
from itertools import product
from typing import TYPE_CHECKING, Any, Protocol

import uvicorn
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from ..effects import PerformAsync, arun
from ..errors import CodecError, DragomanError, ErrorKind, ProviderError
from ..fallback import Balancer, Health, place
from ..io.aio import AsyncPool
from ..io.held_bytes import HeldBytes
from ..io.ids import mint
from ..providers.route import Route as To
from ..version import __version__
from .attached import ALONE, Attached
from .compacting import ENDPOINT, Compaction
from .config.model import Access, GatewayConfig, Limits
from .exchange import Exchange, ExchangeServices, RequestOptions, failure
from .fronts import FRONTS, GOOGLE_VERSIONS, VERSIONS, Endpoint, Front
from .http import endpoints
from .http.arrays import ArrayOut, wants_events
from .http.asgi import BEHIND, Receive, Scope, Send, answer, run_exchange
from .http.background import Background, Job
from .http.endpoints import (
    Exposed,
    Fixed,
    Guarded,
    Methods,
    Models,
    Reads,
    Ready,
    Words,
    headers_of,
    problem,
    send_json,
)
from .http.events import Events
from .http.habits import ForgetHabits, ShowHabits
from .http.keys import AccessControl
from .http.known_bodies import KnownBodies
from .http.models import GEMINI, OLLAMA, list_models
from .http.offload import Steps
from .http.openapi import document
from .http.origins import Origins
from .http.parse_render import parse_body, render_body
from .http.passing import passing_endpoints
from .http.request_body import Gone, Refused, read_json, read_request
from .http.stored import stored_endpoints
from .inspector.api import ROOT as INSPECT
from .inspector.api import Inspector, Off
from .inspector.recorder import Recorder
from .inspector.stored import StoredInspector
from .inspector.storing import StoringRecorder
from .process.orphans import ends_with_parent
from .process.overload import accepting
from .process.shutdown import on_sigterm
from .reload import Watched, keep_current, on_sighup
from .state.responses import BACKGROUND
from .state.stores import StateStores
from .telemetry.chunk_times import with_chunk_times
from .telemetry.exchange_record import GONE, ExchangeRecord, Observer
from .telemetry.metrics import Metrics
from .telemetry.trace_context import trace_headers, with_headers

if TYPE_CHECKING:
    from .mcp_tools import McpTools

LAST = 30.0
"""Seconds that answers get which still run when no new ones are taken: as long as the server gives its connections."""
RESPONSES = next(front for front in FRONTS if front.refers)
OLLAMA_VERSIONS = ("", "/v1")
VERSION_PATHS = tuple(f"{version}/api/version" for version in OLLAMA_VERSIONS)
ALIVE = ("/healthz", "/health", "/health/liveliness")
READY = ("/readyz", "/health/readiness")
"""Ours, and the addresses other gateways' probes are set to (peers.md, Endpoints)."""
ENDING = "this gateway is about to end and takes nothing new; send the request again, another will take it"
ENDS = "ending"
"""The code of that; its status is 503 in every API, which balancers know: Anthropic's own is 529."""
BANNER = "Ollama is running"
"""What Ollama says at its root, word for word: its clients look for it before anything else."""
TELEMETRY = ("/api/event_logging/batch", "/v1/api/event_logging/batch")
"""What Claude Code sends beside its requests (seeds.md, happy-code)."""


class Upstreams(Protocol):
    """Whatever gives performers: `io.aio.AsyncPool`, `io.scripted.ScriptedPeer`."""

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

    async def _listed(self, route: To) -> list[str]:
        try:
            return await arun(list_models(route), self.upstreams.performer())
        except DragomanError:
            return []  # a provider without a list still serves models; clients ask by name


def create_app(
    config: GatewayConfig,
    upstreams: Upstreams | None = None,
    *,
    watched: Watched | None = None,
    observers: Sequence[Observer] = (),
    drain_seconds: float = 0.0,
    stores: StateStores | None = None,
) -> ASGIApp:
    """The application; `upstreams` are real connections unless something else is given.

    `watched` is the file whose settings are taken when it changes, `observers` are notified of every exchange
    (`Metrics` among them are shown at /metrics), `drain_seconds` pass with 503 at /readyz after SIGTERM before it ends,
    `stores` keep what one request leaves for the next: in this process alone when not given.
    """
    recorder = next((observer for observer in observers if isinstance(observer, Recorder)), None)
    held = HeldBytes()
    through = upstreams or AsyncPool(held=held)
    around = through if recorder is None else recorder.around(through)
    gateway = Gateway(config, around, observers, stores=stores, held=held)
    gateway.drain_seconds = drain_seconds
    storing = [observer for observer in observers if isinstance(observer, StoringRecorder)]
    for each, metrics in product(storing, gateway.metrics):
        each.writer.on_written, each.writer.on_dropped = metrics.recorded, metrics.not_recorded

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        await gateway.open()
        for each in storing:
            each.open()
        beside = [asyncio.ensure_future(gateway.stores.tidy())]
        hangup = ExitStack()
        if watched is not None:
            asked = asyncio.Event()
            hangup.enter_context(on_sighup(asked))
            beside.append(asyncio.ensure_future(keep_current(watched, gateway.take, asked=asked)))
        try:
            with hangup, on_sigterm(gateway.drain, drain_seconds), ends_with_parent(), accepting():
                yield
        finally:
            for task in beside:
                task.cancel()
            with on_sigterm(gateway.hurry, 0):
                await gateway.aclose()
            for each in storing:
                await asyncio.to_thread(each.close)
            for observer in observers:
                if isinstance(observer, Metrics):
                    observer.leave()

    async def again(scope: Scope, receive: Receive, send: Send) -> None:
        await router(scope, receive, send)

    routes = list(_routes(gateway, recorder, again))
    router = _Router(routes=routes, default=_no_such_endpoint, lifespan=lifespan)
    return Origins(router, lambda: gateway.config)


class _Router(Router):
    """A router that finds an address without variables at once: the ones most asked for have dozens before them.

    It is no coroutine itself: each on the way to an endpoint costs every request, and lives as long as its stream.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        plain = [one for one in self.routes if isinstance(one, Route) and not one.param_convertors]
        self._plain = {one.path: one.app for one in reversed(plain)}

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Any:
        """Serve one request, or the application's life: to be awaited."""
        found = None if scope.get("root_path") else self._plain.get(scope.get("path", ""))
        return (found or super().__call__)(scope, receive, send)


def _routes(gateway: Gateway, recorder: Recorder | None, again: endpoints.Endpoint) -> Iterator[Route]:
    for front in FRONTS:
        for path, endpoint in front.served:
            served = Serve(gateway, front, endpoint)
            yield Route(path, Methods(POST=served if recorder is None else recorder.recorded(served)))
    for path in (f"{version}/{ENDPOINT}" for version in VERSIONS):
        served = Serve(gateway, RESPONSES, Endpoint("", stream=False), Compaction)
        yield Route(path, Methods(POST=served if recorder is None else recorder.recorded(served)))
    for path, passing in passing_endpoints(gateway):
        yield Route(path, Methods(**passing))
    for path, endpoints_of in _beside(gateway):
        guarded = {method: Guarded(one, lambda: gateway.config.access) for method, one in endpoints_of.items()}
        yield Route(path, Methods(**guarded))
    for path, served_to_all in _open(gateway).items():
        yield Route(path, served_to_all)
    yield from _inspector(gateway, recorder, again)


def _open(gateway: Gateway) -> dict[str, Methods]:
    """What is served to everybody."""
    return {
        **dict.fromkeys(VERSION_PATHS, Methods(GET=Fixed({"version": __version__}))),
        **dict.fromkeys(TELEMETRY, Methods(POST=endpoints.take)),
        **dict.fromkeys(ALIVE, Methods(GET=Fixed({"status": "ok"}))),
        **dict.fromkeys(READY, Methods(GET=Ready(gateway.why_not_ready))),
        "/openapi.json": Methods(GET=Fixed(document())),
        "/": Methods(GET=Words(BANNER)),
    }


def _inspector(gateway: Gateway, recorder: Recorder | None, again: endpoints.Endpoint) -> Iterator[Route]:
    """The page, over what is stored or what is in memory; `again` serves a request that is sent once more."""
    habits = gateway.stores.learned.habits
    if recorder is None or not recorder.shown:
        yield from (Route(path, Off()) for path in (INSPECT, f"{INSPECT}/{{rest:path}}"))
    else:
        inspector = (
            StoredInspector(recorder, lambda: gateway.config.access, habits, again)
            if isinstance(recorder, StoringRecorder)
            else Inspector(recorder, lambda: gateway.config.access, habits)
        )
        yield from (Route(*route) for route in inspector.routes())


def _beside(gateway: Gateway) -> Iterator[tuple[str, dict[str, endpoints.Endpoint]]]:
    """What is served beside the fronts to whoever has a key: the address, and an endpoint per method."""

    def reads(respond: endpoints.Respond, api: str = "openai_chat") -> dict[str, endpoints.Endpoint]:
        return {"POST": Reads(respond, lambda: gateway.config.limits, api)}

    for version in VERSIONS:
        yield f"{version}/messages/count_tokens", reads(endpoints.count_anthropic, "anthropic_messages")
    for version in GOOGLE_VERSIONS:
        yield f"{version}/models/{{model:path}}:countTokens", reads(endpoints.count_gemini, "gemini")
    for version, shape in {"/v1beta": GEMINI, "/v1alpha": GEMINI, **dict.fromkeys(VERSIONS)}.items():
        yield f"{version}/models", {"GET": Models(gateway.models, shape)}
        yield f"{version}/models/{{model:path}}", {"GET": Models(gateway.models, shape)}
    for version in OLLAMA_VERSIONS:
        yield f"{version}/api/tags", {"GET": Models(gateway.models, OLLAMA)}
        yield f"{version}/api/ps", {"GET": Models(gateway.models, OLLAMA)}
        shows = Reads(endpoints.show, lambda: gateway.config.limits, "ollama_chat", names=True)
        yield f"{version}/api/show", {"POST": shows}
    stores = gateway.stores
    yield from stored_endpoints(stores, lambda: gateway.config.limits, gateway.background, gateway.events)
    yield "/v1/parse", reads(parse_body)
    yield "/v1/render", reads(render_body)
    habits = gateway.stores.learned.habits
    yield "/v1/habits", {"GET": ShowHabits(habits), "DELETE": ForgetHabits(habits)}
    for metrics in gateway.metrics:
        yield "/metrics", {"GET": Exposed(metrics.exposed)}


class Serve:
    """`POST` to one endpoint of a front, each by an exchange of this kind."""

    def __init__(self, gateway: Gateway, front: Front, endpoint: Endpoint, kind: type[Exchange] = Exchange) -> None:
        self._gateway, self._front, self._endpoint, self._kind = gateway, front, endpoint, kind

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        gateway, services = self._gateway, self._gateway.services  # what holds now holds for all of this request
        config, record = services.config, self._gateway.record(scope, self._front.codec.name)
        headers = record.headers
        record.begin()
        begun: Job | None = None
        try:
            gateway.unless_draining()
            query = scope.get("query_string", b"").decode("latin-1")
            if self._front.arrays and self._endpoint.stream and not wants_events(query):
                send = ArrayOut(send)
            async with gateway.access_control.enter(config, headers, query, record) as access:
                record.key = access.name if access is not None else ""
                read = await self._body(scope, receive, send, config, record)
                if read is not None:
                    options = RequestOptions(self._path_fields(scope), access)
                    (asked, size), read = read, None
                    exchange = self._kind(self._front, self._front.heard(asked, headers), services, options, record)
                    in_background = self._is_in_background(asked)
                    del asked  # a stream may be open for long
                    if in_background:
                        begun, body = await self._begin(exchange, config, record, access, size)
                    else:
                        perform, (wait, most) = self._performer(record), (config.keep_alive, config.limits.timeout)
                        await run_exchange(exchange, perform, receive, send, keep_alive=wait, seconds=most, size=size)
        except ProviderError as error:
            await self._refuse(send, error, record, 503 if error.code == ENDS else 0)
        except CodecError as error:
            await self._refuse(send, error, record)
        finally:
            if begun is None:
                record.end()
        if begun is not None:
            scope[BEHIND] = gateway.background.running(begun.id)
        if begun is not None and begun.stream:
            await gateway.events.serve(begun.id, begun.opening.owner, -1, receive, send, request_id=record.request_id)
        elif begun is not None:
            await send_json(send, body, more={"x-request-id": record.request_id})

    def _is_in_background(self, body: Mapping[str, Any]) -> bool:
        return self._front.refers and self._kind is Exchange and bool(body.get(BACKGROUND))

    async def _begin(
        self, exchange: Exchange, config: GatewayConfig, record: ExchangeRecord, access: Access | None, size: int
    ) -> tuple[Job, Mapping[str, Any]]:
        """Begin to answer in the background, and how the answer stands.  Raises DragomanError for what is refused."""
        background, name = self._gateway.background, mint(self._front.ids)
        background.unless_full(config, record.key, size)
        perform = self._performer(record)
        opening, body = await arun(exchange.accept(name, time.time()), perform, offload=Steps(size))
        job = Job(
            id=name,
            exchange=exchange,
            opening=opening,
            record=record,
            perform=perform,
            config=config,
            access=access,
            stream=record.stream,
            size=size,
        )
        return job, await background.begin(job, body)

    async def _refuse(self, send: Send, error: DragomanError, record: ExchangeRecord, status: int = 0) -> None:
        head, body = failure(self._front, error, record.request_id, status)
        record.failed(error, head.status)
        await answer(send, head, body)

    def _performer(self, record: ExchangeRecord) -> PerformAsync:
        gateway = self._gateway
        perform = gateway.stores.performing(gateway.upstreams.performer())
        if gateway.times_chunks:
            perform = with_chunk_times(perform, record)
        traced = record.trace_headers or gateway.adds_headers
        return with_headers(perform, record.trace_headers) if traced else perform

    async def _body(
        self, scope: Scope, receive: Receive, send: Send, config: GatewayConfig, record: ExchangeRecord
    ) -> tuple[Mapping[str, Any], int] | None:
        """The request's body and its size; None where there is none to serve: the client is gone, or was refused."""
        try:
            return await read_request(scope, receive, config.limits, partial(self._known, record.key))
        except Gone:
            record.status = GONE
        except Refused as error:
            await self._refuse(send, CodecError(str(error), ""), record, error.status)
        except CodecError as error:
            await self._refuse(send, error, record)
        return None

    def _known(self, key: str, body: bytes, limits: Limits) -> tuple[Callable[[], Mapping[str, Any]], int]:
        """What reads the body by what its client's key sent before, and how many of its bytes are new."""
        known, scope = self._gateway.known_bodies, (key, self._front.codec.name)
        match = known.match(body, scope, limits.max_json_values)
        parse = partial(read_json, limits=limits)
        return partial(known.read, body, match, parse, scope, self._front.history), match.fresh

    def _path_fields(self, scope: Scope) -> dict[str, Any]:
        """The fields of the request that stand in its address."""
        fields: dict[str, Any] = dict(scope.get("path_params", {}))
        return fields if self._endpoint.stream is None else {**fields, "stream": self._endpoint.stream}


async def _no_such_endpoint(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    served = ", ".join(front.shown for front in FRONTS)
    message = f"no such endpoint: {scope['method']} {scope['path'][:200]}; this gateway serves {served}"
    await send_json(send, problem(message, "not_found_error"), 404)


def serve(config: GatewayConfig, host: str = "127.0.0.1", port: int = 4242) -> None:
    """Serve until interrupted."""
    uvicorn.run(create_app(config), host=host, port=port, log_level="warning", access_log=False)
