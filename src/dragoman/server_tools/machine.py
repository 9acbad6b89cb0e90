"""Server tools: offered next to the client's, executed between the model's turns, never shown to the client.

`with_tools` makes of whatever asks a model something that asks it as often as it calls server tools.  Knows requests,
events and the loop's way of running calls; nothing of where the tools come from (`gateway/mcp_tools.py`).
Contract: the client gets one answer (`client_answer.py`).  Every call of a server tool runs at most once and gets one
result; what fails is a result with a code.  An answer that calls both kinds: server tools run first, the client's calls
are taken, the model is told so and asked again; none is lost, none given twice.  A client that forbids calls or demands
one of its tools by name gets no server tools; a demand for any call is for one of the client's.  A provider that fails
once tools have run is asked again for that answer; where that does not help and something was changed, the answer says
so instead of failing: to send a failed request again would change it twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from ..effects import Machine, NewId, relay
from ..errors import ErrorCode, ProviderError
from ..events import Event, replay
from ..loop.call_errors import CallError
from ..loop.check_calls import Checker, ReadyCall
from ..loop.corrections import message
from ..loop.deadline import Deadline
from ..loop.long_results import Archive
from ..loop.next_step import SAYS_NOTHING
from ..loop.policy import Policy
from ..loop.run_calls import CallRunner, failed, not_run
from ..loop.state import RunCounts
from ..loop.transcript import EventLog, Transcript, transcribe
from ..tools import Runnable, ToolSet
from ..turn.composer import FINAL_STOPS
from ..turn.reask import Ask
from ..types import Message, Request, Response, Stop, ToolCall, ToolChoice, ToolResult
from .client_answer import ClientAnswer
from .memory import HiddenTurns, Memory

DEFAULT_POLICY = Policy(max_turns=8, max_corrections=2, timeout=300.0, tool_timeout=60.0)
"""What is done for one request: answers that call server tools, corrections in a row, seconds in all."""

TAKEN = (
    "This call was taken: the user's program makes it when your answer ends, and its result comes after that. "
    "Do not make it again."
)
SPENT = "no more tools can be run for this request; answer with what you know, and say what you could not find out"
NO_MORE = Response(message=Message("assistant", ()), stop=Stop.END)
_ODD = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class ServerToolsRan:
    """A step: these calls were answered here, and the model is asked again."""

    results: tuple[tuple[ToolCall, ToolResult], ...]


def with_tools(
    ask: Ask,
    sources: Mapping[str, ToolSet],
    policy: Policy = DEFAULT_POLICY,
    memory: Memory | None = None,
    owner: str = "",
    *,
    demand: str = "",
) -> Ask:
    """`ask`, with the tools of `sources` run here; for all that is asked for one request of a client.

    `policy` says how often, how long and how much; `memory` is where turns that clients do not see are kept for the
    requests that follow, `owner` whose they are.  A provider that fails is asked again by `ask`, or not at all.
    `demand` names the tool among them that must be called first.
    """
    if not any(sources.values()):
        return ask
    return _ServerTools(ask, sources, policy, HiddenTurns(memory or Memory(0), owner), demand).ask


def named(sources: Mapping[str, ToolSet], taken: Collection[str]) -> ToolSet:
    """All tools of `sources`, each with a name of its own: its short one where nobody else has that."""
    shared = Counter([*taken, *(name for tools in sources.values() for name in tools)])
    used, found = set(taken), list[Runnable]()
    for source, tools in sources.items():
        prefix = _ODD.sub("_", source).strip("_") or "server"
        for name, each in tools.items():
            own = _unused(name if shared[name] == 1 else f"{prefix}.{name}", used)
            used.add(own)
            found.append(each if own == each.tool.name else replace(each, tool=replace(each.tool, name=own)))
    return ToolSet(*found)


def _unused(name: str, used: Collection[str]) -> str:
    return next(own for n in count(1) if (own := name if n == 1 else f"{name}_{n}") not in used)


class _ServerTools:
    """The server tools of one request, however often it is asked."""

    def __init__(
        self, ask: Ask, sources: Mapping[str, ToolSet], policy: Policy, hidden: HiddenTurns, demand: str
    ) -> None:
        self._demand = demand
        self._ask, self._sources, self._policy, self._hidden = ask, sources, policy, hidden
        self._counts = RunCounts()
        self._deadline = Deadline(policy.timeout)
        self._ran: list[Runnable] = []
        self._run_id = ""
        self._own: ToolSet | None = None
        self._archive = Archive(None)
        self._checker = Checker({})

    def ask(self, request: Request) -> Machine[Response]:
        """Ask `request`, and again as long as the model calls server tools; emits one answer."""
        choice = request.tool_choice
        if choice is not None and choice.mode in {"none", "named"}:
            return (yield from self._ask(request))
        if self._own is None:
            yield from self._begin(request)
        answer = ClientAnswer(request, self._runs)
        try:
            response = yield from self._last(request, answer)
        except ProviderError as error:
            if all(each.read_only for each in self._ran):
                raise
            yield from answer.break_off(error, [each.tool.name for each in self._ran])
            response = NO_MORE
        yield from answer.finish(response)
        whole = answer.response()
        yield from self._hidden.remember(request.messages, whole.message)
        return whole

    def _last(self, request: Request, answer: ClientAnswer) -> Machine[Response]:
        """The first answer that runs nothing here, after all that do."""
        while True:
            log = EventLog()
            asked = yield from self._request(request)
            response = yield from self._answered(asked, answer, log)
            transcript = transcribe(response, log.order)
            if self._may_nudge(response, answer):
                self._counts.nudged += 1
                continue
            if not self._runs_here(request, transcript, response) or self._is_spent():
                answer.give_up(transcript)
                return response
            self._counts.nudged = 0
            answer.take(response)
            yield from self._act(request, transcript)
            yield from answer.next_answer()

    def _begin(self, request: Request) -> Machine[None]:
        taken = {tool.name for tool in request.tools}
        self._own = named(self._sources, taken)
        self._archive = Archive(self._policy.result_limit, taken={*taken, *self._own})
        self._hidden.begin(request.messages)
        self._run_id = yield NewId("run_")
        yield from self._deadline.begin()

    # ── asking ───────────────────────────────────────────────────────────────

    def _request(self, request: Request) -> Machine[Request]:
        """The request to the model: the client's, and all that was done here since."""
        self._checker = Checker({**(self._own or {}), **self._archive.tools()})
        messages = yield from self._hidden.put_into(request.messages)
        nudge = (SAYS_NOTHING,) if self._counts.nudged else ()
        if self._demand and not self._ran:
            request = replace(request, tool_choice=ToolChoice("named", self._demand))
        return replace(request, messages=(*messages, *nudge), tools=(*request.tools, *self._checker.tools))

    def _answered(self, asked: Request, answer: ClientAnswer, log: EventLog) -> Machine[Response]:
        """One answer; where the client wants the whole, it goes out when it is whole."""

        def pass_on(step: Any) -> Iterable[Any]:
            if not isinstance(step, Event):
                return (step,)
            log.add(step)
            return answer.stream(step) if asked.stream else ()

        response = yield from relay(self._ask(asked), on_step=pass_on)
        if not asked.stream:
            for event in replay(response):
                yield from answer.stream(event)
        answer.count(response)
        return response

    # ── what follows from an answer ──────────────────────────────────────────

    def _runs(self, name: str) -> bool:
        """Is this the name of a tool that runs here?"""
        return self._checker.tool(name) is not None

    def _may_nudge(self, response: Response, answer: ClientAnswer) -> bool:
        """Is the answer to all that was done here an empty one, which may be asked for again?"""
        says_something = response.text.strip() or response.calls or response.issues or answer.calls
        asks = bool(self._hidden.turns) and self._counts.nudged < self._policy.nudges
        return asks and not says_something and response.stop in {Stop.END, Stop.TOOL_CALLS, None}

    def _runs_here(self, request: Request, transcript: Transcript, response: Response) -> bool:
        """Did the model call a server tool, well or badly?  What the client's own limit cut is left at that."""
        meant = [call.name for call in response.calls]
        if response.stop is not Stop.LENGTH or request.sampling.max_tokens is None:
            meant += [call.name for call in transcript.message.calls]
            meant += [issue.name for issue in transcript.in_text]
        return response.stop not in FINAL_STOPS and any(map(self._runs, meant))

    def _is_spent(self) -> bool:
        return self._counts.turns > self._policy.max_turns or self._counts.streak > self._policy.max_corrections

    # ── running ──────────────────────────────────────────────────────────────

    def _act(self, request: Request, transcript: Transcript) -> Machine[None]:
        """Run the calls of server tools in one answer, and put all of it into the conversation."""
        self._counts.turns += 1
        calls = transcript.message.calls
        own = [call for call in calls if self._runs(call.name)]
        results: dict[str, ToolResult] = {}
        runner = CallRunner(self._policy, self._checker, self._archive, self._key, self._deadline, results)
        ready, errors = runner.check(own, transcript)
        for call in calls:
            if not self._runs(call.name):
                results[call.id] = _of_client(call, transcript)
            elif call.id in errors:
                results[call.id] = runner.rejected(call, errors[call.id], self._counts.streak + 1)
        ready = yield from self._within_limits(ready, results)
        yield from runner.run(ready)
        self._ran += [each.runnable for each in ready if results[each.call.id].error_code != ErrorCode.NOT_EXECUTED]
        self._hidden.add(transcript.message, [results[call.id] for call in calls])
        self._correct(request, transcript, wrong=bool(errors), ran=len(ready))
        yield ServerToolsRan(tuple((call, results[call.id]) for call in own))

    def _correct(self, request: Request, transcript: Transcript, *, wrong: bool, ran: int) -> None:
        """Count corrections in a row, and say what was wrong with calls in text."""
        wrong = wrong or any(self._runs(issue.name) for issue in transcript.in_text)
        self._counts.streak = self._counts.streak + 1 if wrong and not ran else 0
        if transcript.in_text:
            errors = [self._checker.error_of(issue) for issue in transcript.in_text]
            tools = (*request.tools, *self._checker.tools)
            self._hidden.turns.append(message(errors, tools, self._counts.streak or 1, ran=ran))

    def _within_limits(self, ready: list[ReadyCall], results: dict[str, ToolResult]) -> Machine[list[ReadyCall]]:
        """Those that may run by now; the others have their results."""
        late = (yield from self._deadline.left()) == 0
        if self._counts.turns <= self._policy.max_turns and not late:
            return ready
        self._counts.turns = self._policy.max_turns + 1
        results |= {each.call.id: not_run(each.call, SPENT) for each in ready}
        return []

    def _key(self, call: ToolCall) -> str:
        return f"{self._run_id}/{self._counts.turns}/{call.id}"


def _of_client(call: ToolCall, transcript: Transcript) -> ToolResult:
    """The result of a client's call for now."""
    issue = transcript.native.get(call.id)
    if issue is None:
        return ToolResult(call_id=call.id, name=call.name, content=TAKEN)
    correction = issue.correction or f"{issue.message}. Send it again."
    return failed(call, correction, CallError(issue=issue, native=True).code)
