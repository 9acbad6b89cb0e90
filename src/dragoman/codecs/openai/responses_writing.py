"""Answers of OpenAI Responses, written: whole and as the exact order of events its clients demand.

Knows what clients of `POST /responses` need (streaming.md §2): every item is announced, filled and ended under one id,
and the last event repeats the whole answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

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
from ...types import NOTHING, JsonObject, Opaque, Part, Request, Response, Stop, Text, ToolCall, Usage
from ..shared import strict
from ..shared.body import count, items, mapping, string
from ..shared.encoder import Encoder, final_stop
from ..shared.errors import ErrorReply
from ..shared.frames import Frame
from ..shared.spec import UNSTAMPED, Stamp, extra_for, own, seal_of
from .responses_items import (
    CALLS,
    NAME,
    Names,
    sealed,
    wrapped,
    write_call,
    write_items,
    write_message,
    write_reasoning,
)
from .responses_requests import encode_request
from .typed_items import TypedItem, form_of, kept_item

SHELL: Mapping[str, Any] = {
    "object": "response",
    "created_at": 0,
    "status": "completed",
    "background": False,
    "completed_at": None,
    "error": None,
    "frequency_penalty": 0.0,
    "incomplete_details": None,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": False,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
"""The fields of an answer, in their plain state: clients want them all."""

_USAGE = frozenset({"input_tokens", "output_tokens", "total_tokens"})
_DETAILS = ("input_tokens_details", "output_tokens_details")
ADDED = "response.output_item.added"
IN_FULL = "response.reasoning_text.delta"
REFUSING = "response.refusal.delta"
REPEATED = frozenset({
    "response.content_part.added", "response.content_part.done", "response.reasoning_summary_part.added",
    "response.reasoning_summary_part.done", "response.reasoning_summary_text.done", "response.reasoning_text.done",
})  # fmt: skip
"""Events that are written anew around the deltas."""


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
_ECHOED = (
    "instructions", "max_output_tokens", "metadata", "parallel_tool_calls", "prompt_cache_key", "safety_identifier",
    "temperature", "tool_choice", "tools", "top_p", "truncation", "user",
)  # fmt: skip
_KINDS = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}
_INCOMPLETE: Mapping[Stop | None, str] = {
    Stop.LENGTH: "max_output_tokens",
    Stop.FILTERED: "content_filter",
    Stop.REFUSED: "content_filter",
}


def minted(item: JsonObject, response_id: str, index: int) -> str:
    """The id we would give `item` as the `index`-th of the answer `response_id`."""
    return _item_id(_KINDS.get(string(item.get("type")), "item"), response_id, index)


def _item_id(kind: str, response_id: str, index: int) -> str:
    return f"{kind}_{response_id.removeprefix('resp_')}_{index}"


# ── whole ────────────────────────────────────────────────────────────────────


def encode_response(response: Response, stamp: Stamp = UNSTAMPED, request: Request | None = None) -> dict[str, Any]:
    """The body of a whole answer."""
    response_id = stamp.id or response.id
    output: list[dict[str, Any]] = []

    def mint(kind: str) -> str:
        return _item_id(kind, response_id, len(output))

    for item in write_items(response.message.parts, Names.of(request), mint, unsigned=True):
        output.append(sealed(item, request))
    left = extra_for(NAME, response.extra)
    head = _head(response_id, stamp.model or response.model, stamp, request)
    stop = final_stop(response.stop, len(response.calls))
    if stop is Stop.REFUSED and any(map(_is_refusal, response.message.parts)):
        stop = Stop.END  # the part says it: clients take an incomplete answer for an error
    ending = _ending(stop, response.usage, mapping(left.get("usage")))
    return {**head, **left, **stamp.fields, **ending, "output": output}


def _is_refusal(part: Part) -> bool:
    return isinstance(part, Text) and own(NAME, part.metadata).get("type") == "refusal"


def _head(response_id: str, model: str, stamp: Stamp, request: Request | None) -> dict[str, Any]:
    """The answer's own fields; what the request asked for is repeated."""
    asked = encode_request(request) if request is not None else {}
    echoed = {key: asked[key] for key in _ECHOED if key in asked}
    known = {"id": response_id, "model": model, "created_at": stamp.created, "output": []}
    return {**SHELL, **echoed, **stamp.fields, **known}


def _ending(stop: Stop | None, usage: Usage | None, left: JsonObject) -> dict[str, Any]:
    reason = _INCOMPLETE.get(stop)
    ending: dict[str, Any] = {"status": "completed"}
    if reason:
        ending = {"status": "incomplete", "incomplete_details": {"reason": reason}}
    elif stop is Stop.ERROR:
        ending = {"status": "cancelled"}
    return {**ending, "usage": write_usage(usage, left) if usage is not None else None}


def read_usage(usage: JsonObject) -> Usage | None:
    """Token counts in the words of this API; None when there are none."""
    if not any(usage.get(key) is not None for key in _USAGE):
        return None
    given, made = (mapping(usage.get(key)) for key in _DETAILS)
    return Usage(
        input=count(usage.get("input_tokens")),
        output=count(usage.get("output_tokens")),
        cached=count(given.get("cached_tokens")),
        cache_written=count(given.get("cache_write_tokens")),
        reasoning=count(made.get("reasoning_tokens")),
    )


def write_usage(usage: Usage, left: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    """Token counts in the words of this API."""
    if left and read_usage(left) == usage:
        return dict(left)  # as the provider counted
    given = {**mapping(left.get("input_tokens_details")), "cached_tokens": usage.cached}
    given |= {"cache_write_tokens": usage.cache_written} if usage.cache_written else {}
    made = {**mapping(left.get("output_tokens_details")), "reasoning_tokens": usage.reasoning}
    return {
        **left,
        "input_tokens": usage.input,
        "input_tokens_details": given,
        "output_tokens": usage.output,
        "output_tokens_details": made,
        "total_tokens": usage.total,
    }


# ── streamed ─────────────────────────────────────────────────────────────────


NOTED = "response.output_text.annotation.added"


class ResponseEncoder(Encoder):
    """Events → frames.  `_open` is the item under way: its kind, "" for none; `_id` and `_place` are its own."""

    def __init__(self, stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True) -> None:
        super().__init__(stamp, request, whole_calls=whole_calls)
        self._names = Names.of(request)
        self._head: dict[str, Any] = {}
        self._output: list[dict[str, Any]] = []
        self._sequence = 0
        self._open = self._id = ""
        self._pieces: list[str] = []
        self._call: CallStarted | None = None
        self._typed: TypedItem | None = None
        self._calls = 0
        self._noted = 0  # annotations of the open text that went out
        self._announced: JsonObject = NOTHING  # the item that comes next, as its wire announced it
        self._unfinished: JsonObject = NOTHING  # the open item that nothing is told of
        self._thinking = _SUMMARY
        self._refusing = self._refused = False

    def _on_started(self, event: Started) -> list[Frame]:
        if self._head:
            return []
        response_id = self._stamp.id or event.id
        self._head = _head(response_id, self._stamp.model or event.model, self._stamp, self._request)
        running = {**self._head, **own(NAME, event.extra), "status": "in_progress", "usage": None}
        return [self._frame(f"response.{what}", response=running) for what in ("created", "in_progress")]

    def _on_text(self, event: TextDelta) -> list[Frame]:
        if not event.text:
            return []
        frames = [] if self._open == "message" else self._begin_message()
        self._pieces.append(event.text)
        return [*frames, self._numbered(*self._run(event, self._text_delta)[:2])]

    def _on_reasoning(self, event: ReasoningDelta) -> list[Frame]:
        if not event.text:
            return []
        frames = [] if self._open == "reasoning" else self._begin_reasoning()
        self._pieces.append(event.text)
        return [*frames, self._numbered(*self._run(event, self._reasoning_delta)[:2])]

    def _continue_run(self, text: str) -> Frame:
        (before, name, _), after = self._around
        self._pieces.append(text)
        return self._numbered(f"{before}{quoted(text)}{after}", name)

    def _text_delta(self, text: str) -> Frame:
        fields = {**self._of_item(), "content_index": 0, "delta": text}
        if self._refusing:
            return Frame(to_json(fields), REFUSING)
        return Frame(to_json({**fields, "logprobs": []}), "response.output_text.delta")

    def _reasoning_delta(self, text: str) -> Frame:
        fields = {**self._of_item(), self._thinking.place: 0, "delta": text}
        return Frame(to_json(fields), f"{self._thinking.text}.delta")

    def _on_wire_event(self, event: WireEvent) -> list[Frame]:
        if event.api != NAME:
            return []
        if event.name == IN_FULL:
            self._thinking = _FULL
            return []
        if event.name == REFUSING:
            ended = self._end(NOTHING)
            self._refusing = self._refused = True
            return ended
        if event.name == ADDED:
            return self._announce(event.fields)
        fields, place = dict(event.fields), self._of_item()
        if event.name == NOTED and self._open:
            self._noted += 1
        if place.keys() & fields and not self._open:
            return []  # its item is told in another place
        return [self._frame(event.name, **{key: place.get(key, one) for key, one in fields.items()})]

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
        return write_call(call, self._names, lambda kind: _item_id(kind, self._head["id"], len(self._output)))

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
        self._open, self._pieces = kind, []
        if self._announced.get("type") == kind:
            item, self._announced = {**item, **self._announced}, NOTHING
        self._id = string(item.get("id")) or _item_id(_KINDS.get(kind, "item"), self._head["id"], len(self._output))
        added = {**item, "id": self._id}
        return [*frames, self._frame("response.output_item.added", output_index=len(self._output), item=added)]

    def _begin_message(self) -> list[Frame]:
        item = {"type": "message", "status": "in_progress", "role": "assistant", "content": []}
        part: dict[str, Any] = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        part = {"type": "refusal", "refusal": ""} if self._refusing else part
        return [*self._begin("message", item), self._content("response.content_part.added", part=part)]

    def _begin_reasoning(self) -> list[Frame]:
        begun = self._begin("reasoning", {"type": "reasoning", "summary": []})
        part = {"type": self._thinking.kind, "text": ""}
        return [*begun, self._thought(f"{self._thinking.part}.added", part=part)]

    def _end(self, left: JsonObject) -> list[Frame]:
        """End the open item; `left` is what its part says beside its text."""
        text = "".join(self._pieces)
        match self._open:
            case "message":
                return self._end_message(text, left)
            case "reasoning":
                return self._end_reasoning(text, left)
            case "opaque":
                return self._finish_item(dict(self._unfinished))
        return []

    def _end_message(self, text: str, left: JsonObject) -> list[Frame]:
        about = {key: value for key, value in mapping(left.get("item")).items() if key != "id"}
        item = write_message([Text(text, metadata=left)], about, lambda kind: self._id)
        part = item["content"][0]
        if self._refusing:
            return self._end_refusal(text, item)
        if part["type"] == "refusal":  # another wire's: it was streamed as text, for nobody could know
            part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
            item["content"] = [part]
        return [
            *self._annotations(part),
            self._content("response.output_text.done", text=text, logprobs=part["logprobs"]),
            self._content("response.content_part.done", part=part),
            *self._finish_item(item),
        ]

    def _end_refusal(self, text: str, item: dict[str, Any]) -> list[Frame]:
        self._refusing = False
        part = {"type": "refusal", "refusal": text}
        return [
            self._content("response.refusal.done", refusal=text),
            self._content("response.content_part.done", part=part),
            *self._finish_item({**item, "content": [part]}),
        ]

    def _annotations(self, part: JsonObject) -> list[Frame]:
        """What a text rests on, each by an event of its own."""
        noted, self._noted = self._noted, 0
        notes = [*enumerate(items(part.get("annotations")))][noted:]  # those before went out as the wire told them
        return [self._content(NOTED, annotation_index=place, annotation=note) for place, note in notes]

    def _end_reasoning(self, text: str, left: JsonObject) -> list[Frame]:
        form, self._thinking = self._thinking, _SUMMARY
        part = {"type": form.kind, "text": text}
        said = write_reasoning(text, "") if form is _SUMMARY else {"type": "reasoning", form.key: [part]}
        item = sealed(wrapped(mapping(left.get("item")) or said, self._id), self._request)
        item.setdefault("summary", [])
        if not text:
            return self._finish_item(item)
        return [
            self._item(f"{form.text}.done", **{form.place: 0}, text=text),
            self._item(f"{form.part}.done", **{form.place: 0}, part=part),
            *self._finish_item(item),
        ]

    def _finish_item(self, item: dict[str, Any]) -> list[Frame]:
        item = {**item, "id": self._id}
        frame = self._frame("response.output_item.done", output_index=len(self._output), item=item)
        self._output.append(item)
        self._open, self._pieces = "", []
        return [frame]

    # ── the end ──────────────────────────────────────────────────────────────

    def _finish(self, event: Ended) -> list[Frame]:
        frames = [*self._on_started(Started()), *self._end(NOTHING)]
        left = extra_for(NAME, event.extra)
        stop = final_stop(event.stop, self._calls)
        if stop is Stop.REFUSED and self._refused:
            stop = Stop.END  # the part says it, as in a whole answer
        ending = _ending(stop, event.usage, mapping(left.get("usage")))
        answer = {**self._head, **left, **self._stamp.fields, **ending, "output": self._output}
        what = "incomplete" if ending["status"] == "incomplete" else "completed"
        return [*frames, self._frame(f"response.{what}", response=answer)]

    # ── frames ───────────────────────────────────────────────────────────────

    def _item(self, event: str, **fields: Any) -> Frame:
        return self._frame(event, **self._of_item(), **fields)

    def _of_item(self) -> dict[str, Any]:
        return {"item_id": self._id, "output_index": len(self._output)}

    def _content(self, event: str, **fields: Any) -> Frame:
        return self._item(event, content_index=0, **fields)

    def _thought(self, event: str, **fields: Any) -> Frame:
        return self._item(event, **{self._thinking.place: 0}, **fields)

    def _frame(self, event: str, **fields: Any) -> Frame:
        return self._numbered(to_json(fields), event)

    def _numbered(self, fields: str, event: str) -> Frame:
        """The frame of these fields, its kind and its number before them."""
        number, self._sequence = self._sequence, self._sequence + 1
        return Frame(f'{{"type":"{event}","sequence_number":{number}{"," * (fields != "{}")}{fields[1:]}', event)


# ── errors ───────────────────────────────────────────────────────────────────


def encode_error(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and body of a refusal."""
    reply = ErrorReply(error)
    what = "invalid_request_error" if reply.status < 500 else "server_error"
    return reply.status, reply.openai_body(what)


def error_frame(error: Exception) -> Frame:
    """The event of an error once the answer has begun."""
    reply = ErrorReply(error)
    fields = {"code": reply.openai_code or reply.kind.value, "message": reply.message, "param": reply.param or None}
    return Frame(to_json({"type": "error", "sequence_number": 0, **fields}), "error")
