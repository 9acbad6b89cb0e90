"""The store of many machines, with real servers: what one keeps all find, limits hold to the request, and a server that is
stopped, emptied or gone stops nobody."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from dragoman.effects import Enter, Recall, Retain, Revise
from dragoman.errors import ErrorKind, ProviderError, UsageError
from dragoman.fallback import Place, Rules
from dragoman.gateway import Access
from dragoman.gateway.config.load import read
from dragoman.gateway.state.embedded import Embedded
from dragoman.gateway.state.keeper import Keeper, Store, Unreachable
from dragoman.gateway.state.patience import ROUNDS
from dragoman.gateway.state.sqlite_cache import FILE, SqliteCache
from dragoman.gateway.state.stores import StateStores, shown, stores_for
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.turn.capabilities import Refusals
from tests.support.clocks import LONG, OFTEN
from tests.support.places import ROOT
from tests.support.redis_servers import SECRET, RedisServer, redis_cluster, redis_server, skip_without

pytestmark = skip_without
T = TypeVar("T")
PATIENT = 20.0
AT_ONCE = 32
"""Seconds an answer may take on a machine where much else runs."""


def store(server: RedisServer, namespace: str = "tests", **more: Any) -> Any:
    from dragoman.gateway.state.redis_store import RedisStore  # noqa: PLC0415 -- where there is no client, all is skipped

    return RedisStore(server.url, namespace, SECRET, **{"patience": PATIENT, **more})


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with redis_server(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[RedisServer]]:
    with redis_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


def go(work: Callable[[], Awaitable[T]]) -> T:
    async def within() -> T:
        return await asyncio.wait_for(work(), LONG)

    return asyncio.run(within())


@asynccontextmanager
async def keepers(*stores: Store) -> AsyncIterator[list[Keeper]]:
    """Of several processes, as it were."""
    try:
        yield [Keeper(one) for one in stores]
    finally:
        for one in stores:
            await one.aclose()


Two = Callable[[], tuple[Store, Store]]


@pytest.fixture(params=["embedded", "redis", "cluster"])
def two(request: pytest.FixtureRequest, tmp_path: Path) -> Two:
    """Two processes' ways to one store."""
    if request.param == "embedded":
        return lambda: (Embedded(SqliteCache(tmp_path / FILE)), Embedded(SqliteCache(tmp_path / FILE)))
    if request.param == "redis":
        one: RedisServer = request.getfixturevalue("server")
        return lambda: (store(one), store(one))
    first, _, last = request.getfixturevalue("cluster")
    return lambda: (store(first, tmp_path.name[-40:]), store(last, tmp_path.name[-40:]))


# ── what is kept ─────────────────────────────────────────────────────────────


@pytest.mark.costly
def test_what_one_process_keeps_another_finds(two: Two) -> None:
    rows = {("item", "a\0b"): "one \udcff \N{SNOWMAN}", ("call", "a\0b"): "x" * 5000, ("response", ""): "{}"}

    async def work() -> None:
        async with keepers(*two()) as (here, there):
            assert await here.perform(Retain(rows)) is True
            assert await there.perform(Recall([*rows, ("item", "c")])) == rows
            assert await there.perform(Recall([("item", "c")])) == {}
            await there.perform(Retain({("item", "a\0b"): "two"}))
            assert await here.perform(Recall([("item", "a\0b")])) == {("item", "a\0b"): "two"}

    go(work)


def test_changes_of_many_are_all_there(two: Two) -> None:
    async def work() -> None:
        async with keepers(*two()) as both:

            async def add(n: int) -> None:
                await both[n % 2].perform(Revise(("conversation", "c"), lambda text: json.dumps([*json.loads(text or "[]"), n])))

            await asyncio.gather(*map(add, range(40)))
            found = await both[0].perform(Recall([("conversation", "c")]))
            assert sorted(json.loads(found["conversation", "c"])) == list(range(40))
            await both[1].perform(Revise(("conversation", "c"), lambda _: None))
            assert await both[0].perform(Recall([("conversation", "c")])) == {}

    go(work)


def test_a_change_that_fails_changes_nothing(two: Two) -> None:
    def fails(_: str | None) -> str:
        raise ValueError("no")

    async def work() -> None:
        async with keepers(*two()) as (here, there):
            await here.perform(Retain({("run", "a"): "1"}))
            with pytest.raises(ValueError, match="no"):
                await here.perform(Revise(("run", "a"), fails))
            assert await there.perform(Recall([("run", "a")])) == {("run", "a"): "1"}

    go(work)


def test_what_was_learnt_is_known_to_others_and_read_only_when_it_is_new(two: Two) -> None:
    async def work() -> None:
        here, there = two()
        async with keepers(here, there):
            mark, notes = await there.notes(None)
            assert notes == {}
            await here.note({("habit", "a"): "1", ("health", "b"): "2"})
            later, notes = await there.notes(mark)
            assert notes == {("habit", "a"): "1", ("health", "b"): "2"}
            assert await there.notes(later) == (later, None)

    go(work)


def test_two_namespaces_and_two_secrets_of_one_server_never_meet(server: RedisServer) -> None:
    async def work() -> None:
        here, there = store(server, "one"), store(server, "two")
        other = type(here)(server.url, "one", SECRET + "!", patience=PATIENT)
        async with keepers(here, there, other) as (mine, *others):
            await mine.perform(Retain({("item", "alice\0a"): "1"}))
            alice = Enter(key="alice", lease="a", per_minute=1, concurrent=1)
            assert (await mine.perform(alice)).refused == ""
            await here.note({("habit", "a"): "1"})
            for one in others:
                assert await one.perform(Recall([("item", "alice\0a")])) == {}
                assert (await one.perform(alice)).refused == ""
            assert (await there.notes(None))[1] == {}
            assert (await mine.perform(alice)).refused == "many"

    go(work)


def test_no_name_stands_in_the_server(server: RedisServer) -> None:
    async def work() -> None:
        async with keepers(store(server, "house")) as (mine,):
            await mine.perform(Retain({("item", "alice\0msg_secret"): "1"}))
            await mine.perform(Enter(key="alice", lease="a", per_minute=1, concurrent=1))

    go(work)
    assert len(server.names()) == 3
    assert all(key.startswith("dragoman:house:") for key in server.names())
    assert "alice" not in "".join(server.names())
    assert "secret" not in "".join(server.names())


def test_everything_kept_goes_by_itself(server: RedisServer) -> None:
    async def work() -> None:
        one = store(server)
        async with keepers(one) as (mine,):
            await mine.perform(Retain({("item", "a"): "1", ("conversation", "b"): "2"}))
            await mine.perform(Revise(("run", "c"), lambda _: "3"))
            await mine.perform(Enter(key="k", lease="l", per_minute=3, concurrent=3, tokens_per_minute=9, tokens=1))
            await one.note({("habit", "a"): "1"})
            await one.notes(None)

    go(work)
    assert [key for key in server.names() if int(server.ask("ttl", key)) <= 0] == []
    assert len(server.names()) == 9


def test_texts_go_when_their_days_are_over(server: RedisServer) -> None:
    day, texts = 24 * 3600, {("item", "a"): 2, ("conversation", "b"): 2, ("response", "c"): 2, ("owned", "d"): 90}

    async def work() -> None:
        async with keepers(store(server, days=2)) as (mine,):
            await mine.perform(Retain(dict.fromkeys(texts, "1")))
            await mine.perform(Revise(("conversation", "e"), lambda _: "2"))

    go(work)
    left = sorted(int(server.ask("ttl", key)) for key in server.names())
    assert [round(each / day) for each in left] == [2, 2, 2, 2, 90]
    row = {"state": "redis://x", "namespace": "house", "state_days": 0.5}
    settings = read({"server": row, "default": {"route": "ollama/qwen3"}}, {"DRAGOMAN_STATE_KEY": SECRET})
    one: Any = stores_for(settings.server).keeper
    assert one.store._lasts == day / 2


# ── limits ───────────────────────────────────────────────────────────────────

STORM = """
import asyncio, json, sys, time
from dragoman.errors import ProviderError
from dragoman.gateway import Access
from dragoman.gateway.config.load import read
from dragoman.gateway.state.redis_store import RedisStore
from dragoman.gateway.state.stores import StateStores, shown
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
url, secret, ahead, cost, tries, limits = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), json.loads(sys.argv[6])
real = time.time
time.time = lambda: real() + ahead
access = Access(name="alice", sha256="", **limits)

async def main():
    counter, came = StateStores(store=RedisStore(url, "tests", secret, patience=20.0)).counter, 0
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    for _ in range(tries):
        try:
            await counter.enter(access, cost)
            came += 1
        except ProviderError as error:
            assert error.status == 429, error
    print(came, flush=True)
    await asyncio.to_thread(sys.stdin.readline)

asyncio.run(main())
"""
LIMITS: list[tuple[dict[str, int], int, int]] = [
    ({"per_minute": 500}, 0, 500),
    ({"max_concurrent": 37}, 0, 37),
    ({"tokens_per_minute": 5000}, 10, 500),
    ({"per_minute": 300, "max_concurrent": 200, "tokens_per_minute": 1000}, 7, 142),
]


@pytest.mark.parametrize(("limits", "cost", "expected"), LIMITS, ids=[str(row[0]) for row in LIMITS])
@pytest.mark.costly
def test_four_processes_let_in_exactly_what_may(
    server: RedisServer, limits: dict[str, int], cost: int, expected: int
) -> None:
    """One of them has a clock that is 30 s ahead; a second of the server ends while they ask."""
    given = [str(cost), "400", json.dumps(limits)]
    commands = [[sys.executable, "-c", STORM, server.url, SECRET, ahead, *given] for ahead in ("0", "0", "0", "30")]
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes: list[Any] = [subprocess.Popen(command, **pipe) for command in commands]  # type: ignore[call-overload]
    try:
        ready = [process.stdout.readline() for process in processes]
        assert ready == ["ready\n"] * 4
        while int(server.ask("time").split()[1]) < 900_000:
            time.sleep(OFTEN)
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        came = [int(process.stdout.readline()) for process in processes]
        assert sum(came) == expected
    finally:
        for process in processes:
            process.kill()
            process.wait(LONG)
            process.stdin.close()
            process.stdout.close()


HOLDER = """
import asyncio, os, signal, sys
from dragoman.effects import Enter
from dragoman.gateway.state import redis_store
redis_store.LEASE = 1.0

async def main():
    store = redis_store.RedisStore(sys.argv[1], "tests", sys.argv[2], patience=20.0)
    entered = await store.enter(Enter(key="alice", lease="a", concurrent=1))
    print(entered.refused or "inside", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def test_a_killed_holder_gives_back_what_it_held(server: RedisServer) -> None:
    command = [sys.executable, "-c", HOLDER, server.url, SECRET]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stdout == "inside\n"

    async def work() -> None:
        async with keepers(store(server)) as (lives,):
            while (await lives.perform(Enter(key="alice", lease="b", concurrent=1))).refused:
                await asyncio.sleep(OFTEN)
            assert (await lives.perform(Enter(key="alice", lease="c", concurrent=1))).refused == "many"

    go(work)


def test_a_lease_that_is_renewed_outlives_its_time(server: RedisServer) -> None:
    async def work() -> None:
        one = store(server)
        async with keepers(one) as (mine,):
            await mine.perform(Enter(key="alice", lease="a", concurrent=1))
            key = next(key for key in server.names() if key.endswith(":running"))
            server.ask("zadd", key, "1", "a")  # as if it were about to end
            await one.renew({"alice": ["a"]})
            assert (await mine.perform(Enter(key="alice", lease="b", concurrent=1))).refused == "many"

    go(work)


@pytest.mark.parametrize(("rule", "came"), [("divide", 4), ("local", 8), ("refuse", 0)])
def test_while_the_server_is_away_the_keys_own_rule_holds(server: RedisServer, rule: Any, came: int) -> None:
    access = Access(name="alice", sha256="", per_minute=8, state_away=rule)

    async def work() -> int:
        found, statuses = 0, set[int]()
        stores = StateStores(store=store(server, patience=0.5))
        other = store(server)
        await other.notes(None)
        await stores.exchange()  # now it knows of the other
        server.stop()
        for _ in range(20):
            try:
                await stores.counter.enter(access, 0)
                found += 1
            except ProviderError as error:
                statuses.add(error.status or 0)
        assert statuses == ({503} if rule == "refuse" else {429})
        await stores.aclose()
        await other.aclose()
        return found

    assert go(work) == came


# ── a server that is away ────────────────────────────────────────────────────


def test_a_server_that_stands_still_is_asked_once_and_then_left_alone(
    server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        one = store(server)
        async with keepers(one) as (mine,):
            await mine.perform(Retain({("item", "a"): "1"}))
            one._link.patience, asked = 0.05, list[int]()
            real = one._link._asked

            async def counted(ask: Any) -> Any:
                asked.append(1)
                return await real(ask)

            one._link._asked = counted
            with server.standing_still():
                for _ in range(10):
                    with pytest.raises(ProviderError) as failed:
                        await mine.perform(Recall([("item", "a")]))
                    assert (failed.value.status, failed.value.retry_after) == (503, 1.0)
                    assert await mine.perform(Retain({("item", "b"): "2"})) is False
                assert len(asked) <= 2  # it may have been let try again, on a machine that stands still itself
                assert await mine.perform(Recall([("item", "b")])) == {("item", "b"): "2"}
            one._link.patience = PATIENT

            while mine._waiting:
                await asyncio.sleep(OFTEN)
                await mine.flush()
        async with keepers(store(server)) as (other,):
            assert await other.perform(Recall([("item", "a"), ("item", "b")])) == {("item", "a"): "1", ("item", "b"): "2"}

    go(work)
    said = [record.getMessage() for record in caplog.records]
    assert ["cannot be reached" in said[0], "reached again" in said[1], len(said)] == [True, True, 2]


def test_streams_that_end_at_once_wait_at_the_same_time_and_once_each(server: RedisServer) -> None:
    """Each has three questions left when the server stops; the first of each is all that is asked."""

    async def work() -> None:
        one = store(server)
        async with keepers(one) as (mine,):
            await mine.perform(Retain({("item", "a"): "1"}))
            one._link.patience, asked, under_way, most = 0.05, 0, 0, 0
            real = one._link._asked

            async def counted(ask: Any) -> Any:
                nonlocal asked, under_way, most
                asked, under_way = asked + 1, under_way + 1
                most = max(most, under_way)
                try:
                    return await real(ask)
                finally:
                    under_way -= 1

            one._link._asked = counted

            async def ends(n: int) -> None:
                assert await mine.perform(Retain({("item", str(n)): "2"})) is False
                for effect in (Recall([("item", "a")]), Enter(key="k", lease=str(n), concurrent=99)):
                    with pytest.raises(ProviderError):
                        await mine.perform(effect)

            with server.standing_still():
                await asyncio.gather(*map(ends, range(20)))
            assert most == 20
            assert asked <= 22  # it may have been let try again, on a machine that stands still itself
            one._link.patience = PATIENT

    go(work)


def test_more_questions_than_connections_wait_their_turn(server: RedisServer) -> None:
    async def work() -> None:
        async with keepers(store(server)) as (mine,):
            await mine.perform(Retain({("item", "a"): "1"}))
            found = await asyncio.gather(*(mine.perform(Recall([("item", "a")])) for _ in range(400)))
            assert found == [{("item", "a"): "1"}] * 400

    go(work)
    opened = int(server.ask("info", "stats").partition("total_connections_received:")[2].split()[0])
    assert opened <= AT_ONCE + 10


def test_a_connection_costs_no_question_but_the_first(server: RedisServer) -> None:
    """Each would be waited for; a process that is busy takes long enough for one."""

    async def work() -> None:
        async with keepers(store(server)) as (mine,):
            await mine.perform(Recall([("item", "a")]))

    server.ask("config", "resetstat")
    go(work)
    lines = server.ask("info", "commandstats").splitlines()
    asked = {line.partition(":")[0].removeprefix("cmdstat_") for line in lines if line.startswith("cmdstat_")}
    assert asked - {"config|resetstat"} == {"info", "get"}


def test_what_the_client_cancels_in_itself_is_no_end_of_a_request(server: RedisServer) -> None:
    """Two that wait for one connection to close: where one of them gives up, it is cancelled for the other, too."""

    async def gives_up(client: Any) -> None:
        raise asyncio.CancelledError

    async def waits(client: Any) -> None:
        await asyncio.Event().wait()

    async def work() -> None:
        one = store(server)
        async with keepers(one):
            with pytest.raises(Unreachable):
                await one._link.ask(gives_up)
            await one.notes(None)
            waiting = asyncio.ensure_future(one._link.ask(waits))
            await asyncio.sleep(OFTEN)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert await one.read([("item", "a")]) == {}

    go(work)


def test_one_that_is_too_slow_for_requests_is_left_alone_by_them_though_it_answers(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.gateway.state.redis_link.BESIDE", LONG)

    async def slow(client: Any) -> Any:
        for _ in range(2 * ROUNDS):
            await asyncio.sleep(0.01)
        return await client.ping()

    async def work() -> None:
        one = store(server)
        async with keepers(one):
            await one.notes(None)
            link, one._link.patience = one._link, 0.05
            with pytest.raises(Unreachable):
                await link.ask(slow)
            assert await link.ask(slow, beside=True)
            link._rests += LONG
            with pytest.raises(Unreachable):
                await one.read([("item", "a")])
            link.patience = PATIENT
            await one.notes(None)  # in time: it is asked again
            assert await one.read([("item", "a")]) == {}

    go(work)


def test_a_server_that_begins_anew_has_forgotten_and_is_used_again(server: RedisServer) -> None:
    async def work() -> None:
        one = store(server)
        async with keepers(one) as (mine,):
            await mine.perform(Retain({("item", "a"): "1"}))
            mark, _ = await one.notes(None)
            await one.note({("habit", "a"): "1"})
            server.stop()
            server.start()
            assert await mine.perform(Recall([("item", "a")])) == {}
            assert await mine.perform(Retain({("item", "a"): "2"})) is True
            assert await mine.perform(Recall([("item", "a")])) == {("item", "a"): "2"}
            assert (await mine.perform(Enter(key="k", lease="l", per_minute=1))).refused == ""
            assert (await one.notes(mark))[1] in ({}, None)

    go(work)


def test_a_server_that_never_was_is_said_to_be_away_without_its_password() -> None:
    async def work() -> None:
        one = store(RedisServer(Path("/nowhere")), patience=0.2)
        async with keepers(one):
            with pytest.raises(Unreachable):
                await one.read([("item", "a")])

    go(work)
    assert shown("rediss://user:secret@cache.test:6380/1?x=secret") == "rediss://cache.test:6380/1"


# ── what was learnt ──────────────────────────────────────────────────────────


def test_refusals_habits_and_rests_are_known_to_all(server: RedisServer) -> None:
    route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    where, rules = Place("acme", "m", "http://model.test"), Rules()
    error = ProviderError("down", status=503, kind=ErrorKind.OVERLOADED)

    async def work() -> None:
        here, there = (StateStores(store=store(server)) for _ in range(2))

        async def exchange() -> None:
            for each in (here, there, here):
                await each.exchange()

        here.learned.note(route, "m", Refusals(tools=True, demands=frozenset({"named"})))
        there.learned.note(route, "m", Refusals(constraint=True))
        here.learned.of("alice").confirm(route, "m", ["h"])
        here.health.failed(where, error, rules, began=0.0, now=1000.0)
        await exchange()
        assert there.learned.refused(route, "m") == Refusals(
            tools=True, constraint=True, demands=frozenset({"named"})
        )
        assert there.learned.of("alice").confirmed(route, "m") == {"h"}
        assert there.learned.of("bob").confirmed(route, "m") == frozenset()
        assert there.health.rests(where, 1000.0) == pytest.approx(here.health.rests(where, 1000.0), abs=0.1)
        assert there.health.rests(where, 1000.0) > 0
        there.health.answered(where)
        await there.exchange()
        await here.exchange()
        assert here.health.rests(where, 1000.0) == 0
        for each in (here, there):
            await each.aclose()

    go(work)


# ── settings ─────────────────────────────────────────────────────────────────

RIGHT = {"state": "redis://cache.test:6379/0", "namespace": "house"}
WRONG: list[tuple[str, dict[str, Any], dict[str, str], str]] = [
    ("no address", {**RIGHT, "state": "cache.test"}, {"DRAGOMAN_STATE_KEY": SECRET}, "no address of a store"),
    ("no namespace", {"state": RIGHT["state"]}, {"DRAGOMAN_STATE_KEY": SECRET}, "a name of its own"),
    ("braces", {**RIGHT, "namespace": "a{b}"}, {"DRAGOMAN_STATE_KEY": SECRET}, "a name of its own"),
    ("no secret", RIGHT, {}, "set DRAGOMAN_STATE_KEY"),
    ("a short one", RIGHT, {"DRAGOMAN_STATE_KEY": "short"}, "at least 16 characters"),
    ("a written one", {**RIGHT, "state_key": SECRET}, {}, "do not belong into files"),
    ("two places", {**RIGHT, "state_dir": "/tmp"}, {"DRAGOMAN_STATE_KEY": SECRET}, "leave the other out"),
]


@pytest.mark.parametrize(("row", "environ", "why"), [pytest.param(*case[1:], id=case[0]) for case in WRONG])
def test_what_shared_state_demands_is_said_before_anything_is_served(
    row: dict[str, Any], environ: dict[str, str], why: str
) -> None:
    with pytest.raises(UsageError, match=why) as error:
        read({"server": row, "default": {"route": "ollama/qwen3"}}, environ)
    assert SECRET not in str(error.value)


def test_address_and_secret_come_from_the_environment() -> None:
    environ = {"CACHE": "rediss://u:p@cache.test/0", "SECRET": SECRET, "DRAGOMAN_NAMESPACE": "house"}
    row = {"state": "${CACHE}", "state_key": "${SECRET}"}
    server = read({"server": row, "default": {"route": "ollama/qwen3"}}, environ).server
    assert (server.state, server.namespace, server.state_key) == (environ["CACHE"], "house", SECRET)
    assert "p@cache" not in repr(server)
    assert SECRET not in repr(server)


def test_the_settings_of_the_page_are_right() -> None:
    text = (ROOT / "docs" / "several-machines.md").read_text().partition("```toml\n")[2].partition("```")[0]
    settings = read(tomllib.loads(text), {"ALICE_KEY": "sk-alice", "DRAGOMAN_STATE_KEY": SECRET})
    assert (settings.server.namespace, settings.config.access[0].tokens_per_minute) == ("house", 200_000)


WITHOUT = """
import sys
from dragoman.gateway.config.load import Server
from dragoman.gateway.state.stores import stores_for
stores_for(Server())
print("redis" in sys.modules)
sys.modules["redis"] = None
try:
    stores_for(Server(state="redis://x", namespace="house", state_key="k" * 16))
except Exception as error:
    print(type(error).__name__, error)
"""


def test_without_an_address_nothing_is_imported_and_without_a_client_it_is_said() -> None:
    out = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[0] == "False"
    assert "pip install 'dragoman[redis]'" in out
