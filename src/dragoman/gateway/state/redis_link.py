"""The way to a Redis server: its connections, how long its answers are waited for, and when it is left alone.

Knows connections and time; nothing of what is asked.  Contract: nobody waits for it longer than `patience`, and nobody
for another's question; a server that did not answer is left alone for half a second, then twice as long, up to half a
minute, and then asked once.  More questions than connections wait their turn; they are not the server's fault.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, TypeVar

from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Broken
from redis.exceptions import RedisError, ResponseError

from ...errors import UsageError
from .keeper import Unreachable
from .patience import Patience

T = TypeVar("T")

log: logging.Logger = logging.getLogger("dragoman.gateway")

PATIENCE, BESIDE = 0.05, 1.0
"""Seconds an answer is waited for, by a request, and beside requests."""
REST, LONGEST = 0.5, 30.0
"""Seconds it is left alone after it did not answer: they double, up to the longest."""
AT_ONCE = 32
"""Questions of requests that are under way at a time; others wait for their turn before they wait for an answer."""
CONNECTIONS = 2 * AT_ONCE
"""More than there can be, with what is asked beside requests."""
UNNAMED: Mapping[str, None] = (
    {"driver_info": None} if find_spec("redis.driver_info") else {"lib_name": None, "lib_version": None}
)
"""A new connection asks for no newer protocol and does not say whose it is: each would be an answer to wait for."""
AWAY = "the state at %s cannot be reached (%s); requests go on without it where they can"
NO_ADDRESS = "{shown} is no address that the client of Redis takes; write redis://HOST:6379/0"
BACK = "the state at %s is reached again"


class RedisLink:
    """To the server at `url`; `shown` names it in logs.  Raises UsageError for what is no address."""

    def __init__(self, url: str, shown: str, patience: float) -> None:
        try:
            parse_url(url)
        except ValueError:
            raise UsageError(NO_ADDRESS.format(shown=shown)) from None  # which may say a password
        self._url, self._shown, self.patience = url, shown, patience
        self._client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._connecting, self._places = asyncio.Lock(), asyncio.Semaphore(AT_ONCE)
        self._cluster: bool | None = None
        self._rest, self._rests, self._trying = 0.0, 0.0, False

    async def ask(self, ask: Callable[[Any], Awaitable[T]], *, beside: bool = False) -> T:
        """What the server replies.  Raises Unreachable where it does not in time, or is left alone.

        What is asked `beside` requests is asked all the same: nobody waits for it, and all processes see it is back.
        """
        if beside:
            return await self._reply(ask, beside=True)
        self._may_ask()
        if self._loop is not asyncio.get_running_loop():
            self._begin_anew()
        async with self._places:
            if not self._may_ask():
                return await self._reply(ask)
            self._trying = True
            try:
                return await self._reply(ask)
            finally:
                self._trying = False

    async def is_cluster(self) -> bool:
        """Is the server part of a Cluster?"""
        if self._cluster is None:
            await self.ask(_nothing)
        return bool(self._cluster)

    async def aclose(self) -> None:
        """Let go of every connection."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    def _may_ask(self) -> bool:
        """Whether it is a trial, of a server that did not answer.  Raises Unreachable where it is left alone."""
        if self._rest and (self._trying or time.monotonic() < self._rests):
            raise Unreachable
        return bool(self._rest)

    async def _reply(self, ask: Callable[[Any], Awaitable[T]], *, beside: bool = False) -> T:
        patience, rests = Patience(self.patience, BESIDE if beside else 0.0), self._rests
        try:
            async with patience:
                reply = await self._asked(ask)
        except (RedisError, OSError, TimeoutError, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and _is_wanted_no_more():
                raise
            self._failed(error)
            raise Unreachable from error
        if self._rest and patience.in_time and self._rests == rests:
            # one that is too slow for requests is left alone by them, and so is one that was there before it failed
            self._rest = 0.0
            log.warning(BACK, self._shown)
        return reply

    async def _asked(self, ask: Callable[[Any], Awaitable[T]]) -> T:
        """Ask, and once more where a connection was of no use any more: by then it is known of the others, too."""
        with suppress(Broken):
            return await ask(await self._connected())
        return await ask(await self._connected())

    def _failed(self, error: BaseException) -> None:
        if not self._rest:
            log.warning(AWAY, self._shown, _why(error))
        self._rest = min(LONGEST, 2 * self._rest or REST)
        self._rests = time.monotonic() + self._rest

    # ── connections ──────────────────────────────────────────────────────────

    def _begin_anew(self) -> None:
        """Locks and connections belong to one event loop."""
        self._loop, self._client = asyncio.get_running_loop(), None
        self._connecting, self._places = asyncio.Lock(), asyncio.Semaphore(AT_ONCE)

    async def _connected(self) -> Any:
        if self._loop is not asyncio.get_running_loop():
            self._begin_anew()
        if self._client is not None:
            return self._client
        async with self._connecting:
            if self._client is None:
                self._client = await self._connect()
        return self._client

    async def _connect(self) -> Any:
        given: dict[str, Any] = {"socket_timeout": None, "protocol": 2, **UNNAMED}
        if self._cluster is None:
            probe = Redis.from_url(self._url, retry=Retry(NoBackoff(), 0), **given)
            try:
                about = await probe.info("cluster")
            except ResponseError:  # whoever may not ask that has one server before him
                about = {}
            finally:
                await _in_a_moment(probe.aclose())
            self._cluster = bool(int(about.get("cluster_enabled", 0)))
        kind: Any = RedisCluster if self._cluster else Redis
        client = kind.from_url(self._url, retry=Retry(NoBackoff(), 0), max_connections=CONNECTIONS, **given)
        if self._cluster:
            await client.initialize()  # left to the first question, several at once close each other's connections
        return client


async def _nothing(client: Any) -> None:
    """Only connect."""


async def _in_a_moment(parting: Awaitable[Any]) -> None:
    """Let go of connections, without waiting for a server that does not answer: others wait for us meanwhile."""
    with suppress(TimeoutError, RedisError, OSError):
        await asyncio.wait_for(parting, PATIENCE)


def _is_wanted_no_more() -> bool:
    """Whether it was we who were cancelled, and not something that the client waits for."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _why(error: BaseException) -> str:
    while isinstance(error.__cause__, RedisError):  # a wrong password is wrapped in a connection that failed
        error = error.__cause__
    return "no answer in time" if isinstance(error, TimeoutError) else type(error).__name__
