"""Structured output: the form an answer must have, how the model is asked for it, and the value it comes to.

One validator (`lenient/answers.py`), whichever way the model was asked: a schema of the API, a tool that takes the
value, or words in the prompt.  Knows schemas, tools and requests; no provider.  Contract: `read`, `take` and `accept`
give a value that fits, converted to the type that was asked for, or every fault; text that was cut is no value.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from ..errors import one_of
from ..jsontext import dumps
from ..lenient.answers import Fitting, fit, read_answer
from ..schema.validation import Fault, check_schema, faults, shape
from ..tools import Approval, Context, InvalidValue, Runnable, form_of
from ..turn.instructions import instructed
from ..types import JsonObject, OutputSchema, Request, Tool, ToolChoice


class How(StrEnum):
    """The ways to ask the model for the value."""

    AUTO = "auto"  # by tool: it works on every wire, with and without native tools
    NATIVE = "native"  # by the schema the API takes for its answer
    TOOL = "tool"  # by a tool that takes the value
    PROMPT = "prompt"  # in words


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The form of the answer: a JSON Schema, and what makes the caller's value of JSON that fits it.

    `name` and `description` are for the model, and so is what `convert` raises.
    """

    schema: JsonObject
    how: How = How.AUTO
    name: str = "final_answer"
    description: str = ""
    convert: Callable[[Any], Any] | None = None

    @classmethod
    def of(cls, what: Any, how: How | str = How.AUTO, *, name: str = "final_answer", description: str = "") -> Output:
        """The form of `what`: a Python type, a JSON Schema as a mapping, or an `Output`, which stays what it is.

        A value of a type comes out as that type.  Raises UsageError for what has no JSON form.
        """
        if isinstance(what, Output):
            return what
        way = one_of(How, how, "how")
        if isinstance(what, Mapping):
            return cls(schema=what, how=way, name=name, description=description)
        form = form_of(what)
        return cls(schema=form.schema, how=way, name=name, description=description, convert=form.read)

    def __post_init__(self) -> None:
        check_schema(self.schema, self.name)
        object.__setattr__(self, "how", one_of(How, self.how, "how"))

    @property
    def by_tool(self) -> bool:
        """Is the model given a tool for the value?"""
        return self.how in (How.AUTO, How.TOOL)

    @property
    def wrapped(self) -> bool:
        """Does the tool take the value as one argument, because it is no object?"""
        return shape(self.schema).kinds != {"object"}

    # ── asking ───────────────────────────────────────────────────────────────

    def runnable(self, taken: Container[str] = ()) -> Runnable:
        """The tool that takes the value; its name is none of those `taken`."""
        names = (self.name if n == 1 else f"{self.name}_{n}" for n in range(1, 1000))
        parameters = in_object(self.schema) if self.wrapped else self.schema
        description = self.description or GIVE
        name = next(name for name in names if name not in taken)
        tool = Tool(name=name, description=description, parameters=parameters)
        return Runnable(tool=tool, function=_unused, read_only=True, approval=Approval.NEVER, final=True)

    def ask(self, request: Request, tool: str = "") -> Request:
        """`request`, asking for this form; `tool` is the name of the tool that takes the value, where there is one."""
        if self.how is How.NATIVE:
            form = OutputSchema(schema=self.schema, name=self.name, description=self.description)
            return replace(request, output_schema=form)
        if self.how is How.PROMPT:
            prompt = PROMPT.format(schema=dumps(self.schema), what=f" ({self.description})" if self.description else "")
            return replace(request, messages=instructed(request.messages, prompt))
        if len(request.tools) == 1:
            return replace(request, tool_choice=ToolChoice("named", tool))
        return replace(request, messages=instructed(request.messages, BY_TOOL.format(tool=tool)))

    # ── reading ──────────────────────────────────────────────────────────────

    def accept(self, arguments: Mapping[str, Any]) -> tuple[Any, list[Fault]]:
        """The value the tool was given, or what is wrong with it."""
        return self.take(arguments[VALUE] if self.wrapped else dict(arguments))

    def read(self, text: str) -> tuple[Any, list[Fault]]:
        """The value an answer in text is, or what is wrong with it."""
        found = read_answer(text, self.schema)
        if isinstance(found, Fitting):
            return self._converted(found.value)
        if shape(self.schema).kinds == {"string"} and not faults(self.schema, text.strip()):
            return self._converted(text.strip())
        return None, list(found.faults) or [Fault("$", found.why, "type", self.schema)]

    def take(self, value: Any) -> tuple[Any, list[Fault]]:
        """A value that came as JSON, or what is wrong with it."""
        found = fit(value, self.schema)
        return self._converted(found.value) if isinstance(found, Fitting) else (None, list(found.faults))

    def _converted(self, value: Any) -> tuple[Any, list[Fault]]:
        try:
            return value if self.convert is None else self.convert(value), []
        except InvalidValue as error:
            return None, list(error.faults)
        except Exception as error:
            return None, [Fault("$", str(error) or type(error).__name__, "format", self.schema)]


VALUE = "value"
GIVE = "Gives the final answer. Call it once you have all you need; it ends the conversation."
BY_TOOL = "Give your final answer by calling the tool `{tool}`, not as text."
PROMPT = (
    "Give your final answer as one JSON value and nothing else{what}: no prose, no Markdown.\n"
    "It must fit this JSON Schema: {schema}"
)


def in_object(schema: JsonObject) -> JsonObject:
    """The parameters of a tool whose one argument is the value; what `schema` defines stays where it points."""
    outer = {key: schema[key] for key in ("$defs", "definitions", "$schema") if key in schema}
    inner = {key: value for key, value in schema.items() if key not in outer}
    return {"type": "object", "properties": {VALUE: inner}, "required": [VALUE], "additionalProperties": False, **outer}


def _unused(arguments: JsonObject, context: Context) -> Any:
    """The value is taken by the loop; nothing runs."""
    return arguments
