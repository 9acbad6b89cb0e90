"""A model asked whether it meant the calls in its text that prove little, before anybody acts on them or sees them.

Knows requests, events and, by its contract, whatever asks a model; nothing of wires, routes, dialects or clients.
Contract of `asking`: what it makes of an `ask` emits one answer.  Text passes as it comes up to the first call in
doubt; that and all behind it is held back until the answer has ended, and the model is asked once, within the budget.
A call it makes then is the answer's, and what was written of it is not shown; where it makes none the text stands as
it was written, unless it is the JSON protocol, which is no answer: then what was held back is a breach, to be asked for
again as one, but for a plain no to what words led to.  The question and its answer are never emitted; `Issue`s say that
it was asked and what it said, and what was asked about is in doubt no more.  A question that fails costs the question,
not the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..dialects.engine.told_text import joined
from ..dialects.writing.history import AS_WRITTEN
from ..effects import Machine, relay
from ..errors import ProviderError
from ..events import (
    EVENTS,
    CallDoubted,
    CallStarted,
    Ended,
    Event,
    IssueReported,
    TextDelta,
    assemble,
    call_events,
)
from ..types import Issue, IssueKind, Message, Request, Response, Stop, Text, ToolCall, Usage, Verdict
from .answer_constraint import as_words
from .composer import FINAL_STOPS, identity
from .placing import in_place
from .protocol import unasked, written_in_protocol
from .question import NO, after_the_no, agrees, confirmed, question
from .reask import ONLY_THESE, Ask, Budget, loses_a_call
from .several import one_choice

MADE = "the model was asked whether it meant the call of {name!r}, and made it"
OTHER = "the model was asked whether it meant the call of {name!r}, and made another call"
NOT_MADE = "the model was asked whether it meant the call of {name!r}, and did not make it; it is text"
CONFIRMED = "the model was asked whether it meant it, and wrote it again"
APART = 64
"""Events of an answer that are kept one by one: it may stream for an hour."""
FAILED = "the model was to be asked whether it meant the call of {name!r}, and that failed ({why}); it is text"


def asking(ask: Ask, budget: Budget) -> Ask:
    """`ask`, whose answers hold no call in doubt as long as `budget` lasts, and none in the JSON protocol after it."""

    return _Sure(ask, budget).asked


class _Sure:
    __slots__ = ("_ask", "_budget")

    def __init__(self, ask: Ask, budget: Budget) -> None:
        self._ask, self._budget = ask, budget

    def asked(self, request: Request) -> Machine[Response]:
        """The answer to `request`, nothing in doubt."""
        one = _Asking(request, self._ask, self._budget)
        return relay(self._ask(request), on_step=one.first, at_once=one.pass_on, then=one.ended)


class _Asking:
    __slots__ = ("_ask", "_budget", "_calls", "_held", "_joined", "_passed", "_request")

    def __init__(self, request: Request, ask: Ask, budget: Budget) -> None:
        self._request, self._ask, self._budget = request, ask, budget
        self._held: list[Event] | tuple[()] = ()
        self._calls = 0
        self._passed: list[Event] = []  # what went out; of most answers nobody asks what that was
        self._joined = 0  # of it, neighbouring texts are one up to here

    def ended(self, response: Response) -> Response | Machine[Response]:
        """The one answer: itself where nothing of it was held back."""
        return self._settled(response) if self._held else response

    def _settled(self, response: Response) -> Machine[Response]:
        doubted = [event for event in self._held if isinstance(event, CallDoubted)]
        if not _can_ask(response, doubted) or not self._budget.take():
            return (yield from self._tell(response, _Verdict(unsure=True)))
        calls = [event.call for event in doubted]
        try:
            answer, agreed = yield from self._answer(response, calls)
        except ProviderError as error:
            denied = [_issue(IssueKind.DENIED, FAILED, call, error.message) for call in calls]
            return (yield from self._tell(response, _Verdict(issues=denied)))
        return (yield from self._tell(response, _verdict(response, doubted, answer, agreed)))

    def _answer(self, response: Response, calls: Sequence[ToolCall]) -> Machine[tuple[Response, bool]]:
        """The answer to the question, and whether the model had said yes before it.

        One that leaves a call open, by a bare yes or in doubt again, is asked about.
        """
        asked = _asked(self._request, response, question(calls))
        answer: Response = yield from relay(self._ask(asked), on_step=_unheard)
        again = _open_question(calls, answer)
        if again is None or not self._budget.take():
            return answer, False
        last: Response = yield from relay(self._ask(_asked(asked, answer, again)), on_step=_unheard)
        usage = last.usage + answer.usage if last.usage is not None and answer.usage is not None else last.usage
        return replace(last, usage=usage, issues=(*answer.issues, *last.issues)), agrees(answer)

    def pass_on(self, steps: list[Any]) -> list[Any] | None:
        """The steps as they are, where they are nothing but events and none is in doubt."""
        if self._held or not EVENTS.issuperset(map(type, steps)) or any(map(is_doubtful, steps)):
            return None
        self._calls += sum([type(step) is CallStarted for step in steps])
        self._passed += steps
        if len(self._passed) - self._joined > APART:
            self._passed[self._joined :] = joined(self._passed[self._joined :])
            self._joined = len(self._passed)
        return steps

    def first(self, step: Any) -> Iterable[Any]:
        """What of the answer in question may go out now."""
        if type(step) not in EVENTS:
            return (step,)
        self._calls += isinstance(step, CallStarted)
        if not self._held and not (is_doubtful(step) and (self._budget.left > 0 or self._is_protocol(step))):
            self._passed.append(step)
            return (step,)
        self._held = held = self._held or []
        held.append(step)
        return ()

    def _is_protocol(self, event: Event) -> bool:
        """Is this a call in doubt that is written in the JSON protocol?"""
        if type(event) is not TextDelta or not event.doubt or self._request.output_schema is not None:
            return False
        return written_in_protocol(event.text, [tool.name for tool in self._request.tools], told=False)

    def _tell(self, response: Response, verdict: _Verdict) -> Machine[Response]:
        """What was held back, without what the verdict takes out of it, with what it adds before the end."""
        stop = response.stop
        if verdict.calls and stop in {Stop.END, Stop.STOP_SEQUENCE, Stop.LENGTH}:
            stop = Stop.TOOL_CALLS
        usage = verdict.usage + response.usage if verdict.usage is not None else response.usage
        held, breach = self._without_protocol(response, verdict)
        issues = (*verdict.issues, *breach)
        held, late = in_place(held, verdict.calls, verdict.taken)
        more: list[Event] = [IssueReported(issue) for issue in issues]
        for index, call in enumerate(late, self._calls + len(verdict.calls) - len(late)):
            more += call_events(call, index)
        for event in held:
            if isinstance(event, CallDoubted) and not verdict.unsure:
                continue
            if type(event) is TextDelta and event.doubt in verdict.taken:
                continue
            if isinstance(event, Ended):
                yield from self._emit(*more, replace(event, stop=stop, usage=usage))
            else:
                yield from self._emit(event)
        told = assemble(self._passed)
        every = (*response.issues, *issues)
        return replace(response, message=told.message, stop=stop, usage=usage, issues=every, doubtful=told.doubtful)

    def _without_protocol(self, response: Response, verdict: _Verdict) -> tuple[Sequence[Event], tuple[Issue, ...]]:
        """What was held back, and the breach that it is where it is an answer in the JSON protocol."""
        if verdict.calls or response.calls or response.stop in FINAL_STOPS:
            return self._held, ()
        at = next((n for n, event in enumerate(self._held) if self._is_protocol(event)), None)
        before = assemble(self._passed).text
        if at is None or (verdict.refused and before.strip()):
            return self._held, ()
        rest = self._held[at:]
        raw = "".join(event.text for event in rest if type(event) is TextDelta)
        spoken = "".join(event.text for event in self._held[:at] if type(event) is TextDelta)
        start = len(before) + len(spoken)
        left = [event for event in rest if type(event) is not TextDelta and not isinstance(event, CallDoubted)]
        return [*self._held[:at], *left], (replace(unasked(raw), span=(start, start + len(raw))),)

    def _emit(self, *events: Event) -> Iterator[Event]:
        for event in events:
            self._passed.append(event)
            yield event


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    """What came of a question: calls, the stretches of text that they take the place of, and what there is to tell.

    `refused`: the answer was a plain no; `unsure`: nobody was asked, and what was in doubt still is.
    """

    calls: Sequence[ToolCall] = ()
    taken: frozenset[int] = frozenset()
    issues: Sequence[Issue] = ()
    usage: Usage | None = None
    refused: bool = False
    unsure: bool = False


def _can_ask(response: Response, doubted: Sequence[CallDoubted]) -> bool:
    """Is anything still in doubt, in an answer that has ended?"""
    return bool(doubted) and response.stop is not None and response.stop not in FINAL_STOPS


def _open_question(calls: Sequence[ToolCall], answer: Response) -> Message | None:
    """What is left to ask after `answer`: to make the call it says yes to, or whether it means others in doubt."""
    if answer.calls or confirmed(calls, answer) or after_the_no(calls, answer) or answer.stop in FINAL_STOPS:
        return None
    if agrees(answer):
        return question(calls, agreed=True)
    known = {identity(call) for call in calls}
    others = [call for call in answer.doubtful if identity(call) not in known]
    return question(others) if others else None


def _asked(request: Request, response: Response, about: Message) -> Request:
    """The conversation with the answer as it was written, and the question about it."""
    turns = [Message("assistant", [Text(response.text, metadata={AS_WRITTEN: True})]), about]
    if response.calls:
        made = ONLY_THESE.format(calls="; ".join(map(as_words, response.calls)))
        turns.insert(1, Message("user", made))
    return replace(one_choice(request), messages=(*request.messages, *turns))


def is_doubtful(event: Any) -> bool:
    """Does it say that something stands in doubt, or is it that?"""
    return type(event) is CallDoubted or (type(event) is TextDelta and event.doubt > 0)


def _unheard(step: Any) -> Iterable[Any]:
    return () if type(step) in EVENTS else (step,)


def _verdict(response: Response, doubted: Sequence[CallDoubted], answer: Response, agreed: bool) -> _Verdict:
    """What `answer` says of the calls that `response` was in doubt of; `agreed`: it said yes to them before."""
    calls = [event.call for event in doubted]
    sure = (*confirmed(calls, answer, agreed=agreed), *after_the_no(calls, answer))
    insisted = [_sure(call) for call in sure if call not in answer.calls]
    before = {identity(call) for call in response.calls}
    made = [call for call in (*answer.calls, *insisted) if identity(call) not in before]
    meant = {identity(call) for call in made}
    lost = [issue for issue in answer.issues if loses_a_call(issue)]
    others = meant - {identity(doubt) for doubt in calls}
    names = {*(call.name for call in made if identity(call) in others), *(issue.name for issue in lost)}
    kept = {event.doubt for event in doubted if identity(event.call) not in meant and event.call.name not in names}
    issues = [_said(call, meant, others) for call in calls]
    refused = NO.match(answer.text) is not None
    taken = frozenset(event.doubt for event in doubted) - kept - {0}
    return _Verdict(calls=made, taken=taken, issues=[*issues, *lost], usage=answer.usage, refused=refused)


def _sure(call: ToolCall) -> ToolCall:
    """A call in doubt that was made once more when it was asked about."""
    if call.report is None:
        return call
    return replace(call, report=replace(call.report, verdict=Verdict.ACCEPTED, reason=CONFIRMED))


def _said(call: ToolCall, meant: set[str], others: set[str]) -> Issue:
    if identity(call) in meant:
        return _issue(IssueKind.CONFIRMED, MADE, call)
    return _issue(IssueKind.DENIED, OTHER if others else NOT_MADE, call)


def _issue(kind: IssueKind, words: str, call: ToolCall, why: str = "") -> Issue:
    return Issue(kind=kind, message=words.format(name=call.name, why=why), name=call.name, call_id=call.id)
