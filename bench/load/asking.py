"""Clients of a load test: what a server spends on what they ask, by its own account."""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import NamedTuple

import aiohttp

from .processes import Server
from .said import Question

HEADERS = {
    "content-type": "application/json",
    "authorization": "Bearer none",
    "x-api-key": "none",
    "anthropic-version": "2023-06-01",
}


class Cost(NamedTuple):
    """Of so many answers: seconds of the server's CPU for each, how many came each second, the median's seconds."""

    cpu: float
    rate: float
    median: float


async def ask(
    server: Server, api: str, question: Question, *, count: int, at_once: int, seconds: float = 0.0
) -> Cost:
    """Ask `count` times, or for `seconds`; first once for each client, which is not measured."""
    took: list[float] = []
    numbers = iter(range(10**9))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one() -> None:
            number = next(numbers) % 100
            begun = time.perf_counter()
            url, data = f"{server.url}{question.path(api)}", question.body(api, number)
            async with session.post(url, data=data, headers=HEADERS) as answer:
                said = await answer.read()
                if answer.status != 200 or len(said) < 100 or b'"error":{' in said:
                    raise SystemExit(f"{server.url} answered {answer.status}: {said[:400]!r}")
            took.append(time.perf_counter() - begun)

        async def client(left: list[int], end: float) -> None:
            while left if not end else time.perf_counter() < end:
                if not end:
                    left.pop()
                await one()

        await asyncio.gather(*(one() for _ in range(at_once)))
        took.clear()
        before, begun = server.cpu(), time.perf_counter()
        left, end = [0] * count, begun + seconds if seconds else 0.0
        await asyncio.gather(*(client(left, end) for _ in range(at_once)))
        lasted = time.perf_counter() - begun
        await asyncio.sleep(0.02)  # what ends behind the last answer belongs to it
        return Cost((server.cpu() - before) / len(took), len(took) / lasted, statistics.median(took))


def per_request(server: Server, api: str, question: Question, *, count: int, at_once: int = 8) -> Cost:
    """What a request costs."""
    return asyncio.run(ask(server, api, question, count=count, at_once=at_once))


def per_chunk(server: Server, api: str, manner: str, *, count: int, few: int, many: int, at_once: int = 8) -> float:
    """Seconds of CPU that one more chunk costs: answers of many chunks less answers of few, in turns."""
    costs = {few: 0.0, many: 0.0}
    for _ in range(2):
        for chunks in costs:
            question = Question(f"{manner}-{chunks}", stream=True)
            costs[chunks] += asyncio.run(ask(server, api, question, count=count, at_once=at_once)).cpu / 2
    return (costs[many] - costs[few]) / (many - few)


def held(server: Server, api: str, streams: int, seconds: float = 4.0) -> float:
    """Bytes of memory that one more open stream holds, with so many of them open, each slow."""

    async def hold() -> float:
        question = Question(f"text-{int(seconds * 500)}-50", stream=True)
        body = question.body(api, 0)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), read_bufsize=2**12) as session:
            before = 0.0
            opened: list[aiohttp.ClientResponse] = []

            async def one() -> None:
                answer = await session.post(f"{server.url}{question.path(api)}", data=body, headers=HEADERS)
                await answer.content.readany()
                opened.append(answer)

            await asyncio.gather(*(one() for _ in range(20)))
            before = server.memory()
            for begun in range(0, streams, 50):
                await asyncio.gather(*(one() for _ in range(min(50, streams - begun))))
            await asyncio.sleep(seconds)
            more = server.memory() - before
            for answer in opened:
                answer.close()
            return more / streams

    return asyncio.run(hold())
