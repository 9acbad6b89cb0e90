"""What the gateway does, counted, in the form that Prometheus reads.

Knows exchange records; nothing of requests or ASGI.  One process counts by itself (`tallies.py`), several together
by prometheus-client, in files; both are shown by it.
Contract: no label takes a value that a client may choose freely: a model counts under its own name once it is
configured or has answered, up to `MOST_NAMES` of them, and under "other" before and beyond that.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from ...fallback import Health, Place
from ...records import NamedTuple
from ...types import IssueKind, Response, ToolCall
from ..config.model import GatewayConfig
from .exchange_record import ExchangeRecord, Observer, UpstreamAttempt
from .tallies import KINDS, add

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"
"""The directory where several processes count together; prometheus-client's own variable."""
MOST_NAMES = 200
OTHER = "other"
SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
"""Upper bounds of the buckets: from a refusal at the door to a model that thinks for ten minutes."""

BUCKETS = {"store_seconds": (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1)}
COOLDOWN = "route_cooldown_until_timestamp_seconds"
SHAPE = ("front", "model", "stream")
COUNTED: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "requests": ("Counter", "Requests by outcome.", (*SHAPE, "route", "status")),
    "request_duration_seconds": ("Histogram", "Seconds from the head of a request to the end of its answer.", SHAPE),
    "time_to_first_byte_seconds": ("Histogram", "Seconds until the first bytes of an answer.", SHAPE),
    "in_flight_requests": ("Gauge", "Requests in flight.", ("front",)),
    "background_responses": ("Gauge", "Responses in the background.", ("status",)),
    "tokens": ("Counter", "Tokens as providers count them, re-asks included.", ("model", "route", "type")),
    "tool_calls": ("Counter", "Tool calls in answers.", ("dialect", "tier", "verdict")),
    "server_tool_calls": ("Counter", "Calls of MCP tools executed by the gateway.", ("tool", "outcome")),
    "edits": ("Counter", "Edits of mended calls by kind.", ("kind",)),
    "issues": ("Counter", "Issues in answers by kind.", ("kind",)),
    "questions": ("Counter", "Calls in doubt, by what the model said when asked.", ("model", "route", "said")),
    "reasks": ("Counter", "Re-asks for what was wrong with an answer.", ("model", "route")),
    "tool_checks": (
        "Counter",
        "Upstream requests of our own, asking whether a model reads its tools.",
        ("model", "route", "kind"),
    ),
    "upstream_requests": ("Counter", "Upstream requests by outcome.", ("route", "outcome")),
    "upstream_in_flight_requests": ("Gauge", "Upstream requests in flight.", ("route",)),
    "upstream_duration_seconds": ("Histogram", "Seconds of one upstream request.", ("route",)),
    "recordings": ("Counter", "Exchanges recorded.", ()),
    "recordings_dropped": ("Counter", "Exchanges that could not be recorded.", ("reason",)),
    "store_up": ("Gauge", "Whether the store of shared state answered when it was asked last.", ("store",)),
    "store_seconds": ("Histogram", "Seconds of one question to the store of shared state.", ("store",)),
    "store_dropped": ("Counter", "Texts that could not be kept in the store of shared state.", ("store",)),
    COOLDOWN: ("Gauge", "Unix time at which a route's cooldown ends; 0 without one.", ("route",)),
}
"""Every metric, after `dragoman_`: its kind, what it says, its labels."""

TOGETHER = {
    "in_flight_requests": "livesum", "background_responses": "livesum", "upstream_in_flight_requests": "livesum",
    "store_up": "livemin", COOLDOWN: "livemax",
}  # fmt: skip
"""How the gauges of several processes make one."""
UNREPORTED = ("native", "native", "accepted")
"""Dialect, tier and verdict of a native call that nobody had to judge."""
SAID = frozenset({IssueKind.CONFIRMED, IssueKind.DENIED})
UNASKED = "not_asked"
USED = ("input", "output", "cached", "cache_written", "reasoning")


class _Asked(NamedTuple):
    """The series of a place that is asked, under the name it has."""

    route: str
    flying: Any
    seconds: Any


class _Served(NamedTuple):
    """The series of requests that are alike."""

    requests: Any
    seconds: Any
    first: Any


class Metrics(Observer):
    """Counts what exchange records say; one per process.

    `health` says which routes rest.  Raises ImportError where prometheus-client is not installed.
    """

    adds_headers = False

    def __init__(self) -> None:
        self._library: Any = None
        if MULTIPROCESS in os.environ:
            self._library = importlib.import_module("prometheus_client")
            self._registry = self._library.CollectorRegistry()
        elif importlib.util.find_spec("prometheus_client") is None:
            raise ModuleNotFoundError("No module named 'prometheus_client'", name="prometheus_client")
        self._add: Callable[[Sequence[tuple[Any, float]], Sequence[tuple[Any, float]]], None]
        self._add = add if self._library is None else _add_each
        self._made = {name: self._make(name, *row) for name, row in COUNTED.items()}
        self._series: dict[tuple[str, tuple[str, ...]], Any] = {}  # as many as there are
        self._served: dict[tuple[str, str, bool, str, int], _Served] = {}  # those of a request, together
        self._asked: dict[tuple[str, str], _Asked] = {}
        self._names: set[str] = set()
        self._resting: set[str] = set()
        self._flying: dict[UpstreamAttempt, Any] = {}
        self.health: Health | None = None

    def _make(self, name: str, kind: str, text: str, labels: tuple[str, ...]) -> Any:
        more: dict[str, Any] = {"buckets": BUCKETS.get(name, SECONDS)} if kind == "Histogram" else {}
        if self._library is None:
            return KINDS[kind](f"dragoman_{name}", text, labels, **more)
        if name in TOGETHER:
            more["multiprocess_mode"] = TOGETHER[name]
        return getattr(self._library, kind)(f"dragoman_{name}", text, labels, registry=self._registry, **more)

    def _of(self, name: str, *labels: str) -> Any:
        """The series of these labels; looking one up takes longer than counting does."""
        found = self._series.get((name, labels))
        if found is None:
            found = self._series[name, labels] = self._made[name].labels(*labels)
        return found

    def take(self, config: GatewayConfig) -> None:
        """The models of `config` count under their own names."""
        routes = (route.model for route in config.all_routes())
        self._names.update(name for name in (*config.models, *routes) if name)
        self._asked.clear()

    # ── what happens ─────────────────────────────────────────────────────────

    def in_background(self, status: str, more: int) -> None:
        """So many more responses in the background are in this state."""
        self._of("background_responses", status).inc(more)

    def recorded(self, count: int) -> None:
        """So many exchanges were written into the store of recordings."""
        self._made["recordings"].inc(count)

    def not_recorded(self, reason: str, count: int) -> None:
        """So many could not be."""
        self._made["recordings_dropped"].labels(reason).inc(count)

    def store_asked(self, store: str, seconds: float, *, up: bool) -> None:
        """A store of this kind was asked, and answered or not."""
        self._made["store_up"].labels(store).set(int(up))
        self._made["store_seconds"].labels(store).observe(seconds)

    def store_dropped(self, store: str, rows: int) -> None:
        """So many texts could not be kept."""
        self._made["store_dropped"].labels(store).inc(rows)

    def exchange_began(self, record: ExchangeRecord) -> None:
        """One more is being served."""
        self._of("in_flight_requests", record.front).inc()

    def attempt_began(self, record: ExchangeRecord, attempt: UpstreamAttempt) -> None:
        """A place is asked; all but that is counted when it has ended."""
        flying = self._flying[attempt] = self._place(attempt.place).flying
        flying.inc()

    def attempt_ended(self, record: ExchangeRecord, attempt: UpstreamAttempt) -> None:
        """A provider answered, or failed."""
        flying = self._flying.pop(attempt, None)
        if attempt.response is not None:
            self._learn(attempt.request.model, attempt.place.model)
        route, _, seconds = self._place(attempt.place)
        kind = "ok" if attempt.response is not None else str(attempt.failure.kind) if attempt.failure else "canceled"
        counted = [(self._of("upstream_requests", route, kind), 1.0)]
        if flying is not None:
            counted.append((flying, -1.0))  # under the name that it began with: it may have earned its own since
        if attempt.besides:
            counted.append((self._of("tool_checks", self._model(record.model), route, attempt.besides), 1.0))
        elif attempt.number == 1 and attempt.reask:
            counted.append((self._of("reasks", self._model(record.model), route), 1.0))
        self._add(counted, ((seconds, attempt.ended - attempt.begun),))
        self._rest(attempt.place, route)

    def exchange_ended(self, record: ExchangeRecord) -> None:
        """A request is over."""
        of, front, attempts = self._of, record.front, record.attempts
        model = record.model if record.model in self._names else OTHER
        route = self._place(attempts[-1].place).route if attempts else ""
        key = front, model, record.stream, route, record.status
        served = self._served.get(key) or self._serve(*key)
        counted = [(of("in_flight_requests", front), -1.0), (served.requests, 1.0)]
        values = [(served.seconds, record.ended - record.begun)]
        if record.first is not None:
            values.append((served.first or self._first(key), record.first - record.begun))
        for results in record.server_tools:
            for call, result in results:
                counted.append((of("server_tool_calls", call.name, "error" if result.is_error else "ok"), 1.0))
        if record.response is not None:
            counted += self._answer(record.response, model, route)
        self._add(counted, values)

    def _first(self, key: tuple[str, str, bool, str, int]) -> Any:
        front, model, stream, _, _ = key
        first = self._of("time_to_first_byte_seconds", front, model, str(stream).lower())
        self._served[key] = self._served[key]._replace(first=first)
        return first

    def _serve(self, front: str, model: str, stream: bool, route: str, status: int) -> _Served:
        of, streams = self._of, str(stream).lower()
        found = self._served[front, model, stream, route, status] = _Served(
            of("requests", front, model, streams, route, str(status)),
            of("request_duration_seconds", front, model, streams),
            None,  # there is none before a first byte came
        )
        return found

    def _answer(self, response: Response, model: str, route: str) -> list[tuple[Any, float]]:
        """What an answer counts."""
        of, usage = self._of, response.usage
        counted: list[tuple[Any, float]] = []
        if usage is not None:
            used = usage.input, usage.output, usage.cached, usage.cache_written, usage.reasoning
            counted += [(of("tokens", model, route, what), n) for what, n in zip(USED, used, strict=True) if n]
        if response.calls:
            counted += chain.from_iterable(map(self._call, response.calls))
        for issue in response.issues:
            counted.append((of("issues", str(issue.kind)), 1.0))
            if issue.kind in SAID:
                counted.append((of("questions", model, route, str(issue.kind)), 1.0))
        counted += [(of("questions", model, route, UNASKED), 1.0) for _ in response.doubtful]
        return counted

    def _call(self, call: ToolCall) -> list[tuple[Any, float]]:
        report = call.report
        judged = (report.dialect or "native", report.tier, report.verdict) if report else UNREPORTED
        edits = report.edits if report else ()
        return [(self._of("tool_calls", *map(str, judged)), 1.0), *((self._of("edits", e.kind), 1.0) for e in edits)]

    def _rest(self, where: Place, route: str) -> None:
        """Set until when a place rests; one that never did has no series."""
        until = self.health.until(where) if self.health is not None else 0.0
        if until or route in self._resting:
            self._resting.add(route)
            self._of(COOLDOWN, route).set(until)

    # ── names ────────────────────────────────────────────────────────────────

    def _learn(self, *names: str) -> None:
        for name in names:
            if name and name not in self._names and len(self._names) < MOST_NAMES:
                self._names.add(name)
                self._asked.clear()

    def _model(self, name: str) -> str:
        return name if name in self._names else OTHER

    def _place(self, where: Place) -> _Asked:
        key = where.provider, where.model
        found = self._asked.get(key)
        if found is None:
            route = f"{where.provider}/{self._model(where.model)}"
            if len(self._asked) >= MOST_NAMES:
                self._asked.clear()
            flying = self._of("upstream_in_flight_requests", route)
            found = self._asked[key] = _Asked(route, flying, self._of("upstream_duration_seconds", route))
        return found

    # ── what is read ─────────────────────────────────────────────────────────

    def exposed(self, accept: str = "") -> tuple[str, bytes]:
        """The content type and the text, in the form that `accept` asks for; of all processes where they share."""
        registry = importlib.import_module("prometheus_client").CollectorRegistry()
        if self._library is not None:
            self._forget_the_dead(Path(os.environ[MULTIPROCESS]))
            importlib.import_module("prometheus_client.multiprocess").MultiProcessCollector(registry)
        else:
            for family in self._made.values():
                registry.register(family)
        encode, kind = importlib.import_module("prometheus_client.exposition").choose_encoder(accept)
        return kind, encode(registry)

    @staticmethod
    def _forget_the_dead(place: Path) -> None:
        """What a process that was killed was busy with, nobody is busy with any more."""
        mark = importlib.import_module("prometheus_client.multiprocess").mark_process_dead
        for pid in {path.stem.rpartition("_")[2] for path in place.glob("gauge_live*.db")}:
            if pid.isdigit() and not _lives(int(pid)):
                mark(int(pid), str(place))

    def leave(self) -> None:
        """This process ends: what it counted stays, what it was busy with does not."""
        if self._library is not None:
            importlib.import_module("prometheus_client.multiprocess").mark_process_dead(os.getpid())


def _add_each(numbers: Sequence[tuple[Any, float]], values: Sequence[tuple[Any, float]]) -> None:
    """As `tallies.add`, to the library's own."""
    for number, amount in numbers:
        number.inc(amount)
    for spread, value in values:
        spread.observe(value)


def _lives(pid: int) -> bool:
    if sys.platform == "win32":  # there a signal 0 is Ctrl-C
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
