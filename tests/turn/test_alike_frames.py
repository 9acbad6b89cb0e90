"""Recorded streams, however they are cut: what is read by likeness is what the wire's own rules read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.codecs import CODECS
from dragoman.codecs.shared import frame_stream
from dragoman.codecs.shared.frames import Frame, FrameKind, writers
from dragoman.errors import ProviderError
from dragoman.events import CallDelta, Event, ReasoningDelta, TextDelta
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.turn.response_reader import Streamed
from tests.support.recordings import SHARED, pieces, rows

FILES = {
    "anthropic_messages": "anthropic_messages", "openai_responses": "openai_responses", "ollama_chat": "ollama_chat",
    "gemini_generatecontent": "gemini", "gemini_interactions": "gemini_interactions", "cohere_chat": "cohere_chat",
}  # fmt: skip


def _streams() -> list[tuple[str, str, list[str]]]:
    """Name, API and frames' bodies of every recorded stream."""
    found = []
    for path in sorted((SHARED / "wire").glob("*.jsonl")):
        api = FILES.get(path.stem, "openai_chat" if path.stem.startswith("chat_") else "")
        for row in rows(path) if api else ():
            if row.get("stream") and isinstance(row["response"], list):
                found.append((f"{path.stem}/{row['id'][-60:]}", api, row["response"]))
    return found


STREAMS = _streams()
needs_recordings = pytest.mark.skipif(not STREAMS, reason="the recorded wires are not here")


def _written(api: str, bodies: list[str], newline: bytes = b"\n") -> bytes:
    codec = CODECS[api]
    frames = []
    for body in bodies:
        try:
            kind = json.loads(body).get("type")
        except (ValueError, AttributeError):
            kind = None
        named = isinstance(kind, str) and codec.frames is FrameKind.SSE
        frames.append(Frame(body, kind if named else ""))
    return b"".join(map(writers[codec.frames], frames)).replace(b"\n", newline)


def _read(api: str, chunks: list[bytes]) -> tuple[list[Event], str]:
    route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    source = Streamed(CODECS[api], lambda index: f"call_{index}", route)
    events: list[Event] = []
    try:
        for chunk in chunks:
            source.patience()
            events += source.feed(chunk)
        events += source.close()
    except ProviderError as error:
        return _joined(events), error.message
    return _joined(events), ""


def _joined(events: list[Event]) -> list[Event]:
    """What came together may be told together."""
    found: list[Event] = []
    for event in events:
        last = found[-1] if found else None
        if isinstance(event, CallDelta) and isinstance(last, CallDelta) and last.index == event.index:
            found[-1] = CallDelta(event.index, last.json + event.json)
        elif isinstance(event, TextDelta) and isinstance(last, TextDelta):
            found[-1] = TextDelta(last.text + event.text)
        elif isinstance(event, ReasoningDelta) and isinstance(last, ReasoningDelta):
            found[-1] = ReasoningDelta(last.text + event.text)
        else:
            found.append(event)
    return found


def _plainly(api: str, data: bytes) -> tuple[list[Event], str]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(frame_stream, "MOST_TRIES", 0)
        return _read(api, [data])


@needs_recordings
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_recorded_stream_cut_anywhere_says_the_same(data: st.DataObject) -> None:
    _, api, bodies = data.draw(st.sampled_from(STREAMS))
    stream = _written(api, bodies, data.draw(st.sampled_from([b"\n", b"\r\n"])))
    sizes = data.draw(st.sampled_from([[1], [7], [64], [333], [1500, 3], [4096], [10**9]]))
    chunks: list[bytes] = []
    at = 0
    while at < len(stream):
        size = sizes[len(chunks) % len(sizes)]
        chunks.append(stream[at : at + size])
        at += size
    assert _read(api, chunks) == _plainly(api, stream)


@needs_recordings
@pytest.mark.parametrize(("api", "bodies"), [row[1:] for row in STREAMS[::5]], ids=[row[0] for row in STREAMS[::5]])
def test_a_recorded_stream_that_comes_frame_by_frame_says_the_same(api: str, bodies: list[str]) -> None:
    assert _read(api, [_written(api, [body]) for body in bodies]) == _plainly(api, _written(api, bodies))


CHUNK: dict[str, Any] = {"id": "1", "object": "chat.completion.chunk", "created": 7, "model": "m"}


def _chunk(text: str, **more: Any) -> bytes:
    return b"data: " + json.dumps({**CHUNK, "choices": [{"index": 0, "delta": {"content": text}}], **more}).encode() + b"\n\n"


def test_most_frames_of_a_stream_are_read_by_likeness(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[Any] = []
    one = Streamed._one

    def watched(self: Streamed, given: str | bytes) -> Any:
        parsed.append(given)
        return one(self, given)

    monkeypatch.setattr(Streamed, "_one", watched)
    frames = [_chunk(f"word{n} é\n\"{{<", usage={"prompt_tokens": 9, "completion_tokens": n}) for n in range(200)]
    text = "".join(f"word{n} é\n\"{{<" for n in range(200))
    for chunks in (frames, [b"".join(frames)], list(pieces(b"".join(frames), 1000))):
        parsed.clear()
        events, _ = _read("openai_chat", chunks)
        assert "".join(event.text for event in events if isinstance(event, TextDelta)) == text
        assert len(parsed) <= 4 + len([chunk for chunk in chunks if not chunk.endswith(b"\n\n")]) * 2


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("ends", range(2, 8))
@pytest.mark.parametrize("size", [1, 2, 3, 5, 64, 10**9])
def test_any_number_of_line_ends_may_follow_a_frame(newline: str, ends: int, size: int) -> None:
    words = [f"w{n} " for n in range(12)]
    written = "".join(_chunk(word).decode().rstrip("\n") + newline * ends for word in words).encode()
    for data in (written, newline.encode() + written):
        events, failure = _read("openai_chat", list(pieces(data, size)))
        assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "".join(words)
        assert not failure
