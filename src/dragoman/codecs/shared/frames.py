"""Bytes of a streamed answer ⇄ frames: server-sent events, newline-delimited JSON, AWS event stream.

Knows framing only, not what a frame says: `data` is text that a codec reads.
Contract: readers are incremental; any split of the same bytes gives the same frames, as soon as each is complete; every
byte is looked at once.  `SseReader` and `NdjsonReader` never raise: bytes that are not UTF-8 become U+FFFD.  The AWS
format carries checksums, so `AwsReader` raises `ProviderError` (garbled) where they do not hold.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Protocol

from ...errors import ErrorKind, ProviderError, UsageError
from ...jsontext import to_json
from ...records import NamedTuple

KEEP_ALIVE = b": keep-alive\n\n"
"""The only harmless sign of life in an SSE stream: a comment.  An empty `data:` line kills most clients."""

CR = ord("\r")
_BOM = "\ufeff"


class Frame(NamedTuple):
    """One frame: its payload, and the event name and id where the framing carries them ("" where it does not)."""

    data: str
    event: str = ""
    id: str = ""


class FrameKind(StrEnum):
    """How a wire frames its stream."""

    SSE = "sse"
    NDJSON = "ndjson"
    AWS = "aws"


class Reader(Protocol):
    """Takes bytes as they come and gives the frames that are complete."""

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that `data` completes, in order."""

    def close(self) -> list[Frame]:
        """The frames still open when the stream ends."""


class _Lines:
    """Bytes → complete lines as text; LF, CRLF and CR all end a line; a BOM at the very start is dropped."""

    def __init__(self) -> None:
        self._tail: list[bytes] = []  # pieces of the unfinished line: joined once, so a long line costs its length
        self._after_cr = False
        self._at_start = True

    def feed(self, data: bytes) -> list[str]:
        if self._after_cr and data:
            data = data.removeprefix(b"\n")
            self._after_cr = False
        if CR in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        cut = data.rfind(b"\n")
        if cut < 0:
            if data:
                self._tail.append(data)
            return []
        whole = data[:cut]
        if self._tail:
            whole = b"".join((*self._tail, whole))
            self._tail.clear()
        if cut + 1 < len(data):
            self._tail.append(data[cut + 1 :])
        return self._decode(whole)

    def close(self) -> list[str]:
        tail, self._tail = self._tail, []
        return self._decode(b"".join(tail)) if tail else []

    def _decode(self, whole: bytes) -> list[str]:
        # No byte of a multi-byte character equals LF or CR, so whole lines hold whole characters.
        text = whole.decode("utf-8", "replace")
        if self._at_start:
            self._at_start = False
            text = text.removeprefix(_BOM)
        return text.split("\n")


class SseReader:
    """Reads `text/event-stream`.

    Departs from the WHATWG rules four times, towards what peers send: an event still open at the end of the stream
    counts (`close`), one that carries neither data nor a name is a keep-alive, not a frame, data whose lines are an
    object each are several frames (some servers leave the blank lines out), and so is an object that stands there by
    itself, in one line or in several: an error that a server writes into a stream as it would answer with it.
    """

    def __init__(self) -> None:
        self._lines = _Lines()
        self._data: list[str] = []
        self._bare: list[str] = []  # lines of an object that is no field
        self._event = self._id = ""

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that `data` completes."""
        return self._take(self._lines.feed(data))

    def close(self) -> list[Frame]:
        """The frame the stream ended in, if any."""
        return self._take([*self._lines.close(), ""])

    def _take(self, lines: list[str]) -> list[Frame]:
        frames: list[Frame] = []
        data = self._data
        for line in lines:
            if line.startswith("data: "):
                data.append(line[6:])
            elif line.startswith("event: "):
                self._event = line[7:]
            elif line and (line[0] == "{" or self._bare):
                frames += self._object(line)
            elif line:
                self._field(line)
            else:
                if data and (self._event or data != [""]):
                    texts = data if len(data) == 1 or all(map(_is_object, data)) else ("\n".join(data),)
                    frames += [Frame(text, self._event, self._id) for text in texts]
                data.clear()
                self._event = self._id = ""
                if self._bare:
                    frames += self._broken_off()
        return frames

    def _object(self, line: str) -> list[Frame]:
        """A line of an object that is no field; one that is written out in several lines ends at the margin."""
        self._bare.append(line)
        if not (_is_object(line) if len(self._bare) == 1 else line[0] == "}"):
            return []
        return self._take([""]) if self._data else self._broken_off()

    def _broken_off(self) -> list[Frame]:
        text = "\n".join(self._bare)
        self._bare.clear()
        return [Frame(text)]

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")  # a comment is a field without a name
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "data":
            self._data.append(value)


def _is_object(line: str) -> bool:
    """Does this line look like a whole frame?"""
    return (line.startswith("{") and line.rstrip().endswith("}")) or line.strip() == "[DONE]"


class NdjsonReader:
    """Reads `application/x-ndjson`: one JSON text per line; blank lines are nothing.

    What is a field of server-sent events among them is read as one: its data are a text, all else says nothing.
    """

    def __init__(self) -> None:
        self._lines = _Lines()

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that `data` completes."""
        return [Frame(text) for line in self._lines.feed(data) if (text := _text(line))]

    def close(self) -> list[Frame]:
        """The last line, where no newline ended it."""
        return [Frame(text) for line in self._lines.close() if (text := _text(line))]


_SILENT = (":", "event:", "id:", "retry:")
"""Beginnings of lines of server-sent events that hold no data."""


def _text(line: str) -> str:
    """The JSON text of a line; "" where it says nothing."""
    text = line.strip(" \t")
    if text.startswith("{"):
        return text
    return "" if text.startswith(_SILENT) else text.removeprefix("data:").strip(" \t")


# ── AWS event stream ─────────────────────────────────────────────────────────
# message = total length u32, headers length u32, CRC-32 of these, headers, payload, CRC-32 of all before; big-endian
# Source: Smithy specification, application/vnd.amazon.eventstream

_PRELUDE = struct.Struct(">III")
_CRC = struct.Struct(">I")
_STRING = 7
_FIXED = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # header value types of fixed size, in bytes
_NAMES = (":event-type", ":exception-type", ":error-code")  # the header that names the frame, first present
_LARGEST = 24 * 1024 * 1024  # the format's own limit on one message, with room for its headers


class AwsReader:
    """Reads `application/vnd.amazon.eventstream`; `Frame.event` is the event or exception type."""

    def __init__(self) -> None:
        self._buffer: list[bytes] = []
        self._size = 0
        self._need = _PRELUDE.size

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that `data` completes.  Raises `ProviderError` when a checksum does not hold."""
        if not data:
            return []
        self._buffer.append(data)
        self._size += len(data)
        return self._cut() if self._size >= self._need else []

    def close(self) -> list[Frame]:
        """Nothing.  Raises `ProviderError` when the stream ends inside a message."""
        if self._size:
            raise _garbled(f"the stream ended inside a message ({self._size} bytes of it arrived)")
        return []

    def _cut(self) -> list[Frame]:
        buffer, at = b"".join(self._buffer), 0
        frames: list[Frame] = []
        while True:
            self._need = _length(buffer, at)
            if len(buffer) - at < self._need:
                break
            frames.append(_message(buffer[at : at + self._need]))
            at += self._need
        self._size = len(buffer) - at
        self._buffer = [buffer[at:]] if self._size else []
        return frames


def _length(buffer: bytes, at: int) -> int:
    """How many bytes the message at `at` needs, as far as its prelude is there to tell."""
    if len(buffer) - at < _PRELUDE.size:
        return _PRELUDE.size
    total, headers, crc = _PRELUDE.unpack_from(buffer, at)
    if zlib.crc32(buffer[at : at + 8]) != crc or not headers + 16 <= total <= _LARGEST:
        raise _garbled("a message's prelude does not fit its checksum")
    return int(total)


def _message(message: bytes) -> Frame:
    if zlib.crc32(message[:-4]) != _CRC.unpack(message[-4:])[0]:
        raise _garbled("a message does not fit its checksum")
    size = _PRELUDE.unpack_from(message)[1]
    headers = _headers(message[_PRELUDE.size : _PRELUDE.size + size])
    data = message[_PRELUDE.size + size : -4].decode("utf-8", "replace")
    if not data and ":error-message" in headers:
        data = to_json({"message": headers[":error-message"]})
    return Frame(data, next((headers[n] for n in _NAMES if n in headers), ""))


def _headers(block: bytes) -> dict[str, str]:
    """The string headers; values of other types carry nothing we use."""
    found: dict[str, str] = {}
    at = 0
    try:
        while at < len(block):
            name_end = at + 1 + block[at]
            kind = block[name_end]
            if kind in _FIXED:
                at = name_end + 1 + _FIXED[kind]
                continue
            (size,) = struct.unpack_from(">H", block, name_end + 1)
            start, name = name_end + 3, block[at + 1 : name_end].decode("utf-8", "replace")
            at = start + size
            if kind == _STRING:
                found[name] = block[start:at].decode("utf-8", "replace")
    except (IndexError, struct.error):
        raise _garbled("a message's headers end too early") from None
    return found


def _garbled(what: str) -> ProviderError:
    return ProviderError(f"garbled AWS event stream: {what}; retry the request", kind=ErrorKind.GARBLED)


# ── writing ──────────────────────────────────────────────────────────────────


def write_sse(frame: Frame) -> bytes:
    """The frame as a server-sent event.  Line breaks of any kind in `data` become several data lines."""
    data, event, id_ = frame
    head = _head(event, id_) if event or id_ else ""
    if "\n" in data or "\r" in data:
        data = data.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\ndata: ")
    return f"{head}data: {data}\n\n".encode("utf-8", "replace")


@lru_cache(maxsize=256)
def _head(event: str, id_: str) -> str:
    """The lines before an event's data; the same few names stand before thousands of chunks."""
    if _breaks(event) or _breaks(id_):
        raise UsageError("the event name and id of a frame are one line each: remove their line breaks")
    return (f"event: {event}\n" if event else "") + (f"id: {id_}\n" if id_ else "")


def write_ndjson(frame: Frame) -> bytes:
    """The frame as one line.  `data` must be one JSON text; white space between its tokens may hold line breaks."""
    data = frame.data
    if _breaks(data):
        # Inside a JSON string a line break is always escaped, so what stands here is white space between tokens.
        data = data.replace("\r", " ").replace("\n", " ")
    return f"{data}\n".encode("utf-8", "replace")


def write_aws(frame: Frame) -> bytes:
    """The frame as one AWS message; a name that ends in "Exception" makes it an exception."""
    failed = frame.event.endswith("Exception")
    named = {":exception-type" if failed else ":event-type": frame.event, ":content-type": "application/json"}
    named[":message-type"] = "exception" if failed else "event"
    headers = b"".join(_header(name, value) for name, value in named.items())
    payload = frame.data.encode("utf-8", "replace")
    lengths = struct.pack(">II", len(headers) + len(payload) + 16, len(headers))
    message = lengths + _CRC.pack(zlib.crc32(lengths)) + headers + payload
    return message + _CRC.pack(zlib.crc32(message))


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode("utf-8", "replace")
    return bytes([len(key)]) + key + bytes([_STRING]) + struct.pack(">H", len(text)) + text


def _breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


readers: Mapping[FrameKind, Callable[[], Reader]] = MappingProxyType(
    {FrameKind.SSE: SseReader, FrameKind.NDJSON: NdjsonReader, FrameKind.AWS: AwsReader}
)
"""Kind → a new reader."""

CUTS: Mapping[FrameKind, tuple[bytes, ...]] = MappingProxyType(
    {FrameKind.SSE: (b"\r\n\r\n", b"\n\n"), FrameKind.NDJSON: (b"\n",)}
)
"""Kind → bytes behind which, wherever they stand, no frame goes on."""

writers: Mapping[FrameKind, Callable[[Frame], bytes]] = MappingProxyType(
    {FrameKind.SSE: write_sse, FrameKind.NDJSON: write_ndjson, FrameKind.AWS: write_aws}
)
"""Kind → the function that writes one frame."""
