"""What a parser tells: text, reasoning and calls, in order, and candidates that await what follows them.

Knows drafts, the judge and where in the visible text we stand; does not read text for markers.  A candidate that may
still turn out to be text is *pending*: all that comes after it is queued behind it until it is settled, so that nothing
told has ever to be taken back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from json import dumps

from ...events import CallDelta, CallEnded, CallStarted, Event, IssueReported, ReasoningDelta, TextDelta
from ...types import Issue, IssueKind, Tier
from ..judge.boxes import MAX_SPAN, Standing, closes, lasts
from ..judge.candidate import Draft
from ..judge.judge import Judge, breach
from ..judge.quotation import Context


@dataclass(slots=True)
class Pending:
    """A candidate read whole whose verdict awaits what follows it.

    `standing` awaits a closer that would quote it; otherwise it awaits the message's end, and any other word before
    that makes it text (reasoning, where it stood in reasoning).  `raws` is what each draft was written as.
    """

    items: list[Draft | Event]
    raw: str
    before: str
    raws: dict[int, str]
    standing: Standing | None = None
    strong: bool = False
    reasoning: bool = False
    fenced: bool = False
    whole: bool = False
    after: list[str] = field(default_factory=list)
    size: int = 0


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
        self.count = 0
        self._fresh = True
        self._reasoning_tail = "\n"
        self._taken: set[str] = set()
        self._ran: list[Draft] = []
        self._made: dict[tuple[str, str], bool] = {}
        self._prose_since_call = False
        self._unclosed: tuple[str, str] | None = None

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

    # ── text ─────────────────────────────────────────────────────────────────

    def say(self, text: str) -> None:
        """Visible text, or reasoning while it is open."""
        if not text or (self.queue and not self._resume(text)):
            return
        if self.reasoning:
            self._think(text)
        else:
            self._show(text)

    def _show(self, text: str) -> None:
        self.context.add(text)
        self._fresh = self._fresh and text.isspace()
        if self.seen_call and not text.isspace():
            self._prose_since_call, self._unclosed = True, None
        self.emit(TextDelta(text))

    def _think(self, text: str) -> None:
        self._reasoning_tail = (self._reasoning_tail + text)[-80:] if len(text) < 80 else text[-80:]
        self.emit(ReasoningDelta(text))

    def tell(self, text: str) -> None:
        """Text behind which nothing is looked for any more."""
        self.out.append(TextDelta(text))

    def line_start(self, before: str) -> bool:
        """Is the place after `before`, text not told yet, the first on its line?"""
        cut = before.rfind("\n")
        if cut >= 0:
            rest = before[cut + 1 :]
            return not rest or rest.isspace()
        if before and not before.isspace():
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

    # ── calls ────────────────────────────────────────────────────────────────

    def begin_live(self, draft: Draft) -> None:
        """Tell a call's start at once; its arguments follow as they are read."""
        self._start(draft, self.out)
        self.live = draft

    def end_live(self) -> None:
        """The live call is complete."""
        if self.live is not None:
            draft, self.live = self.live, None
            self.judge.settle(draft, "")
            self.end(draft, "", self.out)

    def _start(self, draft: Draft, out: list[Event]) -> None:
        draft.index = self.count
        self.count += 1
        if not draft.id or draft.id in self._taken:
            draft.id = self._free_id(draft.index)
        self._taken.add(draft.id)
        draft.started = True
        out.append(CallStarted(draft.index, draft.id, draft.name))

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

    def end(self, draft: Draft, raw: str, out: list[Event] | None = None) -> None:
        """Tell the end of a draft, with its verdict (and, if it was not told while it was read, all of it)."""
        out = self.out if out is None else out
        draft.ended = self.seen_call = True
        self.context.interrupt()
        self._prose_since_call = False
        if draft.refusal is None and not draft.started:
            self._start(draft, out)
        if draft.started:
            if draft.told < len(draft.pieces):
                self._tell_pieces(draft, out)
            out.append(CallEnded(draft.index, draft.report(Tier.TAGGED if draft.strong else Tier.RAW_JSON)))
        if draft.refusal is not None:
            out.append(IssueReported(located(draft, raw or draft.text())))
        else:
            self._ran.append(draft)
            unclosed = draft.strong and any(e.kind == "unclosed" for e in draft.edits)
            self._unclosed = _call_of(draft) if unclosed else None

    def end_all(self, items: list[Draft | Event], raws: dict[int, str], raw: str, broken: Draft | None = None) -> None:
        """Tell what an attempt read that has not been told yet."""
        self.live = None
        for item in items:
            if not isinstance(item, Draft):
                self.out.append(item)
            elif not item.ended:
                written = raw if len(raws) == 1 else raws[id(item)]
                if item is broken or self._is_call(item, raws[id(item)]):
                    self.end(item, written)
                else:
                    self._leave(item, written)

    def _leave(self, draft: Draft, written: str) -> None:
        """A candidate that is no call stands as text; the same call begun once more is told of, not shown."""
        if self._is_echo(draft):
            message = f"the call of {draft.name!r} was begun twice, for the first was not closed; it is one call"
            self.emit(IssueReported(Issue(kind=IssueKind.NOISE, message=message, raw=written, name=draft.name)))
        else:
            self._show(written)
            self._note_copy(draft)

    def _note_copy(self, draft: Draft) -> None:
        """Tell of what a call that stays text was copied from."""
        if draft.copied is not None:
            message = f"a copy of a call in {draft.copied}; it is text"
            span = (draft.start, draft.end or draft.start)
            self.emit(IssueReported(Issue(kind=IssueKind.COPIED, message=message, name=draft.name, span=span)))

    def _is_echo(self, draft: Draft) -> bool:
        """Is this the last call begun once more, since it had not been closed (malformations.md 5)?"""
        may = self._unclosed is not None and draft.refusal is None and draft.done and draft.strong
        return may and self._unclosed == _call_of(draft)

    # ── candidates that await what follows ───────────────────────────────────

    def await_rest(self, pending: Pending) -> None:
        """Queue a candidate whose verdict is still open."""
        self.queue.append(pending)
        self.new_line()

    def _resume(self, text: str) -> bool:
        """Text arrives while candidates await it.  False when it was queued."""
        head = self._head()
        if head is None:
            return True
        if head.standing is None:
            if text.isspace():
                self._enqueue(text)
                return False
            self.release_all()
            return True
        self._enqueue(text)
        head.after.append(text)
        head.size += len(text)
        self._settle_heads(head)
        return False

    def _head(self) -> Pending | None:
        """The first candidate that awaits its verdict."""
        return next((q for q in self.queue if isinstance(q, Pending)), None)

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
        if head is not None and head.size and not "".join(head.after).isspace():
            self.release_all()

    def _texts_behind(self, pending: Pending) -> list[str]:
        place = next(n for n, item in enumerate(self.queue) if item is pending)
        return [item.text for item in self.queue[place:] if isinstance(item, TextDelta | ReasoningDelta)]

    def _enqueue(self, text: str) -> None:
        self.queue.append(ReasoningDelta(text) if self.reasoning else TextDelta(text))

    def release_all(self) -> None:
        """What awaited the message's end did not get it: it was text all along."""
        queue, self.queue = self.queue, []
        for item in queue:
            if isinstance(item, Pending):
                self._release(item)
            else:
                self._retell(item)

    def _retell(self, event: Event) -> None:
        if isinstance(event, TextDelta):
            self._show(event.text)
        else:
            self.emit(event)

    def _release(self, pending: Pending) -> None:
        if pending.reasoning:
            self._think(pending.raw)
        else:
            self._show(pending.raw)

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
            elif quoted:
                self._release(item)
                settled = True
            else:
                self.accept(item)
                settled = True

    def accept(self, pending: Pending) -> None:
        """A candidate counts, as far as the judge lets it; if none of its calls does, it is text as it stands."""
        drafts = [i for i in pending.items if isinstance(i, Draft)]
        text = {id(d) for d in drafts if not self._is_call(d, pending.raws[id(d)])}
        if drafts and len(text) == len(drafts) and not any(map(self._is_echo, drafts)):
            self._release(pending)
            for draft in drafts:
                self._note_copy(draft)
            return
        for item in pending.items:
            if not isinstance(item, Draft):
                self.out.append(item)
                continue
            written = pending.raw if len(pending.raws) == 1 else pending.raws[id(item)]
            if id(item) in text:
                self._leave(item, written)
            else:
                self.end(item, written)
        self.new_line()

    def _is_call(self, draft: Draft, raw: str) -> bool:
        return not self._is_recap(draft) and (not draft.done or self.judge.settle(draft, raw))

    def _is_recap(self, draft: Draft) -> bool:
        """Is this a weak repetition of a call made before, after prose or in stronger markup (rule 10)?"""
        if draft.refusal is not None or not draft.done:
            return False
        if draft.strong:
            return self._is_echo(draft)
        call, made = _call_of(draft), self._calls_made()
        return call in made and (made[call] or self._prose_since_call)

    def _calls_made(self) -> dict[tuple[str, str], bool]:
        """The calls that count so far, by value, and whether any of that value stood in strong markup."""
        for draft in self._ran:
            call = _call_of(draft)
            self._made[call] = self._made.get(call, False) or draft.strong
        self._ran = []
        return self._made

    def settle_end(self, *, cut: bool = False) -> None:
        """The message has ended: what awaited its end has it.  Where it was `cut`, its end tells nothing."""
        queue, self.queue = self.queue, []
        if self.judge.protocol:
            self._settle_protocol(queue)
            return
        for place, item in enumerate(queue):
            if not isinstance(item, Pending):
                self._retell(item)
            elif not (cut and (item.reasoning or item.standing)) and self._counts(item, queue[place + 1 :]):
                self.accept(item)
            else:
                self._release(item)

    def _counts(self, pending: Pending, rest: list[Event | Pending]) -> bool:
        """Does a candidate count now that the message has ended, with `rest` after it?"""
        if pending.standing is None:
            return pending.reasoning or self._meant(pending)
        after = "".join(e.text for e in rest if isinstance(e, TextDelta))
        return not closes(pending.standing, after + " ")

    def _settle_protocol(self, queue: list[Event | Pending]) -> None:
        """Strictly one object and nothing else."""
        found = [q for q in queue if isinstance(q, Pending)]
        drafts = [i for p in found for i in p.items if isinstance(i, Draft)]
        if len(found) == 1 and found[0].whole and not found[0].fenced and len(drafts) <= 1:
            self.accept(found[0])
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

    def _meant(self, pending: Pending) -> bool:
        """Rule 11 and the fence rule, for a candidate that ends the message."""
        if pending.whole or not self.judge.may_guess:
            return pending.whole
        if pending.fenced:
            return self.judge.announced(pending.before)
        return pending.strong or not self.judge.shown_as_example(pending.before)


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
    """Neighbouring deltas of one kind made one."""
    out: list[Event] = []
    for kind, run in groupby(events, key=type):
        if kind is TextDelta or kind is ReasoningDelta:
            out.append(kind("".join(e.text for e in run if isinstance(e, TextDelta | ReasoningDelta))))
        else:
            out += run
    return out
