"""Anthropic Messages: `POST /v1/messages`.

Knows the answers, whole and streamed, both ways; requests are in `messages_requests.py`.  A whole answer is
read block by block as if each came in one piece.  Blocks of the server's own tools are kept as they are: they are not
calls for the client.
Sources: Anthropic API reference; wire-quirks.md ("Anthropic", "core -> Anthropic"); streaming.md §3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    WireEvent,
    assemble,
)
from ...jsontext import to_json
from ...types import NOTHING, JsonObject, Opaque, Request, Response, Usage
from ..shared import strict
from ..shared.body import an_array, an_object, counts, items, mapping, present, rest, string
from ..shared.decoder import Block, BlockDecoder
from ..shared.encoder import Encoder, final_stop
from ..shared.errors import ErrorReply, framed, raise_error, read_failure
from ..shared.frames import Frame, FrameKind
from ..shared.issues import wire_fault
from ..shared.spec import UNSTAMPED, Codec, Ids, Stamp, extra_for, own, seal_of, wire_fields
from .messages_blocks import NAME, write_part
from .messages_plain import BODY, CALL, PLAIN_WORDS, plain_answer
from .messages_requests import TurnsWriter, decode_request, encode_request
from .messages_words import STOPS, WORDS, read_usage, write_usage
from .toolsets import members_of

_BLOCKS = {"text": "text", "thinking": "reasoning", "redacted_thinking": "reasoning", "tool_use": "call"}
_ENDING = ("usage", "stop_reason", "stop_sequence", "message_stop")
_BESIDE_DELTA = ("context_management", "input_transformations")
"""Fields of a whole answer that a stream's last event holds beside its delta."""
_PIECES = frozenset({"text_delta", "thinking_delta"})
_STREAMED_INPUT = ("server_tool_use", "mcp_tool_use")
_FILLED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "compaction": ("compaction_delta", ("content", "encrypted_content")),
}
"""Blocks that begin without their content: the delta that brings it, and its fields (anthropic 2.12, streaming)."""

# ── reading ──────────────────────────────────────────────────────────────────


def decode_response(body: JsonObject, ids: Ids | None = None) -> Response:
    """The answer in `body`.  Raises `ProviderError` for an error with status 200, `CodecError` for no answer."""
    if type(body) is dict and (plain := plain_answer(body)) is not None:
        return plain
    body = an_object(body, "$")
    raise_error(body)
    content = body.get("content")
    if content is None and "stop_reason" not in body:
        an_array(content, "$.content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for i, block in enumerate(an_array(blocks if blocks is not None else [], "$.content")):
        an_object(block, f"$.content[{i}]")
    return assemble(_Decoder(ids).whole(body, blocks or []))


class _Decoder(BlockDecoder):
    api = NAME
    stops = STOPS
    plain_words = PLAIN_WORDS
    unfinished = "the stream ended without saying why; the answer may be cut short"
    terminator = None

    def __init__(self, ids: Ids | None = None) -> None:
        super().__init__(ids)
        self._current = 0
        self._on: Mapping[str, Callable[[JsonObject], list[Event]]] = {
            "message_start": lambda body: self._begin_message(mapping(body.get("message"))),
            "content_block_start": lambda body: self._begin(self._index(body), mapping(body.get("content_block"))),
            "content_block_delta": self._on_delta,
            "content_block_stop": lambda body: self._end_block(self._index(body)),
            "message_delta": self._on_message_delta,
            "message_stop": self._on_message_stop,
        }

    def whole(self, body: JsonObject, blocks: list[Any]) -> list[Event]:
        """The events of a whole answer."""
        self._complete = True
        events = self._begin_message(body)
        for i, block in enumerate(blocks):
            events += self._begin(i, block) + self._end_block(i)
        self._word = string(body.get("stop_reason"))
        return [*events, *self.close()]

    # ── events of the stream ─────────────────────────────────────────────────

    def _read(self, body: JsonObject, event: str) -> list[Event]:
        if body.get("type") == "error" or event == "error" or body.get("error"):
            raise read_failure(200, body)
        kind = string(body.get("type")) or event
        handler = self._on.get(kind)
        if handler is None and self._started:  # pings, and events invented after us
            return [self._beside(kind, rest(body, ("type",)))]
        return handler(body) if handler else []

    def _begin_message(self, message: JsonObject) -> list[Event]:
        self._extra |= present(message, BODY)
        self._usage |= present(mapping(message.get("usage")))
        extra = {**self._extra, "usage": counts(self._usage) or None}
        return self._start(string(message.get("model")), string(message.get("id")), extra)

    def _on_message_delta(self, body: JsonObject) -> list[Event]:
        delta = mapping(body.get("delta"))
        self._word = string(delta.get("stop_reason")) or self._word
        self._extra |= present({**rest(delta, BODY), **rest(body, ("type", "delta", "usage"))})
        self._usage |= present(mapping(body.get("usage")))
        return []

    def _on_message_stop(self, body: JsonObject) -> list[Event]:
        self._complete = True
        self._extra |= {"message_stop": rest(body, ("type",)) or None}  # Bedrock's metrics
        return self.close()

    def _on_delta(self, body: JsonObject) -> list[Event]:
        index, delta = self._index(body), mapping(body.get("delta"))
        what = string(delta.get("type"))
        events: list[Event] = []
        if index not in self._blocks:  # a delta without its start: only text says what it is
            events += self._begin(index, {"type": "thinking" if what == "thinking_delta" else "text"})
        block = self._blocks[index]
        match what:
            case "text_delta" | "thinking_delta":
                key = what.removesuffix("_delta")
                if rest(delta, ("type", key)):
                    events.append(self._beside(what, delta))
                    return events + self._fill(block, string(delta.get(key)))
                events += self._fill(block, string(delta.get(key)))
                self._repeat_text(events, "delta", key)
            case "signature_delta":
                block.metadata["signature"] = string(delta.get("signature"))
            case "citations_delta":
                block.metadata["citations"] = [*items(block.metadata.get("citations")), delta.get("citation")]
            case "input_json_delta" if block.kind == "call":
                events += self._calls.add(index, string(delta.get("partial_json")))
                self._repeat(partial(self._calls.add, index), "delta", "partial_json")
            case "input_json_delta":
                block.pieces.append(string(delta.get("partial_json")))
            case _ if not block.kind:  # a block of this API alone, filled by deltas of its own
                block.start = {**block.start, **rest(delta, ("type",))}
        return events

    def _index(self, body: JsonObject) -> int:
        index = body.get("index")
        return index if isinstance(index, int) else self._current

    # ── blocks ───────────────────────────────────────────────────────────────

    def _begin(self, index: int, start: JsonObject) -> list[Event]:
        kind = string(start.get("type"))
        events = self._begin_block(index, _BLOCKS.get(kind, ""), start)
        self._current = index
        block = self._blocks[index]
        match kind:
            case "text" | "thinking":
                block.metadata = rest(start, ("type", kind))
                events += self._fill(block, string(start.get(kind)))
            case "redacted_thinking":
                block.metadata = {"redacted": string(start.get("data"))}
            case "tool_use":
                left = wire_fields(NAME, rest(start, CALL))
                events += self._calls.begin(index, string(start.get("id")), string(start.get("name")), left)
                if start.get("input") not in (None, {}):
                    self._calls.assign(index, start["input"])  # whole at the start (programmatic calling)
        return events

    def _end_part(self, block: Block) -> list[Event]:
        block.metadata = {key: value for key, value in block.metadata.items() if value not in ("", [])}
        return super()._end_part(block)

    def _opaque(self, block: Block) -> list[Event]:
        written = "".join(block.pieces)
        if not written.strip():
            return [PartAdded(Opaque(api=NAME, block=block.start))]
        try:
            given = strict.loads_leniently(written)
        except ValueError:
            kind = string(block.start.get("type"))
            return [wire_fault(f"the input of a {kind} block is not JSON; the block was left out", written)]
        return [PartAdded(Opaque(api=NAME, block={**block.start, "input": given}))]

    def _read_usage(self) -> Usage | None:
        return read_usage(self._usage)

    def _write_usage(self, usage: Usage | None) -> JsonObject:
        return write_usage(usage)

    def _leftover(self) -> JsonObject:
        return wire_fields(NAME, {**self._extra, "usage": self._own_usage, "stop_reason": self._own_word})


# ── writing ──────────────────────────────────────────────────────────────────


def encode_response(response: Response, stamp: Stamp = UNSTAMPED, request: Request | None = None) -> dict[str, Any]:
    """The body of a whole answer."""
    left = rest(extra_for(NAME, response.extra), ("message_stop",))
    usage, word = mapping(left.pop("usage", None)), left.pop("stop_reason", None)
    members = members_of(request)
    content = [block for part in response.message.parts for block in write_part(part, unsigned=True)]
    return {
        "id": stamp.id or response.id,
        "type": "message",
        "role": "assistant",
        "model": stamp.model or response.model,
        "content": [{**block, **members.get(block.get("name", ""), {})} for block in content] if members else content,
        "stop_reason": word or WORDS[final_stop(response.stop, len(response.calls))],
        "stop_sequence": None,
        "usage": write_usage(response.usage, usage),
        **left,
    }


class _Encoder(Encoder):
    """Events → frames: one block open at a time, indexes counted here.  `_open` is the block's kind, "" for none."""

    def __init__(self, stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True) -> None:
        super().__init__(stamp, request, whole_calls=whole_calls)
        self._members = members_of(request)
        self._begun = False
        self._open = ""
        self._place = -1
        self._calls = 0
        self._told: JsonObject = NOTHING  # what the first event said of the whole answer
        self._besides: JsonObject = NOTHING  # what the next delta says beside its piece

    def _on_started(self, event: Started) -> list[Frame]:
        if self._begun:
            return []
        self._begun = True
        message: dict[str, Any] = {
            "id": self._stamp.id or event.id,
            "type": "message",
            "role": "assistant",
            "model": self._stamp.model or event.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            **own(NAME, event.extra),
        }
        self._told = own(NAME, event.extra)
        message["usage"] = {**write_usage(None), **mapping(self._told.get("usage"))}  # clients count on its fields
        return [_frame("message_start", message=message)]

    def _on_text(self, event: TextDelta) -> list[Frame]:
        if not event.text:
            return []
        begun = self._begin("text", {"type": "text", "text": ""})
        return [*begun, self._piece(event, "text")]

    def _on_reasoning(self, event: ReasoningDelta) -> list[Frame]:
        if not event.text:
            return []
        return [*self._think(), self._piece(event, "thinking")]

    def _piece(self, event: TextDelta | ReasoningDelta, key: str) -> Frame:
        besides, self._besides = self._besides, NOTHING
        if besides:
            return self._delta({**besides, key: event.text})
        return self._run(event, lambda text: self._delta({"type": f"{key}_delta", key: text}))

    def _on_wire_event(self, event: WireEvent) -> list[Frame]:
        if event.api != NAME:
            return []
        if event.name not in _PIECES:
            place = {"index": self._place} if "index" in event.fields else {}
            return [_frame(event.name, **{**event.fields, **place})]
        if any(event.fields.get(key) for key in ("text", "thinking")):
            self._besides = event.fields
            return []
        return [*self._think(), self._delta(dict(event.fields))] if event.name == "thinking_delta" else []

    def _think(self) -> list[Frame]:
        return self._begin("thinking", {"type": "thinking", "thinking": "", "signature": ""})

    def _on_part_ended(self, event: PartEnded) -> list[Frame]:
        metadata = event.metadata
        seal = seal_of(metadata)
        if "redacted" in metadata or (seal and self._open != "thinking"):
            return self._add({"type": "redacted_thinking", "data": seal or metadata["redacted"]})
        if self._open == "text":
            cited = items(own(NAME, metadata).get("citations"))
            return [*(self._delta({"type": "citations_delta", "citation": one}) for one in cited), *self._end()]
        if self._open == "thinking" or metadata.get("signature"):
            return self._think() + self._end(seal or string(metadata.get("signature")))
        return []

    def _on_part(self, event: PartAdded) -> list[Frame]:
        part = event.part
        if not isinstance(part, Opaque) or part.api != NAME:
            return []
        kind = string(part.block.get("type"))
        if kind in _FILLED:
            what, fields = _FILLED[kind]
            begun = self._begin("", {**part.block, **dict.fromkeys(fields)})
            return [*begun, self._delta({"type": what, **{key: part.block.get(key) for key in fields}}), *self._end()]
        if kind not in _STREAMED_INPUT:
            return self._add(part.block)
        begun = self._begin("", {**part.block, "input": {}})
        given = self._delta({"type": "input_json_delta", "partial_json": to_json(part.block.get("input") or {})})
        return [*begun, given, *self._end()]

    def _on_call(self, event: CallStarted) -> list[Frame]:
        self._calls += 1
        member = self._members.get(event.name, {})
        block = {"type": "tool_use", "id": event.id, "name": event.name, "input": {}, **member}
        block |= own(NAME, event.metadata)
        return self._begin("tool_use", block)

    def _on_delta(self, event: CallDelta) -> list[Frame]:
        return [self._delta({"type": "input_json_delta", "partial_json": event.json})]

    def _on_call_ended(self, event: CallEnded) -> list[Frame]:
        return self._end()

    def _finish(self, event: Ended) -> list[Frame]:
        left = extra_for(NAME, event.extra)
        word = left.get("stop_reason") or WORDS[final_stop(event.stop, self._calls)]
        delta = {"stop_reason": word, "stop_sequence": left.get("stop_sequence")}
        fields = {key: one for key, one in rest(left, _ENDING).items() if self._told.get(key) != one}
        beside = {key: fields.pop(key) for key in _BESIDE_DELTA if key in fields}
        usage = write_usage(event.usage, mapping(left.get("usage")))
        stop = _frame("message_stop", **mapping(left.get("message_stop")))
        last = [_frame("message_delta", delta={**delta, **fields}, **beside, usage=usage), stop]
        return [*self._on_started(Started()), *self._end(), *last]

    # ── blocks ───────────────────────────────────────────────────────────────

    def _begin(self, kind_: str, block: Mapping[str, Any]) -> list[Frame]:
        if kind_ and self._open == kind_ and kind_ != "tool_use":
            return []
        frames = [*self._on_started(Started()), *self._end()]
        self._place += 1
        self._open = kind_ or "other"
        return [*frames, _frame("content_block_start", index=self._place, content_block=block)]

    def _delta(self, delta: dict[str, Any]) -> Frame:
        return _frame("content_block_delta", index=self._place, delta=delta)

    def _end(self, signature: str = "") -> list[Frame]:
        """End the open block.  Thinking is signed, be it with nothing: clients wait for it (wire-quirks.md §2)."""
        if not self._open:
            return []
        signed = {"type": "signature_delta", "signature": signature}
        frames = [self._delta(signed)] if self._open == "thinking" else []
        self._open = ""
        return [*frames, _frame("content_block_stop", index=self._place)]

    def _add(self, block: Mapping[str, Any]) -> list[Frame]:
        return self._begin("", block) + self._end()


def _frame(event: str, **fields: Any) -> Frame:
    return Frame(to_json({"type": event, **fields}), event)


# ── errors ───────────────────────────────────────────────────────────────────

_ERROR_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_OVERLOADED = 529


def encode_error(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and body of a refusal."""
    reply = ErrorReply(error)
    status = _OVERLOADED if reply.kind is ErrorKind.OVERLOADED else reply.status
    what = _ERROR_TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
    body: dict[str, Any] = {"type": what, "message": reply.with_overflow("prompt is too long")}
    if reply.details:
        body["details"] = dict(reply.details)
    return status, {"type": "error", "error": body}


CODEC = Codec(
    name=NAME,
    path="/v1/messages",
    stream_path="/v1/messages",
    frames=FrameKind.SSE,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_stream=_Decoder,
    decode_request=decode_request,
    encode_response=encode_response,
    encode_stream=_Encoder,
    encode_error=encode_error,
    error_frame=framed(encode_error, "error"),
    turns=TurnsWriter,
)
