"""Which web pages may use the gateway: a browser says whose page asks, and nobody else does.

Without this any page in the world could make a gateway on somebody's own machine act, for browsers send simple requests
anywhere.  Knows the `Origin` header and the settings; nothing of endpoints.
Contract: what comes without an origin (every program) passes as it is.  A page of this machine, of an origin that is
listed, or, where keys are asked for, any page gets the headers by which browsers let it ask and read; every other is
refused before anything is done.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from ..config.model import GatewayConfig
from .asgi import Receive, Scope, Send
from .endpoints import problem, send_json

PROGRAMS = frozenset({
    "app", "capacitor", "chrome-extension", "file", "moz-extension", "tauri", "vscode-file", "vscode-webview",
})  # fmt: skip
"""Schemes of pages that are parts of programs somebody installed (those that Ollama takes, and extensions)."""
REFUSED = (
    "pages of {origin!r} may not use this gateway; "
    "list it under cors_origins in [server] of dragoman.toml, or ask for keys"
)
ORIGIN = b"origin"
DAY = 86_400


class Origins(CORSMiddleware):
    """`app` for the pages that `config`, asked at each request, lets in, and for everything that is no page."""

    def __init__(self, app: ASGIApp, config: Callable[[], GatewayConfig]) -> None:
        super().__init__(app, allow_methods=["*"], allow_headers=["*"], expose_headers=["*"], max_age=DAY)
        self.allow_private_network = True  # whoever may ask at all may ask a gateway in a private network
        self._config = config

    def is_allowed_origin(self, origin: str) -> bool:
        """May its pages use the gateway?"""
        config = self._config()
        return bool(config.access) or is_local(origin) or any(_matches(one, origin) for one in config.cors_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or ORIGIN not in [name for name, _ in scope["headers"]]:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if origin is None or _is_its_own(origin, headers.get("host", "")):
            await self.app(scope, receive, send)
        elif self.is_allowed_origin(origin):
            await super().__call__(scope, receive, send)
        else:
            message = REFUSED.format(origin=origin[:200])
            await send_json(send, problem(message, "permission_error"), 403, {"vary": "Origin"})


def is_local(origin: str) -> bool:
    """Is it a page of this machine, or a part of a program on it?"""
    scheme, host = _scheme_and_host(origin)
    named = host == "localhost" or host.endswith(".localhost")
    address = _address(host)
    return scheme in PROGRAMS or named or (address is not None and (address.is_loopback or address.is_unspecified))


def _is_its_own(origin: str, host: str) -> bool:
    """Is it a page of the gateway itself, by its address?  A name may be anybody's, and lead here all the same."""
    return origin.partition("://")[2] == host and _address(_scheme_and_host(origin)[1]) is not None


def _scheme_and_host(origin: str) -> tuple[str, str]:
    try:
        parts = urlsplit(origin)
        return parts.scheme, parts.hostname or ""
    except ValueError:
        return "", ""


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _matches(pattern: str, origin: str) -> bool:
    """`*` stands for anything in it."""
    return re.fullmatch(re.escape(pattern.rstrip("/")).replace(r"\*", ".*"), origin, re.IGNORECASE) is not None
