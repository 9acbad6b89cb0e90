"""One MCP server: started or reached, asked for its tools, called; found again after it died.

A connection is a task of its own that holds the SDK's client for as long as it lives (the SDK's contexts must be left
in the task that entered them).  Knows the SDK and the transports; nothing of several servers or of tools as we run
them.

Contract: `open` raises `ProviderError` when the server cannot be used and says why, with the server's last words;
`call` raises `ToolError` with a code for whatever goes wrong, connects again first when the server has died since, and
never sends a call twice unless the server is known not to have taken it; `close` ends the process, and its children.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any

import anyio
import httpx2
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.dispatcher import ProgressFnT
from pydantic import ValidationError

from ..errors import ErrorCode, ErrorKind, ProviderError, ToolError, http_code
from ..io.failures import origin, provider_error
from ..io.sync import FAILURES
from ..types import JsonObject
from ..version import __version__
from .bounds import CUT_OFF, IDENTITY, LINES, TOO_LONG, TooMuch, bound
from .client_callbacks import NO_CALLBACKS, ClientCallbacks
from .config import Http, ServerSpec, Stdio
from .results import rpc_code
from .stream_watch import LastWords, Streams, watched

# We report what the SDK logs of broken connections; who wants its log configures one.  Without this Python prints it.
logging.getLogger("mcp").addHandler(logging.NullHandler())

MOST_PAGES = 1000
"""Pages of a tool list that are read; a server that never ends its list must not hold us for ever."""
MOST_TOOLS = 10_000
"""Tools of one server; no request may hold more (`[limits] tools`)."""
RELIST = 1.0
"""Seconds between two lists, however often the server says that its list has changed."""
OLDER_TRANSPORT = frozenset({400, 404, 405})
"""Statuses by which a server of the SSE transport answers a POST; then it is asked with SSE.
Source: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility"""
CLOSING = 10.0
"""Seconds a server gets to let us go; a process of ours is killed after four (the SDK), a session just left."""
GONE = 404
"""The status by which a server says that it does not know the session (any more), and has not looked at the call."""

LAST_WORDS = "\nIt said: "
"""Before a server's last words: for the person who runs it, not for the model."""

_SEEN: ContextVar[list[int] | None] = ContextVar("_SEEN", default=None)
"""The failed statuses seen by one call; the SDK sends each request in the context of who made it."""

Report = Callable[[str], None]


class McpConnection:
    """A server of a configuration, connected while it is open."""

    fault: str
    instructions: str

    def __init__(
        self, spec: ServerSpec, callbacks: ClientCallbacks = NO_CALLBACKS, changed: Callable[[], None] | None = None
    ) -> None:
        self.spec = spec
        self.tools: tuple[JsonObject, ...] = ()
        self.instructions = ""
        self.fault = ""
        self._callbacks, self._changed = callbacks, changed or (lambda: None)
        self._life: _Life | None = None
        self._opening = asyncio.Lock()
        self._closed = False

    async def open(self) -> None:
        """Start or reach the server and list its tools.  Raises ProviderError."""
        await self._living()

    async def close(self) -> None:
        """Leave the server; a process of ours has ended when this returns."""
        self._closed = True
        async with self._opening:
            life, self._life = self._life, None
        if life is not None:
            await life.end()

    async def call(self, name: str, arguments: JsonObject, report: Report | None = None) -> JsonObject:
        """The JSON of the result of one call; `report` gets the progress.  Raises ToolError."""
        life = await self._living_tool()
        try:
            return await life.call(name, arguments, report)
        except CallFailed as failed:
            if failed.status != GONE:
                raise await self._failure(life, name, failed) from failed.error
        await life.end()
        life = await self._living_tool()
        try:
            return await life.call(name, arguments, report)
        except CallFailed as failed:
            raise await self._failure(life, name, failed) from failed.error

    async def _living(self) -> _Life:
        async with self._opening:
            if self._life is None or self._life.over:
                if self._closed:
                    raise ProviderError(f"the connection to MCP server {self.spec.name!r} is closed; open it again")
                life = _Life(self.spec, self._callbacks, self._listed)
                await life.begin()
                self._life = life
            return self._life

    async def _living_tool(self) -> _Life:
        """`_living` for a call: a server that cannot be reached is a failed call."""
        try:
            return await self._living()
        except ProviderError as error:
            self.fault = error.message
            raise ToolError(error.code or ErrorCode.NETWORK_ERROR, error.message.partition(LAST_WORDS)[0]) from error

    def _listed(self, life: _Life) -> None:
        self.tools, self.instructions, self.fault = life.tools, life.instructions, ""
        self._changed()

    async def _failure(self, life: _Life, name: str, failed: CallFailed) -> ToolError:
        """The error of a call, for the model."""
        error = failed.error
        if error.code == types.CONNECTION_CLOSED:
            died = await life.died()
            self.fault = str(died)
            return ToolError(died.code or ErrorCode.ECONNRESET, died.message.partition(LAST_WORDS)[0])
        code = rpc_code(error.code)
        if error.code == types.INVALID_PARAMS and name not in {tool.get("name") for tool in self.tools}:
            code = ErrorCode.UNKNOWN_TOOL
        if error.code == types.INTERNAL_ERROR and failed.status:
            code = http_code(failed.status)
        return ToolError(code, error.message)


class CallFailed(Exception):
    """A call that has no result: the error of the protocol, and the HTTP status it came with (0 for none)."""

    error: Any
    status: int

    def __init__(self, error: MCPError, status: int = 0) -> None:
        self.error, self.status = error, status
        super().__init__(error.message)


class _Life:
    """One connection from its beginning to its end, in a task."""

    def __init__(self, spec: ServerSpec, callbacks: ClientCallbacks, listed: Callable[[_Life], None]) -> None:
        self.tools: tuple[JsonObject, ...] = ()
        self.instructions = ""
        self.status = 0
        self.over = False
        self._spec, self._callbacks, self._listed = spec, callbacks, listed
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._scope: anyio.CancelScope | None = None
        self._stale = anyio.Event()
        self._ending = False
        self._words: LastWords | None = None
        self._error: Exception | None = None

    # ── from outside the task ────────────────────────────────────────────────

    async def begin(self) -> None:
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(ready), name=f"mcp {self._spec.name}")
        try:
            await ready
        except asyncio.CancelledError:
            await self.end()
            raise

    async def end(self) -> None:
        """Leave the server, and wait until all that belonged to it has ended."""
        self._ending = True
        if self._scope is not None:
            self._scope.cancel()
        if self._task is not None and (await asyncio.wait([self._task], timeout=CLOSING))[1]:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def died(self) -> ProviderError:
        """Why the connection ended, once it has."""
        await self.end()
        return self._reason(self._error)

    async def call(self, name: str, arguments: JsonObject, report: Report | None) -> JsonObject:
        """The JSON of the result.  Raises Failed for an error of the protocol."""
        if self._client is None:
            raise CallFailed(MCPError(types.CONNECTION_CLOSED, "the connection has ended"))
        seen: list[int] = []
        token = _SEEN.set(seen)
        try:
            result = await self._client.call_tool(
                name,
                dict(arguments),
                read_timeout_seconds=self._spec.timeout,
                progress_callback=None if report is None else _progress(report),
            )
        except ValidationError as error:
            message = f"MCP server {self._spec.name!r} answered what MCP does not allow; tell its author: {error}"
            raise ToolError(ErrorCode.NETWORK_ERROR, message) from error
        except MCPError as error:
            raise CallFailed(error, seen[-1] if seen else 0) from error
        finally:
            _SEEN.reset(token)
        plain: JsonObject = result.model_dump(by_alias=True, mode="json", exclude_unset=True)
        return plain

    # ── the task ─────────────────────────────────────────────────────────────

    async def _live(self, ready: asyncio.Future[None]) -> None:
        try:
            await self._connected(ready)
        except* Exception as group:
            self._error = _first(group)
        finally:
            self.over, self._client = True, None
            if self._words is not None:
                await asyncio.to_thread(self._words.close)
            if not ready.done():
                ready.set_exception(self._reason(self._error))

    async def _connected(self, ready: asyncio.Future[None]) -> None:
        """Every way of reaching the server in turn; the first that answers is lived in."""
        [*before, last] = self._ways()
        for way in before:
            try:
                return await self._session(way(), ready)
            except* (MCPError, httpx2.HTTPError):
                if ready.done() or self.status not in OLDER_TRANSPORT:
                    raise
        return await self._session(last(), ready)

    async def _session(self, streams: Streams, ready: asyncio.Future[None]) -> None:
        limit = self._scope = anyio.CancelScope(deadline=anyio.current_time() + self._spec.startup)
        if self._ending:
            limit.cancel()
        with limit:
            async with Client(
                watched(streams, self._eof),
                message_handler=self._on_message,
                client_info=types.Implementation(name="dragoman", version=__version__),
                **self._callbacks.callbacks(),
            ) as client:
                # A result that does not fit the server's own output schema is still what the tool answered.
                client.session.validate_tool_result = _anything  # type: ignore[method-assign, assignment]
                self.instructions = str(client.instructions or "")
                await self._list(client)
                self._client = client
                limit.deadline = math.inf
                ready.set_result(None)
                async with anyio.create_task_group() as group:
                    self._scope = group.cancel_scope
                    if self._ending:
                        self._scope.cancel()
                    group.start_soon(self._listen, client)
                    await self._refresh_list(client)
        if limit.cancelled_caught and not self._ending:
            raise TimeoutError

    async def _refresh_list(self, client: Client) -> None:
        """Until the scope is cancelled: list the tools again when the server says that they have changed."""
        while True:
            await self._stale.wait()
            self._stale = anyio.Event()
            with suppress(MCPError, ValueError):  # the old list stands until the server gives another
                await self._list(client)
            await anyio.sleep(RELIST)

    async def _list(self, client: Client) -> None:
        found: list[JsonObject] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await client.list_tools(cursor=cursor, cache_mode="refresh")
            found += [tool.model_dump(by_alias=True, mode="json", exclude_unset=True) for tool in page.tools]
            cursor = page.next_cursor
            if len(found) > MOST_TOOLS:
                raise ValueError(f"it lists more than {MOST_TOOLS:,} tools")
            if not cursor:
                break
        self.tools = tuple({tool["name"]: tool for tool in reversed(found)}.values())[::-1]  # a name counts once
        self._listed(self)

    async def _on_message(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._stale.set()
        elif isinstance(message, Exception) and CUT_OFF in str(message) and self._scope is not None:
            self._error, self._ending = ValueError(TOO_LONG), True
            self._scope.cancel()

    async def _listen(self, client: Client) -> None:
        """Servers of 2026-07-28 announce changes to subscribers only."""
        capability = client.server_capabilities.tools
        if capability is None or not capability.list_changed:
            return
        with suppress(ListenNotSupportedError, SubscriptionLost, MCPError):
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._stale.set()

    def _eof(self) -> None:
        """The server has closed its side: a process has ended.  While we still connect, that fails by itself."""
        if self._client is not None and self._scope is not None:
            self._ending = True
            self._scope.cancel()

    # ── ways to reach it ─────────────────────────────────────────────────────

    def _ways(self) -> list[Callable[[], Streams]]:
        match self._spec.place:
            case Stdio() as place:
                return [partial(self._process, place)]
            case Http(kind="http") as place:
                return [partial(self._http, place)]
            case Http(kind="sse") as place:
                return [partial(self._sse, place)]
            case Http() as place:
                return [partial(self._http, place), partial(self._sse, place)]

    def _process(self, place: Stdio) -> Streams:
        self._words = LastWords()
        parameters = StdioServerParameters(
            command=place.command,
            args=list(place.args),
            env=dict(place.env),
            cwd=place.cwd,
            encoding=LINES,
            encoding_error_handler="replace",
        )
        return stdio_client(parameters, errlog=self._words.file)

    @asynccontextmanager
    async def _http(self, place: Http) -> AsyncIterator[Any]:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(
                httpx2.AsyncClient(
                    headers=IDENTITY | dict(place.headers),
                    timeout=httpx2.Timeout(self._spec.startup, read=None),
                    event_hooks={"response": [self._saw, bound]},
                )
            )
            yield await stack.enter_async_context(streamable_http_client(place.url, http_client=client))

    def _sse(self, place: Http) -> Streams:
        return sse_client(place.url, headers=dict(place.headers), timeout=self._spec.startup, sse_read_timeout=math.inf)

    async def _saw(self, response: httpx2.Response) -> None:
        if response.request.method == "POST" and response.status_code >= httpx2.codes.BAD_REQUEST:
            self.status = response.status_code
            if (seen := _SEEN.get()) is not None:
                seen.append(response.status_code)

    # ── errors ───────────────────────────────────────────────────────────────

    def _reason(self, error: Exception | None) -> ProviderError:
        name, words = self._spec.name, self._words.text() if self._words else ""
        after = f"{LAST_WORDS}{words}" if words else ""
        match self._spec.place, error:
            case Stdio() as place, OSError() as failed if not isinstance(failed, TimeoutError):
                what = f"cannot start MCP server {name!r}: {place.command}: {failed.strerror}; is it installed?"
                return ProviderError(what, kind=ErrorKind.NETWORK, code=ErrorCode.ECONNREFUSED)
            case place, TimeoutError():
                look = f"start {place.command} by hand" if isinstance(place, Stdio) else f"look at {origin(place.url)}"
                late = f"MCP server {name!r} was not ready after {self._spec.startup:g} s"
                what = f"{late}; {look} to see why, or raise its startup_timeout_sec"
                return ProviderError(what + after, kind=ErrorKind.TIMEOUT, code=ErrorCode.TIMEOUT)
            case _, TooMuch() as failed:
                what = f"MCP server {name!r} cannot be used: {failed}"
            case Http() as place, httpx2.HTTPError() as failed if known := provider_error(failed, place.url, FAILURES):
                return ProviderError(f"MCP server {name!r}: {known.message}", kind=known.kind, code=known.code)
            case Http(), _ if self.status in (401, 403):
                what = f'MCP server {name!r} refused us with {self.status}; give it an "Authorization" in "headers"'
                return ProviderError(what, kind=ErrorKind.AUTH, status=self.status, code=http_code(self.status))
            case Http(), _ if self.status:
                what = f"MCP server {name!r} answered {self.status}; check its URL, path included"
                return ProviderError(what, kind=ErrorKind.SERVER, status=self.status, code=http_code(self.status))
            case Stdio() as place, MCPError() as failed if failed.code == types.CONNECTION_CLOSED:
                what = f"MCP server {name!r} ended before it was ready; start {place.command} by hand to see why"
            case _, None:
                what = f"MCP server {name!r} ended; it is started again at the next call"
            case _:
                what = f"MCP server {name!r} cannot be used: {error}; see what that server itself says of it"
        return ProviderError(what + after, kind=ErrorKind.SERVER, code=ErrorCode.ECONNRESET)


async def _anything(_: str, __: types.CallToolResult) -> None:
    return None


def _progress(report: Report) -> ProgressFnT:
    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        part = f"{progress:g}/{total:g}" if total else f"{progress:g}"
        report(f"{message} ({part})" if message else part)

    return on_progress


def _first(group: BaseExceptionGroup[Exception]) -> Exception:
    """The first failure that is no group."""
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
