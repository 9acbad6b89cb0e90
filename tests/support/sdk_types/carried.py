"""What of an SDK's body our codec loses on its own wire, refuses, or keeps without a word for it on any other.

Knows codecs by their contract and the tables that cross wires; nothing of SDKs.
Contract: a sample that comes out as it went in, by values that every wire knows, has no finding.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from dragoman.codecs import CODECS
from dragoman.codecs.crossing.settings import SETTINGS
from dragoman.codecs.shared.frames import Frame, FrameKind
from dragoman.codecs.shared.spec import Codec, Unsupported, WireFields
from dragoman.codecs.typed.hosted import HOSTED, kind_named
from dragoman.codecs.typed.table import kind_of
from dragoman.errors import CodecError, ProviderError
from dragoman.events import Event, WireEvent, assemble
from dragoman.jsontext import to_json
from dragoman.types import Message, Opaque, Request, Response
from tests.support.leaves import NOTHING, same


class What(StrEnum):
    """What becomes of a word: it is lost, refused, or kept for its own wire alone."""

    LOST = "lost"
    REFUSED = "refused"
    KEPT = "kept"


class Finding(NamedTuple):
    """What becomes of `word` on a wire."""

    api: str
    way: str
    what: What
    word: str


def findings(api: str, way: str, sample: Any) -> Iterator[Finding]:
    """The findings of a sample of an API's body; of a stream's frames, where that is the way."""
    codec = CODECS[api]
    try:
        found = _WAYS[way](codec, sample)
    except Unsupported as error:
        found = [(What.REFUSED, error.path.removeprefix("$."))]
    except (CodecError, ProviderError) as error:
        found = [(What.REFUSED, f"{type(error).__name__}: {error}")]
    for what, word in dict.fromkeys(found):
        yield Finding(api, way, what, word)


Found = list[tuple[What, str]]


def _of_request(codec: Codec, body: Any) -> Found:
    request = codec.decode_request(body)
    return [*_lost(body, codec.encode_request(request)), *_kept_of_request(codec.name, request)]


def _of_answer(codec: Codec, body: Any) -> Found:
    response = codec.decode_response(body)
    lost = _lost(body, codec.encode_response(response))
    return [*lost, *_unread(codec, [body]), *_kept_of_response(codec.name, response)]


def _of_stream(codec: Codec, bodies: Any) -> Found:
    decoder, encoder = codec.decode_stream(), codec.encode_stream()
    events: list[Event] = [event for body in bodies for event in decoder.feed(_frame(codec, body))]
    events += decoder.close()
    written = [*(frame for event in events for frame in encoder.feed(event)), *encoder.close()]
    sent = [_named(frame, body) for body in bodies for frame in [_frame(codec, body)]]
    got = [_named(frame, json.loads(frame.data)) for frame in written if frame.data[:1] == "{"]
    names = {name for name, _ in sent}  # others are marks of ours, not events of the wire
    beside = [(What.KEPT, f"event:{one.name}") for one in events if isinstance(one, WireEvent) and one.name in names]
    return [
        *_lost_of_stream(sent, got),
        *beside,
        *_unread(codec, bodies),
        *_kept_of_response(codec.name, assemble(events)),
    ]


_WAYS = {"request": _of_request, "answer": _of_answer, "stream": _of_stream}

# ── lost: leaf by leaf ───────────────────────────────────────────────────────


def _said(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a body, each at a path that names the kinds of the objects it leads through."""
    if isinstance(value, Mapping):
        kind = value.get("type") or value.get("role")
        here = f"{path}<{kind}>" if path.endswith("[]") and isinstance(kind, str) else path
        for key, one in value.items():
            yield from _said(one, f"{here}.{key}" if here else key)
    elif isinstance(value, list):
        for one in value:
            yield from _said(one, f"{path}[]")
    elif value not in NOTHING:
        yield path, value


def _lost(sent: Any, got: Any) -> Found:
    known = _Values([got])
    return [(What.LOST, path) for path, value in _said(sent) if not known.say(path, value)]


def _lost_of_stream(sent: list[tuple[str, Any]], got: list[tuple[str, Any]]) -> Found:
    """Events that are not told, and leaves that no event says: what one says may stand in another, or in several."""
    names, known = {name for name, _ in got}, _Values([body for _, body in got])
    untold = dict.fromkeys(name for name, body in sent if name not in names and not _is_empty(body))
    lost = [f"{name} {path}" for name, body in sent for path, value in _said(body) if not known.say(path, value)]
    return [*((What.LOST, f"event:{name}") for name in untold), *((What.LOST, path) for path in lost)]


def _is_empty(body: Any) -> bool:
    """Is this an event that should bring a piece, and brings none?"""
    return "delta" in body and all(_last(path) in _NOISE for path, _ in _said(body))


_NOISE = frozenset({"sequence_number", "obfuscation", "type", "event_type", "index", "output_index", "content_index"})
"""What is counted anew, and names of events and parts: those are looked at as such."""
_SAME = frozenset({"text", "delta", "content", "thinking", "summary", "input", "system", "result", "stop", "output"})
"""Keys under which texts stand: whether alone or as a part of a list, whole or as pieces."""


class _Values:
    """What bodies say, by the last key of each path: a value may have moved to another place of the same name."""

    def __init__(self, bodies: list[Any]) -> None:
        self._values: dict[str, list[Any]] = {}
        for body in bodies:
            for path, value in _said(body):
                self._values.setdefault(_last(path), []).append(value)
        pieces = [value for value in self._values.get("text", ()) if isinstance(value, str)]
        self._values.setdefault("text", []).append("".join(pieces))

    def say(self, path: str, value: Any) -> bool:
        """Do they say this value under this name?  A switch that is off needs not be said."""
        key = _last(path)
        return value is False or key in _NOISE or any(same(value, one) for one in self._values.get(key, ()))


def _last(path: str) -> str:
    """The last key of a path; a text's, whatever it is called."""
    key = _LISTED.sub("", path).rpartition(".")[2]
    return "text" if key in _SAME else key


_LISTED = re.compile(r"\[\](<\w+>)?$")


def _frame(codec: Codec, body: Mapping[str, Any]) -> Frame:
    if codec.frames is FrameKind.AWS:
        name, inner = next(iter(body.items()))
        return Frame(to_json(inner), name)
    return Frame(to_json(body), "")


def _named(frame: Frame, body: Any) -> tuple[str, Any]:
    if frame.event and "type" not in body and "event_type" not in body:
        return frame.event, json.loads(frame.data)
    return str(body.get("type") or body.get("event_type") or frame.event), body


_WHY = re.compile(
    r"((choices\[\]|delta)\.)?finish_reason|((delta|message)\.)?stop_reason|candidates\[\]\.finishReason|(\w+\.)?stopReason|done_reason"
)
"""Where a body says why the answer stopped."""


def _unread(codec: Codec, bodies: Iterable[Any]) -> Iterator[tuple[What, str]]:
    """Words for why an answer stopped that mean nothing to us: they are an end like any other."""
    known = {word.lower() for word in getattr(codec.decode_stream, "stops", ())}
    for path, value in (leaf for body in bodies for leaf in _said(body)):
        if _WHY.fullmatch(path) and isinstance(value, str) and value.lower() not in known:
            yield What.KEPT, f"stop:{value}"


# ── kept: without a word elsewhere ───────────────────────────────────────────

_NESTED = ("generationConfig", "generation_config", "output_config", "reasoning", "text", "thinking", "options",
           "metadata", "audio")  # fmt: skip
"""Fields whose own fields are settings each."""
_OTHERWISE = frozenset({"tools", "tool_choice", "web_search_options"})
"""Fields that are looked at for what stands in them."""


def _kept_of_request(api: str, request: Request) -> Iterator[tuple[What, str]]:
    extra = request.extra if isinstance(request.extra, WireFields) else {}
    yield from ((What.KEPT, f"field:{word}") for word in _words(extra) if not _crosses(api, word))
    for one in extra.get("tools") or ():
        if isinstance(one, Mapping) and not _means_elsewhere(one):
            yield What.KEPT, f"tool:{kind_of(one)}"
    yield from _kept_parts(request.messages)


def _kept_of_response(api: str, response: Response) -> Iterator[tuple[What, str]]:
    extra = response.extra if isinstance(response.extra, WireFields) else {}
    yield from ((What.KEPT, f"field:{word}") for word in extra if not _crosses(api, word))
    yield from _kept_parts([response.message])


def _kept_parts(messages: Iterable[Message]) -> Iterator[tuple[What, str]]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, Opaque):
                yield What.KEPT, f"part:{kind_of(part.block)}"


def _words(extra: Mapping[str, Any]) -> Iterator[str]:
    for key, value in extra.items():
        if key in _NESTED and isinstance(value, Mapping):
            yield from (f"{key}.{inner}" for inner in value)
        elif key not in _OTHERWISE:
            yield key


def _crosses(api: str, word: str) -> bool:
    """Has a setting a word of this wire that begins so?"""
    paths = (row.words.get(api, "").partition("[")[0] for row in SETTINGS)
    return any(path == word or path.startswith(f"{word}.") or word.startswith(f"{path}.") for path in paths if path)


def _means_elsewhere(definition: Mapping[str, Any]) -> bool:
    kind = kind_named(definition)
    return any(row.kind == kind and row.write for row in HOSTED)
