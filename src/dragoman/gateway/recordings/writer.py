"""The queue before a store of recordings, and the thread that writes it.

Knows rows, a store and the clock; nothing of exchanges.  Contract: whoever offers is never kept waiting: what there is
no room for is dropped and counted.  Rows are made and written in a thread of their own, which lets others in all the
time.  What cannot be written now stays, within the room there is, and is written as soon as the store can be used.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeAlias

from ...records import NamedTuple
from .store import RecordingStore, Rejected, Unavailable
from .table import DAY, StoredRow

log: logging.Logger = logging.getLogger("dragoman.gateway")

MOST, MOST_BYTES = 10_000, 64 * 1024 * 1024
"""Exchanges that wait to be written, and bytes of them."""
BATCH, BATCH_BYTES = 200, 4 * 1024 * 1024
"""Exchanges written at once, and bytes of them."""
LINGER = 0.25
"""Seconds that what was offered first waits for more."""
FIRST_REST, LONGEST_REST = 0.5, 30.0
"""Seconds between two tries where the store cannot be used: they double."""
SLICE = 0.002
"""Seconds that rows are made for until others are let in: each time costs as much as a row on a busy machine."""
TIDY = 3600.0
"""Seconds between two looks at what is to be made ahead and what is too old."""
PATIENCE = 3.0
"""Seconds the end of the process is held up for what still waits."""
FULL, REFUSED, FAILED, ENDED, BARE = "queue_full", "rejected", "failed", "ended", "content"
"""Why recordings are dropped: no room, the store does not take it, a mistake of ours, the process ends; the last one is
no room for the content of one that is recorded without it."""
AWAY = "recordings wait, and are dropped where there is no room: %s"
BACK = "recordings are written again; %d were dropped meanwhile"
MISTAKE = "an exchange could not be recorded, which is a mistake of ours"


class Made(NamedTuple):
    """An exchange as it is written: its row, and the bodies that stand apart."""

    row: StoredRow
    apart: Sequence[tuple[int, str, str]] = ()


Make: TypeAlias = Callable[[], Made]


class Writer:
    """Writes what is offered into `store`, and keeps it for `days` (0: for ever).

    `on_trouble` is called, by the thread that makes rows, where bodies that were made may not be, or not stay, stored.
    """

    written: int
    dropped: Counter[str]

    def __init__(
        self,
        store: RecordingStore,
        days: int = 0,
        *,
        most: int = MOST,
        most_bytes: int = MOST_BYTES,
        linger: float = LINGER,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._days, self._now = store, days, now
        self._most, self._most_bytes, self._linger = most, most_bytes, linger
        self._queue: deque[tuple[Make, int]] = deque()
        self._batch: list[tuple[Made, int]] = []
        self._waiting = self._bytes = 0
        self._lock = threading.Lock()
        self._wake, self._ending = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._rest, self._missed = 0.0, 0
        self._due = 0.0
        self.written, self.dropped = 0, Counter()
        self.on_written: Callable[[int], None] = lambda count: None
        self.on_dropped: Callable[[str, int], None] = lambda why, count: None
        self.on_trouble: Callable[[], None] = lambda: None

    # ── whoever offers ───────────────────────────────────────────────────────

    def offer(self, make: Make, size: int) -> None:
        """Write what `make` gives, which takes about `size` bytes until then; never waits."""
        with self._lock:
            fits = self._waiting < self._most and (not self._waiting or self._bytes + size <= self._most_bytes)
            if fits:
                self._waiting += 1
                self._bytes += size
                self._queue.append((make, size))
        if not fits:
            self._drop(FULL, 1)
        elif not self._wake.is_set():
            self._wake.set()

    def without_content(self) -> None:
        """There was no room for what was said in an exchange, which is offered without it."""
        self._drop(BARE, 1)

    def start(self) -> None:
        """Begin to write."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="dragoman-recordings", daemon=True)
            self._thread.start()

    def close(self, patience: float = PATIENCE) -> None:
        """Write what waits, for so many seconds at most; what is not written then is dropped."""
        self._ending.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(patience)
        self._drop(ENDED, self._waiting)

    # ── the thread ───────────────────────────────────────────────────────────

    def _run(self) -> None:
        while not (self._ending.is_set() and not self._waiting):
            self._wake.wait(max(self._due - time.monotonic(), 0.0) if not self._waiting else 0.0)
            self._wake.clear()
            if not self._ending.is_set():
                self._ending.wait(self._rest or (self._linger if self._waiting else 0.0))
            try:
                self._tidy()
                while self._waiting:
                    self._write_some()
                self._well()
            except Unavailable as error:
                self._away(error)
                if self._ending.is_set():
                    break
            except Exception:
                log.exception(MISTAKE)
                self._over([size for _, size in self._batch], FAILED)
                self._batch = []
        self._store.close()

    def _tidy(self) -> None:
        if time.monotonic() >= self._due:
            self.on_trouble()  # whatever may have become of what is stored
            self._store.maintain(int(self._now() // DAY), self._days)
            self._due = time.monotonic() + TIDY

    def _write_some(self) -> None:
        """Make a batch and write it; what was made stays until it is written, or will never be."""
        until, held = time.perf_counter() + SLICE, sum([size for _, size in self._batch])
        while self._queue and len(self._batch) < BATCH and held < BATCH_BYTES:
            make, size = self._queue.popleft()
            held += size
            try:
                self._batch.append((make(), size))
            except Exception:
                log.exception(MISTAKE)
                self._over([size], FAILED)
                self.on_trouble()
            if time.perf_counter() >= until:
                time.sleep(0)  # whoever serves waits for no more
                until = time.perf_counter() + SLICE
        if not self._batch:
            return
        try:
            self._store.write([made.row for made, _ in self._batch], self._apart())
        except Rejected:
            self._one_by_one()
        else:
            self._over([size for _, size in self._batch])
            self._batch = []

    def _one_by_one(self) -> None:
        """Find the rows that are not taken; others refer to the bodies that came with them."""
        self.on_trouble()
        for body in self._apart():
            with suppress(Rejected):
                self._store.write([], [body])
        while self._batch:
            made, size = self._batch[0]
            why = ""
            try:
                self._store.write([made.row], [])
            except Rejected as error:
                why = REFUSED
                log.warning("a recording is dropped: %s", error)
            del self._batch[0]
            self._over([size], why)

    def _apart(self) -> list[tuple[int, str, str]]:
        """The bodies that came with the batch, each once."""
        return list({body[:2]: body for made, _ in self._batch for body in made.apart}.values())

    def _over(self, sizes: Sequence[int], why: str = "") -> None:
        """So many are written, or dropped for a reason."""
        with self._lock:
            self._waiting -= len(sizes)
            self._bytes -= sum(sizes)
        if why:
            self._drop(why, len(sizes))
        else:
            self._count(len(sizes))

    def _count(self, count: int) -> None:
        if count:
            self.written += count
            self.on_written(count)

    def _drop(self, why: str, count: int) -> None:
        if count:
            self.dropped[why] += count
            self.on_dropped(why, count)

    def _away(self, error: Unavailable) -> None:
        self.on_trouble()
        if not self._rest:
            self._missed = self.dropped.total()
            log.warning(AWAY, error)
        self._rest = min(2 * self._rest or FIRST_REST, LONGEST_REST)
        self._wake.set()

    def _well(self) -> None:
        if self._rest:
            self._rest = 0.0
            log.warning(BACK, self.dropped.total() - self._missed)
