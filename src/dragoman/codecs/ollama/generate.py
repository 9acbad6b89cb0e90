"""Ollama's completion: `POST /api/generate`, a prompt in, a text out.

Knows how it departs from /api/chat: a prompt and a system text in place of messages, `response` in place of a message.
A conversation is written as a transcript.
Sources: Ollama's api.md ("Generate a completion").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeGuard

from ...errors import CodecError
from ...events import assemble
from ...jsontext import to_json
from ...types import NOTHING, JsonObject, Media, Message, Part, Request, Response, Text
from ..shared.body import an_object, filled, mapping, string_at, strings_at
from ..shared.errors import raise_error
from ..shared.frames import Frame, FrameKind
from ..shared.media import media_kind
from ..shared.requests import with_quirks
from ..shared.spec import PLAIN, UNSTAMPED, Codec, Ids, Quirks, Stamp, WireFields, extra_for
from ..shared.transcript import instructions, transcript
from .chat import CODEC as CHAT_CODEC
from .chat import Decoder, LineEncoder, clock, encode_error, write_done
from .chat_requests import NAME as CHAT
from .chat_requests import image_type, read_request, write_request

NAME = "ollama_generate"

_OWN = frozenset({"raw", "suffix", "template", "context"})
"""Fields that make no sense in a chat: with one of them, the fields beside the prompt stay on this wire."""
_MODELLED = frozenset({"model", "prompt", "system", "images", "tools", "stream", "format", "options", "think"})


def decode_request(body: JsonObject) -> Request:
    """The request `body` makes.  Raises `CodecError` with the path of what is not this API."""
    body = an_object(body, "$")
    system, prompt = string_at(body, "system"), string_at(body, "prompt")
    images = [Media(mime=image_type(data), data=data) for data in strings_at(body, "images")]
    head = [Message("system", system)] if system else []
    prompted = [Message("user", [*([Text(prompt)] if prompt else []), *images])] if prompt or images else []
    request = read_request(body, (*head, *prompted), _MODELLED)
    return replace(request, extra=WireFields(NAME, request.extra)) if _OWN & set(request.extra) else request


def encode_request(request: Request, quirks: Quirks = PLAIN) -> dict[str, Any]:
    """The body that makes `request`: its instructions as `system`, its conversation as the prompt."""
    extra = dict(extra_for(CHAT, request.extra) or extra_for(NAME, request.extra))
    system, turns = instructions(request.messages)
    images = [part for turn in turns for part in turn.parts if _is_image(part)]
    talk = [replace(turn, parts=tuple(part for part in turn.parts if part not in images)) for turn in turns]
    body = {"model": request.model, "prompt": transcript(talk), **filled(system=system)}
    body |= filled(images=[image.data for image in images])
    return with_quirks(write_request(replace(request, tools=()), extra, body), extra, quirks)


def _is_image(part: Part) -> TypeGuard[Media]:
    return isinstance(part, Media) and bool(part.data) and media_kind(part) == "image"


def decode_response(body: JsonObject, ids: Ids | None = None) -> Response:
    """The answer in `body`.  Raises `ProviderError` for an error with status 200, `CodecError` for no answer."""
    body = an_object(body, "$")
    raise_error(body)
    if not isinstance(body.get("response"), str):
        raise CodecError("the answer has no response; retry the request", "$.response", NAME)
    return assemble(Decoder(ids).whole(body))


def encode_response(response: Response, stamp: Stamp = UNSTAMPED, request: Request | None = None) -> dict[str, Any]:
    """The body of a whole answer."""
    left = dict(extra_for(CHAT, response.extra))
    left.pop("message", None)
    head = {"model": stamp.model or response.model, "created_at": left.pop("created_at", None) or clock(stamp)}
    answer: dict[str, Any] = {"response": response.text}
    if response.reasoning:
        answer["thinking"] = response.reasoning
    return {**head, **answer, **write_done(response.stop, response.usage, 0, left)}


class _Encoder(LineEncoder):
    """Events → lines that hold their text themselves.  There is no place for calls."""

    def _line(self, message: JsonObject, done: Mapping[str, Any] = NOTHING) -> Frame:
        answer = {"response": mapping(message)["content"]}
        thinking = {"thinking": message["thinking"]} if "thinking" in message else {}
        head = {"model": self.model, "created_at": clock(self._stamp)}
        return Frame(to_json({**head, **answer, **thinking, **(done or {"done": False})}))


CODEC = Codec(
    name=NAME,
    path="/api/generate",
    stream_path="/api/generate",
    frames=FrameKind.NDJSON,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_stream=Decoder,
    decode_request=decode_request,
    encode_response=encode_response,
    encode_stream=_Encoder,
    encode_error=encode_error,
    error_frame=CHAT_CODEC.error_frame,
)
