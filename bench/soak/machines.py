"""Two gateways over one Redis, where everything happens: `python -m bench.soak.machines [--minutes N] [--write]`.

Clients ask three APIs, whole and streamed, and refer at the other gateway to what they were told; the model errs, its
server refuses, garbles, resets and is slow; a worker is killed every `--kill-every` seconds, the store stands still or
begins anew every `--store-every`.  What must hold, else it ends with 1: nothing is stuck, every answer is explained
(`outcomes.py`), no log has a traceback, memory and files of the workers that live on are flat, and a key has all its
requests at the same time again at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from ..load.processes import PAGE, PATIENCE, _wait, free_port, process
from ..table import machine, publish, table
from .asking import Ended, ask
from .disasters import Gateway, Store
from .outcomes import Outcomes

SETTINGS = """
[server]
port = {port}
workers = 2
state = "{state}"
namespace = "soak"
state_timeout = {patience}
[limits]
max_concurrent = 512
[[keys]]
name = "alice"
key = "${{ALICE}}"
[[keys]]
name = "bob"
key = "${{BOB}}"
max_concurrent = 8
[providers.lab]
base_url = "{upstream}/v1"
tools = "text"
[default]
route = "lab/weak+errors=0.035"
"""
KEYS = {"ALICE": "key-of-alice", "BOB": "key-of-bob"}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get_weather", "description": "Weather.", "parameters": SCHEMA}
MESSAGES = [{"role": "user", "content": "What is the weather in Oslo and Paris?"}]
MODEL = "weak"
ASKED: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": MESSAGES, "tools": [{"type": "function", "function": FUNCTION}]},
    "/v1/messages": {
        "messages": MESSAGES,
        "max_tokens": 2000,
        "tools": [{"name": "get_weather", "input_schema": SCHEMA}],
    },
    "/v1/responses": {"input": MESSAGES, "tools": [{"type": "function", **FUNCTION}]},
}
HANG_UPS, BOBS, FOLLOW_UPS = 0.05, 0.15, 0.7
STUCK = 120.0
THINK = 1.5
REST = 20.0
"""Seconds after which connections that nobody uses are closed."""
EVERY, WARM = 2.0, 60.0
"""Seconds between two looks at the workers, and until they have imported and cached what they will."""
GROWTH, SLACK, FILES = 0.10, 3e6, 12
"""How much more memory and how many more files a worker may hold in the last third than in the first."""


class Clients:
    """What they ask, and what became of it."""

    def __init__(self, outcomes: Outcomes, seed: int) -> None:
        self._outcomes, self._luck = outcomes, Random(seed)
        self.ends: Counter[str] = Counter()
        self.slowest = 0.0

    async def one(self) -> None:
        """One request, and one that refers to its answer at the other gateway."""
        luck, urls = self._luck, list(self._outcomes.gateways)
        luck.shuffle(urls)
        path = luck.choice(list(ASKED))
        key = "bob" if luck.random() < BOBS else "alice"
        leave = luck.randrange(1, 6) if luck.random() < HANG_UPS else -1
        ended = await self._ask(urls[0], key, path, {**ASKED[path], "stream": luck.random() < 0.5}, leave=leave)
        if path == "/v1/responses" and luck.random() < FOLLOW_UPS and (name := _response(ended)):
            body = {**ASKED[path], "previous_response_id": name}
            await self._ask(urls[1], key, path, body, said=ended)

    async def _ask(
        self, url: str, key: str, path: str, body: dict[str, Any], *, leave: int = -1, said: Ended | None = None
    ) -> Ended:
        headers = {"authorization": f"Bearer key-of-{key}"}
        asked = {"model": MODEL, **body}
        ended = await ask(url, path, asked, headers, patience=STUCK, leave_after=leave)
        name = self._outcomes.name(url, key, ended, said)
        self.ends[f"followed up: {name}" if said is not None and name[0].islower() else name] += 1
        self.slowest = max(self.slowest, ended.ended - ended.begun)
        if name[0].isupper():
            print(f"{name} {path} {ended.body[:300]!r}", file=sys.stderr, flush=True)
        return ended

    async def all_leases(self, url: str, most: int) -> bool:
        """Whether bob gets as many requests at the same time as he may."""
        path = "/v1/chat/completions"
        asking = [
            ask(url, path, {"model": MODEL, **ASKED[path]}, {"authorization": "Bearer key-of-bob"}, patience=STUCK)
            for _ in range(most)
        ]
        return all(b"this key may have" not in one.body for one in await asyncio.gather(*asking))


def _response(ended: Ended) -> str:
    """The response that was said, "" where none was to its end."""
    if not ended.whole or ended.status != 200:
        return ""
    if "event-stream" not in ended.headers.get("content-type", ""):
        return str(ended.value().get("id") or "")
    last = (ended.events() or [{}])[-1]
    return str(last["response"]["id"]) if last.get("type") == "response.completed" else ""


class Watch:
    """Memory and files of the workers that are never killed."""

    def __init__(self, gateways: Sequence[Gateway]) -> None:
        self._pids = {f"{n + 1}": gateway.workers()[0] for n, gateway in enumerate(gateways)}
        self.seen: dict[str, list[tuple[float, int]]] = defaultdict(list)

        self.idle: list[list[str]] = []

    def look(self) -> None:
        """Note what they hold."""
        for name, pid in self._pids.items():
            self.seen[name].append(_held(pid))

    def look_at_rest(self, when: str) -> None:
        """Note what they hold while nobody asks."""
        held = map(_held, self._pids.values())
        self.idle.append([when, *(word for memory, files in held for word in (f"{memory / 1e6:.1f}", str(files)))])

    def minutes(self) -> str:
        """A table of some ten moments: the medians of a minute each."""
        each = int(60 / EVERY)
        starts = range(0, max(map(len, self.seen.values())), each)
        step = max(1, round(len(starts) / 10))
        rows = []
        for minute, start in list(enumerate(starts))[::step]:
            row = [str(minute)]
            for every in self.seen.values():
                some = every[start : start + each]
                row += [f"{statistics.median(held for held, _ in some) / 1e6:.1f}"]
                row += [f"{statistics.median(count for _, count in some):.0f}"]
            rows.append(row)
        columns = (f"{what}, {name}" for name in self.seen for what in ("MB", "files"))
        return table(("minute", *columns), [*self.idle[:1], *rows, *self.idle[1:]])

    def rows(self) -> tuple[list[list[str]], bool]:
        """A row per worker, and whether all are flat: medians of the last third beside the first's."""
        rows, flat = [], True
        for name, every in self.seen.items():
            seen = every[min(len(every) // 4, int(WARM / EVERY)) :]
            third = len(seen) // 3
            thirds = [seen[:third], seen[third:-third], seen[-third:]]
            memory = [statistics.median(held for held, _ in each) for each in thirds]
            files = [statistics.median(count for _, count in each) for each in thirds]
            rows.append([name, *(f"{each / 1e6:.1f}" for each in memory), *(f"{each:.0f}" for each in files)])
            flat = flat and memory[2] <= memory[0] * (1 + GROWTH) + SLACK and files[2] <= files[0] + FILES
        return rows, flat


def _held(pid: int) -> tuple[float, int]:
    """Bytes and files."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE, len(os.listdir(f"/proc/{pid}/fd"))


async def soak(clients: Clients, gateways: Sequence[Gateway], store: Store, given: argparse.Namespace) -> Watch:
    """Ask, and let things happen, for so long."""
    watch, end = Watch(gateways), time.monotonic() + given.minutes * 60
    watch.look_at_rest("before")

    async def client() -> None:
        luck = Random()
        while time.monotonic() < end:
            await clients.one()
            await asyncio.sleep(luck.uniform(0, 2 * THINK))

    async def kill() -> None:
        for gateway in itertools.cycle(gateways):
            await asyncio.sleep(given.kill_every)
            if time.monotonic() > end:
                return
            gateway.kill()

    async def trouble() -> None:
        for go, come in itertools.cycle([(store.stand_still, store.go_on), (store.vanish, store.come_back)]):
            await asyncio.sleep(given.store_every)
            if time.monotonic() > end:
                return
            go()
            await asyncio.sleep(given.away)
            come()

    async def look() -> None:
        while time.monotonic() < end:
            watch.look()
            await asyncio.sleep(EVERY)

    happening = [asyncio.ensure_future(each) for each in (kill(), trouble(), look())]
    await asyncio.gather(*(client() for _ in range(given.clients)))
    for each in happening:
        each.cancel()
    await asyncio.gather(*happening, return_exceptions=True)
    if store.absences and store.absences[-1][1] == float("inf"):
        (store.go_on if len(store.absences) % 2 else store.come_back)()
    return watch


async def given_back(clients: Clients, gateways: Sequence[Gateway], most: int = 8) -> float:
    """Seconds until bob has all his leases again; infinite where that takes more than they live (30 s) and some."""
    begun = time.monotonic()
    while time.monotonic() - begun < 75:
        if all([await clients.all_leases(gateway.url, most) for gateway in gateways]):
            return time.monotonic() - begun
        await asyncio.sleep(2)
    return float("inf")


@contextlib.contextmanager
def serving(folder: Path, name: str, settings: str, url: str) -> Iterator[Gateway]:
    """A gateway, whose log is `NAME.log`."""
    config, log = folder / f"{name}.toml", folder / f"{name}.log"
    config.write_text(settings, encoding="utf-8")
    environ = {**os.environ, **KEYS, "DRAGOMAN_STATE_KEY": "a secret of this bench"}
    command = [sys.executable, "-m", "dragoman", "serve", "--config", str(config)]
    with log.open("wb") as told, subprocess.Popen(command, stdout=told, stderr=told, env=environ) as running:
        try:
            _wait(url, running)
            gateway, end = Gateway(url, running.pid, log), time.monotonic() + PATIENCE
            while len(gateway.workers()) < 2 and time.monotonic() < end:
                time.sleep(0.2)
            yield gateway
        finally:
            running.terminate()
            try:
                running.wait(40)
            except subprocess.TimeoutExpired:
                running.kill()


def run(given: argparse.Namespace, folder: Path) -> tuple[str, list[str]]:
    """What was seen, and what of it is wrong."""
    store = Store(folder)
    with contextlib.ExitStack() as stack:
        stack.callback(store.end)
        store.start()
        upstream = f"http://127.0.0.1:{free_port()}"
        model = [sys.executable, "-m", "bench.soak.servers", upstream.rpartition(":")[2], "harsh"]
        stack.enter_context(process(model, upstream))
        gateways = []
        for name in ("first", "second"):
            port = free_port()
            settings = SETTINGS.format(port=port, state=store.url, upstream=upstream, patience=given.patience)
            gateways.append(stack.enter_context(serving(folder, name, settings, f"http://127.0.0.1:{port}")))
        clients = Clients(Outcomes({each.url: each for each in gateways}, store), 1)
        watch = asyncio.run(soak(clients, gateways, store, given))
        back = asyncio.run(given_back(clients, gateways))
        time.sleep(REST)
        watch.look_at_rest("idle again")
    rows, flat = watch.rows()
    logs = [(folder / f"{name}.log").read_text(errors="replace") for name in ("first", "second")]
    wrong = [f"{name}: {count}" for name, count in clients.ends.items() if name[0].isupper()]
    wrong += ["memory or files grew"] * (not flat) + ["leases were not given back"] * (back == float("inf"))
    if tracebacks := sum(log.count("Traceback") for log in logs):
        wrong.append(f"{tracebacks} tracebacks in the logs")
        print("\n".join(log[max(0, log.find("Traceback") - 500) :][:6000] for log in logs), file=sys.stderr)
    told = "; ".join(f"{name} {count:,}" for name, count in clients.ends.most_common())
    killed, absences = sum(each.killed for each in gateways), len(store.absences)
    text = (
        f"{given.minutes:g} minutes, {given.clients} clients, 2 gateways of 2 workers; {machine()}.  "
        f"{clients.ends.total():,} requests: {told}.  Workers killed {killed}, store away {absences} times "
        f"({len(store.restarts)} of them emptied); slowest answer {clients.slowest:.1f} s; all leases back after "
        f"{back:.0f} s; log lines {sum(log.count(chr(10)) for log in logs):,}.\n\n"
    )
    thirds = [f"{what}, {n} third" for what in ("MB", "files") for n in ("first", "second", "last")]
    return f"{text}{table(('oldest worker of gateway', *thirds), rows)}\n\n{watch.minutes()}", wrong


def main(argv: Sequence[str] | None = None) -> int:
    """Soak, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--kill-every", type=float, default=13.0)
    parser.add_argument("--store-every", type=float, default=30.0)
    parser.add_argument("--patience", type=float, default=0.5, help="`state_timeout`; more on a busy machine")
    parser.add_argument("--away", type=float, default=4.0)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--keep", type=Path, help="a folder for settings and logs; it stays")
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        text, wrong = run(given, given.keep or Path(folder))
    print(text, *(f"WRONG: {each}" for each in wrong), sep="\n")
    if given.write and not wrong:
        publish("soak_machines", text)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
