"""Exchanges recorded while they run: a watcher of both wires, beside the gateway and not in it.

An observer gets exchange records, a wrapper of the served endpoints the client's bytes, one of the connections the
providers'; which exchange they belong to stands in a context variable.  Knows ASGI messages, effects and records;
nothing of pages.
Contract: where nobody records, nothing of this is in the way; memory is bounded by bytes and by count, the oldest go
first; an exchange is served as it would be without.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from threading import Lock
from typing import Any, Protocol

from ...effects import Effect, NewId, Open, PerformAsync, Read
from ...errors import DragomanError
from ...providers.route import Route
from ..config.model import GatewayConfig
from ..http.asgi import BEHIND, Receive, Scope, Send
from ..telemetry.exchange_record import ExchangeRecord, UpstreamAttempt
from ..telemetry.logs import hidden
from .recording import Hop, Recording
from .redaction import is_secret

MOST = 5000
"""Exchanges kept."""
MOST_BYTES = 128 * 1024 * 1024
"""Bytes kept of them, about."""
LONGEST = 16 * 1024 * 1024
"""Bytes kept of one body."""
AGAIN = "dragoman.again"
"""In the scope of a request that repeats a recorded one: the number of that."""

CURRENT: ContextVar[Recording | None] = ContextVar("dragoman_inspected", default=None)
"""The exchange that is being recorded."""
Endpoint = Callable[[Scope, Receive, Send], Awaitable[None]]
_RouteOf = Callable[[Recording], Route | None]


class Upstreams(Protocol):
    """Whatever gives performers."""

    def performer(self) -> PerformAsync:
        """Performs the effects of one machine."""

    async def aclose(self) -> None:
        """Let go of everything."""


class Recorder:
    """Keeps the latest exchanges: an observer, and the wrappers that hand it bytes."""

    most: int
    most_bytes: int
    dropped: int
    version: int
    size: int
    count: int
    shown: bool = True
    adds_headers = False
    _blots = True

    def __init__(
        self,
        *,
        most: int = MOST,
        most_bytes: int = MOST_BYTES,
        longest: int = LONGEST,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.most, self.most_bytes, self._longest = most, most_bytes, min(longest, max(most_bytes // 8, 1))
        self._clock, self._now = clock, now
        self._recordings: OrderedDict[int, Recording] = OrderedDict()
        self._served: dict[int, tuple[Endpoint, Scope]] = {}
        self._lock = Lock()
        self._waiting: set[asyncio.Future[None]] = set()
        self._config = GatewayConfig()
        self._secrets: frozenset[str] = frozenset()
        self.version = self.dropped = self.size = self.count = 0

    # ── what is kept ─────────────────────────────────────────────────────────

    @property
    def config(self) -> GatewayConfig:
        """What holds now."""
        return self._config

    def __iter__(self) -> Iterator[Recording]:
        with self._lock:
            return iter(tuple(self._recordings.values()))

    def get(self, number: int) -> Recording | None:
        """The exchange of this number, as long as it is kept."""
        return self._recordings.get(number)

    def forget(self, number: int) -> None:
        """Keep this exchange no longer."""
        with self._lock:
            if number in self._recordings:
                self._drop(number)
                self.dropped -= 1
                self.version += 1

    async def changed(self, since: int, seconds: float) -> None:
        """Wait until something has changed since version `since`, at most `seconds`."""
        if self.version > since or seconds <= 0:
            return
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        try:
            await asyncio.wait([waiting], timeout=seconds)
        finally:
            self._waiting.discard(waiting)

    def _drop(self, number: int) -> None:
        recording = self._recordings.pop(number)
        self._served.pop(number, None)
        recording.gone = True
        self.size -= recording.size
        self.dropped += 1

    def _note(self, recording: Recording, size: int) -> None:
        """`recording` has changed, and takes so much more; a large request is prepared in a thread."""
        with self._lock:
            if recording.gone:
                return
            self.version += 1
            recording.version = self.version
            self.size += size
            while len(self._recordings) > 1 and (self.size > self.most_bytes or len(self._recordings) > self.most):
                self._drop(next(iter(self._recordings)))
        for waiting in tuple(self._waiting):
            waiting.get_loop().call_soon_threadsafe(_wake, waiting)

    # ── the observer ─────────────────────────────────────────────────────────

    def take(self, config: GatewayConfig) -> None:
        """From now on `config` holds."""
        self._config, self._secrets = config, hidden(config)

    def exchange_began(self, record: ExchangeRecord) -> None:
        """An exchange begins."""
        recording = CURRENT.get()
        if recording is not None:
            recording.exchange = record
            self._note(recording, 0)

    def attempt_began(self, record: ExchangeRecord, attempt: UpstreamAttempt) -> None:
        """A place is about to be asked."""
        self._touch()

    def attempt_ended(self, record: ExchangeRecord, attempt: UpstreamAttempt) -> None:
        """It answered, failed, or is not listened to any more."""
        self._touch()

    def exchange_ended(self, record: ExchangeRecord) -> None:
        """The exchange is over; what goes out after this is recorded still."""
        self._touch()

    def _touch(self) -> None:
        recording = CURRENT.get()
        if recording is not None:
            self._note(recording, 0)

    # ── the wires ────────────────────────────────────────────────────────────

    def recorded(self, endpoint: Endpoint) -> Endpoint:
        """`endpoint`, with its requests recorded."""

        async def served(scope: Scope, receive: Receive, send: Send) -> None:
            recording = self._recording(scope)
            self._begins(recording)
            token = CURRENT.set(recording)
            try:
                self._serves(recording, served, scope)
                await endpoint(scope, _receiving(recording, receive), _sending(recording, send))
            finally:
                CURRENT.reset(token)
                behind: asyncio.Future[None] | None = scope.get(BEHIND)
                if behind is None or behind.done():
                    self._ends(recording)
                else:
                    behind.add_done_callback(lambda _: self._ends(recording))

        return served

    def _serves(self, recording: Recording, endpoint: Endpoint, scope: Scope) -> None:
        self._served[recording.number] = (endpoint, _without_keys(scope))

    def around(self, upstreams: Upstreams) -> Upstreams:
        """`upstreams`, with what goes to and fro in a recorded exchange recorded."""
        return _Recorded(upstreams, self._routes)

    def repeat(self, number: int, headers: dict[bytes, bytes]) -> Callable[[], Awaitable[None]] | None:
        """What serves the request of exchange `number` once more, with these headers instead; None if it is gone."""
        recording, served = self._recordings.get(number), self._served.get(number)
        if recording is None or served is None:
            return None
        endpoint, scope = served
        body = recording.request.data
        others = [(k, v) for k, v in scope["headers"] if k not in headers]
        fresh = [*others, *headers.items(), (b"content-length", str(len(body)).encode())]
        again: Scope = {**scope, "headers": fresh, "query_string": recording.query.encode(), AGAIN: number}
        return lambda: endpoint(again, once(body), sent_nowhere)

    def _recording(self, scope: Scope) -> Recording:
        self.count += 1
        return Recording(
            number=self.count,
            began=self._now(),
            clock=self._clock,
            most=self._longest,
            secrets=self._secrets,
            blots=self._blots,
            changed=self._note,
            method=scope["method"],
            path=scope["path"],
            query=scope.get("query_string", b"").decode("latin-1"),
            variables=dict(scope.get("path_params", {})),
            came=scope["headers"],
            again=scope.get(AGAIN, 0),
        )

    def _begins(self, recording: Recording) -> None:
        self._recordings[recording.number] = recording
        self._note(recording, 0)

    def _ends(self, recording: Recording) -> None:
        recording.seal()

    def _routes(self, recording: Recording) -> Route | None:
        """Where the attempt that runs now goes."""
        exchange = recording.exchange
        if exchange is None or not exchange.attempts:
            return None
        attempt = exchange.attempts[-1]
        try:
            routes = self._config.routes(exchange.model)
        except DragomanError:
            return None
        if len(routes) == 1:
            return routes[0]
        there = (attempt.place.provider, attempt.place.model, attempt.place.address)
        found = [r for r in routes if (r.provider.name, r.model or attempt.request.model, r.base_url) == there]
        return next(iter([*found, *routes]), None)


_NOT_REPEATED = frozenset(
    {b"content-length", b"transfer-encoding", b"x-request-id", b"traceparent", b"tracestate", b"host", b"origin"}
    | {b"expect", b"content-encoding"}
)


def _without_keys(scope: Scope) -> Scope:
    """What is needed to send the same request again, without what must not be kept."""
    fields = ("type", "asgi", "http_version", "method", "scheme", "path", "raw_path", "root_path", "path_params")
    texts = [(k, v.decode("latin-1")) for k, v in scope["headers"] if k not in _NOT_REPEATED]
    headers = [(k, v.encode("latin-1")) for k, v in texts if not is_secret(k.decode("latin-1"), v)]
    return {**{name: scope[name] for name in fields if name in scope}, "headers": headers}


def _receiving(recording: Recording, receive: Receive) -> Receive:
    async def received() -> Any:
        message = await receive()
        if message["type"] == "http.request":
            recording.on_request_data(message.get("body", b""))
        return message

    return received


def _sending(recording: Recording, send: Send) -> Send:
    def sent(message: Any) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            recording.on_response_head(message["status"], message["headers"])
        elif message.get("body"):
            recording.on_response_data(message["body"])
        return send(message)

    return sent


class _Recorded:
    """Connections whose bytes are recorded, where the exchange they serve is."""

    def __init__(self, upstreams: Upstreams, route: _RouteOf) -> None:
        self._upstreams, self._route = upstreams, route

    def performer(self) -> PerformAsync:
        """Performs the effects of one machine."""
        perform, recording = self._upstreams.performer(), CURRENT.get()
        return perform if recording is None else _performing(perform, recording, self._route)

    async def aclose(self) -> None:
        """Let go of everything."""
        await self._upstreams.aclose()


def _wake(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


def _performing(perform: PerformAsync, recording: Recording, route: _RouteOf) -> PerformAsync:
    hops: list[Hop] = []

    async def opened(effect: Open) -> Any:
        hops[:] = [recording.on_upstream_request(effect, route(recording))]
        try:
            reply = await perform(effect)
        except Exception as error:
            recording.on_upstream_failure(hops[0], error)
            raise
        recording.on_upstream_head(hops[0], reply)
        return reply

    async def read(effect: Read) -> Any:
        try:
            reply = await perform(effect)
        except Exception as error:
            if hops:
                recording.on_upstream_failure(hops[0], error)
            raise
        if hops:
            recording.on_upstream_data(hops[0], reply)
        return reply

    async def named(effect: NewId) -> Any:
        reply = await perform(effect)
        recording.nonce = str(reply)
        return reply

    def performed(effect: Effect) -> Awaitable[Any]:
        if isinstance(effect, Read):
            return read(effect)
        if isinstance(effect, Open):
            return opened(effect)
        return named(effect) if isinstance(effect, NewId) and not effect.prefix else perform(effect)

    return performed


def once(body: bytes) -> Receive:
    """A client that sends `body` and stays."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        if messages:
            return messages.pop()
        return await asyncio.get_running_loop().create_future()

    return receive


async def sent_nowhere(_: Any) -> None:
    """An answer that only the recorder reads."""
