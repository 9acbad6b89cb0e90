"""What stands in a Redis server under a namespace: for people who look, not for requests.

Knows how keys are named; nothing of what they hold.  Contract: it only reads, and of a server with very many keys not
all of them: `whole` says whether these were all.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...effects import Address

MOST_KEYS = 200_000
"""Keys that are looked through."""
AT_ONCE = 2000
LIVES = 15
"""Seconds for which a process counts as one that lives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a server is, and what of a deployment it holds; `seconds` are those of one question.

    `same_secret` is None where nothing tells; `others` are the namespaces of other deployments.
    """

    version: str
    cluster: bool
    seconds: float
    texts: int
    limits: int
    notes: int
    processes: int
    whole: bool
    same_secret: bool | None
    others: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Does nothing stand there?"""
        return not (self.texts or self.limits or self.notes or self.processes)


async def survey(client: Any, namespace: str, digest: Callable[[Address], str], *, cluster: bool) -> Survey:
    """What `client` tells of `namespace`, where `digest` gives the names of notes."""
    began = time.perf_counter()
    await client.ping()
    seconds = time.perf_counter() - began
    version, (now, _) = await _version(client), await client.time()
    board = f"dragoman:{namespace}:{{board}}:"
    notes: Mapping[bytes, bytes] = await client.hgetall(f"{board}notes")
    processes = int(await client.zcount(f"{board}processes", now - LIVES, "+inf"))
    texts, limits, others, seen = 0, set[str](), set[str](), 0
    async for given, rest in _names(client):
        seen += 1
        if given != namespace:
            others.add(given)
        elif rest.startswith("{"):
            limits.add(rest.partition("}")[0])
        else:
            texts += 1
        if seen >= MOST_KEYS:
            break
    return Survey(
        version=version, cluster=cluster, seconds=seconds, texts=texts, limits=len(limits - {"{board"}),
        notes=len(notes), processes=processes, whole=seen < MOST_KEYS, same_secret=_is_same(notes, digest),
        others=tuple(sorted(others)),
    )  # fmt: skip


async def _names(client: Any) -> AsyncIterator[tuple[str, str]]:
    """Of all keys of ours: the namespace, and the rest."""
    async for key in client.scan_iter(match="dragoman:*", count=AT_ONCE):
        _, _, named = bytes(key).decode(errors="replace").partition(":")
        namespace, _, rest = named.partition(":")
        yield namespace, rest


async def _version(client: Any) -> str:
    about = await client.info("server")
    if about and all(isinstance(each, Mapping) for each in about.values()):  # each of a Cluster's for itself
        about = next(iter(about.values()))
    if valkey := about.get("valkey_version"):
        return f"Valkey {valkey}"
    return f"Redis {about.get('redis_version', 'of an unknown version')}"


def _is_same(notes: Mapping[bytes, bytes], digest: Callable[[Address], str]) -> bool | None:
    """Whether notes have the names that we would give them."""
    for name, data in notes.items():
        try:
            kind, key, _ = json.loads(data[1:])
        except ValueError:
            continue  # packed, or of another version
        return digest((kind, key)) == bytes(name).decode(errors="replace")
    return None
