"""Arguments that need no mending, read in one step as `json` itself reads them, and the draft of the call they are of.

Knows tools' shapes; does not know marks, rows' keys, or where in a message a call stands.

Contract: what `given` takes, the readers of arguments would read to the same, and note nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ...lenient.source import Need, Source
from ...records import NamedTuple
from ..judge.candidate import Draft
from .call import Attempt
from .exact import Wanted, object_at, spelt, wanted
from .keys import NO_KEY

Told = TypeVar("Told")
MOST = 1000
"""So many calls of one section or list are read in one look."""


class Given(NamedTuple):
    """The arguments of a tool as a value and as JSON, where they end, and what the tool wants."""

    value: dict[str, Any]
    written: str
    end: int
    takes: Wanted


def given(attempt: Attempt, name: str, at: int) -> Given | None:
    """The arguments at this place of the tool that is spelt so; None where any of it needs more than one step."""
    takes = taker(attempt, name)
    held = object_at(attempt.src.buf, at, takes) if takes is not None else None
    if takes is None or held is None:
        return None
    if not held[0].keys() <= takes.sound:
        for key in held[0]:
            if NO_KEY.search(key) is not None:
                return None
    return Given(*held, takes)


def taker(attempt: Attempt, written: str) -> Wanted | None:
    """What the declared tool wants that is spelt so; None for none."""
    declared = attempt.judge.declared
    return spelt(declared, written) or (wanted(declared[name]) if (name := declared.exact(written)) else None)


def _begin(attempt: Attempt, draft: Draft, written: str, takes: Wanted) -> None:
    """Begin the draft of a call of this tool: one that is spelt in another way is the judge's to name."""
    if takes.tool is not None and takes.tool.name == written:
        attempt.begin_known(draft, written, takes.tool, takes.shape)
    else:
        attempt.begin(draft, written)


def tell(attempt: Attempt, draft: Draft, name: str, told: Given, end: int) -> None:
    """Begin and finish the draft of this call, which ends at `end`."""
    _begin(attempt, draft, name, told.takes)
    draft.pieces.append(told.written)
    draft.read = 1, told.value
    attempt.src.pos = end
    attempt.finish(draft)


class Read(NamedTuple):
    """A call that was read and not begun: its place, its name as it is spelt, where it ends."""

    start: int
    name: str
    given: Given
    end: int


def tell_all(
    attempt: Attempt, head: re.Pattern[str], tail: re.Pattern[str], read: Callable[[list[Read], int], int]
) -> bool:
    """Begin and finish the drafts of all calls between `head` and `tail`, if nothing else stands there.

    `read` adds those that begin at a place, and says where they end, -1 where that is not plain.
    """
    src = attempt.src
    found = head.match(src.buf, src.pos)
    if found is None:
        return False
    calls: list[Read] = []
    end = read(calls, found.end())
    behind = tail.match(src.buf, end) if end >= 0 else None
    if behind is None:
        return False
    for start, name, told, over in calls:
        src.pos = start
        tell(attempt, attempt.new(), name, told, over)
    src.pos = behind.end()
    return True


def is_over(src: Source, pos: int) -> bool:
    """Would no string be taken to go on behind the call's last bracket?"""
    return src.eof if pos == len(src.buf) else src.buf[pos] not in "\"'"


def at_once(read: Need[Told]) -> Told | None:
    """What is read of a text that has ended, where nothing is waited for."""
    try:
        next(read)
    except StopIteration as told:
        return told.value  # type: ignore[no-any-return]
    return None


def one_of(marks: Iterable[str]) -> str:
    """A pattern for the longest of these marks that stands there, in any case; it is held to that one."""
    return f"(?>(?ai:{'|'.join(map(re.escape, sorted(marks, key=len, reverse=True)))}))"
