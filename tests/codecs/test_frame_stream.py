"""A stream's bytes, however they are cut, come to what the wire's own rules read in its frames, one by one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.codecs import CODECS
from dragoman.codecs.fidelity.decoding import decode_chunks
from dragoman.codecs.shared.frame_stream import SHORT, FrameStream
from dragoman.codecs.shared.frames import Frame, FrameKind, readers, writers
from dragoman.codecs.shared.halves import Halves
from dragoman.codecs.shared.spec import Codec
from dragoman.errors import ProviderError
from dragoman.events import (
    Assembler,
    CallDelta,
    CallEnded,
    CallStarted,
    Ended,
    Event,
    ReasoningDelta,
    Started,
    TextDelta,
)
from dragoman.types import Response, Stop, Usage
from tests.support import places
from tests.support.recordings import VECTORS, pieces, rows, streamed

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=9)
SIZES = st.lists(st.sampled_from([1, 2, 7, 64, 333, 1400, 5000, 10**9]), min_size=1, max_size=3)
NEWLINES = st.sampled_from([b"\n", b"\r\n", b"\r"])


def spoken(thoughts: list[str], said: list[str], arguments: list[str]) -> list[Event]:
    written = json.dumps({"path": "".join(arguments)})
    started: list[Event] = [CallStarted(0, "call_1", "f"), *(CallDelta(0, one) for one in written), CallEnded(0)]
    return [
        Started("m", "id"),
        *map(ReasoningDelta, thoughts),
        *map(TextDelta, said),
        *(started if arguments else []),
        Ended(Stop.TOOL_CALLS if arguments else Stop.END, Usage(input=1, output=2)),
    ]


def bytes_of(codec: Codec, frames: list[Frame], newline: bytes = b"\n") -> bytes:
    data = b"".join(map(writers[codec.frames], frames))
    return data if codec.frames is FrameKind.AWS else data.replace(b"\n", newline)


def one_by_one(codec: Codec, data: bytes) -> Response | str:
    reader, decoder, assembler, halves = readers[codec.frames](), codec.decode_stream(), Assembler(), Halves()
    try:
        frames = [whole for frame in (*reader.feed(data), *reader.close()) for whole in halves.feed(frame)]
        for frame in (*frames, *halves.close()):
            assembler.extend(decoder.feed(frame))
            if hasattr(decoder, "_like"):
                decoder._like = None
        assembler.extend(decoder.close())
    except ProviderError as error:
        return error.message
    return assembler.response()


def together(codec: Codec, chunks: list[bytes]) -> Response | str:
    try:
        return decode_chunks(codec, chunks)
    except ProviderError as error:
        return error.message


def cut(data: bytes, sizes: list[int]) -> list[bytes]:
    made: list[bytes] = []
    while data:
        size = sizes[len(made) % len(sizes)]
        made.append(data[:size])
        data = data[size:]
    return made


def shown(response: Response | str) -> str:
    """All that is in it, also what no comparison looks at."""
    if isinstance(response, str):
        return response
    return f"{response!r} {[(call.raw, call.report, call.arguments) for call in response.calls]}"


@pytest.mark.parametrize("api", CODECS)
@settings(max_examples=40, deadline=None)
@given(thoughts=TEXTS, said=TEXTS, arguments=TEXTS, whole=st.booleans(), newline=NEWLINES, sizes=SIZES)
def test_a_stream_cut_anywhere_says_what_its_frames_say(  # noqa: PLR0917
    api: str, thoughts: list[str], said: list[str], arguments: list[str], whole: bool, newline: bytes, sizes: list[int],
) -> None:  # fmt: skip
    codec = CODECS[api]
    data = bytes_of(codec, streamed(codec, spoken(thoughts, said, arguments), whole_calls=whole), newline)
    assert shown(together(codec, cut(data, sizes))) == shown(one_by_one(codec, data))


@pytest.mark.parametrize("size", [1, 50, 1400, 10**9])
@pytest.mark.parametrize("api", CODECS)
def test_a_recorded_stream_says_what_its_frames_say(api: str, size: int) -> None:
    codec = CODECS[api]
    for row in rows(VECTORS / f"{api}.jsonl"):
        frames = [_frame(one) for one in row.get("stream", ())]
        data = bytes_of(codec, frames)
        assert shown(together(codec, list(pieces(data, size)))) == shown(one_by_one(codec, data))


HAIRS = rows(places.VECTORS / "wires" / "hairs.jsonl")
"""Streams whose chunks differ from the one before by a hair: in more than one string, in a key, in a number's form."""


@pytest.mark.parametrize("row", HAIRS, ids=[row["id"] for row in HAIRS])
def test_a_chunk_that_differs_by_a_hair_says_what_it_says_alone(row: dict[str, Any]) -> None:
    codec, chunks = CODECS[row["api"]], [chunk.encode() for chunk in row["chunks"]]
    data = b"".join(chunks)
    alone = shown(one_by_one(codec, data))
    two_first = [*chunks[:2], b"".join(chunks[2:])]
    for cutting in (chunks, two_first, [data], list(pieces(data, 7))):
        assert shown(together(codec, cutting)) == alone


def _frame(one: Any) -> Frame:
    return Frame(one) if isinstance(one, str) else Frame(json.dumps(one), one.get("type") or "")


CHAT = CODECS["openai_chat"]
PIECES = [TextDelta(f"word {n} ") for n in range(200)]


def ordinary(monkeypatch: pytest.MonkeyPatch) -> list[str | bytes]:
    """What is read by the wire's rules from here on."""
    read: list[str | bytes] = []
    one = FrameStream._one

    def watched(self: FrameStream, given: str | bytes) -> Any:
        read.append(given)
        return one(self, given)

    monkeypatch.setattr(FrameStream, "_one", watched)
    return read


@pytest.mark.parametrize("size", [100, 1000, 1400])
def test_frames_that_two_reads_bring_are_read_by_likeness_too(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytes_of(CHAT, streamed(CHAT, [Started("m", "id"), *PIECES, Ended(Stop.END)]))
    read = ordinary(monkeypatch)
    assert decode_chunks(CHAT, pieces(data, size)).text == "".join(piece.text for piece in PIECES)
    assert len(read) < 8


def test_a_frame_is_told_as_soon_as_it_is_complete() -> None:
    for newline in (b"\n", b"\r\n", b"\r"):
        stream = FrameStream(CHAT)
        data = bytes_of(CHAT, streamed(CHAT, [Started("m", "id"), TextDelta("one"), TextDelta("two")]), newline)
        told = [[e.text for e in stream.feed(data[at : at + 1]) if isinstance(e, TextDelta)] for at in range(len(data))]
        ends = [at for at, texts in enumerate(told) if texts]
        frame = data.index(b"two", data.index(b"one"))
        assert [text for texts in told for text in texts] == ["one", "two"]
        assert data[ends[0] + 1 :].removeprefix(b"\n").startswith(b"data:")
        assert ends[0] < frame < ends[1]


def test_a_long_frame_is_handed_on_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    read = ordinary(monkeypatch)
    data = bytes_of(CHAT, streamed(CHAT, [Started("m", "id"), TextDelta("x" * 50 * SHORT), Ended(Stop.END)]))
    assert decode_chunks(CHAT, pieces(data, 100)).text == "x" * 50 * SHORT
    assert max(map(len, read)) <= SHORT + 100
