"""OpenAI Chat Completions: `POST /chat/completions`, the wire most peers speak with an accent of their own.

Knows the answers, whole and streamed, both ways; requests are in `chat_requests.py`.  A whole answer is read as
one delta, so whole and streamed cannot disagree.
Sources: OpenAI API reference; wire-quirks.md ("OpenAI-compatible responses", "Streaming deltas"); streaming.md §1.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
    assemble,
)
from ...jsontext import to_json
from ...types import NOTHING, JsonObject, Opaque, Reasoning, Request, Response, Stop, ToolCall, Usage
from ..shared import strict
from ..shared.body import an_array, an_object, count, items, mapping, rest, string
from ..shared.decoder import RunDecoder
from ..shared.encoder import Encoder, final_stop
from ..shared.errors import ErrorReply, framed, raise_error
from ..shared.frames import Frame, FrameKind
from ..shared.issues import unsupported
from ..shared.media import joined
from ..shared.spec import TYPED, UNSTAMPED, Codec, Ids, Stamp, extra_for, own, seal_of, wire_fields
from .chat_fragments import Fragments
from .chat_messages import NAME, signature_field, thinking_text, write_call, write_message, write_seal
from .chat_requests import customs, decode_request, encode_request, wants_usage

_STOPS: Mapping[str, Stop] = {
    "stop": Stop.END,
    "eos": Stop.END,
    "tool_calls": Stop.TOOL_CALLS,
    "tool_call": Stop.TOOL_CALLS,  # DeepSeek at Azure (recorded)
    "function_call": Stop.TOOL_CALLS,
    "length": Stop.LENGTH,
    "max_tokens": Stop.LENGTH,
    "model_length": Stop.LENGTH,  # Mistral
    "content_filter": Stop.FILTERED,
    "sensitive": Stop.FILTERED,  # Z.ai
    "safety": Stop.FILTERED,  # Gemini's words, which proxies hand on in capitals (LiteLLM's map_finish_reason)
    "recitation": Stop.FILTERED,
    "error": Stop.ERROR,  # OpenRouter, Mistral
    "network_error": Stop.ERROR,  # Z.ai
    "insufficient_system_resource": Stop.ERROR,  # DeepSeek
}
_WORDS: Mapping[Stop | None, str] = {
    None: "stop",
    Stop.END: "stop",
    Stop.STOP_SEQUENCE: "stop",
    Stop.PAUSE: "stop",
    Stop.TOOL_CALLS: "tool_calls",
    Stop.LENGTH: "length",
    Stop.FILTERED: "content_filter",
    Stop.REFUSED: "content_filter",
    Stop.ERROR: "error",
}
_BODY = frozenset({"id", "object", "model", "choices", "usage", "created", "obfuscation", "error"})
_CHOICE = frozenset({"index", "message", "delta", "finish_reason"})
_MESSAGE = frozenset(
    {
        "role",
        "content",
        "tool_calls",
        "function_call",
        "refusal",
        "reasoning_content",
        "reasoning",
        "reasoning_details",
    }
)
_BARE = frozenset({"index", "delta", "finish_reason", "logprobs"})
_DELTA = ("choices", 0, "delta")
_REASONING = ("reasoning_content", "reasoning")
_CACHED = ("prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens")  # DeepSeek, Kimi, Mistral
_MODELLED_USAGE = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})

# ── reading ──────────────────────────────────────────────────────────────────


def decode_response(body: JsonObject, ids: Ids | None = None) -> Response:
    """The answer in `body`.  Raises `ProviderError` for an error with status 200, `CodecError` for no answer."""
    body = an_object(body, "$")
    raise_error(body)
    choices = an_array(body.get("choices"), "$.choices")
    if not choices:
        raise CodecError("the answer has no choices; retry the request", "$.choices", NAME)
    an_object(an_object(choices[0], "$.choices[0]").get("message"), "$.choices[0].message")
    return assemble(_Decoder(ids).whole(body))


class _Decoder(RunDecoder):
    """Chunks → events.  Runs: "text", "refusal", "reasoning"."""

    api = NAME
    stops = _STOPS
    plain_words = frozenset(_WORDS.values())
    counted = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})
    unfinished = "the stream ended without saying why; the answer may be cut short"
    noise = ("obfuscation",)  # of another length in every chunk, against listeners on the line

    def __init__(self, ids: Ids | None = None) -> None:
        super().__init__(ids)
        self._fragments = Fragments(self._calls)
        self._refused = self._others = False
        self._chosen: Any = None
        self._choice: dict[str, Any] = {}
        self._message: dict[str, Any] = {}
        self._thinking: list[str] = []

    def whole(self, body: JsonObject) -> list[Event]:
        """The events of a whole answer."""
        self._complete = True
        return [*self._chunk(body), *self.close()]

    def _on_terminator(self) -> list[Event]:
        self._complete = True
        return self.close()

    def _stop(self) -> Stop | None:
        return self.stops.get(self._word.lower(), Stop.END if self._is_complete() else None)

    def _final_stop(self, stop: Stop | None) -> Stop | None:
        return super()._final_stop(Stop.REFUSED if self._refused and stop in (None, Stop.END) else stop)

    def _read(self, body: JsonObject, event: str) -> list[Event]:
        raise_error(body)
        events = self._chunk(body)
        key, delta = self._only_field(body)
        if key == "tool_calls":
            self._repeat(self._fragments.more(items(delta[key])), *_DELTA, key, 0, "function", "arguments")
        elif key in ("content", *_REASONING):
            self._repeat_text(events, *_DELTA, key)
        return events

    def _only_field(self, body: JsonObject) -> tuple[str, JsonObject]:
        """The one field of a chunk's delta that says something, "" where there are others or none; and the delta."""
        choices = items(body.get("choices"))
        choice: JsonObject = mapping(choices[0]) if len(choices) == 1 else NOTHING
        if not _BARE.issuperset(choice) or (choice.get("index") or 0) != self._chosen or _adds_up(body, choice):
            return "", NOTHING
        delta = mapping(choice.get("delta"))
        fields = [key for key, value in delta.items() if value and key != "role"]
        return fields[0] if len(fields) == 1 else "", delta

    def _chunk(self, body: JsonObject) -> list[Event]:
        """The events of one chunk."""
        choices = [choice for choice in items(body.get("choices")) if isinstance(choice, Mapping)]
        events = self._start(string(body.get("model")), string(body.get("id"))) if choices else []
        _gather(self._extra, rest(body, _BODY))
        if count(body.get("created")):
            self._extra["created"] = body["created"]
        _gather(self._usage, mapping(body.get("usage")))
        for choice in choices:
            index = choice.get("index") or 0
            if self._chosen is None:
                self._chosen = index
            if index == self._chosen:
                events += self._choose(choice)
            elif not self._others:
                self._others = True
                events.append(unsupported("the answer has several choices; only the first is read", choice))
        return events

    def _choose(self, choice: JsonObject) -> list[Event]:
        delta = mapping(choice.get("delta")) or mapping(choice.get("message"))  # Writer's chunks hold both
        _gather(self._choice, rest(choice, _CHOICE))
        self._word = string(choice.get("finish_reason")) or self._word
        return self._delta(delta, whole="delta" not in choice)

    def _delta(self, delta: JsonObject, *, whole: bool) -> list[Event]:
        events = self._think(delta) + self._content(delta.get("content"))
        if refusal := string(delta.get("refusal")):
            self._refused = True
            events += self._continue_run("refusal", refusal)
            self._metadata["type"] = "refusal"
        given = delta.get("tool_calls")
        if calls := [given] if isinstance(given, Mapping) and given else items(given):
            events += self._end_run() + (self._fragments.whole(calls) if whole else self._fragments.add(calls))
        events += self._legacy(mapping(delta.get("function_call")))
        _gather(self._message, rest(delta, _MESSAGE))
        return events

    def _legacy(self, call: JsonObject) -> list[Event]:
        if not self._fragments.is_legacy(call):
            return []
        return self._end_run() + self._fragments.legacy(call)

    # ── text and reasoning ───────────────────────────────────────────────────

    def _think(self, delta: JsonObject) -> list[Event]:
        given = {key: delta[key] for key in _REASONING if string(delta.get(key))}
        details = items(delta.get("reasoning_details"))
        if not given and not details:
            return []
        piece = next(iter(given.values()), "")
        events = self._continue_run("reasoning", piece)
        names = [key for key, value in given.items() if value == piece]
        if names not in ([], ["reasoning_content"]):
            self._metadata["fields"] = names
        if details:
            self._metadata.setdefault("reasoning_details", []).extend(details)
        return events

    def _content(self, content: Any) -> list[Event]:
        if isinstance(content, str):
            return self._continue_run("text", content) if content else []
        return [event for part in items(content) for event in self._part(mapping(part))]

    def _part(self, part: JsonObject) -> list[Event]:
        """A part of an answer in parts: Mistral's reasoning models write so."""
        if part.get("type") == "thinking":
            events = self._continue_run("reasoning", thinking_text(part))
            self._thinking.append(thinking_text(part))
            return events
        if part.get("type") == "text":
            return self._continue_run("text", string(part.get("text")))
        return [*self._end_run(), PartAdded(Opaque(api=NAME, block=part))] if part else []

    def _end_run(self) -> list[Event]:
        if self._thinking:
            whole = {"type": "text", "text": "".join(self._thinking)}
            self._metadata["part"] = {"type": "thinking", "thinking": [whole]}
            self._thinking = []
        return super()._end_run()

    # ── what is left ─────────────────────────────────────────────────────────

    def _read_usage(self) -> Usage | None:
        return read_usage(self._usage or mapping(mapping(self._extra.get("x_groq")).get("usage")))

    def _leftover(self) -> JsonObject:
        choice = {**self._choice, **({"finish_reason": self._own_word} if self._own_word else {})}
        left = {"usage": self._own_usage, "choice": choice or None, "message": self._message or None}
        return wire_fields(NAME, {**self._extra, **left})


def _adds_up(body: JsonObject, choice: JsonObject) -> bool:
    """Does this chunk hold log probabilities, of which each adds to those before?"""
    return "logprobs" in body or choice.get("logprobs") is not None


def _gather(into: dict[str, Any], fields: Mapping[str, Any]) -> None:
    """Collect fields over the chunks: the last value counts, log probabilities add up."""
    for key, value in fields.items():
        before = into.get(key)
        if key == "logprobs" and isinstance(before, Mapping) and isinstance(value, Mapping):
            into[key] = {k: [*items(before.get(k)), *items(value.get(k))] for k in {**before, **value}}
        elif value is not None:
            into[key] = value


def read_usage(usage: JsonObject) -> Usage | None:
    """Token counts in the words of this API; None when there are none."""
    if not any(usage.get(key) is not None for key in _MODELLED_USAGE):
        return None
    given = mapping(usage.get("prompt_tokens_details"))
    cached = count(given.get("cached_tokens")) or next((n for key in _CACHED if (n := count(usage.get(key)))), 0)
    return Usage(
        input=count(usage.get("prompt_tokens")),
        output=count(usage.get("completion_tokens")),
        cached=cached,
        cache_written=count(given.get("cache_write_tokens")),  # OpenRouter
        reasoning=count(mapping(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    )


# ── writing ──────────────────────────────────────────────────────────────────


def encode_response(response: Response, stamp: Stamp = UNSTAMPED, request: Request | None = None) -> dict[str, Any]:
    """The body of a whole answer."""
    left = dict(extra_for(NAME, response.extra))
    choice, message, usage = (dict(mapping(left.pop(key, None))) for key in ("choice", "message", "usage"))
    written = _write_message(response, customs(request))
    declined = response.stop is Stop.REFUSED and "refusal" in written  # a field of its own says so
    finish = "stop" if declined else _word(response.stop, len(response.calls), choice)
    body = {
        "id": stamp.id or response.id,
        "object": "chat.completion",
        "created": stamp.created or left.pop("created", 0),
        "model": stamp.model or response.model,
        "choices": [{"index": 0, "message": {**written, **message}, "finish_reason": finish, **choice}],
    }
    if response.usage is not None:
        body["usage"] = write_usage(response.usage, usage)
    return {**left, **body}


def _word(stop: Stop | None, calls: int, choice: dict[str, Any]) -> str:
    """Why the answer stopped: the peer's own word, taken out of `choice`, where it still holds."""
    settled_on, word = final_stop(stop, calls), choice.pop("finish_reason", None)
    return word if word and final_stop(_STOPS.get(word.lower(), Stop.END), calls) is settled_on else _WORDS[settled_on]


def _write_message(response: Response, free: Collection[str]) -> dict[str, Any]:
    parts = response.message.parts
    refusals = [part for part in parts if own(NAME, _metadata(part)).get("type") == "refusal"]
    text = joined([part for part in parts if part not in refusals], "")
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if refusals:
        message["refusal"] = joined(refusals, "")
    message |= _write_reasoning([part for part in parts if isinstance(part, Reasoning)])
    if response.calls:
        message["tool_calls"] = [write_call(call, custom=call.name in free) for call in response.calls]
    return message


def _write_reasoning(parts: Sequence[Reasoning]) -> dict[str, Any]:
    """Reasoning by the names its peer gave it, and what must come back with it."""
    text = "".join(part.text for part in parts)
    names = next((names for part in parts if (names := own(NAME, part.metadata).get("fields"))), _REASONING[:1])
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


def write_usage(usage: Usage, left: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    """Token counts in the words of this API."""
    given = dict(mapping(left.get("prompt_tokens_details")))
    made = dict(mapping(left.get("completion_tokens_details")))
    given |= {k: n for k, n in (("cached_tokens", usage.cached), ("cache_write_tokens", usage.cache_written)) if n}
    made |= {"reasoning_tokens": usage.reasoning} if usage.reasoning else {}
    wire = {
        **left,
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": given,
        "completion_tokens_details": made,
    }
    return {key: value for key, value in wire.items() if value != {}}


class _Encoder(Encoder):
    """Events → chunks.  Fragments repeat an empty id and name: the one form of them that every client reads."""

    def __init__(self, stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True) -> None:
        super().__init__(stamp, request, whole_calls=whole_calls)
        self._whole, self._wants_usage = whole_calls, wants_usage(request)
        self._base: dict[str, Any] = {}
        self._head = ""
        self._place = -1
        self._thoughts = 0
        self._called: CallStarted | None = None
        self._customs = customs(request)
        self._text: list[str] | None = None  # of the arguments of a custom tool

    def _on_started(self, event: Started) -> list[Frame]:
        if self._base:
            return []
        self._base = {
            "id": self._stamp.id or event.id,
            "object": "chat.completion.chunk",
            "created": self._stamp.created,
            "model": self._stamp.model or event.model,
        }
        self._head = _head_of(self._base)
        return [self._chunk({"role": "assistant", "content": ""})]

    def _on_text(self, event: TextDelta) -> list[Frame]:
        return [*self._on_started(Started()), self._run(event, lambda text: self._chunk({"content": text}))]

    def _on_reasoning(self, event: ReasoningDelta) -> list[Frame]:
        begun = self._on_started(Started())
        return [*begun, self._run(event, lambda text: self._chunk({"reasoning_content": text}))]

    def _on_part_ended(self, event: PartEnded) -> list[Frame]:
        details = _details(event.metadata, self._thoughts)
        self._thoughts += len(details)
        return self._write_delta({"reasoning_details": [*details]}) if details else []

    def _on_call(self, event: CallStarted) -> list[Frame]:
        self._place += 1
        self._called = event
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
        function = {"name": name, "arguments": arguments}
        call = {"index": self._place, "id": id_, "type": "function", "function": function, **signature_field(about)}
        return self._write_delta({"tool_calls": [call]})

    def _finish(self, event: Ended) -> list[Frame]:
        head = self._on_started(Started())
        left = extra_for(NAME, event.extra)
        usage = mapping(left.get("usage"))
        self._base |= {key: left[key] for key in left if key not in ("usage", "choice", "message", "created")}
        self._head = _head_of(self._base)
        choice = dict(mapping(left.get("choice")))
        finish = self._chunk(dict(mapping(left.get("message"))), _word(event.stop, self._place + 1, choice), choice)
        if event.usage is None or not self._wants_usage:
            return [*head, finish]
        last = {**self._base, "choices": [], "usage": write_usage(event.usage, usage)}
        return [*head, finish, Frame(to_json(last))]

    def _last(self) -> list[Frame]:
        return [Frame("[DONE]")]

    def _write_delta(self, delta: dict[str, Any]) -> list[Frame]:
        return [*self._on_started(Started()), self._chunk(delta)]

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, more: JsonObject = NOTHING) -> Frame:
        """A chunk; `more` is what its choice holds besides, known at the end only: log probabilities."""
        besides = f",{to_json(more)[1:-1]}" if more else ""
        return Frame(f'{self._head}{to_json(delta)},"finish_reason":{to_json(finish)}{besides}}}]}}')


def _head_of(base: JsonObject) -> str:
    """What all chunks begin with, up to the delta."""
    return f'{to_json(base)[:-1]},"choices":[{{"index":0,"delta":'


def encode_error(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and body of a refusal."""
    reply = ErrorReply(error)
    kinds = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
    what = kinds.get(reply.status, "invalid_request_error" if reply.status < 500 else "api_error")
    return reply.status, reply.openai_body(what)


CODEC = Codec(
    name=NAME,
    path="/chat/completions",
    stream_path="/chat/completions",
    frames=FrameKind.SSE,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_stream=_Decoder,
    decode_request=decode_request,
    encode_response=encode_response,
    encode_stream=_Encoder,
    encode_error=encode_error,
    error_frame=framed(encode_error),
    write_message=write_message,
)
