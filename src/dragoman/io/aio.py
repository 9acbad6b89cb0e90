"""Effects performed asynchronously, over aiohttp.

aiohttp, because as a gateway's upstream client it carries five to eight times the requests of the alternatives
(docs/performance.md).  Knows effects and HTTP; nothing of turns or codecs.  Tools and hooks are run by `tasks`.
Contract: whatever goes wrong on the way is a `ProviderError`; redirects are not followed (a key must not travel to
another host); cookies are not kept (one pool serves many users); bodies and headers are never logged.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import urllib.request
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import TracebackType
from typing import Any, Protocol

import aiohttp
from yarl import URL

from ..effects import Cancelled, Close, Effect, Invoke, Last, NewId, Now, Open, Opened, Read, RunTools, Sleep, Timeouts
from ..errors import ErrorCode, ErrorKind, ProviderError, UsageError
from ..memo import per_object
from .cancel import Cancel
from .execution import UNCANCELLABLE, Attend, Begin, ToolObserver
from .failures import (
    BROKEN,
    NO_HOST,
    NO_TLS,
    NOT_HTTP,
    SLOW_ANSWER,
    SLOW_CONNECT,
    UNREACHABLE,
    Failure,
    origin,
    provider_error,
)
from .held_bytes import HeldBytes
from .ids import mint
from .kept_connections import QuietConnector
from .tasks import TaskToolRunner, in_time, interruptible

HEADERS = {"accept-encoding": "identity"}
"""Of every request."""
KEEP_ALIVE_SECONDS = 4.0
"""Below the five seconds after which uvicorn and Node drop an idle connection, so that we do not write into one."""

_NETWORK, _TIMEOUT = ErrorKind.NETWORK, ErrorKind.TIMEOUT
FAILURES = (
    Failure(aiohttp.ConnectionTimeoutError, _TIMEOUT, ErrorCode.NETWORK_TIMEOUT, SLOW_CONNECT),
    Failure(aiohttp.ServerTimeoutError, _TIMEOUT, ErrorCode.NETWORK_TIMEOUT, SLOW_ANSWER),
    Failure(asyncio.TimeoutError, _TIMEOUT, ErrorCode.NETWORK_TIMEOUT, SLOW_ANSWER),
    Failure(aiohttp.ClientConnectorDNSError, _NETWORK, ErrorCode.DNS_ERROR, NO_HOST),
    Failure(aiohttp.ClientSSLError, _NETWORK, ErrorCode.TLS_ERROR, NO_TLS),
    Failure(aiohttp.ServerFingerprintMismatch, _NETWORK, ErrorCode.TLS_ERROR, NO_TLS),
    Failure(aiohttp.ClientConnectorError, _NETWORK, ErrorCode.ECONNREFUSED, UNREACHABLE),
    Failure(aiohttp.ClientConnectionError, _NETWORK, ErrorCode.ECONNRESET, BROKEN),
    Failure(aiohttp.ClientPayloadError, _NETWORK, ErrorCode.ECONNRESET, BROKEN),
    Failure(aiohttp.ClientResponseError, ErrorKind.GARBLED, ErrorCode.NETWORK_ERROR, NOT_HTTP),
    Failure(aiohttp.ClientError, _NETWORK, ErrorCode.NETWORK_ERROR, BROKEN),
    Failure(OSError, _NETWORK, ErrorCode.NETWORK_ERROR, BROKEN),
)


def _as_told(timeouts: Timeouts) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, sock_connect=timeouts.connect, sock_read=timeouts.idle)


as_aiohttp = per_object(_as_told)
"""Timeouts as aiohttp has them."""


KEPT: Mapping[str, Any] = {"limit": 0, "keepalive_timeout": KEEP_ALIVE_SECONDS}


@lru_cache(maxsize=256)
def _url(url: str) -> URL | str:
    """The URL as the library reads it, once: what it makes of it is kept with it.  What is none it is to say itself."""
    try:
        return URL(url)
    except ValueError:
        return url


def _payload(effect: Open) -> Any:
    """The body; bytes as what the library would make of them, which it finds out slowly."""
    if effect.upload is not None:
        return effect.upload
    return aiohttp.BytesPayload(effect.body) if effect.body else None


class Content(Protocol):
    """The body of an answer as it comes."""

    async def readany(self) -> bytes:
        """What has come; b"" at the end."""

    def at_eof(self) -> bool:
        """Was all of it read?"""


class Answer(Protocol):
    """The body of an answer that is still to be read; `aiohttp.ClientResponse` has one, too."""

    @property
    def content(self) -> Any:
        """It, as it comes (`Content`)."""

    def close(self) -> None:
        """Let go of it; what was not read is cut off."""


_HOW: dict[type, Callable[[Any], Any]] = {
    NewId: lambda effect: mint(effect.prefix),
    Now: lambda effect: time.monotonic() if effect.steady else time.time(),
}
"""How the effects are performed that wait for nothing."""


class AsyncPool:
    """Connections shared by many machines; made on first use, in the loop that uses them.

    Used in another loop it makes new ones: those of a loop that has ended are of no use.  Close it in the loop it was
    used in last.
    `async with AsyncPool() as pool: await arun(machine, pool.performer())`
    All machines share the budget `held`.
    """

    def __init__(self, *, use_proxies: bool = True, held: HeldBytes | None = None) -> None:
        self.held = held or HeldBytes()
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._proxies = urllib.request.getproxies() if use_proxies else {}

    def performer(self, cancel: Cancel | None = None, observer: ToolObserver | None = None) -> AsyncPerformer:
        """Performs the effects of one machine, until somebody cancels; `observer` is told of its tools."""
        return AsyncPerformer(self, cancel, observer)

    async def aclose(self) -> None:
        """Close every connection."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def __aenter__(self) -> AsyncPool:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def send(self, effect: Open) -> tuple[int, Mapping[str, str], Answer]:
        """Status and headers of the answer; its body is still to be read."""
        answer = await self._open().request(
            effect.method,
            _url(effect.url),
            headers=effect.headers,
            data=_payload(effect),
            timeout=as_aiohttp(effect.timeouts),
            proxy=self.proxy(effect.url),
            allow_redirects=False,
        )
        return answer.status, answer.headers, answer

    def _open(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is not None and self._loop is not loop:
            self._session.detach()
            self._session = None
        if self._session is None:
            self._loop, self._session = loop, aiohttp.ClientSession(
                connector=QuietConnector(**KEPT), cookie_jar=aiohttp.DummyCookieJar(), headers=HEADERS
            )
        return self._session

    def proxy(self, url: str) -> str | None:
        """The proxy through which that is asked, if any is."""
        if not self._proxies:
            return None
        scheme, _, host = origin(url).partition("://")
        return None if urllib.request.proxy_bypass(host) else self._proxies.get(scheme)


class AsyncPerformer:
    """Performs the effects of one machine, one at a time: `await perform(effect)`."""

    __slots__ = ("_answer", "_cancel", "_held", "_observer", "_pool", "_tools", "_url")

    def __init__(self, pool: AsyncPool, cancel: Cancel | None = None, observer: ToolObserver | None = None) -> None:
        self._pool = pool
        self._cancel = cancel
        self._tools: TaskToolRunner | None = None
        self._observer = observer
        self._answer: Answer | None = None
        self._url = ""
        self._held = 0  # bytes of the budget

    async def __call__(self, effect: Effect) -> Any:
        """The reply to `effect`; raises ProviderError where it cannot be performed, Cancelled once cancelled."""
        kind = type(effect)
        if kind is Read:
            if effect.held != self._held:  # type: ignore[attr-defined]
                await self._hold(effect.held)  # type: ignore[attr-defined]
            if effect.within is effect.patience is self._cancel is None and self._answer is not None:  # type: ignore[attr-defined]
                content = self._answer.content
                try:  # what nearly all effects are, without a frame more than it takes
                    data = await content.readany()
                    return Last(data) if data and content.at_eof() else data
                except Exception as error:
                    raise provider_error(error, self._url, FAILURES) or error from error
        if self._cancel is not None and self._cancel.cancelled and not isinstance(effect, UNCANCELLABLE):
            raise Cancelled
        how = _HOW.get(kind)
        if how is not None:
            return how(effect)
        match effect:
            case Read(within):
                return await (in_time(self._read(), effect.patience) if within is None else self._read_within(within))
            case Open():
                return await self._open(effect)
            case Close():
                if self._tools is not None:
                    self._tools.close()
                return self._close()
            case Sleep(seconds):
                return await interruptible(asyncio.sleep(seconds), self._cancel)
            case Invoke() | Begin() | Attend() | RunTools():
                self._tools = self._tools or TaskToolRunner(self._cancel, self._observer)  # most machines run none
                return await self._tools.perform(effect)
        raise TypeError(f"an asynchronous performer does not perform {type(effect).__name__}")

    async def _open(self, effect: Open) -> Opened:
        self._close()
        self._url = effect.url
        try:
            sending = self._pool.send(effect)
            if effect.patience is not None:
                sending = in_time(sending, effect.patience)
            sent = await (sending if self._cancel is None else interruptible(sending, self._cancel))
        except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as error:
            raise UsageError(f"not a URL: {origin(effect.url)!r}; give one like http://127.0.0.1:8080/v1") from error
        except Exception as error:
            raise provider_error(error, self._url, FAILURES) or error from error
        status, headers, self._answer = sent
        if type(headers) is not dict:  # of an answer that was taken whole they stand by such names
            headers = {name.lower(): value for name, value in headers.items()}
        return Opened(status, headers)

    async def _read(self) -> bytes:
        if self._answer is None:
            raise UsageError("nothing to read; yield Open first")
        try:
            reading = self._answer.content.readany()
            return await (reading if self._cancel is None else interruptible(reading, self._cancel))
        except Exception as error:
            raise provider_error(error, self._url, FAILURES) or error from error

    async def _hold(self, size: int) -> None:
        """Let the budget know that so many bytes of the answer are held; waits where they are too many."""
        held, more = self._pool.held, size - self._held
        if more > 0:
            await interruptible(held.take(more, self._held), self._cancel)
        else:
            held.give(-more)
        self._held = size

    async def _read_within(self, seconds: float) -> bytes:
        if seconds:
            with contextlib.suppress(ProviderError, TimeoutError):
                async with asyncio.timeout(seconds):
                    return await self._read()
        self._close()
        return b""

    def _close(self) -> None:
        if self._answer is not None:
            self._answer.close()  # a fully read answer is back in the pool already; an unread one is cut off
            self._answer = None
        if self._held:
            self._pool.held.give(self._held)
            self._held = 0
