"""The gateway's endpoints, as one ASGI application, and the server that runs it.

Starlette routes; the endpoints are bare ASGI, for speed.  Knows what is served at which address; nothing of how an
exchange is (`serving.py`), nor of wires.

Contract: `create_app` gives an application that opens and closes what all its endpoints share (`gateway.py`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from itertools import product
from typing import Any

import uvicorn
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from ..io.held_bytes import HeldBytes
from ..version import __version__
from .compacting import ENDPOINT, Compaction
from .config.model import GatewayConfig
from .direct import DirectPool
from .fronts import FRONTS, GOOGLE_VERSIONS, VERSIONS, Endpoint
from .gateway import Gateway, Upstreams
from .http import endpoints
from .http.asgi import Receive, Scope, Send
from .http.endpoints import Exposed, Fixed, Guarded, Methods, Models, Reads, Ready, Words, problem, send_json
from .http.habits import ForgetHabits, ShowHabits
from .http.models import GEMINI, OLLAMA
from .http.openapi import document
from .http.origins import Origins
from .http.parse_render import parse_body, render_body
from .http.passing import passing_endpoints
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
from .serving import Serve
from .state.stores import StateStores
from .telemetry.exchange_record import Observer
from .telemetry.metrics import Metrics

RESPONSES = next(front for front in FRONTS if front.refers)
OLLAMA_VERSIONS = ("", "/v1")
VERSION_PATHS = tuple(f"{version}/api/version" for version in OLLAMA_VERSIONS)
ALIVE = ("/healthz", "/health", "/health/liveliness")
READY = ("/readyz", "/health/readiness")
"""Ours, and the addresses other gateways' probes are set to (peers.md, Endpoints)."""
BANNER = "Ollama is running"
"""What Ollama says at its root, word for word: its clients look for it before anything else."""
TELEMETRY = ("/api/event_logging/batch", "/v1/api/event_logging/batch")
"""What Claude Code sends beside its requests (seeds.md, happy-code)."""


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
    through = upstreams or DirectPool(held=held)
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
        methods = {"POST": endpoints.no_such_method} if shape is GEMINI else {}
        yield f"{version}/models/{{model:path}}", {"GET": Models(gateway.models, shape, gateway.serves), **methods}
    for version in OLLAMA_VERSIONS:
        yield f"{version}/api/tags", {"GET": Models(gateway.models, OLLAMA)}
        yield f"{version}/api/ps", {"GET": Models(gateway.models, OLLAMA)}
        shows = Reads(gateway.show, lambda: gateway.config.limits, "ollama_chat", names=True)
        yield f"{version}/api/show", {"POST": shows}
    stores = gateway.stores
    yield from stored_endpoints(stores, lambda: gateway.config.limits, gateway.background, gateway.events)
    yield "/v1/parse", reads(parse_body)
    yield "/v1/render", reads(render_body)
    habits = gateway.stores.learned.habits
    yield "/v1/habits", {"GET": ShowHabits(habits), "DELETE": ForgetHabits(habits)}
    for metrics in gateway.metrics:
        yield "/metrics", {"GET": Exposed(metrics.exposed)}


async def _no_such_endpoint(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    served = ", ".join(front.shown for front in FRONTS)
    message = f"no such endpoint: {scope['method']} {scope['path'][:200]}; this gateway serves {served}"
    await send_json(send, problem(message, "not_found_error", scope["path"]), 404)


def serve(config: GatewayConfig, host: str = "127.0.0.1", port: int = 4242) -> None:
    """Serve until interrupted."""
    uvicorn.run(create_app(config), host=host, port=port, log_level="warning", access_log=False)
