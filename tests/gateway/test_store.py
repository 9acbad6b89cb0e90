"""What processes keep together: found by all, bounded, private, and never a reason for a request to fail."""

from __future__ import annotations

import logging
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from dragoman.gateway.state import sqlite_cache as module
from dragoman.gateway.state.keeper import Unreachable
from dragoman.gateway.state.sqlite_cache import REST, SqliteCache
from tests.support.clocks import LONG


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def at(tmp_path: Path) -> Path:
    return tmp_path / "kept.sqlite"


def kept(store: SqliteCache, *keys: str) -> dict[str, str]:
    return {key: text for (_, key), text in store.get([("item", key) for key in keys]).items()}


def put(store: SqliteCache, kind: str, rows: Mapping[str, str]) -> None:
    store.put({(kind, key): text for key, text in rows.items()})


# ── found by all ─────────────────────────────────────────────────────────────


def test_what_one_keeps_another_finds_under_its_kind_and_key(tmp_path: Path) -> None:
    here, there = SqliteCache(at(tmp_path)), SqliteCache(at(tmp_path))
    put(here, "item", {"a": "one", "b": "two \udcff \N{SNOWMAN}"})
    assert kept(there, "a", "b", "c") == {"a": "one", "b": "two \udcff \N{SNOWMAN}"}
    assert there.get([("call", "a")]) == {}
    put(here, "item", {"a": "another"})
    assert kept(there, "a") == {"a": "another"}


def test_any_number_of_keys_is_asked_for_at_once(tmp_path: Path) -> None:
    store = SqliteCache(at(tmp_path))
    rows = {f"k{n}": f"v{n}" for n in range(700)}
    put(store, "item", rows)
    assert kept(store, *rows, "none") == rows
    assert kept(store) == {}


# Three processes write, and a fourth that is killed while it does.
WRITERS = """
import os, signal, sys
from pathlib import Path
from dragoman.gateway.state.sqlite_cache import SqliteCache

def write(name, most, begun):
    store, n = SqliteCache(Path(sys.argv[1])), 0
    while n != most:
        store.put({("item", f"{name}{n}"): f"{name} said {n}"})
        n += 1
        if n == 50:
            os.write(begun, b"!")
    store.close()
    os._exit(0)

reads, writes = os.pipe()
children = []
for name, most in {"a": 300, "b": 300, "c": 300, "doomed": -1}.items():
    children.append(os.fork())
    if not children[-1]:
        write(name, most, writes)
for _ in children:
    os.read(reads, 1)  # each of them has begun
os.kill(children[-1], signal.SIGKILL)
ended = [os.waitpid(child, 0)[1] for child in children]
assert ended == [0, 0, 0, signal.SIGKILL], ended
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_processes_write_at_once_and_a_killed_one_harms_nobody(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", WRITERS, str(at(tmp_path))], check=True, timeout=LONG)
    names = [f"{name}{n}" for name in "abc" for n in range(300)] + [f"doomed{n}" for n in range(50)]
    assert len(kept(SqliteCache(at(tmp_path)), *names)) == len(names)


FORKING = """
import os, sys
from pathlib import Path
from dragoman.gateway.state.sqlite_cache import SqliteCache
store = SqliteCache(Path(sys.argv[1]))
store.put({("item", "before"): "1"})
child = os.fork()
store.put({("item", "parent" if child else "child"): "1"})
if child:
    assert os.waitpid(child, 0)[1] == 0
    assert len(store.get([("item", name) for name in ("before", "parent", "child")])) == 3
os._exit(0 if len(store.get([("item", name) for name in ("before", "child")])) == 2 else 1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_forked_process_opens_its_own_connection(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORKING, str(at(tmp_path))], check=True, timeout=LONG)


def test_threads_may_share_one(tmp_path: Path) -> None:
    store, lost = SqliteCache(at(tmp_path)), list[str]()

    def work(name: str) -> None:
        for n in range(100):
            put(store, "item", {f"{name}{n}": name})
            if kept(store, f"{name}{n}") != {f"{name}{n}": name}:
                lost.append(f"{name}{n}")
            if n == 50:
                store.close()

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lost == []


# ── bounded, private, for a time ─────────────────────────────────────────────


def test_the_oldest_go_first_and_the_file_does_not_grow(tmp_path: Path) -> None:
    limit = 512 * 1024
    store = SqliteCache(at(tmp_path), limit=limit)
    for n in range(3000):
        put(store, "item", {f"k{n}": f"{n:06}" * 200})
    found = sorted(int(key[1:]) for key in kept(store, *(f"k{n}" for n in range(3000))))
    assert found[-1] == 2999
    assert found == list(range(found[0], 3000))
    assert len(found) > 200
    assert at(tmp_path).stat().st_size < 1.5 * limit


def test_many_small_ones_make_room_for_a_large_one(tmp_path: Path) -> None:
    limit = 2 * 1024 * 1024
    store = SqliteCache(at(tmp_path), limit=limit)
    for n in range(100):
        put(store, "item", {f"{n}-{m}": "x" * 20 for m in range(100)})
    for n in range(60):
        put(store, "item", {f"large{n}": "x" * (limit // 17)})
    assert at(tmp_path).stat().st_size < 1.5 * limit
    assert len(kept(store, "large59", "0-0")) == 1


def test_what_is_too_large_is_left_out(tmp_path: Path) -> None:
    store = SqliteCache(at(tmp_path), limit=16 * 1000)
    put(store, "item", {"large": "x" * 1001, "small": "x" * 1000})
    assert list(kept(store, "large", "small")) == ["small"]


def test_expired_rows_are_not_given_and_are_wiped(tmp_path: Path) -> None:
    clock = Clock()
    store = SqliteCache(at(tmp_path), lasts=100, clock=clock)
    put(store, "item", {f"old{n}": f"a secret of {n}" for n in range(100)})
    clock.now += 60
    put(store, "item", {"new": "still of use"})
    clock.now += 60
    assert kept(store, "old0", "new") == {"new": "still of use"}
    store.tidy()
    store.close()
    assert b"a secret of" not in at(tmp_path).read_bytes()
    assert kept(SqliteCache(at(tmp_path), lasts=100, clock=clock), "new") == {"new": "still of use"}


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = SqliteCache(at(tmp_path))
        put(store, "item", {"a": "secret"})
    finally:
        os.umask(before)
    assert {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()} == {0o600}
    assert len(list(tmp_path.iterdir())) == 3


# ── never a reason to fail ───────────────────────────────────────────────────


def _garbage(path: Path) -> None:
    path.write_bytes(b"this was never a database " * 1000)


def _damaged(path: Path) -> None:
    first = SqliteCache(path)
    put(first, "item", {f"k{n}": "x" * 3000 for n in range(100)})
    first.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 400_000)


def _cut(path: Path) -> None:
    first = SqliteCache(path)
    put(first, "item", {f"k{n}": "x" * 3000 for n in range(100)})
    first.close()
    os.truncate(path, 5000)


@pytest.mark.parametrize("harm", [_garbage, _damaged, _cut])
def test_a_damaged_file_is_replaced_and_the_log_says_so(
    tmp_path: Path, harm: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    harm(at(tmp_path))
    clock = Clock()
    store = SqliteCache(at(tmp_path), clock=clock)
    with caplog.at_level(logging.WARNING, "dragoman.gateway"):
        for n in range(30):
            clock.now += 1
            with suppress(Unreachable):
                put(store, "item", {"a": str(n)})
            with suppress(Unreachable):
                kept(store, "a", "k1", "k50")
    assert kept(store, "a") == kept(SqliteCache(at(tmp_path), clock=clock), "a") == {"a": "29"}
    assert "is replaced" in caplog.text
    assert len(caplog.records) == 1


def test_a_deleted_file_is_made_anew_for_all(tmp_path: Path) -> None:
    clock = Clock()
    stores = [SqliteCache(at(tmp_path), clock=clock) for _ in range(2)]
    for store in stores:
        put(store, "item", {"a": "1"})
    for each in list(tmp_path.iterdir()):
        each.unlink()
    for _ in range(3):  # they are never idle for so long that a look would be due
        clock.now += 0.5
        put(stores[0], "item", {"b": "2"})
        kept(stores[1], "a")
    assert kept(stores[1], "a", "b") == {"b": "2"}


def _folder(path: Path) -> None:
    path.mkdir()


def _foreign(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE mine (a)")
    database.commit()
    database.close()


def _nowhere(path: Path) -> None:
    path.parent.rmdir()


def _link(path: Path) -> None:
    path.symlink_to(path.with_name("elsewhere"))


@pytest.mark.parametrize("harm", [_folder, _foreign, _nowhere, _link])
def test_an_unusable_file_is_logged_once_and_left_alone(
    tmp_path: Path, harm: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "state" / "kept.sqlite"
    path.parent.mkdir()
    harm(path)
    before = sorted(tmp_path.rglob("*")), path.read_bytes() if path.is_file() else b""
    clock = Clock()
    store = SqliteCache(path, clock=clock)
    with caplog.at_level(logging.WARNING, "dragoman.gateway"):
        for _ in range(3):
            for asks in (lambda: put(store, "item", {"a": "1"}), lambda: kept(store, "a"), store.tidy):
                with pytest.raises(Unreachable):
                    asks()
            clock.now += REST
    assert len(caplog.records) == 1
    assert "own memory" in caplog.text
    assert (sorted(tmp_path.rglob("*")), path.read_bytes() if path.is_file() else b"") == before


@pytest.mark.parametrize("jump", [-3600, 3600])
def test_a_clock_that_is_set_leaves_no_file_alone_for_longer(tmp_path: Path, jump: int) -> None:
    path = tmp_path / "state" / "kept.sqlite"
    path.parent.mkdir()
    _folder(path)
    clock = Clock()
    store = SqliteCache(path, clock=clock)
    with pytest.raises(Unreachable):
        put(store, "item", {"a": "1"})
    path.rmdir()
    with pytest.raises(Unreachable):
        kept(store, "a")
    clock.now += jump
    put(store, "item", {"a": "2"})
    assert kept(store, "a") == {"a": "2"}


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """Another process holds the file until `COMMIT`; nobody waits for it long."""
    monkeypatch.setattr(module, "BUSY", 0.01)
    put(SqliteCache(at(tmp_path)), "item", {"a": "1"})
    other = sqlite3.connect(at(tmp_path), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()


def test_a_locked_file_is_waited_for_and_never_taken_for_an_empty_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, locked: sqlite3.Connection
) -> None:
    store = SqliteCache(at(tmp_path))
    with caplog.at_level(logging.WARNING, "dragoman.gateway"):
        for _ in range(2):
            with pytest.raises(Unreachable):
                put(store, "item", {"b": "2"})
        locked.execute("COMMIT")
        put(store, "item", {"b": "2"})
    assert kept(SqliteCache(at(tmp_path)), "a", "b") == {"a": "1", "b": "2"}
    assert ["locked" in caplog.records[0].message, "used again" in caplog.records[1].message] == [True, True]
    assert len(caplog.records) == 2


def test_who_waited_in_vain_waits_no_more_until_it_is_free(
    tmp_path: Path, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, slept = SqliteCache(at(tmp_path)), list[float]()
    with pytest.raises(Unreachable):
        put(store, "item", {"b": "2"})
    monkeypatch.setattr(time, "sleep", slept.append)
    with pytest.raises(Unreachable):
        put(store, "item", {"c": "3"})
    assert slept == []


def test_all_of_a_kind_is_read_where_it_is_not_known(tmp_path: Path) -> None:
    here, there = SqliteCache(at(tmp_path)), SqliteCache(at(tmp_path))
    put(here, "note", {"a": "1", "b": "2"})
    put(here, "other", {"c": "3"})
    mark, texts = there.of_kind("note")
    assert sorted(texts or ()) == ["1", "2"]
    assert there.of_kind("note", mark) == (mark, None)
    put(here, "note", {"a": "4"})
    assert sorted(there.of_kind("note", mark)[1] or ()) == ["2", "4"]
