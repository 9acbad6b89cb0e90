"""The end of a run's time, and how much of it is left.

Knows seconds; asks for the time by an effect.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..effects import Machine, Now


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
