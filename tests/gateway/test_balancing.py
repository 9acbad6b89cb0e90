"""A gateway before backends with prompt caches: conversations stay where their prompt is known, whatever happens."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from dragoman.effects import Effect, Open, PerformAsync
from dragoman.errors import UsageError
from dragoman.gateway import create_app
from dragoman.gateway.config.load import read
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.asgi import Client, call

CHAT = "/v1/chat/completions"


class CachingBackends:
    """Servers of OpenAI's API that remember every prompt they were sent, as far as a later one begins with it."""

    def __init__(self) -> None:
        self.known: dict[str, set[str]] = {}
        self.input = self.cached = self.possible = 0
        self.asked = Counter[str]()
        self.down: set[str] = set()
        self.peer = ScriptedPeer(self._answer)

    def _answer(self, sent: Open) -> Answer:
        name = sent.url.split("//")[1].split(".")[0]
        if name in self.down:
            return Answer((b'{"error": {"message": "out of order"}}',), status=503)
        self.asked[name] += 1
        said = [json.dumps(message) for message in json.loads(sent.body).get("messages", ())]
        known = self.known.setdefault(name, set())
        prompts = ["".join(said[: n + 1]) for n in range(len(said))]
        cached = max((len(prompt) for prompt in prompts if prompt in known), default=0)
        anywhere = max((len(p) for p in prompts if any(p in one for one in self.known.values())), default=0)
        known.update(prompts)
        self.input, self.cached = self.input + len("".join(said)), self.cached + cached
        self.possible += anywhere
        usage = {"prompt_tokens": len("".join(said)), "completion_tokens": 1, "total_tokens": 1,
                 "prompt_tokens_details": {"cached_tokens": cached}}  # fmt: skip
        choice = {"index": 0, "message": {"role": "assistant", "content": "Well."}, "finish_reason": "stop"}
        return Answer((json.dumps({"id": "u", "model": "m", "choices": [choice], "usage": usage}).encode(),))


class Slow:
    """The same, each request in its own time: while one is answered others arrive."""

    def __init__(self, backends: CachingBackends, seed: int) -> None:
        self._peer, self._random = backends.peer, Random(seed)
        self.in_flight = Counter[str]()
        self.most = Counter[str]()

    def performer(self) -> PerformAsync:
        perform = self._peer.performer()

        async def performed(effect: Effect) -> Any:
            if not isinstance(effect, Open):
                return await perform(effect)
            name = effect.url.split("//")[1].split(".")[0]
            self.in_flight[name] += 1
            self.most[name] = max(self.most[name], self.in_flight[name])
            for _ in range(self._random.randint(1, 40)):
                await asyncio.sleep(0)
            self.in_flight[name] -= 1
            return await perform(effect)

        return performed

    async def aclose(self) -> None:
        return None


def gateway(backends: CachingBackends, slow: Slow | None = None, **model: Any) -> Any:
    routes = model.pop("routes", ["one/m", "two/m"])
    names = {"one", "two", "three"}
    data = {
        "providers": {name: {"api": "openai_chat", "base_url": f"http://{name}.test/v1"} for name in names},
        "models": {"m": {"routes": routes, **model}},
        "fallback": {"retries": 0},
    }
    return create_app(read(data, {}).config, slow or backends.peer)


async def conversations(
    app: Any, number: int, turns: int, headers: Mapping[str, str] | None = None, *, named: bool = False
) -> None:
    """So many conversations at once, each a turn at a time, as agents hold them; all in one process."""

    async def one(n: int) -> None:
        own = {"x-session-id": f"session-{n}"} if named else {}
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": "You are an agent. " * 20},
            {"role": "user", "content": f"Task {n}"},
        ]
        for turn in range(turns):
            reply = await Client(app, CHAT, {"model": "m", "messages": messages}, headers=own).run()
            assert reply.status == 200, reply.body
            messages += [{"role": "assistant", "content": "Well."}, {"role": "user", "content": f"Go on, {turn}." * 5}]

    await asyncio.gather(*(one(n) for n in range(number)))


SHARINGS = ["weighted", "least_in_flight"]


@pytest.mark.parametrize("named", [True, False], ids=["named", "nameless"])
@pytest.mark.parametrize("balance", SHARINGS)
@pytest.mark.costly
def test_conversations_find_their_prompt_cached(balance: str, named: bool) -> None:
    backends = CachingBackends()
    asyncio.run(conversations(gateway(backends, balance=balance), 8, 50, named=named))
    assert backends.cached / backends.input >= 0.95
    assert backends.cached / backends.possible >= 0.99
    assert min(backends.asked[name] for name in ("one", "two")) >= 50  # and both work


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("balance", SHARINGS)
@pytest.mark.costly
def test_so_they_do_while_others_are_answered(balance: str, seed: int) -> None:
    backends = CachingBackends()
    slow = Slow(backends, seed)
    asyncio.run(conversations(gateway(backends, slow, balance=balance), 12, 45, named=True))
    assert backends.cached / backends.input >= 0.95
    if balance == "least_in_flight":
        assert max(slow.most.values()) <= 9  # 1.25 times its half of 12, and one that was let in before they were more


def test_without_affinity_caches_are_missed() -> None:
    """What the others are measured against: the same requests, dealt in turn."""
    backends = CachingBackends()
    asyncio.run(conversations(gateway(backends, balance="weighted", affinity=False), 3, 40))
    assert backends.cached / backends.input < 0.96
    assert backends.cached < backends.possible
    assert backends.asked == {"one": 60, "two": 60}


def test_two_gateways_that_know_nothing_of_each_other_find_the_same_home() -> None:
    backends = CachingBackends()
    apps = [gateway(backends, balance="weighted") for _ in range(2)]
    homes = list[set[str]]()
    for n in range(12):
        before = Counter(backends.asked)
        for app in apps:
            call(app, CHAT, {"model": "m", "messages": [{"role": "user", "content": f"Task {n}"}]})
        homes.append({name for name in backends.asked if backends.asked[name] > before[name]})
    assert all(len(home) == 1 for home in homes)
    assert set.union(*homes) == {"one", "two"}


def test_a_broken_backend_gives_its_conversations_away() -> None:
    backends = CachingBackends()
    app = gateway(backends, balance="weighted")
    asyncio.run(conversations(app, 8, 3, named=True))
    backends.down.add("one")
    before = Counter(backends.asked)
    asyncio.run(conversations(app, 8, 3, named=True))
    assert backends.asked - before == {"two": 24}


def test_a_standby_is_asked_only_when_all_others_fail() -> None:
    backends = CachingBackends()
    routes = [{"route": "three/m", "weight": 0}, {"route": "one/m", "weight": 2}, "two/m"]
    app = gateway(backends, balance="weighted", affinity=False, routes=routes)
    asyncio.run(conversations(app, 1, 30))
    assert backends.asked == {"one": 20, "two": 10}
    backends.down |= {"one", "two"}
    asyncio.run(conversations(app, 1, 2))
    assert backends.asked["three"] == 2


def test_other_endpoints_share_requests_too() -> None:
    backends = CachingBackends()
    app = gateway(backends, balance="weighted", routes=[{"route": "one/m", "weight": 3}, "two/m"])
    for n in range(8):
        assert call(app, "/v1/embeddings", {"model": "m", "input": f"text {n}"}).status == 200
    assert backends.asked == {"one": 6, "two": 2}


def test_the_default_and_patterns_share_requests() -> None:
    providers = {name: {"api": "openai_chat", "base_url": f"http://{name}.test/v1"} for name in ("one", "two")}
    shared = {"balance": "weighted", "affinity": False}
    for data, model in (
        ({"default": {"routes": ["one", "two"], **shared}}, "anything"),
        ({"models": {"a/*": {"routes": ["one/*", "two/*"], **shared}}}, "a/b"),
    ):
        backends = CachingBackends()
        app = create_app(read({"providers": providers, **data}, {}).config, backends.peer)
        for _ in range(6):
            call(app, CHAT, {"model": model, "messages": [{"role": "user", "content": "Hi"}]})
        assert backends.asked == {"one": 3, "two": 3}


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("weights without sharing", {"routes": [{"route": "ollama/a", "weight": 2}]}, 'write balance = "weighted"'),
    ("weights in order", {"routes": [{"route": "ollama/a", "weight": 2}], "balance": "ordered"}, "write balance"),
    ("no weight at all", {"routes": [{"route": "ollama/a", "weight": 0}], "balance": "weighted"}, "weight above 0"),
    ("less than nothing", {"routes": [{"route": "ollama/a", "weight": -1}], "balance": "weighted"}, "routes[0]"),
    ("endless", {"routes": [{"route": "ollama/a", "weight": float("inf")}], "balance": "weighted"}, "routes[0]"),
    ("no number", {"routes": [{"route": "ollama/a", "weight": float("nan")}], "balance": "weighted"}, "routes[0]"),
    ("another word", {"route": "ollama/a", "balance": "random"}, "balance"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "message"), [each[1:] for each in WRONG], ids=[each[0] for each in WRONG])
def test_sharing_that_cannot_be_is_refused(model: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as wrong:
        read({"models": {"m": model}}, {})
    assert message in str(wrong.value)
