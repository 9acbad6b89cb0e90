"""Native calls as they arrive, whole or in fragments → events.

Knows how calls come apart and together; knows no wire: a codec says under which key a fragment stands.
Contract: every call is either ended with its arguments or reported by `IssueReported` with its text, never both and
never with invented arguments; the deltas of a call are strict JSON; ids stay as given and minted where missing or
used before; cost is linear in the text.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...events import CallDelta, CallEnded, CallStarted, Event, IssueReported
from ...jsontext import dumps
from ...types import NOTHING, Edit, Issue, IssueKind, JsonObject, Report, Tier, Verdict
from .arguments import read_arguments, refused
from .issues import wire_fault
from .name_pieces import Names
from .spec import Ids
from .strict import Growing, continuation, sound


def numbered(index: int) -> str:
    """The default id of the n-th call."""
    return f"call_{index}"


@dataclass(slots=True)
class _Call:
    wire_id: str
    name: str
    metadata: JsonObject
    id: str = ""
    index: int = -1
    pieces: list[str] = field(default_factory=list)
    emitted: list[str] = field(default_factory=list)
    growing: Growing = field(default_factory=Growing)
    edits: list[Edit] = field(default_factory=list)
    value: Any = None
    start: int = 0
    ended: bool = False

    @property
    def started(self) -> bool:
        """Was it told of?"""
        return self.index >= 0

    @property
    def begun(self) -> bool:
        """Did anything of the arguments come?"""
        return bool(self.emitted) or self.value is not None

    @property
    def complete(self) -> bool:
        """Are the arguments there, as one object?"""
        handed = isinstance(self.value, Mapping) and not self.pieces
        return handed or (self.growing.done and not self.growing.broken)

    @property
    def written(self) -> str:
        """Everything the model wrote for the arguments."""
        return "".join(self.pieces)

    @property
    def text(self) -> str:
        """The arguments: without the empty objects that were false starts."""
        return "".join(self.pieces[self.start :])


class CallBook:
    """The calls of one answer.  Fragments are filed under keys the codec chooses; `given` counts calls handed out."""

    given: int

    def __init__(self, ids: Ids | None = None) -> None:
        self._ids = ids or numbered
        self._names = Names()
        self._used: dict[str, None] = {}  # an empty set is three times as large, and most answers hold no call
        self._open: dict[Hashable, _Call] = {}
        self._live: list[_Call] = []
        self._last: _Call | None = None
        self._next = 0
        self.given = 0

    def expect(self, names: Collection[str]) -> None:
        """These are the names that may be called: one that comes in pieces is known to be whole by them."""
        self._names = Names(names)

    # ── what a codec asks ────────────────────────────────────────────────────

    def knows(self, key: Hashable) -> bool:
        """Is a call filed under `key`?"""
        return key in self._open

    def wire_id(self, key: Hashable) -> str:
        """The id the wire gave the call under `key`, "" when it gave none."""
        return self._open[key].wire_id

    def is_named(self, key: Hashable, name: str, *, numbered: bool) -> bool:
        """Is `name` the name of the call under `key`, or more of it?  What is `numbered` goes on until it is complete,
        whatever it is called, unless these are the names of two tools."""
        call = self._open[key]
        if not call.name or name == call.name or (not call.started and self._names.goes_on(call.name, name)):
            return True
        return numbered and not call.complete and (call.begun or not self._names.are_two(call.name, name))

    def complete(self, key: Hashable) -> bool:
        """Are the arguments under `key` a complete object?"""
        return self._open[key].complete

    def repeats(self, key: Hashable, arguments: Any) -> bool:
        """Are these the whole arguments under `key` once more, as some servers end a call that came in fragments?"""
        call = self._open[key]
        if not (isinstance(arguments, str) and arguments.startswith("{") and call.pieces and call.complete):
            return False
        return arguments == call.text

    @property
    def idle(self) -> bool:
        """Is no call still open, so that `end_complete` has nothing to say?"""
        return not self._live

    @property
    def any(self) -> bool:
        """Was there any call, also one that could not be used?"""
        return self._last is not None

    # ── what a codec reports ─────────────────────────────────────────────────

    def begin(
        self, key: Hashable, id: str = "", name: str = "", metadata: JsonObject = NOTHING, *, in_pieces: bool = False  # noqa: A002
    ) -> list[Event]:  # fmt: skip
        """A call begins under `key`; calls that are complete end.  `in_pieces`: more of its name may come."""
        events = self.end_complete()
        for waiting in self._live:  # calls keep their order
            events += self._start(waiting) if self._names.has(waiting.name) else []
        call = _Call(wire_id=id, name=name, metadata=metadata)
        self._open[key] = call
        self._live.append(call)
        self._last = call
        return events if in_pieces and self._names.may_grow(name, begun=False) else events + self._start(call)

    def name(self, key: Hashable, name: str) -> list[Event]:
        """The call under `key` is called `name`, which came late, or is more of its name."""
        call = self._open[key]
        if call.started or not name:
            return []
        call.name = self._names.joined(call.name, name) if call.name else name
        return self._start_named(call)

    def add(self, key: Hashable, fragment: str) -> list[Event]:
        """More of the arguments under `key`, as text.  A second object in it is a second call of the same tool."""
        events: list[Event] = []
        while fragment:
            call = self._open[key]
            if call.ended and not call.complete:
                return [*events, wire_fault(AFTERWARDS, fragment)]
            piece, fragment = fragment, ""
            emitted, left = call.growing.feed(piece)
            if left.lstrip().startswith("{"):
                piece, fragment = piece[: len(piece) - len(left)], left
            elif left.strip() and call.ended:
                events.append(wire_fault(AFTERWARDS, left))
            elif left.strip():
                call.growing.broken = True
            call.pieces.append(piece)
            waits = not call.started
            events += self._emit(call, emitted)
            events += self._start_named(call) if waits else []
            if fragment and call.growing.members:
                events += self.begin(key, name=call.name)
            elif fragment:
                call.edits.append(Edit("empty_object", "$", before="{}"))
                call.growing, call.start = Growing(), len(call.pieces)
        return events

    def whole(self, id: str, name: str, arguments: Any, metadata: JsonObject = NOTHING) -> list[Event]:  # noqa: A002
        """A call that comes in one piece, its arguments an object, text or null."""
        key = object()
        events = self.begin(key, id, name, metadata)
        if not isinstance(arguments, str):
            self._open[key].value = arguments
            return events
        if name and sound(arguments) is not None:  # as they nearly always are: there is nothing to wait for, or to mend
            call = self._live.pop()
            call.ended, self.given = True, self.given + 1
            return [*events, CallDelta(call.index, arguments.strip()), CallEnded(call.index, None, arguments)]
        return events + self.add(key, arguments)

    def assign(self, key: Hashable, arguments: Any) -> None:
        """The arguments under `key`, as a value; they count unless text comes."""
        self._open[key].value = arguments

    def end_complete(self) -> list[Event]:
        """Something else begins: calls whose arguments are complete end, the others may still go on."""
        events = [event for call in self._live if self._is_complete(call) for event in self._end(call, cut=False)]
        self._live = [call for call in self._live if not call.ended]
        return events

    def end(self, key: Hashable, *, sure: bool = False) -> list[Event]:
        """The wire says that the call under `key` is over.  Unless it is `sure` that nothing was cut off there, a call
        that is not complete waits for the reason to stop."""
        call = self._open[key]
        return self._end(call, cut=False) if not call.ended and (sure or self._is_complete(call)) else []

    def finish(self, *, cut: bool) -> list[Event]:
        """The answer is over; `cut` when it was cut off, which only the last call can have suffered."""
        left = [call for call in self._live if not call.ended]
        self._live = []
        return [event for call in left for event in self._end(call, cut=cut and call is self._last)]

    # ── inside ───────────────────────────────────────────────────────────────

    def _is_complete(self, call: _Call) -> bool:
        return bool(call.name) and call.complete and not call.ended

    def _start_named(self, call: _Call) -> list[Event]:
        """Start the call, unless more of its name may come."""
        return [] if self._names.may_grow(call.name, begun=call.begun) else self._start(call)

    def _start(self, call: _Call) -> list[Event]:
        """Start the call with what there is of it; nothing without a name."""
        if call.started or not call.name:
            return []
        call.index, self._next = self._next, self._next + 1
        call.id = call.wire_id
        if not call.id or call.id in self._used:
            call.id = self._mint(call.index)
        self._used[call.id] = None
        started = CallStarted(call.index, call.id, call.name, call.metadata)
        return [started, CallDelta(call.index, "".join(call.emitted))] if call.emitted else [started]

    def _mint(self, index: int) -> str:
        minted = base = self._ids(index)
        repeats = 0
        while minted in self._used:
            repeats += 1
            minted = f"{base}_{repeats}"
        return minted

    def _emit(self, call: _Call, text: str) -> list[Event]:
        if not text:
            return []
        call.emitted.append(text)
        return [CallDelta(call.index, text)] if call.started else []

    def _end(self, call: _Call, *, cut: bool) -> list[Event]:
        call.ended = True
        raw = call.text if call.text.strip() or call.value is None else call.value
        if not call.name:
            return [IssueReported(_nameless(call, raw))]
        return [*self._start(call), *self._ending(call, raw, cut=cut)]

    def _ending(self, call: _Call, raw: Any, *, cut: bool) -> list[Event]:
        reading = read_arguments(raw, name=call.name, call_id=call.id, cut=cut)
        if not isinstance(reading, Issue):
            arguments, report = reading
            closing = self._closing(call, arguments)
            if closing is not None:
                self.given += 1
                ended = CallEnded(call.index, _with(report, call.edits), call.written or None)
                return [*self._emit(call, closing), ended]
            reading = refused(raw, "their parts contradict each other", name=call.name, call_id=call.id, cut=cut)
        report = Report(tier=Tier.NATIVE, verdict=Verdict.REFUSED, reason=reading.kind.value)
        closing = call.growing.close_text()
        return [*self._emit(call, closing), CallEnded(call.index, report, reading.raw), IssueReported(reading)]

    def _closing(self, call: _Call, arguments: JsonObject) -> str | None:
        emitted = "".join(call.emitted)
        if call.growing.done and not call.growing.broken and call.text.strip():
            return call.growing.rest
        return continuation(emitted, call.growing.close_text(), arguments, dumps)


AFTERWARDS = "text follows the arguments of a call; it was passed over"


def _with(report: Report | None, edits: list[Edit]) -> Report | None:
    if not edits:
        return report
    mends = (*edits, *(report.edits if report else ()))
    return Report(tier=Tier.NATIVE, edits=mends, verdict=Verdict.MENDED)


def _nameless(call: _Call, raw: Any) -> Issue:
    return Issue(
        kind=IssueKind.MALFORMED,
        message="a call without the name of a tool; it was not run",
        raw=raw if isinstance(raw, str) else dumps(raw),
        call_id=call.wire_id,
        correction="One of your tool calls has no name. Nothing was run. Send it again with the name of the tool.",
    )
