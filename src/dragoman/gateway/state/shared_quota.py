"""The quota of all processes of a machine that name the same directory: one file, and a lock for each process.

Knows keys by their names and limits.  In the file stands, of each key, how many requests each process has now, and how
many began in each second of the last minute.
Contract: as `Quota`, over all processes; a process that has ended holds nothing any more, however it ended, for the
system takes its lock away; nobody waits long for one that stands still with the lock of all in its hand: until it lets
go the others count without the lock, and of two that come in the same instant one may be too many.  Where the file
cannot be used a process counts for itself, and the log says so once.  Seconds are whole here, so that a minute may be a
second longer.
"""

from __future__ import annotations

import hashlib
import logging
import os
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path

from ..config.model import Access
from .quota import MINUTE, Quota, is_limited, too_many, too_much, too_often

try:
    import fcntl
except ImportError:  # a system without such locks: there every process counts for itself
    fcntl = None  # type: ignore[assignment]

log: logging.Logger = logging.getLogger("dragoman.gateway")

FILE = "limits-2"
"""Its name; the number is that of its form."""
SEATS = 64
"""How many processes can count together."""
KEYS = 1024
"""How many keys can be counted."""
CELLS = MINUTE + 1
"""Seconds of which requests are counted: those of the last minute, and the one that has just begun."""
NAME, NUMBER = struct.Struct("=16s"), struct.Struct("=I")
SEATED, BEGUN = struct.Struct(f"={SEATS}I"), struct.Struct(f"={CELLS}I")
SEATS_AT = NAME.size
BEGUN_AT = SEATS_AT + SEATED.size
SECONDS_AT = BEGUN_AT + BEGUN.size
TOKENS_AT = SECONDS_AT + BEGUN.size
TOKEN_SECONDS_AT = TOKENS_AT + BEGUN.size
SIZE = TOKEN_SECONDS_AT + BEGUN.size
"""Bytes for one key: whose they are, how many each process has, and of each cell how many began and its second, and the
tokens they cost and their second."""
MOST = 2**32 - 1
FREE = bytes(NAME.size)

PATIENCE, IMPATIENCE, PAUSE = 1.0, 0.005, 0.0002
"""Seconds the lock is tried for, after that was once in vain, and between two tries.  It is held for microseconds, but
on a busy machine whoever holds it may not get on for a while."""
REST = 10.0
LOOK = 1.0
"""Seconds between two looks whether the file is still the one that was opened."""
UNUSABLE = "%s cannot be used (%s); limits of keys count in this process alone, and it tries again every %g s"
NO_SEAT = f"{SEATS} processes use it"
NO_PLACE = f"it holds {KEYS} keys"


class SharedQuota(Quota):
    """What the processes count that name `directory`; `clock` is the same for all processes of the machine."""

    def __init__(self, directory: Path, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self._path = directory / FILE
        self._table: _Table | None = None
        self._pid = os.getpid()
        self._looked = self._rests = -inf
        self._told = False

    def __del__(self) -> None:
        self.close()

    def enter(self, access: Access, tokens: int = 0) -> int:
        """One more request; gives the second.  Raises ProviderError (429) for one too many."""
        if is_limited(access):
            now = self._clock()
            try:
                table = self._usable(now)
                if table is not None:
                    at = table.enter(access, self._inside[access.name], tokens, self._clock)
                    self._count(access, tokens, now)
                    return at
            except OSError as error:
                self._failed(error, now)
        return super().enter(access, tokens)

    def leave(self, access: Access, more: int = 0, at: int = 0) -> None:
        """It has ended, and cost `more` tokens than it came in with at second `at`."""
        super().leave(access, more, at)
        if self._table is not None:
            try:
                if access.max_concurrent:
                    self._table.sit(access.name, self._inside[access.name])
                if more and access.tokens_per_minute:
                    self._table.settle(access.name, more, at, self._clock)
            except OSError as error:
                self._failed(error, self._clock())

    def close(self) -> None:
        """This process counts no more."""
        table, self._table = self._table, None
        if table is not None:
            table.close()

    def _usable(self, now: float) -> _Table | None:
        if self._pid != os.getpid():  # a fork: what the parent has inside is not ours
            self.close()
            self._pid = os.getpid()
            self._inside.clear()
        if now < self._rests or fcntl is None:
            return None
        if abs(now - self._looked) >= LOOK:
            self._looked = now
            if self._table is not None and not self._table.is_at(self._path):
                self.close()
        if self._table is None:
            self._table = _Table(self._path)
        return self._table

    def _failed(self, error: OSError, now: float) -> None:
        with suppress(OSError):
            self.close()
        self._rests = now + REST
        if not self._told:
            self._told = True
            log.warning(UNUSABLE, self._path, error, REST)


class _Table:
    """The open file, and this process's seat in it.  Every method raises OSError where the file cannot be used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, int] = {}
        self._stands = False  # whoever has the lock of all
        self._file, self._seat, self._lock = _open(path), -1, -1
        try:
            self._seat, self._lock = self._take_seat()
            self._begin_clean()
        except BaseException:
            self.close()
            raise

    def enter(self, access: Access, inside: int, tokens: int, clock: Callable[[], float]) -> int:
        """One more of this key, of which this process has `inside`; gives the second.

        Raises ProviderError (429) for one too many.

        The clock is read while the file is ours: whoever waited for it came in when it got it.
        """
        self._come_alone()
        try:
            at = self._place(access.name)
            row = os.pread(self._file, SIZE, at).ljust(SIZE, b"\0")
            if access.max_concurrent:
                self._check_inside(access, at, row, inside)
            now = clock()
            if access.per_minute:
                self._check_begun(access, row, now)
            if access.tokens_per_minute:
                self._check_tokens(access, row, tokens, now)
                self._add(at + TOKENS_AT, row[TOKENS_AT:], int(now), tokens)
            if access.per_minute:
                self._add(at + BEGUN_AT, row[BEGUN_AT:], int(now), 1)
            if access.max_concurrent:
                self._sit(at, self._seat, inside + 1)
            return int(now)
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def settle(self, name: str, more: int, second: int, clock: Callable[[], float]) -> None:
        """A request of that second cost so many tokens more: counted now; or fewer: counted no more."""
        if name not in self._places:
            return
        self._come_alone()
        try:
            at = self._places[name]
            cells = os.pread(self._file, 2 * BEGUN.size, at + TOKENS_AT).ljust(2 * BEGUN.size, b"\0")
            if more > 0:
                self._add(at + TOKENS_AT, cells, int(clock()), more)
            elif NUMBER.unpack_from(cells, BEGUN.size + NUMBER.size * (second % CELLS))[0] == second:
                self._add(at + TOKENS_AT, cells, second, more)
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def sit(self, name: str, inside: int) -> None:
        """This process has `inside` of this key."""
        if name in self._places:
            self._sit(self._places[name], self._seat, inside)

    def is_at(self, path: Path) -> bool:
        """Is it still the file with this name?"""
        try:
            return os.path.samestat(os.stat(path), os.fstat(self._file))
        except FileNotFoundError:
            return False

    def close(self) -> None:
        """Let go of the file; what this process has inside counts no more."""
        for file in (self._lock, self._file):
            if file >= 0:
                os.close(file)

    def _check_inside(self, access: Access, at: int, row: bytes, inside: int) -> None:
        seated = list(SEATED.unpack_from(row, SEATS_AT))
        seated[self._seat] = inside
        if sum(seated) >= access.max_concurrent and self._living(at, seated) >= access.max_concurrent:
            raise too_many(access)

    def _check_begun(self, access: Access, row: bytes, now: float) -> None:
        if sum(BEGUN.unpack_from(row, BEGUN_AT)) < access.per_minute:  # at most so many: some may be older
            return
        total, first = _lately(row, BEGUN_AT, int(now))
        if total >= access.per_minute:
            raise too_often(access, first + CELLS - now)

    def _check_tokens(self, access: Access, row: bytes, tokens: int, now: float) -> None:
        total, first = _lately(row, TOKENS_AT, int(now))
        if total and total + tokens > access.tokens_per_minute:
            raise too_much(access, first + CELLS - now)

    def _add(self, place: int, cells: bytes, second: int, more: int) -> None:
        """Add to the cell of this second; `cells` are what stands at `place`: the numbers, and their seconds."""
        cell = NUMBER.size * (second % CELLS)
        count = 0
        if NUMBER.unpack_from(cells, BEGUN.size + cell)[0] == second:
            count = NUMBER.unpack_from(cells, cell)[0]
        else:
            os.pwrite(self._file, NUMBER.pack(second), place + BEGUN.size + cell)
        os.pwrite(self._file, NUMBER.pack(min(MOST, max(0, count + more))), place + cell)

    def _sit(self, at: int, seat: int, inside: int) -> None:
        os.pwrite(self._file, NUMBER.pack(max(inside, 0)), at + SEATS_AT + NUMBER.size * seat)

    def _living(self, at: int, seated: Sequence[int]) -> int:
        """How many are inside without those whose process has ended; their seats are cleared."""
        total = 0
        for seat, inside in enumerate(seated):
            if inside and seat != self._seat and self._has_ended(seat):
                self._sit(at, seat, 0)
            else:
                total += inside
        return total

    # ── places of keys ───────────────────────────────────────────────────────

    def _place(self, name: str) -> int:
        """Where the row of a key begins; it gets the first free one."""
        if name not in self._places:
            digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=NAME.size).digest()
            first = int.from_bytes(digest[:4], "big")
            rows = ((first + n) % KEYS * SIZE for n in range(KEYS))
            at = next((at for at in rows if self._is_for(digest, at)), None)
            if at is None:
                raise OSError(NO_PLACE)
            self._places[name] = at
        return self._places[name]

    def _is_for(self, digest: bytes, at: int) -> bool:
        found = os.pread(self._file, NAME.size, at).ljust(NAME.size, b"\0")
        if found == FREE:
            os.pwrite(self._file, digest.ljust(SIZE, b"\0"), at)
        return found in {FREE, digest}

    # ── seats of processes ───────────────────────────────────────────────────

    def _take_seat(self) -> tuple[int, int]:
        """The first seat whose process has ended, and its lock, held from now on."""
        for seat in range(SEATS):
            lock = _open(self._lock_of(seat))
            if _take(lock):
                return seat, lock
            os.close(lock)
        raise OSError(NO_SEAT)

    def _begin_clean(self) -> None:
        """What the process had inside that sat here before counts no more; nor does anything where nobody else sits."""
        self._come_alone()
        try:
            if all(self._has_ended(seat) for seat in range(SEATS) if seat != self._seat):
                os.ftruncate(self._file, 0)
            rows = os.pread(self._file, KEYS * SIZE, 0)
            for at in range(0, len(rows) - BEGUN_AT + 1, SIZE):
                if NUMBER.unpack_from(rows, at + SEATS_AT + NUMBER.size * self._seat)[0]:
                    self._sit(at, self._seat, 0)
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _has_ended(self, seat: int) -> bool:
        """Has its process, or never was there one?"""
        try:
            lock = os.open(self._lock_of(seat), os.O_RDWR)
        except FileNotFoundError:
            return True
        try:
            return _take(lock)
        finally:
            os.close(lock)

    def _lock_of(self, seat: int) -> Path:
        return self._path.with_name(f"{FILE}.process-{seat}")

    def _come_alone(self) -> None:
        """Keep the others out until the lock is given back, or for long enough."""
        until = time.monotonic() + (IMPATIENCE if self._stands else PATIENCE)
        self._stands = False
        while not _take(self._file):
            if time.monotonic() >= until:
                self._stands = True
                return
            time.sleep(PAUSE)


def _lately(row: bytes, place: int, second: int) -> tuple[int, int]:
    """The sum of the cells of the last minute, and the first of their seconds."""
    numbers, seconds = BEGUN.unpack_from(row, place), BEGUN.unpack_from(row, place + BEGUN.size)
    found = [(then, n) for then, n in zip(seconds, numbers, strict=True) if n and abs(second - then) <= MINUTE]
    return sum(n for _, n in found), min((then for then, _ in found), default=second)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)


def _take(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
