"""What the gateway costs beside its peers: `python -m bench.load [--litellm COMMAND] [--only PART,…] [--write]`.

The command `dragoman serve`, as it is installed, in a process of its own; beside it, in the same run, a bare Starlette
and aiohttp pass-through that reads nothing, and LiteLLM's proxy, where its command is given.  Measured is what each
server's own process spends (CPU, by the kernel's account): two cores that clients and model share with them say little
about speed.  Requests with histories and tool sets that grow, to a model with tools of its own and to one without;
streams in pieces as tokenizers cut them, as fast as they go and paced, on every API and across; memory of open streams.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from ..table import machine, publish, table
from .asking import Cost, held, per_chunk, per_request
from .processes import Server, free_port, process, ran
from .said import PATHS, Question

CHAT = "openai_chat"
THROUGH, OURS, WORDS, LITELLM = "pass-through", "dragoman", "dragoman, text-only model", "LiteLLM proxy"
SIZES = [(1, 10), (101, 10), (1001, 10), (1, 500), (1, 2000)]
"""Messages and tools of a request."""
SAID = {
    "text": "prose and Markdown",
    "plain": "prose without signs",
    "thought": "reasoning",
    "call": "a native call's arguments",
    "counted": "prose and Markdown, each chunk with its counts",
}
ACROSS = [("anthropic_messages", CHAT), (CHAT, "anthropic_messages"), ("openai_responses", CHAT)]
FEW, MANY = 50, 850
OPEN = 1000
RECORDINGS, DATABASE, POSTGRES = "DRAGOMAN_RECORDINGS_URL", "BENCH_POSTGRES", "PostgreSQL"
"""Where the gateway records; where this bench finds a database for it, which is left out otherwise."""
WHAT = {"without content": "false", "with content": "true"}
WRITTEN, ROUNDS = 0.6, 9
"""Seconds after which everything recorded is written; how often each gateway is asked, of which the least counts."""
TURNS = 5
"""How often each server is asked, by turns with the others, of which the median counts: one run scatters by a half."""
BUSY = 1.0
"""Seconds of CPU that a process spends only if it serves: those that mind others spend less."""


def ours(name: str, upstream: str) -> contextlib.AbstractContextManager[Server]:
    """A server of `servers.py`."""
    port = free_port()
    command = [sys.executable, "-m", "bench.load.servers", name, str(port), upstream]
    return process(command, f"http://127.0.0.1:{port}")


def gateway(upstream: str, api: str, tools: str, *more: str) -> contextlib.AbstractContextManager[Server]:
    """The installed command, in front of `upstream`."""
    beside = Path(sys.executable).with_name("dragoman")
    command = str(beside) if beside.exists() else shutil.which("dragoman")
    if command is None:
        raise SystemExit("the command `dragoman` is not installed: pip install -e .")
    port, root = free_port(), upstream if api == "ollama_chat" else upstream + ("/v1beta" if api == "gemini" else "/v1")
    options = ["--upstream", root, "--upstream-api", api, "--tools", tools, "--port", str(port), *more]
    return process([command, "serve", *options], f"http://127.0.0.1:{port}")


def litellm(executable: str, upstream: str, folder: Path) -> contextlib.AbstractContextManager[Server]:
    """LiteLLM's proxy in front of the same upstream."""
    port, config = free_port(), folder / "litellm.yaml"
    told = {"model": "openai/*", "api_base": f"{upstream}/v1", "api_key": "none"}
    settings = {"dangerously_permit_weak_or_unset_master_key": True}  # else it does not start without a key
    rows = [{"model_name": "*", "litellm_params": told}]
    config.write_text(json.dumps({"model_list": rows, "general_settings": settings}), encoding="utf-8")
    command = [executable, "--config", str(config), "--port", str(port), "--host", "127.0.0.1"]
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    return process(command, f"http://127.0.0.1:{port}")


class Bench:
    """One run: what is measured is told line by line, and kept."""

    def __init__(self, upstream: str, peers: Mapping[str, Server], *, quick: bool) -> None:
        self._upstream, self._peers, self._quick = upstream, peers, quick

    def _count(self, count: int, name: str) -> int:
        count = count // 4 if self._quick else count
        return max(8, count // 12) if name == LITELLM else count

    # ── requests ─────────────────────────────────────────────────────────────

    def requests(self) -> Iterator[list[str]]:
        """What a request costs, whole answers."""
        with contextlib.ExitStack() as stack:
            native = stack.enter_context(gateway(self._upstream, CHAT, "native"))
            words = stack.enter_context(gateway(self._upstream, CHAT, "text"))
            servers = {**self._peers, OURS: native, WORDS: words}
            for messages, tools in SIZES:
                least = 0.0
                count = 400 if messages * tools <= 10 else 160 if messages < 1000 else 48
                names = [n for n in (THROUGH, OURS, WORDS, LITELLM) if n in servers and (n != LITELLM or tools <= 500)]
                question = Question("text", messages, tools)

                def asked(name: str, question: Question = question, count: int = count) -> Cost:
                    return per_request(servers[name], CHAT, question, count=self._count(count, name))

                for name, cost in by_turns(names, asked):
                    least = least or cost.cpu
                    yield [
                        f"{messages:,}", f"{tools:,}", name, _micro(cost.cpu), f"{cost.cpu / least:.1f}",
                        f"{cost.rate:,.0f}", f"{cost.median * 1000:.1f}",
                    ]  # fmt: skip

    def recordings(self) -> Iterator[list[str]]:
        """What recording adds to a request, written and all; the gateways are asked by turns."""
        file = Path(tempfile.mkdtemp()) / "recordings.sqlite"
        stores = {"nowhere": "", "SQLite": str(file), POSTGRES: os.environ.get(DATABASE, "")}
        ways = [("nowhere", ""), *product([store for store, url in stores.items() if url], WHAT)]
        for messages, tools in ((1, 10), (101, 10)):
            question, count = Question("text", messages, tools), self._count(400 if messages == 1 else 160, "")
            with contextlib.ExitStack() as stack:
                servers = {way: stack.enter_context(self._recording(stores[way[0]], way[1])) for way in ways}
                costs: dict[tuple[str, str], list[float]] = {way: [] for way in ways}
                for n in range(ROUNDS + 1):
                    for way in ways[:: 1 if n % 2 else -1]:
                        costs[way].append(_until_written(servers[way], question, count))
            least = {way: min(found[1:]) for way, found in costs.items()}
            for (store, what), cost in least.items():
                more = cost / least[ways[0]] - 1
                yield [f"{messages:,}", store, what, _micro(cost), f"{more:+.1%}" if what else ""]

    @contextlib.contextmanager
    def _recording(self, url: str, what: str) -> Iterator[Server]:
        """A gateway that records there."""
        os.environ.update({RECORDINGS: url, f"{RECORDINGS.removesuffix('URL')}CONTENT": WHAT.get(what, "false")})
        with gateway(self._upstream, CHAT, "native") as server:
            os.environ.pop(RECORDINGS)
            yield server

    # ── streams ──────────────────────────────────────────────────────────────

    def streams(self) -> Iterator[list[str]]:
        """What one more chunk costs, on the API that all speak."""
        with gateway(self._upstream, CHAT, "native") as native, gateway(self._upstream, CHAT, "text") as words:
            servers = {**self._peers, OURS: native, WORDS: words}
            for kind, told in SAID.items():
                for pace, how in ((0, "burst"), (10, "paced")):
                    least = 0.0
                    if pace and kind not in ("text", "call"):
                        continue
                    names = [THROUGH, OURS, *([WORDS] if kind == "text" else [])]
                    names += [LITELLM] if LITELLM in servers and kind == "text" and not pace else []

                    def asked(name: str, manner: str = f"{kind}-{pace}") -> Cost:
                        return Cost(self._chunk(servers[name], CHAT, manner, name), 0.0, 0.0)

                    for name, cost in by_turns(names, asked):
                        least = least or cost.cpu
                        yield [told, how, name, f"{cost.cpu * 1e6:.1f}", f"{cost.cpu / least:.1f}"]

    def _chunk(self, server: Server, api: str, manner: str, name: str = "") -> float:
        paced = not manner.endswith("-0")
        few, many = (10, 110) if paced else (FEW, MANY)
        count = 64 if paced else self._count(48, name)
        return per_chunk(server, api, manner, count=count, few=few, many=many, at_once=32 if paced else 8)

    def wires(self) -> Iterator[list[str]]:
        """What one more chunk of text costs on every API, and across."""
        for front, back in [*((api, api) for api in PATHS), *ACROSS]:
            with gateway(self._upstream, back, "native") as server:
                asked = {THROUGH: (self._peers[THROUGH], back), OURS: (server, front)}

                def chunk(name: str, asked: Mapping[str, tuple[Server, str]] = asked) -> Cost:
                    return Cost(self._chunk(*asked[name], "text-0"), 0.0, 0.0)

                floor, cost = (found.cpu for _, found in by_turns(list(asked), chunk))
            yield [front, back, f"{cost * 1e6:.1f}", f"{floor * 1e6:.1f}", f"{cost / floor:.1f}"]

    # ── what is held, and several processes ──────────────────────────────────

    def memory(self) -> Iterator[list[str]]:
        """What an open stream holds."""
        for name, server in self._fresh():
            yield [name, f"{held(server, CHAT, OPEN) / 1024:.1f}", f"{server.memory() / 1e6:.0f}"]

    def _fresh(self) -> Iterator[tuple[str, Server]]:
        makers: dict[str, Callable[[], contextlib.AbstractContextManager[Server]]] = {
            THROUGH: partial(ours, "starlette", self._upstream),
            OURS: partial(gateway, self._upstream, CHAT, "native"),
            WORDS: partial(gateway, self._upstream, CHAT, "text"),
        }
        for name, make in makers.items():
            with make() as server:
                yield name, server

    def workers(self) -> Iterator[list[str]]:
        """What several processes carry."""
        for workers in ("1", "2"):
            with gateway(self._upstream, CHAT, "native", "--workers", workers) as server:
                cost = per_request(server, CHAT, Question("text"), count=self._count(1600, ""), at_once=32)
                busy = sum(spent > BUSY for spent in map(ran, server.processes()))
                yield [workers, str(busy), f"{cost.rate:,.0f}", _micro(cost.cpu)]


def by_turns(names: Sequence[str], asked: Callable[[str], Cost]) -> Iterator[tuple[str, Cost]]:
    """What each costs: the median of its turns.  LiteLLM's proxy, hundreds of times slower, has one."""
    costs: dict[str, list[Cost]] = {name: [] for name in names}
    for n in range(TURNS):
        for name in names[:: -1 if n % 2 else 1]:
            if name != LITELLM or not costs[name]:
                costs[name].append(asked(name))
    for name, found in costs.items():
        yield name, sorted(found)[len(found) // 2]


def _until_written(server: Server, question: Question, count: int) -> float:
    """Seconds of CPU of a request, until what was recorded of it is written."""
    before = server.cpu()
    per_request(server, CHAT, question, count=count)
    time.sleep(WRITTEN)
    return (server.cpu() - before) / (count + 8)  # each client asks once before


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f}"


PARTS: Mapping[str, tuple[str, Sequence[str]]] = {
    "requests": (
        "Requests, whole answers", ("messages", "tools", "through", "CPU µs/request", "×", "requests/s", "p50 ms"),
    ),
    "recordings": ("Recordings", ("messages", "recorded in", "what", "CPU µs/request", "more")),
    "streams": ("Streams of OpenAI's chat API", ("an answer of", "how", "through", "CPU µs/chunk", "×")),
    "wires": (
        "Streams of text, burst, every API", ("client speaks", "model speaks", "CPU µs/chunk", "pass-through", "×"),
    ),
    "memory": (f"{OPEN:,} open slow streams", ("through", "KB/stream", "MB in all, after them")),
    "workers": ("Several processes", ("workers", "of them busy", "requests/s", "CPU µs/request")),
}  # fmt: skip


def measure(parts: Sequence[str], executable: str, *, quick: bool) -> str:
    """The tables of these parts."""
    told: list[str] = []
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        upstream = stack.enter_context(ours("upstream", "-")).url
        peers = {THROUGH: stack.enter_context(ours("starlette", upstream))}
        if executable:
            peers[LITELLM] = stack.enter_context(litellm(executable, upstream, folder))
        bench = Bench(upstream, peers, quick=quick)
        for part in parts:
            title, head = PARTS[part]
            rows: list[list[str]] = []
            for row in getattr(bench, part)():
                rows.append(row)
                print(*row, sep="\t", file=sys.stderr, flush=True)
            told.append(f"{title}:\n\n{table(head, rows)}")
    return "\n\n".join(told)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--litellm", default="", help="LiteLLM's command, from an environment of its own")
    parser.add_argument("--only", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="a quarter of the requests")
    parser.add_argument("--write", action="store_true")
    given: Any = parser.parse_args(argv)
    before = os.getloadavg()[1]
    tables = measure(given.only.split(","), given.litellm, quick=given.quick)
    note = f"{machine()}, {os.cpu_count()} cores shared with clients and model; load of the machine "
    note += f"{before:.1f} before, {os.getloadavg()[1]:.1f} at the end.  CPU of the server's own processes."
    text = f"{note}\n\n{tables}"
    print(text)
    if given.write:
        publish("load", text)


if __name__ == "__main__":
    main()
