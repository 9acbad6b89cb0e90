"""Which routes failed lately, and until when they are left in peace.

Knows routes by who serves what to whom; nothing of requests.  Contract: health is held per place: provider *and* model
(and address and account), never per provider alone; a success wipes the slate; failures that began before the last one
was noted count once, so many turns failing together do not add up.  Holds no secrets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import ErrorKind, ProviderError
from ..providers.route import Route
from ..records import NamedTuple
from .failure_policy import Rules


class Place(NamedTuple):
    """A provider's model, as it is asked: `account` tells keys apart without giving them away."""

    provider: str
    model: str
    address: str = ""
    account: str = ""

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


def place(route: Route, model: str = "") -> Place:
    """The place that `route` leads to; `model` is what is asked for where the route names none."""
    secrets = "\0".join(route.hidden)
    account = hashlib.sha256(secrets.encode("utf-8", "surrogatepass")).hexdigest()[:8] if secrets else ""
    return Place(route.provider.name, route.model or model, route.base_url, account)


@dataclass(frozen=True, slots=True)
class Condition:
    """The state of a place: failures in a row, when the last was noted, until when it rests (seconds since 1970)."""

    failures: int
    noted: float
    until: float
    kind: ErrorKind

    def rests(self, now: float) -> float:
        """Seconds it still rests, 0 for none, and for one of a time that has not come: the clock was set back since."""
        return 0.0 if self.is_ahead(now) else max(0.0, self.until - now)

    def is_ahead(self, now: float) -> bool:
        """Was it noted so much later than `now` that clocks of machines which differ do not explain it?"""
        return self.noted - now > APART


APART = 60.0
"""Seconds by which clocks of machines that share what they know may differ."""


class Health:
    """The conditions of places; shared by turns and threads (each change is one assignment)."""

    __slots__ = ("__weakref__", "_conditions")

    def __init__(self) -> None:
        self._conditions: dict[Place, Condition] = {}

    def __iter__(self) -> Iterator[tuple[Place, Condition]]:
        """Every place that failed and has not answered since."""
        return iter(list(self._conditions.items()))

    def rests(self, where: Place, now: float) -> float:
        """Seconds `where` still rests, 0 where it may be asked."""
        known = self._conditions.get(where)
        return known.rests(now) if known is not None else 0.0

    def until(self, where: Place) -> float:
        """When its rest ends, or ended (seconds since 1970); 0 for one that did not fail since it answered."""
        known = self._conditions.get(where)
        return known.until if known is not None else 0.0

    def failed(self, where: Place, error: ProviderError, rules: Rules, *, began: float, now: float) -> None:
        """An exchange that began at `began` failed."""
        known = self._conditions.get(where)
        if known is not None and known.is_ahead(now):
            known = None
        together = known is not None and began < known.noted
        failures = (known.failures if known else 0) + (not together)
        rest = rules.cools(error, failures)
        if rest:
            until = max(now + rest, known.until if known else 0.0)
            self._conditions[where] = Condition(failures, now, until, error.kind)

    def answered(self, where: Place) -> None:
        """An exchange went well."""
        self._conditions.pop(where, None)

    def reset(self, provider: str = "", model: str = "") -> None:
        """Forget the failures of this provider and model; "" is any."""
        for where in list(self._conditions):
            if provider in ("", where.provider) and model in ("", where.model):
                self._conditions.pop(where, None)
