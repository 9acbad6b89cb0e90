"""The budget for what a process holds of answers: shared, waited for in line, and given back."""

from __future__ import annotations

import asyncio

import pytest

from dragoman.errors import ErrorKind, ProviderError
from dragoman.io.held_bytes import AGAIN, HeldBytes
from tests.support.clocks import LONG, run_virtually


def test_what_fits_is_held_at_once() -> None:
    held = HeldBytes(10)
    asyncio.run(held.take(10))
    assert held.used == 10


def test_without_a_limit_everything_fits() -> None:
    held = HeldBytes()
    asyncio.run(held.take(10**12))
    held.give(10**12)
    assert held.used == 0


def test_who_wants_more_waits_until_it_is_given_back() -> None:
    async def script() -> None:
        held = HeldBytes(10)
        await held.take(8)
        second = asyncio.ensure_future(held.take(5))
        await asyncio.sleep(1)
        assert not second.done()
        held.give(8)
        await second
        assert held.used == 5

    run_virtually(script())


def test_those_who_wait_are_served_in_their_order() -> None:
    async def script() -> None:
        held, order = HeldBytes(10), list[str]()

        async def wants(size: int, name: str) -> None:
            await held.take(size)
            order.append(name)

        await held.take(9)
        tasks = [asyncio.ensure_future(wants(size, name)) for size, name in ((6, "large"), (1, "small"))]
        await asyncio.sleep(1)
        assert order == []
        held.give(9)
        await asyncio.gather(*tasks)
        assert order == ["large", "small"]

    run_virtually(script())


def test_whoever_waits_in_vain_is_told_when_to_come_again() -> None:
    async def script() -> None:
        held = HeldBytes(10, patience=3.0)
        await held.take(8)
        with pytest.raises(ProviderError, match="raise limits") as caught:
            await held.take(5)
        assert (caught.value.status, caught.value.kind, caught.value.retry_after) == (503, ErrorKind.FULL, AGAIN)
        assert held.used == 8

    run_virtually(script())


def test_one_that_gives_up_lets_the_next_go_on() -> None:
    """Of two that hold half each and want more, the first to give up makes room for the other."""

    async def script() -> None:
        held = HeldBytes(10, patience=3.0)

        async def grows(before: float) -> bool:
            await held.take(5)
            await asyncio.sleep(before)
            try:
                await held.take(5, 5)
            except ProviderError:
                held.give(5)
                return False
            held.give(10)
            return True

        assert list(await asyncio.gather(grows(1.0), grows(2.0))) == [False, True]
        assert held.used == 0

    run_virtually(script())


def test_an_answer_larger_than_all_there_is_waits_for_nothing() -> None:
    async def script() -> None:
        held = HeldBytes(10)
        await held.take(6)
        with pytest.raises(ProviderError, match="larger than") as caught:
            await held.take(5, 6)
        assert caught.value.status == 502

    asyncio.run(script())


@pytest.mark.parametrize("granted", [False, True])
def test_a_cancelled_one_leaves_nothing_behind(granted: bool) -> None:
    async def script() -> None:
        held = HeldBytes(10)
        await held.take(8)
        waiting = asyncio.ensure_future(held.take(5))
        behind = asyncio.ensure_future(held.take(2))
        await asyncio.sleep(0)
        if granted:
            held.give(8)  # its turn comes in the moment in which it is cancelled
        waiting.cancel()
        await asyncio.wait_for(behind, LONG)
        assert held.used == (2 if granted else 10)

    asyncio.run(script())
