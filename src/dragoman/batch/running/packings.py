"""How files are packed: gzip, zstd, bzip2 and xz, told by their first bytes, unpacked by and by, and packed again.

Knows bytes; nothing of rows or units.  Contract: a packed file may be several, one behind another; one that was cut or
damaged ends where it can be read no more, and says why instead of raising; memory does not grow with what is packed.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, cast

from ...errors import UsageError
from ..arrow import NO_ARROW

CHUNK = 128 << 10
CUT = "it ends too early: it was cut off"
BEHIND = "something else stands behind what is packed"


class Damaged(Exception):
    """What is packed can be read no more."""


class Member(Protocol):
    """One of the members of a packed file, on its way out; the words are those of `bz2.BZ2Decompressor`."""

    @property
    def eof(self) -> bool:
        """Has it ended?"""

    @property
    def needs_input(self) -> bool:
        """Does more come of it only when more is given?"""

    @property
    def unused_data(self) -> bytes:
        """What was given and stands behind its end."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """More of it: at most about so many bytes."""


@dataclass(frozen=True, slots=True)
class Packing:
    """One way of packing: the first bytes and the suffix it is known by, what unpacks a member, what packs a file."""

    name: str
    magic: bytes
    suffix: str
    member: Callable[[], Member]
    pack: Callable[[IO[bytes]], Any]


# ── unpacking ────────────────────────────────────────────────────────────────


class Unpacked:
    """A packed file as a stream of what is in it; where it can be read no more it ends, and `faults` says why."""

    def __init__(self, file: IO[bytes], packing: Packing, faults: list[str]) -> None:
        self._file, self._faults = file, faults
        self._pieces = _pieces(file, packing)
        self._left = b""
        self.size = 0

    def read(self, size: int) -> bytes:
        """So many bytes, or as many as there are."""
        made, count = [self._left], len(self._left)
        while count < size and (piece := self._next()):
            made.append(piece)
            count += len(piece)
        data = b"".join(made)
        self._left = data[size:]
        self.size += min(size, len(data))
        return data[:size]

    def _next(self) -> bytes:
        try:
            return next(self._pieces, b"")
        except (Damaged, zlib.error, lzma.LZMAError) as why:
            self._faults.append(str(why))
        except OSError as why:  # bz2 has no error of its own
            if why.errno is not None:
                raise
            self._faults.append(str(why))
        return b""

    def __enter__(self) -> Unpacked:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _pieces(file: IO[bytes], packing: Packing) -> Iterator[bytes]:
    """What is in all members of a file, none of the pieces empty."""
    data = file.read(CHUNK)
    while data:
        if len(data) < len(packing.magic):
            data += file.read(CHUNK)
        if packing_of(data) != packing.name and not _is_skipped(data):
            raise Damaged(BEHIND)
        member = packing.member()
        while not member.eof:
            if member.needs_input and not data and not (data := file.read(CHUNK)):
                raise Damaged(CUT)
            piece = member.decompress(data, CHUNK)
            data = b""
            if piece:
                yield piece
        data = member.unused_data or file.read(CHUNK)
        while data and not (data := data.lstrip(b"\0")):  # what fills up a tape or a block
            data = file.read(CHUNK)


def _is_skipped(data: bytes) -> bool:
    return int.from_bytes(data[:4], "little") >> 4 == SKIPPED


class _Gzip:
    """A member of a gzip file."""

    def __init__(self) -> None:
        self._one = zlib.decompressobj(wbits=31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._one.eof

    @property
    def unused_data(self) -> bytes:
        return self._one.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        made = self._one.decompress(self._one.unconsumed_tail + data, max_length)
        self.needs_input = len(made) < max_length and not self._one.unconsumed_tail
        return made


class _Zstd:
    """A frame of a zstd file, block by block: `zstandard` does not say of a stream whether its last frame ended.

    Source: RFC 8878, 3.1.1 (frames, their headers and blocks) and 3.1.2 (frames that are skipped).
    """

    def __init__(self) -> None:
        zstandard = _zstandard()
        self._wrong: type[Exception] = zstandard.ZstdError
        self._one = zstandard.ZstdDecompressor().decompressobj()
        self._held = b""
        self._header = self._skip = 0  # bytes still to be passed on, or by
        self._begun = self._checked = False
        self.eof, self.needs_input = False, True

    @property
    def unused_data(self) -> bytes:
        return self._held

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """The next block, whole: it has 128 KiB at most."""
        self._held += data
        if not self._begun and len(self._held) >= SHORTEST_FRAME:
            self._begin(self._held)
        if self._skip:
            passed = min(self._skip, len(self._held))
            self._held, self._skip = self._held[passed:], self._skip - passed
            self.eof, self.needs_input = not self._skip, True
            return b""
        size, last = (self._header, False) if self._header else self._block(self._held)
        self.needs_input = not 0 < size <= len(self._held)
        return b"" if self.needs_input else self._passed(size, last)

    def _begin(self, held: bytes) -> None:
        self._begun = True
        if int.from_bytes(held[:4], "little") >> 4 == SKIPPED:
            self._skip = 8 + int.from_bytes(held[4:8], "little")
            return
        flags = held[4]
        single, content, dictionary = bool(flags & 0x20), flags >> 6, flags & 3
        self._checked = bool(flags & 4)
        self._header = 5 + (not single) + (0, 1, 2, 4)[dictionary] + (int(single), 2, 4, 8)[content]

    def _block(self, held: bytes) -> tuple[int, bool]:
        """Bytes of the block that is next, 0 where that cannot be told yet, and whether it is the last one."""
        if not self._begun or len(held) < BLOCK_HEADER:
            return 0, False
        word = int.from_bytes(held[:BLOCK_HEADER], "little")
        last, kind, size = bool(word & 1), word >> 1 & 3, word >> 3
        return BLOCK_HEADER + (1 if kind == REPEATED else size) + 4 * (last and self._checked), last

    def _passed(self, size: int, last: bool) -> bytes:
        stretch, self._held, self._header = self._held[:size], self._held[size:], 0
        try:
            made: bytes = self._one.decompress(stretch)
        except self._wrong as why:
            raise Damaged(str(why)) from None
        self.eof = last
        return made


SKIPPED = 0x184D2A5
SHORTEST_FRAME, BLOCK_HEADER, REPEATED = 8, 3, 1


def _zstandard() -> Any:
    try:
        import zstandard  # noqa: PLC0415  an extra
    except ImportError as error:
        raise UsageError(f"for files packed with zstd {NO_ARROW}") from error
    return zstandard


# ── the rows ─────────────────────────────────────────────────────────────────

PACKINGS: Mapping[str, Packing] = {
    one.name: one
    for one in (
        Packing("gzip", b"\x1f\x8b", ".gz", _Gzip,
                lambda file: gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0)),
        Packing("zstd", b"\x28\xb5\x2f\xfd", ".zst", _Zstd,
                lambda file: _zstandard().ZstdCompressor().stream_writer(file, closefd=False)),
        Packing("bzip2", b"BZh", ".bz2", bz2.BZ2Decompressor, lambda file: bz2.BZ2File(file, "wb")),
        Packing("xz", b"\xfd7zXZ\x00", ".xz", lzma.LZMADecompressor, lambda file: lzma.LZMAFile(file, "wb")),  # noqa: SIM115  closed by `packed`
    )
}  # fmt: skip
"""Every packing by its name."""
HEAD = max(len(one.magic) for one in PACKINGS.values())


def packing_of(head: bytes) -> str:
    """The name of the packing of a file that begins so; "" for none."""
    return next((one.name for one in PACKINGS.values() if head.startswith(one.magic)), "")


def packing_named(name: str) -> Packing | None:
    """The packing that the name of a file promises by its suffix; None for none."""
    return next((one for one in PACKINGS.values() if name.lower().endswith(one.suffix)), None)


def unpacked(file: str | Path, packing: str, faults: list[str] | None = None) -> IO[bytes]:
    """The bytes of a file, unpacked; where they end too early `faults` says why."""
    opened = open(file, "rb")  # noqa: SIM115  the caller closes it
    if not packing:
        return opened
    return cast("IO[bytes]", Unpacked(opened, PACKINGS[packing], [] if faults is None else faults))


def packed(file: IO[bytes], packing: Packing | None) -> AbstractContextManager[Any]:
    """What takes the bytes of a file and packs them into `file`, which stays open."""
    return nullcontext(file) if packing is None else closing(packing.pack(file))
