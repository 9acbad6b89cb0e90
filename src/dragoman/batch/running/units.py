"""Sources of rows, cut into units of work that anybody can do alone, in any order, on any machine that sees them.

JSON lines are cut into ranges of bytes: a unit owns the lines that *start* in it.  A packed file and a JSON document
are one unit each, Parquet is cut by row groups, a store of recordings by their numbers.  What a file is, is told by its
first bytes and not by its name.  Knows sources; nothing of what rows mean.
Contract: the same sources and sizes give the same units, and the rows of all units are all rows, each once; what can be
read of a file no more, or not at all, is one row more, which says why; memory is bounded by the longest row allowed.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import IO, Any

from ...errors import UsageError
from ..arrow import NO_ARROW, arrow
from ..row_json import dumps, is_json
from .documents import BLANK, Elements, lists_rows, rows_of
from .foreign import foreign
from .lines import BOM, LEAST, Piece, Raw, line_row, one_by_one, split
from .packings import packing_of, unpacked
from .skipped import held
from .sources import Source, Store, recorded_rows

UNIT = 16 << 20
"""Bytes of a unit of JSON lines."""
HEAD = 1 << 20
"""Bytes by which it is told what a file is."""
ROWS_AT_ONCE = 512
RECORDINGS = 2000
"""Numbers of a unit of recordings."""
PARQUET = b"PAR1"
MAGIC = 8
"""So many first bytes say how a file is packed."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its number, the file, what of it, and how it is packed.

    `kind` is "lines" (bytes `start` to `end`), "document" (a JSON value of the whole file), "groups" (the Parquet row
    groups `start` to `end`, of which the first row has the number `first`), "recordings" (those numbered `start` to
    `end`, of the store at `address`, which is shown to nobody) or "foreign" (a file that is read in no way); `most` is
    how many rows of it are wanted.
    """

    index: int
    source: str
    kind: str = "lines"
    packing: str = ""
    start: int = 0
    end: int = 0
    first: int = 0
    most: int | None = None
    address: str = field(default="", repr=False)

    def as_json(self) -> dict[str, Any]:
        """The unit as it is written down."""
        return {key: value for key, value in asdict(self).items() if key != "address"}


# ── planning ─────────────────────────────────────────────────────────────────


def plan(sources: Sequence[Source], size: int = UNIT, limit: int | None = None) -> list[Unit]:
    """The units of `sources`, in order; with a `limit`, those that hold the first so many rows."""
    units = [unit for source in sources for unit in _units(source, max(1, size))]
    numbered = [replace(unit, index=i) for i, unit in enumerate(units)]
    return numbered if limit is None else list(_limited(numbered, limit))


def _units(source: Source, size: int) -> Iterator[Unit]:
    if isinstance(source, Store):
        for last in range(source.last, source.first - 1, -RECORDINGS):
            first = max(last - RECORDINGS + 1, source.first)
            yield Unit(0, source.name, "recordings", start=first, end=last, address=source.address)
        return
    file = source
    kind, packing = kind_of(file)
    if kind == "groups":
        yield from _groups(file)
    elif kind in ("document", "foreign") or packing:
        yield Unit(0, str(file), kind, packing, 0, file.stat().st_size)
    else:
        whole = file.stat().st_size
        for start in range(0, whole, size):
            yield Unit(0, str(file), "lines", "", start, min(start + size, whole))


def kind_of(file: Path) -> tuple[str, str]:
    """What a file holds, and how it is packed."""
    with file.open("rb") as raw:
        head = raw.read(MAGIC)
    if head.startswith(PARQUET):
        return "groups", ""
    packing = packing_of(head)
    with unpacked(file, packing) as stream:
        start = stream.read(HEAD)
    if foreign(start):
        return "foreign", packing
    text = start.removeprefix(BOM).lstrip()
    if text[:1] == b"[":
        return "document" if _is_list(text) else "lines", packing
    line = text.partition(b"\n")[0]
    if text[:1] != b"{":
        return "lines", packing
    if not text[len(line) :].strip():  # one line, or the beginning of one
        return "document" if lists_rows(line) else "lines", packing
    return "document" if not is_json(line) and _is_document(text) else "lines", packing


def _is_list(text: bytes) -> bool:
    """Is this a list, or the beginning of one, with nothing behind it but lists?  Lines of lists are lines."""
    elements = Elements(io.BytesIO(text), 0, len(text))
    for _ in elements:
        pass
    left = elements.left.lstrip(BLANK)
    return not left or (left[:1] == b"[" and not is_json(text.partition(b"\n")[0]))


def _is_document(text: bytes) -> bool:
    """Is this one JSON value, or the beginning of one, on several lines?  A broken line among others is not."""
    try:
        json.loads(text.decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        cut = error.pos >= len(error.doc) - LEAST or error.msg.startswith("Unterminated")
        return len(text) >= HEAD // 2 and cut
    except RecursionError:
        return False
    return True


def _groups(file: Path) -> Iterator[Unit]:
    try:
        parquet = _parquet(str(file))
    except (ValueError, OSError) as error:
        _damage(error)
        yield Unit(0, str(file), "groups")
        return
    first = 0
    for number in range(parquet.num_row_groups):
        yield Unit(0, str(file), "groups", "", number, number + 1, first)
        first += parquet.metadata.row_group(number).num_rows


def _limited(units: Iterable[Unit], limit: int) -> Iterator[Unit]:
    for unit in units:
        if limit <= 0:
            return
        count = sum(1 for _ in rows(unit, 1 << 40, most=limit))
        yield replace(unit, most=min(count, limit))
        limit -= count


# ── tables ───────────────────────────────────────────────────────────────────


def _parquet(source: str) -> Any:
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415  an extra
    except ImportError as error:
        raise UsageError(f"{source} is Parquet; {NO_ARROW}") from error
    return pq.ParquetFile(source)


def _damage(error: Exception) -> str:
    """What an error says of a damaged table; raises it where it says something else."""
    if not isinstance(error, arrow().ArrowException | OSError) or getattr(error, "errno", None) is not None:
        raise error
    return str(error).partition("\n")[0]


# ── rows ─────────────────────────────────────────────────────────────────────


def rows(unit: Unit, max_row: int, most: int | None = None) -> Iterator[Raw]:
    """The rows of a unit, in order; a row longer than `max_row` bytes comes without its bytes."""
    most = unit.most if most is None else most
    return islice(one_by_one(_KINDS[unit.kind](unit, max_row)), most)


def pieces(unit: Unit, max_row: int) -> Iterator[Piece]:
    """The same, lines that stand one behind another together."""
    return _KINDS[unit.kind](unit, max_row) if unit.most is None else rows(unit, max_row)


def input_digest(unit: Unit, max_row: int) -> str:
    """The hash of the hashes of all rows of a unit."""
    made = sha256()
    for raw in rows(unit, max_row):
        made.update(raw.hash)
    return made.hexdigest()


def _lines(unit: Unit, max_row: int) -> Iterator[Piece]:
    faults: list[str] = []
    with unpacked(unit.source, unit.packing, faults) as stream:
        if unit.packing:
            size = 0
            for piece in split(stream, 0, None, max_row):
                size = piece.offset + piece.size
                yield piece
            yield from _rest(faults, size)
            return
        start = _first_line(stream, unit.start, unit.end)
        stream.seek(start)
        yield from split(stream, start, unit.end, max_row)


def _first_line(stream: IO[bytes], start: int, end: int) -> int:
    """Where the first line starts that starts in the range; its end where none does."""
    if not start:
        return 0
    at = start - 1
    stream.seek(at)
    while at < end:
        chunk = stream.read(min(LEAST, end - at))
        if not chunk:
            return end
        found = chunk.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(chunk)
    return end


def _document(unit: Unit, max_row: int) -> Iterator[Piece]:
    with unpacked(unit.source, unit.packing) as stream:
        begin = _begin(stream.read(HEAD))
    faults: list[str] = []
    found = rows_of(partial(unpacked, unit.source, unit.packing, faults), begin, max_row)
    if found is None:
        yield from _lines(unit, max_row)  # lines after all, or one row that says what is wrong
        return
    number = 0
    for number, stretch in enumerate(found, 1):
        yield Raw(number - 1, *stretch)
    yield from _rest(faults, number)


def _rest(faults: Sequence[str], offset: int) -> Iterator[Raw]:
    """What is left of a file that can be read no more; nothing where it was read to its end."""
    for fault in faults[:1]:
        yield Raw(offset, b"", 0, fault=fault)


def _foreign(unit: Unit, max_row: int) -> Iterator[Raw]:
    with unpacked(unit.source, unit.packing) as stream:
        yield Raw(0, b"", 0, fault=foreign(stream.read(HEAD)))


def _begin(head: bytes) -> int:
    """Where the first byte stands that says something."""
    text = head.removeprefix(BOM)
    return len(head) - len(text.lstrip())


def _from_groups(unit: Unit, max_row: int) -> Iterator[Raw]:
    number = unit.first
    try:
        for batch in _parquet(unit.source).iter_batches(ROWS_AT_ONCE, row_groups=list(range(unit.start, unit.end))):
            for row in batch.to_pylist():
                line = _as_line(row)
                yield from (raw._replace(offset=number) for raw in line_row(number + 1, line, max_row))
                number += 1
    except (ValueError, OSError) as error:
        yield from _rest([_damage(error)], number)


def _as_line(row: dict[str, Any]) -> bytes:
    """A row of a table as JSON; of judged rows the row they were."""
    if isinstance(row.get("orig"), bytes) and "row_id" in row:
        return bytes(row["orig"])
    return dumps({key: _plain(value) for key, value in row.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _recorded(unit: Unit, max_row: int) -> Iterator[Raw]:
    for number, line in recorded_rows(unit.address, unit.start, unit.end):
        yield Raw(number, *held(line, max_row))


_KINDS: dict[str, Callable[[Unit, int], Iterator[Piece]]] = {
    "lines": _lines, "document": _document, "groups": _from_groups, "recordings": _recorded, "foreign": _foreign,
}  # fmt: skip
