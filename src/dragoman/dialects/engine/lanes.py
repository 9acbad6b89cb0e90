"""Runs of text that no reader has to see: prose, reasoning, the inside of a string, a raw value.

Where a reader waits in the middle of such a run, a lane takes the text in its place and makes the events itself.  It
stops at the first sign that may matter, and gives the reader all it has not told.  Knows the source, the teller and
where a reader waits; nothing of dialects or of what a sign means.

Contract: a lane tells what the reader would have told of the same text; what it holds back is given to the reader
(`leave`) before the reader goes on.  While `search` finds nothing in a text, that text may be put into `run` and told
by whoever feeds, as an event of `kind`: the parser does so in one step.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, TypeAlias

from ...events import CallDelta, Event, ReasoningDelta, TextDelta
from ...lenient.source import Source, Tap
from ..judge.candidate import Draft
from ..reading.arguments import RawArguments, through
from .emitter import Teller
from .markers import Table, glued

MOST = 128
"""Pieces after which a run is noted: what nobody reads back need not be kept."""
LONG = 300
"""So much text behind the beginning of a marker is waited for here; the reader decides on more."""
END = "\0"
"""What goes on with no marker."""
ANY = re.compile("").search
"""Stops at any text."""
HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
RAW_STOP = r"[<&\ud800-\udfff]|\n\Z"
"""What ends a raw value's run besides its own marks: tags, entities, half characters, a line's end at the end."""

Search: TypeAlias = Callable[..., Any]
Kind: TypeAlias = type[TextDelta | ReasoningDelta | CallDelta]
Encode: TypeAlias = Callable[[str], str]
Run: TypeAlias = Callable[[str], re.Match[str] | None]


class Lane:
    """Takes text in a reader's place.  `held` was taken and not told, `run` told and not noted yet.

    `index` is of the call whose arguments are told; `encode` makes of a text what stands between quotation marks in
    JSON; None: it is told as it is.  `visible`: is it told as visible text?
    """

    __slots__ = ("_src", "_stop", "_told", "encode", "held", "index", "kind", "run", "search", "visible")

    def __init__(self, src: Source, search: Search, kind: Kind, index: int = -1, encode: Encode | None = None) -> None:
        self._src, self._stop, self.kind, self.index, self.encode = src, search, kind, index, encode
        self.visible = kind is TextDelta
        self._told = 0  # how much of what is held was told before
        self.run: list[str] = []
        self.held, self.search = "", search

    def feed(self, text: str) -> list[Event] | None:
        """The events of this text; None where the reader must look."""
        text = self.held + text
        end = self.reach(text)
        if end < 0:
            self.held = text
            return None
        told, self.held = text[:end], text[end:]
        self.search = ANY if self.held else self._stop
        if not told:
            return []
        self.run.append(told)
        if len(self.run) > MOST:
            self.settle()
        return [CallDelta(self.index, told if self.encode is None else self.encode(told)[1:-1])]

    def leave(self) -> str:
        """Note all that was told; returns what was taken and not told.  The lane has ended."""
        if self.run:
            self.settle()
        return self.held[self._told :]

    def settle(self) -> None:
        """Note what was told."""
        self.note("".join(self.run))
        self.run.clear()

    def note(self, text: str) -> None:
        """This text was told."""
        raise NotImplementedError

    def reach(self, text: str) -> int:
        """How much of the text may be told; -1 where the reader must look."""
        raise NotImplementedError


class TextLane(Lane):
    """Visible text, or reasoning, up to what begins a marker where it stands."""

    __slots__ = ("_stops", "_teller")

    def __init__(self, src: Source, teller: Teller, table: Table) -> None:
        self._teller, self._stops = teller, table.stops
        super().__init__(src, table.stop_lead.search, ReasoningDelta if teller.reasoning else TextDelta)
        if teller.line_start(""):
            self.held, self._told, self.search = "\n", 1, ANY

    def feed(self, text: str) -> list[Event] | None:
        """The events of this text; None where the reader must look.  In one frame: one token in four comes here."""
        held = self.held
        if held:
            text = held + text
        lead, end = self._stop, len(text)
        found = lead(text)
        if found is not None and not held and not found.start() and glued(self._last, text[0]):
            found = lead(text, 1)
        while found is not None:
            at = found.start()
            begins = self._stops[text[at]]
            if begins(text, at):
                if end - at >= LONG or begins(text[at:] + END, 0):
                    self.held = text
                    return None
                end = at
                break
            found = lead(text, at + 1)
        self.held = text[end:]
        self.search = ANY if self.held else lead
        told = text[self._told : end]
        if end:
            self._told = 0
        if not told:
            return []
        self.run.append(told)
        if len(self.run) > MOST:
            self.settle()
        return [ReasoningDelta(told) if self.kind is ReasoningDelta else TextDelta(told)]

    @property
    def _last(self) -> str:
        """The character before this place."""
        return self.run[-1][-1] if self.run else self._src.buf[-1:] or self._src.last

    def note(self, text: str) -> None:
        """This text was told."""
        self._src.passed(text)
        self._teller.passed(text)


class StringLane(Lane):
    """The inside of a JSON string in a call's arguments, up to a quote, or an escape that is not spelt well."""

    __slots__ = ("_draft", "_match")

    def __init__(self, src: Source, draft: Draft, search: Search, run: Run) -> None:
        self._draft, self._match = draft, run
        super().__init__(src, search, CallDelta, draft.index)

    def reach(self, text: str) -> int:
        """How much of the text may be told; -1 where the reader must look."""
        end = self._match(text).end()  # type: ignore[union-attr]
        return end if end == len(text) or HALF_ESCAPE.fullmatch(text, end) else -1

    def note(self, text: str) -> None:
        """This text was told."""
        self._src.passed(text)
        _write(self._draft, text)


class RawLane(Lane):
    """The text of an argument that is markup's own, up to a tag.

    A line's end is held back: the value's last one may belong to its closer.
    """

    __slots__ = ("_draft",)

    def __init__(self, src: Source, draft: Draft, tap: Tap) -> None:
        self._draft = draft
        search = _raw_stop(tap.search.__self__.pattern)  # type: ignore[attr-defined]
        super().__init__(src, search, CallDelta, draft.index, encode_basestring)

    def reach(self, text: str) -> int:
        """How much of the text may be told; -1 where the reader must look."""
        found = self._stop(text)
        if found is None:
            return len(text)
        return len(text) - 1 if found.start() == len(text) - 1 and text[-1] == "\n" else -1

    def note(self, text: str) -> None:
        """This text was told."""
        self._src.passed(text)
        _write(self._draft, encode_basestring(text)[1:-1])


class PlainLane(Lane):
    """Any other run: its sink is given the text, and the teller asked."""

    __slots__ = ("_sink", "_tapped", "_teller")

    def __init__(self, src: Source, teller: Teller, tap: Tap) -> None:
        super().__init__(src, ANY, TextDelta)
        self.visible = False
        self._teller, self._tapped, self._sink = teller, tap.search, tap.sink

    def feed(self, text: str) -> list[Event] | None:
        """The events of this text; None where the reader must look."""
        if not text or self._tapped(text) is not None:
            return None
        self._src.passed(text)
        self._sink(text)
        return self._teller.drain()


class NoLane(Lane):
    """Where a reader waits for something else than a run: it must look at all text, and no lane is asked."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(Source(), ANY, TextDelta)
        self.visible = False


NO_LANE = NoLane()


def lane_at(src: Source, teller: Teller, table: Table) -> Lane:
    """The lane for the run in which the reader waits."""
    tap = src.tap
    if tap is None or src.pos != len(src.buf):
        return NO_LANE
    owner: object = getattr(tap.sink, "__self__", None)
    if owner is teller:
        if table.stops.signs and not teller.queue and tap.sink == teller.say:
            return TextLane(src, teller, table)
        return PlainLane(src, teller, tap)
    live = teller.live
    if live is None:
        return PlainLane(src, teller, tap)
    if owner is live:
        return StringLane(src, live, tap.search, tap.run) if tap.run is not None else PlainLane(src, teller, tap)
    arguments = getattr(through(tap.sink), "__self__", None)
    if isinstance(arguments, RawArguments) and arguments.draft is live:
        return RawLane(src, live, tap)
    return PlainLane(src, teller, tap)


@lru_cache(maxsize=256)
def _raw_stop(marks: str) -> Search:
    return re.compile(f"{marks}|{RAW_STOP}").search


def _write(draft: Draft, text: str) -> None:
    """Write what is strict JSON already, and was told, to a draft that is told while it is read."""
    draft.pieces.append(text)
    draft.told += 1
