"""One incremental parser for every dialect: text in any pieces to events.

The parser scans live text for markers and says what each means: reasoning, noise, another party's turn, or a candidate
call, which `candidates.py` tries and `emitter.py` tells.  It knows no dialect by name: markers are found in
`scanner.py`, marks of turns read in `turns.py`, fences in `fences.py`; rows are in `markers.py`,
readers of their notations in `dialects/reading/table.py`, verdicts in `dialects/judge/judge.py`, what quotes in
`dialects/judge/quotation.py`.

Contract: whole = feed + close; any chunking gives the same folded events; the deltas of a call concatenate to strict
JSON; every character is in exactly one of text, reasoning, a call or `Issue.raw`; `feed` never raises on content; time
is linear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from ...errors import UsageError
from ...events import Event
from ...late import late
from ...lenient.source import Need, Source
from ...types import IssueKind
from ..judge.provenance import ShownText
from ..reading import segments
from ..spec import Route
from .beginning import beginning, may_open
from .budget import CALLS, EARLY, MARKS, OPENERS, Patience
from .candidates import Trial
from .common_marks import FENCE_SIGNS, FENCES, NOISE
from .derived_tables import addressed_table, bare_table
from .emitter import Judged, Teller
from .fenced_marks import FencedMarks, end_line
from .fences import Fences
from .ids import default_id
from .lanes import CLOSED, MOST, NO_LANE, Lane, Lanes
from .listening import Dialects, Tools, listening, listens_for
from .mark_starts import FENCE
from .no_text import no_text, too_late
from .overlooked import NAME_KEYS
from .parsed import fold
from .scanner import Scanner
from .thought import Thought
from .told_text import closes_text
from .turns import Turns

BOM = "\ufeff"
NAMED = late(rf"\s*\{{\s*\"{NAME_KEYS}\"")
MAX_NAMED = 60
TOO_MANY = "the text holds more marks or calls than any answer; from here on none is read"


class Parser:
    """`feed(text)` gives events, `close()` the rest.

    tools             Tools or any provider's definitions; None: not known; []: nothing may run
    dialects          "auto" (all rows listen), a name, a row, or several
    prompted_dialect  the row the prompt asked for: it counts as one named by the caller, among all that listen
    prefix            what the chat template had already opened (`<think>\\n`)
    finish_reason     why the model stopped, if known; "length" refuses a call that was cut (`close` may say it later)
    shown             texts the model was shown: a copy of a call in a tool's result or a document is not a call
    strict            refuse what needs mending
    doubt             what becomes of a call that was perhaps not meant: "ask" (it is in `doubtful`), "run", "text"
    native            the request had native tools: calls in text are not how the model was told to call
    confirmed         ways of writing in which this model has confirmed before that it means calls (`Evidence.habit`)
    ids               makes the id of the call with this index where the text gives none
    nonce             the code that the prompt asked for (`tool_prompt(…, nonce=…)`): calls without it stay text
    """

    def __init__(
        self,
        *,
        tools: Tools = None,
        dialects: Dialects = "auto",
        prompted_dialect: str = "",
        prefix: str = "",
        finish_reason: str | None = None,
        shown: Iterable[str | ShownText] = (),
        strict: bool = False,
        doubt: str = "ask",
        native: bool = False,
        confirmed: Iterable[str] = (),
        ids: Callable[[int], str] | None = None,
        nonce: str = "",
    ) -> None:
        if nonce:
            dialects = listens_for(nonce, dialects, prompted_dialect)
        heard = listening(
            tools, dialects, prompted_dialect, shown, confirmed, strict=strict, doubt=doubt, native=native
        )
        if ids is not None and not callable(ids):
            raise UsageError(f"ids makes an id of a number, and {type(ids).__name__} cannot be called; give a function")
        _, table, names, judge = heard
        self._table, self._names = table, names
        src = self._src = Source()
        teller = self._teller = Teller(judge, ids or default_id)
        patience = self._patience = Patience()
        trial = self._trial = Trial(src, table, judge, teller, patience, strict=strict, finish=finish_reason or "")
        self._scanner = Scanner(src, teller, trial, names, table=table, patience=patience)
        self._closed, self._looks, self._begins = False, True, table.opens
        self._lane: Lane = NO_LANE
        self._clear = (0, 0)
        if prefix:
            if not isinstance(prefix, str):
                raise no_text(prefix)
            self._begin(prefix)
            src.wants = 0
        self._reader = self._message()

    @cached_property
    def _fenced(self) -> FencedMarks:
        return FencedMarks(self._table)

    @cached_property
    def _fences(self) -> Fences:
        return Fences(self._src, self._table, self._trial, self._patience)

    @cached_property
    def _turns(self) -> Turns:
        return Turns(self._src, self._table, self._teller)

    @cached_property
    def _thought(self) -> Thought:
        return Thought(self._trial, self._scanner, self._turns.drop)

    @cached_property
    def _lanes(self) -> Lanes:
        return Lanes(self._src, self._teller, self._names, self._trial)

    def feed(self, text: str) -> list[Event]:
        """Take more text; returns the events it settles.

        Never raises on content; UsageError for what is no text, and for text that comes after `close`.
        """
        lane = self._lane
        try:
            told = lane.held + text
        except TypeError:
            if text == "":
                return []
            raise (too_late() if isinstance(text, str) else no_text(text)) from None
        step = lane.known.get(told)
        if step is not None:
            run = lane.run
            if type(step) is not tuple:
                lane.held = ""
                run.append(told)
                if len(run) > MOST:
                    lane.settle()
                return [step]  # type: ignore[list-item]  # no step is of a class that inherits from tuple
            event, piece, lane.held = step
            if event is None:
                lane.looked()
                return []
            run.append(piece)
            if len(run) > MOST:
                lane.settle()
            return [event]
        if lane.is_plain:
            found = lane.stop(told)
            if found is None:
                return lane.tell(told, told) if told else []
            events = lane.look(told, found)
        else:
            events = lane.feed(told)
            if lane.is_over:
                self._lane = self._lanes.here(self._scanner.table)
        if events is not None:
            return events
        if lane is not NO_LANE:
            told = lane.leave()
        src = self._src
        src.feed(told)
        if src.wants:
            if len(src.buf) - src.pos < src.wants:
                return []
            src.wants = 0
        next(self._reader, None)
        self._lane = self._lanes.here(self._scanner.table)
        return self._teller.drain()

    def close(self, finish_reason: str | None = None) -> list[Event]:
        """The text has ended (because of `finish_reason`); returns the rest of the events."""
        if self._closed:
            return []
        self._closed = True
        if finish_reason is not None:
            self._trial.finish = finish_reason
        if self._lane is not NO_LANE:
            self._src.feed(self._lane.leave())
        self._lane = CLOSED
        self._src.eof = True
        next(self._reader, None)
        self._teller.settle_end(self._trial.finish)
        self._teller.settle_doubts()
        if self._looks:
            self._teller.settle_overlooked(self._read_alone)
        return self._teller.drain()

    def whole(self, text: str, clear: tuple[int, int] = (0, 0)) -> list[Event]:
        """All of the text at once: what `feed` and `close` would give, but nothing has to wait for more.

        Of what is `clear` somebody knows that nothing in it counts, and that its end begins a line.
        """
        if not isinstance(text, str):
            raise no_text(text)
        if self._closed:
            raise too_late()
        self._clear = clear
        self._src.feed(text)
        return self.close()

    def _read_alone(self, text: str) -> Mapping[str, Any] | None:
        """The arguments of the one call that `text` is."""
        parser = Parser(tools=self._names)
        parser._looks = False
        calls = fold(parser.whole(text)).calls
        return calls[0].arguments if len(calls) == 1 else None

    @property
    def decisions(self) -> tuple[Judged, ...]:
        """Every candidate that was decided on so far, with the rule and the evidence; a bounded number of them."""
        return tuple(self._teller.decisions)

    @property
    def reasoned(self) -> bool:
        """Was a block of reasoning closed?"""
        return "_thought" in self.__dict__ and self._thought.was_closed

    @property
    def looked(self) -> int:
        """How many marks were looked at in vain, and what stands for such."""
        return self._patience.marks + self._patience.openers + self._fenced.looked

    # ── scanning ─────────────────────────────────────────────────────────────

    def _message(self) -> Need[None]:
        src, begun, patience = self._src, self._table.begun_signs, self._patience
        first = src.buf[:1] or (yield from src.peek())
        if first == BOM:
            self._turns.drop(BOM)
        if self._begins and not may_open(self._table, self._names, first):
            self._begins = False  # but behind reasoning
        if begun and not self._teller.reasoning and (first in begun or not "!" <= first <= "~"):
            yield from self._opening()
        while True:
            if self._begins:
                self._begins = False
                yield from beginning(src, self._table, self._names, self._teller, self._trial)
            if self._clear[0] <= src.pos < self._clear[1] and not (self._teller.reasoning or self._teller.queue):
                self._teller.say(src.buf[src.pos : self._clear[1]])
                src.pos = self._clear[1]
            marker = yield from self._scanner.scan()
            crowd = self._teller.crowd
            if crowd.is_over and not self._teller.reasoning:
                yield from self._rest(crowd.past)
                return
            if not marker:
                return
            if self._scanner.table is not self._table and self._scanner.table is self._fenced.table:
                if (yield from self._fenced.may_close(src)):
                    self._scanner.table = self._table  # look with all that listens
                else:
                    self._say_marker(marker)
                continue
            if (yield from self._is_vain(marker)):
                self._tell_marker(marker)
                continue
            quotation = rows = 0
            if not (yield from self._handle(marker)):
                quotation = yield from self._as_text(marker)
                rows = 0 if quotation else len(self._table.rows.get(marker.casefold(), ()))
            if len(marker) == 1:
                patience.marks += not self._trial.passed
            elif marker != FENCE and marker.casefold() not in self._table.calm:  # else it may have been passed
                light = marker[0] in FENCE_SIGNS and not self._table.opens_calls(marker)
                patience.looked(quotation, rows, light=light)
            spent = patience.marks > MARKS or patience.openers > OPENERS or patience.calls > CALLS
            if (spent or patience.is_read_out) and patience.is_over(src.base + src.pos):
                if (yield from src.peek()):
                    yield from self._rest()
                return

    def _is_passed(self) -> bool:
        """Does nothing count any more in the fence, or on the quoted line, where this stands, while nothing waits?"""
        teller = self._teller
        if self._trial.passed or self._fenced.is_early():  # where nobody need look none is counted
            return False
        if not (teller.reasoning or teller.queue):
            teller.context.standing()
        context = teller.context
        full = self._fenced.is_full(context.fenced or context.quoted_line, self._trial.noted_to)
        return full and self._scanner.table is self._table and not teller.queue

    def _as_text(self, marker: str) -> Need[int]:
        """Tell the marker as text, and pass over what need not be looked at behind it; the number of its quotation."""
        passed = marker[0] not in FENCE_SIGNS and self._is_passed()  # a fence may be the end of this one
        line = passed and self._teller.context.quoted_line
        quotation = self._say_marker(marker)
        if line:
            yield from end_line(self._src, self._teller)
        elif passed:
            self._scanner.table = self._fenced.table
        return quotation

    def _is_vain(self, marker: str) -> Need[bool]:
        """Is the marker a word with nothing behind it that it opens?  While something waits it may say more."""
        vain, src = self._scanner.table.vain, self._src
        if marker[0] not in vain.signs or self._teller.queue or self._teller.reasoning:
            return False
        while (is_vain := vain.is_vain(src.buf, src.pos, self._names, ended=src.eof)) is None:
            yield
        return is_vain

    def _say_marker(self, marker: str) -> int:
        """The marker is text; the number of the quotation that it stands in (0: none)."""
        teller = self._teller
        plain = len(marker) == 1 or marker[0] in FENCE_SIGNS or teller.reasoning or teller.queue
        sure = not plain and self._patience.openers > EARLY and teller.context.standing().sure
        self._tell_marker(marker)
        return teller.context.quotations if sure else 0

    def _tell_marker(self, marker: str) -> None:
        src = self._src
        written = min(max(0, -src.at), len(marker))
        src.pos += len(marker)
        self._teller.say(marker[written:])

    def _rest(self, past: int = 0) -> Need[None]:
        """Nothing is looked for any more but the end of reasoning: what follows is text, however it may look.

        Of what stands before this place so much was text already.
        """
        src, teller = self._src, self._teller
        teller.notice(IssueKind.NOISE, TOO_MANY, "", src.at - past)
        teller.release_all()
        if teller.reasoning:
            self._scanner.table = bare_table(self._scanner.table)
            if marker := (yield from self._scanner.scan()):
                yield from self._handle(marker)
        yield from src.until((), teller.tell)

    # ── what a marker means ──────────────────────────────────────────────────

    def _handle(self, marker: str) -> Need[bool]:
        """Act on the marker that stands here.  False: it is text."""
        t, folded = self._scanner.table, marker.casefold()
        teller = self._teller
        if teller.queue and teller.waiting_words:
            teller.settle_words()  # what quotes the place at hand may stand among them
        if teller.reasoning and folded in t.unthink and not (yield from self._thought.is_ticked(marker)):
            if folded not in self._table.headers:
                self._src.pos += len(marker)
            self._close_reasoning()
            return True
        if (folded == FENCE or folded in t.calm) and self._fences.is_plain():
            return False
        rows, self._scanner.named, self._trial.passed = (*t.rows.get(folded, ()), *self._scanner.named), (), False
        if rows and (yield from self._trial.candidate(rows)):
            return True
        if self._trial.invented:
            yield from self._turns.swallow(self._src.at)
            return True
        if folded in t.headers and (yield from self._heads(folded, marker)):
            return True
        if teller.reasoning:
            noise = folded in t.quiet and (bool(teller.queue) or folded in NOISE)
            if noise:
                self._turns.drop(marker)
            return noise
        if (folded in t.fences or folded[:3] in FENCES) and folded not in t.fabricated:
            return (yield from self._fences.read(marker[:3]))
        if folded not in t.live or (yield from self._is_quoted()):
            return False
        return (yield from self._live_marker(folded, marker))

    def _heads(self, folded: str, marker: str) -> Need[bool]:
        """Does a header stand here?"""
        ticked = yield from self._thought.is_ticked(marker)
        return not ticked and (yield from self._segment(opened=folded in self._table.headers))

    def _is_quoted(self) -> Need[bool]:
        """Is the mark that stands here quoted?"""
        standing = self._teller.context.standing()
        return standing.sure or (yield from self._trial.closes(standing))

    def _live_marker(self, folded: str, marker: str) -> Need[bool]:
        t, teller = self._scanner.table, self._teller
        if folded in t.think:
            if not (yield from self._thought.may_open(marker)):
                return False
            self._src.pos += len(marker)
            if teller.queue:
                teller.release_all()
            self._thought.open(t.think[folded])
            return True
        if folded in t.unthink:
            return (yield from self._thought.ends(marker))
        if folded in t.finals:
            self._trial.over[t.finals[folded]] = None
            return False
        opened = folded in t.quiet and closes_text(teller.context.before, folded)
        if folded in t.quiet and not opened and not (yield from self._turns.is_spoken_of(marker)):
            self._turns.drop(marker)
            if folded in t.ends:
                self._end_segment()
            return True
        if folded in t.turns or folded in t.fabricated:
            return (yield from self._turns.read(folded, marker))
        return False

    def _close_reasoning(self) -> None:
        self._thought.close()
        self._begins = self._table.opens

    # ── segments ─────────────────────────────────────────────────────────────

    def _segment(self, *, opened: bool = True) -> Need[bool]:
        """A header: from here on the message is for somebody else.  False: it is none, but text."""
        src, teller, table = self._src, self._teller, self._table
        if not teller.reasoning and (yield from self._is_quoted()):
            return False
        start = src.at
        head = yield from segments.header(src, table.segments, opened=opened)
        if head is None:
            return False
        if teller.reasoning:
            self._close_reasoning()
        self._end_segment()
        teller.notice(IssueKind.NOISE, "a header of the message's own format", head[max(0, -start) :], max(0, start))
        yield from self._follow(segments.route(head, table.segments))
        return True

    def _follow(self, route: Route) -> Need[None]:
        """Read the segment as whoever it is for."""
        if route is Route.REASONING:
            self._thought.open(segments.closers(self._table.segments))
        elif route is Route.NOBODY or (route is Route.CALLS and (yield from self._holds_data())):
            yield from self._unread()
        elif route is Route.OTHERS:
            yield from self._turns.swallow(self._src.at)
        else:
            self._scanner.table = self._table if route is Route.CALLS else addressed_table(self._table)

    def _holds_data(self) -> Need[bool]:
        """Does an object stand in a segment for a tool that is no call of a dialect that listens?"""
        _, found = yield from self._src.glance(("{",))
        if not found:
            return False
        return "{" not in self._table.rows or (yield from self._src.match(NAMED, MAX_NAMED)) is None

    def _end_segment(self) -> None:
        """What awaited the end of the message for the reader has it."""
        self._teller.settle_end()
        self._teller.new_segment()
        self._scanner.table = self._table

    def _unread(self) -> Need[None]:
        """A segment for a tool that no dialect could read as a call: it is kept in an issue, not shown."""
        got: list[str] = []
        start = self._src.at
        mark = yield from self._src.until(segments.closers(self._table.segments), got.append)
        self._src.pos -= len(mark)
        message = "a message to a tool that could not be read as a call"
        self._teller.notice(IssueKind.MALFORMED, message, "".join(got), start)

    def _opening(self) -> Need[None]:
        """The message may begin in the middle of a header, when the prompt had written its beginning."""
        t, src = self._table, self._src
        _, mark = yield from src.glance(t.begun)
        if not mark:
            return
        found = [s for s in t.segments if s.begun == mark]
        if found and not (yield from self._trial.candidate(segments.rows_of(t.rows, found))):
            yield from self._segment(opened=False)
            if self._teller.reasoning:
                self._thought.open(segments.closers(t.segments), segments.headless(t.segments))

    # ── what the template had opened ─────────────────────────────────────────

    def _begin(self, prefix: str) -> None:
        """Reasoning, a segment, or a call."""
        head = segments.begun(prefix, self._table.segments)
        if head:
            for _ in self._follow(segments.route(head, self._table.segments)):
                break
            return
        folded = prefix.casefold()
        at, opener = max(((folded.rfind(o), o) for o in self._table.think), default=(-1, ""))
        if at >= 0 and not any(c.casefold() in folded[at:] for c in self._table.think[opener]):
            self._thought.open(self._table.think[opener])
            return
        tail = prefix.strip()
        opener = next((m for m in sorted(self._table.rows, key=len, reverse=True) if tail.casefold().endswith(m)), "")
        if len(opener) > 2:
            self._src.feed(tail[len(tail) - len(opener) :])
            self._src.base = -len(opener)
