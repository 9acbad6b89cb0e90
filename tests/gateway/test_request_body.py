"""A request's body is the same however it comes, and is waited for no longer than allowed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest

from dragoman.gateway.http.request_body import Gone, Refused, read_body
from dragoman.jsontext import from_json

BODY = b'{"model": "m"}'
Receive = Callable[[], Awaitable[Any]]


def peer(*messages: Any, pause: float | None = None) -> Receive:
    """Gives these, each after a pause; then nothing any more."""
    waiting = iter(messages)

    async def receive() -> Any:
        if pause is not None:
            await asyncio.sleep(pause)
        message = next(waiting, None)
        if message is None:
            await asyncio.Event().wait()
        return message

    return receive


def piece(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


def read(receive: Receive, *, limit: int = 100, seconds: float | None = 0.2, length: int | None = None) -> bytes:
    headers = [] if length is None else [(b"content-length", str(length).encode())]
    return asyncio.run(read_body({"headers": headers}, receive, limit, seconds))


@pytest.mark.parametrize("pause", [None, 0.0, 0.01])
@pytest.mark.parametrize("sizes", [(14,), (5, 9), (1,) * 14, (14, 0), (0, 14)])
def test_a_body_is_put_together(sizes: tuple[int, ...], pause: float | None) -> None:
    places = [sum(sizes[:n]) for n in range(len(sizes) + 1)]
    pieces = [BODY[a:b] for a, b in pairwise(places)]
    messages = [piece(one, more=n + 1 < len(pieces)) for n, one in enumerate(pieces)]
    assert read(peer(*messages, pause=pause), seconds=1.0) == BODY


@pytest.mark.parametrize("pause", [None, 0.0])
def test_a_client_that_leaves_is_gone(pause: float | None) -> None:
    for messages in ([{"type": "http.disconnect"}], [piece(b"{", more=True), {"type": "http.disconnect"}]):
        with pytest.raises(Gone):
            read(peer(*messages, pause=pause))


@pytest.mark.parametrize("messages", [[], [piece(b"{", more=True)]])
def test_a_body_that_does_not_come_is_refused(messages: list[Any]) -> None:
    with pytest.raises(Refused, match=r"0\.05 s") as refused:
        read(peer(*messages), seconds=0.05)
    assert refused.value.status == 408


def test_a_body_that_is_too_large_is_refused_before_it_is_asked_for() -> None:
    asked: list[bool] = []

    async def receive() -> Any:
        asked.append(True)
        return piece(BODY)

    with pytest.raises(Refused, match="larger than 100 bytes"):
        read(receive, length=101)
    assert not asked
    for messages in ([piece(BODY)], [piece(b"{", more=True), piece(BODY)]):
        with pytest.raises(Refused, match="larger than 10 bytes") as refused:
            read(peer(*messages), limit=10)
        assert refused.value.status == 413


def test_whoever_stops_waiting_ends_the_waiting() -> None:
    ended: list[bool] = []

    async def receive() -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def work() -> None:
        task = asyncio.ensure_future(read_body({"headers": []}, receive, 100, None))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
    assert ended


@pytest.mark.parametrize(
    "text",
    ["0", "-0", "1e400", "-1E-400", "12345678901234567890123", "0.1234567890123456789", "9007199254740993", "[NaN]",
     '{"a": 1, "a": 2}', '"\\ud83d"', '"\\u0000\x7f é"', " [1, 2.0, null, true] ", '{"a": {"b": [{}]}}', "[" * 500 + "]" * 500],
)  # fmt: skip
def test_json_is_read_as_the_standard_library_reads_it(text: str) -> None:
    for data in (text.encode(), bytearray(text.encode()), text.encode("utf-16")):
        assert repr(from_json(data)) == repr(json.loads(data))


@pytest.mark.parametrize("text", ["", "{", "[1,]", "{'a': 1}", "nul", "1 2", "\ufeff1"])
def test_what_is_no_json_is_none_for_both(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        json.loads(text)
    with pytest.raises(ValueError, match=r"."):
        from_json(text.encode() if text[:1] != "\ufeff" else b"\xff\xfe\xff")
