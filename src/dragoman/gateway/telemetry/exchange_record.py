"""What one exchange came to: who asked what, who was asked, what came of it, and when.

Written while an exchange runs, read by observers (metrics, spans, logs).  Knows turns and chains by their steps;
nothing of ASGI, of any telemetry library, or of the clock, which comes in as a function.
Contract: an account never changes what it watches; observers are told of every exchange once when it begins and once
when it has ended, whatever happened in between, and of every asking the same.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ...effects import Machine, relay
from ...errors import DragomanError, ProviderError
from ...fallback import Place, RouteAsked, RouteFailed
from ...loop.steps import ToolEnded, ToolStarted
from ...providers.route import Route
from ...server_tools.machine import ServerToolsRan
from ...turn.reask import Ask
from ...types import NOTHING, IssueKind, Request, Response, ToolCall, ToolResult
from ..config.model import GatewayConfig

log = logging.getLogger("dragoman.gateway")

GONE = 499
"""The status of an exchange whose client went away: nginx's word for it, which log readers know."""
OURS = 500


def no_clock() -> float:
    """The time where nobody measures any."""
    return 0.0


@dataclass(slots=True, eq=False)
class Asking:
    """One place asked once: `attempt` counts from 1 at each place, `reask` is 0 for what the client itself asked.

    `begun` and `ended` are seconds of the account's clock; `note` is for observers to keep what is theirs.
    """

    place: Place
    request: Request
    attempt: int = 1
    reask: int = 0
    begun: float = 0.0
    ended: float = 0.0
    response: Response | None = None
    failure: ProviderError | None = None
    note: Any = None


class Observer(Protocol):
    """Hears of exchanges.  What it raises is a bug of its own: it is logged, and the exchange goes on.

    One that has `running(account, call)` and `ran(account, call, result)` hears of the tools that run here, too.
    """

    def take(self, config: GatewayConfig) -> None:
        """From now on `config` holds."""

    def began(self, account: Account) -> None:
        """An exchange begins: its head is known, its body is not."""

    def asked(self, account: Account, asking: Asking) -> None:
        """A place is about to be asked."""

    def answered(self, account: Account, asking: Asking) -> None:
        """It answered, failed, or is not listened to any more."""

    def ended(self, account: Account) -> None:
        """The exchange is over; the account is complete."""


@dataclass(slots=True, eq=False, kw_only=True)
class Account:
    """The account of one exchange.

    front      the API the client speaks (a codec's name)
    key        the name of the client's key, "" where none is asked for
    model      what the client asked for;  `stream` whether streamed
    house      what tools run here did, one entry for each answer of the model that called them
    askings    every place asked, in order;  `response` the answer as it was told
    status     of our answer; a failure inside a stream counts with the status it would have had
    begun, first, ended  seconds of `clock`; `first` is when the first bytes of the answer were ready
    carried    headers that every request to a provider takes along (the trace's)
    """

    request_id: str = ""
    front: str = ""
    key: str = ""
    model: str = ""
    stream: bool = False
    askings: list[Asking] = field(default_factory=list)
    house: list[tuple[tuple[ToolCall, ToolResult], ...]] = field(default_factory=list)
    response: Response | None = None
    error: Exception | None = None
    status: int = 0
    begun: float = 0.0
    first: float | None = None
    ended: float = 0.0
    headers: Mapping[str, str] = NOTHING
    carried: dict[str, str] = field(default_factory=dict)
    clock: Callable[[], float] = no_clock
    observers: Sequence[Observer] = ()
    note: Any = None

    # ── what is known of it ──────────────────────────────────────────────────

    @property
    def place(self) -> Place | None:
        """Who was asked last: who answered, where somebody did."""
        return self.askings[-1].place if self.askings else None

    @property
    def route(self) -> str:
        """The same in words: `provider/model`; "" while nobody was asked."""
        return str(self.askings[-1].place) if self.askings else ""

    @property
    def reasks(self) -> int:
        """How often the model was asked again for what was wrong with its answer."""
        return self.askings[-1].reask if self.askings else 0

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
        """The kinds of all issues told."""
        return [issue.kind for issue in self.response.issues] if self.response is not None else []

    # ── what happens in it ───────────────────────────────────────────────────

    def begin(self) -> None:
        """The exchange begins."""
        self.begun = self.clock()
        self._tell("began")

    def flowing(self) -> None:
        """Bytes of the answer are ready."""
        if self.first is None:
            self.first = self.clock()

    def failed(self, error: Exception, status: int) -> None:
        """It failed, and the client was (or would have been) told this status."""
        self.error, self.status = error, status

    def end(self) -> None:
        """The exchange is over."""
        if self.askings:
            self._end(self.askings[-1])
        self.ended = self.clock()
        self._tell("ended")

    def _tell(self, what: str, *more: Any) -> None:
        for observer in self.observers:
            heard = getattr(observer, what, None)
            try:
                if heard is not None:
                    heard(self, *more)
            except Exception:
                log.exception("an observer failed; the exchange goes on without it")

    # ── what runs here ───────────────────────────────────────────────────────

    def at_home(self, step: Any) -> tuple[Any, ...]:
        """Write down what a step says of tools that run here; gives the steps that are not about them."""
        match step:
            case ServerToolsRan():
                self.house.append(step.results)
            case ToolStarted():
                self._tell("running", step.call)
            case ToolEnded():
                self._tell("ran", step.call, step.result)
            case _:
                return (step,)
        return ()

    # ── who is asked ─────────────────────────────────────────────────────────

    def watch(self, ask: Ask, alone: Route | None) -> Ask:
        """`ask`, with every asking written down; `alone` is the only place it asks, None for a chain, which tells."""
        count = 0

        def asking(request: Request) -> Machine[Response]:
            nonlocal count
            reask, count = count - len(self.house), count + 1
            try:
                return (yield from watched(request, reask))
            except ProviderError:
                count -= 1  # it is asked again for what failed, not for what was wrong with an answer
                raise

        def watched(request: Request, reask: int) -> Machine[Response]:
            steps = ask(request)
            if alone is None:
                return self._chain(steps, request, reask)
            where = Place(alone.provider.name, alone.model or request.model, alone.base_url)
            return self._turn(steps, Asking(where, request, reask=reask))

        return asking

    def _turn(self, steps: Machine[Response], asking: Asking) -> Machine[Response]:
        self._begin(asking)
        try:
            response = yield from steps
        except ProviderError as error:
            self._end(asking, failure=error)
            raise
        self._end(asking, response)
        return response

    def _chain(self, steps: Machine[Response], request: Request, reask: int) -> Machine[Response]:
        def hear(step: Any) -> tuple[Any, ...]:
            if isinstance(step, RouteAsked):
                self._begin(Asking(step.place, request, step.attempt, reask))
            elif isinstance(step, RouteFailed):
                self._end(self.askings[-1], failure=step.error)
            else:
                return (step,)
            return ()

        response = yield from relay(steps, hear=hear)
        self._end(self.askings[-1], response)
        return response

    def _begin(self, asking: Asking) -> None:
        asking.begun = self.clock()
        self.askings.append(asking)
        self._tell("asked", asking)

    def _end(self, asking: Asking, response: Response | None = None, failure: ProviderError | None = None) -> None:
        if asking.ended or asking.failure is not None or asking.response is not None:
            return
        asking.ended, asking.response, asking.failure = self.clock(), response, failure
        self._tell("answered", asking)
