"""Gemini's generateContent: `POST /models/{model}:generateContent` and `:streamGenerateContent?alt=sse`.

Knows the answers, whole and streamed, both ways; requests are in `generate_requests.py`.  A chunk is a small answer;
parts of one kind that follow each other are one.
Sources: Gemini API reference; streaming.md §5; wire-quirks.md ("Gemini"); recorded answers of two services.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...errors import CodecError, ErrorKind
from ...events import (
    CallDelta,
    CallStarted,
    Ended,
    Event,
    IssueReported,
    PartAdded,
    PartEnded,
    ReasoningDelta,
    Started,
    TextDelta,
    assemble,
)
from ...jsontext import dumps, to_json
from ...types import NOTHING, Issue, IssueKind, JsonObject, Opaque, Request, Response, Stop, ToolCall, Usage
from ..shared import strict
from ..shared.body import an_array, an_object, items, mapping, present, rest, string
from ..shared.decoder import RunDecoder
from ..shared.encoder import Encoder, final_stop
from ..shared.errors import ErrorReply, framed, raise_error
from ..shared.frames import Frame, FrameKind
from ..shared.issues import OTHER_ANSWERS, unsupported, wire_fault
from ..shared.spec import UNSTAMPED, Codec, Ids, Stamp, extra_for, own, seal_of, wire_fields
from .generate_contents import (
    NAME,
    SIGNATURE,
    ContentWriter,
    beside_content,
    camel,
    read_media,
    write_media,
    write_parts,
)
from .generate_plain import BODY, CANDIDATE, PLAIN_WORDS, plain_answer
from .generate_requests import decode_request, encode_request
from .generate_words import NUMBERED, STOPS, WORDS, read_usage, write_usage

_TEXT = frozenset({"text", "thought"})
_CALL = frozenset({"id", "name", "args", "partialArgs", "willContinue"})
_PART = frozenset({"functionCall", "thoughtSignature"})
_SAID = frozenset({"text", "thought", "thoughtSignature", "inlineData", "fileData"})
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]")
ENVELOPE = "response"
"""Field of Code Assist's answers that holds the answer of this API (gemini-cli, `code_assist/converter.ts`)."""
_MAX_INDEX = 10_000
"""A larger array index in a path is taken for damage, not for data."""

# ── reading ──────────────────────────────────────────────────────────────────


def decode_response(body: JsonObject, ids: Ids | None = None) -> Response:
    """The answer in `body`.  Raises `ProviderError` for an error with status 200, `CodecError` for no answer."""
    body = _unwrapped(an_object(body, "$"))
    if type(body) is dict and (plain := plain_answer(body, ids)) is not None:
        return plain
    raise_error(body)
    candidates = body.get("candidates")
    if candidates is None and body.get("promptFeedback") is None:
        raise CodecError("the answer has no candidates; retry the request", "$.candidates", NAME)
    for i, candidate in enumerate(an_array(candidates if candidates is not None else [], "$.candidates")):
        an_object(candidate, f"$.candidates[{i}]")
    return assemble(_Decoder(ids).whole(body))


class _Decoder(RunDecoder):
    """Chunks → events.  Runs: "text", "thought".  `_partial` is an unfinished call."""

    api = NAME
    stops = STOPS
    plain_words = PLAIN_WORDS
    unfinished = "the stream ended without a finishReason; the answer may be cut short"
    noise = ("usageMetadata",)

    def __init__(self, ids: Ids | None = None) -> None:
        super().__init__(ids)
        self._others = False
        self._candidate: dict[str, Any] = {}
        self._partial: dict[str, Any] | None = None
        self._key = 0

    def whole(self, body: JsonObject) -> list[Event]:
        """The events of a whole answer."""
        self._complete = True
        return [*self._chunk(body), *self.close()]

    def _read(self, body: JsonObject, event: str) -> list[Event]:
        answer = _unwrapped(body)
        raise_error(answer, event)
        events = self._chunk(answer)
        if _is_one_text(answer):
            around = () if answer is body else (ENVELOPE,)
            self._repeat_text(events, *around, "candidates", 0, "content", "parts", 0, "text")
        return events

    def _read_noise(self, body: JsonObject) -> None:
        self._usage |= present(mapping(body.get("usageMetadata")))

    def _is_blocked(self) -> bool:
        return not self._word and bool(mapping(self._extra.get("promptFeedback")).get("blockReason"))

    def _is_complete(self) -> bool:
        return super()._is_complete() or self._is_blocked()

    def _stop(self) -> Stop | None:
        return Stop.FILTERED if self._is_blocked() else super()._stop()

    def _faults(self) -> list[Event]:
        malformed = self._word == "MALFORMED_FUNCTION_CALL"
        found = [_malformed(string(self._candidate.get("finishMessage")))] if malformed else []
        return [*super()._faults(), *found]

    def _chunk(self, body: JsonObject) -> list[Event]:
        """The events of one chunk; a whole answer is one."""
        self._extra |= present(body, BODY)
        events = self._start(string(body.get("modelVersion")), string(body.get("responseId")), self._extra)
        self._read_noise(body)
        for place, candidate in enumerate(items(body.get("candidates"))):
            if not isinstance(candidate, Mapping):
                events.append(wire_fault("a candidate is no object; it was passed over", candidate))
            elif (candidate.get("index") or place) in (0, None):
                events += self._choose(candidate)
            elif not self._others:
                self._others = True
                message = "the answer has several candidates; only the first is read"
                events.append(unsupported(message, candidate, OTHER_ANSWERS))
        return events

    def _choose(self, candidate: JsonObject) -> list[Event]:
        self._candidate |= present(candidate, CANDIDATE)
        if isinstance(word := candidate.get("finishReason"), str | int):
            self._word = NUMBERED.get(str(word), str(word))
        parts = items(mapping(candidate.get("content")).get("parts"))
        return [event for part in parts for event in self._part(camel(mapping(part)))]

    def _part(self, part: JsonObject) -> list[Event]:
        signature = string(part.get("thoughtSignature"))
        if isinstance(part.get("functionCall"), Mapping):
            return self._end_run() + self._call(part, camel(part["functionCall"]))
        if isinstance(part.get("text"), str):
            run, left = "thought" if part.get("thought") is True else "text", rest(part, _SAID)
            return self._emit_part(run, part["text"], {**left, **({SIGNATURE: signature} if signature else {})})
        media = read_media(part, wire_fields(NAME, {**rest(part, _SAID), SIGNATURE: signature or None}))
        events = self._end_run() + self._calls.end_complete()
        return events + self._add_part(media or Opaque(api=NAME, block=part))

    def _emit_part(self, run: str, piece: str, metadata: JsonObject) -> list[Event]:
        if not piece and not metadata:
            return []
        events = self._continue_run(run, piece)
        if not metadata:
            return events
        self._metadata |= metadata
        return events + self._end_run()

    def _begin_run(self, run: str) -> list[Event]:
        return self._end_partial(cut=False) + super()._begin_run(run)

    def _end_open(self, *, cut: bool) -> list[Event]:
        return self._end_run() + self._end_partial(cut=cut)

    # ── calls ────────────────────────────────────────────────────────────────

    def _call(self, part: JsonObject, call: JsonObject) -> list[Event]:
        """A call, whole or the next piece of one: pieces after the first have no name."""
        name, unfinished = string(call.get("name")), call.get("willContinue") is True
        events: list[Event] = []
        if name or self._partial is None:
            events = self._end_partial(cut=False)
            signature = string(part.get("thoughtSignature")) or None
            fields = {**rest(part, _PART), SIGNATURE: signature, "call": rest(call, _CALL) or None}
            call_id, left = string(call.get("id")), wire_fields(NAME, fields)
            if not unfinished and "partialArgs" not in call:
                return events + self._calls.whole(call_id, name, call.get("args"), left)
            self._key += 1
            events += self._calls.begin(self._key, call_id, name, left)
            self._partial = dict(mapping(call.get("args")))
        for piece in items(call.get("partialArgs")):
            events += self._fill(mapping(piece))
        return events if unfinished else events + self._end_partial(cut=False)

    def _fill(self, piece: JsonObject) -> list[Event]:
        """Put a piece of an argument where its path says; pieces of one string add up."""
        key = next((key for key in _VALUES if key in piece), None)
        path = _steps(string(piece.get("jsonPath")))
        value = None if key in (None, "nullValue") else piece[key]
        if not path or self._partial is None or not _put(self._partial, path, value):
            return [wire_fault("a piece of an argument has no place; it was passed over", dict(piece))]
        return []

    def _end_partial(self, *, cut: bool) -> list[Event]:
        given, self._partial = self._partial, None
        if given is None:
            return []
        if cut:  # what is there of the arguments is not all of them
            return self._calls.add(self._key, dumps(given)[:-1])
        self._calls.assign(self._key, given)
        return self._calls.end(self._key)

    def _read_usage(self) -> Usage | None:
        return read_usage(self._usage)

    def _write_usage(self, usage: Usage | None) -> JsonObject:
        return mapping(write_usage(usage).get("usageMetadata"))

    def _leftover(self) -> JsonObject:
        candidate = {**self._candidate, **({"finishReason": self._own_word} if self._own_word else {})}
        return wire_fields(NAME, {**self._extra, "usageMetadata": self._own_usage, "candidate": candidate or None})


def _unwrapped(body: JsonObject) -> JsonObject:
    """The answer in `body`: Code Assist, which Gemini CLI asks for who signed in, has it in an envelope."""
    inner = body.get(ENVELOPE)
    return inner if isinstance(inner, Mapping) and "candidates" not in body else body


def _is_one_text(body: JsonObject) -> bool:
    """Does this chunk hold one part only, and that a text without a signature?"""
    candidates = items(body.get("candidates"))
    parts = items(mapping(mapping(candidates[0]).get("content")).get("parts")) if len(candidates) == 1 else ()
    return len(parts) == 1 and _TEXT.issuperset(mapping(parts[0]))


def _steps(path: str) -> list[str | int]:
    """The steps of `$.items[0]['a b']`; none where the path is not one."""
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        found = _STEP.match(path, at)
        if not found:
            return []
        steps.append(int(found[2]) if found[2] and len(found[2]) < 9 else found[1] or found[3] or found[4] or "")
        at = found.end()
    return steps if path.startswith("$") else []


def _put(root: dict[str, Any], path: list[str | int], value: Any) -> bool:
    """Put `value` at `path`, making what is missing on the way; a string is added to a string that stands there."""
    inside: Any = root
    for step, then in zip(path, [*path[1:], None], strict=True):
        if not _makes_room(inside, step):
            return False
        there = inside[step]
        if then is not None:
            inside[step] = there if there is not None else [] if isinstance(then, int) else {}
        else:
            inside[step] = there + value if isinstance(there, str) and isinstance(value, str) else value
        inside = inside[step]
    return True


def _makes_room(inside: Any, step: str | int) -> bool:
    """Has `inside` a place for `step`?  It is made, with null in it, where it was not there."""
    if isinstance(inside, dict) and isinstance(step, str):
        inside.setdefault(step, None)
        return True
    if not isinstance(inside, list) or not isinstance(step, int) or step > _MAX_INDEX:
        return False
    inside += [None] * (step + 1 - len(inside))
    return True


def _malformed(message: str) -> IssueReported:
    reason = message or "the model wrote a call the API could not read"
    correction = "Your tool call could not be read. Nothing was run. Send it again as one well-formed call."
    return IssueReported(Issue(kind=IssueKind.MALFORMED, message=reason, raw=message, correction=correction))


# ── writing ──────────────────────────────────────────────────────────────────


def encode_response(response: Response, stamp: Stamp = UNSTAMPED, request: Request | None = None) -> dict[str, Any]:
    """The body of a whole answer."""
    left = dict(extra_for(NAME, response.extra))
    usage, candidate = mapping(left.pop("usageMetadata", None)), mapping(left.pop("candidate", None))
    content = {"role": "model", "parts": write_parts(response.message.parts)}
    stop = final_stop(response.stop, len(response.calls))
    first = {"content": content, "finishReason": WORDS[stop], "index": 0, **candidate}
    body = {**left, "candidates": [first], **_head(stamp, response.model, response.id)}
    return {**body, **write_usage(response.usage, usage)}


def _head(stamp: Stamp, model: str, id_: str) -> dict[str, Any]:
    return {"modelVersion": stamp.model or model, "responseId": stamp.id or id_}


class _Encoder(Encoder):
    """Events → chunks.  Arguments are objects here, so calls are always whole.  The last chunk is never `[DONE]`."""

    def __init__(self, stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True) -> None:
        super().__init__(stamp, request, whole_calls=True)
        self._base = _head(stamp, "", "")
        self._open = ""
        self._called: CallStarted | None = None
        self._calls = 0

    def _on_started(self, event: Started) -> list[Frame]:
        self._base = {**_head(self._stamp, event.model, event.id), **own(NAME, event.extra)}
        return []

    def _on_text(self, event: TextDelta) -> list[Frame]:
        self._open = "text"
        return [self._run(event, lambda text: self._chunk([{"text": text}]))] if event.text else []

    def _on_reasoning(self, event: ReasoningDelta) -> list[Frame]:
        self._open = "thought"
        return [self._run(event, lambda text: self._chunk([{"text": text, "thought": True}]))] if event.text else []

    def _on_part_ended(self, event: PartEnded) -> list[Frame]:
        run, self._open = self._open, ""
        about = beside_content(event.metadata)
        if not about or not (run or seal_of(event.metadata)):
            return []
        mark = {} if run == "text" else {"thought": True}
        return [self._chunk([{"text": "", **mark, **about}])]

    def _on_part(self, event: PartAdded) -> list[Frame]:
        part = event.part
        if isinstance(part, Opaque):
            return [self._chunk([part.block])] if part.api == NAME else []
        return [self._chunk([write_media(part)])]

    def _on_call(self, event: CallStarted) -> list[Frame]:
        self._open, self._called = "", event
        return []

    def _on_delta(self, event: CallDelta) -> list[Frame]:
        called = self._called
        if called is None:
            return []
        self._calls += 1
        arguments = strict.loads(event.json) if event.json else {}
        call = ToolCall(id=called.id, name=called.name, arguments=arguments, metadata=called.metadata)
        return [self._chunk(write_parts([call]))]

    def _finish(self, event: Ended) -> list[Frame]:
        left = extra_for(NAME, event.extra)
        finish = {"finishReason": WORDS[final_stop(event.stop, self._calls)], **mapping(left.get("candidate"))}
        usage = write_usage(event.usage, mapping(left.get("usageMetadata")))
        return [self._chunk([{"text": ""}], finish, usage)]

    def _chunk(
        self, parts: list[Any], finish: Mapping[str, Any] = NOTHING, usage: Mapping[str, Any] = NOTHING
    ) -> Frame:
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0, **finish}
        return Frame(to_json({"candidates": [candidate], **self._base, **usage}))


# ── errors ───────────────────────────────────────────────────────────────────

_STATUSES: Mapping[int, str] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def encode_error(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and body of a refusal."""
    reply = ErrorReply(error)
    status = 503 if reply.kind is ErrorKind.OVERLOADED else reply.status
    word = _STATUSES.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL")
    message = reply.with_overflow("the input token count exceeds the maximum number of tokens")
    return status, {"error": {"code": status, "message": message, "status": word}}


CODEC = Codec(
    name=NAME,
    path="/models/{model}:generateContent",
    stream_path="/models/{model}:streamGenerateContent?alt=sse",
    frames=FrameKind.SSE,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_stream=_Decoder,
    decode_request=decode_request,
    encode_response=encode_response,
    encode_stream=_Encoder,
    encode_error=encode_error,
    error_frame=framed(encode_error),
    turns=ContentWriter,
)
