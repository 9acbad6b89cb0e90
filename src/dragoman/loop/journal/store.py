"""One run in one SQLite file: how it was asked, and every entry by kind and key.

Knows texts and keys; nothing of what they mean.  Contract: what `put` was given is on the disk when it
returns (WAL, synchronous=FULL); one process at a time holds a journal, and a dead one holds nothing; only its owner
may read the file (0600); a file that is no journal is named as that, and left as it is.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...errors import JournalError

APPLICATION = 0x4452474D
"""SQLite's application id of our files: "DRGM"."""
VERSION = 1
SCHEMA = """
CREATE TABLE run (about TEXT NOT NULL);
CREATE TABLE entry (
    kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT, at REAL NOT NULL, PRIMARY KEY (kind, key)
) WITHOUT ROWID;
"""
NO_JOURNAL = "{path} is not a journal of a run ({why}); give the file that was given as journal=…"
BUSY = "{path} is in use by another run or process; wait for it, or end it"
TAKEN = "{path} already holds a run; continue it with resume({path!r}), or give another file"
MISSING = "there is no journal {path}; start one with run(…, journal={path!r})"
EMPTY = "{path} holds no run, which must have ended before it began; start it with run(…, journal={path!r})"
NEWER = "{path} was written by a newer dragoman (format {version}); update this one"
NO_PLACE = "cannot make the journal {path} ({why}); give a path that can be written"
DAMAGED = "{path} is damaged ({why}); what it held cannot be continued"


NO_WRITING = "the journal {path} cannot be written ({why}); make room, or see to the disk, then resume the run"
PRIMARY = 0xFF
"""The bits of SQLite's result codes that are not details."""
FAILURES: Mapping[int, str] = {
    sqlite3.SQLITE_BUSY: BUSY,
    sqlite3.SQLITE_LOCKED: BUSY,
    sqlite3.SQLITE_NOTADB: NO_JOURNAL,
    sqlite3.SQLITE_FULL: NO_WRITING,
    sqlite3.SQLITE_IOERR: NO_WRITING,
    sqlite3.SQLITE_READONLY: NO_WRITING,
    sqlite3.SQLITE_CANTOPEN: NO_PLACE,
}
"""What SQLite says → what we say; anything else is damage."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The entry of a key: its value, None while it has only begun, and when that was by the run's clock."""

    value: str | None
    at: float


class JournalStore:
    """An open journal; any thread may use it.  Close it, or leave its block."""

    def __init__(self, path: str | os.PathLike[str], *, new: bool) -> None:
        """Open the journal at `path`; `new` for one that is to begin.  Raises JournalError."""
        self.path: str = os.fspath(path)
        self._lock = threading.Lock()
        _there(self.path, new=new)
        self._database = sqlite3.connect(self.path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            with self._guarded():
                self._open(new=new)
        except BaseException:
            self._database.close()
            raise

    def _open(self, *, new: bool) -> None:
        tables = self._recognise()
        if not new and not tables:
            raise JournalError(EMPTY.format(path=self.path))
        self._database.executescript(
            "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; BEGIN EXCLUSIVE; COMMIT;"
        )
        [[found]] = self._database.execute("PRAGMA quick_check(1)")
        if found != "ok":
            raise JournalError(DAMAGED.format(path=self.path, why=found))
        begun = self._is_begun()
        if new and begun:
            raise JournalError(TAKEN.format(path=self.path))
        if not new and not begun:
            raise JournalError(EMPTY.format(path=self.path))

    def _recognise(self) -> int:
        """Count the tables.  Raises JournalError for a file of somebody else; writes nothing."""
        [[application]] = self._database.execute("PRAGMA application_id")
        [[version]] = self._database.execute("PRAGMA user_version")
        [[tables]] = self._database.execute("SELECT count(*) FROM sqlite_master")
        if application != APPLICATION and tables:
            raise JournalError(NO_JOURNAL.format(path=self.path, why="another program's database"))
        if version > VERSION and application == APPLICATION:
            raise JournalError(NEWER.format(path=self.path, version=version))
        return int(tables)

    def _is_begun(self) -> bool:
        [[tables]] = self._database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'run'")
        return bool(tables) and bool(self._database.execute("SELECT count(*) FROM run").fetchone()[0])

    # ── the run ──────────────────────────────────────────────────────────────

    def write_about(self, about: str) -> None:
        """Write the header; this begins the journal."""
        with self._guarded():
            self._database.executescript(
                f"PRAGMA application_id={APPLICATION}; PRAGMA user_version={VERSION}; BEGIN IMMEDIATE; {SCHEMA}"
            )
            self._database.execute("INSERT INTO run VALUES (?)", (about,))
            self._database.execute("COMMIT")

    def read_about(self) -> str:
        """Read the header."""
        with self._guarded():
            about: str = self._database.execute("SELECT about FROM run").fetchone()[0]
            return about

    # ── its entries ──────────────────────────────────────────────────────────

    def get(self, kind: str, key: str) -> Entry | None:
        """The entry of `key`, None for none."""
        with self._guarded():
            found = self._database.execute("SELECT value, at FROM entry WHERE kind = ? AND key = ?", (kind, key))
            row = found.fetchone()
            return None if row is None else Entry(*row)

    def put(self, kind: str, key: str, value: str | None, at: float) -> None:
        """Write `value` under `key`; None says that something is about to begin."""
        with self._guarded():
            self._database.execute("INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?)", (kind, key, value, at))

    # ── the file ─────────────────────────────────────────────────────────────

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._database.close()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """One user at a time, and SQLite's failures in our words."""
        with self._lock:
            try:
                yield
            except sqlite3.DatabaseError as error:
                raise _failure(error, self.path) from error


def _there(path: str, *, new: bool) -> None:
    """See that there is a file to open, that only its owner may read."""
    if new:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            pass
        except OSError as error:
            raise JournalError(
                f"cannot make the journal {path} ({error.strerror}); give a path that can be written"
            ) from error
    elif not Path(path).exists():
        raise JournalError(MISSING.format(path=path))
    if not Path(path).is_file():
        raise JournalError(NO_JOURNAL.format(path=path, why="not a file"))


def _failure(error: sqlite3.DatabaseError, path: str) -> JournalError:
    code = getattr(error, "sqlite_errorcode", 0) & PRIMARY
    return JournalError(FAILURES.get(code, DAMAGED).format(path=path, why=error))
