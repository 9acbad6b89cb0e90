"""An answer made good before anybody sees it broken: what was wrong is asked for again.

Knows requests, events and, by its contract, whatever asks a model; nothing of wires, routes, dialects or clients.
Contract of `redress`, over however many answers it takes: they are told as one.  Text that was told is neither repeated
nor taken back; a call is told once, whole, and only if it names a tool, fits its schema and was asked for; what a model
must do (`tool_choice`, `output_schema`) was done, or a `ProviderError` says that it was not; a call that could not be
made good is said in words, never left out; an answer that broke off is never told as one that ended.  The first answer
streams as it comes, its calls last: only the end of an answer shows that they did not stand in its reasoning; those
asked for again are heard whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ..dialects.judge.judge import Judge
from ..effects import Machine, relay
from ..errors import ErrorKind, ProviderError
from ..events import (
    Assembler,
    CallDelta,
    CallEnded,
    CallStarted,
    Ended,
    Event,
    IssueReported,
    PartEnded,
    ReasoningDelta,
    Reclassified,
    TextDelta,
    call_events,
    called,
)
from ..jsontext import dumps
from ..lenient.answers import Fitting, read_answer
from ..types import Issue, IssueKind, Message, Request, Response, Stop, Text, ToolCall, ToolChoice, Usage
from .native_calls import judged

Ask: TypeAlias = Callable[[Request], Machine[Response]]
"""Whatever asks a model: a turn on a route, or a chain of them."""

LOST = frozenset({
    IssueKind.TRUNCATED,
    IssueKind.MALFORMED,
    IssueKind.DUPLICATE_KEYS,
    IssueKind.UNKNOWN_TOOL,
    IssueKind.INVALID_ARGUMENTS,
})  # fmt: skip
"""Kinds of issue that stand for a call the model meant and nobody will run, where they say which (`loses_a_call`)."""
FINAL = frozenset({Stop.REFUSED, Stop.FILTERED, Stop.PAUSE, Stop.ERROR})
"""Stops after which asking again would not be an answer to the same question."""
UNPROCESSABLE = 422
"""Told where a demand was not met: SDKs repeat a 5xx by themselves, and this was asked often enough."""
MOST_TOLD = 6

ONLY_THESE = "These calls of yours are taken and being run; do not repeat them: {calls}."
IN_TEXT = "No tool may be called in this answer, and nothing was run. Answer in text."
AGAIN = "Send only what is corrected, without comment."
UNANSWERED = "This request must be answered by a call of {what}, and you made none. Make the call now."
NOT_JSON = "Your answer must be JSON that fits the schema, alone; {why}. Send the whole answer again.{schema}"
BROKEN_OFF = "the provider's answer broke off before its end, and nothing says why; send the request again"
HONEST = "[The call of {name} was not run: {why}.]"


@dataclass(slots=True)
class _Fault:
    """One thing that is wrong: what it is, and what to tell the model."""

    issue: Issue
    raw: str = ""

    @property
    def told(self) -> str:
        """What the model is told of it."""
        return self.issue.correction or f"{self.issue.message}. Send it again."


def redress(request: Request, ask: Ask, reasks: int = 2, *, whole_calls: bool = True) -> Machine[Response]:
    """Ask `request`, and up to `reasks` times more for what was wrong; yields the events of the one answer told.

    `whole_calls` False tells the fragments of calls as they come: such a call cannot be taken back, so it is not
    checked here.  Raises ProviderError as `ask` does, and for a demand that was never met.
    """
    told, telling = Assembler(), _Telling(request, whole_calls=whole_calls)

    def hear(event: Event) -> list[Event]:
        heard = telling.hear(event)
        for one in heard:
            told.add(one)
        return heard

    response = yield from relay(ask(request), hear=hear)
    wrong, asked = telling.wrong(response), request
    for _ in range(reasks):
        if not wrong or _excused(request, response):
            break
        asked = _again(asked, response, wrong, telling.made)
        try:
            response = yield from relay(ask(asked), hear=_unheard)
        except ProviderError as error:
            wrong.append(_Fault(Issue(kind=IssueKind.WIRE_FAULT, message=f"asking again failed: {error.message}")))
            break
        for event in telling.retold(response):
            told.add(event)
            yield event
        wrong = telling.wrong(response)
    for event in telling.last(response, wrong):
        told.add(event)
        yield event
    return told.response()


def loses_a_call(issue: Issue) -> bool:
    """Does `issue` stand for a call that nobody will run?  An answer cut before it said anything holds none."""
    return issue.kind in LOST and bool(issue.name or issue.raw or issue.call_id or issue.correction)


def _excused(request: Request, response: Response) -> bool:
    """Did the answer end for a reason that leaves nothing to ask again?"""
    return response.stop in FINAL or _own_limit(request, response)


def _unheard(_: Event) -> Sequence[Event]:
    return ()


def _own_limit(request: Request, response: Response) -> bool:
    """Did the answer end where the client wanted it to?"""
    return response.stop is Stop.LENGTH and request.sampling.max_tokens is not None


def _again(asked: Request, response: Response, wrong: Sequence[_Fault], made: Sequence[ToolCall]) -> Request:
    """What is asked next: the conversation so far, what the model wrote, and what was wrong with it.

    The model's words go back as text: a native call must be answered by a result, and there is none.
    """
    raws = [fault.raw or fault.issue.raw for fault in wrong]
    wrote = "\n".join(filter(None, (response.text.strip(), *raws)))
    sentences = list(dict.fromkeys(fault.told for fault in wrong))[:MOST_TOLD]
    if made:
        sentences.insert(0, ONLY_THESE.format(calls="; ".join(map(_as_words, made))))
    turns = [Message("user", " ".join((*sentences, AGAIN)))]
    if wrote:
        turns.insert(0, Message("assistant", wrote))
    return replace(asked, messages=(*asked.messages, *turns))


def _as_words(call: ToolCall) -> str:
    return f"{call.name} {dumps(call.arguments)}"[:300]


@dataclass(slots=True)
class _OpenCall:
    started: CallStarted
    pieces: list[str] = field(default_factory=list)


class _Telling:
    """What of the answers is told, and what was wrong with the one heard last."""

    def __init__(self, request: Request, *, whole_calls: bool) -> None:
        self.made: list[ToolCall] = []
        self._due: list[ToolCall] = []
        self._request = request
        self._demands_form = request.output_schema is not None
        self._whole_calls = whole_calls
        self._judge = Judge(request.tools)
        self._names = {tool.name for tool in request.tools}
        self._open: dict[int, _OpenCall] = {}
        self._wrong: list[_Fault] = []
        self._barred: list[_Fault] = []
        self._spoke = self._withheld = False
        self._usage: Usage | None = None
        self._reasks = 0
        self._ended = Ended()

    # ── the first answer, as it comes ────────────────────────────────────────

    def hear(self, event: Event) -> list[Event]:
        """What of `event` is told now."""
        if type(event) is TextDelta:
            self._spoke = self._spoke or not (event.text.isspace() or not event.text)
            self._withheld = self._demands_form
            return [] if self._withheld else [event]
        match event:
            case PartEnded() if self._withheld:
                self._withheld = False
                return []
            case CallStarted(index):
                self._open[index] = _OpenCall(event)
                return self._early(event)
            case CallDelta(index, json):
                self._open[index].pieces.append(json)
                return self._early(event)
            case CallEnded(index):
                return self._call_ended(event, self._open.pop(index))
            case IssueReported(issue):
                self._note(issue)
                return [event]
            case ReasoningDelta():
                self._withheld = False
                return [event]
            case Reclassified():
                self._spoke = False
                self.made, self._due = [], []
                return [event]
            case Ended():
                self._ended = event
                return []
            case _:
                return [event]

    def _early(self, event: Event) -> list[Event]:
        return [] if self._whole_calls else [event]

    def _call_ended(self, event: CallEnded, call: _OpenCall) -> list[Event]:
        made = called(call.started, "".join(call.pieces), event)
        if not self._whole_calls:
            self.made += [made] if made is not None else []
            return [event]
        return [*self._judged(made)] if made is not None else []

    def _tell_calls(self) -> Iterator[Event]:
        """The calls that may be told and were not."""
        first = len(self.made) - len(self._due)
        for index, call in enumerate(self._due, first):
            yield from call_events(call, index)

    def _note(self, issue: Issue) -> None:
        if loses_a_call(issue):
            self._wrong.append(_Fault(issue))
        elif self._forbids and issue.kind is IssueKind.NOT_ALLOWED and issue.correction:
            self._barred.append(_Fault(issue))

    # ── what may be told of a call ───────────────────────────────────────────

    def _judged(self, call: ToolCall) -> Iterator[Event]:
        """Note `call` as one to tell; or what is wrong with it, which is what this yields."""
        if self._request.parallel is False and self.made:
            yield from self._left_out(call, "one call at a time was asked for")
        elif self._forbids:
            self._barred.append(_Fault(_barred(call)))
            yield from self._left_out(call, "no call was to be made")
        else:
            found = self._checked(call)
            if isinstance(found, _Fault):
                self._wrong.append(found)
                yield IssueReported(found.issue)
                return
            self.made.append(found)
            self._due.append(found)

    def _left_out(self, call: ToolCall, why: str) -> Iterator[Event]:
        message = f"{why}; the call of {call.name!r} was left out"
        issue = Issue(kind=IssueKind.NOT_ALLOWED, message=message, name=call.name, raw=_raw(call), call_id=call.id)
        yield IssueReported(issue)

    @property
    def _forbids(self) -> bool:
        choice = self._request.tool_choice
        return choice is not None and choice.mode == "none"

    def _checked(self, call: ToolCall) -> ToolCall | _Fault:
        """The call as it may be told, judged by the full schemas whoever asked the model; or what is wrong with it."""
        choice = self._request.tool_choice
        if choice is not None and choice.mode == "named" and call.name != choice.name:
            why = f"{choice.name!r} had to be called, not {call.name!r}"
            told = f"Call {choice.name!r}, and nothing else."
            issue = Issue(kind=IssueKind.NOT_ALLOWED, message=why, name=call.name, correction=told, call_id=call.id)
            return _Fault(replace(issue, raw=_raw(call)), _as_words(call))
        if choice is not None and choice.allowed and call.name not in choice.allowed:
            names = ", ".join(choice.allowed)
            why = f"{call.name!r} may not be called in this answer, only {names}"
            told = f"{why}. Call one of those, or answer."
            issue = Issue(kind=IssueKind.UNKNOWN_TOOL, message=why, name=call.name, correction=told, call_id=call.id)
            return _Fault(replace(issue, raw=_raw(call)), _as_words(call))
        own = bool(self._request.extra.get("tools"))  # tools of the wire's own, which no schema here describes
        if not self._names or (own and call.name not in self._names):
            return call
        found = judged(call, self._judge)
        return _Fault(found, _as_words(call)) if isinstance(found, Issue) else found

    # ── the answers asked for again, whole ───────────────────────────────────

    def retold(self, response: Response) -> Iterator[Event]:
        """What of an answer asked for again is told."""
        self._reasks += 1
        self._wrong, self._barred = [], []
        for issue in response.issues:
            self._note(issue)
            yield IssueReported(issue)
        known = {_as_words(call) for call in self.made}
        for call in response.calls:
            if _as_words(call) not in known:
                yield from self._judged(call)
        if response.text.strip() and not self._demands_form:
            yield from self._retold_text(response.text, answers=not response.calls and not self._wrong)
        self._ended = Ended(response.stop, response.usage)

    def _retold_text(self, text: str, *, answers: bool) -> Iterator[Event]:
        """Text beside a corrected call says again what was said before; text instead of one is the answer."""
        if not self._spoke or answers:
            yield TextDelta(f"\n\n{text.strip()}" if self._spoke else text)
            self._spoke = True
        else:
            message = "text beside a corrected call was left out, for other text was already told"
            yield IssueReported(Issue(kind=IssueKind.NOISE, message=message, raw=text))

    def wrong(self, response: Response) -> list[_Fault]:
        """What is wrong after the answer heard last; also adds up what it cost."""
        if response.usage is not None:
            self._usage = response.usage + self._usage
        found, choice = self._wrong, self._request.tool_choice
        if found or self.made:
            return found
        if self._barred and not self._spoke:
            return self._barred  # a call that nobody wanted was all of the answer
        if choice is not None and choice.mode in {"required", "named"}:
            return [_Fault(Issue(kind=IssueKind.NOT_ALLOWED, message=_missing(choice), correction=_demand(choice)))]
        if self._request.output_schema is not None and not isinstance(self._read(response), Fitting):
            return [self._formless(response)]
        return []

    def _read(self, response: Response) -> object:
        wanted = self._request.output_schema
        return read_answer(response.text, wanted.schema if wanted else None)

    def _formless(self, response: Response) -> _Fault:
        wanted, found = self._request.output_schema, self._read(response)
        why = getattr(found, "why", "")
        schema = f" The schema: {dumps(wanted.schema)}" if wanted is not None and wanted.schema else ""
        message = f"the answer is not the JSON that was asked for: {why}"
        correction = NOT_JSON.format(why=why, schema=schema)
        return _Fault(Issue(kind=IssueKind.NOT_ALLOWED, message=message, correction=correction))

    # ── the end ──────────────────────────────────────────────────────────────

    def last(self, response: Response, wrong: Sequence[_Fault]) -> Iterator[Event]:
        """What ends the answer.  Raises ProviderError for a demand that was not met."""
        if self._reasks:
            message = f"the model was asked again {self._reasks} times"
            yield IssueReported(Issue(kind=IssueKind.REASKED, message=message, raw=str(self._reasks)))
        self._check_end(response, wrong)
        yield from self._form(response, wrong)
        if wrong and not self.made:
            self._check_demands(response, wrong)
            yield from self._honestly(wrong)
        yield from self._tell_calls()
        yield replace(self._ended, stop=self._stop(), usage=self._usage)

    def _form(self, response: Response, wrong: Sequence[_Fault]) -> Iterator[Event]:
        """The text of an answer whose form is demanded: the value alone; what was written, beside calls or where the
        answer ended before it was one."""
        if not self._demands_form or (wrong and not self.made and not _excused(self._request, response)):
            return
        found = self._read(response)
        texts = [part for part in response.message.parts if isinstance(part, Text)]
        if isinstance(found, Fitting) and not self.made:
            texts = [Text(dumps(found.value), metadata=texts[-1].metadata)]
        for part in texts:
            yield TextDelta(part.text)
            yield from [PartEnded(part.metadata)] if part.metadata else []

    def _check_end(self, response: Response, wrong: Sequence[_Fault]) -> None:
        """Half an answer is none, and nobody can tell the half; a call or a value that is there is whole."""
        if response.stop is None and not self.made and (wrong or not self._demands_form):
            raise ProviderError(BROKEN_OFF, kind=ErrorKind.NETWORK, code="incomplete_answer")

    def _check_demands(self, response: Response, wrong: Sequence[_Fault]) -> None:
        choice = self._request.tool_choice
        forced = choice is not None and choice.mode in {"required", "named"}
        if _excused(self._request, response) or not (forced or self._demands_form):
            return
        why = "; ".join(fault.issue.message for fault in wrong)
        what = "a call" if forced else "an answer of the form asked for"
        asked = f"it was asked {self._reasks + 1} times"
        message = f"the model did not give {what}: {why} ({asked}); ask more simply, or ask a stronger model"
        raise ProviderError(message, status=UNPROCESSABLE, kind=ErrorKind.GARBLED, code="demand_not_met")

    def _honestly(self, wrong: Sequence[_Fault]) -> Iterator[Event]:
        for fault in wrong:
            if not (loses_a_call(fault.issue) or fault in self._barred):
                continue
            name = repr(fault.issue.name) if fault.issue.name else "a tool"
            lead = "\n\n" if self._spoke else ""
            said = HONEST.format(name=name, why=fault.issue.message.rstrip("."))
            self._spoke = True
            yield TextDelta(f"{lead}{said}\n{fault.issue.raw}")

    def _stop(self) -> Stop | None:
        stop = self._ended.stop
        if self.made:
            return stop if stop in FINAL else Stop.TOOL_CALLS
        return Stop.END if stop is Stop.TOOL_CALLS else stop


def _missing(choice: ToolChoice) -> str:
    what = f"of {choice.name!r}" if choice.name else "of a tool"
    return f"no call {what} was made, though one was demanded"


def _demand(choice: ToolChoice) -> str:
    return UNANSWERED.format(what=repr(choice.name) if choice.name else "one of the tools")


def _barred(call: ToolCall) -> Issue:
    message = f"the call of {call.name!r} was made though the request allows no calls"
    return Issue(kind=IssueKind.NOT_ALLOWED, message=message, name=call.name, raw=_raw(call), correction=IN_TEXT)


def _raw(call: ToolCall) -> str:
    return call.raw or dumps(call.arguments)
