"""A request is served in the task that it came in; only what takes a moment is watched, and nothing is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from dragoman.codecs.shared.frames import KEEP_ALIVE
from dragoman.effects import Close, Effect, Machine, Read
from dragoman.gateway.exchange import Exchange, Head
from dragoman.gateway.http.asgi import AT_ONCE, _Out, run_exchange
from tests.support.asgi import Client
from tests.support.clocks import run_virtually


class Waits:
    """An exchange that reads once and says so; `read` is set once it waits, `ended` once it was let go of."""

    pings = committed = False

    def __init__(self, seconds: float) -> None:
        self.seconds, self.reading, self.failed = seconds, asyncio.Event(), 0
        self.closed = self.cut = False

    def steps(self) -> Machine[None]:
        try:
            data: bytes = yield Read()
        except GeneratorExit:
            self.cut = True
            raise
        yield Head(200, {"content-length": str(len(data))})
        yield data

    def fail(self, error: Exception) -> Any:
        self.failed += 1
        yield Head(504, {"content-length": "4"})
        yield b"late"

    async def perform(self, effect: Effect) -> Any:
        if isinstance(effect, Close):
            self.closed = True
            return None
        self.reading.set()
        await asyncio.sleep(self.seconds)
        return b"answer"


def served(exchange: Any, limit: float = 0.0) -> Callable[..., Coroutine[Any, Any, None]]:
    """An application that serves this exchange, and nothing else."""

    async def app(_: Any, receive: Any, send: Any) -> None:
        await receive()
        same: Exchange = exchange
        await run_exchange(same, exchange.perform, receive, send, keep_alive=15.0, seconds=limit)

    return app


LENGTHS = pytest.mark.parametrize("seconds", [0.0, AT_ONCE / 2, 100.0])


@LENGTHS
def test_an_answer_is_sent_and_no_task_is_left(seconds: float) -> None:
    async def go() -> None:
        exchange = Waits(seconds)
        reply = await Client(served(exchange), "/").run()
        assert (reply.status, reply.body, reply.ended) == (200, b"answer", True)
        assert exchange.closed
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_virtually(go())


def test_nothing_runs_beside_a_short_answer_and_one_task_beside_a_long_one() -> None:
    async def go() -> None:
        for seconds, beside in ((AT_ONCE / 2, 0), (100.0, 1)):
            exchange = Waits(seconds)
            running = asyncio.ensure_future(Client(served(exchange), "/").run())
            await asyncio.sleep(seconds * 0.9)
            assert len(asyncio.all_tasks()) == 2 + beside
            await running

    run_virtually(go())


@pytest.mark.parametrize("after", [0.0, AT_ONCE / 2, 10.0])
def test_who_hangs_up_is_waited_for_no_longer_and_the_task_goes_on(after: float) -> None:
    async def go() -> None:
        exchange = Waits(1000.0)
        client = Client(served(exchange), "/")
        begun = asyncio.get_running_loop().time()

        async def serve() -> str:
            await client.run()
            await asyncio.sleep(1)  # what comes behind is not cancelled
            return "went on"

        running = asyncio.ensure_future(serve())
        await exchange.reading.wait()
        await asyncio.sleep(after)
        client.hang_up()
        assert await running == "went on"
        assert exchange.closed
        assert exchange.cut
        assert running.cancelling() == 0
        assert asyncio.get_running_loop().time() - begun < after + AT_ONCE + 2

    run_virtually(go())


@LENGTHS
def test_what_is_cancelled_from_outside_stays_cancelled(seconds: float) -> None:
    async def go() -> None:
        exchange = Waits(1000.0)
        client = Client(served(exchange), "/")
        running = asyncio.ensure_future(client.run())
        await exchange.reading.wait()
        await asyncio.sleep(seconds)
        client.hang_up()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert exchange.closed
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_virtually(go())


class Whole(Waits):
    """One that fails when it is to stream, and has something to let go of after its answer."""

    pings = True

    def commit(self) -> Head:
        self.committed = True
        return Head(200, {"content-type": "text/event-stream"})


HEADS = {"whole": {"content-length": "6"}, "a stream": {"content-type": "text/event-stream"}}


@pytest.mark.parametrize("name", HEADS)
def test_no_sign_of_life_comes_behind_the_end(name: str) -> None:
    """It may be due in the moment in which the answer is there, which then takes a moment to end."""

    async def go() -> None:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            assert sent[-1:] == [] or sent[-1].get("more_body", True), "uvicorn takes nothing more"
            sent.append(message)

        out, exchange = _Out(send), Whole(0.0)
        same: Any = exchange
        await out.start(Head(200, HEADS[name]))
        await out.ping(same)
        await out.body(b"answer")
        await out.end()
        await out.ping(same)
        body = b"".join(message.get("body", b"") for message in sent)
        assert body == (b"answer" if name == "whole" else KEEP_ALIVE + b"answer")

    run_virtually(go())


@pytest.mark.parametrize("limit", [AT_ONCE / 2, 10.0])
def test_what_takes_too_long_is_ended_and_answered_once(limit: float) -> None:
    async def go() -> None:
        exchange = Waits(1000.0)
        reply = await Client(served(exchange, limit), "/").run()
        assert (reply.status, reply.body, reply.ended) == (504, b"late", True)
        assert exchange.failed == 1
        assert exchange.closed
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_virtually(go())
