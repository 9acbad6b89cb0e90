"""The events of an answer, handled: calls in its text found, native calls judged, names as the client has them.

Knows plans, and the parser and the judge by their contracts; nothing of bytes.
Contract: what was noticed of a request is emitted with the first event of its answer, never before; ids of calls are
its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from ..codecs.shared.spec import Ids, WireFields
from ..conversation.grown import by_growth
from ..dialects.engine.listening import Dialects
from ..dialects.engine.listening import listening as listens
from ..dialects.engine.parser import Parser
from ..dialects.engine.plain import PlainTexts
from ..dialects.judge.declared import NO_TOOLS, Declared, declared
from ..dialects.judge.judge import Judge
from ..dialects.judge.provenance import ShownHistory, ShownText
from ..dialects.rows.nonce import with_nonce
from ..dialects.writing.neutralise import JOINER
from ..events import (
    Assembler,
    CallDelta,
    CallEnded,
    CallStarted,
    Ended,
    Event,
    IssueReported,
    PartEnded,
    TextDelta,
    replay,
)
from ..jsontext import to_json
from ..providers.families import RETURNED, origin
from ..records import NamedTuple
from ..types import Issue, IssueKind, Message, Reasoning, Response, Stop, Text, Tool, ToolCall
from .chain import Chain, Course, Delta, Handling
from .further_choices import FurtherChoices
from .native_calls import NativeCalls
from .overlooked_text import OverlookedText
from .plan import Plan
from .prepare import wants_thinking
from .protocol import ProtocolAnswer
from .reasoned_calls import ReasonedCalls
from .rejections import calls_written
from .response_reader import COUNTED, SHOWN_GARBAGE, Replayed
from .running import Handler
from .several import asks_several, how_many
from .stream_parser import LateParser, PresumedReasoning, Restorer, TextCallStream
from .text_parser import TextParser
from .tool_names import renamed_back
from .unasked_choices import UnaskedChoices

Mint: TypeAlias = Callable[[str], Ids]
"""Ids for the calls of one answer: `mint("x")(0)`; the letter keeps those of two sources apart."""


KEPT = 2560
"""Bytes that a part of an answer costs whoever reads it (a call is kept with its report, its id and both its
readings), however short it is: what a process may hold is of them too, not of characters alone."""
SPEECH = (TextDelta, CallStarted)
READ_HERE = "the provider could not read its model's answer ({raw!r}) and gave it as an error; it was read here"


class AnswerStream:
    """One answer as it is emitted: what was noticed of the request, then what is made of each event.

    What handles them is made for the first, and not at all for a whole answer that goes out as it is.
    """

    __slots__ = (
        "_assembler", "_course", "_handle", "_mint", "_noticed", "_passing", "_plan", "_whole", "begun", "spoke",
    )  # fmt: skip

    begun: bool
    spoke: bool

    def __init__(self, noticed: tuple[Issue, ...], plan: Plan, mint: Mint) -> None:
        self._noticed, self._plan, self._mint = noticed, plan, mint
        self._passing = plan.once(_passing)  # also what is wrong with a plan shows here, before anybody is asked
        self._handle: Handling | None = None
        self._assembler: Assembler | None = None
        self._course: Course | None = None  # of pieces that are still to be told
        self._whole: Response | None = None
        self.begun = self.spoke = False

    def take(self, events: Iterable[Event]) -> Iterator[list[Event]]:
        """Handle the provider's `events`, which may end in an error: it is raised behind what came before it."""
        made, error = self.take_all(events)
        if made:
            yield made
        if error is not None:
            raise error

    def take_all(self, events: Iterable[Event]) -> tuple[list[Event], Exception | None]:
        """The same at once, and the error."""
        if events == ():
            return [], None
        if self._course is not None:
            self._end_course()
        read = True
        if type(events) is Replayed and self._assembler is None:
            if self.passes(events):
                return self.as_it_is(), None
            read = not self._passing.says_nothing(events.response)
        came: list[Event] = []
        failed = None
        try:
            came.extend(events)
        except Exception as error:
            failed = error
        if self._handle is None or self._assembler is None:
            self._handle, self._assembler = handling(self._plan, self._mint, read=read), Assembler()
        made = self._handle(came)
        if not self.begun and came:
            made = [*map(IssueReported, self._noticed), *made]
        return self._added(made, self._assembler), failed

    def _added(self, made: list[Event], assembler: Assembler) -> list[Event]:
        for one in made:
            if not self.spoke:
                self.begun, self.spoke = True, isinstance(one, SPEECH)
            assembler.add(one)
        return made

    def more(self, text: str, came: Delta, kind: Delta) -> str | list[Event]:
        """What `take_all` makes of more text of the kind `came`; where it is more of this `kind`, the text alone.

        To be asked only where the last event was of this kind.
        """
        course = self._course
        if course is None or course.came is not came or course.kind is not kind:
            if course is not None:
                self._end_course()
            course = self._course = self._handle.course(came, kind) if self._handle is not None else None
            if course is None:
                return self.take_all([came(text)])[0]
        said = course.take(text)
        if isinstance(said, str):
            return said
        self._end_course()
        assert self._handle is not None  # it made the course
        assert self._assembler is not None
        return self._added(self._handle.behind(said), self._assembler)

    def _end_course(self) -> None:
        course, self._course = self._course, None
        if course is not None and self._assembler is not None:
            self._assembler.extend(course.end())

    def passes(self, events: Iterable[Event]) -> bool:
        """Take a whole answer of which nothing is to be made; False for any other, which is not taken."""
        if type(events) is not Replayed or self._assembler is not None or not self._passing.holds(events.response):
            return False
        self.begun = self.spoke = True
        self._whole = events.response
        return True

    def as_it_is(self) -> list[Event]:
        """The events of the answer that passed; none where it did not."""
        return [*map(IssueReported, self._noticed), *replay(self._whole)] if self._whole is not None else []

    def held(self) -> int:
        """Bytes that its parts and issues cost beside their characters, in steps of `COUNTED`."""
        return self._assembler.count * KEPT // COUNTED * COUNTED if self._assembler is not None else 0

    def response(self) -> Response:
        """The events that went out, as a response."""
        if self._whole is not None:
            return replace(self._whole, issues=self._noticed) if self._noticed else self._whole
        self._end_course()
        return (self._assembler or Assembler()).response()


def salvaged(written: str, ids: Ids) -> list[Event]:
    """The events of an answer that came as an error: calls where its server took it for calls, else its text."""
    calls = calls_written(written)
    issue = Issue(kind=IssueKind.WIRE_FAULT, message=READ_HERE.format(raw=written[:SHOWN_GARBAGE]), raw=written)
    events: list[Event] = [IssueReported(issue)] if calls else [IssueReported(issue), TextDelta(written)]
    for index, (name, arguments) in enumerate(calls):
        events += [CallStarted(index, ids(index), name), CallDelta(index, to_json(arguments)), CallEnded(index)]
    return [*events, Ended(Stop.TOOL_CALLS if calls else Stop.END)]


# ── what handles an answer's events ──────────────────────────────────────────


def handling(plan: Plan, mint: Mint, *, read: bool = True) -> Handling:
    """What handles the events of the answer to `plan`, each choice by itself; `read`: also what its text holds."""
    first = _handling(plan, mint, read=read)
    if not plan.once(_asks_several):
        return first

    def own(number: int) -> Mint:
        return lambda letter: mint(f"{letter}{number}_")

    def each(handle: Handling) -> Callable[[Event], list[Event]]:
        return lambda event: handle([event])

    asked = how_many(plan.request, plan.codec, plan.route.fields)
    return _Several(FurtherChoices(
        plan.codec, plan.asked, each(first), lambda number: each(_handling(plan, own(number))), lambda n: own(n)("n"),
        asked=asked,
    ))  # fmt: skip


class _Several:
    """Handles the events of an answer of several choices, one by one."""

    def __init__(self, choices: FurtherChoices) -> None:
        self._choices = choices

    def __call__(self, events: Sequence[Event]) -> list[Event]:
        return [made for event in events for made in self._choices.handle(event)]

    def behind(self, events: Sequence[Event]) -> list[Event]:
        return [*events]

    def course(self, came: Delta, kind: Delta) -> None:
        return None


def _asks_several(plan: Plan) -> bool:
    return asks_several(plan.request, plan.codec, plan.route.fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listening:
    """What an answer is listened to with.

    named     the tools that it may name;  known: the same as the parser knows them
    dialects  those that are parsed; () where nothing may be called;  prompted: the one that the model was told
    opener    of reasoning, where the chat template is presumed to have opened it
    origin    whose models read what stands in its fields
    protocol  is it held to the JSON protocol, and `told` of it?  overlooked: is what its text hides asked about?
    """

    named: tuple[Tool, ...]
    known: Declared
    dialects: Dialects
    prompted: str
    opener: str
    origin: str
    protocol: bool
    told: bool
    overlooked: Declared | None


class _Passing(NamedTuple):
    """Tells the whole answers of which nothing is to be made: one text in which nothing is to be read.

    plain     the texts in which nothing is; None: in none;  unread: nobody looks at what the text holds
    restored  are joiners taken out of it?
    """

    plain: PlainTexts | None = None
    unread: bool = False
    restored: bool = False

    def holds(self, response: Response) -> bool:
        """Does it go out as it came?"""
        parts = response.message.parts
        if not (self.unread or self.plain) or len(parts) != 1 or type(part := parts[0]) is not Text or part.metadata:
            return False
        if response.stop is not Stop.END or response.issues or response.doubtful or not part.text:
            return False
        if self.restored and JOINER in part.text:
            return False
        return self.unread or (self.plain is not None and self.plain.hold(part.text))

    def says_nothing(self, response: Response) -> bool:
        """Need nobody look at what its text holds?  What it thinks, and what it calls by the wire, is handled."""
        if self.plain is None or response.stop is Stop.LENGTH:
            return False
        parts = response.message.parts
        texts = [part for part in parts if type(part) is Text]
        kinds = {*map(type, parts)}
        if not _WHOLE.issuperset(kinds) or len(texts) > 1:
            return False
        if Reasoning in kinds and ToolCall not in kinds and not any(text.text.strip() for text in texts):
            return False  # it may end in a call
        return all(not text.metadata and self.plain.hold(text.text) for text in texts)


NONE_PASS = _Passing()
_WHOLE = frozenset({Text, Reasoning, ToolCall})
"""Parts beside which a text is read as alone."""


def _passing(plan: Plan) -> _Passing:
    """Of one that is streamed, or that comes in a form of its own, none."""
    listening = plan.once(_listening)
    if plan.asked.stream or asks_several(plan.request, plan.codec, plan.route.fields):
        return NONE_PASS
    if not listening.dialects:
        return _Passing(unread=True, restored=plan.text)
    if listening.opener or listening.told or plan.route.prefix:
        return NONE_PASS
    heard = listens(
        listening.known, listening.dialects, listening.prompted, (), plan.habits,
        strict=plan.route.strict, doubt=plan.route.doubt, native=not plan.text,
    )  # fmt: skip
    return NONE_PASS if heard.judge.protocol else _Passing(PlainTexts(heard.table, heard.names), restored=plan.text)


def _listening(plan: Plan) -> _Listening:
    named, route = plan.named, plan.route
    dialects: Dialects = ()
    if named and not plan.forbids_calls:
        dialects = route.parser_dialects(plan.asked.model)
        if plan.nonce or (route.strict and plan.protocol):
            dialects = with_nonce(plan.dialect, plan.nonce) if plan.nonce else plan.dialect
    return _Listening(
        named=named,
        known=_known(plan) if plan.names.forth else declared(named) or NO_TOOLS,
        dialects=dialects,
        prompted=plan.dialect.name if plan.text else "",
        opener=_presumed(plan),
        origin=origin(route.provider, plan.family),
        protocol=plan.asked.output_schema is None or plan.protocol,
        told=plan.protocol,
        overlooked=None if route.doubt != "ask" or route.strict else _known(plan),
    )


def _handling(plan: Plan, mint: Mint, *, read: bool = True) -> Handling:
    """What handles the events of one choice."""
    listening = plan.once(_listening)
    make = _parsers(plan, listening, mint("t")) if read and listening.dialects else None
    parser = None if make is None else _parser(plan, listening, make)
    reasoned = None if make is None else ReasonedCalls(make)
    texts = TextCallStream(parser, _Natives(plan).handle, native=not plan.text, reasoned=reasoned)
    stages: list[Handler] = [] if plan.once(_asks_several) else [UnaskedChoices()]
    if parser is not None and listening.overlooked is not None:  # held back where it may hold a call, and asked about
        stages.append(OverlookedText(listening.overlooked))
    if parser is not None and listening.protocol:  # a form that was asked for may look like one
        stages.append(ProtocolAnswer(plan.tools, told=listening.told, strict=plan.route.strict))
    if plan.text:
        stages.append(Restorer())
    return Chain(texts, stages, None if plan.text else partial(_restored, plan, listening.origin))


def _known(plan: Plan) -> Declared:
    """The tools that the answer may name, in the spelling of the wire and in the caller's."""
    known = declared(plan.named) or NO_TOOLS
    return known.spelt_also(plan.names.forth) if plan.names.forth else known


def _restored(plan: Plan, origin: str, event: Event) -> Event:
    """The event with the caller's names, and with whose models read what stands in its fields."""
    if type(event) in _BEARING:
        event = _originated(event, origin, plan)  # type: ignore[arg-type]
    return renamed_back(event, plan.names) if plan.names.back else event


_BEARING = frozenset({PartEnded, CallStarted})


def _originated(event: PartEnded | CallStarted, origin: str, plan: Plan) -> Event:
    metadata = event.metadata
    wanted = isinstance(metadata, WireFields) or (type(event) is CallStarted and plan.family.replay in RETURNED)
    if not wanted:
        return event
    api = metadata.api if isinstance(metadata, WireFields) else plan.codec.name
    return replace(event, metadata=WireFields(api, metadata, origin))


class _Natives:
    """Handles the events of native calls; most answers make none."""

    __slots__ = ("_made", "_plan")

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._made: NativeCalls | None = None

    def handle(self, event: Event) -> list[Event]:
        """Handle `event`."""
        if self._made is None:
            plan = self._plan
            others = bool(plan.asked.extra.get("tools") or plan.route.fields.get("tools"))
            taken = _ids_of(plan.asked.messages)
            judge = Judge(plan.named)
            allowed, coded = not plan.forbids_calls, bool(plan.nonce)
            self._made = NativeCalls(judge, allowed=allowed, others=others, taken=taken, coded=coded)
        return self._made.handle(event)


@by_growth
def _ids_of(messages: Sequence[Message], start: int, known: frozenset[str] | None) -> frozenset[str]:
    return frozenset(call.id for message in messages[start:] for call in message.calls).union(known or ())


def _parsers(plan: Plan, listening: _Listening, ids: Ids) -> Callable[[str], Parser]:
    """What makes the parsers of one answer, by what its template had opened."""

    def make(prefix: str) -> Parser:
        return Parser(
            tools=listening.known, dialects=listening.dialects, prompted_dialect=listening.prompted, prefix=prefix,
            ids=ids, shown=shown_texts(plan.asked.messages),
            native=not plan.text, doubt=plan.route.doubt, confirmed=plan.habits, strict=plan.route.strict,
        )  # fmt: skip

    return make


def _parser(plan: Plan, listening: _Listening, make: Callable[[str], Parser]) -> TextParser:
    if listening.opener:
        return PresumedReasoning(make, listening.opener)
    prefix = plan.route.prefix
    return make(prefix) if prefix or plan.text else LateParser(partial(make, ""))


@by_growth
def shown_texts(messages: Sequence[Message], start: int, known: ShownHistory | None) -> ShownHistory:
    """The texts the model was shown, by whom: a call in a result may be copied, its own and the user's are none."""
    return ShownHistory(known, (shown for message in messages[start:] for shown in _shown(message)))


def _shown(message: Message) -> Iterator[ShownText]:
    for result in message.results:
        yield ShownText(result.text, name=result.name)
    if message.role == "tool":
        return
    if message.role == "user":
        yield ShownText(message.text, "user")
    elif message.role == "assistant":
        yield ShownText(message.text, "assistant", tuple((c.name, c.arguments) for c in message.calls))


def _presumed(plan: Plan) -> str:
    """The opener that the family's chat template writes, where the text may come as the model wrote it.

    Services take reasoning out of the text; a server of one's own may have been started without doing so.
    """
    provider = plan.route.provider
    if plan.route.prefix or (provider.base_url and not provider.port):
        return ""
    thinks = wants_thinking(plan.asked)
    return "" if thinks is False else plan.family.prefix(thinking=bool(thinks))
