"""One recorded exchange for somewhere else: a test vector of a dialect, a test vector of a codec, a command.

Knows records and the forms of `tests/vectors`; nothing of pages.  Contract: a vector says what the parser, or the
codec, makes of it today, read as the tests read it, so that it passes as it is; a command holds no key.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ...codecs import CODECS
from ...codecs.shared.frames import FrameKind, readers
from ...codecs.shared.spec import Codec
from ...dialects.engine.parsed import Parsed, fold
from ...dialects.engine.parser import Parser
from ...dialects.rows.table import DIALECTS
from ...errors import UsageError
from ...types import IssueKind, Response, ToolCall
from ...version import __version__
from .recording import Hop, Recording
from .redaction import blotted, is_secret
from .replay import ParserInput, answer_of, parser_input_of, read_object
from .view import plain

NO_TEXT = "nothing was listened for in this answer's text; export it as a wire vector"
NO_ANSWER = "the provider gave no answer here; choose a step that has one"
BINARY = "the answer came in binary frames, which no vector holds; export the text"
LEFT_OUT = ("content-length", "host", "connection", "accept-encoding", "transfer-encoding", "x-request-id")
VARIABLE = "$DRAGOMAN_KEY"
UNKNOWN = "tool_call_fence"


def source(recording: Recording) -> str:
    """Where a vector comes from."""
    exchange = recording.exchange
    return f"recorded by dragoman {__version__}: {exchange.route if exchange is not None else 'unknown'}"


# ── a dialect's vector ───────────────────────────────────────────────────────


def dialect_vector(recording: Recording, hop: Hop, dialect: str = "") -> dict[str, Any]:
    """A row of `tests/vectors/dialects/DIALECT.jsonl`.  Raises UsageError where there is no text to read."""
    given = _parsed_text(hop)
    name = dialect or _dialect_of(given)
    vector: dict[str, Any] = {
        "id": f"{name}-{_slug(recording)}",
        "source": source(recording),
        "tools": [{"name": t["name"], "parameters": t["parameters"]} for t in map(plain, given.tools or ())],
        "prefix": given.prefix,
        "text": given.text,
    }
    vector |= {"finish": given.finish_reason} if given.finish_reason == "length" else {}
    clean: dict[str, Any] = blotted(vector, recording.spelt)
    own, blind = _read(clean, name), _read(clean, "auto")
    other = {key: blind[key] for key in own if json.dumps(blind[key]) != json.dumps(own[key])}
    return {**clean, **own, **({"blind": other} if other else {})}


def _parsed_text(hop: Hop) -> ParserInput:
    answer = answer_of(hop)
    if answer is None:
        raise UsageError(NO_ANSWER)
    given = parser_input_of(hop, answer)
    if given is None or not given.text:
        raise UsageError(NO_TEXT)
    return given


def _dialect_of(given: ParserInput) -> str:
    """The dialect the model wrote; failing that the one it was asked to write."""
    called = [found.dialect for found in given.findings() if found.dialect in DIALECTS]
    return next(iter([*called, given.prompted_dialect]), "") or UNKNOWN


def _read(vector: Mapping[str, Any], dialects: str) -> dict[str, Any]:
    """What the tests find in a vector."""
    finish = vector.get("finish")
    parser = Parser(tools=vector["tools"], prefix=vector["prefix"], finish_reason=finish, dialects=dialects)
    return _outcome(fold([*parser.feed(vector["text"]), *parser.close()]))


def _outcome(parsed: Parsed) -> dict[str, Any]:
    return {
        "calls": [{"name": call.name, "arguments": plain(call.arguments)} for call in parsed.calls],
        "content": parsed.text,
        "reasoning": parsed.reasoning,
        "issues": [str(issue.kind) for issue in parsed.issues if issue.kind is not IssueKind.NOISE],
        "verdicts": [str(call.report.verdict) for call in parsed.calls if call.report is not None],
    }


def _slug(recording: Recording) -> str:
    named = recording.exchange.request_id if recording.exchange is not None else ""
    return "".join(c if c.isalnum() else "-" for c in named).strip("-") or str(recording.number)


# ── a codec's vector ─────────────────────────────────────────────────────────


def wire_vector(recording: Recording, hop: Hop) -> tuple[str, dict[str, Any]]:
    """A row of `tests/vectors/codecs/CODEC.jsonl`, and the codec.  Raises UsageError where there is no answer."""
    answer = answer_of(hop)
    if answer is None or hop.route is None:
        raise UsageError(NO_ANSWER)
    codec, response = CODECS[hop.route.provider.codec], answer.response
    vector: dict[str, Any] = {"id": f"recorded-{_slug(recording)}", "source": source(recording), **_body(codec, hop)}
    vector["calls"] = [_wire_call(call, hop.got.data) for call in response.calls]
    vector |= {key: value for key, value in _optional(response).items() if value}
    clean: dict[str, Any] = blotted(vector, recording.spelt)
    return codec.name, clean


def _optional(response: Response) -> dict[str, Any]:
    """The fields of a vector that are left out where they are empty."""
    used = asdict(response.usage) if response.usage is not None else {}
    return {
        "text": response.text,
        "reasoning": response.reasoning,
        "stop": str(response.stop or ""),
        "usage": {name: count for name, count in used.items() if count},
        "issues": [str(issue.kind) for issue in response.issues],
    }


def _wire_call(call: ToolCall, body: bytes) -> dict[str, Any]:
    """A call with its id where the wire has one; those we mint differ from one reading to the next."""
    vector = {"name": call.name, "arguments": plain(call.arguments)}
    return {"id": call.id, **vector} if json.dumps(call.id).encode() in body else vector


def _body(codec: Codec, hop: Hop) -> dict[str, Any]:
    kind = hop.got_headers.get("content-type", "")
    if kind.startswith("application/json"):
        return {"response": read_object(hop.got.data)}
    if codec.frames is FrameKind.AWS:
        raise UsageError(BINARY)
    reader = readers[codec.frames]()
    return {"stream": [_frame(frame.data) for frame in [*reader.feed(hop.got.data), *reader.close()]]}


def _frame(data: str) -> Any:
    try:
        return read_object(data.encode())
    except ValueError:
        return data


# ── a command ────────────────────────────────────────────────────────────────


def curl(recording: Recording, origin: str) -> str:
    """The client's request as a command; `origin` is where the gateway listens."""
    query = f"?{recording.query}" if recording.query else ""
    return _curl(recording.method, f"{origin}{recording.path}{query}", recording.headers, recording.request.data)


def curl_upstream(hop: Hop) -> str:
    """The request to the provider as a command.  Raises UsageError for one that holds keys."""
    if hop.is_exchange_of_keys:
        raise UsageError("keys were exchanged for a token here; choose a step that asks a model")
    return _curl(hop.method, hop.url, hop.headers, hop.sent.data)


def _curl(method: str, url: str, headers: Mapping[str, str], body: bytes) -> str:
    lines = [f"curl -sS -X {shlex.quote(method)} {shlex.quote(url)}"]
    for name, value in headers.items():
        if name.lower() in LEFT_OUT or name.lower().startswith("sec-"):
            continue
        if is_secret(name, value):
            scheme = "Bearer " if value.startswith("Bearer ") else ""
            lines.append(f'-H "{name}: {scheme}{VARIABLE}"')
        else:
            lines.append(f"-H {shlex.quote(f'{name}: {value}')}")
    lines.append(f"--data-raw {shlex.quote(body.decode('utf-8', 'replace'))}")
    return " \\\n  ".join(lines)
