"""A recorded exchange as plain data: a row of the list, and everything there is to see of it.

Knows records and what reads them again; nothing of ASGI.  Contract: everything shown is JSON without secrets, and
nothing raises on what a client, a peer or a model sent; raw bytes are told apart (`wire`), for they may be long.
"""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from ...dialects.explain.findings import Finding
from ...dialects.explain.spans import marks
from ...errors import DragomanError
from ...events import CallDelta, Event, ReasoningDelta, TextDelta
from ...schema.definitions import tools as as_tools
from ...turn.reask import LOST
from ...types import (
    Issue,
    IssueKind,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Request,
    Response,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Verdict,
)
from ..fronts import FRONTS
from ..telemetry.exchange_record import GONE, Account, Asking
from .record import WITHHELD, Body, Hop, Record
from .redaction import blotted, holds
from .replay import Heard, Hearing, answer_of, hear, hearing_of, read_object, sent_by

SHORT = 160
"""Characters of a text in the list."""
MOST_PIECES = 5000
"""Pieces of a body whose times are told."""
QUOTES = frozenset({IssueKind.QUOTED, IssueKind.IN_REASONING, IssueKind.COPIED})
MERGED = (TextDelta, ReasoningDelta, CallDelta)
CODECS = {front.codec.name: front.codec for front in FRONTS}


# ── the list ─────────────────────────────────────────────────────────────────


def row(record: Record) -> dict[str, Any]:
    """One line of the list."""
    account, status = record.account, record.status
    told: dict[str, Any] = {
        "number": record.number,
        "version": record.version,
        "at": record.began,
        "live": record.live,
        "path": record.path,
        "again": record.again,
        "status": status,
        "size": record.size,
        "marks": [],
    }
    if account is not None:
        told |= _of_account(account) | {"marks": _marks(account, record)}
    told["seconds"] = record.now if record.live else told.get("seconds", 0.0)
    return _clean(told, record)


def _of_account(account: Account) -> dict[str, Any]:
    response = account.response
    usage = response.usage if response is not None else None
    return {
        "request_id": account.request_id,
        "front": account.front,
        "model": account.model,
        "route": account.route,
        "key": account.key,
        "stream": account.stream,
        "status": account.status,
        "outcome": account.outcome,
        "seconds": account.seconds,
        "first": account.first - account.begun if account.first is not None else None,
        "tokens": [usage.input, usage.output] if usage is not None else None,
        "reasks": account.reasks,
        "attempts": len(account.askings),
        "asked": _last_words(account),
        "said": _short(response.text) if response is not None else "",
        "calls": [call.name for call in response.calls] if response is not None else [],
        "error": str(account.error) if account.error is not None else "",
    }


def _last_words(account: Account) -> str:
    """What the user, or a tool, said last."""
    if not account.askings:
        return ""
    for message in reversed(account.askings[0].request.messages):
        if message.results:
            return _short(", ".join(f"{result.name or 'a tool'} → {result.text[:SHORT]}" for result in message.results))
        if message.role == "user" and message.text.strip():
            return _short(message.text)
    return ""


def _short(text: str) -> str:
    plain = " ".join(text[: 4 * SHORT].split())
    return plain if len(plain) <= SHORT else f"{plain[:SHORT]}…"


def _marks(account: Account, record: Record) -> list[str]:
    """What sets this exchange apart, in words that the page filters by."""
    answers = [asking.response for asking in account.askings if asking.response is not None]
    answers += [account.response] if account.response is not None else []
    verdicts = {call.report.verdict for answer in answers for call in answer.calls if call.report is not None}
    kinds = {issue.kind for answer in answers for issue in answer.issues}
    failed = [asking for asking in account.askings if asking.failure is not None]
    told = {
        "failed": account.error is not None and account.status != GONE,
        "client_closed": account.status == GONE,
        "mended": Verdict.MENDED in verdicts,
        "refused": bool(kinds & LOST),
        "quoted": bool(kinds & QUOTES),
        "reasked": account.reasks > 0,
        "fallback": bool(failed) and account.error is None,
        "tools run here": bool(account.house),
        "calls": account.response is not None and bool(account.response.calls),
        "asked again": record.again > 0,
    }
    return [name for name, holds in told.items() if holds]


# ── everything ───────────────────────────────────────────────────────────────


def whole(record: Record) -> dict[str, Any]:
    """All there is to see of an exchange but the raw bytes."""
    account = record.account
    asked, error = _asked(record)
    told = {
        "row": row(record),
        "client": {
            "method": record.method,
            "path": record.path,
            "query": record.query,
            "headers": dict(record.headers),
            "size": record.asked.size,
            "error": error,
            "request": _request(asked) if asked is not None else None,
        },
        "steps": list(_steps(record, asked)),
        "answer": {
            "status": record.status,
            "headers": dict(record.told_headers),
            "size": record.told.size,
            "response": _response(account.response) if account is not None and account.response else None,
            "events": _events_told(record),
        },
    }
    return _clean(told, record)


def _clean(told: dict[str, Any], record: Record) -> dict[str, Any]:
    clean: dict[str, Any] = blotted(told, record.spelt)
    return clean


def _asked(record: Record) -> tuple[Request | None, str]:
    """The client's request as it was read; why it could not be."""
    codec = CODECS.get(record.account.front) if record.account is not None else None
    if codec is None or not record.asked.size or (record.live and "content-encoding" in record.headers):
        return None, ""
    try:
        return codec.decode_request(read_object(record.asked.data)), ""
    except (DragomanError, ValueError, RecursionError) as error:
        return None, str(error)


def _events_told(record: Record) -> list[dict[str, Any]]:
    """The events that went out, read from the bytes."""
    codec = CODECS.get(record.account.front) if record.account is not None else None
    if codec is None or not 200 <= record.status < 300:
        return []
    kind = record.told_headers.get("content-type", "")
    heard = hear(codec, record.told, streamed=not kind.startswith("application/json"))
    return [*folded(heard.events), *([{"kind": "error", "said": heard.error}] if heard.error else [])]


# ── steps ────────────────────────────────────────────────────────────────────


def _steps(record: Record, asked: Request | None) -> Iterator[dict[str, Any]]:
    """Every asking of every place in order, and the tools run here between them."""
    account, ran = record.account, 0
    if account is None:
        return
    met: set[int] = set()
    for number, hop in enumerate(tuple(record.hops)):
        for results in account.house[ran : hop.ran]:
            yield {"kind": "ran", "results": [_ran(call, result) for call, result in results]}
        ran = max(ran, hop.ran)
        met.add(id(hop.asking))
        yield _hop(hop, number, asked)
    for asking in account.askings:
        if id(asking) not in met and asking.failure is not None:
            yield {"kind": "asked", "hop": None, **_asking(asking)}
    for results in account.house[ran:]:
        yield {"kind": "ran", "results": [_ran(call, result) for call, result in results]}


def _asking(asking: Asking) -> dict[str, Any]:
    failure = asking.failure
    return {
        "place": str(asking.place),
        "address": asking.place.address,
        "attempt": asking.attempt,
        "reask": asking.reask,
        "failure": {"kind": str(failure.kind), "status": failure.status, "said": failure.message} if failure else None,
    }


def _ran(call: ToolCall, result: ToolResult) -> dict[str, Any]:
    return {"call": _call(call), "text": result.text, "is_error": result.is_error, "code": result.error_code}


def _hop(hop: Hop, number: int, asked: Request | None) -> dict[str, Any]:
    """One request to a provider: what was sent, what came, what was judged of it."""
    heard, sent = answer_of(hop), sent_by(hop)
    hearing = hearing_of(hop, heard) if heard is not None else None
    asking = hop.asking
    return {
        "kind": "keys" if hop.is_exchange_of_keys else "asked",
        "hop": number,
        **(_asking(asking) if asking is not None else {"place": "", "attempt": 1, "reask": 0, "failure": None}),
        "codec": hop.route.provider.codec if hop.route is not None else "",
        "method": hop.method,
        "url": hop.url,
        "headers": dict(hop.headers),
        "status": hop.status,
        "got_headers": dict(hop.got_headers),
        "begun": hop.begun,
        "opened": hop.opened,
        "ended": hop.ended,
        "first": hop.got.pieces[0][0] if hop.got.pieces else None,
        "error": hop.error,
        "sizes": [hop.sent.size, hop.got.size],
        "refusal": "" if heard is not None else _decoded(hop.got)[:4000],
        "tools_as": _tools_as(asking, sent),
        "sent": _request(sent, asked) if sent is not None else None,
        "correction": _correction(asking, asked),
        "wrote": _wrote(heard, hearing) if heard is not None else None,
    }


def _tools_as(asking: Asking | None, sent: Request | None) -> str:
    """How the model learnt of its tools: "native", "text", or "" where there were none."""
    if asking is None or not asking.request.tools or sent is None:
        return ""
    return "native" if sent.tools else "text"


def _correction(asking: Asking | None, asked: Request | None) -> list[dict[str, Any]]:
    """What a model that is asked again is told besides."""
    if asking is None or not asking.reask or asked is None:
        return []
    return [_message(message) for message in asking.request.messages[len(asked.messages) :]]


def _wrote(heard: Heard, hearing: Hearing | None) -> dict[str, Any]:
    response = heard.response
    text = "".join(heard.pieces)
    told: dict[str, Any] = {
        "text": text,
        "pieces": len(heard.pieces),
        "reasoning": response.reasoning,
        "calls": [_call(call) for call in response.calls],
        "stop": str(response.stop or ""),
        "usage": asdict(response.usage) if response.usage is not None else None,
        "error": heard.error,
        "hearing": None,
        "spans": [[0, len(text), "text", None]] if text else [],
        "findings": [],
    }
    return told | judged(hearing) if hearing is not None else told


def judged(hearing: Hearing) -> dict[str, Any]:
    """A text cut by what was judged of it, and every candidate with its verdict."""
    findings = hearing.findings()
    return {
        "hearing": {
            "dialects": hearing.listens,
            "prompted_dialect": hearing.prompted_dialect,
            "prefix": hearing.prefix,
            "finish_reason": hearing.finish_reason,
            "strict": hearing.strict,
            "shown": len(hearing.shown),
            "tools": None if hearing.tools is None else [tool.name for tool in as_tools(hearing.tools) or ()],
        },
        "spans": [[s.start, s.end, str(s.kind), s.finding] for s in hearing.spans(findings)],
        "findings": [_finding(found) for found in findings],
        "marks": [[m.start, m.end, m.finding, m.edit] for m in marks(hearing.text, findings)],
    }


def _finding(found: Finding) -> dict[str, Any]:
    told = asdict(found)
    return {**told, "verdict": str(found.verdict) if found.verdict else "dropped"}


# ── values ───────────────────────────────────────────────────────────────────


def _request(request: Request, asked: Request | None = None) -> dict[str, Any]:
    """A request; where `asked` is what it was made of, each message says what became of it."""
    said = Counter(_identity(message) for message in asked.messages) if asked is not None else Counter()
    texts = [m.text for m in asked.messages if m.text.strip()] if asked is not None else []
    messages = []
    for message in request.messages:
        same = said[_identity(message)] > 0
        held = any(text in message.text for text in texts)
        origin = "" if asked is None else "same" if same else "changed" if held else "added"
        messages.append({**_message(message), "origin": origin})
    choice = request.tool_choice
    sampling = {name: value for name, value in asdict(request.sampling).items() if value not in (None, (), "")}
    return {
        "model": request.model,
        "stream": request.stream,
        "messages": messages,
        "tools": [_tool(tool) for tool in request.tools],
        "tool_choice": f"{choice.mode} {choice.name}".strip() if choice is not None else "",
        "parallel": request.parallel,
        "sampling": sampling,
        "output_schema": asdict(request.output_schema) if request.output_schema is not None else None,
        "extra": {name: plain(value) for name, value in request.extra.items() if value is not None},
    }


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
            told = {"kind": "result", "id": part.call_id, "name": part.name, "text": part.text}
            return {**told, "is_error": part.is_error, "code": part.error_code}
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
        "report": plain(report) if report is not None else None,
    }


def _response(response: Response) -> dict[str, Any]:
    return {
        "text": response.text,
        "reasoning": response.reasoning,
        "calls": [_call(call) for call in response.calls],
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
    told: list[dict[str, Any]] = []
    last: type[Event] | None = None
    for at, event in events:
        same = type(event) is last and isinstance(event, MERGED)
        if same and not (isinstance(event, CallDelta) and told[-1]["index"] != event.index):
            kind = "json" if isinstance(event, CallDelta) else "text"
            told[-1][kind].append(getattr(event, kind))
            told[-1]["until"], told[-1]["count"] = at, told[-1]["count"] + 1
            continue
        last = type(event)
        told.append({"kind": type(event).__name__, "at": at, "until": at, "count": 1, **plain(event)})
        for key in ("text", "json") if isinstance(event, MERGED) else ():
            if key in told[-1]:
                told[-1][key] = [told[-1][key]]
    for one in told:
        one.update({key: "".join(one[key]) for key in ("text", "json") if isinstance(one.get(key), list)})
    return told


# ── the bytes ────────────────────────────────────────────────────────────────


def wire(record: Record, body: Body) -> dict[str, Any]:
    """A body as text, and when each piece of it came (seconds, and the character it ends at)."""
    if record.live and _spells(record):
        return {"text": WITHHELD.decode(), "size": body.size, "cut": body.is_cut, "count": 0, "pieces": []}
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    start, at, text, pieces = 0, 0, list[str](), list[tuple[float, int]]()
    for seconds, end in tuple(body.pieces):
        text.append(decoder.decode(body.data[start:end]))
        at += len(text[-1])
        start = end
        pieces.append((round(seconds, 4), at))
    text.append(decoder.decode(b"", final=True))
    told = {"text": "".join(text), "size": body.size, "cut": body.is_cut, "count": len(pieces)}
    return {**blotted(told, record.spelt), "pieces": pieces[:MOST_PIECES]}


def _spells(record: Record) -> bool:
    """Has a model written a secret in pieces?"""
    heard = [told for hop in tuple(record.hops) if (told := answer_of(hop)) is not None]
    return any(holds("".join(one.pieces), record.spelt) for one in heard)


def _decoded(body: Body) -> str:
    return body.data.decode("utf-8", "replace")
