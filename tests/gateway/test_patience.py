"""An answer is waited for by the rounds of the loop as well as by the clock: who is busy blames nobody else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

from dragoman.gateway.state.patience import ROUNDS, Patience
from tests.support.clocks import LONG

T = TypeVar("T")
SECONDS = 0.008


def go(work: Callable[[], Awaitable[T]]) -> T:
    async def within() -> T:
        return await asyncio.wait_for(work(), LONG)

    return asyncio.run(within())


@contextmanager
def busy_loop(seconds: float) -> Iterator[list[int]]:
    """Each round of the running loop takes so long; the rounds are counted."""
    loop, rounds, on = asyncio.get_running_loop(), [0], True

    def one() -> None:
        rounds[0] += 1
        time.sleep(seconds)
        if on:
            loop.call_soon(one)

    one()
    try:
        yield rounds
    finally:
        on = False


async def answer_after(rounds: int) -> str:
    for _ in range(rounds):
        await asyncio.sleep(0)
    return "answer"


def test_a_busy_process_reads_an_answer_that_is_there() -> None:
    """Each of its rounds takes longer than all it would wait for."""

    async def work() -> None:
        with busy_loop(2 * SECONDS):
            for rounds in range(1, ROUNDS):
                async with Patience(SECONDS) as patience:
                    assert await answer_after(rounds) == "answer"
                assert patience.in_time

    go(work)


def test_what_is_never_answered_is_waited_for_no_longer_than_so_many_rounds() -> None:
    async def work() -> None:
        with busy_loop(2 * SECONDS) as rounds:
            for _ in range(3):
                began, patience = rounds[0], Patience(SECONDS)
                with pytest.raises(TimeoutError):
                    async with patience:
                        await asyncio.Event().wait()
                assert not patience.in_time
                assert ROUNDS <= rounds[0] - began <= 2 * ROUNDS + 4  # some to begin, to be told, and to go on

    go(work)


def test_more_is_waited_for_where_nobody_waits_but_that_is_no_answer_in_time() -> None:
    async def work() -> None:
        over = asyncio.Event()
        async with Patience(SECONDS, LONG) as patience:
            while patience.in_time:
                await asyncio.sleep(SECONDS)
            over.set()
        assert over.is_set()
        with pytest.raises(TimeoutError):
            async with Patience(SECONDS, SECONDS):
                await asyncio.Event().wait()

    go(work)


def test_what_fails_and_who_leaves_go_their_own_way() -> None:
    async def work() -> None:
        with pytest.raises(ValueError, match="no"):
            async with Patience(SECONDS):
                raise ValueError("no")

        async def waits() -> None:
            async with Patience(LONG):
                await asyncio.Event().wait()

        waiting = asyncio.ensure_future(waits())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    go(work)
