"""One request, several routes: a machine that asks them in order until one answers.

Knows turns, health and treatments; performs nothing.
Contract: nothing ever goes out of two attempts: until something of an answer was said the chain may go elsewhere,
after that it reports.  Each attempt and each failure is a step; what failed stands in the answer's issues, in the same
order.  One call of `chain` counts at most one failure against a place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import count
from typing import Any, TypeAlias

from ..effects import Machine, Now, Sleep, relay
from ..errors import ErrorKind, ProviderError, UsageError, without_frames
from ..events import EVENTS, Event, IssueReported, Started, WireEvent
from ..memo import CONSTANTS, memoize
from ..providers.route import Route
from ..providers.spec import Tools
from ..records import dataclass, replace
from ..turn.capabilities import Capabilities, Refusals
from ..turn.machine import turn
from ..turn.question import asked_about
from ..types import Issue, IssueKind, Request, Response
from .balance import Spread
from .failure_policy import TREATMENTS, Cooling, Rules
from .health import Health, Place, place

NO_ROUTES = "no routes to ask; give at least one"
NO_TOOLS = "no route has native tools ({names}); allow tools told as text, or add a route that has them"
EVERY_ROUTE = "every route failed: {failures}{when}; {advice}"
RESTS = "rests for {seconds:.0f} s after its last failure ({kind})"


Note: TypeAlias = Callable[[Any], bool]
"""Takes steps that are no events: True for those that need not go on."""


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
    answered: Callable[[Route], object] | None = None,
    spread: Spread | None = None,
    note: Note | None = None,
) -> Machine[Response]:
    """Ask `routes` in order; yields the steps of this module and the events of the answer, returns it whole.

    `answered` is told which of them gave it; `spread` puts those that do not rest into another order; steps that
    `note` takes, which is told of all that are no events, are not yielded.
    Raises ProviderError (`ChainError` where several routes failed), also after events; UsageError for no routes, or for
    one that cannot be asked.
    """
    if not routes:
        raise UsageError(NO_ROUTES)
    attempts = _Attempts(request, health or Health(), learned or Capabilities(), rules, spread, note)
    now = 0.0
    if health is None and len(routes) == 1:  # what it did before is not known, and nowhere else can be asked
        queue = attempts.alone(routes)
        skipped: list[RouteSkipped] = []
    else:
        now = yield Now()
        queue, skipped = attempts.queue(routes, now)
    yield from skipped
    while queue:
        route = queue.pop(0)
        alone = not queue
        asked = (
            attempts.ask(route, now, alone=alone)
            if spread is None
            else attempts.ask_counted(spread, route, now, alone=alone)
        )
        answer = yield from asked
        if isinstance(answer, Response):
            if answered is not None:
                answered(route)
            return replace(answer, issues=(*attempts.issues, *answer.issues)) if attempts.issues else answer
        queue = attempts.worth_asking(queue, answer.error)
        yield from attempts.give_up(answer, Then.SWITCH if queue else Then.GIVE_UP)
        now = yield Now()
    raise attempts.verdict(now)


def chaining(
    routes: Sequence[Route],
    health: Health | None = None,
    learned: Capabilities | None = None,
    rules: Rules = Rules(),  # noqa: B008
    spread: Spread | None = None,
) -> Callable[..., Machine[Response]]:
    """`chain` for one conversation: a question about an answer is put to the route that gave it, and to no other.

    Nobody else can say whether a call in it was meant.
    """
    return _Chaining(routes, health, learned, rules, spread).ask


class _Chaining:
    __slots__ = ("_how", "_last", "_routes", "_spread")

    def __init__(
        self, routes: Sequence[Route], health: Health | None, learned: Capabilities | None, rules: Rules,
        spread: Spread | None,
    ) -> None:  # fmt: skip
        self._routes, self._how, self._spread = routes, (health, learned, rules), spread
        self._last: Route | None = None

    def _answered(self, route: Route) -> None:
        self._last = route

    def ask(self, request: Request, note: Note | None = None) -> Machine[Response]:
        """The answer to `request`."""
        to = tuple(self._routes) if self._last is None or not asked_about(request) else (self._last,)
        return chain(request, to, *self._how, answered=self._answered, spread=self._spread, note=note)


class _Attempts:
    """The attempts at one request."""

    def __init__(  # noqa: PLR0917
        self, request: Request, health: Health, learned: Capabilities, rules: Rules, spread: Spread | None = None,
        note: Note | None = None,
    ) -> None:  # fmt: skip
        self._request, self._health, self._learned, self._rules = request, health, learned, rules
        self._spread, self._note_step = spread, note or _not_noted
        self._failures: list[RouteFailed] = []
        self._places: list[Place] = []
        self._last: Route
        self.issues: list[Issue] = []

    # ── which routes ─────────────────────────────────────────────────────────

    def queue(self, routes: Sequence[Route], now: float) -> tuple[list[Route], list[RouteSkipped]]:
        """The routes to ask, in order, and those to skip: the rested ones, then the other that rests the least.

        Raises ProviderError where no route can take the request's tools.
        """
        fit = self._fit(routes)
        unfit = [RouteSkipped(self._place(route), "has no native tools") for route in routes if route not in fit]
        rests = [(self._health.rests(self._place(route), now), self._native(route)) for route in fit]
        resting = sorted((each for each in rests if each[0]), key=lambda each: each[0])
        rested = [route for rest, route in rests if not rest]
        if self._spread is not None:
            rested = self._spread.order(rested)
        return rested + [route for _, route in resting[:1]], unfit + [self._skip(*each) for each in resting[1:]]

    def alone(self, routes: Sequence[Route]) -> list[Route]:
        """The only route.  Raises ProviderError as `queue` does."""
        return [*map(self._native, self._fit(routes))]

    def _fit(self, routes: Sequence[Route]) -> list[Route]:
        fit = [route for route in routes if self._takes_tools(route)]
        if not fit:
            names = ", ".join(str(self._place(route)) for route in routes)
            raise ProviderError(NO_TOOLS.format(names=names), kind=ErrorKind.NO_TOOLS)
        return fit

    def _skip(self, rest: float, route: Route) -> RouteSkipped:
        where = self._place(route)
        kinds = {place: condition.kind for place, condition in self._health}
        return RouteSkipped(where, RESTS.format(seconds=rest, kind=kinds.get(where, ErrorKind.UNKNOWN)))

    def worth_asking(self, queue: list[Route], error: ProviderError) -> list[Route]:
        """Those of `queue` that may do better after `error`."""
        if not TREATMENTS[error.kind].elsewhere:
            return []
        if error.kind is not ErrorKind.CONTEXT:
            return queue
        sizes = [(self._context(route), route) for route in queue]
        small = self._context(self._last)
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

    def ask_counted(
        self, spread: Spread, route: Route, began: float, *, alone: bool
    ) -> Machine[Response | RouteFailed]:
        """As `ask`; meanwhile the request is in flight there."""
        ticket = spread.enter(route)
        try:
            return (yield from self.ask(route, began, alone=alone))
        finally:
            ticket.leave()

    def ask(self, route: Route, began: float, *, alone: bool) -> Machine[Response | RouteFailed]:
        """Ask `route`, again where that helps; a failure before anything was said is returned, a later one raised.

        `began`: the time now.
        """
        where, self._last = self._place(route), route
        self._places.append(where)
        for attempt in count(1):
            yield from self._noted(RouteAsked(where, attempt))
            relayed = _RelayedTurn(self._note_step, whole=not self._request.stream)
            try:
                asked = turn(self._request, route, self._learned)
                at_once = None if self._request.stream else relayed.wait
                response = yield from relay(asked, on_step=relayed.pass_on, at_once=at_once)
                if relayed.waiting:
                    yield relayed.waiting
            except ProviderError as error:
                without_frames(error)  # it is kept, and this frame keeps it
                wait = None if relayed.spoke else self._rules.wait(error, attempt, alone=alone)
                failed = RouteFailed(where, attempt, error, Then.GIVE_UP if wait is None else Then.RETRY, wait or 0.0)
            else:
                self._health.answered(where)
                return response
            if wait is None:
                now: float = yield Now()
                self._note(route, failed, began, now)
                if not relayed.spoke:
                    return failed
                yield from self._noted(failed)
                raise failed.error
            yield from self._report(failed)
            yield Sleep(wait)
        raise AssertionError("counting does not end")

    def _note(self, route: Route, failed: RouteFailed, began: float, now: float) -> None:
        error = failed.error
        if error.kind is ErrorKind.NO_TOOLS:
            self._learned.note(route, failed.place.model, Refusals(tools=True))
        if TREATMENTS[error.kind].cooling is not Cooling.NONE:
            self._health.failed(failed.place, error, self._rules, began=began, now=now)

    # ── failures ─────────────────────────────────────────────────────────────

    def give_up(self, failed: RouteFailed, then: Then) -> Iterator[RouteFailed | IssueReported]:
        """Report that a route was given up, and what follows."""
        step = replace(failed, then=then)
        self._failures.append(step)
        return self._report(step)

    def _report(self, step: RouteFailed) -> Iterator[RouteFailed | IssueReported]:
        next_ = {Then.RETRY: "asked again", Then.SWITCH: "went elsewhere", Then.GIVE_UP: "gave up"}[step.then]
        issue = Issue(kind=IssueKind.WIRE_FAULT, message=f"{step.place}, attempt {step.attempt}: {step.error}; {next_}")
        self.issues.append(issue)
        yield from self._noted(step)
        yield IssueReported(issue)

    def _noted(self, step: Any) -> tuple[Any, ...]:
        """The step, unless somebody takes it."""
        return () if self._note_step(step) else (step,)

    def verdict(self, now: float) -> ProviderError:
        """The error for the whole: the only one as it is, several as a `ChainError`."""
        if len(self._failures) == 1:
            return self._failures[0].error
        rests = [self._health.rests(where, now) for where in self._places]
        return ChainError(self._failures, min(rests) or None)


@memoize(CONSTANTS)
def _only_native(route: Route) -> Route:
    return replace(route, tools=Tools.NATIVE)


class _RelayedTurn:
    """What of a turn goes on: what says nothing of the answer waits until something does, a `whole` one for its end.

    Steps that are no events pass at once.  What waits when the turn fails never goes out.
    """

    __slots__ = ("_note", "_whole", "spoke", "waiting")

    def __init__(self, note: Note, *, whole: bool) -> None:
        self.spoke, self._note, self._whole = False, note, whole
        self.waiting: list[Any] = []

    def wait(self, steps: list[Any]) -> tuple[()] | None:
        """Of a whole answer everything waits."""
        if not EVENTS.issuperset(map(type, steps)):
            return None
        self.waiting += steps
        return ()

    def pass_on(self, event: Event) -> Iterable[Event]:
        """What goes on now."""
        if type(event) not in EVENTS:
            return () if self._note(event) else (event,)
        if self.spoke:
            return (event,)
        self.waiting.append(event)
        if self._whole or isinstance(event, Started | WireEvent | IssueReported):
            return ()
        self.spoke = True
        waiting, self.waiting = self.waiting, []
        return waiting
