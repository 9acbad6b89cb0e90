"""A recorded exchange as a row of the store: its columns, its line in a list, and a document of all there is.

Knows recordings and canonical values; nothing of databases.  `restored.py` reads what is written here.
Contract: nothing that is written holds a known secret.  Without content it holds no word of a client, a model or a
provider: names of models, routes and of the client's own tools, numbers, times, verdicts, rules and kinds are all.
"""

from __future__ import annotations

import base64
import json
import os
import socket
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import orjson

from ...dialects.rows.record import to_record
from ...dialects.spec import Dialect
from ...memo import names_of, per_object
from ...providers.route import Route
from ...redaction import redact_patterns
from ...types import Report, Request, Response, ToolCall
from ..recordings.table import DAY, StoredRow, without_nul
from ..recordings.writer import Made
from ..telemetry.exchange_record import ExchangeRecord, UpstreamAttempt
from .canonical import OPTIONS, encoded, messages_json, tools_json
from .line import marks_of, words_of
from .pieces import FEW, Cut, Pieces, Place
from .recording import Body, Hop, Recording, session_key
from .redaction import blot, blotted, is_spelt_in, shown_url

FORM = 2
"""Of the documents: a reader leaves alone what is of a later one."""
BIG = 128 * 1024
"""Bytes of a text from which on it stands apart, once a day however often it was sent."""
CLOSED = frozenset({
    "mark", "strong", "place", "asked", "confirmed", "native", "repeats", "word", "tools", "box", "thought", "edits",
    "habit",
})  # fmt: skip
"""Evidence whose values are words of ours, or kinds."""
ROUTE = ("model", "strict", "doubt", "nonce", "prefix")


def made(recording: Recording, namespace: str = "", pieces: Pieces | None = None) -> Made:
    """A sealed recording as it is stored, with all that was said; `pieces` are those of the texts before it."""
    exchange, spelt = recording.exchange or ExchangeRecord(), recording.spelt
    columns = _columns(exchange, spelt)
    document = _Document(recording, columns, pieces or Pieces())
    columns |= {
        "status": exchange.status or recording.status,
        "began": recording.began,
        "day": document.day,
        "namespace": namespace,
        "session": recording.session,
        "marks": _barred(marks_of(exchange, recording.again)),
        "content": 1,
        "again": recording.again,
        "size": sum([body.size for body in recording.bodies()]),
    }
    line = {**_line(columns, exchange), **words_of(recording)}
    text = _text(line)
    text = _text(blotted(line, spelt)) if is_spelt_in(text, spelt) else text
    columns["line"], columns["document"] = text.decode("utf-8", "replace"), document.text().decode("utf-8", "replace")
    columns["bodies"] = " ".join(document.bodies)
    return Made(StoredRow(**columns), [(document.day, digest, text) for digest, text in document.apart.items()])


def made_bare(exchange: ExchangeRecord, began: float, spelt: tuple[str, ...], namespace: str = "") -> Made:
    """An exchange as it is stored without what was said; `spelt` are the secrets, in every spelling."""
    tools = _offered(exchange)
    found = marks_of(exchange)
    row = _columns(exchange, spelt)
    row |= {
        "status": exchange.status,
        "began": began,
        "day": int(began // DAY),
        "namespace": namespace,
        "session": session_key(exchange),
        "marks": _barred(found),
    }
    row["line"] = _text({**_line(row, exchange), **NOTHING_SAID, "calls": _called(exchange, tools)}).decode()
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


@lru_cache(maxsize=4)
def _process(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}"


def _offered(exchange: ExchangeRecord) -> frozenset[str]:
    """The names of the tools that the first place was asked with."""
    return names_of(exchange.attempts[0].request.tools) if exchange.attempts else frozenset()


def _text(value: Any) -> bytes:
    """JSON."""
    try:
        return orjson.dumps(value, _default, OPTIONS)
    except TypeError:  # halves of characters, long integers
        return json.dumps(value, default=_plain_default).encode()


class _Document:
    """The document of one recording; `apart` are pieces that are to be stored with it, `bodies` all it refers to.

    What clients, models and providers said is blotted where it stands; names of ours are left alone, though some
    client's key may be one of them (`ollama`).
    """

    def __init__(self, recording: Recording, columns: Mapping[str, Any], pieces: Pieces) -> None:
        self._recording, self._columns, self._pieces = recording, columns, pieces
        self._spelt: tuple[str, ...] = ()
        self.day = int(recording.began // DAY)
        self.apart: dict[str, str] = {}
        self.bodies: dict[str, None] = {}

    def text(self) -> bytes:
        """It, as JSON."""
        recording, exchange = self._recording, self._recording.exchange
        bodies = [self._body(body, what) for body, what in self._wires()]
        asked = self._asked(exchange.attempts) if exchange is not None else []
        made = _text(self._whole(bodies, asked))
        if not is_spelt_in(made, recording.spelt):
            return made
        self._spelt = recording.spelt  # as it hardly ever is: each text by itself
        return _text(self._whole(bodies, asked))

    def _said(self, value: Any) -> Any:
        """Plain data without secrets."""
        return orjson.Fragment(blot(_text(value), self._spelt)) if self._spelt else value

    def _canonical(self, value: Any) -> Any:
        """A canonical value in the form of `loop.journal.values`, without secrets."""
        return orjson.Fragment(blot(encoded(value), self._spelt))

    # ── texts that come again ────────────────────────────────────────────────

    def _wires(self) -> list[tuple[Body, Hashable]]:
        """The bodies, each with what tells it from others of its conversation; None for those that never come again."""
        recording = self._recording
        wires: list[tuple[Body, Hashable]] = [(recording.request, recording.path), (recording.response, None)]
        for hop in recording.hops:
            wires += [(hop.sent, hop.url), (hop.got, None)]
        return wires

    def _body(self, body: Body, what: Hashable) -> dict[str, Any]:
        """A body: its text, or base64 where it is none."""
        data = body.data
        written: dict[str, Any] = {"size": body.size, "pieces": body.pieces}
        if body.is_cut:
            written["cut"] = True
        try:
            return self._in_pieces(data, what) | written
        except UnicodeDecodeError:
            return written | {"base64": base64.b64encode(blot(data, self._recording.spelt)).decode()}

    def _cut(self, data: bytes, what: Hashable) -> Cut:
        recording, spelt = self._recording, self._recording.spelt
        if what is None or not recording.session:
            return Cut(text=blot(data, spelt))
        place = Place(self._columns["owner"], what, recording.session)
        return self._pieces.cut(self.day, place, data, spelt, self.apart)

    def _in_pieces(self, data: bytes, what: Hashable) -> dict[str, Any]:
        """A text: what is new, and the hashes of what stands before and behind it; what is big stands apart as well."""
        if len(data) < FEW:
            return {"text": blot(data, self._recording.spelt).decode()}
        cut = self._cut(data, what)
        before, text = cut.before, cut.text.decode()
        if len(cut.text) >= BIG and "\0" not in text:
            digest = blake2b(cut.text, digest_size=16).hexdigest()
            self.apart[digest], before, text = text, (*before, digest), ""
        written: dict[str, Any] = {"text": text}
        if before:
            written["before"] = before
        if cut.behind:
            written["behind"] = cut.behind
        self.bodies |= dict.fromkeys((*before, *filter(None, [cut.behind])))
        return written

    def _asked(self, attempts: Sequence[UpstreamAttempt]) -> list[Any]:
        """What each place was asked; the number of the attempt that was asked the same."""
        found: list[Any] = []
        for number, attempt in enumerate(attempts):
            same = next((n for n, other in enumerate(attempts[:number]) if other.request is attempt.request), None)
            found.append(self._request(attempt.request) if same is None else same)
        return found

    def _request(self, request: Request) -> dict[str, Any]:
        """A canonical request; its messages and tools come again with the next turn."""
        spelt = self._recording.spelt
        written: dict[str, Any] = {
            "model": orjson.Fragment(blot(_text(request.model), spelt)),
            "messages": self._in_pieces(messages_json(request.messages), "messages"),
        }
        rest = {name: value for name, usual in REST.items() if (value := getattr(request, name)) != usual}
        if rest:
            written["rest"] = orjson.Fragment(blot(encoded(rest), spelt))
        if request.tools:
            digest = self._pieces.constant(self.day, tools_json(request.tools), spelt, self.apart)
            self.bodies[digest] = None
            written["tools"] = digest
        return written

    # ── all of it ────────────────────────────────────────────────────────────

    def _whole(self, bodies: Sequence[dict[str, Any]], asked: Sequence[Any]) -> dict[str, Any]:
        recording, exchange = self._recording, self._recording.exchange
        return {
            "form": FORM,
            "method": recording.method,
            "path": self._said(recording.path),
            "query": recording.query,
            "variables": self._said(dict(recording.variables)),
            "headers": recording.headers,
            "response_headers": recording.response_headers,
            "request": bodies[0],
            "response": bodies[1],
            "exchange": self._exchange(exchange, asked) if exchange is not None else None,
            "hops": [self._hop(hop, exchange, *bodies[2 * n + 2 : 2 * n + 4]) for n, hop in enumerate(recording.hops)],
        }

    def _exchange(self, exchange: ExchangeRecord, asked: Sequence[Any]) -> dict[str, Any]:
        attempts, response = exchange.attempts, exchange.response
        same = next((n for n, attempt in enumerate(attempts) if attempt.response is response), None)
        return {
            **_head(exchange, self._columns["request_id"], self._columns["model"]),
            "error": self._said(str(exchange.error) if exchange.error is not None else ""),
            "response": self._canonical(response) if same is None or response is None else same,
            "attempts": [
                {
                    **self._attempt(attempt),
                    "request": request,
                    "response": self._canonical(attempt.response) if attempt.response is not None else None,
                }
                for attempt, request in zip(attempts, asked, strict=True)
            ],
            "server_tools": self._canonical(tuple(exchange.server_tools)) if exchange.server_tools else None,
        }

    def _attempt(self, attempt: UpstreamAttempt) -> dict[str, Any]:
        written, failed = _attempt(attempt, clean_name(attempt.place.model, self._recording.spelt)), attempt.failure
        if failed is not None:
            written["failure"]["message"] = self._said(failed.message)
        return written

    def _hop(self, hop: Hop, exchange: ExchangeRecord | None, sent: Any, got: Any) -> dict[str, Any]:
        attempts = exchange.attempts if exchange is not None else []
        at = next((n for n, attempt in enumerate(attempts) if attempt is hop.attempt), None)
        return {
            "ran": hop.ran,
            "nonce": hop.nonce,
            "method": hop.method,
            "url": hop.url,
            "begun": hop.begun,
            "status": hop.status,
            "opened": hop.opened,
            "ended": hop.ended,
            "attempt": at,
            "error": self._said(hop.error),
            "route": orjson.Fragment(_route(hop.route)) if hop.route is not None else None,
            "headers": hop.headers,
            "got_headers": hop.got_headers,
            "sent": sent,
            "got": got,
        }


def _head(exchange: ExchangeRecord, request_id: str, model: str) -> dict[str, Any]:
    return {
        "request_id": request_id,
        "model": model,
        "front": exchange.front,
        "key": exchange.key,
        "stream": exchange.stream,
        "status": exchange.status,
        "begun": exchange.begun,
        "first": exchange.first,
        "ended": exchange.ended,
        "outcome": exchange.outcome,
    }


def _attempt(attempt: UpstreamAttempt, model: str) -> dict[str, Any]:
    """An asking without its words; `model` is the place's, without secrets."""
    place, failed = attempt.place, attempt.failure
    return {
        "place": [place.provider, model, _address(place.address)],
        "failure": {"kind": str(failed.kind), "status": failed.status, "message": ""} if failed is not None else None,
        "number": attempt.number,
        "reask": attempt.reask,
        "besides": attempt.besides,
        "operation": attempt.operation,
        "begun": attempt.begun,
        "ended": attempt.ended,
    }


@lru_cache(maxsize=256)
def _address(url: str) -> str:
    """An address of the configuration as it may be shown."""
    return shown_url(url, ()) if url else ""


REST = {each.name: each.default for each in fields(Request) if each.name not in {"model", "messages", "tools"}}
"""The other fields of a request, each with what it mostly is."""
LONGEST_NAME = 200


@per_object
def _route(route: Route) -> bytes:
    """What of a route is needed to read its answers again, as JSON; nothing of its keys."""
    provider = route.provider
    rows = [route.dialects] if isinstance(route.dialects, str | Dialect) else [*route.dialects]
    return _text({
        **{name: getattr(route, name) for name in ROUTE},
        "provider": provider.name,
        "codec": provider.codec,
        "base_url": _address(route.base_url),
        "tools": str(route.tools.value) if route.tools is not None else None,
        "dialects": [_dialect(row) for row in rows],
        "prompt_dialect": _dialect(route.prompt_dialect),
    })  # fmt: skip


def _dialect(row: str | Dialect) -> Any:
    return row if isinstance(row, str) else to_record(row)


# ── without ──────────────────────────────────────────────────────────────────


def _line(row: Mapping[str, Any], exchange: ExchangeRecord) -> dict[str, Any]:
    """The line of a list, as `line.row` has it, but for what was said."""
    return {
        "session": row["session"],
        "request_id": row["request_id"],
        "front": row["front"],
        "model": row["model"],
        "route": row["route"],
        "status": row["status"],
        "outcome": row["outcome"],
        "seconds": row["seconds"],
        "reasks": row["reasks"],
        "attempts": row["attempts"],
        "at": row["began"],
        "key": row["owner"],
        "stream": exchange.stream,
        "first": row["first"] if row["first"] >= 0 else None,
        "tokens": [row["input_tokens"], row["output_tokens"]] if row["input_tokens"] or row["output_tokens"] else None,
    }


def _called(exchange: ExchangeRecord, tools: Collection[str]) -> list[str]:
    """The client's own tools that were called."""
    return [call.name for call in exchange.response.calls if call.name in tools] if exchange.response else []


NOTHING_SAID = {"prompt": "", "answer": "", "error": "", "path": "", "again": 0, "size": 0}


def _bare(
    row: Mapping[str, Any], exchange: ExchangeRecord, tools: Collection[str], spelt: tuple[str, ...]
) -> dict[str, Any]:
    """The document: who was asked, how it went, and what was judged of the answers."""
    answers = {id(answer): answer for answer in [exchange.response, *[each.response for each in exchange.attempts]]}
    briefs = {key: _brief(answer, tools) for key, answer in answers.items()}
    attempts = [
        {**_attempt(attempt, clean_name(attempt.place.model, spelt)), "brief": briefs[id(attempt.response)]}
        for attempt in exchange.attempts
    ]
    ran = [[[_name(call.name, tools), result.is_error] for call, result in each] for each in exchange.server_tools]
    head = _head(exchange, row["request_id"], row["model"])
    more = {"error": "", "attempts": attempts, "ran": ran, "brief": briefs[id(exchange.response)]}
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
