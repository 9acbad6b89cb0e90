"""Decoding constrained to what the prompt demands: which constraint a place takes, and what of the request it becomes.

Knows requests, provider rows and the prompt's dialect; nothing of wires or answers.
Contract: only where tools go in text (native tools are the server's own business) and the caller demands no form
of the answer; what a place is not known to take it is not sent; a constraint never forbids what the prompt allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dialects import DIALECTS
from ..dialects.spec import Dialect
from ..dialects.writing.constraint import call_schema, grammar, structural_tag
from ..memo import TOOLS, memoize
from ..providers.spec import ConstraintKind, Provider
from ..types import NOTHING, JsonObject, OutputSchema, Request, Tool, ToolChoice

BARE = "bare_json"
"""The row of a call as the whole message: what a schema of the answer can constrain a model to."""
MOST_TOOLS = 64
"""A grammar of more tools slows every token down more than it helps."""


@dataclass(frozen=True, slots=True)
class DecodingConstraint:
    """A constraint: fields for the body, a form of the answer, and the dialect that takes (None: any)."""

    fields: JsonObject = NOTHING
    form: OutputSchema | None = None
    dialect: Dialect | None = None

    def __bool__(self) -> bool:
        return bool(self.fields) or self.form is not None


UNCONSTRAINED = DecodingConstraint()


def decoding_constraint(request: Request, provider: Provider, dialect: Dialect) -> DecodingConstraint:
    """The constraint for `request`, its tools in text in `dialect`; `UNCONSTRAINED` for none."""
    choice = request.tool_choice
    if not request.tools or len(request.tools) > MOST_TOOLS or request.output_schema is not None:
        return UNCONSTRAINED
    if choice is not None and choice.mode == "none":
        return UNCONSTRAINED
    return _constraint(request.tools, provider, dialect, choice, request.parallel is not False)


@memoize(TOOLS)
def _constraint(
    offered: tuple[Tool, ...], provider: Provider, dialect: Dialect, choice: ToolChoice | None, parallel: bool
) -> DecodingConstraint:
    required = choice is not None and choice.mode in {"required", "named"}
    tools = _callable(offered, choice)
    if ConstraintKind.GRAMMAR in provider.constraints:
        rules = grammar(dialect, tools, required=required, parallel=parallel)
        return DecodingConstraint({"grammar": rules}) if rules else UNCONSTRAINED
    if required and ConstraintKind.SCHEMA in provider.constraints:
        return _whole(tools)
    if ConstraintKind.TAGS in provider.constraints and (tags := structural_tag(dialect, tools)):
        return DecodingConstraint({"response_format": tags})
    return UNCONSTRAINED


def _callable(offered: Sequence[Tool], choice: ToolChoice | None) -> list[Tool]:
    return [tool for tool in offered if choice is None or not choice.name or tool.name == choice.name]


def _whole(tools: Sequence[Tool]) -> DecodingConstraint:
    """The call is all there is, and a schema of the answer says what it must be."""
    form = OutputSchema(schema=call_schema(tools), name="call", strict=True)
    return DecodingConstraint(form=form, dialect=DIALECTS[BARE])
