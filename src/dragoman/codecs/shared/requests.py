"""What the requests of all wires share: quirks applied, tool lists woven, broken calls of the past kept.

Knows canonical requests and `Quirks`; no wire.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from itertools import groupby
from typing import Any

from ...jsontext import to_json
from ...memo import TOOLS, FrozenTools, fields, memoize
from ...types import NOTHING, Issue, JsonObject, Message, Report, Request, Tier, Tool, ToolCall, ToolChoice, Verdict
from .arguments import read_arguments
from .body import items, present
from .media import joined
from .spec import Quirks, WireFields

_CALLING = frozenset({"tools", "tool_choice", "parallel_tool_calls", "toolConfig"})
_WEAKER = {"named": "required", "required": "auto"}


def finished(body: dict[str, Any], extra: Mapping[str, Any], quirks: Quirks) -> dict[str, Any]:
    """`body` with the fields no value models, and with the peer's quirks.  A field of `extra` wins over ours."""
    body |= present(extra)
    for ours, theirs in quirks.rename.items():
        if ours in body:
            body[theirs] = body.pop(ours)
    for field in quirks.omit:
        body.pop(field, None)
    return {**body, **quirks.add}


def nearest_choice(choice: ToolChoice | None, quirks: Quirks) -> ToolChoice | None:
    """`choice`, or the strongest one the peer takes that does not say more; None for the peer's default."""
    while choice is not None and choice.mode not in quirks.choices:
        weaker = _WEAKER.get(choice.mode)
        choice = ToolChoice("required" if weaker == "required" else "auto") if weaker else None
    return choice


def woven(tools: Iterable[dict[str, Any]], foreign: Any) -> list[Any]:
    """The tools of a body: ours in the places marked null in `foreign`, its own where they stood, the rest after."""
    ours = iter(tools)
    placed = [next(ours, None) if one is None else one for one in items(foreign)]
    return [one for one in placed if one is not None] + list(ours)


def offered(tools: tuple[Tool, ...], write: Callable[[Tool], dict[str, Any]], foreign: Any) -> list[Any]:
    """The tools of a body, as `woven` gives them: those that come with every request are written once."""
    return _written_once(tools, write) if foreign is None else woven(map(write, tools), foreign)


class WrittenTools(list[Any]):
    """The tools as a wire has them, and their JSON, which is written once."""

    __slots__ = ("json",)

    def __init__(self, listed: Sequence[Any], json: str) -> None:
        super().__init__(listed)
        self.json = json


Read = Callable[[JsonObject], tuple[tuple[Tool, ...], list[Any] | None]]
"""Reads the tools in the fields of a body, and gives which of them are the wire's own."""


def read_once(*names: str) -> Callable[[Read], Read]:
    """A reader of the tools in the fields `names` of a body, which reads the same content once."""

    def decorate(read: Read) -> Read:
        remembering = memoize(fields(*names), _frozen)(read)

        @wraps(read)
        def reading(body: JsonObject) -> tuple[tuple[Tool, ...], list[Any] | None]:
            tools, foreign = remembering(body)
            return tools, foreign and [dict(one) if isinstance(one, dict) else one for one in foreign]

        return reading

    return decorate


def _frozen(found: tuple[tuple[Tool, ...], Any], *_: Any) -> tuple[tuple[Tool, ...], Any]:
    tools, foreign = found
    return (FrozenTools(tools) if len({tool.name for tool in tools}) == len(tools) else tools), foreign


@memoize(TOOLS)
def _written_once(tools: tuple[Tool, ...], write: Callable[[Tool], dict[str, Any]]) -> list[Any]:
    listed = [write(tool) for tool in tools]
    return WrittenTools(listed, to_json(listed)) if type(tools) is FrozenTools else listed


def foreign_tools(listed: Sequence[Any]) -> list[Any] | None:
    """What `woven` needs: the tools that are not functions in their places; None when all are functions."""
    return list(listed) if any(one is not None for one in listed) else None


def without_tools(request: Request) -> Request:
    """`request` with everything about tools taken off: for models whose tools are told in text."""
    extra = {key: value for key, value in request.extra.items() if key not in _CALLING}
    kept: JsonObject = WireFields(request.extra.api, extra) if isinstance(request.extra, WireFields) else extra
    return replace(request, tools=(), tool_choice=None, parallel=None, extra=kept or NOTHING)


def _never(message: Message) -> bool:
    return False


def split_system(
    messages: Sequence[Message], stays: Callable[[Message], bool] = _never
) -> tuple[list[Message], list[Message]]:
    """The instructions a conversation begins with, and its turns, for wires where instructions stand beside the turns.

    Later instructions become user turns in their place, but for those that `stays` says the wire takes there.
    """
    start = next((i for i, m in enumerate(messages) if m.role != "system" or stays(m)), len(messages))
    return list(messages[:start]), [m if m.role != "system" or stays(m) else _late(m) for m in messages[start:]]


def _late(message: Message) -> Message:
    """Instructions told as a user turn, marked as what they are."""
    return Message("user", f"<system>\n{joined(message.parts)}\n</system>", cache=message.cache)


def past_call(call_id: str, name: str, raw: Any, metadata: JsonObject) -> ToolCall:
    """A call of the history.  One whose arguments cannot be read keeps its text and is marked as refused."""
    reading = read_arguments(raw, name=name, call_id=call_id)
    text = raw if isinstance(raw, str) and raw else None
    if isinstance(reading, Issue):
        report = Report(tier=Tier.NATIVE, verdict=Verdict.REFUSED, reason=reading.kind.value, confidence=0.0)
        return ToolCall(id=call_id, name=name, raw=reading.raw, report=report, metadata=metadata)
    return ToolCall(id=call_id, name=name, arguments=reading[0], raw=text, report=reading[1], metadata=metadata)


def results_merged(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Neighbouring messages of results as one: all results that answer one turn stand in one message."""
    merged: list[Message] = []
    for role, group in groupby(messages, key=lambda message: message.role):
        told = list(group)
        if role == "tool" and len(told) > 1:
            parts = tuple(part for message in told for part in message.parts)
            told = [Message("tool", parts, cache=told[-1].cache, metadata=told[0].metadata)]
        merged += told
    return tuple(merged)
