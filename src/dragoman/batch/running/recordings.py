"""What gateways recorded, as rows: through the reader that exports them.

Knows stores of recordings; nothing of units.  Contract: the rows are those of `dragoman recordings export`, in its
order; what is recorded meanwhile is not among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ...errors import UsageError
from ...gateway.inspector.recorded_rows import chat_row, recorded_rows
from ...gateway.recordings.store import RecordingStore, is_postgres, open_store
from ...gateway.recordings.table import Query
from ..row_json import dumps

NO_FILE = "there are no recordings at {path}; give the path that [recordings] url names"
EMPTY = "{where} holds no recordings; let something be asked of a gateway with [recordings] url"
BARE = "{where} holds no recordings with content; set [recordings] content = true"


def bounds(where: str) -> tuple[int, int]:
    """The numbers of the oldest and the newest recording with content.  Raises `UsageError` where there is none."""
    with closing(_opened(where)) as store:
        last = _newest(store, 0)
        if not last:
            raise UsageError((BARE if store.lines(Query(limit=1)) else EMPTY).format(where=_named(store)))
        low, high = 0, last  # none has `low` or less, some have `high` or less
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if _newest(store, middle + 1) else (middle, high)
        return high, last


def rows(where: str, first: int, last: int) -> Iterator[tuple[int, bytes]]:
    """Number and row of the recordings with the numbers `first` to `last`, the newest first."""
    with closing(_opened(where)) as store:
        for row in recorded_rows(store, Query(before=last + 1, content=True)):
            if row.number < first:
                return
            yield row.number, dumps(chat_row(row))


def _newest(store: RecordingStore, before: int) -> int:
    return next((line.number for line in store.lines(Query(before=before, limit=1, content=True))), 0)


def _opened(where: str) -> RecordingStore:
    store = open_store(where)
    path = getattr(store, "path", None)
    if not is_postgres(where) and isinstance(path, Path) and not path.is_file():
        raise UsageError(NO_FILE.format(path=path))
    return store


def _named(store: RecordingStore) -> str:
    return str(getattr(store, "path", "the store"))
