"""A stream that comes as one JSON array is read element by element; one that is framed as another wire's is read so."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import CODECS
from dragoman.codecs.shared.array_frames import ArrayReader
from dragoman.codecs.shared.frame_stream import FrameStream
from dragoman.codecs.shared.frames import FrameKind
from dragoman.codecs.shared.framing import is_framed
from dragoman.events import TextDelta, assemble

HARD: list[Any] = [{"t": 'a]},{"x":"\\" [{'}, {"é€🚀": {"[": ["]", {"}": []}]}}, {}, {"u": "\\\\"}]
ARRAYS: list[tuple[str, bytes, list[Any]]] = [
    ("elements", json.dumps(HARD).encode(), HARD),
    ("as it is in UTF-8", json.dumps(HARD, ensure_ascii=False).encode(), HARD),
    ("with white space", json.dumps(HARD, indent=2).encode(), HARD),
    ("as Google writes it", b'[{"a": 1}\n,\r\n{"b": 2}\n]\n', [{"a": 1}, {"b": 2}]),
    ("behind a BOM", b'\xef\xbb\xbf\r\n [{"a": 1}]', [{"a": 1}]),
    ("no element", b"[]", []),
    ("elements that are none", b'[1, "{", null, [{"b": 2}], {"a": 1}]', [{"a": 1}]),
    ("more behind it", b'[{"a": 1}] {"b": 2}]', [{"a": 1}]),
    ("no end", b'[{"a": 1},', [{"a": 1}]),
    ("nothing", b"", []),
]


def texts(*pieces: bytes) -> list[str]:
    reader = ArrayReader()
    return [frame.data for piece in pieces for frame in reader.feed(piece)] + [one.data for one in reader.close()]


@pytest.mark.parametrize(("what", "data", "wanted"), ARRAYS, ids=[what for what, _, _ in ARRAYS])
def test_each_object_is_a_frame_however_it_is_cut(what: str, data: bytes, wanted: list[Any]) -> None:
    assert [*map(json.loads, texts(data))] == wanted
    assert [*map(json.loads, texts(*(data[i : i + 1] for i in range(len(data)))))] == wanted
    for cut in range(len(data)):
        assert [*map(json.loads, texts(data[:cut], data[cut:]))] == wanted


def test_an_element_comes_with_the_byte_that_completes_it() -> None:
    reader = ArrayReader()
    assert [reader.feed(piece) for piece in (b'[{"a": ', b"1")] == [[], []]
    assert [frame.data for frame in reader.feed(b"},")] == ['{"a": 1}']


def test_an_element_that_the_stream_ends_in_is_told() -> None:
    assert texts(b'[{"a": 1}, {"b": "x') == ['{"a": 1}', '{"b": "x']


SCRAPS = [b"[", b"]", b"{", b"}", b'"', b"\\", b",", b"a", "é".encode(), b"\xff", b"\n"]


@given(st.lists(st.sampled_from(SCRAPS)).map(b"".join), st.integers(0), st.integers(0))
def test_any_split_of_any_bytes_gives_the_same_frames(data: bytes, one: int, other: int) -> None:
    first, last = sorted((one % (len(data) + 1), other % (len(data) + 1)))
    assert texts(data[:first], data[first:last], data[last:]) == texts(data)


# ── by its beginning ─────────────────────────────────────────────────────────


def gemini(text: str, **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, **more}]}


def ollama(text: str, *, done: bool = False) -> dict[str, Any]:
    return {"model": "m", "message": {"role": "assistant", "content": text}, "done": done}


def chat(text: str, stop: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": stop}]}


PLACES: list[tuple[str, str, bytes]] = [
    ("an array", "gemini", json.dumps([gemini("Hé"), gemini("llo", finishReason="STOP")]).encode()),
    ("an array", "ollama_chat", json.dumps([ollama("Hé"), ollama("llo", done=True)], ensure_ascii=False).encode()),
    ("an array", "openai_chat", json.dumps([chat("Hé"), chat("llo", "stop")], indent=1).encode()),
    ("events", "ollama_chat",
     b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in (ollama("Hé"), ollama("llo", done=True)))),
    ("events behind a comment", "ollama_chat",
     b": hi\n\nevent: x\ndata: " + json.dumps(ollama("Héllo", done=True)).encode() + b"\r\n\r\n"),
    ("events without blank lines", "openai_chat",
     b"".join(b"data: " + json.dumps(one).encode() + b"\n" for one in (chat("Hé"), chat("llo", "stop"))) + b"data: [DONE]\n"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "api", "data"), PLACES, ids=[f"{api}: {what}" for what, api, _ in PLACES])
def test_a_stream_is_read_as_it_begins(what: str, api: str, data: bytes) -> None:
    for size in (1, 7, 64, len(data)):
        stream = FrameStream(CODECS[api])
        events = [event for at in range(0, len(data), size) for event in stream.feed(data[at : at + size])]
        assert assemble([*events, *stream.close()]).text == "Héllo"


def test_the_elements_of_an_array_leave_as_they_come() -> None:
    stream = FrameStream(CODECS["gemini"])
    begin, behind = json.dumps([gemini("Hé"), gemini("llo", finishReason="STOP")]).split("}, {", 1)
    assert [e.text for e in stream.feed(f"{begin}}},".encode()) if isinstance(e, TextDelta)] == ["Hé"]
    assert [e.text for e in stream.feed(f"{{{behind}".encode()) if isinstance(e, TextDelta)] == ["llo"]


BEGINNINGS: list[tuple[bytes, FrameKind, bool | None]] = [
    (b"", FrameKind.SSE, None),
    (b"\xef\xbb\xbf\r\n ", FrameKind.SSE, None),
    (b'{"a": 1}', FrameKind.SSE, None),
    (b'{"a": 1}\n\n', FrameKind.SSE, None),
    (b'{"a": 1}\n{', FrameKind.SSE, True),
    (b'{"a": 1}{\n', FrameKind.SSE, False),
    (b"{\n", FrameKind.SSE, False),
    (b'{"a": 1}\n{', FrameKind.AWS, False),
    (b"\0\0", FrameKind.AWS, True),
    (b"[", FrameKind.SSE, True),
    (b"d", FrameKind.SSE, True),
    (b"d", FrameKind.NDJSON, True),
    (b"[", FrameKind.NDJSON, True),
    (b"{", FrameKind.NDJSON, None),
    (b"{}\n", FrameKind.NDJSON, True),
    (b"{\n", FrameKind.NDJSON, False),
    (b"<html>\n", FrameKind.NDJSON, False),
]


@pytest.mark.parametrize(("begin", "kind", "framed"), BEGINNINGS)
def test_frames_are_told_from_one_text_by_the_beginning(begin: bytes, kind: FrameKind, framed: bool | None) -> None:
    assert is_framed(begin, kind) is framed
