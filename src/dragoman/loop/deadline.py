"""The end of a run's time, and how much of it is left.

Knows seconds, and the effects that wait; asks for the time by an effect.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..effects import Effect, Invoke, Late, Machine, Now, Open, Read, Sleep, relay

T = TypeVar("T")


@dataclass(slots=True)
class Deadline:
    """The time `timeout` seconds after `begin`; none where it is None."""

    timeout: float | None = None
    _until: float | None = None

    def begin(self) -> Machine[None]:
        """The time runs from now."""
        if self.timeout is not None:
            now: float = yield Now(steady=True)
            self._until = now + self.timeout

    def left(self) -> Machine[float | None]:
        """Seconds that are left, at least 0; None where there is no limit."""
        if self._until is None:
            return None
        now: float = yield Now(steady=True)
        return max(0.0, self._until - now)

    def bound(self, steps: Machine[T]) -> Machine[T]:
        """`steps`, in which nothing is waited for when the time is over.  Raises Late."""
        return steps if self._until is None else self._bound(steps)

    def _bound(self, steps: Machine[T]) -> Machine[T]:
        left = (yield from self.left()) or 0.0
        return (yield from relay(steps, _Clock(left).perform))


class _Clock:
    """Counts down from the first effect that waits.

    By the clock of the world: the run's own may stand still while a model is asked (`journal`).
    """

    def __init__(self, left: float) -> None:
        self._left, self._until = left, 0.0

    def perform(self, effect: Effect) -> Machine[Any]:
        """`effect`, with as much patience as there is."""
        if not isinstance(effect, Open | Read | Sleep | Invoke):
            return (yield effect)
        now: float = yield Now(steady=True)
        self._until = self._until or now + self._left
        left = self._until - now
        if left <= 0:
            raise Late
        reply = yield _hurried(effect, left)
        if isinstance(effect, Sleep) and effect.seconds > left:
            raise Late
        return reply


def _hurried(effect: Open | Read | Sleep | Invoke, left: float) -> Effect:
    if isinstance(effect, Sleep):
        return Sleep(min(effect.seconds, left))
    if isinstance(effect, Read) and effect.within is not None:  # what is only welcome comes as long as there is time
        return replace(effect, within=min(effect.within, left))
    return replace(effect, patience=left)
