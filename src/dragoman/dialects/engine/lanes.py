"""Runs of text that no reader has to see: prose, reasoning, the inside of a string, a raw value.

Where a reader waits in the middle of such a run, a lane takes the text in its place and makes the events itself.  It
stops at the first sign that may matter, and gives the reader all it has not told.  Knows the source, the teller and
where a reader waits; nothing of dialects or of what a sign means.

Contract: a lane tells what the reader would have told of the same text; what it holds back is given to the reader
(`leave`) before the reader goes on.  While nothing is held and `search` finds nothing in a text, that text may be put
into `run` and told as `event(text)` by whoever feeds: the parser does so in one step.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from json.encoder import encode_basestring
from typing import TypeAlias

from ...events import Event, call_delta, reasoning_delta, text_delta
from ...lenient.source import Source, Tap
from ..judge.candidate import Draft
from ..reading.arguments import RawArguments, through
from .emitter import Teller
from .markers import Table

MOST = 128
"""Pieces after which a run is noted: what nobody reads back need not be kept."""
LONG = 300
"""So much text behind the beginning of a marker is waited for here; the reader decides on more."""
END = "\0"
"""What goes on with no marker."""
HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
RAW_STOP = "[<&\n\ud800-\udfff]"
"""What a raw value's text is looked at for besides its own marks: tags, entities, lines' ends, half characters."""

Search: TypeAlias = Callable[[str], object]
Run: TypeAlias = Callable[[str], re.Match[str] | None]
Make: TypeAlias = Callable[[str], Event]


class Lane:
    """Takes text in a reader's place.  `held` was taken and not told, `run` told and not noted yet.

    `visible`: is it told as visible text?
    """

    __slots__ = ("_src", "_told", "event", "held", "run", "search", "visible")

    def __init__(self, src: Source, search: Search, event: Make) -> None:
        self._src, self.search, self.event = src, search, event
        self.visible = False
        self.held, self._told = "", 0  # how much of what is held was told before
        self.run: list[str] = []

    def feed(self, text: str) -> list[Event] | None:
        """The events of this text; None where the reader must look."""
        text = self.held + text
        end = self.reach(text)
        if end < 0:
            self.held = text
            return None
        self.held, text = text[end:], text[self._told : end]
        if end:
            self._told = 0
        if not text:
            return []
        self.run.append(text)
        if len(self.run) > MOST:
            self.settle()
        return [self.event(text)]

    def leave(self) -> str:
        """Note all that was told; returns what was taken and not told."""
        self.settle()
        held, self.held = self.held[self._told :], ""
        return held

    def settle(self) -> None:
        """Note what was told."""
        if self.run:
            self.note("".join(self.run))
            self.run.clear()

    def note(self, text: str) -> None:
        """This text was told."""
        self._src.passed(text)

    def reach(self, text: str) -> int:
        """How much of the text may be told; -1 where the reader must look."""
        raise NotImplementedError


class TextLane(Lane):
    """Visible text, or reasoning, up to what begins a marker where it stands."""

    __slots__ = ("_lead", "_stops", "_teller")

    def __init__(self, src: Source, teller: Teller, table: Table) -> None:
        self._teller, self._lead, self._stops = teller, table.stop_lead.search, table.stops
        super().__init__(src, self._lead, reasoning_delta if teller.reasoning else text_delta)
        self.visible = not teller.reasoning
        if teller.line_start(""):
            self.held, self._told = "\n", 1

    def reach(self, text: str) -> int:
        """How much of the text may be told; -1 where the reader must look."""
        found = self._lead(text)
        while found is not None:
            at = found.start()
            begins = self._stops[text[at]]
            if begins(text, at):
                return at if len(text) - at < LONG and not begins(text[at:] + END, 0) else -1
            found = self._lead(text, at + 1)
        return len(text)

    def note(self, text: str) -> None:
        """This text was told."""
        self._src.passed(text)
        self._teller.passed(text)


class StringLane(Lane):
    """The inside of a JSON string in a call's arguments, up to a quote, or an escape that is not spelt well."""

    __slots__ = ("_match",)

    def __init__(self, src: Source, draft: Draft, search: Search, run: Run) -> None:
        self._match = run
        super().__init__(src, search, _writer(draft))

    def reach(self, text: str) -> int:
        """How much of the text may be told; -1 where the reader must look."""
        end = self._match(text).end()  # type: ignore[union-attr]
        return end if end == len(text) or HALF_ESCAPE.fullmatch(text, end) else -1


class RawLane(Lane):
    """The text of an argument that is markup's own, up to a tag.

    A line's end is held back: the value's last one may belong to its closer.
    """

    __slots__ = ("_stop",)

    def __init__(self, src: Source, draft: Draft, tap: Tap) -> None:
        self._stop = _raw_stop(tap.search.__self__.pattern)  # type: ignore[attr-defined]
        write = _writer(draft)
        super().__init__(src, self._stop, lambda text: write(encode_basestring(text)[1:-1]))

    def reach(self, text: str) -> int:
        """How much of the text may be told; -1 where the reader must look."""
        found, size = self._stop(text), len(text)
        while found is not None:
            if text[found.start()] != "\n":
                return -1
            found = self._stop(text, found.end())
        return size - 1 if text[-1:] == "\n" else size


class PlainLane(Lane):
    """Any other run: its sink is given the text, and the teller asked."""

    __slots__ = ("_sink", "_stop", "_teller")

    def __init__(self, src: Source, teller: Teller, tap: Tap) -> None:
        super().__init__(src, _always, text_delta)
        self._teller, self._stop, self._sink = teller, tap.search, tap.sink

    def feed(self, text: str) -> list[Event] | None:
        """The events of this text; None where the reader must look."""
        if not text or self._stop(text) is not None:
            return None
        self._src.passed(text)
        self._sink(text)
        return self._teller.drain()


def lane_at(src: Source, teller: Teller, table: Table) -> Lane | None:
    """The lane for the run in which the reader waits; None where it waits for something else."""
    tap = src.tap
    if tap is None or src.pos != len(src.buf):
        return None
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


def _always(_: str) -> bool:
    return True


@lru_cache(maxsize=256)
def _raw_stop(marks: str) -> Callable[..., re.Match[str] | None]:
    return re.compile(f"{marks}|{RAW_STOP}").search


def _writer(draft: Draft) -> Make:
    """Writes what is strict JSON already to a draft that is told while it is read."""
    index, pieces = draft.index, draft.pieces

    def write(text: str) -> Event:
        pieces.append(text)
        draft.told += 1
        return call_delta(index, text)

    return write
