"""What one model wrote and no other reads: signatures and encrypted reasoning, left out where they would be refused.

Knows canonical values; nothing of wires, nor of what becomes of such state in the hands of another API's clients.
Contract: words and calls stay, and an issue tells what did not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from typing import TypeAlias

from ..codecs.shared.spec import WireFields
from ..conversation.grown import by_growth, changed, same
from ..records import replace
from ..types import NOTHING, Issue, IssueKind, Message, Part, Reasoning, ToolCall

Changed: TypeAlias = tuple[tuple[Message, ...] | None, tuple[Issue, ...]]
"""What messages became, None for what they were, and what had to be left out."""
STATE = frozenset({"signature", "redacted", "thought_signature", "item", "reasoning_details"})
"""Fields of reasoning that one model wrote and no other reads."""


def of_another(
    messages: Sequence[Message], origin: str, apis: Collection[str]
) -> tuple[tuple[Message, ...], tuple[Issue, ...]]:
    """`messages` without the fields of calls and reasoning that another model than that of `origin` wrote.

    `apis` are the wires whose fields that model may have written where nobody says whose they are.
    """
    made, issues = _without_others(messages, origin, apis)
    return (same(messages) if made is None else made), issues


@by_growth
def _without_others(
    messages: Sequence[Message], start: int, known: Changed | None, origin: str, apis: Collection[str]
) -> Changed:
    before, issues = known or (None, ())
    made: list[Message] = []
    for at, message in enumerate(messages[start:], start):
        if message.bare:
            made.append(message)
            continue
        parts = [_without_fields(part, origin, apis) for part in message.parts]
        if any(new is not old for new, old in zip(parts, message.parts, strict=True)):
            message = message.with_parts(parts)
            why = "another model's signatures and encrypted reasoning stay at home"
            issues = issues or (Issue(kind=IssueKind.UNSUPPORTED, message=why, path=f"$.messages[{at}].reasoning"),)
        made.append(message)
    return changed(messages, start, before, made), issues


def with_dummies(messages: Sequence[Message], field: str, word: str) -> tuple[Message, ...]:
    """`messages`, where in the turn under way each one's first call bears `word` in `field` if it has nothing there.

    Earlier turns are not checked.
    """
    last = max((at for at, message in enumerate(messages) if message.role == "user"), default=-1)
    return tuple(_signed(message, field, word) if at > last else message for at, message in enumerate(messages))


def _signed(message: Message, field: str, word: str) -> Message:
    first = message.calls[0] if message.calls else None
    if first is None or first.metadata.get(field):
        return message
    given = first.metadata
    api, origin = (given.api, given.origin) if isinstance(given, WireFields) else ("", "")
    signed = replace(first, metadata=WireFields(api, {**given, field: word}, origin))
    return message.with_parts(signed if part is first else part for part in message.parts)


REFUSED = "state:"
"""Begins the refused demands that are about one part's state."""


def state_of(messages: Iterable[Message]) -> frozenset[str]:
    """The demands, one for each part with state of its model among `messages`: what a refusal of state is about."""
    parts = (part for message in messages for part in message.parts if isinstance(part, Reasoning | ToolCall))
    return frozenset(_named(part) for part in parts if part.metadata)


def _named(part: Reasoning | ToolCall) -> str:
    told = repr(sorted(part.metadata.items())).encode("utf-8", "surrogatepass")
    return REFUSED + blake2b(told, digest_size=12).hexdigest()


def without_refused(
    messages: Sequence[Message], refused: Collection[str]
) -> tuple[tuple[Message, ...], tuple[Issue, ...]]:
    """`messages` without the state that was refused: calls stay, bare; reasoning that bore it goes."""
    known = frozenset(one for one in refused if one.startswith(REFUSED))
    if not known:
        return same(messages), ()
    made: list[Message] = []
    issues: list[Issue] = []
    for at, message in enumerate(messages):
        hit = [part for part in message.parts if isinstance(part, Reasoning | ToolCall) and _named(part) in known]
        if hit:
            message = message.with_parts(
                replace(part, metadata=NOTHING) if isinstance(part, ToolCall) and part in hit else part
                for part in message.parts
                if not isinstance(part, Reasoning) or part not in hit
            )
            issues.append(Issue(kind=IssueKind.UNSUPPORTED, message=REFUSED_STATE, path=f"$.messages[{at}].reasoning"))
        made.append(message)
    return tuple(made), tuple(issues[:1])


REFUSED_STATE = "this model refuses the signatures or encrypted reasoning of an earlier turn; they were left out"


def _without_fields(part: Part, origin: str, apis: Collection[str]) -> Part:
    if not isinstance(part, Reasoning | ToolCall) or not isinstance(part.metadata, WireFields) or not part.metadata:
        return part
    fields = part.metadata
    if fields.origin:
        return part if fields.origin == origin else replace(part, metadata=NOTHING)
    stray = isinstance(part, Reasoning) and fields.api not in apis and not STATE.isdisjoint(fields)
    return replace(part, metadata=NOTHING) if stray else part
