"""What is due soon is called once, in time, and not where it is over."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable

import pytest

from dragoman.gateway.http.soon import GRAIN, SECONDS, Soon, call_soon


def _in_a_loop(check: Callable[[asyncio.AbstractEventLoop], object], wait: float = SECONDS + 3 * GRAIN) -> None:
    async def go() -> None:
        made = check(asyncio.get_running_loop())
        await asyncio.sleep(wait)
        del made

    asyncio.run(go())


def test_what_is_not_over_is_called_once_and_not_too_soon() -> None:
    called: list[tuple[int, float]] = []
    begun: list[float] = []

    def check(loop: asyncio.AbstractEventLoop) -> None:
        begun.append(loop.time())
        for n in range(5):
            call_soon(loop, lambda n=n: called.append((n, loop.time())), loop.time())  # type: ignore[misc]

    for _ in range(2):  # each in a loop of its own
        called.clear()
        _in_a_loop(check, SECONDS * 4)
        assert [n for n, _ in called] == [*range(5)]
        assert all(at - begun[-1] >= SECONDS for _, at in called)


def test_what_is_over_is_neither_called_nor_held() -> None:
    class Request:
        def late(self) -> None:
            raise AssertionError

    held: list[weakref.ref[Request]] = []

    def check(loop: asyncio.AbstractEventLoop) -> None:
        request = Request()
        held.append(weakref.ref(request))
        call_soon(loop, request.late, loop.time()).cancel()
        del request
        gc.collect()
        assert held[0]() is None

    _in_a_loop(check)


def test_what_comes_later_is_called_in_its_own_time() -> None:
    async def go() -> None:
        loop = asyncio.get_running_loop()
        soon, called = Soon(loop), list[str]()
        soon.call(lambda: called.append("first"), loop.time()).cancel()
        await asyncio.sleep(SECONDS / 2)
        soon.call(lambda: called.append("second"), loop.time())
        await asyncio.sleep(SECONDS * 4)
        assert called == ["second"]

    asyncio.run(go())


def test_one_that_fails_stands_in_nobodys_way() -> None:
    async def go() -> None:
        loop = asyncio.get_running_loop()
        said: list[str] = []
        loop.set_exception_handler(lambda _, told: said.append(str(told["exception"])))

        def fail() -> None:
            raise ValueError("odd")

        soon = Soon(loop)
        soon.call(fail, loop.time())
        soon.call(lambda: said.append("called"), loop.time())
        await asyncio.sleep(SECONDS * 4)
        assert said == ["odd", "called"]

    asyncio.run(go())


@pytest.mark.parametrize("many", [1, 1000])
def test_many_share_a_timer(many: int) -> None:
    async def go() -> None:
        loop = asyncio.get_running_loop()
        soon, called = Soon(loop), list[int]()
        before = len(loop._scheduled)  # type: ignore[attr-defined]
        for n in range(many):
            soon.call(lambda n=n: called.append(n), loop.time())  # type: ignore[misc]
        assert len(loop._scheduled) == before + 1  # type: ignore[attr-defined]
        await asyncio.sleep(SECONDS * 4)
        assert called == [*range(many)]

    asyncio.run(go())
