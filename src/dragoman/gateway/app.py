"""The gateway's endpoints, as one ASGI application, and the server that runs it.

Starlette routes; the endpoints are bare ASGI, for speed.  Knows fronts, exchanges and pools; nothing of wires.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import uvicorn
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from ..effects import PerformAsync, arun
from ..errors import CodecError, DragomanError, ErrorKind, ProviderError
from ..fallback import Health, place
from ..io.aio import AsyncPool
from ..io.ids import mint
from ..providers.route import Route as To
from ..version import __version__
from .config.model import Access, GatewayConfig
from .exchange import ALONE, Attached, Exchange, failure
from .fronts import FRONTS, GOOGLE_VERSIONS, VERSIONS, Endpoint, Front
from .http import endpoints
from .http.asgi import Receive, Scope, Send, answer, run_exchange
from .http.endpoints import Exposed, Fixed, Guarded, Methods, Models, Reads, Ready, Words, headers_of, problem, tell
from .http.keys import Door, check_model
from .http.models import GEMINI, OLLAMA, list_models
from .http.openapi import document
from .http.origins import Origins
from .http.parse_render import parse_body, render_body
from .http.request_body import Gone, Refused, read_request
from .inspector.api import ROOT as INSPECT
from .inspector.api import Inspector, Off
from .inspector.recorder import Recorder
from .process.shutdown import on_sigterm
from .reload import Watched, keep_current, on_sighup
from .state.stores import Keeping
from .telemetry.exchange_record import GONE, Account, Observer
from .telemetry.metrics import Metrics
from .telemetry.trace_context import carried, carrying

if TYPE_CHECKING:
    from .mcp_tools import House

OLLAMA_VERSIONS = ("", "/v1")
ALIVE = ("/healthz", "/health", "/health/liveliness")
READY = ("/readyz", "/health/readiness")
"""Ours, and the addresses other gateways' probes are set to (peers.md, Endpoints)."""
ENDING = "this gateway is about to end and takes nothing new; send the request again, another will take it"
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

    def __init__(
        self,
        config: GatewayConfig,
        upstreams: Upstreams,
        observers: Sequence[Observer] = (),
        *,
        draining: bool = False,
        keeping: Keeping | None = None,
    ) -> None:
        self.upstreams, self.observers, self.draining = upstreams, tuple(observers), draining
        self.kept = keeping or Keeping()
        self.health = Health()
        self.door = Door(time.monotonic, self.kept.tally)
        self._house: House | None = None
        self._open = False
        for metrics in self.metrics:
            metrics.health = self.health
        self.take(config)

    def take(self, config: GatewayConfig) -> None:
        """From the next request on `config` holds."""
        self.config = config
        if config.mcp.servers and self._house is None:
            self._house = import_module(".mcp_tools", __package__).House(config.mcp)  # it brings in MCP's SDK
            if self._open:
                self._opening = asyncio.ensure_future(self._house.open())
        elif self._house is not None:
            self._house.take(config.mcp)
        for observer in self.observers:
            observer.take(config)

    @property
    def metrics(self) -> list[Metrics]:
        """Those of the observers that count."""
        return [observer for observer in self.observers if isinstance(observer, Metrics)]

    async def open(self) -> None:
        """Reach what is to be reached before requests are taken."""
        self._open = True
        if self._house is not None:
            await self._house.open()

    async def aclose(self) -> None:
        """Let go of everything."""
        if self._house is not None:
            await self._house.aclose()
        await self.upstreams.aclose()
        self.kept.close()

    def attached(self, config: GatewayConfig, model: str) -> Attached:
        """The tools `model` gets besides its client's."""
        told = config.attached(model)
        return self._house.attached(told) if self._house is not None and told else ALONE

    def drain(self) -> None:
        """Take nothing new any more."""
        self.draining = True

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
    keeping: Keeping | None = None,
) -> ASGIApp:
    """The application; `upstreams` are real connections unless something else is given.

    `watched` is the file whose settings are taken when it changes, `observers` hear of every exchange (`Metrics` among
    them are shown at /metrics), `drain_seconds` is how many seconds it says that it is about to end before it ends,
    `keeping` is what is kept between requests and where: in this process alone when not given.
    """
    recorder = next((observer for observer in observers if isinstance(observer, Recorder)), None)
    through = upstreams or AsyncPool()
    gateway = Gateway(config, through if recorder is None else recorder.around(through), observers, keeping=keeping)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        await gateway.open()
        beside = [asyncio.ensure_future(gateway.kept.tidy())]
        hangup = ExitStack()
        if watched is not None:
            asked = asyncio.Event()
            hangup.enter_context(on_sighup(asked))
            beside.append(asyncio.ensure_future(keep_current(watched, gateway.take, asked=asked)))
        try:
            with hangup, on_sigterm(gateway.drain, drain_seconds):
                yield
        finally:
            for task in beside:
                task.cancel()
            await gateway.aclose()
            for observer in observers:
                if isinstance(observer, Metrics):
                    observer.leave()

    router = _Router(routes=list(_routes(gateway, recorder)), default=_no_such_endpoint, lifespan=lifespan)
    return Origins(router, lambda: gateway.config)


class _Router(Router):
    """A router that finds an address without variables at once: the ones most asked for have dozens before them."""

    def __init__(self, **told: Any) -> None:
        super().__init__(**told)
        plain = [one for one in self.routes if isinstance(one, Route) and not one.param_convertors]
        self._plain = {one.path: one.app for one in reversed(plain)}

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the application's life."""
        found = None if scope.get("root_path") else self._plain.get(scope.get("path", ""))
        await (found or super().app)(scope, receive, send)


def _routes(gateway: Gateway, recorder: Recorder | None) -> Iterator[Route]:
    for front in FRONTS:
        for path, endpoint in front.served:
            served = Serve(gateway, front, endpoint)
            yield Route(path, Methods(POST=served if recorder is None else recorder.recorded(served)))
    for path, endpoints_of in _beside(gateway):
        guarded = {method: Guarded(one, lambda: gateway.config.access) for method, one in endpoints_of.items()}
        yield Route(path, Methods(**guarded))
    for version in OLLAMA_VERSIONS:
        yield Route(f"{version}/api/version", Methods(GET=Fixed({"version": __version__})))
    for path in TELEMETRY:
        yield Route(path, Methods(POST=endpoints.take))
    for path in ALIVE:
        yield Route(path, Methods(GET=Fixed({"status": "ok"})))
    for path in READY:
        yield Route(path, Methods(GET=Ready(gateway.why_not_ready)))
    if recorder is None:
        yield from (Route(path, Off()) for path in (INSPECT, f"{INSPECT}/{{rest:path}}"))
    else:
        yield from (Route(*told) for told in Inspector(recorder, lambda: gateway.config.access).routes())
    yield Route("/openapi.json", Methods(GET=Fixed(document())))
    yield Route("/", Methods(GET=Words(BANNER)))


def _beside(gateway: Gateway) -> Iterator[tuple[str, dict[str, endpoints.Endpoint]]]:
    """What is served beside the fronts to whoever has a key: the address, and an endpoint per method."""

    def reads(
        say: Callable[[Mapping[str, Any]], dict[str, Any]], api: str = "openai_chat"
    ) -> dict[str, endpoints.Endpoint]:
        return {"POST": Reads(say, lambda: gateway.config.limits, api)}

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
        yield f"{version}/api/show", reads(endpoints.show, "ollama_chat")
    yield "/v1/parse", reads(parse_body)
    yield "/v1/render", reads(render_body)
    for metrics in gateway.metrics:
        yield "/metrics", {"GET": Exposed(metrics.exposed)}


class Serve:
    """`POST` to one endpoint of a front."""

    def __init__(self, gateway: Gateway, front: Front, endpoint: Endpoint) -> None:
        self._gateway, self._front, self._endpoint = gateway, front, endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        gateway, headers = self._gateway, headers_of(scope)
        config = gateway.config  # what holds now holds for all of this request
        account = Account(
            request_id=headers.get("x-request-id", "")[:128] or mint("req_"),
            front=self._front.codec.name,
            headers=headers,
            carried=carried(headers),
            clock=time.monotonic,
            observers=gateway.observers,
        )
        account.begin()
        try:
            if gateway.draining:
                ending = ProviderError(ENDING, kind=ErrorKind.OVERLOADED, code="ending", retry_after=1.0)
                await self._refuse(send, ending, account, 503)  # what balancers know; Anthropic's own is 529
                return
            with gateway.door.enter(config, headers, scope.get("query_string", b"").decode("latin-1")) as access:
                account.key = access.name if access is not None else ""
                read = await self._body(scope, receive, send, config, account)
                if read is not None:
                    exchange = self._exchange(scope, read[0], config, access, account)
                    await self._run(exchange, receive, send, config, account, size=read[1])
        except ProviderError as error:
            await self._refuse(send, error, account)
        finally:
            account.end()

    async def _refuse(self, send: Send, error: DragomanError, account: Account, status: int = 0) -> None:
        head, body = failure(self._front, error, account.request_id, status)
        account.failed(error, head.status)
        await answer(send, head, body)

    def _exchange(
        self, scope: Scope, body: Mapping[str, Any], config: GatewayConfig, access: Access | None, account: Account
    ) -> Exchange:
        gateway = self._gateway

        def pick(model: str) -> tuple[To, ...]:
            check_model(access, model)
            return config.routes(model)

        return Exchange(
            self._front,
            body,
            pick,
            learned=gateway.kept.learned.of(account.key),
            health=gateway.health,
            rules=config.rules,
            request_id=account.request_id,
            stream_arguments=config.stream_arguments,
            reasks=config.reasks,
            path=self._said(scope),
            items=gateway.kept.items,
            account=account,
            attach=lambda model: gateway.attached(config, model),
            memory=gateway.kept.memory,
            tools=config.limits.tools,
        )

    async def _run(
        self, exchange: Exchange, receive: Receive, send: Send, config: GatewayConfig, account: Account, *, size: int
    ) -> None:
        perform, seconds = self._gateway.upstreams.performer(), config.limits.timeout
        if account.carried or account.observers:
            perform = carrying(perform, account.carried)
        await run_exchange(exchange, perform, receive, send, keep_alive=config.keep_alive, seconds=seconds, size=size)

    async def _body(
        self, scope: Scope, receive: Receive, send: Send, config: GatewayConfig, account: Account
    ) -> tuple[Mapping[str, Any], int] | None:
        """The request's body and its size; None where there is none to serve: the client is gone, or was told why."""
        try:
            return await read_request(scope, receive, config.limits)
        except Gone:
            account.status = GONE
        except Refused as error:
            await self._refuse(send, CodecError(str(error), ""), account, error.status)
        except CodecError as error:
            await self._refuse(send, error, account)
        return None

    def _said(self, scope: Scope) -> dict[str, Any]:
        """What the address says of the request."""
        said: dict[str, Any] = dict(scope.get("path_params", {}))
        return said if self._endpoint.stream is None else {**said, "stream": self._endpoint.stream}


async def _no_such_endpoint(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    served = ", ".join(front.shown for front in FRONTS)
    message = f"no such endpoint: {scope['method']} {scope['path'][:200]}; this gateway serves {served}"
    await tell(send, problem(message, "not_found_error"), 404)


def serve(config: GatewayConfig, host: str = "127.0.0.1", port: int = 4242) -> None:
    """Serve until interrupted."""
    uvicorn.run(create_app(config), host=host, port=port, log_level="warning", access_log=False)
