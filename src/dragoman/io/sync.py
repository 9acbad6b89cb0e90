"""Effects performed synchronously, over httpx2.

Knows effects and HTTP; nothing of turns, codecs or tools.
Contract: as `aio`: failures are `ProviderError`s, no redirects, no cookies kept, nothing logged.  A `Pool` may be
shared by threads, a `World` may not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Any

import httpx2

from ..effects import Close, Effect, NewId, Now, Open, Opened, Read, Sleep
from ..errors import ErrorCode, ErrorKind, UsageError
from .failures import BROKEN, NOT_HTTP, SLOW_ANSWER, SLOW_CONNECT, UNREACHABLE, Failure, origin, tell
from .ids import mint

KEEP_ALIVE_SECONDS = 4.0
"""As in `aio`."""

_NETWORK, _TIMEOUT = ErrorKind.NETWORK, ErrorKind.TIMEOUT
FAILURES = (
    Failure(httpx2.ConnectTimeout, _TIMEOUT, ErrorCode.NETWORK_TIMEOUT, SLOW_CONNECT),
    Failure(httpx2.PoolTimeout, _TIMEOUT, ErrorCode.NETWORK_TIMEOUT, SLOW_CONNECT),
    Failure(httpx2.TimeoutException, _TIMEOUT, ErrorCode.NETWORK_TIMEOUT, SLOW_ANSWER),
    Failure(httpx2.ConnectError, _NETWORK, ErrorCode.ECONNREFUSED, UNREACHABLE),
    Failure(httpx2.ProxyError, _NETWORK, ErrorCode.ECONNREFUSED, UNREACHABLE),
    Failure(httpx2.NetworkError, _NETWORK, ErrorCode.ECONNRESET, BROKEN),
    Failure(httpx2.RemoteProtocolError, _NETWORK, ErrorCode.ECONNRESET, BROKEN),
    Failure(httpx2.DecodingError, ErrorKind.GARBLED, ErrorCode.NETWORK_ERROR, NOT_HTTP),
    Failure(httpx2.TransportError, _NETWORK, ErrorCode.NETWORK_ERROR, BROKEN),
)


class Pool:
    """Connections shared by many machines.

    `with Pool() as pool: run(machine, pool.world())`
    """

    def __init__(self, *, use_proxies: bool = True) -> None:
        self._client = httpx2.Client(
            trust_env=use_proxies,
            follow_redirects=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers={"accept-encoding": "identity"},
            limits=httpx2.Limits(max_connections=None, keepalive_expiry=KEEP_ALIVE_SECONDS),
        )

    def world(self) -> World:
        """Performs the effects of one machine."""
        return World(self._client)

    def close(self) -> None:
        """Close every connection."""
        self._client.close()

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class World:
    """Performs the effects of one machine, one at a time: `world(effect)`."""

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client
        self._answer: httpx2.Response | None = None
        self._pieces: Iterator[bytes] = iter(())
        self._url = ""

    def __call__(self, effect: Effect) -> Any:
        """The reply to `effect`; raises ProviderError where it cannot be performed."""
        match effect:
            case Read():
                return self._read()
            case Open():
                return self._open(effect)
            case Close():
                return self._close()
            case NewId(prefix):
                return mint(prefix)
            case Now():
                return time.time()
            case Sleep(seconds):
                return time.sleep(seconds)
        raise TypeError(f"a synchronous world does not perform {type(effect).__name__}")

    def _open(self, effect: Open) -> Opened:
        self._close()
        self._url = effect.url
        patience = effect.patience
        try:
            request = self._client.build_request(
                effect.method,
                effect.url,
                headers=dict(effect.headers),
                content=effect.body or None,
                timeout=httpx2.Timeout(patience.idle, connect=patience.connect),
            )
            self._answer = self._client.send(request, stream=True)
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise UsageError(f"not a URL: {origin(effect.url)!r}; give one like http://127.0.0.1:8080/v1") from error
        except Exception as error:
            raise tell(error, self._url, FAILURES) or error from error
        self._pieces = self._answer.iter_bytes()
        return Opened(self._answer.status_code, {k.lower(): v for k, v in self._answer.headers.items()})

    def _read(self) -> bytes:
        if self._answer is None:
            raise UsageError("nothing to read; yield Open first")
        try:
            return next((piece for piece in self._pieces if piece), b"")
        except Exception as error:
            raise tell(error, self._url, FAILURES) or error from error

    def _close(self) -> None:
        if self._answer is not None:
            self._answer.close()
            self._answer, self._pieces = None, iter(())
