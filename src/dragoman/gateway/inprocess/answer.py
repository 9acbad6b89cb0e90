"""An answer on its way from the gateway's loop to whoever reads it, in whatever thread or loop that is.

Knows pieces of bytes and signals; nothing of ASGI or of any client.
Contract: one writes, in the gateway's loop, and one reads; a piece can be read as soon as it is written; a writer who
is `ROOM` bytes ahead waits until they were taken; once the reader has left, what is written goes nowhere and the writer
is told by `gone`; the reader waits for nobody but the writer, and leaves without waiting at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...effects import Machine
from .signals import Signal, Wait

ROOM = 64 * 1024
"""Bytes that may lie between writer and reader: as much as a server leaves in its buffer before it waits."""


class Late(Exception):
    """Nothing came in the time the reader gave."""


class Broken(Exception):
    """The answer ended before its end; the message says why."""


@dataclass(frozen=True, slots=True)
class AnswerHead:
    """Status and headers."""

    status: int
    headers: Sequence[tuple[bytes, bytes]]


class Answer:
    """One answer; `signal` wakes its reader, `loop` is where it is written."""

    def __init__(self, signal: Signal, loop: asyncio.AbstractEventLoop) -> None:
        self.gone: asyncio.Event = asyncio.Event()
        self._signal, self._loop = signal, loop
        self._lock = threading.Lock()
        self._drained = asyncio.Event()
        self._head: AnswerHead | None = None
        self._pieces: list[bytes] = []
        self._size = 0
        self._begun = self._ended = self._left = False
        self._awaited: Callable[[], bool] | None = None
        self._why = ""

    # ── written in the gateway's loop ────────────────────────────────────────

    def begin(self) -> None:
        """The gateway is open, and serves this."""
        self._begun = True
        self._wake()

    def start(self, head: AnswerHead) -> None:
        """The head; the reader is woken behind the first piece, which mostly follows at once."""
        self._head = head
        self._loop.call_soon(self._wake)

    async def write(self, data: bytes, *, last: bool) -> None:
        """One more piece."""
        with self._lock:
            self._ended = self._ended or last
            if data and not self._left:
                self._pieces.append(data)
                self._size += len(data)
                self._drained.clear()
        self._wake()
        while self._size > ROOM and not (last or self._left):
            await self._drained.wait()

    def end(self, why: str = "") -> None:
        """No more comes; `why` says why that is too soon, where it is."""
        if not self._ended:
            self._ended, self._why = True, why
        self.gone.set()
        self._wake()

    @property
    def is_ended(self) -> bool:
        """Was all of it written?"""
        return self._ended

    def _wake(self) -> None:
        """Wake the reader if what it waits for is there: each time it is woken the threads change places."""
        with self._lock:
            come = self._awaited is not None and self._awaited()
            if come:
                self._awaited = None
        if come:
            self._signal.set()

    # ── read in any thread or task ───────────────────────────────────────────

    def opened(self, seconds: float | None) -> Machine[None]:
        """Wait until the gateway serves this.  Raises Late."""
        yield from self._until(lambda: self._begun or self._ended, seconds)

    def head(self, seconds: float | None) -> Machine[AnswerHead]:
        """Wait for the head.  Raises Late, or Broken."""
        yield from self._until(lambda: self._head is not None or self._ended, seconds)
        if self._head is None:
            raise Broken(self._why)
        return self._head

    def piece(self, seconds: float | None) -> Machine[bytes]:
        """Wait for what comes next: all that there is by then, b"" at the end.  Raises Late, or Broken."""
        yield from self._until(lambda: bool(self._pieces) or self._ended, seconds)
        found = self._taken()
        if not found and self._why:
            raise Broken(self._why)
        return found

    def leave(self) -> None:
        """Nobody reads any more.  From any thread, and from finalizers: it takes no lock and blocks nobody."""
        self._left = True
        if not self._ended:
            self._tell(self._go)

    def orphan(self, why: str) -> None:
        """Nobody writes any more, and the loop is none: this process was forked from the one that had it."""
        self._lock = threading.Lock()
        self._ended, self._why = True, why

    def _until(self, ready: Callable[[], bool], seconds: float | None) -> Machine[None]:
        while True:
            with self._lock:
                if ready():
                    return
                self._awaited = ready
            if not (yield Wait(seconds)) and not ready():
                raise Late

    def _taken(self) -> bytes:
        with self._lock:
            pieces, self._pieces = self._pieces, []
            full, self._size = self._size > ROOM, 0
        if full:
            self._tell(self._drained.set)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _go(self) -> None:
        self.gone.set()
        self._drained.set()

    def _tell(self, what: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # its loop has closed: nobody writes any more
            self._loop.call_soon_threadsafe(what)
