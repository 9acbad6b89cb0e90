"""One request and its answer: a machine that asks a provider and emits what the model really said.

Repair the history → plan (`plan.py`) → send (`send.py`) → read and decode (`response_reader.py`) → handle each event
(`answer.py`).  Performs nothing (`effects.py`), runs no tool, retries nothing but what a weaker request gets around: a
refusal of tools, of their schemas, of a constraint, or of a demand on the answer (`rejections.py`), and tools that a
backend ignores in silence (`ignored_tools.py`).
Contract: yields events as soon as they are certain, returns the `Response` they fold to; a peer's failure is a
`ProviderError` without secrets; nothing is ever emitted from two attempts, but for calls that a model made once it was
told of the tools which its backend had kept from it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..codecs.shared.spec import Ids
from ..conversation.cache_markers import in_order
from ..conversation.history import repair
from ..conversation.known import known_again
from ..effects import Last, Machine, NewId, Read, Taken
from ..errors import ProviderError, UsageError
from ..jsontext import to_json
from ..memo import TOOLS, FrozenTools, frozen, memoize
from ..providers.authorize import Tokens
from ..providers.route import Route
from ..providers.spec import Tools
from ..schema.definitions import tools as as_tools
from ..schema.narrowing.narrow import narrow
from ..schema.validation import check_schema
from ..types import Issue, IssueKind, JsonObject, Request, Response, Tool
from .answer import AnswerStream, Mint, salvaged
from .capabilities import Capabilities
from .compiled import compiled
from .ignored_tools import heeded
from .plan import Plan
from .question import agreed_to, asked_about, habits
from .rejections import refused_by, refused_generation
from .response_reader import AnswerSource
from .send import send, without_secrets

NONCE_LENGTH = 8
UNAUTHORISED = 401
MOST_REFUSALS = 7
"""How often one request is made weaker: without the schemas, native tools and constraint that the model refuses, with
a weaker tool choice, twice, and with a weaker form of the answer, twice."""


def turn(request: Request, route: Route, learned: Capabilities | None = None) -> Machine[Response]:
    """Ask `route` what `request` asks; yields the events of the answer, returns it whole.

    Raises ProviderError (also after events), and UsageError for a route or request that cannot be asked.
    """
    learned = learned or Capabilities()
    asked = known_again(request.messages)
    filled = asked if learned.reasoning.is_empty() else (yield from learned.reasoning.refill(asked, learned.owner))
    repaired = repair(filled)
    tools, unsound = sound_tools(request.tools)
    request = request.with_model(route.model or request.model, repaired.messages, tools)
    issues = (*route.issues, *unsound, *repaired.issues)

    del filled, repaired, tools, unsound  # the answer may last
    response = yield from heeded(request, route, learned, _Noticing(request, issues, learned).ask)
    if about := asked_about(request):
        learned.confirm(route, request.model, habits(about, response, agreed=agreed_to(request)))
    yield from learned.reasoning.remember(asked, response.message, learned.owner)
    return response


class _Noticing:
    """Asks for a turn; in the answer to the request that it began with stands what had to be mended."""

    __slots__ = ("_issues", "_learned", "_request")

    def __init__(self, request: Request, issues: Sequence[Issue], learned: Capabilities) -> None:
        self._request, self._issues, self._learned = request, issues, learned

    def ask(self, asked: Request, to: Route, told: Sequence[Issue]) -> Machine[Response]:
        """The answer of `to`, in which `told` stands too."""
        noticed = (*self._issues, *told) if asked is self._request else told
        return _ask(asked, to, self._learned, noticed, MOST_REFUSALS)


class _Minting:
    """What mints the ids of one answer."""

    __slots__ = ("_base",)

    def __init__(self, base: str) -> None:
        self._base = base

    def __call__(self, letter: str) -> Ids:
        """Ids of one kind."""
        return f"{self._base}{letter}{{}}".format


def _ask(
    request: Request, route: Route, learned: Capabilities, issues: Sequence[Issue], left: int
) -> Machine[Response]:
    """One attempt; where it is refused for what the next one, by what is learnt, goes without, up to `left` more."""
    base: str = yield NewId("call_")
    nonce: str = (yield NewId())[:NONCE_LENGTH] if route.nonce else ""
    plan, mint = _planned(request, route, learned, nonce), _Minting(base)
    answer = AnswerStream((*issues, *plan.issues), plan, mint)
    try:
        yield from _read(plan, mint, answer, learned.tokens)
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
        del plan, answer
        return (yield from _ask(request, route, learned, issues, left - 1))
    yield from answer.take(salvaged(written, mint("n")))
    return answer.response()


def _planned(request: Request, route: Route, learned: Capabilities, nonce: str) -> Plan:
    """The plan, by what was learnt about the model; tools go in text where it takes no others."""
    refused, mode = learned.refused(route, request.model), route.mode
    text = mode is Tools.TEXT or (mode is Tools.BOTH and refused.tools)
    known = learned.confirmed(route, request.model) if request.tools else frozenset[str]()
    return compiled(request, route, text=text, nonce=nonce if text else "", refused=refused, habits=known)


def _read(plan: Plan, mint: Mint, answer: AnswerStream, tokens: Tokens) -> Machine[None]:
    """The answer, as its bytes come."""
    source = yield from send(plan, mint("n"), tokens)
    take = _Taking(source, answer)
    try:
        while reply := (yield Read(source.patience(), take, source.held() + answer.held())):
            taken = reply if type(reply) is Taken else take(reply)
            if taken.steps:
                yield taken.steps
            if taken.error is not None:
                raise taken.error
            if type(reply) is Last:
                break
            del reply, taken  # a stream may wait for long
        yield from answer.take(source.close())
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


# ── tools as they were given ─────────────────────────────────────────────────


LONGEST_NAME = 256
"""Characters of a tool's name; no API takes more than 128, and what is listened for in text grows with their square."""
LONG_NAME = "the name of the tool {name:.40}… has {size} characters; give it one of at most 64, as every API takes it"


def sound_tools(given: Sequence[Tool]) -> tuple[tuple[Tool, ...], list[Issue]]:
    """The tools by name, each once, and what had to be mended.  Raises UsageError for a name twice or without end.

    A schema that is none is mended, not refused: one odd tool must not kill a request with fifty good ones.
    Tools that come with every request are looked at once, whatever objects they are.
    """
    known = given
    if type(given) is tuple and given:
        known = frozen(given)
    return _sound_tools(known if type(known) is FrozenTools else as_tools(given) or ())


@memoize(TOOLS)
def _sound_tools(given: Sequence[Tool]) -> tuple[tuple[Tool, ...], list[Issue]]:
    sound: list[Tool] = []
    issues: list[Issue] = []
    for tool in in_order(given):
        if len(tool.name) > LONGEST_NAME:
            raise UsageError(LONG_NAME.format(name=tool.name, size=len(tool.name)))
        schema, why = _sound_schema(tool.name, to_json(tool.parameters))
        sound.append(replace(tool, parameters=schema))
        if why:
            message = f"{why}; what is sound of it is used"
            issues.append(Issue(kind=IssueKind.UNSUPPORTED, message=message, name=tool.name))
    return (FrozenTools(sound) if type(given) is FrozenTools else tuple(sound)), issues


@lru_cache(maxsize=1024)
def _sound_schema(name: str, written: str) -> tuple[JsonObject, str]:
    """The schema, sound, and what was wrong with it; the same object for the same text.

    Clients send the same tools with every request, and what is known of a schema is kept by its identity.
    """
    schema: JsonObject = json.loads(written)
    try:
        check_schema(schema, name)
    except UsageError as error:
        return narrow(schema).schema, str(error)
    return schema, ""
