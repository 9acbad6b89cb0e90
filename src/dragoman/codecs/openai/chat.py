"""OpenAI Chat Completions: `POST /chat/completions`, the wire most peers speak with an accent of their own.

Knows how answers are read, whole and streamed; requests are in `chat_requests.py`, writing in `chat_writing.py`.  A
whole answer is read as one delta, so whole and streamed cannot disagree.
Sources: OpenAI API reference; wire-quirks.md ("OpenAI-compatible responses", "Streaming deltas"); streaming.md §1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import CodecError
from ...events import (
    Event,
    PartAdded,
    assemble,
)
from ...types import NOTHING, JsonObject, Opaque, Response, Stop, Usage
from ..shared.body import an_array, an_object, count, items, mapping, present, rest, string
from ..shared.decoder import RunDecoder
from ..shared.errors import framed, raise_error
from ..shared.frames import FrameKind
from ..shared.issues import OTHER_ANSWERS, unsupported
from ..shared.spec import CHOICES, Codec, Ids, wire_fields
from .chat_fragments import Fragments
from .chat_messages import NAME, thinking_text
from .chat_places import TEXTS, as_part, in_delta, is_in_text, says, says_in_another_place
from .chat_plain import BODY, CHOICE, MESSAGE, PLAIN_WORDS, plain_answer
from .chat_requests import decode_request, encode_request, turn_writer
from .chat_words import STOPS, gather, read_usage, write_usage
from .chat_writing import ChunkEncoder, encode_error, encode_response

_BARE = frozenset({"index", "delta", "finish_reason", "logprobs"})
_DELTA = ("choices", 0, "delta")
_REASONING = ("reasoning_content", "reasoning")

# ── reading ──────────────────────────────────────────────────────────────────


def decode_response(body: JsonObject, ids: Ids | None = None) -> Response:
    """The answer in `body`.  Raises `ProviderError` for an error with status 200, `CodecError` for no answer."""
    if type(body) is dict and (plain := plain_answer(body)) is not None:
        return plain
    body = an_object(body, "$")
    raise_error(body)
    choices = an_array(body.get("choices"), "$.choices")
    if not choices:
        raise CodecError("the answer has no choices; retry the request", "$.choices", NAME)
    choice = an_object(choices[0], "$.choices[0]")
    if not says_in_another_place(choice):
        an_object(choice.get("message"), "$.choices[0].message")
    return assemble(_Decoder(ids).whole(body))


class _Decoder(RunDecoder):
    """Chunks → events.  Runs: "text", "refusal", "reasoning"."""

    api = NAME
    stops = STOPS
    plain_words = PLAIN_WORDS
    unfinished = "the stream ended without saying why; the answer may be cut short"
    noise = ("obfuscation", "usage")  # of another length in every chunk, against listeners; counts so far

    def __init__(self, ids: Ids | None = None) -> None:
        super().__init__(ids)
        self._fragments = Fragments(self._calls)
        self._refused = self._others = self._in_deltas = self._in_text = False
        self._chosen: Any = None
        self._choice: dict[str, Any] = {}
        self._message: dict[str, Any] = {}
        self._told: dict[str, Any] = {}  # what the chunks say beside the answer, as last told
        self._named = [*_REASONING[:1]]  # the fields that the reasoning stands in
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
        raise_error(body, event)
        events = self._chunk(body)
        key, delta = self._only_field(body)
        if key == "tool_calls":
            self._repeat(self._fragments.more(items(delta[key])), *_DELTA, key, 0, "function", "arguments")
        elif key in ("content", *_REASONING):
            self._repeat_text(events, *_DELTA, key)
        return events

    def _read_noise(self, body: JsonObject) -> None:
        if usage := body.get("usage"):
            gather(self._usage, mapping(usage))

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
        events = self._about(body, begins=bool(choices))
        self._read_noise(body)
        others: list[JsonObject] = []
        for choice in choices:
            index = choice.get("index") or 0
            if self._chosen is None:
                self._chosen = index if all(other.get("index") for other in choices) else 0
            if index == self._chosen:
                events += self._choose(choice)
            else:  # the one that is read is told as the first, and the first has its number
                others.append(choice if index else {**choice, "index": self._chosen})
        return events + self._leave(others) if others else events

    def _about(self, body: JsonObject, *, begins: bool) -> list[Event]:
        """What a chunk says of the answer: the first of them begins it, and the others mostly say the same."""
        about = rest(body, BODY)
        gather(self._extra, about)
        if count(body.get("created")):
            self._extra["created"] = body["created"]
        if begins and not self._started:
            self._told = dict(self._extra)
            return self._start(string(body.get("model")), string(body.get("id")), self._told)
        new = {key: one for key, one in present(about).items() if self._told.get(key) != one}
        self._told |= new
        return [self._beside("chunk", new)] if new and self._started else []

    def _leave(self, others: Sequence[JsonObject]) -> list[Event]:
        """Choices beside the one that is read: they are left as they are, for clients of this API."""
        if "delta" not in others[0]:
            self._extra[CHOICES] = [*items(self._extra.get(CHOICES)), *others]
        known, self._others = self._others, True
        several = unsupported("the answer has several choices; the first is read", others[0], OTHER_ANSWERS)
        return [*([] if known else [several]), self._beside(CHOICES, {CHOICES: others})]

    def _choose(self, choice: JsonObject) -> list[Event]:
        if "error" in choice:
            raise_error({"error": choice["error"]})
        if (self._in_text or not self._in_deltas) and is_in_text(choice):
            self._in_text, choice = True, in_delta(choice)
        delta = self._said_by(choice)
        besides = rest(choice, CHOICE)
        gather(self._choice, besides)
        self._word = string(choice.get("finish_reason")) or self._word
        ends = self._complete or (bool(self._word) and not self._calls.any)
        events = self._delta(delta, whole=ends and "delta" not in choice)
        return [self._beside("choice", told), *events] if (told := present(besides)) else events

    def _said_by(self, choice: JsonObject) -> JsonObject:
        """Its delta, or the message that stands for one; behind deltas a message says once more what they said."""
        delta = mapping(choice.get("delta"))
        if self._in_deltas:
            return delta
        self._in_deltas = says(delta)
        message = mapping(choice.get("message"))
        return delta if delta and (self._in_deltas or not says(message)) else message

    def _delta(self, delta: JsonObject, *, whole: bool) -> list[Event]:
        events = self._think(delta) + self._content(delta.get("content"))
        if refusal := string(delta.get("refusal")):
            begins, self._refused = self._run != "refusal", True
            events += self._continue_run("refusal", refusal)
            if begins:
                events.insert(-1, self._beside("refusal"))
            self._metadata["type"] = "refusal"
        given = delta.get("tool_calls")
        if calls := [given] if isinstance(given, Mapping) and given else items(given):
            events += self._end_run() + (self._fragments.whole(calls) if whole else self._fragments.add(calls))
        events += self._legacy(mapping(delta.get("function_call")))
        return events + self._beside_delta(rest(delta, MESSAGE), whole=whole)

    def _beside_delta(self, left: JsonObject, *, whole: bool) -> list[Event]:
        """Fields of a message that no event is for: sound, images, a channel.  Each goes out where it came in."""
        said = {key: one for key, one in left.items() if one not in (None, "", [], {})}
        new = {key: one for key, one in said.items() if isinstance(one, list | dict) or self._message.get(key) != one}
        gather(self._message, left)
        return [self._beside("delta", new)] if new and self._started and not whole else []

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
        names = [key for key, value in given.items() if value == piece]
        events = self._continue_run("reasoning", piece)
        if names and names != self._named:
            self._named = names
            events.insert(-1, self._beside("reasoning", {"fields": names}))
        if names not in ([], ["reasoning_content"]):
            self._metadata["fields"] = names
        if details:
            self._metadata.setdefault("reasoning_details", []).extend(details)
        return events

    def _content(self, content: Any) -> list[Event]:
        if isinstance(content, str):
            return self._continue_run("text", content) if content else []
        parts = [content] if isinstance(content, Mapping) else items(content)
        return [event for part in parts for event in self._part(as_part(part))]

    def _part(self, part: JsonObject) -> list[Event]:
        """A part of an answer in parts: Mistral's reasoning models write so."""
        if part.get("type") == "thinking":
            events = self._continue_run("reasoning", thinking_text(part))
            self._thinking.append(thinking_text(part))
            return events
        if part.get("type") in TEXTS:
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

    def _write_usage(self, usage: Usage | None) -> JsonObject:
        return write_usage(usage) if usage is not None else {}

    def _leftover(self) -> JsonObject:
        choice = {**self._choice, **({"finish_reason": self._own_word} if self._own_word else {})}
        left = {"usage": self._own_usage, "choice": choice or None, "message": self._message or None}
        return wire_fields(NAME, {**self._extra, **left})


def _adds_up(body: JsonObject, choice: JsonObject) -> bool:
    """Does this chunk hold log probabilities, of which each adds to those before?"""
    return "logprobs" in body or choice.get("logprobs") is not None


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
    encode_stream=ChunkEncoder,
    encode_error=encode_error,
    error_frame=framed(encode_error),
    several="n",
    turns=turn_writer,
)
