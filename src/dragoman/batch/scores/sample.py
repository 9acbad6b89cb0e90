"""One answer as scores see it: the calls that were written in it, what became of them, and what was expected.

Knows tools and values; nothing of formats, files or how calls are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, TypeAlias

from ...records import dataclass
from ...schema.validation import shape
from ...types import JsonObject, Tool, Verdict
from ..result import JudgedCall
from .possible import Expectation

Reply: TypeAlias = Literal["", "direct", "tool_call", "request_for_info", "cannot_answer"]
"""What an answer is, in the classes of the When2Call benchmark; "" where nobody said."""
RUNS = frozenset({Verdict.ACCEPTED, Verdict.MENDED})
"""Verdicts of calls that run."""
Expects: TypeAlias = Literal["", "calls", "none"]
"""Does a question need calls?  "" where nobody said."""


@dataclass(frozen=True, slots=True)
class Gold:
    """What was expected of an answer: whether calls, which ones, and its class."""

    expects: Expects = ""
    calls: Expectation | None = None
    reply: Reply = ""


class Sample:
    """An answer to be scored.

    `id` joins it with the same question in another set; `task` and `reward` are set where it is a trial of a task;
    `tools` are None where nobody said which there were; `failed` answers came of a broken machine, not of a model, and
    are counted nowhere but as excluded.
    """

    def __init__(
        self,
        id: str,  # noqa: A002  the field's word
        calls: tuple[JudgedCall, ...] = (),
        tools: tuple[Tool, ...] | None = (),
        gold: Gold | None = None,
        *,
        reply: Reply = "",
        finish: str = "",
        model: str = "",
        category: str = "",
        task: str = "",
        reward: float | None = None,
        failed: bool = False,
    ) -> None:
        self.id, self.calls, self.tools = id, calls, tools
        self.gold: Gold = gold or Gold()
        self.finish, self.model, self.category = finish, model, category
        self.task, self.reward, self.failed = task, reward, failed
        self._reply = reply

    @cached_property
    def declared(self) -> Mapping[str, Tool]:
        """The tools by name."""
        return {tool.name: tool for tool in self.tools or ()}

    @cached_property
    def running(self) -> tuple[tuple[str, JsonObject], ...]:
        """The calls that run, by name and arguments."""
        running = (call for call in self.calls if call.verdict in RUNS)
        return tuple((call.name, call.arguments) for call in running if call.arguments is not None)

    @property
    def reply(self) -> Reply:
        """The class of this answer: a call is one, and words without a class answer directly."""
        return "tool_call" if self.running else self._reply or "direct"

    def parameters(self) -> Mapping[str, Mapping[str, Any]]:
        """The schemas of the tools by name."""
        return {name: tool.parameters for name, tool in self.declared.items()}

    def invents(self, call: JudgedCall) -> bool | None:
        """Does a call give a parameter that is not declared?  None of an unknown tool, or one that takes any key."""
        tool = self.declared.get(call.name)
        if tool is None or call.arguments is None or tool.parameters.get("additionalProperties") is True:
            return None
        keys = shape(tool.parameters).keys
        return any(key not in keys for key in call.arguments)
