"""What the gateway writes down: one line per exchange, and whatever else is logged, as JSON or as text.

Knows accounts and the standard library's logging; nothing of ASGI.
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
from enum import StrEnum
from typing import Any, TextIO

from ...redaction import redact
from ..config.model import GatewayConfig
from .exchange_record import Account, Asking

ROOT = "dragoman"
OTHERS = ("uvicorn", "uvicorn.error", "asyncio")
"""Whose warnings are written the same way."""
ACCESS = "dragoman.access"
LEVELS = ("debug", "info", "warning", "error")
MOST = 200
"""Characters of anything a client or a provider chose."""

log = logging.getLogger(ACCESS)


class Form(StrEnum):
    """How lines are written."""

    JSON = "json"
    TEXT = "text"


class Logs:
    """Writes a line for each exchange: a failure of ours or of all providers as an error, the rest as information."""

    def __init__(self) -> None:
        self.secrets: frozenset[str] = frozenset()

    def take(self, config: GatewayConfig) -> None:
        """What must not be written is what is secret in `config`."""
        self.secrets = hidden(config)

    def began(self, account: Account) -> None:
        """Told when it has ended."""

    def asked(self, account: Account, asking: Asking) -> None:
        """Told when it has ended."""

    def answered(self, account: Account, asking: Asking) -> None:
        """Told when it has ended."""

    def ended(self, account: Account) -> None:
        """Write the line."""
        level = logging.ERROR if account.status >= 500 else logging.INFO
        if log.isEnabledFor(level):
            told = line(account)
            extra = {"told": told}  # a record of our own: looking for the line that logs takes longer than the rest
            log.handle(log.makeRecord(ACCESS, level, "", 0, "%s", (_Words(told),), None, extra=extra))


def line(account: Account) -> dict[str, Any]:
    """What is written of an exchange; what there is not is left out, times are in seconds."""
    told: dict[str, Any] = {
        "request_id": account.request_id,
        "front": account.front,
        "model": account.model[:MOST],
        "route": account.route[:MOST],
        "status": account.status,
        "outcome": account.outcome,
        "stream": account.stream,
        "key": account.key,
        "seconds": round(account.seconds, 4),
        "first_byte": round(account.first - account.begun, 4) if account.first is not None else None,
        "attempts": len(account.askings),
        "reasks": account.reasks,
        "server_tools": _counted(call.name[:MOST] for results in account.house for call, _ in results),
        "failures": [_failure(asking) for asking in account.askings if asking.failure is not None],
        **_answer(account),
    }
    return {name: value for name, value in told.items() if value not in ("", None, [], {})}


def _answer(account: Account) -> dict[str, Any]:
    response = account.response
    if response is None:
        return {}
    reports = [call.report for call in response.calls if call.report is not None]
    return {
        "stop": str(response.stop or ""),
        "tokens": {"input": response.usage.input, "output": response.usage.output} if response.usage else {},
        "calls": len(response.calls) or None,
        "dialects": sorted({report.dialect for report in reports if report.dialect}),
        "verdicts": _counted(report.verdict for report in reports),
        "edits": _counted(edit.kind for report in reports for edit in report.edits),
        "issues": _counted(issue.kind for issue in response.issues),
    }


def _counted(kinds: Iterable[str]) -> dict[str, int]:
    told: dict[str, int] = {}
    for kind in kinds:
        told[str(kind)] = told.get(str(kind), 0) + 1
    return told


def _failure(asking: Asking) -> dict[str, Any]:
    failure = asking.failure
    if failure is None:
        return {}
    told = {"route": str(asking.place)[:MOST], "kind": str(failure.kind), "status": failure.status}
    return told | ({"code": failure.code[:MOST]} if failure.code else {})


@dataclass(frozen=True, slots=True)
class _Words:
    """The same for people: `name=value`, what is nested as JSON; put together when somebody asks."""

    told: Mapping[str, Any]

    def __str__(self) -> str:
        return " ".join(f"{name}={_plain(value)}" for name, value in self.told.items())


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
        told = {"time": at, "level": level, "logger": record.name}
        told |= getattr(record, "told", None) or {"message": record.getMessage()}
        return redact(json.dumps(told | ({"trace": trace} if trace else {})), self._hidden())


def _visible(character: str) -> str:
    """What would end a line, or move a terminal's cursor, is spelt out."""
    return character if character.isprintable() else json.dumps(character)[1:-1]


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
