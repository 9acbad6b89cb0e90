"""Files that are there whole or not at all: written beside their place, flushed to the disk, then renamed.

Knows files; nothing of what stands in them.  Contract: after a crash at any moment a name holds what it held before or
all of what was written; two writers of the same bytes do not disturb each other.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

BUFFER = 1 << 20


class Hashed:
    """A file that is written, its bytes counted and hashed."""

    size: int

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash: Any = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> None:
        """More of it."""
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)

    @property
    def digest(self) -> str:
        """The SHA-256 of what was written so far."""
        return str(self._hash.hexdigest())


class Lines:
    """Lines on their way into a file, hashed one by one: the file's hash is that of the hashes of its lines.

    A line that was hashed when it was read is not hashed again, and lines can be left out without reading the others.
    """

    size: int
    count: int

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._lines: list[bytes] = []
        self._digests: list[bytes] = []
        self._hash: Any = hashlib.sha256()
        self.size = self.count = 0

    def add(self, line: bytes, digest: bytes) -> None:
        """One more line, and its SHA-256."""
        self._lines.append(line)
        self._digests.append(digest)
        if len(self._lines) >= AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        if self._lines:
            block = b"\n".join(self._lines) + b"\n"
            self._file.write(block)
            self._hash.update(b"".join(self._digests))
            self.size += len(block)
            self.count += len(self._lines)
            self._lines, self._digests = [], []

    @property
    def digest(self) -> str:
        """The hash of what was written so far."""
        self.flush()
        return str(self._hash.hexdigest())


AT_ONCE = 256


@contextmanager
def replacing_lines(path: Path) -> Iterator[Lines]:
    """The same for a file of lines."""
    with plainly(path) as file:
        lines = Lines(file)
        yield lines
        lines.flush()


@contextmanager
def replacing(path: Path) -> Iterator[Hashed]:
    """A file that takes the place of `path` when the block ends, and leaves no trace when it fails."""
    with plainly(path) as file:
        yield Hashed(file)


@contextmanager
def plainly(path: Path) -> Iterator[IO[bytes]]:
    """The same, neither counted nor hashed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with beside.open("wb", buffering=BUFFER) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
        _flush_folder(path.parent)
    finally:
        with suppress(OSError):
            beside.unlink()


def replace_text(path: Path, text: str) -> None:
    """The file's new content."""
    with replacing(path) as file:
        file.write(text.encode())


def _flush_folder(folder: Path) -> None:
    """A rename is on the disk when its folder is; systems that cannot flush a folder do it by themselves."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def lines_digest(path: Path) -> str:
    """The hash of the hashes of a file's lines; "" where there is none."""
    made: Any = hashlib.sha256()
    try:
        with path.open("rb") as file:
            for line in file:
                made.update(hashlib.sha256(line.removesuffix(b"\n")).digest())
    except OSError:
        return ""
    return str(made.hexdigest())


def digest_of(path: Path) -> str:
    """The SHA-256 of a file; "" where there is none."""
    made: Any = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(BUFFER):
                made.update(chunk)
    except OSError:
        return ""
    return str(made.hexdigest())
