"""Observers of a gateway: what settings and environment ask for, made once in every process.

Knows metrics, spans and logs; nothing of requests.  Contract: what is not asked for, or not installed, costs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from .config.environment import FLAGS
from .config.load import Server
from .config.model import GatewayConfig, Recordings
from .config.words import INSPECT, LOG_FORMAT, LOG_LEVEL, Form
from .inspector.recorder import Recorder
from .inspector.storing import StoringRecorder
from .recordings.store import open_store
from .recordings.writer import Writer
from .telemetry.exchange_record import Observer
from .telemetry.logs import Logs, configure
from .telemetry.metrics import Metrics
from .telemetry.tracing import Tracing, configured

QUIET, TALKATIVE = "warning", "info"


def observers(server: Server, config: GatewayConfig, environ: Mapping[str, str] = os.environ) -> list[Observer]:
    """Those that `server` and the environment ask for; also says how and what is logged.  The environment counts first.

    Spans are emitted where an OpenTelemetry SDK was set up before (`opentelemetry-instrument`).
    """
    logs = Logs()
    logs.take(config)
    log_as(server, environ, lambda: logs.secrets)
    return [logs, *watching(server, environ)]


def watching(server: Server, environ: Mapping[str, str] = os.environ) -> list[Observer]:
    """Those of them that log nothing."""
    found: list[Observer] = []
    if server.metrics:
        found.append(Metrics())
    if configured():
        found.append(Tracing())
    shown = FLAGS.get(environ.get(INSPECT, "").strip().lower(), server.inspect)
    if server.recordings.url:
        found.append(_storing(server.recordings, server.namespace, shown=shown))
    elif shown:
        found.append(Recorder())
    return found


def _storing(to: Recordings, namespace: str, *, shown: bool) -> Recorder:
    """What records into a store.  Raises UsageError for an address that is none."""
    writer = Writer(open_store(to.url), to.days, most=to.queue, most_bytes=to.queue_bytes)
    return StoringRecorder(
        writer,
        open_store(to.url),
        content=to.content,
        namespace=namespace,
        shown=shown,
        most_bytes=max(to.queue_bytes, 1),
    )


def log_as(
    server: Server, environ: Mapping[str, str] = os.environ, hidden: Callable[[], Iterable[str]] = tuple
) -> None:
    """Say how and what is logged; `hidden` gives what must not be."""
    form = environ.get(LOG_FORMAT, "") or server.log_format
    level = environ.get(LOG_LEVEL, "") or server.log_level or (TALKATIVE if form else QUIET)
    configure(Form(form or Form.TEXT), level, hidden)
