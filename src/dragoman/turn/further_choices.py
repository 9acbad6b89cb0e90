"""Answers beside the first, where several were asked for (`n`): each judged as the first is.

Wires that give several answers at once number them; the first is read, the others stand beside it in the words of their
wire.  Here each of them is decoded, handled and checked by what decodes, handles and checks the first, and written on
its wire again.  Knows codecs and events; nothing of asking, of dialects or of clients.
Contract: a choice goes out under its own number, in whatever order the choices come; its calls are good ones, whole,
and under ids of their own; a call that cannot run is said in words.  No choice but the first is ever asked for again:
the others are answers to the same question, and a conversation about one of them would not be theirs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..codecs.shared.body import items
from ..codecs.shared.frames import Frame
from ..codecs.shared.issues import OTHER_ANSWERS, unsupported
from ..codecs.shared.spec import CHOICES, UNSTAMPED, Codec, Ids, WireFields
from ..errors import CodecError, ProviderError
from ..events import Assembler, Ended, Event, IssueReported, WireEvent, replay
from ..jsontext import to_json
from ..types import Issue, IssueKind, JsonObject, Request
from .reask import GoodAnswer

FEW = "{asked} answers were asked for, and {came} came"
FAULT = "choice {number}: {why}"


class FurtherChoices:
    """The choices of one answer to `request`, but for the first.

    `asked` is how many answers were asked for, this one among them; fewer than that are reported.
    `handler(n)` makes what handles the events of choice `n`, `ids(n)` its ids; `first` handles those of the first.
    """

    def __init__(
        self,
        codec: Codec,
        request: Request,
        first: Callable[[Event], list[Event]],
        handler: Callable[[int], Callable[[Event], list[Event]]],
        ids: Callable[[int], Ids],
        *,
        asked: int,
    ) -> None:
        self._codec, self._request, self._asked = codec, request, asked
        self._first, self._handler, self._ids = first, handler, ids
        self._choices: dict[int, _Choice] = {}

    def handle(self, event: Event) -> list[Event]:
        """Handle `event`; its events come in order."""
        if type(event) is WireEvent and event.name == CHOICES:
            return self._written(self._feed(event.fields))
        if type(event) is IssueReported and event.issue.path == OTHER_ANSWERS:
            return []  # they were asked for
        return self._end(event) if type(event) is Ended else self._first(event)

    def _feed(self, fields: JsonObject) -> Iterator[JsonObject]:
        for number, choice in _numbered(items(fields.get(CHOICES))):
            yield from self._choice(number).feed(choice)

    def _choice(self, number: int) -> _Choice:
        found = self._choices.get(number)
        if found is None:
            found = _Choice(self._codec, self._request, number, self._handler(number), self._ids(number))
            self._choices[number] = found
        return found

    def _written(self, choices: Iterable[JsonObject]) -> list[Event]:
        fields = {CHOICES: [*choices]}
        return [WireEvent(self._codec.name, CHOICES, fields)] if fields[CHOICES] else []

    def _end(self, event: Ended) -> list[Event]:
        """The ends of all choices; the whole of each goes out with that of the first."""
        unread: list[JsonObject] = []
        for number, choice in _numbered(items(event.extra.get(CHOICES))):
            if number not in self._choices and not self._choice(number).feed_whole(choice):
                del self._choices[number]
                unread.append(choice)
        last = self._written([made for choice in self._choices.values() for made in choice.close()])
        noticed = [IssueReported(issue) for choice in self._choices.values() for issue in choice.issues()]
        if (came := 1 + len(self._choices) + len(unread)) < self._asked:
            few = FEW.format(asked=self._asked, came=came)
            noticed.append(unsupported(few, path=f"$.extra.{self._codec.several}"))
        whole = [*(choice.whole() for choice in self._choices.values()), *unread]
        if whole:
            event = replace(event, extra=WireFields(self._codec.name, {**event.extra, CHOICES: whole}))
        return [*last, *noticed, *self._first(event)]


def _numbered(choices: Iterable[Any]) -> Iterator[tuple[int, JsonObject]]:
    for place, choice in enumerate(choices, 1):
        if isinstance(choice, Mapping):
            yield (number if isinstance(number := choice.get("index"), int) else place), choice


class _Choice:
    """One of them."""

    def __init__(
        self, codec: Codec, request: Request, number: int, handle: Callable[[Event], list[Event]], ids: Ids
    ) -> None:
        self._codec, self._request, self._number, self._ids, self._handle = codec, request, number, ids, handle
        self._decoder = codec.decode_stream(ids)
        self._encoder = codec.encode_stream(UNSTAMPED, request)
        self._answer, self._handled = GoodAnswer(request, whole_calls=True), Assembler()
        self._complete: list[Event] = []

    def feed(self, choice: JsonObject) -> list[JsonObject]:
        """The choice in pieces: those that `choice` completes."""
        return self._take(self._decoder.feed(Frame(to_json({CHOICES: [{**choice, "index": 0}]}))))

    def feed_whole(self, choice: JsonObject) -> bool:
        """The choice in one piece; False where it is no answer."""
        try:
            response = self._codec.decode_response({CHOICES: [{**choice, "index": 0}]}, self._ids)
        except (CodecError, ProviderError):
            return False
        self._complete = [*replay(response)]
        return True

    def close(self) -> list[JsonObject]:
        """The pieces that were still open."""
        pieces = self._take(self._complete or self._decoder.close())
        response = self._handled.response()
        last = [*self._answer.take_first(response)]
        try:
            last += self._answer.finish(response)
        except ProviderError as error:  # the answer as a whole stands, though this one of them does not
            last += self._answer.emit_text(f"[{error.message}]")
            last += self._answer.emit(Ended(response.stop, extra=response.extra))
        return [*pieces, *self._write(last)]

    def issues(self) -> Iterator[Issue]:
        """What was noticed of it: for the record, since nothing is asked again about it."""
        for issue in self._answer.response().issues:
            yield replace(issue, kind=IssueKind.NOISE, message=FAULT.format(number=self._number, why=issue.message))

    def whole(self) -> JsonObject:
        """The choice in one piece."""
        written = self._codec.encode_response(self._answer.response(), UNSTAMPED, self._request)
        return {**written[CHOICES][0], "index": self._number}

    def _take(self, events: Iterable[Event]) -> list[JsonObject]:
        out: list[Event] = []
        for event in events:
            for made in self._handle(event):
                self._handled.add(made)
                out += self._answer.stream(made)
        return self._write(out)

    def _write(self, events: Iterable[Event]) -> list[JsonObject]:
        frames = [frame for event in events for frame in self._encoder.feed(event)]
        choices = [choice for frame in frames for choice in items(json.loads(frame.data).get(CHOICES))]
        return [{**choice, "index": self._number} for choice in choices]
