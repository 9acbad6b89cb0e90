"""The ends of a run, and what it leaves behind.

A closed union of frozen records: every run ends as exactly one of them, each with the whole conversation.
Knows the values of `types`; nothing of machines.  Contract: in `Run.messages` every call is answered by exactly one
result, whatever the end, so that the conversation can go on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from ..display import Displayed, Piece
from ..errors import DragomanError
from ..types import (
    Issue,
    Message,
    Response,
    Stop,
    ToolCall,
    ToolResult,
    Usage,
    doubt_pieces,
    issue_pieces,
    part_pieces,
)

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    V = TypeVar("V", default=Any)
else:
    from typing import TypeVar

    V = TypeVar("V")


class Bound(StrEnum):
    """Which limit ended a run."""

    TURNS = "turns"  # turns of the model
    CORRECTIONS = "corrections"  # corrections in a row that did not help
    SECONDS = "seconds"  # wall time
    TOKENS = "tokens"  # tokens, in and out, of all turns
    REPEATS = "repeats"  # turns in a row that brought nothing new: calls made before, with the results they had then
    WRITES = "writes"  # calls that change something; it made only more of them, twice after it was told
    LENGTH = "length"  # the answer was cut at the model's length limit
    EMPTY = "empty"  # the model says nothing, also when asked again


@dataclass(frozen=True, slots=True)
class Answered:
    """The model gave its answer: text, or the value that was asked for."""


@dataclass(frozen=True, slots=True)
class FinalTool:
    """A tool marked `final` ran, and its result is the outcome."""

    call: ToolCall
    result: ToolResult


@dataclass(frozen=True, slots=True)
class FinalAction:
    """The model ended the JSON action protocol: `{"final": {"content": value}}`."""

    value: Any


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of the policy was reached: which, and what it was."""

    which: Bound
    limit: float = 0


@dataclass(frozen=True, slots=True)
class Refused:
    """The model, or a filter before it, would not answer; `reason` is what was said instead."""

    reason: str = ""
    stop: Stop = Stop.REFUSED


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The caller cancelled."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Something that is not the model's doing: no provider answered, or a hook of the caller raised."""

    error: Exception


End: TypeAlias = Answered | FinalTool | FinalAction | Limit | Refused | Interrupted | Failed
NO_USAGE = Usage()
NO_VALUE: Any = None
DONE = (Answered, FinalTool, FinalAction)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Displayed, Generic[V]):
    """The outcome of a run; `Run[City]` is one that was asked for a `City`.

    messages   the conversation, from the first message given to the last one made
    response   the last answer of the model, None where there was none; after a failure or an interruption in the
               middle of an answer, what went out of it
    value      the structured output, the final tool's value, or the final action's; else None
    text       the answer as text
    usage      the tokens of all turns
    turns      how many answers the model gave
    issues     everything that was noticed, in order
    """

    end: End
    messages: tuple[Message, ...] = ()
    response: Response | None = None
    value: V = NO_VALUE
    text: str = ""
    usage: Usage = NO_USAGE
    turns: int = 0
    issues: tuple[Issue, ...] = ()

    @property
    def done(self) -> bool:
        """Did the model finish what it was asked?"""
        return isinstance(self.end, DONE)

    def _display_(self) -> Iterator[Piece]:
        for message in self.messages:
            yield Piece(f"{message.role}\n", "markup")
            yield from part_pieces(message.parts)
        if self.response is not None:
            yield from doubt_pieces(self.response.doubtful)
        yield from issue_pieces(self.issues)
        yield Piece(self.why or "answered", "accepted" if self.done else "refused")

    @property
    def why(self) -> str:
        """Why there is no answer, in words; "" where there is one."""
        match self.end:
            case Limit(which, limit):
                return f"stopped at the limit of {which} ({limit:g})"
            case Refused(reason):
                return f"the model would not answer: {reason}"
            case Failed(error):
                return str(error) or type(error).__name__
            case Interrupted():
                return "interrupted"
        return ""

    def raise_for_end(self) -> None:
        """Raise what ended the run, where it is not the answer: `run` on it is this run.

        The error of a `Failed` is raised itself (a ProviderError mostly, or what a hook raised), RunUnfinished for a
        limit or a refusal.  Who cancelled knows that they did: an interrupted run raises nothing.
        """
        if self.done or isinstance(self.end, Interrupted):
            return
        error = self.end.error if isinstance(self.end, Failed) else RunUnfinished(self)
        with suppress(AttributeError):  # a hook's error may have slots only
            error.run = self  # type: ignore[attr-defined]
        raise error


class RunUnfinished(DragomanError):
    """A run ended before the model had answered: at a limit of its policy, or because the model refused.

    `run` is the run so far: `run.end` says how it ended, `run.messages` is the conversation, to go on with.
    """

    def __init__(self, run: Run[Any]) -> None:
        self.run = run
        super().__init__(f"{run.why}; {UNFINISHED[type(run.end)]}")


UNFINISHED: Mapping[type[End], str] = {
    Limit: "raise the limit in Policy(…), or go on with messages=error.run.messages",
    Refused: "ask otherwise, or ask another model; what it said is error.run.text",
}
