"""Faults of a request that are known before anybody is asked: it is refused at once, as its own API refuses it.

A model cannot make them good: it would be asked, and asked again, for a call that nobody can make.  Knows canonical
requests, and where each API says what; nothing of routes, models or answers.
Contract: raises `CodecError` with the path in the words of the API; what clients in use send is not refused, though the
API's maker would: roles nobody knows are the user's, a choice that demands nothing may stand without tools, and what a
backend may take (a limit of 0) is left to it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from ..errors import CodecError
from ..memo import names_of
from ..records import NamedTuple
from ..types import JsonObject, Request, ToolChoice

MOST_SHOWN = 8
"""Names of tools that a message lists."""
EMPTY = "{field} is empty; send at least one message"
UNDECLARED = "the tool choice names {name!r}, which is not among the tools; declare it, or choose one of: {known}"
TOOLLESS = "the tool choice demands a call, and there are no tools; send tools, or leave the choice out"
NO_LIMIT = "the limit is {given}; give 1 or more, or leave it out"
NO_NUMBER = "the number of answers is {given!r}; give a whole number of 1 or more, or leave it out"


class Places(NamedTuple):
    """Where an API says what: the tool choice, the limit of tokens ("" where a negative one means none), answers."""

    choice: str = "$.tool_choice"
    limit: str = "$.max_tokens"
    several: str = ""


PLACES: Mapping[str, Places] = {
    "openai_chat": Places(several="$.n"),
    "openai_responses": Places(limit="$.max_output_tokens"),
    "ollama_chat": Places(limit=""),
    "ollama_generate": Places(limit=""),
    "gemini": Places(
        choice="$.toolConfig.functionCallingConfig",
        limit="$.generationConfig.maxOutputTokens",
        several="$.generationConfig.candidateCount",
    ),
}
PLAIN = Places()


class Besides(NamedTuple):
    """The tools that a model gets besides its client's; `sure` False: there may be more, whose names nobody knows."""

    names: Collection[str] = ()
    sure: bool = True


def check_turns(body: JsonObject, field: str, api: str) -> None:
    """Raises CodecError where the conversation, which stands in `field`, is empty."""
    if body.get(field) == []:
        raise CodecError(EMPTY.format(field=field), f"$.{field}", api)


def check(request: Request, api: str, besides: Callable[[], Besides]) -> None:
    """Raises CodecError for what nobody can do.  `besides` is asked only where a call is demanded."""
    limit, places = request.sampling.max_tokens, PLACES.get(api, PLAIN)
    if limit is not None and limit < 0 and places.limit:
        raise CodecError(NO_LIMIT.format(given=limit), places.limit, api)
    if places.several and request.extra:
        _check_number(request.extra, places.several, api)
    if request.tool_choice is not None:
        _check_choice(request, request.tool_choice, places.choice, api, besides)


def _check_number(extra: JsonObject, path: str, api: str) -> None:
    given: Any = extra
    for key in path.removeprefix("$.").split("."):
        given = given.get(key) if isinstance(given, Mapping) else None
    if given is not None and (type(given) is not int or given < 1):
        raise CodecError(NO_NUMBER.format(given=given), path, api)


def _check_choice(request: Request, choice: ToolChoice, path: str, api: str, besides: Callable[[], Besides]) -> None:
    wanted = (choice.name,) if choice.mode == "named" else choice.allowed
    if not (wanted or choice.mode == "required") or request.extra.get("tools"):  # tools whose names nobody knows here
        return
    more = besides()
    known = {*names_of(request.tools), *more.names}
    if not more.sure or (known and known.issuperset(wanted)):
        return
    unknown = next((name for name in wanted if name not in known), "")
    if unknown and known:
        listed = ", ".join([*sorted(known)[:MOST_SHOWN], *(["…"] if len(known) > MOST_SHOWN else [])])
        raise CodecError(UNDECLARED.format(name=unknown, known=listed), path, api)
    raise CodecError(TOOLLESS, path, api)
