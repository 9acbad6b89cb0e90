"""Every exception this package raises, and the codes a failed tool reports to the model.

    DragomanError
    ├── UsageError            you called us wrongly (also a ValueError)
    │   ├── UnknownName       no such dialect, codec, provider …; carries the nearest names
    │   └── JournalError      a journal of a run that is none, is in use, or does not fit
    ├── CodecError            a body is not what its API says; carries the path into the body
    ├── ExtractError          every call found in a response was unusable; carries the issues
    ├── ToolError             a tool failed and says how; carries an ErrorCode
    └── ProviderError         a peer failed: status, kind, retryable, retry_after

A model's mistakes are not exceptions: they are `Issue` values in the stream (`events.py`).
This module does not know about tools, wires or I/O.  Contract: every message ends with what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copyreg import __newobj__  # type: ignore[attr-defined]
from enum import StrEnum
from functools import lru_cache
from typing import Any, TypeVar

from .types import Issue

W = TypeVar("W", bound=StrEnum)


class ErrorCode(StrEnum):
    """Why a tool call failed, without English: the model can act on the code alone.

    The names are those of `seeds.md` A9 (ChatCLI): errno names, then what no errno says.
    A tool's own code is kept verbatim and need not stand here (`BusinessError:ItemNotFound`).
    """

    ENOENT = "ENOENT"
    EACCES = "EACCES"
    EPERM = "EPERM"
    EEXIST = "EEXIST"
    EISDIR = "EISDIR"
    ENOTDIR = "ENOTDIR"
    ENOTEMPTY = "ENOTEMPTY"
    ENOSPC = "ENOSPC"
    EMFILE = "EMFILE"
    ENFILE = "ENFILE"
    EROFS = "EROFS"
    EBUSY = "EBUSY"
    EINVAL = "EINVAL"
    EIO = "EIO"
    EAGAIN = "EAGAIN"
    EPIPE = "EPIPE"
    ECONNREFUSED = "ECONNREFUSED"
    ECONNRESET = "ECONNRESET"
    ETIMEDOUT = "ETIMEDOUT"
    EHOSTUNREACH = "EHOSTUNREACH"
    ENETUNREACH = "ENETUNREACH"
    TIMEOUT = "Timeout"
    CANCELED = "Canceled"
    DENIED = "Denied"
    INVALID_ARGS = "InvalidArgs"
    UNKNOWN_TOOL = "UnknownTool"
    TRUNCATED = "Truncated"
    DNS_ERROR = "DNSError"
    TLS_ERROR = "TLSError"
    NETWORK_ERROR = "NetworkError"
    NETWORK_TIMEOUT = "NetworkTimeout"
    MISSING_RESULT = "MissingResult"
    NOT_EXECUTED = "NotExecuted"
    TOOL_CRASHED = "ToolCrashed"
    UNKNOWN_ERROR = "UnknownError"


def exit_code(status: int) -> str:
    """The code of a process that ended with `status`: `ExitCode:2`."""
    return f"ExitCode:{status}"


def http_code(status: int) -> str:
    """The code of an HTTP answer with `status`: `HTTP:404`."""
    return f"HTTP:{status}"


class DragomanError(Exception):
    """The root of everything raised on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process gets the fields and words that are there, not what `__init__` would make of the words."""
        return __newobj__, (type(self), *self.args), self.__dict__ or None


class UsageError(DragomanError, ValueError):
    """The caller's mistake; the message says how to call instead."""


def one_of(words: type[W], given: Any, what: str) -> W:
    """The word of an enum that `given` is, itself or as a text.  Raises UsageError for another."""
    try:
        return words(given)
    except ValueError:
        raise UsageError(f"{what} is {given!r}; give one of {', '.join(words)}") from None


class UnknownName(UsageError, KeyError):
    """A name that is in no table.

    `kind` is what was looked up ("dialect"), `name` what was asked, `near` the closest known names.
    """

    kind: str
    name: str

    def __init__(self, kind: str, name: str, known: Iterable[str], listing: str = "") -> None:
        self.kind, self.name = kind, name
        is_name = isinstance(name, str)  # whoever looks up something else has taken one argument for another
        self.near: Sequence[str] = nearest(name, known) if is_name else ()
        hint = f"; did you mean {' or '.join(map(repr, self.near))}?" if self.near else ""
        where = listing or f"dragoman list {kind}s"
        what = f"unknown {kind} {name!r}" if is_name else f"a {kind} is named by a text, not by a {type(name).__name__}"
        self.message: str = f"{what}{hint} (see: {where})"
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


class JournalError(UsageError):
    """A file that is no journal, is damaged or in use, or does not belong to the run that is continued with it."""


class CodecError(DragomanError):
    """A body or frame that is not what its API says.

    `path` is where, as a JSON path (`$.messages[2].content`); `api` the codec's name.
    """

    api: str
    path: str

    def __init__(self, message: str, path: str = "$", api: str = "") -> None:
        self.path, self.api = path, api
        super().__init__(f"{message} (at {path})" if path else message)


class ExtractError(DragomanError):
    """A response held calls, and none of them can be run.

    `issues` has one for each, in order, with a correction ready to send to the model.
    """

    def __init__(self, issues: Sequence[Issue]) -> None:
        self.issues: tuple[Issue, ...] = tuple(issues)
        messages = "; ".join(i.message for i in self.issues)
        super().__init__(f"no usable call in the response: {messages}; send the corrections in .issues and ask again")


class ToolError(DragomanError):
    """Raised by a tool that fails on purpose: a code for the model to act on and a sentence for it to read."""

    code: str
    message: str

    def __init__(self, code: str = ErrorCode.UNKNOWN_ERROR, message: str = "") -> None:
        self.code, self.message = str(code), message
        super().__init__(message or str(code))


class ErrorKind(StrEnum):
    """Meanings of a peer's failure for the next attempt."""

    AUTH = "auth"
    NOT_FOUND = "not_found"
    BAD_REQUEST = "bad_request"
    NO_TOOLS = "no_tools"
    CONTEXT = "context_length"
    RATE_LIMIT = "rate_limit"
    QUOTA = "quota"
    OVERLOADED = "overloaded"
    SERVER = "server_error"
    TIMEOUT = "timeout"
    NETWORK = "network"
    GARBLED = "garbled"
    CANCELED = "canceled"
    FULL = "full"
    UNKNOWN = "unknown"


RETRYABLE = frozenset(
    {ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED, ErrorKind.SERVER, ErrorKind.TIMEOUT, ErrorKind.NETWORK, ErrorKind.FULL}
)


class ProviderError(DragomanError):
    """A peer refused, failed or vanished.

    `status` is the HTTP status (0 when none came), `kind` what that means, `code` the peer's own word,
    `retry_after` seconds to wait when the peer said so, `body` the peer's body with secrets removed.  Where it ended a
    run, `run` is that run (`dragoman.Run`): its messages, and the answer as far as it came.
    """

    code: str
    kind: ErrorKind
    status: int
    body: str
    retry_after: float | None

    run: Any = None

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        kind: ErrorKind = ErrorKind.UNKNOWN,
        code: str = "",
        retry_after: float | None = None,
        body: str = "",
    ) -> None:
        self.status, self.kind, self.code = status, kind, code
        self.retry_after, self.body = retry_after, body
        self.message = message
        super().__init__(message)

    @property
    def retryable(self) -> bool:
        """Would the same request have a chance a little later?"""
        return self.kind in RETRYABLE


def without_frames(error: BaseException) -> None:
    """Forget where `error` and what led to it were raised.

    Its frames hold all that was at hand there, as long as anybody keeps the error: the answer that was too long, too.
    """
    todo, seen = [error], set[int]()
    while todo:
        one = todo.pop()
        if id(one) not in seen:
            seen.add(id(one))
            one.__traceback__ = None
            todo += [each for each in (one.__cause__, one.__context__) if each is not None]


def mark(code: str | None, body: str) -> str:
    """`body` headed by the error mark every OpenAI-like wire carries: `[ERROR:ENOENT] body`, `[ERROR] body`.

    Source: seed document 003; `seeds.md` C9 (an empty body keeps the trailing space).
    """
    return f"[ERROR:{code}] {body}" if code else f"[ERROR] {body}"


def nearest(name: str, known: Iterable[str], limit: int = 3) -> Sequence[str]:
    """Up to `limit` known names that look like `name`, best first."""
    return list(_nearest(name, tuple(sorted(set(known))), limit))


@lru_cache(maxsize=64)
def _nearest(name: str, pool: tuple[str, ...], limit: int) -> Sequence[str]:
    """A model that makes a tool up calls it again and again."""
    folded = {k.casefold(): k for k in pool}
    from difflib import get_close_matches  # noqa: PLC0415  it takes longer to load than the rest of this file

    found = get_close_matches(name.casefold(), list(folded), n=limit, cutoff=0.6)
    return [folded[f] for f in found]
