"""Access control: keys of clients, and how much each of them, and all together, may ask at a time.

Knows headers and limits; nothing of requests or routes.
Contract: keys are compared by their hashes and in constant time, and stand in no message; whoever came in goes out
again (`async with access_control.enter(…)`).  What all together may ask is counted for this process, which it protects;
what each key may ask by a counter, for one process or for all that share a store; a key without limits costs no call.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import Protocol
from urllib.parse import parse_qs

from ...errors import ErrorKind, ProviderError
from ..config.model import Access, GatewayConfig
from ..state.quota import Counter, Here, Lease, Quota, is_limited, refused

HEADERS = ("x-api-key", "x-goog-api-key", "api-key")
"""Where clients of Anthropic, Google and Azure send a key; the others send a bearer."""
KEYS = frozenset({"authorization", *HEADERS})
"""Headers that say who asks: a proxy in front may have read another of two than we would."""
AGAIN = "\n"
"""Stands between the values of such a header that came more than once; no value of a header can hold it."""
BUSY = "this gateway serves {most} requests at the same time, and all are taken; come again in a moment"
NO_KEY = "a key is needed here; send it as 'Authorization: Bearer KEY' or as 'x-api-key'"
TWO_KEYS = "the header {name!r} came {times} times, and only one can be meant; send one"
WRONG_KEY = "this key is not known here; ask whoever runs this gateway for one"


class AccessControl:
    """Lets requests in; `clock` gives seconds that only grow, `counter` counts what keys ask."""

    inside: int
    """How many requests are being served."""

    def __init__(self, clock: Callable[[], float], counter: Counter | None = None) -> None:
        self.counter: Counter = counter or Here(Quota(clock))
        self.inside = 0

    def enter(
        self, config: GatewayConfig, headers: Mapping[str, str], query: str = "", bill: Bill | None = None
    ) -> Visit:
        """Come in, with the access of the key that was sent; None where no key is asked for.

        Raises ProviderError: 401 for a key that is missing or wrong, 429 for one time too many.
        """
        access = known(config.access, sent_key(headers, query)) if config.access else None
        return Visit(self, config, access, bill, _tokens(headers) if access is not None else 0)

    def occupy(self, config: GatewayConfig, access: Access | None, bill: Bill | None = None) -> Visit:
        """Be served, with this access.  Raises ProviderError (429) for one time too many."""
        return Visit(self, config, access, bill)


class Bill(Protocol):
    """Whoever knows what a request cost."""

    @property
    def tokens(self) -> int | None:
        """Its tokens; None where nobody knows."""


class Visit:
    """One request while it is served: `async with` it; gives its access.  `bill` says in the end what it cost."""

    __slots__ = ("_access", "_config", "_control", "_lease", "_tokens", "bill")

    def __init__(
        self, control: AccessControl, config: GatewayConfig, access: Access | None, bill: Bill | None, tokens: int = 0
    ) -> None:
        self._control, self._config, self._access, self._tokens = control, config, access, tokens
        self._lease: Lease | None = None
        self.bill = bill

    async def __aenter__(self) -> Access | None:
        control, access = self._control, self._access
        if control.inside >= self._config.limits.max_concurrent:
            raise refused(BUSY.format(most=self._config.limits.max_concurrent), 1.0)
        control.inside += 1
        if access is not None and is_limited(access):
            try:
                self._lease = await control.counter.enter(access, self._tokens)
            except BaseException:
                control.inside -= 1
                raise
        return access

    async def __aexit__(self, *_: object) -> None:
        self._control.inside -= 1
        if self._lease is not None:
            await self._control.counter.leave(self._lease, self.bill.tokens if self.bill is not None else None)


BYTES_OF_TOKEN = 4
"""Of a request, about: what it seems to cost before it is read."""


def _tokens(headers: Mapping[str, str]) -> int:
    size = headers.get("content-length", "")
    return int(size[:12]) // BYTES_OF_TOKEN if size.isascii() and size.isdecimal() else 0


def sent_key(headers: Mapping[str, str], query: str = "") -> str:
    """The key a client sent, however its API sends one; "" for none.  Raises ProviderError (400) for two of a kind."""
    for name in KEYS & headers.keys():
        if AGAIN in headers[name]:
            message = TWO_KEYS.format(name=name, times=headers[name].count(AGAIN) + 1)
            raise ProviderError(message, status=400, kind=ErrorKind.BAD_REQUEST, code="repeated_key")
    scheme, _, key = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and key.strip():
        return key.strip()
    found = next((headers[name].strip() for name in HEADERS if headers.get(name, "").strip()), "")
    return found or parse_qs(query).get("key", [""])[0]


def known(rows: tuple[Access, ...], key: str) -> Access:
    """The row of `key`.  Raises ProviderError (401) where it is missing or wrong."""
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    found = [row for row in rows if hmac.compare_digest(row.sha256, digest)]  # all are compared: time tells nothing
    if not found:
        message = WRONG_KEY if key else NO_KEY
        raise ProviderError(message, status=401, kind=ErrorKind.AUTH, code="invalid_api_key")
    return found[0]
