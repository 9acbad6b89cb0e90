"""Bedrock's Converse: `POST /model/{model}/converse` and `/converse-stream`, framed as an AWS event stream.

Knows the answers, whole and streamed, both ways; requests are in `converse_requests.py`.  A frame's name says
what it is.  Blocks of text begin without being announced; calls of the server's own tools are kept as they are.
Sources: Amazon Bedrock API reference (Converse, ConverseStream); wire-quirks.md ("Bedrock"); recorded answers.
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
    assemble,
)
from ...jsontext import to_json
from ...types import NOTHING, JsonObject, Opaque, Request, Response, Stop, Usage
from ..shared import strict
from ..shared.body import an_array, an_object, items, mapping, present, rest, string
from ..shared.claude_blocks import Counts, uncached
from ..shared.decoder import Block, BlockDecoder
from ..shared.encoder import Encoder, final_stop
from ..shared.errors import ErrorReply, read_failure
from ..shared.frames import Frame, FrameKind
from ..shared.issues import wire_fault
from ..shared.spec import UNSTAMPED, Codec, Ids, Stamp, extra_for, own, wire_fields
from .converse_requests import NAME, decode_request, encode_request, write_part

_STOPS: Mapping[str, Stop] = {
    "end_turn": Stop.END,
    "tool_use": Stop.TOOL_CALLS,
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "stop_sequence": Stop.STOP_SEQUENCE,
    "guardrail_intervened": Stop.FILTERED,
    "content_filtered": Stop.FILTERED,
    "malformed_model_output": Stop.ERROR,
    "malformed_tool_use": Stop.ERROR,
}
_WORDS: Mapping[Stop | None, str] = {
    None: "end_turn",
    Stop.END: "end_turn",
    Stop.PAUSE: "end_turn",
    Stop.TOOL_CALLS: "tool_use",
    Stop.LENGTH: "max_tokens",
    Stop.STOP_SEQUENCE: "stop_sequence",
    Stop.FILTERED: "content_filtered",
    Stop.REFUSED: "content_filtered",
    Stop.ERROR: "malformed_model_output",
}
_BODY = frozenset({"output", "stopReason", "usage", "metrics", "p"})
_CALL = frozenset({"toolUseId", "name", "input", "type"})
_COUNTS = Counts("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
_BESIDE = ("trace", "performanceConfig", "serviceTier")
"""What the last event says besides counts."""
_NO_METRICS: JsonObject = {"latencyMs": 0}
"""What stands for a latency nobody measured: clients demand the field."""

# ── reading ──────────────────────────────────────────────────────────────────


def decode_response(body: JsonObject, ids: Ids | None = None) -> Response:
    """The answer in `body`.  Raises `CodecError` for what is no answer."""
    body = an_object(body, "$")
    output = an_object(body.get("output"), "$.output")
    message = an_object(output.get("message"), "$.output.message")
    content = message.get("content")
    for i, block in enumerate(an_array(content if content is not None else [], "$.output.message.content")):
        an_object(block, f"$.output.message.content[{i}]")
    return assemble(_Decoder(ids).whole(body, list(content or [])))


class _Decoder(BlockDecoder):
    api = NAME
    stops = _STOPS
    plain_words = frozenset(_WORDS.values())
    unfinished = "the stream ended without a stopReason; the answer may be cut short"
    terminator = None
    noise = ("p",)

    def __init__(self, ids: Ids | None = None) -> None:
        super().__init__(ids)
        self._on: Mapping[str, Callable[[JsonObject], list[Event]]] = {
            "messageStart": lambda body: self._start(),
            "contentBlockStart": lambda body: self._begin(self._index(body), mapping(body.get("start"))),
            "contentBlockDelta": self._on_delta,
            "contentBlockStop": lambda body: self._end_block(self._index(body)),
            "messageStop": self._on_stop,
            "metadata": self._on_metadata,
        }

    def whole(self, body: JsonObject, blocks: list[Any]) -> list[Event]:
        """The events of a whole answer."""
        self._complete = True
        events = self._start()
        for i, block in enumerate(blocks):
            events += self._begin(i, block) + self._end_block(i)
        return [*events, *self._on_stop(body), *self._on_metadata(body), *self.close()]

    # ── events of the stream ─────────────────────────────────────────────────

    def _read(self, body: JsonObject, event: str) -> list[Event]:
        name = event
        if not name and len(body) == 1:  # recordings and proxies name the event inside
            name, inner = next(iter(body.items()))
            body = mapping(inner)
        if name.endswith("Exception") or (name not in self._on and "message" in body):
            raise read_failure(200, {"error": {"code": name, "message": string(body.get("message")) or name}})
        handler = self._on.get(name)
        events = handler(body) if handler else []
        if name != event:
            self._repeats = None
        return events

    def _on_stop(self, body: JsonObject) -> list[Event]:
        self._word = string(body.get("stopReason"))
        self._extra |= present(body, _BODY)
        return []

    def _on_metadata(self, body: JsonObject) -> list[Event]:
        self._over = bool(self._word)
        self._usage |= present(mapping(body.get("usage")))
        self._extra |= {key: body[key] for key in _BESIDE if body.get(key)}
        if body.get("metrics") and body["metrics"] != _NO_METRICS:
            self._extra["metrics"] = body["metrics"]
        return []

    def _on_delta(self, body: JsonObject) -> list[Event]:
        index, delta = self._index(body), mapping(body.get("delta"))
        events: list[Event] = []
        if index not in self._blocks:  # blocks of text are not announced
            begun = "reasoningContent" if "reasoningContent" in delta else "text"
            events = self._begin(index, {begun: {} if begun != "text" else ""})
        block = self._blocks[index]
        if isinstance(delta.get("text"), str):
            return self._repeat_text(events + self._fill(block, delta["text"]), "delta", "text")
        if "reasoningContent" in delta:
            return events + self._think(block, mapping(delta["reasoningContent"]))
        if "toolUse" in delta:
            return events + self._on_input(index, block, mapping(delta["toolUse"]))
        if "toolResult" in delta:
            block.pieces += items(delta["toolResult"])
        elif "citation" in delta:
            block.metadata["citations"] = [*items(block.metadata.get("citations")), delta["citation"]]
        return events

    def _on_input(self, index: int, block: Block, call: JsonObject) -> list[Event]:
        piece = string(call.get("input"))
        if block.kind == "call":
            if piece:
                self._repeat(partial(self._calls.add, index), "delta", "toolUse", "input")
            return self._calls.add(index, piece)
        block.pieces.append(piece)
        return []

    def _index(self, body: JsonObject) -> int:
        index = body.get("contentBlockIndex")
        return index if isinstance(index, int) else max(self._blocks, default=0)

    # ── blocks ───────────────────────────────────────────────────────────────

    def _begin(self, index: int, start: JsonObject) -> list[Event]:
        call = start.get("toolUse")
        if isinstance(call, Mapping) and call.get("type") != "server_tool_use":
            return self._begin_call(index, start, call)
        kind = "text" if isinstance(start.get("text"), str) else "reasoning" if "reasoningContent" in start else ""
        events = self._begin_block(index, kind, start)
        block = self._blocks[index]
        if kind == "text":
            block.metadata = rest(start, ("text",))
            return events + self._fill(block, start["text"])
        if kind == "reasoning":
            content = mapping(start["reasoningContent"])
            return events + self._think(block, {**content, **mapping(content.get("reasoningText"))})
        return events

    def _begin_call(self, index: int, start: JsonObject, call: JsonObject) -> list[Event]:
        events = self._begin_block(index, "call", start)
        left = wire_fields(NAME, rest(call, _CALL))
        events += self._calls.begin(index, string(call.get("toolUseId")), string(call.get("name")), left)
        if "input" in call:
            self._calls.assign(index, call["input"])
        return events

    def _think(self, block: Block, content: JsonObject) -> list[Event]:
        if content.get("signature"):
            block.metadata["signature"] = content["signature"]
        if content.get("redactedContent"):
            block.metadata["redacted"] = string(block.metadata.get("redacted")) + string(content["redactedContent"])
        return self._fill(block, string(content.get("text")))

    def _opaque(self, block: Block) -> list[Event]:
        """A block of the server: its pieces are the input of a call, or the content of a result."""
        if not block.pieces:
            return [PartAdded(Opaque(api=NAME, block=block.start))] if block.start else []
        key = next(iter(block.start), "toolResult")
        pieces: Any = block.pieces
        if all(isinstance(piece, str) for piece in pieces):
            try:
                pieces = strict.loads_leniently("".join(pieces) or "{}")
            except ValueError:
                return [wire_fault("the input of a server's call is not JSON; the block was left out", "".join(pieces))]
        filled = {**mapping(block.start.get(key)), "input" if key == "toolUse" else "content": pieces}
        return [PartAdded(Opaque(api=NAME, block={key: filled}))]

    def _read_usage(self) -> Usage | None:
        return read_usage(self._usage)

    def _write_usage(self, usage: Usage | None) -> JsonObject:
        return _write_usage(usage)

    def _leftover(self) -> JsonObject:
        return wire_fields(NAME, {**self._extra, "usage": self._own_usage, "stopReason": self._own_word})


def read_usage(usage: JsonObject) -> Usage | None:
    """Token counts in the words of this API; None when there are none."""
    return _COUNTS.usage(usage)


# ── writing ──────────────────────────────────────────────────────────────────


def encode_response(response: Response, stamp: Stamp = UNSTAMPED, request: Request | None = None) -> dict[str, Any]:
    """The body of a whole answer."""
    left = dict(extra_for(NAME, response.extra))
    usage, word = mapping(left.pop("usage", None)), left.pop("stopReason", None)
    content = [block for part in response.message.parts for block in write_part(part, unsigned=True)]
    return {
        "metrics": _NO_METRICS,
        **left,
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": word or _WORDS[final_stop(response.stop, len(response.calls))],
        "usage": _write_usage(response.usage, usage),
    }


def _write_usage(usage: Usage | None, left: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    if left and read_usage(left) == usage:
        return dict(left)  # as the provider counted
    known = usage or Usage()
    wire = {**left, _COUNTS.input: uncached(known), _COUNTS.output: known.output}
    wire |= {key: n for key, n in ((_COUNTS.read, known.cached), (_COUNTS.written, known.cache_written)) if n}
    return {**wire, "totalTokens": known.total}


class _Encoder(Encoder):
    """Events → frames: one block open at a time, indexes counted here.  `_open` is the block's kind, "" for none."""

    def __init__(self, stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True) -> None:
        super().__init__(stamp, request, whole_calls=whole_calls)
        self._begun = False
        self._open = ""
        self._place = -1
        self._calls = 0

    def _on_started(self, event: Started) -> list[Frame]:
        if self._begun:
            return []
        self._begun = True
        return [_frame("messageStart", role="assistant")]

    def _on_text(self, event: TextDelta) -> list[Frame]:
        if not event.text:
            return []
        return [*self._begin("text"), self._run(event, lambda text: self._delta({"text": text}))]

    def _on_reasoning(self, event: ReasoningDelta) -> list[Frame]:
        if not event.text:
            return []
        begun = self._begin("reasoning")
        return [*begun, self._run(event, lambda text: self._delta({"reasoningContent": {"text": text}}))]

    def _on_part_ended(self, event: PartEnded) -> list[Frame]:
        metadata, frames = event.metadata, list[Frame]()
        for ours, theirs in (("signature", "signature"), ("redacted", "redactedContent")):
            if metadata.get(ours) and self._open != "text":
                frames += [*self._begin("reasoning"), self._delta({"reasoningContent": {theirs: metadata[ours]}})]
        for citation in items(own(NAME, metadata).get("citations")) if self._open == "text" else ():
            frames.append(self._delta({"citation": citation}))
        return frames + self._end()

    def _on_part(self, event: PartAdded) -> list[Frame]:
        part = event.part
        if not isinstance(part, Opaque) or part.api != NAME:
            return []
        return [*self._announce("opaque", part.block), *self._end()]

    def _on_call(self, event: CallStarted) -> list[Frame]:
        self._calls += 1
        call = {"toolUseId": event.id, "name": event.name, **own(NAME, event.metadata)}
        return self._announce("toolUse", {"toolUse": call})

    def _on_delta(self, event: CallDelta) -> list[Frame]:
        return [self._delta({"toolUse": {"input": event.json}})]

    def _on_call_ended(self, event: CallEnded) -> list[Frame]:
        return self._end()

    def _finish(self, event: Ended) -> list[Frame]:
        left = extra_for(NAME, event.extra)
        word = left.get("stopReason") or _WORDS[final_stop(event.stop, self._calls)]
        usage = _write_usage(event.usage, mapping(left.get("usage")))
        metrics = left.get("metrics", _NO_METRICS)
        beside = {key: left[key] for key in _BESIDE if key in left}
        stopped = [_frame("messageStop", stopReason=word), _frame("metadata", usage=usage, metrics=metrics, **beside)]
        return [*self._on_started(Started()), *self._end(), *stopped]

    # ── blocks ───────────────────────────────────────────────────────────────

    def _begin(self, kind: str) -> list[Frame]:
        """A block that is not announced begins, unless it runs already."""
        if self._open == kind:
            return []
        frames = [*self._on_started(Started()), *self._end()]
        self._place += 1
        self._open = kind
        return frames

    def _announce(self, kind: str, start: JsonObject) -> list[Frame]:
        frames = [*self._on_started(Started()), *self._end()]
        self._place += 1
        self._open = kind
        return [*frames, _frame("contentBlockStart", start=start, contentBlockIndex=self._place)]

    def _delta(self, delta: dict[str, Any]) -> Frame:
        return _frame("contentBlockDelta", delta=delta, contentBlockIndex=self._place)

    def _end(self) -> list[Frame]:
        if not self._open:
            return []
        self._open = ""
        return [_frame("contentBlockStop", contentBlockIndex=self._place)]


def _frame(event: str, **fields: Any) -> Frame:
    return Frame(to_json(fields), event)


# ── errors ───────────────────────────────────────────────────────────────────

_EXCEPTIONS: Mapping[int, str] = {
    400: "validationException",
    401: "accessDeniedException",
    403: "accessDeniedException",
    404: "resourceNotFoundException",
    429: "throttlingException",
    503: "serviceUnavailableException",
    504: "modelTimeoutException",
}


def _exception(reply: ErrorReply) -> str:
    if reply.kind is ErrorKind.OVERLOADED:
        return "serviceUnavailableException"
    return _EXCEPTIONS.get(reply.status, "validationException" if reply.status < 500 else "internalServerException")


def encode_error(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and body of a refusal; the header `x-amzn-errortype` repeats `__type`."""
    reply = ErrorReply(error)
    return reply.status, {"__type": _exception(reply), "message": reply.message}


def error_frame(error: Exception, number: int = 0) -> Frame:
    """The frame of an error once the answer has begun."""
    reply = ErrorReply(error)
    return Frame(to_json({"message": reply.message}), _exception(reply))


CODEC = Codec(
    name=NAME,
    path="/model/{model}/converse",
    stream_path="/model/{model}/converse-stream",
    frames=FrameKind.AWS,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_stream=_Decoder,
    decode_request=decode_request,
    encode_response=encode_response,
    encode_stream=_Encoder,
    encode_error=encode_error,
    error_frame=error_frame,
)
