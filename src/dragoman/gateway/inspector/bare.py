"""An exchange as it is stored without what was said: who was asked, how it went, and what was judged of the answers.

Knows records, verdicts and the row of the store; nothing of wires or databases.  `restored.py` reads what is written.
Contract: no word of a client, a model or a provider is in it: names of models, routes and of the client's own tools,
numbers, times, verdicts, rules and kinds are all.  What stands in a column, or is as it
mostly is, is not written again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ...memo import names_of
from ...types import Report, Response, ToolCall, ToolResult
from ..recordings.writer import Made
from ..telemetry.exchange_record import ExchangeRecord, UpstreamAttempt
from .canonical import plain_json
from .columns import clean, clean_name, stored_row
from .line import CALLS, marks_of
from .recording import session_key
from .redaction import shown_url

FORM = 3
"""Of the documents: a reader leaves alone what is of a later one."""
CLOSED = frozenset({
    "mark", "strong", "place", "asked", "confirmed", "native", "repeats", "word", "tools", "box", "thought", "edits",
    "habit",
})  # fmt: skip
"""Evidence whose values are words of ours, or kinds."""
CHAT = "chat"
NAMED = "x-request-id"
"""The header by which a client names its request; in a name that we gave it there is nobody's secret."""


def made_bare(exchange: ExchangeRecord, began: float, spelt: tuple[str, ...], namespace: str = "") -> Made:
    """The row; `spelt` are the secrets, in every spelling."""
    request_id, marks, line = exchange.request_id, marks_of(exchange), "{}"
    if CALLS in marks and (called := _called(exchange)):
        line = plain_json({"calls": called}).decode()
    return Made(
        stored_row(
            exchange,
            spelt,
            began=began,
            request_id=clean(request_id, spelt) if NAMED in exchange.headers else request_id,
            marks=marks,
            line=line,
            document=plain_json({"form": FORM, "exchange": _exchange(exchange, spelt)}).decode(),
            namespace=namespace,
            session=session_key(exchange),
        )
    )


def _called(exchange: ExchangeRecord) -> list[str]:
    """The client's own tools that were called."""
    tools = _offered(exchange)
    return [call.name for call in exchange.response.calls if call.name in tools] if exchange.response else []


def _offered(exchange: ExchangeRecord) -> frozenset[str]:
    """The names of the tools that the first place was asked with."""
    return names_of(exchange.attempts[0].request.tools) if exchange.attempts else frozenset()


def _exchange(exchange: ExchangeRecord, spelt: tuple[str, ...]) -> dict[str, Any]:
    """The attempts, the number of the one whose answer the client got, or that answer, and what tools run here did."""
    answer = exchange.response
    brief: Any = None
    attempts: list[dict[str, Any]] = []
    for number, attempt in enumerate(exchange.attempts):
        attempts.append(attempt_fields(attempt, clean_name(attempt.place.model, spelt)))
        if attempt.response is not None:
            attempts[-1]["brief"] = _brief(attempt.response, exchange)
            brief = number if attempt.response is answer or attempt.response == answer else brief
    if brief is None and answer is not None:
        brief = _brief(answer, exchange)
    begun, first, ended = exchange.begun, exchange.first, exchange.ended
    written: dict[str, Any] = {"begun": begun, "first": first, "ended": ended, "attempts": attempts}
    if brief is not None:
        written["brief"] = brief
    if exchange.server_tools:
        written["ran"] = [_ran(each, _offered(exchange)) for each in exchange.server_tools]
    return written


def _ran(results: Sequence[tuple[ToolCall, ToolResult]], tools: Collection[str]) -> list[list[Any]]:
    return [[_name(call.name, tools), result.is_error] for call, result in results]


def attempt_fields(attempt: UpstreamAttempt, model: str) -> dict[str, Any]:
    """An asking without its words; `model` is the place's, without secrets."""
    place, failed = attempt.place, attempt.failure
    fields = {
        "place": [place.provider, model, shown_address(place.address)],
        "number": attempt.number,
        "begun": attempt.begun,
        "ended": attempt.ended,
    }
    if failed is not None:
        fields["failure"] = {"kind": str(failed.kind), "status": failed.status, "message": ""}
    if attempt.reask:
        fields["reask"] = attempt.reask
    if attempt.besides:
        fields["besides"] = attempt.besides
    if attempt.operation != CHAT:
        fields["operation"] = attempt.operation
    return fields


@lru_cache(maxsize=256)
def shown_address(url: str) -> str:
    """An address of the configuration as it may be shown."""
    return shown_url(url, ()) if url else ""


def _brief(response: Response, exchange: ExchangeRecord) -> dict[str, Any]:
    """An answer without what it says: its calls with their verdicts, its issues by their kinds."""
    used, calls = response.usage, response.calls
    brief: dict[str, Any] = {}
    if response.stop is not None:
        brief["stop"] = response.stop.value
    if used is not None:
        brief["usage"] = [used.input, used.output, used.cached, used.cache_written, used.reasoning]
    if calls or response.doubtful or response.issues:
        tools = _offered(exchange)
        brief["calls"] = [_brief_call(call, tools) for call in calls]
        brief["doubtful"] = [_brief_call(call, tools) for call in response.doubtful]
        brief["issues"] = [[issue.kind.value, _name(issue.name, tools)] for issue in response.issues]
    return brief


def _brief_call(call: ToolCall, tools: Collection[str]) -> dict[str, Any]:
    report = call.report
    return {"name": _name(call.name, tools), "report": _brief_report(report) if report is not None else None}


def _name(name: str, tools: Collection[str]) -> str:
    """A tool's name, where its client gave it: a model's own invention is what it said."""
    return name if name in tools else ""


def _brief_report(report: Report) -> dict[str, Any]:
    known = {name: value for name, value in report.evidence.items() if name in CLOSED}
    refusal = report.evidence.get("refusal")
    if isinstance(refusal, Mapping):
        known["refusal"] = {"kind": str(refusal.get("kind", "")), "message": ""}
    return {
        "dialect": report.dialect,
        "span": report.span,
        "tier": report.tier.value,
        "verdict": report.verdict.value,
        "rule": report.rule,
        "edits": [edit.kind for edit in report.edits],
        "evidence": known,
    }
