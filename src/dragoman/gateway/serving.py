"""`POST` to one endpoint of a front: who may ask, what is asked, and the exchange that answers, here or behind.

Bare ASGI, for speed.  Knows the `Gateway`, fronts and exchanges; nothing of addresses, nor of wires.

Contract: every request that came gets an answer in its API's own form, and its record ends once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..effects import PerformAsync, arun
from ..errors import CodecError, DragomanError, ProviderError
from ..io.ids import mint
from .config.model import Access, GatewayConfig, Limits
from .exchange import Exchange, RequestOptions, failure
from .fronts import Endpoint, Front
from .gateway import ENDS, Gateway
from .http.arrays import ArrayOut, wants_events
from .http.asgi import BEHIND, Receive, Scope, Send, answer, run_exchange
from .http.background import Job
from .http.endpoints import send_json
from .http.offload import Steps
from .http.request_body import Gone, Refused, read_json, read_request
from .process.line import LINE
from .state.responses import BACKGROUND
from .telemetry.chunk_times import with_chunk_times
from .telemetry.exchange_record import GONE, ExchangeRecord
from .telemetry.trace_context import with_headers


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
                        await run_exchange(
                            exchange, perform, receive, send,
                            keep_alive=wait, seconds=most, size=size, line=scope.get(LINE),
                        )  # fmt: skip
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
