"""Where rows come from: files and folders, and the stores in which gateways record.

Knows paths and addresses; nothing of rows.  Contract: a password in an address is shown to nobody and written nowhere;
what reads a store is imported when there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from ...errors import UsageError
from ...gateway.recordings.store import is_store, without_password

SUFFIXES = (".jsonl", ".json", ".ndjson", ".gz", ".zst", ".bz2", ".xz", ".parquet", ".traj")
STDIN = "-"
PIPE = "{path} is no file but a pipe or a device, and rows are read more than once; write them into a file"
_RECORDINGS = ".recordings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """Recordings numbered `first` to `last` of the store at `address`, which is called `name` wherever it is shown."""

    address: str = field(repr=False)
    name: str
    first: int
    last: int

    def __str__(self) -> str:
        return self.name


Source: TypeAlias = Path | Store


def sources_of(inputs: Iterable[str | Path]) -> list[Source]:
    """What `inputs` name: stores, files, all files of a folder that look like rows.  Raises `UsageError` for none."""
    found: list[Source] = []
    for given in inputs:
        path = Path(given)
        if is_store(str(given)):
            first, last = _recordings().bounds(str(given))
            found.append(Store(address=str(given), name=without_password(str(given)), first=first, last=last))
        elif path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.name.endswith(SUFFIXES) and p.is_file())
            if not inside:
                raise UsageError(f"{path} holds no file that ends in {', '.join(SUFFIXES)}; name the files")
            found += inside
        elif path.is_file():
            found.append(path)
        elif path.exists() or str(given) == STDIN:
            raise UsageError(PIPE.format(path="standard input" if str(given) == STDIN else path))
        else:
            raise UsageError(f"there is no file {path}; check the path")
    return found


def described(source: Source) -> dict[str, Any]:
    """What a source was, to be known again: the path and bytes of a file, the name and numbers of a store."""
    if isinstance(source, Store):
        return {"path": source.name, "bytes": 0, "recordings": [source.first, source.last]}
    return {"path": str(source), "bytes": source.stat().st_size}


def as_described(source: Source, told: dict[str, Any]) -> Source:
    """A store as it was then, for it grows and lets go of what is old; a file as it is."""
    if not isinstance(source, Store) or "recordings" not in told:
        return source
    first, last = told["recordings"]
    return replace(source, first=first, last=last)


def recorded_rows(address: str, first: int, last: int) -> Iterator[tuple[int, bytes]]:
    """Number and row of the recordings with these numbers, the newest first."""
    found: Iterator[tuple[int, bytes]] = _recordings().rows(address, first, last)
    return found


def _recordings() -> Any:
    return import_module(_RECORDINGS, __package__)
