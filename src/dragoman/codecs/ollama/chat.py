"""Ollama's own chat: `POST /api/chat`, newline-delimited JSON.

Knows the answers, whole and streamed, both ways; requests are in `chat_requests.py`.  Every line of a stream is
a small answer; calls come whole.
Sources: Ollama's api.md; wire-quirks.md ("Ollama's … compatibility layers"); streaming.md §4; recorded answers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from ...errors import CodecError
from ...events import CallDelta, CallStarted, Ended, Event, ReasoningDelta, Started, TextDelta, WireEvent, assemble
from ...jsontext import to_json
from ...types import NOTHING, JsonObject, Request, Response, Stop, ToolCall, Usage
from ..shared import strict
from ..shared.body import an_object, count, counts, items, mapping, present, rest, string
from ..shared.decoder import AnswerDecoder
from ..shared.encoder import Encoder, final_stop
from ..shared.errors import ErrorReply, framed, raise_error
from ..shared.frames import Frame, FrameKind
from ..shared.issues import wire_fault
from ..shared.spec import UNSTAMPED, Codec, Ids, Stamp, extra_for, own, wire_fields
from .chat_plain import BODY, COUNTS, MESSAGE, NO_TIME, PLAIN_WORDS, STOPS, plain_answer
from .chat_requests import NAME, call_fields, decode_request, encode_request, turn_writer, write_call

_TELLING = ("content", "thinking", "tool_calls")
_DURATIONS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")

# ── reading ─────────────────────────────────────────────────────────


def decode_response(body: JsonObject, ids: Ids | None = None) -> Response:
    """The answer in `body`.  Raises `ProviderError` for an error with status 200, `CodecError` for no answer."""
    if type(body) is dict and (plain := plain_answer(body)) is not None:
        return plain
    body = an_object(body, "$")
    raise_error(body)
    if body.get("message") is None and body.get("response") is None:
        raise CodecError("the answer has no message; retry the request", "$.message", NAME)
    if body.get("message") is not None:
        an_object(body["message"], "$.message")
    return assemble(Decoder(ids).whole(body))


class Decoder(AnswerDecoder):
    """Lines → events.  Every line is an answer of its own; calls come whole, in any line."""

    api = NAME
    stops: ClassVar[Mapping[str, Stop]] = STOPS
    plain_words: ClassVar[Collection[str]] = PLAIN_WORDS
    unfinished = "the stream ended without `done`; the answer may be cut short"
    noise: ClassVar[tuple[str, ...]] = ("created_at",)

    def __init__(self, ids: Ids | None = None) -> None:
        super().__init__(ids)
        self._message: dict[str, Any] = {}

    def whole(self, body: JsonObject) -> list[Event]:
        """The events of a whole answer."""
        self._complete = True
        return [*self._line(body), *self.close()]

    def _read(self, body: JsonObject, event: str) -> list[Event]:
        raise_error(body, event)
        events = self._line(body)
        message = mapping(body.get("message"))
        places: list[tuple[str, ...]] = [("message", key) for key in _TELLING if message.get(key)]
        places += [(key,) for key in ("thinking", "response") if body.get(key)]
        adds = body.get("logprobs") or message.get("images")  # to what stands in the lines before
        return self._repeat_text(events, *places[0]) if len(places) == 1 and not adds else events

    def _varying(self) -> tuple[str, ...]:
        """Times, once one is known: the first counts."""
        return self.noise if "created_at" in self._extra else ()

    def _read_noise(self, body: JsonObject) -> None:
        if body.get("created_at") not in (None, NO_TIME):
            self._extra.setdefault("created_at", body["created_at"])

    def _line(self, body: JsonObject) -> list[Event]:
        self._read_noise(body)
        events = self._start(string(body.get("model")), extra=self._extra) + self._beside_line(body)
        message = mapping(body.get("message"))
        thinking = string(message.get("thinking")) or string(body.get("thinking"))
        content = _said(message.get("content")) or string(body.get("response"))
        if thinking or content:
            events += self._calls.end_complete()
        events += self._emit_reasoning(thinking) + self._emit_text(content)
        for call in items(message.get("tool_calls")):
            events += self._call(mapping(call))
        self._gather(body, message)
        return events

    def _beside_line(self, body: JsonObject) -> list[Event]:
        """What a line says beside its piece: log probabilities of it, images, whose model it is."""
        if body.get("done") is True:
            return []
        images = mapping(body.get("message")).get("images")
        said = {**_timed(rest(body, BODY)), **({"message": {"images": images}} if images else {})}
        new = {key: one for key, one in said.items() if one and self._extra.get(key) != one}
        return [self._beside("line", new)] if new else []

    def _gather(self, body: JsonObject, message: JsonObject) -> None:
        self._message |= present(message, MESSAGE)
        before = items(self._extra.get("logprobs"))
        self._extra |= {key: value for key, value in _timed(rest(body, BODY)).items() if value not in (None, 0)}
        if before and body.get("logprobs"):
            self._extra["logprobs"] = [*before, *items(body["logprobs"])]
        self._usage |= {key: body[key] for key in COUNTS if body.get(key) is not None}
        if body.get("done") is True:
            self._complete = self._over = True
            self._word = string(body.get("done_reason"))

    def _call(self, call: JsonObject) -> list[Event]:
        function = mapping(call.get("function"))
        if not function:
            return [wire_fault("a tool call is no object with a function; it was passed over", dict(call))]
        name, arguments = string(function.get("name")), function.get("arguments")
        return self._calls.whole(string(call.get("id")), name, arguments, call_fields(call, function))

    def _read_usage(self) -> Usage | None:
        if not self._usage:
            return None
        given, made = (count(self._usage.get(key)) for key in COUNTS)
        return Usage(input=given, output=made)

    def _leftover(self) -> JsonObject:
        return wire_fields(NAME, {**self._extra, "done_reason": self._own_word, "message": self._message or None})


def _said(content: Any) -> str:
    """A content as text; one in parts, as OpenAI has them, is not Ollama's own, but its peers'."""
    return string(content) or "".join(string(mapping(part).get("text")) for part in items(content))


def _timed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """`fields`, with nanoseconds that are some."""
    return {**fields, **counts({key: value for key, value in fields.items() if key.endswith("_duration")})}


# ── writing ─────────────────────────────────────────────────────────


def encode_response(response: Response, stamp: Stamp = UNSTAMPED, request: Request | None = None) -> dict[str, Any]:
    """The body of a whole answer."""
    left = dict(extra_for(NAME, response.extra))
    message: dict[str, Any] = {"role": "assistant", "content": response.text}
    if response.reasoning:
        message["thinking"] = response.reasoning
    if response.calls:
        message["tool_calls"] = [write_call(call, i) for i, call in enumerate(response.calls)]
    message |= mapping(left.pop("message", None))
    head = {"model": stamp.model or response.model, "created_at": left.pop("created_at", None) or clock(stamp)}
    return {**head, "message": message, **write_done(response.stop, response.usage, len(response.calls), left)}


def clock(stamp: Stamp) -> str:
    """The stamp's time as this API writes it."""
    return datetime.fromtimestamp(stamp.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def write_done(stop: Stop | None, usage: Usage | None, calls: int, left: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that end an answer.  Durations nobody measured are 0: clients demand the fields."""
    reason = "length" if final_stop(stop, calls) is Stop.LENGTH else "stop"
    wire: dict[str, Any] = {"done": True, "done_reason": reason, **dict.fromkeys(_DURATIONS, 0), **left}
    if usage is not None:
        wire |= {"prompt_eval_count": usage.input, "eval_count": usage.output}
    return wire


class LineEncoder(Encoder):
    """Events → lines.  Arguments are objects here, so calls are always whole; all of them stand in one line, before the
    last (clients give calls of separate lines the same place)."""

    model: str

    def __init__(self, stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True) -> None:
        super().__init__(stamp, request, whole_calls=True)
        self.model = stamp.model
        self._calls: list[dict[str, Any]] = []
        self._called: CallStarted | None = None
        self._time = clock(stamp)
        self._besides: dict[str, Any] = {}  # what the next line says beside its piece
        self._told: set[str] = set()  # what lines said so

    def _on_started(self, event: Started) -> list[Frame]:
        self.model = self.model or event.model
        self._time = string(own(NAME, event.extra).get("created_at")) or self._time
        return []

    def _on_text(self, event: TextDelta) -> list[Frame]:
        if self._besides:
            return [self._text_line(event.text)]
        return [self._run(event, self._text_line)] if event.text else []

    def _on_reasoning(self, event: ReasoningDelta) -> list[Frame]:
        if self._besides:
            return [self._thinking_line(event.text)]
        return [self._run(event, self._thinking_line)] if event.text else []

    def _on_wire_event(self, event: WireEvent) -> list[Frame]:
        if event.api != NAME:
            return []
        before = items(self._besides.get("logprobs"))  # of text that was held, and comes with this
        self._besides |= rest(event.fields, ("message",))
        if before:
            self._besides["logprobs"] = [*before, *items(event.fields.get("logprobs"))]
        self._told.update(event.fields)
        images = mapping(event.fields.get("message"))
        return [self._line({"role": "assistant", "content": "", **images})] if images else []

    def _text_line(self, text: str) -> Frame:
        return self._line({"role": "assistant", "content": text})

    def _thinking_line(self, text: str) -> Frame:
        return self._line({"role": "assistant", "content": "", "thinking": text})

    def _on_call(self, event: CallStarted) -> list[Frame]:
        self._called = event
        return []

    def _on_delta(self, event: CallDelta) -> list[Frame]:
        called = self._called
        if called is not None:
            arguments = strict.loads(event.json) if event.json else {}
            call = ToolCall(id=called.id, name=called.name, arguments=arguments, metadata=called.metadata)
            self._calls.append(write_call(call, len(self._calls)))
        return []

    def _finish(self, event: Ended) -> list[Frame]:
        calls = {"role": "assistant", "content": "", "tool_calls": self._calls}
        left = extra_for(NAME, event.extra)
        message = {} if "message" in self._told else mapping(left.get("message"))
        left = rest(left, ("message", "created_at", *self._told))
        done = write_done(event.stop, event.usage, len(self._calls), left)
        last = self._line({"role": "assistant", "content": "", **message}, done)
        return [self._line(calls), last] if self._calls else [last]

    def _line(self, message: JsonObject, done: Mapping[str, Any] = NOTHING) -> Frame:
        besides, self._besides = self._besides, {}
        head = {"model": self.model, "created_at": self._time, **besides, "message": message}
        return Frame(to_json({**head, **(done or {"done": False})}))


def encode_error(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and body of a refusal."""
    reply = ErrorReply(error)
    return reply.status, {"error": reply.message}


CODEC = Codec(
    name=NAME,
    path="/api/chat",
    stream_path="/api/chat",
    frames=FrameKind.NDJSON,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_stream=Decoder,
    decode_request=decode_request,
    encode_response=encode_response,
    encode_stream=LineEncoder,
    encode_error=encode_error,
    error_frame=framed(encode_error),
    turns=turn_writer,
)
