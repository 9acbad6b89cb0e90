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


@contextmanager
def replacing(path: Path) -> Iterator[Hashed]:
    """A file that takes the place of `path` when the block ends, and leaves no trace when it fails."""
    with plainly(path) as file:
        yield Hashed(file)


@contextmanager
def plainly(path: Path) -> Iterator[IO[bytes]]:
    """The same, neither counted nor hashed."""
    path = Path(os.path.realpath(path)) if path.is_symlink() else path  # a link goes on leading where it led
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
