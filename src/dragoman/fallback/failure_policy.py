"""The treatment of failures: one row per kind, and how long to wait before the next attempt.

Knows `ErrorKind` and numbers; nothing of routes, clocks or chance.  Contract: the table is total; the class of a
failure comes from its status and machine fields, never from what its prose happens to hold (seeds.md (c) ChatCLI 14).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ..errors import ErrorKind, ProviderError, UsageError


class Cooling(StrEnum):
    """The rest that a failure gives the route it happened on."""

    NONE = "none"  # the request was at fault, or the caller: the route is as good as before
    STEP = "step"  # a while, doubled with each failure in a row
    TOP = "top"  # as long as it gets: nothing will change by itself


@dataclass(frozen=True, slots=True)
class Treatment:
    """One kind of failure: how often the same route may be asked again, whether another may, how it cools."""

    retries: int
    elsewhere: bool
    cooling: Cooling


_FUTILE = Treatment(0, elsewhere=True, cooling=Cooling.NONE)
_PASSING = Treatment(2, elsewhere=True, cooling=Cooling.STEP)

TREATMENTS: Mapping[ErrorKind, Treatment] = {
    ErrorKind.AUTH: Treatment(0, elsewhere=True, cooling=Cooling.TOP),
    ErrorKind.QUOTA: Treatment(0, elsewhere=True, cooling=Cooling.TOP),
    ErrorKind.NOT_FOUND: Treatment(0, elsewhere=True, cooling=Cooling.STEP),
    ErrorKind.BAD_REQUEST: _FUTILE,  # another API may take what this one does not
    ErrorKind.NO_TOOLS: _FUTILE,
    ErrorKind.CONTEXT: _FUTILE,  # only a route that takes more is asked
    ErrorKind.RATE_LIMIT: _PASSING,
    ErrorKind.OVERLOADED: _PASSING,
    ErrorKind.SERVER: _PASSING,
    ErrorKind.NETWORK: _PASSING,
    ErrorKind.TIMEOUT: Treatment(1, elsewhere=True, cooling=Cooling.STEP),  # each costs the whole patience
    ErrorKind.GARBLED: Treatment(1, elsewhere=True, cooling=Cooling.STEP),
    ErrorKind.UNKNOWN: Treatment(0, elsewhere=True, cooling=Cooling.STEP),
    ErrorKind.CANCELED: Treatment(0, elsewhere=False, cooling=Cooling.NONE),
    ErrorKind.FULL: Treatment(0, elsewhere=False, cooling=Cooling.NONE),  # it is we who have no room, whoever answers
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Retries and waits of a chain; times in seconds.

    retries     how often one route is asked again at most, whatever the failure
    first       the first wait where the provider names none; it doubles
    longest     no single wait is longer where no other route is left; a provider that asks for more is not waited for
    brief       the same while other routes are left: going elsewhere is quicker
    cooldown    how long a route rests after its first failure; it doubles up to `max_cooldown`
    text_tools  whether routes without native tools may serve turns with tools, as text
    complete    whether an answer that broke off is a failure, also where a call in it is whole; a client's always is
    chance      gives numbers from [0, 1): spreads the waits of many callers, so that they do not come back together;
                None: whoever performs the chain brings one, and without it nothing is spread
    """

    retries: int = 2
    first: float = 0.5
    longest: float = 30.0
    brief: float = 5.0
    cooldown: float = 30.0
    max_cooldown: float = 300.0
    text_tools: bool = True
    complete: bool = False
    chance: Callable[[], float] | None = None

    def __post_init__(self) -> None:
        for name in ("retries", "first", "longest", "brief", "cooldown", "max_cooldown"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MOST:
                raise UsageError(f"rules: {name} is {value!r}; give a number of 0 or more")

    def wait(self, error: ProviderError, attempt: int, *, alone: bool) -> float | None:
        """Seconds until this route is asked again after its `attempt`-th try (from 1) failed; None: it is not.

        What the provider asks for is kept to, never undercut; chance only adds to it.
        """
        if attempt > min(self.retries, TREATMENTS[error.kind].retries):
            return None
        limit, chance = self.longest if alone else self.brief, self.chance() if self.chance is not None else 0.5
        if error.retry_after is not None:
            spread = min(1.0, 0.1 * error.retry_after)
            return error.retry_after + spread * chance if error.retry_after <= limit else None
        return min(limit, self.first * 2.0 ** (attempt - 1)) * (0.5 + 0.5 * chance)

    def cools(self, error: ProviderError, failures: int) -> float:
        """Seconds to rest after the `failures`-th failure in a row, 0 for none."""
        match TREATMENTS[error.kind].cooling:
            case Cooling.NONE:
                return 0.0
            case Cooling.TOP:
                rest = self.max_cooldown
            case Cooling.STEP:
                rest = min(self.max_cooldown, self.cooldown * 2.0 ** min(failures - 1, 32))
        return max(rest, min(error.retry_after or 0.0, LONGEST_REST))


MOST = 1e9
LONGEST_REST = 3600.0
"""A provider may ask for days (a spent monthly quota); it is asked again after an hour all the same."""
