"""The store of many machines: Redis or Valkey, alone or as a Cluster.

Knows the server's commands; nothing of what is kept.  Contract: nobody waits for it longer than `patience`; one that
did not answer is left alone for half a second, then twice as long, up to half a minute, and then asked once.  Two
namespaces of one server never meet, and what is asked for stands there only as a digest made with a secret.  Time is
the server's: clocks of machines that differ change nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Broken
from redis.exceptions import NoScriptError, RedisError, ResponseError

from ...effects import Address, Enter, Entered, Leave
from ...io.ids import mint
from .keeper import Change, Mark, Unreachable
from .scripts import CHANGE, ENTER, LEAVE, LOOK, NOTE, RENEW

T = TypeVar("T")

log: logging.Logger = logging.getLogger("dragoman.gateway")

PATIENCE, BESIDE = 0.05, 1.0
"""Seconds an answer is waited for, by a request, and beside requests."""
SLOW = 2.0
"""Times the patience after which it was this process that stood still, and the server is asked again."""
REST, LONGEST = 0.5, 30.0
"""Seconds it is left alone after it did not answer: they double, up to the longest."""
DAY = 24 * 3600
LASTS: Mapping[str, int] = {"item": 7 * DAY, "call": 7 * DAY, "turns": 7 * DAY, "run": 7 * DAY, "owned": 90 * DAY}
"""Seconds each kind is kept; others, which are conversations, for `OTHERS`."""
OTHERS = 30 * DAY
LARGE = 1024
"""Bytes from which on a text is kept packed."""
PLAIN, PACKED = b"=", b"z"
LARGEST = 16 * 1024 * 1024
"""Bytes of a text; a longer one is left out."""
LEASE = 30.0
"""Seconds a request counts as running unless it is said again."""
MOST_CHANGES = 100
"""How often a change is tried while others change the same."""
AWAY = "the state at %s cannot be reached (%s); requests go on without it where they can"
BACK = "the state at %s is reached again"


class RedisStore:
    """The server at `url`, as `namespace` of it; `secret` makes the digests, `shown` names the place in logs."""

    kind: str = "redis"

    def __init__(
        self, url: str, namespace: str, secret: str, *, shown: str = "redis", patience: float = PATIENCE
    ) -> None:
        self.replicas = 1
        self.offset = 0.0
        self._url, self._shown, self._patience = url, shown, patience
        self._before = f"dragoman:{namespace}:"
        self._secret = hashlib.sha256(f"{namespace}\0{secret}".encode("utf-8", "surrogatepass")).digest()
        self._client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._connecting = asyncio.Lock()
        self._cluster: bool | None = None
        self._rest, self._rests, self._asking = 0.0, 0.0, False
        self._name = mint("proc_")

    # ── texts ────────────────────────────────────────────────────────────────

    async def read(self, addresses: Sequence[Address]) -> Mapping[Address, str]:
        """The texts at those of `addresses` where one is kept, in one question."""
        keys = [self._key(address) for address in addresses]
        if len(keys) == 1:
            found = [await self._done(lambda client: client.get(keys[0]))]
        elif await self._is_cluster():
            found = await self._done(lambda client: client.mget_nonatomic(keys))
        else:
            found = await self._done(lambda client: client.mget(keys))
        pairs = zip(addresses, found, strict=True)
        return {address: text for address, data in pairs if data and (text := _text(data)) is not None}

    async def write(self, rows: Mapping[Address, str]) -> None:
        """Keep these, in one question."""
        made = [(address, _data(text)) for address, text in rows.items()]
        kept = [(self._key(address), data, _lasts(address)) for address, data in made if len(data) <= LARGEST]
        if len(kept) == 1:
            [(key, data, lasts)] = kept
            await self._done(lambda client: client.set(key, data, ex=lasts))
        elif kept:
            await self._done(partial(_set_all, kept))

    async def change(self, address: Address, change: Change) -> None:
        """Change one; where somebody else did meanwhile, what they left is changed."""
        key, lasts = self._key(address), _lasts(address)
        old: bytes = await self._done(lambda client: client.get(key)) or b""
        for _ in range(MOST_CHANGES):
            made = change(_text(old) if old else None)
            new = b"" if made is None else _data(made)
            done, old = await self._run(CHANGE, [key], [old, new, lasts])
            if done:
                return
        raise Unreachable("others change it all the time")

    # ── the board ────────────────────────────────────────────────────────────

    async def note(self, rows: Mapping[Address, str]) -> None:
        """Put these on the board."""
        given: list[Any] = []
        for address, text in rows.items():
            given += (self._digest(address), _data(json.dumps([*address, text])))
        await self._run(NOTE, self._board("notes", "mark"), given, BESIDE)

    async def notes(self, known: Mark) -> tuple[Mark, Mapping[Address, str] | None]:
        """What is on the board, where that is not known; this process says that it lives."""
        keys = self._board("notes", "mark", "processes")
        began = time.time()
        mark, now, replicas, *rows = await self._run(LOOK, keys, [known or b"", self._name], BESIDE)
        self.offset, self.replicas = float(now) - (began + time.time()) / 2, max(1, int(replicas))
        if mark == known:
            return mark, None
        texts = [text for data in rows if (text := _text(data)) is not None]
        return mark, {(kind, key): text for kind, key, text in map(json.loads, texts)}

    def _board(self, *names: str) -> list[str]:
        return [f"{self._before}{{board}}:{name}" for name in names]

    # ── limits ───────────────────────────────────────────────────────────────

    async def enter(self, entry: Enter) -> Entered:
        """Let a request in, or say why not."""
        given = [entry.lease, entry.concurrent, entry.per_minute, entry.tokens_per_minute, entry.tokens, LEASE]
        why, wait, at = await self._run(ENTER, self._counts(entry.key), given)
        return Entered(why.decode(), float(wait), int(at))

    async def leave(self, gone: Leave) -> None:
        """A request has ended."""
        await self._run(LEAVE, self._counts(gone.key), [gone.lease, gone.tokens, gone.at])

    async def renew(self, held: Mapping[str, Sequence[str]]) -> None:
        """These still run."""
        for key, leases in held.items():
            await self._run(RENEW, self._counts(key)[:1], [LEASE, *leases], BESIDE)

    def _counts(self, key: str) -> list[str]:
        digest = self._digest(("limit", key))
        return [f"{self._before}{{{digest}}}:{what}" for what in ("running", "begun", "tokens")]

    # ── the server ───────────────────────────────────────────────────────────

    async def tidy(self) -> None:
        """The server wipes what is too old."""

    async def aclose(self) -> None:
        """Let go of every connection."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    def _key(self, address: Address) -> str:
        return f"{self._before}{self._digest(address)}"

    def _digest(self, address: Address) -> str:
        named = "\0".join(address).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(named, key=self._secret, digest_size=16).hexdigest()

    async def _run(
        self, script: tuple[str, str], keys: Sequence[str], given: Sequence[Any], patience: float = 0.0
    ) -> Any:
        """What a script replies: by its name, and in full to a server that does not know it yet."""
        text, digest = script

        async def asked(client: Any) -> Any:
            try:
                return await client.evalsha(digest, len(keys), *keys, *given)
            except NoScriptError:
                return await client.eval(text, len(keys), *keys, *given)

        return await self._done(asked, patience)

    async def _done(self, ask: Callable[[Any], Awaitable[T]], patience: float = 0.0) -> T:
        """What the server replies.  Raises Unreachable where it does not in time, or is left alone.

        What is asked beside requests is asked all the same: nobody waits for it, and all processes see it is back.
        """
        now, beside = time.monotonic(), patience >= BESIDE
        if self._rest and not beside and (self._asking or now < self._rests):
            raise Unreachable
        self._asking = bool(self._rest)
        try:
            reply = await self._in_time(ask, max(patience, self._patience))
        except (RedisError, OSError, TimeoutError) as error:
            self._failed(error)
            raise Unreachable from error
        finally:
            self._asking = False
        if self._rest:
            self._rest = 0.0
            log.warning(BACK, self._shown)
        return reply

    async def _in_time(self, ask: Callable[[Any], Awaitable[T]], patience: float) -> T:
        """Ask, and once more where a connection was of no use any more, or it was we who stood still."""
        began = time.monotonic()
        try:
            return await self._once(ask, patience)
        except TimeoutError:
            if time.monotonic() - began < SLOW * patience:
                raise
        except Broken:
            await self._forget()
        return await self._once(ask, patience)

    async def _once(self, ask: Callable[[Any], Awaitable[T]], patience: float) -> T:
        async with asyncio.timeout(patience):
            return await ask(await self._connected())

    def _failed(self, error: Exception) -> None:
        if not self._rest:
            log.warning(AWAY, self._shown, _why(error))
        self._rest = min(LONGEST, 2 * self._rest or REST)
        self._rests = time.monotonic() + self._rest

    async def _is_cluster(self) -> bool:
        if self._cluster is None:
            await self._done(_nothing)
        return bool(self._cluster)

    async def _connected(self) -> Any:
        loop = asyncio.get_running_loop()
        if self._client is not None and self._loop is loop:
            return self._client
        if self._loop is not loop:
            self._loop, self._client, self._connecting = loop, None, asyncio.Lock()
        async with self._connecting:
            if self._client is None:
                self._client = await self._connect()
        return self._client

    async def _connect(self) -> Any:
        if self._cluster is None:
            probe = Redis.from_url(self._url, retry=Retry(NoBackoff(), 0), socket_timeout=None)
            try:
                about = await probe.info("cluster")
            except ResponseError:  # whoever may not ask that has one server before him
                about = {}
            finally:
                await _in_a_moment(probe.aclose())
            self._cluster = bool(int(about.get("cluster_enabled", 0)))
        kind: Any = RedisCluster if self._cluster else Redis
        client = kind.from_url(self._url, retry=Retry(NoBackoff(), 0), socket_timeout=None)
        if self._cluster:
            await client.initialize()  # left to the first question, several at once close each other's connections
        return client

    async def _forget(self) -> None:
        """Connections that were open are of no use any more."""
        client = self._client
        if isinstance(client, Redis):
            await _in_a_moment(client.connection_pool.disconnect(inuse_connections=False))


async def _nothing(client: Any) -> None:
    """Only connect."""


async def _in_a_moment(parting: Awaitable[Any]) -> None:
    """Let go of connections, without waiting for a server that does not answer: others wait for us meanwhile."""
    with suppress(TimeoutError, RedisError, OSError):
        await asyncio.wait_for(parting, PATIENCE)


async def _set_all(rows: Sequence[tuple[str, bytes, int]], client: Any) -> None:
    pipeline = client.pipeline(transaction=False)
    for key, data, lasts in rows:
        pipeline.set(key, data, ex=lasts)
    await pipeline.execute()


def _lasts(address: Address) -> int:
    return LASTS.get(address[0], OTHERS)


def _data(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return PACKED + zlib.compress(data, 1) if len(data) >= LARGE else PLAIN + data


def _text(data: bytes) -> str | None:
    """The text; None for what another version wrote."""
    try:
        found = zlib.decompress(data[1:]) if data[:1] == PACKED else data[1:] if data[:1] == PLAIN else None
        return None if found is None else found.decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError):
        return None


def _why(error: Exception) -> str:
    return "no answer in time" if isinstance(error, TimeoutError) else type(error).__name__
