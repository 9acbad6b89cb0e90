"""Cohere's Chat v2: `POST /v2/chat`.

Knows the answers, whole and streamed, both ways; requests are in `chat_requests.py`.
Sources: Cohere API reference (v2); streaming.md §6; wire-quirks.md ("Cohere v2"); recorded answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ...errors import CodecError
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
    WireEvent,
    assemble,
)
from ...jsontext import to_json
from ...types import NOTHING, JsonObject, Opaque, Request, Response, Stop, Usage
from ..shared.body import an_object, count, items, mapping, present, rest, string
from ..shared.decoder import RunDecoder
from ..shared.encoder import Encoder, final_stop
from ..shared.errors import ErrorReply, raise_error, read_failure
from ..shared.frames import Frame, FrameKind
from ..shared.issues import wire_fault
from ..shared.spec import UNSTAMPED, Codec, Ids, Stamp, extra_for, own, wire_fields
from .chat_requests import NAME, PLAN, decode_request, encode_request, write_answer

_STOPS: Mapping[str, Stop] = {
    "COMPLETE": Stop.END,
    "TOOL_CALL": Stop.TOOL_CALLS,
    "MAX_TOKENS": Stop.LENGTH,
    "STOP_SEQUENCE": Stop.STOP_SEQUENCE,
    "ERROR": Stop.ERROR,
    "TIMEOUT": Stop.ERROR,
    "ERROR_TOXIC": Stop.FILTERED,
}
_WORDS: Mapping[Stop | None, str] = {
    None: "COMPLETE",
    Stop.END: "COMPLETE",
    Stop.PAUSE: "COMPLETE",
    Stop.TOOL_CALLS: "TOOL_CALL",
    Stop.LENGTH: "MAX_TOKENS",
    Stop.STOP_SEQUENCE: "STOP_SEQUENCE",
    Stop.FILTERED: "ERROR_TOXIC",
    Stop.REFUSED: "ERROR_TOXIC",
    Stop.ERROR: "ERROR",
}
_BODY = frozenset({"id", "message", "finish_reason", "usage", "response_id", "text", "tool_calls"})
_MESSAGE = frozenset({"role", "content", "tool_calls", "tool_plan"})
_CALL = frozenset({"id", "type", "function"})
CITED, CITED_END = "citation-start", "citation-end"

# ── reading ──────────────────────────────────────────────────────────────────


def decode_response(body: JsonObject, ids: Ids | None = None) -> Response:
    """The answer in `body`.  Raises `ProviderError` for an error with status 200, `CodecError` for no answer.

    An answer of the API's first version, text beside its calls, is read too.
    """
    body = an_object(body, "$")
    raise_error(body)
    if body.get("message") is None and isinstance(body.get("text"), str):
        first = [
            {"function": {"name": mapping(call).get("name"), "arguments": mapping(call).get("parameters")}}
            for call in items(body.get("tool_calls"))
        ]
        body = {**body, "message": {"content": body["text"], "tool_calls": first}}
    if body.get("message") is None:
        raise CodecError("the answer has no message; retry the request", "$.message", NAME)
    an_object(body["message"], "$.message")
    return assemble(_Decoder(ids).whole(body))


class _Decoder(RunDecoder):
    """Frames → events.  Runs: "text", "thinking", "plan"."""

    api = NAME
    stops = _STOPS
    plain_words = frozenset(_WORDS.values())
    unfinished = "the stream ended without a finish_reason; the answer may be cut short"

    def __init__(self, ids: Ids | None = None) -> None:
        super().__init__(ids)
        self._message: dict[str, Any] = {}
        self._on: Mapping[str, Callable[[JsonObject, JsonObject], list[Event]]] = {
            "message-start": lambda body, message: self._begin(body),
            "tool-plan-delta": lambda body, message: self._emit("plan", string(message.get("tool_plan"))),
            "content-start": self._on_content,
            "content-delta": self._on_content,
            "content-end": lambda body, message: self._end_run(),
            "tool-call-start": self._on_call,
            "tool-call-delta": self._on_arguments,
            "tool-call-end": self._on_call_end,
            CITED: self._on_citation,
            CITED_END: lambda body, message: [*self._start(), self._beside(CITED_END, rest(body, ("type",)))],
            "message-end": self._on_end,
        }

    def whole(self, body: JsonObject) -> list[Event]:
        """The events of a whole answer."""
        self._complete = True
        message = mapping(body.get("message"))
        events = self._begin(body) + self._emit("plan", string(message.get("tool_plan")))
        content = message.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
        for part in parts:
            events += self._end_run() + self._content(mapping(part))
        events += self._end_run()
        for call in items(message.get("tool_calls")):
            name, arguments, call_id, left = _call(mapping(call))
            events += self._calls.whole(call_id, name, arguments, left)
        self._message = present(message, _MESSAGE)
        self._extra = present(body, _BODY)
        return [*events, *self._finish(body), *self.close()]

    # ── events of the stream ─────────────────────────────────────────────────

    def _read(self, body: JsonObject, event: str) -> list[Event]:
        raise_error(body, event)
        handler = self._on.get(string(body.get("type")) or event)
        return handler(body, mapping(mapping(body.get("delta")).get("message"))) if handler else []

    def _begin(self, body: JsonObject) -> list[Event]:
        return self._start("", string(body.get("id")) or string(body.get("response_id")))

    def _on_content(self, body: JsonObject, message: JsonObject) -> list[Event]:
        content = mapping(message.get("content"))
        key = "thinking" if "thinking" in content else "text"
        if body.get("logprobs"):
            self._extra = {**self._extra, "logprobs": [*items(self._extra.get("logprobs")), body["logprobs"]]}
            return self._content(content)
        return self._repeat_text(self._content(content), "delta", "message", "content", key)

    def _on_citation(self, body: JsonObject, message: JsonObject) -> list[Event]:
        self._message["citations"] = [*items(self._message.get("citations")), message.get("citations")]
        return [*self._start(), self._beside(CITED, rest(body, ("type",)))]

    def _on_call(self, body: JsonObject, message: JsonObject) -> list[Event]:
        name, arguments, call_id, left = _call(mapping(message.get("tool_calls")))
        events = self._end_run() + self._calls.begin(_index(body), call_id, name, left)
        return events + (self._calls.add(_index(body), arguments) if isinstance(arguments, str) else [])

    def _on_arguments(self, body: JsonObject, message: JsonObject) -> list[Event]:
        piece = string(mapping(mapping(message.get("tool_calls")).get("function")).get("arguments"))
        if not self._calls.knows(_index(body)):
            return [wire_fault("a fragment of a call that never began; it was passed over", dict(body))]
        if piece:
            place = ("delta", "message", "tool_calls", "function", "arguments")
            self._repeat(partial(self._calls.add, _index(body)), *place)
        return self._calls.add(_index(body), piece)

    def _on_call_end(self, body: JsonObject, message: JsonObject) -> list[Event]:
        return self._calls.end(_index(body)) if self._calls.knows(_index(body)) else []

    def _on_end(self, body: JsonObject, message: JsonObject) -> list[Event]:
        delta = mapping(body.get("delta"))
        if delta.get("error"):
            raise read_failure(200, {"error": delta["error"]})
        self._over = True
        return self._finish(delta)

    def _finish(self, body: JsonObject) -> list[Event]:
        self._word = string(body.get("finish_reason"))
        self._usage = dict(mapping(body.get("usage")))
        return []

    # ── text and reasoning ───────────────────────────────────────────────────

    def _content(self, part: JsonObject) -> list[Event]:
        if "thinking" in part:
            return self._emit("thinking", string(part.get("thinking")))
        if "text" in part:
            return self._emit("text", string(part.get("text")))
        return [*self._end_run(), PartAdded(Opaque(api=NAME, block=part))] if part else []

    def _emit(self, run: str, piece: str) -> list[Event]:
        if not piece:
            return []
        begins = self._run != run
        events = self._start() + self._continue_run(run, piece)
        if run == "plan":
            self._metadata = dict(PLAN)
            events = [*events[:-1], self._beside(run), events[-1]] if begins else events
        return events

    def _read_usage(self) -> Usage | None:
        return read_usage(self._usage)

    def _write_usage(self, usage: Usage | None) -> JsonObject:
        return mapping(_write_usage(usage).get("usage"))

    def _leftover(self) -> JsonObject:
        left = {"usage": self._own_usage, "finish_reason": self._own_word, "message": self._message or None}
        return wire_fields(NAME, {**self._extra, **left})


def _call(call: JsonObject) -> tuple[str, Any, str, JsonObject]:
    function = mapping(call.get("function"))
    left = wire_fields(NAME, rest(call, _CALL))
    return string(function.get("name")), function.get("arguments"), string(call.get("id")), left


def _index(body: JsonObject) -> int | None:
    """The place of the call an event speaks of."""
    index = body.get("index")
    return index if isinstance(index, int) else None


def read_usage(usage: JsonObject) -> Usage | None:
    """Token counts in the words of this API; None when there are none."""
    tokens = mapping(usage.get("tokens")) or mapping(usage.get("billed_units"))
    if not tokens:
        return None
    made = count(tokens.get("output_tokens"))
    return Usage(input=count(tokens.get("input_tokens")), output=made, cached=count(usage.get("cached_tokens")))


# ── writing ──────────────────────────────────────────────────────────────────


def encode_response(response: Response, stamp: Stamp = UNSTAMPED, request: Request | None = None) -> dict[str, Any]:
    """The body of a whole answer."""
    left = dict(extra_for(NAME, response.extra))
    usage, message, word = left.pop("usage", None), mapping(left.pop("message", None)), left.pop("finish_reason", None)
    body = {
        **left,
        "id": stamp.id or response.id,
        "finish_reason": word or _WORDS[final_stop(response.stop, len(response.calls))],
        "message": {**_as_parts(write_answer(response.message.parts)), **message},
    }
    return {**body, **_write_usage(response.usage, mapping(usage))}


def _as_parts(message: dict[str, Any]) -> dict[str, Any]:
    """Answers hold their content in parts, one text too."""
    content = message.get("content")
    if isinstance(content, str):
        message["content"] = [{"type": "text", "text": content}] if content else []
    return message


def _write_usage(usage: Usage | None, left: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    if usage is None:
        return {}
    if left and read_usage(left) == usage:
        return {"usage": dict(left)}  # as the provider counted
    tokens = {"input_tokens": usage.input, "output_tokens": usage.output}
    return {"usage": {**left, "tokens": tokens, **({"cached_tokens": usage.cached} if usage.cached else {})}}


class _Encoder(Encoder):
    """Events → frames.  `_open` is the content under way: "text", "thinking" or "" for none."""

    def __init__(self, stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True) -> None:
        super().__init__(stamp, request, whole_calls=whole_calls)
        self._begun = self._planning = False
        self._open = ""
        self._contents = self._calls = self._cited = 0

    def _on_started(self, event: Started) -> list[Frame]:
        if self._begun:
            return []
        self._begun = True
        message = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        return [_frame("message-start", message, id=self._stamp.id or event.id)]

    def _on_text(self, event: TextDelta) -> list[Frame]:
        return self._content("text", event)

    def _on_reasoning(self, event: ReasoningDelta) -> list[Frame]:
        if self._planning:
            begun = [*self._on_started(Started()), *self._end()]
            return [*begun, self._run(event, lambda text: _frame("tool-plan-delta", {"tool_plan": text}))]
        return self._content("thinking", event)

    def _on_wire_event(self, event: WireEvent) -> list[Frame]:
        if event.api != NAME:
            return []
        if event.name == "plan":
            self._planning = True
            return []
        self._cited += event.name == CITED
        return [Frame(to_json({"type": event.name, **event.fields}), event.name)]

    def _content(self, kind: str, event: TextDelta | ReasoningDelta) -> list[Frame]:
        if not event.text:
            return []
        frames: list[Frame] = []
        if self._open != kind:
            frames = [*self._on_started(Started()), *self._end()]
            self._open = kind
            start = {"content": {"type": kind, kind: ""}}
            frames.append(_frame("content-start", start, index=self._contents))
        place = self._contents
        delta = self._run(event, lambda text: _frame("content-delta", {"content": {kind: text}}, index=place))
        return [*frames, delta]

    def _on_part_ended(self, event: PartEnded) -> list[Frame]:
        self._planning = False
        return self._end()

    def _end(self) -> list[Frame]:
        if not self._open:
            return []
        self._open = ""
        self._contents += 1
        return [_frame("content-end", index=self._contents - 1)]

    def _on_call(self, event: CallStarted) -> list[Frame]:
        begun = [*self._on_started(Started()), *self._end()]
        function = {"name": event.name, "arguments": ""}
        call = {"id": event.id, "type": "function", "function": function, **own(NAME, event.metadata)}
        return [*begun, _frame("tool-call-start", {"tool_calls": call}, index=self._calls)]

    def _on_delta(self, event: CallDelta) -> list[Frame]:
        return [_frame("tool-call-delta", {"tool_calls": {"function": {"arguments": event.json}}}, index=self._calls)]

    def _on_call_ended(self, event: CallEnded) -> list[Frame]:
        self._calls += 1
        return [_frame("tool-call-end", index=self._calls - 1)]

    def _finish(self, event: Ended) -> list[Frame]:
        left = extra_for(NAME, event.extra)
        word = left.get("finish_reason") or _WORDS[final_stop(event.stop, self._calls)]
        delta = {"finish_reason": word, **_write_usage(event.usage, mapping(left.get("usage")))}
        last = Frame(to_json({"type": "message-end", "delta": delta}), "message-end")
        untold = [*enumerate(items(mapping(left.get("message")).get("citations")))][self._cited :]
        cited = [frame for place, one in untold for frame in _cite(place, one)]
        return [*self._on_started(Started()), *self._end(), *cited, last]


def _cite(place: int, citation: Any) -> list[Frame]:
    """The events of a citation that was not told while the text went out."""
    return [_frame(CITED, {"citations": citation}, index=place), _frame(CITED_END, index=place)]


def _frame(event: str, message: JsonObject = NOTHING, **fields: Any) -> Frame:
    delta = {"delta": {"message": message}} if message else {}
    return Frame(to_json({"type": event, **fields, **delta}), event)


def encode_error(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and body of a refusal."""
    reply = ErrorReply(error)
    return reply.status, {"message": reply.message}


def error_frame(error: Exception, number: int = 0) -> Frame:
    """The frame of an error once the answer has begun."""
    reply = ErrorReply(error)
    failed = {"message": reply.message, "type": reply.kind.value, "code": reply.code or None}
    return Frame(to_json({"type": "message-end", "delta": {"finish_reason": "ERROR", "error": failed}}), "message-end")


CODEC = Codec(
    name=NAME,
    path="/v2/chat",
    stream_path="/v2/chat",
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
