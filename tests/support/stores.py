"""A store in memory that may be away, or slow, or never answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from dragoman.effects import Address
from dragoman.gateway.state.keeper import Change, Unreachable


class MemoryStore:
    """Texts; `away`: it cannot be asked; `hangs`: it never answers; `log` is what it was asked."""

    kind = "memory"

    def __init__(self) -> None:
        self.rows: dict[Address, str] = {}
        self.board: dict[Address, str] = {}
        self.away = self.hangs = False
        self.log: list[tuple[str, Any]] = []

    async def _ask(self, what: str, given: Any = None) -> None:
        self.log.append((what, given))
        if self.hangs:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        if self.away:
            raise Unreachable

    async def read(self, addresses: Sequence[Address]) -> Mapping[Address, str]:
        """The texts there."""
        await self._ask("read", list(addresses))
        return {each: self.rows[each] for each in addresses if each in self.rows}

    async def write(self, rows: Mapping[Address, str]) -> None:
        """Keep these."""
        await self._ask("write", dict(rows))
        self.rows.update(rows)

    async def change(self, address: Address, change: Change) -> None:
        """Change one."""
        await self._ask("change", address)
        made = change(self.rows.pop(address, None))
        if made is not None:
            self.rows[address] = made

    async def note(self, rows: Mapping[Address, str]) -> None:
        """Put these on the board."""
        await self._ask("note", dict(rows))
        self.board.update(rows)

    async def notes(self, known: Any) -> tuple[Any, Mapping[Address, str] | None]:
        """What is on the board."""
        await self._ask("notes")
        return len(self.board), dict(self.board)

    async def tidy(self) -> None:
        """Nothing is too old."""

    async def aclose(self) -> None:
        """Nothing is open."""
