"""The text of a message as it is told: visible text and reasoning, in order, and where the next word stands.

Knows text, and that some of it waits behind candidates; nothing of what a call is, nor of what is decided on one.
Contract: every character given to `passed` or `say` is told once, in order; where the next word stands (`line_start`,
`before`, `hints`) counts what waits as well as what was told.
"""

from __future__ import annotations

import re
from itertools import groupby

from ...events import Event, IssueReported, ReasoningDelta, TextDelta
from ...types import Issue, IssueKind
from ..judge import hints
from ..judge.quotation import LINE_BLANKS, Context
from .crowd import Crowd
from .pending import Awaits, Pending
from .visible import MOST_VISIBLE, VisibleText

APART = frozenset(" \t\r\n\"'`“„«(/[{,*_")
"""What a mark that is spoken of stands behind; one that counts may be glued to the last word before it."""
FENCED = 3
"""So many backticks that are all of a line open or close a block."""


class ToldText:
    """What was told of one message, `queue` what waits to be, and where in it we stand."""

    __slots__ = (
        "_fresh", "_in_queue", "_prose_since_call", "_reasoning_tail", "_scanned_queue", "_scanned_to", "_since_left",
        "_ticks", "_unclosed", "_visible", "context", "crowd", "out", "queue", "reasoning", "results", "seen_call",
    )  # fmt: skip

    context: Context

    def __init__(self) -> None:
        self.context = Context()
        self.crowd = Crowd()
        self.out: list[Event] = []
        self.queue: list[Event | Pending] = []
        self._scanned_queue: list[Event | Pending] = []
        self._scanned_to, self._in_queue = 0, (False, False)
        self.reasoning = False
        self.seen_call = False
        self.results = False  # the message began with what looks like a tool's result
        self._fresh = True
        self._reasoning_tail = "\n"
        self._ticks = 0  # backticks on the present line of reasoning
        self._prose_since_call = False
        self._unclosed: tuple[str, str] | None = None
        self._visible = VisibleText()
        self._since_left: str | None = None  # a call was left in the text as one that is spoken of

    def emit(self, event: Event) -> None:
        """Tell an event, behind whatever is pending."""
        (self.queue if self.queue else self.out).append(event)

    def notice(self, kind: IssueKind, message: str, raw: str, start: int) -> None:
        """Tell an issue about `raw`, which stood at `start`."""
        self.emit(IssueReported(Issue(kind=kind, message=message, raw=raw, span=(start, start + len(raw)))))

    # ── telling ───────────────────────────────────────────────────────────────

    def _show(self, text: str, doubt: int = 0, *, call: bool = False) -> None:
        self._shown(text, call=call)
        self.emit(TextDelta(text, doubt))

    def _keep(self, text: str) -> None:
        visible = self._visible
        visible.pieces.append(text)
        visible.size += len(text)
        if visible.size > MOST_VISIBLE:
            visible.cut()

    def _shown(self, text: str, *, call: bool = False) -> None:
        self._keep(text)
        (self.context.add_call if call else self.context.add)(text)
        self._fresh = self._fresh and text.isspace() and not text.rpartition("\n")[2].strip(LINE_BLANKS)
        if self._since_left is not None:
            self._since_left += text
            if len(self._since_left) > hints.REACH:
                self._since_left = None
        if self.seen_call and not text.isspace():
            self._prose_since_call, self._unclosed = True, None

    def _think(self, text: str) -> None:
        self._thought(text)
        self.emit(ReasoningDelta(text))

    def _thought(self, text: str) -> None:
        self._reasoning_tail = (self._reasoning_tail + text)[-80:] if len(text) < 80 else text[-80:]
        line = text.rfind("\n") + 1
        self._ticks = text.count("`", line) + (0 if line else self._ticks)

    def passed(self, text: str) -> None:
        """`text` was told without us, while nothing was pending."""
        if self.reasoning:
            self._thought(text)
        else:
            self.crowd.add(text)
            self._shown(text)

    def tell(self, text: str) -> None:
        """Text in which no mark is looked for any more; what calls are in it is asked once the message has ended."""
        self._keep(text)
        self.out.append(TextDelta(text))

    # ── where the next word stands ────────────────────────────────────────────

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
            return not self._reasoning_tail.rpartition("\n")[2].strip(LINE_BLANKS)
        return self._fresh or self.context.line_blank

    def _queued_line_start(self) -> bool:
        """While candidates are pending: has only white space followed the last one, or the last line's end?"""
        for item in reversed(self.queue):
            if isinstance(item, Pending):
                return True
            if isinstance(item, TextDelta | ReasoningDelta):
                cut = item.text.rfind("\n")
                if item.text[cut + 1 :].strip(LINE_BLANKS):
                    return False
                if cut >= 0:
                    return True
        return True

    @property
    def waits(self) -> bool:
        """Is a candidate pending that more than words may decide?"""
        if not self.queue:
            return False
        return self._scanned()[0]

    @property
    def before(self) -> str:
        """The last words before this place, those that wait behind a candidate too."""
        if not self.queue:
            return self.context.before
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
        """Do backticks that open a code span stand right before this place in reasoning?"""
        line = self._reasoning_tail.rpartition("\n")[2]
        run = len(line) - len(line.rstrip("`"))
        if run == 1:
            return self._ticks % 2 == 1
        return run > 1 and not (run >= FENCED and run == len(line.strip()))

    @property
    def last(self) -> str:
        """The sign before this place; "" for none."""
        return self._reasoning_tail[-1:] if self.reasoning else self.before[-1:]

    @property
    def waiting_words(self) -> bool:
        """Do words wait behind a candidate?"""
        return bool(self.queue) and self._scanned()[1]

    def _scanned(self) -> tuple[bool, bool]:
        """Of the queue: does a candidate in it wait for more than words, and do words wait?  Each item is seen once."""
        queue, (waits, words) = self.queue, self._in_queue
        if queue is not self._scanned_queue or len(queue) < self._scanned_to:
            self._scanned_queue, self._scanned_to, waits, words = queue, 0, False, False
        for place in range(self._scanned_to, len(queue)):
            item = queue[place]
            if isinstance(item, Pending):
                waits = waits or item.awaits is not Awaits.WORDS
            elif isinstance(item, TextDelta):
                words = words or not item.text.isspace()
        self._scanned_to, self._in_queue = len(queue), (waits, words)
        return self._in_queue

    def new_line(self) -> None:
        """A call was taken out of the text: what follows begins afresh."""
        self._fresh = True

    def new_segment(self) -> None:
        """The message goes on for somebody else: nothing that was open quotes what follows."""
        self.context, self._fresh = Context(), True

    def hints(self) -> tuple[str, ...]:
        """What the words before this place say against a call here."""
        if not (self.context.any or self.queue):
            return (hints.RESULT,) if self.results else ()
        inline, left = not self.line_start(""), self._since_left
        after_call = left is not None and not self.queue and "\n" not in left.strip()
        found = hints.before(self.before, inline=inline, after_call=after_call)
        return (*found, hints.RESULT) if self.results else found


def joined(events: list[Event]) -> list[Event]:
    """Neighbouring deltas of one kind made one; text in doubt stays apart."""
    last: type | None = None
    for event in events:
        if type(event) is last and (last is TextDelta or last is ReasoningDelta):
            break
        last = type(event)
    else:
        return events
    out: list[Event] = []
    for (kind, doubt), run in groupby(events, key=lambda event: (type(event), getattr(event, "doubt", 0))):
        if kind is TextDelta:
            out.append(TextDelta("".join(e.text for e in run if isinstance(e, TextDelta)), doubt))
        elif kind is ReasoningDelta:
            out.append(ReasoningDelta("".join(e.text for e in run if isinstance(e, ReasoningDelta))))
        else:
            out += run
    return out


def _is_blank(text: str) -> bool:
    """Blanks, and the signs without width that editors put before a text."""
    return not text.strip(LINE_BLANKS + "\ufeff\u200b\u2060")


def closes_text(before: str, mark: str) -> bool:
    """Is this the closing tag of an element whose opening tag was text `before`, and which no other has closed?"""
    if mark[:2] not in ("</", "[/"):
        return False
    told = before.casefold()
    opened = re.findall(rf"{re.escape(mark[0] + mark[2:-1])}[\]\s>]", told)
    return len(opened) > told.count(mark)
