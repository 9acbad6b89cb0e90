"""Effects performed synchronously, over httpx2.

Knows effects and HTTP; nothing of turns or codecs.  Tools and hooks are run by `threads`.
Contract: as `aio`: failures are `ProviderError`s, no redirects, no cookies kept, nothing logged.  A `Pool` may be
shared by threads, a `Performer` may not.  Ctrl-C is a `KeyboardInterrupt` as everywhere; where there is a `Cancel`, it
is a way to cancel.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Any

import httpx2

from ..effects import Cancelled, Close, Effect, Invoke, NewId, Now, Open, Opened, Read, RunTools, Sleep
from ..errors import ErrorCode, ErrorKind, ProviderError, UsageError
from .cancel import Cancel
from .execution import UNCANCELLABLE, Attend, Begin, ToolObserver
from .failures import BROKEN, NOT_HTTP, SLOW_ANSWER, SLOW_CONNECT, UNREACHABLE, Failure, origin, provider_error
from .ids import mint
from .threads import Helper, LoopThread, ThreadToolRunner, pause

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

    `with Pool() as pool: run(machine, pool.performer())`
    """

    def __init__(self, *, use_proxies: bool = True) -> None:
        self._loop = LoopThread()
        self._client = httpx2.Client(
            trust_env=use_proxies,
            follow_redirects=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers={"accept-encoding": "identity"},
            limits=httpx2.Limits(max_connections=None, keepalive_expiry=KEEP_ALIVE_SECONDS),
        )

    def performer(self, cancel: Cancel | None = None, observer: ToolObserver | None = None) -> Performer:
        """Performs the effects of one machine, until somebody cancels; `observer` is told of its tools."""
        return Performer(self._client, ThreadToolRunner(self._loop, cancel, observer), cancel)

    def close(self) -> None:
        """Close every connection."""
        self._client.close()
        self._loop.close()

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Performer:
    """Performs the effects of one machine, one at a time: `performer(effect)`."""

    def __init__(
        self, client: httpx2.Client, tools: ThreadToolRunner | None = None, cancel: Cancel | None = None
    ) -> None:
        self._client = client
        self._tools = tools or ThreadToolRunner()
        self._cancel = cancel
        self._helper = None if cancel is None else Helper(cancel)
        self._answer: httpx2.Response | None = None
        self._pieces: Iterator[bytes] = iter(())
        self._url = ""

    def __call__(self, effect: Effect) -> Any:
        """The reply to `effect`; raises ProviderError where it cannot be performed, Cancelled once cancelled."""
        if self._cancel is None:
            return self._perform(effect)
        if self._cancel.cancelled and not isinstance(effect, UNCANCELLABLE):
            raise Cancelled
        try:
            return self._perform(effect)
        except KeyboardInterrupt:
            self._cancel.cancel()
            raise Cancelled from None

    def _perform(self, effect: Effect) -> Any:
        match effect:
            case Read(within):
                return self._read(effect.patience) if within is None else self._read_within(within)
            case Open():
                return self._open(effect)
            case Close():
                return self._end()
            case NewId(prefix):
                return mint(prefix)
            case Now(steady):
                return time.monotonic() if steady else time.time()
            case Sleep(seconds):
                return time.sleep(seconds) if self._cancel is None else pause(seconds, self._cancel)
            case Invoke() | Begin() | Attend() | RunTools():
                return self._tools.perform(effect)
        raise TypeError(f"a synchronous performer does not perform {type(effect).__name__}")

    def _open(self, effect: Open) -> Opened:
        self._close()
        self._url = effect.url
        sending = _Sending(self._client, effect)
        try:
            answer = self._answer = self._call(sending.send, sending.abandon, effect.patience)
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise UsageError(f"not a URL: {origin(effect.url)!r}; give one like http://127.0.0.1:8080/v1") from error
        except Exception as error:
            raise provider_error(error, self._url, FAILURES) or error from error
        self._pieces = answer.iter_bytes()
        return Opened(answer.status_code, {k.lower(): v for k, v in answer.headers.items()})

    def _read(self, patience: float | None = None) -> bytes:
        if self._answer is None:
            raise UsageError("nothing to read; yield Open first")
        pieces = self._pieces
        try:
            piece: bytes = self._call(lambda: next((p for p in pieces if p), b""), self._cut, patience)
        except Exception as error:
            raise provider_error(error, self._url, FAILURES) or error from error
        return piece

    def _read_within(self, seconds: float) -> bytes:
        if self._answer is not None and seconds:
            deadline = _Deadline(self._answer, seconds)
            try:
                return self._read()
            except ProviderError:
                pass
            finally:
                deadline.call_off()
        self._close()
        return b""

    def _call(self, function: Callable[[], Any], stop: Callable[[], None], patience: float | None) -> Any:
        """The value of `function`, unless that is not waited for any more."""
        if self._helper is None and patience is not None:
            self._helper = Helper(self._cancel)
        return function() if self._helper is None else self._helper.call(function, stop, patience)

    def _end(self) -> None:
        self._tools.close()
        if self._helper is not None:
            self._helper.close()
        self._close()

    def _cut(self) -> None:
        """Break the exchange off under whoever still reads it."""
        if self._answer is not None:
            _cut(self._answer)
            self._answer, self._pieces = None, iter(())

    def _close(self) -> None:
        if self._answer is not None:
            self._answer.close()
            self._answer, self._pieces = None, iter(())


class _Sending:
    """One request on its way; given up, it is broken off as soon as there is something to break off."""

    def __init__(self, client: httpx2.Client, effect: Open) -> None:
        self._client, self._effect = client, effect
        self._answer: httpx2.Response | None = None
        self._abandoned = False

    def send(self) -> httpx2.Response:
        """The answer's head; its body is still to be read."""
        effect, timeouts = self._effect, self._effect.timeouts
        request = self._client.build_request(
            effect.method,
            effect.url,
            headers=dict(effect.headers),
            content=effect.body or None,
            timeout=httpx2.Timeout(timeouts.idle, connect=timeouts.connect),
        )
        answer = self._answer = self._client.send(request, stream=True)
        if self._abandoned:
            answer.close()
        return answer

    def abandon(self) -> None:
        """Nobody waits for the answer any more, though it may have come this very moment."""
        self._abandoned = True
        if self._answer is not None:
            self._answer.close()


class _Deadline:
    """Ends the connection of an answer after some seconds, unless it is called off: no read takes a time limit."""

    def __init__(self, answer: httpx2.Response, seconds: float) -> None:
        self._answer, self._lock, self._is_off = answer, threading.Lock(), False
        self._timer = threading.Timer(seconds, self._expire)
        self._timer.daemon = True
        self._timer.start()

    def call_off(self) -> None:
        """The connection is left alone from here on: another answer may come over it."""
        self._timer.cancel()
        with self._lock:
            self._is_off = True

    def _expire(self) -> None:
        with self._lock:
            if not self._is_off:
                _cut(self._answer)


def _cut(answer: httpx2.Response) -> None:
    """End the connection of `answer`, though another thread may be reading from it: closing alone would not wake it."""
    stream = answer.extensions.get("network_stream")
    wire = stream.get_extra_info("socket") if stream is not None else None
    with contextlib.suppress(OSError):
        if wire is not None:
            wire.shutdown(socket.SHUT_RDWR)
