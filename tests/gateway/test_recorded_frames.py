"""Streams whose frames are alike, written once: what they become, and that they come back byte for byte."""

from __future__ import annotations

import random

import pytest

from bench.load.said import PATHS, stream
from dragoman.gateway.inspector.frames import ALIKE, OTHER, folded, same_end, same_start, unfolded


def back(data: bytes) -> tuple[bytes, tuple[bytes, ...]]:
    text, frame = folded(data)
    assert unfolded(text.decode(), [each.decode() for each in frame]).encode() == data
    return text, frame


@pytest.mark.parametrize("api", sorted(PATHS))
@pytest.mark.parametrize("said", ["text", "thought", "call"])
def test_a_stream_comes_back_and_takes_less(api: str, said: str) -> None:
    data = b"".join(stream(api, said, 100))
    text, frame = back(data)
    if frame:
        assert len(text) <= len(data) * 2 / 3
        assert text.count(ALIKE) > 50
    if api in {"openai_chat", "anthropic_messages"}:
        assert len(text) < len(data) / 6


@pytest.mark.parametrize("end", ["\r\n\r\n", "\n\n", "\n"])
def test_frames_end_as_their_api_ends_them(end: str) -> None:
    data = "".join(f'data: {{"said": "word {n}", "of": "a choice that is always the same"}}{end}' for n in range(40)).encode()
    text, frame = back(data)
    assert frame[0] == end.encode()
    assert all(f"word {n}".encode() in text for n in range(40))


@pytest.mark.parametrize("data", [
    b"", b"\n", b"\n\n\n\n\n\n", b"{}", b'"', b"\n\n" * 500, b'"\n' * 500, b'"\n"' * 500, b"plain words\n" * 100,
    ALIKE.join([b'data: {"text": "the same"}\n\n'] * 50), OTHER.join([b'data: {"text": "the same"}\n\n'] * 50),
    b'{"a":""}\n' * 99, b'{"a":"\\n"}\n' * 99, b'{"a":""}\n\n' * 99 + b"[DONE]\n\n", b'{"a":"x"}\n\n\n\n' * 99, "data: é\n\n".encode() * 99, "é\n\n".encode() * 99,
])  # fmt: skip
def test_whatever_it_is_comes_back(data: bytes) -> None:
    back(data)


def test_whatever_pieces_it_is_made_of_comes_back() -> None:
    rng = random.Random(7)
    pieces = [b"data: ", b'{"a":"', b'"}', b"\n", b"\n\n", b"\r\n\r\n", b"x", "é".encode(), ALIKE, OTHER, b'"', b" ", b'{"a":"b"}\n\n' * 9]
    for _ in range(3000):
        back(b"".join(rng.choices(pieces, k=rng.randrange(40))))


def test_what_two_have_in_common() -> None:
    rng = random.Random(3)
    for _ in range(3000):
        one, two = (bytes(rng.choices(b"\0\1\xff", k=rng.randrange(6))) for _ in range(2))
        start, end = same_start(one, two), same_end(one, two)
        most = min(len(one), len(two))
        assert start == max(n for n in range(most + 1) if one[:n] == two[:n])
        assert end == max(n for n in range(most + 1) if one[len(one) - n :] == two[len(two) - n :])
