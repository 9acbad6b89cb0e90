"""What the stream decoders of all wires share: the frame's body, runs and blocks of text, the order of the end.

Knows frames, events and native calls; no API: a wire says what a frame means (`_read`), why the answer stopped and what
of it no value models.  Nearly all frames are like the one before but for one string; a wire says where it stands
(`_repeat`), and such a frame is read by comparison alone.

Contract: `feed` raises the peer's own error and nothing else; whatever the frames, `close` gives `Ended` last, once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...events import Ended, Event, IssueReported, PartAdded, PartEnded, ReasoningDelta, Started, TextDelta, WireEvent
from ...memo import exact
from ...types import NOTHING, JsonObject, Media, Opaque, Stop, Usage
from .body import counts
from .calls import CallBook
from .encoder import final_stop
from .frames import Frame
from .issues import frame_body, out_of_tokens, wire_fault
from .spec import Ids, Progress, wire_fields

_AROUND = ' \t\r\n"'
"""What may stand around a terminator, which some servers write as they write their frames."""
Emit = Callable[[str], list[Event]]
Path = tuple[str | int, ...]
Delta = type[TextDelta] | type[ReasoningDelta]


class Repeat:
    """A frame, and where the string stands by which the next frames may differ from it."""

    __slots__ = ("_body", "_event", "_holder", "_key", "_steps", "emit", "kind", "noise")
    noise: tuple[str, ...]
    emit: Emit

    def __init__(self, body: dict[str, Any], event: str, noise: tuple[str, ...], emit: Emit, path: Path) -> None:
        self._body, self._event, self.noise, self.emit = body, event, noise, emit
        *self._steps, self._key = path
        self._holder = self._find(body)
        self.kind: Delta | None = _KINDS.get(getattr(emit, "__func__", None))

    def _find(self, body: Any) -> Any:
        """What holds the string in `body`; None where there is none."""
        holder = body
        try:
            for step in self._steps:
                holder = holder[step]
            return holder if type(holder[self._key]) is str else None
        except (KeyError, IndexError, TypeError):
            return None

    @property
    def last(self) -> str:
        """The string of the last frame."""
        return "" if self._holder is None else str(self._holder[self._key])

    def string(self, body: Any) -> str | None:
        """The string of `body` by which it may differ; None where there is none."""
        holder = self._find(body)
        return None if holder is None else holder[self._key]

    def rest(self) -> None:
        """Hold the frame no more: a stream may be open for long, and what is read of its text needs none.

        The next frame that is asked about is like no other, and is read as one.
        """
        self._body, self._holder = {}, None

    def read(self, body: dict[str, Any], event: str) -> list[Event] | None:
        """The events of a frame that differs in the string only, and in the noise; None for any other."""
        holder: Any = body
        mine, key = self._holder, self._key
        if mine is None or event != self._event:
            return None
        try:
            for step in self._steps:
                holder = holder[step]
            string = holder[key]
        except (KeyError, IndexError, TypeError):
            return None
        if type(string) is not str:
            return None
        mine[key] = string
        for name in self.noise:
            if name in body:
                self._body[name] = body[name]
        return self.emit(string) if body == self._body and exact(body) == exact(self._body) else None


class AnswerDecoder(ABC):
    """Frames of one streamed answer → events.  A whole answer goes through the same methods, as one frame."""

    api: ClassVar[str]
    stops: ClassVar[Mapping[str, Stop]]
    """The wire's reasons to stop."""
    plain_words: ClassVar[Collection[str]] = ()
    """Those of them that our own reason says too."""
    unfinished: ClassVar[str]
    """What to report of a stream that broke off."""
    terminator: ClassVar[str | None] = "[DONE]"
    noise: ClassVar[tuple[str, ...]] = ()
    """Fields in which frames differ that are alike otherwise."""

    def __init__(self, ids: Ids | None = None) -> None:
        self._calls = CallBook(ids)
        self._started = self._closed = False
        self._complete = False  # the wire said that this is all
        self._over = False  # its terminator has come
        self._answered = False  # there was more than reasoning
        self._word = ""  # the wire's own for why it stopped
        self._usage: dict[str, Any] = {}
        self._counted: Usage | None = None  # what it says, once it is complete
        self._extra: dict[str, Any] = {}
        self._like: Repeat | None = None
        self._repeats: tuple[Emit, Path] | None = None

    def expect(self, names: Collection[str]) -> None:
        """These are the names of the tools that may be called, as the wire spells them."""
        self._calls.expect(names)

    def feed(self, frame: Frame) -> list[Event]:
        """The events of `frame`.  Raises `ProviderError` when the peer reports an error."""
        if self._closed:
            return []
        body = frame_body(frame)
        if isinstance(body, IssueReported):
            return self._on_terminator() if frame.data.strip(_AROUND) == self.terminator else [body]
        like = self._like
        if like is not None:
            events = like.read(body, frame.event)
            if events is not None:
                if self.noise:
                    self._read_noise(body)
                return events
        self._like = self._repeats = None
        events = self._read(body, frame.event)
        if self._repeats is not None:
            self._like = Repeat(body, frame.event, self._varying(), *self._repeats)
        return events

    @property
    def like(self) -> Repeat | None:
        """How the next frames may differ from the last one; None where it was like no other."""
        return self._like

    def note(self, noise: JsonObject) -> None:
        """Such a frame had these fields; what its string says was handled as what it is (`Likeness.kind`)."""
        self._read_noise(noise)

    def feed_alike(self, text: str, noise: JsonObject) -> list[Event]:
        """The events of a frame that differs from the last one in this string, and these fields; or of several, whose
        strings these are together.

        Only while `like` says that frames may.
        """
        like = self._like
        if like is None:
            return []
        if noise:
            self._read_noise(noise)
        return like.emit(text)

    @property
    def progress(self) -> Progress:
        """How far the answer has come, by the frames so far."""
        if self._over or self._closed:
            return Progress.OVER
        return Progress.STOPPED if self._is_complete() else Progress.OPEN

    def close(self) -> list[Event]:
        """The events still due when the stream has ended, `Ended` last."""
        if self._closed:
            return []
        self._closed = True
        stop = self._stop()
        cut = stop in (None, Stop.LENGTH)
        events = [*self._start(), *self._end_open(cut=cut), *self._calls.finish(cut=cut), *self._faults()]
        stop = self._final_stop(stop)
        if stop is Stop.LENGTH and not (self._answered or self._calls.any):
            events.append(out_of_tokens())
        self._counted = self._read_usage()
        return [*events, Ended(stop, self._counted, self._leftover())]

    # ── for a wire to say ────────────────────────────────────────────────────

    @abstractmethod
    def _read(self, body: dict[str, Any], event: str) -> list[Event]:
        """The events of a frame that is like no other."""

    @abstractmethod
    def _read_usage(self) -> Usage | None:
        """What the answer cost."""

    def _write_usage(self, usage: Usage | None) -> JsonObject:
        """The token counts that this wire's encoder would write of `usage`."""
        return {}

    @abstractmethod
    def _leftover(self) -> JsonObject:
        """The fields of the answer that no value models."""

    def _varying(self) -> tuple[str, ...]:
        """The fields of the noise that the next frames may differ in: of several read at once the last counts."""
        return self.noise

    def _read_noise(self, body: JsonObject) -> None:  # noqa: B027  most say nothing by it
        """Take from a frame that is like the one before what its noise says."""

    def _on_terminator(self) -> list[Event]:
        self._over = True
        return []

    def _is_complete(self) -> bool:
        return self._complete or bool(self._word)

    def _stop(self) -> Stop | None:
        """Why the answer stopped, None where the stream broke off."""
        return self.stops.get(self._word, Stop.END if self._is_complete() else None)

    def _final_stop(self, stop: Stop | None) -> Stop | None:
        return final_stop(stop, self._calls.given)

    def _end_open(self, *, cut: bool) -> list[Event]:
        """End the parts that are still open; `cut` where the answer was cut off."""
        return []

    def _faults(self) -> list[Event]:
        return [] if self._is_complete() else [wire_fault(self.unfinished)]

    # ── for a wire to use ────────────────────────────────────────────────────

    def _start(self, model: str = "", id_: str = "", extra: JsonObject = NOTHING) -> list[Event]:
        if self._started:
            return []
        self._started = True
        return [Started(model, id_, wire_fields(self.api, extra))]

    def _beside(self, name: str, fields: JsonObject = NOTHING) -> Event:
        """What the wire says beside the answer, for clients of the same API."""
        return WireEvent(self.api, name, fields)

    def _emit_text(self, text: str) -> list[Event]:
        if not text:
            return []
        self._answered = True
        return [TextDelta(text)]

    def _emit_reasoning(self, text: str) -> list[Event]:
        return [ReasoningDelta(text)] if text else []

    def _add_part(self, part: Media | Opaque) -> list[Event]:
        self._answered = True
        return [PartAdded(part)]

    def _repeat(self, emit: Emit | None, *path: str | int) -> None:
        """The next frames may differ from the one being read in nothing but the string at `path`: read such a frame, or
        several at once, by `emit`, which does with what the string says what `_read` would do with the frame."""
        self._repeats = None if emit is None else (emit, path)

    def _repeat_text(self, events: list[Event], *path: str | int) -> list[Event]:
        """`events`; where the last of them is the text at `path`, the next frames may go on with it."""
        last = type(events[-1]) if events else None
        if last is TextDelta or last is ReasoningDelta:
            self._repeat(self._emit_text if last is TextDelta else self._emit_reasoning, *path)
        return events

    @property
    def _own_word(self) -> str | None:
        """The wire's reason to stop, where ours does not say it."""
        return self._word if self._word and self._word not in self.plain_words else None

    @property
    def _own_usage(self) -> JsonObject | None:
        """The wire's token counts, where ours would not come out as they are; known at the end."""
        usage = counts(self._usage)
        return usage if usage and usage != self._write_usage(self._counted) else None


_KINDS: Mapping[Any, Delta] = {
    AnswerDecoder._emit_text: TextDelta,
    AnswerDecoder._emit_reasoning: ReasoningDelta,
}
"""What makes one event of a string, and of which kind."""


_TEXTS = frozenset({"text", "refusal"})


class RunDecoder(AnswerDecoder):
    """For wires that do not announce their parts: deltas of one kind are one part until another kind comes.

    `_run` is what is under way: "text" or "refusal", any other name for reasoning, "" for nothing.
    """

    def __init__(self, ids: Ids | None = None) -> None:
        super().__init__(ids)
        self._run = ""
        self._silent = True  # did nothing come of the run yet?
        self._metadata: dict[str, Any] = {}

    def _continue_run(self, run: str, text: str) -> list[Event]:
        """More of `run`, which begins unless it runs already."""
        begun = self._begin_run(run)
        self._silent = self._silent and not text
        return begun + (self._emit_text(text) if run in _TEXTS else self._emit_reasoning(text))

    def _begin_run(self, run: str) -> list[Event]:
        if run == self._run:
            return []
        events = self._end_run() + self._calls.end_complete()
        self._run, self._silent = run, True
        return events

    def _end_run(self) -> list[Event]:
        """End what runs; metadata alone make a part too."""
        run, metadata = self._run, self._metadata
        if not run:
            return []
        self._run, self._metadata = "", {}
        ended: list[Event] = [PartEnded(wire_fields(self.api, metadata))]
        return [TextDelta("") if run in _TEXTS else ReasoningDelta(""), *ended] if self._silent and metadata else ended

    def _end_open(self, *, cut: bool) -> list[Event]:
        return self._end_run()


@dataclass(slots=True)
class Block:
    """A block under way: its kind is "text", "reasoning", "call", or "" for one only its own API reads."""

    kind: str
    start: JsonObject
    metadata: dict[str, Any] = field(default_factory=dict)
    pieces: list[Any] = field(default_factory=list)
    emitted: bool = False


class BlockDecoder(AnswerDecoder):
    """For wires that send an answer in numbered blocks, each begun, filled and ended."""

    def __init__(self, ids: Ids | None = None) -> None:
        super().__init__(ids)
        self._blocks: dict[int, Block] = {}
        self._last_call: int | None = None  # its block ended; it may yet prove cut

    @abstractmethod
    def _opaque(self, block: Block) -> list[Event]:
        """The part that a block of no other kind is."""

    def _begin_block(self, index: int, kind: str, start: JsonObject) -> list[Event]:
        events = self._start() + self._end_block(index) + self._follow_call()
        self._blocks[index] = Block(kind, start)
        return events

    def _follow_call(self) -> list[Event]:
        """Another block begins, so the call before it was not cut off."""
        index, self._last_call = self._last_call, None
        return [] if index is None else self._calls.end(index, sure=True)

    def _fill(self, block: Block, text: str) -> list[Event]:
        if not text:
            return []
        block.emitted = True
        return self._emit_reasoning(text) if block.kind == "reasoning" else self._emit_text(text)

    def _end_block(self, index: int) -> list[Event]:
        block = self._blocks.pop(index, None)
        match block:
            case None:
                return []
            case Block(kind="call"):
                self._last_call = index
                return self._calls.end(index)
            case Block(kind="text" | "reasoning"):
                return self._end_part(block)
        self._answered = True
        return self._opaque(block)

    def _end_part(self, block: Block) -> list[Event]:
        """End what the block has given so far; metadata alone make a part too."""
        metadata, emitted = wire_fields(self.api, block.metadata), block.emitted
        block.metadata, block.emitted = {}, False
        if not metadata and not emitted:
            return []
        empty: Event = TextDelta("") if block.kind == "text" else ReasoningDelta("")
        return [*([] if emitted else [empty]), PartEnded(metadata)]

    def _end_open(self, *, cut: bool) -> list[Event]:
        return [event for index in list(self._blocks) for event in self._end_block(index)]
