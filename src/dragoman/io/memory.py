"""Effects performed from a script: the in-memory peer of tests, examples and replays.

It ships with the package so that users can test what they build the way we test ours.
Contract: deterministic: ids count up, the clock stands still but for `Sleep`, nothing waits.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..effects import Close, Effect, NewId, Now, Open, Opened, Read, Sleep
from ..errors import ProviderError
from ..types import NOTHING


@dataclass(frozen=True, slots=True)
class Answer:
    """One scripted answer: a status, headers, and the pieces of the body as they arrive.

    An exception among the pieces is raised when its turn comes; one as `status` refuses the connection.
    """

    pieces: tuple[bytes | Exception, ...] = ()
    status: int | Exception = 200
    headers: Mapping[str, str] = NOTHING


class Memory:
    """A peer that answers from a script; `sent` is what it was asked, `closed` how often it was let go.

    `script` is a sequence of answers, one per `Open`, or a function of the request.  `world()` is an asynchronous
    performer, as of a pool of connections; `world_now()` a synchronous one; any number may be used side by side.
    """

    def __init__(self, script: Iterable[Answer] | Callable[[Open], Answer]) -> None:
        self.sent: list[Open] = []
        self.slept: list[float] = []
        self.closed = 0
        self._minted = 0
        if callable(script):
            self._answer = script
        else:
            answers = iter(script)
            self._answer = lambda _: next(answers)

    def world_now(self) -> World:
        """Performs the effects of one machine."""
        return World(self)

    def world(self) -> Callable[[Effect], Awaitable[Any]]:
        """Performs the effects of one machine, awaited."""
        now = World(self)

        async def perform(effect: Effect) -> Any:
            return now(effect)

        return perform

    async def aclose(self) -> None:
        """Nothing to close: here so that it can stand where a pool of connections stands."""

    def answer(self, effect: Open) -> Answer:
        """The next answer of the script; what was asked is kept."""
        self.sent.append(effect)
        try:
            return self._answer(effect)
        except StopIteration:
            raise ProviderError("the script has no further answer; give it one for each request") from None

    def mint(self, prefix: str) -> str:
        """`prefix` and 24 digits: a number, then zeros."""
        self._minted += 1
        return f"{prefix}{self._minted:08}{'0' * 16}"


class World:
    """Performs the effects of one machine from the script of its `Memory`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._pieces: Iterator[bytes | Exception] | None = None

    def __call__(self, effect: Effect) -> Any:
        """The reply to `effect`."""
        match effect:
            case Read():
                return self._read()
            case Open():
                return self._open(effect)
            case Close():
                self._memory.closed += self._pieces is not None
                self._pieces = None
            case NewId(prefix):
                return self._memory.mint(prefix)
            case Now():
                return float(sum(self._memory.slept))
            case Sleep(seconds):
                self._memory.slept.append(seconds)
            case _:
                raise TypeError(f"a scripted world does not perform {type(effect).__name__}")
        return None

    def _open(self, effect: Open) -> Opened:
        answer = self._memory.answer(effect)
        if isinstance(answer.status, Exception):
            raise answer.status
        self._pieces = iter(answer.pieces)
        return Opened(answer.status, dict(answer.headers))

    def _read(self) -> bytes:
        piece = next(self._pieces, b"") if self._pieces is not None else b""
        if isinstance(piece, Exception):
            raise piece
        return piece
