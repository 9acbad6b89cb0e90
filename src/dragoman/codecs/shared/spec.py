"""What a codec is: a record of pure functions that read and write one wire API.

Knows the canonical values and the framing; knows no wire, no provider and no dialect.  What differs between peers that
speak the same API arrives as `Quirks`; what only the caller knows (an id, a time) as `Stamp`.

Contract.  `encode_*` never fails on canonical values: what a wire cannot carry is left out or sent in its nearest form.
`decode_request` and `decode_response` raise `CodecError` with a JSON path for what is not the API, and `ProviderError`
where the body is an error.  A stream decoder never raises on content: faults are issues of kind `WIRE_FAULT`; only an
error sent by the peer inside the stream is raised.  Fields no value models travel as `WireFields` and come back on
their own wire only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, Protocol

from ...errors import CodecError, ProviderError
from ...events import Event, ReasoningDelta, TextDelta, WireEvent
from ...types import NOTHING, JsonObject, Message, Request, Response
from .body import present
from .errors import ErrorFrame, read_failure
from .frames import Frame, FrameKind

Ids = Callable[[int], str]
"""Mints the id of the n-th call of an answer, from 0, where the wire gives none."""


class WireFields(dict[str, Any]):
    """Fields of one wire, as it gave them.  Equal to a plain dict of the same content; only codec `api` sends them.

    A plain mapping in `Request.extra` is the caller's own wish and goes out on every wire; a plain mapping in
    `metadata` is the caller's own note and goes out on none, the shared words apart: `signature`, `redacted`
    (Claude), `thought_signature` (Gemini) and `encrypted_content` (Responses) are read by every wire that has them;
    `seal` (ours) is written by every wire into the field that its clients give back.

    `origin` says which models read what a model wrote in these fields, "" where nobody knows.
    """

    __slots__ = ("api", "origin")

    def __init__(self, api: str, fields: Mapping[str, Any], origin: str = "") -> None:
        super().__init__(fields)
        self.api: str = api
        self.origin: str = origin

    @property
    def announced(self) -> tuple[WireEvent, ...]:
        """What a stream says before the text of a part with these fields: its wire's clients must know what comes."""
        return (WireEvent(self.api, REFUSAL, place_of(self)),) if self.get("type") == REFUSAL else ()


def place_of(fields: JsonObject) -> JsonObject:
    """Which message a text stands in, by the fields of its wire: texts of one message say the same."""
    return present({key: fields.get(key) for key in ("item", "apart")})


TYPED, TOOLSET = "typed", "toolset"
"""Where `metadata` keeps how a typed tool, a member of a set of them, or a call or result of one came on its wire."""
LEGACY = "legacy"
"""Marks a call in the deprecated form of its wire."""
MARKS = frozenset(
    {"apart", "fields", "implicit", "index", "legacy", "max_completion_tokens", "nested", "parameters"}
    | {"parametersJsonSchema", "part", "parts", "plain", "response", "role", "toolset", "toolset_name", "typed"}
    | {"unnumbered"}
)
"""Keys of `WireFields` that say how a wire wrote what the canonical value says too: no other wire misses them."""


def wire_fields(api: str, fields: Mapping[str, Any]) -> JsonObject:
    """`fields` without those that are null, as fields of wire `api`; `NOTHING` when none is left."""
    given = present(fields)
    return WireFields(api, given) if given else NOTHING


def extra_for(api: str, extra: JsonObject) -> JsonObject:
    """What of `Request.extra` goes out on wire `api`: its own fields, or the caller's."""
    return NOTHING if isinstance(extra, WireFields) and extra.api != api else extra


def own(api: str, metadata: JsonObject) -> JsonObject:
    """What of a part's or message's `metadata` goes out on wire `api`: only what came from it."""
    return metadata if isinstance(metadata, WireFields) and metadata.api == api else NOTHING


CHOICES = "choices"
"""The field of an answer for choices beside the first, and the name of a `WireEvent` that brings pieces of them."""
REFUSAL = "refusal"
"""The `type` of a text that declines, on wires with a field for one, and the name of the `WireEvent` before it."""
SEAL = "seal"
"""The word of `metadata` for state of another wire, sealed: opaque, given back by clients, opened by who made it."""
_SEALED = "dg1."


def seal_of(metadata: JsonObject) -> str:
    """The seal in `metadata`, "" where there is none."""
    seal = metadata.get(SEAL)
    return seal if isinstance(seal, str) else ""


def sealed(value: Any) -> JsonObject:
    """The metadata that `value`, given back in a wire's own field, is: a seal, or nothing."""
    return {SEAL: value} if isinstance(value, str) and value.startswith(_SEALED) else NOTHING


@dataclass(frozen=True, slots=True)
class Stamp:
    """What only the server knows of an answer: its id, when it was made (seconds since 1970), the model's name.

    `fields` are what it says of itself besides, in the words of its API (`previous_response_id`).
    """

    id: str = ""
    created: int = 0
    model: str = ""
    fields: JsonObject = NOTHING


UNSTAMPED = Stamp()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirks:
    """How a peer departs from the plain API it speaks.  Every default is the plain API; rows cite their sources.

    The examples are recorded refusals and habits (wire-quirks.md, "Requests refused", "OpenAI-compatible responses").
    """

    omit: frozenset[str] = frozenset()
    """Top-level request fields the peer refuses (`parallel_tool_calls` at many, `stream_options` at old servers)."""
    rename: Mapping[str, str] = NOTHING
    """Our top-level field → theirs (`max_tokens` → `max_completion_tokens` at OpenAI's reasoning models)."""
    add: Mapping[str, Any] = NOTHING
    """Top-level fields sent with every request (`store: false` at GitHub Copilot, `route` at OpenRouter)."""
    choices: frozenset[str] = frozenset({"auto", "none", "required", "named"})
    """The tool choices the peer takes; others go out as the nearest it takes (Moonshot: no required, no named)."""
    required_word: str = "required"
    """The peer's word for "must call" (Mistral's own clients write `any`)."""
    system_role: Literal["system", "developer"] = "system"
    """The role of instructions (OpenAI's reasoning models: developer)."""
    developer: bool = True
    """Does a chat wire know the role `developer` beside `system`?  It is OpenAI's; most others answer it with 400."""
    reasoning_field: Literal["reasoning_content", "reasoning", ""] = "reasoning_content"
    """Where past reasoning goes on chat wires (Groq, vLLM: `reasoning`; OpenAI, Mistral: nowhere, they refuse both)."""
    empty_content: Literal["null", "empty", "absent"] = "null"
    """The content of an assistant turn that only calls (OpenRouter to Mistral refuses "", old servers refuse null)."""
    content: Literal["parts", "text"] = "parts"
    """"text": the peer reads only strings; several text parts are joined (DeepSeek)."""
    result_media: Literal["user_turn", "native"] = "user_turn"
    """Where media of a tool result go on chat wires: OpenAI takes text only in tool messages (errors.jsonl)."""
    cache: Literal["asked", "always", "never"] = "asked"
    """Prompt-cache markers: where `Message.cache` asks; "always" also on system text and the last tool (seeds C6)."""
    thinking_off: Mapping[str, Any] = NOTHING
    """The fields that turn thinking off, where no word of effort does (`thinking: {type: disabled}` at DeepSeek)."""
    thinking_fields: Literal["", "claude", "effort", "nova"] = ""
    """Whose words of thinking a place passes on that has none of its own (Bedrock's `additionalModelRequestFields`)."""
    settings: frozenset[str] = frozenset()
    """Settings of other wires that the peer takes besides those of its wire (`codecs/crossing/settings.py`): of peers
    that speak OpenAI's chat API only some know a user, a tier of service or a key of the prompt cache.  `cache_control`
    and `media_resolution` are fields of parts (`codecs/crossing/parts.py`)."""
    unsigned_reasoning: Literal["drop", "send"] = "drop"
    """Reasoning without its signature: Anthropic refuses it, compatible peers (MiniMax, Kimi) want it back."""


PLAIN = Quirks()
"""The plain API."""


class Unsupported(CodecError):
    """A request that asks for what we do not serve; `details` say so in the words of the client's API."""

    def __init__(self, message: str, path: str, api: str, details: JsonObject) -> None:
        super().__init__(message, path, api)
        self.details = details


class Progress(Enum):
    """How far a streamed answer has come."""

    OPEN = "open"        # more of it follows
    STOPPED = "stopped"  # it said why it stops: only what it cost may follow
    OVER = "over"        # the wire's own terminator has come


class Likeness(Protocol):
    """How frames may differ that are alike: in one string, and in the values of the fields `noise`."""

    @property
    def noise(self) -> Sequence[str]:
        """The fields."""

    @property
    def kind(self) -> type[TextDelta] | type[ReasoningDelta] | None:
        """Of which kind the event is that each string makes, but an empty one; None: it may be another."""

    @property
    def last(self) -> str:
        """The string of the last frame."""

    def string(self, body: Any) -> str | None:
        """The string of a frame's body; None where there is none."""

    def rest(self) -> None:
        """Hold no frame to compare others with: whoever compares texts asks for that no more."""


class StreamDecoder(Protocol):
    """Frames of a streamed answer → events."""

    def expect(self, names: Collection[str]) -> None:
        """These are the names of the tools that may be called, as the wire spells them; to be told before any frame."""

    @property
    def like(self) -> Likeness | None:
        """How the next frames may differ from the last one; None where it was like no other."""

    def note(self, noise: JsonObject) -> None:
        """Such a frame had these fields; what its string says was handled as what it is (`Likeness.kind`)."""

    def feed_alike(self, text: str, noise: JsonObject) -> list[Event]:
        """The events of a frame that differs from the last one in this string, and these fields.

        Only while `like` says that frames may.
        """

    @property
    def progress(self) -> Progress:
        """How far the answer has come, by the frames so far."""

    def feed(self, frame: Frame) -> list[Event]:
        """The events of `frame`.  Raises `ProviderError` when the peer reports an error."""

    def close(self) -> list[Event]:
        """The events still due when the stream has ended, `Ended` last."""


class StreamEncoder(Protocol):
    """Events → frames of a streamed answer."""

    @property
    def number(self) -> int:
        """The number of the next frame; 0 on wires that do not number theirs."""

    def feed(self, event: Event) -> list[Frame]:
        """The frames `event` allows to send."""

    def runs(self, kind: type) -> bool:
        """Is a run of this kind of event under way, which the next such event would only go on with?"""

    def edges(self, write: Callable[[Frame], bytes]) -> tuple[str, str] | None:
        """What `go_on` writes around each text, which is JSON in ASCII itself; None where it does more than that."""

    def go_on(self, texts: Iterable[str], write: Callable[[Frame], bytes]) -> bytes:
        """What goes on with that run, one frame for each text, none of them empty, as `write` writes frames."""

    def close(self) -> list[Frame]:
        """What ends the stream."""


class DecodeResponse(Protocol):
    """A whole answer's body → `Response`."""

    def __call__(self, body: JsonObject, ids: Ids | None = None) -> Response: ...


class DecodeStream(Protocol):
    """A new decoder for one streamed answer."""

    def __call__(self, ids: Ids | None = None) -> StreamDecoder: ...


class EncodeRequest(Protocol):
    """`Request` → body."""

    def __call__(self, request: Request, quirks: Quirks = PLAIN) -> dict[str, Any]: ...


class EncodeResponse(Protocol):
    """`Response` → a whole answer's body; `request` is what it answers, for wires that repeat parts of it."""

    def __call__(
        self, response: Response, stamp: Stamp = UNSTAMPED, request: Request | None = None
    ) -> dict[str, Any]: ...


class EncodeStream(Protocol):
    """A new encoder for one streamed answer.

    `request` is what the client asked for (usage in the stream); `whole_calls` sends each call in one piece once it
    is complete, the form every client accepts, instead of in fragments as they come.
    """

    def __call__(
        self, stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True
    ) -> StreamEncoder: ...


class DecodeError(Protocol):
    """The answer of a refused request → `ProviderError`."""

    def __call__(
        self, status: int, body: bytes | str | JsonObject, headers: Mapping[str, str] = NOTHING
    ) -> ProviderError: ...


class TurnWriter(Protocol):
    """Writes the turns of a plain conversation (`conversation/plain.py`) as JSON: each time what is new of it.

    field   of the body in which the turns stand
    filled  does it write only those in which no turn is blank, and instructions stand in front alone?
    """

    field: str
    filled: bool

    def beside(self, messages: Sequence[Message]) -> int:
        """How many of the instructions in front stand beside the turns, not among them."""

    def more(self, known: Any, turns: Sequence[Message], start: int, *, single: bool) -> Any:
        """What `turns` come to, the first of them at `start`, behind those that came to `known` (None: to none).

        `single`: no turn of the model makes more than one call.
        """

    def pieces(self, known: Any, size: int, head: int, marks: Sequence[int]) -> tuple[bytes | memoryview, ...] | None:
        """The JSON of what came to `known`, a conversation of `size` messages of which `head` stand beside the turns.

        With cache markers after those at `marks`; None where it cannot be put together.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """One wire API.

    `path` and `stream_path` are where a client posts, below the API's root, `{model}` standing for the model's name;
    `decode_*` and `encode_*` take bodies as parsed JSON.  `encode_error` gives the HTTP status and body a client of
    this API understands, `error_frame` the frame of an error once the answer has begun.
    `several` is the field of a request that asks for several answers, on wires whose answers hold all (`CHOICES`).
    `turns` makes what writes the turns of plain conversations, for requests that differ in nothing else; None where
    more of a body depends on a conversation than its turns and the instructions in front of it.
    """

    name: str
    path: str
    stream_path: str
    frames: FrameKind
    encode_request: EncodeRequest
    decode_response: DecodeResponse
    decode_stream: DecodeStream
    decode_request: Callable[[JsonObject], Request]
    encode_response: EncodeResponse
    encode_stream: EncodeStream
    encode_error: Callable[[Exception], tuple[int, dict[str, Any]]]
    error_frame: ErrorFrame
    decode_error: DecodeError = read_failure
    several: str = ""
    turns: Callable[[Request, Quirks], TurnWriter] | None = None
