"""Counters, gauges and histograms of one process: numbers that are added to, and what Prometheus is shown of them.

prometheus-client's own take some ten calls to count one more, and each request counts a dozen things; here one does.
What they show is made with that library, which is loaded when somebody looks.  Knows numbers and labels; nothing of
what is counted.
Contract: what is shown is what the library's own metrics show of the same; threads may count together.
"""

from __future__ import annotations

import importlib
import os
import time
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any, Generic, TypeAlias, TypeVar

NO_CREATED = "PROMETHEUS_DISABLE_CREATED_SERIES"
"""The library's own variable: nobody wants to know when series were made."""
YES = frozenset({"true", "1", "t"})
INFINITE = float("inf")

Sample: TypeAlias = tuple[str, dict[str, str], float]
"""What is added to the name of the metric, labels besides its own, the value."""
_LOCK = Lock()


class Number:
    """One number, which goes up and down."""

    __slots__ = ("created", "value")

    def __init__(self) -> None:
        self.value, self.created = 0.0, time.time()

    def inc(self, amount: float = 1) -> None:
        """So many more."""
        with _LOCK:
            self.value += amount

    def dec(self, amount: float = 1) -> None:
        """So many fewer."""
        with _LOCK:
            self.value -= amount

    def set(self, value: float) -> None:
        """It is this now."""
        with _LOCK:
            self.value = float(value)


class Spread:
    """How values spread: how many were at most each of `bounds`, and their sum."""

    __slots__ = ("bounds", "counts", "created", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds, self.counts = bounds, [0] * len(bounds)
        self.total, self.created = 0.0, time.time()

    def observe(self, value: float) -> None:
        """One more value."""
        at = bisect_left(self.bounds, value)
        with _LOCK:
            self.total += value
            self.counts[at] += 1


def add(numbers: Sequence[tuple[Number, float]], values: Sequence[tuple[Spread, float]]) -> None:
    """So many more of each number, and one more of each value: together, for one request counts a dozen things."""
    with _LOCK:
        for number, amount in numbers:
            number.value += amount
        for spread, value in values:
            spread.total += value
            spread.counts[bisect_left(spread.bounds, value)] += 1


S = TypeVar("S", Number, Spread)


class _Family(Generic[S]):
    """All series of one name."""

    kind = ""

    def __init__(self, name: str, text: str, labels: Sequence[str]) -> None:
        self._name, self._text, self._labels = name, text, tuple(labels)
        self._series: dict[tuple[str, ...], S] = {}
        if not labels:
            self.labels()

    def labels(self, *values: object) -> S:
        """The series of these labels."""
        key = tuple(map(str, values))
        with _LOCK:
            found = self._series.get(key)
            if found is None:
                found = self._series[key] = self._new()
        return found

    def _new(self) -> S:
        raise NotImplementedError

    def _shown(self, series: S) -> Iterator[Sample]:
        raise NotImplementedError

    def collect(self) -> Iterator[Any]:
        """What Prometheus is shown, as the library's registries ask for it."""
        metric = importlib.import_module("prometheus_client.core").Metric(self._name, self._text, self.kind)
        with _LOCK:
            rows = [(values, list(self._shown(series))) for values, series in self._series.items()]
        for values, samples in rows:
            own = dict(zip(self._labels, values, strict=True))
            for suffix, more, value in samples:
                metric.add_sample(metric.name + suffix, {**own, **more}, value)
        yield metric


class Counter(_Family[Number]):
    """Counts what happened."""

    kind = "counter"

    def _new(self) -> Number:
        return Number()

    def inc(self, amount: float = 1) -> None:
        """So many more, where it has no labels."""
        self.labels().inc(amount)

    def _shown(self, series: Number) -> Iterator[Sample]:
        yield "_total", {}, series.value
        yield from _created(series)


class Gauge(_Family[Number]):
    """Says how many there are."""

    kind = "gauge"

    def _new(self) -> Number:
        return Number()

    def _shown(self, series: Number) -> Iterator[Sample]:
        yield "", {}, series.value


class Histogram(_Family[Spread]):
    """Says how values spread."""

    kind = "histogram"

    def __init__(self, name: str, text: str, labels: Sequence[str], buckets: Sequence[float]) -> None:
        self._bounds = (*map(float, buckets), INFINITE)
        super().__init__(name, text, labels)

    def _new(self) -> Spread:
        return Spread(self._bounds)

    def _shown(self, series: Spread) -> Iterator[Sample]:
        spelt = importlib.import_module("prometheus_client.utils").floatToGoString
        count = 0
        for bound, more in zip(series.bounds, series.counts, strict=True):
            count += more
            yield "_bucket", {"le": spelt(bound)}, float(count)
        yield "_count", {}, float(count)
        yield "_sum", {}, series.total
        yield from _created(series)


def _created(series: Number | Spread) -> Iterator[Sample]:
    if os.environ.get(NO_CREATED, "").lower() not in YES:
        yield "_created", {}, series.created


KINDS: Mapping[str, Any] = {"Counter": Counter, "Gauge": Gauge, "Histogram": Histogram}
