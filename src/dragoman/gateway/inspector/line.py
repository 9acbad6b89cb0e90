"""A recorded exchange as one line of a list, and the marks it is filtered by; a session as one line.

Knows recordings and records; nothing of pages or stores.  Contract: a line is JSON without secrets, and nothing raises
on what a client, a peer or a model sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any

from ...turn.reask import LOST
from ...types import IssueKind, Response, Verdict
from ..telemetry.exchange_record import GONE, ExchangeRecord
from .recording import Recording
from .redaction import blotted

SHORT = 160
"""Characters of a text in the list."""
QUOTES = frozenset({IssueKind.QUOTED, IssueKind.IN_REASONING, IssueKind.COPIED})
SETTLED = frozenset({IssueKind.CONFIRMED, IssueKind.DENIED})


def row(recording: Recording) -> dict[str, Any]:
    """One line of the list."""
    exchange, status = recording.exchange, recording.status
    fields: dict[str, Any] = {
        "number": recording.number,
        "version": recording.version,
        "at": recording.began,
        "live": recording.live,
        "status": status,
        "session": recording.session,
        "content": recording.content,
        "marks": [],
        **words_of(recording),
    }
    if exchange is not None:
        fields |= _of_exchange(exchange) | {"marks": marks_of(exchange, recording.again)}
    fields["seconds"] = recording.now if recording.live else fields.get("seconds", 0.0)
    clean: dict[str, Any] = blotted(fields, recording.spelt)
    return clean


def words_of(recording: Recording) -> dict[str, Any]:
    """What the line holds of what was said, and how much that was."""
    exchange = recording.exchange
    response = exchange.response if exchange is not None else None
    return {
        "path": recording.path,
        "again": recording.again,
        "size": recording.size,
        "prompt": _last_words(exchange) if exchange is not None else "",
        "answer": _short(response.text) if response is not None else "",
        "calls": [call.name for call in response.calls] if response is not None else [],
        "error": str(exchange.error) if exchange is not None and exchange.error is not None else "",
    }


def _of_exchange(exchange: ExchangeRecord) -> dict[str, Any]:
    response = exchange.response
    usage = response.usage if response is not None else None
    return {
        "request_id": exchange.request_id,
        "front": exchange.front,
        "model": exchange.model,
        "route": exchange.route,
        "key": exchange.key,
        "stream": exchange.stream,
        "status": exchange.status,
        "outcome": exchange.outcome,
        "seconds": exchange.seconds,
        "first": exchange.first - exchange.begun if exchange.first is not None else None,
        "tokens": [usage.input, usage.output] if usage is not None else None,
        "reasks": exchange.reasks,
        "attempts": len(exchange.attempts),
    }


def _last_words(exchange: ExchangeRecord) -> str:
    """The last words of the user, or of a tool."""
    if not exchange.attempts:
        return ""
    for message in reversed(exchange.attempts[0].request.messages):
        if message.results:
            return _short(", ".join(f"{result.name or 'a tool'} → {result.text[:SHORT]}" for result in message.results))
        if message.role == "user" and message.text.strip():
            return _short(message.text)
    return ""


def _short(text: str) -> str:
    plain = " ".join(text[: 4 * SHORT].split())
    return plain if len(plain) <= SHORT else f"{plain[:SHORT]}…"


CALLS = "calls"
MARKS = (
    "failed", "client_closed", "reasked", "fallback", "tools run here", CALLS,
    "mended", "refused", "quoted", "doubtful", "asked again",
)  # fmt: skip


def marks_of(exchange: ExchangeRecord, again: int = 0) -> list[str]:
    """What sets this exchange apart, in words that the page filters by; `again` is the number of what it repeats."""
    gone, error, response = exchange.status == GONE, exchange.error, exchange.response
    answers, failed = [] if response is None else [response], False
    for attempt in exchange.attempts:
        failed = failed or attempt.failure is not None
        if attempt.response is not None and attempt.response is not response:
            answers.append(attempt.response)
    hold = (
        error is not None and not gone,
        gone,
        bool(exchange.attempts) and exchange.attempts[-1].reask > 0,
        failed and error is None,
        bool(exchange.server_tools),
        *_judged(answers, response),
        again > 0,
    )
    return [*compress(MARKS, hold)]


def _judged(answers: Sequence[Response], given: Response | None) -> tuple[bool, bool, bool, bool, bool]:
    """Does the answer that was given hold calls; was anything mended, refused, quoted, doubtful?"""
    kinds: set[IssueKind] = set()
    called = mended = doubtful = False
    for answer in answers:
        doubtful = doubtful or bool(answer.doubtful)
        for issue in answer.issues:
            kinds.add(issue.kind)
        for call in answer.calls:
            called = called or answer is given
            mended = mended or (call.report is not None and call.report.verdict is Verdict.MENDED)
    doubtful = doubtful or not SETTLED.isdisjoint(kinds)
    return called, mended, not LOST.isdisjoint(kinds), not QUOTES.isdisjoint(kinds), doubtful


def session(name: str, recordings: Sequence[Recording]) -> dict[str, Any]:
    """The exchanges of one session, the newest first, as one line."""
    rows = [row(recording) for recording in recordings]
    tokens = [each["tokens"] for each in rows if each.get("tokens")]
    return {
        "session": name,
        "count": len(rows),
        "first": rows[-1]["at"],
        "last": rows[0]["at"],
        "newest": rows[0]["number"],
        "tokens": [sum(pair[0] for pair in tokens), sum(pair[1] for pair in tokens)],
        "marks": list(dict.fromkeys(mark for each in rows for mark in each["marks"])),
    }
