"""Errors on the way to a peer, in words that say what to do.

Knows no HTTP library: each brings its table of `Failure` rows, first match wins.
Contract: messages name the peer by scheme, host and port only; paths, queries and headers may hold secrets.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from ..errors import ErrorCode, ErrorKind, ProviderError
from .tls_failures import BROKEN_OFF, broke_off, tls_failure


@dataclass(frozen=True, slots=True)
class Failure:
    """The error for one class of exception: `{peer}`, `{reason}` and `{remedy}` (of TLS) are filled in."""

    of: type[BaseException]
    kind: ErrorKind
    code: ErrorCode
    sentence: str


UNREACHABLE = "cannot reach {peer} ({reason}); is the server running, and is the base URL right?"
NO_HOST = "cannot find the host of {peer} ({reason}); check the base URL and the name service"
NO_TLS = "no trusted TLS connection to {peer} ({reason}); {remedy}"
SLOW_CONNECT = "{peer} did not accept a connection in time; is the server running, or busy?"
SLOW_ANSWER = "{peer} said nothing for too long; raise the idle timeout, or ask for less"
BROKEN = "{peer} broke off the exchange ({reason}); try again, and look at that server's log if it keeps happening"
NOT_HTTP = "{peer} does not answer in HTTP ({reason}); check the base URL, its scheme and its port"

REASONS = {
    UNREACHABLE: "no connection came about",
    BROKEN: "it ended before the answer was complete",
    NOT_HTTP: "what it sends cannot be read",
}
"""Accounts of failures for which neither the system nor we have better words: a library's names of classes are none."""

DEEPER = (
    Failure(ssl.SSLError, ErrorKind.NETWORK, ErrorCode.TLS_ERROR, NO_TLS),
    Failure(socket.gaierror, ErrorKind.NETWORK, ErrorCode.DNS_ERROR, NO_HOST),
)
"""Causes below a connection that could not be made."""


def origin(url: str) -> str:
    """Scheme, host and port of `url`."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}" if host else url.split("?", maxsplit=1)[0]


def provider_error(error: BaseException, url: str, rows: Sequence[Failure]) -> ProviderError | None:
    """`error` as a `ProviderError`; None when no row knows it (then it is our bug, and should be seen as it is)."""
    row = next((r for r in rows if isinstance(error, r.of)), None)
    if row is None:
        return None
    row = _deeper(error, row)
    if row.sentence == UNREACHABLE and url.startswith("https:") and broke_off(error):
        row = replace(DEEPER[0], of=row.of)
    reason, remedy = (tls_failure(error) or BROKEN_OFF) if row.sentence == NO_TLS else (_reason(error, row), "")
    message = row.sentence.format(peer=origin(url), reason=reason, remedy=remedy)
    return ProviderError(message, kind=row.kind, code=row.code)


def _deeper(error: BaseException, row: Failure) -> Failure:
    """The row of the real cause, where a library only says that a connection failed."""
    cause: BaseException | None = error
    while cause is not None and row.sentence == UNREACHABLE:
        row = next((deep for deep in DEEPER if isinstance(cause, deep.of)), row)
        cause = cause.__cause__ or cause.__context__
    return row


def _reason(error: BaseException, row: Failure) -> str:
    """The shortest true account: the system's own words where it gave any."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
        cause = cause.__cause__ or cause.__context__
    return REASONS.get(row.sentence) or type(error).__name__
