"""AWS Signature Version 4: a request and who sends it → the headers that prove it.

Knows AWS's rules for signing; nothing of what the request asks.  Pure: the time comes in as an argument.
Contract: the headers returned, with those given, make a request that AWS takes within fifteen minutes of `now`.
Source: docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html; tested against its examples
and botocore.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import parse_qsl, quote, urlsplit

ALGORITHM = "AWS4-HMAC-SHA256"
UNSIGNED = frozenset({"authorization", "user-agent", "accept", "accept-encoding", "connection", "content-length"})
"""Headers that proxies and HTTP clients set or change on the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The signer; `session_token` for temporary credentials."""

    access_key_id: str = field(repr=False)
    secret_access_key: str = field(repr=False)
    session_token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Scope:
    """The reach of a signature."""

    region: str
    service: str


def sign(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    credentials: Credentials,
    scope: Scope,
    now: float,
) -> dict[str, str]:
    """The headers to send besides `headers`: date, token and signature.  `now` is in seconds since 1970."""
    moment = datetime.fromtimestamp(int(now), UTC)
    stamp, day = moment.strftime("%Y%m%dT%H%M%SZ"), moment.strftime("%Y%m%d")
    added = {"x-amz-date": stamp}
    if credentials.session_token:
        added["x-amz-security-token"] = credentials.session_token
    signed = _signed({**headers, **added}, url)
    names = ";".join(signed)
    request = "\n".join((
        method.upper(),
        _path(url),
        _query(url),
        *(f"{name}:{value}" for name, value in signed.items()),
        "",
        names,
        hashlib.sha256(body).hexdigest(),
    ))  # fmt: skip
    where = f"{day}/{scope.region}/{scope.service}/aws4_request"
    text = "\n".join((ALGORITHM, stamp, where, hashlib.sha256(request.encode()).hexdigest()))
    signature = hmac.new(_key(credentials, day, scope), text.encode(), hashlib.sha256).hexdigest()
    who = f"Credential={credentials.access_key_id}/{where}"
    return {**added, "authorization": f"{ALGORITHM} {who}, SignedHeaders={names}, Signature={signature}"}


def _signed(headers: Mapping[str, str], url: str) -> dict[str, str]:
    """The headers that are signed, by name, their values in one line."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    default = {"http": ":80", "https": ":443"}.get(parts.scheme, "")
    named = {"host": host.removesuffix(default) if default else host}
    named |= {name.lower(): " ".join(value.split()) for name, value in headers.items()}
    return {name: named[name] for name in sorted(named) if name not in UNSIGNED}


def _path(url: str) -> str:
    """The path as it is sent, escaped once more, as every service but S3 wants it."""
    return quote(urlsplit(url).path or "/", safe="/-_.~")


def _query(url: str) -> str:
    pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    escaped = sorted((quote(name, safe="-_.~"), quote(value, safe="-_.~")) for name, value in pairs)
    return "&".join(f"{name}={value}" for name, value in escaped)


def _key(credentials: Credentials, day: str, scope: Scope) -> bytes:
    key = f"AWS4{credentials.secret_access_key}".encode()
    for part in (day, scope.region, scope.service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key
