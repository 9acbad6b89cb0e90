"""Conversations as wires demand them: every call answered by exactly one result, right after it.

Clients shorten, interrupt and reorder histories; most APIs answer an unpaired call or result with a 400.  Knows
messages; nothing of wires, tools or dialects.
Contract of `repair`: deterministic, idempotent, and reported: what is moved, added or left out is an `Issue`; a
conversation that is in order comes back as it is.
Source of the rules: seeds.md A11 (ChatCLI's result pairing).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .errors import ErrorCode
from .types import Issue, IssueKind, Message, ToolCall, ToolResult

MISSING = (
    "No result of this call was recorded: it may have been interrupted or never run. "
    "Do not assume that it had an effect."
)


@dataclass(frozen=True, slots=True)
class Repaired:
    """The conversation in order, and what had to be done to it."""

    messages: tuple[Message, ...]
    issues: tuple[Issue, ...] = ()


def repair(messages: Sequence[Message]) -> Repaired:
    """`messages` with every result next to its call, missing results added as errors, orphan results left out."""
    told: list[Message] = []
    issues: list[Issue] = []
    for head, block in _blocks(messages):
        fixed, found = _settle(head, block)
        told += fixed
        issues += found
    return Repaired(tuple(told), tuple(issues))


def _blocks(messages: Sequence[Message]) -> Iterable[tuple[Message | None, list[Message]]]:
    """Each assistant message with what follows it up to the next one; first what stands before any."""
    head: Message | None = None
    block: list[Message] = []
    for message in messages:
        if message.role == "assistant":
            yield head, block
            head, block = message, []
        else:
            block.append(message)
    yield head, block


def _settle(head: Message | None, block: list[Message]) -> tuple[list[Message], list[Issue]]:
    calls = head.calls if head is not None else ()
    results = [r for m in block for r in m.results]
    start = [head] if head is not None else []
    if not calls and not results:
        return [*start, *block], []
    answers, orphans = _pair(calls, results)
    issues = [*map(_orphan, orphans), *(_missing(c) for c, a in zip(calls, answers, strict=True) if a is None)]
    if not issues and len(block[0].results) == len(calls):
        return [*start, _named(block[0], calls, answers), *block[1:]], []
    told = [_answer(c, a) for c, a in zip(calls, answers, strict=True)]
    rest = [m for m in map(_without_results, block) if m.parts]
    moved = Issue(kind=IssueKind.HISTORY, message="results were moved next to the calls they answer")
    return [*start, *([Message("tool", told)] if told else []), *rest], issues or [moved]


FITS: tuple[Callable[[ToolCall, ToolResult], bool], ...] = (
    lambda call, result: bool(call.id) and result.call_id == call.id,
    lambda call, result: not result.call_id and result.name == call.name,
    lambda call, result: not result.call_id and not result.name,
)
"""What makes a result the answer to a call, best first: its id, else its name, else its place."""


def _pair(calls: Sequence[ToolCall], results: list[ToolResult]) -> tuple[list[ToolResult | None], list[ToolResult]]:
    """For each call its result, in order; and the results that answer none.  An id may stand more than once."""
    left = list(results)
    answers: list[ToolResult | None] = [None] * len(calls)
    for fits in FITS:
        for at, call in enumerate(calls):
            found = None if answers[at] else next((i for i, r in enumerate(left) if fits(call, r)), None)
            if found is not None:
                answers[at] = left.pop(found)
    return answers, left


def _answer(call: ToolCall, result: ToolResult | None) -> ToolResult:
    """The result with its call's id and name; an error that says so where there is none."""
    if result is None:
        code = ErrorCode.MISSING_RESULT
        return ToolResult(call_id=call.id, name=call.name, content=MISSING, is_error=True, error_code=code)
    if result.call_id == call.id and result.name:
        return result
    return ToolResult(
        call_id=call.id,
        name=result.name or call.name,
        content=result.content,
        is_error=result.is_error,
        error_code=result.error_code,
        metadata=result.metadata,
    )


def _named(message: Message, calls: Sequence[ToolCall], answers: Sequence[ToolResult | None]) -> Message:
    """The message with names and ids filled in, its results in the order they stood in."""
    if all(r.name and r.call_id for r in message.results):
        return message
    told = {id(a): _answer(c, a) for c, a in zip(calls, answers, strict=True) if a is not None}
    parts = [told.get(id(p), p) if isinstance(p, ToolResult) else p for p in message.parts]
    return Message(message.role, parts, cache=message.cache, metadata=message.metadata)


def _without_results(message: Message) -> Message:
    if not message.results:
        return message
    parts = [p for p in message.parts if not isinstance(p, ToolResult)]
    role = "user" if message.role == "tool" else message.role
    return Message(role, parts, cache=message.cache, metadata=message.metadata)


def _orphan(result: ToolResult) -> Issue:
    message = f"a result answers no call (id {result.call_id!r}) and was left out; send the call it answers before it"
    return Issue(
        kind=IssueKind.HISTORY, message=message, raw=result.text, name=result.name, call_id=result.call_id
    )


def _missing(call: ToolCall) -> Issue:
    message = f"the call of {call.name!r} has no result; an error result was put in its place"
    return Issue(kind=IssueKind.HISTORY, message=message, name=call.name, call_id=call.id)
