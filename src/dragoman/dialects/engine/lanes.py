"""Runs of text that no reader has to see: prose, reasoning, the inside of a string, a raw value.

Where a reader waits in the middle of such a run, a lane takes the text in its place and makes the events itself.  It
stops at the first sign that may matter, and gives the reader all it has not told.  Knows the source, the teller and
where a reader waits; nothing of dialects or of what a sign means, but that a fence with no call in it is text.

Contract: a lane tells what the reader would have told of the same text; what it holds back is given to the reader
(`leave`) before the reader goes on.  What it does with a short piece is remembered in `known`, where it depends on that
piece alone: models write the same few thousand tokens.  Whoever feeds may do as it says there, in one step: put the
text that is told into `run`, and give the event.  A piece that was not seen before, where a lane `is_plain` and `stop`
finds nothing in it, is told in one step as well (`tell`): a third of all pieces are such.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, TypeAlias

from ...events import CallDelta, Event, LooseCall, LooseReasoning, LooseText, ReasoningDelta, TextDelta
from ...late import late
from ...lenient.source import Source, Tap
from ..judge.candidate import Draft
from ..judge.declared import HEAD, Declared
from ..reading.arguments import RawArguments, through
from .candidates import Trial
from .emitter import Teller
from .mark_starts import glued
from .markers import Table
from .search import VAIN
from .stops import LONG, Fate

KNOWN, SHORT = 8192, 16
"""So many pieces are remembered of one kind of run, and none that is longer."""
LASTS = 65_536
"""After so many more they are forgotten: to remember one costs as much as to look at two, and most never come again."""
KINDS = 16
"""So many kinds of runs are remembered."""
FEW = 4
"""Calls whose runs are of a kind with those of other messages."""
MOST = 128
"""Pieces after which a run is noted: what nobody reads back need not be kept."""
FULL = KNOWN - MOST
"""Where so many are remembered, a run that is noted learns no more: until then it adds pieces without a count."""
ANY = re.compile("").search
"""Stops at any text."""
UNNAMED = (None, "line")
"""What `stop` found where more text must tell, whatever tools are declared: a mark's beginning."""
HALF_ESCAPE = late(r"\\(?:u[0-9a-fA-F]{0,3})?")
RAW_STOP = r"[<&\ud800-\udfff]|[\r\n]\Z"
"""What ends a raw value's run besides its own marks: tags, entities, half characters, a line's end at the end."""

Search: TypeAlias = Callable[..., Any]
Kind: TypeAlias = type[TextDelta | ReasoningDelta | CallDelta]
Encode: TypeAlias = Callable[[str], str]
Step: TypeAlias = Event | tuple[Event | None, str, str]
"""What is told of a piece: the event of all of it; or its event (None: it is all held), the text of that, and what is
held behind it."""
Run: TypeAlias = Callable[[str], re.Match[str] | None]


class Steps(dict[str, Step]):
    """What is remembered of runs of one kind; `since` counts the pieces that were told since it is full."""

    __slots__ = ("since",)

    def __init__(self) -> None:
        super().__init__()
        self.since = 0


NOTHING = Steps()


class Lane:
    """Takes text in a reader's place.  `held` was taken and not told, `run` told and not noted yet.

    Where it `is_plain`, text in which `stop` finds nothing is told as it is; while it `learns`, it is remembered.
    `index` is of the call whose arguments are told; `encode` makes of a text what stands between quotation marks in
    JSON; None: it is told as it is.  Where it `is_over`, the run goes on, and another lane may take it.
    """

    __slots__ = ("_src", "encode", "held", "index", "is_over", "is_plain", "kind", "known", "learns", "run", "stop")

    def __init__(self, src: Source, search: Search, kind: Kind, index: int = -1, encode: Encode | None = None) -> None:
        self._src, self.stop, self.kind, self.index, self.encode = src, search, kind, index, encode
        self.is_plain = self.learns = self.is_over = False
        self.run: list[str] = []
        self.held = ""
        self.known = NOTHING

    def feed(self, text: str) -> list[Event] | None:
        """The events of this text, which begins with what is held, where the lane is not plain; None as `look`."""
        raise NotImplementedError

    def look(self, text: str, found: Any) -> list[Event] | None:
        """The same of a text in which `stop` found this, where it `is_plain`; None where the reader must look."""
        raise NotImplementedError

    def tell(self, told: str, text: str = "", held: str = "") -> list[Event]:
        """The events of what is told, and `held` behind it; a `text` is remembered where both depend on it alone.

        The event is made here, and not by a function of its own: every piece that was not seen before comes here.
        """
        self.held = held
        event: Any  # loose until it is whole
        if self.kind is TextDelta:
            event = LooseText()
            event.text, event.doubt = told, 0
        elif self.kind is CallDelta:
            event = LooseCall()
            event.index, event.json = self.index, told if self.encode is None else self.encode(told)[1:-1]
        else:
            event = LooseReasoning()
            event.text = told
        event.__class__ = self.kind
        if text and self.learns and len(text) <= SHORT:
            self.known[text] = (event, told, held) if held else event
        run = self.run
        run.append(told)
        if len(run) > MOST:
            self.settle()
        return [event]

    def hold(self, text: str, pure: str = "") -> list[Event]:
        """Nothing is told of a text: more must come; the `pure` one of which that depends on it alone is remembered."""
        self.held = text
        if pure and self.learns and not pure[0].isalpha() and len(pure) <= SHORT:
            self.known[pure] = None, "", pure  # whether letters are held hangs on those before them
        return []

    def know(self, known: Steps) -> None:
        """This is remembered of runs like the one that begins."""
        self.known, self.learns = known, len(known) < FULL

    def looked(self) -> None:
        """A place was looked at, and nothing told."""

    def leave(self) -> str:
        """Note all that was told; returns what was taken and not told.  The lane has ended."""
        if self.run:
            self.settle()
        return self.held

    def settle(self) -> None:
        """Note what was told."""
        run, known = self.run, self.known
        self.note("".join(run))
        if len(known) >= FULL:
            known.since += len(run)
            if known.since > LASTS:
                known.clear()
                known.since = 0
        self.learns = len(known) < FULL and known is not NOTHING
        run.clear()

    def note(self, text: str) -> None:
        """This text was told."""
        raise NotImplementedError


class TextLane(Lane):
    """Visible text, or reasoning, up to what begins a marker where it stands.

    `_before` is what was told already of the line's beginning, where the lane began there.
    """

    __slots__ = (
        "_asked", "_before", "_fences", "_heads", "_left", "_names", "_stops", "_table", "_teller", "_trial", "_vain",
        "_vain_signs", "_words",
    )  # fmt: skip

    def __init__(self, src: Source, teller: Teller, table: Table, names: Declared, trial: Trial) -> None:
        self._teller, self._stops, self._table, self._names = teller, table.stops, table, names
        self._trial, self._vain = trial, 0
        self._asked = False  # these very names, so that nobody else may go by the answer
        self._heads, self._words = names.heads, names.first_words
        self._fences, self._vain_signs = table.passing, table.vain.signs
        super().__init__(src, table.stops.search, TextDelta)
        self._left = VAIN  # places that may still be looked at for nothing

    def begin(self) -> Lane:
        """The reader waits here: take what follows in its place."""
        teller = self._teller
        self.kind = ReasoningDelta if teller.reasoning else TextDelta
        self.held = ""
        if teller.line_start(""):
            self._before, self.known, self.learns, self.is_plain = "\n", NOTHING, False, False
        else:
            self._go()
        return self

    def looked(self) -> None:
        """A place was looked at: behind many `stop` finds fewer."""
        self._left -= 1
        if not self._left:
            self.stop = self._table.surely_stops(self._names.told_heads)

    def _go(self) -> None:
        """Behind a line's beginning what may be told depends on the text alone."""
        self._before, self.is_plain = "", True
        self.know(_steps((self._stops, self.kind, self._words)))

    def feed(self, text: str) -> list[Event] | None:
        """The events of this text, which begins with what is held; None where the reader must look."""
        before = self._before
        begun = before + text
        end = self._reach(begun, self.stop(begun))
        if end <= 0:  # the line's beginning is still open, or may be a mark
            self.held = text
            return None if end else []
        self._count()
        self._go()
        told = begun[len(before) : end]
        return self.tell(told, held=begun[end:]) if told else self.hold(begun[end:])

    def look(self, text: str, found: Any) -> list[Event] | None:
        """The same behind a line's beginning."""
        at, pos = found.span()
        if pos == len(text) and pos - at < LONG and found.lastgroup in UNNAMED:
            if at:
                return self.tell(text[:at], text, text[at:])  # what begins at its end is held, as most often
            if not text[0].isalpha():
                return self.hold(text, text)
        pure = text
        if not at and not self.held and text[0].isalpha():
            pure = ""
            if glued(self._last, text[0]):
                found = self.stop(text, 1)
        end = self._reach(text, found)
        if end < 0:
            self.held = text
            return None
        if self._vain or self._asked:
            pure, self._asked = "", False
            self._count()
        return self.tell(text[:end], pure, text[end:]) if end else self.hold(text, pure)

    def _reach(self, text: str, found: Any) -> int:
        """How much of the text in which `stop` found this may be told; -1 where the reader must look."""
        size = len(text)
        while found is not None:
            self.looked()
            at, pos = found.span()
            kind = found.lastgroup
            if kind is None and pos == size and pos - at < LONG:
                return at  # type: ignore[no-any-return]
            if kind == "word" and found[kind].casefold()[:HEAD] not in self._words:
                found = self.stop(text, found.start(kind))
                continue
            if kind == "line" and text[found.start(kind)] == self._fences.sign:
                sign, pos = found.start(kind), found.end(kind)
                fate = self._fences.fate(text, sign, self._heads)
                if fate is Fate.STOPS and self._is_late(text, sign):
                    fate = Fate.PASSES
            else:
                fate, pos = Fate.STOPS, at + 1
                if kind == "line" and text[found.start(kind)] in self._vain_signs:
                    fate, pos = self._fate_of_word(text, found.start(kind)), found.end(kind)
                if fate is Fate.STOPS:
                    fate = self._stops.fate(found, text, self._heads)
            if fate is Fate.WAITS:
                return at  # type: ignore[no-any-return]
            if fate is Fate.STOPS:
                self._vain = 0  # the reader will count them
                return -1
            found = self.stop(text, pos)
        return size

    def _fate_of_word(self, text: str, pos: int) -> Fate:
        """What becomes of the mark here that begins a line, and may be a word that opens nothing."""
        self._asked, is_vain = True, self._table.vain.is_vain(text, pos, self._names, ended=False)
        return Fate.WAITS if is_vain is None else Fate.PASSES if is_vain else Fate.STOPS

    def _is_late(self, text: str, pos: int) -> bool:
        """Is the sign here a mark of calls that a message begins with, and has it begun?  Then it is a vain one."""
        if not (self._fences.is_late(text, pos) and self._teller.context.any):
            return False
        run = sum(map(len, self.run)) + pos - len(self._before)
        if not self._trial.is_vain(self._src.base + len(self._src.buf) + run, self._vain):
            return False
        table, size = self._table, len(text)
        for at in range(max(pos + 1, size - table.longest), size):
            if text[at:].casefold() in table.prefixes:
                return False  # behind a mark the scanner holds more
        self._vain += 1
        return True

    def _count(self) -> None:
        """The marks that were vain were told."""
        if self._vain:
            self._trial.looked(self._vain)
            self._vain = 0

    @property
    def _last(self) -> str:
        """The character before this place."""
        return self.run[-1][-1] if self.run else self._src.buf[-1:] or self._src.last

    def note(self, text: str) -> None:
        """This text was told."""
        self._src.passed(text)
        self._teller.passed(text)


class CallLane(Lane):
    """A run of a call's arguments: text that `stop` finds nothing in is told as it is, or as `encode` makes it."""

    __slots__ = ("_draft",)

    def __init__(self, src: Source, draft: Draft, search: Search, encode: Encode | None = None) -> None:
        super().__init__(src, search, CallDelta, draft.index, encode)
        self._draft, self.is_plain = draft, True
        self.know(_steps((search, CallDelta, draft.index)) if draft.index < FEW else Steps())

    def look(self, text: str, found: Any) -> list[Event] | None:
        """The events of a text in which `stop` found this; None where the reader must look."""
        end = self.reach(text, found)
        if end < 0:
            self.held = text
            return None
        return self.tell(text[:end], text, text[end:]) if end else self.hold(text, text)

    def reach(self, text: str, found: Any) -> int:
        """How much of the text may be told; -1 where the reader must look."""
        raise NotImplementedError

    def note(self, text: str) -> None:
        """This text was told."""
        self._src.passed(text)
        draft = self._draft
        draft.pieces.append(text if self.encode is None else self.encode(text)[1:-1])
        draft.told += 1


class StringLane(CallLane):
    """The inside of a JSON string in a call's arguments, up to a quote, or an escape that is not spelt well."""

    __slots__ = ("_run",)

    def __init__(self, src: Source, draft: Draft, search: Search, run: Run) -> None:
        super().__init__(src, draft, search)
        self._run = run

    def reach(self, text: str, found: Any) -> int:
        """How much of the text may be told; -1 where the reader must look."""
        end = self._run(text).end()  # type: ignore[union-attr]
        return end if end == len(text) or HALF_ESCAPE.fullmatch(text, end) else -1


class RawLane(CallLane):
    """The text of an argument that is markup's own, up to a tag.

    A line's end is held back: the value's last one may belong to its closer.
    """

    __slots__ = ()

    def __init__(self, src: Source, draft: Draft, tap: Tap) -> None:
        search = _raw_stop(tap.search.__self__.pattern)  # type: ignore[attr-defined]
        super().__init__(src, draft, search, encode_basestring)

    def reach(self, text: str, found: Any) -> int:
        """How much of the text may be told; -1 where the reader must look."""
        last = len(text) - 1
        return last if found.start() == last and text[last] == "\n" else -1


class PlainLane(Lane):
    """Any other run: its sink is given the text, and the teller asked.

    It is over where the sink had kept something back, so that no other lane could be taken, and has told it.
    """

    __slots__ = ("_kept", "_sink", "_tapped", "_teller")

    def __init__(self, src: Source, teller: Teller, tap: Tap) -> None:
        super().__init__(src, ANY, TextDelta)
        self._teller, self._tapped, self._sink = teller, tap.search, tap.sink
        self._kept = through(tap.sink) is None

    def feed(self, text: str) -> list[Event] | None:
        """The events of this text; None where the reader must look."""
        if not text or self._tapped(text) is not None:
            self.held = text
            return None
        self._src.passed(text)
        self._sink(text)
        self.is_over = self._kept and through(self._sink) is not None
        return self._teller.drain()


class NoLane(Lane):
    """Where a reader waits for something else than a run: it must look at all text, and no lane is asked."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(Source(), ANY, TextDelta)

    def feed(self, text: str) -> list[Event] | None:
        """None: the reader must look."""
        return None


NO_LANE = NoLane()
CLOSED = NoLane()
CLOSED.held = None  # type: ignore[assignment]  # nothing can be put behind it: the parser need not ask whether it is closed


class Lanes:
    """The lanes of one message."""

    __slots__ = ("_names", "_src", "_table", "_teller", "_text_lane", "_texts", "_trial")

    def __init__(self, src: Source, teller: Teller, names: Declared, trial: Trial) -> None:
        self._src, self._teller, self._names, self._trial = src, teller, names, trial
        self._table: Table | None = None
        self._text_lane: TextLane | None = None  # of that table
        self._texts: dict[int, TextLane] | None = None  # of others, by the table, which the lane keeps

    def here(self, table: Table) -> Lane:
        """The lane for the run in which the reader waits."""
        src, teller = self._src, self._teller
        tap = src.tap
        if tap is None or src.pos != len(src.buf):
            return NO_LANE
        owner: object = getattr(tap.sink, "__self__", None)
        if owner is teller:
            if not (table.stops.every_word or teller.queue) and tap.sink == teller.say:
                return self._text(table).begin()
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

    def _text(self, table: Table) -> TextLane:
        if table is self._table and self._text_lane is not None:
            return self._text_lane
        texts = self._texts or {}
        found = texts.get(id(table)) or TextLane(self._src, self._teller, table, self._names, self._trial)
        if self._table is not None and self._text_lane is not None:
            texts[id(self._table)] = self._text_lane
            self._texts = texts
        self._table, self._text_lane = table, found
        return found


@lru_cache(maxsize=KINDS)
def _steps(kind: Hashable) -> Steps:
    """What is remembered of runs of one kind."""
    return Steps()


def forget() -> None:
    """Remember nothing of any run: what a piece costs that was not seen before shows then."""
    _steps.cache_clear()


@lru_cache(maxsize=256)
def _raw_stop(marks: str) -> Search:
    return re.compile(f"{marks}|{RAW_STOP}").search
