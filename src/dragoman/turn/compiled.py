"""Plans compiled once for all requests that ask the same of a place, whatever is said in them, and found again.

Of a plan nearly all depends on tools, options, route and model, which come again with every turn of a conversation.
Knows plans and their stages by what these do to a conversation; nothing of wires, keys or answers.
Contract: the same plan as without.  A compiled plan is for conversations that no stage has anything to do with but the
few that are gone through here: plain texts, calls with ids and names that the wire takes, and their results; any other
is planned from the beginning.  What it is compiled from is planned both ways, and compiled only where both are equal.
It is held by its tools, and goes with them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Generic, TypeVar

from ..codecs.shared.spec import WireFields
from ..conversation.cache_markers import Caches, with_markers
from ..conversation.grown import Grown, by_growth, grown
from ..conversation.naming import UNCHANGED
from ..conversation.plain import Plain, as_grown, as_plain
from ..conversation.requirements import Turns, WireRequirements
from ..conversation.turn_order import are_in_turns, in_turns
from ..memo import OBJECTS, FrozenTools, Recent, exact
from ..providers.families import Profile, Replay, TemplateLimit
from ..providers.route import Route
from ..types import JsonObject, Message, Request, Sampling, Text, Tool, ToolCall, ToolResult
from .capabilities import NOTHING, Refusals
from .model_state import REFUSED
from .plan import Plan, planned, style_of
from .prepare import requirements_of, takes_of
from .text_tools import PromptStyle, in_text, prompt

T = TypeVar("T")

MOST = 16
"""Plans that are held for one set of tools."""
LARGEST = 4096
"""Bytes of a request's other fields up to which it is known again."""
_ROLES = frozenset({"system", "user", "assistant", "tool"})


class Never:
    """Stands for a plan that cannot be compiled."""


NEVER = Never()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A plan without its conversation, and what that becomes.

    plan          the plan; `asked` and `request` have no messages
    requirements  of the wire;  callless  whether a conversation with calls needs stages that are not gone through here
    marked        are cache markers set where nobody asks for any?  takes: those that the place takes
    style, told   how calls and results are told in text, and the tools; None where they go by the wire
    route         whose identity is a part of the key, and must stay its own
    asks          is what is asked of the model the request itself, but for what is said?
    """

    plan: Plan
    asks: bool
    requirements: WireRequirements
    callless: bool
    route: Route
    marked: bool = False
    takes: Caches = Caches.ALL
    style: PromptStyle | None = None
    told: str = ""

    def planned(self, request: Request) -> Plan | None:
        """The plan of `request`, which asks the same; None where its conversation is not plain."""
        messages, plan, needed = request.messages, self.plan, self.requirements
        found = as_plain(messages)
        calls = _has_calls(messages, found, needed)
        if calls is None or (calls and self.callless):
            return None
        if self.style is None:
            sent = messages if type(messages) is Grown else as_grown(messages)
        else:
            sent = self._from_prompt(in_text(messages, plan.asked.tools, self.style, self.told))
            found = as_plain(sent)
        if needed.turns is not Turns.FREE and not are_in_turns(found, needed.turns):
            ordered = in_turns(sent, needed.turns)
            if ordered.issues:
                return None
            sent = ordered.messages
        if self.marked:
            tools = bool(plan.request.tools)
            sent = with_markers(sent, self.route.provider.quirks.cache, tools=tools, takes=self.takes)
        return plan.saying(request if self.asks else plan.asked.with_messages(messages), sent)

    def _from_prompt(self, sent: tuple[Message, ...]) -> tuple[Message, ...]:
        """The conversation as what grew from the message that tells the tools: of a short one that is nearly all.

        What is made of that message, its JSON above all, is found with it.
        """
        if len(sent) < 2 or sent[0].role != "system" or getattr(sent, "base", None) is not None:
            return sent
        made = self.plan.made
        head: Grown[Message] | None = made.get(Compiled)
        if head is None or head[0] != sent[0]:
            head = made[Compiled] = grown(None, sent[:1])
        return grown(head, sent[1:])


def compiled(
    request: Request, route: Route, *, text: bool, nonce: str = "", refused: Refusals = NOTHING,
    habits: frozenset[str] = frozenset(), keep: Callable[[Compiled], object] | None = None,
) -> Plan:
    """`planned`, compiled where it can be; `keep` is given what that was made by."""
    key = None if nonce else _key(request, route, text, refused, habits)
    shelf: Shelf[Compiled | Never] | None = None if key is None else shelf_of(request.tools, Compiled)
    known = shelf.get(key) if shelf is not None else None
    if isinstance(known, Compiled) and (plan := known.planned(request)) is not None:
        if keep is not None:
            keep(known)
        return plan
    plan = planned(request, route, text=text, nonce=nonce, refused=refused, habits=habits)
    if shelf is not None and known is None and shelf.comes_again(key) and (made := _compile(request, route, plan)):
        shelf.put(key, made)
        if isinstance(made, Compiled):
            return made.planned(request) or plan  # the same, of which what it is written with is found next time
    return plan


class Shelf(Generic[T]):
    """What was made for one set of tools, by what was asked besides; of plans what was asked twice, for in some clients
    no two requests are alike."""

    __slots__ = ("_last", "_made", "_seen")

    def __init__(self, most: int) -> None:
        self._last: tuple[Hashable, T | None] = None, None
        self._made: Recent[Hashable, T] = Recent(most)
        self._seen: Recent[int, int] = Recent(4 * most)

    def get(self, key: Hashable) -> T | None:
        """What was made under `key`: to compare it with the last one costs less than to hash it."""
        known, found = self._last
        if known == key:
            return found
        found = self._made.get(key)
        if found is not None:
            self._last = key, found
        return found

    def put(self, key: Hashable, made: T) -> None:
        """Remember this."""
        self._made.put(key, made)
        self._last = key, made

    def comes_again(self, key: Hashable) -> bool:
        """Was `key` asked for before, and is it time to try again?  After one, two, four times, and so on."""
        before = self._seen.get(hash(key)) or 0
        self._seen.put(hash(key), before + 1)
        return before > 0 and before & (before - 1) == 0


_untooled: dict[type, Shelf[Any]] = {}


def shelf_of(tools: Sequence[Tool], kind: type) -> Shelf[Any] | None:
    """Where what is made of this kind for such tools is held; None where it is not."""
    made: Any = _untooled if not tools else tools.__dict__ if type(tools) is FrozenTools else None
    if made is None:
        return None
    shelf: Shelf[Any] | None = made.get(kind)
    if shelf is None:
        shelf = made[kind] = Shelf(MOST if tools else OBJECTS)
    return shelf


def _key(
    request: Request, route: Route, text: bool, refused: Refusals, habits: frozenset[str]
) -> Hashable:
    """Equal for requests of one plan; None for one whose plan depends on what is said in it."""
    options = options_of(request, route, request.model)
    return None if options is None else (options, text, "" if refused is NOTHING else refused, habits)


def options_of(request: Request, route: Route, model: str) -> Hashable:
    """Equal for requests to `model` that are written alike but for what is said and for their tools; None for one whose
    plan depends on what is said."""
    sampling = request.sampling
    if request.output_schema is not None or sampling.effort is not None or sampling.thinking_budget is not None:
        return None
    extra = request.extra and _written(request.extra)
    if extra is None:
        return None
    try:
        options = exact((_of_sampling(sampling), request.parallel, request.stream))
    except ValueError:
        return None
    return id(route), model, request.tool_choice, options, extra or ""


_of_sampling = attrgetter(*(field.name for field in fields(Sampling)))
"""Its values."""


def _written(extra: JsonObject) -> Hashable:
    """Other fields, by what they say; None for what is too large, or not JSON."""
    api = extra.api if isinstance(extra, WireFields) else None
    try:
        data = exact({**extra})
    except ValueError:
        return None
    return (api, data) if len(data) <= LARGEST else None


# ── what can be compiled ─────────────────────────────────────────────────────


def _compile(request: Request, route: Route, plan: Plan) -> Compiled | Never | None:
    """The plan of `request`, for whatever else may be said; None where this conversation does not show it."""
    family, demands = plan.family, plan.refused.demands
    if plan.names != UNCHANGED or any(one.startswith(REFUSED) for one in demands):
        return NEVER
    if TemplateLimit.NO_SYSTEM in family.template_limits:
        return NEVER
    style = style_of(plan) if plan.text else None
    made = Compiled(
        plan=plan.saying(plan.asked.with_messages(()), ()),
        asks=plan.asked is request,
        requirements=requirements_of(route.provider, family, text=plan.text),
        callless=_is_callless(request, plan, family),
        route=route,
        marked=route.provider.quirks.cache == "always",
        takes=takes_of(route.provider, family),
        style=style,
        told=prompt(plan.asked, style) if style is not None else "",
    )
    again = made.planned(request)
    return None if again is None else made if again == plan else NEVER


def _is_callless(request: Request, plan: Plan, family: Profile) -> bool:
    """Do stages look at calls of a conversation that say nothing special?"""
    if any(tool.metadata for tool in request.tools):
        return True
    return not plan.text and (family.replay in {Replay.DEMANDED, Replay.SIGNED} or not request.tools)


def _has_calls(messages: Sequence[Message], found: Plain | None, requirements: WireRequirements) -> bool | None:
    """Are there calls in a conversation of texts, calls and results that the wire takes as they are?  None: it is none.

    `found` is what is known of it where it is plain.
    """
    if found is None:
        ids = _plain(messages, requirements)
        return None if ids is None else bool(ids)
    if requirements.counted and found.names:
        return None
    fine = found.unique and (found.single or not requirements.single) and found.fits(requirements)
    return bool(found.ids) if fine else None


@by_growth
def _plain(
    messages: Sequence[Message], start: int, known: frozenset[str] | None, requirements: WireRequirements
) -> frozenset[str] | None:
    """The ids of the calls of a conversation of texts, calls and results that the wire takes as they are; else None."""
    if start and known is None:
        return None
    ids: list[str] = []
    names: list[str] = []
    for message in messages[start:]:
        if not message.bare or message.role not in _ROLES:
            return None
        for part in message.parts:
            kind = type(part)
            if kind is ToolCall:
                ids.append(part.id)  # type: ignore[union-attr]
                names.append(part.name)  # type: ignore[union-attr]
            elif kind is ToolResult:
                names.append(part.name)  # type: ignore[union-attr]
            elif kind is not Text:
                return None
        if requirements.single and len(message.calls) > 1:
            return None
    before = known or _NONE
    if not names:
        return before
    every = before.union(ids)
    alone = all(ids) and len(every) == len(ids) + len(before)
    fine = alone and not requirements.counted and all(map(requirements.ids.allows, ids))
    return every if fine and all(map(requirements.names.allows, names)) else None


_NONE: frozenset[str] = frozenset()
