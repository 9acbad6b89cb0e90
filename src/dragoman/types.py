"""The values of everything else: tools, parts, messages, requests, responses.

All frozen; nothing here knows a wire, a dialect or a clock.  Contract: values compare by content,
`metadata` and `extra` carry what we do not model so that nothing a peer said is lost, and `metadata`
of a `Tool` is never sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from operator import attrgetter
from typing import Any, Literal, NoReturn, TypeAlias

from .display import KINDS, Displayed, Piece, report_pieces
from .records import dataclass, field

Json: TypeAlias = "bool | int | float | str | list[Any] | dict[str, Any] | None"
JsonObject: TypeAlias = Mapping[str, Any]
Role = Literal["system", "user", "assistant", "tool"]


class FrozenDict(dict[str, Any]):
    """A mapping nobody can change: a JSON object to every reader, and hashable, so that it may be a default."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self))

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping is shared and cannot change; copy it with dict(…) first")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse


NOTHING: JsonObject = FrozenDict()
EMPTY_OBJECT_SCHEMA: JsonObject = FrozenDict(type="object", properties=FrozenDict())


# ── the audit trail ──────────────────────────────────────────────────────────


class Verdict(StrEnum):
    """The judge's decision on a candidate call."""

    ACCEPTED = "accepted"
    MENDED = "mended"
    REFUSED = "refused"
    DOUBTFUL = "doubtful"
    QUOTED = "quoted"


class Tier(StrEnum):
    """Ways for a call to reach us."""

    NATIVE = "native"
    TAGGED = "tagged"
    RAW_JSON = "raw_json"


@dataclass(frozen=True, slots=True)
class Edit:
    """One mend: its kind (`trailing_comma`), where (JSON path or ""), and what became what, where short."""

    kind: str
    path: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Displayed):
    """The audit trail of one call: which dialect, where it stood, what was mended, what the judge said and why.

    `span` is (start, end) in characters of the model's output; `rule` names the row of the judge's table that decided,
    `reason` says it in words, `evidence` holds what was seen, by the names of docs/judge.md.
    """

    dialect: str = ""
    span: tuple[int, int] | None = None
    tier: Tier = Tier.TAGGED
    edits: tuple[Edit, ...] = ()
    verdict: Verdict = Verdict.ACCEPTED
    rule: str = ""
    reason: str = ""
    evidence: JsonObject = NOTHING

    def _display_(self) -> Iterable[Piece]:
        return report_pieces(self)


class IssueKind(StrEnum):
    """Kinds of issues: something went wrong, or was left out."""

    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    UNKNOWN_TOOL = "unknown_tool"
    INVALID_ARGUMENTS = "invalid_arguments"
    IN_REASONING = "in_reasoning"
    COPIED = "copied"
    QUOTED = "quoted"
    HALLUCINATED_RESULT = "hallucinated_result"
    NOT_ALLOWED = "not_allowed"
    DUPLICATE_KEYS = "duplicate_keys"
    NOISE = "noise"
    WIRE_FAULT = "wire_fault"
    UNSUPPORTED = "unsupported"
    PARTIAL = "partial"
    HISTORY = "history"
    REASKED = "reasked"
    CONFIRMED = "confirmed"
    DENIED = "denied"
    TOOLS_IGNORED = "tools_ignored"
    TOOLS_TESTED = "tools_tested"


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """A mistake of the model, a peer or a conversion, as a value.

    `raw` is the text concerned, exactly as written (so nothing is lost); `correction` is what to tell the
    model, ready to send; `name` the tool concerned, where one was named; `path` a JSON path for wire issues.
    """

    kind: IssueKind
    message: str
    raw: str = ""
    name: str = ""
    correction: str = ""
    span: tuple[int, int] | None = None
    path: str = ""
    call_id: str = ""


# ── tools ────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool the model may call: its name, what it does, and the JSON Schema of its arguments."""

    name: str
    description: str = ""
    parameters: JsonObject = EMPTY_OBJECT_SCHEMA
    strict: bool = False
    metadata: JsonObject = NOTHING


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether the model may, must or must not call: `mode`, and the tool's name when `mode` is "named".

    `allowed` names the only tools it may call, () for all that are declared.
    """

    mode: Literal["auto", "none", "required", "named"] = "auto"
    name: str = ""
    allowed: tuple[str, ...] = ()


# ── parts of a message ───────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Text:
    """Visible text."""

    text: str
    metadata: JsonObject = field(default=NOTHING, kw_only=True)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The model's thinking.  `metadata` keeps what must be sent back (`signature`, `encrypted` …)."""

    text: str
    metadata: JsonObject = field(default=NOTHING, kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """An image, sound or file: base64 `data` or a `url`, with its media type (`image/png`)."""

    mime: str = ""
    data: str = ""
    url: str = ""
    name: str = ""
    metadata: JsonObject = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """A block of one API that no other can carry (server-side tools and their results): `block` verbatim."""

    api: str
    block: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call the model made.

    `raw` is the JSON of the arguments as the model wrote it, replayed byte for byte to the same API; it does not
    take part in comparison, nor does `report`.
    """

    id: str
    name: str
    arguments: JsonObject = NOTHING
    raw: str | None = field(default=None, compare=False)
    report: Report | None = field(default=None, compare=False)
    metadata: JsonObject = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class ToolResult:
    """A tool's answer.

    `is_error` says that it failed, `error_code` how (`ErrorCode`, or the tool's own word): two orthogonal
    signals.  `content` may be given as one string; it is always stored as parts.
    """

    call_id: str
    name: str
    content: tuple[Text | Media, ...]
    is_error: bool
    error_code: str | None
    metadata: JsonObject

    def __init__(
        self,
        *,
        call_id: str,
        name: str = "",
        content: str | Iterable[Text | Media] = (),
        is_error: bool = False,
        error_code: str | None = None,
        metadata: JsonObject = NOTHING,
    ) -> None:
        parts: tuple[Text | Media, ...] = (Text(content),) if isinstance(content, str) else tuple(content)
        put = object.__setattr__
        put(self, "call_id", call_id)
        put(self, "name", name)
        put(self, "content", parts)
        put(self, "is_error", is_error)
        put(self, "error_code", error_code or None)
        put(self, "metadata", metadata)

    @property
    def text(self) -> str:
        """The text parts joined; media left out."""
        only = self.content[0] if len(self.content) == 1 else None
        return only.text if type(only) is Text else "".join([p.text for p in self.content if isinstance(p, Text)])


Part: TypeAlias = Text | Reasoning | Media | ToolCall | ToolResult | Opaque


class _Noted:
    """What is asked of a message by every stage of every turn: found once, for a message never changes."""

    __slots__ = ("_bare", "_calls", "_results")
    _bare: bool
    _calls: tuple[ToolCall, ...]
    _results: tuple[ToolResult, ...]


@dataclass(frozen=True, slots=True, init=False)
class Message(_Noted):
    """One message.  `cache` asks for a prompt-cache marker after it, where the wire has one.

    `parts` may be given as one string.  Tool results stand in messages of role "tool", all results that answer one
    assistant message in one message.
    """

    role: Role
    parts: tuple[Part, ...]
    cache: bool
    metadata: JsonObject

    def __init__(
        self, role: Role, parts: str | Iterable[Part] = (), *, cache: bool = False, metadata: JsonObject = NOTHING
    ) -> None:
        put_role, put_parts, put_cache, put_metadata = _PUT
        put_role(self, role)
        put_parts(self, (Text(parts),) if isinstance(parts, str) else tuple(parts))
        put_cache(self, cache)
        put_metadata(self, metadata)

    def with_parts(self, parts: Iterable[Part]) -> Message:
        """The message with other parts."""
        return Message(self.role, parts, cache=self.cache, metadata=self.metadata)

    @property
    def text(self) -> str:
        """The visible text, joined."""
        only = self.parts[0] if len(self.parts) == 1 else None
        return only.text if type(only) is Text else "".join([p.text for p in self.parts if isinstance(p, Text)])

    @property
    def reasoning(self) -> str:
        """The reasoning, joined."""
        return "".join([p.text for p in self.parts if isinstance(p, Reasoning)])

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        try:
            return self._calls
        except AttributeError:
            _note(self)
            return self._calls

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results, in order."""
        try:
            return self._results
        except AttributeError:
            _note(self)
            return self._results

    @property
    def bare(self) -> bool:
        """Is it text, reasoning, calls and results alone: no fields, blocks, media or cache marker of any one API?"""
        try:
            return self._bare
        except AttributeError:
            _note(self)
            return self._bare


_PUT: Any = tuple(getattr(Message, name).__set__ for name in ("role", "parts", "cache", "metadata"))


_PUT_NOTES: Any = tuple(getattr(_Noted, name).__set__ for name in ("_calls", "_results", "_bare"))


def _note(message: Message) -> None:
    """Whoever asks one of these asks the others too."""
    parts, (put_calls, put_results, put_bare) = message.parts, _PUT_NOTES
    put_calls(message, tuple([part for part in parts if isinstance(part, ToolCall)]))
    put_results(message, tuple([part for part in parts if isinstance(part, ToolResult)]))
    put_bare(message, not (message.cache or message.metadata) and all(map(_is_bare, parts)))


def spoken(parts: Sequence[Text | Reasoning | ToolCall]) -> Message:
    """A message of the model in which nothing else stands: what every reader of it asks is noted at once."""
    message = Message("assistant", parts)
    put_calls, put_results, put_bare = _PUT_NOTES
    calls: list[ToolCall] = []
    bare = True
    for part in parts:
        if type(part) is ToolCall:
            calls.append(part)
        if part.metadata:
            bare = False
    put_calls(message, (*calls,))
    put_results(message, ())
    put_bare(message, bare)
    return message


def _is_bare(part: Part) -> bool:
    if isinstance(part, ToolResult):
        spoken = not part.metadata and _SPOKEN.issuperset(map(type, part.content))
        return spoken and not any(map(_metadata, part.content))
    return not (isinstance(part, Media | Opaque) or part.metadata)


_SPOKEN = frozenset({Text})
_metadata = attrgetter("metadata")


# ── requests and responses ───────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Sampling; None means the peer's default.

    `effort` is the reasoning effort, by the wires' own words ("none" for no reasoning); `thinking_budget` is the most
    tokens that may be spent on it: 0 for none, -1 where the model is to decide.
    """

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    effort: str | None = None
    thinking_budget: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSchema:
    """A demand on the answer's form: any JSON object (`schema` None), or JSON that fits `schema`.

    `bare`: a word out of the schema's `enum`, as it is and not as JSON.
    """

    schema: JsonObject | None = None
    name: str = ""
    strict: bool = False
    description: str = ""
    bare: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request to a model.  `extra` holds the wire's fields that we do not model, never lost on the same API."""

    model: str
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel: bool | None = None
    sampling: Sampling = Sampling()
    output_schema: OutputSchema | None = None
    stream: bool = False
    extra: JsonObject = NOTHING

    def with_messages(self, messages: tuple[Message, ...]) -> Request:
        """The request with other messages."""
        return self.with_model(self.model, messages, self.tools)

    def with_model(self, model: str, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> Request:
        """The request to another model, with other messages and tools."""
        return Request(
            model=model,
            messages=messages,
            tools=tools,
            tool_choice=self.tool_choice,
            parallel=self.parallel,
            sampling=self.sampling,
            output_schema=self.output_schema,
            stream=self.stream,
            extra=self.extra,
        )


class Stop(StrEnum):
    """Reasons for the model to stop."""

    END = "end"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    STOP_SEQUENCE = "stop_sequence"
    FILTERED = "filtered"
    REFUSED = "refused"
    PAUSE = "pause"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens: `input` counts all input tokens, cached ones included; `output` counts reasoning too."""

    input: int = 0
    output: int = 0
    cached: int = 0
    cache_written: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """Input plus output."""
        return self.input + self.output

    def __add__(self, other: Usage | None) -> Usage:
        """Both together; None costs nothing."""
        if other is None:
            return self
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cached=self.cached + other.cached,
            cache_written=self.cache_written + other.cache_written,
            reasoning=self.reasoning + other.reasoning,
        )

    __radd__ = __add__


@dataclass(frozen=True, slots=True, kw_only=True)
class Response(Displayed):
    """A whole answer: the message, why it stopped, what it cost, and everything that had to be noticed.

    `doubtful` are calls that stand in the visible text, complete and fitting, of which it is not certain that they were
    meant: nobody runs them before the model was asked.
    """

    message: Message = Message("assistant")
    stop: Stop | None = None
    usage: Usage | None = None
    model: str = ""
    id: str = ""
    issues: tuple[Issue, ...] = ()
    extra: JsonObject = NOTHING
    doubtful: tuple[ToolCall, ...] = ()

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls to run, in order; refused ones are in `issues`."""
        return self.message.calls

    @property
    def text(self) -> str:
        """The visible text."""
        return self.message.text

    @property
    def reasoning(self) -> str:
        """The reasoning."""
        return self.message.reasoning

    def _display_(self) -> Iterator[Piece]:
        yield from part_pieces(self.message.parts)
        yield from doubt_pieces(self.doubtful)
        yield from issue_pieces(self.issues)


# ── to be looked at ──────────────────────────────────────────────────────────


def part_pieces(parts: Iterable[Part]) -> Iterator[Piece]:
    """The parts of a message in colours, each on lines of its own."""
    for part in parts:
        yield _piece(part)
        yield Piece("\n")


def doubt_pieces(calls: Iterable[ToolCall]) -> Iterator[Piece]:
    """Calls in doubt, each with its report."""
    for call in calls:
        yield _piece(call)
        yield Piece("\n")
        yield from report_pieces(call.report) if call.report is not None else ()


def issue_pieces(issues: Iterable[Issue]) -> Iterator[Piece]:
    """What was noticed, a line for each."""
    return (Piece(f"{issue.kind}: {issue.message}\n", "markup", issue.correction) for issue in issues)


def _piece(part: Part) -> Piece:
    match part:
        case Text(text):
            return Piece(text)
        case Reasoning(text):
            return Piece(text, "reasoning")
        case ToolCall(name=name, arguments=arguments, report=report):
            verdict, why = (str(report.verdict), report.reason) if report is not None else ("accepted", "")
            written = json.dumps(arguments, ensure_ascii=False, default=str)
            return Piece(f"{KINDS[verdict].sign} {name} {written}", verdict, why)
        case ToolResult():
            return Piece(f"{part.name or 'result'}: {part.text}", "refused" if part.is_error else "markup")
        case Media():
            return Piece(f"[{part.mime or part.name or 'media'}]", "markup")
        case Opaque():
            return Piece(f"[a block of {part.api}]", "markup")


def names(tools: Sequence[Tool]) -> tuple[str, ...]:
    """The tools' names, in order."""
    return tuple(t.name for t in tools)
