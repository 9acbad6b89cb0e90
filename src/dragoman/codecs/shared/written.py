"""Lists of a body that come again with every request, with their JSON, which is written once.

Knows lists, how a conversation grows, and what it mostly is; no wire.
Contract: what stands in such a list is changed by nobody.  JSON is held in pieces, which turns share, and put together
once, where it is sent: a long conversation is a hundred kilobytes, and each copy of it new pages of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from ...conversation.grown import Grown, by_growth
from ...conversation.plain import as_plain
from ...jsontext import to_bytes
from ...types import Message, Text, ToolCall, ToolResult

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


class Forms(Protocol):
    """How a wire has what nearly all messages are: one text, results, and calls behind a text.

    objects  do arguments stand there as objects?  Then all numbers of such messages stand in them; else there are none.
    """

    objects: bool

    def words(self, role: str, text: str) -> dict[str, Any]:
        """A message that is one text."""

    def result(self, result: ToolResult) -> dict[str, Any]:
        """A result, which holds texts alone."""

    def answer(self, text: str, calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
        """Calls behind a text, "" for none."""


Write: TypeAlias = Callable[..., list[dict[str, Any]]]


def _nothing(messages: Sequence[Message]) -> int:
    return 0


def wires_of(messages: Sequence[Message], forms: Forms, write: Callable[[Message], list[Any]]) -> list[Any]:
    """What `write` makes of the messages of a plain conversation (`as_plain`), in fewer steps where `forms` say how."""
    words, result, answer = forms.words, forms.result, forms.answer
    wires: list[Any] = []
    add = wires.append
    for message in messages:
        role, parts = message.role, message.parts
        first: Any = parts[0] if parts else None
        if type(first) is Text and len(parts) == 1:
            add(words(role, first.text))
        elif role == "tool":
            for part in parts:
                add(result(part))  # type: ignore[arg-type]
        elif role == "assistant" and _calls_end(parts):
            text, calls = (first.text, parts[1:]) if type(first) is Text else ("", parts)
            wires += answer(text, calls)  # type: ignore[arg-type]
        else:
            wires += write(message)
    return wires


def _calls_end(parts: Sequence[Any]) -> bool:
    """Are all parts calls, but for a text before them?"""
    if not parts or type(parts[-1]) is not ToolCall:
        return False
    return len(parts) < 3 or all(type(part) is ToolCall for part in parts[1:])


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

    def __init__(
        self, field: str, forms: Forms, write: Callable[[Message], list[Any]],
        beside: Callable[[Sequence[Message]], int] = _nothing,
    ) -> None:  # fmt: skip
        self.field, self.beside, self._forms, self._write = field, beside, forms, write

    def more(self, known: Pieces | None, turns: Sequence[Message], start: int) -> Pieces:
        """The JSON of all."""
        wires = wires_of(turns, self._forms, self._write)
        return joined_json(known or (), wires, arguments_in(turns) if self._forms.objects else ())

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
    wires = wires_of(more, way, lambda message: write(message, *constants))
    return wires, arguments_in(more) if way.objects else ()


def arguments_in(messages: Iterable[Message]) -> list[Any]:
    """The arguments of all calls."""
    return [
        part.arguments
        for message in messages
        if message.role == "assistant"
        for part in message.parts
        if type(part) is ToolCall
    ]


@by_growth
def _written(
    messages: Sequence[Message], start: int, known: tuple[Run, Pieces] | None,
    write: Write, forms: Callable[..., Forms], *constants: Any,
) -> tuple[Run, Pieces]:  # fmt: skip
    more, numbers = _wires(messages, start, write, forms, constants)
    before, pieces = known or (None, ())
    return Run(before, more), joined_json(pieces, more, numbers)


def joined_json(before: Pieces, more: Sequence[Any], numbers: Any = ...) -> Pieces:
    """The inside of a JSON array, and more of it; `numbers` is where all numbers of that stand, where it is given."""
    if not more:
        return before
    made = to_bytes(more, more if numbers is ... else numbers)
    return behind_pieces(before, made[1:-1] if len(made) < SHORT else memoryview(made)[1:-1])


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
