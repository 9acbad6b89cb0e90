"""One attempt at an answer: what is sent to a place by a plan, and what is made of the bytes that come back.

Knows plans, how they are sent and what handles events; nothing of refusals, nor of what follows from an answer.
Contract of `attempted`: the same is asked as by a machine that emits what comes, and nothing is emitted; what came is
in the attempt, for a machine that goes on from there (`again`).
"""

from __future__ import annotations

from typing import Any

from ..codecs.shared.spec import Ids
from ..effects import Last, Machine, NewId, Read, Taken
from ..errors import ProviderError, without_frames
from ..events import Event
from ..providers.authorize import Tokens
from ..providers.route import Route
from ..providers.spec import Tools
from ..types import Issue, Request, Response
from .answer import AnswerStream, Mint
from .capabilities import Capabilities
from .compiled import compiled
from .plan import Plan
from .response_reader import AnswerSource
from .send import send
from .settled import Settled

NONCE_LENGTH = 8
NEW_CALL = NewId("call_")


class Attempt:
    """An attempt at a whole answer that was made before anybody listened, with the error where it failed.

    `steps` are what was made of it; none where the answer goes out as it came.
    """

    __slots__ = ("answer", "error", "mint", "plan", "steps")

    def __init__(self, plan: Plan, mint: Mint, answer: AnswerStream) -> None:
        self.plan, self.mint, self.answer = plan, mint, answer
        self.steps: list[Event] = []
        self.error: ProviderError | None = None

    @property
    def response(self) -> Response | None:
        """The answer; None where it failed."""
        return self.answer.response() if self.error is None else None

    def again(self) -> Machine[None]:
        """All that came of it, once, as if it came now."""
        steps, self.steps = self.steps or self.answer.as_it_is(), []
        error, self.error = self.error, None  # what is raised must not be held by whoever raises it
        if steps:
            yield steps
        if error is not None:
            raise error


def attempted(
    request: Request, route: Route, learned: Capabilities, issues: tuple[Issue, ...], known: Settled
) -> Machine[Attempt | None]:
    """Make one, unheard; None where there is no plan by which to ask."""
    try:
        plan, mint = yield from planning(request, route, learned, known)
        attempt = Attempt(plan, mint, AnswerStream((*issues, *plan.issues), plan, mint))
    except ProviderError:
        return None
    try:
        yield from read(plan, mint, attempt.answer, learned.tokens, attempt.steps)
    except ProviderError as error:
        without_frames(error)  # it is kept
        attempt.error = error
    return attempt


def planning(
    request: Request, route: Route, learned: Capabilities, known: Settled | None
) -> Machine[tuple[Plan, Mint]]:
    """The plan of an attempt, and what mints the ids in its answer; `known` is what was settled for it."""
    base: str = yield NEW_CALL
    nonce: str = (yield NewId())[:NONCE_LENGTH] if route.nonce else ""
    plan = known.plan.planned(request) if known is not None and known.plan is not None else None

    return plan or _planned(request, route, learned, nonce, known), _Minting(base)


class _Minting:
    """What mints the ids of one answer."""

    __slots__ = ("_base",)

    def __init__(self, base: str) -> None:
        self._base = base

    def __call__(self, letter: str) -> Ids:
        """Ids of one kind."""
        return f"{self._base}{letter}{{}}".format


def _planned(request: Request, route: Route, learned: Capabilities, nonce: str, known: Settled | None) -> Plan:
    """The plan, by what was learnt about the model; tools go in text where it takes no others."""
    refused, mode = learned.refused(route, request.model), route.mode
    text = mode is Tools.TEXT or (mode is Tools.BOTH and refused.tools)
    habits = learned.confirmed(route, request.model) if request.tools else frozenset[str]()
    keep = None if known is None else known.keep
    nonce = nonce if text else ""
    return compiled(request, route, text=text, nonce=nonce, refused=refused, habits=habits, keep=keep)


def read(
    plan: Plan, mint: Mint, answer: AnswerStream, tokens: Tokens, unheard: list[Event] | None = None
) -> Machine[None]:
    """The answer, as its bytes come; yields its events, or keeps them in `unheard`."""
    source = yield from send(plan, mint("n"), tokens)
    take = _Taking(source, answer)
    try:
        while reply := (yield Read(source.patience(), take, source.held() + answer.held())):
            taken = reply if type(reply) is Taken else take(reply)
            if taken.steps:
                if unheard is None:
                    yield taken.steps
                else:
                    unheard += taken.steps
            if taken.error is not None:
                raise taken.error
            if type(reply) is Last:
                break
            del reply, taken  # a stream may wait for long
        came = source.close()
        if unheard is not None and answer.passes(came):
            return
        steps, error = answer.take_all(came)
        if unheard is not None:
            unheard += steps
        elif steps:
            yield steps
        if error is not None:
            raise error
    finally:
        source.release()


class _Taking:
    """Handles the bytes of an answer where they are read."""

    __slots__ = ("_answer", "_source")

    def __init__(self, source: AnswerSource, answer: AnswerStream) -> None:
        self._source, self._answer = source, answer

    def __call__(self, data: bytes) -> Taken:
        """What comes of them."""
        events, error = self._answer.take_all(self._source.feed(data))
        return Taken(events, error, self._source.is_open)

    def more(self, data: bytes, kind: Any) -> str | Taken:
        """The same; where that is one more event of this kind of delta, or none, its text alone."""
        found = self._source.more(data)
        if found is None:
            return self(data)
        came, text = found
        if not text:
            return text
        made = self._answer.more(text, came, kind)
        return made if isinstance(made, str) else Taken(made, None, self._source.is_open)
