"""A streamed answer of OpenAI Responses, written: the exact order of events its clients demand.

Knows what clients of `POST /responses` need (streaming.md §2): every item is announced, filled and ended under one id,
and the last event repeats the whole answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...events import (
    CallDelta,
    CallEnded,
    CallStarted,
    Ended,
    PartAdded,
    PartEnded,
    ReasoningDelta,
    Started,
    TextDelta,
    WireEvent,
)
from ...jsontext import quoted, to_json
from ...records import NamedTuple
from ...types import NOTHING, JsonObject, Opaque, Request, Stop, Text, ToolCall
from ..shared import strict
from ..shared.body import items, mapping, string
from ..shared.encoder import Encoder, final_stop
from ..shared.frames import Frame
from ..shared.spec import REFUSAL, UNSTAMPED, Stamp, extra_for, own, place_of, seal_of
from .responses_items import (
    CALLS,
    NAME,
    Names,
    sealed,
    wrapped,
    write_call,
    write_message,
    write_reasoning,
)
from .responses_writing import KINDS, answer_ending, answer_head, item_id
from .typed_items import TypedItem, form_of, kept_item

ADDED = "response.output_item.added"
IN_FULL = "response.reasoning_text.delta"
REPEATED = frozenset({
    "response.content_part.added", "response.content_part.done", "response.reasoning_summary_part.added",
    "response.reasoning_summary_part.done", "response.reasoning_summary_text.done", "response.reasoning_text.done",
})  # fmt: skip
"""Events that are written anew around the deltas."""
NOTED = "response.output_text.annotation.added"
NEXT_PART, LOGPROBS = "next_part", "logprobs"
"""What a stream says between its events: the open item goes on with another part; how likely the next piece was."""
BETWEEN = "\n\n"
"""Stands between the parts of a summary where they are one text."""


class _Thinking(NamedTuple):
    """The events of reasoning and the fields in them: of a summary, or of all of it."""

    part: str
    text: str
    place: str
    kind: str
    key: str


_SUMMARY = _Thinking(
    "response.reasoning_summary_part", "response.reasoning_summary_text", "summary_index", "summary_text", "summary"
)
_FULL = _Thinking("response.content_part", "response.reasoning_text", "content_index", "reasoning_text", "content")


class ResponseEncoder(Encoder):
    """Events → frames.  `_open` is the item under way: its kind, "" for none; `_id` and `_place` are its own."""

    def __init__(self, stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True) -> None:
        super().__init__(stamp, request, whole_calls=whole_calls)
        self._names = Names.of(request)
        self._head: dict[str, Any] = {}
        self._output: list[dict[str, Any]] = []
        self._open = self._id = ""
        self._pieces: list[str] = []
        self._call: CallStarted | None = None
        self._typed: TypedItem | None = None
        self._calls = 0
        self._noted = 0  # annotations of the open text that went out
        self._before: list[dict[str, Any]] = []  # the parts of the open item that have ended
        self._continues = False  # does the open item go on behind the part that ends now?
        self._rested: JsonObject | None = None  # what the last part of the open message said, which may be all of it
        self._apart = False  # is what comes next the space between two parts?
        self._logprobs: list[Any] = []  # of the next piece
        self._announced: JsonObject = NOTHING  # the item that comes next, as its wire announced it
        self._unfinished: JsonObject = NOTHING  # the open item that nothing is told of
        self._thinking = _SUMMARY
        self._refusing = self._refused = False

    def _on_started(self, event: Started) -> list[Frame]:
        if self._head:
            return []
        response_id = self._stamp.id or event.id
        self._head = answer_head(response_id, self._stamp.model or event.model, self._stamp, self._request)
        running = {**self._head, "status": "in_progress", **own(NAME, event.extra), "usage": None}
        begun = ("created", "queued") if running["status"] == "queued" else ("created",)
        frames = [self._frame(f"response.{what}", response=running) for what in begun]
        return [*frames, self._frame("response.in_progress", response={**running, "status": "in_progress"})]

    def _on_text(self, event: TextDelta) -> list[Frame]:
        if not event.text:
            return []
        frames = self._begin_text()
        self._pieces.append(event.text)
        if self._logprobs:
            return [*frames, self._numbered(*self._text_delta(event.text)[:2])]
        return [*frames, self._numbered(*self._run(event, self._text_delta)[:2])]

    def _on_reasoning(self, event: ReasoningDelta) -> list[Frame]:
        apart, self._apart = self._apart, False
        if not event.text or (apart and event.text == BETWEEN):
            return []
        frames = [] if self._open == "reasoning" else self._begin_reasoning()
        self._pieces.append(event.text)
        return [*frames, self._numbered(*self._run(event, self._reasoning_delta)[:2])]

    def _continue_run(self, text: str) -> Frame:
        (before, name, _), after = self._around
        self._pieces.append(text)
        return self._numbered(f"{before}{quoted(text)}{after}", name)

    def edges(self, write: Callable[[Frame], bytes]) -> None:
        """Every frame has a number of its own."""
        return

    def go_on(self, texts: Iterable[str], write: Callable[[Frame], bytes]) -> bytes:
        """Every frame has a number of its own."""
        return b"".join([write(self._continue_run(text)) for text in texts])

    def _text_delta(self, text: str) -> Frame:
        fields = {**self._of_item(), "content_index": len(self._before), "delta": text}
        if self._refusing:
            return Frame(to_json(fields), "response.refusal.delta")
        logprobs, self._logprobs = self._logprobs, []
        return Frame(to_json({**fields, "logprobs": logprobs}), "response.output_text.delta")

    def _reasoning_delta(self, text: str) -> Frame:
        fields = {**self._of_item(), self._thinking.place: len(self._before), "delta": text}
        return Frame(to_json(fields), f"{self._thinking.text}.delta")

    def _on_wire_event(self, event: WireEvent) -> list[Frame]:
        if event.api != NAME:
            return []
        if event.name == IN_FULL and not event.fields:
            self._thinking = _FULL
            return []
        if event.name == REFUSAL:
            return self._on_refusal(event)
        if self._rested is not None:
            return [*self._end(NOTHING), *self._on_wire_event(event)]
        if event.name == ADDED:
            return self._announce(event.fields)
        if event.name == NEXT_PART:
            return self._next_part()
        if event.name == LOGPROBS:
            self._logprobs = [*event.fields[LOGPROBS]]
            return []
        fields, place = dict(event.fields), self._of_item()
        if event.name == NOTED and self._open:
            self._noted += 1
        if place.keys() & fields and not self._open:
            return []  # its item is told in another place
        return [self._frame(event.name, **{key: place.get(key, one) for key, one in fields.items()})]

    def _on_refusal(self, event: WireEvent) -> list[Frame]:
        """A refusal comes: it goes on with the message that has said something before, unless it stands elsewhere."""
        rested, said = self._rested, self._open == "message" and self._before and not self._pieces
        goes_on = said and not self._announced and (rested is None or place_of(rested) == place_of(event.fields))
        ended = [] if goes_on else self._end(NOTHING)
        self._rested, self._refusing, self._refused = None, True, True
        return ended

    def _announce(self, item: JsonObject) -> list[Frame]:
        """The next item's own fields.  One that nothing is told of begins at once: its steps come before it does."""
        opaque = item.get("type") not in ("message", "reasoning")
        if not opaque:
            self._announced = item
            return []
        self._unfinished = item
        return self._begin("opaque", item)

    def _on_part_ended(self, event: PartEnded) -> list[Frame]:
        left = own(NAME, event.metadata)
        if seal := seal_of(event.metadata):
            text = "".join(self._pieces) if self._open == "reasoning" else ""
            begun = [] if self._open == "reasoning" else self._begin("reasoning", write_reasoning("", ""))
            item = {**write_reasoning(text, ""), "encrypted_content": seal}
            return [*begun, *self._end_reasoning(text, {"item": item})]
        if self._open == "opaque":
            return []
        if self._open == "message":
            self._rested, self._continues = None if self._continues else left, False
            return self._end_part(left)
        if not self._open and mapping(left.get("item")).get("type") == "reasoning":
            return self._begin("reasoning", write_reasoning("", "")) + self._end(left)  # nothing of it may be read
        return self._end(left)

    def _on_part(self, event: PartAdded) -> list[Frame]:
        part = event.part
        if not isinstance(part, Opaque) or part.api != NAME:
            return []
        begun = self._open == "opaque" and self._id == part.block.get("id")
        return [*([] if begun else self._begin("opaque", part.block)), *self._finish_item(dict(part.block))]

    # ── calls ────────────────────────────────────────────────────────────────

    def _on_call(self, event: CallStarted) -> list[Frame]:
        self._call = event
        self._calls += 1
        ended = [*self._on_started(Started()), *self._end(NOTHING)]
        self._typed = self._names.typed(event.name) or form_of(kept_item(NAME, event.metadata, event.id))
        if self._typed is not None:  # what announces it says what it does: that is known at its end
            self._pieces = []
            return ended
        item = self._call_item({})
        empty = {"input": ""} if item["type"] == CALLS[1] else {"arguments": ""}
        return [*ended, *self._begin(item["type"], {**item, "status": "in_progress", **empty})]

    def _call_item(self, arguments: JsonObject, raw: str = "") -> dict[str, Any]:
        started = self._call or CallStarted(0, "", "")
        call = ToolCall(
            id=started.id, name=started.name, arguments=arguments, raw=raw or None, metadata=started.metadata
        )
        return write_call(call, self._names, lambda kind: item_id(kind, self._head["id"], len(self._output)))

    def _on_delta(self, event: CallDelta) -> list[Frame]:
        self._pieces.append(event.json)
        if self._open == CALLS[1] or self._typed is not None:
            return []  # the text of a free-form tool stands inside the JSON: it is known at the end
        return [self._item("response.function_call_arguments.delta", delta=event.json)]

    def _on_call_ended(self, event: CallEnded) -> list[Frame]:
        text = "".join(self._pieces)
        typed, self._typed = self._typed, None
        try:
            arguments = strict.loads(text) if text else {}
        except ValueError:  # cut short: it is written as it stands, and not as completed
            if typed is not None:
                return []  # nothing of it went out yet, and no such item may be half
            return self._finish_item({**self._call_item({}), "status": "incomplete", "arguments": text})
        if typed is not None:
            return self._typed_call(typed, self._call_item(arguments))
        item = self._call_item(arguments, text)
        if item["type"] == CALLS[1]:
            given = item["input"]
            reply = [self._item("response.custom_tool_call_input.delta", delta=given)]
            return [*reply, self._item("response.custom_tool_call_input.done", input=given), *self._finish_item(item)]
        done = {"arguments": item["arguments"], "name": item["name"]}
        return [self._item("response.function_call_arguments.done", **done), *self._finish_item(item)]

    def _typed_call(self, form: TypedItem, item: dict[str, Any]) -> list[Frame]:
        """The whole run of a typed tool's call: announced, filled, ended."""
        begun = self._begin(form.call, {**item, "status": "in_progress", **form.announced(item)})
        place = self._of_item() if form.addressed else {"output_index": len(self._output)}
        steps = [self._frame(event, **place, **fields) for event, fields in form.steps(item)]
        return [*begun, *steps, *self._finish_item(item)]

    # ── items ────────────────────────────────────────────────────────────────

    def _begin(self, kind: str, item: Mapping[str, Any]) -> list[Frame]:
        frames = [*self._on_started(Started()), *self._end(NOTHING)]
        self._open, self._pieces, self._before, self._continues = kind, [], [], False
        if self._announced.get("type") == kind:
            item, self._announced = {**item, **self._announced}, NOTHING
        self._id = string(item.get("id")) or item_id(KINDS.get(kind, "item"), self._head["id"], len(self._output))
        added = {**item, "id": self._id}
        return [*frames, self._frame("response.output_item.added", output_index=len(self._output), item=added)]

    def _next_part(self) -> list[Frame]:
        """Another part of the open item comes: of a message when what is known of this one has come too."""
        self._continues = self._open == "message"
        if self._open != "reasoning":
            return []
        self._apart = True
        part = {"type": self._thinking.kind, "text": "".join(self._pieces)}
        ended = self._end_thought(part)
        self._before.append(part)
        self._pieces = []
        return [*ended, self._thought(f"{self._thinking.part}.added", part={**part, "text": ""})]

    def _begin_text(self) -> list[Frame]:
        """Begin a message, or the next part of the open one."""
        goes_on = self._open == "message" and (self._rested is None or self._has_refused())
        self._rested = None if goes_on else self._rested
        if goes_on and (self._pieces or not self._before):
            return []
        item = {"type": "message", "status": "in_progress", "role": "assistant", "content": []}
        part = {"type": REFUSAL, REFUSAL: ""} if self._refusing else self._empty_text()
        begun = [] if goes_on else self._begin("message", item)
        return [*begun, self._content("response.content_part.added", part=part)]

    def _has_refused(self) -> bool:
        """Did the open message end in a refusal, and does no other item begin?"""
        rested = self._rested or NOTHING
        return rested.get("type") == REFUSAL and not place_of(rested) and not self._announced

    @staticmethod
    def _empty_text() -> dict[str, Any]:
        return {"type": "output_text", "text": "", "annotations": [], "logprobs": []}

    def _begin_reasoning(self) -> list[Frame]:
        begun = self._begin("reasoning", {"type": "reasoning", "summary": []})
        part = {"type": self._thinking.kind, "text": ""}
        return [*begun, self._thought(f"{self._thinking.part}.added", part=part)]

    def _end(self, left: JsonObject) -> list[Frame]:
        """End the open item; `left` is what its part says beside its text."""
        text = "".join(self._pieces)
        match self._open:
            case "message":
                return self._end_message(self._rested or left)
            case "reasoning":
                return self._end_reasoning(text, left)
            case "opaque":
                return self._finish_item(dict(self._unfinished))
        return []

    def _written(self, text: str, left: JsonObject) -> dict[str, Any]:
        about = {key: value for key, value in mapping(left.get("item")).items() if key != "id"}
        return write_message([Text(text, metadata=left)], about, lambda kind: self._id)

    def _end_message(self, left: JsonObject) -> list[Frame]:
        ended = [] if self._before and not self._pieces else self._end_part(left)
        return [*ended, *self._finish_item({**self._written("", left), "content": [*self._before]})]

    def _end_part(self, left: JsonObject) -> list[Frame]:
        text = "".join(self._pieces)
        return self._end_content(text, self._written(text, left)["content"][0])

    def _end_content(self, text: str, part: dict[str, Any]) -> list[Frame]:
        """End a part of the open message."""
        if self._refusing:
            part, said = {"type": REFUSAL, REFUSAL: text}, [self._content("response.refusal.done", refusal=text)]
        else:
            part = part if part["type"] != REFUSAL else {**self._empty_text(), "text": text}  # nobody announced it
            said = self._annotations(part)
            said.append(self._content("response.output_text.done", text=text, logprobs=part["logprobs"]))
        frames = [*said, self._content("response.content_part.done", part=part)]
        self._refusing = False
        self._before.append(part)
        self._pieces = []
        return frames

    def _annotations(self, part: JsonObject) -> list[Frame]:
        """What a text rests on, each by an event of its own."""
        noted, self._noted = self._noted, 0
        notes = [*enumerate(items(part.get("annotations")))][noted:]  # those before went out as the wire told them
        return [self._content(NOTED, annotation_index=place, annotation=note) for place, note in notes]

    def _end_reasoning(self, text: str, left: JsonObject) -> list[Frame]:
        form, parts = self._thinking, [*self._before, {"type": self._thinking.kind, "text": text}]
        said = write_reasoning(text, "") if form is _SUMMARY else {"type": "reasoning", form.key: parts}
        said |= {form.key: parts} if self._before else {}
        item = sealed(wrapped(mapping(left.get("item")) or said, self._id), self._request)
        item.setdefault("summary", [])
        ended = self._end_thought(parts[-1]) if text else []
        self._thinking = _SUMMARY
        return [*ended, *self._finish_item(item)]

    def _end_thought(self, part: dict[str, Any]) -> list[Frame]:
        form = self._thinking
        return [self._thought(f"{form.text}.done", text=part["text"]), self._thought(f"{form.part}.done", part=part)]

    def _finish_item(self, item: dict[str, Any]) -> list[Frame]:
        item = {**item, "id": self._id}
        frame = self._frame("response.output_item.done", output_index=len(self._output), item=item)
        self._output.append(item)
        self._open, self._pieces, self._before, self._rested = "", [], [], None
        return [frame]

    # ── the end ──────────────────────────────────────────────────────────────

    def _finish(self, event: Ended) -> list[Frame]:
        frames = [*self._on_started(Started()), *self._end(NOTHING)]
        left = extra_for(NAME, event.extra)
        stop = final_stop(event.stop, self._calls)
        if stop is Stop.REFUSED and self._refused:
            stop = Stop.END  # the part says it, as in a whole answer
        ending = answer_ending(stop, event.usage, mapping(left.get("usage")))
        answer = {**self._head, **left, **self._stamp.fields, **ending, "output": self._output}
        what = "incomplete" if ending["status"] == "incomplete" else "completed"
        return [*frames, self._frame(f"response.{what}", response=answer)]

    # ── frames ───────────────────────────────────────────────────────────────

    def _item(self, event: str, **fields: Any) -> Frame:
        return self._frame(event, **self._of_item(), **fields)

    def _of_item(self) -> dict[str, Any]:
        return {"item_id": self._id, "output_index": len(self._output)}

    def _content(self, event: str, **fields: Any) -> Frame:
        return self._item(event, content_index=len(self._before), **fields)

    def _thought(self, event: str, **fields: Any) -> Frame:
        return self._item(event, **{self._thinking.place: len(self._before)}, **fields)

    def _frame(self, event: str, **fields: Any) -> Frame:
        return self._numbered(to_json(fields), event)

    def _numbered(self, fields: str, event: str) -> Frame:
        """The frame of these fields, its kind and its number before them."""
        number, self.number = self.number, self.number + 1
        return Frame(f'{{"type":"{event}","sequence_number":{number}{"," * (fields != "{}")}{fields[1:]}', event)
