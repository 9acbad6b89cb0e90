"""Messages, and the parts that they are made of.

Knows no tool beyond its name, no request and no wire.  Contract: frozen; values compare by content, but for what a call
says of its own past; `metadata` carries what is not modelled, so that nothing a peer said is lost.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from types import GeneratorType
from typing import Any, Literal, NoReturn, TypeAlias

from ..late import late_call
from ..records import changer, dataclass, field, unfrozen
from .audit import Report
from .mapping import NOTHING, Json, JsonObject

Role = Literal["system", "user", "assistant", "tool"]
ROLES = ("system", "user", "assistant", "tool")


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
    """An image, sound or file: base64 `data` or a `url`, with its media type (`image/png`).

    `data` may be given as bytes.  Raises UsageError for what is no text.
    """

    mime: str = ""
    data: str = ""
    url: str = ""
    name: str = ""
    metadata: JsonObject = NOTHING

    def __post_init__(self) -> None:
        if type(self.data) is not str:
            object.__setattr__(self, "data", _base64(self.data))


def _base64(data: Any) -> str:
    if isinstance(data, bytes | bytearray | memoryview):
        return b2a_base64(data, newline=False).decode()
    if isinstance(data, str):
        return data
    raise _usage_error(f"the data of media is a {type(data).__name__}; give its bytes, or base64 of them")


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
    signals.  `content` may be given as one string, or as a JSON value, which becomes its text; it is always stored as
    parts.  Raises UsageError for what has no JSON.
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
        content: str | Text | Media | Iterable[Text | Media | str] | Json = (),
        is_error: bool = False,
        error_code: str | None = None,
        metadata: JsonObject = NOTHING,
    ) -> None:
        parts: tuple[Text | Media, ...]
        if isinstance(content, str):
            parts = (Text(content),)
        else:
            parts = content if type(content) is tuple and _SHOWN.issuperset(map(type, content)) else _shown(content)
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


_SHOWN = frozenset({Text, Media})


def _shown(content: Any) -> tuple[Text | Media, ...]:
    """What a result shows: parts as they are, with texts among them; all else as JSON, as a tool's value is."""
    if isinstance(content, Text | Media):
        return (content,)
    if not isinstance(content, list | tuple | Iterator):
        return (Text(_as_json(content)),)
    given = tuple(content)
    if _SHOWN.issuperset(map(type, given)):
        return given
    if any(isinstance(each, Text | Media) for each in given):
        return tuple(map(_shown_part, given))
    return (Text(_as_json(given)),)


def _shown_part(given: Any) -> Text | Media:
    if isinstance(given, Text | Media):
        return given
    return Text(given if isinstance(given, str) else _as_json(given))


def _as_json(value: Any) -> str:
    if not isinstance(value, bytes | bytearray | memoryview):
        try:
            return _json(value)
        except (TypeError, ValueError, RecursionError):
            pass
    raise _usage_error(NO_CONTENT.format(kind=type(value).__name__))


NO_CONTENT = (
    "a {kind} that is no JSON is no content of a result; give a text, a JSON value, or Text and Media (bytes: decode "
    "them, or Media(mime=…, data=…))"
)


Part: TypeAlias = Text | Reasoning | Media | ToolCall | ToolResult | Opaque
_PARTS = frozenset({Text, Reasoning, Media, ToolCall, ToolResult, Opaque})
_SERIES: tuple[type, ...] = (list, tuple, GeneratorType)


def _listed(parts: Any) -> tuple[Any, ...]:
    """What was given for parts and is no list of them: other iterables, or the only part there is."""
    if isinstance(parts, Iterable) and not isinstance(parts, Part | Mapping | bytes):
        return tuple(parts)
    return (parts,)


def _part(given: Any) -> Part:
    if isinstance(given, Part):
        return given
    if isinstance(given, str):
        return Text(given)
    raise _usage_error(NO_PART.format(kind=type(given).__name__))


def _no_role(role: object) -> NoReturn:
    raise _usage_error(f"a message has no role {role!r}; give one of {', '.join(ROLES)}")


NO_PART = (
    "a {kind} is no part of a message; give a text, or Text, Reasoning, Media, ToolCall, ToolResult (blocks of an API: "
    "Opaque(api=…, block=…), or the API's own messages to Client.run(messages=…))"
)
_json: Callable[[Any], str] = late_call("..jsontext", "dumps", __name__)
_usage_error: Callable[[str], Exception] = late_call("..errors", "UsageError", __name__)
"""Both know these types."""


class _Noted:
    """What is asked of a message by every stage of every turn: found once, for a message never changes."""

    __slots__ = ("_bare", "_calls", "_results")
    _bare: bool
    _calls: tuple[ToolCall, ...]
    _results: tuple[ToolResult, ...]


@dataclass(frozen=True, slots=True, init=False)
class Message(_Noted):
    """One message.  `cache` asks for a prompt-cache marker after it, where the wire has one.

    `parts` may be given as one string, or as one part.  Tool results stand in messages of role "tool", all results that
    answer one assistant message in one message.  Raises UsageError for a role there is not, and for what is no part.
    """

    role: Role
    parts: tuple[Part, ...]
    cache: bool
    metadata: JsonObject

    def __init__(
        self,
        role: Role,
        parts: str | Part | Iterable[Part | str] = (),
        *,
        cache: bool = False,
        metadata: JsonObject = NOTHING,
    ) -> None:
        put_role, put_parts, put_cache, put_metadata = _PUT
        put_role(self, role if role in ROLES else _no_role(role))
        if isinstance(parts, str):
            put_parts(self, (Text(parts),))
        else:
            given: Any = parts
            made = tuple(given) if type(given) in _SERIES else _listed(given)
            put_parts(self, made if _PARTS.issuperset(map(type, made)) else tuple(map(_part, made)))
        put_cache(self, cache)
        put_metadata(self, metadata)

    def with_cache(self, cache: bool) -> Message:
        """The message asking for a cache marker, or for none."""
        return changer(Message, "cache")(self, cache)

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
    if len(parts) == 1 and type(only := parts[0]) is Text:  # as nearly all
        put_calls(message, ())
        put_results(message, ())
        put_bare(message, not (message.cache or message.metadata or only.metadata))
        return
    put_calls(message, tuple([part for part in parts if isinstance(part, ToolCall)]))
    put_results(message, tuple([part for part in parts if isinstance(part, ToolResult)]))
    put_bare(message, not (message.cache or message.metadata) and all(map(_is_bare, parts)))


def spoken(parts: Sequence[Text | Reasoning | ToolCall]) -> Message:
    """A message of the model in which nothing else stands: what every reader of it asks is noted at once."""
    calls: list[ToolCall] = []
    bare = True
    for part in parts:
        if type(part) is ToolCall:
            calls.append(part)
        if part.metadata:
            bare = False
    message = _unfrozen()()
    message.role, message.parts, message.cache, message.metadata = "assistant", (*parts,), False, NOTHING
    message._calls, message._results, message._bare = (*calls,), (), bare
    message.__class__ = Message
    made: Message = message
    return made


@cache
def _unfrozen() -> Callable[[], Any]:
    return unfrozen(Message)


def _is_bare(part: Part) -> bool:
    if isinstance(part, ToolResult):
        spoken = not part.metadata and _SPOKEN.issuperset(map(type, part.content))
        return spoken and not any(map(_metadata, part.content))
    return not (isinstance(part, Media | Opaque) or part.metadata)


_SPOKEN = frozenset({Text})
_metadata = attrgetter("metadata")
