"""The plan of a request: from what the client wants to what the wire carries, stage by stage.

Knows what a route, its provider and its model's family need, by the functions of this room; sends and reads nothing.
Contract: pure, and deterministic; what a stage changes so that the client should know is an `Issue` of the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from ..codecs import CODECS
from ..codecs.crossing.parts import parts_crossed
from ..codecs.crossing.settings import SEARCHING, THOUGHTS, crossed, with_thoughts
from ..codecs.fidelity.losses import unsupported_parameters
from ..codecs.shared.spec import PLAIN, Codec, Quirks, WireFields
from ..codecs.typed.hosted import as_options, asked, demanded, native, search_options, without
from ..codecs.typed.table import ANTHROPIC, GEMINI, SPEAKS
from ..conversation.naming import UNCHANGED, Respelled
from ..dialects.rows.table import ALL
from ..dialects.spec import Dialect
from ..dialects.writing.prompt import compact_for
from ..errors import ErrorKind, ProviderError
from ..memo import TOOLS, memoize
from ..providers.families import Profile
from ..providers.route import Route
from ..providers.spec import Tools
from ..providers.thinking import controls
from ..records import changer, dataclass, field, replace
from ..schema import definitions
from ..types import Issue, IssueKind, Message, Request, Tool, ToolChoice
from .capabilities import NOTHING, Refusals, signed
from .constrain import UNCONSTRAINED, DecodingConstraint, decoding_constraint
from .instructions import FORMS, format_instruction
from .prepare import only_allowed, prepare
from .question import worded
from .text_tools import PromptStyle, left_out, to_text
from .thinking import wishes_thoughts

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The plan of one request.

    request     what is asked, as the stages so far have made it; in the end as the wire carries it
    asked       what is asked of the model, whatever carries it: its tools are those that may be called
    text        whether tools go in text; `nonce` is the code that calls there must carry, "" for none
    refused     what the model refused before, and is not asked again
    constraint  what constrains its decoding;  quirks: how the wire is written
    tools       those that the answer may name, as it names them;  names: the way back from these
    habits      ways of writing calls among words that this model has confirmed
    issues      what was changed for this place, and what of the request it does not take
    made        what was made of it that does not depend on what is said (`once`): shared by all plans that differ there
    """

    route: Route
    request: Request
    asked: Request
    text: bool = False
    nonce: str = ""
    refused: Refusals = NOTHING
    constraint: DecodingConstraint = UNCONSTRAINED
    quirks: Quirks = PLAIN
    tools: tuple[Tool, ...] = ()
    names: Respelled = UNCHANGED
    habits: frozenset[str] = frozenset()
    issues: tuple[Issue, ...] = ()
    made: dict[Callable[..., Any], Any] = field(default_factory=dict, compare=False, repr=False)

    def once(self, make: Callable[[Plan], T]) -> T:
        """What `make` makes of the plan, whatever is said in it."""
        found = self.made.get(make)
        if found is None:
            found = self.made[make] = make(self)
        made: T = found
        return made

    def saying(self, asked: Request, sent: tuple[Message, ...]) -> Plan:
        """The same plan of another conversation: of what is `asked`, which is sent as `sent`."""
        return changer(Plan, "request", "asked")(self, self.request.with_messages(sent), asked)

    @property
    def codec(self) -> Codec:
        """The codec that writes the request and reads its answer."""
        return CODECS[self.route.provider.codec]

    @property
    def family(self) -> Profile:
        """The model's family, wherever it is served."""
        return self.route.family(self.request.model)

    @property
    def dialect(self) -> Dialect:
        """The dialect of the prompt and the history."""
        return self.constraint.dialect or self.route.prompt_dialect_for(self.request.model)

    @property
    def protocol(self) -> bool:
        """Was the model told a protocol, in which every answer is an object?"""
        return self.text and self.dialect.is_protocol

    @property
    def named(self) -> tuple[Tool, ...]:
        """The tools that the answer may name, with those that go out with every request of the route."""
        return (*self.tools, *injected(self.route, self.tools)) if self.route.fields else self.tools

    @property
    def forbids_calls(self) -> bool:
        """Does the request say that nothing may be called?"""
        return self.asked.tool_choice is not None and self.asked.tool_choice.mode == "none"


def planned(
    request: Request, route: Route, *, text: bool, nonce: str = "", refused: Refusals = NOTHING,
    habits: frozenset[str] = frozenset(),
) -> Plan:
    """The plan for `request`, its history in order (`repair`)."""
    if text and (more := injected(route, request.tools)):  # what is declared by the wire elsewhere is told here
        request = replace(request, tools=(*request.tools, *more))
    plan = Plan(route=route, request=request, asked=request, text=text, nonce=nonce, refused=refused, habits=habits)
    for stage in STAGES:
        plan = stage(plan)
    return plan


def injected(route: Route, own: Sequence[Tool]) -> tuple[Tool, ...]:
    """The functions among the tools that go out with every request of `route`, but for those of a name in `own`."""
    given = route.fields.get("tools")
    taken = {tool.name for tool in own}
    functions = [one for one in given if function_name(one)] if isinstance(given, list) else []
    return tuple(tool for tool in definitions.tools(functions) or () if tool.name not in taken)


def function_name(definition: Any) -> str:
    """The name of the function that a definition of chat APIs declares, "" for tools of other kinds."""
    function = definition.get("function") if isinstance(definition, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    return name if isinstance(name, str) else ""


# ── the stages ───────────────────────────────────────────────────────────────


def _restrict(plan: Plan) -> Plan:
    """Offer only the tools that may be called."""
    allowed = only_allowed(plan.request, "" if plan.text else plan.route.provider.codec)
    return plan if allowed is plan.request else replace(plan, request=allowed, asked=allowed)


def _constrain(plan: Plan) -> Plan:
    """Constrain decoding to calls as the prompt asks for them, where the place can and the model does not refuse it."""
    if not plan.text or plan.nonce or plan.refused.constraint:
        return plan
    return replace(plan, constraint=decoding_constraint(plan.request, plan.route.provider, plan.dialect))


def _text_tools(plan: Plan) -> Plan:
    """Tell the tools, and the calls and results of the history, in text, where they do not go by the wire."""
    request = worded(plan.request, plan.dialect if plan.text else None, plan.nonce)
    if plan.text:
        request = to_text(request, style_of(plan))
    stream = request.stream if plan.route.stream is None else plan.route.stream
    request = request if request.stream == stream else replace(request, stream=stream)
    return plan if request is plan.request else replace(plan, request=request)


def style_of(plan: Plan) -> PromptStyle:
    """How tools, calls and results are told in text."""
    return PromptStyle(dialect=plan.dialect, guarded=ALL, compact=_is_compact(plan), nonce=plan.nonce)


def _instructions(plan: Plan) -> Plan:
    """Give an instruction for a form that the wire cannot ask for, or that would forbid calls in text."""
    request, provider = plan.request, plan.route.provider
    if plan.constraint.form is not None:
        return replace(plan, request=replace(request, output_schema=plan.constraint.form))
    if request.output_schema is None:
        return plan
    calls = plan.text and bool(plan.asked.tools) and not plan.forbids_calls
    refused = plan.refused.demands | FORMS if calls else plan.refused.demands
    return replace(plan, request=format_instruction(request, plan.codec, provider.quirks, refused))


def _prepare(plan: Plan) -> Plan:
    """Write history, names, schemas and choice as the wire demands them."""
    schemas, demands = plan.refused.schemas, plan.refused.demands
    schemaless = [tool.name for tool in plan.asked.tools if schemas and signed(tool) in schemas]
    made = prepare(
        plan.request, plan.route.provider, plan.family, text=plan.text, schemaless=schemaless, refused=demands
    )
    tools = plan.asked.tools if plan.text else made.tools
    return replace(plan, request=made.request, quirks=made.quirks, tools=tools, names=made.names, issues=made.issues)


def _losses(plan: Plan) -> Plan:
    """Say what of the request this place is not asked at all; what it has words of its own for is asked in these."""
    api = plan.codec.name
    crossed_over = parts_crossed(plan.request, api, plan.quirks.settings)
    plan = plan if crossed_over is plan.request else replace(plan, request=crossed_over)
    shown = THOUGHTS if wishes_thoughts(plan.request.sampling, api) else NOTHING_MORE
    said, left = crossed(plan.request.extra, api, plan.quirks.settings | shown)
    if _thinks(plan):
        said = with_thoughts(said, plan.request.extra, api)
    asked = plan.request if left is plan.request.extra else replace(plan.request, extra=left)
    lost = unsupported_parameters(asked, plan.codec, plan.quirks)
    more = (*(left_out(plan.asked) if plan.text else ()), *lost)
    plan = replace(plan, issues=(*plan.issues, *more)) if more else plan
    return replace(plan, request=replace(plan.request, extra=WireFields(api, said))) if said else plan


def _thinks(plan: Plan) -> bool:
    """Was the model asked to think, and does it?"""
    asked, sent = plan.asked.sampling, plan.request.sampling
    if asked.effort in (None, "none") and asked.thinking_budget in (None, 0):
        return False
    provider = plan.route.provider
    row = plan.family.thinking or controls(plan.request.model, provider.codec, provider.name)
    return bool(sent.effort or sent.thinking_budget or (row is not None and row.thinks))


NOTHING_MORE: frozenset[str] = frozenset()


def runs_hosted(route: Route, request: Request, kind: str) -> bool:
    """Does this place run the server's tool of this kind that `request` asks for, as far as the rows know?"""
    codec = route.provider.codec
    api = SPEAKS.get(codec, codec)
    if route.mode is Tools.TEXT:
        return False
    if isinstance(request.extra, WireFields) and request.extra.api == api:
        return True
    mixes = not (api == GEMINI and request.tools)
    return mixes and route.provider.typed and kind in (one for one, _, _ in native(request, api))


def _hosted(plan: Plan) -> Plan:
    """Ask for the tools that a server should run in this wire's words; raises ProviderError (400) where one is demanded
    that nobody runs here."""
    wanted, api = plan.asked.extra, SPEAKS.get(plan.codec.name, plan.codec.name)
    if not asked(plan.asked) or (not plan.text and isinstance(wanted, WireFields) and wanted.api == api):
        return plan  # on their own wire they go as they came
    if SEARCHING in plan.quirks.settings and (search := search_options(plan.asked)) and not plan.text:
        options, lost = search
        told = [_unsaid(f"tools.web_search.{word}", f"{api} has no {word} for web_search") for word in sorted(lost)]
        return replace(plan, request=as_options(plan.request, options), issues=(*plan.issues, *told))
    mixes = not (api == GEMINI and plan.request.tools)  # before Gemini 3, either those or functions
    found = list(native(plan.asked, api)) if mixes and plan.route.provider.typed and not plan.text else []
    kinds, demand = frozenset(kind for kind, _, _ in found), demanded(plan.asked)
    if demand and demand not in kinds:
        message = NOT_RUN_HERE.format(kind=demand, place=plan.route.provider.name)
        raise ProviderError(message, status=400, kind=ErrorKind.NO_TOOLS, code="unsupported_tool")
    request = without(plan.request, kinds)
    request = replace(request, tools=(*request.tools, *(tool for _, tool, _ in found)))
    unsaid = [(kind, word) for kind, _, lost in found for word in sorted(lost)]
    issues = [_unsaid(f"tools.{kind}.{word}", f"{api} has no {word} for {kind}") for kind, word in unsaid]
    if demand and api == ANTHROPIC:
        request = replace(request, tool_choice=ToolChoice("named", demand))
    elif demand:
        issues.append(_unsaid("tool_choice", f"{api} cannot be made to call {demand}; it may"))
    return replace(plan, request=request, issues=(*plan.issues, *issues))


NOT_RUN_HERE = (
    "the request demands {kind}, which a server runs, and {place} does not run it; ask without the demand, or name an "
    'MCP server\'s tool for it in the settings: [server_tools] {kind} = "server.tool"'
)


def _unsaid(path: str, message: str) -> Issue:
    return Issue(kind=IssueKind.UNSUPPORTED, message=message, path=f"$.{path}")


Stage: TypeAlias = Callable[[Plan], Plan]
STAGES: tuple[Stage, ...] = (_restrict, _constrain, _text_tools, _instructions, _prepare, _hosted, _losses)
"""What is asked → what is sent, in order."""


def _is_compact(plan: Plan) -> bool:
    """As the route says; else where the full prompt would take more than its share of the model's context."""
    if plan.route.compact is not None:
        return plan.route.compact
    allowed = plan.route.allowance(plan.request.model)
    return bool(allowed) and _must_be_compact(plan.asked.tools, plan.dialect, allowed)


_must_be_compact = memoize(TOOLS)(compact_for)
