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
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

from ...effects import Close, Effect, Machine, Offload, PerformAsync, arun
from ...errors import UsageError
from ...fallback import Health
from ...loop.journal.values import decode, encode
from ...memo import Backing
from ...server_tools.memory import Memory, Turns
from ...turn.capabilities import Capabilities, Refusals
from ...turn.habits import Habits, Written
from ...turn.reasoning_store import ReasoningStore, ReplayState
from ...turn.shared_cache import Shared
from ...turn.tool_support import Finding, Support, ToolSupport
from ...types import Message, Reasoning
from ..config.load import NO_REDIS, Server
from .board import LOOK, Board, Drawer
from .contents import Contents
from .conversations import Conversations
from .embedded import Embedded
from .keeper import Keeper, Store, Unreachable
from .owned import Owned
from .quota import Beside, Counter, Here, Quota
from .response_items import Items
from .responses import Responses
from .runs import Runs
from .shared_health import SharedHealth
from .shared_quota import SharedQuota
from .shelf import Shelf
from .sqlite_cache import FILE, SqliteCache
from .store_quota import StoreQuota

T = TypeVar("T")

log: logging.Logger = logging.getLogger("dragoman.gateway")

EVERY = 600.0
"""Seconds between two looks for what is too old."""
UNUSABLE = "the directory %s cannot be used (%s); every process keeps for itself what others may need"


class StateStores:
    """The stores of one process; shared with others where they name the same `directory`, or ask the same `store`."""

    def __init__(self, directory: Path | None = None, store: Store | None = None) -> None:
        if store is None and directory is not None:
            store = Embedded(SqliteCache(directory / FILE))
        self.keeper: Keeper | None = None if store is None else Keeper(store)
        self.board: Board = Board()
        shared = self.keeper is not None
        self.items: Items = Items(shared=Shared("item", str, str, vital=True) if shared else None)
        kept = Contents(Shared("content", str, str, vital=True) if shared else None)
        conversations = Conversations(Shelf("conversation", shared=shared), kept)
        runs = Runs(Shelf("run", shared=shared))
        self.responses: Responses = Responses(Shelf("response", shared=shared), self.items, kept, conversations, runs)
        self.owned: Owned = Owned(Shelf("owned", shared=shared))
        self.memory: Memory = Memory(shared=Shared("turns", encode, _read_turns) if shared else None)
        reasoning = ReasoningStore(Shared("call", _write_call, _read_call) if shared else None)
        habits: Backing[Written] | None = None
        tools: Backing[Finding] | None = None
        refused: Backing[Refusals] | None = None
        if shared:
            refused = Drawer(self.board, "refused", _write_refusals, _read_refusals)
            habits = Drawer(self.board, "habit", json.dumps, _read_habits)
            tools = Drawer(self.board, "support", json.dumps, _read_finding)
        self.learned: Capabilities = Capabilities(reasoning, Habits(habits), ToolSupport(tools), refused)
        self.health: Health = SharedHealth(self.board, self._offset) if shared else Health()
        self.counter: Counter = self._counted(directory)

    def _offset(self) -> float:
        """Seconds by which the store's clock is ahead of ours."""
        counting = self.keeper.counting if self.keeper is not None else None
        return counting.offset if counting is not None else 0.0

    def _counted(self, directory: Path | None) -> Counter:
        """Who counts what keys ask."""
        counting = self.keeper.counting if self.keeper is not None else None
        if self.keeper is not None and counting is not None:
            return StoreQuota(self.keeper, counting, time.monotonic)
        if directory is not None:
            return Beside(SharedQuota(directory, time.monotonic))
        return Here(Quota(time.monotonic))

    def performing(self, perform: PerformAsync) -> PerformAsync:
        """`perform`, and what machines ask of what is kept."""
        return perform if self.keeper is None else self.keeper.performing(perform)

    async def ask(self, machine: Machine[T], offload: Offload | None = None) -> T:
        """What `machine` finds out about what is kept, or changes in it; `offload` takes its long steps."""
        perform = _close if self.keeper is None else self.keeper.performing(_close)
        return await arun(machine, perform, offload=offload)

    async def exchange(self) -> None:
        """Tell other processes what was learnt here, and learn what they did."""
        if self.keeper is not None:
            await self.board.exchange(self.keeper)

    async def tidy(self, every: float = EVERY) -> None:
        """Exchange what was learnt, wipe what is too old, and write what had to wait, for ever."""
        due = 0.0
        while self.keeper is not None:
            if (now := time.monotonic()) >= due:
                due = now + every
                with suppress(Unreachable):
                    await self.keeper.store.tidy()
            await self.board.exchange(self.keeper)  # which also finds out whether it is back
            await self.keeper.flush()
            if isinstance(self.counter, StoreQuota):
                await self.counter.renew()
            await asyncio.sleep(min(every, LOOK))

    async def aclose(self) -> None:
        """Let go of the files."""
        self.counter.close()
        if self.keeper is not None:
            await self.board.exchange(self.keeper)
            await self.keeper.flush()
            await self.keeper.store.aclose()


async def _close(effect: Effect) -> Any:
    """Nothing was opened."""
    assert type(effect) is Close, effect


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


def stores_for(server: Server) -> StateStores:
    """The stores that the settings name.  Raises UsageError where what they need is not installed."""
    if not server.state:
        return open_stores(server.state_dir)
    try:
        redis_store = import_module(".redis_store", __package__)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "redis":
            raise
        raise UsageError(f"$.server.state: {NO_REDIS}") from error
    url = server.state.replace("valkey", "redis", 1) if server.state.startswith("valkey") else server.state
    store = redis_store.RedisStore(
        url,
        server.namespace,
        server.state_key,
        shown=shown(url),
        patience=server.state_timeout,
        days=server.state_days,
    )
    return StateStores(store=store)


def shown(url: str) -> str:
    """The address without what it may hold of secrets."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _write_refusals(refused: Refusals) -> str:
    return json.dumps([refused.tools, refused.constraint, sorted(refused.schemas), sorted(refused.demands)])


def _read_refusals(text: str) -> Refusals:
    tools, constraint, schemas, demands = json.loads(text)
    return Refusals(
        tools=bool(tools), constraint=bool(constraint), schemas=frozenset(schemas), demands=frozenset(demands)
    )


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
