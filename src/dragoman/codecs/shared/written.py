"""Lists of a body that come again with every request, with their JSON, which is written once.

Knows lists, how a conversation grows, and what it mostly is; no wire.
Contract: what stands in such a list is changed by nobody.  JSON is held in pieces, which turns share, and put together
once, where it is sent: a long conversation is a hundred kilobytes, and each copy of it new pages of memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, TypeAlias

from ...conversation.grown import Grown, by_growth
from ...conversation.plain import as_plain
from ...jsontext import to_bytes
from ...records import NamedTuple
from ...types import Message, Text, ToolCall

Piece: TypeAlias = bytes | memoryview
Pieces: TypeAlias = tuple[Piece, ...]
"""The inside of a JSON array: one or more items in each, what stands between two pieces is left out."""
MOST_PIECES = 64
"""Of one array; more become one."""


class Written(list[Any]):
    """A list as a wire has it, and the inside of its JSON."""

    __slots__ = ("pieces",)

    def __init__(self, listed: Iterable[Any], pieces: Pieces) -> None:
        super().__init__(listed)
        self.pieces: Pieces = pieces


def with_commas(pieces: Pieces) -> list[Piece]:
    """The pieces, and what stands between them."""
    made: list[Piece] = [b","] * (2 * len(pieces) - 1)
    made[::2] = pieces
    return made


def written_once(listed: Sequence[Any]) -> Written:
    """A list that is written as it is."""
    return Written(listed, joined_json((), listed))


class Forms(ABC):
    """How a wire has what is said in a plain conversation (`as_plain`).

    numbers  what of it was written that may hold numbers: arguments, where they stand there as objects
    """

    numbers: Sequence[Any] = ()

    def fresh(self) -> Forms:
        """The same with nothing written; itself, where nothing that it writes holds numbers."""
        return self

    def things(self, messages: Sequence[Message], *, single: bool) -> Sequence[Any]:
        """The messages as what stands for itself there: results do, of which a message holds several unless all calls
        are `single`."""
        if single:
            return messages
        apart = [message.parts if message.role == "tool" else (message,) for message in messages]
        return [*chain.from_iterable(apart)]

    @abstractmethod
    def form(self, thing: Any) -> Any:
        """What one of `things` is there, and what is no message and no part as a dictionary (`as_dict`)."""


def text_and_calls(parts: Sequence[Any]) -> tuple[str, Sequence[ToolCall]] | None:
    """The calls behind a text, "" for none; None where a message is anything else."""
    last = parts[-1] if parts else None
    if type(last) is not ToolCall:
        return None
    first = parts[0]
    if len(parts) == 2 and type(first) is Text:
        return first.text, (last,)  # as nearly all
    text, calls = (first.text, parts[1:]) if type(first) is Text else ("", parts)
    return (text, calls) if len(calls) == 1 or {*map(type, calls)} == {ToolCall} else None


Write: TypeAlias = Callable[..., list[dict[str, Any]]]


def _nothing(messages: Sequence[Message]) -> int:
    return 0


def wires_of(messages: Sequence[Message], forms: Forms) -> list[Any]:
    """What stands on a wire for the messages of a plain conversation."""
    return [*map(forms.form, forms.things(messages, single=False))]


def write_each(messages: Sequence[Message], write: Write, *constants: Any, forms: Callable[..., Forms]) -> list[Any]:
    """What `write` makes of each message and the constants, one behind the other; each stands for itself there.

    Of a conversation that grew (`conversation/grown.py`) only what is new is written.  `forms` of the constants say the
    same of messages as nearly all are.
    """
    if type(messages) is not Grown:
        return _wires(messages, 0, write, forms, constants)[0]
    run, pieces = _written(messages, write, forms, *constants)
    return Written(run.listed(), pieces)


class EachWriter:
    """Writes turns that each stand for themselves (`TurnWriter`): what `write_each` writes, as JSON alone."""

    filled = False

    def __init__(self, field: str, forms: Forms, beside: Callable[[Sequence[Message]], int] = _nothing) -> None:
        self.field, self.beside, self._forms = field, beside, forms

    def more(self, known: Pieces | None, turns: Sequence[Message], start: int, *, single: bool) -> Pieces:
        """The JSON of all."""
        forms = self._forms.fresh()
        return joined_json(known or (), forms.things(turns, single=single), forms)

    def pieces(self, known: Pieces, size: int, head: int, marks: Sequence[int]) -> Pieces | None:
        """It, where no markers are asked for: these wires have none."""
        return None if marks else known


class Run(NamedTuple):
    """Items behind others.  A turn adds two or three to hundreds: a copy of all would be most of what it costs."""

    before: Run | None
    items: Sequence[Any]

    def listed(self) -> list[Any]:
        """All of them in order."""
        runs: list[Sequence[Any]] = []
        at: Run | None = self
        while at is not None:
            runs.append(at.items)
            at = at.before
        return [one for items in reversed(runs) for one in items]


NO_RUN = Run(None, ())


def _wires(
    messages: Sequence[Message], start: int, write: Write, forms: Callable[..., Forms], constants: tuple[Any, ...]
) -> tuple[list[Any], Any]:
    """What is written from `start` on, and where all numbers of it stand."""
    more = messages[start:]
    if as_plain(messages) is None:
        wires = [wire for message in more for wire in write(message, *constants)]
        return wires, wires
    way = forms(*constants)
    return wires_of(more, way), way.numbers


@by_growth
def _written(
    messages: Sequence[Message], start: int, known: tuple[Run, Pieces] | None,
    write: Write, forms: Callable[..., Forms], *constants: Any,
) -> tuple[Run, Pieces]:  # fmt: skip
    more, numbers = _wires(messages, start, write, forms, constants)
    before, pieces = known or (None, ())
    return Run(before, more), joined_json(pieces, more, numbers=numbers)


def joined_json(before: Pieces, more: Sequence[Any], by: Forms | None = None, numbers: Any = ...) -> Pieces:
    """The inside of a JSON array, and more of it, `by` forms where that is no JSON yet; `numbers` is where all numbers
    of it stand, where it is given."""
    if not more:
        return before
    written = to_bytes(more, numbers) if by is None else to_bytes(more, by.numbers, by.form)
    return behind_pieces(before, written[1:-1] if len(written) < SHORT else memoryview(written)[1:-1])


def behind_pieces(before: Pieces, made: Piece) -> Pieces:
    """The inside of a JSON array, and `made` behind it, more of the same."""
    if not made:
        return before
    if before and len(before[-1]) < SHORT:
        return (*before[:-1], b",".join((before[-1], made)))
    pieces = (*before, made)
    return pieces if len(pieces) <= MOST_PIECES else (b",".join(pieces),)


SHORT = 8 * 1024
"""Bytes of a piece up to which more is put behind it: a turn is not much longer than what it says anew."""
