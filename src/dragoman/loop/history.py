"""The conversation of a run, in which every call gets exactly one result.

Knows messages and results; asks no model and runs no tool.  Contract: the model's message with calls is followed by
exactly one message with one result for each, in their order, before anything else is said.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..effects import Machine
from ..errors import ErrorCode
from ..types import Message, Part, Reasoning, Text, ToolCall, ToolResult
from .run_calls import ENDED, not_run
from .steps import ToolEnded

CANCELLED = "the run was cancelled"


class History:
    """The messages so far, and the results of the calls of the last one."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages: list[Message] = list(messages)
        self.results: dict[str, ToolResult] = {}
        self._pending: tuple[ToolCall, ...] = ()

    @property
    def is_pending(self) -> bool:
        """Do calls wait for their results?"""
        return bool(self._pending)

    def add(self, message: Message) -> None:
        """A message to the model."""
        self.messages.append(message)

    def add_answer(self, message: Message) -> None:
        """The model's message, where it says anything; its calls wait for their results from now on."""
        if any(_says_something(part) for part in message.parts):
            self.messages.append(message)
        self._pending, self.results = message.calls, {}

    def answer(self, call: ToolCall, result: ToolResult) -> Machine[None]:
        """The result of a call that does not run."""
        self.results[call.id] = result
        yield ToolEnded(call, result)

    def answer_all(self, code: ErrorCode) -> Machine[None]:
        """Give the calls that are still open a result that says they did not run."""
        why = CANCELLED if code is ErrorCode.CANCELED else ENDED
        for call in self._pending:
            if call.id not in self.results:
                yield from self.answer(call, not_run(call, why, code))
        self.close()

    def close(self) -> None:
        """Put the results, which are all there, into one message, in the order of the calls."""
        if self._pending:
            self.messages.append(Message("tool", [self.results[call.id] for call in self._pending]))
            self._pending = ()


def _says_something(part: Part) -> bool:
    return bool(part.text.strip()) if isinstance(part, Text) else not isinstance(part, Reasoning)
