"""What a caller gives a client, held to what it should be before anything is asked: rows of names, types and advice.

Knows the values that a client takes; asks nobody.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ..codecs import CODECS
from ..errors import UsageError, nearest
from ..fallback import Health, Rules
from ..io.cancel import Cancel
from ..loop import Policy
from ..providers.spec import Provider
from ..types import JsonObject, Sampling, ToolChoice

Choice: TypeAlias = "ToolChoice | str | Mapping[str, Any]"


@runtime_checkable
class _Timed(Protocol):
    """Anything that says how long to wait, be it otherwise for every request."""

    connect: float


KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "raise_on_failure": ((bool,), "True or False"),
    "policy": ((Policy,), "Policy(…)"),
    "sampling": ((Sampling,), "Sampling(…)"),
    "system": ((str,), "a text"),
    "extra": ((Mapping,), "a mapping of the request's further fields"),
    "journal": ((str, os.PathLike), "the path of a file"),
    "on_event": ((Callable,), "a function of one event"),  # type: ignore[dict-item]  # isinstance takes it
    "cancel": ((Cancel,), "Cancel()"),
    "rules": ((Rules,), "Rules(…)"),
    "health": ((Health,), "the health of another client"),
    "timeouts": ((_Timed,), "Timeouts(…)"),
    "api_key": ((str, Mapping), "the key, or a mapping by provider"),
    "base_url": ((str, Mapping), "the address, or a mapping by provider"),
    "environ": ((Mapping,), "a mapping such as os.environ"),
    "routes": ((Sequence,), "Routes in a list"),
    "providers": ((Sequence,), "rows of providers in a list"),
}
"""What is taken under which name, and how it is made; None is taken for all of them, and is what was not given."""
WORDS = ("auto", "none", "required", "any")
TYPES = frozenset({*WORDS, "function", "tool", "custom", "allowed_tools"})
"""The words that APIs have for a choice, and the types of those that they write as an object."""
NO_CHOICE = (
    "tool_choice is {given!r}; give one of {words}, ToolChoice('named', 'a_tool'), or a choice as OpenAI or Anthropic "
    "writes it"
)
NOT_AMONG = "tool_choice names {name!r}, which is not among the tools{hint}; give it in tools=[…]"


def check(**given: Any) -> None:
    """Raises `UsageError` for a value that is not what its name takes."""
    for name, value in given.items():
        kinds, advice = KINDS[name]
        if value is not None and not isinstance(value, kinds):
            raise UsageError(f"{name} is {_shown(value)}; give {advice}")


def check_rows(providers: Any) -> None:
    """Raises `UsageError` for what is no provider's row."""
    for row in providers or ():
        if not isinstance(row, Provider):
            raise UsageError(f"a {type(row).__name__} is no row of a provider; give Provider(…)")


def _shown(value: Any) -> str:
    """The value where it is short and no secret's place, else its type."""
    return repr(value) if isinstance(value, bool | int | float) else f"of type {type(value).__name__}"


def choice_of(given: Choice | None) -> ToolChoice | None:
    """The choice that `given` is.  Raises `UsageError` for a word there is not, and for another thing."""
    if given is None or isinstance(given, ToolChoice):
        return given
    is_word = isinstance(given, str) and given in WORDS
    is_object = isinstance(given, Mapping) and (given.get("type") in TYPES or "function" in given)
    if not is_word and not is_object:
        raise UsageError(NO_CHOICE.format(given=given, words=", ".join(WORDS)))
    return CODECS["openai_chat"].decode_request({"model": "-", "messages": [], "tool_choice": given}).tool_choice


def check_choice(choice: ToolChoice | None, names: Container[str], extra: JsonObject) -> None:
    """Raises `UsageError` for a choice of tools that are not given: no model can call them."""
    if choice is None or "tools" in extra:  # which may be the wire's own
        return
    for name in filter(None, (choice.name, *choice.allowed)):
        if name not in names:
            near = nearest(name, names) if isinstance(names, Sequence) else ()
            hint = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
            raise UsageError(NOT_AMONG.format(name=name, hint=hint))
