"""The steps of a run, besides the events of the model's answers.

Frozen records, in the order in which things happen; they decide nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ..effects import ToolProgress
from ..events import Event
from ..types import Issue, Message, Request, Response, ToolCall, ToolResult
from .policy import Decision


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The model is asked for the `index`-th time (from 0)."""

    index: int
    request: Request


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The model's answer is complete."""

    index: int
    response: Response


@dataclass(frozen=True, slots=True)
class ApprovalDecided:
    """Somebody was asked whether this call may run, and decided."""

    call: ToolCall
    decision: Decision


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool is about to run; the call's arguments are those it gets."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A call has its result, also one that was wrong, denied or not run at all."""

    call: ToolCall
    result: ToolResult


@dataclass(frozen=True, slots=True)
class Corrected:
    """The model's answer was wrong; `message` is what it gets, None where results say it all."""

    issues: tuple[Issue, ...]
    message: Message | None = None


Step: TypeAlias = TurnStarted | TurnEnded | ApprovalDecided | ToolStarted | ToolEnded | ToolProgress | Corrected
RunEvent: TypeAlias = Event | Step
"""What can be seen of a run while it happens: the events of answers, and the steps between them."""
