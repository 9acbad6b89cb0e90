"""The probes: what is asked of a deployment, and what its answers mean.

Machines without I/O.  Knows routes and turns; nothing of clients or settings.
Contract: `examine` yields one `Finding` per probe, as soon as it is sure, and returns them all; a failure of the peer
is a finding, never an exception; nothing but the probes' own harmless questions is asked, and no tool is run.
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
from .context_length import SIZES, fathom
from .findings import Finding, Grade
from .remedies import Ill
from .target import Patient

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
SPOKEN = ("tool_call_fence", "hermes", "json_protocol")
"""What a model without native tools is tried in, after its family's own dialect."""

ENDS = frozenset({ErrorKind.NETWORK, ErrorKind.AUTH, ErrorKind.NOT_FOUND})
"""Failures after which nothing else is worth asking."""
LONG, AT_ONCE = 0.5, 0.1
"""An answer that took so many seconds and came within this share of them was held back on the way."""

Probe: TypeAlias = Callable[[Patient], Machine[Finding]]


def examine(route: Route, model: str, sizes: Sequence[int] = SIZES) -> Machine[list[Finding]]:
    """Probe `route` for `model`; yields each finding, returns them all.

    Whatever cannot be reached ends the examination: the other probes would only say so again.
    """
    patient = Patient(route, model)
    found: list[Finding] = []
    for probe in (_native, _text, _streams, _parallel, _forced, _constrains):
        finding = yield from relay(_safely(probe, patient), hear=lambda _: ())
        found.append(finding)
        yield finding
        if finding.facts.get("unreachable"):
            return found
    context = yield from relay(_safely(lambda p: fathom(p, sizes), patient), hear=lambda _: ())
    found.append(context)
    yield context
    return found


def _safely(probe: Probe, patient: Patient) -> Machine[Finding]:
    name = NAMES.get(probe, "context")
    try:
        return (yield from probe(patient))
    except DragomanError as error:
        kind = error.kind if isinstance(error, ProviderError) else ErrorKind.NETWORK
        facts = {"unreachable": True} if kind in ENDS else {}
        said, _, remedy = " ".join(str(error).split()).rpartition("; ")
        return Finding(probe=name, grade=Grade.BAD, said=said or remedy, remedy=remedy, facts=facts)


# ── tools ────────────────────────────────────────────────────────────────────


def _native(patient: Patient) -> Machine[Finding]:
    if patient.route.mode is Tools.TEXT:
        said = "this provider has no native tools"
        return Finding(probe="native tools", grade=Grade.BAD, said=said, remedy=patient.help(Ill.NO_TOOLS))
    try:
        response = yield from patient.ask(ONE, tools=[DOOR], route=replace(patient.route, tools=Tools.NATIVE))
    except ProviderError as error:
        if not refuses_tools(error):
            raise
        said = f"the server refuses tools: {error.message}"
        return Finding(probe="native tools", grade=Grade.BAD, said=said, remedy=patient.help(Ill.NO_TOOLS))
    tiers = {call.report.tier if call.report else Tier.NATIVE for call in _right(response)}
    if tiers == {Tier.NATIVE}:
        patient.native = True
        return Finding(probe="native tools", grade=Grade.GOOD, said="a native call came, with the right argument")
    if tiers:
        named = _dialects(response)
        said = f"the call came as text, in the dialect {named}: the server did not read it"
        patient.native = True
        facts = {"dialect": named}
        return Finding(probe="native tools", grade=Grade.POOR, said=said, remedy=patient.help(Ill.LEAKS), facts=facts)
    return Finding(probe="native tools", grade=Grade.BAD, said=_instead(response), remedy=patient.help(Ill.NO_TOOLS))


def _text(patient: Patient) -> Machine[Finding]:
    tried: list[str] = []
    for speak in _tongues(patient):
        route = replace(patient.route, tools=Tools.TEXT, prompt_dialect=speak)
        response = yield from patient.ask(ONE, tools=[DOOR], route=route)
        tried.append(speak)
        if _right(response):
            patient.speaks = speak
            answered = _dialects(response)
            other = f", and it answered in {answered}" if answered != speak else ""
            said = f"told in text ({speak}) it calls{other}"
            facts = {"prompt_dialect": speak, "dialect": answered}
            return Finding(probe="tools as text", grade=Grade.GOOD, said=said, facts=facts)
    said = f"told in text ({', '.join(tried)}) it did not call"
    grade = Grade.POOR if patient.native else Grade.BAD
    return Finding(probe="tools as text", grade=grade, said=said, remedy=patient.help(Ill.SILENT))


def _tongues(patient: Patient) -> Iterator[str]:
    own: Dialect = patient.route.prompt_dialect_for(patient.model)
    yield from dict.fromkeys((own.name, *SPOKEN))


def _streams(patient: Patient) -> Machine[Finding]:
    times: list[float] = []

    def hear(step: object) -> Machine[None]:
        if isinstance(step, TextDelta | ReasoningDelta):
            now: float = yield Now()
            times.append(now)

    begun: float = yield Now()
    response = yield from relay(patient.ask(HELLO + " In three sentences.", stream=True), hear=hear)
    took = times[-1] - begun if times else 0.0
    grade, remedy_ = Grade.POOR, patient.help(Ill.STREAM)
    if len(times) > 1 and took > LONG and times[-1] - times[0] < took * AT_ONCE:
        said = f"an answer came in {len(times)} pieces, but all of them at once after {took:.1f} s"
    elif len(times) > 1:
        grade, said, remedy_ = Grade.GOOD, f"an answer came in {len(times)} pieces", ""
    else:
        said = "the whole answer came in one piece" if response.text else "nothing came"
    return Finding(probe="streaming", grade=grade, said=said, remedy=remedy_)


def _parallel(patient: Patient) -> Machine[Finding]:
    response = yield from patient.ask(TWO, tools=[DOOR])
    doors = sorted(str(call.arguments.get("door")) for call in response.calls)
    if doors == ["3", "5"]:
        return Finding(probe="parallel calls", grade=Grade.GOOD, said="two calls came in one answer")
    said = f"{len(response.calls)} calls came in one answer" if response.calls else _instead(response)
    remedy_ = "nothing to do: agents ask for the rest in the next turn"
    return Finding(probe="parallel calls", grade=Grade.POOR, said=said, remedy=remedy_)


def _forced(patient: Patient) -> Machine[Finding]:
    choice = ToolChoice("required")
    response = yield from patient.ask(HELLO, tools=[DOOR], tool_choice=choice)
    if response.calls:
        return Finding(probe="forced choice", grade=Grade.GOOD, said="a call that was demanded came")
    return Finding(probe="forced choice", grade=Grade.POOR, said=_instead(response), remedy=patient.help(Ill.FORCED))


def _constrains(patient: Patient) -> Machine[Finding]:
    """The only answer allowed is one no model would give by itself."""
    response = yield from patient.ask("Name a colour.", output_schema=COLOUR)
    if isinstance(read_answer(response.text, COLOUR.schema), Fitting):
        said = "an answer was held to a JSON Schema"
        return Finding(probe="constrained answers", grade=Grade.GOOD, said=said, facts={"schema": True})
    return Finding(
        probe="constrained answers",
        grade=Grade.POOR,
        said="the schema was taken and not kept",
        remedy=patient.help(Ill.CONSTRAINT),
    )


# ── answers ──────────────────────────────────────────────────────────────────


def _right(response: Response) -> list[ToolCall]:
    return [call for call in response.calls if call.name == DOOR.name and call.arguments.get("door") == 7]


def _dialects(response: Response) -> str:
    return ", ".join(dict.fromkeys(call.report.dialect for call in response.calls if call.report)) or "its own"


def _instead(response: Response) -> str:
    issues = "; ".join(issue.message for issue in response.issues if issue.correction)
    said = " ".join(response.text.split())[:120]
    return f"no usable call came: {issues}" if issues else f"no call came; it said {said!r}"


NAMES: Mapping[Probe, str] = {
    _native: "native tools",
    _text: "tools as text",
    _streams: "streaming",
    _parallel: "parallel calls",
    _forced: "forced choice",
    _constrains: "constrained answers",
}
