"""What many texts end or begin with: their marks, with white space between them that may differ.

Texts are cut into pieces (`marks.pieces`); the longest common run of them is found from one side, piece by piece, by
the vote of all, so that one odd sample does not hide what the others share.  Where only a number or an id differs, the
run goes on behind a hole.  Knows nothing of calls.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from ..marks import pieces

HOLE = "\0"
"""Stands for a piece that differs from text to text: an id, an index."""
AGREED = 0.75
"""Share of the texts that must go on alike."""
ID = re.compile(r"[\w-]*\d[\w-]*")
STOPS = frozenset(".!?…。！？")
"""Marks a sentence ends with: what stands before a call is not part of its opener."""


@dataclass(frozen=True, slots=True)
class Run:
    """Common marks in reading order; `spaces[i]` is the white space seen before mark i, the last one behind it."""

    marks: tuple[str, ...] = ()
    spaces: tuple[tuple[str, ...], ...] = ((),)
    holes: tuple[tuple[str, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.marks)

    def __getitem__(self, part: slice) -> Run:
        start, stop, _ = part.indices(len(self.marks))
        before = sum(m == HOLE for m in self.marks[:start])
        inside = sum(m == HOLE for m in self.marks[start:stop])
        holes = self.holes[before : before + inside]
        return Run(self.marks[start:stop], self.spaces[start : max(stop, start) + 1], holes)

    @property
    def text(self) -> str:
        """The run as it is mostly written, without the white space around it."""
        pairs = zip(self.marks, self.spaces, strict=False)
        return "".join((usual(s) if i else "") + m for i, (m, s) in enumerate(pairs))

    @property
    def breaks(self) -> list[int]:
        """Between which marks the white space differs: places where the run may be cut."""
        return [i for i in range(1, len(self.marks)) if len(set(self.spaces[i])) > 1]

    @property
    def lead(self) -> str:
        """The white space it mostly begins with."""
        return usual(self.spaces[0])

    @property
    def trail(self) -> str:
        """The white space it mostly ends with."""
        return usual(self.spaces[-1])


def usual(spaces: Sequence[str]) -> str:
    """The most frequent of these, the longer of two."""
    counted = Counter(spaces)
    return max(counted, key=lambda s: (counted[s], len(s))) if counted else ""


def beginning(texts: Sequence[str], *, holes: bool = False, agreed: float = AGREED) -> Run:
    """What the texts begin with."""
    return _run([_cut(t) for t in texts], holes=holes, agreed=agreed)


def ending(texts: Sequence[str], *, holes: bool = False) -> Run:
    """What the texts end with, without the end of a sentence before it."""
    reversed_ = [([*reversed(marks)], [*reversed(spaces)]) for marks, spaces in map(_cut, texts)]
    run = _run(reversed_, holes=holes, agreed=AGREED)
    return _without_sentence(_reversed(run))


def alike(first: Run, second: Run, *, at_end: bool) -> Run:
    """What two runs have in common at their beginning, or at their end."""
    if at_end:
        return _reversed(alike(_reversed(first), _reversed(second), at_end=False))
    size = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first.marks, second.marks, strict=False)))
    a, b = first[:size], second[:size]
    spaces = tuple(x + y for x, y in zip(a.spaces, b.spaces, strict=False))
    return Run(a.marks, spaces, tuple(x + y for x, y in zip(a.holes, b.holes, strict=True)))


def _reversed(run: Run) -> Run:
    return Run(run.marks[::-1], run.spaces[::-1], run.holes[::-1])


def _without_sentence(run: Run) -> Run:
    for i, mark in enumerate(run.marks):
        if mark in STOPS and any(run.spaces[i + 1]):
            return _without_sentence(run[i + 1 :])
    return run


def _cut(text: str) -> tuple[list[str], list[str]]:
    """Marks, and the white space before each and behind the last."""
    marks, spaces = list[str](), [""]
    for piece in pieces(text):
        if piece.isspace():
            spaces[-1] += piece
        else:
            marks.append(piece)
            spaces.append("")
    return marks, spaces


def _run(texts: Sequence[tuple[list[str], list[str]]], *, holes: bool, agreed: float) -> Run:
    alive, at = list(texts), 0
    marks, spaces, filled = list[str](), list[tuple[str, ...]](), list[tuple[str, ...]]()
    while alive:
        spaces.append(tuple(s[at] for _, s in alive))
        ended = sum(len(m) == at for m, _ in alive)
        following = Counter(m[at] for m, _ in alive if len(m) > at)
        if not following or ended > len(texts) // 8:
            break
        mark, votes = following.most_common(1)[0]
        if holes and marks and len(following) > 1 and all(ID.fullmatch(m) for m in following):
            alive = [t for t in alive if len(t[0]) > at]
            filled.append(tuple(m[at] for m, _ in alive))
            marks.append(HOLE)
        elif votes >= max(agreed * len(texts), min(2, len(texts))) and not (votes == 1 and len(texts) > 1):
            alive = [t for t in alive if len(t[0]) > at and t[0][at] == mark]
            marks.append(mark)
        else:
            break
        at += 1
    while marks and marks[-1] == HOLE:
        marks.pop(), filled.pop(), spaces.pop()
    return Run(tuple(marks), tuple(spaces[: len(marks) + 1]) or ((),), tuple(filled))
