"""What performs a machine's questions about what is kept: one store that several processes share, however it is made.

Knows effects and stores; nothing of what texts mean.  Contract: nobody is told that something is not kept while that
cannot be looked up: that is an error which may be asked again (503).  What cannot be written yet waits here, the newest
up to `WAITING` bytes, is found here meanwhile, and is written as soon as it may be; what finds no room is counted.
Others may still hold what they could not write: for `SETTLES` after a store is back, what is not there is 503 too.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from ...effects import Address, Effect, Enter, Entered, Leave, PerformAsync, Recall, Retain, Revise
from ...errors import ErrorKind, ProviderError

WAITING = 16 * 1024 * 1024
"""Characters that wait to be written."""
PIECE = 256 * 1024
"""Characters that are written at a time once they may be."""
SETTLES = 4.0
"""Seconds after a store is back in which every process has noticed, and written what waited there."""
DOWN = "what is kept here cannot be read at this moment; send the request again"
KEPT = frozenset({Recall, Retain, Revise, Enter, Leave})
"""The effects that are performed here."""
Change = Callable[[str | None], str | None]
Mark = Any
"""How far the notes of a store were read: its own affair."""


class Unreachable(Exception):
    """A store cannot be asked now."""


class Store(Protocol):
    """A store that processes share.  Every method raises Unreachable where it cannot be asked now."""

    kind: str
    """What it is called in metrics."""

    async def read(self, addresses: Sequence[Address]) -> Mapping[Address, str]:
        """The texts at those of `addresses` where one is kept."""

    async def write(self, rows: Mapping[Address, str]) -> None:
        """Keep these; once this ends, others find them."""

    async def change(self, address: Address, change: Change) -> None:
        """Put what `change` gives for the text there in its place; nobody comes in between."""

    async def note(self, rows: Mapping[Address, str]) -> None:
        """Put these on the board, which all read."""

    async def notes(self, known: Mark) -> tuple[Mark, Mapping[Address, str] | None]:
        """What is on the board, and a mark of it; None in its place where the mark is still `known`."""

    async def tidy(self) -> None:
        """Wipe what is too old, and what is too much."""

    async def aclose(self) -> None:
        """Let go of it."""


class Counting(Store, Protocol):
    """A store that counts what keys ask, too."""

    replicas: int
    """Processes that live, as far as is known."""
    offset: float
    """Seconds by which its clock is ahead of ours."""

    async def enter(self, entry: Enter) -> Entered:
        """Let a request in, or say why not."""

    async def leave(self, gone: Leave) -> None:
        """A request has ended."""

    async def renew(self, held: Mapping[str, Sequence[str]]) -> None:
        """The leases of these keys are still held."""


class Meter(Protocol):
    """Whoever counts what becomes of a store's questions."""

    def store_asked(self, store: str, seconds: float, *, up: bool) -> None:
        """A question took so long, and was answered or not."""

    def store_dropped(self, store: str, rows: int) -> None:
        """So many texts are not kept."""


class Keeper:
    """Performs with `store`; `meters` are told what becomes of it."""

    meters: Sequence[Meter]
    store: Store

    def __init__(self, store: Store, waiting: int = WAITING, clock: Callable[[], float] = time.monotonic) -> None:
        self.store, self.meters = store, ()
        self._limit, self._size = waiting, 0
        self._waiting: dict[Address, str | None] = {}
        self._flushing = asyncio.Lock()
        self._clock, self._away, self._settled = clock, False, 0.0

    def performing(self, perform: PerformAsync) -> PerformAsync:
        """`perform`, and what is performed here."""

        def performed(effect: Effect) -> Awaitable[Any]:
            return self.perform(effect) if type(effect) in KEPT else perform(effect)

        return performed

    async def perform(self, effect: Effect) -> Any:
        """The reply to `effect`.  Raises ProviderError (503) where nobody can say."""
        match effect:
            case Recall(addresses):
                return await self._recall(addresses)
            case Retain(rows):
                return await self._retain(rows)
            case Revise(address, change):
                return await self._revise(address, change)
            case Enter():
                return await self._counted(self._counting.enter(effect))
            case Leave():
                return await self._counted(self._counting.leave(effect))
        raise TypeError(f"a keeper does not perform {type(effect).__name__}")

    @property
    def counting(self) -> Counting | None:
        """The store, where it counts."""
        return self.store if hasattr(self.store, "enter") else None  # type: ignore[return-value]

    @property
    def _counting(self) -> Counting:
        counting = self.counting
        assert counting is not None, "this store does not count"
        return counting

    async def _counted(self, asking: Awaitable[Any]) -> Any:
        try:
            return await self.ask(asking)
        except Unreachable as error:
            raise unreachable() from error

    async def flush(self) -> None:
        """Write what waits, as far as that is possible now."""
        try:
            await self._flush()
        except Unreachable:
            return

    async def ask(self, asking: Awaitable[Any]) -> Any:
        """What the store replies, measured.  Raises Unreachable."""
        began, up = time.perf_counter(), False
        try:
            reply = await asking
            up = True
            if self._away:
                self._away, self._settled = False, self._clock() + SETTLES
            return reply
        except Unreachable:
            self._away = True
            raise
        except Exception:
            up = True
            raise
        finally:
            seconds = time.perf_counter() - began
            for meter in self.meters:
                meter.store_asked(self.store.kind, seconds, up=up)

    async def _recall(self, addresses: Sequence[Address]) -> Mapping[Address, str]:
        waiting = self._waiting
        own = {address: text for address in addresses if (text := waiting.get(address)) is not None} if waiting else {}
        others = [address for address in addresses if address not in waiting] if waiting else addresses
        if not others:
            return own
        try:
            found: Mapping[Address, str] = await self.ask(self.store.read(others))
        except Unreachable as error:
            raise unreachable() from error
        if self._settled and len(found) < len(others) and not self._is_settled():
            raise unreachable()
        return {**found, **own} if own else found

    def _is_settled(self) -> bool:
        """Whether others have written what they could not while it was away."""
        if self._clock() >= self._settled:
            self._settled = 0.0
        return not self._settled

    async def _retain(self, rows: Mapping[Address, str]) -> bool:
        try:
            if not self._waiting.keys() & rows.keys():
                await self.ask(self.store.write(rows))
            elif self._flushing.locked():  # which writes these in its turn: nobody waits for all the rest
                self._wait(rows)
                return False
            else:
                async with self._flushing:  # what is older must not be written later
                    await self.ask(self.store.write(rows))
                    self._forget(*rows)
        except Unreachable:
            self._wait(rows)
            return False
        return True

    async def _revise(self, address: Address, change: Change) -> None:
        try:
            if address in self._waiting:
                if self._flushing.locked():
                    raise Unreachable
                async with self._flushing:
                    await self._write({address: self._waiting.get(address)})
            await self.ask(self.store.change(address, change))
        except Unreachable as error:
            if address not in self._waiting:
                raise unreachable() from error
            self._wait({address: change(self._waiting[address])})

    async def _flush(self) -> None:
        async with self._flushing:
            while self._waiting:
                some, size = dict[Address, str | None](), 0
                for address, text in self._waiting.items():
                    some[address] = text
                    size += len(text or "")
                    if size >= PIECE:
                        break
                await self._write(some)

    async def _write(self, some: Mapping[Address, str | None]) -> None:
        """Write these, which wait."""
        rows = {address: text for address, text in some.items() if text is not None}
        if rows:
            await self.ask(self.store.write(rows))
        for address in some.keys() - rows.keys():
            await self.ask(self.store.change(address, lambda _: None))
        self._forget(*(address for address, text in some.items() if self._waiting.get(address, 0) == text))

    def _wait(self, rows: Mapping[Address, str | None]) -> None:
        self._forget(*rows)
        for address, text in rows.items():
            self._waiting[address] = text
            self._size += len(text or "")
        dropped = 0
        while self._size > self._limit:
            self._forget(next(iter(self._waiting)))
            dropped += 1
        for meter in self.meters if dropped else ():
            meter.store_dropped(self.store.kind, dropped)

    def _forget(self, *addresses: Address) -> None:
        for address in addresses:
            if address in self._waiting:
                self._size -= len(self._waiting.pop(address) or "")


def unreachable() -> ProviderError:
    """The error of a store that nobody can look into now."""
    return ProviderError(DOWN, status=503, kind=ErrorKind.OVERLOADED, code="state_unavailable", retry_after=1.0)
