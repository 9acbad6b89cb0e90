"""One request and its answer: a machine that asks a provider and emits what the model really said.

Repair the history → plan (`plan.py`) → send (`send.py`) → read and decode (`response_reader.py`) → handle each event
(`answer.py`); all but the first is one attempt (`attempt.py`).  Performs nothing (`effects.py`), runs no tool, retries
nothing but what a weaker request gets around: a refusal of tools, of their schemas, of a constraint, or of a demand on
the answer (`rejections.py`), and tools that a backend ignores in silence (`ignored_tools.py`).
Contract: yields events as soon as they are certain, returns the `Response` they fold to; a peer's failure is a
`ProviderError` without secrets; nothing is ever emitted from two attempts, but for calls that a model made once it was
told of the tools which its backend had kept from it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..conversation.grown import Grown
from ..conversation.history import repair
from ..conversation.known import known_again
from ..conversation.plain import as_plain
from ..effects import Machine
from ..errors import ProviderError
from ..providers.route import Route
from ..records import NamedTuple
from ..types import Issue, Message, Request, Response
from .answer import AnswerStream, salvaged
from .attempt import Attempt, planning, read
from .capabilities import Capabilities
from .ignored_tools import heeded
from .question import agreed_to, asked_about, habits
from .rejections import refused_by, refused_generation
from .send import without_secrets
from .settled import Settled, settled

UNAUTHORISED = 401
MOST_REFUSALS = 7
"""How often one request is made weaker: without the schemas, native tools and constraint that the model refuses, with
a weaker tool choice, twice, and with a weaker form of the answer, twice."""


class First(NamedTuple):
    """A first attempt that was made before its machine: `asked` is the conversation as its client has it.

    `request` and `issues` are what was asked, `known` what was settled before anything was said, `attempt` what came of
    it (None: it could not be planned, and is yet to be made).
    """

    asked: Sequence[Message]
    request: Request
    issues: tuple[Issue, ...]
    known: Settled
    attempt: Attempt | None = None


def turn(
    request: Request, route: Route, learned: Capabilities | None = None, first: First | None = None
) -> Machine[Response]:
    """Ask `route` what `request` asks; yields the events of the answer, returns it whole.

    `first`: where the first attempt was made before; what it came to goes on from here.
    Raises ProviderError (also after events), and UsageError for a route or request that cannot be asked.
    """
    learned = learned or Capabilities()
    begun = first or (yield from begin(request, route, learned))
    noticing = _Noticing(begun, route, learned)
    asked, request, finding = begun.asked, begun.request, begun.known.finding
    del begun, first  # a stream may be open for long

    response = yield from heeded(request, route, learned, noticing.ask, finding)
    if about := asked_about(request):
        learned.confirm(route, request.model, habits(about, response, agreed=agreed_to(request)))
    yield from learned.reasoning.remember(asked, response.message, learned.whose(request.model))
    return response


def begin(request: Request, route: Route, learned: Capabilities) -> Machine[First]:
    """A request as it is asked on `route`, before anybody was.  Raises as `turn` does."""
    asked = known_again(request.messages)
    known = settled(request, route, learned)
    store = learned.reasoning
    filled = asked if store.is_empty() else (yield from store.refill(asked, learned.whose(known.model)))
    if type(filled) is Grown and as_plain(filled) is not None:  # `repair` would change nothing
        return First(asked, request.with_model(known.model, filled, known.tools), known.issues, known)
    repaired = repair(filled)
    request = request.with_model(known.model, repaired.messages, known.tools)
    return First(asked, request, (*known.issues, *repaired.issues), known)


class _Noticing:
    """Asks for a turn; in the answer to the request that it began with stands what had to be mended.

    The first attempt is the one that was made before, where one was.
    """

    __slots__ = ("_issues", "_known", "_learned", "_made", "_request", "_route")

    def __init__(self, begun: First, route: Route, learned: Capabilities) -> None:
        _, self._request, self._issues, self._known, self._made = begun
        self._route, self._learned = route, learned

    def ask(self, asked: Request, to: Route, told: Sequence[Issue]) -> Machine[Response]:
        """The answer of `to`, in which `told` stands too."""
        made, self._made = self._made, None
        if asked is not self._request:
            return _ask(asked, to, self._learned, (*told,), MOST_REFUSALS, made)
        known = self._known if to is self._route else None
        return _ask(asked, to, self._learned, (*self._issues, *told), MOST_REFUSALS, made, known)


def _ask(  # noqa: PLR0917
    request: Request, route: Route, learned: Capabilities, issues: tuple[Issue, ...], left: int,
    made: Attempt | None = None, known: Settled | None = None,
) -> Machine[Response]:  # fmt: skip
    """One attempt; where it is refused for what the next one, by what is learnt, goes without, up to `left` more.

    `made`: the one that was made before; `known`: what was settled for it.
    """
    if made is None:
        plan, mint = yield from planning(request, route, learned, known)
        answer = AnswerStream((*issues, *plan.issues), plan, mint)
        reading = read(plan, mint, answer, learned.tokens)
    else:
        plan, mint, answer, reading = made.plan, made.mint, made.answer, made.again()
        del made
    try:
        yield from reading
        return answer.response()
    except ProviderError as error:
        if error.status == UNAUTHORISED:
            learned.tokens.drop(route)
        written = refused_generation(error) if plan.asked.tools and not answer.spoke else ""
        refused = None if written or answer.begun or not left else refused_by(error, plan)
        if refused:
            learned.note(route, request.model, refused)
        elif not written:
            raise without_secrets(error, route) from error.__cause__
    if refused:
        del plan, answer, reading
        return (yield from _ask(request, route, learned, issues, left - 1))
    yield from answer.take(salvaged(written, mint("n")))
    return answer.response()
