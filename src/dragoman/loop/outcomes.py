"""The ends of a run, and what it leaves behind.

A closed union of frozen records: every run ends as exactly one of them, each with the whole conversation.
Knows the values of `types.py`; nothing of machines.  Contract: in `Run.messages` every call is answered by exactly one
result, whatever the end, so that the conversation can go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from ..types import Issue, Message, Response, Stop, ToolCall, ToolResult, Usage


class Bound(StrEnum):
    """Which limit ended a run."""

    TURNS = "turns"  # turns of the model
    CORRECTIONS = "corrections"  # corrections in a row that did not help
    SECONDS = "seconds"  # wall time
    TOKENS = "tokens"  # tokens, in and out, of all turns
    REPEATS = "repeats"  # turns in a row that brought nothing new: calls made before, with the results they had then
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
DONE = (Answered, FinalTool, FinalAction)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The outcome of a run.

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
    value: Any = None
    text: str = ""
    usage: Usage = NO_USAGE
    turns: int = 0
    issues: tuple[Issue, ...] = ()

    @property
    def done(self) -> bool:
        """Did the model finish what it was asked?"""
        return isinstance(self.end, DONE)
