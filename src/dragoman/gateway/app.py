"""The gateway's endpoints, as one ASGI application, and the server that runs it.

Starlette routes; the endpoints are bare ASGI, for speed.  Knows fronts, exchanges and pools; nothing of wires.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

import orjson
import uvicorn
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from ..dialects.prompt import estimate
from ..effects import PerformAsync, arun
from ..errors import CodecError, DragomanError
from ..frames import to_json
from ..io.aio import Pool
from ..io.ids import mint
from ..turn import Learned
from ..version import __version__
from .config import GatewayConfig
from .exchange import JSON_TYPE, Exchange, Head, failure
from .fronts import FRONTS, VERSIONS, Endpoint, Front
from .items import Items
from .models import Shape, list_models, ollama_list, shape_for
from .serving import Gone, Receive, Scope, Send, TooLarge, answer, header, read_body, read_json, run_exchange

COUNTED = ("system", "messages", "tools")
"""What of an Anthropic request counts as its input."""


class Upstreams(Protocol):
    """Whatever gives performers: `io.aio.Pool`, `io.memory.Memory`."""

    def world(self) -> PerformAsync:
        """Performs the effects of one machine."""

    async def aclose(self) -> None:
        """Let go of everything."""


class Gateway:
    """What all endpoints share: the configuration, the connections, and what was learnt about models."""

    def __init__(self, config: GatewayConfig, upstreams: Upstreams) -> None:
        self.config, self.upstreams = config, upstreams
        self.learned = Learned()
        self.items = Items()

    async def models(self) -> list[str]:
        """The models served: those configured by name, then those the default route's provider lists."""
        named = list(self.config.models)
        default = self.config.default
        if default is None:
            return named
        if default.model:
            return [*named, default.model]
        try:
            listed = await arun(list_models(default), self.upstreams.world())
        except DragomanError:
            listed = []  # a provider without a list still serves models; clients ask by name
        return list(dict.fromkeys([*named, *listed]))


def create_app(config: GatewayConfig, upstreams: Upstreams | None = None) -> ASGIApp:
    """The application; `upstreams` are real connections unless something else is given."""
    gateway = Gateway(config, upstreams or Pool())

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        yield
        await gateway.upstreams.aclose()

    return Router(routes=_routes(gateway), default=_no_such_endpoint, lifespan=lifespan)


def _routes(gateway: Gateway) -> list[Route]:
    served = [
        Route(path, Serve(gateway, front, endpoint), methods=["POST"])
        for front in FRONTS
        for path, endpoint in front.served
    ]
    return [
        *served,
        *(Route(f"{v}/messages/count_tokens", Count(gateway), methods=["POST"]) for v in VERSIONS),
        *(Route(f"{v}/models", Models(gateway), methods=["GET"]) for v in VERSIONS),
        *(Route(f"{v}/api/tags", Models(gateway, ollama_list), methods=["GET"]) for v in VERSIONS[:2]),
        *(Route(f"{v}/api/version", Fixed({"version": __version__}), methods=["GET"]) for v in VERSIONS[:2]),
        Route("/healthz", Fixed({"status": "ok"}), methods=["GET"]),
    ]


class Serve:
    """`POST` to one endpoint of a front."""

    def __init__(self, gateway: Gateway, front: Front, endpoint: Endpoint) -> None:
        self._gateway, self._front, self._endpoint = gateway, front, endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        gateway, front = self._gateway, self._front
        request_id = header(scope, b"x-request-id")[:128] or mint("req_")
        body = await _request(
            scope, receive, send, front=front, limit=gateway.config.max_body, request_id=request_id
        )
        if body is None:
            return
        exchange = Exchange(
            front,
            body,
            gateway.config.route,
            learned=gateway.learned,
            request_id=request_id,
            stream_arguments=gateway.config.stream_arguments,
            reasks=gateway.config.reasks,
            path=self._said(scope),
            items=gateway.items,
        )
        world = gateway.upstreams.world()
        await run_exchange(exchange, world, receive, send, keep_alive=gateway.config.keep_alive)

    def _said(self, scope: Scope) -> dict[str, Any]:
        """What the address says of the request."""
        said: dict[str, Any] = dict(scope.get("path_params", {}))
        return said if self._endpoint.stream is None else {**said, "stream": self._endpoint.stream}


class Count:
    """`POST /v1/messages/count_tokens`: an estimate, for no API tells how a foreign model counts."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._front = next(front for front in FRONTS if front.codec.name == "anthropic_messages")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count one request."""
        body = await _request(
            scope, receive, send, front=self._front, limit=self._gateway.config.max_body, request_id=mint("req_")
        )
        if body is None:
            return
        counted = to_json({key: body[key] for key in COUNTED if key in body})
        await _json(send, {"input_tokens": estimate(counted)})


class Models:
    """The list of models; `shape` None asks the caller's headers."""

    def __init__(self, gateway: Gateway, shape: Shape | None = None) -> None:
        self._gateway, self._shape = gateway, shape

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """List them."""
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        shape = self._shape or shape_for(headers)
        await _json(send, shape(await self._gateway.models()))


class Fixed:
    """An endpoint that always says the same."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._body = dict(body)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say it."""
        await _json(send, self._body)


async def _no_such_endpoint(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    served = ", ".join(front.shown for front in FRONTS)
    message = f"no such endpoint: {scope['method']} {scope['path'][:200]}; this gateway serves {served}"
    error = {"message": message, "type": "not_found_error", "param": None, "code": None}
    await _json(send, {"type": "error", "error": error}, 404)


async def _request(
    scope: Scope, receive: Receive, send: Send, *, front: Front, limit: int, request_id: str
) -> Mapping[str, Any] | None:
    """The request's body; None when there is none to serve: the client is gone, or was told what is wrong with it."""
    try:
        return read_json(scope, await read_body(scope, receive, limit))
    except Gone:
        return None
    except TooLarge as error:
        await answer(send, *failure(front, CodecError(str(error), ""), request_id, status=413))
    except CodecError as error:
        await answer(send, *failure(front, error, request_id))
    return None


async def _json(send: Send, body: Mapping[str, Any], status: int = 200) -> None:
    data = orjson.dumps(body)
    headers = {"content-type": JSON_TYPE, "content-length": str(len(data)), "x-request-id": mint("req_")}
    await answer(send, Head(status, headers), data)


def serve(config: GatewayConfig, host: str = "127.0.0.1", port: int = 4242) -> None:
    """Serve until interrupted."""
    uvicorn.run(create_app(config), host=host, port=port, log_level="warning", access_log=False)
