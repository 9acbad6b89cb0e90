"""Event streams of AWS as botocore reads them, where it is installed: ours by its parser, and any by both."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs.shared.frames import AwsReader, Frame, write_aws
from dragoman.errors import ErrorKind, ProviderError

buffers: Any = pytest.importorskip("botocore.eventstream")

# header types of the format, and how a value of each is written (Smithy specification, "Header value type")
VALUES = st.one_of(
    st.sampled_from([(0, b""), (1, b"")]),
    *(st.tuples(st.just(kind), st.binary(min_size=n, max_size=n)) for kind, n in ((2, 1), (3, 2), (4, 4), (5, 8))),
    st.binary(max_size=40).map(lambda value: (6, struct.pack(">H", len(value)) + value)),
    st.text(max_size=20).map(str.encode).map(lambda value: (7, struct.pack(">H", len(value)) + value)),
    *(st.tuples(st.just(kind), st.binary(min_size=n, max_size=n)) for kind, n in ((8, 8), (9, 16))),
)
NAMES = st.one_of(
    st.sampled_from([":event-type", ":exception-type", ":content-type", ":message-type"]),
    st.text("abc-:", min_size=1, max_size=12),
)
HEADERS = st.dictionaries(NAMES, VALUES, max_size=5)


def _message(headers: dict[str, tuple[int, bytes]], payload: bytes) -> bytes:
    block = b"".join(bytes([len(name)]) + name.encode() + bytes([kind]) + raw for name, (kind, raw) in headers.items())
    lengths = struct.pack(">II", len(block) + len(payload) + 16, len(block))
    whole = lengths + struct.pack(">I", zlib.crc32(lengths)) + block + payload
    return whole + struct.pack(">I", zlib.crc32(whole))


def _read(data: bytes) -> list[tuple[dict[str, Any], bytes]]:
    """The messages as botocore's parser tells them."""
    buffer = buffers.EventStreamBuffer()
    buffer.add_data(data)
    return [(message.headers, message.payload) for message in buffer]


@given(st.lists(st.builds(Frame, st.text(), st.text(max_size=60), st.just(""))))
def test_what_we_write_botocore_reads(frames: list[Frame]) -> None:
    told = [(found, payload.decode()) for found, payload in _read(b"".join(map(write_aws, frames)))]
    names = [found.get(":event-type", found.get(":exception-type", "")) for found, _ in told]
    assert [Frame(text, name) for name, (_, text) in zip(names, told, strict=True)] == frames
    assert {found[":message-type"] for found, _ in told} <= {"event", "exception"}


@given(st.lists(st.tuples(HEADERS, st.text().map(str.encode))))
def test_of_any_message_we_read_what_botocore_does(messages: list[tuple[dict[str, tuple[int, bytes]], bytes]]) -> None:
    data = b"".join(_message(headers, payload) for headers, payload in messages)
    told = _read(data)
    frames = AwsReader().feed(data)
    assert [frame.data.encode() for frame in frames] == [payload for _, payload in told]
    for frame, (found, _) in zip(frames, told, strict=True):
        named = [found[name] for name in (":event-type", ":exception-type") if isinstance(found.get(name), str)]
        assert frame.event == (named[0] if named else "")


@given(HEADERS, st.binary(max_size=30), st.data())
def test_what_botocore_refuses_we_refuse(headers: dict[str, tuple[int, bytes]], payload: bytes, data: Any) -> None:
    whole = bytearray(_message(headers, payload))
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(buffers.ParserError):
        _read(bytes(whole))
    with pytest.raises(ProviderError) as told:
        AwsReader().feed(bytes(whole))
    assert told.value.kind is ErrorKind.GARBLED
