"""The events of one message: what is told of each call, of what was decided on it, and of what stays in doubt.

Knows drafts and the judge; the text round them is in `told_text.py`, what waits for what follows in `waiting.py`.
Does not read text for markers.
Contract: a call is started and ended once, its deltas between; a candidate that is no call stands as text; what does
not run is told of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from json import dumps
from typing import TypeAlias

from ...events import CallDelta, CallDoubted, CallEnded, CallStarted, Event, IssueReported
from ...late import late
from ...records import NamedTuple, replace
from ...types import Issue, IssueKind, Tier, ToolCall
from ..judge import hints
from ..judge.candidate import Draft, close_json, spelling
from ..judge.evidence import Evidence, Mark, Place, Thought, habit_of, is_usual, mark_of
from ..judge.judge import AS_TEXT, Judge
from ..judge.lines import begins_turn
from ..judge.quotation import Context
from ..judge.rules import OVERLOOKED, Decision, Outcome, decide, decide_usual
from ..reading.compiled import Row
from .ids import free_id
from .overlooked import Overlooked, Read, overlooked
from .pending import Pending
from .told_text import joined
from .visible import VisibleText
from .waiting import Waiting

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


class Teller(Waiting):
    """Collects the events of one message."""

    __slots__ = (
        "_again", "_doubted", "_doubts", "_fates", "_ids", "_made", "_ran", "_spoken_of", "_stretches", "_taken",
        "count", "decisions", "live",
    )  # fmt: skip

    count: int
    seen_call: bool

    def __init__(self, judge: Judge, ids: Callable[[int], str]) -> None:
        super().__init__(judge)
        self._ids = ids
        self.live: Draft | None = None
        self.count = 0
        self._taken: dict[str, None] = {}  # an empty set is three times as large, and most answers hold no call
        self._again: dict[str, int] = {}  # how often an id was minted that was taken
        self._ran: list[Draft] = []
        self._made: dict[tuple[str, str], bool] = {}
        self._doubts: list[tuple[Draft, str, Decision, int]] = []
        self._doubted: Sequence[str] = ()
        self._stretches = 0  # of text in which calls in doubt stand
        self._fates: list[tuple[str, Outcome]] = []
        self._spoken_of = False  # the candidate at hand is, by what is said before or right behind it
        self.decisions: list[Judged] = []

    def drain(self) -> list[Event]:
        """The events settled so far, neighbouring deltas joined."""
        live, out = self.live, self.out
        if live is not None and live.told < len(live.pieces):
            self._tell_pieces(live, out)
        if not out:
            return []
        self.out = []
        return joined(out) if len(out) > 1 else out

    def unread(self, issue: Issue) -> None:
        """Tell of a call that could not be read."""
        self._fates.append((issue.name, Outcome.REFUSE))
        self.emit(IssueReported(issue))

    def forget(self) -> None:
        """What was told so far was reasoning."""
        self.context: Context = Context()
        self._fresh, self.seen_call, self._ran, self._made = True, False, [], {}
        self._doubts, self._fates, self._visible = [], [], VisibleText()

    # ── calls ─────────────────────────────────────────────────────────────────

    @property
    def repeats(self) -> bool:
        """May the next call be the last one once more, which was not closed?"""
        return self._unclosed is not None

    def begin_live(self, draft: Draft) -> None:
        """Tell a call's start at once; its arguments follow as they are read."""
        if self.queue:
            self.settle_words()
        self._start(draft, self.out)
        self.live = draft

    def let_go(self) -> None:
        """The live call, if there is one, is read whole: all of it is told, and its end waits for the verdict."""
        live, self.live = self.live, None
        if live is not None:
            self._tell_pieces(live, self.out)

    def supersede(self, broken: Draft, draft: Draft) -> None:
        """A call that broke was read again as `draft`: it goes on as that, if what was told of it fits; else it ends.

        Nothing more is told of one that ends so.
        """
        self.live = None
        if not broken.started or broken.ended:
            return
        written, text = broken.text(), draft.text()
        if broken.name == draft.name and text.startswith(written):
            draft.index, draft.id, draft.started, draft.told = broken.index, broken.id, True, broken.told
            draft.pieces = [*broken.pieces, text[len(written) :]]
            return
        broken.write(close_json(written))
        broken.refuse(IssueKind.MALFORMED, "it was read again, as another call")
        self._end_started(broken, decide(Evidence(mark=Mark.TAG, strong=broken.strong, refusal=broken.refusal)))

    def end_live(self, raw: str, pending: Pending) -> None:
        """The live call, written as `raw`, is complete, and another of what is `pending` follows it."""
        if self.live is not None:
            draft, self.live = self.live, None
            place = Place.FIRST if pending.whole else Place.AMONG
            decision = self._decide(draft, pending, Seen(place, "", Thought.NONE, (), midline=False, ends=False))
            (self._leave if decision.rule.outcome is Outcome.TEXT else self.end)(draft, raw, decision)

    def _start(self, draft: Draft, out: list[Event]) -> None:
        draft.index = self.count
        self.count += 1
        self._name(draft, draft.index)
        draft.started = True
        out.append(CallStarted(draft.index, draft.id, draft.name))

    def _name(self, draft: Draft, index: int) -> None:
        if not draft.id or draft.id in self._taken:
            draft.id = free_id(self._ids(index), self._taken, self._again)
        self._taken[draft.id] = None

    @staticmethod
    def _tell_pieces(draft: Draft, out: list[Event]) -> None:
        pieces = draft.pieces
        size = len(pieces)
        if draft.told == size:
            return
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
        self._prose_since_call, self._since_left = False, None
        outcome = decision.rule.outcome
        self._fates.append((draft.name, outcome))
        runs = outcome is Outcome.RUN
        if runs and not draft.started:
            self._start(draft, self.out)
        if draft.started:
            self._end_started(draft, decision)
        if not runs:
            self.out.append(IssueReported(located(draft, raw or draft.text())))
            return
        self._ran.append(draft)
        unclosed = draft.strong and bool(draft.edits) and any(e.kind == "unclosed" for e in draft.edits)
        self._unclosed = draft.value() if unclosed else None

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

    # ── verdicts ──────────────────────────────────────────────────────────────

    def accept(
        self, pending: Pending, *, place: Place = Place.AMONG, box: str = "", thought: Thought = Thought.NONE,
        behind: str = "", ends: bool = False,
    ) -> None:
        """Decide on a candidate now that all is known that bears on it, and tell what follows."""
        behind = "" if behind.isspace() else behind
        goes_on = bool(behind) and SAME_LINE.match(behind) is not None
        if goes_on and not pending.strong:
            place = Place.INLINE
        if pending.whole and place is Place.FIRST and begins_turn(behind):
            place = Place.ALONE  # the model's own message ends where it goes on as somebody else
        tails = hints.behind(behind, pending.before) if behind else ()
        points_back = bool(tails) and not hints.POINTS_BACK.isdisjoint(tails)
        self._spoken_of = bool(pending.hints) or not pending.strong or points_back
        seen = Seen(place, box, thought, (*pending.hints, *tails), goes_on and pending.inline, ends)
        drafts = pending.drafts
        if len(drafts) == 1 == len(pending.items):
            (draft,), written = drafts, pending.raw
            decision = self._decide(draft, pending, seen)
            if decision.rule.outcome is not Outcome.TEXT and not self._stays(draft, decision):
                self.end(draft, written, decision)
                self.new_line()
                return
            decided = {id(draft): decision}
        else:
            first = seen._replace(place=Place.FIRST, ends=False) if place is Place.ALONE and pending.strong else seen
            decided = {id(d): self._decide(d, pending, seen if d is drafts[-1] else first) for d in drafts}
        self._accept_all(pending, drafts, decided)
        self.new_line()

    def _accept_all(self, pending: Pending, drafts: list[Draft], decided: Mapping[int, Decision]) -> None:
        """Tell what follows of all that a candidate holds; it is one text if all of it stays there."""
        staying = {id(d) for d in drafts if self._stays(d, decided[id(d)])}
        if decided and len(staying) == len(decided):
            doubt = self._doubt_of(*decided.values())
            self._release(pending, doubt)
            for draft in drafts:
                self._note_left(draft, pending.raws[id(draft)], decided[id(draft)], doubt)
            return
        for item in pending.items:
            if not isinstance(item, Draft):
                self.out.append(item)
                continue
            written = pending.raw if len(pending.raws) == 1 else pending.raws[id(item)]
            decision = decided[id(item)]
            if id(item) in staying or decision.rule.outcome is Outcome.TEXT:
                self._leave(item, written, decision)
            else:
                self.end(item, written, decision)

    def _decide(self, draft: Draft, pending: Pending, seen: Seen) -> Decision:
        """The rule that holds for one call."""
        if not draft.settled:
            draft.data = not self.judge.settle(draft)
        mark = Mark.FENCE if pending.fenced and not pending.strong else pending.mark
        marked = not pending.fenced and hints.opens_midline(pending.before[-hints.REACH :])
        habit = "" if marked else habit_of(draft.dialect, mark, seen.place, ends=seen.ends)
        judge = self.judge
        confirmed, told = habit in judge.habits, judge.tools is not None
        box = seen.box or ("" if seen.place is Place.ALONE else _box(pending))
        copy = judge.copy_of(draft) if judge.watches_copies else None
        repeats = draft.done and self._recaps(draft, told_of=bool(seen.hints))
        word = seen.midline and _is_word(draft)
        others = (
            pending.asked or confirmed or judge.native or repeats or word or box or draft.edits or seen.hints
            or draft.refusal is not None or copy is not None
        )  # fmt: skip
        if is_usual(pending.strong, told, seen.thought, others):
            return decide_usual(mark, seen.place, habit)  # in no doubt
        evidence = Evidence(
            mark=mark,
            strong=pending.strong,
            asked=pending.asked,
            habit=habit,
            confirmed=confirmed,
            native=judge.native,
            place=seen.place,
            box=box,
            thought=seen.thought,
            told=told,
            refusal=draft.refusal,
            edits=_kinds(draft),
            copy=copy,
            repeats=repeats,
            hints=seen.hints,
            word=word,
        )
        return judge.outcome(decide(evidence))

    def _stays(self, draft: Draft, decision: Decision) -> bool:
        """Does the candidate stay in the visible text?  What proves little does, whatever is wrong with it."""
        outcome = decision.rule.outcome
        if outcome is Outcome.REFUSE:
            return not (draft.strong or decision.evidence.asked or decision.evidence.place is Place.ALONE)
        if outcome is Outcome.TEXT:
            return draft.data or not self._is_echo(draft)
        return draft.data or outcome is Outcome.ASK

    def _leave(self, draft: Draft, written: str, decision: Decision) -> None:
        """A candidate that is no call stands as text; the same call begun once more is told of, not shown."""
        if draft.strong and decision.rule.name == "repeat":
            self._record(draft, decision)
            draft.ended = True
            message = f"the call of {draft.name!r} was made twice; it is one call"
            if draft.started:
                self._end_started(draft, decision)
            self.emit(IssueReported(Issue(kind=IssueKind.NOISE, message=message, raw=written, name=draft.name)))
            return
        doubt = self._doubt_of(decision)
        self._show(written, doubt, call=draft.strong)
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
        self._since_left = "" if self._spoken_of else None
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
        return may and self._unclosed == draft.value()

    def _recaps(self, draft: Draft, *, told_of: bool = False) -> bool:
        """Is this a call made before: after prose, once in weak and once in strong markup, or one that is `told_of`?"""
        if draft.refusal is not None or not draft.done:
            return False
        if self._unclosed is not None and self._is_echo(draft):
            return True
        if not (self._ran or self._made):
            return False
        made = self._calls_made()
        call = draft.value() if made else ("", "")
        if call not in made:
            return False
        return told_of or not made[call] if draft.strong else made[call] or self._prose_since_call

    def _calls_made(self) -> dict[tuple[str, str], bool]:
        """The calls that count so far, by value, and whether any of that value stood in strong markup."""
        for draft in self._ran:
            call = draft.value()
            self._made[call] = self._made.get(call, False) or draft.strong
        self._ran = []
        return self._made

    # ── the end ───────────────────────────────────────────────────────────────

    def settle_doubts(self) -> None:
        """Tell the calls that stayed in doubt, and of those that ran without the others they were made with."""
        self._doubted = [written for _, written, _, _ in self._doubts]
        for draft, written, decision, doubt in self._doubts:
            if draft.value() in self._calls_made():
                continue
            self._fates.append((draft.name, Outcome.ASK))
            if not draft.started:
                self._name(draft, self.count)
            report = draft.report(Tier.TAGGED if draft.strong else Tier.RAW_JSON, decision)
            call = ToolCall(id=draft.id, name=draft.name, arguments=draft.arguments(), raw=draft.text(), report=report)
            self.out.append(CallDoubted(call, written, doubt))
        self._doubts = []
        if len(self._fates) > 1:
            self._tell_partial()

    def settle_overlooked(self, read: Read) -> None:
        """Tell of the calls that no marker led to (`overlooked.py`); none of them runs."""
        judge = self.judge
        if not judge.declared.some or judge.asked_by_name or judge.strict or len(self.decisions) >= MOST:
            return
        text, context = self._visible.end()
        known: set[tuple[str, str]] | None = None  # spelt out only where there is something to compare with
        for found in overlooked(text, judge.declared, read, context, self._doubted):
            if known is None:
                known = {draft.value() for draft, _ in self.decisions if draft.done}
            if (found.name, spelling(found.arguments)) not in known:
                self._tell_overlooked(found, text[found.start : found.end])

    def _tell_overlooked(self, found: Overlooked, written: str) -> None:
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


FENCED = "a fenced block"
SAME_LINE = late(r"[ \t]*[,;:.]?[ \t]*[^\W\d_]")
"""Words that go on on the same line."""


def _kinds(draft: Draft) -> tuple[str, ...]:
    return tuple(dict.fromkeys(edit.kind for edit in draft.edits)) if draft.edits else ()


def _box(pending: Pending) -> str:
    """What quotes the candidate where it is not all of the message."""
    return FENCED if pending.fenced and pending.strong else pending.box


def _is_word(draft: Draft) -> bool:
    """Does markup hold nothing but a name that no tool has?"""
    unknown = draft.refusal is not None and draft.refusal.kind is IssueKind.UNKNOWN_TOOL
    return unknown and draft.done and draft.text() == "{}"


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
