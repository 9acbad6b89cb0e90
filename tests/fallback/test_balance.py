"""Routes that share the requests of a model: exactly by weight, or by load, and each conversation at one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.effects import Outcome, drive
from dragoman.errors import ErrorKind, ProviderError
from dragoman.fallback import Balance, Balancer, Health, RouteAsked, Rules, Sharing, chain, chaining, place
from dragoman.fallback.balance import BOUND, STAY, homes
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.types import Message, Request
from tests.support.upstreams import answered, refusal, text_reply

BY_WEIGHT = Balance(sharing=Sharing.WEIGHTED)
IN_TURN = Balance(sharing=Sharing.WEIGHTED, affinity=False)
LEAST = Balance(sharing=Sharing.LEAST_IN_FLIGHT, affinity=False)
BY_LOAD = Balance(sharing=Sharing.LEAST_IN_FLIGHT)
SESSIONS = [f"session-{n}" for n in range(10_000)]


def route(name: str, weight: float = 1.0, **more: Any) -> Route:
    return Route(provider=COMPATIBLE["openai_chat"], model=name, base_url=f"http://{name}.test", weight=weight, **more)


def routes(**weights: float) -> list[Route]:
    return [route(name, weight) for name, weight in weights.items()]


def at_home(session: str, of: Sequence[Route]) -> str:
    return homes(session, of)[0].model


# ── in turn ──────────────────────────────────────────────────────────────────


@given(st.lists(st.integers(1, 9), min_size=2, max_size=5))
def test_turns_are_dealt_exactly_by_weight(weights: list[int]) -> None:
    of = [route(f"r{n}", weight) for n, weight in enumerate(weights)]
    balancer = Balancer()
    dealt = [balancer.spread(IN_TURN, "m").order(of)[0].model for _ in range(3 * sum(weights))]
    assert Counter(dealt) == {f"r{n}": 3 * weight for n, weight in enumerate(weights)}


def test_turns_are_dealt_smoothly() -> None:
    balancer, of = Balancer(), routes(a=2, b=2, c=2)
    dealt = [balancer.spread(IN_TURN, "m").order(of)[0].model for _ in range(30)]
    assert all(before != after for before, after in pairwise(dealt))


def test_models_take_turns_of_their_own() -> None:
    balancer, of = Balancer(), routes(a=1, b=1)
    assert [balancer.spread(IN_TURN, name).order(of)[0].model for name in ("m", "n", "m", "n")] == ["a", "a", "b", "b"]


def test_whoever_rests_gathers_no_turns_meanwhile() -> None:
    balancer, of = Balancer(), routes(a=1, b=1)
    for _ in range(100):
        balancer.spread(IN_TURN, "m").order(of[:1])
    assert Counter(balancer.spread(IN_TURN, "m").order(of)[0].model for _ in range(10)) == {"a": 5, "b": 5}


def test_a_request_that_is_asked_again_stays_where_it_was() -> None:
    spread, of = Balancer().spread(IN_TURN, "m"), routes(a=1, b=1, c=1)
    assert {spread.order(of)[0].model for _ in range(6)} == {"a"}
    assert spread.order(of[1:])[0].model == "b"


# ── at home ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "weights", [{"a": 1, "b": 1}, {"a": 3, "b": 1}, {"a": 5, "b": 3, "c": 2}, {"a": 0.5, "b": 0.1}]
)
def test_conversations_are_shared_by_weight(weights: dict[str, float]) -> None:
    found = Counter(at_home(session, routes(**weights)) for session in SESSIONS)
    for name, weight in weights.items():
        assert found[name] / len(SESSIONS) == pytest.approx(weight / sum(weights.values()), abs=0.02)


def test_one_more_route_takes_its_share_and_moves_no_other_conversation() -> None:
    before, after = routes(a=1, b=1, c=1), routes(a=1, b=1, c=1, d=1)
    moved = [session for session in SESSIONS if at_home(session, before) != at_home(session, after)]
    assert {at_home(session, after) for session in moved} == {"d"}
    assert len(moved) / len(SESSIONS) == pytest.approx(1 / 4, abs=0.02)


def test_one_route_less_moves_its_own_conversations_alone() -> None:
    before, after = routes(a=1, b=2, c=1), routes(a=1, c=1)
    moved = {at_home(session, before) for session in SESSIONS if at_home(session, before) != at_home(session, after)}
    assert moved == {"b"}


def test_more_weight_only_draws_conversations_to_it() -> None:
    before, after = routes(a=1, b=1, c=1), routes(a=2, b=1, c=1)
    assert {at_home(s, after) for s in SESSIONS if at_home(s, before) != at_home(s, after)} == {"a"}


def test_neither_the_order_nor_a_new_key_moves_a_conversation() -> None:
    of = routes(a=1, b=1, c=1)
    rekeyed = [route(each.model, key="sk-another-key") for each in reversed(of)]
    assert [at_home(session, of) for session in SESSIONS[:500]] == [at_home(s, rekeyed) for s in SESSIONS[:500]]


def test_routes_without_weight_come_last_in_their_order() -> None:
    of = [route("y", 0), *routes(a=1, b=1), route("x", 0)]
    for session in SESSIONS[:20]:
        order = [each.model for each in Balancer().spread(BY_WEIGHT, "m", session).order(of)]
        assert (sorted(order[:2]), order[2:]) == (["a", "b"], ["y", "x"])


# ── by load ──────────────────────────────────────────────────────────────────


def test_the_least_loaded_is_asked_first() -> None:
    balancer, of = Balancer(), routes(a=1, b=1, c=2)
    busy = [balancer.enter(of[0]), balancer.enter(of[2]), balancer.enter(of[2])]
    assert [each.model for each in balancer.spread(LEAST, "m").order(of)] == ["b", "c", "a"]
    for ticket in busy:
        ticket.leave()
        ticket.leave()  # twice is once
    assert [balancer.in_flight(each) for each in of] == [0, 0, 0]


def test_idle_routes_take_turns_by_weight() -> None:
    balancer, of = Balancer(), routes(a=3, b=1)
    taken = Counter[str]()
    for _ in range(400):
        first = balancer.spread(LEAST, "m").order(of)[0]
        taken[first.model] += 1
        balancer.enter(first).leave()
    assert taken["a"] >= 200
    assert taken["a"] + taken["b"] == 400


@given(st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=200))
def test_no_route_takes_more_than_its_bound_while_another_has_room(steps: list[tuple[int, bool]]) -> None:
    balancer, of, seen = Balancer(), routes(a=1, b=1, c=2), set[int]()
    open_: list[tuple[Route, Any]] = []
    for session, leaves in steps:
        first = balancer.spread(BY_LOAD, "m", f"s{session}").order(of)[0]
        open_.append((first, balancer.enter(first)))
        bound = STAY if session in seen else BOUND
        assert balancer.in_flight(first) <= ceil(bound * len(open_) * first.weight / 4)
        seen.add(session)
        if leaves:
            open_.pop(0)[1].leave()


def test_a_conversation_that_found_its_home_full_stays_where_it_went() -> None:
    balancer, of = Balancer(), routes(a=1, b=1)
    session = next(s for s in SESSIONS if at_home(s, of) == "a")

    def went() -> str:
        return balancer.spread(BY_LOAD, "m", session).order(of)[0].model

    busy = [balancer.enter(of[0]) for _ in range(3)]
    assert went() == "b"
    for ticket in busy:
        ticket.leave()
    assert went() == "b"
    assert Balancer().spread(BY_LOAD, "m", session).order(of)[0].model == "a"  # another process knows nothing of it
    balancer.spread(BY_LOAD, "m", session).order(of[:1])  # b rests
    assert went() == "a"


def test_it_leaves_what_is_overcrowded() -> None:
    balancer, of = Balancer(), routes(a=1, b=1, c=1)
    session = next(s for s in SESSIONS if at_home(s, of) == "a")
    spread = [balancer.spread(BY_LOAD, "m", session) for _ in range(3)]
    assert spread[0].order(of)[0].model == "a"
    tickets = [balancer.enter(of[0]) for _ in range(3)] + [balancer.enter(of[1]) for _ in range(2)]
    assert spread[1].order(of)[0].model == "a"  # 3 of 6 are less than twice its third
    tickets += [balancer.enter(of[0]) for _ in range(3)]
    assert spread[2].order(of)[0].model != "a"


def test_with_room_everywhere_a_conversation_is_at_home() -> None:
    balancer, of = Balancer(), routes(a=1, b=1)
    for session in SESSIONS[:50]:
        assert balancer.spread(BY_LOAD, "m", session).order(of)[0].model == at_home(session, of)


def test_what_was_in_flight_at_forgotten_places_is_forgotten() -> None:
    balancer = Balancer()
    kept = balancer.enter(route("kept"))
    for n in range(5_000):
        balancer.enter(route(f"r{n}")).leave()
    assert balancer.in_flight(route("kept")) == 1
    assert len(balancer._busy) < 1_100
    kept.leave()


# ── in a chain ───────────────────────────────────────────────────────────────

HELLO, DOWN = text_reply("Hello."), refusal(503, {"error": {"message": "out of order"}})
REQUEST = Request(model="", messages=(Message("user", "Hi."),))


def asked(
    of: Sequence[Route], spread: Any, health: Health, broken: Sequence[str] = (), peer: ScriptedPeer | None = None
) -> list[str]:
    """Where one request went, in order."""

    def answer(sent: Any) -> Answer:
        name = sent.url.split("//")[1].split(".")[0]
        return DOWN if name in broken else answered("openai_chat", HELLO, {})

    peer = peer or ScriptedPeer(answer)
    outcome: Outcome[Any] = Outcome()
    steps = drive(chain(REQUEST, of, health, None, Rules(retries=0), spread=spread), peer.sync_performer(), outcome)
    return [step.place.model for step in steps if isinstance(step, RouteAsked)]


def test_a_conversation_leaves_a_broken_home_and_comes_back() -> None:
    balancer, health, of = Balancer(), Health(), routes(a=1, b=1, c=1)
    session = next(s for s in SESSIONS if [each.model for each in homes(s, of)] == ["a", "c", "b"])

    def turn(*broken: str) -> list[str]:
        return asked(of, balancer.spread(BY_WEIGHT, "m", session), health, broken)

    assert turn() == ["a"]
    assert turn("a") == ["a", "c"]
    assert turn("a") == ["c"]  # it rests
    health.reset()
    assert turn() == ["a"]


def test_a_broken_route_moves_no_conversation_of_another() -> None:
    balancer, health, of = Balancer(), Health(), routes(a=1, b=1, c=1)
    health.failed(place(of[0]), ProviderError("down", kind=ErrorKind.SERVER), Rules(), began=0.0, now=0.0)
    for session in SESSIONS[:60]:
        home = at_home(session, of)
        went = asked(of, balancer.spread(BY_WEIGHT, "m", session), health)
        assert went == [home if home != "a" else at_home(session, of[1:])]


def test_only_those_that_do_not_rest_take_turns() -> None:
    balancer, health, of = Balancer(), Health(), routes(a=2, b=1, c=1)
    health.failed(place(of[0]), ProviderError("down", kind=ErrorKind.SERVER), Rules(), began=0.0, now=0.0)
    went = [asked(of, balancer.spread(IN_TURN, "m"), health)[0] for _ in range(10)]
    assert Counter(went) == {"b": 5, "c": 5}


def test_a_request_is_in_flight_until_its_answer_ends_however_it_ends() -> None:
    balancer, of = Balancer(), routes(a=1, b=1)
    seen: list[int] = []

    def answer(sent: Any) -> Answer:
        seen.append(sum(balancer.in_flight(each) for each in of))
        return DOWN if len(seen) == 1 else answered("openai_chat", HELLO, {})

    peer = ScriptedPeer(answer)
    asked(of, balancer.spread(LEAST, "m"), Health(), peer=peer)
    let_go = drive(chain(REQUEST, of, spread=balancer.spread(LEAST, "m")), peer.sync_performer(), Outcome[Any]())
    next(let_go)
    let_go.close()
    assert seen[:2] == [1, 1]
    assert [balancer.in_flight(each) for each in of] == [0, 0]


def test_without_sharing_routes_are_asked_in_their_order() -> None:
    of = routes(a=1, b=5, c=0)
    assert asked(of, None, Health(), ["a", "b"]) == ["a", "b", "c"]


def test_a_correction_goes_where_the_answer_came_from() -> None:
    balancer, of, went = Balancer(), routes(a=1, b=1), list[str]()

    def answer(sent: Any) -> Answer:
        went.append(sent.url.split("//")[1].split(".")[0])
        return answered("openai_chat", HELLO, {})

    ask: Callable[[Request], Any] = chaining(of, spread=balancer.spread(IN_TURN, "m"))
    for _ in range(3):
        list(drive(ask(REQUEST), ScriptedPeer(answer).sync_performer(), Outcome[Any]()))
    assert went == ["a", "a", "a"]
