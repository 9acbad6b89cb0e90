"""Tools, requests and responses.

Knows no wire and no dialect.  Contract: frozen; values compare by content; `metadata` and `extra` carry what is not
modelled so that nothing a peer said is lost, and `metadata` of a `Tool` is never sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from operator import attrgetter
from typing import Literal

from ..display import Displayed, Piece
from ..late import late_call
from ..records import changer, dataclass
from .audit import Issue
from .mapping import EMPTY_OBJECT_SCHEMA, NOTHING, JsonObject
from .messages import Message, ToolCall
from .pieces import doubt_pieces, issue_pieces, part_pieces


def _as_words(record: object, name: str, given: Iterable[str] | None) -> None:
    """Put words given as a list, as one or not at all where a tuple is: equal wishes are equal, and have a hash."""
    if type(given) is not tuple:
        if given is not None and not isinstance(given, Iterable):
            raise _usage_error(f"{name} is a {type(given).__name__}; give texts in a list, or one")
        object.__setattr__(record, name, (given,) if given and isinstance(given, str) else tuple(given or ()))


_usage_error: Callable[[str], Exception] = late_call("..errors", "UsageError", __name__)
"""It knows these types."""
MODES = ("auto", "none", "required", "named")


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

    def __post_init__(self) -> None:
        _as_words(self, "allowed", self.allowed)
        if self.mode not in MODES:
            raise _usage_error(f"a tool choice has no mode {self.mode!r}; give one of {', '.join(MODES)}")


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

    def __post_init__(self) -> None:
        _as_words(self, "stop", self.stop)
        if not _NUMBERS.issuperset(map(type, _settings(self))):
            _check_settings(self)


_WHOLE = ("max_tokens", "top_k", "seed", "thinking_budget")
_FRACTIONS = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
_settings = attrgetter(*_WHOLE, *_FRACTIONS)
_NUMBERS = frozenset({int, float, type(None)})


def _check_settings(sampling: Sampling) -> None:
    """Numbers of other types (numpy's) count as numbers; texts are refused, and what is none."""
    for name in (*_WHOLE, *_FRACTIONS):
        value = getattr(sampling, name)
        if value is not None and (isinstance(value, str) or not hasattr(type(value), "__float__")):
            raise _usage_error(f"sampling: {name} is {value!r}; give a number, or None for the model's default")


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
        return changer(Request, "messages")(self, messages)

    def with_model(self, model: str, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> Request:
        """The request to another model, with other messages and tools."""
        return changer(Request, "model", "messages", "tools")(self, model, messages, tools)


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
