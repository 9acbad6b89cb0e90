"""How much a server may say at a time: one message, whatever its transport.

Knows bytes, lines and responses of HTTP; nothing of the protocol.  Contract: a message is read in time linear in its
length, and one of more than `MOST` bytes ends the connection with words that say so; nothing else is changed.
"""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterator

import httpx2

MOST = 64 << 20
"""Bytes of one message."""
TOO_LONG = f"it sent more than {MOST >> 20} MB in one message; let its tool give less at a time"
CUT_OFF = "dragoman: too long"
"""The line that stands for one that is: no message, and short enough to be told whole by what cannot read it."""
PACKED = "it packed its answer ({kind}), which it was asked not to do"
IDENTITY = {"accept-encoding": "identity"}
"""What is not packed is as long as it is."""
EVENTS = "text/event-stream"
LINES = "dragoman-lines"
"""The encoding of a pipe on which every message is a line of UTF-8: whole lines come out of it, and short ones."""


class TooMuch(httpx2.ReadError):
    """A response that is longer than it may be, or packed."""


class _Lines(codecs.IncrementalDecoder):
    """Bytes → text, given out by whole lines: who looks for their ends looks at each once.

    What raises here is heard of when the pipe has ended, so a line that is too long becomes `CUT_OFF`, and its rest
    is passed over.
    """

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)
        self._begun: list[str] = []
        self._size = 0
        self._over = False

    def decode(self, data: bytes, final: bool = False) -> str:  # type: ignore[override]
        """The lines that `data` completes."""
        text = self._decoder.decode(data, final)
        if self._over:
            _, end, text = text.partition("\n")
            self._over = not end
        lines, end, rest = text.rpartition("\n")
        if end or final:
            lines, rest = "".join((*self._begun, lines, end, rest if final else "")), "" if final else rest
            self._begun, self._size = [], 0
        if rest:
            self._begun.append(rest)
            self._size += len(rest)
        if self._size > MOST:
            self._begun, self._size, self._over = [], 0, True
            lines += CUT_OFF + "\n"
        return lines


def _find(name: str) -> codecs.CodecInfo | None:
    if name.replace("_", "-") != LINES:
        return None
    plain = codecs.lookup("utf-8")
    return codecs.CodecInfo(plain.encode, plain.decode, incrementaldecoder=_Lines, name=LINES)


codecs.register(_find)


class _Bounded(httpx2.AsyncByteStream):
    """A response's bytes, as long as no message among them is too long."""

    def __init__(self, stream: httpx2.AsyncByteStream, *, events: bool) -> None:
        self._stream, self._events = stream, events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for data in self._stream:
            end = data.rfind(b"\n\n") if self._events else -1
            if self._events and end < 0:
                end = data.rfind(b"\r\n\r\n")
            size = len(data) - end if end >= 0 else size + len(data)
            if size > MOST:
                raise TooMuch(TOO_LONG)
            yield data

    async def aclose(self) -> None:
        """Let go of it."""
        await self._stream.aclose()


async def bound(response: httpx2.Response) -> None:
    """From here on the response is read within the bounds; a hook of the client.  Raises TooMuch for a packed one."""
    kind = response.headers.get("content-encoding", "identity")
    if kind != "identity":
        raise TooMuch(PACKED.format(kind=kind[:40]))
    if isinstance(response.stream, httpx2.AsyncByteStream):
        events = response.headers.get("content-type", "").startswith(EVENTS)
        response.stream = _Bounded(response.stream, events=events)
