"""Limits of keys, counted over processes: never more than allowed, and nothing is held by a process that has ended."""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import ProviderError
from dragoman.gateway import Access
from dragoman.gateway.state import shared_quota as shared_tally
from dragoman.gateway.state.quota import Quota
from dragoman.gateway.state.shared_quota import FILE, LOOK, REST, SEATS, SharedQuota
from tests.support.clocks import LONG


class Clock:
    now = 5000.25

    def __call__(self) -> float:
        return self.now


def key(name: str = "alice", **limits: Any) -> Access:
    return Access(name=name, sha256="", **limits)


def comes(quota: Quota, access: Access) -> bool:
    try:
        quota.enter(access)
    except ProviderError:
        return False
    return True


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def two(tmp_path: Path, clock: Clock) -> tuple[SharedQuota, SharedQuota]:
    return SharedQuota(tmp_path, clock), SharedQuota(tmp_path, clock)


def test_requests_of_a_minute_count_over_processes(two: tuple[SharedQuota, SharedQuota], clock: Clock) -> None:
    here, there = two
    alice = key(per_minute=4)
    assert [comes(quota, alice) for quota in (here, there, here, there, here, there)] == [True] * 4 + [False] * 2
    clock.now += 30
    assert not comes(there, alice)
    clock.now += 29.9
    with pytest.raises(ProviderError, match="4 requests in a minute") as refused:
        here.enter(alice)
    assert 0 < (refused.value.retry_after or 0) <= 2
    clock.now += refused.value.retry_after or 0
    assert [comes(quota, alice) for quota in (here, there, here, there, here)] == [True] * 4 + [False]


def test_in_no_minute_more_begin_than_may(two: tuple[SharedQuota, SharedQuota], clock: Clock) -> None:
    begun: list[float] = []
    for n in range(3000):
        clock.now += 0.13
        if comes(two[n % 2], key(per_minute=20)):
            begun.append(clock.now)
    assert all(later - first >= 60 for first, later in zip(begun, begun[20:], strict=False))
    assert len(begun) >= 6 * 20


@pytest.mark.parametrize("behind", [0.5, 1.0, 30.0])
def test_a_clock_that_lags_lets_nobody_in_beyond_the_limit(tmp_path: Path, clock: Clock, behind: float) -> None:
    """Seconds of another clock, or read before the lock was had, may lie in the future of those that count."""
    late = Clock()
    here, there = SharedQuota(tmp_path, clock), SharedQuota(tmp_path, late)
    clock.now, late.now = 6000.1, 6000.1 - behind
    assert sum(comes(quota, key(per_minute=5)) for _ in range(9) for quota in (here, there)) == 5
    assert sum(comes(quota, key(per_minute=5)) for _ in range(9) for quota in (there, here)) == 0


def test_requests_at_the_same_time_count_over_processes(two: tuple[SharedQuota, SharedQuota]) -> None:
    here, there = two
    alice = key(max_concurrent=2)
    assert [comes(quota, alice) for quota in (here, there, here, there)] == [True, True, False, False]
    there.leave(alice)
    assert [comes(quota, alice) for quota in (here, there)] == [True, False]


def test_keys_count_apart_and_a_refusal_does_not_count(two: tuple[SharedQuota, SharedQuota]) -> None:
    here, there = two
    alice, bob = key(per_minute=2, max_concurrent=1), key("bob", per_minute=1)
    assert comes(here, alice)
    assert not comes(there, alice)
    here.leave(alice)
    assert comes(there, alice)
    assert comes(there, bob)
    assert not comes(here, bob)


@pytest.mark.parametrize("shared", [True, False], ids=["several processes", "one process"])
def test_tokens_of_a_minute_are_taken_as_estimated_and_settled_as_counted(
    tmp_path: Path, clock: Clock, shared: bool
) -> None:
    here: Quota = SharedQuota(tmp_path, clock) if shared else Quota(clock)
    there: Quota = SharedQuota(tmp_path, clock) if shared else here
    alice = key(tokens_per_minute=100)
    first, second = here.enter(alice, 60), there.enter(alice, 40)
    with pytest.raises(ProviderError, match="100 tokens in a minute") as refused:
        here.enter(alice, 1)
    assert 0 < (refused.value.retry_after or 0) <= 61
    there.leave(alice, -30, second)  # it cost 10
    clock.now += 20
    here.leave(alice, 15, first)  # and the other 75
    assert there.enter(alice, 15)
    with pytest.raises(ProviderError, match="tokens"):
        here.enter(alice, 1)
    clock.now += 42
    assert here.enter(alice, 70)  # of the first minute 15 and 15 are left
    with pytest.raises(ProviderError, match="tokens"):
        there.enter(alice, 1)


def test_what_costs_more_than_a_minute_comes_in_alone(two: tuple[SharedQuota, SharedQuota], clock: Clock) -> None:
    here, there = two
    alice = key(tokens_per_minute=100)
    here.enter(alice, 1000)
    with pytest.raises(ProviderError, match="tokens"):
        there.enter(alice, 1)
    clock.now += 62
    there.enter(alice, 1000)


def test_a_key_without_limits_costs_no_file(two: tuple[SharedQuota, SharedQuota], tmp_path: Path) -> None:
    for quota in two:
        quota.enter(key())
        quota.leave(key())
    assert list(tmp_path.iterdir()) == []


def test_limits_that_change_hold_from_then_on(two: tuple[SharedQuota, SharedQuota]) -> None:
    here, there = two
    assert [comes(here, key(per_minute=2)) for _ in range(3)] == [True, True, False]
    assert comes(there, key(per_minute=3))
    assert not comes(there, key(per_minute=1))


# ── processes that end ───────────────────────────────────────────────────────

GUEST = """
import sys
from pathlib import Path
from typing import Any
from dragoman.gateway import Access
from dragoman.gateway.state.shared_quota import SharedQuota
quota = SharedQuota(Path(sys.argv[1]), lambda: 5000.25)
for _ in range(int(sys.argv[2])):
    quota.enter(Access(name="alice", sha256="", max_concurrent=3, per_minute=100))
print("inside", flush=True)
sys.stdin.read()
"""


def test_a_killed_process_frees_its_places(
    two: tuple[SharedQuota, SharedQuota], tmp_path: Path
) -> None:
    here, there = two
    alice = key(max_concurrent=3)
    assert comes(here, alice)
    command = [sys.executable, "-c", GUEST, str(tmp_path), "2"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as guest:
        assert guest.stdout is not None
        assert guest.stdout.readline() == b"inside\n"
        assert not comes(here, alice)
        guest.send_signal(signal.SIGKILL)
    assert [comes(there, alice) for _ in range(3)] == [True, True, False]
    assert not comes(here, key(per_minute=2))
    assert comes(here, key(per_minute=3))


# Three processes come as often as they can; a fourth is there all the time.
STORM = """
import os, sys
from pathlib import Path
from typing import Any
from dragoman.errors import ProviderError
from dragoman.gateway import Access
from dragoman.gateway.state.shared_quota import SharedQuota

def come(told):
    quota, came = SharedQuota(Path(sys.argv[1]), lambda: 5000.25), 0
    for _ in range(400):
        try:
            quota.enter(Access(name="alice", sha256="", per_minute=500))
            came += 1
        except ProviderError:
            pass
    os.write(told, came.to_bytes(4, "big"))
    os._exit(0)

stays = SharedQuota(Path(sys.argv[1]), lambda: 5000.25)
stays.enter(Access(name="bob", sha256="", max_concurrent=1))
reads, writes = os.pipe()
for _ in range(3):
    if not os.fork():
        come(writes)
print(sum(int.from_bytes(os.read(reads, 4), "big") for _ in range(3)))
"""


def test_exactly_as_many_come_in_at_once_as_may(tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", STORM, str(tmp_path)], capture_output=True, timeout=LONG, check=True)
    assert int(ran.stdout) == 500


def test_the_seat_of_an_ended_process_starts_empty(tmp_path: Path, clock: Clock) -> None:
    stays, goes = SharedQuota(tmp_path, clock), SharedQuota(tmp_path, clock)
    alice = key(max_concurrent=2)
    assert comes(stays, key("bob", max_concurrent=1))
    assert comes(goes, alice)
    goes.close()
    comes_next = SharedQuota(tmp_path, clock)
    assert comes(comes_next, key("carol", max_concurrent=1))
    assert [comes(stays, alice) for _ in range(3)] == [True, True, False]


def test_counts_of_another_life_of_the_machine_count_for_nothing(tmp_path: Path, clock: Clock) -> None:
    first = SharedQuota(tmp_path, clock)
    assert [comes(first, key(per_minute=1)) for _ in range(2)] == [True, False]
    first.close()
    clock.now = 5.0
    assert comes(SharedQuota(tmp_path, clock), key(per_minute=1))


# ── never a reason to fail ───────────────────────────────────────────────────


def test_an_unusable_file_makes_each_process_count_alone(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE).mkdir()
    quota, alice = SharedQuota(tmp_path, clock), key(per_minute=1, max_concurrent=1)
    with caplog.at_level(logging.WARNING, "dragoman.gateway"):
        assert [comes(quota, alice) for _ in range(2)] == [True, False]
        quota.leave(alice)
        clock.now += 61 + REST
        assert comes(quota, alice)
    assert len(caplog.records) == 1
    (tmp_path / FILE).rmdir()
    clock.now += 61 + REST
    assert not comes(quota, alice)  # he is still inside
    quota.leave(alice)
    assert comes(quota, alice)
    assert not comes(SharedQuota(tmp_path, clock), alice)


@pytest.mark.parametrize("limits", [{"SEATS": 1}, {"KEYS": 1}], ids=str)
def test_beyond_what_the_file_holds_a_process_counts_for_itself(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, limits: dict[str, int]
) -> None:
    for name, value in limits.items():
        monkeypatch.setattr(shared_tally, name, value)
    one, two = SharedQuota(tmp_path, clock), SharedQuota(tmp_path, clock)
    assert [comes(one, key(max_concurrent=1)) for _ in range(2)] == [True, False]
    bob = key("bob", max_concurrent=1)
    assert [comes(two, bob) for _ in range(2)] == [True, False]


def test_a_file_that_is_deleted_is_made_anew_for_all(
    two: tuple[SharedQuota, SharedQuota], tmp_path: Path, clock: Clock
) -> None:
    alice = key(per_minute=2)
    assert [comes(quota, alice) for quota in two] == [True, True]
    (tmp_path / FILE).unlink()
    for _ in range(3):  # they are never idle for so long that a look would be due
        clock.now += LOOK / 2
        assert [comes(quota, key(max_concurrent=9)) for quota in two] == [True, True]
    assert [comes(quota, alice) for quota in (*two, *two)] == [True, True, False, False]


def test_rubbish_in_the_file_raises_nothing(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / FILE).write_bytes(os.urandom(300_000))
    quota, other = SharedQuota(tmp_path, clock), SharedQuota(tmp_path, clock)
    alice = key(max_concurrent=2)
    assert [comes(each, alice) for each in (quota, other, quota)] == [True, True, False]


@pytest.fixture
def standing(two: tuple[SharedQuota, SharedQuota], tmp_path: Path) -> Iterator[int]:
    """A process that stands still with the lock in its hand; one of alice's requests came in before."""
    assert comes(two[0], key(max_concurrent=2))
    lock = os.open(tmp_path / FILE, os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    yield lock
    os.close(lock)


def test_the_lock_is_waited_for(
    two: tuple[SharedQuota, SharedQuota], standing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 100:
            fcntl.flock(standing, fcntl.LOCK_UN)

    monkeypatch.setattr(time, "sleep", sleep)
    assert comes(two[1], key(max_concurrent=2))
    assert len(pauses) == 100


def test_nobody_waits_long_for_a_process_that_stands_still(
    two: tuple[SharedQuota, SharedQuota], standing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_tally, "PATIENCE", 0.02)
    alice = key(max_concurrent=2)
    assert [comes(quota, alice) for quota in (two[1], two[0])] == [True, False]


def test_as_many_processes_as_there_are_seats_count_together(tmp_path: Path, clock: Clock) -> None:
    quotas = [SharedQuota(tmp_path, clock) for _ in range(SEATS)]
    alice = key(max_concurrent=SEATS - 1)
    assert [comes(quota, alice) for quota in quotas] == [True] * (SEATS - 1) + [False]
    for quota in quotas:
        quota.close()


def test_only_the_owner_may_read_the_files(two: tuple[SharedQuota, SharedQuota], tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert comes(two[0], key(max_concurrent=1))
    finally:
        os.umask(before)
    assert {each.stat().st_mode & 0o777 for each in tmp_path.iterdir()} == {0o600}
