"""The record of one exchange: who asked what, who was asked, what came of it, and when.

Written while an exchange runs, read by observers (metrics, spans, logs).  Knows turns and chains by their steps;
nothing of ASGI, of any telemetry library, or of the clock, which comes in as a function.
Contract: a record never changes what it watches; observers are notified of every exchange once when it begins and once
when it has ended, whatever happened in between, and of every upstream attempt the same.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Protocol

from ...effects import Machine
from ...errors import DragomanError, ProviderError
from ...fallback import Answered, Note, Place, RouteAsked, RouteFailed
from ...loop.steps import ToolEnded, ToolStarted
from ...memo import per_object
from ...server_tools.machine import ServerToolsRan
from ...turn.ignored_tools import AnsweredBesides, AskedBesides
from ...turn.reask import Ask
from ...types import NOTHING, IssueKind, Report, Request, Response, ToolCall, ToolResult
from ..config.model import GatewayConfig
from ..session_key import Session, session_of

log: logging.Logger = logging.getLogger("dragoman.gateway")

GONE = 499
"""The status of an exchange whose client went away: nginx's word for it, which log readers know."""
OURS = 500


def reports(response: Response) -> list[Report]:
    """The reports of the calls of an answer."""
    return [call.report for call in response.calls if call.report is not None]


def no_clock() -> float:
    """The time where nobody measures any."""
    return 0.0


@dataclass(slots=True, eq=False)
class UpstreamAttempt:
    """One request to one place: `number` counts from 1 at each place, `reask` is 0 for what the client itself asked.

    `begun` and `ended` are seconds of the record's clock; `note` is for observers to keep what is theirs;
    `sent` is when its last request went out and `arrivals` when chunks of its answer came, if anybody wants that;
    `operation` is what was asked for, in one word; `besides` is why it was asked though no client asked it: whether the
    model reads the tools it is sent ("counts", "canary"), "" for all else.
    """

    place: Place
    request: Request
    number: int = 1
    reask: int = 0
    begun: float = 0.0
    ended: float = 0.0
    response: Response | None = None
    failure: ProviderError | None = None
    note: Any = None
    sent: float = 0.0
    arrivals: Sequence[float] = ()
    operation: str = "chat"
    besides: str = ""


class Observer(Protocol):
    """Is notified of exchanges.  What it raises is a bug of its own: it is logged, and the exchange goes on.

    One whose `times_chunks` is true finds in each attempt when chunks of its answer came; one whose `adds_headers` is
    false writes no `trace_headers`.
    One that has `tool_began(record, call)` and `tool_ended(record, call, result)` is notified of server tools, too.
    What a class that derives from this one leaves out is not called.
    """

    def take(self, config: GatewayConfig) -> None:
        """From now on `config` holds."""

    def exchange_began(self, record: ExchangeRecord) -> None:
        """An exchange begins: its head is known, its body is not."""
        return

    def attempt_began(self, record: ExchangeRecord, attempt: UpstreamAttempt) -> None:
        """A place is about to be asked."""
        return

    def attempt_ended(self, record: ExchangeRecord, attempt: UpstreamAttempt) -> None:
        """It answered, failed, or is not listened to any more."""
        return

    def exchange_ended(self, record: ExchangeRecord) -> None:
        """The exchange is over; the record is complete."""
        return


NOTICES = ("exchange_began", "attempt_began", "attempt_ended", "exchange_ended", "tool_began", "tool_ended")


@per_object
def _heard(observers: Sequence[Observer]) -> Mapping[str, Sequence[Callable[..., object]]]:
    """What is called for each notice."""
    heard: dict[str, list[Callable[..., object]]] = {what: [] for what in NOTICES}
    for what, observer in product(NOTICES, observers):
        notify = getattr(observer, what, None)
        if notify is not None and getattr(notify, "__func__", None) is not getattr(Observer, what, notify):
            heard[what].append(notify)
    return heard


@dataclass(slots=True, eq=False, kw_only=True)
class ExchangeRecord:
    """The record of one exchange.

    front          the API the client speaks (a codec's name)
    key            the name of the client's key, "" where none is asked for
    model          what the client asked for;  `stream` whether streamed
    asked          what it asked, once that was read;  `conversation` is the one its API names in the body, "" for none
    server_tools   calls and results of server tools, one entry for each answer of the model that called them
    attempts       every place asked, in order;  `response` the answer the client got
    status         of our answer; a failure inside a stream counts with the status it would have had
    begun, first, ended  seconds of `clock`; `first` is when the first bytes of the answer were ready
    trace_headers  headers that every request to a provider takes along
    """

    request_id: str = ""
    front: str = ""
    key: str = ""
    model: str = ""
    stream: bool = False
    asked: Request | None = None
    conversation: str = ""
    attempts: list[UpstreamAttempt] = field(default_factory=list)
    server_tools: Sequence[tuple[tuple[ToolCall, ToolResult], ...]] = ()
    response: Response | None = None
    error: Exception | None = None
    status: int = 0
    begun: float = 0.0
    first: float | None = None
    ended: float = 0.0
    headers: Mapping[str, str] = NOTHING
    trace_headers: dict[str, str] = field(default_factory=dict)
    clock: Callable[[], float] = no_clock
    observers: Sequence[Observer] = ()
    note: Any = None
    _session: Session | None = None
    _listening: Mapping[str, Sequence[Callable[..., object]]] | None = None
    _chain: Callable[[Request, Note, Answered], Machine[Response]] | None = None  # which is asked
    _answered: int = 0  # how many of its attempts were

    # ── what is known of it ──────────────────────────────────────────────────

    @property
    def tokens(self) -> int | None:
        """Tokens that all of it cost, as providers count them; None where none said so."""
        usages = [attempt.response.usage for attempt in self.attempts if attempt.response is not None]
        counted = [usage.total for usage in usages if usage is not None]
        return sum(counted) if counted else None

    @property
    def place(self) -> Place | None:
        """Who was asked last: who answered, where somebody did."""
        return self.attempts[-1].place if self.attempts else None

    @property
    def route(self) -> str:
        """The same in words: `provider/model`; "" while nobody was asked."""
        return str(self.attempts[-1].place) if self.attempts else ""

    @property
    def session(self) -> Session | None:
        """The session it belongs to; None while nobody knows what it asks."""
        if self._session is None and self.asked is not None:
            self._session = session_of(self.asked, self.headers, self.key, self.conversation)
        return self._session

    @property
    def reasks(self) -> int:
        """How often the model was asked again for what was wrong with its answer."""
        return self.attempts[-1].reask if self.attempts else 0

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.ended - self.begun

    @property
    def outcome(self) -> str:
        """In one word: ok, client_closed, or the kind of failure."""
        if self.error is None:
            return "client_closed" if self.status == GONE else "ok"
        kind = getattr(self.error, "kind", None)
        return str(kind) if kind else ("bad_request" if isinstance(self.error, DragomanError) else "internal")

    def issues(self) -> list[IssueKind]:
        """The kinds of all issues of the answer."""
        return [issue.kind for issue in self.response.issues] if self.response is not None else []

    # ── what happens in it ───────────────────────────────────────────────────

    def begin(self) -> None:
        """The exchange begins."""
        self.begun = self.clock()
        self._notify("exchange_began")

    def flowing(self) -> None:
        """Bytes of the answer are ready."""
        if self.first is None:
            self.first = self.clock()

    def failed(self, error: Exception, status: int) -> None:
        """It failed, and the client got (or would have got) this status."""
        self.error, self.status = error, status

    def end(self) -> None:
        """The exchange is over."""
        if self.attempts:
            self._end(self.attempts[-1])
        self._chain = None  # who keeps the record need not keep this
        self.ended = self.clock()
        self._notify("exchange_ended")

    def _notify(self, what: str, *more: Any) -> None:
        listening = self._listening
        if listening is None:
            listening = self._listening = _heard(self.observers)
        for notify in listening[what]:
            try:
                notify(self, *more)
            except Exception:
                log.exception("an observer failed; the exchange goes on without it")

    # ── server tools ─────────────────────────────────────────────────────────

    def note_tools(self, step: Any) -> tuple[Any, ...]:
        """Write down what a step says of server tools; gives the steps that are not about them."""
        match step:
            case ServerToolsRan():
                self.server_tools = [*self.server_tools, step.results]
            case ToolStarted():
                self._notify("tool_began", step.call)
            case ToolEnded():
                self._notify("tool_ended", step.call, step.result)
            case _:
                return (step,)
        return ()

    # ── upstream attempts ────────────────────────────────────────────────────

    def watch(self, ask: Callable[[Request, Note, Answered], Machine[Response]]) -> Ask:
        """`ask`, a chain that notes its steps, with every attempt written down.

        What failed and is asked again counts as no answer that was wrong.
        """
        self._chain = ask
        return self._ask

    def _ask(self, request: Request) -> Machine[Response]:
        noted = _Noted(self, request, self._answered - len(self.server_tools))
        assert self._chain is not None  # it was given with this
        return self._chain(request, noted.note, noted.answered)

    def note_step(self, request: Request, reask: int, step: Any) -> bool:
        """Write down a step of a chain that is about attempts at `request`; False for any other."""
        if isinstance(step, RouteAsked):
            self._begin(UpstreamAttempt(step.place, request, step.attempt, reask))
        elif isinstance(step, RouteFailed):
            self._end(self.attempts[-1], failure=step.error)
        elif isinstance(step, AskedBesides):
            asked = self.attempts[-1]
            self._end(asked, step.before)
            self._begin(UpstreamAttempt(asked.place, step.request, reask=reask, besides=step.why))
        elif isinstance(step, AnsweredBesides):
            self._end(self.attempts[-1], step.response, step.failure)
        else:
            return False
        return True

    def ask(self, place: Place, request: Request, operation: str = "chat") -> None:
        """A place is asked, by nobody who notes it as a step."""
        self._begin(UpstreamAttempt(place, request, operation=operation))

    def answered(self, response: Response | None, failure: ProviderError | None = None) -> None:
        """It answered, or failed."""
        self._end(self.attempts[-1], response, failure)

    def _begin(self, attempt: UpstreamAttempt) -> None:
        attempt.begun = self.clock()
        self.attempts.append(attempt)
        self._notify("attempt_began", attempt)

    def _end(
        self, attempt: UpstreamAttempt, response: Response | None = None, failure: ProviderError | None = None
    ) -> None:
        if attempt.ended or attempt.failure is not None or attempt.response is not None:
            return
        attempt.ended, attempt.response, attempt.failure = self.clock(), response, failure
        self._notify("attempt_ended", attempt)


class _Noted:
    """The steps of one request to a chain, the `reask`-th of what is asked again."""

    __slots__ = ("_reask", "_record", "_request")

    def __init__(self, record: ExchangeRecord, request: Request, reask: int) -> None:
        self._record, self._request, self._reask = record, request, reask

    def note(self, step: Any) -> bool:
        """One of them."""
        return self._record.note_step(self._request, self._reask, step)

    def answered(self, _: object, response: Response) -> None:
        """Somebody answered."""
        record = self._record
        record._answered += 1
        record._end(record.attempts[-1], response)
