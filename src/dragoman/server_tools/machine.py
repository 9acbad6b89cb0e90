"""Tools the house runs: offered to the model beside the client's own, run between its turns, and told to no client.

`with_tools` makes of whatever asks a model something that asks it as often as it calls tools of the house.  Knows
requests, events and the loop's way of running calls; nothing of where the tools come from (`gateway/mcp_tools.py`).
Contract: many answers are told as one: their text in order, apart by a blank line, and what they cost in sum.  Every
call of a house tool runs at most once and gets one result; what fails is a result with a code.  An answer that calls
both kinds: those of the house run first, the client's are taken, the model is told so and asked again, and they are
told whole at the end of the last answer; none is lost, none told twice.  A client that forbids calls or demands one of
its tools by name gets no house tools; a demand for any call is for one of the client's.  Where a form is demanded, only
the last answer's text is told.  Calls of clients are told whole.  A provider that fails once tools have run is asked
again for that answer; where that does not help and something was changed, the answer says so instead of failing: to
send a failed request again would change it twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..effects import Machine, NewId, Now, Sleep, relay
from ..errors import ErrorCode, ProviderError
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
    Started,
    TextDelta,
    replay,
)
from ..fallback import Rules
from ..jsontext import dumps
from ..loop.call_errors import Slip
from ..loop.check_calls import Checker, Ready
from ..loop.corrections import answer, message
from ..loop.long_results import Archive
from ..loop.next_step import SAYS_NOTHING
from ..loop.policy import Policy
from ..loop.run_calls import Acting, not_run, slipped
from ..loop.transcript import Heard, Transcript, transcript
from ..tools import Runnable, ToolSet
from ..turn.composer import FINAL_STOPS, identity
from ..turn.reask import Ask, loses_a_call
from ..types import Issue, IssueKind, Message, Request, Response, Stop, ToolCall, ToolResult, Usage
from .memory import Memory, remainder

DEFAULT_POLICY = Policy(max_turns=8, max_corrections=2, timeout=300.0, tool_timeout=60.0)
"""What the house does for one request: answers with calls of its tools, corrections in a row, seconds in all."""

TAKEN = (
    "This call was taken: the user's program makes it when your answer ends, and its result comes after that. "
    "Do not make it again."
)
SPENT = "no more tools can be run for this request; answer with what you know, and say what you could not find out"
UNRUN = "[The call of {name!r} was not run: no more tools could be run for this request.]"
BROKEN_OFF = (
    "[{ran} ran for this request, and what that did is done. Then the model could not be asked for the rest of its "
    "answer: {why}. Ask to go on.]"
)
NO_MORE = Response(message=Message("assistant", ()), stop=Stop.END)
MADE_AGAIN = "the call of {name!r} was made again while it was taken already; it is told once"
MENDED = "{message}; the model was told, and made the call again"
Runs: TypeAlias = Callable[[str], bool]
"""Is this the name of a tool of the house?"""
_ODD = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class ServerToolsRan:
    """A step: the house has answered these calls, and the model is asked again."""

    results: tuple[tuple[ToolCall, ToolResult], ...]


def with_tools(
    ask: Ask,
    house: Mapping[str, ToolSet],
    policy: Policy = DEFAULT_POLICY,
    memory: Memory | None = None,
    owner: str = "",
    *,
    patience: Rules | None = None,
) -> Ask:
    """`ask`, with the tools of `house` (by where they come from) run here; for all askings of one client's request.

    `policy` says how often, how long and how much; `memory` is where the house's turns are kept for the requests that
    follow, `owner` whose they are; `patience` is how patient we are with a provider that fails once tools have run,
    None where `ask` is patient itself.
    """
    if not any(house.values()):
        return ask
    return _House(ask, house, policy, memory or Memory(0), owner, patience=patience).ask


def named(house: Mapping[str, ToolSet], taken: Collection[str]) -> ToolSet:
    """All tools of the house, each with a name of its own: its short one where nobody else has that."""
    shared = Counter([*taken, *(name for tools in house.values() for name in tools)])
    used, told = set(taken), list[Runnable]()
    for source, tools in house.items():
        for name, each in tools.items():
            wished = name if shared[name] == 1 else f"{_ODD.sub('_', source).strip('_') or 'house'}.{name}"
            spelling = next(
                s for n in range(1, len(shared) + 3) if (s := wished if n == 1 else f"{wished}_{n}") not in used
            )
            used.add(spelling)
            told.append(each if spelling == each.tool.name else replace(each, tool=replace(each.tool, name=spelling)))
    return ToolSet(*told)


class _House:
    """What the house does for one request, however often it is asked."""

    def __init__(
        self,
        ask: Ask,
        house: Mapping[str, ToolSet],
        policy: Policy,
        memory: Memory,
        owner: str,
        *,
        patience: Rules | None,
    ) -> None:
        self._ask, self._house, self._policy = ask, house, policy
        self._memory, self._owner, self._patience = memory, owner, patience
        self._ran: list[str] = []
        self._changed = False
        self._turns: list[Message] = []
        self._count = self._streak = self._nudged = self._first = 0
        self._run_id = ""
        self._until: float | None = None
        self._own: ToolSet | None = None
        self._archive = Archive(None)
        self._checker = Checker({})

    def ask(self, request: Request) -> Machine[Response]:
        """Ask `request`, and again as long as the model calls tools of the house; tells one answer."""
        choice = request.tool_choice
        if choice is not None and choice.mode in {"none", "named"}:
            return (yield from self._ask(request))
        if self._own is None:
            yield from self._begin(request)
        telling = _Telling(request)
        while True:
            asked = self._request(request)
            try:
                response, heard = yield from self._patiently(asked, telling)
            except ProviderError as error:
                if not self._changed:
                    raise
                yield from telling.break_off(error, self._ran)
                return (yield from self._finish(request, telling, NO_MORE))
            told = transcript(response, heard.order)
            if self._says_nothing(response, telling):
                self._nudged += 1
                continue
            if not self._is_ours(request, told, response):
                break
            if self._count > self._policy.max_turns or self._streak > self._policy.max_corrections:
                break
            self._nudged = 0
            telling.take(response, self._runs)
            yield from self._act(request, told)
            yield from telling.border()
        telling.give_up(told, self._runs)
        return (yield from self._finish(request, telling, response))

    def _finish(self, request: Request, telling: _Telling, response: Response) -> Machine[Response]:
        """Tell the end, and remember what led there."""
        yield from telling.last(response, self._runs)
        whole = telling.told.response()
        self._memory.remember(self._owner, request.messages[: self._first], whole.message, self._turns)
        return whole

    def _begin(self, request: Request) -> Machine[None]:
        taken = {tool.name for tool in request.tools}
        self._own = named(self._house, taken)
        self._archive = Archive(self._policy.result_limit, taken={*taken, *self._own})
        self._first = len(request.messages)
        self._run_id = yield NewId("house_")
        if self._policy.timeout is not None:
            now: float = yield Now()
            self._until = now + self._policy.timeout

    # ── asking ───────────────────────────────────────────────────────────────

    def _request(self, request: Request) -> Request:
        """What the model is asked now: what the client asked, and all that the house did since."""
        self._checker = Checker({**(self._own or {}), **self._archive.tools()})
        before, after = request.messages[: self._first], request.messages[self._first :]
        if self._turns and after and after[0].role == "assistant":
            left = remainder(after[0], self._turns)
            after = (*([left] if left.parts else ()), *after[1:])
        before = self._memory.refill(self._owner, before)
        after = (*after, *([SAYS_NOTHING] if self._nudged else ()))
        return replace(request, messages=(*before, *self._turns, *after), tools=(*request.tools, *self._checker.tools))

    def _patiently(self, asked: Request, telling: _Telling) -> Machine[tuple[Response, Heard]]:
        """One answer; once tools have run, a failure before anything was told is followed by another try."""
        attempt = 1
        while True:
            heard, before = Heard(), telling.count
            try:
                return (yield from self._turn(asked, telling, heard)), heard
            except ProviderError as error:
                patient = self._ran and self._patience is not None and telling.count == before
                wait = self._patience.wait(error, attempt, alone=True) if patient and self._patience else None
                late = yield from self._late()
                if wait is None or late:
                    raise
            yield Sleep(wait)
            attempt += 1

    def _turn(self, asked: Request, telling: _Telling, heard: Heard) -> Machine[Response]:
        """One answer; where the client wants the whole, it is told when it is whole."""

        def hear(step: Any) -> Iterable[Any]:
            if not isinstance(step, Event):
                return (step,)
            heard.hear(step)
            return telling.hear(step) if asked.stream else ()

        response = yield from relay(self._ask(asked), hear=hear)
        if not asked.stream:
            for event in replay(response):
                yield from telling.hear(event)
        if response.usage is not None:
            telling.usage = response.usage + telling.usage
        return response

    def _runs(self, name: str) -> bool:
        """Is this the name of a tool that runs here?"""
        return self._checker.tool(name) is not None

    def _says_nothing(self, response: Response, telling: _Telling) -> bool:
        """Is the answer to all that the house did an empty one, which may be asked for again?"""
        said = response.text.strip() or response.calls or response.issues or telling.has_calls
        asks = bool(self._turns) and self._nudged < self._policy.nudges
        return asks and not said and response.stop in {Stop.END, Stop.TOOL_CALLS, None}

    def _is_ours(self, request: Request, told: Transcript, response: Response) -> bool:
        """Did the model call a tool of the house, well or badly?  What the client's own limit cut is left at that."""
        meant = [call.name for call in response.calls]
        if response.stop is not Stop.LENGTH or request.sampling.max_tokens is None:
            meant += [*(call.name for call in told.message.calls), *(issue.name for issue in told.spoken)]
        return response.stop not in FINAL_STOPS and any(map(self._runs, meant))

    # ── running ──────────────────────────────────────────────────────────────

    def _act(self, request: Request, told: Transcript) -> Machine[None]:
        """Run the house's calls of one answer, and put all of it into the conversation."""
        self._count += 1
        calls = told.message.calls
        results = {call.id: self._not_ours(call, told) for call in calls if not self._runs(call.name)}
        ready, wrong = self._checked(told, results)
        late = yield from self._late()
        if self._count > self._policy.max_turns or late:
            self._count = self._policy.max_turns + 1
            results |= {each.call.id: not_run(each.call, SPENT) for each in ready}
            ready = []
        acting = Acting(self._policy, self._checker, self._archive, self._key, self._until)
        yield from acting.run(ready, results)
        ran = [each for each in ready if results[each.call.id].error_code != ErrorCode.NOT_EXECUTED]
        self._ran += [each.call.name for each in ran]
        self._changed = self._changed or any(not each.runnable.read_only for each in ran)
        self._streak = self._streak + 1 if wrong and not ready else 0
        if told.message.parts:
            self._turns.append(told.message)
        if calls:
            self._turns.append(Message("tool", [results[call.id] for call in calls]))
        if told.spoken:
            slips = [self._checker.slip_of(issue) for issue in told.spoken]
            tools = (*request.tools, *self._checker.tools)
            self._turns.append(message(slips, tools, self._streak or 1, ran=len(ready)))
        yield ServerToolsRan(tuple((call, results[call.id]) for call in calls if self._runs(call.name)))

    def _checked(self, told: Transcript, results: dict[str, ToolResult]) -> tuple[list[Ready], bool]:
        """The calls that may run, and whether any of ours is wrong; those get their results here."""
        ready: list[Ready] = []
        wrong = any(self._runs(issue.name) for issue in told.spoken)
        for call in told.message.calls:
            if call.id in results:
                continue
            issue = told.native.get(call.id)
            found = self._checker.check(call) if issue is None else self._checker.review(call, issue)
            if isinstance(found, Slip):
                wrong = True
                results[call.id] = slipped(call, found, answer(found, self._checker.tools, self._streak + 1))
            else:
                ready.append(found)
        return ready, wrong

    def _not_ours(self, call: ToolCall, told: Transcript) -> ToolResult:
        """What the model is told of a client's call for now."""
        issue = told.native.get(call.id)
        if issue is None:
            return ToolResult(call_id=call.id, name=call.name, content=TAKEN)
        return slipped(call, Slip(issue=issue, native=True), issue.correction or f"{issue.message}. Send it again.")

    def _late(self) -> Machine[bool]:
        if self._until is None:
            return False
        now: float = yield Now()
        return now >= self._until

    def _key(self, call: ToolCall) -> str:
        return f"{self._run_id}/{self._count}/{call.id}"


class _Telling:
    """What of several answers is told, as one."""

    def __init__(self, request: Request) -> None:
        self.told = Assembler()
        self.usage: Usage | None = None
        self.count = 0
        self._unrun: list[ToolCall] = []
        self._form = request.output_schema is not None
        self._started = self._later = self._spoke = self._gap = self._open = False
        self._held: list[Event] = []
        self._taken: list[ToolCall] = []
        self._again: list[ToolCall] = []
        self._faults: list[Issue] = []

    # ── one answer, as it comes ──────────────────────────────────────────────

    def hear(self, event: Event) -> list[Event]:
        """What of `event` is told now; calls, and what is wrong with them, only once the answer is known."""
        match event:
            case CallStarted() | CallDelta() | CallEnded() | Ended():
                return []
            case Started() if self._started:
                return []
            case IssueReported(issue) if loses_a_call(issue):
                return []
            case TextDelta() | PartEnded() if self._form and (self._held or isinstance(event, TextDelta)):
                self._held.append(event)
                return []
            case TextDelta(text):
                return self._tell(self._text(text))
            case Reclassified():
                return self._tell(self._recast(event))
            case _:
                return self._tell([event])

    def _tell(self, events: Iterable[Event]) -> list[Event]:
        told = list(events)
        for event in told:
            self.told.add(event)
            self._started = self._started or isinstance(event, Started)
            if not isinstance(event, IssueReported):
                self.count += 1
                self._open = isinstance(event, TextDelta | ReasoningDelta)
        return told

    def _text(self, text: str) -> Iterator[Event]:
        """Text of a later answer stands apart from what was told before."""
        if self._gap:
            text = text.lstrip()
            if not text:
                return
            self._gap, text = False, f"\n\n{text}"
        self._spoke = self._spoke or bool(text.strip())
        yield TextDelta(text)

    def _recast(self, event: Reclassified) -> Iterator[Event]:
        """What was told in answers before this one is not recast with it; what was not told yet needs no word."""
        if self._held and not event.answer:
            yield from (ReasoningDelta(held.text) for held in self._held if isinstance(held, TextDelta))
            self._held = []
        elif not self._later:
            self._spoke = self._spoke and event.answer
            yield event

    @property
    def has_calls(self) -> bool:
        """Is there a call that the client will be told?"""
        return bool(self._taken)

    # ── between two answers ──────────────────────────────────────────────────

    def take(self, response: Response, runs: Runs) -> None:
        """Keep what the client is told at the end."""
        known = {identity(call) for call in self._taken}
        for call in response.calls:
            if not runs(call.name):
                (self._again if identity(call) in known else self._taken).append(call)
        self._faults += [issue for issue in response.issues if loses_a_call(issue) and not runs(issue.name)]

    def border(self) -> Iterator[Event]:
        """The model is asked again."""
        if self._open:
            yield from self._tell([PartEnded()])
        self._later, self._gap, self._held = True, self._spoke, []

    # ── the end ──────────────────────────────────────────────────────────────

    def give_up(self, told: Transcript, runs: Runs) -> None:
        """Calls of the house in the last answer are not run any more."""
        self._unrun += [call for call in told.message.calls if runs(call.name)]
        for issue in told.spoken:
            if runs(issue.name):
                self._unrun.append(ToolCall(id=issue.call_id, name=issue.name, raw=issue.raw))

    def break_off(self, error: ProviderError, ran: Sequence[str]) -> Iterator[Event]:
        """There is no more of the answer; what was told of it stays told, and why it ends is said."""
        yield from self.border()
        yield from self._tell([IssueReported(Issue(kind=IssueKind.WIRE_FAULT, message=str(error)))])
        names = ", ".join(dict.fromkeys(ran))
        yield from self._tell(self._text(BROKEN_OFF.format(ran=names, why=error.message.rstrip("."))))

    def last(self, response: Response, runs: Runs) -> Iterator[Event]:
        """What ends the one answer."""
        self.take(response, runs)
        calls = _apart(self._taken)
        yield from self._tell(self._held)
        yield from self._tell(self._noticed(response, {call.name for call in calls}))
        yield from self._tell(self._honestly(response, calls))
        told = replay(Response(message=Message("assistant", calls)))
        yield from self._tell(e for e in told if isinstance(e, CallStarted | CallDelta | CallEnded))
        yield from self._tell([Ended(_stop(response, calls), self.usage, response.extra)])

    def _noticed(self, response: Response, made: Collection[str]) -> Iterator[Event]:
        now = [issue for issue in response.issues if loses_a_call(issue)]
        for issue in self._faults:
            mended = issue not in now and (issue.name in made or (not issue.name and bool(made)))
            kind = IssueKind.NOT_ALLOWED if mended else issue.kind
            text = MENDED.format(message=issue.message) if mended else issue.message
            yield IssueReported(replace(issue, kind=kind, message=text))
        for call in self._again:
            yield _left_out(call, MADE_AGAIN.format(name=call.name))

    def _honestly(self, response: Response, calls: Sequence[ToolCall]) -> Iterator[Event]:
        """What the house could not run is said, where nothing else is."""
        for call in self._unrun:
            text = UNRUN.format(name=call.name)
            yield _left_out(call, text)
            if not (calls or response.text.strip()):
                yield from self._text(f"\n{text}" if self._spoke and not self._gap else text)


def _left_out(call: ToolCall, why: str) -> IssueReported:
    raw = call.raw or dumps(call.arguments)
    return IssueReported(Issue(kind=IssueKind.NOT_ALLOWED, message=why, name=call.name, raw=raw, call_id=call.id))


def _apart(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """The calls of several answers, each with an id of its own."""
    told: dict[str, ToolCall] = {}
    for call in calls:
        spellings = (call.id if n == 1 else f"{call.id}_{n}" for n in range(1, len(calls) + 2))
        id_ = next(spelling for spelling in spellings if spelling not in told)
        told[id_] = call if id_ == call.id else replace(call, id=id_)
    return list(told.values())


def _stop(response: Response, calls: Sequence[ToolCall]) -> Stop | None:
    if calls:
        return response.stop if response.stop in FINAL_STOPS else Stop.TOOL_CALLS
    return Stop.END if response.stop is Stop.TOOL_CALLS else response.stop
