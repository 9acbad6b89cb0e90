"""One answer as scores see it: the calls that were written in it, what became of them, and what was expected.

Knows tools and values; nothing of formats, files or how calls are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, TypeAlias

from ...records import dataclass
from ...schema.validation import faults, shape
from ...types import JsonObject, Tool
from .possible import Expectation

Reply: TypeAlias = Literal["", "direct", "tool_call", "request_for_info", "cannot_answer"]
"""What an answer is, in the classes of the When2Call benchmark; "" where nobody said."""
Expects: TypeAlias = Literal["", "calls", "none"]
"""Does a question need calls?  "" where nobody said."""


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call as it stands in an answer.

    `written` are its arguments where they are a JSON object as they stand, `arguments` where they are one after
    repair; None where not.  `runs` says whether the judge lets it run.
    """

    name: str
    written: JsonObject | None
    arguments: JsonObject | None
    runs: bool = True


@dataclass(frozen=True, slots=True)
class Gold:
    """What was expected of an answer: whether calls, which ones, and its class."""

    expects: Expects = ""
    calls: Expectation | None = None
    reply: Reply = ""


class Sample:
    """An answer to be scored.

    `id` joins it with the same question in another set; `task`, `trial` and `reward` are set where it is a trial of
    a task; `failed` answers came of a broken machine, not of a model, and are counted nowhere but as excluded.
    """

    def __init__(
        self,
        id: str,  # noqa: A002  the field's word
        calls: tuple[WrittenCall, ...] = (),
        tools: tuple[Tool, ...] = (),
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
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def running(self) -> tuple[tuple[str, JsonObject], ...]:
        """The calls that run, by name and arguments."""
        return tuple((call.name, call.arguments) for call in self.calls if call.runs and call.arguments is not None)

    @property
    def reply(self) -> Reply:
        """The class of this answer: a call is one, and words without a class answer directly."""
        return "tool_call" if self.running else self._reply or "direct"

    def parameters(self) -> Mapping[str, Mapping[str, Any]]:
        """The schemas of the tools by name."""
        return {name: tool.parameters for name, tool in self.declared.items()}

    def is_valid(self, name: str, arguments: JsonObject | None) -> bool:
        """Is this a call of a declared tool whose schema its arguments fit?"""
        tool = self.declared.get(name)
        return tool is not None and arguments is not None and not faults(tool.parameters, arguments)

    def invents(self, call: WrittenCall) -> bool:
        """Does a call of a declared tool give a parameter that is not declared?"""
        keys = shape(self.declared[call.name].parameters).keys
        return any(key not in keys for key in call.arguments or ())

    def may_invent(self, call: WrittenCall) -> bool:
        """Is it told for a call whether its parameters are declared: of a known tool that does not take any key?"""
        tool = self.declared.get(call.name)
        if tool is None or call.arguments is None:
            return False
        return tool.parameters.get("additionalProperties") is not True
