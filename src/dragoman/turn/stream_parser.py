"""The events of one answer with the calls in its text found: text is searched, native calls pass.

Knows events and, by its two methods, the dialect parser; nothing of wires, prompts or providers.
Contract, over the events of one answer: text that may be shown passes at once; once a native call has begun, text is
text and nothing else (seed document 001: native calls present means native); where both could come (`native`), calls
found in text wait until it is clear that no native one follows, and nothing else waits; `Ended` says what really
happened: calls to run mean `tool_calls`, a call that was cut means `length`; where nothing but reasoning came, that is
asked for the calls it ends in (`reasoned`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..dialects.writing.neutralise import JOINER, restore
from ..events import (
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
    TextDelta,
    WireEvent,
)
from ..records import NamedTuple
from ..types import Issue, IssueKind, Stop
from .reasoned_calls import ReasonedCalls
from .text_parser import ReasoningParser, TextParser

UNSPECIFIC = frozenset({None, Stop.END, Stop.STOP_SEQUENCE})
"""Stops that say nothing about calls: many servers end an answer with calls by a plain `stop`."""

DELTAS = frozenset({TextDelta, ReasoningDelta})
CLOSING = frozenset({Ended, CallStarted})
"""Behind these no text is searched."""
GAVE_WAY = "a call of {name!r} stood in the text of an answer that made native calls; it was not run"
IN_REASONING = "the call of {name!r} stood in reasoning; it was not run"


class PresumedReasoning:
    """A parser for text that very likely begins inside reasoning, since the chat template opens it.

    It may not: a server may take reasoning out of the text (`set_apart`), the model may open it itself, thinking may
    be off, which no one says.  An answer in which reasoning never ends, and that was not cut, was all answer: it goes
    out again as text.  `make(prefix)` is a parser; `opener` what the template opens.
    """

    def __init__(self, make: Callable[[str], ReasoningParser], opener: str) -> None:
        self._make, self._opener = make, opener
        self._parser: ReasoningParser | None = None
        self._inside = True
        self._written: list[str] = []

    def set_apart(self) -> None:
        """Reasoning came by itself: the text holds none."""
        self._inside = self._inside and self._parser is not None

    def feed(self, text: str) -> list[Event]:
        """The events that `text` completes; an opener of the model's own is waited for."""
        if not self._inside:
            return self._plain().feed(text)
        self._written.append(text)
        if self._parser is not None:
            return self._follow(self._parser.feed(text))
        begun = "".join(self._written)
        start = begun.lstrip()
        if self._opener.startswith(start):
            return []
        self._inside = not start.startswith(self._opener)
        self._parser = self._make(self._opener if self._inside else "")
        return self._follow(self._parser.feed(begun))

    def close(self, finish_reason: str | None = None) -> list[Event]:
        """The events that were still open."""
        if not self._inside:
            return self._plain().close(finish_reason)
        if self._parser is not None:
            events = self._follow(self._parser.close(finish_reason))
            if not self._inside or finish_reason == Stop.LENGTH:
                return events
        plain, written = self._make(""), "".join(self._written)
        again = [*plain.feed(written), *plain.close(finish_reason)]
        return again if self._parser is None else [Reclassified(answer=True), *again]

    def _plain(self) -> TextParser:
        self._parser = self._parser or self._make("")
        return self._parser

    def _follow(self, events: list[Event]) -> list[Event]:
        """`events`; once there is anything but reasoning, the presumption was right."""
        assert self._parser is not None
        if self._parser.reasoned or not all(isinstance(e, ReasoningDelta | IssueReported) for e in events):
            self._inside = False
            self._written.clear()
        return events


class LateParser:
    """A parser that is made for the first text: many answers are native calls and nothing else.

    Only where one that was given nothing says nothing: not where a template has opened something.
    """

    def __init__(self, make: Callable[[], TextParser]) -> None:
        self._make = make

    def feed(self, text: str) -> list[Event]:
        """The events that the first `text` completes; from then on its methods are the parser's own."""
        parser = self._make()
        self.__dict__.update(feed=parser.feed, close=parser.close)
        del self._make  # and what it holds: a stream may be open for long
        return parser.feed(text)

    def close(self, finish_reason: str | None = None) -> list[Event]:
        """Nothing: there was no text."""
        return []


class Search(NamedTuple):
    """How text that goes on is searched: `feed` gives the events of a piece, which is put into `noted` before.

    None: it passes as it is; it need not be noted.
    """

    feed: Callable[[str], list[Event]] | None = None
    noted: list[str] | None = None


NO_SEARCH = Search()


def _as_it_came(event: Event) -> list[Event]:
    return [event]


def _is_of_call(event: Event) -> bool:
    """Is it what is wrong with a native call, which is known by its id?"""
    return isinstance(event, IssueReported) and bool(event.issue.call_id)


class TextCallStream:
    """Finds the calls in the text of one answer.

    `parser` searches its text (None: text is text); `judge` gives what the events of native calls come to
    (`native_calls.py`); `native`: may native calls come?  `reasoned` takes the reasoning that came by itself, until
    anything else did (None: nobody reads it).
    """

    __slots__ = (
        "_cut", "_ending", "_fed", "_found", "_judge", "_native", "_parser", "_parted", "_pending",
        "_reasoned", "_runnable", "_searched", "_shown", "_text",
    )  # fmt: skip

    def __init__(
        self,
        parser: TextParser | None = None,
        judge: Callable[[Event], list[Event]] = _as_it_came,
        *,
        native: bool = True,
        reasoned: ReasonedCalls | None = None,
    ) -> None:
        self._parser = parser
        self._judge = judge
        self._native = native
        self._reasoned = reasoned
        self._pending: list[Event] = []  # calls found in text, while native ones may come
        self._text: list[str] = []  # what the model wrote, where a call found in it may have to be given back
        self._found = 0  # calls the parser began: native ones are numbered after them
        self._searched = False  # the running part is text that goes through the parser
        self._fed = self._shown = False  # there was text in it, and some of it was shown
        self._parted = False  # the shown text before was a part of its own: said where another text may follow
        self._ending: PartEnded | None = None  # of a part of whose text the parser may still hold the last
        self._runnable = 0  # calls that will run
        self._cut = False

    def handle_all(self, events: Sequence[Event]) -> list[Event]:
        """Handle them in order: what `handle` makes of each.  Most are text that goes on, or reasoning."""
        made: list[Event] = []
        for event in events:
            kind = type(event)
            if self._ending is not None:
                made += self.handle(event)
            elif (
                kind is TextDelta and self._parser is not None and self._shown and not (self._parted or self._reasoned)
            ):
                text: str = event.text  # type: ignore[union-attr]
                self._searched = True
                if self._native:
                    self._text.append(text)
                found = self._parser.feed(text)
                made += found if len(found) == 1 and type(found[0]) in DELTAS else self._sort(found)
            elif kind is ReasoningDelta and not isinstance(self._parser, PresumedReasoning):
                self._searched = False
                if self._reasoned is not None:
                    self._reasoned.note(event.text)  # type: ignore[union-attr]
                made.append(event)
            else:
                made += self.handle(event)
        return made

    def note_reasoning(self, text: str) -> None:
        """Reasoning went out as it came by itself."""
        if self._reasoned is not None:
            self._reasoned.note(text)

    def handle(self, event: Event) -> list[Event]:
        """Handle `event`; its events come in order."""
        if self._ending is not None and type(event) not in CLOSING:
            ending, self._ending = self._ending, None
            return [ending, *self.handle(event)]
        if type(event) is TextDelta:
            return [event] if self._parser is None else self._search(self._parser, event.text)
        if isinstance(event, CallStarted | CallDelta | CallEnded) or _is_of_call(event):
            self._reasoned = None
            return [made for judged in self._judge(event) for made in self._native_event(judged)]
        match event:
            case PartEnded() if self._searched:
                return self._end_part(event)
            case Ended():
                return self._end(event)
            case WireEvent() if self._parted:  # it may say what the next text is
                self._parted = False
                return [PartEnded(), event]
            case PartAdded():
                self._reasoned = None
            case ReasoningDelta(text):
                self._searched = False
                self.note_reasoning(text)
                if isinstance(self._parser, PresumedReasoning):
                    self._parser.set_apart()
            case _:
                self._note(event)
        return [event]

    def search(self, came: type, kind: type) -> Search | None:
        """How deltas of the kind `came` are handled from here on, while one of this `kind` comes of each; None where
        more is done with them."""
        parser = self._parser
        if self._ending is not None:
            return None
        if came is TextDelta and parser is not None:
            goes_on = self._searched and not (self._parted or self._reasoned) and (self._shown or kind is not TextDelta)
            return Search(parser.feed, self._text if self._native else None) if goes_on else None
        return NO_SEARCH if came is kind and (came is TextDelta or not self._searched) else None

    def _native_event(self, event: Event) -> list[Event]:
        """Handle an event of a native call, once it is judged; native calls are numbered after those found."""
        match event:
            case CallStarted(index):
                before = self._give_way()
                return [*before, replace(event, index=index + self._found) if self._found else event]
            case CallEnded():
                self._count(event)
            case CallDelta():
                pass
            case _:
                self._note(event)
                return [event]
        return [replace(event, index=event.index + self._found) if self._found else event]

    def _end_part(self, event: PartEnded) -> list[Event]:
        """The end of text that was searched: what belongs to it goes with it, where some of it was shown.

        It waits for the next event, for the parser may hold the last of the text: where all text ends, so does that.
        """
        swallowed, self._fed, self._shown = self._fed and not self._shown, False, False
        self._parted = not (event.metadata or swallowed)
        self._ending = event if event.metadata and not swallowed else None
        return []

    def _search(self, parser: TextParser, text: str) -> list[Event]:
        self._searched = True
        self._fed = self._fed or bool(text)
        if self._reasoned is not None and self._reasoned.is_ended_by(text):
            self._reasoned = None
        if self._native:
            self._text.append(text)
        return self.found(parser.feed(text))

    def found(self, events: list[Event]) -> list[Event]:
        """Handle what was found in text that was searched."""
        if len(events) != 1 or type(events[0]) not in DELTAS:
            events = self._sort(events)
        if events and not self._shown:
            self._shown = any(type(event) is TextDelta for event in events)
        if self._parted and events:
            self._parted = False
            return [PartEnded(), *events] if type(events[0]) is TextDelta else events
        return events

    def _end(self, event: Ended) -> list[Event]:
        last = self._close(event.stop)
        released, self._pending = self._pending, []
        if self._reasoned is not None:
            released += self._reasoned.close(event)
            self._reasoned = None
        for one in released:
            self._count(one)
        stop = self._stop(event.stop)
        return [*last, *released, event if event.stop is stop else replace(event, stop=stop)]

    def _stop(self, stop: Stop | None) -> Stop | None:
        """The wire's stop, corrected by what really came."""
        if stop is Stop.LENGTH:
            return Stop.TOOL_CALLS if self._runnable and not self._cut else Stop.LENGTH
        if self._runnable:
            return Stop.TOOL_CALLS if stop in UNSPECIFIC or stop is None else stop
        return Stop.END if stop is Stop.TOOL_CALLS else stop

    def _give_way(self) -> list[Event]:
        """A native call begins: from here on text is text, and what was found in it so far is reported, not run."""
        if self._parser is None:
            return []
        last = self._close(None)
        if self._native:
            self._found = 0
        return [*map(_undoubted, last), *self._give_back(IssueKind.NOT_ALLOWED, GAVE_WAY)]

    def _close(self, stop: Stop | None) -> list[Event]:
        if self._parser is None:
            return []
        parser, self._parser = self._parser, None
        self._searched = False
        last = self._sort(parser.close(None if stop is None else str(stop)))
        if self._ending is not None:
            behind = next((n for n, event in enumerate(last) if type(event) is not TextDelta), len(last))
            last.insert(behind, self._ending)
            self._ending = None
        return last

    def _sort(self, found: list[Event]) -> list[Event]:
        """The parser's events: calls wait where native ones may still come, everything else passes."""
        if len(found) == 1 and type(found[0]) in DELTAS:
            return found
        passed: list[Event] = []
        for event in found:
            self._found += isinstance(event, CallStarted)
            if isinstance(event, Reclassified):
                passed += self._give_back(IssueKind.IN_REASONING, IN_REASONING)
            self._note(event)
            if self._native and isinstance(event, CallStarted | CallDelta | CallEnded):
                self._pending.append(event)
            else:
                self._count(event)
                passed.append(event)
        return passed

    def _note(self, event: Event) -> None:
        if isinstance(event, IssueReported):
            self._cut = self._cut or event.issue.kind is IssueKind.TRUNCATED
        elif isinstance(event, Reclassified):
            self._runnable = 0  # calls that will run

    def _count(self, event: Event) -> None:
        if isinstance(event, CallEnded):
            self._runnable += event.report is None or event.report.verdict not in NOT_RUN

    def _give_back(self, kind: IssueKind, sentence: str) -> list[Event]:
        """Reports of the calls that waited in vain, with what the model wrote."""
        dropped, self._pending = self._pending, []
        names = {e.index: e.name for e in dropped if isinstance(e, CallStarted)}
        text = "".join(self._text) if dropped else ""
        return [
            IssueReported(Issue(kind=kind, message=sentence.format(name=name), name=name, raw=text[start:end]))
            for name, (start, end) in ((names[e.index], _span(e)) for e in dropped if isinstance(e, CallEnded))
        ]


def _undoubted(event: Event) -> Event:
    """A call in doubt beside native ones is text, as others are; asking about it would ask for it a second time."""
    if not isinstance(event, CallDoubted):
        return event
    report, name = event.call.report, event.call.name
    message = GAVE_WAY.format(name=name)
    span = report.span if report is not None else None
    return IssueReported(Issue(kind=IssueKind.NOT_ALLOWED, message=message, name=name, raw=event.text, span=span))


def _span(event: CallEnded) -> tuple[int, int]:
    return (event.report and event.report.span) or (0, 0)


class Restorer:
    """Undoes `neutralise` in what the model wrote, however it is cut into pieces.

    A joiner at the end of a piece waits for the next: it may be the first of a pair, which stands for one.
    """

    def __init__(self) -> None:
        self._carry: dict[Any, str] = {}

    def signs(self, kind: type) -> str | None:
        """What a delta must not hold to go on as it is; None where something waits."""
        return None if self._carry else JOINER

    def passes(self, text: str) -> bool:
        """Would `text`, if it came next, go on as it is?"""
        return not self._carry and JOINER not in text

    def went_out(self, text: str) -> None:
        """Text went out as it was: nothing is to be known of it."""

    def handle_all(self, events: Sequence[Event]) -> list[Event]:
        """Each with the text the model was given before it was neutralised."""
        made: list[Event] = []
        for event in events:
            plain = type(event) is TextDelta and JOINER not in event.text and not self._carry
            made.append(event if plain else self.handle(event))
        return made

    def handle(self, event: Event) -> Event:
        """`event` with the text the model was given before it was neutralised."""
        match event:
            case TextDelta(text) | ReasoningDelta(text):
                return replace(event, text=self._restore(type(event), text))
            case CallDelta(index, json):
                return replace(event, json=self._restore(index, json))
            case CallEnded(raw=str(raw)):
                return replace(event, raw=restore(raw))
            case IssueReported(issue):
                return IssueReported(replace(issue, raw=restore(issue.raw)))
            case _:
                return event

    def _restore(self, stream: Any, text: str) -> str:
        text = self._carry.pop(stream, "") + text
        if JOINER not in text:
            return text
        if (len(text) - len(text.rstrip(JOINER))) % 2:
            self._carry[stream], text = JOINER, text[:-1]
        return restore(text)
