"""The transport: a client of httpx or httpx2, synchronous or asynchronous, is answered by a gateway in this process.

Knows what clients give a transport and expect of it, in the words both libraries share, and imports neither: what it
answers with is made of the classes of whichever library asks.
Contract: an answer is read as it comes; a client that leaves has gone away, and the provider's connection is closed;
timeouts of the client count (`connect`: until the gateway has begun, `read`: until more of the answer is there);
nothing leaves this process but what the gateway asks of its upstreams, whatever host the client means.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...dialects.spec import Dialect
from ...effects import Machine, arun, run
from ...errors import UsageError
from ...providers.spec import Tools
from ..gateway import Upstreams
from .answer import Answer, Broken, Late
from .call import scope_of
from .host import Host
from .plan import Given, Plan, plan
from .reports import Served
from .signals import TaskSignal, ThreadSignal, TrioSignal, task_signal

if TYPE_CHECKING:
    # A transport of both libraries, for type checkers: each asks for a class of its own.
    _Base = Any
else:
    _Base = object

SLOW_ANSWER, SLOW_BEGIN = "no more of the answer came in time", "the gateway did not begin in time"
NO_CLIENT = "{kind} is no request of httpx or httpx2; give the transport to a client of one of them"
_MODULES = ("SyncByteStream", "AsyncByteStream", "Response", "ReadTimeout", "ConnectTimeout", "RemoteProtocolError")


def transport(
    config: Given | None = None,
    *,
    upstream: str | None = None,
    upstream_api: str | None = None,
    model: str = "",
    dialect: str | Dialect = "auto",
    tools: str | Tools | None = None,
    compact: bool = False,
    nonce: bool = False,
    key: str = "",
    inspect: bool | None = None,
    mcp: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
    peer: Upstreams | None = None,
) -> Transport:
    """A transport that serves the gateway inside this process: `httpx.Client(transport=dragoman.transport(…))`.

    config        settings as for `dragoman serve`: the path of a dragoman.toml (or a LiteLLM proxy's YAML), its content
                  as a mapping, or a `GatewayConfig`
    upstream      without settings: the address of a model server, or a provider's name; with neither the file that
                  DRAGOMAN_CONFIG names, ./dragoman.toml, or the model servers found on this machine
    upstream_api  the API of that address; None: found by asking, when the first request is made
    model         what to ask for, whatever the client names;  key  the upstream's (or DRAGOMAN_UPSTREAM_KEY)
    dialect       dialect of the model, a row, or the path of a row's .json; "auto" parses them all
    tools         way tools travel: "native", "text" or "both"; None: found by trying
    compact       explain tools in one line each
    nonce         count only calls that carry a code made for the request; tools go as text
    inspect       record exchanges, shown at /inspect;  mcp  a file of MCP servers whose tools every model gets
    environ       where variables are looked for; None: the environment
    peer          connections to use in place of real ones: `dragoman.sim.scripted.ScriptedPeer`, for tests

    It may be given to any number of clients, of both libraries, synchronous and asynchronous, in any threads and loops.
    Raises UsageError for settings that are wrong.
    """
    options = {"model": model, "dialect": dialect, "tools": tools, "compact": compact, "nonce": nonce, "key": key}
    made = plan(
        config,
        upstream=upstream,
        upstream_api=upstream_api,
        inspect=inspect,
        mcp=mcp,
        environ=environ,
        peer=peer,
        **options,
    )
    return Transport(made, Host(made.make))


class Transport(_Base):  # type: ignore[misc]
    """See `transport`."""

    def __init__(self, made: Plan, host: Host) -> None:
        self._plan, self._host = made, host
        host.use(self)

    def __repr__(self) -> str:
        return f"<dragoman transport in front of {self._plan.label}>"

    def share(self) -> Transport:
        """Another transport of the same gateway, which ends when the last of them is closed."""
        return Transport(self._plan, self._host)

    @property
    def reports(self) -> tuple[Served, ...]:
        """What was judged of the latest answers, oldest first; those that were read to their end are there."""
        self._host.settle()
        return self._plan.reports.latest()

    # ── what clients call ────────────────────────────────────────────────────

    def handle_request(self, request: Any) -> Any:
        """Answer a request of a synchronous client.  Raises the errors of the client's library."""
        signal, upload = ThreadSignal(), _Upload(request, self._plan.most)
        if upload.wanted:
            for piece in request.stream:
                if not upload.add(piece):
                    break
        return run(self._steps(request, upload.body, signal), signal)

    async def handle_async_request(self, request: Any) -> Any:
        """The same for an asynchronous one."""
        signal, upload = task_signal(), _Upload(request, self._plan.most)
        if upload.wanted:
            async for piece in request.stream:
                if not upload.add(piece):
                    break
        return await arun(self._steps(request, upload.body, signal), signal)

    def close(self) -> None:
        """Leave the gateway, and wait for its end where nobody else uses it; who asks again begins another."""
        ending = self._host.leave(self)
        if ending is not None:
            ending.join()

    async def aclose(self) -> None:
        """The same, awaited."""
        ending = self._host.leave(self)
        if ending is not None:
            signal = task_signal()
            await arun(ending.ended(signal), signal)
            ending.join()  # all its work is done: what is left of the thread is its last line

    def __enter__(self) -> Transport:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Transport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _steps(self, request: Any, body: bytes, signal: _Signal) -> Machine[Any]:
        kind: Any = type(request)
        library = _library(kind)
        limits = request.extensions.get("timeout", {})
        scope = scope_of(request.method, request.url, request.headers)
        answer, is_open = self._host.ask(self, scope, body, signal)
        reader = _Reader(answer, library, request, limits.get("read"))
        if not is_open:
            yield from reader.within(answer.opened(limits.get("connect")), library.module.ConnectTimeout, SLOW_BEGIN)
        head = yield from reader.within(answer.head(reader.seconds))
        stream = library.body(reader, signal, self._host)
        extensions = {"http_version": b"HTTP/1.1"}
        return library.module.Response(head.status, headers=head.headers, stream=stream, extensions=extensions)


_Signal = ThreadSignal | TaskSignal | TrioSignal


class _Upload:
    """The body of a request; no more of it than shows that it is too large."""

    def __init__(self, request: Any, most: int) -> None:
        announced = request.headers.get("content-length", "")
        self.wanted = not (announced.isdecimal() and int(announced) > most)
        self._pieces: list[bytes] = []
        self._size, self._most = 0, most

    @property
    def body(self) -> bytes:
        """What was added."""
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)

    def add(self, piece: bytes) -> bool:
        """Add `piece`; gives whether more is wanted."""
        self._pieces.append(piece)
        self._size += len(piece)
        return self._size <= self._most


@dataclass(frozen=True, slots=True)
class _Library:
    """What asks: httpx or httpx2, and the kind of stream its answers have."""

    module: Any
    body: Any


@lru_cache(maxsize=16)
def _library(kind: type[Any]) -> _Library:
    """The library that a class of requests belongs to.  Raises UsageError for one that is none of the two."""
    for each in kind.__mro__:
        module: ModuleType | None = sys.modules.get(each.__module__.partition(".")[0])
        if module is not None and all(hasattr(module, name) for name in _MODULES):
            bases = (_Body, module.SyncByteStream, module.AsyncByteStream)
            return _Library(module, type("Body", bases, {}))
    raise UsageError(NO_CLIENT.format(kind=kind.__qualname__))


class _Reader:
    """Reads one answer, and says what goes wrong in the client's own errors."""

    def __init__(self, answer: Answer, library: _Library, request: Any, seconds: float | None) -> None:
        self.answer, self.seconds = answer, seconds
        self._library, self._request = library, request

    def piece(self) -> Machine[bytes]:
        """The next piece, b"" at the end."""
        return self.within(self.answer.piece(self.seconds))

    def within(self, steps: Machine[Any], late: Any = None, why: str = SLOW_ANSWER) -> Machine[Any]:
        """Wait as `steps` does; whoever stops waiting has left."""
        module = self._library.module
        try:
            return (yield from steps)
        except Late:
            self.answer.leave()
            raise (late or module.ReadTimeout)(why, request=self._request) from None
        except Broken as broken:
            raise module.RemoteProtocolError(str(broken), request=self._request) from None
        except BaseException:
            self.answer.leave()
            raise


class _Body:
    """The body of an answer, as it comes: read either way, by one reader.  `keeps` lives as long as it does."""

    def __init__(self, reader: _Reader, signal: Any, keeps: object) -> None:
        self._reader, self._signal, self._keeps = reader, signal, keeps

    def __iter__(self) -> Iterator[bytes]:
        while piece := run(self._reader.piece(), self._signal):
            yield piece

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await arun(self._reader.piece(), self._signal):
            yield piece

    def close(self) -> None:
        """Read no more."""
        self._reader.answer.leave()

    async def aclose(self) -> None:
        """Read no more."""
        self._reader.answer.leave()

    __del__ = close
