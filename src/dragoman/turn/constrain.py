"""Decoding held to what the prompt demands: which constraint a place takes, and what of the request it becomes.

Knows requests, provider rows and the row that is spoken; nothing of wires or answers.
Contract: only where tools are told in text (native tools are the server's own business) and the caller demands no form
of the answer; what a place is not known to take it is not sent; a constraint never forbids what the prompt allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dialects import DIALECTS
from ..dialects.spec import Dialect
from ..dialects.writing.constraint import call_schema, grammar, structural_tag
from ..memo import TOOLS, memoize
from ..providers.spec import Holds, Provider
from ..types import NOTHING, JsonObject, OutputSchema, Request, Tool, ToolChoice

BARE = "bare_json"
"""The row of a call as the whole message: what a schema of the answer can hold a model to."""
MOST_TOOLS = 64
"""A grammar of more tools slows every token down more than it helps."""


@dataclass(frozen=True, slots=True)
class Held:
    """What holds an answer: fields for the body, a form for it, and the row it must be spoken in (None: as it was)."""

    fields: JsonObject = NOTHING
    form: OutputSchema | None = None
    tongue: Dialect | None = None

    def __bool__(self) -> bool:
        return bool(self.fields) or self.form is not None


FREE = Held()


def held(request: Request, provider: Provider, spoken: Dialect) -> Held:
    """The constraint for `request`, its tools told in text in the row `spoken`; `FREE` for none."""
    choice = request.tool_choice
    if not request.tools or len(request.tools) > MOST_TOOLS or request.output_schema is not None:
        return FREE
    if choice is not None and choice.mode == "none":
        return FREE
    return _held(request.tools, provider, spoken, choice, request.parallel is not False)


@memoize(TOOLS)
def _held(
    offered: tuple[Tool, ...], provider: Provider, spoken: Dialect, choice: ToolChoice | None, parallel: bool
) -> Held:
    required = choice is not None and choice.mode in {"required", "named"}
    tools = [tool for tool in offered if choice is None or not choice.name or tool.name == choice.name]
    if Holds.GRAMMAR in provider.holds:
        rules = grammar(spoken, tools, required=required, parallel=parallel)
        return Held({"grammar": rules}) if rules else FREE
    if required and Holds.SCHEMA in provider.holds:
        return _whole(tools)
    if Holds.TAGS in provider.holds and (tags := structural_tag(spoken, tools)):
        return Held({"response_format": tags})
    return FREE


def _whole(tools: Sequence[Tool]) -> Held:
    """The call is all there is, and a schema of the answer says what it must be."""
    form = OutputSchema(schema=call_schema(tools), name="call", strict=True)
    return Held(form=form, tongue=DIALECTS[BARE])
