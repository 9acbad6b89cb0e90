"""The two drivers do the same, perform in order, and never leave anything open."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import aclosing
from typing import Any

import pytest

from dragoman.effects import Close, Effect, Machine, NewId, Open, Outcome, Read, Sleep, adrive, arun, drive, relay, run
from dragoman.errors import ErrorKind, ProviderError


class World:
    """Performs from a list of replies; an exception among them is raised."""

    def __init__(self, *replies: Any) -> None:
        self.replies, self.seen = list(replies), list[Effect]()

    def __call__(self, effect: Effect) -> Any:
        self.seen.append(effect)
        if isinstance(effect, Close):
            return None
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def later(self, effect: Effect) -> Any:
        return self(effect)


def echo() -> Machine[int]:
    """Reads until the end; yields what it read; returns how many pieces."""
    yield Open(url="http://peer/")
    count = 0
    while piece := (yield Read()):
        yield piece
        count += 1
    return count


def stubborn() -> Machine[str]:
    """Tries twice."""
    try:
        yield Open(url="http://first/")
    except ProviderError as error:
        yield Sleep(2.0)
        yield str(error)
        yield Open(url="http://second/")
    return "served"


async def collect(machine: Machine[Any], world: World, outcome: Outcome[Any]) -> list[Any]:
    return [step async for step in adrive(machine, world.later, outcome)]


CASES = {
    "pieces arrive in order": (echo, (None, b"a", b"b", b"")),
    "nothing was said": (echo, (None, b"")),
    "a failed effect is raised inside the machine": (stubborn, (ProviderError("down"), None, None)),
}


@pytest.mark.parametrize("name", CASES)
def test_both_drivers_see_the_same_steps_effects_and_outcome(name: str) -> None:
    machine, replies = CASES[name]
    one, two = World(*replies), World(*replies)
    left: Outcome[Any] = Outcome()
    right: Outcome[Any] = Outcome()
    steps = list(drive(machine(), one, left))
    assert steps == asyncio.run(collect(machine(), two, right))
    assert one.seen == two.seen
    assert one.seen[-1] == Close()
    assert left.value == right.value


def test_run_gives_the_outcome_in_both_colours() -> None:
    assert run(echo(), World(None, b"a", b"")) == 1
    assert asyncio.run(arun(echo(), World(None, b"a", b"").later)) == 1


def test_a_failure_nobody_handles_reaches_the_listener_and_closes() -> None:
    world = World(None, ProviderError("gone", kind=ErrorKind.NETWORK))
    with pytest.raises(ProviderError, match="gone"):
        list(drive(echo(), world))
    assert world.seen[-1] == Close()


def test_a_listener_who_walks_away_closes_the_exchange() -> None:
    world = World(None, b"a", b"b")
    steps = drive(echo(), world)
    assert next(steps) == b"a"
    steps.close()
    assert world.seen == [Open(url="http://peer/"), Read(), Close()]


def test_an_asynchronous_listener_who_walks_away_closes_the_exchange() -> None:
    world = World(None, b"a", b"b")

    async def leave() -> None:
        async with aclosing(adrive(echo(), world.later)) as steps:
            async for _ in steps:
                break

    asyncio.run(leave())
    assert world.seen[-1] == Close()


def test_the_outcome_cannot_be_asked_before_the_end() -> None:
    outcome: Outcome[int] = Outcome()
    steps = drive(echo(), World(None, b"a", b""), outcome)
    next(steps)
    with pytest.raises(LookupError, match="listen to all its steps"):
        _ = outcome.value
    assert list(steps) == []
    assert outcome.value == 1


def test_a_machine_may_hold_others() -> None:
    def both() -> Generator[Any, Any, int]:
        first = yield from echo()
        return first + (yield from echo())

    assert run(both(), World(None, b"a", b"", None, b"b", b"c", b"")) == 3


def test_secrets_are_not_in_the_repr_of_an_effect() -> None:
    effect = Open(url="http://peer/", headers={"authorization": "Bearer hush"}, body=b"private")
    assert "hush" not in repr(effect)
    assert "private" not in repr(effect)


def test_an_id_is_asked_for_not_made() -> None:
    def minted() -> Machine[str]:
        name: str = yield NewId("call")
        return name

    assert run(minted(), World("call_1")) == "call_1"


# ── steps that are there at once ─────────────────────────────────────────────


def batches() -> Machine[int]:
    """Steps one by one and in lists, and an effect between them."""
    yield 1
    yield [2, 3]
    yield NewId()
    yield [4]
    return 5


def doubled(step: int) -> tuple[int, ...]:
    return (step, step) if step != 3 else ()


def asking(step: int) -> Generator[Any, Any, None]:
    yield NewId()
    yield step


@pytest.mark.parametrize(
    ("on_step", "wanted"), [(None, [1, 2, 3, 4]), (doubled, [1, 1, 2, 2, 4, 4]), (asking, [1, 2, 3, 4])]
)
def test_steps_in_a_list_are_told_one_by_one(on_step: Any, wanted: list[int]) -> None:
    def machine() -> Machine[int]:
        return relay(batches(), on_step=on_step)

    told: list[int] = []

    async def tell(step: int) -> None:
        told.append(step)

    replies = [""] * 9
    left: Outcome[int] = Outcome()
    assert list(drive(machine(), World(*replies), left)) == wanted
    assert asyncio.run(collect(machine(), World(*replies), Outcome())) == wanted
    assert asyncio.run(arun(machine(), World(*replies).later, tell)) == left.value == 5
    assert told == wanted


def test_what_was_made_of_a_list_before_an_error_goes_out_before_it() -> None:
    def fails(step: int) -> tuple[int, ...]:
        if step == 3:
            raise ProviderError("three")
        return (step,)

    told: list[int] = []
    with pytest.raises(ProviderError, match="three"):
        told.extend(drive(relay(batches(), on_step=fails), World("", "")))
    assert told == [1, 2]


# ── what passes by the machine ───────────────────────────────────────────────


def passing() -> Machine[list[bytes]]:
    """Lets small letters pass, as capitals, and blanks, as nothing; returns what it got itself, errors and all."""
    got: list[bytes] = []

    def pass_on(data: bytes) -> bytes | None:
        if data == b"?":
            raise LookupError("what is this")
        return data.strip().upper() if data.islower() or data.isspace() else None

    while True:
        try:
            data: bytes = yield Read(passing=pass_on)
        except (ProviderError, LookupError) as error:
            data = str(error).encode()
        if not data:
            return got
        got.append(data)
        yield data


class Sizes:
    """Keeps what it is asked about."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, bool]] = []

    def are_long(self, reply: Any, *, told: bool = False) -> bool:
        self.asked.append((reply, told))
        return False

    async def take(self, resume: Any, reply: Any) -> Any:
        raise AssertionError("nothing is long")


REPLIES = (b"a", b" ", b"bc", b"1", b"d", ProviderError("down"), b"e", b"?", b"f", b"2", b"")


def test_what_passes_goes_to_the_listener_and_the_rest_to_the_machine() -> None:
    told: list[bytes] = []
    sizes, world = Sizes(), World(*REPLIES)

    async def tell(step: bytes) -> None:
        told.append(step)

    assert asyncio.run(arun(passing(), world.later, tell, sizes)) == [b"1", b"down", b"what is this", b"2"]
    assert told == [b"A", b"BC", b"1", b"D", b"down", b"E", b"what is this", b"F", b"2"]
    dealt_with = [(b"1", True), (b"2", True), (b"", True)]
    assert sizes.asked == [(None, False), *dealt_with]
    assert world.seen[-1] == Close()


def test_who_does_not_ask_gives_all_to_the_machine() -> None:
    world = World(b"a", b" ", b"1", b"")
    assert list(drive(passing(), world)) == [b"a", b" ", b"1"]


def test_a_listener_who_fails_is_no_failure_of_the_machine() -> None:
    world = World(b"a", b"b")

    async def fails(step: bytes) -> None:
        raise ProviderError("gone")

    with pytest.raises(ProviderError, match="gone"):
        asyncio.run(arun(passing(), world.later, fails))
    assert world.seen == [Read(), Close()]
