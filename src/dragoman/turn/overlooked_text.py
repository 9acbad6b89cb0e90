"""Text that waits while it may hold a call that no marker leads to, so that it can still be taken for the call.

Such calls are found when an answer has ended (`dialects/engine/overlooked.py`): by then the text of a stream would have
gone out, and a call that the model confirms would be told twice.  So text waits from where a declared tool is named the
way a call names it, and goes on as soon as it can be none.  Knows events and the marks of such calls; nothing of wires,
or of who asks about them.
Contract: events keep their order, and text its characters; text goes out at once but for what may begin a mark; what is
in doubt in the end stands in a stretch of its own (`TextDelta.doubt`); linear time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from ..dialects.engine.overlooked import MOST, NEAR, failed, is_nested, mark_at, may_begin
from ..dialects.judge.declared import Declared
from ..dialects.judge.quotation import Context
from ..events import (
    CallDelta,
    CallDoubted,
    CallEnded,
    CallStarted,
    Ended,
    Event,
    IssueReported,
    PartEnded,
    Reclassified,
    TextDelta,
)
from .running import Stage

WAITING = (TextDelta, IssueReported, CallDoubted, CallStarted, CallDelta, CallEnded, PartEnded)
"""What waits behind text that does; anything else shows that the text is over."""
SIGNS = "{<"
"""One of these stands in whatever a mark begins with."""
FIRST_LOOK = 256
"""Characters after which it is looked whether what waits can be a call at all; then at twice as many, and so on."""


class OverlookedText(Stage):
    """The events of one answer, which may name these tools."""

    __slots__ = ("_context", "_held", "_left", "_look", "_size", "_start", "_stretches", "_tail", "_tools")

    def __init__(self, tools: Declared) -> None:
        self._tools = tools
        self._start = ""  # what may be the beginning of a mark
        self._held: list[Event] = []  # what waits, from a mark on
        self._size, self._look, self._left = 0, 0, MOST
        self._stretches = 0  # told of so far
        self._tail, self._context = "", Context()

    def passes(self, text: str) -> bool:
        """Would `text`, if it came next, go on at once?"""
        if self._held or self._start:
            return False
        if "{" not in text and "<" not in text:
            return True
        written = self._tools.written
        return mark_at(text, written) < 0 and may_begin(text, written) == len(text)

    def signs(self, kind: type) -> str | None:
        """What a delta of this kind that does not pass holds; None where something waits."""
        if self._held or self._start:
            return None
        return SIGNS if kind is TextDelta else ""

    def handle(self, event: Event) -> list[Event]:
        """Handle `event`; its events come in order."""
        if type(event) is TextDelta:
            if not event.doubt:
                return self._take(event.text)
            self._stretches = max(self._stretches, event.doubt)
        if self._held and isinstance(event, WAITING):
            self._held.append(event)
            return []
        if type(event) is TextDelta:
            return [*self._let_go(), *self._out(event.text, event.doubt)]
        if isinstance(event, Reclassified):
            self._context = Context()
        return [*self._let_go(settled=isinstance(event, Ended)), event]

    # ── text as it comes ─────────────────────────────────────────────────────

    def _take(self, text: str) -> list[Event]:
        if self._held:
            self._held.append(TextDelta(text))
            self._size += len(text)
            return self._look_again() if self._size >= self._look else []
        if not self._left or not (self._start or "{" in text or "<" in text):
            return self._out(text)
        text, self._start = self._start + text, ""
        out: list[Event] = []
        done = pos = 0
        while (at := mark_at(text, self._tools.written, pos)) >= 0:
            out += self._out(text[done:at])
            done, pos = at, at + 1
            if not (is_nested(self._tail) or self._context.standing().sure):
                return [*out, *self._hold(text[at:])]
        at = max(done, may_begin(text, self._tools.written))
        self._start = text[at:]
        return [*out, *self._out(text[done:at])]

    def _hold(self, text: str) -> list[Event]:
        self._held, self._size, self._look = [TextDelta(text)], len(text), FIRST_LOOK
        return self._look_again() if self._size >= self._look else []

    def _look_again(self) -> list[Event]:
        """Let go of what waits where it can be no call any more, and look at what stands behind its mark."""
        text = "".join(event.text for event in self._held if type(event) is TextDelta)
        if not failed(text, self._tools.written):
            self._look = 2 * self._size
            return []
        self._left -= 1
        waited, self._held = self._held, []
        first = waited[0]
        assert type(first) is TextDelta
        out = self._out(first.text[:1])
        for event in (TextDelta(first.text[1:]), *waited[1:]):
            out += self.handle(event)
        return out

    def _out(self, text: str, doubt: int = 0) -> list[Event]:
        if not text:
            return []
        self.went_out(text)
        return [TextDelta(text, doubt)]

    def went_out(self, text: str) -> None:
        """A text that `passes` went out."""
        self._context.add(text)
        self._tail = (self._tail + text)[-NEAR:]

    # ── what waited ──────────────────────────────────────────────────────────

    def _let_go(self, *, settled: bool = False) -> list[Event]:
        """What waits, as it is; `settled`: the answer has ended, and it is known what of it is in doubt."""
        start, self._start = self._start, ""
        held, self._held = self._held, []
        out = self._out(start)
        for event in self._in_stretches(held) if settled else held:
            out += self._out(event.text, event.doubt) if type(event) is TextDelta else [event]
        return out

    def _in_stretches(self, held: list[Event]) -> Iterator[Event]:
        """`held`, with the calls in doubt that stand in no stretch yet in stretches of their own."""
        doubted = [event for event in held if isinstance(event, CallDoubted) and not event.doubt and event.text]
        numbers: dict[int, int] = {}
        for is_text, run in groupby(held, key=lambda event: type(event) is TextDelta and not event.doubt):
            if not is_text:
                yield from (_numbered(event, numbers) for event in run)
                continue
            text = "".join(event.text for event in run if type(event) is TextDelta)
            while doubted and (at := text.find(doubted[0].text)) >= 0:
                self._stretches += 1
                numbers[id(doubted[0])] = self._stretches
                yield TextDelta(text[:at])
                yield TextDelta(doubted[0].text, self._stretches)
                text = text[at + len(doubted.pop(0).text) :]
            yield TextDelta(text)


def _numbered(event: Event, numbers: dict[int, int]) -> Event:
    if isinstance(event, CallDoubted) and id(event) in numbers:
        return CallDoubted(event.call, event.text, numbers[id(event)])
    return event
