"""The body of a request: read within limits, and understood as JSON.

Bare ASGI.  Knows messages, codings and JSON; nothing of what a request means.
Contract: a body is never larger, nor of more values, nor longer on its way than is allowed, unpacked too; digits and
half surrogate pairs survive; a large one is understood beside the event loop.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from functools import partial
from typing import Any, TypeAlias

import orjson
from starlette.types import Message, Receive, Scope

from ...errors import CodecError, DragomanError
from ...jsontext import DIGITS, LONG_NUMBER
from ..config.model import Limits
from .offload import LARGE, offload

MOST_DIGITS = 1000
"""Digits of one number: what a longer one costs to read grows with their square."""
ODD = 4 * 1024 * 1024
"""Bytes of a body that is looked at a second time where the first reader refuses it."""
HALF = (b"\\ud", b"\\uD")
CODINGS: Mapping[str, tuple[int, ...]] = {"gzip": (31,), "x-gzip": (31,), "deflate": (15, -15)}
"""Content codings that are read, as zlib calls them; what is called deflate comes with a head and without."""
TOO_LARGE = "the request is larger than {limit} bytes; send less, or raise the gateway's limit"
TOO_SLOW = "the request did not arrive within {seconds:g} s; send it faster"
TOO_MANY = (
    "the request holds more than {limit} JSON values; send fewer tools or messages, or raise limits.max_json_values"
)


class Refused(DragomanError):
    """A body that is not taken; `status` says why."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


Reader: TypeAlias = "Callable[[bytes, Limits], tuple[Callable[[], Mapping[str, Any]], int]]"
"""What reads a body by what is known, and how many of its bytes are not."""


class Gone(Exception):
    """The client has gone away."""


def header(scope: Scope, name: bytes) -> str:
    """The header `name` (lower case), "" where there is none."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return ""


async def read_request(
    scope: Scope, receive: Receive, limits: Limits, known: Reader | None = None
) -> tuple[Mapping[str, Any], int]:
    """The request's body as a JSON object, and how many of its bytes are new; `known` reads what goes on with others.

    Raises Refused, CodecError, or Gone.
    """
    body = await read_body(scope, receive, limits.body, limits.body_timeout)
    coding = header(scope, b"content-encoding")
    if coding:
        body = await offload(unpacked, body, coding, limits.body)
    reading: Callable[[], Mapping[str, Any]] = partial(read_json, body, limits)
    fresh = len(body)
    if known is not None:
        reading, fresh = known(body, limits)
    return reading() if fresh <= LARGE else await offload(reading), fresh


# ── bytes ────────────────────────────────────────────────────────────────────


async def read_body(scope: Scope, receive: Receive, limit: int, seconds: float | None = None) -> bytes:
    """The request's body.  Raises Refused, or Gone."""
    size, first = _announced(scope, limit), _Begun(receive())
    if first.done and not first.value.get("more_body", False):  # as most come, and no clock is needed
        return _piece(first.value, size, limit)
    waiting = iter((first,))
    try:
        async with asyncio.timeout(seconds):
            pieces = _pieces(scope, lambda: next(waiting, None) or receive(), limit)
            return b"".join([piece async for piece in pieces])
    except TimeoutError:
        raise Refused(TOO_SLOW.format(seconds=seconds), 408) from None


class _Begun:
    """Something awaited that has begun, and may be `done`: its `value`.  To be awaited once."""

    done = False
    value: Any = None

    def __init__(self, awaitable: Awaitable[Any]) -> None:
        self._steps: Any = awaitable.__await__()
        self._go(self._steps.send, None)

    def __await__(self) -> Generator[Any, Any, Any]:
        """Wait for the rest."""
        while not self.done:
            try:
                reply = yield self._waits
            except BaseException as error:
                self._go(self._steps.throw, error)
            else:
                self._go(self._steps.send, reply)
        return self.value

    def _go(self, resume: Callable[[Any], Any], given: Any) -> None:
        try:
            self._waits = resume(given)
        except StopIteration as ended:
            self.done, self.value = True, ended.value


async def _pieces(scope: Scope, receive: Receive, limit: int) -> AsyncIterator[bytes]:
    size = _announced(scope, limit)
    while True:
        message = await receive()
        piece = _piece(message, size, limit)
        size += len(piece)
        yield piece
        if not message.get("more_body", False):
            return


def _announced(scope: Scope, limit: int) -> int:
    """The bytes that came before any did: none.  Raises Refused where more than `limit` are announced."""
    announced = header(scope, b"content-length")
    if announced.isdecimal() and (len(announced) > 18 or int(announced) > limit):
        raise Refused(TOO_LARGE.format(limit=limit), 413)
    return 0


def _piece(message: Message, size: int, limit: int) -> bytes:
    """The piece that a message brings behind so many bytes."""
    if message["type"] == "http.disconnect":
        raise Gone
    piece: bytes = message.get("body", b"")
    if size + len(piece) > limit:
        raise Refused(TOO_LARGE.format(limit=limit), 413)
    return piece


async def pieces_of(scope: Scope, receive: Receive, limits: Limits) -> AsyncIterator[bytes]:
    """The request's body as it comes; each piece has the time that a JSON body has.  Raises Refused, or Gone."""
    pieces, seconds = _pieces(scope, receive, limits.body), limits.body_timeout
    try:
        while True:
            async with asyncio.timeout(seconds):
                piece = await anext(pieces, None)
            if piece is None:
                return
            yield piece
    except TimeoutError:
        raise Refused(TOO_SLOW.format(seconds=seconds), 408) from None


def unpacked(body: bytes, coding: str, limit: int) -> bytes:
    """The body without its coding; nothing beyond `limit` is unpacked.  Raises Refused, or CodecError."""
    name = coding.strip().lower()
    if name in {"", "identity"}:
        return body
    if name not in CODINGS:
        raise Refused(f"bodies in content-encoding {coding[:40]!r} are not read; send it plain, or as gzip", 415)
    for bits in CODINGS[name]:
        reader = zlib.decompressobj(bits)
        try:
            made = reader.decompress(body, limit + 1)
        except zlib.error:
            continue
        if len(made) > limit:
            raise Refused(TOO_LARGE.format(limit=limit), 413)
        if reader.eof:
            return made
    raise CodecError(f"the body is not what its content-encoding ({name}) says; send it plain", "$")


# ── JSON ─────────────────────────────────────────────────────────────────────


def read_json(body: bytes, limits: Limits) -> Mapping[str, Any]:
    """The body as a JSON object.  Raises Refused for too many values, CodecError for anything else.

    orjson first; Python's own where it would lose something: digits beyond 64 bits, half surrogate pairs.
    """
    if len(body) > 2 * limits.max_json_values and _holds_more(body, limits.max_json_values):
        raise Refused(TOO_MANY.format(limit=limits.max_json_values), 413)
    try:
        value = _carefully(body) if LONG_NUMBER in body.translate(DIGITS) else orjson.loads(body)
    except ValueError as error:
        value = _again(body, error)
    except RecursionError:
        raise CodecError("the body nests too deep; send what this API describes", "$") from None
    if type(value) is not dict:
        raise CodecError("the body is not a JSON object; send what this API describes", "$")
    return value


def _holds_more(body: bytes, most: int) -> bool:
    """Does it hold more than about `most` values?  Counted by what stands between them, outside strings."""
    if _marks(body) <= most:
        return False
    plain = body.replace(rb"\\", b"").replace(rb"\"", b"")
    return plain.count(b'"') > 4 * most or _marks(b"".join(plain.split(b'"')[::2])) > most


def _marks(body: bytes) -> int:
    return body.count(b",") + body.count(b"[") + body.count(b"{")


def _again(body: bytes, error: ValueError) -> Any:
    """A body that one reader refused, by the other: UTF-16, a byte order mark, half surrogate pairs."""
    if len(body) <= ODD or any(half in body for half in HALF):
        try:
            return _carefully(body)
        except (ValueError, RecursionError) as other:
            error = other if isinstance(other, ValueError) else ValueError("it nests too deep")
    raise CodecError(f"the body is not JSON ({str(error)[:100]}); send what this API describes", "$") from None


def _carefully(body: bytes) -> Any:
    """Slower, and nothing is lost.  Functions of ours are called in between: there other threads get their turn."""
    return json.loads(body, parse_constant=_no_constant, parse_int=_integer, object_hook=_same)


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits; the longest that is read has {MOST_DIGITS}")
    return int(digits)


def _same(value: Any) -> Any:
    return value
