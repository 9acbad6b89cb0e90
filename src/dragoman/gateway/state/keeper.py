"""What performs a machine's questions about what is kept: one store that several processes share, however it is made.

Knows effects and stores; nothing of what texts mean.  Contract: nobody is told that something is not kept while that
cannot be looked up: that is an error which may be asked again (503).  What cannot be written yet waits here, the newest
up to `WAITING` bytes, is found here meanwhile, and is written as soon as it may be; what finds no room is counted.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from ...effects import Address, Effect, PerformAsync, Recall, Retain, Revise
from ...errors import ErrorKind, ProviderError

WAITING = 16 * 1024 * 1024
"""Characters that wait to be written."""
DOWN = "what is kept here cannot be read at this moment; send the request again"
KEPT = frozenset({Recall, Retain, Revise})
"""The effects that are performed here."""
Change = Callable[[str | None], str | None]
Mark = Any
"""How far the notes of a store were read: its own affair."""


class Unreachable(Exception):
    """A store cannot be asked now."""


class Store(Protocol):
    """A store that processes share.  Every method raises Unreachable where it cannot be asked now."""

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


class Meter:
    """Counts what becomes of a store's questions: this one, nothing."""

    def asked(self, seconds: float, *, up: bool) -> None:
        """A question took so long, and was answered or not."""

    def dropped(self, rows: int) -> None:
        """So many texts are not kept."""


class Keeper:
    """Performs with `store`; `meter` is told what becomes of it."""

    meter: Meter

    def __init__(self, store: Store, waiting: int = WAITING) -> None:
        self.store, self.meter = store, Meter()
        self._limit, self._size = waiting, 0
        self._waiting: dict[Address, str | None] = {}

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
        raise TypeError(f"a keeper does not perform {type(effect).__name__}")

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
            return reply
        except Unreachable:
            raise
        except Exception:
            up = True
            raise
        finally:
            self.meter.asked(time.perf_counter() - began, up=up)

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
        return {**found, **own} if own else found

    async def _retain(self, rows: Mapping[Address, str]) -> bool:
        try:
            if self._waiting:
                await self._flush()
            await self.ask(self.store.write(rows))
        except Unreachable:
            self._wait(rows)
            return False
        return True

    async def _revise(self, address: Address, change: Change) -> None:
        try:
            if self._waiting:
                await self._flush()
            await self.ask(self.store.change(address, change))
        except Unreachable as error:
            if address not in self._waiting:
                raise unreachable() from error
            self._wait({address: change(self._waiting[address])})

    async def _flush(self) -> None:
        rows = {address: text for address, text in self._waiting.items() if text is not None}
        gone = [address for address, text in self._waiting.items() if text is None]
        if rows:
            await self.ask(self.store.write(rows))
        for address in gone:
            await self.ask(self.store.change(address, lambda _: None))
        for address, text in (*rows.items(), *((address, None) for address in gone)):
            if self._waiting.get(address, 0) == text:  # else it was changed meanwhile
                self._forget(address)

    def _wait(self, rows: Mapping[Address, str | None]) -> None:
        for address, text in rows.items():
            self._forget(address)
            self._waiting[address] = text
            self._size += len(text or "")
        dropped = 0
        while self._size > self._limit:
            self._forget(next(iter(self._waiting)))
            dropped += 1
        if dropped:
            self.meter.dropped(dropped)

    def _forget(self, address: Address) -> None:
        if address in self._waiting:
            self._size -= len(self._waiting.pop(address) or "")


def unreachable() -> ProviderError:
    """The error of a store that nobody can look into now."""
    return ProviderError(DOWN, status=503, kind=ErrorKind.OVERLOADED, code="state_unavailable", retry_after=1.0)
