"""Ollama's own chat: `POST /api/chat`, newline-delimited JSON.

Knows the answers, whole and streamed, both ways; requests are in `chat_requests.py`.  Every line of a stream is
a small answer; calls come whole.
Sources: Ollama's api.md; wire-quirks.md ("Ollama's … compatibility layers"); streaming.md §4; recorded answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ...errors import CodecError
from ...events import CallDelta, CallStarted, Ended, Event, IssueReported, ReasoningDelta, Started, TextDelta, assemble
from ...jsontext import to_json
from ...types import NOTHING, JsonObject, Request, Response, Stop, ToolCall, Usage
from ..shared import strict
from ..shared.body import an_object, count, items, mapping, rest, text
from ..shared.calls import CallBook
from ..shared.encoder import Encoder, settled
from ..shared.errors import Told, raise_error, read_failure
from ..shared.frames import Frame, FrameKind
from ..shared.issues import frame_body, odd, spent
from ..shared.spec import UNSTAMPED, Codec, Ids, Stamp, StreamDecoder, StreamEncoder, carried, wished
from .chat_requests import NAME, call_fields, decode_request, encode_request, write_call

_STOPS: Mapping[str, Stop] = {"stop": Stop.END, "length": Stop.LENGTH, "load": Stop.END, "unload": Stop.END}
_BODY = frozenset(
    {"model", "created_at", "message", "response", "thinking", "done", "done_reason", "prompt_eval_count", "eval_count"}
)
_SAID = frozenset({"role", "content", "thinking", "tool_calls"})
_RUNNING = frozenset({"model", "created_at", "message", "done"})
_RUNNING_SAID = frozenset({"role", "content"})
_DURATIONS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")
_NO_TIME = "1970-01-01T00:00:00Z"

# ── reading ─────────────────────────────────────────────────────────


def decode_response(body: JsonObject, ids: Ids | None = None) -> Response:
    """The answer in `body`.  Raises `ProviderError` for an error told with status 200, `CodecError` for no answer."""
    body = an_object(body, "$")
    raise_error(body)
    if body.get("message") is None and body.get("response") is None:
        raise CodecError("the answer has no message; retry the request", "$.message", NAME)
    if body.get("message") is not None:
        an_object(body["message"], "$.message")
    return assemble(Decoder(ids).whole(body))


def decode_stream(ids: Ids | None = None) -> StreamDecoder:
    """A decoder for one streamed answer."""
    return Decoder(ids)


class Decoder:
    """Lines → events.  Every line is a whole answer so far said; calls come whole, in any line."""

    def __init__(self, ids: Ids | None) -> None:
        self._calls = CallBook(ids)
        self._started = self._closed = self._said = self._over = False
        self._word = ""
        self._counts: dict[str, Any] = {}
        self._extra: dict[str, Any] = {}
        self._message: dict[str, Any] = {}

    def feed(self, frame: Frame) -> list[Event]:
        if self._closed:
            return []
        body = frame_body(frame)
        if isinstance(body, IssueReported):
            return [body]
        said = self._goes_on(body)
        if said is not None:
            return said
        raise_error(body)
        return self._line(body)

    def _goes_on(self, body: JsonObject) -> list[Event] | None:
        """The events of a line that says nothing but more text, as nearly all do; None for any other."""
        if body.keys() != _RUNNING or body["done"] is not False or "created_at" not in self._extra:
            return None  # the first line is read to the end: it says who speaks and when
        message = body["message"]
        if type(message) is not dict or message.keys() != _RUNNING_SAID or type(message["content"]) is not str:
            return None
        if not self._calls.idle:
            return None
        said = message["content"]
        self._said = self._said or bool(said)
        return [TextDelta(said)] if said else []

    def whole(self, body: JsonObject) -> list[Event]:
        """The events of a whole answer."""
        self._over = True
        return [*self._line(body), *self.close()]

    def close(self) -> list[Event]:
        if self._closed:
            return []
        self._closed = True
        stop = _STOPS.get(self._word, Stop.END if self._over else None)
        events = self._start({}) + self._calls.finish(cut=stop in (None, Stop.LENGTH))
        if not self._over:
            events.append(odd("the stream ended without `done`; the answer may be cut short"))
        stop = settled(stop, self._calls.given)
        if stop is Stop.LENGTH and not (self._said or self._calls.any):
            events.append(spent())
        return [*events, Ended(stop, self._usage(), self._leftover())]

    def _start(self, body: JsonObject) -> list[Event]:
        if self._started:
            return []
        self._started = True
        return [Started(text(body.get("model")))]

    def _line(self, body: JsonObject) -> list[Event]:
        events = self._start(body)
        message = mapping(body.get("message"))
        thought = text(message.get("thinking")) or text(body.get("thinking"))
        said = text(message.get("content")) or text(body.get("response"))
        if thought or said:
            events += self._calls.settle()
        events += [ReasoningDelta(thought)] if thought else []
        events += [TextDelta(said)] if said else []
        self._said = self._said or bool(said)
        for call in items(message.get("tool_calls")):
            events += self._call(mapping(call))
        self._message |= {key: value for key, value in rest(message, _SAID).items() if value is not None}
        self._extra |= {key: value for key, value in rest(body, _BODY).items() if value not in (None, 0)}
        self._counts |= {key: body[key] for key in ("prompt_eval_count", "eval_count") if body.get(key) is not None}
        if body.get("created_at") not in (None, _NO_TIME):
            self._extra.setdefault("created_at", body["created_at"])
        if body.get("done") is True:
            self._over = True
            self._word = text(body.get("done_reason"))
        return events

    def _call(self, call: JsonObject) -> list[Event]:
        function = mapping(call.get("function"))
        if not function:
            return [odd("a tool call is no object with a function; it was passed over", dict(call))]
        name, arguments = text(function.get("name")), function.get("arguments")
        return self._calls.whole(text(call.get("id")), name, arguments, call_fields(call, function))

    def _usage(self) -> Usage | None:
        if not self._counts:
            return None
        return Usage(input=count(self._counts.get("prompt_eval_count")), output=count(self._counts.get("eval_count")))

    def _leftover(self) -> JsonObject:
        word = self._word if self._word and self._word not in ("stop", "length") else None
        return carried(NAME, {**self._extra, "done_reason": word, "message": self._message or None})


# ── writing ─────────────────────────────────────────────────────────


def encode_response(response: Response, stamp: Stamp = UNSTAMPED, request: Request | None = None) -> dict[str, Any]:
    """The body of a whole answer."""
    left = dict(wished(NAME, response.extra))
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
    reason = "length" if settled(stop, calls) is Stop.LENGTH else "stop"
    wire: dict[str, Any] = {"done": True, "done_reason": reason, **dict.fromkeys(_DURATIONS, 0), **left}
    if usage is not None:
        wire |= {"prompt_eval_count": usage.input, "eval_count": usage.output}
    return wire


def encode_stream(
    stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True
) -> StreamEncoder:
    """An encoder for one streamed answer."""
    return LineEncoder(stamp)


class LineEncoder(Encoder):
    """Events → lines.  Arguments are objects here, so calls are always whole; all of them stand in one line, before the
    last (clients give calls of separate lines the same place)."""

    def __init__(self, stamp: Stamp) -> None:
        super().__init__(whole_calls=True)
        self.stamp = stamp
        self.model = stamp.model
        self._calls: list[dict[str, Any]] = []
        self._called: CallStarted | None = None

    def _on_started(self, event: Started) -> list[Frame]:
        self.model = self.model or event.model
        return []

    def _on_text(self, event: TextDelta) -> list[Frame]:
        return [self._run(event, self._text)] if event.text else []

    def _on_reasoning(self, event: ReasoningDelta) -> list[Frame]:
        return [self._run(event, self._thought)] if event.text else []

    def _text(self, said: str) -> Frame:
        return self._line({"role": "assistant", "content": said})

    def _thought(self, said: str) -> Frame:
        return self._line({"role": "assistant", "content": "", "thinking": said})

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
        left = {key: value for key, value in wished(NAME, event.extra).items() if key not in ("message", "created_at")}
        done = write_done(event.stop, event.usage, len(self._calls), left)
        last = self._line({"role": "assistant", "content": ""}, done)
        return [self._line(calls), last] if self._calls else [last]

    def _line(self, message: JsonObject, done: Mapping[str, Any] = NOTHING) -> Frame:
        head = {"model": self.model, "created_at": clock(self.stamp), "message": message}
        return Frame(to_json({**head, **(done or {"done": False})}))


def encode_error(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and body of a refusal."""
    told = Told(error)
    return told.status, {"error": told.message}


def error_frame(error: Exception) -> Frame:
    """The line that tells an error once the answer has begun."""
    return Frame(to_json(encode_error(error)[1]))


CODEC = Codec(
    name=NAME,
    path="/api/chat",
    stream_path="/api/chat",
    frames=FrameKind.NDJSON,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_stream=decode_stream,
    decode_error=read_failure,
    decode_request=decode_request,
    encode_response=encode_response,
    encode_stream=encode_stream,
    encode_error=encode_error,
    error_frame=error_frame,
)
