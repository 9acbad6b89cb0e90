"""Tools that a backend ignores in silence: found out, and the request made good by telling them in text.

Knows requests, answers and what was found out before; asks by the function it is given, knows no wire.
Contract: an answer stands as it came unless what follows holds a call: of a streamed one only `Ended` waits, and behind
text that went out come calls alone, never more text.  A backend is condemned for an hour, and only by two things at
once: its counts leave no room for the tools *and* the model calls once it is told of them; or its counts do not tell
whether they came *and* the model, sent a tool of a name nobody can guess, neither calls nor names it.  A native call,
or that name, shows for good that tools are read.  Each question costs one request, and a model is asked two an hour at
most.

Counts alone do not condemn: many places in between count the messages and leave out the tools they pass on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..codecs.shared.spec import extra_for
from ..codecs.typed.hosted import asked
from ..codecs.typed.table import SPEAKS
from ..effects import Machine, NewId, Now, relay
from ..errors import ProviderError
from ..events import EVENTS, Ended, Event, IssueReported, replay
from ..memo import CONSTANTS, TOOLS, memoize
from ..providers.route import Route
from ..providers.spec import Tools
from ..types import Issue, IssueKind, Message, Request, Response, Sampling, Stop, Tier, Tool, ToolChoice, Usage
from .capabilities import Capabilities
from .composer import AnswerComposer
from .plan import runs_hosted
from .prompt_count import Counted, counted
from .question import asked_about
from .reask import NOISE, OWN_ENDS, loses_a_call
from .several import one_choice
from .tool_support import LIFETIME, UNKNOWN, Finding, Support


@dataclass(frozen=True, slots=True)
class AskedBesides:
    """A step: the model is asked `request`, which its client did not ask, and `why`: COUNTS or CANARY.

    `before` is the answer that raised the question, where one was given.
    """

    request: Request
    why: str
    before: Response | None = None


@dataclass(frozen=True, slots=True)
class AnsweredBesides:
    """A step: that was answered, or failed."""

    response: Response | None = None
    failure: ProviderError | None = None


AskOn: TypeAlias = Callable[[Request, Route, Sequence[Issue]], Machine[Response]]
"""Asks a request on a route; the answer's first event brings the issues."""

COUNTS, CANARY = "counts", "canary"
WHY = {
    COUNTS: "the tokens it counted leave no room for them, and told in text the model called one",
    CANARY: "asked which tools it was sent, the model neither called nor named the one there was",
}
IGNORED = (
    "{root} ignores the tools it is sent for {model!r}: {why}; they are told in text, and sent again in an hour; "
    'run `dragoman doctor`, and set tools = "text" for the model, or "native" if that is wrong'
)
TESTED = "whether the model knows its tools was in doubt: {how}"
TOLD = "told of them in text it did not call either, and its first answer stands"
NAMED = "asked for them, it knew them"
UNCLEAR = "asked for them, it gave no answer that says anything; it is left in peace for an hour"


def heeded(
    request: Request, route: Route, learned: Capabilities, ask: AskOn, finding: Finding | None
) -> Machine[Response]:
    """`ask` on `route`, its tools in text where it ignores them; yields the events of one answer, returns it whole.

    `finding` is what was found out before (`watching`).
    """
    if finding is None:
        return ask(request, route, ())
    if finding.until:
        return _until(finding, request, route, learned, ask)
    return _heeding(finding, request, route, learned, ask)


def watching(request: Request, route: Route, learned: Capabilities) -> Finding | None:
    """What was found out of whether the tools are read there; None where nobody need look."""
    return learned.support.of(route.root(), request.model) if _is_watched(request, route, learned) else None


def _until(finding: Finding, request: Request, route: Route, learned: Capabilities, ask: AskOn) -> Machine[Response]:
    """The same where what was found out holds for a time."""
    now: float = yield Now()
    return (yield from _heeding(UNKNOWN if now >= finding.until else finding, request, route, learned, ask))


def _heeding(
    finding: Finding, request: Request, route: Route, learned: Capabilities, ask: AskOn
) -> Machine[Response]:
    if finding.support is Support.IGNORED:
        return ask(request, _in_text(route), [_ignored(route, request, finding.why)])
    if finding.support in _LEFT_ALONE or asked_about(request):
        return ask(request, route, ())
    watched = _Watched(request, route, learned, ask, suspected=finding.support is Support.SUSPECTED)
    return relay(ask(request, route, ()), on_step=watched.pass_on, at_once=watched.pass_all, then=watched.ended)


_LEFT_ALONE = frozenset({Support.READ, Support.CLEARED})


def _is_watched(request: Request, route: Route, learned: Capabilities) -> bool:
    """Do tools go natively here, and could they go in text?  Those that the place itself runs cannot."""
    offered = request.tools and (request.tool_choice is None or request.tool_choice.mode != "none")
    if not offered or route.mode is not Tools.BOTH:
        return False
    if (request.extra or route.fields) and _runs_others(request, route):
        return False
    return not learned.refused(route, request.model).tools


def _runs_others(request: Request, route: Route) -> bool:
    """Does the place get tools that nobody here describes?  Those of another wire never get to it."""
    api = SPEAKS.get(route.provider.codec, route.provider.codec)
    own = extra_for(api, request.extra).get("tools") or route.fields.get("tools")
    return bool(own) or any(runs_hosted(route, request, kind) for kind in asked(request))


@memoize(CONSTANTS)
def _in_text(route: Route) -> Route:
    return replace(route, tools=Tools.TEXT)


class _Watched:
    """One request to a model of which nothing is sure."""

    __slots__ = ("_ask", "_events", "_learned", "_request", "_route", "_suspected", "_usage")

    def __init__(
        self, request: Request, route: Route, learned: Capabilities, ask: AskOn, *, suspected: bool
    ) -> None:
        self._request, self._route, self._learned, self._ask = request, route, learned, ask
        self._suspected = suspected
        self._events: list[Event] = []  # what waits of the first answer: of a streamed one its end
        self._usage: Usage | None = None  # of what was asked besides

    def ended(self, first: Response) -> Response | Machine[Response]:
        """The answer, with what follows from it."""
        if _calls_natively(first):
            self._note(Finding(Support.READ))
        doubt = _doubt(self._request, first)
        if not doubt:
            return self._stands(first) if self._events else first
        if doubt == COUNTS and not self._suspected:
            return self._try_text(first)
        return self._try_canary(first)

    def pass_all(self, steps: list[Any]) -> Sequence[Any] | None:
        """The same of several; None where they are not of one kind."""
        kinds = {*map(type, steps)}
        if not EVENTS.issuperset(kinds):
            return None
        if self._request.stream:
            return None if Ended in kinds else steps
        self._events += steps
        return ()

    def pass_on(self, step: Any) -> Iterable[Any]:
        """A whole answer waits until it stands; of a streamed one its end does."""
        if type(step) not in EVENTS or (self._request.stream and type(step) is not Ended):
            return (step,)
        self._events.append(step)
        return ()

    # ── what follows ─────────────────────────────────────────────────────────

    def _try_text(self, first: Response) -> Machine[Response]:
        """Tell the tools in text, at once: the model, or its request, may not have wanted any."""
        second = yield from self._told(first)
        if second is None or not _calls(self._request, second):
            yield from self._note_for_now(Support.SUSPECTED)
            return (yield from self._stands(first, () if second is None else (_tested(TOLD),)))
        yield from self._note_for_now(Support.IGNORED, COUNTS)
        return (yield from self._made_good(first, second, COUNTS))

    def _try_canary(self, first: Response) -> Machine[Response]:
        """Ask the model for its tools, and tell them in text where it knows none."""
        to = replace(self._route, tools=Tools.NATIVE)
        knows, usage = yield from canary(self._request.model, to, self._ask, first)
        self._spend(usage)
        if knows:
            self._note(Finding(Support.READ))
            return (yield from self._stands(first, (_tested(NAMED),)))
        if knows is None:
            yield from self._note_for_now(Support.CLEARED)
            return (yield from self._stands(first, (_tested(UNCLEAR),)))
        yield from self._note_for_now(Support.IGNORED, CANARY)
        second = yield from self._told(first, CANARY)
        if second is None or not _calls(self._request, second):
            return (yield from self._stands(first, (_ignored(self._route, self._request, CANARY),)))
        return (yield from self._made_good(first, second, CANARY))

    def _told(self, first: Response, why: str = COUNTS) -> Machine[Response | None]:
        """The answer of the model that is told of its tools in text; None where asking fails, for one is there."""
        again = one_choice(self._request) if self._request.stream else self._request  # of a stream, choices went out
        try:
            second = yield from _beside(AskedBesides(again, why, first), self._ask, _in_text(self._route))
        except ProviderError:
            return None
        self._spend(second.usage)
        return second

    def _spend(self, usage: Usage | None) -> None:
        self._usage = usage + self._usage if usage is not None else self._usage

    def _note(self, finding: Finding) -> None:
        self._learned.support.note(self._route.root(), self._request.model, finding)

    def _note_for_now(self, support: Support, why: str = "") -> Machine[None]:
        now: float = yield Now()
        self._note(Finding(support, now + LIFETIME, why))

    # ── what goes out ────────────────────────────────────────────────────────

    def _stands(self, first: Response, issues: Sequence[Issue] = ()) -> Machine[Response]:
        """The first answer, as it came, with what there is to tell and what all of it cost."""
        usage = self._usage + first.usage if self._usage is not None else first.usage
        if not (issues or self._usage):
            if self._events:
                yield self._events
            return first
        events: list[Event] = []
        for event in self._events:
            if isinstance(event, Ended):
                events += map(IssueReported, issues)
                event = event if event.usage is usage else replace(event, usage=usage)
            events.append(event)
        if events:
            yield events
        return replace(first, usage=usage, issues=(*first.issues, *issues))

    def _made_good(self, first: Response, second: Response, why: str) -> Machine[Response]:
        """The answer that calls: alone where nothing of the first went out, else its calls behind that."""
        told = _ignored(self._route, self._request, why)
        if not self._request.stream:
            usage = self._usage + first.usage if self._usage is not None else first.usage
            whole = replace(second, usage=usage, issues=(told, *second.issues))
            yield from replay(whole)
            return whole
        composer = AnswerComposer(whole_calls=False)
        for event in replay(first):
            composer.stream(event)
        composer.count(first)
        yield from composer.next_answer()
        composer.count(replace(second, usage=self._usage))
        yield from composer.emit(IssueReported(told), *map(IssueReported, second.issues))
        if second.text.strip():
            noise = Issue(kind=IssueKind.NOISE, message=NOISE, raw=second.text)
            yield from composer.emit(IssueReported(noise)) if composer.spoke else composer.emit_text(second.text)
        composer.calls += second.calls
        yield from composer.end(second.stop, second.extra)
        return composer.response()


def _beside(asked: AskedBesides, ask: AskOn, route: Route) -> Machine[Response]:
    """Ask what no client asked, unheard; yields the steps that say so, for whoever counts."""
    yield asked
    try:
        response = yield from relay(ask(asked.request, route, ()), on_step=_unheard)
    except ProviderError as error:
        yield AnsweredBesides(failure=error)
        raise
    yield AnsweredBesides(response)
    return response


def _unheard(step: Any) -> Iterable[Any]:
    return () if type(step) in EVENTS else (step,)


def _calls(request: Request, answer: Response) -> bool:
    """Does the answer call one of the tools, well or badly?"""
    names = {tool.name for tool in request.tools}
    return bool(answer.calls) or any(loses_a_call(issue) and issue.name in names for issue in answer.issues)


def _ignored(route: Route, request: Request, why: str) -> Issue:
    message = IGNORED.format(root=route.root(), model=request.model, why=WHY.get(why, why))
    return Issue(kind=IssueKind.TOOLS_IGNORED, message=message, raw=why)


def _tested(how: str) -> Issue:
    return Issue(kind=IssueKind.TOOLS_TESTED, message=TESTED.format(how=how))


# ── what an answer gives away ────────────────────────────────────────────────


def stands(request: Request, answer: Response, finding: Finding) -> bool:
    """Does the answer go out as it came, without anything to learn from it?"""
    return finding.support in _LEFT_ALONE or not (_calls_natively(answer) or _doubt(request, answer))


def _calls_natively(answer: Response) -> bool:
    """Does it show that the tools were read?"""
    return any(call.report is None or call.report.tier is Tier.NATIVE for call in answer.calls)


def _doubt(request: Request, answer: Response) -> str:
    """What makes it doubtful that the model knew its tools: COUNTS, or that nothing tells (CANARY); "" for nothing."""
    tried = answer.calls or answer.doubtful or any(map(_is_trace, answer.issues))
    if tried or answer.stop not in OWN_ENDS:
        return ""
    found = counted(request, answer.usage)
    if found is Counted.UNCLEAR and not (request.tool_choice is not None and request.tool_choice.mode in FORCED):
        return ""
    if _names_a_tool(request, answer):
        return ""
    return COUNTS if found is Counted.WITHOUT else CANARY


FORCED = frozenset({"required", "named"})
"""Tool choices with which an answer without a call says something."""


def _is_trace(issue: Issue) -> bool:
    """Does `issue` stand for a call, or for an answer that did not come as answers do?"""
    return loses_a_call(issue) or issue.kind is IssueKind.WIRE_FAULT


def _names_a_tool(request: Request, answer: Response) -> bool:
    """Does the model speak of a tool that nobody named in the conversation?"""
    said = f"{answer.text}\n{answer.reasoning}"
    named = [tool.name for tool in request.tools if tool.name and tool.name in said] if _may_name(request, said) else []
    if not named:
        return False
    texts = [part for message in request.messages for part in (message.text, *(r.text for r in message.results))]
    called = {call.name for message in request.messages for call in message.calls}
    return any(name not in called and not any(name in text for text in texts) for name in named)


FEW = 64
"""Tools whose names are looked for one by one."""
HEAD = 3


def _may_name(request: Request, said: str) -> bool:
    """May the name of a tool stand in `said`?  Of many tools, their first letters are looked for there."""
    if len(request.tools) <= FEW or len(said) > MOST_LOOKED * len(request.tools):
        return True
    heads = _heads(request.tools)
    return heads is None or not heads.isdisjoint([said[at : at + HEAD] for at in range(len(said))])


MOST_LOOKED = 4
"""Letters of an answer for each tool up to which looking for them costs less than looking for each tool."""


@memoize(TOOLS)
def _heads(tools: Sequence[Tool]) -> frozenset[str] | None:
    """How the names of tools begin; None where one is shorter."""
    heads = frozenset(tool.name[:HEAD] for tool in tools if tool.name)
    return heads if all(len(head) == HEAD for head in heads) else None


# ── the canary ───────────────────────────────────────────────────────────────

PREFIX = "report_"
RANDOM = 8
"""Letters and digits of the name that nobody can guess."""
PATIENCE = 30.0
"""Seconds of silence after which the question is given up: an answer waits for it."""
QUESTION = (
    "Which tools can you call? Call the one you were given; if you cannot, write the names of all that you were given. "
    "If you were given none, say that."
)


def canary(
    model: str, route: Route, ask: AskOn, before: Response | None = None
) -> Machine[tuple[bool | None, Usage | None]]:
    """Does this model, sent a tool of a name nobody can guess, know it?  None where its answer does not say.

    `before` is the answer that raised the question.  A call is demanded, since who reads tools mostly reads that too,
    and who ignores them ignores it.
    """
    minted: str = yield NewId()
    secret = re.sub(r"\W", "", minted)[:RANDOM].lower()
    try:
        soon = replace(route, timeouts=replace(route.timeouts, idle=min(PATIENCE, route.timeouts.idle)))
        asked = AskedBesides(_canary_request(model, PREFIX + secret), CANARY, before)
        answer = yield from _beside(asked, ask, soon)
    except ProviderError:
        return None, None
    issues = (text for issue in answer.issues for text in (issue.name, issue.raw))
    said = [answer.text, answer.reasoning, *(call.name for call in answer.calls), *issues]
    if any(secret in text.lower() for text in said):
        return True, answer.usage
    denies = answer.stop is Stop.END and bool(answer.text.strip()) and not answer.calls
    return (False if denies else None), answer.usage


def _canary_request(model: str, name: str) -> Request:
    return Request(
        model=model,
        messages=(Message("user", QUESTION),),
        tools=(Tool(name=name, description="Reports that tools can be called."),),
        tool_choice=ToolChoice("required"),
        sampling=Sampling(max_tokens=1024),
    )
