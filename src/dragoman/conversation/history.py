"""Conversations as wires demand them: every call answered by exactly one result, right after it; ids.

Clients shorten, interrupt and reorder histories; most APIs answer an unpaired call or result with a 400.  Knows
messages and what is required of them; nothing of wires, tools or dialects.
Contract of `repair`, `identify` and `one_by_one`: deterministic, idempotent, and reported: what is moved,
added, renamed or left out is an `Issue`; a conversation that is in order comes back as it is, and one that grows keeps
its beginning.
Source of the rules: seeds.md A11 (ChatCLI's result pairing); requirements.py cites what each wire refuses.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import TypeAlias

from ..errors import ErrorCode
from ..records import dataclass, replace
from ..types import NOTHING, Issue, IssueKind, Message, Part, Text, ToolCall, ToolResult
from .grown import by_growth, changed, same
from .naming import PLAIN_IDS, respell
from .plain import as_plain
from .requirements import WireRequirements

MISSING = (
    "No result of this call was recorded: it may have been interrupted or never run. "
    "Do not assume that it had an effect."
)


ORPHAN = "[A result of {name}, whose call is not in this conversation:]\n"


ONE_AGAIN = Issue(kind=IssueKind.HISTORY, message="a turn that stood in several messages is one again")


@dataclass(frozen=True, slots=True)
class Repaired:
    """The conversation in order, and what had to be done to it."""

    messages: tuple[Message, ...]
    issues: tuple[Issue, ...] = ()


def repair(messages: Sequence[Message]) -> Repaired:
    """`messages` with every result next to its call, missing results added as errors, orphan results in words."""
    if as_plain(messages) is not None:
        return Repaired(messages if isinstance(messages, tuple) else (*messages,))
    made, done = _repaired(messages)
    return Repaired(same(messages) if made is None else made, done)


_TOLD, _TEXTS = frozenset({"system", "user"}), frozenset({Text})
Changed: TypeAlias = tuple[tuple[Message, ...] | None, tuple[Issue, ...]]
"""What messages became, None for what they were, and what was done."""


@by_growth
def _repaired(messages: Sequence[Message], start: int, known: Changed | None) -> Changed:
    if known is not None and not begins_turn(messages, start):
        return _repaired((*messages,))
    if not start and _is_told(messages):
        return None, ()  # as most conversations begin
    repaired: list[Message] = []
    issues: list[Issue] = []
    said = _without_blanks(messages[start:])
    whole = _whole_turns(said)
    if len(whole) < len(said):
        issues += [] if known is not None and ONE_AGAIN in known[1] else [ONE_AGAIN]
    for head, block in _blocks(whole):
        fixed, found = _in_pairs(head, block)
        repaired += fixed
        issues += found
    before, earlier = known or (None, ())
    return changed(messages, start, before, repaired), (*earlier, *issues)


def _is_told(messages: Sequence[Message]) -> bool:
    """Is all of it texts that the model is told?"""
    kinds = [type(part) for message in messages for part in message.parts]
    return _TEXTS.issuperset(kinds) and _TOLD.issuperset([message.role for message in messages])


def begins_turn(messages: Sequence[Message], at: int) -> bool:
    """Does a turn of the model begin here, which what stands before it has no part in?"""
    return messages[at].role == "assistant" != messages[at - 1].role if at < len(messages) else True


def _without_blanks(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages without texts of nothing in turns that say something else.

    Clients put pieces of a stream together and send an empty one back beside calls, or as a message of its own (seen:
    OpenAI's and Google's SDKs); Responses then wants reasoning to be followed by what it led to.
    """
    if not any(message.role == "assistant" and any(map(_says_nothing, message.parts)) for message in messages):
        return messages
    made = [_without_blank_parts(message) if message.role == "assistant" else message for message in messages]
    roles = ["", *(message.role for message in made), ""]
    beside = ("assistant" in around for around in zip(roles, roles[2:], strict=False))
    return [one for one, run in zip(made, beside, strict=True) if not (run and _is_blank_turn(one))]


def _says_nothing(part: Part) -> bool:
    return isinstance(part, Text) and not part.text and not part.metadata


def _is_blank_turn(message: Message) -> bool:
    return message.role == "assistant" and bool(message.parts) and all(map(_says_nothing, message.parts))


def _without_blank_parts(message: Message) -> Message:
    parts = [part for part in message.parts if not _says_nothing(part)]
    return message.with_parts(parts) if parts and len(parts) < len(message.parts) else message


def _whole_turns(messages: Sequence[Message]) -> list[Message]:
    """The messages, where a call that is answered only behind later words or calls of the same turn stands with them.

    Clients send a turn back as one message per call (seen: Strands Agents); the results follow the last of them.
    """
    runs = [(own, list(run)) for own, run in groupby(messages, lambda message: message.role == "assistant")]
    whole: list[Message] = []
    for (own, run), (_, behind) in pairwise([*runs, (False, [])]):
        whole += _joined(run, {r.call_id for m in behind for r in m.results}) if own and len(run) > 1 else run
    return whole


def _joined(run: Sequence[Message], answered: set[str]) -> Iterator[Message]:
    """A run of assistant messages, one from the first whose call is answered behind them all."""
    last = {call.id: at for at, message in enumerate(run) for call in message.calls}  # an id used again is the later's
    first = min((at for call_id, at in last.items() if call_id in answered), default=len(run) - 1)
    yield from run[:first]
    if first == len(run) - 1:
        yield run[first]
    else:
        parts = [part for message in run[first:] for part in message.parts]
        yield Message("assistant", parts, cache=any(m.cache for m in run[first:]), metadata=run[first].metadata)


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


def _in_pairs(head: Message | None, block: list[Message]) -> tuple[list[Message], list[Issue]]:
    calls = head.calls if head is not None else ()
    results = [r for m in block for r in m.results]
    start = [head] if head is not None else []
    if (not calls and not results) or _are_paired(calls, results, block):
        return [*start, *block], []
    answers, orphans = _pair(calls, results)
    issues = [*map(_orphan, orphans), *(_missing(c) for c, a in zip(calls, answers, strict=True) if a is None)]
    if not issues and len(block[0].results) == len(calls):
        return [*start, _named(block[0], calls, answers), *block[1:]], []
    paired = [_answer(c, a) for c, a in zip(calls, answers, strict=True)]
    moved = Issue(kind=IssueKind.HISTORY, message="results were moved next to the calls they answer")
    together = [Message("tool", paired)] if paired else []
    rest = filter(_has_parts, (_without_results(message, orphans) for message in block))
    return [*start, *together, *rest], issues or [moved]


def _are_paired(calls: Sequence[ToolCall], results: Sequence[ToolResult], block: Sequence[Message]) -> bool:
    """Does each call have its result, by id and name, in the message behind it?"""
    return (
        len(calls) == len(results) == len(block[0].results)
        and [call.id for call in calls] == [result.call_id for result in results if result.name]
        and len({call.id for call in calls if call.id}) == len(calls)
    )


def _has_parts(message: Message) -> bool:
    return bool(message.parts)


FITS: tuple[tuple[Callable[[ToolCall], str | None], Callable[[ToolResult], str | None]], ...] = (
    (lambda call: call.id or None, lambda result: result.call_id or None),
    (lambda call: PLAIN_IDS.plain(call.id) or None, lambda result: PLAIN_IDS.plain(result.call_id) or None),
    (lambda call: call.name, lambda result: (result.name or None) if not result.call_id else None),
    (lambda _: "", lambda result: "" if not (result.call_id or result.name) else None),
)
"""Ways for a result to answer a call, best first: by id, by one of which a client changed the signs that its own API
forbids (Kimi's `functions.look:0`), by name, by place.

Each as a call's key and a result's; None where there is none.
"""


def _pair(calls: Sequence[ToolCall], results: list[ToolResult]) -> tuple[list[ToolResult | None], list[ToolResult]]:
    """For each call its result, in order; and the results that answer none.  An id may stand more than once."""
    left = dict(enumerate(results))
    answers: list[ToolResult | None] = [None] * len(calls)
    for wanted, offered in FITS:
        found: defaultdict[str | None, deque[int]] = defaultdict(deque)
        for index, result in left.items():
            found[offered(result)].append(index)
        found.pop(None, None)
        for at, call in enumerate(calls):
            fitting = found.get(wanted(call)) if found and answers[at] is None else None
            if fitting:
                answers[at] = left.pop(fitting.popleft())
    return answers, list(left.values())


def _answer(call: ToolCall, result: ToolResult | None) -> ToolResult:
    """The result with its call's id and name; an error that says so where there is none."""
    if result is None:
        code = ErrorCode.MISSING_RESULT
        return ToolResult(call_id=call.id, name=call.name, content=MISSING, is_error=True, error_code=code)
    if result.call_id == call.id and result.name:
        return result
    return replace(result, call_id=call.id, name=result.name or call.name)


def _named(message: Message, calls: Sequence[ToolCall], answers: Sequence[ToolResult | None]) -> Message:
    """The message with names and ids filled in, its results in the order they stood in."""
    if all(a is not None and a.name and a.call_id == c.id for c, a in zip(calls, answers, strict=True)):
        return message
    named = {id(a): _answer(c, a) for c, a in zip(calls, answers, strict=True) if a is not None}
    parts = [named.get(id(p), p) if isinstance(p, ToolResult) else p for p in message.parts]
    return message.with_parts(parts)


def _without_results(message: Message, orphans: Sequence[ToolResult]) -> Message:
    """The message without its results, and those that answer no call as the user's words."""
    if not message.results:
        return message
    lost = {*map(id, orphans)}
    parts: list[Part] = []
    for part in message.parts:
        if not isinstance(part, ToolResult):
            parts.append(part)
        elif id(part) in lost and part.content:
            parts += [Text(ORPHAN.format(name=part.name or "a tool")), *part.content]
    role = "user" if message.role == "tool" else message.role
    return Message(role, parts, cache=message.cache, metadata=message.metadata)


def _orphan(result: ToolResult) -> Issue:
    message = (
        f"a result answers no call (id {result.call_id!r}) and was sent as the user's words; "
        "send the call it answers before it"
    )
    return Issue(kind=IssueKind.HISTORY, message=message, raw=result.text, name=result.name, call_id=result.call_id)


def _missing(call: ToolCall) -> Issue:
    message = f"the call of {call.name!r} has no result; an error result was put in its place"
    return Issue(kind=IssueKind.HISTORY, message=message, name=call.name, call_id=call.id)


# ── ids ──────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Identified:
    """The conversation with ids the wire takes, the way back (the wire's id → the caller's), and what was done."""

    messages: tuple[Message, ...]
    back: Mapping[str, str] = NOTHING
    issues: tuple[Issue, ...] = ()


def identify(messages: Sequence[Message], requirements: WireRequirements) -> Identified:
    """`messages`, in order (`repair`), with an id for every call that `requirements` allow.

    A call without one gets one; of two that may not be alike the later is renumbered; what is allowed stays.
    """
    if _ids_are_fine(messages, requirements) is not None:
        return Identified(same(messages))
    named = list(_counted(messages) if requirements.counted else _numbered(messages, unique=requirements.unique))
    spelled = respell((new for _, new in named), requirements.ids, readable=False)
    ids = [spelled.spelled(new) for _, new in named]
    changed = [(old, new) for (old, _), new in zip(named, ids, strict=True) if old != new]
    if not changed:
        return Identified(same(messages))
    written = f"{len(changed)} call ids are written another way for this wire; results keep to their calls"
    renamed = tuple(_renamed(messages, iter(ids)))
    issue = Issue(kind=IssueKind.HISTORY, message=written)
    return Identified(renamed, {new: old for old, new in reversed(changed)}, (issue,))


@by_growth
def _ids_are_fine(
    messages: Sequence[Message], start: int, known: frozenset[str] | None, requirements: WireRequirements
) -> frozenset[str] | None:
    """The ids of the calls where each has one of its own that the wire takes; None where that is not so."""
    ids = [call.id for message in messages[start:] for call in message.calls]
    if (start and known is None) or (requirements.counted and (ids or known)):
        return None
    every = frozenset(ids).union(known or ())
    fine = all(ids) and len(every) == len(ids) + len(known or ()) and all(map(requirements.ids.allows, ids))
    return every if fine else None


def _numbered(messages: Sequence[Message], *, unique: bool) -> Iterator[tuple[str, str]]:
    """For each call its id and the one it should have, before the wire's spelling.

    An id depends on what stands before its call and on nothing after it: a prompt that grows keeps its prefix.
    """
    seen: set[str] = set()
    for message in messages:
        if not message.calls:
            continue
        here: set[str] = set()
        for place, call in enumerate(message.calls):
            base = call.id or f"call_{len(seen)}_{place}"
            new, turn = base, 1
            while new in here or (new in seen and (unique or not call.id)):
                turn += 1
                new = f"{base}_{turn}"
            here.add(new)
            yield call.id, new
        seen |= here


def _counted(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """For each call its id and the one Kimi would have given it."""
    calls = (call for message in messages for call in message.calls)
    return ((call.id, f"functions.{call.name}:{index}") for index, call in enumerate(calls))


def _renamed(messages: Sequence[Message], ids: Iterator[str]) -> Iterator[Message]:
    """The messages with new ids for their calls, in order, and for the results of those."""
    answers: dict[int, list[str]] = {}
    for at, message in enumerate(messages):
        if message.calls:
            new = [next(ids) for _ in message.calls]
            answers = _answered(message.calls, new, [r for m in _until_next(messages, at) for r in m.results])
            left = iter(new)
            yield message.with_parts(
                [replace(p, id=next(left)) if isinstance(p, ToolCall) else p for p in message.parts]
            )
        elif message.results:
            parts = [_answering(p, answers.get(id(p))) if isinstance(p, ToolResult) else p for p in message.parts]
            yield message.with_parts(parts)
        else:
            yield message


def _answered(calls: Sequence[ToolCall], new: Sequence[str], results: list[ToolResult]) -> dict[int, list[str]]:
    """The new ids that each result answers; one object may stand in several places."""
    answers: dict[int, list[str]] = {}
    for call_id, result in zip(new, _pair(calls, results)[0], strict=True):
        if result is not None:
            answers.setdefault(id(result), []).append(call_id)
    return answers


def _until_next(messages: Sequence[Message], at: int) -> Iterator[Message]:
    for message in messages[at + 1 :]:
        if message.role == "assistant":
            return
        yield message


def _answering(result: ToolResult, ids: list[str] | None) -> ToolResult:
    return replace(result, call_id=ids.pop(0)) if ids else result


# ── one call at a time ───────────────────────────────────────────────────────


def one_by_one(messages: Sequence[Message]) -> Repaired:
    """`messages`, in order (`repair`), in which no turn makes more than one call: the others follow, one turn each.

    Chat templates of families that were taught to make one call refuse or drop the rest (Llama 3, gpt-oss).
    """
    singles: list[Message] = []
    split = 0
    for at, message in enumerate(messages):
        if len(message.calls) > 1:
            split += 1
            singles += _apart(message, messages[at + 1])
        elif not (at and len(messages[at - 1].calls) > 1):
            singles.append(message)
        elif rest := [part for part in message.parts if not isinstance(part, ToolResult)]:
            singles.append(message.with_parts(rest))
    if not split:
        return Repaired(same(messages))
    issue = Issue(kind=IssueKind.HISTORY, message=f"{split} turns with several calls are told as turns with one call")
    return Repaired(tuple(singles), (issue,))


def _apart(message: Message, answers: Message) -> Iterator[Message]:
    """Each call of a turn with its result; the turn's other parts stand before the first."""
    others = [part for part in message.parts if not isinstance(part, ToolCall)]
    results = _pair(message.calls, list(answers.results))[0]
    for call, result in zip(message.calls, results, strict=True):
        yield message.with_parts([*others, call])
        if result is not None:
            yield Message("tool", [result])
        others = []
