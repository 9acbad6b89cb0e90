"""The model's answer as it stands in the conversation: ids that are its own, wrong calls in their places.

Knows responses and what was noticed in them.  Contract: no two calls of the message share an id; a native call that was
refused stands there, without arguments where they cannot be read (broken JSON in a history makes servers refuse every
turn after it); text that was meant as a call stands there as it was written; nothing else changes, and an answer
without any of that is the very message the provider gave.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import is_

from ..codecs.shared.arguments import read_arguments
from ..dialects.writing.history import AS_WRITTEN
from ..events import Assembler, CallStarted, Event
from ..types import (
    NOTHING,
    Issue,
    IssueKind,
    JsonObject,
    Message,
    Part,
    Report,
    Response,
    Text,
    Tier,
    ToolCall,
    Verdict,
)
from .call_errors import is_meant

WRITTEN = {AS_WRITTEN: True}
BROKEN = Report(tier=Tier.NATIVE, verdict=Verdict.REFUSED, reason="it was refused")


@dataclass(slots=True)
class EventLog:
    """The events of one answer so far: its calls, in order, also those that were refused in the end."""

    assembler: Assembler = field(default_factory=Assembler)
    order: dict[str, int] = field(default_factory=dict)

    def add(self, event: Event) -> None:
        """One event of the answer."""
        self.assembler.add(event)
        if isinstance(event, CallStarted):
            self.order.setdefault(event.id, len(self.order))


@dataclass(frozen=True, slots=True)
class Transcript:
    """The message, and the issues about its native calls by their ids; `in_text` are those about calls in text."""

    message: Message
    native: Mapping[str, Issue]
    in_text: tuple[Issue, ...]


def transcribe(response: Response, order: Mapping[str, int]) -> Transcript:
    """`response` as it stands in the conversation; `order` is in which its calls began."""
    wrong = [issue for issue in response.issues if is_meant(issue)]
    made = {call.id for call in response.calls}
    native = {issue.call_id: issue for issue in wrong if _is_native(issue, made)}
    in_text = tuple(issue for issue in wrong if native.get(issue.call_id) is not issue)
    parts = list(response.message.parts)
    for id_, issue in native.items():
        call = ToolCall(id=id_, name=issue.name, arguments=_readable(issue), report=BROKEN)
        _insert(parts, call, order.get(id_, len(order)), order)
    for issue in in_text:
        _put_back(parts, issue)
    return Transcript(_with_parts(response.message, _distinct(parts)), native, in_text)


def as_written(message: Message) -> Message:
    """`message`, refused: its text stays as it is in every dialect's history."""
    return message.with_parts(
        replace(part, metadata={**part.metadata, **WRITTEN}) if isinstance(part, Text) else part
        for part in message.parts
    )


def _with_parts(message: Message, parts: Sequence[Part]) -> Message:
    same = len(parts) == len(message.parts) and all(map(is_, parts, message.parts))
    return message if same else message.with_parts(parts)


def _is_native(issue: Issue, made: Container[str]) -> bool:
    """Is this about a call of the wire's, which was not made in the end?"""
    return issue.span is None and bool(issue.call_id and issue.name) and issue.call_id not in made


def _readable(issue: Issue) -> JsonObject:
    """The arguments of a refused call where they are one JSON object all the same, else none."""
    read = read_arguments(issue.raw, cut=issue.kind is IssueKind.TRUNCATED)
    return NOTHING if isinstance(read, Issue) else read[0]


def _insert(parts: list[Part], call: ToolCall, turn: int, order: Mapping[str, int]) -> None:
    """Put a call before the first that began after it."""
    later = (n for n, p in enumerate(parts) if isinstance(p, ToolCall) and order.get(p.id, -1) > turn)
    parts.insert(next(later, len(parts)), call)


def _put_back(parts: list[Part], issue: Issue) -> None:
    """Text that was meant as a call, at the end of what was said before the calls.

    Only where no call stood before it: a message holds its text before its calls.  Text that was cut is left out where
    calls follow, since it would run into them; the correction quotes it.
    """
    at = next((n for n, part in enumerate(parts) if isinstance(part, ToolCall)), len(parts))
    if not issue.raw or issue.span is None or (at < len(parts) and not _is_before(issue, issue.span[0], parts[at])):
        return
    last = parts[at - 1] if at else None
    if isinstance(last, Text) and not last.metadata.keys() - {AS_WRITTEN}:
        parts[at - 1] = Text(f"{last.text}{issue.raw}", metadata=WRITTEN)
    else:
        parts.insert(at, Text(issue.raw, metadata=WRITTEN))


def _is_before(issue: Issue, start: int, call: Part) -> bool:
    span = call.report.span if isinstance(call, ToolCall) and call.report is not None else None
    return issue.kind is not IssueKind.TRUNCATED and span is not None and start < span[0]


def _distinct(parts: Sequence[Part]) -> list[Part]:
    """The parts, each call with an id of its own."""
    taken = {part.id for part in parts if isinstance(part, ToolCall)}
    seen: set[str] = set()
    distinct: list[Part] = []
    for part in parts:
        if isinstance(part, ToolCall) and (part.id in seen or not part.id):
            base, count = part.id or "call", 2
            while (fresh := f"{base}_{count}") in taken:
                count += 1
            taken.add(fresh)
            part = replace(part, id=fresh)
        if isinstance(part, ToolCall):
            seen.add(part.id)
        distinct.append(part)
    return distinct
