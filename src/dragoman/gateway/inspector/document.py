"""A recorded exchange as a row of the store: its columns, its line in a list, and a document of all there is.

Knows recordings and canonical values; nothing of databases.  `restored.py` reads what is written here.
Contract: nothing that is written holds a known secret.  Without content it holds no word of a client, a model or a
provider: names of models, routes and of the client's own tools, numbers, times, verdicts, rules and kinds are all.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import socket
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from enum import Enum
from functools import lru_cache
from typing import Any

import orjson

from ...codecs.shared.spec import WireFields
from ...conversation.session_key import session_of
from ...dialects.rows.record import to_record
from ...dialects.spec import Dialect
from ...loop.journal.values import MARK, RECORDS, encode
from ...providers.route import Route
from ...redaction import redact_patterns
from ...types import Report, Request, Response, ToolCall
from ..recordings.table import DAY, StoredRow, without_nul
from ..recordings.writer import Made
from ..telemetry.exchange_record import ExchangeRecord, UpstreamAttempt
from .recording import Body, Hop, Recording
from .redaction import blot, shown_url
from .view import marks_of
from .view import row as line_of

FORM = 1
"""Of the documents: a reader leaves alone what is of a later one."""
BIG = 128 * 1024
"""Characters of a body from which on it stands apart, once a day however often it was sent."""
CLOSED = frozenset({
    "mark", "strong", "place", "asked", "confirmed", "native", "repeats", "word", "tools", "box", "thought", "edits",
    "habit",
})  # fmt: skip
"""Evidence whose values are words of ours, or kinds."""
OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS
ROUTE = ("model", "strict", "doubt", "nonce", "prefix")


def made(recording: Recording, namespace: str = "") -> Made:
    """A sealed recording as it is stored, with all that was said."""
    exchange = recording.exchange or ExchangeRecord()
    document, line = _Document(recording), line_of(recording)
    bodies = [recording.request, recording.response, *(body for hop in recording.hops for body in (hop.sent, hop.got))]
    row = StoredRow(
        **_columns(exchange, recording.spelt),
        status=exchange.status or recording.status,
        began=recording.began,
        day=int(recording.began // DAY),
        namespace=namespace,
        session=recording.session,
        marks=_barred(line["marks"]),
        content=1,
        again=recording.again,
        size=sum([body.size for body in bodies]),
        line=_text({name: value for name, value in line.items() if name not in OWN}).decode("utf-8", "replace"),
        document=_text(document.whole()).decode("utf-8", "replace"),
        bodies=" ".join(document.apart),
    )
    return Made(row, [(row.day, digest, text) for digest, text in document.apart.items()])


def made_bare(exchange: ExchangeRecord, began: float, spelt: tuple[str, ...], namespace: str = "") -> Made:
    """An exchange as it is stored without what was said; `spelt` are the secrets, in every spelling."""
    tools, attempts = _offered(exchange), exchange.attempts
    asked = attempts[0].request if attempts else None
    found = marks_of(exchange)
    row = _columns(exchange, spelt)
    row |= {
        "status": exchange.status,
        "began": began,
        "day": int(began // DAY),
        "namespace": namespace,
        "session": session_of(asked, exchange.headers, exchange.key).key if asked is not None else "",
        "marks": _barred(found),
    }
    row["line"] = _text(_line(row, exchange, tools)).decode()
    row["document"] = _text(_bare(row, exchange, tools, spelt)).decode()
    return Made(StoredRow(**row))


def _columns(exchange: ExchangeRecord, spelt: tuple[str, ...]) -> dict[str, Any]:
    """The columns that say how an exchange went."""
    used = exchange.response.usage if exchange.response is not None else None
    place = exchange.place
    return {
        "seconds": exchange.seconds,
        "first": exchange.first - exchange.begun if exchange.first is not None else -1.0,
        "process": _process(os.getpid()),
        "request_id": clean(exchange.request_id, spelt),
        "owner": exchange.key,
        "front": exchange.front,
        "model": clean_name(exchange.model, spelt),
        "route": f"{place.provider}/{clean_name(place.model, spelt)}" if place is not None else "",
        "outcome": exchange.outcome,
        "stream": int(exchange.stream),
        "reasks": exchange.reasks,
        "attempts": len(exchange.attempts),
        "input_tokens": used.input if used is not None else 0,
        "output_tokens": used.output if used is not None else 0,
    }


def _barred(marks: Sequence[str]) -> str:
    return "|" + "".join([f"{mark}|" for mark in marks])


def clean(text: str, spelt: tuple[str, ...]) -> str:
    """A short text that a client chose: without secrets, as a column can hold it."""
    if not text:
        return ""
    data = blot(redact_patterns(text[:LONGEST_NAME]).encode("utf-8", "replace"), spelt)
    return without_nul(data.decode("utf-8", "replace"))


@lru_cache(maxsize=256)
def clean_name(text: str, spelt: tuple[str, ...]) -> str:
    """The same of a model's name, which comes again and again."""
    return clean(text, spelt)


OWN = frozenset({"number", "version", "live", "content"})
"""Fields of a line that the store knows, or that say nothing of what is over."""


@lru_cache(maxsize=4)
def _process(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}"


def _offered(exchange: ExchangeRecord) -> frozenset[str]:
    """The names of the tools that the first place was asked with."""
    return frozenset([tool.name for attempt in exchange.attempts[:1] for tool in attempt.request.tools])


def _text(value: Any) -> bytes:
    """JSON."""
    try:
        return orjson.dumps(value, _default, OPTIONS)
    except TypeError:  # halves of characters, long integers
        return json.dumps(value, default=_plain_default).encode()


class _Document:
    """The document of one recording, while it is written; `apart` are the bodies that stand apart, by their hashes.

    What clients, models and providers said is blotted where it stands; names of ours are left alone, though some
    client's key may be one of them (`ollama`).
    """

    def __init__(self, recording: Recording) -> None:
        self._recording, self._spelt = recording, recording.spelt
        self.apart: dict[str, str] = {}

    def _said(self, value: Any) -> Any:
        """Plain data without secrets."""
        return orjson.Fragment(blot(_text(value), self._spelt))

    def _canonical(self, value: Any) -> Any:
        """A canonical value in the form of `loop.journal.values`, without secrets."""
        return orjson.Fragment(blot(_encoded(value), self._spelt))

    # ── with what was said ───────────────────────────────────────────────────

    def whole(self) -> dict[str, Any]:
        """All there is."""
        recording, exchange = self._recording, self._recording.exchange
        return {
            "form": FORM,
            "method": recording.method,
            "path": self._said(recording.path),
            "query": recording.query,
            "variables": self._said(dict(recording.variables)),
            "headers": dict(recording.headers),
            "response_headers": dict(recording.response_headers),
            "request": self._body(recording.request),
            "response": self._body(recording.response),
            "exchange": self._exchange(exchange) if exchange is not None else None,
            "hops": [self._hop(hop, exchange) for hop in recording.hops],
        }

    def _body(self, body: Body) -> dict[str, Any]:
        """A body: its text, or base64 where it is none; what is big stands apart, under its hash."""
        pieces = [(round(at, 4), end) for at, end in body.pieces]
        written: dict[str, Any] = {"size": body.size, "cut": body.is_cut, "pieces": pieces}
        try:
            form, text = "text", body.data.decode()
        except UnicodeDecodeError:
            form, text = "base64", base64.b64encode(body.data).decode()
        if len(text) < BIG:
            return {**written, form: text}
        digest = hashlib.sha256(body.data).hexdigest()[:32]
        self.apart[digest] = json.dumps(text) if "\0" in text else text
        return {**written, "apart": digest, "as": f"quoted {form}" if "\0" in text else form}

    def _exchange(self, exchange: ExchangeRecord) -> dict[str, Any]:
        return {
            **_head(exchange, clean(exchange.request_id, self._spelt), clean(exchange.model, self._spelt)),
            "error": self._said(str(exchange.error) if exchange.error is not None else ""),
            "response": self._canonical(exchange.response),
            "attempts": [
                {
                    **self._attempt(attempt),
                    "request": self._request(attempt.request),
                    "response": self._canonical(attempt.response),
                }
                for attempt in exchange.attempts
            ],
            "server_tools": self._canonical(tuple(exchange.server_tools)),
        }

    def _attempt(self, attempt: UpstreamAttempt) -> dict[str, Any]:
        written, failed = _attempt(attempt, clean(attempt.place.model, self._spelt)), attempt.failure
        if failed is not None:
            written["failure"]["message"] = self._said(failed.message)
        return written

    def _request(self, request: Request) -> Any:
        """A canonical request; its messages and tools are known again in the next turn, and written once."""
        written = {
            "model": request.model,
            "messages": [known(message) for message in request.messages],
            "tools": [known(tool) for tool in request.tools],
            "rest": orjson.Fragment(_encoded(tuple([getattr(request, name) for name in REST]))),
        }
        return self._said(written)

    def _hop(self, hop: Hop, exchange: ExchangeRecord | None) -> dict[str, Any]:
        attempts = exchange.attempts if exchange is not None else []
        at = next((n for n, attempt in enumerate(attempts) if attempt is hop.attempt), None)
        plain = ("ran", "nonce", "method", "url", "begun", "status", "opened", "ended")
        return {
            **{name: getattr(hop, name) for name in plain},
            "attempt": at,
            "error": self._said(hop.error),
            "route": _route(hop.route) if hop.route is not None else None,
            "headers": dict(hop.headers),
            "got_headers": dict(hop.got_headers),
            "sent": self._body(hop.sent),
            "got": self._body(hop.got),
        }


def _head(exchange: ExchangeRecord, request_id: str, model: str) -> dict[str, Any]:
    names = ("front", "key", "stream", "status", "begun", "first", "ended", "outcome")
    return {"request_id": request_id, "model": model, **{name: getattr(exchange, name) for name in names}}


def _attempt(attempt: UpstreamAttempt, model: str) -> dict[str, Any]:
    """An asking without its words; `model` is the place's, without secrets."""
    place, failed = attempt.place, attempt.failure
    plain = ("number", "reask", "besides", "operation", "begun", "ended")
    return {
        "place": [place.provider, model, _address(place.address)],
        "failure": {"kind": str(failed.kind), "status": failed.status, "message": ""} if failed is not None else None,
        **{name: getattr(attempt, name) for name in plain},
    }


@lru_cache(maxsize=256)
def _address(url: str) -> str:
    """An address of the configuration as it may be shown."""
    return shown_url(url, ()) if url else ""


REST = ("tool_choice", "parallel", "sampling", "output_schema", "stream", "extra")
"""The fields of a request beside its model, messages and tools, in the order in which they are written."""
LONGEST_NAME = 200


def _route(route: Route) -> dict[str, Any]:
    """What of a route is needed to read its answers again; nothing of its keys."""
    provider = route.provider
    rows = [route.dialects] if isinstance(route.dialects, str | Dialect) else [*route.dialects]
    return {
        **{name: getattr(route, name) for name in ROUTE},
        "provider": provider.name,
        "codec": provider.codec,
        "base_url": _address(route.base_url),
        "tools": str(route.tools.value) if route.tools is not None else None,
        "dialects": [_dialect(row) for row in rows],
        "prompt_dialect": _dialect(route.prompt_dialect),
    }


def _dialect(row: str | Dialect) -> Any:
    return row if isinstance(row, str) else to_record(row)


# ── without ──────────────────────────────────────────────────────────────────


def _line(row: Mapping[str, Any], exchange: ExchangeRecord, tools: Collection[str]) -> dict[str, Any]:
    """The line of a list, as `view.row` has it, without a word of anybody's."""
    calls = exchange.response.calls if exchange.response is not None else ()
    plain = ("session", "request_id", "front", "model", "route", "status", "outcome", "seconds", "reasks", "attempts")
    return {
        **{name: row[name] for name in plain},
        "at": row["began"],
        "key": row["owner"],
        "stream": exchange.stream,
        "first": row["first"] if row["first"] >= 0 else None,
        "tokens": [row["input_tokens"], row["output_tokens"]] if row["input_tokens"] or row["output_tokens"] else None,
        "calls": [call.name for call in calls if call.name in tools],
        **NOTHING_SAID,
    }


NOTHING_SAID = {"prompt": "", "answer": "", "error": "", "path": "", "again": 0, "size": 0}


def _bare(
    row: Mapping[str, Any], exchange: ExchangeRecord, tools: Collection[str], spelt: tuple[str, ...]
) -> dict[str, Any]:
    """The document: who was asked, how it went, and what was judged of the answers."""
    attempts = [
        {**_attempt(attempt, clean_name(attempt.place.model, spelt)), "brief": _brief(attempt.response, tools)}
        for attempt in exchange.attempts
    ]
    ran = [[[_name(call.name, tools), result.is_error] for call, result in each] for each in exchange.server_tools]
    head = _head(exchange, row["request_id"], row["model"])
    more = {"error": "", "attempts": attempts, "ran": ran, "brief": _brief(exchange.response, tools)}
    return {"form": FORM, "exchange": {**head, **more}}


def _brief(response: Response | None, tools: Collection[str]) -> dict[str, Any] | None:
    """An answer without what it says: its calls with their verdicts, its issues by their kinds."""
    if response is None:
        return None
    used = response.usage
    counts = [used.input, used.output, used.cached, used.cache_written, used.reasoning] if used is not None else None
    return {
        "stop": response.stop.value if response.stop is not None else None,
        "usage": counts,
        "calls": [_brief_call(call, tools) for call in response.calls],
        "doubtful": [_brief_call(call, tools) for call in response.doubtful],
        "issues": [[issue.kind.value, _name(issue.name, tools)] for issue in response.issues],
    }


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


# ── canonical values ─────────────────────────────────────────────────────────


def _encoded(value: Any) -> bytes:
    marks = 0

    def marked(each: Any) -> Any:
        nonlocal marks
        kind: type[Any] = type(each)
        if kind is tuple:
            marks += 1
            return {MARK: "tuple", "is": list(each)}
        if isinstance(each, Enum):
            marks += 1
            return {MARK: kind.__name__, "is": each.value}
        if kind is WireFields:
            marks += 1
            return {MARK: "wire", "api": each.api, "is": dict(each)}
        if isinstance(each, Mapping):
            return dict(each)
        name = type(each).__name__
        if RECORDS.get(name) is kind:
            marks += 1
            return {MARK: name, **{one.name: _field(getattr(each, one.name)) for one in _fields(kind)}}
        raise TypeError(kind)

    def _field(each: Any) -> Any:
        return marked(each) if type(each) is tuple or isinstance(each, Enum) else each

    try:
        data = orjson.dumps(_field(value), marked, OPTIONS)
        if data.count(b'"!":') == marks:
            return data
    except TypeError:  # long integers, halves of characters
        pass
    try:
        return encode(value).encode()
    except TypeError:
        return b"null"


@lru_cache(maxsize=64)
def _fields(kind: Any) -> Sequence[Any]:
    return [each for each in fields(kind) if each.init]


MEMO_BYTES = 4 * 1024 * 1024


class _Memo:
    """Messages and tools as they were written, while their objects live on in the next turn."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[Any, bytes]] = {}
        self._now: dict[int, tuple[Any, bytes]] = {}
        self._size = 0

    def __call__(self, value: Any) -> Any:
        """`value` in the form of canonical values."""
        found = self._now.get(id(value)) or self._before.get(id(value))
        if found is None or found[0] is not value:
            found = value, _encoded(value)
        if id(value) not in self._now:
            self._size += len(found[1])
            if self._size > MEMO_BYTES:
                self._before, self._now, self._size = self._now, {}, len(found[1])
            self._now[id(value)] = found
        return orjson.Fragment(found[1])


known = _Memo()


def _default(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(type(value).__name__)


def _plain_default(value: Any) -> Any:
    if isinstance(value, orjson.Fragment):
        return json.loads(orjson.dumps(value))
    return _default(value)
