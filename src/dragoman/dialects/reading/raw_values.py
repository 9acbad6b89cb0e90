"""Where a raw value ends: it has no escape for its own closer, so its marks are counted, and what follows is asked.

Own openers inside a value count depth, so that a value may hold calls of its own dialect; a closer counts only where
the structure follows that must follow.  What looks like the end of a value that is not closed, or closes an opener that
perhaps stands alone, is remembered, and taken only if no true closer comes (judge-rules.md D, E).

Contract: text is poured on while nothing is in doubt, and held from the first doubt on; a rereading from a remembered
place costs what was read since, and is not done without end.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Generator
from enum import Enum, auto
from typing import Protocol

from ...lenient.notation import Broken, Cut
from ...lenient.source import Need, Sink, Source
from ...records import dataclass

MAX_REREAD = 1_000_000
"""So many characters, and a few times as many as were read before, are read again in one message."""
MAX_EARLIER = 100_000
"""Behind so many, and as many as precede, that other readers read for closers that did not come, no value waits for
one: text of a thousand calls that no row of a dozen reads to its end is no answer."""
NEAR = 200
"""How far is looked for a mark that matters, and twice as far each time that none stands there."""
MANY = 16
"""Marks in one value behind which as many as can be are passed at once."""
UNCLEAR = "where an argument ends is not clear"


class Role(Enum):
    """What a mark inside a value is, at its place."""

    TEXT = auto()    # nothing
    OPENS = auto()   # the opener of something like this value, or of something around it
    CLOSES = auto()  # this value's own closer
    ENDS = auto()    # a closer of what is around this value
    NEXT = auto()    # the opener of another argument that may be given here
    WRONG = auto()   # a closing tag that has the argument's name in place of the closer's


@dataclass(frozen=True, slots=True)
class Seen:
    """A mark that was looked at: its `size` and `kind`, whether what must follow it does.

    `sure` says that nothing else could be meant: behind a closer, structure that belongs to this call; of another
    argument, that the call would not be complete without it.
    """

    role: Role
    size: int
    kind: str = ""
    follows: bool = False
    sure: bool = False


class Marks(Protocol):
    """What a notation knows of its marks."""

    marks: tuple[str, ...]
    nothing: re.Pattern[str] | None
    """Text with marks in it that mean nothing, whatever stands open."""
    false: re.Pattern[str] | None
    """Text with closers of the value itself in it, each with something behind it that cannot follow one."""

    def past(
        self, text: str, pos: int, limit: int, depth: dict[str, int], *, known: bool, nests: bool = False
    ) -> int:
        """How far from here no mark stands by which the value may end; what is open behind it is counted in `depth`.

        No more than up to `limit` is looked at.  Where it is `known` how the value ends, if no closer of its own comes,
        others mean nothing; nor, where it `nests` anyhow, do those of its own that close what was opened in it.
        """
        ...

    def look(self, mark: str, balances: Callable[[str], bool]) -> Generator[None, None, Seen]:
        """What the mark that stands here is; nothing is consumed.

        Behind the closer of a kind that something is open of, or nothing depends on (`balances`), nobody need look.
        """
        ...

    def goes_on(self, seen: Seen) -> Generator[None, None, bool]:
        """Does the value go on behind this closer, which stands here and would end it?  Nothing is consumed."""
        ...


@dataclass(frozen=True, slots=True)
class _End:
    """A place where the value may end: so far behind the first doubt."""

    seen: Seen
    ahead: int


class RawValue:
    """One value that is being read.

    `values` are the kinds of marks that neither begin nor end a call, `own` those of the value's own closers.
    `guessed` says that no true closer came, and `ended` by what it ended then.
    """

    guessed: bool

    def __init__(
        self, src: Source, marks: Marks, sink: Sink, values: Container[str], own: Collection[str]
    ) -> None:
        self._src, self._marks, self._sink, self._values, self._own = src, marks, sink, values, own
        self._depth: defaultdict[str, int] = defaultdict(int)
        self._held: list[str] | None = None
        self._first_own: _End | None = None
        self._first_guess: _End | None = None
        self._inside = self._unclear = self._any = False
        self._closer_at = -1
        self._owns = self._looked = 0
        self._reach = NEAR
        self.guessed = False
        self.ended: Seen | None = None

    @property
    def unclosed(self) -> bool:
        """Has it ended without a closer?"""
        return self.guessed and self.ended is not None and self.ended.role in (Role.ENDS, Role.NEXT)

    def read(self) -> Need[None]:
        """Pour the value into the sink; its closer is consumed, what ends it otherwise is not."""
        src, marks = self._src, self._marks
        while True:
            if src.at > src.limit:
                raise Cut
            self._skip(marks)
            mark = yield from src.until(marks.marks, self._pour)
            if not mark:
                self._without_closer()
                return
            src.pos -= len(mark)
            self._looked += 1
            seen = yield from self._marks.look(mark, self._balances)
            if self._is_end(seen) and not (yield from self._marks.goes_on(seen)):
                src.pos += seen.size
                self._end_here(seen)
                return
            self._pour(src.buf[src.pos : src.pos + seen.size])
            src.pos += seen.size

    def _skip(self, marks: Marks) -> None:
        """Pour what is here already and can end nothing: one step where each mark would take fifty."""
        src = self._src
        if marks.nothing is not None and (run := marks.nothing.match(src.buf, src.pos)):
            self._pour(run.group())
            src.pos = run.end()
        if self._looked > MANY:
            self._pass(marks)
        if marks.false is None or any(self._depth[kind] for kind in self._own):
            return
        if run := marks.false.match(src.buf, src.pos):
            self._unclear = True
            self._pour(run.group())
            src.pos = run.end()

    def _pass(self, marks: Marks) -> None:
        """The same of many marks; twice as far each time, since it may be asked at every mark."""
        src, known = self._src, bool(self._first_guess or self._first_own or self._inside)
        nests = self._owns > 1 and bool(self._first_own or self._inside)  # more of them tell nothing (`_choose`)
        end = src.pos
        while True:
            limit = end + self._reach
            found = marks.past(src.buf, end, limit, self._depth, known=known, nests=nests)
            if found > end:
                self._pour(src.buf[end:found])
            if 2 * (found - end) < self._reach:
                self._reach, src.pos = NEAR, found
                return
            self._reach *= 2
            end = found

    @property
    def _is_settled(self) -> bool:
        """Is known what ends the value if no true closer comes?"""
        return bool(self._first_guess or self._first_own or self._inside or self._unclear)

    def _balances(self, kind: str) -> bool:
        return bool(self._depth.get(kind)) or (self._is_settled and kind not in self._own)

    def _pour(self, text: str) -> None:
        if self._held is None:
            self._any = self._any or not text.isspace()
            self._sink(text)
        else:
            self._held.append(text)

    def through(self) -> Sink | None:
        """Where text without marks goes, once there was more than white space, and while no end is in doubt."""
        return self._sink if self._held is None and self._any else None

    def _is_end(self, seen: Seen) -> bool:
        """Is this mark the value's true end?  What only may be is remembered."""
        depth = self._depth
        match seen.role:
            case Role.OPENS:
                depth[seen.kind] += 1
                self._inside = self._inside or not (self._first_guess or seen.kind in self._values)
            case Role.CLOSES if depth[seen.kind]:
                self._owns += seen.follows
                self._may_own(seen)
                depth[seen.kind] -= 1
            case Role.CLOSES:
                self._unclear = self._unclear or not seen.follows
                self._check_single(seen)
                if seen.follows and not seen.sure:
                    self._may_own(seen)
                return seen.follows and seen.sure
            case Role.ENDS | Role.WRONG if depth[seen.kind]:
                depth[seen.kind] -= 1
            case Role.ENDS | Role.WRONG:
                self._may_guess(seen)
            case Role.NEXT:
                self._may_guess(seen)
                depth[seen.kind] += 1
            case _:
                pass
        return False

    def _check_single(self, seen: Seen) -> None:
        """A closer that stands twice is one too many, or the last of the value: two readings."""
        src = self._src
        between = src.at - self._closer_at
        if seen.follows and self._closer_at >= 0 and not src.behind(between).strip():
            raise Broken(UNCLEAR)
        self._closer_at = src.at + seen.size

    def _may_own(self, seen: Seen) -> None:
        """The closer of an opener inside the value, or the value's own, if that opener stands alone."""
        if seen.follows and self._first_own is None and not self._inside:
            self._first_own = self._remember(seen)

    def _may_guess(self, seen: Seen) -> None:
        """What would end the value, if its closer were missing."""
        if seen.follows and not (self._is_settled or any(self._depth[kind] for kind in self._own)):
            self._first_guess = self._remember(seen)

    def _remember(self, seen: Seen) -> _End:
        if self._held is None:
            if self._src.earlier > MAX_EARLIER + self._src.at:
                raise Broken(UNCLEAR)
            self._src.hold()
            self._held = []
        return _End(seen, sum(map(len, self._held)))

    def _end_here(self, seen: Seen) -> None:
        self.ended = seen
        if self._held is not None:
            self._src.release()
            self._sink("".join(self._held))

    # ── no true closer ───────────────────────────────────────────────────────

    def _without_closer(self) -> None:
        """The text has ended: the value ends at what was remembered, if that leaves one reading."""
        src, text = self._src, "".join(self._held or ())
        src.reread += len(text)
        end = self._choose()
        if src.reread > MAX_REREAD + 4 * src.at:
            raise Broken(UNCLEAR)
        src.rewind()
        self._sink(text[: end.ahead])
        self.guessed, self.ended = True, end.seen
        src.pos += end.ahead + (end.seen.size if end.seen.role in (Role.CLOSES, Role.WRONG) else 0)

    def _choose(self) -> _End:
        own, guess = self._first_own, self._first_guess
        if own is None and guess is None:
            raise Cut
        if own is None or (guess is not None and guess.seen.sure and guess.ahead < own.ahead):
            assert guess is not None
            if not (self._any or guess.ahead) and guess.seen.role is not Role.WRONG:
                raise Broken("an argument has neither a value nor a closer")
            return guess
        if self._owns > 1 or (guess is not None and guess.seen.role in (Role.NEXT, Role.WRONG)):
            raise Broken(UNCLEAR)
        return own


__all__ = ["UNCLEAR", "RawValue", "Role", "Seen"]
