"""The probes: questions to a deployment, and the meaning of its answers.

Machines without I/O.  Knows routes and turns; nothing of clients or settings.
Contract: `examine` yields one `ProbeResult` per probe, as soon as it is sure, and returns them all; a failure of the
peer is one too, never an exception; nothing but the probes' own harmless questions is asked, and no tool is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ..dialects.spec import Dialect
from ..effects import Machine, Now, relay
from ..errors import DragomanError, ErrorKind, ProviderError
from ..events import ReasoningDelta, TextDelta
from ..lenient.answers import Fitting, read_answer
from ..providers.route import Route
from ..providers.spec import Tools
from ..turn.rejections import refuses_tools
from ..types import OutputSchema, Response, Tier, Tool, ToolCall, ToolChoice
from .context_length import SIZES, measure_context
from .findings import Grade, ProbeResult
from .remedies import Symptom
from .target import ProbeTarget

DOOR = Tool(
    name="get_door_code",
    description="Looks up the code that opens a door.",
    parameters={
        "type": "object",
        "properties": {"door": {"type": "integer", "description": "The number of the door."}},
        "required": ["door"],
    },
)
ONE = "What is the code of door 7? Look it up with the tool."
TWO = "Look up the codes of door 3 and of door 5 with the tool, both at once, in one answer."
HELLO = "Say hello."
COLOUR = OutputSchema(
    name="colour",
    schema={
        "type": "object",
        "properties": {"colour": {"enum": ["ultramarine-42"]}},
        "required": ["colour"],
        "additionalProperties": False,
    },
)
PROMPT_DIALECTS = ("tool_call_fence", "hermes", "json_protocol")
"""Dialects that a model without native tools is tried in, after its family's own."""

ENDS = frozenset({ErrorKind.NETWORK, ErrorKind.AUTH, ErrorKind.NOT_FOUND})
"""Failures after which nothing else is worth asking."""
LONG, AT_ONCE = 0.5, 0.1
"""An answer that took so many seconds and came within this share of them was held back on the way."""

Probe: TypeAlias = Callable[[ProbeTarget], Machine[ProbeResult]]


def examine(route: Route, model: str, sizes: Sequence[int] = SIZES) -> Machine[list[ProbeResult]]:
    """Probe `route` for `model`; yields each finding, returns them all.

    Whatever cannot be reached ends the examination: the other probes would only say so again.
    """
    target = ProbeTarget(route, model)
    found: list[ProbeResult] = []
    for probe in (_native, _text, _streams, _parallel, _forced, _constrains):
        finding = yield from relay(_safely(probe, target), on_step=lambda _: ())
        found.append(finding)
        yield finding
        if finding.facts.get("unreachable"):
            return found
    context = yield from relay(_safely(lambda p: measure_context(p, sizes), target), on_step=lambda _: ())
    found.append(context)
    yield context
    return found


def _safely(probe: Probe, target: ProbeTarget) -> Machine[ProbeResult]:
    name = NAMES.get(probe, "context")
    try:
        return (yield from probe(target))
    except DragomanError as error:
        kind = error.kind if isinstance(error, ProviderError) else ErrorKind.NETWORK
        facts = {"unreachable": True} if kind in ENDS else {}
        message, _, remedy = " ".join(str(error).split()).rpartition("; ")
        return ProbeResult(probe=name, grade=Grade.BAD, message=message or remedy, remedy=remedy, facts=facts)


# ── tools ────────────────────────────────────────────────────────────────────


def _native(target: ProbeTarget) -> Machine[ProbeResult]:
    if target.route.mode is Tools.TEXT:
        message = "this provider has no native tools"
        return ProbeResult(probe="native tools", grade=Grade.BAD, message=message, remedy=target.help(Symptom.NO_TOOLS))
    try:
        response = yield from target.ask(ONE, tools=[DOOR], route=replace(target.route, tools=Tools.NATIVE))
    except ProviderError as error:
        if not refuses_tools(error):
            raise
        message = f"the server refuses tools: {error.message}"
        return ProbeResult(probe="native tools", grade=Grade.BAD, message=message, remedy=target.help(Symptom.NO_TOOLS))
    tiers = {call.report.tier if call.report else Tier.NATIVE for call in _right(response)}
    if tiers == {Tier.NATIVE}:
        target.native = True
        return ProbeResult(
            probe="native tools", grade=Grade.GOOD, message="a native call came, with the right argument"
        )
    if tiers:
        named = _dialects(response)
        message = f"the call came as text, in the dialect {named}: the server did not read it"
        target.native = True
        facts = {"dialect": named}
        return ProbeResult(
            probe="native tools", grade=Grade.POOR, message=message, remedy=target.help(Symptom.LEAKS), facts=facts
        )
    if (yield from target.ignores_tools()):
        message = "the server ignores tools in silence: asked for those it was sent, its model knew none"
        return ProbeResult(
            probe="native tools", grade=Grade.BAD, message=message, remedy=target.help(Symptom.IGNORED),
            facts={"ignored": True},
        )  # fmt: skip
    return ProbeResult(
        probe="native tools", grade=Grade.BAD, message=_instead(response), remedy=target.help(Symptom.NO_TOOLS)
    )


def _text(target: ProbeTarget) -> Machine[ProbeResult]:
    tried: list[str] = []
    for name in _dialects_to_try(target):
        route = replace(target.route, tools=Tools.TEXT, prompt_dialect=name)
        response = yield from target.ask(ONE, tools=[DOOR], route=route)
        tried.append(name)
        if _right(response):
            target.prompt_dialect = name
            answered = _dialects(response)
            other = f", and it answered in {answered}" if answered != name else ""
            message = f"told in text ({name}) it calls{other}"
            facts = {"prompt_dialect": name, "dialect": answered}
            return ProbeResult(probe="tools as text", grade=Grade.GOOD, message=message, facts=facts)
    message = f"told in text ({', '.join(tried)}) it did not call"
    grade = Grade.POOR if target.native else Grade.BAD
    return ProbeResult(probe="tools as text", grade=grade, message=message, remedy=target.help(Symptom.SILENT))


def _dialects_to_try(target: ProbeTarget) -> Iterator[str]:
    own: Dialect = target.route.prompt_dialect_for(target.model)
    yield from dict.fromkeys((own.name, *PROMPT_DIALECTS))


def _streams(target: ProbeTarget) -> Machine[ProbeResult]:
    times: list[float] = []

    def on_step(step: object) -> Machine[None]:
        if isinstance(step, TextDelta | ReasoningDelta):
            now: float = yield Now(steady=True)
            times.append(now)

    begun: float = yield Now(steady=True)
    response = yield from relay(target.ask(HELLO + " In three sentences.", stream=True), on_step=on_step)
    took = times[-1] - begun if times else 0.0
    grade, remedy_ = Grade.POOR, target.help(Symptom.STREAM)
    if len(times) > 1 and took > LONG and times[-1] - times[0] < took * AT_ONCE:
        message = f"an answer came in {len(times)} pieces, but all of them at once after {took:.1f} s"
    elif len(times) > 1:
        grade, message, remedy_ = Grade.GOOD, f"an answer came in {len(times)} pieces", ""
    else:
        message = "the whole answer came in one piece" if response.text else "nothing came"
    return ProbeResult(probe="streaming", grade=grade, message=message, remedy=remedy_)


def _parallel(target: ProbeTarget) -> Machine[ProbeResult]:
    response = yield from target.ask(TWO, tools=[DOOR])
    doors = sorted(str(call.arguments.get("door")) for call in response.calls)
    if doors == ["3", "5"]:
        return ProbeResult(probe="parallel calls", grade=Grade.GOOD, message="two calls came in one answer")
    message = f"{len(response.calls)} calls came in one answer" if response.calls else _instead(response)
    remedy_ = "nothing to do: agents ask for the rest in the next turn"
    return ProbeResult(probe="parallel calls", grade=Grade.POOR, message=message, remedy=remedy_)


def _forced(target: ProbeTarget) -> Machine[ProbeResult]:
    choice = ToolChoice("required")
    response = yield from target.ask(HELLO, tools=[DOOR], tool_choice=choice)
    if response.calls:
        return ProbeResult(probe="forced choice", grade=Grade.GOOD, message="a call that was demanded came")
    return ProbeResult(
        probe="forced choice", grade=Grade.POOR, message=_instead(response), remedy=target.help(Symptom.FORCED)
    )


def _constrains(target: ProbeTarget) -> Machine[ProbeResult]:
    """The only answer allowed is one no model would give by itself."""
    response = yield from target.ask("Name a colour.", output_schema=COLOUR)
    if isinstance(read_answer(response.text, COLOUR.schema), Fitting):
        message = "an answer was held to a JSON Schema"
        return ProbeResult(probe="constrained answers", grade=Grade.GOOD, message=message, facts={"schema": True})
    return ProbeResult(
        probe="constrained answers",
        grade=Grade.POOR,
        message="the schema was taken and not kept",
        remedy=target.help(Symptom.CONSTRAINT),
    )


# ── answers ──────────────────────────────────────────────────────────────────


def _right(response: Response) -> list[ToolCall]:
    return [call for call in response.calls if call.name == DOOR.name and call.arguments.get("door") == 7]


def _dialects(response: Response) -> str:
    return ", ".join(dict.fromkeys(call.report.dialect for call in response.calls if call.report)) or "its own"


def _instead(response: Response) -> str:
    issues = "; ".join(issue.message for issue in response.issues if issue.correction)
    message = " ".join(response.text.split())[:120]
    return f"no usable call came: {issues}" if issues else f"no call came; it said {message!r}"


NAMES: Mapping[Probe, str] = {
    _native: "native tools",
    _text: "tools as text",
    _streams: "streaming",
    _parallel: "parallel calls",
    _forced: "forced choice",
    _constrains: "constrained answers",
}
