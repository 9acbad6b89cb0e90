"""Stores of what one request leaves for the next: in this process, or together with others of its machine.

Knows what is kept and in which directory; nothing of requests.  Contract: a directory that cannot be used costs nothing
but the sharing: each process then keeps for itself, and the log says so; what is made there only its owner may read.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from pathlib import Path

from ...conversation.reasoning_store import ReasoningStore, ReplayState
from ...loop.journal.values import decode, encode
from ...memo import Backing
from ...server_tools.memory import Memory, Turns
from ...turn.capabilities import Capabilities
from ...turn.habits import Habits, Written
from ...turn.tool_support import Finding, Support, ToolSupport
from ...types import Message, Reasoning
from .contents import Contents
from .conversations import Conversations
from .owned import Owned
from .quota import Quota
from .response_items import Items
from .responses import Responses
from .runs import Runs
from .shared_quota import SharedQuota
from .shelf import Shelf
from .sqlite_cache import FILE, Drawer, Store

log: logging.Logger = logging.getLogger("dragoman.gateway")

EVERY = 600.0
"""Seconds between two looks for what is too old."""
SOON = 1.0
"""Seconds between two looks for what waits to be written."""
UNUSABLE = "the directory %s cannot be used (%s); every process keeps for itself what others may need"


class StateStores:
    """The stores of one process; shared with others where they name the same `directory`."""

    def __init__(self, directory: Path | None = None) -> None:
        self._store = None if directory is None else Store(directory / FILE)
        store = self._store
        items: Backing[str] | None = None if store is None else Drawer(store, "item", str, str)
        turns: Backing[Turns] | None = None if store is None else Drawer(store, "turns", encode, _read_turns)
        calls: Backing[ReplayState] | None = None if store is None else Drawer(store, "call", _write_call, _read_call)
        self.items: Items = Items(behind=items)
        contents: Backing[str] | None = None if store is None else Drawer(store, "content", str, str)
        kept = Contents(contents)
        conversations = Conversations(Shelf("conversation", store), kept)
        runs = Runs(Shelf("run", store))
        self.responses: Responses = Responses(Shelf("response", store), self.items, kept, conversations, runs)
        self.owned: Owned = Owned(Shelf("owned", store))
        self.memory: Memory = Memory(behind=turns)
        habits: Backing[Written] | None = None if store is None else Drawer(store, "habit", json.dumps, _read_habits)
        tools: Backing[Finding] | None = None if store is None else Drawer(store, "support", json.dumps, _read_finding)
        self.learned: Capabilities = Capabilities(ReasoningStore(calls), Habits(habits), ToolSupport(tools))
        self.quota: Quota | SharedQuota = (
            Quota(time.monotonic) if directory is None else SharedQuota(directory, time.monotonic)
        )

    async def tidy(self, every: float = EVERY) -> None:
        """Wipe what is too old, and write what had to wait, for ever."""
        due = 0.0
        while self._store is not None:
            if (now := time.monotonic()) >= due:
                due = now + every
                self._store.tidy()
            self._store.flush()
            await asyncio.sleep(min(every, SOON))

    def close(self) -> None:
        """Let go of the files."""
        self.quota.close()
        if self._store is not None:
            self._store.close()


def open_stores(place: str = "") -> StateStores:
    """The stores in the directory at `place`, which is made where it is missing; "" for memory alone."""
    if not place:
        return StateStores()
    directory = Path(place).absolute()
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        log.warning(UNUSABLE, directory, error)
        return StateStores()
    return StateStores(directory)


def _read_turns(text: str) -> Turns:
    turns = decode(text)
    if not isinstance(turns, tuple) or not all(isinstance(each, Message) for each in turns):
        raise ValueError("no turns")
    return turns


def _read_habits(text: str) -> Written:
    names = json.loads(text)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("no habits")
    return tuple(names)


def _read_finding(text: str) -> Finding:
    support, until, why = json.loads(text)
    if not isinstance(until, int | float) or not isinstance(why, str):
        raise ValueError("no finding")
    return Finding(Support(support), float(until), why)


def _write_call(call: ReplayState) -> str:
    return encode((call.id, call.metadata, call.reasoning))


def _read_call(text: str) -> ReplayState:
    name, metadata, reasoning = decode(text)
    if not (
        isinstance(name, str) and isinstance(metadata, Mapping) and all(isinstance(r, Reasoning) for r in reasoning)
    ):
        raise ValueError("nothing that belongs to a call")
    return ReplayState(name, metadata, reasoning)
