"""What the requests of all wires share: quirks applied, instructions split off, broken calls of the past read.

Knows canonical requests and `Quirks`; no wire.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...conversation.grown import Grown, by_growth, grown, headless
from ...conversation.plain import as_plain, known_plain
from ...types import Issue, JsonObject, Message, Report, Tier, ToolCall, ToolChoice, Verdict
from .arguments import read_arguments
from .body import present
from .media import joined
from .spec import Quirks

_WEAKER = {"named": "required", "required": "auto"}


def with_quirks(body: dict[str, Any], extra: Mapping[str, Any], quirks: Quirks) -> dict[str, Any]:
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


def _never(message: Message) -> bool:
    return False


def instructions(messages: Sequence[Message], stays: Callable[[Message], bool] = _never) -> int:
    """How many instructions a conversation begins with."""
    start = 0
    for message in messages:
        if message.role != "system" or stays(message):
            break
        start += 1
    return start


def split_system(
    messages: Sequence[Message], stays: Callable[[Message], bool] = _never
) -> tuple[Sequence[Message], Sequence[Message]]:
    """The instructions a conversation begins with, and its turns, for wires where instructions stand beside the turns.

    Later instructions become user turns in their place, but for those that `stays` says the wire takes there.
    """
    start = instructions(messages, stays)
    turns = headless(messages, start)
    known_plain(turns, messages)
    if type(turns) is Grown and (found := as_plain(turns)) and found.filled:
        return messages[:start], turns
    return messages[:start], _without_system(turns, stays)


@by_growth
def _without_system(
    messages: Sequence[Message], start: int, known: Sequence[Message] | None, stays: Callable[[Message], bool]
) -> Sequence[Message]:
    made = [m if m.role != "system" or stays(m) else _late(m) for m in messages[start:]]
    return grown(known, made) if type(messages) is Grown else made


def _late(message: Message) -> Message:
    """Instructions as a user turn, marked as what they are."""
    return Message("user", f"<system>\n{joined(message.parts)}\n</system>", cache=message.cache)


def past_call(call_id: str, name: str, raw: Any, metadata: JsonObject) -> ToolCall:
    """A call of the history.  One whose arguments cannot be read keeps its text and is marked as refused."""
    reading = read_arguments(raw, name=name, call_id=call_id)
    text = raw if isinstance(raw, str) and raw else None
    if isinstance(reading, Issue):
        report = Report(tier=Tier.NATIVE, verdict=Verdict.REFUSED, reason=reading.kind.value)
        return ToolCall(id=call_id, name=name, raw=reading.raw, report=report, metadata=metadata)
    return ToolCall(id=call_id, name=name, arguments=reading[0], raw=text, report=reading[1], metadata=metadata)


def results_joined(
    before: tuple[Message, ...], more: tuple[Message, ...], listed: Sequence[Any]
) -> tuple[Message, ...]:
    """What was read of a list that grows, and `more` of it, both `results_merged`."""
    if before and more and before[-1].role == more[0].role == "tool":
        return results_merged((*before, *more))
    return grown(before or None, more) if type(listed) is Grown else more


def results_merged(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Neighbouring messages of results as one: all results that answer one turn stand in one message."""
    merged: list[Message] = []
    run: list[Message] = []
    for message in messages:
        if message.role == "tool":
            run.append(message)
            continue
        if run:
            merged.append(_as_one(run))
            run = []
        merged.append(message)
    if run:
        merged.append(_as_one(run))
    return tuple(merged)


def _as_one(run: Sequence[Message]) -> Message:
    if len(run) == 1:
        return run[0]
    parts = tuple(part for message in run for part in message.parts)
    return Message("tool", parts, cache=run[-1].cache, metadata=run[0].metadata)
