"""The recording of one exchange: the bytes of both wires with their times, and its record.

Knows bytes, exchange records and effects; nothing of stores, pages or ASGI.
Contract: nothing here changes what it watches; a body longer than is kept is cut and says so; once an exchange is
sealed no known secret is left in what was kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...conversation.session_key import session_of
from ...effects import Open, Opened
from ...errors import CodecError
from ...providers.route import Route
from ...types import NOTHING
from ..http.request_body import Refused, unpacked
from ..telemetry.exchange_record import ExchangeRecord, UpstreamAttempt
from .redaction import blot, holds, secrets_in, shown_headers, shown_query, shown_url, spellings

FORM = "application/x-www-form-urlencoded"
WITHHELD = b"[withheld: it held a secret in pieces]"
TOKENS = b"[withheld: keys are exchanged for a token here]"
PACKED = b"[withheld: it is packed in a way that cannot be read]"
OBJECTS = 4
"""Bytes that the values decoded from a byte of a request take beside it, about."""


class Body:
    """The bytes of one body, and when each piece of them came (seconds since the exchange began, and its end)."""

    __slots__ = ("_most", "_pieces", "pieces", "size")
    size: int

    def __init__(self, most: int) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self.pieces: list[tuple[float, int]] = []
        self.size = 0

    def add(self, data: bytes, at: float) -> int:
        """Keep `data`, as far as there is room; how many bytes were kept."""
        part = data[: max(self._most - self.size, 0)]
        self.size += len(data)
        if part:
            self._pieces.append(bytes(part))
            self.pieces.append((at, (self.pieces[-1][1] if self.pieces else 0) + len(part)))
        return len(part)

    @classmethod
    def kept(cls, data: bytes, pieces: list[tuple[float, int]], size: int, *, cut: bool) -> Body:
        """A body of which this was kept, out of `size` bytes."""
        body = cls(len(data) if cut else size)
        body._pieces, body.pieces, body.size = [data], pieces, size
        return body

    @property
    def data(self) -> bytes:
        """What was kept."""
        if len(self._pieces) > 1:
            self._pieces = [b"".join(self._pieces)]
        return self._pieces[0] if self._pieces else b""

    @property
    def is_cut(self) -> bool:
        """Was it longer than is kept?"""
        return self.size > self._most

    def seal(self, spelt: tuple[str, ...]) -> None:
        """Blot out what is secret."""
        self._pieces = [blot(self.data, spelt)]

    def withhold(self, why: bytes) -> None:
        """Keep nothing of it but why, or what was made of it."""
        self._pieces, self.pieces = [why], [(self.pieces[0][0] if self.pieces else 0.0, len(why))]


@dataclass(slots=True, eq=False, kw_only=True)
class Hop:
    """One request to a provider, and what it answered.

    `attempt` is the one it belongs to (None where none had begun), `route` where that went, `ran` how many rounds of
    tools had been run here before it, `nonce` the code its calls must carry.  Times are seconds since the exchange
    began.
    """

    attempt: UpstreamAttempt | None
    route: Route | None
    ran: int
    nonce: str
    method: str
    url: str
    headers: Mapping[str, str]
    sent: Body
    begun: float
    got: Body
    status: int = 0
    got_headers: Mapping[str, str] = NOTHING
    opened: float | None = None
    ended: float | None = None
    error: str = ""

    @property
    def is_exchange_of_keys(self) -> bool:
        """Was a token asked for, and not a model?"""
        return self.headers.get("content-type", "").startswith(FORM)


@dataclass(slots=True, eq=False, kw_only=True)
class Recording:
    """One exchange.  `version` grows with every change; `began` is seconds since 1970.

    `session` is the digest of what it belongs to, once it is over; `content` says whether what was said is kept.
    """

    number: int
    began: float
    clock: Callable[[], float]
    most: int
    secrets: set[str]
    changed: Callable[[Recording, int], None]
    method: str = ""
    path: str = ""
    query: str = ""
    variables: Mapping[str, Any] = NOTHING
    headers: Mapping[str, str] = NOTHING
    again: int = 0
    exchange: ExchangeRecord | None = None
    version: int = 0
    size: int = 0
    gone: bool = False
    nonce: str = ""
    request: Body = field(init=False)
    response: Body = field(init=False)
    status: int = 0
    response_headers: Mapping[str, str] = NOTHING
    hops: list[Hop] = field(default_factory=list)
    sealed: bool = False
    spelt: tuple[str, ...] = ()
    session: str = ""
    content: bool = True
    start: float = field(init=False)

    def __post_init__(self) -> None:
        self.start = self.clock()
        self.request, self.response = Body(self.most), Body(self.most)
        self.secrets = self.secrets | secrets_in(self.headers, self.query)
        self.headers = shown_headers(self.headers, self.secrets)
        self.query = shown_query(self.query, self.secrets)
        self.spelt = spellings(self.secrets)

    @property
    def now(self) -> float:
        """Seconds since it began."""
        return self.clock() - self.start

    @property
    def live(self) -> bool:
        """Does it still run?"""
        return not self.sealed

    def mentions(self, words: str) -> bool:
        """Do these words stand in it, in capitals or not: in its bytes, or in what a model wrote in pieces?"""
        wanted = words.casefold()
        bodies = (self.request, self.response, *(body for hop in self.hops for body in (hop.sent, hop.got)))
        texts = (*(_words_of(hop.attempt) for hop in self.hops), *(hop.url for hop in self.hops), self.path)
        escaped = json.dumps(words)[1:-1].casefold()
        return any(wanted in text.casefold() for text in texts) or any(
            wanted in text or escaped in text
            for text in (body.data.decode("utf-8", "replace").casefold() for body in bodies)
        )

    # ── what happens ─────────────────────────────────────────────────────────

    def on_request_data(self, data: bytes) -> None:
        """More of the client's request."""
        self._grow(OBJECTS * self._keep(self.request, data))

    def on_response_head(self, status: int, headers: Mapping[str, str]) -> None:
        """The head of our answer."""
        self.status, self.response_headers = status, shown_headers(headers, self.secrets)
        self._grow(0)

    def on_response_data(self, data: bytes) -> None:
        """More of our answer."""
        self._grow(self._keep(self.response, data))

    def on_upstream_request(self, effect: Open, route: Route | None) -> Hop:
        """A request goes to a provider."""
        self._end_hop()
        more = secrets_in(effect.headers, effect.url.partition("?")[2]) - self.secrets
        if more:
            self.secrets |= more
            self.spelt = spellings(self.secrets)
        exchange = self.exchange
        hop = Hop(
            attempt=exchange.attempts[-1] if exchange is not None and exchange.attempts else None,
            route=route,
            ran=len(exchange.server_tools) if exchange is not None else 0,
            nonce=self.nonce,
            method=effect.method,
            url=shown_url(effect.url, self.secrets),
            headers=shown_headers({k.lower(): v for k, v in effect.headers.items()}, self.secrets),
            sent=Body(self.most),
            begun=self.now,
            got=Body(self.most),
        )
        self.nonce = ""
        if not self.gone:
            hop.sent.add(TOKENS if hop.is_exchange_of_keys else blot(effect.body, self.spelt), self.now)
        self.hops.append(hop)
        self._grow(hop.sent.size)
        return hop

    def on_upstream_head(self, hop: Hop, opened: Opened) -> None:
        """The provider answers."""
        hop.status, hop.opened = opened.status, self.now
        hop.got_headers = shown_headers(opened.headers, self.secrets)
        self._grow(0)

    def on_upstream_data(self, hop: Hop, data: bytes) -> None:
        """More of the provider's answer; b"" is its end."""
        if not data:
            hop.ended = self.now
        self._grow(OBJECTS * self._keep(hop.got, b"" if hop.is_exchange_of_keys else data))

    def on_upstream_failure(self, hop: Hop, error: Exception) -> None:
        """The provider could not be asked, or broke off."""
        hop.error, hop.ended = str(error), self.now
        self._grow(0)

    def seal(self) -> None:
        """It is over: what was kept is rid of secrets."""
        self._end_hop()
        bodies = (self.request, self.response, *(body for hop in self.hops for body in (hop.sent, hop.got)))
        self._unpack()
        for body in bodies:
            body.seal(self.spelt)
        for hop in self.hops:
            if hop.is_exchange_of_keys:
                hop.got.withhold(TOKENS)
            elif holds(_words_of(hop.attempt), self.spelt):
                hop.got.withhold(WITHHELD)
        exchange = self.exchange
        if exchange is not None:
            self._name_session(exchange)
            if exchange.response is not None and holds(exchange.response.text, self.spelt):
                self.response.withhold(WITHHELD)
            exchange.headers, exchange.trace_headers = NOTHING, {}
        self.sealed = True
        self._grow(0)

    def _name_session(self, exchange: ExchangeRecord) -> None:
        if exchange.attempts:
            self.session = session_of(exchange.attempts[0].request, exchange.headers, exchange.key).key

    def _unpack(self) -> None:
        """A packed request is kept as what is in it: secrets are not seen in what is packed."""
        coding = self.headers.get("content-encoding", "")
        if not coding or not self.request.size:
            return
        try:
            data = unpacked(self.request.data, coding, self.most)
        except (CodecError, Refused):
            data = PACKED
        self.request.withhold(data)

    def _end_hop(self) -> None:
        if self.hops and self.hops[-1].ended is None:
            self.hops[-1].ended = self.now

    def _keep(self, body: Body, data: bytes) -> int:
        """Keep `data`, unless all of this is forgotten already."""
        return 0 if self.gone else body.add(data, self.now)

    def _grow(self, size: int) -> None:
        self.size += size
        self.changed(self, size)


def _words_of(attempt: UpstreamAttempt | None) -> str:
    """The words of a model, put together from however many pieces."""
    response = attempt.response if attempt is not None else None
    return "" if response is None else f"{response.text}\n{response.reasoning}"
