"""One request, several routes: a machine that asks them in order until one answers.

Knows turns, health and treatments; performs nothing.
Contract: nothing ever goes out of two attempts: until something of an answer was said the chain may go elsewhere,
after that it reports.  Each attempt and each failure is a step; what failed stands in the answer's issues, in the same
order.  One call of `chain` counts at most one failure against a place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from types import GeneratorType
from typing import Any, TypeAlias, TypeVar

from ..codecs.shared.issues import broke_off
from ..effects import Machine, Now, Sleep, relay
from ..errors import ErrorKind, ProviderError, UsageError, without_frames
from ..events import EVENTS, Event, IssueReported, Started, WireEvent
from ..memo import CONSTANTS, memoize
from ..providers.route import Route
from ..providers.spec import Tools
from ..records import dataclass, replace
from ..turn.capabilities import Capabilities, Refusals
from ..turn.machine import First, turn
from ..turn.question import asked_about
from ..types import Issue, IssueKind, Request, Response
from .balance import Spread, Ticket
from .failure_policy import TREATMENTS, Cooling, Rules
from .health import Health, Place, place

T = TypeVar("T")

NO_ROUTES = "no routes to ask; give at least one"
NO_TOOLS = "no route has native tools ({names}); allow tools told as text, or add a route that has them"
EVERY_ROUTE = "every route failed: {failures}{when}; {advice}"
BROKE_OFF = (
    "the provider's answer broke off: its stream ended before it said that this was all, and nothing of it was run; "
    "ask again, or ask another provider"
)
RESTS = "rests for {seconds:.0f} s after its last failure ({kind})"


Note: TypeAlias = Callable[[Any], bool]
"""Takes steps that are no events: True for those that need not go on."""


Answered: TypeAlias = Callable[[Route, Response], object]


def _not_noted(_: Any) -> bool:
    return False


class Then(StrEnum):
    """The chain's next step after a failure."""

    RETRY = "retry"
    SWITCH = "switch"
    GIVE_UP = "give_up"


@dataclass(frozen=True, slots=True)
class RouteAsked:
    """A step: `place` is asked, for the `attempt`-th time (from 1)."""

    place: Place
    attempt: int


@dataclass(frozen=True, slots=True)
class RouteFailed:
    """A step: the attempt failed; `then` is what follows, after `wait` seconds."""

    place: Place
    attempt: int
    error: ProviderError
    then: Then
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class RouteSkipped:
    """A step: `place` is not asked, and why."""

    place: Place
    why: str


class ChainError(ProviderError):
    """No route answered.

    Its kind and status are those of the failure most worth another try; `failures` are all of them, in order.
    """

    def __init__(self, failures: Sequence[RouteFailed], rest: float | None) -> None:
        self.failures: tuple[RouteFailed, ...] = tuple(failures)
        worst = next((f.error for f in failures if f.error.retryable), failures[-1].error)
        listed = ", ".join(f"{f.place}: {f.error.message.rpartition('; ')[0] or f.error.message}" for f in failures)
        when = f"; the first of them is asked again in {rest:.0f} s" if rest else ""
        message = EVERY_ROUTE.format(failures=listed, when=when, advice=worst.message.rpartition("; ")[2])
        super().__init__(
            message, status=worst.status, kind=worst.kind, code=worst.code, retry_after=rest, body=worst.body
        )


def chain(
    request: Request,
    routes: Sequence[Route],
    health: Health | None = None,
    learned: Capabilities | None = None,
    rules: Rules = Rules(),  # noqa: B008
    *,
    answered: Answered | None = None,
    spread: Spread | None = None,
    note: Note | None = None,
    first: First | None = None,
) -> Machine[Response]:
    """Ask `routes` in order; yields the steps of this module and the events of the answer, returns it whole.

    `answered` is told which of them gave it, and what; `spread` puts those that do not rest into another order; steps
    that `note` takes, which is told of all that are no events, are not yielded.
    `first` is an attempt at the only route that was made before: its step is known, and what came of it goes on here.
    Raises ProviderError (`ChainError` where several routes failed), also after events; UsageError for no routes, or for
    one that cannot be asked.
    """
    if not routes:
        raise UsageError(NO_ROUTES)
    attempts = _Attempts(request, health or Health(), learned or Capabilities(), rules, spread, note, answered, first)
    if health is None and len(routes) == 1:  # what it did before is not known, and nowhere else can be asked
        return attempts.only(routes[0])
    return attempts.in_order(routes)


def chaining(
    routes: Sequence[Route],
    health: Health | None = None,
    learned: Capabilities | None = None,
    rules: Rules = Rules(),  # noqa: B008
    spread: Spread | None = None,
    *,
    first: First | None = None,
) -> Callable[..., Machine[Response]]:
    """`chain` for one conversation: a question about an answer is put to the route that gave it, and to no other.

    Nobody else can say whether a call in it was meant.  `first` is an attempt that was made before (`chain`).
    """
    return _Chaining(routes, health, learned, rules, spread, first).ask


class _Chaining:
    __slots__ = ("_first", "_how", "_last", "_routes", "_spread")

    def __init__(  # noqa: PLR0917
        self, routes: Sequence[Route], health: Health | None, learned: Capabilities | None, rules: Rules,
        spread: Spread | None, first: First | None,
    ) -> None:  # fmt: skip
        self._routes, self._how, self._spread, self._first = routes, (health, learned, rules), spread, first
        self._last: Route | None = None

    def ask(self, request: Request, note: Note | None = None, answered: Answered | None = None) -> Machine[Response]:
        """The answer to `request`; `answered` is told of it too."""
        to = tuple(self._routes) if self._last is None or not asked_about(request) else (self._last,)

        told = self._told if answered is None else _Told(self, answered).told
        first, self._first = self._first, None
        return chain(request, to, *self._how, answered=told, spread=self._spread, note=note, first=first)

    def _told(self, route: Route, _: Response) -> None:
        self._last = route


class _Told:
    """Tells the chaining and somebody else who answered."""

    __slots__ = ("_answered", "_chaining")

    def __init__(self, chaining: _Chaining, answered: Answered) -> None:
        self._chaining, self._answered = chaining, answered

    def told(self, route: Route, response: Response) -> None:
        """`route` gave `response`."""
        self._chaining._last = route
        self._answered(route, response)


class _Attempts:
    """The attempts at one request."""

    __slots__ = (
        "_began", "_failures", "_first", "_is_alone", "_is_only", "_learned", "_note_step", "_request", "_rules",
        "_spread", "answered", "complete", "health", "issues", "last", "places",
    )  # fmt: skip

    def __init__(  # noqa: PLR0917
        self, request: Request, health: Health, learned: Capabilities, rules: Rules, spread: Spread | None = None,
        note: Note | None = None, answered: Answered | None = None, first: First | None = None,
    ) -> None:  # fmt: skip
        self._request, self.health, self._learned, self._rules = request, health, learned, rules
        self.complete = rules.complete
        self._spread, self._note_step, self.answered = spread, note or _not_noted, answered
        self._failures: tuple[RouteFailed, ...] = ()
        self.places: tuple[Place, ...] = ()
        self._first = first
        self.last: Route
        self._began = 0.0  # when this route was first asked
        self._is_alone = self._is_only = False  # can nobody be asked after it, and could nobody before?
        self.issues: tuple[Issue, ...] = ()

    def only(self, route: Route) -> Machine[Response]:
        """Ask the only route.  Raises ProviderError where it cannot take the request's tools."""
        self._is_only = True
        (asked,) = map(self._native, self._fit((route,)))
        return self._ask(asked, 0.0, alone=True)

    def in_order(self, routes: Sequence[Route]) -> Machine[Response]:
        """Ask `routes` in order until one answers."""
        now: float = yield Now()
        queue, skipped = self.queue(routes, now)
        yield from skipped
        while queue:
            route = queue.pop(0)
            answer = yield from self._ask(route, now, alone=not queue)
            if isinstance(answer, Response):
                return answer
            queue = self.worth_asking(queue, answer.error)
            yield from self.give_up(answer, Then.SWITCH if queue else Then.GIVE_UP)
            now = yield Now()
        raise self.verdict(now)

    # ── which routes ─────────────────────────────────────────────────────────

    def queue(self, routes: Sequence[Route], now: float) -> tuple[list[Route], list[RouteSkipped]]:
        """The routes to ask, in order, and those to skip: the rested ones, then the other that rests the least.

        Raises ProviderError where no route can take the request's tools.
        """
        fit = self._fit(routes)
        unfit = [RouteSkipped(self._place(route), "has no native tools") for route in routes if route not in fit]
        rests = [(self.health.rests(self._place(route), now), self._native(route)) for route in fit]
        resting = sorted((each for each in rests if each[0]), key=lambda each: each[0])
        rested = [route for rest, route in rests if not rest]
        if self._spread is not None:
            rested = self._spread.order(rested)
        return rested + [route for _, route in resting[:1]], unfit + [self._skip(*each) for each in resting[1:]]

    def _fit(self, routes: Sequence[Route]) -> list[Route]:
        fit = [route for route in routes if self._takes_tools(route)]
        if not fit:
            names = ", ".join(str(self._place(route)) for route in routes)
            raise ProviderError(NO_TOOLS.format(names=names), kind=ErrorKind.NO_TOOLS)
        return fit

    def _skip(self, rest: float, route: Route) -> RouteSkipped:
        where = self._place(route)
        kinds = {place: condition.kind for place, condition in self.health}
        return RouteSkipped(where, RESTS.format(seconds=rest, kind=kinds.get(where, ErrorKind.UNKNOWN)))

    def worth_asking(self, queue: list[Route], error: ProviderError) -> list[Route]:
        """Those of `queue` that may do better after `error`."""
        if not TREATMENTS[error.kind].elsewhere:
            return []
        if error.kind is not ErrorKind.CONTEXT:
            return queue
        sizes = [(self._context(route), route) for route in queue]
        small = self._context(self.last)
        return [route for size, route in sizes if not small or not size or size > small]

    def _place(self, route: Route) -> Place:
        return place(route, self._request.model)

    def _context(self, route: Route) -> int:
        """Tokens the model is known to take, 0 for unknown."""
        model = self._place(route).model
        return route.family(model).context

    def _takes_tools(self, route: Route) -> bool:
        return self._rules.text_tools or not self._has_tools or self._has_native_tools(route)

    @property
    def _has_tools(self) -> bool:
        choice = self._request.tool_choice
        return bool(self._request.tools) and (choice is None or choice.mode != "none")

    def _has_native_tools(self, route: Route) -> bool:
        return route.mode is not Tools.TEXT and not self._learned.refused(route, self._place(route).model).tools

    def _native(self, route: Route) -> Route:
        """The route as it is asked: where text is not allowed, it is not fallen back to."""
        forbidden = self._has_tools and not self._rules.text_tools
        return _only_native(route) if forbidden else route

    # ── one route ────────────────────────────────────────────────────────────

    def _ask(self, route: Route, began: float, *, alone: bool) -> Machine[Any]:
        """Ask `route`, again where that helps; a failure before anything was said is returned, a later one raised.

        `began`: the time now; `alone`: can nobody be asked after it?  A route that is the only one returns no failure.
        """
        self.last, self._began, self._is_alone = route, began, alone
        self.places = (*self.places, self._place(route))
        asked = self._attempt(1)
        return asked if self._spread is None else _counted(self._spread.enter(route), asked)

    def _attempt(self, number: int) -> Machine[Any]:
        """The `number`-th attempt at this route, and what follows from it."""
        first, self._first = self._first, None
        noted = () if first is not None else self._noted(RouteAsked(self.places[-1], number))
        relayed = _RelayedTurn(self, number, self._note_step, whole=not self._request.stream)
        asked = relay(
            turn(self._request, self.last, self._learned, first),
            on_step=relayed.pass_on,
            at_once=None if self._request.stream else relayed.wait,
            then=relayed.ended,
            failed=relayed.failed,
        )
        return _behind(noted, asked) if noted else asked

    def failed(self, relayed: _RelayedTurn, number: int, error: Exception) -> Machine[Any]:
        """It failed.  Raises what is no failure of a provider."""
        if not isinstance(error, ProviderError):
            raise error
        without_frames(error)  # it is kept
        return self._go_on(relayed, number, error)

    def _go_on(self, relayed: _RelayedTurn, number: int, error: ProviderError) -> Machine[Any]:
        """What follows a failure."""
        wait = None if relayed.spoke else self._rules.wait(error, number, alone=self._is_alone)
        then = Then.GIVE_UP if wait is None else Then.RETRY
        failed = RouteFailed(self.places[-1], number, error, then, wait or 0.0)
        if wait is not None:
            yield from self._report(failed)
            yield Sleep(wait)
            return (yield from self._attempt(number + 1))
        now: float = yield Now()
        self._note(self.last, failed, self._began, now)
        if relayed.spoke:
            yield from self._noted(failed)
            raise failed.error
        return (yield from self._lost(failed)) if self._is_only else failed

    def _lost(self, failed: RouteFailed) -> Machine[Any]:
        """The only route was given up.  Raises why."""
        yield from self.give_up(failed, Then.GIVE_UP)
        now: float = yield Now()
        raise self.verdict(now)

    def _note(self, route: Route, failed: RouteFailed, began: float, now: float) -> None:
        error = failed.error
        if error.kind is ErrorKind.NO_TOOLS:
            self._learned.note(route, failed.place.model, Refusals(tools=True))
        if TREATMENTS[error.kind].cooling is not Cooling.NONE:
            self.health.failed(failed.place, error, self._rules, began=began, now=now)

    # ── failures ─────────────────────────────────────────────────────────────

    def give_up(self, failed: RouteFailed, then: Then) -> Iterator[RouteFailed | IssueReported]:
        """Report that a route was given up, and what follows."""
        step = replace(failed, then=then)
        self._failures = (*self._failures, step)
        return self._report(step)

    def _report(self, step: RouteFailed) -> Iterator[RouteFailed | IssueReported]:
        next_ = {Then.RETRY: "asked again", Then.SWITCH: "went elsewhere", Then.GIVE_UP: "gave up"}[step.then]
        issue = Issue(kind=IssueKind.WIRE_FAULT, message=f"{step.place}, attempt {step.attempt}: {step.error}; {next_}")
        self.issues = (*self.issues, issue)
        yield from self._noted(step)
        yield IssueReported(issue)

    def _noted(self, step: Any) -> tuple[Any, ...]:
        """The step, unless somebody takes it."""
        return () if self._note_step(step) else (step,)

    def verdict(self, now: float) -> ProviderError:
        """The error for the whole: the only one as it is, several as a `ChainError`."""
        if len(self._failures) == 1:
            return self._failures[0].error
        rests = [self.health.rests(where, now) for where in self.places]
        return ChainError(self._failures, min(rests) or None)


def _behind(steps: Sequence[Any], then: Any) -> Machine[Any]:
    """`steps`, and behind them the machine `then`; or the value that it is."""
    yield steps if type(steps) is list else [*steps]
    return (yield from then) if type(then) is GeneratorType else then


def _counted(ticket: Ticket, asked: Machine[T]) -> Machine[T]:
    """`asked`; meanwhile the request is in flight there."""
    try:
        return (yield from asked)
    finally:
        ticket.leave()


@memoize(CONSTANTS)
def _only_native(route: Route) -> Route:
    return replace(route, tools=Tools.NATIVE)


class _RelayedTurn:
    """What of a turn goes on: what says nothing of the answer waits until something does, a `whole` one for its end.

    Steps that are no events pass at once.  What waits when the turn fails never goes out.
    """

    __slots__ = ("_attempts", "_note", "_number", "_whole", "spoke", "waiting")

    def __init__(self, attempts: _Attempts, number: int, note: Note, *, whole: bool) -> None:
        self._attempts, self._number = attempts, number
        self.spoke, self._note, self._whole = False, note, whole
        self.waiting: list[Any] | tuple[()] = ()

    def ended(self, response: Response) -> Response | Machine[Response]:
        """The turn has answered; what waits of that goes out."""
        attempts = self._attempts
        if response.issues and attempts.complete and broke_off(response.issues):
            return self.failed(ProviderError(BROKE_OFF, kind=ErrorKind.NETWORK, code="incomplete_answer"))
        attempts.health.answered(attempts.places[-1])
        if attempts.issues:
            response = replace(response, issues=(*attempts.issues, *response.issues))
        if attempts.answered is not None:
            attempts.answered(attempts.last, response)
        return _behind(self.waiting, response) if self.waiting else response

    def failed(self, error: Exception) -> Machine[Any]:
        """It has failed."""
        return self._attempts.failed(self, self._number, error)

    def wait(self, steps: list[Any]) -> tuple[()] | None:
        """Of a whole answer everything waits."""
        if not EVENTS.issuperset(map(type, steps)):
            return None
        self.waiting = waiting = self.waiting or []
        waiting += steps
        return ()

    def pass_on(self, event: Event) -> Iterable[Event]:
        """What goes on now."""
        if type(event) not in EVENTS:
            return () if self._note(event) else (event,)
        if self.spoke:
            return (event,)
        self.waiting = waiting = self.waiting or []
        waiting.append(event)
        if self._whole or isinstance(event, Started | WireEvent | IssueReported):
            return ()
        self.spoke, self.waiting = True, ()
        return waiting
