"""What performs the questions about what is kept: never says that something is gone, loses nothing it can hold."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import pytest

from dragoman.effects import Address, Enter, Entered, Leave, Recall, Retain, Revise
from dragoman.errors import ProviderError
from dragoman.gateway import Access, GatewayConfig, create_app
from dragoman.gateway.state.board import MOST, Board
from dragoman.gateway.state.keeper import SETTLES, Keeper, unreachable
from dragoman.gateway.state.response_items import MAX_BYTES, NEAR_BYTES
from dragoman.gateway.state.store_quota import RENEWED, StoreQuota
from dragoman.gateway.state.stores import StateStores
from dragoman.gateway.telemetry.metrics import Metrics
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from tests.support.asgi import Client, call
from tests.support.clocks import LONG
from tests.support.gateways import ask, streamed_and_whole
from tests.support.stores import MemoryStore
from tests.support.upstreams import model, text_reply

T = TypeVar("T")
A, B = ("item", "a"), ("item", "b")


def go(work: Callable[[], Awaitable[T]]) -> T:
    async def within() -> T:
        return await asyncio.wait_for(work(), LONG)

    return asyncio.run(within())


def keeper(limit: int = 1000) -> tuple[MemoryStore, Keeper]:
    store = MemoryStore()
    return store, Keeper(store, limit)


def test_while_it_is_away_nothing_is_said_to_be_gone() -> None:
    store, now = MemoryStore(), [100.0]
    kept = Keeper(store, clock=lambda: now[0])

    async def work() -> None:
        await kept.perform(Retain({A: "1"}))
        store.away = True
        for effect in (Recall([A]), Recall([B]), Recall([A, B]), Revise(A, lambda _: None)):
            with pytest.raises(ProviderError) as error:
                await kept.perform(effect)
            assert (error.value.status, error.value.code, error.value.retry_after) == (503, "state_unavailable", 1.0)
        store.away = False
        assert await kept.perform(Recall([A])) == {A: "1"}
        for now[0] in (100.0, 100.0 + SETTLES - 0.1):  # another process may not have written yet what it holds
            with pytest.raises(ProviderError) as error:
                await kept.perform(Recall([A, B]))
            assert error.value.status == 503
        now[0] += 0.1
        assert await kept.perform(Recall([A, B])) == {A: "1"}

    go(work)


def test_what_is_kept_while_it_is_away_is_found_here_and_written_later() -> None:
    store, kept = keeper()

    async def work() -> None:
        store.away = True
        assert await kept.perform(Retain({A: "1", B: "2"})) is False
        await kept.perform(Revise(A, lambda text: f"{text}!"))
        await kept.perform(Revise(B, lambda _: None))
        assert await kept.perform(Recall([A])) == {A: "1!"}
        assert await kept.perform(Recall([A, B])) == {A: "1!"}
        await kept.flush()
        assert store.rows == {}
        store.away, store.rows[B] = False, "of before"
        await kept.flush()
        assert store.rows == {A: "1!"}
        store.log.clear()
        await kept.flush()
        assert store.log == []

    go(work)


def test_a_change_is_made_to_what_waits() -> None:
    store, kept = keeper()

    async def work() -> None:
        store.away = True
        await kept.perform(Retain({A: "1"}))
        store.away = False
        await kept.perform(Revise(A, lambda text: f"{text}2"))
        assert store.rows == {A: "12"}

    go(work)


def test_what_is_newer_is_never_written_before_what_is_older() -> None:
    store, kept = keeper()

    async def work() -> None:
        store.away = True
        await kept.perform(Retain({A: "old", B: "other"}))
        store.away = False
        await asyncio.gather(kept.flush(), kept.perform(Retain({A: "new"})))
        await kept.flush()
        assert store.rows == {A: "new", B: "other"}

    go(work)


class Slow(MemoryStore):
    """One that takes its time to write."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()

    async def write(self, rows: Mapping[Address, str]) -> None:
        """Keep these, once told to."""
        await self.go_on.wait()
        await super().write(rows)


def test_nobody_waits_while_all_that_waited_is_written() -> None:
    """There may be a great deal of it."""
    store = Slow()
    kept = Keeper(store)

    async def work() -> None:
        store.away = True
        store.go_on.set()
        await kept.perform(Retain({A: "old", B: "other"}))
        store.away = False
        store.go_on.clear()
        store.log.clear()
        flushing = asyncio.ensure_future(kept.flush())
        await asyncio.sleep(0)
        assert await kept.perform(Retain({A: "new"})) is False
        await kept.perform(Revise(B, lambda text: f"{text}, changed"))
        assert store.log == []
        assert await kept.perform(Recall([A, B])) == {A: "new", B: "other, changed"}
        store.go_on.set()
        await flushing
        assert store.rows == {A: "new", B: "other, changed"}

    go(work)


class Counts(MemoryStore):
    """One that counts what keys ask, and takes its time to hear what still runs."""

    def __init__(self) -> None:
        super().__init__()
        self.replicas, self.offset, self.running = 1, 0.0, set[str]()
        self.go_on = asyncio.Event()

    async def enter(self, entry: Enter) -> Entered:
        """Come in."""
        self.running.add(entry.lease)
        return Entered("")

    async def leave(self, gone: Leave) -> None:
        """Go."""
        self.running.discard(gone.lease)

    async def renew(self, held: Mapping[str, Sequence[str]]) -> None:
        """These run, once that is heard."""
        await self.go_on.wait()
        self.running |= {each for leases in held.values() for each in leases}


def test_who_leaves_does_not_wait_while_it_is_said_that_he_runs() -> None:
    store, now = Counts(), [0.0]
    kept = Keeper(store)
    counter = StoreQuota(kept, store, lambda: now[0])
    access = Access(name="alice", sha256="", max_concurrent=2)

    async def work() -> None:
        leaving, staying = [await counter.enter(access, 0) for _ in range(2)]
        now[0] += RENEWED
        renewing = asyncio.ensure_future(counter.renew())
        await asyncio.sleep(0)
        await counter.leave(leaving, None)
        assert store.running == {staying.name}
        store.go_on.set()
        await renewing
        assert store.running == {staying.name}, "heard too late that it ran, and that it does not"

    go(work)


def test_of_what_a_store_keeps_for_all_a_process_has_little_at_hand() -> None:
    store = MemoryStore()
    alone, shared = StateStores().items, StateStores(store=store).items
    contents = StateStores(store=store).responses._contents
    body = {"output": [{"id": f"msg_{n}", "type": "message", "content": "x" * 20_000} for n in range(1000)]}
    for items, most in ((alone, MAX_BYTES), (shared, NEAR_BYTES)):
        items.keep(body)
        assert 0.9 * min(most, 20_000_000) < items._cache._recent._size <= most
    contents.keep(body["output"], "")
    assert contents._cache._recent._size <= NEAR_BYTES


def test_of_what_waits_the_newest_stay_and_the_rest_is_counted() -> None:
    store, kept = keeper(limit=1000)
    metrics = Metrics()
    kept.meters = [metrics]

    async def work() -> None:
        store.away = True
        for n in range(8):
            await kept.perform(Retain({("item", str(n)): "x" * 300}))
        store.away = False
        await kept.flush()
        assert sorted(key for _, key in store.rows) == ["5", "6", "7"]

    go(work)
    text = metrics.exposed()[1].decode()
    assert 'dragoman_store_dropped_total{store="memory"} 5.0' in text
    assert 'dragoman_store_up{store="memory"} 1.0' in text


def test_a_board_goes_on_alone_and_tells_later() -> None:
    store, kept = keeper()
    here, there = Board(), Board()

    async def work() -> None:
        store.away = True
        here.put({("habit", str(n)): "1" for n in range(MOST + 5)})
        await here.exchange(kept)
        assert here.get(("habit", str(MOST))) == "1"
        assert here.get(("habit", "0")) is None
        store.away = False
        await here.exchange(kept)
        await there.exchange(kept)
        assert len(there.of_kind("habit")) == MOST

    go(work)


# ── through a gateway ────────────────────────────────────────────────────────


def gateway(store: MemoryStore, *answers: str) -> Any:
    route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    peer = model("openai_chat", *map(text_reply, answers))
    return create_app(GatewayConfig(default=route), peer, stores=StateStores(store=store))


@streamed_and_whole
def test_an_answer_is_kept_before_its_last_event_goes_out(stream: bool) -> None:
    """At the moment a client sees the end, another gateway finds the answer."""
    store = MemoryStore()
    found: list[bool] = []

    async def work() -> None:
        async def watched(scope: Any, receive: Any, send: Any) -> None:
            async def sent(message: Any) -> None:
                if b"resp_" in message.get("body", b"") and b'"status":"completed","' in message["body"]:
                    found.append(any(kind == "response" for kind, _ in store.rows))
                await send(message)

            await app(scope, receive, sent)

        app = gateway(store, "It is blue.")
        await Client(watched, "/v1/responses", {"model": "m", "input": "one", "stream": stream}).run()

    go(work)
    assert found
    assert all(found)


@streamed_and_whole
def test_a_store_that_is_away_costs_an_answer_nothing_but_being_referred_to(stream: bool) -> None:
    store = MemoryStore()
    store.away = True
    here, there = gateway(store, "It is blue.", "Why?"), gateway(store)
    assert ask(here, "openai_responses", stream=stream).status == 200
    name = next(key.partition("\0")[2] for kind, key in store.log[-1][1] if kind == "response")
    follow = {"model": "m", "input": "two", "previous_response_id": name}
    assert call(here, "/v1/responses", follow).status == 200, "who kept it goes on"
    reply = call(there, "/v1/responses", follow)
    assert (reply.status, reply.headers["retry-after"]) == (503, "1")
    given = {"model": "m", "input": [{"type": "item_reference", "id": "msg_x"}]}
    reply = call(there, "/v1/responses", given)
    assert (reply.status, reply.json["error"]["code"]) == (503, "state_unavailable")


def test_one_question_keeps_an_answer_and_two_find_it_however_long_the_conversation() -> None:
    store = MemoryStore()
    here = gateway(store, *["Yes."] * 6)
    name = ""
    for n in range(5):
        store.log.clear()
        body = {"model": "m", "input": str(n), **({"previous_response_id": name} if name else {})}
        name = call(here, "/v1/responses", body).json["id"]
        assert [what for what, _ in store.log] == ["read"] * bool(n) + ["write"]
    store.log.clear()
    call(gateway(store, "Yes."), "/v1/responses", {"model": "m", "input": "5", "previous_response_id": name})
    assert [what for what, _ in store.log] == ["read", "read", "write"]


def test_the_error_says_what_to_do() -> None:
    assert "send the request again" in json.dumps(str(unreachable()))
