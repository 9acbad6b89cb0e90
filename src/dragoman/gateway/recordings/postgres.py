"""Recordings in PostgreSQL, which any number of gateways share: partitions by day, rows by COPY.

Knows PostgreSQL and psycopg 3, which is imported with this module; nothing of exchanges.
Contract: as `store.RecordingStore`.  Partitions are made two days ahead and dropped whole: nothing is ever deleted row
by row.  Gateways that begin together, or write into a day that has no partition, do not get in each other's way.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from itertools import product
from operator import attrgetter
from typing import Any

import psycopg
from psycopg import errors

from ...redaction import redact
from .reader import StoreReader
from .store import Rejected, Unavailable
from .table import BODIES, COLUMNS, DAY, EXCHANGES, NUMBERS, StoredRow

AHEAD = 2
"""Days for which there are partitions before they begin."""
CONNECT = 5
"""Seconds to reach the server."""
LOCK = 0x64726167
"""The advisory lock under which tables are made and dropped."""
SETTINGS = "SET statement_timeout = 30000; SET lock_timeout = 5000; SET synchronous_commit = off"
"""Nothing waits for the disk: what a crash of the server takes is the last fraction of a second."""
TYPES = {"int": "bigint", "float": "double precision", "str": "text"}
SCHEMA = f"""
CREATE SEQUENCE IF NOT EXISTS {NUMBERS};
CREATE TABLE IF NOT EXISTS {EXCHANGES} (
    id bigint NOT NULL DEFAULT nextval('{NUMBERS}'),
    {", ".join(f"{name} {TYPES[kind]} NOT NULL" for name, kind in COLUMNS.items())}, PRIMARY KEY (day, id)
) PARTITION BY RANGE (day);
CREATE INDEX IF NOT EXISTS {EXCHANGES}_id ON {EXCHANGES} (id);
CREATE INDEX IF NOT EXISTS {EXCHANGES}_session ON {EXCHANGES} (session, id);
CREATE TABLE IF NOT EXISTS {BODIES} (
    day bigint NOT NULL, hash text NOT NULL, body text NOT NULL, PRIMARY KEY (day, hash)
) PARTITION BY RANGE (day);
"""
THERE = f"SELECT to_regclass('{EXCHANGES}') IS NOT NULL AND to_regclass('{BODIES}') IS NOT NULL"
PARTITIONS = """
SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
WHERE inhparent IN (to_regclass(%s), to_regclass(%s))
"""
NAMED = re.compile(rf"({EXCHANGES}|{BODIES})_(\d{{8}})")
APART = f"""
INSERT INTO {BODIES} (day, hash, body) SELECT * FROM unnest(%b::bigint[], %b::text[], %b::text[])
ON CONFLICT DO NOTHING
"""
AWAY = "the database of recordings cannot be used: {error}; see that it runs, has room, and lets {user} in"


class PostgresStore(StoreReader):
    """The database at `url`."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._database: psycopg.Connection[Any] | None = None
        self._days: set[int] = set()

    # ── writing ──────────────────────────────────────────────────────────────

    def write(self, rows: Sequence[StoredRow], apart: Sequence[tuple[int, str, str]]) -> None:
        """Add these, all or none."""
        days = {row.day for row in rows} - self._days
        if days:
            self._make(days)
        try:
            with self._transaction() as database, database.cursor() as cursor:
                if apart:  # in order: two who insert the same ones never wait for each other
                    cursor.execute(APART, [[*column] for column in zip(*sorted(apart), strict=True)])
                with cursor.copy(COPY) as copy:
                    copy.write(packed(rows))
        except Unavailable:
            self._days.clear()  # somebody else may have dropped them
            raise

    def maintain(self, day: int, days: int) -> None:
        """Make partitions ahead, and drop those that are older than `days` before `day`."""
        self._make({day + ahead for ahead in range(AHEAD + 1)})
        if days:
            self._drop(day - days)

    def _make(self, days: set[int]) -> None:
        with self._transaction() as database:
            database.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            [there] = database.execute(THERE).fetchone() or [False]
            if not there:
                database.execute(SCHEMA)
            known = self._partitions(database)
            for table, day in product((BODIES, EXCHANGES), sorted(days)):  # in the order in which rows are written
                if (name := _partition(table, day)) not in known:
                    values = f"FOR VALUES FROM ({day}) TO ({day + 1})"
                    database.execute(f"CREATE TABLE {name} PARTITION OF {table} {values}")
        self._days |= days

    def _drop(self, first: int) -> None:
        """Drop what is before the day `first`; what somebody reads just now is dropped the next time."""
        with self._transaction() as database:
            known = ((name, NAMED.fullmatch(name)) for name in self._partitions(database))
            names = [name for name, found in known if found and _day(found[2]) < first]
        for name in names:
            try:
                with self._transaction() as database:
                    database.execute(f"DROP TABLE IF EXISTS {name}")
            except Unavailable as error:
                if not isinstance(error.__cause__, errors.LockNotAvailable):
                    raise

    @staticmethod
    def _partitions(database: psycopg.Connection[Any]) -> set[str]:
        return {name for [name] in database.execute(PARTITIONS, (EXCHANGES, BODIES))}

    # ── reading ──────────────────────────────────────────────────────────────

    def _asked(self, text: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        words = {"position": "strpos", "joined": "string_agg", "comma": ", ''", "once": "AS MATERIALIZED"}
        question: Any = text.format(**words).replace("?", "%s")
        values = [value.replace("\0", "") if isinstance(value, str) else value for value in values]
        try:
            with self._transaction() as database:
                found: list[tuple[Any, ...]] = database.execute(question, values).fetchall()
                return found
        except Unavailable as error:
            if isinstance(error.__cause__, errors.UndefinedTable):
                return []  # nothing was ever recorded
            raise

    # ── the connection ───────────────────────────────────────────────────────

    def close(self) -> None:
        """Let go of the connection."""
        database, self._database = self._database, None
        if database is not None:
            with suppress(psycopg.Error):
                database.close()

    @contextmanager
    def _transaction(self) -> Iterator[psycopg.Connection[Any]]:
        try:
            with self._connection().transaction():
                yield self._connection()
        except (psycopg.DataError, struct.error) as error:
            raise Rejected(f"a recording cannot be written: {error}; report it") from error
        except (psycopg.Error, OSError) as error:
            if not isinstance(error, errors.UndefinedTable):
                self.close()
            raise Unavailable(self._why(error)) from error

    def _connection(self) -> psycopg.Connection[Any]:
        if self._database is None or self._database.closed:
            self._database = psycopg.connect(
                self._url,
                autocommit=True,
                connect_timeout=CONNECT,
                application_name="dragoman",
                prepare_threshold=None,
                keepalives_idle=10,
                keepalives_interval=5,
                keepalives_count=3,
                tcp_user_timeout=15_000,
            )
            self._database.execute(SETTINGS)
        return self._database

    def _why(self, error: Exception) -> str:
        parts = psycopg.conninfo.conninfo_to_dict(self._url)
        secrets = [str(parts["password"])] if parts.get("password") else []
        return AWAY.format(error=redact(" ".join(str(error).split()), secrets), user=parts.get("user") or "us")


def _partition(table: str, day: int) -> str:
    return f"{table}_{datetime.fromtimestamp(day * DAY, UTC):%Y%m%d}"


def _day(written: str) -> int:
    return int(datetime.strptime(written, "%Y%m%d").replace(tzinfo=UTC).timestamp()) // DAY


# ── COPY ─────────────────────────────────────────────────────────────────────


COUNTED = [name for name, kind in COLUMNS.items() if kind != "str"]
COMMON = ["namespace", "process", "owner", "front", "model", "route", "outcome", "marks"]
"""Texts that come again and again."""
OWN = [name for name, kind in COLUMNS.items() if kind == "str" and name not in COMMON]
ORDER = [*COUNTED, *COMMON, *OWN]
"""Of the columns in COPY: numbers first, which are packed together."""
COPY = f"COPY {EXCHANGES} ({', '.join(ORDER)}) FROM STDIN (FORMAT BINARY)"
HEADER, TRAILER = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
"""Of PostgreSQL's binary form of COPY (its manual, COPY, File Formats)."""
_NUMBERS = struct.Struct("!h" + "".join("iq" if COLUMNS[name] == "int" else "id" for name in COUNTED))
_LENGTH = struct.Struct("!i")
_counted, _common, _own = attrgetter(*COUNTED), attrgetter(*COMMON), attrgetter(*OWN)


def packed(rows: Sequence[StoredRow]) -> bytes:
    """The rows in the binary form of COPY, in `ORDER`.  Two microseconds a row: psycopg's own takes tens."""
    pieces, numbers = [HEADER], [len(ORDER), *[8] * (2 * len(COUNTED))]
    for row in rows:
        numbers[2::2] = _counted(row)
        pieces.append(_NUMBERS.pack(*numbers))
        pieces += map(_again, _common(row))
        pieces += map(_text, _own(row))
    pieces.append(TRAILER)
    return b"".join(pieces)


def _text(value: str) -> bytes:
    data = value.encode("utf-8", "replace")
    return _LENGTH.pack(len(data)) + data


_again = lru_cache(maxsize=1024)(_text)
