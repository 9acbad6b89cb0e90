"""One body, or the bytes of one stream, of any API → its response.

Knows the codecs by name and the frames they come in; nothing of what a wire looks like.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import CodecError
from ...events import Assembler
from ...types import Response
from ..shared.frame_stream import FrameStream
from ..shared.spec import Codec


def decode_body(codec: Codec, body: Mapping[str, Any] | str | bytes) -> Response:
    """The response in a whole body, parsed or as JSON text.  Raises `CodecError` for what is not the API's."""
    if isinstance(body, str | bytes):
        try:
            body = json.loads(body)
        except ValueError as fault:
            raise CodecError(f"the body is not JSON: {fault}; pass the answer's body", "$", codec.name) from None
    if not isinstance(body, Mapping):
        raise CodecError("the body is not an object; pass the answer's body", "$", codec.name)
    return codec.decode_response(body)


def decode_chunks(codec: Codec, chunks: Iterable[bytes]) -> Response:
    """The response in a stream's bytes, however they are cut."""
    stream, assembler = FrameStream(codec), Assembler()
    for chunk in chunks:
        assembler.extend(stream.feed(chunk))
    assembler.extend(stream.close())
    return assembler.response()
