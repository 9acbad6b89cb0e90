"""The recording of one exchange: the bytes of both wires with their times, and its record.

Knows bytes, exchange records and effects; nothing of stores, pages or ASGI.
Contract: nothing here changes what it watches; a body longer than is kept is cut and says so; once an exchange is
sealed no known secret is left in what was kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...effects import Open, Opened
from ...errors import CodecError
from ...providers.route import Route
from ...types import NOTHING
from ..http.request_body import Refused, unpacked
from ..session_key import session_of
from ..telemetry.exchange_record import ExchangeRecord, UpstreamAttempt
from .redaction import (
    blot,
    holds,
    joined,
    secrets_in,
    shown_headers,
    shown_query,
    shown_request_headers,
    shown_url,
    spellings,
)

FORM = "application/x-www-form-urlencoded"
WITHHELD = b"[withheld: it held a secret in pieces]"
TOKENS = b"[withheld: keys are exchanged for a token here]"
PACKED = b"[withheld: it is packed in a way that cannot be read]"
UNNOTED = 16 * 1024
"""Bytes by which one that nobody sees before it is sealed may have grown unnoticed."""
OBJECTS = 4
"""Bytes that the values decoded from a byte of a request take beside it, about."""


class Body:
    """The bytes of one body, and when each piece of them came (seconds since the exchange began, and its end)."""

    __slots__ = ("_most", "_pieces", "size", "times")
    size: int
    times: list[float]
    """When each piece came and where it ends, by turns: a pair for each were so much more for the garbage collector."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self.times = []
        self.size = 0

    def add(self, data: bytes, at: float) -> int:
        """Keep `data`, as far as there is room; how many bytes were kept."""
        size = len(data)
        end = self.size + size
        if end > self._most:
            data = data[: max(self._most - self.size, 0)]
            size = len(data)
        if size:
            self._pieces.append(bytes(data))
            self.times += (at, self.size + size)
        self.size = end
        return size

    @classmethod
    def kept(cls, data: bytes, times: list[float], size: int, *, cut: bool) -> Body:
        """A body of which this was kept, out of `size` bytes."""
        body = cls(len(data) if cut else size)
        body._pieces, body.times, body.size = [data], times, size
        return body

    @property
    def pieces(self) -> list[tuple[float, int]]:
        """When each piece came (seconds since the exchange began), and its end."""
        times = self.times
        return [*zip(times[::2], map(int, times[1::2]), strict=True)]

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
        self._pieces, self.times = [why], [self.times[0] if self.times else 0.0, len(why)]


@dataclass(slots=True, eq=False, kw_only=True)
class Hop:
    """One request to a provider, and what it answered.

    `attempt` is the one it belongs to (None where none had begun), `route` where that went, `ran` how many rounds of
    tools had been run here before it, `nonce` the code its calls must carry; `is_exchange_of_keys`: a token was asked
    for, and not a model.  Times are seconds since the exchange began.
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
    is_exchange_of_keys: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_exchange_of_keys = self.headers.get("content-type", "").startswith(FORM)

    def show(self, secrets: frozenset[str]) -> None:
        """Address and headers as they may be shown."""
        self.url, self.headers = shown_url(self.url, secrets), shown_request_headers(self.headers, secrets)
        self.got_headers = shown_headers(self.got_headers, secrets)


@dataclass(slots=True, eq=False, kw_only=True)
class Recording:
    """One exchange.  `version` grows with every change; `began` is seconds since 1970.

    `came` are the headers of its request, `given` those of our answer; `session` is the digest of what it belongs to,
    once it is over; `content` says whether what was said is kept.  Where it does not `blots`, nobody sees anything of
    it until it is sealed, and bodies are rid of secrets by whoever writes them.
    """

    number: int
    began: float
    clock: Callable[[], float]
    most: int
    secrets: frozenset[str]
    changed: Callable[[Recording, int], None]
    method: str = ""
    path: str = ""
    query: str = ""
    variables: Mapping[str, Any] = NOTHING
    came: Sequence[tuple[bytes, bytes]] = ()
    given: Sequence[tuple[bytes, bytes]] = ()
    headers: Mapping[str, str] = NOTHING
    again: int = 0
    exchange: ExchangeRecord | None = None
    version: int = 0
    size: int = 0
    unnoted: int = 0
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
    blots: bool = True
    start: float = field(init=False)

    def __post_init__(self) -> None:
        self.start = self.clock()
        self.request, self.response = Body(self.most), Body(self.most)
        if self.blots:
            self._know(decoded(self.came))

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
        texts = (*(_words_of(hop.attempt) for hop in self.hops), *(hop.url for hop in self.hops), self.path)
        escaped = json.dumps(words)[1:-1].casefold()
        return any(wanted in text.casefold() for text in texts) or any(
            wanted in text or escaped in text
            for text in (body.data.decode("utf-8", "replace").casefold() for body in self.bodies())
        )

    def bodies(self) -> list[Body]:
        """The bodies of both wires."""
        return [self.request, self.response, *[body for hop in self.hops for body in (hop.sent, hop.got)]]

    # ── what happens ─────────────────────────────────────────────────────────

    def on_request_data(self, data: bytes) -> None:
        """More of the client's request."""
        if not self.gone:
            self.unnoted += OBJECTS * self.request.add(data, self.clock() - self.start)
            self.note()

    def on_response_head(self, status: int, headers: Sequence[tuple[bytes, bytes]]) -> None:
        """The head of our answer."""
        self.status, self.given = status, tuple(headers)
        if self.blots:
            self.response_headers = shown_headers(decoded(headers), self.secrets)
            self.note()

    def on_response_data(self, data: bytes) -> None:
        """More of our answer."""
        if not self.gone:
            self.unnoted += self.response.add(data, self.clock() - self.start)
            if self.blots or self.unnoted > UNNOTED:
                self.note()

    def on_upstream_request(self, effect: Open, route: Route | None) -> Hop:
        """A request goes to a provider."""
        self._end_hop()
        exchange, at = self.exchange, self.clock() - self.start
        hop = Hop(
            attempt=exchange.attempts[-1] if exchange is not None and exchange.attempts else None,
            route=route,
            ran=len(exchange.server_tools) if exchange is not None else 0,
            nonce=self.nonce,
            method=effect.method,
            url=effect.url,
            headers={name.lower(): value for name, value in effect.headers.items()},
            sent=Body(self.most),
            begun=at,
            got=Body(self.most),
        )
        self.nonce, body = "", effect.body
        if self.blots:
            self._know_of(hop)
            hop.show(self.secrets)
            body = blot(body, self.spelt)
        if not self.gone:
            hop.sent.add(TOKENS if hop.is_exchange_of_keys else body, at)
        self.hops.append(hop)
        self.unnoted += hop.sent.size
        self.note()
        return hop

    def on_upstream_head(self, hop: Hop, opened: Opened) -> None:
        """The provider answers."""
        hop.status, hop.opened = opened.status, self.clock() - self.start
        hop.got_headers = opened.headers
        if self.blots:
            hop.got_headers = shown_headers(opened.headers, self.secrets)
            self.note()

    def on_upstream_data(self, hop: Hop, data: bytes) -> None:
        """More of the provider's answer; b"" is its end."""
        at = self.clock() - self.start
        if not data:
            hop.ended = at
        elif not (self.gone or hop.is_exchange_of_keys):
            self.unnoted += OBJECTS * hop.got.add(data, at)
        if self.blots or self.unnoted > UNNOTED:
            self.note()

    def on_upstream_failure(self, hop: Hop, error: Exception) -> None:
        """The provider could not be asked, or broke off."""
        hop.error, hop.ended = str(error), self.now
        self.note()

    def seal(self) -> None:
        """It is over: what was kept is rid of secrets."""
        self._end_hop()
        if not self.blots:
            self._know_all()
        self._unpack()
        for body in self.bodies() if self.blots else ():
            body.seal(self.spelt)
        for hop in self.hops:
            if hop.is_exchange_of_keys:
                hop.got.withhold(TOKENS)
            elif self.spelt and holds(_words_of(hop.attempt), self.spelt):
                hop.got.withhold(WITHHELD)
        exchange = self.exchange
        if exchange is not None:
            self.session = session_key(exchange)
            if self.spelt and exchange.response is not None and holds(exchange.response.text, self.spelt):
                self.response.withhold(WITHHELD)
            exchange.headers, exchange.trace_headers = NOTHING, {}
        self.sealed = True
        self.note()

    def _know(self, headers: Mapping[str, str]) -> None:
        """The client's headers, and what of them is secret; each of those that came more than once."""
        self.secrets = joined(self.secrets, secrets_in(headers, self.query))
        if len(headers) < len(self.came):
            for pair in self.came:
                self.secrets = joined(self.secrets, secrets_in(decoded([pair])))
        self.headers = shown_request_headers(headers, self.secrets)
        self.query = shown_query(self.query, self.secrets)
        self.spelt = spellings(self.secrets)

    def _know_of(self, hop: Hop) -> None:
        """What is secret in what is sent to a provider."""
        known = joined(self.secrets, secrets_in(hop.headers, hop.url.partition("?")[2]))
        if known is not self.secrets:
            self.secrets, self.spelt = known, spellings(known)

    def _know_all(self) -> None:
        """All of that, at the end."""
        for hop in self.hops:
            self._know_of(hop)
        self._know(self.exchange.headers if self.exchange is not None else decoded(self.came))
        self.response_headers = shown_headers(decoded(self.given), self.secrets)
        for hop in self.hops:
            hop.show(self.secrets)

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

    def note(self) -> None:
        """It has changed, and takes so much more."""
        more, self.unnoted = self.unnoted, 0
        self.size += more
        self.changed(self, more)


def decoded(headers: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers as text."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}


def session_key(exchange: ExchangeRecord) -> str:
    """The digest of the session that an exchange belongs to; "" where nobody was asked."""
    if not exchange.attempts:
        return ""
    known = exchange.session
    return (known or session_of(exchange.attempts[0].request, exchange.headers, exchange.key)).key


def _words_of(attempt: UpstreamAttempt | None) -> str:
    """The words of a model, put together from however many pieces."""
    response = attempt.response if attempt is not None else None
    return "" if response is None else f"{response.text}\n{response.reasoning}"
