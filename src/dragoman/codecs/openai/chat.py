"""OpenAI Chat Completions: `POST /chat/completions`, the wire most peers speak with an accent of their own.

Knows the answers, whole and streamed, both ways; requests are in `chat_requests.py`.  A whole answer is read as
one delta, so whole and streamed cannot disagree.
Sources: OpenAI API reference; wire-quirks.md ("OpenAI-compatible responses", "Streaming deltas"); streaming.md §1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import CodecError
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
from ...jsontext import to_json
from ...types import NOTHING, JsonObject, Opaque, Request, Response, Stop, Usage
from ..shared.body import an_array, an_object, count, items, mapping, rest, text
from ..shared.calls import CallBook
from ..shared.encoder import Encoder, settled
from ..shared.errors import Told, raise_error, read_failure
from ..shared.frames import Frame, FrameKind
from ..shared.issues import frame_body, lossy, odd, spent
from ..shared.media import joined
from ..shared.spec import UNSTAMPED, Codec, Ids, Stamp, StreamDecoder, StreamEncoder, carried, own, wished
from .chat_fragments import Fragments
from .chat_messages import NAME, thought, write_call, write_message
from .chat_requests import decode_request, encode_request, wants_usage

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
_PLAIN_WORDS = frozenset(_WORDS.values())
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
_NO_RUN = "", frozenset[str]()
_RUNS = {
    "text": ("content", frozenset({"role", "reasoning_content", "reasoning"})),
    "reasoning": ("reasoning_content", frozenset({"role", "content"})),
}
"""What is being told, by the field that goes on with it; and the fields that may stand beside it, empty."""
_UNLIKE: JsonObject = {"": object()}  # as no chunk
_REASONING = ("reasoning_content", "reasoning")
_CACHED = ("prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens")  # DeepSeek, Kimi, Mistral
_MODELLED_USAGE = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})
_DONE = "[DONE]"

# ── reading ──────────────────────────────────────────────────────────────────


def decode_response(body: JsonObject, ids: Ids | None = None) -> Response:
    """The answer in `body`.  Raises `ProviderError` for an error told with status 200, `CodecError` for no answer."""
    body = an_object(body, "$")
    raise_error(body)
    choices = an_array(body.get("choices"), "$.choices")
    if not choices:
        raise CodecError("the answer has no choices; retry the request", "$.choices", NAME)
    an_object(an_object(choices[0], "$.choices[0]").get("message"), "$.choices[0].message")
    return assemble(_Decoder(ids).whole(body))


def decode_stream(ids: Ids | None = None) -> StreamDecoder:
    """A decoder for one streamed answer."""
    return _Decoder(ids)


class _Decoder:
    """Chunks → events.  `_run` is what is being told: "text", "refusal", "reasoning" or nothing."""

    def __init__(self, ids: Ids | None) -> None:
        self._calls = CallBook(ids)
        self._fragments = Fragments(self._calls)
        self._started = self._over = self._closed = self._refused = self._said = self._others = False
        self._chosen: Any = None
        self._stop_word = ""
        self._usage: dict[str, Any] = {}
        self._extra: dict[str, Any] = {}
        self._choice: dict[str, Any] = {}
        self._message: dict[str, Any] = {}
        self._run = ""
        self._run_data: dict[str, Any] = {}
        self._thoughts: list[str] = []
        self._around = _UNLIKE  # what the chunk before said beside its choices

    def feed(self, frame: Frame) -> list[Event]:
        if self._closed:
            return []
        if frame.data.strip() == _DONE:
            self._over = True
            return self.close()
        chunk = frame_body(frame)
        if isinstance(chunk, IssueReported):
            return [chunk]
        choices = chunk.pop("choices", None)
        chunk.pop("obfuscation", None)  # noise of another length in every chunk, against listeners on the line
        said = self._goes_on(choices) if chunk == self._around else None
        if said is not None:
            return said
        around, chunk["choices"] = dict(chunk), choices
        raise_error(chunk)
        events = self.chunk(chunk)
        self._around = around if "logprobs" not in around else _UNLIKE
        return events

    def _goes_on(self, choices: Any) -> list[Event] | None:
        """The events of a chunk that says nothing but more of what is being told; None for any other.

        Nearly all chunks are such: all around their text is as it was in the chunk before.
        """
        choice = choices[0] if type(choices) is list and len(choices) == 1 else None
        if type(choice) is not dict or not _BARE.issuperset(choice) or (choice.get("index") or 0) != self._chosen:
            return None
        delta = choice.get("delta")
        if type(delta) is not dict or choice.get("finish_reason") or choice.get("logprobs") is not None:
            return None
        if not self._run:
            calls = delta.get("tool_calls")
            return self._fragments.add(calls) if len(delta) == 1 and type(calls) is list else None
        key, others = _RUNS.get(self._run, _NO_RUN)
        said = delta.get(key)
        if type(said) is not str or (len(delta) > 1 and not _says_only(delta, key, others)):
            return None
        self._said = self._said or (bool(said) and key == "content")
        return [TextDelta(said) if key == "content" else ReasoningDelta(said)] if said else []

    def close(self) -> list[Event]:
        if self._closed:
            return []
        self._closed = True
        events = self._start({}) + self._end_run()
        stop = _STOPS.get(self._stop_word.lower(), Stop.END if self._stop_word else None)
        dropped = stop is None and not self._over
        events += self._calls.finish(cut=stop is Stop.LENGTH or dropped)
        if dropped:
            events.append(odd("the stream ended without saying why; the answer may be cut short"))
        if self._refused and stop in (None, Stop.END):
            stop = Stop.REFUSED
        stop = settled(stop or (Stop.END if self._over else None), self._calls.given)
        if stop is Stop.LENGTH and not (self._said or self._calls.any):
            events.append(spent())
        return [*events, Ended(stop, self._read_usage(), self._leftover())]

    def whole(self, body: JsonObject) -> list[Event]:
        """The events of a whole answer."""
        self._over = True
        return [*self.chunk(body), *self.close()]

    def chunk(self, body: JsonObject) -> list[Event]:
        """The events of one chunk."""
        choices = [choice for choice in items(body.get("choices")) if isinstance(choice, Mapping)]
        events = self._start(body) if choices else []
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
                events.append(lossy("the answer has several choices; only the first is read", choice))
        return events

    def _start(self, body: JsonObject) -> list[Event]:
        if self._started:
            return []
        self._started = True
        return [Started(text(body.get("model")), text(body.get("id")))]

    def _choose(self, choice: JsonObject) -> list[Event]:
        delta = mapping(choice.get("delta")) or mapping(choice.get("message"))  # Writer's chunks hold both
        _gather(self._choice, rest(choice, _CHOICE))
        self._stop_word = text(choice.get("finish_reason")) or self._stop_word
        return self._delta(delta, whole="delta" not in choice)

    def _delta(self, delta: JsonObject, *, whole: bool) -> list[Event]:
        events = self._think(delta) + self._say(delta.get("content"))
        if refusal := text(delta.get("refusal")):
            self._refused = True
            events += self._pour("refusal", refusal)
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
        given = [key for key in _REASONING if text(delta.get(key))]
        details = items(delta.get("reasoning_details"))
        if not given and not details:
            return []
        said = delta[given[0]] if given else ""
        events = self._pour("reasoning", said)
        names = [key for key in given if delta[key] == said]
        if names and names != ["reasoning_content"]:
            self._run_data["fields"] = names
        if details:
            self._run_data.setdefault("reasoning_details", []).extend(details)
        return events

    def _say(self, content: Any) -> list[Event]:
        if isinstance(content, str):
            return self._pour("text", content) if content else []
        return [event for part in items(content) for event in self._say_part(mapping(part))]

    def _say_part(self, part: JsonObject) -> list[Event]:
        """A part of an answer in parts: Mistral's reasoning models write so."""
        if part.get("type") == "thinking":
            said = thought(part)
            events = self._pour("reasoning", said)
            self._thoughts.append(said)
            return events
        if part.get("type") == "text":
            return self._pour("text", text(part.get("text")))
        return [*self._end_run(), PartAdded(Opaque(api=NAME, block=part))] if part else []

    def _pour(self, run: str, said: str) -> list[Event]:
        events: list[Event] = []
        if run != self._run:
            events = self._end_run() + self._calls.settle()
            self._run = run
        if run == "refusal":
            self._run_data["type"] = "refusal"
        self._said = self._said or (run != "reasoning" and bool(said))
        if said:
            events.append(ReasoningDelta(said) if run == "reasoning" else TextDelta(said))
        return events

    def _end_run(self) -> list[Event]:
        run, data = self._run, self._run_data
        if self._thoughts:
            whole = {"type": "text", "text": "".join(self._thoughts)}
            data["part"] = {"type": "thinking", "thinking": [whole]}
        self._run, self._run_data, self._thoughts = "", {}, []
        return [PartEnded(carried(NAME, data))] if run else []

    # ── what is left ─────────────────────────────────────────────────────────

    def _read_usage(self) -> Usage | None:
        return read_usage(self._usage or mapping(mapping(self._extra.get("x_groq")).get("usage")))

    def _leftover(self) -> JsonObject:
        choice = dict(self._choice)
        if self._stop_word and self._stop_word not in _PLAIN_WORDS:
            choice["finish_reason"] = self._stop_word
        usage = self._usage if set(self._usage) - _MODELLED_USAGE else None
        left = {"usage": usage, "choice": choice or None, "message": self._message or None}
        return carried(NAME, {**self._extra, **left})


def _says_only(delta: JsonObject, key: str, others: frozenset[str]) -> bool:
    """Do only `others` stand beside `key`, and say nothing?  A role is repeated by some."""
    return all(name == key or (name in others and (name == "role" or not delta[name])) for name in delta)


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
    left = dict(wished(NAME, response.extra))
    choice, message, usage = (dict(mapping(left.pop(key, None))) for key in ("choice", "message", "usage"))
    told = _write_message(response)
    declined = response.stop is Stop.REFUSED and "refusal" in told  # a field of its own says so
    finish = "stop" if declined else _word(response.stop, len(response.calls), choice)
    body = {
        "id": stamp.id or response.id,
        "object": "chat.completion",
        "created": stamp.created or left.pop("created", 0),
        "model": stamp.model or response.model,
        "choices": [{"index": 0, "message": {**told, **message}, "finish_reason": finish, **choice}],
    }
    if response.usage is not None:
        body["usage"] = write_usage(response.usage, usage)
    return {**left, **body}


def _word(stop: Stop | None, calls: int, choice: dict[str, Any]) -> str:
    """Why the answer stopped: the peer's own word, taken out of `choice`, where it still holds."""
    settled_on, word = settled(stop, calls), choice.pop("finish_reason", None)
    return word if word and settled(_STOPS.get(word.lower(), Stop.END), calls) is settled_on else _WORDS[settled_on]


def _write_message(response: Response) -> dict[str, Any]:
    parts = response.message.parts
    refusals = [part for part in parts if own(NAME, _metadata(part)).get("type") == "refusal"]
    said = joined([part for part in parts if part not in refusals], "")
    message: dict[str, Any] = {"role": "assistant", "content": said or None}
    if refusals:
        message["refusal"] = joined(refusals, "")
    if response.reasoning:
        message["reasoning_content"] = response.reasoning
    if response.calls:
        message["tool_calls"] = [write_call(call) for call in response.calls]
    return message


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


def encode_stream(
    stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True
) -> StreamEncoder:
    """An encoder for one streamed answer; usage is sent where the client asked for it."""
    return _Encoder(stamp, usage=wants_usage(request), whole_calls=whole_calls)


class _Encoder(Encoder):
    """Events → chunks.  Fragments repeat an empty id and name: the one form of them that every client reads."""

    def __init__(self, stamp: Stamp, *, usage: bool, whole_calls: bool) -> None:
        super().__init__(whole_calls=whole_calls)
        self._whole = whole_calls
        self._stamp, self._wants_usage = stamp, usage
        self._base: dict[str, Any] = {}
        self._head = ""
        self._place = -1
        self._called: CallStarted | None = None

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
        return [*self._on_started(Started()), self._run(event, lambda said: self._chunk({"content": said}))]

    def _on_reasoning(self, event: ReasoningDelta) -> list[Frame]:
        begun = self._on_started(Started())
        return [*begun, self._run(event, lambda said: self._chunk({"reasoning_content": said}))]

    def _on_call(self, event: CallStarted) -> list[Frame]:
        self._place += 1
        self._called = event
        return [] if self._whole else self._tell_call(event.id, event.name, "")

    def _on_delta(self, event: CallDelta) -> list[Frame]:
        called = self._called
        if self._whole and called is not None:
            return self._tell_call(called.id, called.name, event.json)
        return self._tell_call("", "", event.json)

    def _tell_call(self, id_: str, name: str, arguments: str) -> list[Frame]:
        function = {"name": name, "arguments": arguments}
        return self._tell({"tool_calls": [{"index": self._place, "id": id_, "type": "function", "function": function}]})

    def _finish(self, event: Ended) -> list[Frame]:
        head = self._on_started(Started())
        left = wished(NAME, event.extra)
        usage = mapping(left.get("usage"))
        self._base |= {key: left[key] for key in left if key not in ("usage", "choice", "message", "created")}
        self._head = _head_of(self._base)
        choice = dict(mapping(left.get("choice")))
        finish = self._chunk(dict(mapping(left.get("message"))), _word(event.stop, self._place + 1, choice), choice)
        if event.usage is None or not self._wants_usage:
            return [*head, finish]
        told = {**self._base, "choices": [], "usage": write_usage(event.usage, usage)}
        return [*head, finish, Frame(to_json(told))]

    def _last(self) -> list[Frame]:
        return [Frame(_DONE)]

    def _tell(self, delta: dict[str, Any]) -> list[Frame]:
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
    told = Told(error)
    kinds = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
    what = kinds.get(told.status, "invalid_request_error" if told.status < 500 else "api_error")
    return told.status, {
        "error": {"message": told.message, "type": what, "param": told.param or None, "code": told.openai_code or None}
    }


def error_frame(error: Exception) -> Frame:
    """The frame that tells an error once the answer has begun."""
    return Frame(to_json(encode_error(error)[1]))


CODEC = Codec(
    name=NAME,
    path="/chat/completions",
    stream_path="/chat/completions",
    frames=FrameKind.SSE,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_stream=decode_stream,
    decode_error=read_failure,
    decode_request=decode_request,
    encode_response=encode_response,
    encode_stream=encode_stream,
    encode_error=encode_error,
    error_frame=error_frame,
    write_message=write_message,
)
