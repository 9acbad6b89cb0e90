"""A response as a stream of events, and the two functions that fold and unfold it.

Knows the values of `types` and nothing else: no wire, no dialect, no clock.
Laws: `assemble(replay(r)) == r`; the `CallDelta.json` of one call concatenate to strict JSON, always; a call whose
`CallEnded.report` says *refused* or *quoted* is not in the assembled message (an `Issue` carries its text, or the call
as which it was read again).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias, get_args

from .errors import UsageError
from .jsontext import dumps
from .records import dataclass, field
from .types import (
    NOTHING,
    Issue,
    IssueKind,
    JsonObject,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Report,
    Response,
    Stop,
    Text,
    ToolCall,
    Usage,
    Verdict,
)

NOT_RUN = frozenset({Verdict.REFUSED, Verdict.DOUBTFUL, Verdict.QUOTED})


class LooseText:
    """A `TextDelta` until its fields are set and its `__class__` is: a frozen one costs thrice as much to make.

    The slots are here, for a class is changed faster for one that adds none to them.
    """

    __slots__ = ("doubt", "text")


class LooseReasoning:
    """A `ReasoningDelta` until then."""

    __slots__ = ("text",)


class LooseCall:
    """A `CallDelta` until then."""

    __slots__ = ("index", "json")


@dataclass(slots=True, frozen=True)
class Started:
    """The answer begins: its model and its id, where the wire has them.

    `extra` is what its wire says besides at once, for clients of the same API: `Ended` says it again.
    """

    model: str = ""
    id: str = ""
    extra: JsonObject = NOTHING


@dataclass(slots=True, frozen=True)
class TextDelta(LooseText):
    """More visible text.

    `doubt` counts, from 1, the stretches of an answer in which calls stand that were perhaps not meant; 0 for all else.
    Whoever asks about them holds such a stretch back.
    """

    text: str
    doubt: int = 0


@dataclass(slots=True, frozen=True)
class ReasoningDelta(LooseReasoning):
    """More reasoning."""

    text: str


@dataclass(slots=True, frozen=True)
class PartEnded:
    """The running text or reasoning part is complete; `metadata` belongs to it (a signature, citations)."""

    metadata: JsonObject = NOTHING


@dataclass(slots=True, frozen=True)
class PartAdded:
    """A part that does not come in pieces: media, or a block only its own API understands."""

    part: Media | Opaque


@dataclass(slots=True, frozen=True)
class CallStarted:
    """A call begins.  `index` counts the calls of this answer from 0; `id` is never empty."""

    index: int
    id: str
    name: str
    metadata: JsonObject = NOTHING


@dataclass(slots=True, frozen=True)
class CallDelta(LooseCall):
    """More of the arguments of call `index`, as strict JSON text."""

    index: int
    json: str


@dataclass(slots=True, frozen=True)
class CallEnded:
    """Call `index` is complete.  `report` is its audit trail; `raw` the arguments as written, where that differs."""

    index: int
    report: Report | None = None
    raw: str | None = None


@dataclass(slots=True, frozen=True)
class Reclassified:
    """Everything so far, text and calls, was reasoning: its closing tag came without an opening one.

    `answer`: the other way round, the reasoning was the answer, which comes again as text.
    Nothing can be taken back from a stream already shown; a fold makes it right.
    """

    answer: bool = False


@dataclass(slots=True, frozen=True)
class WireEvent:
    """What API `api` says beside the answer while it streams: event `name`, its `fields` in the words of that API.

    Only clients of the same API are told; a fold leaves it out, for whatever counts is said by another event too.
    """

    api: str
    name: str = ""
    fields: JsonObject = NOTHING


@dataclass(slots=True, frozen=True)
class IssueReported:
    """Something went wrong or was left out: a refused call, an unsupported field, a wire fault."""

    issue: Issue


@dataclass(slots=True, frozen=True)
class CallDoubted:
    """A call stands in the visible text, and whether it was meant is not certain: the model may be asked.

    `call.report` says why, `text` is the call as it was written; the text itself was told as text, in stretch `doubt`.
    """

    call: ToolCall
    text: str = ""
    doubt: int = 0


@dataclass(slots=True, frozen=True)
class Ended:
    """The answer is complete: why, and what it cost."""

    stop: Stop | None = None
    usage: Usage | None = None
    extra: JsonObject = NOTHING


Event: TypeAlias = (
    Started
    | TextDelta
    | ReasoningDelta
    | PartEnded
    | PartAdded
    | CallStarted
    | CallDelta
    | CallEnded
    | CallDoubted
    | Reclassified
    | WireEvent
    | IssueReported
    | Ended
)


EVENTS: frozenset[type] = frozenset(get_args(Event))
"""The classes of all events."""

_NOWHERE = -1  # the place of a call that was open when all before turned out to be reasoning


@dataclass(slots=True)
class _OpenCall:
    started: CallStarted
    place: int
    pieces: list[str] = field(default_factory=list)


_STARTED, _ENDED = Started(), Ended()
_NO_CALLS: dict[int, _OpenCall] = {}  # of most answers; nothing is put into it


class Assembler:
    """Folds events into a response; `response()` may be asked at any time and gives the part there is so far.

    `issues` and `doubtful` are those of the events so far.
    """

    __slots__ = ("_calls", "_ended", "_kind", "_parts", "_run", "_started", "doubtful", "issues")

    def __init__(self) -> None:
        self._parts: list[Part | None] | tuple[()] = ()
        self._run: list[str] = []
        self._kind: type[Text] | type[Reasoning] | None = None
        self._calls = _NO_CALLS
        self.issues: list[Issue] | tuple[()] = ()
        self.doubtful: list[ToolCall] | tuple[()] = ()
        self._started, self._ended = _STARTED, _ENDED

    def add(self, event: Event) -> None:
        """Take one event."""
        if type(event) is TextDelta and self._kind is Text:
            self._run.append(event.text)
        elif (take := _TAKEN.get(type(event))) is not None:
            take(self, event)

    def extend(self, events: Iterable[Event]) -> None:
        """Take them all, in order."""
        for event in events:
            if type(event) is TextDelta and self._kind is Text:
                self._run.append(event.text)
            elif (take := _TAKEN.get(type(event))) is not None:
                take(self, event)
            elif type(event) in _NO_EVENTS:
                raise UsageError(f"a {type(event).__name__} is no event; give what Parser.feed and close gave")

    def _start(self, event: Started) -> None:
        self._started = event

    def _end(self, event: Ended) -> None:
        self._ended = event

    def _tell(self, event: TextDelta) -> None:
        self._add_text(Text, event.text)

    def _think(self, event: ReasoningDelta) -> None:
        self._add_text(Reasoning, event.text)

    def _notice(self, event: IssueReported) -> None:
        self.issues = issues = self.issues or []
        issues.append(event.issue)

    def _doubt(self, event: CallDoubted) -> None:
        self.doubtful = doubtful = self.doubtful or []
        doubtful.append(event.call)

    def _add_part(self, event: PartAdded) -> None:
        self._close_part()
        self._add(event.part)

    def _end_part(self, event: PartEnded) -> None:
        self._close_part(event.metadata)

    def _start_call(self, event: CallStarted) -> None:
        if self._kind is not None:
            self._close_part()
        if self._calls is _NO_CALLS:
            self._calls = {}
        self._calls[event.index] = _OpenCall(event, len(self._parts))
        self._add(None)

    def _add_arguments(self, event: CallDelta) -> None:
        self._calls[event.index].pieces.append(event.json)

    def _end_call(self, event: CallEnded) -> None:
        call = self._calls.pop(event.index)
        made = called(call.started, "".join(call.pieces), event)
        if made is None:
            return
        if call.place == _NOWHERE:
            self._notice(IssueReported(_in_reasoning(made)))
        elif self._parts:  # its place is there
            self._parts[call.place] = made

    def _add(self, part: Part | None) -> None:
        self._parts = parts = self._parts or []
        parts.append(part)

    @property
    def count(self) -> int:
        """How many parts and issues there are so far, open ones too."""
        return len(self._parts) + len(self.issues)

    def parts(self) -> tuple[Part, ...]:
        """The parts of the message as far as they are known; calls still open are left out."""
        if self._kind is not None:
            self._close_part()
        return tuple([p for p in self._parts if p is not None])

    def response(self) -> Response:
        """The response as far as it is known; calls still open are left out."""
        message = Message("assistant", self.parts())
        return Response(
            message=message,
            stop=self._ended.stop,
            usage=self._ended.usage,
            model=self._started.model,
            id=self._started.id,
            issues=tuple(self.issues),
            doubtful=tuple(self.doubtful),
            extra=_both(self._started.extra, self._ended.extra),
        )

    def _reclassify(self, event: Reclassified) -> None:
        self._close_part()
        if event.answer:
            self._parts = [p for p in self._parts if not isinstance(p, Reasoning)]
            return
        self.doubtful = ()
        texts = [p for p in self._parts if isinstance(p, Text | Reasoning)]
        for made in [p for p in self._parts if isinstance(p, ToolCall)]:
            self._notice(IssueReported(_in_reasoning(made)))
        for call in self._calls.values():
            call.place = _NOWHERE
        joined = "".join(p.text for p in texts)
        others = [p for p in self._parts if isinstance(p, Media | Opaque)]
        self._parts = [*([Reasoning(joined)] if joined else []), *others]

    def _add_text(self, kind: type[Text] | type[Reasoning], text: str) -> None:
        if self._kind is not kind:
            if self._kind is not None:
                self._close_part()
            self._kind = kind
        self._run.append(text)

    def _close_part(self, metadata: JsonObject = NOTHING) -> None:
        if self._kind is not None and (self._run or metadata):
            self._parts = parts = self._parts or []
            parts.append(self._kind("".join(self._run), metadata=metadata))
        elif metadata and self._kind is None:
            self._add(Reasoning("", metadata=metadata))
        self._kind, self._run = None, []


_TAKEN: dict[type, Callable[[Assembler, Any], None]] = {
    Started: Assembler._start,
    TextDelta: Assembler._tell,
    ReasoningDelta: Assembler._think,
    PartEnded: Assembler._end_part,
    PartAdded: Assembler._add_part,
    CallStarted: Assembler._start_call,
    CallDelta: Assembler._add_arguments,
    CallEnded: Assembler._end_call,
    Reclassified: Assembler._reclassify,
    IssueReported: Assembler._notice,
    CallDoubted: Assembler._doubt,
    Ended: Assembler._end,
}


def called(started: CallStarted, text: str, ended: CallEnded) -> ToolCall | None:
    """The call that `started`, wrote `text` and `ended`; None for one that will not run."""
    report = ended.report
    if report is not None and report.verdict in NOT_RUN:
        return None
    arguments: Any = _loads(text) if text else {}
    return ToolCall(
        id=started.id,
        name=started.name,
        arguments=arguments,
        raw=text if ended.raw is None else ended.raw,
        report=report,
        metadata=started.metadata,
    )


def _both(first: JsonObject, second: JsonObject) -> JsonObject:
    """Both in one.  What knows the wire it came from is no plain mapping: the end of such an answer says all again."""
    return {**first, **second} if type(first) is dict else second


def _in_reasoning(call: ToolCall) -> Issue:
    message = f"the call of {call.name!r} stood in reasoning; it was not run"
    return Issue(kind=IssueKind.IN_REASONING, message=message, name=call.name, raw=call.raw or "", call_id=call.id)


_NO_EVENTS = frozenset({int, float, bool, str, bytes, dict, list, tuple, type(None)})


def assemble(events: Iterable[Event]) -> Response:
    """Fold a stream of events into its response.  Raises UsageError for what are no events."""
    if not isinstance(events, Iterable) or isinstance(events, str | bytes | Mapping):
        raise UsageError(f"a {type(events).__name__} is no stream of events; give what Parser.feed and close gave")
    assembler = Assembler()
    assembler.extend(events)
    return assembler.response()


def replay(response: Response) -> Iterator[Event]:
    """A response as the events of a stream; `assemble(replay(r)) == r`.  Raises UsageError for what is no response."""
    if not isinstance(response, Response):
        raise UsageError(f"a {type(response).__name__} is no Response; read one with decode(api, body)")
    events: list[Event] = [Started(response.model, response.id)]
    index = 0
    previous: Part | None = None
    for part in response.message.parts:
        if isinstance(part, ToolCall):
            events += call_events(part, index)
            index += 1
        else:
            if type(part) is type(previous) and isinstance(previous, Text | Reasoning) and not previous.metadata:
                events.append(PartEnded())
            events += _part_events(part)
        previous = part
    events += map(IssueReported, response.issues)
    events += map(CallDoubted, response.doubtful)
    events.append(Ended(response.stop, response.usage, response.extra))
    return iter(events)


def _part_events(part: Part) -> tuple[Event, ...]:
    if isinstance(part, Media | Opaque):
        return (PartAdded(part),)
    if not isinstance(part, Text | Reasoning):
        raise TypeError(f"a response cannot hold {type(part).__name__}; results belong in a message of role 'tool'")
    said = TextDelta(part.text) if isinstance(part, Text) else ReasoningDelta(part.text)
    if not part.metadata:
        return (said,)
    announced: tuple[Event, ...] = getattr(part.metadata, "announced", ())  # a wire's own fields may be known by it
    return (*announced, said, PartEnded(part.metadata))


def call_events(call: ToolCall, index: int = 0) -> tuple[CallStarted, CallDelta, CallEnded]:
    """The events of `call`."""
    started = CallStarted(index, call.id, call.name, call.metadata)
    return started, CallDelta(index, _text_of(call)), CallEnded(index, call.report, call.raw)


def _text_of(call: ToolCall) -> str:
    """The arguments as strict JSON: as the model wrote them, where that is strict and equal."""
    if call.raw:
        try:
            if _loads(call.raw) == call.arguments:
                return call.raw
        except ValueError:
            pass
    return dumps(call.arguments)


_scan: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def _loads(text: str) -> Any:
    """`json.loads`, without its three layers where nothing stands around the value."""
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        return json.loads(text)
    return value if end == len(text) else json.loads(text)
