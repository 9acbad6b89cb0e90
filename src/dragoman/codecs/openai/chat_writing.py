"""Answers of OpenAI Chat Completions, written: whole and in chunks.

Knows what clients of `POST /chat/completions` need (streaming.md §1).  What a peer said in its own words beside the
answer goes out again where it came from this API.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ...events import CallDelta, CallEnded, CallStarted, Ended, PartEnded, ReasoningDelta, Started, TextDelta, WireEvent
from ...jsontext import to_json
from ...types import NOTHING, JsonObject, Reasoning, Request, Response, Stop, ToolCall
from ..shared import strict
from ..shared.body import items, mapping, rest
from ..shared.encoder import Encoder, final_stop
from ..shared.errors import ErrorReply
from ..shared.frames import Frame
from ..shared.media import joined
from ..shared.spec import CHOICES, LEGACY, TYPED, UNSTAMPED, Stamp, extra_for, own, seal_of
from .chat_messages import NAME, signature_field, write_call, write_seal
from .chat_requests import customs, deprecated, wants_usage
from .chat_words import STOPS, WORDS, gather, write_usage

PLAIN_REASONING = ("reasoning_content",)
"""The field that reasoning stands in where its peer used no other."""

DEPRECATED = "function_call"
"""The field of a call in the deprecated form, and the word of an answer that stops with one."""

# ── whole ──────────────────────────────────────────────────────────────────


def encode_response(response: Response, stamp: Stamp = UNSTAMPED, request: Request | None = None) -> dict[str, Any]:
    """The body of a whole answer."""
    left = dict(extra_for(NAME, response.extra))
    choice, message, usage = [dict(mapping(left.pop(key))) if key in left else {} for key in _PARTS]
    others = items(left.pop(CHOICES, None))
    written = _write_message(response, customs(request), _Older(request))
    declined = response.stop is Stop.REFUSED and "refusal" in written  # a field of its own says so
    older = DEPRECATED in written
    finish = "stop" if declined else _word(response.stop, len(response.calls), choice, older=older)
    body = {
        "id": stamp.id or response.id,
        "object": "chat.completion",
        "created": stamp.created or left.pop("created", 0),
        "model": stamp.model or response.model,
        "choices": [{"index": 0, "message": {**written, **message}, "finish_reason": finish, **choice}, *others],
    }
    if response.usage is not None:
        body["usage"] = write_usage(response.usage, usage)
    return {**left, **body}


_PARTS = ("choice", "message", "usage")
"""Fields of `extra` that say what stands inside an answer."""


class _Older:
    """Tells the calls that are written in the deprecated form.

    Those of functions that were declared in it, and those that came in it for whoever may read it: nobody does who
    declares `tools`, and not `functions`.
    """

    __slots__ = ("_came", "_names")

    def __init__(self, request: Request | None) -> None:
        self._names = deprecated(request)
        self._came = bool(self._names) or request is None or not request.tools

    def takes(self, name: str, metadata: JsonObject) -> bool:
        """Is the call of this name and metadata written so?"""
        return name in self._names or (self._came and LEGACY in own(NAME, metadata))


def _word(stop: Stop | None, calls: int, choice: dict[str, Any], *, older: bool) -> str:
    """Why the answer stopped: the peer's own word, taken out of `choice`, where it still holds.

    Words for failures are each peer's own, and clients that know none of them refuse the answer.
    """
    settled_on, word = final_stop(stop, calls), choice.pop("finish_reason", None)
    if older and settled_on is Stop.TOOL_CALLS:
        return DEPRECATED
    word = None if word == DEPRECATED or settled_on is Stop.ERROR else word
    return word if word and final_stop(STOPS.get(word.lower(), Stop.END), calls) is settled_on else WORDS[settled_on]


def _write_message(response: Response, free: Collection[str], older: _Older) -> dict[str, Any]:
    parts, calls = response.message.parts, response.calls
    if response.message.bare and not response.message.reasoning:
        made = _write_calls(calls, free, older) if calls else {}
        return {"role": "assistant", "content": response.message.text or None, **made}
    refusals = [part for part in parts if own(NAME, _metadata(part)).get("type") == "refusal"]
    text = joined([part for part in parts if part not in refusals], "")
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if refusals:
        message["refusal"] = joined(refusals, "")
    message |= _write_reasoning([part for part in parts if isinstance(part, Reasoning)])
    return message | _write_calls(calls, free, older)


def _write_calls(calls: Sequence[ToolCall], free: Collection[str], older: _Older) -> dict[str, Any]:
    """The calls as a message holds them: under their numbers where their wire had some, or in the deprecated form."""
    if len(calls) == 1 and older.takes(calls[0].name, calls[0].metadata):
        return {DEPRECATED: write_call(calls[0])["function"]}
    written = []
    for call in calls:
        index = own(NAME, call.metadata).get("index")
        numbered = {} if index is None else {"index": index}
        written.append({**numbered, **write_call(call, custom=call.name in free)})
    return {"tool_calls": written} if written else {}


def _write_reasoning(parts: Sequence[Reasoning]) -> dict[str, Any]:
    """Reasoning by the names its peer gave it, and what must come back with it."""
    text = "".join(part.text for part in parts)
    names = next((names for part in parts if (names := own(NAME, part.metadata).get("fields"))), PLAIN_REASONING)
    wire: dict[str, Any] = dict.fromkeys(names, text) if text else {}
    details = [one for place, part in enumerate(parts) for one in _details(part.metadata, place)]
    return {**wire, "reasoning_details": details} if details else wire


def _details(metadata: JsonObject, place: int) -> Sequence[Any]:
    """What of a reasoning part stands among `reasoning_details`."""
    seal = seal_of(metadata)
    return [write_seal(seal, place)] if seal else items(own(NAME, metadata).get("reasoning_details"))


def _metadata(part: Any) -> JsonObject:
    metadata: JsonObject = getattr(part, "metadata", NOTHING)
    return metadata


# ── streamed ─────────────────────────────────────────────────────────────────


class ChunkEncoder(Encoder):
    """Events → chunks.  Fragments repeat an empty id and name: the one form of them that every client reads."""

    def __init__(self, stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True) -> None:
        super().__init__(stamp, request, whole_calls=whole_calls)
        self._whole, self._wants_usage = whole_calls, wants_usage(request)
        self._base: dict[str, Any] = {}
        self._head = ""
        self._place = -1
        self._thoughts = 0
        self._called: CallStarted | None = None
        self._customs, self._older = customs(request), _Older(request)
        self._is_older = self._was_older = False  # is the call written in the deprecated form, was any?
        self._text: list[str] | None = None  # of the arguments of a custom tool
        self._reasoning: Sequence[str] = PLAIN_REASONING
        self._saying = "content"  # the field that texts stand in
        self._declined = False
        self._besides: dict[str, Any] = {}  # what the next chunk's choice says beside its delta
        self._told: dict[str, None] = {}  # the fields of choices that were said so
        self._given: dict[str, None] = {}  # those of the message; an empty set is three times as large

    def _on_started(self, event: Started) -> list[Frame]:
        if self._base:
            return []
        self._base = {
            "id": self._stamp.id or event.id,
            "object": "chat.completion.chunk",
            "created": self._stamp.created or own(NAME, event.extra).get("created", 0),
            "model": self._stamp.model or event.model,
            **rest(own(NAME, event.extra), ("created",)),
        }
        self._head = _head_of(self._base)
        return [self._chunk({"role": "assistant", "content": ""})]

    def _on_text(self, event: TextDelta) -> list[Frame]:
        begun, field = self._on_started(Started()), self._saying
        if self._besides:
            return [*begun, self._chunk({field: event.text})]
        return [*begun, self._run(event, lambda text: self._chunk({field: text}))]

    def _on_reasoning(self, event: ReasoningDelta) -> list[Frame]:
        begun = self._on_started(Started())
        if not event.text:
            return begun
        if self._besides or len(self._reasoning) > 1:
            return [*begun, self._chunk(dict.fromkeys(self._reasoning, event.text))]
        (name,) = self._reasoning
        return [*begun, self._run(event, lambda text: self._chunk({name: text}))]

    def _on_wire_event(self, event: WireEvent) -> list[Frame]:
        if event.api != NAME:
            return []
        match event.name:
            case "reasoning":
                self._reasoning = event.fields["fields"]
            case "refusal":
                self._saying, self._declined = "refusal", True
            case "choice":
                gather(self._besides, event.fields)  # text that was held comes behind what is said of it
                self._told |= dict.fromkeys(event.fields)
            case "delta":
                self._given |= dict.fromkeys(event.fields)
                return self._write_delta(dict(event.fields))
            case "chunk":
                self._base |= event.fields
                self._head = _head_of(self._base)
            case _ if event.name == CHOICES:
                return [*self._on_started(Started()), Frame(to_json({**self._base, **event.fields}))]
        return []

    def _on_part_ended(self, event: PartEnded) -> list[Frame]:
        details = _details(event.metadata, self._thoughts)
        self._thoughts += len(details)
        self._saying = "content"
        return self._write_delta({"reasoning_details": [*details]}) if details else []

    def _on_call(self, event: CallStarted) -> list[Frame]:
        self._place += 1
        self._called = event
        self._is_older = not self._place and self._older.takes(event.name, event.metadata)  # there is room for one
        self._was_older = self._was_older or self._is_older
        self._text = [] if event.name in self._customs or TYPED in own(NAME, event.metadata) else None
        late = self._whole or self._text is not None
        return [] if late else self._write_call(event.id, event.name, "", event.metadata)

    def _on_delta(self, event: CallDelta) -> list[Frame]:
        called = self._called
        if self._text is not None:  # what a custom tool takes stands inside the JSON: it is known at the end
            self._text.append(event.json)
            return []
        if self._whole and called is not None:
            return self._write_call(called.id, called.name, event.json, called.metadata)
        return self._write_call("", "", event.json)

    def _on_call_ended(self, event: CallEnded) -> list[Frame]:
        called, pieces, self._text = self._called, self._text, None
        if called is None or pieces is None:
            return []
        try:
            arguments = mapping(strict.loads("".join(pieces)))
        except ValueError:
            return []  # cut short, and never announced
        call = ToolCall(id=called.id, name=called.name, arguments=arguments, metadata=called.metadata)
        return self._write_delta({"tool_calls": [{"index": self._place, **write_call(call, custom=True)}]})

    def _write_call(self, id_: str, name: str, arguments: str, about: JsonObject = NOTHING) -> list[Frame]:
        if self._is_older:
            named = {"name": name} if name else {}
            return self._write_delta({DEPRECATED: {**named, "arguments": arguments}})
        left = rest(own(NAME, about), ("index", LEGACY))
        function = {"name": name, "arguments": arguments, **mapping(left.pop("function", None))}
        besides = {**signature_field(about), **left}
        call = {"index": self._place, "id": id_, "type": "function", "function": function, **besides}
        return self._write_delta({"tool_calls": [call]})

    def _finish(self, event: Ended) -> list[Frame]:
        head = self._on_started(Started())
        left = extra_for(NAME, event.extra)
        usage = mapping(left.get("usage"))
        self._base |= rest(left, ("usage", "choice", "choices", "message", "created"))
        self._head = _head_of(self._base)
        choice = rest(mapping(left.get("choice")), self._told)
        message = rest(mapping(left.get("message")), self._given)
        declined = event.stop is Stop.REFUSED and self._declined  # a field of its own said so
        word = "stop" if declined else _word(event.stop, self._place + 1, choice, older=self._was_older)
        finish = self._chunk(message, word, choice)
        if event.usage is None or not self._wants_usage:
            return [*head, finish]
        last = {**self._base, "choices": [], "usage": write_usage(event.usage, usage)}
        return [*head, finish, Frame(to_json(last))]

    def _last(self) -> list[Frame]:
        return [Frame("[DONE]")]

    def _write_delta(self, delta: dict[str, Any]) -> list[Frame]:
        return [*self._on_started(Started()), self._chunk(delta)]

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, more: JsonObject = NOTHING) -> Frame:
        """A chunk; `more` is what its choice holds besides what was told of it: log probabilities of a whole answer."""
        said, self._besides = {**self._besides, **more}, {}
        besides = f",{to_json(said)[1:-1]}" if said else ""
        return Frame(f'{self._head}{to_json(delta)},"finish_reason":{to_json(finish)}{besides}}}]}}')


def _head_of(base: JsonObject) -> str:
    """What all chunks begin with, up to the delta."""
    return f'{to_json(base)[:-1]},"choices":[{{"index":0,"delta":'


# ── errors ───────────────────────────────────────────────────────────────────


def encode_error(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and body of a refusal."""
    reply = ErrorReply(error)
    kinds = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
    what = kinds.get(reply.status, "invalid_request_error" if reply.status < 500 else "api_error")
    return reply.status, reply.openai_body(what)
