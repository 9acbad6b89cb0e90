"""What the codec tests share: recorded wires, bytes cut anywhere, streams folded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dragoman.codecs import CODECS
from dragoman.codecs.shared.frames import Frame, FrameKind, readers, writers
from dragoman.codecs.shared.spec import Codec
from dragoman.errors import ProviderError
from dragoman.events import CallDelta, CallEnded, CallStarted, Event, assemble, replay
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


def round_trip(codec: Codec, response: Response, *, whole_calls: bool = True) -> Response:
    """`response` written as a stream and read back."""
    return folded(codec, streamed(codec, replay(response), whole_calls=whole_calls))


def codec(name: str) -> Codec:
    """The codec called `name`."""
    return CODECS[name]


def assert_strict(events: list[Event]) -> None:
    """The law of `CallDelta`, and that every call that started has ended."""
    open_calls: dict[int, str] = {}
    for event in events:
        match event:
            case CallStarted(index):
                open_calls[index] = ""
            case CallDelta(index, piece):
                open_calls[index] += piece
            case CallEnded(index):
                json.loads(open_calls.pop(index) or "{}")
    assert not open_calls


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from paths_in(one, (*path, key))


def read(api: Codec, row: dict[str, Any]) -> tuple[Response | None, ProviderError | None]:
    if "response" in row:
        try:
            return api.decode_response(row["response"]), None
        except ProviderError as error:
            return None, error
    data = written(api, [_frame(api, one) for one in row["stream"]])
    events, failed = decoded(api, [data])
    for size in CHUNKS:
        assert decoded(api, pieces(data, size))[0] == events
    if failed is None:
        assert_strict(events)
    return assemble(events), failed


def _frame(api: Codec, one: Any) -> Frame:
    if isinstance(one, str):
        return Frame(one)
    if api.frames is FrameKind.AWS:
        ((name, fields),) = one.items()
        return Frame(json.dumps(fields), name)
    named = isinstance(one.get("type"), str)
    return Frame(json.dumps(one), one["type"] if named else "")


def assert_says(response: Response, row: dict[str, Any]) -> None:
    assert [(call.name, call.arguments) for call in response.calls] == [
        (call["name"], call["arguments"]) for call in row["calls"]
    ]
    ids = [call.id for call in response.calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert all(want.get("id", got) == got for want, got in zip(row["calls"], ids, strict=True))
    assert response.text == row.get("text", "")
    assert response.reasoning == row.get("reasoning", "")
    assert [issue.kind.value for issue in response.issues] == row.get("issues", []) or "error" in row
    if "raw" in row:
        assert [issue.raw for issue in response.issues] == row["raw"]
    if "stop" in row:
        assert (response.stop and response.stop.value) == row["stop"]
    if "usage" in row:
        assert response.usage is not None
        assert {key: n for key, n in asdict(response.usage).items() if n} == row["usage"]
