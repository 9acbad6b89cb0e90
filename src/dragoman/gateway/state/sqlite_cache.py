"""One SQLite file in which the processes of a machine keep together what each of them may need.

Knows texts by kind and key; nothing of what they mean.  Contract: a file that is gone is made anew, one that is damaged
is replaced; one that another process holds is waited for, up to `BUSY` seconds; where it cannot be used, now or for
`REST` seconds, `Unreachable` is raised, and the log says so once.  Only its owner may read it (0600).  Beyond `limit`
bytes the oldest go first; what is older than `lasts` seconds is not given any more, and wiped.  A process that was
forked opens it anew.  Threads may share it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from math import inf
from pathlib import Path
from threading import Lock
from typing import TypeVar

from ...effects import Address
from .keeper import Unreachable

T = TypeVar("T")

log: logging.Logger = logging.getLogger("dragoman.gateway")

FILE = "kept-1.sqlite"
"""Its name; the number is that of its form, so that two versions never read each other's."""
LIMIT = 256 * 1024 * 1024
LASTS = 7 * 24 * 3600.0
APPLICATION = 0x4452474B
"""SQLite's application id of these files: "DRGK"."""
BUSY = 5.0
"""Seconds to wait for others: theirs take a fraction of a millisecond, unless the machine itself stands."""
PAUSE = 0.001
"""Seconds between two tries.  SQLite's own waiting grows to 0.1 s: too seldom to come in between busy writers."""
REST = 10.0
LOOK = 1.0
"""Seconds between two looks whether the file is still the one that was opened."""
CHECK = 64 * 1024
"""Bytes written between two looks at its size: little enough that what goes for them goes quickly."""
LARGEST = 16
"""What is larger than this part of the limit is not kept."""
AT_ONCE = (1, 4, 16, 64, 256)
"""Keys in one question: of few sizes, so that each is prepared once."""
DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
PRIMARY = 0xFF
"""The bits of SQLite's result codes that are not details."""

SCHEMA = f"""
BEGIN IMMEDIATE;
PRAGMA application_id={APPLICATION};
CREATE TABLE IF NOT EXISTS kept (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, at REAL NOT NULL, value BLOB NOT NULL
);
COMMIT;
"""
MANNERS = """
PRAGMA synchronous=OFF; PRAGMA secure_delete=ON; PRAGMA wal_autocheckpoint=256; PRAGMA journal_size_limit=1048576;
"""
"""Nothing waits for the disk: what a crash of the machine takes is only forgotten.  What goes is overwritten."""
PUT = "INSERT OR REPLACE INTO kept (key, at, value) VALUES (?, ?, ?)"
WIPE = "DELETE FROM kept WHERE key = ?"
ROWS = 16
"""Rows in one writing."""
QUESTIONS = {n: f"SELECT key, value FROM kept WHERE at >= ? AND key IN ({','.join('?' * n)})" for n in AT_ONCE}
MARK = "SELECT count(*), coalesce(max(id), 0) FROM kept WHERE key >= ? AND key < ?"
ALL = "SELECT value FROM kept WHERE key >= ? AND key < ? AND at >= ?"
OLDEST = "DELETE FROM kept WHERE id IN (SELECT id FROM kept ORDER BY id LIMIT ?)"
EXPIRED = "DELETE FROM kept WHERE id IN (SELECT id FROM (SELECT id, at FROM kept ORDER BY id LIMIT ?) WHERE at < ?)"

BEHIND = "%s is locked by another process (%s); what is to be kept there waits in the memory of this one"
UNUSABLE = "%s cannot be used (%s); this process goes on with its own memory, and tries again every %g s"
REPLACED = "%s was damaged and is replaced: %s"
USED_AGAIN = "%s is used again"
FOREIGN = "it is another program's database; name another directory as state"
NO_FILE = "it is not a file"


class SqliteCache:
    """The file at `path`; `clock` gives the seconds since 1970."""

    def __init__(
        self, path: Path, *, limit: int = LIMIT, lasts: float = LASTS, clock: Callable[[], float] = time.time
    ) -> None:
        self.path = path
        self._limit, self._lasts, self._clock = limit, lasts, clock
        self._database: sqlite3.Connection | None = None
        self._opened: tuple[int, int, int] | None = None  # by which process, and which file
        self._looked = self._rests = self._replaced = -inf
        self._written = 0
        self._told = False
        self._lock = Lock()  # a large request is prepared in a thread of its own

    def __del__(self) -> None:
        self._leave()

    # ── what is kept ─────────────────────────────────────────────────────────

    def get(self, addresses: Sequence[Address]) -> dict[Address, str]:
        """The texts at those of `addresses` where one is kept."""
        named = {_key(*address): address for address in addresses}
        return self._done(lambda database: dict(self._read(database, named)))

    def put(self, rows: Mapping[Address, str]) -> None:
        """Keep these; what is too large is left out."""
        now, most = self._clock(), self._limit // LARGEST
        texts = ((_key(*address), text.encode("utf-8", "surrogatepass")) for address, text in rows.items())
        kept = [(key, now, text) for key, text in texts if len(text) <= most]
        self._done(lambda database: self._write(database, kept))

    def change(self, address: Address, change: Callable[[str | None], str | None]) -> None:
        """Put what `change` gives for the text there in its place, None for none; no other process in between.

        `change` may be called more than once; what it raises is raised.
        """
        named = _key(*address)

        def work(database: sqlite3.Connection) -> None:
            database.execute("BEGIN IMMEDIATE")
            try:
                made = change(dict(self._read(database, {named: address})).get(address))
                if made is None:
                    database.execute(WIPE, (named,))
                else:
                    database.execute(PUT, (named, self._clock(), made.encode("utf-8", "surrogatepass")))
                database.execute("COMMIT")
            except BaseException:
                if database.in_transaction:
                    database.execute("ROLLBACK")
                raise

        self._done(work)

    def of_kind(self, kind: str, known: tuple[int, int] | None = None) -> tuple[tuple[int, int], list[str] | None]:
        """All texts of a kind, and a mark of them; None in their place where the mark is still `known`."""
        bounds = kind.encode() + b"\0", kind.encode() + b"\1"

        def work(database: sqlite3.Connection) -> tuple[tuple[int, int], list[str] | None]:
            [mark] = database.execute(MARK, bounds)
            if mark == known:
                return mark, None
            rows = database.execute(ALL, (*bounds, self._clock() - self._lasts))
            return mark, [value.decode("utf-8", "surrogatepass") for (value,) in rows]

        return self._done(work)

    def tidy(self) -> None:
        """Wipe what is too old, and what is too much."""
        self._done(self._make_room)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._leave()

    def _read(self, database: sqlite3.Connection, named: Mapping[bytes, Address]) -> Iterator[tuple[Address, str]]:
        keys, since = list(named), self._clock() - self._lasts
        for first in range(0, len(keys), AT_ONCE[-1]):
            some = keys[first : first + AT_ONCE[-1]]
            size = next(size for size in AT_ONCE if size >= len(some))
            padding = (None,) * (size - len(some))
            for key, value in database.execute(QUESTIONS[size], (since, *some, *padding)):
                yield named[key], value.decode("utf-8", "surrogatepass")

    def _write(self, database: sqlite3.Connection, rows: Sequence[tuple[bytes, float, bytes]]) -> None:
        for first in range(0, len(rows), ROWS):
            some = rows[first : first + ROWS]
            database.execute(PUT + ", (?, ?, ?)" * (len(some) - 1), [value for row in some for value in row])
        self._written += sum(len(text) for _, _, text in rows)
        if self._written >= CHECK:
            self._make_room(database)

    def _make_room(self, database: sqlite3.Connection) -> None:
        self._written, some = 0, 16
        while database.execute(EXPIRED, (some, self._clock() - self._lasts)).rowcount == some:
            some *= 2
        some = 16
        while _used(database) > self._limit and database.execute(OLDEST, (some,)).rowcount:
            some *= 2

    # ── the file ─────────────────────────────────────────────────────────────

    def _done(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            if 0 < self._rests - self._clock() <= REST:  # more is left only where the clock was set back
                raise Unreachable
            patience = 0.0 if self._told else BUSY  # who waited once in vain does not wait again until it is free
            try:
                done = self._patiently(work, patience)
            except (OSError, sqlite3.Error) as error:
                self._failed(error)
                raise Unreachable from error
            if self._told:
                self._told = False
                log.warning(USED_AGAIN, self.path)
            return done

    def _patiently(self, work: Callable[[sqlite3.Connection], T], patience: float) -> T:
        """Do it as soon as no other process is in the way.  Whatever is begun anew may be done twice."""
        until = time.monotonic() + patience
        while True:
            try:
                return work(self._connection())
            except sqlite3.OperationalError as error:
                if not _is(error, LOCKED) or time.monotonic() >= until:
                    raise
            time.sleep(PAUSE)

    def _connection(self) -> sqlite3.Connection:
        now = self._clock()
        if self._database is not None and self._opened is not None:
            if self._opened[0] != os.getpid():
                _PARENTS.append(self._database)  # closing it here would take the parent's locks away
                self._database = None
            elif abs(now - self._looked) >= LOOK:
                self._looked = now
                if _identity(self.path) != self._opened[1:]:
                    self._leave()
        if self._database is None:
            self._looked = now
            self._opened = (os.getpid(), *_there(self.path))
            self._database = _open(self.path)
        return self._database

    def _leave(self) -> None:
        database, self._database = self._database, None
        if database is not None and self._opened is not None and self._opened[0] == os.getpid():
            database.close()

    def _failed(self, error: Exception) -> None:
        """Leave the file alone for a while; one that is damaged is replaced, unless that was just done."""
        if _is(error, LOCKED):
            self._warn(BEHIND, error)
            return
        opened, now = self._opened, self._clock()
        self._leave()
        again = abs(now - self._replaced) < REST
        if _is(error, DAMAGE) and opened is not None and not again and _remove(self.path, opened[1:]):
            self._replaced = now
            log.warning(REPLACED, self.path, error)
            return
        self._rests = now + REST
        self._warn(UNUSABLE, error, REST)

    def _warn(self, message: str, *why: object) -> None:
        if not self._told:
            self._told = True
            log.warning(message, self.path, *why)


_PARENTS: list[sqlite3.Connection] = []
"""Connections that a fork brought along; they stay open, unused."""


def _open(path: Path) -> sqlite3.Connection:
    """A connection to what is there.  Raises OSError for another program's file, sqlite3.Error for what is no use."""
    database = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        [[tables]] = database.execute("SELECT count(*) FROM sqlite_master")
        [[application]] = database.execute("PRAGMA application_id")  # in this order: another process may be making both
        if application != APPLICATION and tables:
            raise OSError(FOREIGN)
        database.execute("PRAGMA journal_mode=WAL")  # from now on readers and writers do not wait for each other
        database.executescript(MANNERS)
        if application != APPLICATION:
            database.executescript(SCHEMA)
    except BaseException:
        database.close()
        raise
    return database


def _is(error: Exception, codes: Set[int]) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & PRIMARY in codes


def _there(path: Path) -> tuple[int, int]:
    """Which file it is; made, for its owner only, where there is none.  Raises OSError for what is no file."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(NO_FILE)
    return found.st_dev, found.st_ino


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _remove(path: Path, damaged: tuple[int, int]) -> bool:
    """Remove the file, if it is still that one: others who have it open will see that it is another, and open that."""
    try:
        if _identity(path) == damaged:
            for name in (f"{path}-wal", f"{path}-shm", str(path)):
                Path(name).unlink(missing_ok=True)
    except OSError:
        return False
    return True


def _used(database: sqlite3.Connection) -> int:
    """Bytes of the file that hold something."""
    [[pages]] = database.execute("PRAGMA page_count")
    [[free]] = database.execute("PRAGMA freelist_count")
    [[size]] = database.execute("PRAGMA page_size")
    return int((pages - free) * size)


def _key(kind: str, key: str) -> bytes:
    return kind.encode() + b"\0" + hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
