"""What the gateway adds inside the process, beside what it adds as a server: `python -m bench.transport [--write]`.

One client of httpx2 asks a model server on loopback: straight, through the gateway in a process of its own, and through
`dragoman.transport` in the client's process.  The three are asked in turn, request by request, so that whatever else
the machine does meets all of them alike; what is added is the median of the differences to the straight request of the
same turn.  A request carries ten tools; streams have 200 chunks.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import httpx2

import dragoman

from .load.__main__ import ASKED, ours
from .load.servers import CHUNKS
from .table import machine, publish, table

WARM = 30
PATHS = ("straight", "gateway", "in process")


def body_of(*, stream: bool) -> bytes:
    """The request."""
    return json.dumps({**ASKED, "stream": stream}).encode()


def _check(url: str, status: int, said: bytes, *, stream: bool) -> None:
    if status != 200 or (stream and said.count(b"word ") < CHUNKS):
        raise SystemExit(f"{url} answered {status}: {said[:300]!r}")


def synchronous(places: Sequence[tuple[str, Any]], rounds: int, *, stream: bool) -> list[list[float]]:
    """Seconds of each request, for each place, asked one after the other."""
    body, took = body_of(stream=stream), [[] for _ in places]  # type: list[list[float]]
    headers = {"content-type": "application/json"}
    with contextlib.ExitStack() as stack:
        clients = [(url, stack.enter_context(httpx2.Client(transport=made))) for url, made in places]
        for number in range(rounds + WARM):
            for at, (url, client) in enumerate(clients):
                begun = time.perf_counter()
                with client.stream("POST", f"{url}/v1/chat/completions", content=body, headers=headers) as answer:
                    said = b"".join(answer.iter_raw())
                spent = time.perf_counter() - begun
                _check(url, answer.status_code, said, stream=stream)
                if number >= WARM:
                    took[at].append(spent)
    return took


def asynchronous(places: Sequence[tuple[str, Any]], rounds: int, *, stream: bool) -> list[list[float]]:
    """The same, awaited."""
    return asyncio.run(_asynchronous(places, rounds, stream=stream))


async def _asynchronous(places: Sequence[tuple[str, Any]], rounds: int, *, stream: bool) -> list[list[float]]:
    body, took = body_of(stream=stream), [[] for _ in places]  # type: list[list[float]]
    headers = {"content-type": "application/json"}
    async with contextlib.AsyncExitStack() as stack:
        clients = [(url, await stack.enter_async_context(httpx2.AsyncClient(transport=made))) for url, made in places]
        for number in range(rounds + WARM):
            for at, (url, client) in enumerate(clients):
                begun = time.perf_counter()
                async with client.stream("POST", f"{url}/v1/chat/completions", content=body, headers=headers) as answer:
                    said = b"".join([piece async for piece in answer.aiter_raw()])
                spent = time.perf_counter() - begun
                _check(url, answer.status_code, said, stream=stream)
                if number >= WARM:
                    took[at].append(spent)
    return took


WAYS: dict[str, Callable[..., list[list[float]]]] = {"Client": synchronous, "AsyncClient": asynchronous}


def rows_of(client: str, took: list[list[float]], *, stream: bool) -> list[list[str]]:
    """One line for each path."""
    straight, served, inside = took
    added = [
        statistics.median(one - other for one, other in zip(each, straight, strict=True)) for each in (served, inside)
    ]
    share = [1.0, added[1] / added[0]]
    kind = "stream" if stream else "whole"
    lines = [[kind, client, PATHS[0], f"{statistics.median(straight) * 1000:.2f}", "", ""]]
    for name, each, more, part in zip(PATHS[1:], (served, inside), added, share, strict=True):
        median = statistics.median(each)
        lines.append([kind, client, name, f"{median * 1000:.2f}", f"{more * 1000:+.2f}", f"{part:.2f}"])
    return lines


def main() -> None:
    """Measure, print, and write where that is asked for."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=400)
    options.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    chosen = options.parse_args()
    rows: list[list[str]] = []
    with ours("upstream", "-") as upstream, ours("dragoman", upstream) as gateway:
        rows_up = {"up": {"base_url": f"{upstream}/v1"}}
        settings = {"providers": rows_up, "default": {"route": "up"}, "server": {"metrics": False}}
        for stream in (False, True):
            rounds = chosen.rounds // (4 if stream else 1)
            for client, ask in WAYS.items():
                inside = dragoman.transport(settings, environ={})
                places = [(upstream, None), (gateway, None), ("http://in.process", inside)]
                rows += rows_of(client, ask(places, rounds, stream=stream), stream=stream)
                print(*rows[-3:], sep="\n", flush=True)
    head = ["answer", "client", "through", "p50 ms", "added ms", "of the gateway's"]
    note = f"{machine()}, 2 cores for all; {chosen.rounds} rounds, a quarter of them for streams."
    text = f"{table(head, rows)}\n\n{note}"
    print(text)
    if chosen.write:
        publish("transport", text)


if __name__ == "__main__":
    main()
