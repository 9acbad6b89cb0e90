"""Access control: keys of clients, and how much each of them, and all together, may ask at a time.

Knows headers and limits; nothing of requests or routes.
Contract: keys are compared by their hashes and in constant time, and stand in no message; whoever came in goes out
again (`with access_control.enter(…)`).  What all together may ask is counted for this process, which it protects; what
each key may ask by the quota, for one process or for all of a machine.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import parse_qs

from ...errors import ErrorKind, ProviderError
from ..config.model import Access, GatewayConfig
from ..state.quota import Quota, refused

HEADERS = ("x-api-key", "x-goog-api-key", "api-key")
"""Where clients of Anthropic, Google and Azure send a key; the others send a bearer."""
BUSY = "this gateway serves {most} requests at the same time, and all are taken; come again in a moment"
NO_KEY = "a key is needed here; send it as 'Authorization: Bearer KEY' or as 'x-api-key'"
WRONG_KEY = "this key is not known here; ask whoever runs this gateway for one"


class AccessControl:
    """Lets requests in; `clock` gives seconds that only grow, `quota` counts what keys ask."""

    def __init__(self, clock: Callable[[], float], quota: Quota | None = None) -> None:
        self._quota = quota or Quota(clock)
        self._inside = 0

    @property
    def inside(self) -> int:
        """How many requests are being served."""
        return self._inside

    @contextmanager
    def enter(self, config: GatewayConfig, headers: Mapping[str, str], query: str = "") -> Iterator[Access | None]:
        """Come in, with the access of the key that was sent; None where no key is asked for.

        Raises ProviderError: 401 for a key that is missing or wrong, 429 for one time too many.
        """
        access = known(config.access, sent_key(headers, query)) if config.access else None
        with self.occupy(config, access):
            yield access

    @contextmanager
    def occupy(self, config: GatewayConfig, access: Access | None) -> Iterator[None]:
        """Be served, with this access.  Raises ProviderError (429) for one time too many."""
        if self._inside >= config.limits.max_concurrent:
            raise refused(BUSY.format(most=config.limits.max_concurrent), 1.0)
        if access is not None:
            self._quota.enter(access)
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
            if access is not None:
                self._quota.leave(access)


def sent_key(headers: Mapping[str, str], query: str = "") -> str:
    """The key a client sent, however its API sends one; "" for none."""
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
