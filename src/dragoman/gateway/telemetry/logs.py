"""Log lines of the gateway: one per exchange, and whatever else is logged, as JSON or as text.

Knows exchange records and the standard library's logging; nothing of ASGI.
Contract: no line holds what a client or a model said, and none a secret: known keys and whatever looks like one are
blotted out; each record is one line.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TextIO

from ...redaction import redact
from ..config.model import GatewayConfig
from ..config.words import Form
from .exchange_record import ExchangeRecord, Observer, UpstreamAttempt, reports

ROOT = "dragoman"
OTHERS = ("uvicorn", "uvicorn.error", "asyncio")
"""Whose warnings are written the same way."""
ACCESS = "dragoman.access"
GATEWAY = "dragoman.gateway"
OURS = (ACCESS, GATEWAY, "dragoman.gateway.mcp", "dragoman.mcp")
"""Every logger that speaks while a gateway serves."""
MOST = 200
"""Characters of anything a client or a provider chose."""

log: logging.Logger = logging.getLogger(ACCESS)


class Logs(Observer):
    """Writes a line for each exchange: a failure of ours or of all providers as an error, the rest as information."""

    adds_headers = False

    def __init__(self) -> None:
        self.secrets: frozenset[str] = frozenset()

    def take(self, config: GatewayConfig) -> None:
        """What must not be written is what is secret in `config`."""
        self.secrets = hidden(config)

    def exchange_ended(self, record: ExchangeRecord) -> None:
        """Write the line."""
        level = logging.ERROR if record.status >= 500 else logging.INFO
        if log.isEnabledFor(level):
            fields = line(record)
            extra = {"fields": fields}  # a record of our own: looking for the line that logs takes longer than the rest
            log.handle(log.makeRecord(ACCESS, level, "", 0, "%s", (_Words(fields),), None, extra=extra))


def line(record: ExchangeRecord) -> dict[str, Any]:
    """The fields of an exchange's line; what there is not is left out, times are in seconds."""
    fields: dict[str, Any] = {
        "request_id": record.request_id,
        "front": record.front,
        "model": record.model[:MOST],
        "route": record.route[:MOST],
        "status": record.status,
        "outcome": record.outcome,
        "stream": record.stream,
        "key": record.key,
        "seconds": round(record.seconds, 4),
        "first_byte": round(record.first - record.begun, 4) if record.first is not None else None,
        "attempts": len(record.attempts),
        "reasks": record.reasks,
        "tool_checks": sum(bool(attempt.besides) for attempt in record.attempts) or None,
        "server_tools": _counted(call.name[:MOST] for results in record.server_tools for call, _ in results),
        "failures": [_failure(attempt) for attempt in record.attempts if attempt.failure is not None],
        **_answer(record),
    }
    return {name: value for name, value in fields.items() if value not in ("", None, [], {})}


def _answer(record: ExchangeRecord) -> dict[str, Any]:
    response = record.response
    if response is None:
        return {}
    known = reports(response)
    return {
        "stop": str(response.stop or ""),
        "tokens": {"input": response.usage.input, "output": response.usage.output} if response.usage else {},
        "calls": len(response.calls) or None,
        "dialects": sorted({report.dialect for report in known} - {""}),
        "verdicts": _counted(report.verdict for report in known),
        "edits": _counted(edit.kind for report in known for edit in report.edits),
        "issues": _counted(issue.kind for issue in response.issues),
    }


def _counted(kinds: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for kind in kinds:
        counts[str(kind)] = counts.get(str(kind), 0) + 1
    return counts


def _failure(attempt: UpstreamAttempt) -> dict[str, Any]:
    failure = attempt.failure
    if failure is None:
        return {}
    fields = {"route": str(attempt.place)[:MOST], "kind": str(failure.kind), "status": failure.status}
    return fields | ({"code": failure.code[:MOST]} if failure.code else {})


@dataclass(frozen=True, slots=True)
class _Words:
    """The same for people: `name=value`, what is nested as JSON; put together when somebody asks."""

    fields: Mapping[str, Any]

    def __str__(self) -> str:
        return " ".join(f"{name}={_plain(value)}" for name, value in self.fields.items())


def _plain(value: Any) -> str:
    if isinstance(value, str) and value.isprintable() and " " not in value:
        return value
    return json.dumps(value)


# ── lines ────────────────────────────────────────────────────────────────────


class Lines(logging.Formatter):
    """One line per record, without secrets: those `hidden` tells, and whatever looks like one."""

    def __init__(self, form: Form, hidden: Callable[[], Iterable[str]] = tuple) -> None:
        super().__init__()
        self._form, self._hidden = form, hidden

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        level = record.levelname.lower()
        if self._form is Form.TEXT:
            shown = f"{at} {level} {record.name} {record.getMessage()}" + (f" | {trace}" if trace else "")
            return "".join(map(_visible, redact(shown, self._hidden())))
        fields = {"time": at, "level": level, "logger": record.name}
        fields |= getattr(record, "fields", None) or {"message": record.getMessage()}
        return redact(json.dumps(fields | ({"trace": trace} if trace else {})), self._hidden())


def _visible(character: str) -> str:
    """What would end a line, or move a terminal's cursor, is spelt out."""
    return character if character.isprintable() else json.dumps(character)[1:-1]


def told(form: Form, message: str) -> str:
    """The line of what is said before anything is logged, whatever the level."""
    record = logging.LogRecord(GATEWAY, logging.INFO, "", 0, "%s", (message,), None)
    return Lines(form).format(record)


class Blotted(logging.Filter):
    """Blots out secrets in what a logger is given: where the lines are written by handlers that are not ours."""

    def __init__(self) -> None:
        super().__init__()
        self.secrets: frozenset[str] = frozenset()

    def filter(self, record: logging.LogRecord) -> bool:
        """Every record passes, without secrets."""
        record.msg, record.args = redact(record.getMessage(), self.secrets), ()
        if record.exc_info:  # formatters take a text that is there already
            record.exc_text = redact(_TRACES.formatException(record.exc_info), self.secrets)
        return True


_TRACES = logging.Formatter()


def hidden(config: GatewayConfig) -> frozenset[str]:
    """All secrets of a configuration."""
    return frozenset(secret for route in config.all_routes() for secret in route.hidden)


def configure(
    form: Form, level: str = "info", hidden: Callable[[], Iterable[str]] = tuple, stream: TextIO | None = None
) -> logging.Handler:
    """Write what this package and its server log to `stream` (stderr), instead of what was configured before."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(Lines(form, hidden))
    for name in (ROOT, *OTHERS):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(level.upper() if name == ROOT else logging.WARNING)
    return handler
