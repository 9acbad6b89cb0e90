"""Trying what a marker may open: the dialects in order, and the damage they report.

Between the scanner (`parser.py`), which found the marker, and the teller (`emitter.py`), which is told the outcome.
Knows no dialect by name.
"""

from __future__ import annotations

import re

from ...events import Event, IssueReported
from ...lenient.reader import Broken, Cut
from ...lenient.source import Need, Source, same
from ...types import IssueKind, Stop
from ..judge.boxes import LIVE, MAX_SPAN, Standing, closes, lasts
from ..judge.candidate import Draft, close_json
from ..judge.evidence import mark_of
from ..judge.judge import Judge, slip_of, unreadable
from ..judge.quotation import KEPT
from ..reading.call import Attempt, Mismatch
from ..reading.compiled import Row
from ..reading.drafts import Swallowed
from ..reading.strays import Strays
from ..reading.table import CLEAN, READERS
from ..spec import BraceArgs, JsonArgs, JsonCall, KeywordArgs, Place, TaggedArgs
from .budget import Patience
from .emitter import Teller
from .lookahead import unlike_all, untried
from .markers import FENCE_SIGNS, Table
from .pending import Awaits, Pending, box_of, written_as

REST_OF_LINE = re.compile(r"[ \t\r]*\n")
STRUCTURE = re.compile(r"[{}\[\]<>\"'`]")
FENCE_LOOK = 24
"""So much of a fence tells that it holds no object."""
SHAPE_REACH = 200
"""Characters behind an opener that are looked at to tell a call from a word."""
SHAPE = re.compile(r"\s*(?:[{\[]\s*(?:[\"'{\[]|\w+\s*[:=])|[\w.-]+\s*(?:[({]|</?\w|\n\s*[<{])|<[\w/|｜])")
"""How a call begins behind its opener, however damaged."""
OPENING, CLOSING = "{[", "}]"
ELEMENT = re.compile(r"(?:\s*<(?P<name>[\w:.-]+)[^<>\n]*>)?[^<\n]*</[\w:.-]+>")
"""The rest of an element, or a whole one."""
WORD = re.compile(r"\s*([\w.-]+)\s*")
CONTROL = frozenset({"<|", "<｜"})
TOKENS = re.compile(r"\s*(?:<[|｜][^<>\s]{1,60}[|｜]>\s*)*(?:<(?:[|｜][^<>\s]{0,60})?\s*)?")
"""Control tokens, the last of them perhaps cut."""
MAX_VAIN = 20_000
"""So many characters that are quoted, and an eighth of what precedes, are read for calls to tell of, and hold none."""
VALUE = re.compile(r"[{\[\"']")
"""What a value begins with: text behind an opener of which so much was read was tried (and whether more was tried may
depend on how much had come)."""


class Trial:
    """Tries candidates in one message.  `finish` is the stop reason, as soon as it is known."""

    invented: bool
    noted_to: int
    judge: Judge
    src: Source
    teller: Teller
    finish: str
    table: Table

    def __init__(
        self, src: Source, table: Table, judge: Judge, teller: Teller, patience: Patience, *, strict: bool
    ) -> None:
        self.src, self.judge, self.teller, self._strict = src, judge, teller, strict
        self._patience = patience
        self.table, self.finish = table, ""
        self._may_tell = False
        self._weak_from = 0
        self.invented = False
        self.over: set[str] = set()
        self.noted_to = -1
        self._in_vain = 0  # characters read in what quotes, for calls that were none
        self._no_closer: set[tuple[str, ...]] = set()
        self.thinks_until: re.Pattern[str] | None = None
        self._thinks_to: int | None = None
        self._against: tuple[str, ...] | None = None
        self._strays = Strays(lambda: self.finish == Stop.LENGTH)

    # ── a marker that may open calls ─────────────────────────────────────────

    def candidate(self, rows: tuple[Row, ...]) -> Need[bool]:
        """Try the dialects that the marker at hand may open.  False: it is text."""
        src, teller = self.src, self.teller
        self._against = None
        if self._are_others(rows):
            return False
        at = src.base + src.pos
        if not (yield from self._any_fits(rows, at)):
            return False
        standing = LIVE if teller.reasoning else teller.context.standing()
        if standing is not LIVE and standing.sure:
            yield from self._quoted(rows, standing, at)
            return False
        if self._thinks_to is not None and at < self._thinks_to:
            return False
        turned = not teller.reasoning and teller.context.turned()
        failure: tuple[Row, Exception] | None = None
        reached, began = 0, False
        for row in rows:
            if not self._may_try(row, standing, at) or self._is_other(row):
                continue
            depth = src.hold()
            self._may_tell = not turned and self._tells(row, standing)
            attempt = self._attempt(row)
            try:
                clean = CLEAN.get(type(row.dialect.args))
                if clean is None or not clean(attempt):
                    yield from attempt.run()
            except (Mismatch, Broken, Cut) as why:
                src.unwind(depth)
                row = attempt.row
                if self._swallows(at):
                    return False
                if turned:
                    src.rewind()
                    continue
                begun = attempt.drafts and (row.strong or not isinstance(why, Mismatch))
                if begun and not (yield from self.closes(standing)):
                    yield from self._damaged(attempt, row, why, at)
                    return True
                if not row.strong:
                    reached, began = max(reached, src.at), began or VALUE.search(src.held(), 1) is not None
                src.rewind()
                if row.strong and failure is None:
                    failure = yield from self._failure(row, why)
                continue
            finally:
                self._may_tell = False
            if self.thinks_until is not None and self._swallows(at):
                return False
            if turned:
                self.invented = row.strong
                src.rewind()
                return False
            self._complete(attempt, row, at, standing)
            return True
        self._weak_from = max(self._weak_from, reached)
        if began:
            self._patience.read()
        if failure is None or standing.quote is not None or self._are_others(rows):  # by now enough text has come
            return False
        return (yield from self._unread(failure[0], failure[1], at))

    def _attempt(self, row: Row) -> Attempt:
        attempt = Attempt(self.src, row, self.judge, self._begun, READERS)
        attempt.strays = None if self.teller.reasoning else self._strays
        attempt.alone = not self.teller.reasoning and not self.teller.context.any
        attempt.ends = None if row.strong else lambda: self.finish != Stop.LENGTH
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

    def _is_other(self, row: Row) -> bool:
        """Does what follows the opener show that this row was not meant?"""
        told = untried(row)
        return told is not None and told(self.src.buf, self.src.pos)

    def closes(self, standing: Standing) -> Need[bool]:
        """Does what follows the first sign that stands here, or is held, close what is open here?"""
        src = self.src
        while standing.awaited:
            text = (src.held() + src.buf[src.pos : src.pos + MAX_SPAN])[1 : MAX_SPAN + 1]
            found = closes(standing, text + " " if src.eof and len(text) < MAX_SPAN else text)
            if found is not None or src.eof or len(text) == MAX_SPAN:
                return lasts(standing) and not src.eof if found is None else found
            yield
        return False

    def _swallows(self, at: int) -> bool:
        """Did a call drafted in reasoning run past the reasoning's end?  Then it is none, and its text is read again.

        An argument that was never closed would else take the answer, and the calls in it, for its value.
        """
        if self.thinks_until is None or not self.teller.reasoning:
            return False
        found = self.thinks_until.search(self.src.held())
        if found is None:
            return False
        self._thinks_to = at + found.start()
        self.src.rewind()
        return True

    def _may_try(self, row: Row, standing: Standing, at: int) -> bool:
        return self._fits(row, at) and (row.strong or standing.quote is None)

    def _any_fits(self, rows: tuple[Row, ...], at: int) -> Need[bool]:
        """May one of them be tried, if nothing quotes it?  How the place stands is dear to ask, and most hold none."""
        for row in rows:
            if row.strong:
                return True
        fitting = [row for row in rows if self._fits(row, at)]
        src = self.src
        look = FENCE_LOOK if src.buf[src.pos] in FENCE_SIGNS else 0
        while fitting := [row for row in fitting if not self._is_other(row)]:
            if src.eof or len(src.buf) - src.pos >= look:
                return True
            yield
        return False

    def _fits(self, row: Row, at: int) -> bool:
        """May the row be tried at this place, if nothing quotes it?"""
        if row.dialect.name in self.over or not (row.place is Place.INLINE or self.teller.line_start("")):
            return False
        if row.strong:
            return True
        return at >= self._weak_from and (row.place is not Place.WHOLE or not self.teller.context.any)

    def _tells(self, row: Row, standing: Standing) -> bool:
        """May this call be told while it is read?"""
        teller = self.teller
        return (
            row.strong
            and not standing.awaited
            and not (teller.reasoning or self._strict or self.judge.watches_copies or (teller.queue and teller.waits))
            and not self._hints()
        )

    def _hints(self) -> tuple[str, ...]:
        """What the words before this place say against a call: the same for all that a batch holds."""
        if self._against is None:
            self._against = self.teller.hints()
        return self._against

    def _begun(self, draft: Draft) -> None:
        """A reader knows a name.  If the call stands live, its start is told at once."""
        live, src = self.teller.live, self.src
        if live is not None:
            self.teller.end_live(src.behind(src.at - live.start)[: live.end - live.start])
        if self._may_tell and draft.refusal is None and not self.teller.repeats:
            self.teller.begin_live(draft)

    def _quoted(self, rows: tuple[Row, ...], standing: Standing, at: int) -> Need[None]:
        """A call inside what quotes: it stays text, and is told of if it is a whole call of a declared tool."""
        src = self.src
        if at < self.noted_to or self.judge.tools is None or self._in_vain > MAX_VAIN + at // 8:
            return
        for row in rows:
            if not row.strong or self._is_other(row):
                continue
            depth = src.hold()
            attempt = Attempt(src, row, self.judge, _ignore, READERS)
            try:
                yield from attempt.run()
            except (Mismatch, Broken, Cut):
                src.unwind(depth)
                self._in_vain += src.at - at
                src.rewind()
                if attempt.drafts:
                    self._patience.broke()
                continue
            self.noted_to = src.at
            src.rewind()
            for draft in attempt.drafts:
                if draft.refusal is None:
                    self.teller.left(draft, row, str(standing.quote))
            return

    # ── outcomes ─────────────────────────────────────────────────────────────

    def _complete(self, attempt: Attempt, row: Row, at: int, standing: Standing) -> None:
        """An attempt that read to its end."""
        src, teller = self.src, self.teller
        raw = src.held()
        src.release()
        if self.finish == Stop.LENGTH:
            self._refuse_cut(attempt)
        teller.let_go()
        read = attempt.drafts
        raws, items, left = written_as(attempt, read, raw, at), attempt.items, read
        if len(read) > 1 and any(draft.ended for draft in read):  # told while the next one was read
            items = [item for item in attempt.items if not (isinstance(item, Draft) and item.ended)]
            left = [draft for draft in read if not draft.ended]
            raw = raws[id(read[-1])] if not read[-1].ended else raw
        pending = self._pending(items, row, raw, raws, attempt.hints)
        for draft in left:
            self.judge.settle(draft)
        self._patience.called(len(read), sum([draft.refusal is not None for draft in read]))
        if standing.awaited:
            pending.standing, pending.awaits = standing, Awaits.CLOSER
        elif teller.reasoning or (pending.whole and not row.strong):
            pending.awaits = Awaits.END
        teller.await_rest(pending)

    def _is_first(self, row: Row, before: str) -> bool:
        """Does no word of the message stand before this place, but what belongs to the notation?"""
        teller = self.teller
        if not (teller.context.any or teller.waiting_words):
            return True
        if row.preface is None or len(before) >= KEPT:
            return False
        return row.preface.fullmatch(before.strip()) is not None

    def _pending(
        self, items: list[Draft | Event], row: Row, raw: str, raws: dict[int, str], hints: tuple[str, ...]
    ) -> Pending:
        teller = self.teller
        before = teller.before
        return Pending(
            items, raw, before, raws, mark_of(row.dialect, strong=row.strong), row.strong,
            reasoning=teller.reasoning, whole=self._is_first(row, before), inline=not teller.line_start(""),
            asked=self.judge.asked_for(row.dialect.name) and not row.addressed,
            hints=() if teller.reasoning else (*self._hints(), *hints), box=box_of(row, raw),
        )  # fmt: skip

    def _refuse_cut(self, attempt: Attempt) -> None:
        """A tagged call whose closer is missing may have lost arguments when the limit was hit."""
        cut = list(attempt.guessed)
        if not attempt.closed and isinstance(attempt.spec.args, TaggedArgs):
            cut += [d for d in attempt.drafts[-1:] if any(e.kind == "unclosed" for e in d.edits)]
        for draft in cut:
            issue = unreadable(IssueKind.TRUNCATED, "the call was cut off at the token limit", "", draft.name, 0)
            draft.refuse(IssueKind.TRUNCATED, issue.message, issue.correction)

    def _damaged(self, attempt: Attempt, row: Row, why: Exception, at: int) -> Need[None]:
        """An attempt that began a call and could not end it."""
        src, teller = self.src, self.teller
        self._patience.broke()
        kind, message = self._why(why, row, src.held())
        broken = attempt.draft
        if not row.strong and kind is not IssueKind.TRUNCATED:
            self._weak_damaged(attempt.drafts[-1].name, kind, message, at)
            return
        if isinstance(why, Swallowed):
            yield from self._to_own_end(row)
        elif kind is not IssueKind.TRUNCATED and not (yield from self._to_closer(row)):
            yield from self._over_rest(row)
        raw = src.held()
        src.release()
        issue = unreadable(kind, message, raw, broken.name if broken else "", at)
        if broken is not None:
            broken.done, broken.end = False, src.at
            broken.refuse(kind, message, issue.correction)
            broken.write(close_json(broken.text()))
        if teller.reasoning and not any(d is not broken for d in attempt.drafts):
            teller.say(raw)
            return
        if teller.queue:
            teller.release_all()
        teller.end_all(attempt.items, written_as(attempt, attempt.drafts, raw, at), raw, broken)
        if broken is None:
            teller.unread(issue)
        teller.new_line()

    def _to_closer(self, row: Row) -> Need[bool]:
        """Skip the rest of a broken call, if its closer comes; what stands before it is not live."""
        src, closers = self.src, row.call_close + row.section_close
        if not closers or closers in self._no_closer:
            return False
        if src.held().rstrip().endswith(closers):  # the reader had taken it when it found what is wrong
            return True
        src.hold()
        if (yield from src.until(closers, _ignore)):
            src.release()
            return True
        src.rewind()
        self._no_closer.add(closers)
        return False

    def _to_own_end(self, row: Row) -> Need[None]:
        """Skip the call that was read past its end: to its closer, or to where the next one begins."""
        src = self.src
        src.rewind()
        src.hold()
        src.pos += self._opener_size(row)
        mark = yield from src.until(row.call_close + row.section_close + row.openers, _ignore)
        if mark in row.openers:
            src.pos -= len(mark)

    def _over_rest(self, row: Row) -> Need[None]:
        """Skip what is left of a broken call that no closer ends: its brackets, or its line; its elements."""
        src = self.src
        if isinstance(row.dialect.args, JsonCall | JsonArgs | KeywordArgs | BraceArgs):
            text = src.held()
            depth = sum(map(text.count, OPENING)) - sum(map(text.count, CLOSING))
            src.hold()
            while depth > 0 and (mark := (yield from src.until((*OPENING, *CLOSING, "\n\n", *row.openers), _ignore))):
                if mark not in OPENING and mark not in CLOSING:
                    break
                depth += 1 if mark in OPENING else -1
            if not depth:
                src.release()
                return
            src.rewind()
            if depth > 0:
                mark = yield from src.until(("\n", *row.openers), _ignore)
                src.pos -= len(mark)
            return
        while found := (yield from src.match(ELEMENT, SHAPE_REACH)):
            if self.judge.known(found["name"] or ""):
                return
            src.pos = found.end()

    def _weak_damaged(self, name: str, kind: IssueKind, message: str, at: int) -> None:
        """A weak candidate that broke is text, and noticed, since it named a tool."""
        src = self.src
        self._weak_from = max(self._weak_from, src.at)
        src.rewind()
        self.teller.emit(IssueReported(unreadable(kind, message, "", name, at)))
        first = src.buf[src.pos : src.pos + 1]
        src.pos += 1
        self.teller.say(first)

    def _unread(self, row: Row, why: Exception, at: int) -> Need[bool]:
        """A strong opener whose call could not be read at all: its text goes to an issue, up to its closer."""
        src, teller = self.src, self.teller
        if not (yield from self._looks_like_call(row)):
            return False
        self._patience.broke()
        src.hold()
        src.pos += self._opener_size(row)
        yield from self._to_end(row)
        raw = src.held()
        src.release()
        if teller.reasoning:
            teller.say(raw)
            return True
        if teller.queue:
            teller.release_all()
        kind, message = self._why(why, row, raw)
        teller.seen_call = True
        teller.unread(unreadable(kind, message, raw, "", at))
        return True

    def _to_end(self, row: Row) -> Need[None]:
        """Skip to the closer of what could not be read; to the next opener, where nothing like a call precedes it."""
        src, got = self.src, list[str]()
        mark = yield from src.until(row.call_close + row.section_close + row.openers, got.append)
        if mark in row.openers and not STRUCTURE.search("".join(got)):
            src.pos -= len(mark)
        elif mark in row.openers:
            yield from src.until(row.call_close + row.section_close, _ignore)

    def _why(self, why: Exception, row: Row, raw: str) -> tuple[IssueKind, str]:
        """Truncated or malformed?  A text that runs past its own closer to the end was not cut, it was never closed."""
        if not isinstance(why, Cut):
            return slip_of(why), str(why) or "there is no call object in it"
        if self.finish != Stop.LENGTH and raw.rstrip().endswith(row.call_close + row.section_close or ("\0",)):
            return IssueKind.MALFORMED, "a string or bracket is never closed"
        return IssueKind.TRUNCATED, "the text ends inside the call"

    def _is_call_fence(self, row: Row) -> bool:
        """Does a fence stand here whose whole info line is a call tag?"""
        if not row.sure:
            return False
        src = self.src
        for opener in row.openers:
            if src.buf[src.pos : src.pos + len(opener)].casefold() == opener.casefold():
                return REST_OF_LINE.match(src.buf, src.pos + len(opener)) is not None
        return False

    def _is_cut(self, row: Row) -> Need[bool]:
        """Does the message end in control tokens behind the one that stands here, glued to what precedes it?

        Or in a name that has only begun.
        """
        src, teller = self.src, self.teller
        if (yield from self._is_half_named(row)):
            return True
        if src.buf[src.pos : src.pos + 2] not in CONTROL or teller.reasoning:
            return False
        if teller.before[-1:] == " " and not teller.line_start(""):
            return False
        size = self._opener_size(row)
        if src.buf[src.pos : src.pos + size].casefold() in self.table.turns | self.table.headers:
            return False
        ahead = (yield from src.peek(size + SHAPE_REACH))[size:]
        return len(ahead) < SHAPE_REACH and TOKENS.fullmatch(ahead) is not None

    def _is_half_named(self, row: Row) -> Need[bool]:
        """Does the message end in a word behind the opener, which may be a tool's name, or is all there is?"""
        teller, size = self.teller, self._opener_size(row)
        if teller.reasoning or not teller.line_start(""):
            return False
        ahead = (yield from self.src.peek(size + SHAPE_REACH))[size:]
        word = WORD.fullmatch(ahead) if len(ahead) < SHAPE_REACH else None
        if word is None:
            return False
        alone = not (teller.context.any or teller.queue)
        return alone or any(name.startswith(word[1]) for name in self.judge.declared)

    def _looks_like_call(self, row: Row) -> Need[bool]:
        """Does what follows the opener look like a call?  A mark with words behind it is a word (J)."""
        src, size = self.src, self._opener_size(row)
        ahead = (yield from src.peek(size + SHAPE_REACH))[size:]
        if not ahead.strip() and not self.table.turns.isdisjoint(row.openers):
            return False  # a mark of turns that leaked, with no call behind it
        if row.sure or row.forms or SHAPE.match(ahead) or (yield from self._is_cut(row)):
            return True
        if not ahead.strip():
            return self.finish == Stop.LENGTH or not (self.teller.context.any or self.teller.queue)
        return self.judge.names_tool(ahead.partition("\n\n")[0])

    def _opener_size(self, row: Row) -> int:
        """How long the opener is that stands here."""
        buf, pos = self.src.buf, self.src.pos
        return max((len(o) for o in row.openers if same(buf[pos : pos + len(o)], o)), default=0)


def _ignore(_: object) -> None:
    return None
