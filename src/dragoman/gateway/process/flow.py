"""What a server's connection asks of a transport that is full: uvicorn's `FlowControl`, small.

Knows transports; nothing of connections or requests.
Contract: it takes the place of what uvicorn made where that has no public name beside these; any other is kept.
"""

from __future__ import annotations

import asyncio
from typing import Any

from .line import Signal

_FITS: dict[type, bool] = {}


class Flow:
    """Whether a transport reads, and whether it takes what is written."""

    __slots__ = ("_room", "_transport", "read_paused", "write_paused")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._room = Signal(is_set=True)
        self.read_paused = self.write_paused = False

    async def drain(self) -> None:
        """Wait until it takes more."""
        await self._room.wait()

    def pause_reading(self) -> None:
        """Read no more."""
        if not self.read_paused:
            self.read_paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read on."""
        if self.read_paused:
            self.read_paused = False
            self._transport.resume_reading()

    def pause_writing(self) -> None:
        """It is full."""
        self.write_paused = True
        self._room.clear()

    def resume_writing(self) -> None:
        """It takes more."""
        self.write_paused = False
        self._room.set()


def small(made: Any, transport: asyncio.Transport) -> Any:
    """In place of what was `made` for this transport: a `Flow`, where that does all that it can be asked."""
    fits = _FITS.get(type(made))
    if fits is None:
        fits = _FITS[type(made)] = all(hasattr(Flow, name) for name in dir(made) if not name.startswith("_"))
    return Flow(transport) if fits else made
