"""What one process counts is shown as prometheus-client shows its own metrics."""

from __future__ import annotations

import re
import threading
from typing import Any

import prometheus_client
import pytest
from prometheus_client.exposition import choose_encoder

from dragoman.gateway.telemetry.metrics import BUCKETS, COUNTED, SECONDS
from dragoman.gateway.telemetry.tallies import KINDS, NO_CREATED

VALUES = (0.0, 0.0002, 0.005, 0.0051, 0.3, 1, 5, 599.9, 600, 601.5, 1e9)
OPENMETRICS = "application/openmetrics-text; version=1.0.0"


def used(kinds: Any, **more: Any) -> list[Any]:
    """Every metric of ours, each counted in the same way; of the last label set only that it is there."""
    made = []
    for name, (kind, text, labels) in COUNTED.items():
        options = {"buckets": BUCKETS.get(name, SECONDS)} if kind == "Histogram" else {}
        metric = kinds(kind)(f"dragoman_{name}", text, labels, **options, **more)
        made.append(metric)
        if not labels:
            metric.inc(3)
            continue
        for number, word in enumerate(("a", "b\n\"\\ü")):
            series = metric.labels(*(word,) * len(labels))
            for value in VALUES:
                (series.observe if kind == "Histogram" else series.inc)(value)
            if kind == "Gauge":
                series.dec(2)
                series.set(number)
        metric.labels(*("c",) * len(labels))
    return made


def shown(registry: Any, accept: str) -> str:
    encode, _ = choose_encoder(accept)
    return re.sub(r"(_created(?:\{.*\})?) \S+", r"\1 T", encode(registry).decode())


@pytest.mark.parametrize("accept", ["", OPENMETRICS])
def test_it_is_shown_as_the_library_shows_its_own(accept: str) -> None:
    theirs, ours = prometheus_client.CollectorRegistry(), prometheus_client.CollectorRegistry()
    used(lambda kind: getattr(prometheus_client, kind), registry=theirs)
    for metric in used(lambda kind: KINDS[kind]):
        ours.register(metric)
    assert shown(ours, accept) == shown(theirs, accept)


def test_the_librarys_wish_for_no_times_of_creation_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = prometheus_client.CollectorRegistry()
    for metric in used(lambda kind: KINDS[kind]):
        registry.register(metric)
    assert "_created" in shown(registry, "")
    monkeypatch.setenv(NO_CREATED, "True")
    assert "_created" not in shown(registry, "")


def test_threads_count_together() -> None:
    counter = KINDS["Counter"]("n", "Counts.", ("of",))

    def count() -> None:
        for _ in range(20_000):
            counter.labels("x").inc()

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.labels("x").value == 80_000
