"""Refused requests: what a peer's error means, and how to report one to a client.

Knows the error bodies of all APIs, for they differ by a name or two and gateways mix them.  Contract: `read_failure`
never raises, whatever the body; machine fields (status, code, type) decide, and prose only where no peer gives a
machine field; keys and tokens are blotted out of what is stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from ...errors import CodecError, ErrorKind, ProviderError, UsageError
from ...jsontext import to_json
from ...redaction import redact_patterns
from ...types import NOTHING, JsonObject
from .body import items, mapping, string
from .frames import Frame

_READ = 4000
"""Characters of a peer's sentence that are searched for what it means."""
_SHOWN, _SHOWN_RAW = 1000, 300
"""Characters of it that a client is told: of a sentence, and of a body that is none (a page of HTML, noise)."""
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")
"""What moves a terminal's cursor, splits a log's line or turns text round; a run of them is shown as one space."""
_BODY_KEPT = 64_000
"""Characters of the body that are stored: some peers give there what their model wrote."""
_HTTP_OK = 200

# ── what a peer's words mean ─────────────────────────────────────────────────

_BY_CODE: Mapping[str, ErrorKind] = {
    "context_length_exceeded": ErrorKind.CONTEXT,  # OpenAI
    "string_above_max_length": ErrorKind.CONTEXT,  # OpenAI
    "request_too_large": ErrorKind.CONTEXT,  # Anthropic
    "exceed_context_size_error": ErrorKind.CONTEXT,  # llama.cpp
    "insufficient_quota": ErrorKind.QUOTA,  # OpenAI
    "billing_error": ErrorKind.QUOTA,  # Anthropic
    "invalid_api_key": ErrorKind.AUTH,  # OpenAI, Groq (recorded)
    "authentication_error": ErrorKind.AUTH,  # Anthropic
    "permission_error": ErrorKind.AUTH,  # Anthropic
    "api_key_invalid": ErrorKind.AUTH,  # Gemini, details[].reason (recorded)
    "unauthenticated": ErrorKind.AUTH,  # Gemini
    "permission_denied": ErrorKind.AUTH,  # Gemini
    "unrecognizedclientexception": ErrorKind.AUTH,  # AWS
    "accessdeniedexception": ErrorKind.AUTH,  # AWS
    "not_found_error": ErrorKind.NOT_FOUND,  # Anthropic, Ollama
    "not_found": ErrorKind.NOT_FOUND,  # Gemini
    "model_not_found": ErrorKind.NOT_FOUND,  # OpenAI
    "model_decommissioned": ErrorKind.NOT_FOUND,  # Groq (recorded)
    "deploymentnotfound": ErrorKind.NOT_FOUND,  # Azure
    "resourcenotfoundexception": ErrorKind.NOT_FOUND,  # AWS
    "rate_limit_exceeded": ErrorKind.RATE_LIMIT,  # OpenAI
    "rate_limit": ErrorKind.RATE_LIMIT,  # LlmCore's stream test
    "rate_limit_error": ErrorKind.RATE_LIMIT,  # Anthropic
    "resource_exhausted": ErrorKind.RATE_LIMIT,  # Gemini
    "throttlingexception": ErrorKind.RATE_LIMIT,  # AWS
    "overloaded_error": ErrorKind.OVERLOADED,  # Anthropic
    "unavailable": ErrorKind.OVERLOADED,  # Gemini
    "serviceunavailableexception": ErrorKind.OVERLOADED,  # AWS
    "modelnotreadyexception": ErrorKind.OVERLOADED,  # AWS
    "timeout_error": ErrorKind.TIMEOUT,  # Anthropic
    "deadline_exceeded": ErrorKind.TIMEOUT,  # Gemini
    "modeltimeoutexception": ErrorKind.TIMEOUT,  # AWS
    "server_error": ErrorKind.SERVER,  # OpenAI
    "api_error": ErrorKind.SERVER,  # Anthropic
    "internalserverexception": ErrorKind.SERVER,  # AWS
    "modelstreamerrorexception": ErrorKind.SERVER,  # AWS
    "modelerrorexception": ErrorKind.SERVER,  # AWS
    "validationexception": ErrorKind.BAD_REQUEST,  # AWS
    "invalid_argument": ErrorKind.BAD_REQUEST,  # Gemini
    "invalid_request_error": ErrorKind.BAD_REQUEST,
    "tool_use_failed": ErrorKind.BAD_REQUEST,  # Groq (recorded)
}

# Where no peer gives a machine field.  Tried on refusals only (4xx, and the 500 of llama.cpp), never on 401, 403, 429.
_BY_PROSE: tuple[tuple[re.Pattern[str], ErrorKind], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (r"does not support tools\b", ErrorKind.NO_TOOLS),  # Ollama
        (r"tool calling`? is not supported", ErrorKind.NO_TOOLS),  # Groq (recorded)
        (r"no endpoints found that support tool use", ErrorKind.NO_TOOLS),  # OpenRouter (wire-quirks.md)
        (r"\btools is not supported", ErrorKind.NO_TOOLS),  # OpenAI gpt-5-chat-latest (wire-quirks.md)
        (r"does(?:n't| not) support (?:the )?(?:tool use|function calling)", ErrorKind.NO_TOOLS),  # Bedrock, Gemini
        (r"tools param requires --jinja", ErrorKind.NO_TOOLS),  # llama.cpp
        (r"requires --(?:enable-auto-tool-choice|tool-call-parser)", ErrorKind.NO_TOOLS),  # vLLM
        (r"maximum context length", ErrorKind.CONTEXT),  # OpenAI, vLLM (seeds A6)
        (r"prompt is too long", ErrorKind.CONTEXT),  # Anthropic (seeds A6)
        (r"context window exceeded", ErrorKind.CONTEXT),  # seeds A6
        (r"input (?:token count|is too long)\b", ErrorKind.CONTEXT),  # Gemini, Bedrock
        (r"exceeds the available context size", ErrorKind.CONTEXT),  # llama.cpp
    )
)
_PROSE_STATUS = frozenset({_HTTP_OK, 400, 404, 413, 422, 500, 501})

_BY_STATUS: Mapping[int, ErrorKind] = {
    401: ErrorKind.AUTH,
    402: ErrorKind.QUOTA,
    403: ErrorKind.AUTH,
    404: ErrorKind.NOT_FOUND,
    408: ErrorKind.TIMEOUT,
    413: ErrorKind.CONTEXT,
    424: ErrorKind.SERVER,
    429: ErrorKind.RATE_LIMIT,
    498: ErrorKind.OVERLOADED,  # Groq: flex tier over capacity
    499: ErrorKind.CANCELED,
    503: ErrorKind.OVERLOADED,
    504: ErrorKind.TIMEOUT,
    529: ErrorKind.OVERLOADED,  # Anthropic
}


ADVICE: Mapping[ErrorKind, str] = {
    ErrorKind.AUTH: "check the key and what it may do",
    ErrorKind.NOT_FOUND: "check the model's name and the base URL",
    ErrorKind.BAD_REQUEST: "change the request",
    ErrorKind.NO_TOOLS: "serve this model's tools as text",
    ErrorKind.CONTEXT: "shorten the conversation",
    ErrorKind.RATE_LIMIT: "wait, then retry",
    ErrorKind.QUOTA: "check the account's plan and balance",
    ErrorKind.OVERLOADED: "retry a little later, or use another provider",
    ErrorKind.SERVER: "retry, or use another provider",
    ErrorKind.TIMEOUT: "retry, or ask for less",
    ErrorKind.NETWORK: "check the network, then retry",
    ErrorKind.GARBLED: "retry the request",
    ErrorKind.CANCELED: "send the request again if it is still wanted",
    ErrorKind.FULL: "retry a little later, or stream the answer",
    ErrorKind.UNKNOWN: "see the provider's documentation",
}
"""The end of the message of a failure of each kind: what to do."""


def read_failure(status: int, body: bytes | str | JsonObject, headers: Mapping[str, str] = NOTHING) -> ProviderError:
    """What the peer's refusal means."""
    written = _written(body)
    parsed = _parsed(body, written)
    error = _error_object(parsed)
    words = _words(parsed, error)
    message = redact_patterns(_message(parsed, error, written)[:_BODY_KEPT])[:_READ]
    if status in (0, _HTTP_OK):
        status = _inner_status(parsed, error) or status
    kind = _kind(status, words, message)
    words = [word for word in words if word != str(status)]  # it says no more than the status does
    shown = _shown(message, _SHOWN if parsed else _SHOWN_RAW)
    named = f"{words[0]}: {shown}" if words and words[0].isdigit() else shown
    return ProviderError(
        f"the provider answered {status or 'with an error'}: {named}; {ADVICE[kind]}",
        status=status,
        kind=kind,
        code=redact_patterns(words[0]) if words else "",
        retry_after=_retry_after(parsed, headers),
        body=redact_patterns(written)[:_BODY_KEPT],
    )


def raise_error(body: JsonObject, event: str = "") -> None:
    """Raise the error in an answer of status 200, if it is one: `error`, MiniMax's `base_resp`, or all of it (older
    vLLM's `"object": "error"`, a frame that is named so)."""
    status = mapping(body.get("base_resp")).get("status_code")
    fails = status not in (None, 0) or "error" in (event, body.get("object"))
    if body.get("error") or (fails and not body.get("choices")):
        raise read_failure(_HTTP_OK, body)


def _shown(message: str, most: int) -> str:
    """It as a client is told it: on one line, and short."""
    line = _CONTROLS.sub(" ", message).strip()
    return line.rstrip(".") if len(line) <= most else f"{line[:most].rstrip()}…"


def _written(body: bytes | str | JsonObject) -> str:
    if isinstance(body, bytes):
        return body.decode("utf-8", "replace")
    if isinstance(body, str):
        return body
    try:
        return json.dumps(body, default=str)
    except (TypeError, ValueError, RecursionError):
        return ""


def _parsed(body: bytes | str | JsonObject, written: str) -> JsonObject:
    value: Any = body
    if not isinstance(body, Mapping):
        try:
            value = json.loads(written)
        except (ValueError, RecursionError):
            return {}
    return mapping(items(value)[0] if items(value) else value)  # Gemini's streams answer with a list of one


def _error_object(parsed: JsonObject) -> JsonObject:
    """The object that holds the error: `error`, MiniMax's `base_resp`, the first of `errors`, or the body itself."""
    for key in ("error", "base_resp"):
        if mapping(parsed.get(key)):
            return mapping(parsed[key])
    first = next(iter(items(parsed.get("errors"))), None)  # Cloudflare, and APIs by JSON:API
    if mapping(first):
        return mapping(first)
    said = parsed.get("error") or first
    if isinstance(said, str):
        return {"message": said, "code": parsed.get("code"), "type": parsed.get("type")}
    return parsed


def _message(parsed: JsonObject, error: JsonObject, written: str) -> str:
    for source in (error, parsed):
        for key in ("message", "Message", "status_msg", "detail", "msg", "errorMessage"):
            value = source.get(key)
            if isinstance(value, str) and value:
                return value
            if value and isinstance(value, list | Mapping):
                return _written({key: value})
    return ("" if parsed else written.strip()) or "no reason given"


def _words(parsed: JsonObject, error: JsonObject) -> list[str]:
    """The machine words of an error, most specific first."""
    reasons = [mapping(detail).get("reason") for detail in items(error.get("details"))]
    found = [*reasons, *(error.get(key) for key in ("code", "status_code", "status", "type", "__type"))]
    found += [parsed.get("code"), parsed.get("type")]
    return [str(word) for word in found if isinstance(word, str | int) and not isinstance(word, bool) and word != ""]


def _inner_status(parsed: JsonObject, error: JsonObject) -> int:
    """The HTTP status given inside a 200 (OpenRouter, Groq's streams)."""
    for value in (error.get("status_code"), error.get("code"), error.get("status"), parsed.get("status")):
        if isinstance(value, int) and 400 <= value < 600:
            return value
    return 0


def _kind(status: int, words: list[str], message: str) -> ErrorKind:
    known = [_BY_CODE[key] for word in words if (key := word.lower().rpartition("#")[2].split(":")[0]) in _BY_CODE]
    sure = next((kind for kind in known if kind not in (ErrorKind.BAD_REQUEST, ErrorKind.SERVER)), None)
    return sure or _by_prose(status, message) or _by_status(status) or next(iter(known), ErrorKind.UNKNOWN)


def _by_prose(status: int, message: str) -> ErrorKind | None:
    patterns = _BY_PROSE if status in _PROSE_STATUS else ()
    return next((kind for pattern, kind in patterns if pattern.search(message)), None)


def _by_status(status: int) -> ErrorKind | None:
    if 400 <= status < 500:
        return _BY_STATUS.get(status, ErrorKind.BAD_REQUEST)
    return _BY_STATUS.get(status, ErrorKind.SERVER) if status >= 500 else None


def _retry_after(parsed: JsonObject, headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, `LONGEST` at most; None where the peer says nothing of it."""
    seconds = _seconds_asked(parsed, headers)
    return min(seconds, LONGEST) if seconds is not None else None


LONGEST = 86_400.0
"""Seconds a peer may ask for, a day: longer is waited for by nobody, and clients believe what they hear."""


def _seconds_asked(parsed: JsonObject, headers: Mapping[str, str]) -> float | None:
    """By the headers `retry-after-ms` and `retry-after`, or Gemini's RetryInfo.

    A date counts from the peer's own `date`: its clock need not be ours.
    """
    low = {key.lower(): value for key, value in headers.items()}
    then, now = http_date(low.get("retry-after", "")), http_date(low.get("date", ""))
    if then is not None and now is not None:
        return max(0.0, then - now)
    for value, unit in ((low.get("retry-after-ms"), 0.001), (low.get("retry-after"), 1.0)):
        if value is not None and (seconds := _seconds(value)) is not None:
            return seconds * unit
    for detail in items(_error_object(parsed).get("details")):
        if (seconds := _seconds(string(mapping(detail).get("retryDelay")).removesuffix("s"))) is not None:
            return seconds
    return None


_HTTP_DATE = re.compile(r"\w{3,9}, (\d\d)[ -](\w{3})[ -](\d{4}) (\d\d):(\d\d):(\d\d) GMT")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def http_date(written: str) -> float | None:
    """A date as HTTP writes it (RFC 9110, 5.6.7: IMF-fixdate) in seconds since 1970; None for anything else."""
    found = _HTTP_DATE.fullmatch(written.strip())
    if found is None or found[2] not in _MONTHS:
        return None
    day, year, hour, minute, second = (int(found[at]) for at in (1, 3, 4, 5, 6))
    month = _MONTHS.index(found[2]) + 1
    try:
        return datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _seconds(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


# ── reporting to a client ────────────────────────────────────────────────────

_STATUS_OF: Mapping[ErrorKind, int] = {
    ErrorKind.AUTH: 401,
    ErrorKind.NOT_FOUND: 404,
    ErrorKind.BAD_REQUEST: 400,
    ErrorKind.NO_TOOLS: 400,
    ErrorKind.CONTEXT: 400,
    ErrorKind.RATE_LIMIT: 429,
    ErrorKind.QUOTA: 429,
    ErrorKind.OVERLOADED: 503,
    ErrorKind.SERVER: 500,
    ErrorKind.TIMEOUT: 504,
    ErrorKind.NETWORK: 502,
    ErrorKind.GARBLED: 502,
    ErrorKind.CANCELED: 499,
    ErrorKind.FULL: 503,
    ErrorKind.UNKNOWN: 500,
}


OVERFLOW = "context_length_exceeded"


class ErrorReply:
    """An error as every API needs it: HTTP status, meaning, sentence, the peer's word, and where in the request."""

    param: str
    code: str
    kind: ErrorKind
    message: str
    status: int

    def __init__(self, error: Exception) -> None:
        self.kind, self.code, self.param = ErrorKind.SERVER, "", ""
        self.details: JsonObject = NOTHING
        if isinstance(error, ProviderError):
            self.kind, self.code = error.kind, error.code
            self.message = redact_patterns(error.message)
            self.status = error.status if 400 <= error.status < 600 else _STATUS_OF[error.kind]
        elif isinstance(error, CodecError | UsageError):
            self.kind, self.status, self.message = ErrorKind.BAD_REQUEST, 400, str(error)
            self.param = error.path if isinstance(error, CodecError) else ""
            self.details = getattr(error, "details", NOTHING)
            self.code = string(self.details.get("code"))
        else:
            self.status, self.message = 500, "internal error; the server's log says more"

    @property
    def openai_code(self) -> str:
        """The code as OpenAI's clients know it: they shorten a conversation by it, not by the message."""
        return OVERFLOW if self.kind is ErrorKind.CONTEXT else self.code

    def openai_body(self, what: str) -> dict[str, Any]:
        """The body of a refusal as OpenAI's APIs have it; `what` is its type."""
        param, code = self.param or None, self.openai_code or None
        return {"error": {"message": self.message, "type": what, "param": param, "code": code}}

    def with_overflow(self, words: str) -> str:
        """The message; where the conversation is too long it has the `words` by which clients of an API know that."""
        known = self.kind is not ErrorKind.CONTEXT or words.casefold() in self.message.casefold()
        return self.message if known else f"{words}: {self.message}"


class ErrorFrame(Protocol):
    """An error once the answer has begun → its frame, `number` on wires that number theirs (`StreamEncoder.number`)."""

    def __call__(self, error: Exception, number: int = 0) -> Frame: ...


def framed(encode_error: Callable[[Exception], tuple[int, dict[str, Any]]], event: str = "") -> ErrorFrame:
    """The frame of an error once the answer has begun, for wires that send the body they refuse with."""

    def frame(error: Exception, number: int = 0) -> Frame:
        return Frame(to_json(encode_error(error)[1]), event)

    return frame
