"""Gemini's Interactions API: `POST /interactions`, an answer as a list of steps.

Knows the answers, whole and streamed, both ways; requests are in `interactions_requests.py`.  A whole answer
repeats what was asked as its first steps, a stream does not; steps are read from their deltas where there are any.  The
form before May 2026 (`outputs`, `content.*` events) is read too.
Sources: Gemini API reference (Interactions, and its migration guide of May 2026); google-genai 3.4; recorded streams.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...errors import ErrorKind
from ...events import (
    CallDelta,
    CallEnded,
    CallStarted,
    Ended,
    Event,
    PartAdded,
    PartEnded,
    ReasoningDelta,
    Started,
    TextDelta,
    assemble,
)
from ...jsontext import to_json
from ...types import NOTHING, JsonObject, Media, Opaque, Request, Response, Stop, ToolCall, Usage
from ..shared.body import an_array, an_object, count, items, mapping, present, rest, string
from ..shared.decoder import Block, BlockDecoder
from ..shared.encoder import Encoder, final_stop
from ..shared.errors import ErrorReply, raise_error, read_failure
from ..shared.frames import Frame, FrameKind
from ..shared.spec import UNSTAMPED, Codec, Ids, Stamp, extra_for, own, wire_fields
from .generate_contents import SIGNATURE
from .interactions_requests import NAME, about, decode_request, encode_request, read_media, summary_text, write_steps

_STOPS: Mapping[str, Stop] = {
    "completed": Stop.END,
    "requires_action": Stop.TOOL_CALLS,
    "incomplete": Stop.LENGTH,
    "budget_exceeded": Stop.LENGTH,
    "requires_continuation": Stop.PAUSE,
    "cancelled": Stop.ERROR,
}
_WORDS: Mapping[Stop | None, str] = {
    None: "completed",
    Stop.END: "completed",
    Stop.STOP_SEQUENCE: "completed",
    Stop.REFUSED: "completed",
    Stop.FILTERED: "completed",
    Stop.TOOL_CALLS: "requires_action",
    Stop.LENGTH: "incomplete",
    Stop.PAUSE: "requires_continuation",
    Stop.ERROR: "cancelled",
}
_ASKED = frozenset({"user_input", "function_result"})
_BODY = frozenset({"id", "model", "status", "steps", "outputs", "usage", "object", "input", "errors", "error"})
_USAGE = (
    "total_input_tokens",
    "total_output_tokens",
    "total_thought_tokens",
    "total_cached_tokens",
    "total_tool_use_tokens",
    "total_tokens",
)
_KINDS = {"model_output": "text", "text": "text", "thought": "reasoning", "function_call": "call"}
_PARTS = frozenset({"model_output", "text", "thought"})
"""Steps that go on while parts of their kind come."""

# ── reading ──────────────────────────────────────────────────────────────────


def decode_response(body: JsonObject, ids: Ids | None = None) -> Response:
    """The answer in `body`.  Raises `ProviderError` for an answer that failed, `CodecError` for no answer."""
    body = an_object(body, "$")
    raise_error(body)
    key = "outputs" if "outputs" in body and "steps" not in body else "steps"
    steps = an_array(body.get(key) if body.get(key) is not None or "status" not in body else [], f"$.{key}")
    for i, step in enumerate(steps):
        an_object(step, f"$.{key}[{i}]")
    return assemble(_Decoder(ids).whole(body, list(steps)))


class _Decoder(BlockDecoder):
    api = NAME
    stops = _STOPS
    plain_words = frozenset(_WORDS.values())
    unfinished = "the stream ended before the answer was complete"

    def whole(self, body: JsonObject, steps: list[Any]) -> list[Event]:
        """The events of a whole answer: its steps after the last of those that repeat what was asked."""
        asked = [i for i, step in enumerate(steps) if string(step.get("type")) in _ASKED]
        events = self._on_interaction({"interaction": body}, "completed")
        for i, step in enumerate(steps[asked[-1] + 1 if asked else 0 :]):
            events += self._begin(i, step) + self._end_block(i)
        return [*events, *self.close()]

    def _is_complete(self) -> bool:
        return self._complete

    # ── events of the stream ─────────────────────────────────────────────────

    def _read(self, body: JsonObject, event: str) -> list[Event]:
        kind = string(body.get("event_type")) or event
        if kind == "error" or body.get("error"):
            raise read_failure(200, body if body.get("error") else {"error": body})
        what, _, change = kind.partition(".")
        if what == "interaction":
            return self._on_interaction(body, change)
        if what not in ("step", "content"):
            return []  # events invented after us
        match change:
            case "start":
                return self._begin(_index(body), mapping(body.get(what)))
            case "delta":
                return self._on_delta(_index(body), mapping(body.get("delta")))
            case "stop":
                return self._end_block(_index(body))
        return []

    def _on_interaction(self, body: JsonObject, change: str) -> list[Event]:
        answer = mapping(body.get("interaction"))
        self._word = string(answer.get("status")) or string(body.get("status")) or self._word
        if self._word == "failed":
            faults = [mapping(one) for one in items(answer.get("errors"))]
            raise read_failure(200, {"error": faults[0] if faults else {"message": "failed"}})
        self._complete = self._over = self._complete or change in ("completed", "complete")
        self._extra |= present(answer, _BODY)
        self._usage |= present(mapping(answer.get("usage")))
        return self._start(string(answer.get("model")), string(answer.get("id"))) if answer else []

    def _on_delta(self, index: int, delta: JsonObject) -> list[Event]:
        kind = string(delta.get("type"))
        events: list[Event] = []
        if index not in self._blocks:  # a delta without its start: its kind says what it is
            events += self._begin(index, {"type": "thought" if kind.startswith("thought") else "model_output"})
        step = self._blocks[index]
        match kind:
            case "text":
                return self._repeat_text(events + self._fill(step, string(delta.get("text"))), "delta", "text")
            case "thought_summary":
                events += self._fill(step, string(mapping(delta.get("content")).get("text")))
                return self._repeat_text(events, "delta", "content", "text")
            case "thought_signature":
                step.metadata[SIGNATURE] = string(delta.get("signature")) or None
            case "text_annotation" | "text_annotation_delta":
                annotations = [*items(step.metadata.get("annotations")), *items(delta.get("annotations"))]
                step.metadata["annotations"] = annotations
            case _ if step.kind == "call":
                return events + self._on_arguments(index, step, delta)
            case _ if step.kind == "text":
                return events + self._content(step, delta)
            case _:
                step.start = {**step.start, **rest(delta, ("type",))}
        return events

    def _on_arguments(self, index: int, step: Block, delta: JsonObject) -> list[Event]:
        match delta.get("type"):
            case "arguments_delta":
                if isinstance(delta.get("arguments"), str):
                    self._repeat(partial(self._calls.add, index), "delta", "arguments")
                return self._calls.add(index, string(delta.get("arguments")))
            case "function_call":  # before May 2026: whole
                self._calls.assign(index, delta.get("arguments"))
                return self._calls.name(index, string(delta.get("name")))
        step.start = {**step.start, **rest(delta, ("type",))}
        return []

    # ── steps ────────────────────────────────────────────────────────────────

    def _begin(self, index: int, start: JsonObject) -> list[Event]:
        kind = _KINDS.get(string(start.get("type")), "")
        events = self._begin_block(index, kind, start)
        step = self._blocks[index]
        match kind:
            case "call":
                left = wire_fields(NAME, about(start, "id", "name", "arguments"))
                events += self._calls.begin(index, string(start.get("id")), string(start.get("name")), left)
                if start.get("arguments") not in (None, {}):
                    self._calls.assign(index, start["arguments"])
            case "reasoning":
                step.metadata = about(start, "summary")
                events += self._fill(step, summary_text(start))
            case "text":
                step.metadata = rest(start, ("type", "text", "content"))
                events += self._fill(step, string(start.get("text")))
                for content in items(start.get("content")):
                    events += self._content(step, mapping(content))
        return events

    def _follow_call(self) -> list[Event]:
        return self._calls.end_complete()

    def _content(self, step: Block, content: JsonObject) -> list[Event]:
        """A content of a step of text: each ends the one before."""
        ended = self._end_part(step)
        if content.get("type") == "text":
            step.metadata = {key: v for key, v in rest(content, ("type", "text")).items() if v != []}
            return ended + self._fill(step, string(content.get("text")))
        return ended + self._add_part(read_media(content) or Opaque(api=NAME, block=content))

    def _opaque(self, block: Block) -> list[Event]:
        return [PartAdded(Opaque(api=NAME, block=block.start))] if block.start else []

    def _read_usage(self) -> Usage | None:
        return read_usage(self._usage)

    def _write_usage(self, usage: Usage | None) -> JsonObject:
        return mapping(_write_usage(usage).get("usage"))

    def _leftover(self) -> JsonObject:
        return wire_fields(NAME, {**self._extra, "usage": self._own_usage, "status": self._own_word})


def _index(body: JsonObject) -> int:
    index = body.get("index")
    return index if isinstance(index, int) else 0


def read_usage(usage: JsonObject) -> Usage | None:
    """Token counts in the words of this API, which counts thoughts apart; None when there are none."""
    if not any(usage.get(key) is not None for key in _USAGE):
        return None
    thinking = count(usage.get("total_thought_tokens"))
    return Usage(
        input=count(usage.get("total_input_tokens")) + count(usage.get("total_tool_use_tokens")),
        output=count(usage.get("total_output_tokens")) + thinking,
        cached=count(usage.get("total_cached_tokens")),
        reasoning=thinking,
    )


# ── writing ──────────────────────────────────────────────────────────────────


def encode_response(response: Response, stamp: Stamp = UNSTAMPED, request: Request | None = None) -> dict[str, Any]:
    """The body of a whole answer."""
    left = dict(extra_for(NAME, response.extra))
    word, usage = left.pop("status", None), mapping(left.pop("usage", None))
    steps = list(write_steps(response.message.parts))
    stop = final_stop(response.stop, len(response.calls))
    head = _head(stamp, response.model, response.id, word or _WORDS[stop])
    return {**left, **head, "steps": steps, **_write_usage(response.usage, usage)}


def _head(stamp: Stamp, model: str, id_: str, status: str) -> dict[str, Any]:
    return {"id": stamp.id or id_, "object": "interaction", "model": stamp.model or model, "status": status}


def _write_usage(usage: Usage | None, left: JsonObject = NOTHING) -> dict[str, Any]:
    if usage is None:
        return {}
    if left and read_usage(left) == usage:
        return {"usage": dict(left)}  # as the provider counted
    tools = count(left.get("total_tool_use_tokens"))
    wire = {
        **left,
        "total_input_tokens": max(0, usage.input - tools),
        "total_output_tokens": max(0, usage.output - usage.reasoning),
        "total_thought_tokens": usage.reasoning,
        "total_cached_tokens": usage.cached,
        "total_tokens": usage.total,
    }
    return {"usage": wire}


class _Encoder(Encoder):
    """Events → frames: one step open at a time.  `_open` is its kind, "" for none."""

    def __init__(self, stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True) -> None:
        super().__init__(stamp, request, whole_calls=whole_calls)
        self._model = self._id = self._open = ""
        self._begun = False
        self._place = -1
        self._calls = 0

    def _on_started(self, event: Started) -> list[Frame]:
        if self._begun:
            return []
        self._begun, self._model, self._id = True, event.model, event.id
        head = _head(self._stamp, event.model, event.id, "in_progress")
        return [_frame("interaction.created", interaction=head)]

    def _on_text(self, event: TextDelta) -> list[Frame]:
        if not event.text:
            return []
        begun = self._begin({"type": "model_output"})
        return [*begun, self._run(event, lambda text: self._delta({"type": "text", "text": text}))]

    def _on_reasoning(self, event: ReasoningDelta) -> list[Frame]:
        if not event.text:
            return []
        begun = self._begin({"type": "thought"})
        return [*begun, self._run(event, lambda text: self._delta(_summary_delta(text)))]

    def _on_part_ended(self, event: PartEnded) -> list[Frame]:
        frames: list[Frame] = []
        signature = string(event.metadata.get(SIGNATURE))
        if signature and self._open in ("", "thought"):
            begun = self._begin({"type": "thought"})
            frames += [*begun, self._delta({"type": "thought_signature", "signature": signature})]
        cited = items(own(NAME, event.metadata).get("annotations"))
        if cited and self._open == "model_output":
            frames.append(self._delta({"type": "text_annotation_delta", "annotations": list(cited)}))
        return frames + self._end()

    def _on_part(self, event: PartAdded) -> list[Frame]:
        frames: list[Frame] = []
        for step in write_steps([event.part]):
            if isinstance(event.part, Media):
                frames += [*self._begin({"type": "model_output"}), self._delta(step["content"][0]), *self._end()]
            else:
                frames += self._begin(step) + self._end()
        return frames

    def _on_call(self, event: CallStarted) -> list[Frame]:
        self._calls += 1
        (step,) = write_steps([ToolCall(id=event.id, name=event.name, metadata=event.metadata)])
        return self._begin(step)

    def _on_delta(self, event: CallDelta) -> list[Frame]:
        return [self._delta({"type": "arguments_delta", "arguments": event.json})]

    def _on_call_ended(self, event: CallEnded) -> list[Frame]:
        return self._end()

    def _finish(self, event: Ended) -> list[Frame]:
        left = dict(extra_for(NAME, event.extra))
        word, usage = left.pop("status", None), mapping(left.pop("usage", None))
        status = word or _WORDS[final_stop(event.stop, self._calls)]
        frames = [*self._on_started(Started()), *self._end()]
        head = _head(self._stamp, self._model, self._id, status)
        answer = {**left, **head, **_write_usage(event.usage, usage)}
        return [*frames, _frame("interaction.completed", interaction=answer)]

    # ── steps ────────────────────────────────────────────────────────────────

    def _begin(self, step: Mapping[str, Any]) -> list[Frame]:
        kind = string(step.get("type")) if string(step.get("type")) in _PARTS else "other"
        if kind == self._open and kind in _PARTS:
            return []
        frames = [*self._on_started(Started()), *self._end()]
        self._place += 1
        self._open = kind
        return [*frames, _frame("step.start", index=self._place, step=step)]

    def _delta(self, delta: Mapping[str, Any]) -> Frame:
        return _frame("step.delta", index=self._place, delta=delta)

    def _end(self) -> list[Frame]:
        if not self._open:
            return []
        self._open = ""
        return [_frame("step.stop", index=self._place)]


def _summary_delta(text: str) -> dict[str, Any]:
    return {"type": "thought_summary", "content": {"type": "text", "text": text}}


def _frame(event: str, **fields: Any) -> Frame:
    return Frame(to_json({**fields, "event_type": event}), event)


# ── errors ───────────────────────────────────────────────────────────────────


def encode_error(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and body of a refusal."""
    reply = ErrorReply(error)
    status = 503 if reply.kind is ErrorKind.OVERLOADED else reply.status
    return status, {"error": {"code": reply.code or reply.kind.value, "message": reply.message}}


def error_frame(error: Exception, number: int = 0) -> Frame:
    """The event of an error once the answer has begun."""
    return _frame("error", **encode_error(error)[1])


CODEC = Codec(
    name=NAME,
    path="/interactions",
    stream_path="/interactions",
    frames=FrameKind.SSE,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_stream=_Decoder,
    decode_request=decode_request,
    encode_response=encode_response,
    encode_stream=_Encoder,
    encode_error=encode_error,
    error_frame=error_frame,
)
