"""The lines of a stream: one by one, or many that stand one behind another together.

Knows bytes; nothing of files, units or what rows mean.  Contract: every line once, however the stream is read; memory
is bounded by the longest line that is allowed, and one that is longer comes without its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import IO, TypeAlias

from ...records import NamedTuple
from .skipped import Skipped

CHUNK = 256 << 10
"""Bytes that are read at once: what was read is still near when it is looked at."""
LEAST = 64 << 10
BOM = b"\xef\xbb\xbf"


class Raw(NamedTuple):
    """The bytes of a row, and where it begins; `size` is more than their number where it is too long to be held.

    With a `fault` it is no row but what can be read of a file no more, and why.
    """

    offset: int
    data: bytes
    size: int
    digest: str = ""
    fault: str = ""

    @property
    def hash(self) -> bytes:
        """The SHA-256 of the whole row."""
        return bytes.fromhex(self.digest) if self.digest else hash_of(self.data)


class Run(NamedTuple):
    """Lines one behind another as they stand in a file, each with its end: `size` bytes of it.

    None is too long, and blank ones are no rows.
    """

    offset: int
    lines: list[bytes]
    size: int


Piece: TypeAlias = Raw | Run


def hash_of(row: bytes) -> bytes:
    """The SHA-256 of a row."""
    return sha256(row).digest()


def one_by_one(some: Iterable[Piece]) -> Iterator[Raw]:
    """All rows of these."""
    for piece in some:
        if isinstance(piece, Raw):
            yield piece
            continue
        offset = piece.offset
        for line in piece.lines:
            if line and not line.isspace():
                yield Raw(offset, line, len(line))
            offset += len(line) + 1


def line_row(offset: int, line: bytes, max_row: int) -> Iterator[Raw]:
    """The row that a line is; none where it is blank."""
    if line and not line.isspace():
        yield Raw(offset, *Skipped(line).stretch) if len(line) > max_row else Raw(offset, line, len(line))


def split(stream: IO[bytes], offset: int, end: int | None, max_row: int) -> Iterator[Piece]:
    """The lines of a stream whose first byte, here, has this offset, as far as they start before `end`."""
    begin, reach = offset, offset  # where the open line begins, and where reading is
    open_line = _Open(max_row, first=not begin)
    while end is None or begin < end:
        chunk = stream.read(CHUNK if end is None else min(CHUNK, max(LEAST, end - reach)))
        if not chunk:
            break
        reach += len(chunk)
        ends = 0
        if (open_line.size or not begin) and (ends := chunk.find(b"\n") + 1):
            open_line.add(chunk[: ends - 1])
            yield from open_line.pieces(begin)
            begin, open_line = begin + open_line.size + 1, _Open(max_row)
        run = _run(chunk, ends, begin, end)
        if len(chunk) <= max_row or not run.lines or max(map(len, run.lines)) <= max_row:
            yield run
        else:
            yield from _apart(run, max_row)
        begin += run.size
        open_line.add(chunk[ends + run.size :])
    if end is None or begin < end:
        yield from one_by_one(open_line.pieces(begin))


def _run(chunk: bytes, at: int, begin: int, end: int | None) -> Run:
    """The lines of a chunk from `at`, where `begin` is, that end in it and start before `end`.

    Long ones are found sooner than `bytes.split` finds them.
    """
    lines, first = [], at
    last = len(chunk) if end is None else at + end - begin
    while at < last and (found := chunk.find(b"\n", at)) >= 0:
        lines.append(chunk[at:found])
        at = found + 1
    return Run(begin, lines, at - first)


def _apart(run: Run, max_row: int) -> Iterator[Raw]:
    """The lines of a run one by one."""
    begin = run.offset
    for line in run.lines:
        yield from line_row(begin, line, max_row)
        begin += len(line) + 1


class _Open:
    """A line that was read as far as `size` bytes; of a file's first one the mark before it is no part."""

    def __init__(self, most: int, *, first: bool = False) -> None:
        self.size = 0
        self._most, self._first = most, first
        self._held = bytearray()
        self._skipped: Skipped | None = None

    def add(self, data: bytes) -> None:
        """More of it."""
        self.size += len(data)
        if self._first:
            data, self._first = data.removeprefix(BOM), False
        if self._skipped is not None:
            self._skipped.add(data)
            return
        self._held += data
        if len(self._held) > self._most:
            self._skipped, self._held = Skipped(bytes(self._held)), bytearray()

    def pieces(self, offset: int) -> Iterator[Piece]:
        """The whole line, by itself, where it began there."""
        if self._skipped is not None:
            yield Raw(offset, *self._skipped.stretch)
        elif offset:
            yield Run(offset, [bytes(self._held)], self.size + 1)
        else:
            yield from line_row(0, bytes(self._held), self._most)
