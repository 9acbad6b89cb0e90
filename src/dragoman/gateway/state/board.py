"""What processes have learnt and the others should know: read from memory, exchanged with the others beside requests.

Knows texts by kind and key; nothing of what they mean.  Contract: what is read here costs no request anything; what one
process notes it knows at once, the others within `LOOK` seconds; where nobody can be asked each goes on with its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from ...effects import Address
from ...memo import Recent
from .keeper import Keeper, Mark, Unreachable

T = TypeVar("T")

LOOK = 1.0
"""Seconds between two exchanges."""
MOST = 4096
"""Notes that wait to be told; the oldest go first."""


class Board:
    """What is known, and what the others are still to be told."""

    def __init__(self) -> None:
        self._known: Mapping[Address, str] = {}
        self._noted: dict[Address, str] = {}
        self._mark: Mark = None
        self.on_news: list[Callable[[], None]] = []
        """Called once others have noted something."""

    def get(self, address: Address) -> str | None:
        """The text there."""
        return self._noted[address] if address in self._noted else self._known.get(address)

    def of_kind(self, kind: str) -> dict[str, str]:
        """All texts of a kind, by key."""
        return {key: text for (each, key), text in {**self._known, **self._noted}.items() if each == kind}

    def put(self, rows: Mapping[Address, str]) -> None:
        """Note these."""
        self._noted.update(rows)
        while len(self._noted) > MOST:
            self._noted.pop(next(iter(self._noted)))

    async def exchange(self, keeper: Keeper) -> None:
        """Tell the others, and learn from them."""
        try:
            if self._noted:
                noted = dict(self._noted)
                await keeper.ask(keeper.store.note(noted))
                self._known = {**self._known, **noted}
                self._noted = {address: text for address, text in self._noted.items() if noted.get(address) != text}
            self._mark, known = await keeper.ask(keeper.store.notes(self._mark))
        except Unreachable:
            return
        if known is not None:
            self._known = known
            for told in self.on_news:
                told()


class Drawer(Generic[T]):
    """What is of one kind on a board; `write` and `read` make texts of it, and raise TypeError or ValueError else."""

    def __init__(self, board: Board, kind: str, write: Callable[[T], str], read: Callable[[str], T]) -> None:
        self._board, self._kind, self._write, self._read = board, kind, write, read
        self._made: Recent[str, tuple[str, T]] = Recent(MOST)

    def get(self, keys: Sequence[str]) -> dict[str, T]:
        """The values of those of `keys` that are known."""
        found: dict[str, T] = {}
        for key in keys:
            text = self._board.get((self._kind, key))
            if text is None:
                continue
            made = self._made.get(key)
            if made is None or made[0] != text:
                try:
                    made = text, self._read(text)
                except (TypeError, ValueError):
                    continue  # of another version: as good as not kept
                self._made.put(key, made)
            found[key] = made[1]
        return found

    def keys(self) -> list[str]:
        """The keys of all that is known."""
        return list(self._board.of_kind(self._kind))

    def put(self, rows: Mapping[str, T]) -> None:
        """Note these."""
        self._board.put({(self._kind, key): self._write(value) for key, value in rows.items()})
