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

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from ..conversation.cache_markers import in_order
from ..conversation.history import repair
from ..conversation.known import known_again
from ..effects import Machine
from ..errors import ProviderError, UsageError
from ..jsontext import to_json
from ..memo import TOOLS, FrozenTools, frozen, memoize
from ..providers.route import Route
from ..schema.definitions import tools as as_tools
from ..schema.narrowing.narrow import narrow
from ..schema.validation import check_schema
from ..types import Issue, IssueKind, JsonObject, Message, Request, Response, Tool
from .answer import AnswerStream, salvaged
from .attempt import Attempt, planning, read
from .capabilities import Capabilities
from .ignored_tools import heeded, watching
from .question import agreed_to, asked_about, habits
from .rejections import refused_by, refused_generation
from .send import without_secrets
from .tool_support import Finding

UNAUTHORISED = 401
MOST_REFUSALS = 7
"""How often one request is made weaker: without the schemas, native tools and constraint that the model refuses, with
a weaker tool choice, twice, and with a weaker form of the answer, twice."""


class First(NamedTuple):
    """A first attempt that was made before its machine: `asked` is the conversation as its client has it.

    `request` and `issues` are what was asked, `finding` what was known of whether its tools are read (None: nobody need
    look), `attempt` what came of it (None: it could not be planned, and is yet to be made).
    """

    asked: Sequence[Message]
    request: Request
    issues: tuple[Issue, ...]
    finding: Finding | None
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
    asked, request, issues, finding, made = begun
    del begun, first  # a stream may be open for long

    noticing = _Noticing(request, issues, learned, made)
    del made
    response = yield from heeded(request, route, learned, noticing.ask, finding)
    if about := asked_about(request):
        learned.confirm(route, request.model, habits(about, response, agreed=agreed_to(request)))
    yield from learned.reasoning.remember(asked, response.message, learned.owner)
    return response


def begin(request: Request, route: Route, learned: Capabilities) -> Machine[First]:
    """A request as it is asked on `route`, before anybody was.  Raises as `turn` does."""
    asked = known_again(request.messages)
    filled = asked if learned.reasoning.is_empty() else (yield from learned.reasoning.refill(asked, learned.owner))
    repaired = repair(filled)
    tools, unsound = sound_tools(request.tools)
    request = request.with_model(route.model or request.model, repaired.messages, tools)
    issues = (*route.issues, *unsound, *repaired.issues)
    return First(asked, request, issues, watching(request, route, learned))


class _Noticing:
    """Asks for a turn; in the answer to the request that it began with stands what had to be mended.

    `made`: the first attempt, where it was made before.
    """

    __slots__ = ("_issues", "_learned", "_made", "_request")

    def __init__(
        self, request: Request, issues: Sequence[Issue], learned: Capabilities, made: Attempt | None
    ) -> None:
        self._request, self._issues, self._learned, self._made = request, issues, learned, made

    def ask(self, asked: Request, to: Route, told: Sequence[Issue]) -> Machine[Response]:
        """The answer of `to`, in which `told` stands too."""
        noticed = (*self._issues, *told) if asked is self._request else tuple(told)
        made, self._made = self._made, None
        return _ask(asked, to, self._learned, noticed, MOST_REFUSALS, made)


def _ask(  # noqa: PLR0917
    request: Request, route: Route, learned: Capabilities, issues: tuple[Issue, ...], left: int,
    made: Attempt | None = None,
) -> Machine[Response]:  # fmt: skip
    """One attempt; where it is refused for what the next one, by what is learnt, goes without, up to `left` more.

    `made`: the one that was made before.
    """
    if made is None:
        plan, mint = yield from planning(request, route, learned)
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
