"""A stored exchange as a recording again, so that everything that shows, reads and exports recordings does so with it.

Knows the documents that `document.py` writes; nothing of databases or pages.
Contract: what a document does not hold is empty, never invented; a document that cannot be read is a UsageError that
says so, and no other row suffers.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from ...dialects.rows.record import from_record
from ...dialects.rows.table import DIALECTS
from ...dialects.spec import Dialect
from ...errors import DragomanError, ErrorKind, ProviderError, UsageError
from ...fallback import Place
from ...loop.journal.values import decode
from ...providers.route import Route
from ...providers.rows import COMPATIBLE, PROVIDERS
from ...providers.spec import Provider, Tools
from ...types import (
    NOTHING,
    Edit,
    Issue,
    IssueKind,
    Message,
    Report,
    Request,
    Response,
    Stop,
    Tier,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    Verdict,
)
from ..recordings.table import Recorded, StoredRow
from ..telemetry.exchange_record import ExchangeRecord, UpstreamAttempt
from .bare import CHAT, FORM
from .document import REST, ROUTE
from .frames import unfolded
from .recording import Body, Hop, Recording

UNREADABLE = "exchange {number} cannot be read ({error}); it was stored by another version of Dragoman"


def restored(stored: Recorded) -> Recording:
    """The recording.  Raises UsageError for a document that is none."""
    try:
        return _recording(stored, document_of(stored))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(UNREADABLE.format(number=stored.number, error=error)) from error


def document_of(stored: Recorded) -> dict[str, Any]:
    """The document, whole: what stands apart in its place, and what was written once in each.  Raises ValueError."""
    written: dict[str, Any] = json.loads(stored.row.document)
    if written["form"] > FORM:
        raise ValueError(f"form {written['form']}")
    bodies = [written.get("request"), written.get("response")]
    bodies += [body for hop in written.get("hops", ()) for body in (hop["sent"], hop["got"])]
    for body in filter(None, bodies):
        if "text" in body:
            body["text"] = _joined(body, stored.apart)
    exchange = written.get("exchange") or {}
    attempts = exchange.get("attempts") or ()
    for attempt in attempts:
        request = attempt.get("request")
        if isinstance(request, int):
            attempt["request"] = attempts[request]["request"]
        elif request is not None and isinstance(request["messages"], dict):
            request["messages"] = json.loads(f"[{_joined(request['messages'], stored.apart)}]")
            request["tools"] = json.loads(f"[{stored.apart.get(request.get('tools', ''), '')}]")
    if isinstance(exchange.get("response"), int):
        exchange["response"] = attempts[exchange["response"]]["response"]
    if isinstance(exchange.get("brief"), int):
        exchange["brief"] = attempts[exchange["brief"]]["brief"]
    return written


def _joined(written: Mapping[str, Any], apart: Mapping[str, str]) -> str:
    """A text, of its pieces."""
    before = [apart.get(digest, "") for digest in written.get("before", ())]
    text = "".join([*before, written["text"], apart.get(written.get("behind", ""), "")])
    return unfolded(text, written.get("frames", ()))


def response_in(document: Mapping[str, Any]) -> Response | None:
    """The answer the client got."""
    return _response(document.get("exchange") or {})


def request_in(document: Mapping[str, Any]) -> Request | None:
    """The client's request as its first asking was made of it; None where content was not recorded."""
    attempts = (document.get("exchange") or {}).get("attempts") or ()
    return request_of(attempts[0]["request"]) if attempts and attempts[0].get("request") else None


def request_of(written: Mapping[str, Any]) -> Request:
    """A canonical request."""
    messages: list[Message] = [canonical(each) for each in written["messages"]]
    tools: list[Tool] = [canonical(each) for each in written["tools"]]
    rest = canonical(written.get("rest")) or {}
    rest = dict(zip(REST, rest, strict=True)) if isinstance(rest, tuple) else rest  # of form 1
    return Request(model=written["model"], messages=tuple(messages), tools=tuple(tools), **rest)


def canonical(written: Any) -> Any:
    """A value in the form of `loop.journal.values`."""
    return decode(json.dumps(written)) if written is not None else None


def _recording(stored: Recorded, written: Mapping[str, Any]) -> Recording:
    row = stored.row
    recording = Recording(
        number=stored.number,
        began=row.began,
        clock=lambda: 0.0,
        most=row.size,
        secrets=frozenset(),
        changed=lambda recording, size: None,
        method=written.get("method", ""),
        path=written.get("path", ""),
        variables=written.get("variables") or NOTHING,
        again=row.again,
    )
    recording.query, recording.headers = written.get("query", ""), written.get("headers") or NOTHING
    recording.status, recording.response_headers = row.status, written.get("response_headers") or NOTHING
    recording.exchange = exchange = _exchange(written.get("exchange"), row)
    recording.request = _body(written.get("request"))
    recording.response = _body(written.get("response"))
    attempts = exchange.attempts if exchange is not None else []
    recording.hops = [_hop(each, attempts) for each in written.get("hops", ())]
    recording.version = 1
    recording.sealed, recording.session, recording.size = True, row.session, row.size
    recording.content = bool(row.content)
    return recording


def _body(written: Mapping[str, Any] | None) -> Body:
    if written is None:
        return Body(0)
    data = base64.b64decode(written["base64"]) if "base64" in written else written["text"].encode()
    pieces = written["pieces"]
    times = [*chain(*pieces)] if pieces and isinstance(pieces[0], list) else pieces  # of forms 1 and 2: pairs
    return Body.kept(data, times, written["size"], cut=written.get("cut", False))


def _exchange(written: Mapping[str, Any] | None, row: StoredRow) -> ExchangeRecord | None:
    if written is None:
        return None
    columns = {name: getattr(row, name) for name in ("request_id", "front", "model", "status", "outcome")}
    head = {**columns, "key": row.owner, "stream": bool(row.stream), **written}  # of forms 1 and 2: written once more
    plain = ("request_id", "front", "key", "model", "stream", "status", "begun", "first", "ended")
    record = ExchangeRecord(
        **{name: head[name] for name in plain},
        attempts=[_attempt(each) for each in written["attempts"]],
        server_tools=_ran(written),
        response=_response(written),
    )
    record.error = _error(head["outcome"], written.get("error", ""), record.status)
    return record


def _error(outcome: str, message: str, status: int) -> Exception | None:
    """What an exchange failed of, as far as its outcome and its words say."""
    if outcome in {"ok", "client_closed"}:
        return None
    if outcome in {"bad_request", "internal"}:
        return DragomanError(message) if outcome == "bad_request" else RuntimeError(message)
    return ProviderError(message, status=status, kind=_kind(outcome))


def _kind(word: str) -> ErrorKind:
    return ErrorKind(word) if word in {str(kind) for kind in ErrorKind} else ErrorKind.UNKNOWN


def _attempt(written: Mapping[str, Any]) -> UpstreamAttempt:
    place, failed = Place(*written["place"]), written.get("failure")
    request = written.get("request")
    made = UpstreamAttempt(place, request_of(request) if request else Request(model=place.model))
    for name, usual in USUAL.items():
        setattr(made, name, written.get(name, usual))
    made.response = _response(written)
    if failed is not None:
        made.failure = ProviderError(failed["message"], status=failed["status"], kind=_kind(failed["kind"]))
    return made


USUAL: Mapping[str, Any] = {"number": 1, "reask": 0, "besides": "", "operation": CHAT, "begun": 0.0, "ended": 0.0}
"""What an attempt mostly is."""


def _response(written: Mapping[str, Any]) -> Response | None:
    """An answer, whole or without what it says."""
    brief = written.get("brief")
    if brief is None:
        found = canonical(written.get("response"))
        return found if isinstance(found, Response) else None
    stop, usage = brief.get("stop"), brief.get("usage")
    return Response(
        message=Message("assistant", [_call(each) for each in brief.get("calls", ())]),
        stop=Stop(stop) if stop is not None else None,
        usage=Usage(**dict(zip(USED, usage, strict=True))) if usage is not None else None,
        issues=tuple(Issue(kind=IssueKind(kind), message="", name=name) for kind, name in brief.get("issues", ())),
        doubtful=tuple(_call(each) for each in brief.get("doubtful", ())),
    )


USED = ("input", "output", "cached", "cache_written", "reasoning")
"""The fields of `Usage`, as a document without content has them."""


def _call(written: Mapping[str, Any]) -> ToolCall:
    report = written["report"]
    return ToolCall(id="", name=written["name"], report=_report(report) if report is not None else None)


def _report(written: Mapping[str, Any]) -> Report:
    return Report(
        dialect=written["dialect"],
        span=tuple(written["span"]) if written["span"] is not None else None,
        tier=Tier(written["tier"]),
        edits=tuple(Edit(kind) for kind in written["edits"]),
        verdict=Verdict(written["verdict"]),
        rule=written["rule"],
        evidence=written["evidence"],
    )


def _ran(written: Mapping[str, Any]) -> list[tuple[tuple[ToolCall, ToolResult], ...]]:
    """What server tools did."""
    if "ran" not in written:
        return list(canonical(written.get("server_tools")) or ())
    return [
        tuple((ToolCall(id="", name=name), ToolResult(call_id="", name=name, is_error=failed)) for name, failed in each)
        for each in written["ran"]
    ]


def _hop(written: Mapping[str, Any], attempts: Sequence[UpstreamAttempt]) -> Hop:
    at = written["attempt"]
    plain = ("ran", "nonce", "method", "url", "begun", "status", "opened", "ended", "error", "headers", "got_headers")
    return Hop(
        **{name: written[name] for name in plain},
        attempt=attempts[at] if at is not None and at < len(attempts) else None,
        route=_route(written["route"]) if written["route"] is not None else None,
        sent=_body(written["sent"]),
        got=_body(written["got"]),
    )


def _route(written: Mapping[str, Any]) -> Route:
    rows = [_dialect(each) for each in written["dialects"]]
    fields: dict[str, Any] = {
        **{name: written[name] for name in ROUTE},
        "provider": _provider(written["provider"], written["codec"]),
        "base_url": written["base_url"],
        "tools": Tools(written["tools"]) if written["tools"] is not None else None,
        "dialects": rows[0] if len(rows) == 1 else rows,
        "prompt_dialect": _dialect(written["prompt_dialect"]),
    }
    try:
        return Route(**fields)
    except UsageError:  # of a time when a nonce that could not hold was taken, and held nothing
        return Route(**{**fields, "nonce": False})


def _provider(name: str, codec: str) -> Provider:
    """The row of this name, or for one of somebody's own the plain row of its API."""
    if name in PROVIDERS and PROVIDERS[name].codec == codec:
        return PROVIDERS[name]
    plain = COMPATIBLE.get(codec) or next(row for row in map(PROVIDERS.__getitem__, PROVIDERS) if row.codec == codec)
    return replace(plain, name=name)


def _dialect(written: Any) -> str | Dialect:
    if not isinstance(written, str):
        return from_record(written)
    return DIALECTS.get(written, written)
