"""What is settled of a turn before anything is said in it: its tools, what is known of the model, and its plan.

Of all that a turn decides before it asks, only what hangs on the conversation is new each time.  Knows requests,
routes, what was learnt of models, and compiled plans; nothing of what is said.
Contract: the same as without.  What is found again was made for tools, options and a route that are written alike, when
no more had been learnt; it is held by its tools, and goes with them.  Threads may share it: all but the plan is there
from the beginning, and each plan that is put there is the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ..conversation.cache_markers import in_order
from ..errors import UsageError
from ..jsontext import to_json
from ..memo import TOOLS, FrozenTools, frozen, memoize
from ..providers.route import Route
from ..schema.definitions import tools as as_tools
from ..schema.narrowing.narrow import narrow
from ..schema.validation import check_schema
from ..types import Issue, IssueKind, JsonObject, Request, Tool
from .capabilities import Capabilities
from .compiled import Compiled, Shelf, options_of, shelf_of
from .ignored_tools import watching
from .tool_support import Finding


class Settled:
    """What is settled for all requests of one route, model, tools and options.

    learnt   by which version of what was learnt;  route  whose identity is a part of the key, and must stay its own
    model, tools  as they are asked;  issues: what had to be mended of the tools
    finding  what was found out of whether the tools are read (None: nobody need look)
    plan     its plan, once it was compiled
    """

    __slots__ = ("finding", "issues", "learnt", "model", "plan", "route", "tools")

    def __init__(self, request: Request, tools: Sequence[Tool], route: Route, learned: Capabilities) -> None:
        self.route, self.learnt, self.model = route, learned.version(), route.model or request.model
        self.tools, unsound = _sound(tools)
        self.issues: tuple[Issue, ...] = (*route.issues, *unsound)
        self.finding: Finding | None = watching(request.with_model(self.model, (), self.tools), route, learned)
        self.plan: Compiled | None = None

    def keep(self, plan: Compiled) -> None:
        """This is its plan."""
        self.plan = plan


def settled(request: Request, route: Route, learned: Capabilities) -> Settled:
    """What is settled for `request`.  Raises UsageError where its tools, or its route, are none.

    Tools that come with every request are looked at once, whatever objects they are.
    """
    tools: Sequence[Tool] = request.tools
    if type(tools) is tuple and tools:
        tools = frozen(tools)
    learnt = learned.version()
    key = None if learnt is None else options_of(request, route, route.model or request.model)
    shelf: Shelf[Settled] | None = None if key is None else shelf_of(tools, Settled)
    found = None if shelf is None else shelf.get(key)
    if found is None or found.learnt != learnt:
        found = Settled(request, tools, route, learned)
        if shelf is not None:
            shelf.put(key, found)
    return found


# ── tools as they were given ─────────────────────────────────────────────────


LONGEST_NAME = 256
"""Characters of a tool's name; no API takes more than 128, and what is listened for in text grows with their square."""
LONG_NAME = "the name of the tool {name:.40}… has {size} characters; give it one of at most 64, as every API takes it"


def sound_tools(given: Sequence[Tool]) -> tuple[tuple[Tool, ...], list[Issue]]:
    """The tools by name, each once, and what had to be mended.  Raises UsageError for a name twice or without end.

    A schema that is none is mended, not refused: one odd tool must not kill a request with fifty good ones.
    """
    return _sound(frozen(given) if type(given) is tuple and given else given)


def _sound(tools: Sequence[Tool]) -> tuple[tuple[Tool, ...], list[Issue]]:
    return _sound_tools(tools if type(tools) is FrozenTools else as_tools(tools) or ())


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
