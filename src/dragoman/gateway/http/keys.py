"""Who may come in: keys of clients, and how much each of them, and all together, may ask at a time.

Knows headers and limits; nothing of requests or routes.
Contract: keys are compared by their hashes and in constant time, and stand in no message; whoever came in goes out
again (`with door.enter(…)`).  What all together may ask is counted for this process, which it protects; what each key
may ask by the tally, for one process or for all of a machine.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import parse_qs

from ...errors import ErrorKind, ProviderError
from ..config.model import Access, GatewayConfig
from ..state.quota import Tally, refused

HEADERS = ("x-api-key", "x-goog-api-key", "api-key")
"""Where clients of Anthropic, Google and Azure send a key; the others send a bearer."""
BUSY = "this gateway serves {most} requests at the same time, and all are taken; come again in a moment"
NO_KEY = "a key is needed here; send it as 'Authorization: Bearer KEY' or as 'x-api-key'"
WRONG_KEY = "this key is not known here; ask whoever runs this gateway for one"
NOT_FOR = "this key may not ask for the model {model!r}; ask for another, or for a key that may"


class Door:
    """Lets requests in; `clock` gives seconds that only grow, `tally` counts what keys ask."""

    def __init__(self, clock: Callable[[], float], tally: Tally | None = None) -> None:
        self._tally = tally or Tally(clock)
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
        if self._inside >= config.limits.max_concurrent:
            raise refused(BUSY.format(most=config.limits.max_concurrent), 1.0)
        if access is not None:
            self._tally.enter(access)
        self._inside += 1
        try:
            yield access
        finally:
            self._inside -= 1
            if access is not None:
                self._tally.leave(access)


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


def check_model(access: Access | None, model: str) -> None:
    """Raises ProviderError (403) where this key may not ask for `model`."""
    if access is not None and not access.allows(model):
        message = NOT_FOR.format(model=model[:100])
        raise ProviderError(message, status=403, kind=ErrorKind.AUTH, code="model_not_allowed")
