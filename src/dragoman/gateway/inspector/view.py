"""A recorded exchange as plain data: everything there is to see of it.

Knows records and what reads them again; nothing of ASGI.  Contract: everything shown is JSON without secrets, and
nothing raises on what a client, a peer or a model sent; raw bytes come apart (`wire`), for they may be long.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from ...dialects.explain.findings import Finding
from ...dialects.explain.spans import marks
from ...errors import DragomanError
from ...events import CallDelta, Event, ReasoningDelta, TextDelta
from ...report_words import edit_words, evidence_words, habit_words
from ...schema.definitions import tools as as_tools
from ...types import (
    Issue,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Report,
    Request,
    Response,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)
from ..fronts import FRONTS
from ..telemetry.exchange_record import UpstreamAttempt
from .doubt import Asked
from .doubt import asked as about
from .line import row
from .recording import WITHHELD, Body, Hop, Recording
from .redaction import blotted, holds
from .replay import DecodedAnswer, ParserInput, answer_of, decode_body, parser_input_of, read_object, sent_by

MOST_PIECES = 5000
"""Pieces of a body whose times are shown."""
MERGED = (TextDelta, ReasoningDelta, CallDelta)
CODECS = {front.codec.name: front.codec for front in FRONTS}


# ── everything ───────────────────────────────────────────────────────────────


def whole(recording: Recording) -> dict[str, Any]:
    """All there is to see of an exchange but the raw bytes."""
    exchange = recording.exchange
    asked, error = _client_request(recording)
    shown = {
        "row": row(recording),
        "client": {
            "method": recording.method,
            "path": recording.path,
            "query": recording.query,
            "headers": dict(recording.headers),
            "size": recording.request.size,
            "error": error,
            "request": _request(asked) if asked is not None else None,
        },
        "steps": list(_steps(recording, asked)),
        "answer": {
            "status": recording.status,
            "headers": dict(recording.response_headers),
            "size": recording.response.size,
            "response": _response(exchange.response) if exchange is not None and exchange.response else None,
            "events": _client_events(recording),
        },
    }
    return _clean(shown, recording)


def _clean(shown: dict[str, Any], recording: Recording) -> dict[str, Any]:
    clean: dict[str, Any] = blotted(shown, recording.spelt)
    return clean


def _client_request(recording: Recording) -> tuple[Request | None, str]:
    """The client's request as it was read; why it could not be."""
    codec = CODECS.get(recording.exchange.front) if recording.exchange is not None else None
    if codec is None or not recording.request.size or (recording.live and "content-encoding" in recording.headers):
        return None, ""
    try:
        return codec.decode_request(read_object(recording.request.data)), ""
    except (DragomanError, ValueError, RecursionError) as error:
        return None, str(error)


def _client_events(recording: Recording) -> list[dict[str, Any]]:
    """The events that went out, read from the bytes."""
    codec = CODECS.get(recording.exchange.front) if recording.exchange is not None else None
    if codec is None or not 200 <= recording.status < 300 or not recording.content:
        return []
    kind = recording.response_headers.get("content-type", "")
    answer = decode_body(codec, recording.response, streamed=not kind.startswith("application/json"))
    return [*folded(answer.events), *([{"kind": "error", "message": answer.error}] if answer.error else [])]


# ── steps ────────────────────────────────────────────────────────────────────


def _steps(recording: Recording, asked: Request | None) -> Iterator[dict[str, Any]]:
    """Every attempt at every place in order, and the server tools between them."""
    exchange, ran = recording.exchange, 0
    if exchange is None:
        return
    met: set[int] = set()
    for number, hop in enumerate(tuple(recording.hops)):
        for results in exchange.server_tools[ran : hop.ran]:
            yield {"kind": "server_tools", "results": [_ran(call, result) for call, result in results]}
        ran = max(ran, hop.ran)
        met.add(id(hop.attempt))
        yield _hop(hop, number, asked)
    for attempt in exchange.attempts:
        if id(attempt) not in met and (attempt.failure is not None or not recording.content):
            answered = _response(attempt.response) if attempt.response is not None else None
            yield {"kind": "attempt", "hop": None, **_attempt(attempt), "answered": answered}
    for results in exchange.server_tools[ran:]:
        yield {"kind": "server_tools", "results": [_ran(call, result) for call, result in results]}


def _attempt(attempt: UpstreamAttempt) -> dict[str, Any]:
    failed = attempt.failure
    return {
        "place": str(attempt.place),
        "address": attempt.place.address,
        "attempt": attempt.number,
        "reask": attempt.reask,
        "besides": attempt.besides,
        "failure": {"kind": str(failed.kind), "status": failed.status, "message": failed.message} if failed else None,
    }


NO_ATTEMPT: dict[str, Any] = {"place": "", "attempt": 1, "reask": 0, "besides": "", "failure": None}


def _ran(call: ToolCall, result: ToolResult) -> dict[str, Any]:
    return {"call": _call(call), "text": result.text, "is_error": result.is_error, "code": result.error_code}


def _hop(hop: Hop, number: int, asked: Request | None) -> dict[str, Any]:
    """One request to a provider: what was sent, what came, what was judged of it."""
    answer, sent = answer_of(hop), sent_by(hop)
    parser_input = parser_input_of(hop, answer) if answer is not None else None
    attempt = hop.attempt
    return {
        "kind": "keys" if hop.is_exchange_of_keys else "attempt",
        "hop": number,
        **(_attempt(attempt) if attempt is not None else NO_ATTEMPT),
        "codec": hop.route.provider.codec if hop.route is not None else "",
        "method": hop.method,
        "url": hop.url,
        "headers": dict(hop.headers),
        "status": hop.status,
        "got_headers": dict(hop.got_headers),
        "begun": hop.begun,
        "opened": hop.opened,
        "ended": hop.ended,
        "first": hop.got.times[0] if hop.got.times else None,
        "error": hop.error,
        "sizes": [hop.sent.size, hop.got.size],
        "refusal": "" if answer is not None else _decoded(hop.got)[:4000],
        "tools_as": _tools_as(attempt, sent),
        "sent": _request(sent, asked) if sent is not None else None,
        "correction": _correction(attempt, asked),
        "asks": [_asked(one) for one in about(attempt)] if attempt is not None else [],
        "wrote": _wrote(answer, parser_input) if answer is not None else None,
    }


def _asked(one: Asked) -> dict[str, Any]:
    return {"call": _call(one.call), "answer": one.answer, "habit": one.habit, "remembered": one.remembered}


def _tools_as(attempt: UpstreamAttempt | None, sent: Request | None) -> str:
    """How the model learnt of its tools: "native", "text", or "" where there were none."""
    if attempt is None or not attempt.request.tools or sent is None:
        return ""
    return "native" if sent.tools else "text"


def _correction(attempt: UpstreamAttempt | None, asked: Request | None) -> list[dict[str, Any]]:
    """The messages added for a model that is asked again."""
    if attempt is None or not attempt.reask or attempt.besides or asked is None:
        return []
    return [_message(message) for message in attempt.request.messages[len(asked.messages) :]]


def _wrote(answer: DecodedAnswer, parser_input: ParserInput | None) -> dict[str, Any]:
    """What the model wrote; `text` is its reasoning where it wrote nothing else, and that was read for calls."""
    response = answer.response
    pieces = answer.pieces if parser_input is None else answer.read_pieces
    text = "".join(pieces)
    fields: dict[str, Any] = {
        "text": text,
        "pieces": len(pieces),
        "reasoning": response.reasoning,
        "calls": [_call(call) for call in response.calls],
        "stop": str(response.stop or ""),
        "usage": asdict(response.usage) if response.usage is not None else None,
        "error": answer.error,
        "parser": None,
        "spans": [[0, len(text), "text", None]] if text else [],
        "findings": [],
    }
    if parser_input is not None and answer.is_all_reasoning:
        fields["is_reasoning"] = True
    return fields | judged(parser_input) if parser_input is not None else fields


def judged(parser_input: ParserInput) -> dict[str, Any]:
    """A text cut by what was judged of it, and every candidate with its verdict."""
    findings = parser_input.findings()
    return {
        "parser": {
            "dialects": parser_input.dialect_names,
            "prompted_dialect": parser_input.prompted_dialect,
            "prefix": parser_input.prefix,
            "finish_reason": parser_input.finish_reason,
            "strict": parser_input.strict,
            "shown": sum(text.kind == "tool" for text in parser_input.shown),
            "confirmed": [habit_words(habit) for habit in sorted(parser_input.confirmed)],
            "tools": None if parser_input.tools is None else [tool.name for tool in as_tools(parser_input.tools) or ()],
        },
        "spans": [[s.start, s.end, str(s.kind), s.finding] for s in parser_input.spans(findings)],
        "findings": [_finding(found) for found in findings],
        "marks": [[m.start, m.end, m.finding, m.edit] for m in marks(parser_input.text, findings)],
    }


def _finding(found: Finding) -> dict[str, Any]:
    verdict = str(found.verdict) if found.verdict else "dropped"
    return {**asdict(found), "verdict": verdict, "words": found.words(), "mends": found.mends()}


# ── values ───────────────────────────────────────────────────────────────────


def _request(request: Request, asked: Request | None = None) -> dict[str, Any]:
    """A request; where `asked` is what it was made of, each message says what became of it."""
    choice, form = request.tool_choice, request.output_schema
    return {
        "model": request.model,
        "stream": request.stream,
        "messages": list(_messages(request, asked)),
        "tools": [_tool(tool) for tool in request.tools],
        "tool_choice": f"{choice.mode} {choice.name}".strip() if choice is not None else "",
        "parallel": request.parallel,
        "sampling": {name: value for name, value in asdict(request.sampling).items() if value not in (None, (), "")},
        "output_schema": asdict(form) if form is not None else None,
        "extra": {name: plain(value) for name, value in request.extra.items() if value is not None},
    }


def _messages(request: Request, asked: Request | None) -> Iterator[dict[str, Any]]:
    """The messages, each with its origin: the same as one that was asked, changed from one, or added."""
    if asked is None:
        yield from ({**_message(message), "origin": ""} for message in request.messages)
        return
    originals = {_identity(message) for message in asked.messages}
    texts = [message.text for message in asked.messages if message.text.strip()]
    for message in request.messages:
        quoted = "changed" if any(text in message.text for text in texts) else "added"
        yield {**_message(message), "origin": "same" if _identity(message) in originals else quoted}


def _identity(message: Message) -> str:
    return json.dumps([message.role, [plain(part) for part in message.parts]], default=str)


def _tool(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": plain(tool.parameters)}


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "parts": [_part(part) for part in message.parts]}


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"kind": "text", "text": text}
        case Reasoning(text):
            return {"kind": "reasoning", "text": text}
        case ToolCall():
            return {"kind": "call", **_call(part)}
        case ToolResult():
            fields = {"kind": "result", "id": part.call_id, "name": part.name, "text": part.text}
            return {**fields, "is_error": part.is_error, "code": part.error_code}
        case Media():
            return {"kind": "media", "text": part.mime}
        case Opaque():
            return {"kind": "other", "text": json.dumps(plain(part.block), ensure_ascii=False)[:2000]}


def _call(call: ToolCall) -> dict[str, Any]:
    report = call.report
    return {
        "id": call.id,
        "name": call.name,
        "arguments": plain(call.arguments),
        "raw": call.raw,
        "report": _report(report) if report is not None else None,
    }


def _report(report: Report) -> dict[str, Any]:
    mends = [edit_words(edit.kind, edit.path, edit.before, edit.after) for edit in report.edits]
    return {**plain(report), "words": evidence_words(report.evidence), "mends": mends}


def _response(response: Response) -> dict[str, Any]:
    return {
        "text": response.text,
        "reasoning": response.reasoning,
        "calls": [_call(call) for call in response.calls],
        "doubtful": [_call(call) for call in response.doubtful],
        "issues": [_issue(issue) for issue in response.issues],
        "stop": str(response.stop or ""),
        "usage": asdict(response.usage) if response.usage is not None else None,
    }


def _issue(issue: Issue) -> dict[str, Any]:
    return {name: value for name, value in plain(issue).items() if value}


def plain(value: Any) -> Any:
    """A value as JSON holds it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)


def folded(events: Iterable[tuple[float, Event]]) -> list[dict[str, Any]]:
    """The events with their times; deltas that follow each other as one, with how many they were."""
    rows: list[dict[str, Any]] = []
    last: Event | None = None
    for at, event in events:
        if last is not None and _goes_on(last, event):
            rows[-1][_delta_field(event)].append(getattr(event, _delta_field(event)))
            rows[-1].update(until=at, count=rows[-1]["count"] + 1)
            continue
        last = event
        rows.append({"kind": type(event).__name__, "at": at, "until": at, "count": 1, **plain(event)})
        if isinstance(event, MERGED):
            rows[-1][_delta_field(event)] = [getattr(event, _delta_field(event))]
    for each in rows:
        each.update({name: "".join(each[name]) for name in ("text", "json") if isinstance(each.get(name), list)})
    return rows


def _goes_on(last: Event, event: Event) -> bool:
    """Is `event` more of the same as `last`?"""
    if type(event) is not type(last) or not isinstance(event, MERGED):
        return False
    return not isinstance(event, CallDelta) or not isinstance(last, CallDelta) or event.index == last.index


def _delta_field(event: Event) -> str:
    return "json" if isinstance(event, CallDelta) else "text"


# ── the bytes ────────────────────────────────────────────────────────────────


def wire(recording: Recording, body: Body) -> dict[str, Any]:
    """A body as text, and when each piece of it came (seconds, and the character it ends at)."""
    if recording.live and _spells(recording):
        return {"text": WITHHELD.decode(), "size": body.size, "cut": body.is_cut, "count": 0, "pieces": []}
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    start, at, text, pieces = 0, 0, list[str](), list[tuple[float, int]]()
    for seconds, end in body.pieces:
        text.append(decoder.decode(body.data[start:end]))
        at += len(text[-1])
        start = end
        pieces.append((round(seconds, 4), at))
    text.append(decoder.decode(b"", final=True))
    shown = {"text": "".join(text), "size": body.size, "cut": body.is_cut, "count": len(pieces)}
    return {**blotted(shown, recording.spelt), "pieces": pieces[:MOST_PIECES]}


def _spells(recording: Recording) -> bool:
    """Has a model written a secret in pieces?"""
    answers = [one for hop in tuple(recording.hops) if (one := answer_of(hop)) is not None]
    return any(holds("".join(one.pieces), recording.spelt) for one in answers)


def _decoded(body: Body) -> str:
    return body.data.decode("utf-8", "replace")
