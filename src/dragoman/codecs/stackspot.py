"""StackSpot's agent chat: `POST /v1/agent/{agent}/chat`.  One prompt in, one text out; no roles, no tools.

Knows the prompt, the answer and its stream.  The model's name is the agent's id and stands in the path; instructions
and the conversation go out as one transcript.
Sources: StackSpot AI documentation ("Agents API"); seeds.md (b) "StackSpot"; public clients' records of the stream
(deltas hold `message`, the last event holds `stop_reason`, `message_id` and `tokens`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import CodecError
from ..events import Ended, Event, Started, TextDelta, assemble
from ..jsontext import to_json
from ..types import NOTHING, JsonObject, Message, Request, Response, Stop, Usage
from .shared.body import an_object, count, mapping, present, rest, string, string_at, switch_at
from .shared.decoder import AnswerDecoder
from .shared.encoder import Encoder
from .shared.errors import ErrorReply, raise_error
from .shared.frames import Frame, FrameKind
from .shared.requests import with_quirks
from .shared.spec import (
    PLAIN,
    UNSTAMPED,
    Codec,
    Ids,
    Quirks,
    Stamp,
    WireFields,
    extra_for,
    wire_fields,
)
from .shared.transcript import instructions, transcript

NAME = "stackspot"

_STOPS: Mapping[str, Stop] = {
    "stop": Stop.END,
    "length": Stop.LENGTH,
    "max_tokens": Stop.LENGTH,
    "content_filter": Stop.FILTERED,
}
_WORDS: Mapping[Stop | None, str] = {Stop.LENGTH: "length", Stop.FILTERED: "content_filter"}
_BODY = frozenset({"message", "message_id", "stop_reason", "tokens"})
_DEFAULTS = {"stackspot_knowledge": False, "return_ks_in_response": False}


def encode_request(request: Request, quirks: Quirks = PLAIN) -> dict[str, Any]:
    """The body that makes `request`; tools and sampling are the agent's own affair."""
    system, turns = instructions(request.messages)
    prompt = "\n\n".join(filter(None, (system, transcript(turns))))
    body = {"user_prompt": prompt, "streaming": request.stream, **_DEFAULTS}
    return with_quirks(body, extra_for(NAME, request.extra), quirks)


def decode_request(body: JsonObject) -> Request:
    """The request `body` makes, without the agent, which stands in the path."""
    body = an_object(body, "$")
    extra = {key: value for key, value in body.items() if value is not None and _DEFAULTS.get(key) != value}
    prompt, stream = string_at(extra, "user_prompt"), switch_at(extra, "streaming") or False
    left = rest(extra, frozenset({"user_prompt", "streaming"}))
    return Request(
        model="",
        messages=(Message("user", prompt),) if prompt else (),
        stream=stream,
        extra=WireFields(NAME, left) if left else NOTHING,
    )


def decode_response(body: JsonObject, ids: Ids | None = None) -> Response:
    """The answer in `body`.  Raises `ProviderError` for an error with status 200, `CodecError` for no answer."""
    body = an_object(body, "$")
    raise_error(body)
    if not isinstance(body.get("message"), str):
        raise CodecError("the answer has no message; retry the request", "$.message", NAME)
    return assemble(_Decoder(ids).whole(body))


class _Decoder(AnswerDecoder):
    api = NAME
    stops = _STOPS
    unfinished = "the stream ended without a stop_reason; the answer may be cut short"

    def __init__(self, ids: Ids | None = None) -> None:
        super().__init__(ids)
        self._answered = True  # be it with nothing: there is no limit here that could be raised

    def whole(self, body: JsonObject) -> list[Event]:
        """The events of a whole answer."""
        self._complete = True
        return [*self._read(body, ""), *self.close()]

    def _read(self, body: JsonObject, event: str) -> list[Event]:
        raise_error(body, event)
        self._word = string(body.get("stop_reason")) or self._word
        self._usage = dict(mapping(body.get("tokens"))) or self._usage
        self._extra |= {key: value for key, value in rest(body, _BODY).items() if value not in (None, [], {})}
        events = self._start("", string(body.get("message_id"))) + self._emit_text(string(body.get("message")))
        return self._repeat_text(events, "message")

    def _read_usage(self) -> Usage | None:
        return _read_usage(self._usage)

    def _leftover(self) -> JsonObject:
        return wire_fields(NAME, self._extra)


def _read_usage(tokens: JsonObject) -> Usage | None:
    """Counts: the prompt's are `input`, or `user` and what the platform added to it."""
    if not any(value is not None for value in tokens.values()):
        return None
    given = count(tokens.get("input")) or count(tokens.get("user")) + count(tokens.get("enrichment"))
    return Usage(input=given, output=count(tokens.get("output")))


def encode_response(response: Response, stamp: Stamp = UNSTAMPED, request: Request | None = None) -> dict[str, Any]:
    """The body of a whole answer."""
    left = extra_for(NAME, response.extra)
    ending = _ending(stamp.id or response.id, response.stop, response.usage)
    return {**left, "message": response.text, **ending}


def _ending(message_id: str, stop: Stop | None, usage: Usage | None) -> dict[str, Any]:
    tokens = {"input": usage.input, "output": usage.output} if usage is not None else None
    wire = {"stop_reason": _WORDS.get(stop, "stop"), "message_id": message_id, "tokens": tokens}
    return present(wire)


class _Encoder(Encoder):
    def __init__(self, stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True) -> None:
        super().__init__(stamp, request, whole_calls=True)
        self._id = stamp.id

    def _on_started(self, event: Started) -> list[Frame]:
        self._id = self._id or event.id
        return [Frame(to_json({"message": "", "message_id": self._id}))]

    def _on_text(self, event: TextDelta) -> list[Frame]:
        return [self._run(event, lambda text: Frame(to_json({"message": text})))] if event.text else []

    def _finish(self, event: Ended) -> list[Frame]:
        left = extra_for(NAME, event.extra)
        return [Frame(to_json({**left, "message": "", **_ending(self._id, event.stop, event.usage)}))]


def encode_error(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and body of a refusal."""
    reply = ErrorReply(error)
    return reply.status, {"code": reply.code or reply.kind.value, "message": reply.message}


def error_frame(error: Exception, number: int = 0) -> Frame:
    """The frame of an error once the answer has begun."""
    return Frame(to_json({"error": encode_error(error)[1]}))


CODEC = Codec(
    name=NAME,
    path="/v1/agent/{model}/chat",
    stream_path="/v1/agent/{model}/chat",
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
