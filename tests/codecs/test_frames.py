"""Framing: bytes ⇄ frames, the same under any split."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs.shared.frames import (
    KEEP_ALIVE,
    AwsReader,
    Frame,
    FrameKind,
    NdjsonReader,
    Reader,
    SseReader,
    readers,
    write_aws,
    write_ndjson,
    write_sse,
    writers,
)
from dragoman.errors import ErrorKind, ProviderError, UsageError
from dragoman.jsontext import to_json
from tests.support import places

GOLDEN = places.RECORDINGS / "golden-streams"


def read(reader: Reader, *pieces: bytes) -> list[Frame]:
    return [frame for piece in pieces for frame in reader.feed(piece)] + reader.close()


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    at = sorted({0, len(data), *(c % (len(data) + 1) for c in cuts)})
    return [data[a:b] for a, b in itertools.pairwise(at)]


# (what it shows, bytes, frames).  Source: WHATWG HTML, "Interpreting an event stream", unless said otherwise.
SSE = [
    ("one event", b"data: a\n\n", [Frame("a")]),
    ("no space after the colon", b"data:a\n\n", [Frame("a")]),
    ("only one space is dropped", b"data:  a \n\n", [Frame(" a ")]),
    ("several data lines join", b"data: a\ndata: b\n\n", [Frame("a\nb")]),
    ("CRLF", b"data: a\r\n\r\ndata: b\r\n\r\n", [Frame("a"), Frame("b")]),
    ("CR alone", b"data: a\r\rdata: b\r\r", [Frame("a"), Frame("b")]),
    ("mixed line ends", b"data: a\r\n\ndata: b\r\r\n", [Frame("a"), Frame("b")]),
    ("name and id", b"event: e\nid: 7\ndata: a\n\n", [Frame("a", "e", "7")]),
    ("name and id are of one event", b"event: e\nid: 7\ndata: a\n\ndata: b\n\n", [Frame("a", "e", "7"), Frame("b")]),
    ("comments are dropped", b": hi\n\n: keep-alive\ndata: a\n:x\n\n", [Frame("a")]),
    ("our own keep-alive is no frame", KEEP_ALIVE + b"data: a\n\n" + KEEP_ALIVE, [Frame("a")]),
    ("unknown fields are dropped", b"retry: 5\nfoo: bar\ndata: a\n\n", [Frame("a")]),
    ("an id with NUL is ignored", b"id: a\0b\ndata: a\n\n", [Frame("a")]),
    ("a field without a colon", b"data\ndata\n\n", [Frame("\n")]),
    ("a BOM at the start", b"\xef\xbb\xbfdata: a\n\n", [Frame("a")]),
    ("a BOM elsewhere is a character", b"data: \xef\xbb\xbfa\n\n", [Frame("\ufeffa")]),
    ("an event without data is dropped", b"event: ping\n\ndata: a\n\n", [Frame("a")]),
    ("a name with empty data is told", b"event: done\ndata:\n\n", [Frame("", "done")]),
    ("empty data without a name is a keep-alive", b"data:\n\ndata: a\n\n", [Frame("a")]),
    ("objects without blank lines between them", b'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n\n',
     [Frame('{"a":1}'), Frame('{"b":2}'), Frame("[DONE]")]),
    ("an object over several lines", b'data: {"a":\ndata: {"b":2}}\n\n', [Frame('{"a":\n{"b":2}}')]),
    ("a missing last blank line", b"data: a\n\ndata: b", [Frame("a"), Frame("b")]),
    ("U+2028 does not end a line", "data: a\u2028b\n\n".encode(), [Frame("a\u2028b")]),
    ("form feed does not end a line", b"data: a\x0cb\n\n", [Frame("a\x0cb")]),
    ("bytes that are not UTF-8", b"data: a\xff\xe2\x82\ndata: b\n\n", [Frame("a\ufffd\ufffd\nb")]),
    ("nothing", b"", []),
    ("blank lines only", b"\n\n\r\n\r", []),
]  # fmt: skip

NDJSON = [
    ("two lines", b'{"a":1}\n{"b":2}\n', [Frame('{"a":1}'), Frame('{"b":2}')]),
    ("a missing last newline", b'{"a":1}\n{"b":2}', [Frame('{"a":1}'), Frame('{"b":2}')]),
    ("blank lines are nothing", b'\n \n{"a":1}\r\n\r\n\t\n', [Frame('{"a":1}')]),
    ("U+2028 does not end a line", '{"a":"\u2028"}\n'.encode(), [Frame('{"a":"\u2028"}')]),
    ("a BOM at the start", b"\xef\xbb\xbf1\n", [Frame("1")]),
    ("nothing", b"", []),
]

CASES = [(FrameKind.SSE, *row) for row in SSE] + [(FrameKind.NDJSON, *row) for row in NDJSON]
IDS = [f"{kind}: {what}" for kind, what, _, _ in CASES]


@pytest.mark.parametrize(("kind", "what", "data", "frames"), CASES, ids=IDS)
class TestReading:
    def test_whole(self, kind: FrameKind, what: str, data: bytes, frames: list[Frame]) -> None:
        assert read(readers[kind](), data) == frames

    def test_byte_by_byte(self, kind: FrameKind, what: str, data: bytes, frames: list[Frame]) -> None:
        assert read(readers[kind](), *(bytes([b]) for b in data)) == frames

    def test_every_cut_in_two(self, kind: FrameKind, what: str, data: bytes, frames: list[Frame]) -> None:
        for cut in range(len(data) + 1):
            assert read(readers[kind](), data[:cut], data[cut:]) == frames

    def test_what_was_read_is_written_so_that_it_reads_again(
        self, kind: FrameKind, what: str, data: bytes, frames: list[Frame]
    ) -> None:
        assert read(readers[kind](), *map(writers[kind], frames)) == frames


SCRAPS = [
    b"data: ", b"data", b"event: e", b":c", b"\r", b"\n", b"\r\n", "é€".encode(), b"\xff", b"id: 1", "\ufeff".encode(),
]  # fmt: skip


@given(st.lists(st.sampled_from(SCRAPS)).map(b"".join), st.lists(st.integers(0)))
def test_any_split_of_any_bytes_gives_the_same_frames(data: bytes, cuts: list[int]) -> None:
    for kind in (FrameKind.SSE, FrameKind.NDJSON):
        assert read(readers[kind](), *split(data, cuts)) == read(readers[kind](), data)


LINE = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"))
DATA = st.text().filter(lambda t: not t.startswith("{")).map(lambda t: t.replace("\r\n", "\n").replace("\r", "\n"))


@given(st.lists(st.builds(Frame, DATA.filter(bool), LINE, LINE)), st.lists(st.integers(0)))
def test_written_events_read_the_same_under_any_split(frames: list[Frame], cuts: list[int]) -> None:
    assert read(SseReader(), *split(b"".join(map(write_sse, frames)), cuts)) == frames


@given(st.lists(st.builds(Frame, st.text(), st.text(max_size=60), st.just(""))), st.lists(st.integers(0)))
def test_written_aws_messages_read_the_same_under_any_split(frames: list[Frame], cuts: list[int]) -> None:
    assert read(AwsReader(), *split(b"".join(map(write_aws, frames)), cuts)) == frames


def test_frames_come_with_the_byte_that_completes_them() -> None:
    reader = SseReader()
    assert reader.feed(b"data: a\r\n\r") == [Frame("a")]
    assert reader.feed(b"\ndata: b\n") == []
    assert reader.feed(b"\n") == [Frame("b")]


@pytest.mark.parametrize("data", ["a\nb", "a\r\nb", "a\rb"])
def test_line_breaks_in_data_become_data_lines(data: str) -> None:
    assert write_sse(Frame(data)) == b"data: a\ndata: b\n\n"


@pytest.mark.parametrize("frame", [Frame("", "a\nb"), Frame("", "", "a\rb")])
def test_names_and_ids_of_several_lines_are_usage_errors(frame: Frame) -> None:
    with pytest.raises(UsageError, match="line breaks"):
        write_sse(frame)


def test_json_laid_out_over_lines_is_written_as_one() -> None:
    frame = Frame('{\n  "a": "x\\ny"\r\n}')
    assert [json.loads(f.data) for f in read(NdjsonReader(), write_ndjson(frame))] == [{"a": "x\ny"}]


# The format's published test vectors (Smithy): no headers and no payload; a header of type int32.
PUBLISHED = [
    (b"\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2H\xeb}\x98\xc8\xff", Frame("")),
    (
        b"\x00\x00\x00+\x00\x00\x00\x0e4\x8b\xec{\x08event-id\x04\x00\x00\xa0\x0c{'foo':'bar'}\xd3\x89\x02\x85",
        Frame("{'foo':'bar'}"),
    ),
]


@pytest.mark.parametrize(("message", "frame"), PUBLISHED)
def test_published_aws_messages_are_read(message: bytes, frame: Frame) -> None:
    assert read(AwsReader(), message, message) == [frame, frame]


def test_an_aws_message_is_laid_out_as_published() -> None:
    message = write_aws(Frame('{"a":1}', "messageStart"))
    assert int.from_bytes(message[:4]) == len(message)
    assert message[12:13] == bytes([len(":event-type")])
    assert message[-11:-4] == b'{"a":1}'
    assert read(AwsReader(), message) == [Frame('{"a":1}', "messageStart")]


def test_an_aws_exception_is_named_by_its_type() -> None:
    assert b":exception-type" in write_aws(Frame("{}", "throttlingException"))
    assert read(AwsReader(), write_aws(Frame("{}", "throttlingException"))) == [Frame("{}", "throttlingException")]


@pytest.mark.parametrize("at", [2, 9, 20, -5, -1])
def test_a_flipped_bit_in_an_aws_message_is_noticed(at: int) -> None:
    message = bytearray(write_aws(Frame('{"a":1}', "messageStart")))
    message[at] ^= 1
    with pytest.raises(ProviderError, match="garbled") as caught:
        read(AwsReader(), bytes(message))
    assert caught.value.kind is ErrorKind.GARBLED


def test_an_aws_stream_cut_inside_a_message_is_noticed() -> None:
    with pytest.raises(ProviderError, match="ended inside a message"):
        read(AwsReader(), write_aws(Frame("{}", "e"))[:-3])


@pytest.mark.parametrize("kind", FrameKind)
def test_every_kind_of_frame_is_read_and_written(kind: FrameKind) -> None:
    assert read(readers[kind](), writers[kind](Frame('{"a":1}'))) == [Frame('{"a":1}')]


# ── to_json ──────────────────────────────────────────────────────────────────


def test_json_is_ascii_without_line_ends() -> None:
    text = to_json({"a": "\u2028\u2029\x85é"})
    assert text.isascii()
    assert "\n" not in text
    assert json.loads(text) == {"a": "\u2028\u2029\x85é"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_json_says_what_it_was_given(value: object) -> None:
    assert json.loads(to_json(value)) == value


EXACT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["null", "nan", "\x7f", "\ud800"]),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner).map(MappingProxyType),
)


@given(EXACT)
def test_one_spelling_whatever_engine_writes_it(value: object) -> None:
    plain = json.dumps(value, allow_nan=False, separators=(",", ":"), default=dict)
    assert to_json(value) == plain


HOLES = st.recursive(
    st.none() | st.just("null") | st.sampled_from([1.5, float("nan"), float("inf"), -float("inf")]),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner).map(MappingProxyType),
)


@given(HOLES)
def test_a_number_that_is_none_is_never_written_as_null(value: object) -> None:
    try:
        plain = json.dumps(value, allow_nan=False, separators=(",", ":"), default=dict)
    except ValueError:
        with pytest.raises(UsageError, match="not JSON"):
            to_json(value)
    else:
        assert to_json(value) == plain


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {1, 2}, object()])
def test_what_json_cannot_say_is_the_callers_mistake(value: object) -> None:
    with pytest.raises(UsageError, match="not JSON"):
        to_json(value)


def test_endless_nesting_is_a_usage_error_too() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(UsageError, match="not JSON"):
        to_json(value)


# ── streams that the official SDKs accepted ──────────────────────────────────

STREAMS = sorted(GOLDEN.glob("*.txt")) if GOLDEN.is_dir() else []


@pytest.mark.skipif(not STREAMS, reason="the outside vectors are not here")
@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.name)
@pytest.mark.parametrize("step", [1, 7, 4096])
def test_golden_streams_hold_json_frame_by_frame(path: Path, step: int) -> None:
    data = path.read_bytes()
    kind = FrameKind.NDJSON if ".ndjson" in path.name else FrameKind.SSE
    frames = read(readers[kind](), *(data[i : i + step] for i in range(0, len(data), step)))
    payloads = [json.loads(f.data) for f in frames if f.data != "[DONE]"]
    assert len(payloads) == sum(line.lstrip().startswith(("data: {", "{")) for line in data.decode().splitlines())
    assert all(isinstance(p, dict) for p in payloads)
