"""The store of many machines: Redis or Valkey, alone or as a Cluster.

Knows the server's commands; nothing of what is kept, nor of how it is reached.  Contract: two namespaces of one server
never meet, and what is asked for stands there only as a digest made with a secret.  Everything goes by itself once its
time is over.  Time is the server's: clocks of machines that differ change nothing.
"""

from __future__ import annotations

import hashlib
import json
import time
import zlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from redis.exceptions import NoScriptError

from ...effects import Address, Enter, Entered, Leave
from ...io.ids import mint
from .keeper import Change, Mark, Unreachable
from .redis_link import PATIENCE, RedisLink
from .scripts import CHANGE, ENTER, LEAVE, LOOK, NOTE, RENEW
from .survey import Survey, survey

DAY = 24 * 3600
DAYS = 30.0
"""Days that texts of conversations are kept."""
WEEK, OWNED = frozenset({"item", "call", "turns", "run"}), "owned"
"""Kinds kept for 7 days, or less where conversations are; and the one without texts of anybody, kept for 90."""
LARGE = 1024
"""Bytes from which on a text is kept packed."""
PLAIN, PACKED = b"=", b"z"
LARGEST = 16 * 1024 * 1024
"""Bytes of a text; a longer one is left out."""
LEASE = 30.0
"""Seconds a request counts as running unless it is said again."""
MOST_CHANGES = 100
"""How often a change is tried while others change the same."""


class RedisStore:
    """The server at `url`, as `namespace` of it; `secret` makes the digests, `shown` names the place in logs."""

    kind: str = "redis"

    def __init__(
        self,
        url: str,
        namespace: str,
        secret: str,
        *,
        shown: str = "redis",
        patience: float = PATIENCE,
        days: float = DAYS,
    ) -> None:
        self.replicas = 1
        self.offset = 0.0
        self._namespace, self._before = namespace, f"dragoman:{namespace}:"
        self._secret = hashlib.sha256(f"{namespace}\0{secret}".encode("utf-8", "surrogatepass")).digest()
        self._lasts = max(1, int(days * DAY))
        self._link = RedisLink(url, shown, patience)
        self._name = mint("proc_")

    # ── texts ────────────────────────────────────────────────────────────────

    async def read(self, addresses: Sequence[Address]) -> Mapping[Address, str]:
        """The texts at those of `addresses` where one is kept, in one question."""
        keys = [self._key(address) for address in addresses]
        if len(keys) == 1:
            found = [await self._link.ask(lambda client: client.get(keys[0]))]
        elif await self._link.is_cluster():
            found = await self._link.ask(lambda client: client.mget_nonatomic(keys))
        else:
            found = await self._link.ask(lambda client: client.mget(keys))
        pairs = zip(addresses, found, strict=True)
        return {address: text for address, data in pairs if data and (text := _text(data)) is not None}

    async def write(self, rows: Mapping[Address, str]) -> None:
        """Keep these, in one question."""
        made = [(address, _data(text)) for address, text in rows.items()]
        kept = [(self._key(address), data, self._seconds(address)) for address, data in made if len(data) <= LARGEST]
        if len(kept) == 1:
            [(key, data, lasts)] = kept
            await self._link.ask(lambda client: client.set(key, data, ex=lasts))
        elif kept:
            await self._link.ask(partial(_set_all, kept))

    async def change(self, address: Address, change: Change) -> None:
        """Change one; where somebody else did meanwhile, what they left is changed."""
        key, lasts = self._key(address), self._seconds(address)
        old: bytes = await self._link.ask(lambda client: client.get(key)) or b""
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
        await self._run(NOTE, self._board("notes", "mark"), given, beside=True)

    async def notes(self, known: Mark) -> tuple[Mark, Mapping[Address, str] | None]:
        """What is on the board, where that is not known; this process says that it lives."""
        keys = self._board("notes", "mark", "processes")
        began = time.time()
        mark, now, replicas, *rows = await self._run(LOOK, keys, [known or b"", self._name], beside=True)
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
            await self._run(RENEW, self._counts(key)[:1], [LEASE, *leases], beside=True)

    def _counts(self, key: str) -> list[str]:
        digest = self._digest(("limit", key))
        return [f"{self._before}{{{digest}}}:{what}" for what in ("running", "begun", "tokens")]

    async def survey(self) -> Survey:
        """What the server is, and what it holds of this namespace."""
        cluster = await self._link.is_cluster()
        return await self._link.ask(
            lambda client: survey(client, self._namespace, self._digest, cluster=cluster), beside=True
        )

    # ── the server ───────────────────────────────────────────────────────────

    async def tidy(self) -> None:
        """The server wipes what is too old."""

    async def aclose(self) -> None:
        """Let go of every connection."""
        await self._link.aclose()

    def _seconds(self, address: Address) -> int:
        """How long this is kept."""
        kind = address[0]
        return 90 * DAY if kind == OWNED else min(7 * DAY, self._lasts) if kind in WEEK else self._lasts

    def _key(self, address: Address) -> str:
        return f"{self._before}{self._digest(address)}"

    def _digest(self, address: Address) -> str:
        named = "\0".join(address).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(named, key=self._secret, digest_size=16).hexdigest()

    async def _run(
        self, script: tuple[str, str], keys: Sequence[str], given: Sequence[Any], *, beside: bool = False
    ) -> Any:
        """What a script replies: by its name, and in full to a server that does not know it yet."""
        text, digest = script

        async def asked(client: Any) -> Any:
            try:
                return await client.evalsha(digest, len(keys), *keys, *given)
            except NoScriptError:
                return await client.eval(text, len(keys), *keys, *given)

        return await self._link.ask(asked, beside=beside)


async def _set_all(rows: Sequence[tuple[str, bytes, int]], client: Any) -> None:
    pipeline = client.pipeline(transaction=False)
    for key, data, lasts in rows:
        pipeline.set(key, data, ex=lasts)
    await pipeline.execute()


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
