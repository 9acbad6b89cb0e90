"""What a store of recordings promises, whichever database it is in.

Knows rows and questions; nothing of SQL's dialects or of exchanges.
Contract: a store is used by one thread at a time; whoever writes and whoever reads each has one of its own.  What
cannot be done now raises `Unavailable`, and may be tried again; a row that can never be written raises `Rejected`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from ...errors import DragomanError, UsageError
from ...records import NamedTuple
from .table import Query, Recorded, StoredRow

POSTGRES = ("postgresql", "postgres")
SQLITE = "sqlite"
SQLITE_HEAD = b"SQLite format 3\0"
"""How an SQLite file begins."""
NO_DRIVER = "recordings in PostgreSQL need psycopg: pip install 'dragoman[postgres]'"
NO_STORE = "{where!r} is no store of recordings; give postgresql://user@host/database, or the path of an SQLite file"
FOREIGN = "{path} is no file of recordings; name another path, or remove it"


class Unavailable(DragomanError):
    """The database cannot be used now: it is away, full, or may not be written to."""


class Rejected(DragomanError):
    """The database can be used, and does not take these rows."""


class Line(NamedTuple):
    """A row of a list: its number, and columns as `StoredRow` has them; `line` is what no other holds, as JSON."""

    number: int
    began: float
    line: str
    marks: str
    content: bool
    session: str
    request_id: str
    owner: str
    front: str
    model: str
    route: str
    status: int
    outcome: str
    stream: int
    seconds: float
    first: float
    reasks: int
    attempts: int
    input_tokens: int
    output_tokens: int


class Session(NamedTuple):
    """The exchanges of one session: how many, the first and the last, the newest number, tokens, all their marks."""

    session: str
    exchanges: int
    first: float
    last: float
    newest: int
    input_tokens: int
    output_tokens: int
    marks: str


class RecordingStore(Protocol):
    """A database of recordings."""

    def write(self, rows: Sequence[StoredRow], apart: Sequence[tuple[int, str, str]]) -> None:
        """Add these, all or none; `apart` are bodies that stand apart: day, hash, text.  One that is there stays."""

    def maintain(self, day: int, days: int) -> None:
        """Make room for what comes from `day` on, and let go of what is older than `days` before it (0: of nothing)."""

    def lines(self, query: Query) -> list[Line]:
        """Rows of a list."""

    def rows(self, query: Query) -> list[Recorded]:
        """The same with all there is."""

    def sessions(self, query: Query) -> list[Session]:
        """Sessions, the one last heard of first."""

    def get(self, number: int) -> Recorded | None:
        """The exchange of this number."""

    def close(self) -> None:
        """Let go of the connection."""


def is_postgres(where: str) -> bool:
    """Is this the address of a PostgreSQL database?"""
    return urlsplit(where).scheme in POSTGRES


def is_store(where: str) -> bool:
    """Is this the address of a database, or the path of an SQLite file that is there?"""
    if urlsplit(where).scheme in {*POSTGRES, SQLITE}:
        return True
    try:
        if not Path(where).is_file():  # a pipe would wait for who writes, and what is read of it is gone
            return False
        with Path(where).open("rb") as file:
            return file.read(len(SQLITE_HEAD)) == SQLITE_HEAD
    except OSError:
        return False


def without_password(where: str) -> str:
    """The address as it may be shown and written down."""
    if not is_postgres(where):
        return where
    parts = urlsplit(where)
    user, at, host = parts.netloc.rpartition("@")
    query = "&".join(part for part in parts.query.split("&") if "password" not in part.partition("=")[0].casefold())
    return parts._replace(netloc=f"{user.partition(':')[0]}{at}{host}", query=query).geturl()


def open_store(where: str) -> RecordingStore:
    """The store at an address or a path; nothing is reached or made before it is used.

    Raises UsageError for what is neither, and where PostgreSQL's driver is missing.
    """
    if why := unusable(where):
        raise UsageError(why)
    if is_postgres(where):
        return _made("postgres", "PostgresStore", where)
    return _made("sqlite", "SqliteStore", _file(where))


def unusable(where: str) -> str:
    """Why nothing can be recorded at this address or path, and what to do; "" where only using it could tell."""
    if is_postgres(where):
        return "" if is_there("psycopg") else NO_DRIVER
    return "" if _file(where) is not None else NO_STORE.format(where=_shown(where))


def is_there(driver: str) -> bool:
    """Is this library installed, and can it be used?"""
    try:
        import_module(driver)
    except ImportError:  # psycopg raises it too where the system has no libpq
        return False
    return True


def _file(where: str) -> Path | None:
    """The file that a path or a `sqlite:` address names; None where it names none."""
    scheme = urlsplit(where).scheme
    if scheme not in {"", SQLITE} and len(scheme) > 1:  # one letter is a drive of Windows
        return None
    path = where.removeprefix(f"{SQLITE}://").removeprefix(f"{SQLITE}:") if scheme == SQLITE else where
    if not path or path == "/":
        return None
    return Path(path.removeprefix("/") if scheme == SQLITE else path)


def _shown(where: str) -> str:
    """An address that is none, without what may be a user and a password in it, or anything behind a question mark."""
    scheme, colon, rest = where.partition("://")
    return f"{scheme}{colon}{rest.rpartition('@')[2]}".partition("?")[0][:80]


def _made(module: str, name: str, where: str | Path | None) -> RecordingStore:
    kind: Callable[[Any], RecordingStore] = getattr(import_module(f".{module}", __package__), name)
    return kind(where)
