"""A request made ready for one wire: history, ids, names, schemas, choice and cache markers as the place demands them.

Knows requests, what is demanded (`conversation/requirements.py`) and what a model's family needs
(`providers/families.py`); performs nothing.
Contract of `prepare`: deterministic; the request it gives is taken by the wire as far as the rows know it; whatever was
changed so that the caller should know is an `Issue`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from ..codecs.crossing.settings import SEARCHING, without_choice
from ..codecs.shared.spec import PLAIN, Quirks, WireFields, extra_for
from ..codecs.typed.table import as_functions, checked_here
from ..conversation.cache_markers import CacheMode, Caches, in_order, planned
from ..conversation.grown import by_growth, changed, same
from ..conversation.history import identify, one_by_one
from ..conversation.naming import ANY_SPELLING, UNCHANGED, Respelled
from ..conversation.requirements import MISTRAL_IDS, Turns, WireRequirements
from ..conversation.turn_order import in_turns, without_system
from ..memo import CONSTANTS, TOOLS, FrozenTools, memoize
from ..providers.families import Forced, Ids, Profile, Replay, SamplingLimit, TemplateLimit, alike, origin
from ..providers.spec import Provider
from ..schema.api_rules import BARE, BEDROCK, BEDROCK_CLAUDE, LLAMACPP, OPEN, OPENAI, PORTABLE, SchemaRules
from ..schema.narrowing.narrow import narrow, narrow_tool
from ..types import (
    EMPTY_OBJECT_SCHEMA,
    Issue,
    IssueKind,
    Message,
    Reasoning,
    Request,
    Sampling,
    Tool,
    ToolChoice,
)
from .instructions import choice_instruction
from .model_state import of_another, with_dummies, without_refused
from .thinking import with_thinking
from .tool_names import renamed, respelled_names, respelling_issue

WEAKER = {"named": "required", "required": "auto"}
LAX = (OPEN, OPENAI, LLAMACPP)
"""Rules of wires that say nothing of what the model behind them takes."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The request as the wire carries it, and with which quirks; the tools as the answer may name them, the names' way
    back, what was changed."""

    request: Request
    quirks: Quirks = PLAIN
    tools: tuple[Tool, ...] = ()
    names: Respelled = UNCHANGED
    issues: tuple[Issue, ...] = ()


def requirements_of(provider: Provider, profile: Profile, *, text: bool = False) -> WireRequirements:
    """The requirements where this provider serves a model of this family."""
    return _requirements_of(provider, profile, text)


FAMILY_REQUIREMENTS: tuple[tuple[Callable[[Profile, WireRequirements], bool], Mapping[str, Any]], ...] = (
    (lambda profile, requirements: profile.ids is Ids.NINE and requirements.ids is ANY_SPELLING, {"ids": MISTRAL_IDS}),
    (lambda profile, requirements: profile.ids is Ids.COUNTED and not requirements.ids.letters, {"counted": True}),
    (lambda profile, requirements: bool(profile.schema) and requirements.schema in LAX, {"schema": PORTABLE}),
    (lambda profile, requirements: not profile.parallel, {"single": True}),
    (
        lambda profile, requirements: profile.maker == "claude" and requirements.schema is BEDROCK,
        {"schema": BEDROCK_CLAUDE},
    ),
)
"""What families demand where the place does not, and how that changes what the place demands."""


@memoize(CONSTANTS)
def _requirements_of(provider: Provider, profile: Profile, text: bool) -> WireRequirements:
    requirements = provider.wire_requirements
    for applies, changes in FAMILY_REQUIREMENTS:
        if applies(profile, requirements):
            requirements = replace(requirements, **changes)
    if provider.quirks.unsigned_reasoning == "send" and requirements.signed:
        requirements = replace(requirements, signed=frozenset())
    if TemplateLimit.ALTERNATE in profile.template_limits and requirements.turns is Turns.FREE:
        requirements = replace(requirements, turns=Turns.ALTERNATING if text else Turns.BRIDGED)
    return requirements


FIELDS_OF: Mapping[str, Literal["claude", "effort", "nova"]] = {
    "claude": "claude",
    "gpt-oss": "effort",
    "nova": "nova",
}
"""A family's maker → whose words of thinking it has where a place passes on a model's own fields."""


@memoize(CONSTANTS)
def quirks_of(provider: Provider, profile: Profile) -> Quirks:
    """The departures of this provider's wire from the plain one where it serves a model of this family."""
    quirks = provider.quirks
    if TemplateLimit.CONTENT in profile.template_limits and quirks.empty_content == "null":
        quirks = replace(quirks, empty_content="empty")
    if fields := FIELDS_OF.get(profile.maker):
        quirks = replace(quirks, thinking_fields=fields)
    if profile.replay is Replay.SIGNED:  # those models, and no older ones, take it: ai.google.dev, "Media resolution"
        quirks = replace(quirks, settings=quirks.settings | {"media_resolution"})
    if profile.searches:
        quirks = replace(quirks, settings=quirks.settings | {SEARCHING})
    if quirks.cache != "never":
        modes: dict[Caches, CacheMode] = {Caches.NOTHING: "never", Caches.INSTRUCTIONS: "asked"}
        quirks = replace(quirks, cache=modes.get(takes_of(provider, profile), quirks.cache))
    return quirks if profile.sees else replace(quirks, result_media="user_turn")


def takes_of(provider: Provider, profile: Profile) -> Caches:
    """Which cache markers this provider takes of a model of this family."""
    return provider.caches if profile.caches is None else profile.caches


SWITCHES = ("enable_thinking", "thinking")
OFF = frozenset({"disabled", "none", "off"})


def wants_thinking(request: Request) -> bool | None:
    """Does the request turn thinking on, or off?  None where it does not say."""
    for value in _switches(request.extra) if request.extra else ():
        kind = value.get("type") if isinstance(value, Mapping) else value
        if isinstance(kind, bool):
            return kind
        if isinstance(kind, str):
            return kind not in OFF
    effort, budget = request.sampling.effort, request.sampling.thinking_budget
    if effort is not None:
        return effort not in OFF
    return None if budget is None else budget != 0


def _switches(extra: Mapping[str, Any]) -> list[Any]:
    """What stands in the fields by which backends turn thinking on and off."""
    inner = extra.get("chat_template_kwargs")
    switches = [inner.get(name) for name in SWITCHES] if isinstance(inner, Mapping) else []
    return [*switches, *(extra.get(name) for name in ("think", *SWITCHES))]


UNSIGNED_CALLS: Mapping[str, tuple[str, str]] = {
    # ai.google.dev/gemini-api/docs/thought-signatures: for calls that another model made
    "gemini": ("thought_signature", "skip_thought_signature_validator"),
}
"""Codec → the field and the word by which a model that demands signatures takes a call that nobody signed."""


def prepare(
    request: Request,
    provider: Provider,
    profile: Profile,
    *,
    text: bool = False,
    schemaless: Iterable[str] = (),
    refused: Collection[str] = (),
) -> Prepared:
    """`request`, its history in order (`repair`), ready for `provider`.

    `text`: its tools are in its text already; `schemaless` names the tools whose schemas were refused, `refused`
    the modes of tool choice that were.
    """
    messages, foreign = of_another(request.messages, origin(provider, profile), alike(provider.codec))
    messages, stale = without_refused(messages, refused)
    foreign = (*foreign, *stale)
    if profile.replay is Replay.SIGNED and provider.codec in UNSIGNED_CALLS:
        messages = with_dummies(messages, *UNSIGNED_CALLS[provider.codec])
    request = request if messages is request.messages else replace(request, messages=messages)
    request, thinking = with_thinking(request, provider, profile, refused)
    request, fixed = _sampled(request, provider, profile)
    request, limited = _limited(request, provider, profile)
    fixed = [*foreign, *thinking, *fixed, *limited, *_unread(request.messages, provider, profile)]
    if text:
        return _text(request, provider, profile, fixed)
    request, weaker = _choice(request, provider, profile, refused)
    return _native(request, provider, profile, schemaless, (*fixed, *weaker))


def _text(request: Request, provider: Provider, profile: Profile, issues: Sequence[Issue]) -> Prepared:
    requirements = requirements_of(provider, profile, text=True)
    messages, changed = _conversation(request.messages, requirements, profile, text=True)
    marked = with_markers(replace(request, messages=messages), provider, profile)
    return Prepared(marked, quirks_of(provider, profile), request.tools, issues=(*issues, *changed))


def with_markers(request: Request, provider: Provider, profile: Profile) -> Request:
    """With cache markers where this provider takes them."""
    return planned(request, provider.quirks.cache, takes=takes_of(provider, profile))


def _declared(request: Request, requirements: WireRequirements, profile: Profile) -> Request:
    """With its tools in order, those its history calls declared and thoughts before calls, where that is demanded."""
    if (ordered := in_order(request.tools)) != request.tools:
        request = replace(request, tools=ordered)
    if profile.replay is Replay.DEMANDED and wants_thinking(request) is not False:
        request = replace(request, messages=_all_reasoned(request.messages) or request.messages)
    if requirements.declared and not request.tools:
        request = replace(request, tools=in_order(_called(request.messages)))
    return request


def _unchosen(request: Request, api: str) -> Request:
    """Without a word on how to call where there is nothing to call: OpenAI and others answer it with a 400."""
    if request.tools or extra_for(api, request.extra).get("tools"):
        return request
    if request.tool_choice is None and request.parallel is None and not isinstance(request.extra, WireFields):
        return request
    return replace(request, tool_choice=None, parallel=None, extra=without_choice(request.extra))


def _native(
    request: Request, provider: Provider, profile: Profile, schemaless: Iterable[str], issues: Sequence[Issue]
) -> Prepared:
    """With names, ids, turns and schemas as this wire takes them; `issues` are those found before."""
    requirements = requirements_of(provider, profile)
    offered = bool(request.tools)
    request = request if provider.typed else as_functions(request)
    request = _unchosen(_declared(request, requirements, profile), provider.codec)
    names = respelled_names(request, requirements.names)
    request = renamed(request, names)
    tools = checked_here(provider.codec, request.tools) if offered else ()
    messages, changed = _conversation(request.messages, requirements, profile, text=False)
    narrowed, cut = _narrowed(request.tools, requirements.schema, frozenset(map(names.spelled, schemaless)) or NONE)
    request, form = _output(replace(request, messages=messages, tools=narrowed), requirements)
    respelled = [respelling_issue(names, requirements.names)] if names.forth else []
    cut = [replace(issue, name=names.original(issue.name)) for issue in cut]
    found = (*changed, *respelled, *issues, *cut, *form)
    return Prepared(with_markers(request, provider, profile), quirks_of(provider, profile), tools, names, found)


# ── the conversation ─────────────────────────────────────────────────────────


def _conversation(
    messages: Sequence[Message], requirements: WireRequirements, profile: Profile, *, text: bool
) -> tuple[tuple[Message, ...], list[Issue]]:
    issues: list[Issue] = []
    turns = same(messages)
    if profile.replay is Replay.NEVER:
        turns = _all_thoughtless(turns) or turns
    if not text:
        identified = identify(turns, requirements)
        turns, issues = identified.messages, [*identified.issues]
    if requirements.single and not text:
        apart = one_by_one(turns)
        turns, issues = apart.messages, [*issues, *apart.issues]
    if requirements.signed and not text:
        turns, unsigned = _signed(turns, requirements.signed)
        issues = [*issues, *unsigned]
    if TemplateLimit.NO_SYSTEM in profile.template_limits:
        turns = without_system(turns)
    ordered = in_turns(turns, requirements.turns)
    return ordered.messages, [*issues, *ordered.issues]


UNREAD = "past reasoning has no place here; it was left out"


def _unread(messages: Sequence[Message], provider: Provider, profile: Profile) -> list[Issue]:
    """Reasoning that the place does not take back, though its model would."""
    if provider.quirks.reasoning_field or profile.replay is Replay.NEVER:
        return []
    at = _first_thought(messages)
    return [] if at < 0 else [Issue(kind=IssueKind.UNSUPPORTED, message=UNREAD, path=f"$.messages[{at}].reasoning")]


@by_growth
def _first_thought(messages: Sequence[Message], start: int, known: int | None) -> int:
    """The place of the first message with reasoning; -1 for none."""
    if known is not None and known >= 0:
        return known
    thoughts = (
        at for at, message in enumerate(messages[start:], start)
        if any(isinstance(part, Reasoning) and part.text.strip() for part in message.parts)
    )  # fmt: skip
    return next(thoughts, -1)


UNSIGNED = "reasoning without what its model signed it with is refused here; it was left out"


def _signed(messages: Sequence[Message], words: Collection[str]) -> tuple[tuple[Message, ...], list[Issue]]:
    """The messages without reasoning that bears none of the fields `words`."""
    made, issues = _all_signed(messages, words)
    return (same(messages) if made is None else made), [*issues]


@by_growth
def _all_signed(
    messages: Sequence[Message], start: int, known: tuple[Changed, tuple[Issue, ...]] | None, words: Collection[str]
) -> tuple[Changed, tuple[Issue, ...]]:
    before, found = known or (None, ())
    made: list[Message] = []
    issues: list[Issue] = [*found]
    for at, message in enumerate(messages[start:], start):
        parts = [p for p in message.parts if not isinstance(p, Reasoning) or any(word in p.metadata for word in words)]
        if len(parts) < len(message.parts):
            issues.append(Issue(kind=IssueKind.UNSUPPORTED, message=UNSIGNED, path=f"$.messages[{at}].reasoning"))
            message = message.with_parts(parts)
        made.append(message)
    return changed(messages, start, before, made), tuple(issues[:1])


Changed: TypeAlias = tuple[Message, ...] | None
"""What messages became; None for what they were."""


@by_growth
def _all_thoughtless(messages: Sequence[Message], start: int, known: Changed) -> Changed:
    return changed(messages, start, known, [*map(_thoughtless, messages[start:])])


@by_growth
def _all_reasoned(messages: Sequence[Message], start: int, known: Changed) -> Changed:
    return changed(messages, start, known, [*map(_reasoned, messages[start:])])


def _thoughtless(message: Message) -> Message:
    """The message without its reasoning, for models that refuse to get it back (DeepSeek R1)."""
    parts = [part for part in message.parts if not isinstance(part, Reasoning)]
    return message if len(parts) == len(message.parts) else message.with_parts(parts)


UNSAID = Reasoning(" ")
"""Stands for reasoning nobody kept: the shortest that DeepSeek and Moonshot take (BerriAI/litellm#28045)."""


def _reasoned(message: Message) -> Message:
    """The message, if it makes calls, with reasoning before them."""
    if not message.calls or any(isinstance(part, Reasoning) for part in message.parts):
        return message
    return message.with_parts([UNSAID, *message.parts])


def _called(messages: Sequence[Message]) -> list[Tool]:
    """The tools that the history calls, declared so that it is taken; their arguments are anybody's guess."""
    names = dict.fromkeys(call.name for message in messages for call in message.calls)
    return [Tool(name=name, parameters=EMPTY_OBJECT_SCHEMA) for name in names]


# ── tools and what is demanded of the answer ─────────────────────────────────


NONE: frozenset[str] = frozenset()


@memoize(TOOLS)
def _narrowed(
    tools: Sequence[Tool], rules: SchemaRules, schemaless: frozenset[str]
) -> tuple[tuple[Tool, ...], list[Issue]]:
    narrowed: list[Tool] = []
    issues: list[Issue] = []
    for tool in tools:
        cut, lost = narrow_tool(tool, BARE if tool.name in schemaless else rules)
        narrowed.append(cut)
        issues += lost
    return (FrozenTools(narrowed) if type(tools) is FrozenTools else tuple(narrowed)), issues


def _output(request: Request, requirements: WireRequirements) -> tuple[Request, tuple[Issue, ...]]:
    """With the schema of the answer cut like a tool's, where one is asked for."""
    wanted = request.output_schema
    if wanted is None or wanted.schema is None or wanted.bare or requirements.schema in LAX:
        return request, ()
    cut = narrow(wanted.schema, requirements.schema, wanted.name)
    return replace(request, output_schema=replace(wanted, schema=cut.schema)), cut.issues


def _is_own(provider: Provider) -> bool:
    """Is this a server of one's own?  It checks nothing of what services do."""
    return bool(provider.port) or not provider.auth.required


DEFAULT_TEMPERATURE = 1
FIXED = "this family's sampling is fixed; left out: {name}"


def _sampled(request: Request, provider: Provider, profile: Profile) -> tuple[Request, list[Issue]]:
    """Without the sampling that the family's services refuse; a default is left out without a word."""
    given = {name: getattr(request.sampling, name) for name in profile.fixed}
    given = {name: value for name, value in given.items() if value is not None}
    if not given or _is_own(provider):
        return request, []
    lost = sorted(name for name, value in given.items() if value != DEFAULT_TEMPERATURE)
    issues = [
        Issue(kind=IssueKind.UNSUPPORTED, message=FIXED.format(name=name), path=f"$.sampling.{name}") for name in lost
    ]
    nothing: dict[str, Any] = dict.fromkeys(given)
    return replace(request, sampling=replace(request.sampling, **nothing)), issues


Refused: TypeAlias = Callable[[Sampling], Any]
LIMITED: tuple[tuple[SamplingLimit, Refused, str, Refused, str], ...] = (
    (SamplingLimit.COOL, lambda asked: (asked.temperature or 0) > 1, "temperature", lambda _: 1, "over 1; sent as 1"),
    (SamplingLimit.EITHER, lambda asked: None not in (asked.temperature, asked.top_p), "top_p", lambda _: None,
     "refused beside temperature; left out"),
    (SamplingLimit.SPOKEN, lambda asked: not all(map(str.strip, asked.stop)), "stop",
     lambda asked: tuple(filter(str.strip, asked.stop)), "texts of nothing are refused; left out"),
)  # fmt: skip
"""Limit → whether it refuses what is asked, in which field, what goes out instead, and how that is said."""


def _limited(request: Request, provider: Provider, profile: Profile) -> tuple[Request, list[Issue]]:
    """Without what the family's services refuse of the sampling."""
    sampling, issues = request.sampling, []
    for limit, refuses, name, instead, why in LIMITED:
        if limit in profile.sampling and not _is_own(provider) and refuses(sampling):
            issues.append(Issue(kind=IssueKind.UNSUPPORTED, message=f"{name}: {why}", path=f"$.sampling.{name}"))
            sampling = replace(sampling, **{name: instead(sampling)})
    return (replace(request, sampling=sampling) if issues else request), issues


def _takes_force(request: Request, provider: Provider, profile: Profile) -> bool:
    """May a call be demanded of this family here?"""
    thinking = request.extra.get("thinking")
    budgeted = isinstance(thinking, Mapping) and thinking.get("type") == "enabled"
    budgeted = budgeted or (request.sampling.thinking_budget or 0) > 0
    return {
        Forced.FREE: True,
        Forced.NOT_BUDGETED: not budgeted,
        Forced.TURNED_OFF: _is_own(provider) or wants_thinking(request) is False,
    }.get(profile.forced, False)


def only_allowed(request: Request, api: str) -> Request:
    """`request` with no other tools than its choice allows; a choice that came in the words of `api` stays as it is.

    Few wires can say "these of them", and each in its own words.
    """
    choice = request.tool_choice
    if choice is None or not choice.allowed or (isinstance(request.extra, WireFields) and request.extra.api == api):
        return request
    tools = tuple(tool for tool in request.tools if tool.name in choice.allowed)
    left = ToolChoice(choice.mode, choice.name) if tools else None
    return replace(request, tools=tools, tool_choice=left, extra=without_choice(request.extra))


def _choice(
    request: Request, provider: Provider, profile: Profile, refused: Collection[str]
) -> tuple[Request, tuple[Issue, ...]]:
    """With the strongest choice the place and the model take, and the demand in words where that is weaker; of a named
    tool only that tool is offered then."""
    choice = request.tool_choice
    forced = set() if _takes_force(request, provider, profile) else {"required", "named"}
    taken = provider.quirks.choices - forced - set(refused)
    if choice is None or choice.mode in taken or choice.mode == "auto":
        return request, ()
    mode, tools = _weakened(choice, taken, request.tools)
    weaker = ToolChoice(mode) if tools and mode in taken else None  # type: ignore[arg-type]
    message = f"tool_choice {choice.mode} is not taken here; sent as {mode} with {len(tools)} tools: check the answer"
    issue = Issue(kind=IssueKind.UNSUPPORTED, message=message, name=choice.name, path="$.tool_choice")
    instructed = choice_instruction(request, choice) if mode == "auto" else request
    return replace(instructed, tools=tools, tool_choice=weaker), (issue,)


def _weakened(choice: ToolChoice, taken: Collection[str], tools: tuple[Tool, ...]) -> tuple[str, tuple[Tool, ...]]:
    """The mode that is taken and demands as much as can be, and the tools that are offered with it."""
    if choice.mode == "none":
        return "auto", ()
    mode: str = choice.mode
    while mode not in taken and mode in WEAKER:
        mode = WEAKER[mode]
    named = choice.mode == "named"
    return mode, (tuple(tool for tool in tools if named and tool.name == choice.name) or tools)
