"""What the codec tests share: recorded wires, bytes cut anywhere, streams folded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dragoman.codecs import CODECS
from dragoman.codecs.shared.frames import Frame, readers, writers
from dragoman.codecs.shared.spec import Codec
from dragoman.errors import ProviderError
from dragoman.events import Event, assemble, replay
from dragoman.types import Response
from tests.support import places

VECTORS = places.VECTORS / "codecs"
SHARED = places.RECORDINGS
CHUNKS = (1, 7, 333)
"""Sizes of the pieces a stream is cut into; the whole in one piece is always tried too."""


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSONL file; none where it is absent."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    """`data` cut into pieces of `size`."""
    for at in range(0, len(data), size):
        yield data[at : at + size]


def decoded(codec: Codec, chunks: Iterable[bytes]) -> tuple[list[Event], ProviderError | None]:
    """The events of a stream of bytes, and the error that ended it."""
    reader, decoder = readers[codec.frames](), codec.decode_stream()
    events: list[Event] = []
    try:
        for chunk in chunks:
            for frame in reader.feed(chunk):
                events += decoder.feed(frame)
        for frame in reader.close():
            events += decoder.feed(frame)
        events += decoder.close()
    except ProviderError as error:
        return events, error
    return events, None


def written(codec: Codec, frames: Iterable[Frame]) -> bytes:
    """Frames as the bytes of a stream."""
    return b"".join(map(writers[codec.frames], frames))


def streamed(codec: Codec, events: Iterable[Event], *, whole_calls: bool = True) -> list[Frame]:
    """Events as the frames of a streamed answer."""
    encoder = codec.encode_stream(whole_calls=whole_calls)
    return [*(frame for event in events for frame in encoder.feed(event)), *encoder.close()]


def folded(codec: Codec, frames: Iterable[Frame]) -> Response:
    """A streamed answer, read back."""
    events, error = decoded(codec, [written(codec, frames)])
    assert error is None
    return assemble(events)


def retold(codec: Codec, response: Response, *, whole_calls: bool = True) -> Response:
    """`response` written as a stream and read back."""
    return folded(codec, streamed(codec, replay(response), whole_calls=whole_calls))


def codec(name: str) -> Codec:
    """The codec called `name`."""
    return CODECS[name]
