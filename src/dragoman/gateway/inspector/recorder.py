"""Exchanges recorded while they run: a watcher of both wires, beside the gateway and not in it.

An observer hears accounts, a wrapper of the served endpoints the client's bytes, a wrapper of the connections the
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
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, Protocol

from ...effects import Effect, NewId, Open, PerformAsync, Read
from ...errors import DragomanError
from ...providers.route import Route
from ..config.model import GatewayConfig
from ..http.asgi import Receive, Scope, Send
from ..telemetry.exchange_record import Account, Asking
from ..telemetry.logs import hidden
from .record import Hop, Record
from .redaction import is_secret

MOST = 5000
"""Exchanges kept."""
MOST_BYTES = 128 * 1024 * 1024
"""Bytes kept of them, about."""
LONGEST = 16 * 1024 * 1024
"""Bytes kept of one body."""
AGAIN = "dragoman.again"
"""In the scope of a request that repeats a recorded one: the number of that."""

_CURRENT: ContextVar[Record | None] = ContextVar("dragoman_inspected", default=None)
Endpoint = Callable[[Scope, Receive, Send], Awaitable[None]]


class Upstreams(Protocol):
    """Whatever gives performers."""

    def performer(self) -> PerformAsync:
        """Performs the effects of one machine."""

    async def aclose(self) -> None:
        """Let go of everything."""


class Recorder:
    """Keeps what was said lately: an observer, and the wrappers that hand it bytes."""

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
        self._kept: OrderedDict[int, Record] = OrderedDict()
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

    def __iter__(self) -> Iterator[Record]:
        with self._lock:
            return iter(tuple(self._kept.values()))

    def get(self, number: int) -> Record | None:
        """The exchange of this number, as long as it is kept."""
        return self._kept.get(number)

    def forget(self, number: int) -> None:
        """Keep this exchange no longer."""
        with self._lock:
            if number in self._kept:
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
        record = self._kept.pop(number)
        self._served.pop(number, None)
        record.gone = True
        self.size -= record.size
        self.dropped += 1

    def _note(self, record: Record, size: int) -> None:
        """`record` has changed, and takes so much more; a large request is prepared in a thread."""
        with self._lock:
            if record.gone:
                return
            self.version += 1
            record.version = self.version
            self.size += size
            while len(self._kept) > 1 and (self.size > self.most_bytes or len(self._kept) > self.most):
                self._drop(next(iter(self._kept)))
        for waiting in tuple(self._waiting):
            waiting.get_loop().call_soon_threadsafe(_wake, waiting)

    # ── the observer ─────────────────────────────────────────────────────────

    def take(self, config: GatewayConfig) -> None:
        """From now on `config` holds."""
        self._config, self._secrets = config, hidden(config)

    def began(self, account: Account) -> None:
        """An exchange begins."""
        record = _CURRENT.get()
        if record is not None:
            record.account = account
            self._note(record, 0)

    def asked(self, account: Account, asking: Asking) -> None:
        """A place is about to be asked."""
        self._touch()

    def answered(self, account: Account, asking: Asking) -> None:
        """It answered, failed, or is not listened to any more."""
        self._touch()

    def ended(self, account: Account) -> None:
        """The exchange is over; what goes out after this is recorded still."""
        self._touch()

    def _touch(self) -> None:
        record = _CURRENT.get()
        if record is not None:
            self._note(record, 0)

    # ── the wires ────────────────────────────────────────────────────────────

    def recorded(self, endpoint: Endpoint) -> Endpoint:
        """`endpoint`, with its requests recorded."""

        async def served(scope: Scope, receive: Receive, send: Send) -> None:
            with self._recording(scope) as record:
                self._served[record.number] = (served, _without_keys(scope))
                await endpoint(scope, _hearing(record, receive), _telling(record, send))

        return served

    def around(self, upstreams: Upstreams) -> Upstreams:
        """`upstreams`, with what goes to and fro in a recorded exchange recorded."""
        return _Recorded(upstreams, self._routes)

    def repeat(self, number: int, headers: dict[bytes, bytes]) -> Callable[[], Awaitable[None]] | None:
        """What serves the request of exchange `number` once more, with these headers instead; None if it is gone."""
        record, served = self._kept.get(number), self._served.get(number)
        if record is None or served is None:
            return None
        endpoint, scope = served
        body = record.asked.data
        kept = [(k, v) for k, v in scope["headers"] if k not in headers]
        fresh = [*kept, *headers.items(), (b"content-length", str(len(body)).encode())]
        again: Scope = {**scope, "headers": fresh, "query_string": record.query.encode(), AGAIN: number}
        return lambda: endpoint(again, _once(body), _nowhere)

    @contextmanager
    def _recording(self, scope: Scope) -> Iterator[Record]:
        self.count += 1
        record = Record(
            number=self.count,
            began=self._now(),
            clock=self._clock,
            most=self._longest,
            secrets=set(self._secrets),
            changed=self._note,
            method=scope["method"],
            path=scope["path"],
            query=scope.get("query_string", b"").decode("latin-1"),
            variables=dict(scope.get("path_params", {})),
            headers={k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]},
            again=scope.get(AGAIN, 0),
        )
        self._kept[record.number] = record
        self._note(record, 0)
        token = _CURRENT.set(record)
        try:
            yield record
        finally:
            _CURRENT.reset(token)
            record.seal()

    def _routes(self, record: Record) -> Route | None:
        """Where the asking that runs now goes."""
        account = record.account
        if account is None or not account.askings:
            return None
        asking = account.askings[-1]
        try:
            routes = self._config.routes(account.model)
        except DragomanError:
            return None
        there = (asking.place.provider, asking.place.model, asking.place.address)
        found = [r for r in routes if (r.provider.name, r.model or asking.request.model, r.base_url) == there]
        return next(iter([*found, *routes]), None)


_NOT_REPEATED = frozenset(
    {b"content-length", b"transfer-encoding", b"x-request-id", b"traceparent", b"tracestate", b"host", b"origin"}
    | {b"expect", b"content-encoding"}
)


def _without_keys(scope: Scope) -> Scope:
    """What is needed to send the same request again, without what must not be kept."""
    fields = ("type", "asgi", "http_version", "method", "scheme", "path", "raw_path", "root_path", "path_params")
    told = [(k, v.decode("latin-1")) for k, v in scope["headers"] if k not in _NOT_REPEATED]
    headers = [(k, v.encode("latin-1")) for k, v in told if not is_secret(k.decode("latin-1"), v)]
    return {**{name: scope[name] for name in fields if name in scope}, "headers": headers}


def _hearing(record: Record, receive: Receive) -> Receive:
    async def received() -> Any:
        message = await receive()
        if message["type"] == "http.request":
            record.asks(message.get("body", b""))
        return message

    return received


def _telling(record: Record, send: Send) -> Send:
    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in message["headers"]}
            record.answers(message["status"], headers)
        elif message.get("body"):
            record.tells(message["body"])
        await send(message)

    return sent


class _Recorded:
    """Connections whose bytes are recorded, where the exchange they serve is."""

    def __init__(self, upstreams: Upstreams, route: Callable[[Record], Route | None]) -> None:
        self._upstreams, self._route = upstreams, route

    def performer(self) -> PerformAsync:
        """Performs the effects of one machine."""
        perform, record = self._upstreams.performer(), _CURRENT.get()
        return perform if record is None else _performing(perform, record, self._route)

    async def aclose(self) -> None:
        """Let go of everything."""
        await self._upstreams.aclose()


def _wake(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


def _performing(perform: PerformAsync, record: Record, route: Callable[[Record], Route | None]) -> PerformAsync:
    hops: list[Hop] = []

    async def performed(effect: Effect) -> Any:
        if isinstance(effect, Open):
            hops[:] = [record.sends(effect, route(record))]
        elif not isinstance(effect, Read):
            reply = await perform(effect)
            if isinstance(effect, NewId) and not effect.prefix:
                record.nonce = str(reply)
            return reply
        try:
            reply = await perform(effect)
        except Exception as error:
            if hops:
                record.fails(hops[0], error)
            raise
        if hops:
            record.opens(hops[0], reply) if isinstance(effect, Open) else record.hears(hops[0], reply)
        return reply

    return performed


def _once(body: bytes) -> Receive:
    """A client that sends `body` and stays."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        if messages:
            return messages.pop()
        return await asyncio.get_running_loop().create_future()

    return receive


async def _nowhere(_: Any) -> None:
    """An answer that only the recorder hears."""
