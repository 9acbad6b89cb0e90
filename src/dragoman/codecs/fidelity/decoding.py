"""One body, or the bytes of one stream, of any API → its response.

Knows the codecs by name and the frames they come in; nothing of what a wire looks like.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import CodecError, UsageError
from ...events import Assembler
from ...types import JsonObject, Response
from ..shared.answer_shapes import check_api, check_stream, failure_in
from ..shared.frame_stream import FrameStream
from ..shared.spec import Codec


def decode_body(codec: Codec, body: Mapping[str, Any] | str | bytes) -> Response:
    """The response in a whole body, parsed or as JSON text.  Raises `CodecError` for what is not the API's."""
    if isinstance(body, str | bytes | bytearray):
        try:
            body = json.loads(body)
        except ValueError as fault:
            raise CodecError(f"the body is not JSON: {fault}; pass the answer's body", "$", codec.name) from None
    if not isinstance(body, Mapping):
        raise CodecError("the body is not an object; pass the answer's body", "$", codec.name)
    return read_answer(codec, body, body)


def read_answer(codec: Codec, body: JsonObject, whole: JsonObject) -> Response:
    """The response in `whole`, which `body` is as it came, or is a part of.

    Raises `CodecError` for an answer of another API, or for none, and `ProviderError` where the body says why.
    """
    check_api(body, codec.name)
    try:
        return codec.decode_response(whole)
    except CodecError as error:
        raise failure_in(body) or error from None


def decode_chunks(codec: Codec, chunks: Iterable[bytes | str] | bytes | str) -> Response:
    """The response in a stream's bytes, however they are cut."""
    stream, assembler = FrameStream(codec), Assembler()
    whole = isinstance(chunks, str | bytes | bytearray | memoryview)
    if not isinstance(chunks, Iterable) or isinstance(chunks, Mapping):
        raise UsageError(NO_CHUNKS.format(kind=type(chunks).__name__))
    start = b""
    for chunk in (chunks,) if whole else chunks:
        data = _as_bytes(chunk)
        start += data[: LOOKED_AT - len(start)]
        assembler.extend(stream.feed(data))
    assembler.extend(stream.close())
    response = assembler.response()
    if not response.message.parts and response.stop is None:
        check_stream(start.decode("utf-8", "replace"), codec.name)
    return response


def _as_bytes(chunk: Any) -> bytes:
    if isinstance(chunk, str):
        return chunk.encode("utf-8", "surrogatepass")
    if not isinstance(chunk, bytes | bytearray | memoryview):
        raise UsageError(NO_CHUNKS.format(kind=type(chunk).__name__))
    return bytes(chunk)


LOOKED_AT = 8192
"""Bytes of a stream of which nothing was understood, in which is looked for what else it may be."""
NO_CHUNKS = "a {kind} is no piece of a stream; pass the bytes of the answer's body as they came, or decode(api, body)"
