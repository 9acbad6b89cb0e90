"""Effects performed from a script: the in-memory peer of tests, examples and replays.

It ships with the package so that users can test what they build the way we test ours.
Contract: deterministic: ids count up, the clock stands still but for `Sleep`, nothing waits but for tools, which run
as they do elsewhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..effects import Cancelled, Close, Effect, NewId, Now, Open, Opened, Read, Sleep
from ..errors import ProviderError
from ..io import tasks, threads
from ..io.cancel import Cancel
from ..io.execution import UNCANCELLABLE, OwnCode, ToolObserver
from ..types import NOTHING


@dataclass(frozen=True, slots=True)
class Answer:
    """One scripted answer: a status, headers, and the pieces of the body as they arrive.

    An exception among the pieces is raised when its turn comes; one as `status` refuses the connection.
    """

    pieces: tuple[bytes | Exception, ...] = ()
    status: int | Exception = 200
    headers: Mapping[str, str] = NOTHING


class ScriptedPeer:
    """A peer that answers from a script; `sent` are its requests, `closed` how often it was let go.

    `script` is a sequence of answers, one per `Open`, or a function of the request.  `performer()` is an asynchronous
    performer, as of a pool of connections; `sync_performer()` a synchronous one; any number may be used side by side.
    """

    def __init__(self, script: Iterable[Answer] | Callable[[Open], Answer]) -> None:
        self.sent: list[Open] = []
        self.slept: list[float] = []
        self.closed = 0
        self._minted = 0
        self._loop = threads.LoopThread()
        if callable(script):
            self._answer = script
        else:
            answers = iter(script)
            self._answer = lambda _: next(answers)

    def sync_performer(
        self, cancel: Cancel | None = None, observer: ToolObserver | None = None
    ) -> Callable[[Effect], Any]:
        """Performs the effects of one machine."""
        scripted, tools = ScriptedPerformer(self, cancel), threads.ThreadToolRunner(self._loop, cancel, observer)

        def perform(effect: Effect) -> Any:
            if isinstance(effect, OwnCode):
                scripted.unless_cancelled(effect)
                return tools.perform(effect)
            if isinstance(effect, Close):
                tools.close()
            return scripted(effect)

        return perform

    def performer(
        self, cancel: Cancel | None = None, observer: ToolObserver | None = None
    ) -> Callable[[Effect], Awaitable[Any]]:
        """Performs the effects of one machine, awaited."""
        scripted, tools = ScriptedPerformer(self, cancel), tasks.TaskToolRunner(cancel, observer)

        async def perform(effect: Effect) -> Any:
            if isinstance(effect, OwnCode):
                scripted.unless_cancelled(effect)
                return await tools.perform(effect)
            if isinstance(effect, Close):
                tools.close()
            if isinstance(effect, Open) and effect.upload is not None:
                effect = replace(effect, body=b"".join([piece async for piece in effect.upload]), upload=None)
            return scripted(effect)

        return perform

    def close(self) -> None:
        """End the loop that coroutines of synchronous callers ran on, if there was one."""
        self._loop.close()

    async def aclose(self) -> None:
        """Nothing to close: here so that it can stand where a pool of connections stands."""

    def answer(self, effect: Open) -> Answer:
        """The next answer of the script."""
        self.sent.append(effect)
        try:
            return self._answer(effect)
        except StopIteration:
            raise ProviderError("the script has no further answer; give it one for each request") from None

    def mint(self, prefix: str) -> str:
        """`prefix` and 24 digits: a number, then zeros."""
        self._minted += 1
        return f"{prefix}{self._minted:08}{'0' * 16}"


class ScriptedPerformer:
    """Performs the effects of one machine from the script of its `ScriptedPeer`."""

    def __init__(self, peer: ScriptedPeer, cancel: Cancel | None = None) -> None:
        self._peer, self._cancel = peer, cancel
        self._pieces: Iterator[bytes | Exception] | None = None

    def unless_cancelled(self, effect: Effect) -> None:
        """Raises Cancelled where `effect` is not wanted any more."""
        if self._cancel is not None and self._cancel.cancelled and not isinstance(effect, UNCANCELLABLE):
            raise Cancelled

    def __call__(self, effect: Effect) -> Any:
        """The reply to `effect`."""
        self.unless_cancelled(effect)
        match effect:
            case Read(within):
                return self._read() if within is None else self._read_within(within)
            case Open():
                return self._open(effect)
            case Close():
                self._close()
            case NewId(prefix):
                return self._peer.mint(prefix)
            case Now():
                return float(sum(self._peer.slept))
            case Sleep(seconds):
                self._peer.slept.append(seconds)
            case _:
                raise TypeError(f"a scripted performer does not perform {type(effect).__name__}")
        return None

    def _open(self, effect: Open) -> Opened:
        answer = self._peer.answer(effect)
        if isinstance(answer.status, Exception):
            raise answer.status
        self._pieces = iter(answer.pieces)
        return Opened(answer.status, dict(answer.headers))

    def _read(self) -> bytes:
        piece = next(self._pieces, b"") if self._pieces is not None else b""
        if isinstance(piece, Exception):
            raise piece
        return piece

    def _read_within(self, seconds: float) -> bytes:
        with suppress(ProviderError):
            if seconds and (piece := self._read()):
                return piece
        self._close()
        return b""

    def _close(self) -> None:
        self._peer.closed += self._pieces is not None
        self._pieces = None
