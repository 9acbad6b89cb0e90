"""The quota of each key over many machines: counted by the store they share, in one step and by its clock.

Knows keys by their names and limits, and effects; nothing of secrets or servers.  Contract: as `quota.py`.  Whoever is
killed gives back what it held when its lease ends; while the store is away each key's own setting says what holds:
`divide` (the limit divided by the processes that lived last), `local` (the whole limit, in each process) or `refuse`.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...effects import Effect, Enter, Entered, Leave, PerformAsync
from ...errors import ErrorKind, ProviderError
from ...io.ids import mint
from ..config.model import Access
from .keeper import Counting, Keeper, Unreachable
from .quota import Lease, Quota, more_than, too_many, too_much, too_often

RENEWED = 10.0
"""Seconds between two times that leases are renewed."""
AWAY = "whether this key may ask more cannot be looked up at this moment; come again in a second"


class StoreQuota:
    """Counts in the store of `keeper`, and in this process for the time when that is away."""

    def __init__(self, keeper: Keeper, counting: Counting, clock: Callable[[], float]) -> None:
        self._perform: PerformAsync = keeper.perform
        self._keeper, self._counting, self._clock = keeper, counting, clock
        self._own = Quota(clock)
        self._held: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._renewed = clock()

    async def enter(self, access: Access, tokens: int) -> Lease:
        """One more request."""
        entry = Enter(
            key=access.name, lease=mint("lease_"), concurrent=access.max_concurrent, per_minute=access.per_minute,
            tokens_per_minute=access.tokens_per_minute, tokens=tokens,
        )  # fmt: skip
        try:
            entered: Entered = await self._asked(entry)
        except ProviderError:
            return self._enter_here(access, tokens)
        if entered.refused:
            raise REFUSALS[entered.refused](access, entered.wait)
        self._own.note(access, tokens)
        if access.max_concurrent:
            self._held[access.name][entry.lease] = None
        return Lease(access, tokens, entered.at, entry.lease)

    async def leave(self, lease: Lease, tokens: int | None) -> None:
        """It has ended."""
        access, more = lease.access, more_than(lease, tokens)
        self._own.leave(access, more, lease.at if not lease.name else int(self._clock()))
        if not lease.name:
            return
        self._held[access.name].pop(lease.name, None)
        if access.max_concurrent or more:
            await asyncio.shield(self._left(Leave(key=access.name, lease=lease.name, tokens=more, at=lease.at)))

    async def renew(self) -> None:
        """What runs here still runs; to be called now and then."""
        if self._clock() - self._renewed < RENEWED:
            return
        self._renewed = self._clock()
        held = {key: list(leases) for key, leases in self._held.items() if leases}
        if not held:
            return
        try:
            await self._keeper.ask(self._counting.renew(held))
        except Unreachable:
            return
        for key, leases in held.items():
            for name in leases:
                if name not in self._held[key]:  # it ended meanwhile, and may have been said to run after that
                    await self._left(Leave(key=key, lease=name))

    def close(self) -> None:
        """This process counts no more."""

    async def _asked(self, entry: Enter) -> Entered:
        """What the store says; where nobody waits for that any more, it is taken back."""
        asking = asyncio.ensure_future(self._performed(entry))
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            asking.add_done_callback(lambda done: self._undo(done, entry))
            raise

    async def _performed(self, effect: Effect) -> Any:
        return await self._perform(effect)

    async def _left(self, gone: Leave) -> None:
        try:
            await self._perform(gone)
        except ProviderError:
            return  # its lease ends by itself

    def _undo(self, done: asyncio.Future[Entered], entry: Enter) -> None:
        if not done.cancelled() and done.exception() is None and not done.result().refused:
            self._undoing = asyncio.ensure_future(self._left(Leave(key=entry.key, lease=entry.lease)))

    def _enter_here(self, access: Access, tokens: int) -> Lease:
        """While the store is away."""
        match access.state_away:
            case "refuse":
                raise ProviderError(
                    AWAY, status=503, kind=ErrorKind.OVERLOADED, code="state_unavailable", retry_after=1.0
                )
            case "local":
                share = access
            case _:
                share = _divided(access, self._counting.replicas)
        return Lease(access, tokens, self._own.enter(share, tokens))


REFUSALS: dict[str, Callable[[Access, float], ProviderError]] = {
    "many": lambda access, _: too_many(access),
    "often": too_often,
    "tokens": too_much,
}


def _divided(access: Access, by: int) -> Access:
    """The part of its limits that each of so many processes may use."""

    def part(most: int) -> int:
        return max(1, most // by) if most else 0

    return replace(
        access, max_concurrent=part(access.max_concurrent), per_minute=part(access.per_minute),
        tokens_per_minute=part(access.tokens_per_minute),
    )  # fmt: skip
