"""Why a TLS connection was not made, and what helps against it, in words.

Knows Python's exceptions of TLS and OpenSSL's numbers; nothing of peers, addresses or HTTP.
Source: openssl/x509_vfy.h, `X509_V_ERR_*`.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping

from ..records import NamedTuple


class TlsFailure(NamedTuple):
    """Why, and what to do."""

    reason: str
    remedy: str


_TRUST = TlsFailure(
    "nobody whom this machine trusts has signed its certificate",
    "name a file with the certificate of its authority in SSL_CERT_FILE, and start again",
)
_HOST = TlsFailure("its certificate is for another host", "use the name it was made for in the base URL")
VERIFIED: Mapping[int, TlsFailure] = {
    9: TlsFailure("its certificate is not valid yet", "check the clock of this machine"),
    10: TlsFailure("its certificate has expired", "let who runs it renew it, and check the clock of this machine"),
    **dict.fromkeys((2, 18, 19, 20, 21), _TRUST),
    **dict.fromkeys((62, 64), _HOST),
}
NO_TLS_THERE = TlsFailure("it does not speak TLS there", "use http://, or the port on which it does")
BROKEN_OFF = TlsFailure(
    "it broke off the handshake", "check its host and port, and whether a proxy or a firewall stands between"
)
OTHER = "check its certificate, or use http:// if it has none"
PLAINTEXT = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})


def tls_failure(error: BaseException) -> TlsFailure | None:
    """The failure behind `error`; None where it is none of TLS."""
    for cause in reversed([*_causes(error)]):  # libraries wrap them, in classes of the same family
        if isinstance(cause, ssl.SSLCertVerificationError):
            words = str(cause.verify_message).rstrip(".").lower()
            return VERIFIED.get(cause.verify_code) or TlsFailure(words, OTHER)
        if isinstance(cause, ssl.SSLEOFError):
            return BROKEN_OFF
        if isinstance(cause, ssl.SSLError):
            plain = cause.reason in PLAINTEXT
            return NO_TLS_THERE if plain else TlsFailure((cause.reason or "unknown").lower().replace("_", " "), OTHER)
    return None


def broke_off(error: BaseException) -> bool:
    """Did the other side end a connection of which it had accepted the first byte?"""
    return any(isinstance(cause, ConnectionResetError) for cause in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
