"""The kept rows of a unit while a run lasts: where they stand in the input, and lines of their own.

Most rows are kept byte for byte, and of a file of lines these need not be written twice: their places are, and the
bytes are read when the output is put together.  Knows files and places in them; nothing of what rows mean.
Contract: what is put together are the bytes that were judged; an input that changed meanwhile is found and refused.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import IO, Any

from ...errors import UsageError
from .files import Hashed
from .job import Job
from .units import Unit, input_digest

PLACE = struct.Struct("<3Q")
"""Whether it is the input, where it begins there, and how many bytes it has."""
COPIED = 1 << 20
CHANGED = "{source} changed while it was read; run again"


class Kept:
    """Kept rows on their way into two files: the lines that stand nowhere yet, and the places of all."""

    def __init__(self, lines: Hashed, places: Hashed) -> None:
        self._lines, self._places = lines, places
        self._place = (0, 0, 0)
        self._hash = hashlib.sha256()
        self.size = self.count = 0

    def add(self, line: bytes, digest: bytes) -> None:
        """One more row, and its SHA-256."""
        self._take(0, self._lines.size, len(line) + 1, 1, digest)
        self._lines.write(line + b"\n")

    def add_standing(self, start: int, size: int, digests: list[bytes]) -> None:
        """Rows that stand in the input, one behind another, each with its end; their SHA-256s."""
        self._take(1, start, size, len(digests), b"".join(digests))

    def _take(self, source: int, start: int, size: int, count: int, digests: bytes) -> None:
        self._hash.update(digests)
        self.size += size
        self.count += count
        known, begin, length = self._place
        if known == source and begin + length == start:
            self._place = known, begin, length + size
        else:
            self.end()
            self._place = source, start, size

    def end(self) -> None:
        """Write what is open."""
        if self._place[2]:
            self._places.write(PLACE.pack(*self._place))
            self._place = (0, 0, 0)

    @property
    def digest(self) -> str:
        """The hash of the hashes of all rows."""
        return self._hash.hexdigest()


# ── put together ─────────────────────────────────────────────────────────────


def kept_blocks(job: Job, record: Mapping[str, Any]) -> Iterator[bytes]:
    """The bytes of all kept rows of a unit that is done, in order.  Raises `UsageError` for an input that changed."""
    index, unit = record["unit"]["index"], Unit(**record["unit"])
    names = str(job.part(index, "kept")), unit.source
    with ExitStack() as stack:
        files: dict[int, IO[bytes]] = {}
        for number, start, size in PLACE.iter_unpack(job.part(index, "places").read_bytes()):
            if number not in files:
                files[number] = stack.enter_context(open(names[number], "rb"))
            files[number].seek(start)
            yield from _blocks(files[number], size)
    touched = record["state"] and state_of(unit.source) != record["state"]
    if touched and input_digest(unit, job.options.max_row) != record["input"]:
        raise UsageError(CHANGED.format(source=unit.source))


def kept_rows(job: Job, record: Mapping[str, Any]) -> Iterator[bytes]:
    """The same one by one."""
    rest = b""
    for block in kept_blocks(job, record):
        *lines, rest = (rest + block).split(b"\n")
        yield from lines


def _blocks(file: IO[bytes], size: int) -> Iterator[bytes]:
    while size and (block := file.read(min(size, COPIED))):
        yield block
        size -= len(block)


def state_of(source: str) -> list[int]:
    """What tells whether a file was written to: its size and its hour."""
    told = os.stat(source)
    return [told.st_size, told.st_mtime_ns]
