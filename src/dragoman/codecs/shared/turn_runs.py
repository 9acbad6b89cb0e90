"""Reading a conversation on wires where a turn of the model may come in several messages, which are one again.

Knows how a list of messages grows, and that the model's last turn may go on; nothing of a wire.
Contract: what is read of a list that grew is what is read of it at once; the objects of settled turns stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ...conversation.grown import Grown, by_growth, grown
from ...records import NamedTuple
from ...types import JsonObject, Message
from .body import an_object
from .requests import results_joined
from .results import Pairing

Placed: TypeAlias = tuple[str, JsonObject]
"""A message of a wire, and its path."""
ReadTurns: TypeAlias = Callable[[Sequence[Placed], Pairing], tuple[Message, ...]]


class TurnForm(NamedTuple):
    """The array of messages on a wire: its path, the model's `role` there, and what reads whole turns.

    `read` knows which of the model's messages are one; `merged`: neighbouring results are one message.
    """

    where: str
    role: str
    read: ReadTurns
    merged: bool = False


class _Read(NamedTuple):
    """The messages of the turns that are over, what they called and how many items they are; and all messages."""

    settled: tuple[Message, ...]
    pairing: Pairing
    items: int
    messages: tuple[Message, ...]


def read_turns(listed: Sequence[Any], form: TurnForm) -> tuple[Message, ...]:
    """The messages of an array."""
    return _read(listed, form).messages


@by_growth
def _read(listed: Sequence[Any], start: int, known: _Read | None, form: TurnForm) -> _Read:
    before, pairing, at, _ = known or _Read((), Pairing(), 0, ())
    ones = [(path, an_object(one, path)) for n, one in enumerate(listed[at:], at) for path in (f"{form.where}[{n}]",)]
    if type(listed) is not Grown:
        return _Read((), pairing, 0, form.read(ones, pairing))
    over = len(ones)
    while over and ones[over - 1][1].get("role") == form.role:
        over -= 1
    pairing = pairing.copy()
    made = form.read(ones[:over], pairing)
    settled = results_joined(before, made, listed) if form.merged else grown(before or None, made) if made else before
    last = form.read(ones[over:], pairing.copy())
    return _Read(settled, pairing, at + over, grown(settled or None, last) if last else settled)
