"""Lists of a body that come again with every request, with their JSON, which is written once.

Knows lists and how a conversation grows; no wire.
Contract: what stands in such a list is changed by nobody.  JSON is held in pieces, which turns share, and put together
once, where it is sent: a long conversation is a hundred kilobytes, and each copy of it new pages of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from ...conversation.grown import Grown, by_growth
from ...jsontext import to_json
from ...types import Message

Pieces: TypeAlias = tuple[bytes, ...]
"""The inside of a JSON array: one or more items in each, what stands between two pieces is left out."""
MOST_PIECES = 64
"""Of one array; more become one."""


class Written(list[Any]):
    """A list as a wire has it, and the inside of its JSON."""

    __slots__ = ("pieces",)

    def __init__(self, listed: Iterable[Any], pieces: Pieces) -> None:
        super().__init__(listed)
        self.pieces: Pieces = pieces


def written_once(listed: Sequence[Any]) -> Written:
    """A list that is written as it is."""
    return Written(listed, joined_json((), listed))


def write_each(
    messages: Sequence[Message], write: Callable[..., list[dict[str, Any]]], *constants: Any
) -> list[Any]:
    """What `write` makes of each message and the constants, one behind the other; each stands for itself there.

    Of a conversation that grew (`conversation/grown.py`) only what is new is written.
    """
    if type(messages) is not Grown:
        return [wire for message in messages for wire in write(message, *constants)]
    return Written(*_written(messages, write, *constants))


@by_growth
def _written(
    messages: Sequence[Message], start: int, known: tuple[tuple[Any, ...], Pieces] | None,
    write: Callable[..., list[dict[str, Any]]], *constants: Any,
) -> tuple[tuple[Any, ...], Pieces]:  # fmt: skip
    more = [wire for message in messages[start:] for wire in write(message, *constants)]
    before, pieces = known or ((), ())
    return (*before, *more), joined_json(pieces, more)


def joined_json(before: Pieces, more: Sequence[Any]) -> Pieces:
    """The inside of a JSON array, and more of it."""
    if not more:
        return before
    pieces = (*before, to_json(more)[1:-1].encode())
    return pieces if len(pieces) <= MOST_PIECES else (b",".join(pieces),)
