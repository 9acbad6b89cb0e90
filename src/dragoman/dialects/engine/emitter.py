"""The events of one message: text, reasoning and calls, in order, and candidates that await what follows them.

Knows drafts, the judge and where in the visible text we stand; does not read text for markers.  A candidate that may
still turn out to be text is *pending*: all that comes after it is queued behind it until it is settled, so that nothing
told has ever to be taken back.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from json import dumps
from typing import NamedTuple, TypeAlias

from ...events import CallDelta, CallDoubted, CallEnded, CallStarted, Event, IssueReported, ReasoningDelta, TextDelta
from ...types import Issue, IssueKind, Stop, Tier, ToolCall
from ..judge import hints
from ..judge.boxes import MAX_SPAN, closes, lasts
from ..judge.candidate import Draft
from ..judge.evidence import Evidence, Mark, Place, Thought, habit_of, mark_of
from ..judge.judge import AS_TEXT, Judge, breach
from ..judge.lines import begins_turn
from ..judge.quotation import Context
from ..judge.rules import OVERLOOKED, Decision, Outcome, decide
from ..reading.compiled import Row
from .overlooked import Overlooked, Read, overlooked
from .pending import Awaits, Pending

TOLD = {
    Outcome.REFUSE: "was refused",
    Outcome.ASK: "is in doubt",
}


class Seen(NamedTuple):
    """Where a candidate was found to stand, once all is known that follows it.

    `midline`: between words of a line; `ends`: the message ends behind it.
    """

    place: Place
    box: str
    thought: Thought
    hints: tuple[str, ...]
    midline: bool
    ends: bool


Judged: TypeAlias = tuple[Draft, Decision]
"""A candidate and what was decided on it."""
MOST = 1000
"""Decisions that are remembered of one message."""


class Teller:
    """Collects the events of one message."""

    def __init__(self, judge: Judge, ids: Callable[[int], str]) -> None:
        self.judge, self._ids = judge, ids
        self.context = Context()
        self.out: list[Event] = []
        self.queue: list[Event | Pending] = []
        self.reasoning = False
        self.live: Draft | None = None
        self.seen_call = False
        self.results = False  # the message began with what looks like a tool's result
        self.count = 0
        self._fresh = True
        self._reasoning_tail = "\n"
        self._taken: set[str] = set()
        self._ran: list[Draft] = []
        self._made: dict[tuple[str, str], bool] = {}
        self._prose_since_call = False
        self._unclosed: tuple[str, str] | None = None
        self._doubts: list[tuple[Draft, str, Decision, int]] = []
        self._stretches = 0  # of text in which calls in doubt stand
        self._fates: list[tuple[str, Outcome]] = []
        self._visible: list[str] = []
        self.decisions: list[Judged] = []

    def drain(self) -> list[Event]:
        """The events settled so far, neighbouring deltas joined."""
        live, out = self.live, self.out
        if live is not None and live.told < len(live.pieces):
            self._tell_pieces(live, out)
        if not out:
            return []
        self.out = []
        return _joined(out) if len(out) > 1 else out

    def emit(self, event: Event) -> None:
        """Tell an event, behind whatever is pending."""
        (self.queue if self.queue else self.out).append(event)

    def notice(self, kind: IssueKind, message: str, raw: str, start: int) -> None:
        """Tell an issue about `raw`, which stood at `start`."""
        self.emit(IssueReported(Issue(kind=kind, message=message, raw=raw, span=(start, start + len(raw)))))

    def unread(self, issue: Issue) -> None:
        """Tell of a call that could not be read."""
        self._fates.append((issue.name, Outcome.REFUSE))
        self.emit(IssueReported(issue))

    # ── text ─────────────────────────────────────────────────────────────────

    def say(self, text: str) -> None:
        """Visible text, or reasoning while it is open."""
        if not text or (self.queue and not self._resume(text)):
            return
        if self.reasoning:
            self._think(text)
        else:
            self._show(text)

    def _show(self, text: str, doubt: int = 0) -> None:
        self._shown(text)
        self.emit(TextDelta(text, doubt))

    def _shown(self, text: str) -> None:
        self._visible.append(text)
        self.context.add(text)
        self._fresh = self._fresh and text.isspace()
        if self.seen_call and not text.isspace():
            self._prose_since_call, self._unclosed = True, None

    def _think(self, text: str) -> None:
        self._thought(text)
        self.emit(ReasoningDelta(text))

    def _thought(self, text: str) -> None:
        self._reasoning_tail = (self._reasoning_tail + text)[-80:] if len(text) < 80 else text[-80:]

    def passed(self, text: str) -> None:
        """`text` was told without us, while nothing was pending."""
        if self.reasoning:
            self._thought(text)
        else:
            self._shown(text)

    def tell(self, text: str) -> None:
        """Text behind which nothing is looked for any more."""
        self.out.append(TextDelta(text))

    def line_start(self, before: str) -> bool:
        """Is the place after `before`, text not told yet, the first on its line?"""
        cut = before.rfind("\n")
        if cut >= 0:
            rest = before[cut + 1 :]
            return not rest or _is_blank(rest)
        if before and not _is_blank(before):
            return False
        if self.queue:
            return self._queued_line_start()
        if self.reasoning:
            return not self._reasoning_tail.rpartition("\n")[2].strip()
        return self._fresh or self.context.line_blank

    def _queued_line_start(self) -> bool:
        """While candidates are pending: has only white space followed the last one, or the last line's end?"""
        for item in reversed(self.queue):
            if isinstance(item, Pending):
                return True
            if isinstance(item, TextDelta | ReasoningDelta):
                cut = item.text.rfind("\n")
                if item.text[cut + 1 :].strip():
                    return False
                if cut >= 0:
                    return True
        return True

    @property
    def repeats(self) -> bool:
        """May the next call be the last one once more, which was not closed?"""
        return self._unclosed is not None

    @property
    def waits(self) -> bool:
        """Is a candidate pending that more than words may decide?"""
        return any(isinstance(item, Pending) and item.awaits is not Awaits.WORDS for item in self.queue)

    @property
    def before(self) -> str:
        """The last words before this place, those that wait behind a candidate too."""
        waiting: list[str] = []
        for item in reversed(self.queue):
            if isinstance(item, Pending):
                return "".join(reversed(waiting))
            waiting.append(getattr(item, "text", ""))
        return self.context.before

    @property
    def behind_call(self) -> bool:
        """Has nothing but white space come since the last call?"""
        for item in reversed(self.queue):
            if isinstance(item, Pending):
                return True
            if not getattr(item, "text", " ").isspace():
                return False
        return self.seen_call and not self._prose_since_call and not self.reasoning

    @property
    def ticked(self) -> bool:
        """Does a backtick stand right before this place in reasoning?"""
        return self._reasoning_tail[-1:] == "`"

    @property
    def last(self) -> str:
        """The sign before this place; "" for none."""
        return self._reasoning_tail[-1:] if self.reasoning else self.before[-1:]

    @property
    def waiting_words(self) -> bool:
        """Do words wait behind a candidate?"""
        return any(isinstance(item, TextDelta) and not item.text.isspace() for item in self.queue)

    def new_line(self) -> None:
        """A call was taken out of the text: what follows begins afresh."""
        self._fresh = True

    def new_segment(self) -> None:
        """The message goes on for somebody else: nothing that was open quotes what follows."""
        self.context, self._fresh = Context(), True

    def forget(self) -> None:
        """What was told so far was reasoning."""
        self.context = Context()
        self._fresh, self.seen_call, self._ran, self._made = True, False, [], {}
        self._doubts, self._fates, self._visible = [], [], []

    # ── calls ────────────────────────────────────────────────────────────────

    def begin_live(self, draft: Draft) -> None:
        """Tell a call's start at once; its arguments follow as they are read."""
        self.settle_words()
        self._start(draft, self.out)
        self.live = draft

    def end_live(self, raw: str) -> None:
        """The live call, written as `raw`, is complete, and another follows it."""
        if self.live is not None:
            draft, self.live = self.live, None
            self.judge.settle(draft)
            evidence = Evidence(mark=Mark.TAG, strong=True, refusal=draft.refusal, edits=_kinds(draft))
            self.end(draft, raw, decide(evidence))

    def _start(self, draft: Draft, out: list[Event]) -> None:
        draft.index = self.count
        self.count += 1
        self._name(draft, draft.index)
        draft.started = True
        out.append(CallStarted(draft.index, draft.id, draft.name))

    def _name(self, draft: Draft, index: int) -> None:
        if not draft.id or draft.id in self._taken:
            draft.id = self._free_id(index)
        self._taken.add(draft.id)

    def _free_id(self, index: int) -> str:
        minted = self._ids(index)
        while minted in self._taken:
            minted += "_"
        return minted

    @staticmethod
    def _tell_pieces(draft: Draft, out: list[Event]) -> None:
        pieces = draft.pieces
        size = len(pieces)
        out.append(CallDelta(draft.index, pieces[-1] if size == draft.told + 1 else "".join(pieces[draft.told :])))
        draft.told = size

    def _record(self, draft: Draft, decision: Decision) -> None:
        if len(self.decisions) < MOST:
            self.decisions.append((draft, decision))

    def end(self, draft: Draft, raw: str, decision: Decision) -> None:
        """Tell the end of a draft that runs or is refused (and, if it was not told while it was read, all of it)."""
        self._record(draft, decision)
        draft.ended = self.seen_call = True
        self.context.interrupt()
        self._prose_since_call = False
        self._fates.append((draft.name, decision.outcome))
        runs = decision.outcome is Outcome.RUN
        if runs and not draft.started:
            self._start(draft, self.out)
        if draft.started:
            self._end_started(draft, decision)
        if not runs:
            self.out.append(IssueReported(located(draft, raw or draft.text())))
            return
        self._ran.append(draft)
        unclosed = draft.strong and any(e.kind == "unclosed" for e in draft.edits)
        self._unclosed = _call_of(draft) if unclosed else None

    def _end_started(self, draft: Draft, decision: Decision) -> None:
        if draft.told < len(draft.pieces):
            self._tell_pieces(draft, self.out)
        tier = Tier.TAGGED if draft.strong else Tier.RAW_JSON
        self.out.append(CallEnded(draft.index, draft.report(tier, decision)))

    def end_all(self, items: list[Draft | Event], raws: dict[int, str], raw: str, broken: Draft | None = None) -> None:
        """Tell what a damaged attempt read: its whole calls, and why the last one is none."""
        self.live = None
        for item in items:
            if not isinstance(item, Draft):
                self.out.append(item)
            elif not item.ended:
                self._end_damaged(item, raw if len(raws) == 1 else raws[id(item)], known=item is broken)

    def _end_damaged(self, draft: Draft, written: str, *, known: bool) -> None:
        sound = known or self.judge.settle(draft)
        evidence = Evidence(
            mark=Mark.TAG, strong=True, refusal=draft.refusal, edits=_kinds(draft),
            repeats=not known and self._recaps(draft), copy=None if known else self.judge.copy_of(draft),
        )  # fmt: skip
        decision = decide(evidence)
        if sound and decision.outcome in (Outcome.RUN, Outcome.REFUSE):
            self.end(draft, written, decision)
        else:
            self._leave(draft, written, decision)

    # ── candidates that await what follows ───────────────────────────────────

    def await_rest(self, pending: Pending) -> None:
        """Queue a candidate whose verdict is still open."""
        self.settle_words()
        self.queue.append(pending)
        self.new_line()

    def _resume(self, text: str) -> bool:
        """Text arrives while candidates await it.  False when it was queued."""
        head = self._head()
        if head is None:
            return True
        if head.awaits is Awaits.END:
            if text.isspace() or self.judge.protocol:
                self._enqueue(text)
                return False
            self._go_on()
            return not self.queue or self._resume(text)
        self._enqueue(text)
        head.follow(text)
        if head.awaits is Awaits.WORDS:
            if _has_line(head.after):
                self.settle_words()
        else:
            self._settle_heads(head)
        return False

    def _head(self) -> Pending | None:
        """The first candidate that awaits its verdict."""
        return next((q for q in self.queue if isinstance(q, Pending)), None)

    def _go_on(self) -> None:
        """The message does not end behind the candidates that waited for it: more words follow."""
        queue, self.queue = self.queue, []
        last = max((n for n, item in enumerate(queue) if isinstance(item, Pending)), default=-1)
        for place, item in enumerate(queue):
            if not isinstance(item, Pending):
                self._retell(item)
            elif item.reasoning:
                self.accept(item, thought=Thought.ENDED)
            elif place == last:
                item.awaits = Awaits.WORDS
                self.queue.append(item)
                for rest in queue[place + 1 :]:
                    self.queue.append(rest)
                    item.follow(getattr(rest, "text", ""))
                return
            else:
                self.accept(item, place=Place.FIRST if item.whole else Place.AMONG)

    def settle_words(self) -> None:
        """Decide on the candidate that waits for words behind it, by those that have come."""
        head = self._head()
        if head is None or head.awaits is not Awaits.WORDS:
            return
        queue, self.queue = self.queue, []
        for item in queue:
            if item is head:
                self.accept(head, place=Place.FIRST if head.whole else Place.AMONG, behind="".join(head.after))
            elif isinstance(item, Pending):
                self.queue.append(item)
            else:
                self._retell(item)

    def _settle_heads(self, head: Pending | None) -> None:
        """Settle the candidates, in order, of which the text behind them tells enough by now."""
        while head is not None and head.standing is not None:
            verdict = closes(head.standing, "".join(head.after)[:MAX_SPAN])
            if verdict is None and head.size < MAX_SPAN:
                return
            self._resolve(quoted=lasts(head.standing) if verdict is None else verdict)
            head = self._head()
            if head is not None:
                head.after = self._texts_behind(head)
                head.size = sum(map(len, head.after))
        if head is None or not head.size:
            return
        if head.awaits is Awaits.END and not "".join(head.after).isspace():
            self._go_on()
        elif head.awaits is Awaits.WORDS and _has_line(head.after):
            self.settle_words()

    def _texts_behind(self, pending: Pending) -> list[str]:
        place = next(n for n, item in enumerate(self.queue) if item is pending)
        return [item.text for item in self.queue[place:] if isinstance(item, TextDelta | ReasoningDelta)]

    def _enqueue(self, text: str) -> None:
        self.queue.append(ReasoningDelta(text) if self.reasoning else TextDelta(text))

    def release_all(self) -> None:
        """Something else than words follows: what waits is decided as things stand."""
        queue, self.queue = self.queue, []
        for item in queue:
            if not isinstance(item, Pending):
                self._retell(item)
            elif item.reasoning:
                self.accept(item, thought=Thought.ENDED)
            elif item.standing is not None:
                self.accept(item, box=str(item.standing.quote))
            else:
                place = Place.FIRST if item.whole else Place.AMONG
                self.accept(item, place=place, behind="".join(item.after))

    def _retell(self, event: Event) -> None:
        if isinstance(event, TextDelta):
            self._show(event.text, event.doubt)
        else:
            self.emit(event)

    def _release(self, pending: Pending, doubt: int = 0) -> None:
        if pending.reasoning:
            self._think(pending.raw)
        else:
            self._show(pending.raw, doubt)

    def _resolve(self, *, quoted: bool) -> None:
        """A span that was open before the first pending call closed after it, or did not."""
        queue, self.queue = self.queue, []
        settled = False
        for place, item in enumerate(queue):
            if not isinstance(item, Pending):
                self._retell(item)
            elif settled:
                self.queue += queue[place:]
                return
            else:
                assert item.standing is not None
                self.accept(item, box=str(item.standing.quote) if quoted else "", behind="".join(item.after))
                settled = True

    # ── verdicts ─────────────────────────────────────────────────────────────

    def accept(
        self, pending: Pending, *, place: Place = Place.AMONG, box: str = "", thought: Thought = Thought.NONE,
        behind: str = "", ends: bool = False,
    ) -> None:
        """Decide on a candidate now that all is known that bears on it, and tell what follows."""
        goes_on = SAME_LINE.match(behind) is not None
        if goes_on and not pending.strong:
            place = Place.INLINE
        if pending.whole and place is Place.FIRST and begins_turn(behind):
            place = Place.ALONE  # the model's own message ends where it goes on as somebody else
        against = (*pending.hints, *(hints.behind(behind) if behind else ()))
        seen = Seen(place, box, thought, against, goes_on and pending.inline, ends)
        decided = {id(d): self._decide(d, pending, seen) for d in pending.drafts}
        if decided and all(self._stays(d, decided[id(d)]) for d in pending.drafts):
            doubt = self._doubt_of(*decided.values())
            self._release(pending, doubt)
            for draft in pending.drafts:
                self._note_left(draft, pending.raws[id(draft)], decided[id(draft)], doubt)
            self.new_line()
            return
        for item in pending.items:
            if not isinstance(item, Draft):
                self.out.append(item)
                continue
            written = pending.raw if len(pending.raws) == 1 else pending.raws[id(item)]
            if self._stays(item, decided[id(item)]) or decided[id(item)].outcome is Outcome.TEXT:
                self._leave(item, written, decided[id(item)])
            else:
                self.end(item, written, decided[id(item)])
        self.new_line()

    def _decide(self, draft: Draft, pending: Pending, seen: Seen) -> Decision:
        """The rule that holds for one call."""
        draft.data = not self.judge.settle(draft)
        mark = Mark.FENCE if pending.fenced and not pending.strong else pending.mark
        habit = habit_of(draft.dialect, mark, seen.place, ends=seen.ends)
        evidence = Evidence(
            mark=mark,
            strong=pending.strong,
            asked=pending.asked,
            habit=habit,
            confirmed=habit in self.judge.habits,
            native=self.judge.native,
            place=seen.place,
            box=seen.box or ("" if seen.place is Place.ALONE else _box(pending)),
            thought=seen.thought,
            told=self.judge.tools is not None,
            refusal=draft.refusal,
            edits=_kinds(draft),
            copy=self.judge.copy_of(draft),
            repeats=draft.done and self._recaps(draft),
            hints=seen.hints,
            word=seen.midline and _is_word(draft),
        )
        return self.judge.outcome(decide(evidence))

    def _stays(self, draft: Draft, decision: Decision) -> bool:
        """Does the candidate stay in the visible text?  What proves little does, whatever is wrong with it."""
        if decision.outcome is Outcome.REFUSE:
            return not (draft.strong or decision.evidence.asked or decision.evidence.place is Place.ALONE)
        if decision.outcome is Outcome.TEXT:
            return draft.data or not self._is_echo(draft)
        return draft.data or decision.outcome is Outcome.ASK

    def _leave(self, draft: Draft, written: str, decision: Decision) -> None:
        """A candidate that is no call stands as text; the same call begun once more is told of, not shown."""
        if draft.strong and decision.rule.name == "repeat":
            self._record(draft, decision)
            message = f"the call of {draft.name!r} was made twice; it is one call"
            if draft.started:
                self._end_started(draft, decision)
            self.emit(IssueReported(Issue(kind=IssueKind.NOISE, message=message, raw=written, name=draft.name)))
            return
        doubt = self._doubt_of(decision)
        self._show(written, doubt)
        self._note_left(draft, written, decision, doubt)

    def _doubt_of(self, *decisions: Decision) -> int:
        """The number of the stretch of text in which these stand, where one of them is in doubt; else 0."""
        if not any(decision.outcome is Outcome.ASK for decision in decisions):
            return 0
        self._stretches += 1
        return self._stretches

    def _note_left(self, draft: Draft, written: str, decision: Decision, doubt: int) -> None:
        """What is told of a candidate that stands in the text."""
        self._record(draft, decision)
        draft.ended = draft.shown = True
        if draft.started:
            self._end_started(draft, decision)
        if draft.data:
            return
        if decision.outcome is Outcome.ASK:
            self._doubts.append((draft, written, decision, doubt))
            return
        span = (draft.start, draft.end or draft.start + len(written))
        if decision.outcome is Outcome.REFUSE:
            self._fates.append((draft.name, decision.outcome))
            self.emit(IssueReported(located(draft, "")))
        elif decision.rule.issue is not None:
            message = f"a call of {draft.name!r} was left as text: {decision.reason}"
            self.emit(IssueReported(Issue(kind=decision.rule.issue, message=message, name=draft.name, span=span)))

    def left(self, draft: Draft, row: Row, box: str) -> None:
        """Tell of a call that stands inside what quotes, and stays there."""
        decision = decide(Evidence(mark=mark_of(row.dialect, strong=True), strong=True, box=box))
        draft.shown = True
        self._record(draft, decision)
        message = f"a call of {draft.name!r} was left as text: {decision.reason}"
        span = (draft.start, draft.end)
        self.emit(IssueReported(Issue(kind=IssueKind.QUOTED, message=message, name=draft.name, span=span)))

    def _is_echo(self, draft: Draft) -> bool:
        """Is this the last call begun once more, since it had not been closed (malformations.md 5)?"""
        may = self._unclosed is not None and draft.refusal is None and draft.done and draft.strong
        return may and self._unclosed == _call_of(draft)

    def _recaps(self, draft: Draft) -> bool:
        """Is this a call made before: after prose, or once in weak and once in strong markup?"""
        if draft.refusal is not None or not draft.done:
            return False
        if self._is_echo(draft):
            return True
        made = self._calls_made()
        call = _call_of(draft) if made else ("", "")
        if call not in made:
            return False
        return not made[call] if draft.strong else made[call] or self._prose_since_call

    def _calls_made(self) -> dict[tuple[str, str], bool]:
        """The calls that count so far, by value, and whether any of that value stood in strong markup."""
        for draft in self._ran:
            call = _call_of(draft)
            self._made[call] = self._made.get(call, False) or draft.strong
        self._ran = []
        return self._made

    # ── the end ──────────────────────────────────────────────────────────────

    def settle_end(self, finish: str = "") -> None:
        """The message has ended: what awaited its end has it."""
        queue, self.queue = self.queue, []
        if self.judge.protocol:
            self._settle_protocol(queue)
            return
        for place, item in enumerate(queue):
            if isinstance(item, Pending):
                self._settle_last(item, queue[place + 1 :], finish)
            else:
                self._retell(item)

    def _settle_last(self, pending: Pending, rest: list[Event | Pending], finish: str) -> None:
        """Decide on a candidate behind which the message ends, with `rest` after it."""
        after = "".join(e.text for e in rest if isinstance(e, TextDelta))
        if pending.reasoning:
            self.accept(pending, thought=Thought.CUT if finish == Stop.LENGTH else Thought.OPEN)
        elif pending.standing is not None:
            quoted = finish == Stop.LENGTH or closes(pending.standing, after + " ")
            box = str(pending.standing.quote) if quoted else ""
            self.accept(pending, box=box, behind=after, ends=not after.strip())
        elif pending.awaits is Awaits.END:
            self.accept(pending, place=Place.ALONE if pending.whole else Place.AMONG, ends=True)
        else:
            first = Place.FIRST if after.strip(STRAY) else Place.ALONE
            place = first if pending.whole else Place.AMONG
            self.accept(pending, place=place, behind=after, ends=not after.strip())

    def settle_doubts(self) -> None:
        """Tell the calls that stayed in doubt, and of those that ran without the others they were made with."""
        made = self._calls_made()
        for draft, written, decision, doubt in self._doubts:
            if _call_of(draft) in made:
                continue
            self._fates.append((draft.name, Outcome.ASK))
            if not draft.started:
                self._name(draft, self.count)
            report = draft.report(Tier.TAGGED if draft.strong else Tier.RAW_JSON, decision)
            call = ToolCall(id=draft.id, name=draft.name, arguments=draft.arguments(), raw=draft.text(), report=report)
            self.out.append(CallDoubted(call, written, doubt))
        self._doubts = []
        self._tell_partial()

    def settle_overlooked(self, read: Read) -> None:
        """Tell of the calls that no marker led to (`overlooked.py`); none of them runs."""
        judge = self.judge
        if not judge.tools or judge.asked_by_name or judge.strict or len(self.decisions) >= MOST:
            return
        known = {_call_of(draft) for draft, _ in self.decisions if draft.done}
        for found in overlooked("".join(self._visible), judge.declared, read):
            if (found.name, dumps(found.arguments, sort_keys=True)) not in known:
                self._tell_overlooked(found)

    def _tell_overlooked(self, found: Overlooked) -> None:
        written = "".join(self._visible)[found.start : found.end]
        draft = Draft("", 0, strong=False, name=found.name, done=True, pieces=[dumps(found.arguments)])
        draft.tool, draft.written, draft.shown = self.judge.declared[found.name], written, True
        place = Place.INLINE if found.inside else Place.AMONG
        mark = Mark.OBJECT if written.startswith("{") else Mark.TAG
        decision = decide(Evidence(mark=mark, strong=False, place=place, copy=self.judge.copy_of(draft)), OVERLOOKED)
        if self.judge.doubt != "ask":
            decision = decision._replace(rule=replace(decision.rule, **AS_TEXT))
        self._record(draft, decision)
        kind = decision.rule.issue
        if kind is not None:
            message = f"a call of {found.name!r} was left as text: {decision.reason}"
            self.emit(IssueReported(Issue(kind=kind, message=message, name=found.name)))
            return
        self._name(draft, self.count)
        report = replace(draft.report(Tier.RAW_JSON, decision), span=None)
        call = ToolCall(id=draft.id, name=found.name, arguments=found.arguments, raw=draft.text(), report=report)
        self.emit(CallDoubted(call, written))

    def _tell_partial(self) -> None:
        """A part of the calls of a message never runs in silence (F)."""
        fates, self._fates = self._fates, []
        ran = [name for name, fate in fates if fate is Outcome.RUN]
        others = [f"{f'the call of {name!r}' if name else 'one'} {TOLD[fate]}" for name, fate in fates if fate in TOLD]
        if ran and others:
            message = f"{len(ran)} of {len(fates)} calls run: {'; '.join(others[:8])}"
            self.out.append(IssueReported(Issue(kind=IssueKind.PARTIAL, message=message)))

    def _settle_protocol(self, queue: list[Event | Pending]) -> None:
        """Strictly one object and nothing else."""
        found = [q for q in queue if isinstance(q, Pending)]
        drafts = [d for p in found for d in p.drafts]
        alone = all(isinstance(q, Pending) or getattr(q, "text", "").isspace() for q in queue)
        if alone and len(found) == 1 and found[0].whole and not found[0].fenced and len(drafts) <= 1:
            self.accept(found[0], place=Place.ALONE)
            return
        raw = "".join(q.raw if isinstance(q, Pending) else getattr(q, "text", "") for q in queue)
        if found and not self.context.any:
            why = "it holds more than one object" if len(drafts) > 1 else "text or markup stands around the object"
            self.out.append(IssueReported(breach(why, raw)))
            return
        for item in queue:
            if isinstance(item, Pending):
                self._release(item)
            else:
                self._retell(item)
        if not self.seen_call:
            self.out.append(IssueReported(breach("it is not one JSON object of the protocol")))


FENCED = "a fenced block"
STRAY = " \t\r\n.;`]"
"""What may be left behind a call that is all of the message: a full stop, a fence's end without its beginning."""
SAME_LINE = re.compile(r"[ \t]*[,;:.]?[ \t]*[^\W\d_]")
"""Words that go on on the same line."""


def _is_blank(text: str) -> bool:
    """White space, and the signs without width that editors put before a text."""
    return not text.strip().strip("\ufeff\u200b\u2060")


def _has_line(texts: list[str]) -> bool:
    """Is the first line of words complete?"""
    text = "".join(texts).lstrip(STRAY)
    return "\n" in text or len(text) >= hints.REACH


def _kinds(draft: Draft) -> tuple[str, ...]:
    return tuple(dict.fromkeys(edit.kind for edit in draft.edits))


def _box(pending: Pending) -> str:
    """What quotes the candidate where it is not all of the message."""
    return FENCED if pending.fenced and pending.strong else pending.box


def _is_word(draft: Draft) -> bool:
    """Does markup hold nothing but a name that no tool has?"""
    unknown = draft.refusal is not None and draft.refusal.kind is IssueKind.UNKNOWN_TOOL
    return unknown and draft.done and draft.text() == "{}"


def _call_of(draft: Draft) -> tuple[str, str]:
    """A call by its value: its name, and its arguments in one spelling."""
    return draft.name, dumps(draft.arguments(), sort_keys=True)


def located(draft: Draft, raw: str) -> Issue:
    """The refusal of a draft as an issue that says where, and keeps what was written."""
    refusal = draft.refusal
    assert refusal is not None
    return Issue(
        kind=refusal.kind,
        message=refusal.message,
        raw=raw,
        name=draft.name,
        correction=refusal.correction,
        span=(draft.start, draft.end or draft.start + len(raw)),
        call_id=draft.id,
    )


def _joined(events: list[Event]) -> list[Event]:
    """Neighbouring deltas of one kind made one; text in doubt stays apart."""
    out: list[Event] = []
    for (kind, doubt), run in groupby(events, key=lambda event: (type(event), getattr(event, "doubt", 0))):
        if kind is TextDelta:
            out.append(TextDelta("".join(e.text for e in run if isinstance(e, TextDelta)), doubt))
        elif kind is ReasoningDelta:
            out.append(ReasoningDelta("".join(e.text for e in run if isinstance(e, ReasoningDelta))))
        else:
            out += run
    return out
