"""A tool and what runs it, as values: `Runnable`, the `Context` it may ask for, when it needs approval.

Does not know where a runnable comes from (`decorator.py`), nor who runs it, when, or how long.
Contract: `function` takes the arguments after they were validated, and may return an awaitable; what it raises is a
failure of the tool (`failures.py`), what it returns its result (`results.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from ..errors import UsageError, one_of
from ..schema.validation import Fault, faults
from ..types import JsonObject, Tool, ToolCall


class Approval(StrEnum):
    """Must a person allow each call?  POLICY leaves it to whoever runs the tool."""

    NEVER = "never"
    ALWAYS = "always"
    POLICY = "policy"


def ignored(text: str) -> None:
    """Progress that nobody listens to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A tool's surroundings, given to a parameter annotated `Context`; models never see that parameter.

    `call` is the call being answered; `key` names this execution (the same again when it is repeated after a crash),
    for effects that must happen once; `report` passes progress on to whoever listens.
    """

    call: ToolCall
    key: str = ""
    report: Callable[[str], None] = ignored


MOST = 1e9
"""Seconds that no clock waits."""
Function: TypeAlias = Callable[[JsonObject, Context], Any]
Check: TypeAlias = Callable[[JsonObject], list[Fault]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Runnable:
    """A tool and what runs it.

    `tool`        the definition that models see
    `function`    takes the validated arguments and a `Context`; may return an awaitable
    `read_only`   changes nothing: may run beside others
    `idempotent`  may be run again after a crash, with the same key
    `timeout`     seconds it may take; None leaves it to whoever runs it
    `approval`    must a person allow each call?
    `final`       its result ends the run
    `check`       finds faults of arguments beyond their schema (a date that does not exist); see `faults`
    """

    tool: Tool
    function: Function
    read_only: bool = False
    idempotent: bool = False
    timeout: float | None = None
    approval: Approval = Approval.POLICY
    final: bool = False
    check: Check | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        of = f"tool {self.tool.name!r}"
        if self.timeout is not None and not (_is_number(self.timeout) and 0 < self.timeout < MOST):
            raise UsageError(
                f"{of} has a timeout of {self.timeout!r}: give seconds above 0, or None for no limit of its own"
            )
        object.__setattr__(self, "approval", one_of(Approval, self.approval, f"{of}: its approval"))
        for name in ("read_only", "idempotent", "final"):
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"{of}: {name} is {getattr(self, name)!r}; give True or False")

    def faults(self, arguments: JsonObject) -> list[Fault]:
        """All that is wrong with `arguments`: what fails the schema, else what has no Python value."""
        found = faults(self.tool.parameters, arguments)
        return found if found or self.check is None else self.check(arguments)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
