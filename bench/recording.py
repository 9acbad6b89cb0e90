"""What recording adds to a request, in process: `python -m bench.recording [--rounds N] [--postgres URL] [--write]`.

The application is asked directly over an upstream in memory, with nobody recording, without content and with content,
by turns in short rounds, each until all that was recorded is written: CPU time of the whole process, the writer's
thread and the database's driver included, and Python calls, those of the writer's thread apart.  Conversations grow by
a turn with every request, as an agent's do, and none comes twice.  `bench.load --only recordings` asks over sockets.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.inspector.storing import StoringRecorder
from dragoman.gateway.process.collecting import collect_less
from dragoman.gateway.recordings.store import open_store
from dragoman.gateway.recordings.writer import LINGER, Writer
from dragoman.gateway.telemetry.exchange_record import Observer
from dragoman.gateway.telemetry.metrics import Metrics
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import Answer, ScriptedPeer

from .load.said import stream
from .request import ANSWER, ask, exchange, tools
from .table import machine, publish, table

CHAT = "openai_chat"
HEADERS = {
    "host": "gateway.example:4242",
    "accept": "application/json",
    "accept-encoding": "gzip, deflate",
    "authorization": "Bearer sk-a-key-of-the-client-0123456789",
    "content-type": "application/json",
    "user-agent": "OpenAI/Python 2.8.1",
    "x-stainless-arch": "x64",
    "x-stainless-async": "false",
    "x-stainless-lang": "python",
    "x-stainless-os": "Linux",
    "x-stainless-package-version": "2.8.1",
    "x-stainless-retry-count": "0",
    "x-stainless-runtime": "CPython",
    "x-stainless-runtime-version": "3.12.3",
}
"""Of a request of OpenAI's library."""
GIVEN = {"content-type": "application/json", "date": "Mon, 23 Nov 2026 08:00:00 GMT", "server": "uvicorn"}
TURNS, CONVERSATIONS = 10, 12
"""Requests of one conversation, and conversations of a round."""
CHUNKS = 100
CASES = {
    "1 message": (0, 0),
    "11 messages": (10, 0),
    "101 messages": (100, 0),
    f"11 messages, {CHUNKS} chunks": (10, CHUNKS),
}
"""Messages of a conversation before its first request here, and chunks of each answer (0: it comes whole)."""
NOBODY, BARE, CONTENT = "nobody", "without content", "with content"


def bodies(history: int, chunks: int, numbers: Iterator[int], turns: int = TURNS) -> Iterator[bytes]:
    """The requests of a new conversation; with no history each is a conversation of its own."""
    rows = tools(10)
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        if not turn or not history:
            number = next(numbers)
            messages = [{"role": "user", "content": f"Conversation {number}: read the files, one by one."}]
            messages += [message for n in range(history // 2) for message in _exchange(number, n)]
        yield json.dumps({"model": "m", "messages": messages, "tools": rows, "stream": bool(chunks)}).encode()
        messages = [*messages, *_exchange(number, history // 2 + turn)]


def _exchange(number: int, n: int) -> list[dict[str, Any]]:
    """The n-th turn of a conversation, whose words are no other's."""
    call, result = exchange(n)
    return [call, {**result, "content": f"{number}.{result['content']}"}]


def answer(chunks: int) -> Answer:
    """What the model says; it counts as many tokens as the tools take."""
    if not chunks:
        return Answer((ANSWER,), headers=GIVEN)
    few, many = b'"prompt_tokens":20', b'"prompt_tokens":250000'
    counted = [frame.replace(few, many) for frame in stream(CHAT, "text", chunks)]
    return Answer(tuple(counted), headers={**GIVEN, "content-type": "text/event-stream"})


class Served:
    """A gateway that is recorded in this way, or by nobody, and what its requests cost."""

    def __init__(self, how: str, chunks: int, url: str, numbers: Iterator[int], *, begin: bool = True) -> None:
        self.how, self._chunks, self._numbers, self._offered = how, chunks, numbers, 0
        self.recorder: StoringRecorder | None = None
        if how != NOBODY:
            self.recorder = StoringRecorder(Writer(open_store(url)), open_store(url), content=how == CONTENT)
            if begin:
                self.recorder.open()
        given = answer(chunks)
        route = Route(provider=COMPATIBLE[CHAT], base_url="http://u", key="sk-a-key-of-the-gateway-0123456789")
        observers: list[Observer] = [Metrics(), *([self.recorder] if self.recorder is not None else [])]
        self._app = create_app(GatewayConfig(default=route), ScriptedPeer(lambda _: given), observers=observers)

    def round(self, history: int) -> float:
        """Seconds of CPU of a request, until what was recorded is written."""
        asked = [body for _ in range(CONVERSATIONS) for body in bodies(history, self._chunks, self._numbers)]
        begun = time.process_time()
        self.serve(asked)
        self.settle()
        return (time.process_time() - begun) / len(asked)

    def serve(self, asked: Sequence[bytes]) -> None:
        """Answer these, one behind the other."""

        async def all_of_them() -> None:
            for body in asked:
                await ask(self._app, body, HEADERS)

        asyncio.run(all_of_them())
        self._offered += len(asked)

    def settle(self) -> None:
        """Wait until what was recorded is written; as long where nothing is."""
        time.sleep(1.5 * LINGER)
        while self.recorder is not None and self.recorder.writer.written < self._offered:
            if self.recorder.writer.dropped:
                raise SystemExit(f"dropped {self.recorder.writer.dropped}: what was measured is not what it costs")
            time.sleep(LINGER / 4)

    def close(self) -> None:
        """Let go of the store."""
        if self.recorder is not None:
            self.recorder.close()


# ── calls ────────────────────────────────────────────────────────────────────


class Counting:
    """Python and C calls: of this thread once it is `on`, and of threads that begin while it is open."""

    def __init__(self) -> None:
        self.here = self.beside = 0

    def __enter__(self) -> Counting:
        threading.setprofile(self._beside)
        return self

    def on(self) -> None:
        """Count from now on."""
        self.beside = 0
        sys.setprofile(self._here)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _here(self, _: FrameType, event: str, __: object) -> None:
        self.here += event in {"call", "c_call"}

    def _beside(self, _: FrameType, event: str, __: object) -> None:
        self.beside += event in {"call", "c_call"}


def calls(how: str, history: int, chunks: int, url: str, numbers: Iterator[int]) -> tuple[int, int]:
    """Calls of one of the last requests of a conversation, on its way and in the writer's thread."""
    warm = TURNS // 2
    with Counting() as counted:
        served = Served(how, chunks, url, numbers)
        served.round(history)
        asked = list(bodies(history, chunks, numbers))
        served.serve(asked[:warm])
        served.settle()
        counted.on()
        served.serve(asked[warm:])
        sys.setprofile(None)
        served.settle()
        served.close()
    return counted.here // (TURNS - warm), counted.beside // (TURNS - warm)


# ── the table ────────────────────────────────────────────────────────────────


def costs(history: int, chunks: int, url: Callable[[], str], numbers: Iterator[int], rounds: int) -> dict[str, Any]:
    """Seconds of CPU of a request in each round, by how it is recorded."""
    gateways = [Served(how, chunks, url(), numbers) for how in (NOBODY, BARE, CONTENT)]
    found: dict[str, list[float]] = {served.how: [] for served in gateways}
    for n in range(rounds + 1):
        for served in gateways[:: 1 if n % 2 else -1]:
            found[served.how].append(served.round(history))
    for served in gateways:
        served.close()
    return {how: took[1:] for how, took in found.items()}


def rows(stores: dict[str, Callable[[], str]], rounds: int) -> Iterator[list[str]]:
    """The lines of the table."""
    numbers = iter(range(10**9))
    for case, (history, chunks) in CASES.items():
        for store, url in stores.items():
            found = costs(history, chunks, url, numbers, rounds)
            for how in (NOBODY, BARE, CONTENT) if store == next(iter(stores)) else (BARE, CONTENT):
                more, took = min(found[how]) / min(found[NOBODY]) - 1, f"{min(found[how]) * 1e6:,.0f}"
                here, beside = calls(how, history, chunks, url(), numbers)
                where = ["", "", "nowhere"] if how == NOBODY else [f"{more:+.1%}", store, how]
                yield [case, *where[:0:-1], took, where[0], f"{here:,}", f"{beside:,}"]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=17)
    parser.add_argument("--postgres", default="", help="an empty database to record in, beside SQLite")
    parser.add_argument("--write", action="store_true")
    given: Any = parser.parse_args(argv)
    collect_less()  # as a process that serves does
    with tempfile.TemporaryDirectory() as folder:
        files = (str(Path(folder) / f"{n}.sqlite") for n in range(10**9))
        stores: dict[str, Callable[[], str]] = {"SQLite": lambda: next(files)}
        if given.postgres:
            stores["PostgreSQL"] = lambda: given.postgres
        lines = []
        for line in rows(stores, given.rounds):
            lines.append(line)
            print(*line, sep="\t", file=sys.stderr, flush=True)
    head = ["request", "recorded", "in", "CPU µs", "more", "calls on its way", "calls of the writer"]
    note = f"The least of {given.rounds} rounds of {CONVERSATIONS * TURNS} requests, by turns."
    text = f"{table(head, lines)}\n\n{machine()}.  {note}"
    publish("recording", text) if given.write else print(text)


if __name__ == "__main__":
    main()
