"""Turns in the order a wire demands: instructions in front, the user first, nothing blank, speakers in turn.

Knows messages and which order is required of them; nothing of wires, tools or dialects.
Contract of `in_turns`: as that of `history.py`, whose conversations it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..records import replace
from ..types import Issue, IssueKind, Message, Part, Text
from .grown import by_growth, changed, grown, same
from .history import Changed, Repaired, begins_turn
from .plain import Plain, as_plain
from .requirements import Turns

BRIDGE = "Noted."
"""The assistant's words between results and the user where a wire wants some."""
START = "(The conversation begins here.)"
"""The user's first words where a wire wants some and the history has lost them."""


def are_in_turns(found: Plain | None, turns: Turns) -> bool:
    """Is a conversation, of which so much is known, in turns that follow each other as they must?"""
    return turns is Turns.FREE or (turns is Turns.FILLED and found is not None and found.filled and found.opened)


def in_turns(messages: Sequence[Message], turns: Turns) -> Repaired:
    """`messages`, in order (`repair`), with turns that follow each other as they must."""
    if not messages or are_in_turns(as_plain(messages), turns):
        return Repaired(same(messages))
    made, done = _in_turns(messages, turns)
    return Repaired(same(messages) if made is None else made, done)


@by_growth
def _in_turns(messages: Sequence[Message], start: int, known: Changed | None, turns: Turns) -> Changed:
    if known is not None:
        return _turns_behind(messages, start, known, turns)
    ordered = _instructions_in_front(list(messages))
    if turns is Turns.BRIDGED:
        ordered = list(_bridged(ordered))
    if turns in (Turns.FILLED, Turns.ALTERNATING):
        ordered = _begun([_without_blank_texts(message) for message in ordered if not _is_blank(message)])
    if turns is Turns.ALTERNATING:
        ordered = list(_merged(ordered))
    if ordered == list(messages):
        return None, ()
    message = f"turns were put in the order this wire demands ({turns.value})"
    return grown(None, ordered), (Issue(kind=IssueKind.HISTORY, message=message),)


_USER = Message("user", "what was said before")


def _turns_behind(messages: Sequence[Message], start: int, known: Changed, turns: Turns) -> Changed:
    """`known` and the turns that follow it, put in order as behind the words of a user."""
    before, found = known
    last = messages[start - 1 : start] if before is None else before[-1:]
    if not begins_turn(messages, start) or not last or last[0].role in ("assistant", "system"):
        return _in_turns((*messages,), turns)
    behind, issues = _in_turns((_USER, *messages[start:]), turns)
    if behind is not None and behind[0] is not _USER:
        return _in_turns((*messages,), turns)
    made = messages[start:] if behind is None else behind[1:]
    return changed(messages, start, before, made), found or issues


def _is_blank(message: Message) -> bool:
    return message.role != "system" and all(map(_is_blank_text, message.parts))


def _is_blank_text(part: Part) -> bool:
    return isinstance(part, Text) and not part.text.strip()


def _without_blank_texts(message: Message) -> Message:
    """Claude refuses a text of nothing also beside calls and other texts."""
    parts = [part for part in message.parts if not _is_blank_text(part) or getattr(part, "metadata", None)]
    return message.with_parts(parts) if parts and len(parts) < len(message.parts) else message


def _instructions_in_front(messages: list[Message]) -> list[Message]:
    """Instructions that come after the conversation has begun are the user's words: wires take them only in front."""
    start = next((at for at, message in enumerate(messages) if message.role != "system"), len(messages))
    return [*messages[:start], *(_late(m) if m.role == "system" and not m.metadata else m for m in messages[start:])]


def _late(message: Message) -> Message:
    return Message("user", f"<system>\n{message.text}\n</system>", cache=message.cache)


def without_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """`messages` with the instructions in front of the user's first words: some templates know no system message."""
    head = [message for message in messages if message.role == "system"]
    rest = [message for message in messages if message.role != "system"]
    if not head:
        return tuple(messages)
    text = "\n\n".join(message.text for message in head)
    if not rest or rest[0].role != "user":
        return (Message("user", text), *rest)
    first = rest[0]
    return (first.with_parts((Text(f"{text}\n\n"), *first.parts)), *rest[1:])


def _bridged(messages: Iterable[Message]) -> Iterator[Message]:
    last: Message | None = None
    for message in messages:
        if last is not None and last.role == "tool" and message.role == "user":
            yield Message("assistant", BRIDGE)
        yield message
        last = message


def _begun(messages: list[Message]) -> list[Message]:
    start = next((at for at, message in enumerate(messages) if message.role != "system"), None)
    if start is None:  # instructions are all there is: they are what is asked
        return [replace(message, role="user") for message in messages] or [Message("user", START)]
    if messages[start].role == "user":
        return messages
    return [*messages[:start], Message("user", START), *messages[start:]]


def _merged(messages: Iterable[Message]) -> Iterator[Message]:
    """Neighbours of one role as one message; results stay apart from the user's words after them."""
    last: Message | None = None
    for message in messages:
        if last is not None and last.role == message.role and last.role in ("user", "assistant"):
            metadata = last.metadata or message.metadata
            last = Message(last.role, (*last.parts, *message.parts), cache=message.cache, metadata=metadata)
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last
