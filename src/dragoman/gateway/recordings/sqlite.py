"""Recordings in one SQLite file, which the processes of a machine share.

Knows SQLite; nothing of exchanges.  Contract: as `store.RecordingStore`; only its owner may read the file (0600);
what is let go of is overwritten, little by little; whoever only reads makes nothing.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from .reader import StoreReader
from .store import FOREIGN, Rejected, Unavailable
from .table import BODIES, COLUMNS, EXCHANGES, NAMES, StoredRow

T = TypeVar("T")
APPLICATION = 0x44524752
"""SQLite's application id of these files: "DRGR"."""
BUSY = 5.0
"""Seconds one writing waits for those of other processes."""
MOMENT = 0.01
"""Seconds between two tries where SQLite does not wait."""
SOME = 200
"""Rows let go of at a time: writers of other processes come in between."""
TYPES = {"int": "INTEGER", "float": "REAL", "str": "TEXT"}
DECLARED = ", ".join(f"{name} {TYPES[kind]} NOT NULL" for name, kind in COLUMNS.items())
SCHEMA = f"""
BEGIN IMMEDIATE;
PRAGMA application_id={APPLICATION};
CREATE TABLE IF NOT EXISTS {EXCHANGES} (
    id INTEGER PRIMARY KEY AUTOINCREMENT, {DECLARED}
);
CREATE INDEX IF NOT EXISTS {EXCHANGES}_day ON {EXCHANGES} (day);
CREATE INDEX IF NOT EXISTS {EXCHANGES}_session ON {EXCHANGES} (session, id);
CREATE TABLE IF NOT EXISTS {BODIES} (
    day INTEGER NOT NULL, hash TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (day, hash)
);
COMMIT;
"""
MANNERS = "PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON; PRAGMA journal_size_limit=4194304;"
INSERT = f"INSERT INTO {EXCHANGES} ({NAMES}) VALUES"
APART = f"INSERT OR IGNORE INTO {BODIES} (day, hash, body) VALUES"
AT_ONCE = (32, 8, 1)
"""Rows written by one statement: each statement lets others run, which costs more than the row."""
AGED = [f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} WHERE day < ? LIMIT {SOME})"
        for table in (EXCHANGES, BODIES)]  # fmt: skip
AWAY = "the file of recordings {path} cannot be used: {error}; see that its disk has room and that it may be written"
ONCE = "AS MATERIALIZED" if sqlite3.sqlite_version_info >= (3, 35) else "AS"
"""Of a question that stands before another: it is asked once.  Before SQLite knew the words, it decided by itself."""
DATA = (sqlite3.DataError, sqlite3.IntegrityError, sqlite3.InterfaceError, OverflowError, UnicodeError)


class SqliteStore(StoreReader):
    """The file at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database: sqlite3.Connection | None = None
        self._process = 0

    # ── writing ──────────────────────────────────────────────────────────────

    def write(self, rows: Sequence[StoredRow], apart: Sequence[tuple[int, str, str]]) -> None:
        """Add these, all or none."""
        with self._transaction() as database:
            _insert(database, APART, apart)
            _insert(database, INSERT, rows)

    def maintain(self, day: int, days: int) -> None:
        """Let go of what is older than `days` before `day`."""
        for delete in AGED if days else ():
            gone = SOME
            while gone == SOME:
                with self._transaction() as database:
                    gone = database.execute(delete, (day - days,)).rowcount
        with self._transaction():
            pass  # the file is made, or found to be of no use, before anything is to be written
        self._done(lambda database: database.execute("PRAGMA incremental_vacuum").fetchall())

    # ── reading ──────────────────────────────────────────────────────────────

    def _asked(self, text: str, values: Sequence[Any]) -> list[Any]:
        if not self.path.exists():
            return []
        question = text.format(position="instr", joined="group_concat", comma="", once=ONCE)
        return self._done(lambda database: database.execute(question, values).fetchall())

    # ── the file ─────────────────────────────────────────────────────────────

    def close(self) -> None:
        """Let go of the file."""
        database, self._database = self._database, None
        if database is not None and self._process == os.getpid():
            with suppress(sqlite3.Error):
                database.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            database = self._connection()
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    database.execute("ROLLBACK")
                raise
        except DATA as error:
            raise Rejected(f"a recording cannot be written to {self.path}: {error}; report it") from error
        except (OSError, sqlite3.Error) as error:
            self.close()
            raise Unavailable(AWAY.format(path=self.path, error=error)) from error

    def _done(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return work(self._connection())
        except (OSError, sqlite3.Error) as error:
            self.close()
            raise Unavailable(AWAY.format(path=self.path, error=error)) from error

    def _connection(self) -> sqlite3.Connection:
        if self._database is not None and self._process != os.getpid():
            _PARENTS.append(self._database)  # closing it here would take the parent's locks away
            self._database = None
        if self._database is not None and not self.path.exists():
            self.close()
        if self._database is None:
            self._database, self._process = _open(self.path), os.getpid()
        return self._database


def _insert(database: sqlite3.Connection, text: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Add these rows, as many of them by one statement as SQLite takes values for (999 before 3.32)."""
    at = 0
    for count in AT_ONCE:
        for end in range(at + count, len(rows) + 1, count):
            some, at = rows[at:end], end
            database.execute(_statement(text, len(some[0]), count), [*chain.from_iterable(some)])


@lru_cache(maxsize=16)
def _statement(text: str, columns: int, rows: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return f"{text} {', '.join([row] * rows)}"


_PARENTS: list[sqlite3.Connection] = []
"""Connections that a fork brought along; they stay open, unused."""


def _open(path: Path) -> sqlite3.Connection:
    """A connection to the file, made where there is none.  Raises OSError and sqlite3.Error."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    database = sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False)
    try:
        [[tables]] = database.execute("SELECT count(*) FROM sqlite_master")
        [[application]] = database.execute("PRAGMA application_id")
        if application != APPLICATION and tables:
            raise OSError(FOREIGN.format(path=path))
        if application != APPLICATION:
            database.execute("PRAGMA auto_vacuum=INCREMENTAL")
        _keep_a_log(database)
        database.executescript(MANNERS)
        if application != APPLICATION:
            database.executescript(SCHEMA)
        database.create_function("lower", 1, _lower, deterministic=True)  # SQLite's own knows A to Z
    except BaseException:
        database.close()
        raise
    return database


def _keep_a_log(database: sqlite3.Connection) -> None:
    """Writers and readers do not wait for each other from now on; while another process is making the file, SQLite
    itself does not wait for that."""
    late = time.monotonic() + BUSY
    while True:
        try:
            database.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > late:
                raise
        time.sleep(MOMENT)


def _lower(text: Any) -> Any:
    return text.lower() if isinstance(text, str) else text
