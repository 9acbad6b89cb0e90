"""What the comparison needs of a source of turns, and the ways in which it may fail.

A chat template and a response template are both asked for the same: write this turn.  Knows neither, and no dialect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...errors import UsageError
from ...types import ToolCall

USER, TEXT, REASON, RESULT, REPLY = "qxqquestion", "qxqanswer", "qxqreason", "qxqresult", "qxqreply"
"""Words no template contains, to be found again in what it renders."""
REASONING_KEYS = ("reasoning_content", "thinking", "reasoning")
"""Under which name a template looks for the reasoning of a past turn (transformers aliases the first two)."""


class LearnError(UsageError):
    """A template that could not be turned into a row; `what` is what was not understood."""

    def __init__(self, what: str) -> None:
        self.what: str = what.rstrip(".")
        super().__init__(f"{self.what}; name a built-in dialect instead (dragoman list dialects)")


class NotUnderstood(Exception):
    """Turns whose comparison suggests no row; the words go into a `LearnError`."""


class CannotWrite(Exception):
    """The template refuses this conversation, or leaves part of it out."""


class Voice(Protocol):
    """A source of assistant turns.

    `role` is what stands before a turn's own text, `asker` the same of a user's turn, `header` the role's with
    everything every turn begins with (an empty reasoning block), `trailer` what every turn ends with, `opening` what
    the prompt writes of the next turn.
    """

    role: str
    asker: str
    header: str
    trailer: str
    opening: str

    def turn(self, calls: Sequence[ToolCall], text: str = "", reasoning: str = "") -> str:
        """One assistant turn, from the role's header to the end.  Raises `CannotWrite`."""

    def result(self, call: ToolCall, content: str) -> str:
        """The turn that tells a result, "" where it cannot be told apart.  Raises `CannotWrite`."""
