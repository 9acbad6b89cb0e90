"""Events put in an order every wire can carry.

Knows events only.  Wires send one part after the other; events may interleave several calls, and a call may turn out
not to be one.  Contract: the calls come one after another, each in one run of `CallStarted`, `CallDelta`, `CallEnded`;
nothing else overtakes or falls behind a call; folded, the events say the same as before.

With `whole`, a call is emitted once it is complete, in one delta, and a refused one not at all.  Otherwise its deltas
are emitted as they come, always one behind: the last one, which completes the JSON, is withheld from a refused call, so
that no client takes a cut call for a complete one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...events import (
    NOT_RUN,
    CallDelta,
    CallDoubted,
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
)
from ...jsontext import quoted
from ...types import Request, Stop
from .frames import Frame
from .spec import UNSTAMPED, Stamp

_OF_CALLS = frozenset({CallStarted, CallDelta, CallEnded})
_MARK = "\ufdd0"  # no character: where it stands in a frame besides, as in a model's name, there is no short path
_MARKED = quoted(_MARK)


@dataclass(slots=True)
class _BufferedCall:
    started: CallStarted
    pieces: list[str] = field(default_factory=list)
    ended: CallEnded | None = None
    announced: bool = False


_NOTHING: deque[Any] = deque(maxlen=0)


class Sequencer:
    """Feed it events; it gives them back in an order for a wire."""

    __slots__ = ("_calls", "_queue", "_whole")

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self._queue: deque[Event | _BufferedCall] = _NOTHING  # in most streams nothing ever waits
        self._calls: dict[int, _BufferedCall] = {}

    @property
    def is_buffering(self) -> bool:
        """Is anything buffered?"""
        return bool(self._queue)

    def feed(self, event: Event) -> list[Event]:
        """The events that may go out now."""
        if not self._queue and type(event) not in _OF_CALLS:
            return [event]
        if self._queue is _NOTHING:
            self._queue = deque()
        match event:
            case CallStarted(index):
                self._calls[index] = buffered = _BufferedCall(event)
                self._queue.append(buffered)
            case CallDelta(index, piece):
                self._calls[index].pieces.append(piece)
            case CallEnded(index):
                self._calls.pop(index).ended = event
            case _:
                self._queue.append(event)
        return self._flush()

    def close(self) -> list[Event]:
        """What is still buffered when the events end; calls that never ended are left out, or stay open."""
        left = [item for item in self._queue if not isinstance(item, _BufferedCall) or item.ended]
        self._queue = deque(left)
        return self._flush()

    def _flush(self) -> list[Event]:
        out: list[Event] = []
        while self._queue:
            head = self._queue[0]
            if isinstance(head, _BufferedCall):
                out += self._emit_whole(head) if self._whole else self._emit_growing(head)
                if head.ended is None:
                    break
            else:
                out.append(head)
            self._queue.popleft()
        return out

    def _emit_whole(self, call: _BufferedCall) -> list[Event]:
        if call.ended is None or _refused(call.ended):
            return []
        return [call.started, CallDelta(call.started.index, "".join(call.pieces)), call.ended]

    def _emit_growing(self, call: _BufferedCall) -> list[Event]:
        out: list[Event] = [] if call.announced else [call.started]
        call.announced = True
        done = call.ended is not None and not _refused(call.ended)
        ready = call.pieces if done else call.pieces[:-1]
        call.pieces = call.pieces[len(ready) :]
        out += [CallDelta(call.started.index, piece) for piece in ready if piece]
        return [*out, call.ended] if call.ended is not None else out


def _refused(ended: CallEnded) -> bool:
    return ended.report is not None and ended.report.verdict in NOT_RUN


class Encoder:
    """What the stream encoders of all wires share: order, and one method per kind of event.

    A wire overrides the `_on_…` methods it has frames for, and `_finish`, which is called once.  Nearly all events go
    on with a run of text or reasoning, and their frames differ in nothing but that text: what stands around it is
    written once a run (`_run`), and the rest of the run takes a short path (`_continue_run`).
    """

    number = 0
    """Of the next frame, on wires that number theirs."""

    def __init__(self, stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True) -> None:
        self._stamp, self._request = stamp, request
        self._sequencer = Sequencer(whole=whole_calls)
        self._finished = False
        self._running: type | None = None
        self._around = Frame(""), ""
        self._edges: tuple[str, str] | None = None  # what is written around the texts of the run

    def feed(self, event: Event) -> list[Frame]:
        """The frames `event` allows to send."""
        if type(event) is self._running and event.text:  # type: ignore[union-attr]
            return [self._continue_run(event.text)]  # type: ignore[union-attr]
        return self._write(self._sequencer.feed(event))

    def runs(self, kind: type) -> bool:
        """Is a run of this kind of event under way?"""
        return kind is self._running

    def go_on(self, texts: Iterable[str], write: Callable[[Frame], bytes]) -> bytes:
        """What goes on with the run under way, one frame for each text, as `write` writes frames."""
        begin, end = self._edges_of_run(write)
        return f"{begin}{f'{end}{begin}'.join(map(quoted, texts))}{end}".encode()

    def edges(self, write: Callable[[Frame], bytes]) -> tuple[str, str] | None:
        """What stands around the text, as JSON, in every frame of the run; None where frames differ in more."""
        return self._edges_of_run(write)

    def _edges_of_run(self, write: Callable[[Frame], bytes]) -> tuple[str, str]:
        if not self._edges:
            (before, name, _), after = self._around
            begin, end = write(Frame(f"{before}{_MARKED}{after}", name)).decode().split(_MARKED)
            self._edges = begin, end
        return self._edges

    def close(self) -> list[Frame]:
        """What ends the stream, also where no `Ended` came."""
        return self._write([*self._sequencer.close(), *([] if self._finished else [Ended()])]) + self._last()

    def _write(self, events: list[Event]) -> list[Frame]:
        frames: list[Frame] = []
        for event in events:
            self._running = None
            frames += getattr(self, _HANDLERS[type(event)])(event)
        return frames

    def _run(self, event: TextDelta | ReasoningDelta, make: Callable[[str], Frame]) -> Frame:
        """What `make` makes of the event's text; until another kind of event comes, only the text will differ."""
        like = make(_MARK)
        before, *after = like.data.split(_MARKED)
        if len(after) == 1 and not self._sequencer.is_buffering:
            self._running, self._around = type(event), (Frame(before, like.event), after[0])
            self._edges = None
        return make(event.text)

    def _continue_run(self, text: str) -> Frame:
        """The frame that goes on with the run."""
        (before, name, _), after = self._around
        return Frame(f"{before}{quoted(text)}{after}", name)

    def _on_ended(self, event: Ended) -> list[Frame]:
        if self._finished:
            return []
        self._finished = True
        return self._finish(event)

    def _on_silent(self, event: Any) -> list[Frame]:
        return []

    # ── for a wire to say ────────────────────────────────────────────────────

    def _on_started(self, event: Started) -> list[Frame]:
        return []

    def _on_text(self, event: TextDelta) -> list[Frame]:
        return []

    def _on_reasoning(self, event: ReasoningDelta) -> list[Frame]:
        return []

    def _on_part_ended(self, event: PartEnded) -> list[Frame]:
        return []

    def _on_wire_event(self, event: WireEvent) -> list[Frame]:
        """What a wire said beside its answer; only its own encoder has anything to say of it."""
        return []

    def _on_part(self, event: PartAdded) -> list[Frame]:
        return []

    def _on_call(self, event: CallStarted) -> list[Frame]:
        return []

    def _on_delta(self, event: CallDelta) -> list[Frame]:
        return []

    def _on_call_ended(self, event: CallEnded) -> list[Frame]:
        return []

    def _finish(self, event: Ended) -> list[Frame]:
        return []

    def _last(self) -> list[Frame]:
        return []


_HANDLERS: Mapping[type, str] = {
    Started: "_on_started",
    TextDelta: "_on_text",
    ReasoningDelta: "_on_reasoning",
    PartEnded: "_on_part_ended",
    PartAdded: "_on_part",
    CallStarted: "_on_call",
    CallDelta: "_on_delta",
    CallEnded: "_on_call_ended",
    Ended: "_on_ended",
    IssueReported: "_on_silent",
    CallDoubted: "_on_silent",
    Reclassified: "_on_silent",
    WireEvent: "_on_wire_event",
}
"""Kind of event → the method that writes it; by its name, for an encoder that holds its own methods holds itself."""


def final_stop(stop: Stop | None, calls: int) -> Stop | None:
    """Why an answer with so many calls stopped: what peers write there is not always true.

    Calls with "stop" were recorded 49 times (wire-quirks.md); a cut answer stays one; calls that were all refused
    leave nothing to run.
    """
    if calls:
        return _CALLED if stop in _ENDED else stop
    return END if stop is _CALLED else stop


END, _CALLED = Stop.END, Stop.TOOL_CALLS  # a look into an enumeration takes longer than all the rest
_ENDED = (None, Stop.END, Stop.STOP_SEQUENCE)
