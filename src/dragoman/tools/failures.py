"""An exception of a tool → the `ToolResult` a model is shown, with an error code it can act on.

Classifies by class, errno and status, never by words: the message may be in any language.  Libraries are known by the
qualified names of their exceptions; none is imported.
Contract: never raises; the same error gives the same result; the message is short, holds no traceback and nothing that
looks like a secret, and ends with what to do.  The traceback stands in `metadata`, for journals: no wire sends that.
"""

from __future__ import annotations

import errno
import re
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import ErrorCode, ToolError, exit_code, http_code
from ..redaction import redact_patterns as redact
from ..types import ToolCall, ToolResult
from .qualified_names import row_for

_LONGEST = 1000  # characters of an exception's own words
_MOST_READ = 100_000  # characters of an error that are looked at
_MOST_LINKS = 16  # exceptions looked at behind one
_SIGNALLED = 128  # a process killed by signal 9 has the status 137, as shells tell it


def failure_of(call: ToolCall, error: BaseException) -> ToolResult:
    """The failed result of `call`, whose tool raised `error`."""
    code = code_of(error)
    return ToolResult(
        call_id=call.id,
        name=call.name,
        content=_message(error, code),
        is_error=True,
        error_code=code,
        metadata={"exception": type(error).__qualname__, "traceback": _traceback(error)},
    )


def code_of(error: BaseException) -> str:
    """The code of an error: its own, else that of what caused it.

    `NetworkError` says little: where its cause says more (`DNSError`, `ECONNREFUSED`), that is the code.
    """
    vague = ""
    for link in _links(error):
        code = _own_code(link)
        if code in ("", ErrorCode.NETWORK_ERROR):
            vague = vague or code
        elif vague and code == ErrorCode.TIMEOUT:
            return ErrorCode.NETWORK_TIMEOUT
        else:
            return code
    return vague or (ErrorCode.UNKNOWN_ERROR if isinstance(error, OSError) else ErrorCode.TOOL_CRASHED)


# ── one exception ────────────────────────────────────────────────────────────

_C = ErrorCode
_ROWS: Mapping[str, str] = {
    "builtins.KeyboardInterrupt": _C.CANCELED,
    "asyncio.exceptions.CancelledError": _C.CANCELED,
    "concurrent.futures._base.CancelledError": _C.CANCELED,
    "trio.Cancelled": _C.CANCELED,
    "dragoman.effects.Cancelled": _C.CANCELED,
    "socket.gaierror": _C.DNS_ERROR,
    "socket.herror": _C.DNS_ERROR,
    "dns.exception.DNSException": _C.DNS_ERROR,
    "aiohttp.client_exceptions.ClientConnectorDNSError": _C.DNS_ERROR,
    "urllib3.exceptions.NameResolutionError": _C.DNS_ERROR,
    "ssl.SSLError": _C.TLS_ERROR,
    "aiohttp.client_exceptions.ClientSSLError": _C.TLS_ERROR,
    "aiohttp.client_exceptions.ServerFingerprintMismatch": _C.TLS_ERROR,
    "requests.exceptions.SSLError": _C.TLS_ERROR,
    "urllib3.exceptions.SSLError": _C.TLS_ERROR,
    "botocore.exceptions.SSLError": _C.TLS_ERROR,
    "subprocess.TimeoutExpired": _C.TIMEOUT,
    "multiprocessing.context.TimeoutError": _C.TIMEOUT,
    "aiohttp.client_exceptions.ServerTimeoutError": _C.NETWORK_TIMEOUT,
    "botocore.exceptions.ConnectTimeoutError": _C.NETWORK_TIMEOUT,
    "botocore.exceptions.ReadTimeoutError": _C.NETWORK_TIMEOUT,
    "httpcore.TimeoutException": _C.NETWORK_TIMEOUT,
    "httpcore2.TimeoutException": _C.NETWORK_TIMEOUT,
    "httpx.TimeoutException": _C.NETWORK_TIMEOUT,
    "httpx2.TimeoutException": _C.NETWORK_TIMEOUT,
    "requests.exceptions.Timeout": _C.NETWORK_TIMEOUT,
    "urllib3.exceptions.TimeoutError": _C.NETWORK_TIMEOUT,
    "aiohttp.client_exceptions.ClientConnectionError": _C.NETWORK_ERROR,
    "aiohttp.client_exceptions.ClientPayloadError": _C.NETWORK_ERROR,
    "botocore.exceptions.HTTPClientError": _C.NETWORK_ERROR,
    "http.client.HTTPException": _C.NETWORK_ERROR,
    "httpcore.NetworkError": _C.NETWORK_ERROR,
    "httpcore.ProtocolError": _C.NETWORK_ERROR,
    "httpcore2.NetworkError": _C.NETWORK_ERROR,
    "httpcore2.ProtocolError": _C.NETWORK_ERROR,
    "httpx.TransportError": _C.NETWORK_ERROR,
    "httpx2.TransportError": _C.NETWORK_ERROR,
    "requests.exceptions.ChunkedEncodingError": _C.NETWORK_ERROR,
    "requests.exceptions.ConnectionError": _C.NETWORK_ERROR,
    "urllib.error.URLError": _C.NETWORK_ERROR,
    "urllib3.exceptions.HTTPError": _C.NETWORK_ERROR,
    "urllib3.exceptions.NewConnectionError": _C.NETWORK_ERROR,  # a kind of timeout by its bases, not by its meaning
    "websockets.exceptions.ConnectionClosed": _C.NETWORK_ERROR,
    "jsonschema.exceptions.ValidationError": _C.INVALID_ARGS,
    "jsonschema_rs.ValidationError": _C.INVALID_ARGS,
    "marshmallow.exceptions.ValidationError": _C.INVALID_ARGS,
    "msgspec.ValidationError": _C.INVALID_ARGS,
    "pydantic.v1.error_wrappers.ValidationError": _C.INVALID_ARGS,
    "pydantic_core._pydantic_core.ValidationError": _C.INVALID_ARGS,
    "dragoman.tools.type_schema.InvalidValue": _C.INVALID_ARGS,
}
"""Exceptions, with their subclasses, by qualified name: nearest class first.  Sources: the libraries' own modules."""

_WITHOUT_ERRNO: Mapping[str, str] = {
    "builtins.FileNotFoundError": _C.ENOENT,
    "builtins.PermissionError": _C.EACCES,
    "builtins.FileExistsError": _C.EEXIST,
    "builtins.IsADirectoryError": _C.EISDIR,
    "builtins.NotADirectoryError": _C.ENOTDIR,
    "builtins.BlockingIOError": _C.EAGAIN,
    "builtins.BrokenPipeError": _C.EPIPE,
    "builtins.ConnectionRefusedError": _C.ECONNREFUSED,
    "builtins.ConnectionResetError": _C.ECONNRESET,
    "builtins.ConnectionAbortedError": "ECONNABORTED",
    "builtins.ConnectionError": _C.NETWORK_ERROR,
    "builtins.TimeoutError": _C.TIMEOUT,
}
"""Python's own classes, for those raised without a number."""

_EXITS = ("returncode", "exit_code")
_STATUSES = ("status_code", "status", "code")


def _own_code(error: BaseException) -> str:
    """The code that an exception has of its own; "" where it has none."""
    if isinstance(error, ToolError):
        return re.sub(r"[\]\s]+", "_", error.code) or ErrorCode.UNKNOWN_ERROR
    status = _exit_status(error)
    if status is not None:
        return exit_code(status if status >= 0 else _SIGNALLED - status)
    http = _http_status(error)
    if http is not None:
        return http_code(http)
    known = row_for(type(error), _ROWS)
    number = _attribute(error, "errno")
    if known in (None, ErrorCode.NETWORK_ERROR) and isinstance(number, int) and isinstance(error, OSError):
        known = errno.errorcode.get(number, known)
    if known in (None, ErrorCode.NETWORK_ERROR):
        known = row_for(type(error), _WITHOUT_ERRNO) or known
    return known or ""


def _exit_status(error: BaseException) -> int | None:
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    return next((n for name in _EXITS if isinstance(n := _attribute(error, name), int)), None)


def _http_status(error: BaseException) -> int | None:
    """The HTTP status an exception of any client library carries, by the attributes they all use."""
    response = _attribute(error, "response")
    if isinstance(response, Mapping):  # botocore
        heading = response.get("ResponseMetadata")
        candidates = [heading.get("HTTPStatusCode") if isinstance(heading, Mapping) else None]
    else:
        candidates = [_attribute(holder, name) for holder in (response, error) for name in _STATUSES]
    return next((int(n) for n in candidates if isinstance(n, int) and 300 <= n <= 599), None)


def _attribute(holder: Any, name: str) -> Any:
    """An attribute that may be a property, and may raise."""
    try:
        return getattr(holder, name, None)
    except Exception:
        return None


# ── causes ───────────────────────────────────────────────────────────────────


def _links(error: BaseException) -> Iterator[BaseException]:
    """`error` and what caused it, nearest first.

    What was only being handled meanwhile (`__context__`) counts behind network errors alone: their libraries leave the
    reason there, while a tool that raises its own error in an `except` clause means that one.
    """
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < _MOST_LINKS:
        link = waiting.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        waiting += _behind(link)


def _behind(error: BaseException) -> list[BaseException]:
    found: list[Any] = [error.__cause__]
    if _own_code(error) == ErrorCode.NETWORK_ERROR:
        found += [_attribute(error, "reason"), _attribute(error, "os_error"), *error.args, error.__context__]
    if isinstance(error, BaseExceptionGroup):
        found += error.exceptions
    return [each for each in found if isinstance(each, BaseException)]


# ── messages ─────────────────────────────────────────────────────────────────

_ADVICE: Mapping[str, str] = {
    _C.ENOENT: "check the path or name, and look first at what there is",
    _C.EACCES: "it may not be touched; use something else",
    _C.EPERM: "it is not permitted; use something else",
    _C.EEXIST: "it is there already; use it, or choose another name",
    _C.EISDIR: "this is a directory; name a file in it",
    _C.ENOTDIR: "part of the path is a file; correct the path",
    _C.ENOTEMPTY: "empty the directory first",
    _C.EROFS: "nothing can be written there; write somewhere else",
    _C.EINVAL: "correct the arguments and call again",
    _C.TIMEOUT: "call again, or ask for less at once",
    _C.NETWORK_TIMEOUT: "call again a little later",
    _C.ETIMEDOUT: "call again a little later",
    _C.ECONNREFUSED: "nothing answers there; check host and port",
    _C.ECONNRESET: "call again",
    _C.EAGAIN: "call again",
    _C.EBUSY: "call again a little later",
    _C.NETWORK_ERROR: "call again, or do without the network",
    _C.DNS_ERROR: "check the host name",
    _C.TLS_ERROR: "the connection is not secure; use another address",
    _C.CANCELED: "call again only if it is still wanted",
    _C.INVALID_ARGS: "correct the arguments and call again",
    "HTTP:400": "correct the arguments and call again",
    "HTTP:401": "this needs credentials the tool does not have; do without it",
    "HTTP:403": "it may not be reached; use something else",
    "HTTP:404": "it is not there; check the address or name",
    "HTTP:408": "call again",
    "HTTP:409": "look at its present state first",
    "HTTP:429": "wait, then call again",
    "HTTP:4": "correct the arguments, or use something else",
    "HTTP:5": "the server failed; call again a little later",
    "ExitCode:127": "the command does not exist; use another",
    "ExitCode": "read what it printed, correct the arguments and call again",
}
"""Advice, by code; `HTTP:4` and the like stand for their whole family."""

_ANYHOW = "try other arguments or another way"


def advice(code: str) -> str:
    """Advice to a model about an error of this code."""
    family = code[:6] if code.startswith("HTTP:") else code.partition(":")[0]
    return _ADVICE.get(code) or _ADVICE.get(family) or _ANYHOW


def _message(error: BaseException, code: str) -> str:
    words = presentable(_own_words(error))
    if isinstance(error, ToolError):
        return words if error.message else f"{words}: {advice(code)}"
    if code == ErrorCode.TOOL_CRASHED or not words:
        words = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return f"{words.rstrip('.')}; {advice(code)}"


def _own_words(error: BaseException) -> str:
    """The error's own words, without what only a programmer could use."""
    if isinstance(error, OSError) and error.strerror and error.errno is not None and not _attribute(error, "os_error"):
        files = [each for each in (error.filename, error.filename2) if each is not None]
        return ": ".join([error.strerror, *map(_named, files)])
    if isinstance(_attribute(error, "returncode"), int):  # the command itself may hold secrets
        printed = [_printed(_attribute(error, name)) for name in ("stderr", "stdout")]
        status = _exit_status(error)
        return "\n".join([f"the process ended with status {status}", *filter(None, printed)])
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(filter(None, map(_safe_text, error.exceptions)))
    text = _safe_text(error)
    return text or (_safe_text(error.__cause__) if error.__cause__ is not None else "")


def _named(file: Any) -> str:
    return repr(file.decode("utf-8", "replace") if isinstance(file, bytes) else str(file))


def _printed(output: Any) -> str:
    text = output.decode("utf-8", "replace") if isinstance(output, bytes) else output
    return text.strip() if isinstance(text, str) else ""


def _safe_text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""


_TRACEBACK = re.compile(
    r"^[ \t]*(?:Traceback \(most recent call last\):|File \"[^\"\n]*\", line \d+.*)\n?(?:[ \t]+.*\n?)*", re.MULTILINE
)
_LOGIN = re.compile(r"(?<=://)[^/\s@'\"]+@")
_NAMED_SECRET = re.compile(
    r"(?i)((?:(?<![\w-])[\w-]{0,40}?(?:api_?-?key|token|secret|passw(?:or)?d|signature|credential)[\w-]{0,40}"
    r"|[?&](?:key|sig|auth))=)[^&\s'\"]+"
)


def presentable(text: str) -> str:
    """`text` fit to be shown: no traceback, nothing that looks like a secret, at most a thousand characters."""
    shown = without_secrets(_TRACEBACK.sub("", text[:_MOST_READ])).strip()
    shown = shown.encode("utf-8", "replace").decode()
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST // 2]} … {shown[-_LONGEST // 2 :]}"


def _traceback(error: BaseException) -> str:
    try:
        lines = traceback.format_exception(error)
    except Exception:  # its own __str__ or __repr__ raises
        return ""
    return without_secrets("".join(lines)[-_MOST_READ:])


def without_secrets(text: str) -> str:
    """`text` with what looks like a key, a token, a password or a login blotted out."""
    return _NAMED_SECRET.sub(r"\1[redacted]", _LOGIN.sub("", redact(text)))
