"""The store that needs nothing but a directory: an SQLite file, asked in a thread of its own.

Knows the file; nothing of what is kept.  Contract: the event loop never waits for a disk or a lock.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ...effects import Address
from .keeper import Change, Mark
from .sqlite_cache import SqliteCache

T = TypeVar("T")

NOTE = "note"
"""The kind of what is on the board; each text names its own kind and key."""


class Embedded:
    """The store in `file`."""

    kind: str = "sqlite"

    def __init__(self, file: SqliteCache) -> None:
        self._file = file
        self._thread: ThreadPoolExecutor | None = None
        self._process = 0

    async def read(self, addresses: Sequence[Address]) -> Mapping[Address, str]:
        """The texts at those of `addresses` where one is kept."""
        return await self._done(lambda: self._file.get(addresses))

    async def write(self, rows: Mapping[Address, str]) -> None:
        """Keep these."""
        await self._done(lambda: self._file.put(rows))

    async def change(self, address: Address, change: Change) -> None:
        """Change one, in one step."""
        await self._done(lambda: self._file.change(address, change))

    async def note(self, rows: Mapping[Address, str]) -> None:
        """Put these on the board."""
        texts = {(NOTE, "\0".join(address)): json.dumps([*address, text]) for address, text in rows.items()}
        await self._done(lambda: self._file.put(texts))

    async def notes(self, known: Mark) -> tuple[Mark, Mapping[Address, str] | None]:
        """What is on the board, where that is not known."""
        mark, texts = await self._done(lambda: self._file.of_kind(NOTE, known))
        if texts is None:
            return mark, None
        return mark, {(kind, key): text for kind, key, text in map(json.loads, texts)}

    async def tidy(self) -> None:
        """Wipe what is too old, and what is too much."""
        await self._done(self._file.tidy)

    async def aclose(self) -> None:
        """Let go of the file."""
        await self._done(self._file.close)
        if self._thread is not None:
            self._thread.shutdown(wait=False)
            self._thread = None

    async def _done(self, work: Callable[[], T]) -> T:
        if self._thread is None or self._process != os.getpid():  # a fork has no threads
            self._thread, self._process = ThreadPoolExecutor(1, "dragoman-state"), os.getpid()
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
