"""Bedrock's InvokeModel for Claude: Anthropic Messages in AWS's envelope.

Knows the envelope only: the model and the streaming stand in the path, a version in the body, and the stream is an AWS
event stream whose chunks are Anthropic's events, base64-encoded.  Everything else is `messages.py`.
Sources: Amazon Bedrock API reference (InvokeModelWithResponseStream, Anthropic Claude Messages); recorded bodies.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Collection, Iterable
from typing import Any

from ...errors import ProviderError
from ...events import Event, IssueReported, TextDelta
from ...jsontext import to_json
from ...types import JsonObject, Request
from ..bedrock import converse as bedrock_converse
from ..shared.body import mapping, string
from ..shared.errors import read_failure
from ..shared.frames import Frame, FrameKind
from ..shared.issues import frame_body, wire_fault
from ..shared.spec import PLAIN, UNSTAMPED, Codec, Ids, Progress, Quirks, Stamp
from . import messages as anthropic_messages
from .messages_requests import decode_request as decode_messages
from .messages_requests import encode_request as encode_messages

NAME = "bedrock_invoke"

_VERSION = "bedrock-2023-05-31"
_CHUNK = "chunk"


def encode_request(request: Request, quirks: Quirks = PLAIN) -> dict[str, Any]:
    """The body that makes `request`; its model and streaming belong into the path."""
    body = encode_messages(request, quirks)
    body.pop("model", None)
    body.pop("stream", None)
    return {"anthropic_version": _VERSION, **body}


def decode_request(body: JsonObject) -> Request:
    """The request `body` makes, without the model and the streaming, which stand in the path."""
    given = body
    if isinstance(body, dict) and body.get("anthropic_version") == _VERSION:
        given = {key: value for key, value in body.items() if key != "anthropic_version"}
    return decode_messages(given)


class _Decoder:
    """Chunks → Anthropic's frames → events."""

    like = None  # what may differ is wrapped

    def __init__(self, ids: Ids | None = None) -> None:
        self._inner = anthropic_messages.CODEC.decode_stream(ids)

    def expect(self, names: Collection[str]) -> None:
        self._inner.expect(names)

    @property
    def progress(self) -> Progress:
        return self._inner.progress

    def note(self, noise: JsonObject) -> None:
        return

    def feed_alike(self, text: str, noise: JsonObject) -> list[Event]:
        return []

    def feed(self, frame: Frame) -> list[Event]:
        if frame.event.endswith("Exception"):
            message = string(mapping(_parsed(frame.data)).get("message")) or frame.event
            raise read_failure(200, {"error": {"code": frame.event, "message": message}})
        body = frame_body(frame)
        if isinstance(body, IssueReported):
            return [body]
        if "bytes" not in body:  # recordings and proxies take the envelope off
            return self._inner.feed(frame)
        try:
            data = base64.b64decode(string(body["bytes"]), validate=True).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            return [wire_fault("a chunk is not base64; it was passed over", string(body["bytes"]))]
        return self._inner.feed(Frame(data))

    def close(self) -> list[Event]:
        return self._inner.close()


def _parsed(data: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


class _Encoder:
    """Events → Anthropic's frames → chunks."""

    number = 0  # they have none

    def __init__(self, stamp: Stamp = UNSTAMPED, request: Request | None = None, *, whole_calls: bool = True) -> None:
        self._inner = anthropic_messages.CODEC.encode_stream(stamp, request, whole_calls=whole_calls)

    def feed(self, event: Event) -> list[Frame]:
        return [_chunk(frame) for frame in self._inner.feed(event)]

    def runs(self, kind: type) -> bool:
        return False

    def go_on(self, texts: Iterable[str], write: Callable[[Frame], bytes]) -> bytes:
        return b"".join([write(_chunk(frame)) for text in texts for frame in self._inner.feed(TextDelta(text))])

    def edges(self, write: Callable[[Frame], bytes]) -> None:
        return None

    def close(self) -> list[Frame]:
        return [_chunk(frame) for frame in self._inner.close()]


def _chunk(frame: Frame) -> Frame:
    return Frame(to_json({"bytes": base64.b64encode(frame.data.encode()).decode()}), _CHUNK)


def encode_error(error: ProviderError | Exception) -> tuple[int, dict[str, Any]]:
    """The status and body of a refusal: AWS's, for the service refuses and not the model."""
    return bedrock_converse.encode_error(error)


CODEC = Codec(
    name=NAME,
    path="/model/{model}/invoke",
    stream_path="/model/{model}/invoke-with-response-stream",
    frames=FrameKind.AWS,
    encode_request=encode_request,
    decode_response=anthropic_messages.decode_response,
    decode_stream=_Decoder,
    decode_request=decode_request,
    encode_response=anthropic_messages.encode_response,
    encode_stream=_Encoder,
    encode_error=encode_error,
    error_frame=bedrock_converse.error_frame,
)
