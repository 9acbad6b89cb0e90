"""What the gateway adds inside the process, beside what it adds as a server: `python -m bench.transport [--write]`.

One client of httpx2 asks a model server on loopback: straight, through `dragoman serve`, and through
`dragoman.transport` in its own process.  The three are asked in turn, a few requests each, so that whatever else the
machine does meets all alike.  Added time is the median of the differences to the straight requests of the same turn;
added CPU is what client and gateway spend together more than the client alone.  A request carries ten tools; streams
have 200 chunks, said at once or 2 ms apart.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2

import dragoman

from .load.__main__ import CHAT, gateway, ours
from .load.processes import Server, ran
from .load.said import Question
from .table import machine, publish, table

IN_TURN = 5
"""Requests one after the other through the same path; the first warms caches of the machine and is not counted."""
WARM = 4
ASKED = {
    "whole": (Question("text"), 1),
    "stream": (Question("text-0-200", stream=True), 4),
    "stream, 2 ms apart": (Question("text-2-200", stream=True), 16),
}
"""What is asked, and by how much fewer turns than a whole answer."""


@dataclass(slots=True)
class Path:
    """One way to the model: a client's transport, the address it asks, the server it passes; what was measured."""

    name: str
    url: str
    transport: Any = None
    server: Server | None = None
    took: list[float] = field(default_factory=list)
    cpu: float = 0.0
    asked: int = 0

    def spent(self) -> float:
        """Seconds of CPU so far, of this process and of the server it passes."""
        return ran(os.getpid()) + (self.server.cpu() if self.server is not None else 0.0)

    @contextlib.contextmanager
    def turn(self, *, counts: bool) -> Iterator[list[float]]:
        """Its turn: whoever asks writes down how long each answer took."""
        took: list[float] = []
        before = self.spent()
        yield took
        if counts:
            self.cpu += self.spent() - before
            self.asked += len(took)
            self.took.append(statistics.median(took[1:]))


def _check(path: Path, status: int, said: bytes) -> None:
    if status != 200 or len(said) < 100 or b'"error":{' in said:
        raise SystemExit(f"{path.url} answered {status}: {said[:300]!r}")


def synchronous(paths: Sequence[Path], question: Question, turns: int) -> None:
    """Ask, one after the other."""
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(httpx2.Client(transport=path.transport)) for path in paths]
        for turn in range(turns + WARM):
            for path, client in zip(paths, clients, strict=True):
                with path.turn(counts=turn >= WARM) as took:
                    for number in range(IN_TURN):
                        url, body = path.url + question.path(CHAT), question.body(CHAT, number)
                        begun = time.perf_counter()
                        with client.stream("POST", url, content=body) as answer:
                            said = b"".join(answer.iter_raw())
                        took.append(time.perf_counter() - begun)
                        _check(path, answer.status_code, said)


def asynchronous(paths: Sequence[Path], question: Question, turns: int) -> None:
    """The same, awaited."""
    asyncio.run(_asynchronous(paths, question, turns))


async def _asynchronous(paths: Sequence[Path], question: Question, turns: int) -> None:
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(httpx2.AsyncClient(transport=path.transport)) for path in paths]
        for turn in range(turns + WARM):
            for path, client in zip(paths, clients, strict=True):
                with path.turn(counts=turn >= WARM) as took:
                    for number in range(IN_TURN):
                        url, body = path.url + question.path(CHAT), question.body(CHAT, number)
                        begun = time.perf_counter()
                        async with client.stream("POST", url, content=body) as answer:
                            said = b"".join([piece async for piece in answer.aiter_raw()])
                        took.append(time.perf_counter() - begun)
                        _check(path, answer.status_code, said)


def rows_of(kind: str, client: str, paths: Sequence[Path]) -> list[list[str]]:
    """One line for each path."""
    straight, *others = paths
    lines = [[kind, client, straight.name, f"{statistics.median(straight.took) * 1000:.2f}", "", "", "", ""]]
    first: tuple[float, float] | None = None
    for path in others:
        added = statistics.median(one - other for one, other in zip(path.took, straight.took, strict=True))
        cpu = path.cpu / path.asked - straight.cpu / straight.asked
        first = first or (added, cpu)
        shown = [f"{statistics.median(path.took) * 1000:.2f}", f"{added * 1000:+.2f}", f"{added / first[0]:.2f}"]
        lines.append([kind, client, path.name, *shown, f"{cpu * 1000:+.2f}", f"{cpu / first[1]:.2f}"])
    return lines


def main() -> None:
    """Measure, print, and write where that is asked for."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--turns", type=int, default=160)
    options.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    chosen = options.parse_args()
    rows: list[list[str]] = []
    with ours("upstream", "-") as upstream, gateway(upstream.url, CHAT, "native") as server:
        for kind, (question, fewer) in ASKED.items():
            for client, ask in {"Client": synchronous, "AsyncClient": asynchronous}.items():
                inside = dragoman.transport(
                    upstream=f"{upstream.url}/v1", upstream_api=CHAT, tools="native", environ={}
                )
                paths = [
                    Path("straight", upstream.url),
                    Path("`dragoman serve`", server.url, server=server),
                    Path("`dragoman.transport`", "http://in.process", inside),
                ]
                ask(paths, question, max(chosen.turns // fewer, 3))
                rows += rows_of(kind, client, paths)
                print(*rows[-3:], sep="\n", flush=True)
    head = ["answer", "client", "through", "ms", "added ms", "of the server's", "added CPU ms", "of the server's"]
    note = f"{machine()}, 2 cores for all; {chosen.turns} turns of {IN_TURN} requests, fewer for streams; medians."
    text = f"{table(head, rows)}\n\n{note}"
    print(text)
    if chosen.write:
        publish("transport", text)


if __name__ == "__main__":
    main()
