"""Signs of a server beside its answers: that it has closed its side, and its last words.

Knows streams and a pipe; nothing of the protocol.  Contract: `watched` changes nothing of the streams; a
`LastWords` never blocks the process that writes to it, and keeps only the end of what that writes.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TextIO

Streams = AbstractAsyncContextManager[Any]


@asynccontextmanager
async def watched(streams: Streams, ended: Callable[[], None]) -> AsyncIterator[Any]:
    """The same streams, with a call when the server has closed its side: the SDK tells only calls that wait."""
    async with streams as (incoming, outgoing):
        yield _Stream(incoming, ended), outgoing


class _Stream:
    """A stream that calls at its end."""

    def __init__(self, stream: Any, ended: Callable[[], None]) -> None:
        self._stream, self._ended = stream, ended

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> _Stream:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except StopAsyncIteration:
            self._ended()
            raise

    async def __aenter__(self) -> _Stream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)


class LastWords:
    """The end of what a process writes to its standard error: why it failed."""

    LINES, LENGTH, GRACE = 20, 2000, 1.0

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.file: TextIO = os.fdopen(writing, "w", encoding="utf-8")
        self._lines: deque[str] = deque(maxlen=self.LINES)
        self._thread = threading.Thread(target=self._read, args=(reading,), name="mcp stderr", daemon=True)
        self._thread.start()

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
            while piece := lines.readline(self.LENGTH):
                self._lines.append(piece)

    def close(self) -> None:
        """Our end of the pipe; waits a moment for what is still in it."""
        self.file.close()
        self._thread.join(self.GRACE)

    def text(self) -> str:
        """The last lines."""
        return "".join(self._lines).strip()[-self.LENGTH :]
