"""What the tests of recordings share: a gateway that records into a store, and the store once it is written."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dragoman.gateway.inspector.storing import StoringRecorder
from dragoman.gateway.recordings.store import RecordingStore, open_store
from dragoman.gateway.recordings.table import DAY, StoredRow
from dragoman.gateway.recordings.writer import Writer
from dragoman.sim.scripted import ScriptedPeer
from tests.support.clocks import LONG
from tests.support.inspecting import recording

TODAY = int(time.time() // DAY)


@contextmanager
def storing(where: str, *, content: bool = True, days: int = 3, **more: Any) -> Iterator[StoringRecorder]:
    """A recorder that writes into the store at `where` at once; all of it is written when the block is left."""
    limits = {name: more.pop(name) for name in ("most", "most_bytes") if name in more}
    if running := more.pop("most_bytes_running", 0):
        more["most_bytes"] = running
    writer = Writer(open_store(where), days, linger=0.0, **limits)
    recorder = StoringRecorder(writer, open_store(where), content=content, shown=True, **more)
    recorder.open()
    try:
        yield recorder
    finally:
        recorder.close()


def gateway(memory: ScriptedPeer, recorder: StoringRecorder, **more: Any) -> Any:
    """A gateway in front of a scripted model that is recorded."""
    app, _ = recording(memory, recorder=recorder, **more)
    return app


def settled(writer: Writer, count: int) -> None:
    """Wait until so many exchanges are written or dropped."""
    until = time.monotonic() + LONG
    while writer.written + writer.dropped.total() < count:
        assert time.monotonic() < until, (writer.written, writer.dropped)
        time.sleep(0.005)


@contextmanager
def reading(where: str) -> Iterator[RecordingStore]:
    """The store at `where`."""
    store = open_store(where)
    try:
        yield store
    finally:
        store.close()


def plain_row(**fields: Any) -> StoredRow:
    """A row of today."""
    return StoredRow(**{"day": TODAY, "began": time.time(), **fields})
