"""Events of a stream that go on with the one before: they go around the machines between the turn and the client.

The turn handles every piece where it is read (`Read.take`), by its own decoder and its own parser.  What comes of it
mostly goes on with a text, and would go through every machine above the turn unchanged, one event at a time.  Where
the last such event did so, those that follow it are written at once, and told to these machines later, as one event;
a read that brings nothing but one more of them does not even wake them (`Read.passing`).
Arguments of a call that is held until it is whole go the same way, with nothing to write.  Knows events, effects and
encoders; nothing of an API, nor of what the machines are.

Contract: with or without it, the client gets the same bytes.  Whatever is no such event is given to the machines in
its place, behind all that went around them; what they are told late is not sent again.  What one read brought goes out
in one piece, before the next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from ..codecs.shared.frames import CUTS, Frame, FrameKind, writers
from ..codecs.shared.spec import StreamEncoder
from ..effects import Effect, Last, Machine, Read, Take, Taken
from ..events import CallDelta, Event, ReasoningDelta, TextDelta
from ..jsontext import quoted

MOST = 16 * 1024
"""Characters after which the machines are told what went around them: so much is held at most; 0: nothing does."""
FEW = 3
"""Events that are not worth a way around."""
RUNS = frozenset({TextDelta, ReasoningDelta, CallDelta})
SPOKEN = frozenset({TextDelta, ReasoningDelta})


NOTHING_WAITS: deque[Any] = deque(maxlen=0)
"""The queue of a stream that waits for its next chunk: an empty one of its own has room for sixty-four."""


class Shortcut:
    """The shortcut of one stream, written by `encoder` in frames of this kind into `pieces`.

    `note` each event that goes out; `perform` each effect.  `flush` sends what stands in `pieces`, before any effect.
    """

    __slots__ = (
        "_again", "_came", "_edges", "_encoder", "_error", "_flush", "_frames", "_given", "_goes_on", "_index", "_kind",
        "_pieces", "_queue", "_reply", "_sent", "_size", "_take", "_taken", "_told", "_write",
    )  # fmt: skip

    def __init__(
        self,
        encoder: StreamEncoder,
        frames: FrameKind,
        pieces: list[bytes],
        flush: Callable[[list[bytes]], Iterator[Any]],
    ) -> None:
        self._encoder, self._frames, self._pieces, self._flush = encoder, frames, pieces, flush
        self._write: Callable[[Frame], bytes] = writers[frames]
        self._queue: deque[Event] = NOTHING_WAITS  # what the turn made of the last read, and nobody was told yet
        self._error: Exception | None = None  # what went wrong behind it
        self._goes_on = False  # may more be read before the turn has that?
        self._sent = False  # did anything?
        self._kind: type | None = None  # what goes around
        self._index = -1  # the call whose arguments do
        self._told: list[str] = []  # what went around, and is still to be told
        self._size = 0
        self._again: Event | None = None  # what is told now and went out before
        self._given: Event | None = None  # the last event that the turn had
        self._came: Event | None = None  # the last that came out since it began with what it was given
        self._reply: bytes | Exception | None = None  # what was read after what went around
        self._taken: Taken | None = None  # what the turn made of it
        self._take: Take | None = None  # handles what goes on
        self._edges: tuple[str, str] | None = None  # what is written around it

    def note(self, event: Event) -> bool:
        """An event goes out.  True: what it says went out before."""
        self._came = event
        if self._again is not None and event == self._again:
            self._again = None
            return True
        return False

    def perform(self, effect: Effect) -> Machine[Any]:
        """The reply to `effect`; yields what goes to the client before it."""
        return self.read(effect) if type(effect) is Read else self._other(effect)

    def _other(self, effect: Effect) -> Machine[Any]:
        yield from self._flush(self._pieces)
        return (yield effect)

    def read(self, effect: Read) -> Machine[bytes | Taken]:
        """The reply to `effect`; yields what goes to the client meanwhile."""
        if effect.take is None:
            yield from self._flush(self._pieces)
            reply: bytes = yield effect
            return reply
        self._look()
        passing = effect
        while True:
            if self._queue and self._kind is not None:
                self._go_around()
            if self._queue or self._error is not None:
                return self._next()
            if self._told and not (self._goes_on and effect.within is None and self._size < MOST):
                return self._next()
            if self._reply is not None:
                return self._late()
            pieces = self._pieces
            if len(pieces) == 1 and self._sent:  # one read, one piece, as most
                yield pieces.pop()
            elif pieces:
                yield from self._flush(pieces)
                self._sent = True
            self._queue = NOTHING_WAITS
            try:
                if self._kind in SPOKEN and self._sent and self._goes_on and effect.within is None:
                    passing = self._passing(effect) if passing is effect else passing
                    data: bytes = yield passing
                else:
                    data = yield effect
            except Exception as error:
                if not self._told:
                    raise
                self._reply = error
                return self._next()
            if not data:
                if not self._told:
                    return data
                self._reply = data
                return self._next()
            taken, self._taken = self._taken or effect.take(data), None
            del data
            self._queue = deque(taken.steps)
            self._error, self._goes_on = taken.error, taken.goes_on
            del taken  # a stream may wait for long
            if not self._queue and not (self._goes_on and effect.within is None):
                return self._next()

    def _passing(self, effect: Read) -> Read:
        """`effect`, to be performed again for each read that only goes on with what goes around."""
        self._take, self._edges = effect.take, self._encoder.edges(self._write)
        return Read(take=effect.take, held=effect.held, passing=self._pass)

    def _pass(self, data: bytes) -> bytes | None:
        """What is written of a read that only goes on; None where the machines are to be told."""
        if not data or type(data) is Last or self._size >= MOST:
            return None
        text = self._take.more(data, self._kind)  # type: ignore[union-attr, arg-type]  # there are both while it goes on
        if not isinstance(text, str):
            self._taken = text
            return None
        if not text:
            return b""
        self._told.append(text)
        self._size += len(text)
        edges = self._edges
        return f"{edges[0]}{quoted(text)}{edges[1]}".encode() if edges else self._encoder.go_on((text,), self._write)

    def _late(self) -> bytes:
        reply, self._reply = self._reply, None
        if isinstance(reply, Exception):
            raise reply
        return reply or b""

    # ── what goes around ─────────────────────────────────────────────────────

    def _look(self) -> None:
        """Did the last event that the turn was given go out as it was, or not at all?  So will those like it."""
        given, came = self._given, self._came
        self._given = self._came = self._again = None
        if given is None:
            return
        kind = type(given)
        if isinstance(given, CallDelta):
            around = came is None
            self._index = given.index
        else:
            around = kind in SPOKEN and came == given and self._encoder.runs(kind) and self._frames in CUTS
        self._kind = kind if around and MOST else None

    def _go_around(self) -> None:
        queue: deque[Any] = self._queue
        kind: Any = self._kind
        texts: list[str] = []
        if kind is CallDelta:
            while queue and type(queue[0]) is kind and queue[0].index == self._index:
                texts.append(queue.popleft().json)
        else:
            while queue and type(queue[0]) is kind and not (kind is TextDelta and queue[0].doubt):
                texts.append(queue.popleft().text)
            if said := [text for text in texts if text]:
                self._pieces.append(self._encoder.go_on(said, self._write))
        self._told += texts
        for text in texts:
            self._size += len(text)

    def _next(self) -> Taken:
        """What the turn is given: what went around it, and what comes behind that, up to what may go around again."""
        given: list[Event] = []
        if self._told:
            given.append(self._late_event())
        queue = self._queue
        while queue:
            event = queue.popleft()
            given.append(event)
            if type(event) in RUNS and len(queue) >= FEW and type(queue[0]) is type(event):
                return self._given_now(given, None)
        error, self._error = self._error, None
        return self._given_now(given, error)

    def _given_now(self, given: list[Event], error: Exception | None) -> Taken:
        self._given, self._came, self._kind = (given[-1] if given else None), None, None
        return Taken(given, error)

    def _late_event(self) -> Event:
        text = "".join(self._told)
        self._told.clear()
        self._size = 0
        if self._kind is CallDelta:
            return CallDelta(self._index, text)
        self._again = TextDelta(text) if self._kind is TextDelta else ReasoningDelta(text)
        return self._again
