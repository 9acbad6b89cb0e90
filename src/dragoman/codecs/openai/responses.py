"""OpenAI Responses: `POST /responses`, an answer as a list of items.

Knows how answers are read, whole and streamed; items are in `responses_items.py`, requests in
`responses_requests.py`, writing in `responses_writing.py` and
`responses_streaming.py`.  A stream is read from its deltas; what came
without deltas is taken from the item that ends it, and what came without an item from the last event.
Sources: OpenAI API reference; streaming.md §2; wire-quirks.md ("Responses"); recorded answers of 8 providers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ...events import Event, PartAdded, PartEnded, ReasoningDelta, TextDelta, assemble
from ...types import NOTHING, JsonObject, Opaque, Response, Stop, Text, Usage
from ..shared.body import an_array, an_object, count, counts, items, mapping, present, rest, string
from ..shared.decoder import AnswerDecoder
from ..shared.errors import raise_error, read_failure
from ..shared.frames import FrameKind
from ..shared.spec import REFUSAL, TYPED, Codec, Ids, wire_fields
from .responses_items import CALLS, NAME, Names, call_name, message_text, read_part, read_reasoning, reasoning_text
from .responses_plain import BODY, plain_answer
from .responses_requests import decode_request, encode_request, turn_writer
from .responses_streaming import (
    ADDED,
    BETWEEN,
    IN_FULL,
    LOGPROBS,
    NEXT_PART,
    REPEATED,
    ResponseEncoder,
)
from .responses_writing import SHELL, encode_error, encode_response, error_frame, minted, read_usage, write_usage
from .typed_items import BY_CALL, DEFAULT_NAMES, call_id_of, is_remote

_REASONS: Mapping[str, Stop] = {
    "max_output_tokens": Stop.LENGTH,
    "max_tokens": Stop.LENGTH,
    "content_filter": Stop.FILTERED,
}
_ENDS = ("completed", "incomplete", "cancelled")


def decode_response(body: JsonObject, ids: Ids | None = None) -> Response:
    """The answer in `body`.  Raises `ProviderError` for an answer that failed, `CodecError` for no answer."""
    if type(body) is dict and (plain := plain_answer(body)) is not None:
        return plain
    body = an_object(body, "$")
    if "output" not in body and isinstance(body.get("response"), Mapping):  # the last event of a stream holds it all
        body = body["response"]
    raise_error(body)
    for i, item in enumerate(an_array(body.get("output"), "$.output")):
        an_object(item, f"$.output[{i}]")
    return assemble(_Decoder(ids).whole(body))


@dataclass(slots=True)
class _Item:
    """An item under way: what is known of it, and which of its contents have been emitted."""

    start: JsonObject
    emitted: set[int] = field(default_factory=set)
    current: int = -1
    kind: str = ""
    pieces: list[str] = field(default_factory=list)
    done: dict[int, JsonObject] = field(default_factory=dict)
    """Contents of it that have ended, by their places."""
    held: list[Event] = field(default_factory=list)
    """What is told of it once it ends, for another item is being told."""


class _Decoder(AnswerDecoder):
    api = NAME
    unfinished = "the stream ended before the answer was complete"
    noise = ("sequence_number", "obfuscation")

    def __init__(self, ids: Ids | None = None) -> None:
        super().__init__(ids)
        self._refused = False
        self._id = ""
        self._items: dict[int, _Item] = {}
        self._done: set[int] = set()
        self._response: JsonObject = {}
        self._on: Mapping[str, Callable[[JsonObject], list[Event]]] = {
            "response.created": lambda body: self._begin(mapping(body.get("response"))),
            "response.queued": lambda body: self._begin(mapping(body.get("response"))),
            "response.in_progress": lambda body: self._begin(mapping(body.get("response"))),
            "response.output_item.added": self._on_added,
            "response.output_item.done": self._on_done,
            "response.output_text.delta": self._on_piece,
            "response.content_part.done": self._on_part_done,
            "response.output_text.done": lambda body: self._on_text(body, "text"),
            "response.refusal.delta": lambda body: self._on_text(body, "delta"),
            "response.refusal.done": lambda body: self._on_text(body, "refusal"),
            "response.reasoning_summary_text.delta": lambda body: self._on_reasoning(body, "summary"),
            "response.reasoning_text.delta": lambda body: self._on_reasoning(body, "content"),
            "response.function_call_arguments.delta": lambda body: self._on_arguments(body, "delta"),
            "response.function_call_arguments.done": lambda body: self._on_arguments(body, "arguments"),
            "response.custom_tool_call_input.delta": lambda body: self._on_input(body, "delta"),
            "response.custom_tool_call_input.done": lambda body: self._on_input(body, "input"),
            "response.completed": self._on_end,
            "response.incomplete": self._on_end,
            "response.cancelled": self._on_end,
        }

    def whole(self, body: JsonObject) -> list[Event]:
        """The events of a whole answer."""
        return [*self._begin(body), *self._on_end({"response": body}), *self.close()]

    def _read(self, body: JsonObject, event: str) -> list[Event]:
        kind = string(body.get("type")) or event
        if kind == "error" or body.get("error"):
            raise read_failure(200, body if body.get("error") else {"error": body})
        if kind == "response.failed":
            raise read_failure(200, {"error": mapping(body.get("response")).get("error") or {"message": "failed"}})
        handler = self._on.get(kind)
        return handler(body) if handler else self._pass_on(kind, body)

    def _pass_on(self, kind: str, body: JsonObject) -> list[Event]:
        """An event that says nothing the items do not say: what the server's own tools are at, a citation."""
        begun = self._items.get(self._index(body))
        again = kind in REPEATED and not (begun is not None and _is_besides(kind, begun))
        if not self._started or again or (begun is not None and _is_typed(begun.start)):
            return []
        return self._told_of(begun, self._beside(kind, rest(body, ("type", *self.noise))))

    def _told_of(self, item: _Item | None, event: Event) -> list[Event]:
        """`event`, which says something of `item`: items are told one after the other."""
        first = next((one for one in self._items.values() if one.kind not in CALLS), item)
        if item is None or item is first or item.kind in ("message", "reasoning"):
            return [event]
        item.held.append(event)
        return []

    def _begin(self, response: JsonObject) -> list[Event]:
        if not self._started:
            self._id = string(response.get("id"))
        waits = {"status": "queued"} if response.get("status") == "queued" else {}
        return self._start(string(response.get("model")), self._id, {**_shown(response), **waits})

    def _end_open(self, *, cut: bool) -> list[Event]:
        return [event for index in sorted(self._items) for event in self._end(index, self._items[index].start)]

    def _is_complete(self) -> bool:
        return self._complete

    def _stop(self) -> Stop | None:
        if not self._complete:
            return None
        status = self._response.get("status")
        if status == "incomplete":
            return _REASONS.get(string(mapping(self._response.get("incomplete_details")).get("reason")), Stop.LENGTH)
        return Stop.ERROR if status == "cancelled" else Stop.END

    def _final_stop(self, stop: Stop | None) -> Stop | None:
        final = super()._final_stop(stop)
        return Stop.REFUSED if self._refused and final is Stop.END else final

    # ── events of the stream ─────────────────────────────────────────────────

    def _on_end(self, body: JsonObject) -> list[Event]:
        self._response = mapping(body.get("response"))
        self._complete = self._over = self._response.get("status", "completed") in _ENDS
        events: list[Event] = []
        for index, item in enumerate(items(self._response.get("output"))):
            if index not in self._done and isinstance(item, Mapping):
                events += self._end(index, item)  # given by the last event only
        return events

    def _on_added(self, body: JsonObject) -> list[Event]:
        item = mapping(body.get("item"))
        index = self._index(body)
        self._items[index] = begun = _Item(item, kind=string(item.get("type")))
        if item.get("type") in CALLS:
            return self._start() + self._begin_call(index, item)
        if _is_typed(item):
            return self._start()
        return self._start() + self._told_of(begun, self._beside(ADDED, self._announced(index, item)))

    def _on_done(self, body: JsonObject) -> list[Event]:
        return self._end(self._index(body), mapping(body.get("item")))

    def _index(self, body: JsonObject) -> int:
        index = body.get("output_index")
        if isinstance(index, int):
            return index
        wanted = body.get("item_id") or mapping(body.get("item")).get("id")
        known = (i for i, item in self._items.items() if item.start.get("id") == wanted)
        return next(known, max([*self._items, *self._done], default=-1) + 1)

    def _open(self, body: JsonObject, kind: str) -> _Item:
        """The item a delta belongs to, also where nobody announced it."""
        index = self._index(body)
        return self._items.setdefault(index, _Item({"id": body.get("item_id"), "type": kind}, kind=kind))

    # ── text and reasoning ───────────────────────────────────────────────────

    def _on_piece(self, body: JsonObject) -> list[Event]:
        events, logprobs = self._on_text(body, "delta"), items(body.get("logprobs"))
        if logprobs and events:
            events.insert(-1, self._beside(LOGPROBS, {LOGPROBS: logprobs}))
            return events
        return self._repeat_text(events, "delta")

    def _on_part_done(self, body: JsonObject) -> list[Event]:
        """A content has ended: what is known of it counts where another follows it."""
        item = self._items.get(self._index(body))
        if item is not None:
            item.done[count(body.get("content_index"))] = mapping(body.get("part"))
        return []

    def _on_text(self, body: JsonObject, key: str) -> list[Event]:
        item, place = self._open(body, "message"), count(body.get("content_index"))
        if key != "delta" and place in item.emitted:
            return []
        text = string(body.get(key))
        if not text:
            return []
        events = self._start() + self._next_content(item, place)
        if "refusal" in string(body.get("type")) and place not in item.emitted:
            self._refused = True
            events.append(self._beside(REFUSAL))
        item.emitted.add(place)
        return events + self._emit_text(text)

    def _next_content(self, item: _Item, place: int) -> list[Event]:
        """Another content of a message begins: the one before ends, with what is known of it by now."""
        before, item.current = item.current, place
        if before in (-1, place):
            return self._calls.end_complete()
        part = read_part(item.done.get(before, NOTHING))
        known = part if isinstance(part, Text) else Text("")
        return [self._beside(NEXT_PART), PartEnded(self._about_text(item.start, known))]

    def _on_reasoning(self, body: JsonObject, kind: str) -> list[Event]:
        item = self._open(body, "reasoning")
        if item.kind not in ("reasoning", kind):  # the summary counts, or the text where it came first
            return [self._beside(string(body.get("type")), rest(body, ("type", *self.noise)))]
        begun = [self._beside(IN_FULL)] if kind == "content" and item.kind == "reasoning" else []
        item.kind = kind
        place = count(body.get("summary_index"))
        new = kind == "summary" and item.current not in (-1, place)
        item.current = place
        self._repeat(partial(self._think, item), "delta")
        apart = [self._beside(NEXT_PART), *self._think(item, BETWEEN)] if new else []
        return [*self._start(), *begun, *apart, *self._think(item, string(body.get("delta")))]

    def _think(self, item: _Item, piece: str) -> list[Event]:
        item.pieces.append(piece)
        return self._emit_reasoning(piece)

    # ── calls ────────────────────────────────────────────────────────────────

    def _begin_call(self, index: int, item: JsonObject) -> list[Event]:
        name, left = call_name(item, Names(), minted(item, self._id, index))
        left = {key: value for key, value in left.items() if key != "status"}
        call_id = string(item.get("call_id")) or string(item.get("id"))
        return self._calls.begin(index, call_id, name, wire_fields(NAME, left))

    def _on_arguments(self, body: JsonObject, key: str) -> list[Event]:
        index, item = self._index(body), self._open(body, CALLS[0])
        if not self._calls.knows(index) or (key != "delta" and item.pieces):
            return []
        if key == "delta":
            self._repeat(partial(self._add_arguments, index, item), key)
        return self._add_arguments(index, item, string(body.get(key)))

    def _add_arguments(self, index: int, item: _Item, piece: str) -> list[Event]:
        item.pieces.append(piece)
        return self._calls.add(index, piece)

    def _on_input(self, body: JsonObject, key: str) -> list[Event]:
        item = self._open(body, CALLS[1])
        if key == "delta" or not item.pieces:
            item.pieces.append(string(body.get(key)))
        return []

    # ── the end of an item ───────────────────────────────────────────────────

    def _end(self, index: int, item: JsonObject) -> list[Event]:
        if index in self._done:
            return []
        self._done.add(index)
        begun = self._items.pop(index, None) or _Item(item)
        item = {**begun.start, **item}
        kind = item.get("type") or ("message" if "content" in item else "")
        if kind in CALLS:
            return self._end_call(index, begun, item)
        if _is_typed(item):
            return self._typed_call(index, item)
        events = self._calls.end_complete()
        if kind == "message":
            return events + self._end_message(index, begun, item)
        if kind == "reasoning":
            return events + self._end_reasoning(index, begun, item)
        self._answered = True
        return [*events, *begun.held, PartAdded(Opaque(api=NAME, block=item))]

    def _end_call(self, index: int, begun: _Item, item: JsonObject) -> list[Event]:
        events = [] if self._calls.knows(index) else self._begin_call(index, item)
        if item.get("type") == CALLS[1]:
            self._calls.assign(index, {"input": string(item.get("input")) or "".join(begun.pieces)})
        elif isinstance(item.get("arguments"), str):
            come, whole = "".join(begun.pieces), item["arguments"]
            events += self._calls.add(index, whole[len(come) :]) if whole.startswith(come) else []
        elif not begun.pieces:
            self._calls.assign(index, item.get("arguments"))
        return events + self._calls.end(index, sure=item.get("status") == "completed")

    def _typed_call(self, index: int, item: JsonObject) -> list[Event]:
        """The call of a typed tool, known at its end: what stands in its item is its arguments."""
        kind, metadata = string(item.get("type")), wire_fields(NAME, {TYPED: dict(item)})
        events = self._calls.begin(index, call_id_of(item), DEFAULT_NAMES[kind], metadata)
        self._calls.assign(index, BY_CALL[kind].arguments(item))
        return events + self._calls.end(index, sure=item.get("status") == "completed")

    def _end_message(self, index: int, begun: _Item, item: JsonObject) -> list[Event]:
        events: list[Event] = []
        contents = item.get("content")
        listed = [{"type": "output_text", "text": contents}] if isinstance(contents, str) else items(contents)
        about = self._about(index, item)
        for place, content in enumerate(listed):
            part = read_part(mapping(content))
            if not isinstance(part, Text):
                events.append(PartAdded(part))
            elif place not in begun.emitted and part.text:
                self._answered = True
                events += [self._beside(REFUSAL)] if mapping(content).get("type") == "refusal" else []
                events += [TextDelta(part.text), PartEnded(message_text(part, about).metadata)]
            elif place == begun.current:
                events.append(PartEnded(message_text(part, about).metadata))
            self._refused = self._refused or mapping(content).get("type") == "refusal"
        if begun.emitted and begun.current >= len(listed):
            events.append(PartEnded(message_text(Text(""), about).metadata))
        return events

    def _announced(self, index: int, item: JsonObject) -> JsonObject:
        """The item as clients of this API are told that it begins; without an id that is its place's own."""
        return rest(item, frozenset({"id"})) if item.get("id") == minted(item, self._id, index) else item

    def _about(self, index: int, item: JsonObject) -> JsonObject:
        about = rest(item, frozenset({"type", "role", "content", "status"}))
        if about.get("id") == minted(item, self._id, index):
            del about["id"]
        return present(about)

    def _about_text(self, item: JsonObject, part: Text) -> JsonObject:
        return message_text(part, self._about(-1, item)).metadata

    def _end_reasoning(self, index: int, begun: _Item, item: JsonObject) -> list[Event]:
        part = read_reasoning(item, minted(item, self._id, index))
        text = reasoning_text(item)
        emitted = "".join(begun.pieces)
        if not emitted and not text and part.metadata:
            return [ReasoningDelta(""), PartEnded(part.metadata)]
        return [*([ReasoningDelta(text)] if text and not emitted else []), PartEnded(part.metadata)]

    def _read_usage(self) -> Usage | None:
        return read_usage(mapping(self._response.get("usage")))

    def _leftover(self) -> JsonObject:
        usage = counts(mapping(self._response.get("usage")))
        plain = not usage or (self._counted is not None and write_usage(self._counted) == usage)
        return wire_fields(NAME, {**_shown(self._response), "usage": None if plain else usage})


def _is_besides(kind: str, item: _Item) -> bool:
    """Does this event tell the reasoning that stands beside what counts: its text beside a summary, or the reverse?"""
    other = {"summary": "response.reasoning_text.", "content": "response.reasoning_summary_"}.get(item.kind)
    return other is not None and kind.startswith(other)


def _is_typed(item: JsonObject) -> bool:
    """Is this the call of a typed tool that the client runs?"""
    return string(item.get("type")) in BY_CALL and not is_remote(item)


def _shown(response: JsonObject) -> dict[str, Any]:
    """What a response says of itself and of its request, but for what is as it is where nobody asked for anything."""
    return {key: one for key, one in rest(response, BODY).items() if key not in SHELL or one != SHELL[key]}


CODEC = Codec(
    name=NAME,
    path="/responses",
    stream_path="/responses",
    frames=FrameKind.SSE,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_stream=_Decoder,
    decode_request=decode_request,
    encode_response=encode_response,
    encode_stream=ResponseEncoder,
    encode_error=encode_error,
    error_frame=error_frame,
    turns=turn_writer,
)
