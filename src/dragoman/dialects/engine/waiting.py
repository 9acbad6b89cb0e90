"""Candidates that wait for what follows them, and the text behind them.

Knows what each waits for and when that has come; what is decided on it then is its subclass's (`accept`).  A candidate
that may still turn out to be text is *pending*: all that comes after it is queued behind it until it is settled, so
that nothing told has ever to be taken back.
Contract: candidates are settled in order, each once; text that was queued is told once the one before it is settled.
"""

from __future__ import annotations

from itertools import takewhile

from ...events import Event, IssueReported, ReasoningDelta, TextDelta
from ...late import late
from ...types import Stop
from ..judge import hints
from ..judge.boxes import MAX_SPAN, closes, lasts
from ..judge.evidence import Place, Thought
from ..judge.judge import Judge, breach
from .pending import Awaits, Pending
from .told_text import ToldText

STRAY = late(r"[\s.;`\]]*+")
"""What may be left behind a call that is all of the message: a full stop, a fence's end without its beginning."""


class Waiting(ToldText):
    """The text of one message with the candidates in it."""

    __slots__ = ("judge",)

    def __init__(self, judge: Judge) -> None:
        super().__init__()
        self.judge = judge

    def accept(
        self, pending: Pending, *, place: Place = Place.AMONG, box: str = "", thought: Thought = Thought.NONE,
        behind: str = "", ends: bool = False,
    ) -> None:
        """Decide on a candidate now that all is known that bears on it, and tell what follows."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """Visible text, or reasoning while it is open."""
        if not text:
            return
        if not self.reasoning:
            self.crowd.add(text)
        if self.queue and not self._resume(text):
            return
        if self.reasoning:
            self._think(text)
        else:
            self._show(text)

    def await_rest(self, pending: Pending) -> None:
        """Queue a candidate whose verdict is still open."""
        if self.queue:
            self.settle_words()
        self.queue.append(pending)
        self.new_line()

    def settle_alone(self, pending: Pending, finish: str) -> bool:
        """Decide on a candidate behind which the text ends.  False: others wait, or the judge wants all of them."""
        if self.queue or self.judge.protocol:
            return False
        self._settle_last(pending, [], 0, finish)
        return True

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
        for item in self.queue:
            if isinstance(item, Pending):
                return item
        return None

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
        head = self._head() if self.queue else None
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
            if lasts(head.standing) if verdict is None else verdict:
                self._settle_first(head, box=str(head.standing.quote))
            elif not self._leave_open(head):
                return
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

    def _leave_open(self, head: Pending) -> bool:
        """What was open before `head` does not close behind it: its first line of words decides.  Has it come?"""
        head.standing, head.awaits, head.whole = None, Awaits.WORDS, False
        place = next(n for n, item in enumerate(self.queue) if item is head)
        following = list(takewhile(lambda item: not isinstance(item, Pending), self.queue[place + 1 :]))
        head.after = [item.text for item in following if isinstance(item, TextDelta | ReasoningDelta)]
        if place + 1 + len(following) == len(self.queue) and not _has_line(head.after):
            return False
        self._settle_first(head, behind="".join(head.after))
        return True

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
            self._show(pending.raw, doubt, call=pending.strong and not pending.fenced)

    def _settle_first(self, head: Pending, *, box: str = "", behind: str = "") -> None:
        """Decide on the first candidate, and tell what stands between it and the next."""
        queue, self.queue = self.queue, []
        for place, item in enumerate(queue):
            if item is head:
                self.accept(head, box=box, behind=behind)
            elif isinstance(item, Pending):
                self.queue += queue[place:]
                return
            else:
                self._retell(item)

    # ── the end ───────────────────────────────────────────────────────────────

    def settle_end(self, finish: str = "") -> None:
        """The message has ended: what awaited its end has it."""
        queue, self.queue = self.queue, []
        if self.judge.protocol:
            self._settle_protocol(queue)
            return
        for place, item in enumerate(queue):
            if isinstance(item, Pending):
                self._settle_last(item, queue, place + 1, finish)
            else:
                self._retell(item)

    def _settle_last(self, pending: Pending, queue: list[Event | Pending], rest: int, finish: str) -> None:
        """Decide on a candidate behind which the message ends, with what is queued from `rest` on after it."""
        if pending.reasoning:
            self.accept(pending, thought=Thought.CUT if finish == Stop.LENGTH else Thought.OPEN)
            return
        if pending.standing is None and pending.awaits is Awaits.END:
            self.accept(pending, place=Place.ALONE if pending.whole else Place.AMONG, ends=True)
            return
        after = "".join([e.text for e in queue[rest:] if isinstance(e, TextDelta)]) if rest < len(queue) else ""
        if pending.standing is not None:
            quoted = finish == Stop.LENGTH or closes(pending.standing, after + " ")
            box = str(pending.standing.quote) if quoted else ""
            self.accept(pending, box=box, behind=after, ends=not after.strip())
        else:
            first = Place.FIRST if STRAY.match(after).end() < len(after) else Place.ALONE  # type: ignore[union-attr]
            place = first if pending.whole else Place.AMONG
            self.accept(pending, place=place, behind=after, ends=not after.strip())

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


def _has_line(texts: list[str]) -> bool:
    """Is the first line of words complete?"""
    text = "".join(texts)
    start = STRAY.match(text).end()  # type: ignore[union-attr]
    return "\n" in text[start:] or len(text) - start >= hints.REACH
