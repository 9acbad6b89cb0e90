"""Trying what a marker may open: the dialects in order.

Between the scanner (`parser.py`), which found the marker, and the teller (`emitter.py`), which is told the outcome.
What could not be read is told by `damage.py`.  Knows no dialect by name.
"""

from __future__ import annotations

import re
import sys

from ...events import Event
from ...late import late
from ...lenient.notation import Broken, Cut
from ...lenient.source import NO_LIMIT, Need, Source
from ...types import IssueKind, Stop
from ..judge.boxes import ARGUMENT, LIVE, MAX_SPAN, Standing, closes, lasts
from ..judge.candidate import Draft
from ..judge.evidence import mark_of
from ..judge.judge import Judge, unreadable
from ..judge.quotation import KEPT
from ..reading.call import Attempt, Mismatch
from ..reading.compiled import Row
from ..reading.strays import Strays
from ..reading.table import READERS, read_clean
from ..spec import AT_FIRST, ElementArgs, JsonCall, Place, TaggedArgs
from .budget import TRIED, Patience
from .common_marks import FENCE_SIGNS
from .emitter import Teller
from .lookahead import misnamed, unlike_all, untried
from .markers import Table
from .overlooked import NAME_KEYS
from .pending import Awaits, Pending, box_of, written_as
from .reread import Reread

FENCE_LOOK = 24
"""So much of a fence tells that it holds no object."""
MAX_VAIN = 20_000
"""So many characters that are quoted, and an eighth of what precedes, are read for calls to tell of, and hold none."""
FREE = 400
"""So few do not count where a row finds another was meant: with more text it may not be tried (`lookahead.py`)."""
OPENED, EVERY_OPENED = 200, 256
"""Behind so many strong openers of no call, and one more for so many characters, no quoted call is looked for."""
MAX_QUOTED = 64 * 1024
"""One that is quoted is read so far."""
MAX_NOTED = 250
"""So many calls that are quoted are told of; they stand in the text, whether or not anybody says so."""
MAX_TRIED = 30_000
"""So many are read by rows that prove little, for nothing, before an object is tried only where it names a tool."""
NAMED = late(rf'"{NAME_KEYS}"\s*:\s*"([^"\n]{{1,256}})"')
NAMED_REACH = 400
"""How far behind an object's beginning its tool is looked for then."""
NOWHERE = (sys.maxsize, sys.maxsize, "")
UNSOUGHT = (sys.maxsize, *NOWHERE)
"""From where on a tool's name was looked for, where it begins and ends, and the name: not yet."""
VALUE = late(r"[{\[\"']")
"""What a value begins with: text behind an opener of which so much was read was tried (and whether more was tried may
depend on how much had come)."""


class Tried:
    """What trying the rows at one place showed: the first failure to tell of, how far weak ones read, if any began."""

    __slots__ = ("began", "failure", "reached")

    def __init__(self) -> None:
        self.failure: tuple[Row, Exception] | None = None
        self.reached, self.began = 0, False


class Trial(Reread):
    """Tries candidates in one message."""

    invented: bool
    noted_to: int
    _row: Row  # the one that is tried
    passed: bool  # the last candidate stood where none need be looked for (`passes`)

    def __init__(
        self, src: Source, table: Table, judge: Judge, teller: Teller, patience: Patience, *, strict: bool, finish: str
    ) -> None:
        super().__init__(src, table, judge, teller, patience)
        self.finish = finish
        self._strict = strict
        self._turned = False
        self._may_tell: bool | None = False  # None: nobody has asked yet
        self._standing = LIVE
        self.invented = False
        self.over: dict[str, None] = {}  # an empty set is three times as large
        self.noted_to = -1
        self._noted = 0
        self._in_vain = 0  # characters read in what quotes, for calls that were none
        self._opened = 0  # strong openers of no call, quoted or not
        self._vain = 0  # and by weak rows, where nothing quotes
        self.passed = False
        self.thinks_until: re.Pattern[str] | None = None
        self._thinks_to: int | None = None
        self._against: tuple[str, ...] | None = None
        self._next_name = UNSOUGHT
        self._strays: Strays | None = None  # most texts hold no call

    # ── a marker that may open calls ─────────────────────────────────────────

    def candidate(self, rows: tuple[Row, ...]) -> Need[bool]:
        """Try the dialects that the marker at hand may open.  False: it is text."""
        src, teller = self.src, self.teller
        self._against, self.passed = None, False
        self._opened += bool(rows) and rows[0].strong
        while not (others := self._are_others(rows)) and not src.eof and self._may_be_others(rows):
            yield
        if others:
            return False
        at = src.base + src.pos
        if self._is_spent:
            yield from src.peek(NAMED_REACH)
        if not (rows and rows[0].strong) and not (yield from self._any_fits(rows, at)):
            return False
        standing = LIVE if teller.reasoning else teller.context.standing()
        if at < self._argument_to and not standing.sure:
            standing = ARGUMENT
        if standing is not LIVE and standing.sure:
            yield from self._quoted(rows, standing, at)
            return False
        if self._thinks_to is not None and at < self._thinks_to:
            return False
        self._turned = not teller.reasoning and teller.context.turned()
        tried, quoted = Tried(), standing.quote is not None and not lasts(standing)
        for row in rows:
            if not self._fits(row, at) or (quoted and not row.strong) or self._is_other(row) or self._is_misnamed(row):
                continue
            found = yield from self._try(row, at, standing, tried)
            if found is not None:
                return found
            if self._patience.is_read_out:
                return False
        self._weak_from = max(self._weak_from, tried.reached)
        self._vain += max(0, tried.reached - at)
        if tried.began:
            self._patience.read(much=self._is_spent)
        if tried.failure is None or standing.quote is not None or self._are_others(rows):  # by now enough text has come
            return False
        row, why = tried.failure
        again, raw = yield from self._reread(row, why, None, at)
        if again is None:
            return (yield from self._unread(row, why, at))
        self._complete(again, row, at, standing, raw)
        return True

    def opening(self, rows: tuple[Row, ...]) -> Need[bool]:
        """The same where the message begins, of rows that are looked for there alone: others may begin right behind."""
        before = self._weak_from, self._vain
        found = yield from self.candidate(rows)
        if not found:
            self._weak_from, self._vain = before
        return found

    def _try(self, row: Row, at: int, standing: Standing, tried: Tried) -> Need[bool | None]:
        """Try one row.  None: it was not meant, and another may be."""
        src, begin = self.src, self.src.pos
        self._may_tell, self._standing = (None if row.strong and not self._turned else False), standing
        self._row = row
        attempt = self._attempt(row)
        if read_clean(attempt):
            self._may_tell, raw = False, src.buf[begin : src.pos]
            if self._is_refused(row, at, raw):
                src.pos = begin
                return False
            self._complete(attempt, row, at, standing, raw)
            return True
        depth = src.hold()
        try:
            yield from attempt.run()
        except (Mismatch, Broken, Cut) as why:
            src.unwind(depth)
            return (yield from self._failed(attempt, why, at, standing, tried))
        finally:
            self._may_tell = False
        if attempt.swallowed is not None:
            yield from self._nests.skip(row, attempt.swallowed.start, back=False)
        raw = src.held()
        if self._is_refused(row, at, raw):
            src.rewind()
            return False
        src.release()
        self._complete(self._mended(row, attempt, raw, at), row, at, standing, raw)
        return True

    def _is_refused(self, row: Row, at: int, raw: str) -> bool:
        """Is a call that was read none of the model's own, or one that swallowed the end of reasoning?"""
        if self._turned:
            self.invented = row.strong
        return self._turned or (self.thinks_until is not None and self._swallows(at, raw))

    def _failed(self, attempt: Attempt, why: Exception, at: int, standing: Standing, tried: Tried) -> Need[bool | None]:
        """A row could not read what stands here: it broke, or was not meant."""
        src, row = self.src, attempt.row
        self.in_vain(at, why)
        if self.thinks_until is not None and self._swallows(at, src.held()):
            src.rewind()
            return False
        if self._turned:
            src.rewind()
            return None
        begun = attempt.drafts and (row.strong or not isinstance(why, Mismatch))
        if begun and not (yield from self.closes(standing)):
            again, raw = yield from self._reread_broken(attempt, why, at)
            if again is not None:
                self._complete(again, row, at, standing, raw)
            else:
                yield from self._damaged(attempt, row, why, at)
            return True
        if not row.strong:
            tried.reached = max(tried.reached, src.at)
            tried.began = tried.began or VALUE.search(src.held(), 1) is not None
        src.rewind()
        if row.strong and tried.failure is None:
            tried.failure = yield from self._failure(row, why)
        return None

    def _attempt(self, row: Row) -> Attempt:
        attempt = Attempt(self.src, row, self.judge, self._begun, READERS)
        attempt.strays = None if self.teller.reasoning else self._closers()
        attempt.alone = not self.teller.reasoning and not self.teller.context.any
        attempt.ends = lambda: self.finish != Stop.LENGTH
        return attempt

    def _failure(self, row: Row, why: Exception) -> Need[tuple[Row, Exception] | None]:
        """What is told of a strong opener that this row could not read; None where another may have been meant."""
        if not isinstance(why, Mismatch) or self._is_call_fence(row):
            return row, why
        return (row, Cut()) if (yield from self._is_cut(row)) else None

    def _are_others(self, rows: tuple[Row, ...]) -> bool:
        """Does what follows the opener show that none of these rows was meant?"""
        buf, pos = self.src.buf, self.src.pos
        looks = unlike_all(rows)
        for look in looks:
            if not look(buf, pos):
                return False
        return bool(looks)

    def _may_be_others(self, rows: tuple[Row, ...]) -> bool:
        """Where that is not so yet: may a little more text show it?"""
        looks = unlike_all(rows)
        return len(looks) == 1 and looks[0].waits(self.src.buf, self.src.pos)

    def _is_other(self, row: Row) -> bool:
        """Does what follows the opener show that this row was not meant?"""
        told = untried(row)
        return told is not None and told(self.src.buf, self.src.pos)

    def _is_misnamed(self, row: Row) -> bool:
        """Does what follows the opener name no tool as this row does?  In reasoning its end may stand there."""
        told = None if self._turned or self.teller.reasoning else misnamed(row)
        return told is not None and bool(told(self.src.buf, self.src.pos))

    def closes(self, standing: Standing) -> Need[bool]:
        """Does what follows the first sign that stands here, or is held, close what is open here?"""
        src = self.src
        while standing.awaited:
            text = (src.held() + src.buf[src.pos : src.pos + MAX_SPAN])[1 : MAX_SPAN + 1]
            ended = src.eof and len(text) < MAX_SPAN
            found = closes(standing, text + " " if ended else text)
            if found is not None or ended or len(text) == MAX_SPAN:
                return lasts(standing) and not ended if found is None else found
            yield
        return False

    def _swallows(self, at: int, read: str) -> bool:
        """Did a call drafted in reasoning, which `read` so much, run past its end?  Then it is none, and is read again.

        An argument that was never closed would else take the answer, and the calls in it, for its value.
        """
        if self.thinks_until is None or not self.teller.reasoning:
            return False
        found = self.thinks_until.search(read)
        if found is None:
            return False
        self._thinks_to = at + found.start()
        return True

    def _any_fits(self, rows: tuple[Row, ...], at: int) -> Need[bool]:
        """May one of them be tried, if nothing quotes it?  How the place stands is dear to ask, and most hold none."""
        for row in rows:
            if row.strong:
                return True
        src = self.src
        fitting = [row for row in rows if self._fits(row, at)]
        self.passed = not fitting and (at < self._weak_from or self._is_spent)
        look = FENCE_LOOK if src.buf[src.pos] in FENCE_SIGNS else 0
        while fitting := [row for row in fitting if not self._is_other(row)]:
            if src.eof or (len(src.buf) - src.pos >= look and not all(map(self._waits, fitting))):
                return True
            yield
        return False

    def _waits(self, row: Row) -> bool:
        """Must more text tell whether the row was meant?"""
        told = untried(row)
        return told is not None and told.waits(self.src.buf, self.src.pos)

    def _fits(self, row: Row, at: int) -> bool:
        """May the row be tried at this place, if nothing quotes it?"""
        if row.dialect.name in self.over or not (row.place is Place.INLINE or self.teller.line_start("")):
            return False
        if row.strong:
            return True
        if at < self._weak_from or (row.place in AT_FIRST and self.teller.context.any):
            return False
        return not (self._is_spent and isinstance(row.dialect.args, JsonCall)) or self.is_named()

    def passes(self, pos: int) -> bool:
        """Need nobody stop at a sign here that only weak rows begin with, in a text that has ended?

        One of them has read this place and found no call, or too much was read so, and what stands here names no tool.
        """
        at = self.src.base + pos
        return at < self._weak_from or (self._is_spent and not self.is_named(pos))

    def is_vain(self, at: int, others: int) -> bool:
        """Does a sign here that no row may begin with count as looked at in vain, like so many `others` before it?

        Not where it would be passed, nor where so many were that only those near a declared tool's name are looked at.
        """
        return at >= self._weak_from and not self._is_spent and self._patience.marks + others < TRIED

    def looked(self, signs: int) -> None:
        """So many signs were looked at in vain."""
        self._patience.marks += signs

    @property
    def _is_spent(self) -> bool:
        """Was so much read by weak rows, for nothing, that an object is tried only where it names a tool?"""
        return self._vain > MAX_TRIED

    def is_named(self, pos: int = -1) -> bool:
        """Is a declared tool named, as calls do it, in the text that begins here?"""
        src, pos = self.src, pos if pos >= 0 else self.src.pos
        if not src.eof:
            found = NAMED.search(src.buf, pos, pos + NAMED_REACH)
            return found is not None and self._is_declared(found[1])
        at = src.base + pos
        begun, named, end, name = self._next_name
        if not begun <= at <= named:  # no text is searched twice, however many objects stand in it
            found = NAMED.search(src.buf, pos)
            named, end, name = (src.base + found.start(), src.base + found.end(), found[1]) if found else NOWHERE
            self._next_name = at, named, end, name
        return end <= at + NAMED_REACH and self._is_declared(name)

    def _is_declared(self, name: str) -> bool:
        """Is it a tool's name, by what is known of the tools?"""
        return self.judge.tools is None or self.judge.known(name)

    def _tells(self) -> bool:
        """May this call be told while it is read?  Asked once a name was read, for the words before it are dear."""
        if self._may_tell is None:
            teller = self.teller
            self._may_tell = not (
                self._standing.awaited or teller.reasoning or self._strict or self.judge.watches_copies
                or (teller.queue and teller.waits) or self._hints()
            )  # fmt: skip
        return self._may_tell

    def _hints(self) -> tuple[str, ...]:
        """What the words before this place say against a call: the same for all that a batch holds."""
        if self._against is None:
            self._against = self.teller.hints()
        return self._against

    def _begun(self, draft: Draft) -> None:
        """A reader knows a name.  If the call stands live, its start is told at once."""
        live, src = self.teller.live, self.src
        if live is not None:
            written = src.behind(src.at - live.start)[: live.end - live.start]
            self.teller.end_live(written, self._pending([], self._row, "", {}))
        if draft.refusal is None and self._may_tell is not False and self._tells() and not self.teller.repeats:
            self.teller.begin_live(draft)

    def _quoted(self, rows: tuple[Row, ...], standing: Standing, at: int) -> Need[None]:
        """A call inside what quotes: it stays text, and is told of if it is a whole call of a declared tool."""
        src = self.src
        if at < self.noted_to or self.judge.tools is None or self._in_vain > MAX_VAIN + at // 8:
            return
        if self._noted >= MAX_NOTED or self._opened > OPENED + at // EVERY_OPENED:
            return
        for row in rows:
            if not row.strong or self._is_other(row):
                continue
            depth = src.hold()
            attempt = Attempt(src, row, self.judge, _ignore, READERS)
            if not (yield from self._reads(attempt, at + MAX_QUOTED)):
                src.unwind(depth)
                src.rewind()
                if attempt.drafts:
                    self._patience.broke()
                continue
            self.noted_to, self._noted = src.at, self._noted + len(attempt.drafts)
            self._opened -= 1
            src.rewind()
            for draft in attempt.drafts:
                if draft.refusal is None:
                    self.teller.left(draft, row, str(standing.quote))
            return

    def _closers(self) -> Strays:
        self._strays = strays = self._strays or Strays(lambda: self.finish == Stop.LENGTH)
        return strays

    def _reads(self, attempt: Attempt, limit: int) -> Need[bool]:
        """Can what stands here be read, and in so much of the text?  What was read of no call is counted."""
        src, at = self.src, self.src.at
        src.limit = limit
        try:
            yield from attempt.run()
        except Mismatch:
            self._in_vain += min(src.at - at, MAX_QUOTED) if self._is_long(at) else 0
            return False
        except (Broken, Cut):
            self._in_vain += min(src.at - at, MAX_QUOTED)
            return False
        finally:
            src.limit = NO_LIMIT
        self._in_vain += 0 if src.at <= limit else MAX_QUOTED
        return src.at <= limit

    def in_vain(self, at: int, why: Exception) -> None:
        """What stands at this place was read from there, and is no call."""
        if not isinstance(why, Mismatch) or self._is_long(at):
            self._patience.vain(at, self.src.at)

    def _is_long(self, at: int) -> bool:
        """Was more read from there than where a row may not be tried?"""
        size = self.src.at - at
        return size > FREE and len("".join(self.src.behind(size).split())) > FREE

    # ── outcomes ─────────────────────────────────────────────────────────────

    def _complete(self, attempt: Attempt, row: Row, at: int, standing: Standing, raw: str) -> None:
        """An attempt that read `raw` to its end."""
        src, teller = self.src, self.teller
        if self.finish == Stop.LENGTH:
            self._refuse_cut(attempt)
        teller.let_go()
        read = attempt.drafts
        raws, items, left = written_as(attempt, read, raw, at), attempt.items, read
        if len(read) > 1 and any(draft.ended for draft in read):  # told while the next one was read
            items = [item for item in attempt.items if not (isinstance(item, Draft) and item.ended)]
            left = [draft for draft in read if not draft.ended]
            raw = raws[id(read[-1])] if not read[-1].ended else raw
        pending = self._pending(items, row, raw, raws)
        for draft in left:
            self.judge.settle(draft)
        refused = dear = 0  # words before it are read for hints, and what is mended by readers that take twice as long
        if (teller.queue or teller.context.any) and not teller.behind_call:
            dear = 1
        for draft in read:
            refused += draft.refusal is not None
            dear += bool(draft.edits)
        self._patience.called(len(read), refused, dear)
        self._opened -= row.strong
        if standing.awaited:
            pending.standing, pending.awaits = standing, Awaits.CLOSER
        elif teller.reasoning or (pending.whole and not row.strong):
            pending.awaits = Awaits.END
        if not (src.eof and src.pos == len(src.buf) and teller.settle_alone(pending, self.finish)):
            teller.await_rest(pending)

    def _is_first(self, row: Row, before: str) -> bool:
        """Does no word of the message stand before this place, but what belongs to the notation?"""
        teller = self.teller
        if not (teller.context.any or (teller.queue and teller.waiting_words)):
            return True
        if row.preface is None or len(before) >= KEPT:
            return False
        return row.preface.fullmatch(before.strip()) is not None

    def _pending(self, items: list[Draft | Event], row: Row, raw: str, raws: dict[int, str]) -> Pending:
        teller = self.teller
        before = teller.before
        hints = () if teller.reasoning else self._hints()
        return Pending(
            items, raw, before, raws, mark_of(row.dialect, strong=row.strong), row.strong,
            reasoning=teller.reasoning, whole=self._is_first(row, before), inline=not teller.line_start(""),
            asked=self.judge.asked_for(row.dialect.name) and not row.addressed,
            hints=hints, box=box_of(row, raw),
        )  # fmt: skip

    def _refuse_cut(self, attempt: Attempt) -> None:
        """A call whose arguments stand each in marks of its own may have lost some when the limit took its closer."""
        cut = list(attempt.guessed)
        if not attempt.closed and isinstance(attempt.spec.args, TaggedArgs | ElementArgs):
            cut += [d for d in attempt.drafts[-1:] if any(e.kind == "unclosed" for e in d.edits)]
        for draft in cut:
            issue = unreadable(IssueKind.TRUNCATED, "the call was cut off at the token limit", "", draft.name, 0)
            draft.refuse(IssueKind.TRUNCATED, issue.message, issue.correction)


def _ignore(_: object) -> None:
    return None
