"""What each error means and what to do about it: the rows that the documentation and `dragoman list errors` print.

Knows the names of exceptions, kinds and issues; raises nothing and decides nothing.  What to do about a provider's
failure stands with its message (`codecs/shared/errors.py`), about a tool's with its advice (`tools/failures.py`).
Contract: every kind has its row (`tests/test_docs_reference.py`), and every row ends with what to do.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import ErrorCode, ErrorKind
from ..records import NamedTuple
from ..types import IssueKind


class Explained(NamedTuple):
    """One row: what happened, and what to do now."""

    means: str
    do: str


EXCEPTIONS: Mapping[str, Explained] = {
    "DragomanError": Explained("anything that this package raises on purpose", "catch it where you would catch all"),
    "UsageError": Explained("a call, a setting or a file of yours is wrong", "change it as the message says"),
    "UnknownName": Explained(
        "a dialect, codec, provider or command of that name does not exist", "take one of `error.near`, or list them"
    ),
    "JournalError": Explained(
        "a journal is damaged, in use, or of another run", "give the path of this run's journal, or begin a new one"
    ),
    "CodecError": Explained("a body is not what its API says", "look at `error.path` in the body, and correct that"),
    "ExtractError": Explained(
        "a response held calls, and none of them can run",
        "send `error.issues[…].correction` to the model, and ask again",
    ),
    "ToolError": Explained("raise it in a tool that fails on purpose", "give it a code and a sentence for the model"),
    "ProviderError": Explained(
        "a provider refused, failed or vanished", "see `error.kind` below; retry where `error.retryable` is true"
    ),
    "ChainError": Explained(
        "every route failed; `error.failures` has each", "mend one route, or wait until the first has rested"
    ),
    "RunUnfinished": Explained(
        "a run met a limit of its policy, or the model refused",
        "go on with `messages=error.run.messages`, or raise the limit",
    ),
    "Unsupported": Explained(
        "a request needs what the API cannot say", "leave out the field at `error.path`, or ask by another API"
    ),
    "Unrenderable": Explained("a dialect cannot write this call", "write it in another dialect"),
    "LearnError": Explained("no dialect could be learnt from what was given", "give it the template, or more outputs"),
    "NothingLearned": Explained(
        "the outputs disagree about how calls are written", "leave out the outputs it names, or give a dozen more"
    ),
    "AlreadyRead": Explained("a built-in dialect reads all the outputs", "use it by the name in `error.dialects`"),
    "UnitFailed": Explained(
        "a unit of a corpus could not be done: a process that did it was ended",
        "give the same command with --resume, with fewer --workers where memory was short",
    ),
    "Undescribed": Explained("a parameter of a tool has no type that JSON can say", "annotate the parameter"),
}
"""By the name of the exception's class."""

KINDS: Mapping[ErrorKind, str] = {
    ErrorKind.AUTH: "the key is missing, wrong, or may not do this",
    ErrorKind.NOT_FOUND: "there is no such model or address",
    ErrorKind.BAD_REQUEST: "the provider does not take the request as it is",
    ErrorKind.NO_TOOLS: "the model has no tool calling at this provider",
    ErrorKind.CONTEXT: "the conversation is longer than the model reads",
    ErrorKind.RATE_LIMIT: "too many requests for now",
    ErrorKind.QUOTA: "the account is used up",
    ErrorKind.OVERLOADED: "the provider is busy",
    ErrorKind.SERVER: "the provider failed",
    ErrorKind.TIMEOUT: "the provider was silent for too long",
    ErrorKind.NETWORK: "the provider was not reached, or the connection broke",
    ErrorKind.GARBLED: "the answer cannot be read",
    ErrorKind.CANCELED: "somebody ended the request",
    ErrorKind.FULL: "this process holds as much of answers as it may",
    ErrorKind.UNKNOWN: "the provider failed, and does not say how",
}
"""What a provider's failure means."""

CODES: Mapping[ErrorCode, str] = {
    ErrorCode.ENOENT: "no such file or folder",
    ErrorCode.EACCES: "no right to this file",
    ErrorCode.EPERM: "not permitted",
    ErrorCode.EEXIST: "it exists already",
    ErrorCode.EISDIR: "a folder, not a file",
    ErrorCode.ENOTDIR: "a file, not a folder",
    ErrorCode.ENOTEMPTY: "the folder is not empty",
    ErrorCode.ENOSPC: "the disk is full",
    ErrorCode.EMFILE: "too many files are open in this process",
    ErrorCode.ENFILE: "too many files are open on this machine",
    ErrorCode.EROFS: "the disk can only be read",
    ErrorCode.EBUSY: "in use",
    ErrorCode.EINVAL: "a value that the system does not take",
    ErrorCode.EIO: "the disk or device failed",
    ErrorCode.EAGAIN: "not now",
    ErrorCode.EPIPE: "the reader has gone",
    ErrorCode.ECONNREFUSED: "nobody listens at that address",
    ErrorCode.ECONNRESET: "the other side broke the connection",
    ErrorCode.ETIMEDOUT: "the other side did not answer",
    ErrorCode.EHOSTUNREACH: "no way to that machine",
    ErrorCode.ENETUNREACH: "no way to that network",
    ErrorCode.TIMEOUT: "the tool took longer than it may",
    ErrorCode.CANCELED: "the tool was stopped",
    ErrorCode.DENIED: "a person or a policy said no",
    ErrorCode.INVALID_ARGS: "the arguments do not fit the tool's schema",
    ErrorCode.UNKNOWN_TOOL: "no tool has this name",
    ErrorCode.TRUNCATED: "the call was cut off",
    ErrorCode.DNS_ERROR: "no machine has this name",
    ErrorCode.TLS_ERROR: "the certificate or the encryption failed",
    ErrorCode.NETWORK_ERROR: "the network failed, and nobody says how",
    ErrorCode.NETWORK_TIMEOUT: "the network did not answer in time",
    ErrorCode.MISSING_RESULT: "the conversation holds no result of this call",
    ErrorCode.NOT_EXECUTED: "the run ended before this call's turn came",
    ErrorCode.TOOL_CRASHED: "the tool raised an error it did not plan",
    ErrorCode.UNKNOWN_ERROR: "the tool failed, and does not say how",
}
"""What a failed tool's code means."""

ISSUES: Mapping[IssueKind, Explained] = {
    IssueKind.TRUNCATED: Explained("the text ends inside a call", "ask again; where a limit cut it, raise that limit"),
    IssueKind.MALFORMED: Explained("a call is written so that it cannot be read", "send its `correction` to the model"),
    IssueKind.UNKNOWN_TOOL: Explained("a call names a tool there is not", "send its `correction`; it names near ones"),
    IssueKind.INVALID_ARGUMENTS: Explained(
        "a call's arguments do not fit the schema", "send its `correction`; it lists each fault"
    ),
    IssueKind.IN_REASONING: Explained("a call stands in reasoning, as a rehearsal", "nothing: it was not meant"),
    IssueKind.COPIED: Explained("a call is a copy of one the model was shown", "nothing: it was not meant"),
    IssueKind.QUOTED: Explained("a call is quoted, not made", "nothing: it was not meant"),
    IssueKind.HALLUCINATED_RESULT: Explained(
        "the model wrote the result of its own call", "nothing: what it made up is taken out, the call runs"
    ),
    IssueKind.NOT_ALLOWED: Explained("the request's tool choice or protocol forbids it", "send its `correction`"),
    IssueKind.DUPLICATE_KEYS: Explained("a call gives one argument twice", "send its `correction`; nobody guesses"),
    IssueKind.NOISE: Explained("a mark of the model's template leaked", "nothing: it is taken out of the text"),
    IssueKind.WIRE_FAULT: Explained("a provider or a stream broke its API", "see `message`; the rest still counts"),
    IssueKind.UNSUPPORTED: Explained("an API has no place for a field", "leave out the field at `path`, or accept it"),
    IssueKind.PARTIAL: Explained("some calls of the answer run, others do not", "send the `correction`s of the others"),
    IssueKind.HISTORY: Explained("the conversation was put in order for the API", "send it in that order yourself"),
    IssueKind.REASKED: Explained("the model was asked again for this answer", "nothing: `raw` says how often"),
    IssueKind.CONFIRMED: Explained("asked, the model meant a call in doubt", "nothing: the call is in the answer"),
    IssueKind.DENIED: Explained("asked, the model did not mean a call in doubt", "nothing: the text stands"),
    IssueKind.TOOLS_IGNORED: Explained(
        "the backend took the tools and never showed them to the model", "set `tools = \"text\"` for this model"
    ),
    IssueKind.TOOLS_TESTED: Explained("the model was asked whether it sees its tools; it does", "nothing"),
}  # fmt: skip
"""What an `Issue` means, by its kind."""

LIMITS: Mapping[str, Explained] = {
    "turns": Explained("the model answered `max_turns` times", "raise `Policy.max_turns`, or ask for less"),
    "corrections": Explained(
        "`max_corrections` corrections in a row did not help", "look at `run.issues`; simplify the tool's schema"
    ),
    "seconds": Explained("the run took longer than `timeout`", "raise `Policy.timeout`, or go on from `run.messages`"),
    "tokens": Explained("the turns took more than `tokens`", "raise `Policy.tokens`"),
    "repeats": Explained(
        "the model made the same calls with the same results", "say in the prompt what to do when a tool does not help"
    ),
    "writes": Explained(
        "the model went on to call tools that change something, after `max_writes` of them",
        "look at what it did; raise `Policy.max_writes`, or say in the prompt when it is enough",
    ),
    "length": Explained("the answer was cut at the model's own limit", "raise `max_tokens`, or `Policy.continuations`"),
    "empty": Explained("the model says nothing, also when asked again", "ask another model, or with fewer tools"),
}
"""Which limit ended a run, by `Limit.which`."""
