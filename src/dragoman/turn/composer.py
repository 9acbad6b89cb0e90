"""Several answers of a model emitted as one: texts in order, calls kept for the end, repeats dropped, one end.

Knows events; nothing of asking, of tools, or of what is wrong with an answer.
Contract: text that went out is neither repeated nor taken back, and a later answer's stands apart from it by a blank
line; calls go out last and whole, each under an id of its own; `Started` and `Ended` go out once, with the tokens of
all answers.  Where a form is demanded text is withheld: only the end of the last answer shows what of it counts.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import count
from typing import Any

from ..events import (
    Assembler,
    CallDelta,
    CallEnded,
    CallStarted,
    Ended,
    Event,
    IssueReported,
    PartAdded,
    PartEnded,
    ReasoningDelta,
    Reclassified,
    Started,
    TextDelta,
    WireEvent,
    call_events,
)
from ..types import NOTHING, JsonObject, Part, Response, Stop, Text, ToolCall, Usage

FINAL_STOPS = frozenset({Stop.REFUSED, Stop.FILTERED, Stop.PAUSE, Stop.ERROR})
"""Stops after which asking again would not be an answer to the same question."""

BESIDE = frozenset({IssueReported, WireEvent})
"""Events that are no part of an answer."""

BEHIND = frozenset({ReasoningDelta, PartAdded, WireEvent})
"""What stays behind the calls it came behind: a thought that leads to the next call is refused anywhere else."""


class AnswerComposer:
    """One answer made of several.

    `form`: text is withheld;  `whole_calls` False: calls of a streamed answer go out as they come.
    """

    __slots__ = (
        "_assembler", "_begun", "_behind", "_blank", "_early", "_form", "_hidden", "_known", "_last", "_later",
        "_started", "_usage", "_whole_calls", "_withheld", "apart", "calls", "emitted", "spoke",
    )  # fmt: skip
    spoke: bool
    emitted: int
    apart: bool

    def __init__(self, *, form: bool = False, whole_calls: bool = True) -> None:
        self.calls: list[ToolCall] = []  # for the end
        self.spoke = self.apart = False  # did text go out, and does the next stand apart from it?
        self.emitted = 0  # events that went out, beside what was noticed
        self._form, self._whole_calls = form, whole_calls
        self._assembler = Assembler()
        self._started = self._later = self._hidden = False
        self._blank = ""  # text of nothing that waits: it goes out before words, and not at all before calls
        self._last: type[Event] | None = None  # the kind of the last event that went out
        self._withheld: list[str] | tuple[()] = ()
        self._usage: Usage | None = None
        self._early = 0  # calls that went out as they came
        self._begun = 0  # calls of this answer that wait for its end
        self._behind: list[tuple[int, Event]] | tuple[()] = ()  # what came behind so many of them, and must stay there
        self._known: Collection[str] = ()

    # ── what goes out ────────────────────────────────────────────────────────

    def stream(self, event: Event) -> list[Event]:
        """Emit what of an answer's `event` may go out now."""
        if type(event) is TextDelta:
            return [*self.let_go(), *self._stream_text(event)] if self._behind else self._stream_text(event)
        if self._begun and (type(event) in BEHIND or (self._behind and type(event) is PartEnded)):
            self._behind = behind = self._behind or []
            behind.append((self._begun, event))
            return []
        if type(event) is ReasoningDelta:
            self._hidden = False
            return self.emit(event)
        match event:
            case CallStarted() | CallDelta() | CallEnded() if self._whole_calls:
                self._begun += type(event) is CallStarted
                return []
            case PartEnded() if self._hidden or (self._blank and not event.metadata):
                self._hidden = False
                return []
            case PartEnded() | PartAdded() if self._blank:
                return [*self._let_blank_go(), *self.emit(event)]
            case Started():
                return self._start(event)
            case Reclassified():
                return self._reclassify(event)
            case IssueReported():
                return self.report(event)
            case Ended():
                return self.note_end(event)
            case _:
                return self.emit(event)

    def report(self, event: IssueReported) -> list[Event]:
        """What of an issue of an answer goes out now."""
        return self.emit(event)

    def note_end(self, event: Ended) -> list[Event]:
        """An answer has ended: nothing of that goes out."""
        return []

    def emit(self, *events: Event) -> list[Event]:
        """`events`, which go out as they are."""
        for event in events:
            self._assembler.add(event)
            if type(event) not in BESIDE:
                self.emitted += 1
                self._last = type(event)
        return list(events)

    def emit_text(self, text: str) -> list[Event]:
        """`text`, apart from what went out in answers before this one."""
        if self.apart:
            text = text.lstrip()
            if not text:
                return []
            self.apart, text = False, f"\n\n{text}"
        if not self.spoke:
            if text.isspace():
                self._blank += text
                return []
            self.spoke = bool(text)
            self._blank, text = "", f"{self._blank}{text}"
        return self.emit(TextDelta(text))

    def _let_blank_go(self) -> list[Event]:
        """The text of nothing that waited goes out as it is."""
        blank, self._blank = self._blank, ""
        return self.emit(TextDelta(blank)) if blank else []

    def emit_form(self, parts: Iterable[Part]) -> list[Event]:
        """The texts among `parts`: those of the last answer, where text was withheld."""
        events: list[Event] = []
        for part in parts:
            if self._form and isinstance(part, Text):
                events += self.emit_text(part.text)
                events += self.emit(PartEnded(part.metadata)) if part.metadata else []
        return events

    def _start(self, event: Started) -> list[Event]:
        if self._started:
            return []
        self._started = True
        return self.emit(event)

    def _stream_text(self, event: TextDelta) -> list[Event]:
        """Most events are text that is neither withheld nor set apart."""
        if self._form:
            self._hidden = True
            self._withheld = withheld = self._withheld or []
            withheld.append(event.text)
            return []
        if self.apart or not self.spoke:
            return self.emit_text(event.text)
        self._assembler.add(event)
        self.emitted += 1
        self._last = TextDelta
        return [event]

    def _reclassify(self, event: Reclassified) -> list[Event]:
        """Reclassify this answer, not those before it; what was withheld goes out as what it is."""
        if self._withheld and not event.answer:
            withheld, self._withheld = self._withheld, ()
            return self.emit(*map(ReasoningDelta, withheld))
        if self._later:
            return []
        self.spoke = self.spoke and event.answer
        return [*self._let_blank_go(), *self.emit(event)]

    # ── calls ────────────────────────────────────────────────────────────────

    def repeats(self, call: ToolCall) -> bool:
        """Was this call made in an answer before this one?"""
        return identity(call) in self._known

    def went_out(self, calls: Iterable[ToolCall]) -> None:
        """These calls went out as they came."""
        self.calls += calls
        self._early = len(self.calls)

    # ── between answers, and the end ─────────────────────────────────────────

    def count(self, response: Response) -> None:
        """Add up what an answer cost."""
        if response.usage is not None:
            self._usage = response.usage + self._usage

    def next_answer(self) -> list[Event]:
        """End the open part: another answer follows."""
        self.follow_up()
        before = self.let_go()
        return [*before, *(self.emit(PartEnded()) if self._last in {TextDelta, ReasoningDelta} else [])]

    def let_go(self) -> list[Event]:
        """What waited behind calls, without them."""
        behind, self._behind, self._begun = self._behind, (), 0
        return self.emit(*(event for _, event in behind))

    def follow_up(self) -> None:
        """Another answer follows, in the open part."""
        self._later, self.apart = True, self.spoke
        self._withheld, self._hidden = (), False
        self._known = {identity(call) for call in self.calls}

    def end(self, stop: Stop | None, extra: JsonObject = NOTHING, *, cut: bool = False) -> list[Event]:
        """The calls that were held, and the one end; `cut`: one beside them was, and `stop` says so."""
        held, behind = _apart(self.calls)[self._early :], deque(self._behind)
        events: list[Event] = [TextDelta(self._blank)] if self._blank and not self.calls else []
        own = max(0, len(held) - self._begun)  # where the calls of the last answer begin
        for place, call in enumerate(held):
            while behind and behind[0][0] <= place - own:
                events.append(behind.popleft()[1])
            events += call_events(call, self._early + place)
        events += [event for _, event in behind]
        self._behind = ()
        final = stop if cut else final_stop(stop, calls=bool(self.calls))
        return self.emit(*events, Ended(final, self._usage, extra))

    def response(self) -> Response:
        """All that went out."""
        return self._assembler.response()


def final_stop(stop: Stop | None, *, calls: bool) -> Stop | None:
    """Why the one answer ends, where its last one ended for `stop`; `calls`: are there any to run?"""
    if calls:
        return stop if stop in FINAL_STOPS else Stop.TOOL_CALLS
    return Stop.END if stop is Stop.TOOL_CALLS else stop


def identity(call: ToolCall) -> str:
    """The call, without its id: its tool, and its arguments as canonical JSON."""
    return json.dumps([call.name, call.arguments], sort_keys=True, ensure_ascii=True, default=_plain)


def _plain(value: Any) -> Any:
    return dict(value) if hasattr(value, "keys") else list(value) if isinstance(value, tuple | set) else str(value)


def _apart(calls: Iterable[ToolCall]) -> list[ToolCall]:
    """The calls of several answers, each with an id of its own."""
    found: dict[str, ToolCall] = {}
    for call in calls:
        spellings = (call.id if n == 1 else f"{call.id}_{n}" for n in count(1))
        id_ = next(spelling for spelling in spellings if spelling not in found)
        found[id_] = call if id_ == call.id else replace(call, id=id_)
    return list(found.values())
