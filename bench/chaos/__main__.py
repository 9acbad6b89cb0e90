"""Seeded tasks against a weak model that errs, by us and by peers: `python -m bench.chaos [--peers PYTHON]`.

For each rate, the same tasks, the same model and the same luck: how many were done, what was executed that nobody
meant, how many answers it took.  `--peers` is the interpreter of an environment that has pydantic-ai and
forge-guardrails; `--write` puts the table into docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from dragoman import Client, ToolSet
from dragoman.loop import End, Limit, Policy
from dragoman.tools import runnable

from ..table import machine, publish, table
from .characters import CHARACTERS, CharacterRow
from .memory import Remembering
from .server import Counted, running
from .tasks import Desk, Tally, tasks

RATES = (0.0, 0.1, 0.3, 0.6)
DIALECTS = (
    "hermes", "qwen3_coder", "llama3_json", "mistral", "deepseek_v3", "kimi_k2", "glm45", "react", "json_protocol",
    "pythonic",
)  # fmt: skip
"""What the model speaks, and is spoken to, where each task has another; all dialects are listened for throughout."""
READS = frozenset({"read_file", "calculate", "find_train"})
SLIPS = 10
PEERS = ("pydantic-ai", "forge-guardrails")
SYSTEM = "Do what the user asks with the tools."


OURS = (
    ("dragoman, no tool API", False, ("",)),
    ("dragoman, no tool API, ten dialects", False, DIALECTS),
    ("dragoman, tool API", True, ("",)),
)


def name_of(rate: float, dialect: str = "") -> str:
    """The model's name for a rate: how likely an answer holds at least one fault."""
    each = 1 - (1 - rate) ** (1 / SLIPS)
    return f"weak{'-' + dialect if dialect else ''}+errors={each:.6f}"


def _end_of(end: End) -> str:
    return f"{type(end).__name__} {end.which}" if isinstance(end, Limit) else type(end).__name__


def ours(server: Counted, rate: float, dialects: Sequence[str], count: int, seed: int) -> Tally:
    """The tasks by our client; each speaks the next of `dialects`."""
    tally = Tally()
    begun = time.perf_counter()
    with ExitStack() as stack:
        clients = [stack.enter_context(_client(server, dialect)) for dialect in dialects]
        for number, task in enumerate(tasks(count, seed)):
            desk, model = Desk(task), name_of(rate, dialects[number % len(dialects)])
            client = clients[number % len(clients)]
            tools = ToolSet(*(runnable(f, read_only=name in READS) for name, f in desk.tools().items()))
            run = client.run(task.prompt, tools=tools, model=f"compatible/{model}")
            tally.add(desk, "" if desk.finished else _end_of(run.end), words=bool(run.why or run.text.strip()))
    tally.seconds = time.perf_counter() - begun
    return tally


def _client(server: Counted, dialect: str) -> Client:
    """A client that tells tools and history in the model's own dialect, and listens for all of them."""
    more = {"prompt_dialect": dialect} if dialect else {}
    url, policy = f"{server.url}/v1", Policy(max_turns=25)
    return Client(base_url=url, policy=policy, system=SYSTEM, raise_on_failure=False, **more)


def theirs(python: str, peer: str, server: Counted, *, rate: float, count: int, seed: int) -> Tally:
    """The tasks by a peer, in its own environment."""
    script = Path(__file__).parent / "peers.py"
    asked = [python, str(script), peer, server.url, name_of(rate), str(count), str(seed)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{peer} did not run: {done.stderr[-2000:]}")
    return Tally(**json.loads(done.stdout.splitlines()[-1]))


def measure(count: int, seed: int, python: str) -> list[list[str]]:
    """One row per rate and driver."""
    rows = []
    for rate in RATES:
        for who, native, dialects in OURS:
            with running(native=native, seed=seed) as server:
                rows.append(_row(rate, who, ours(server, rate, dialects, count, seed), server))
        for peer in PEERS if python else ():
            with running(native=True, seed=seed) as server:
                tally = theirs(python, peer, server, rate=rate, count=count, seed=seed)
                rows.append(_row(rate, f"{peer}, tool API", tally, server))
    return rows


def with_memory(
    count: int, seed: int, python: str, names: Sequence[str] = (), *, peer_count: int = 0, jobs: int = 1
) -> list[list[str]]:
    """One row per character and driver, peers with `peer_count` tasks; `jobs` characters at once, each in a process."""
    found = [row.name for row in CHARACTERS if not names or any(name in row.name for name in names)]
    measured = partial(_of_character, count=count, peer_count=peer_count or count, seed=seed, python=python)
    if jobs == 1:
        return [line for name in found for line in measured(name)]
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
        return [line for lines in pool.map(measured, found) for line in lines]


def _of_character(name: str, *, count: int, peer_count: int, seed: int, python: str) -> list[list[str]]:
    """The rows of one character."""
    row = next(row for row in CHARACTERS if row.name == name)
    rows = []
    for who, native, dialects in OURS[1:] if count else ():
        model = Remembering(row, seed=seed, native=native)
        with running(native=native, seed=seed, model=model) as server:
            rows.append(_memory_row(row, who, ours(server, 0.0, dialects, count, seed), server, model))
    for peer in PEERS if python else ():
        model = Remembering(row, seed=seed, native=True)
        with running(native=True, seed=seed, model=model) as server:
            tally = theirs(python, peer, server, rate=0.0, count=peer_count, seed=seed)
            rows.append(_memory_row(row, f"{peer}, tool API", tally, server, model))
    return rows


def _memory_row(row: CharacterRow, who: str, tally: Tally, server: Counted, model: Remembering) -> list[str]:
    """As `_row`, with the share of meant calls that were asked about, and the runs that ended without a word."""
    _, *rest, why = _row(0.0, who, tally, server)
    asked = f"{100 * model.asked['meant'] / max(tally.meant, 1):.1f} %"
    name = row.name if row.helpable else f"{row.name} †"
    line = [name, who, str(tally.tasks), *rest[1:], asked, str(tally.wordless), why]
    print("|", " | ".join(line), "|", file=sys.stderr, flush=True)
    return line


def _row(rate: float, who: str, tally: Tally, server: Counted) -> list[str]:
    why = ", ".join(f"{name} {n}" for name, n in sorted(tally.failures.items(), key=lambda item: -item[1])[:3])
    print(rate, who, tally, server.asked, file=sys.stderr, flush=True)
    turns = server.asked / max(tally.tasks, 1)
    done = f"{100 * tally.finished / max(tally.tasks, 1):.1f} %"
    return [f"{rate:.0%}", who, done, str(tally.unmeant), str(tally.repeated), f"{turns:.1f}", why or "–"]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peers", default="", help="an interpreter that has the peers")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--memory", action="store_true", help="models with a memory and a character")
    parser.add_argument("--peer-tasks", type=int, default=0, help="tasks per row of a peer; --tasks 0: of no one else")
    parser.add_argument("--jobs", type=int, default=1, help="characters measured at once, each in a process")
    parser.add_argument("--only", nargs="*", default=(), help="characters whose names hold these words")
    given = parser.parse_args(argv)
    if given.memory:
        _measure_memory(given)
        return
    head = ("errors", "driven by", "done", "not meant", "repeated", "turns", "what failed")
    text = table(head, measure(given.tasks, given.seed, given.peers))
    told = f"{given.tasks} tasks per row, seed {given.seed}; {machine()}.\n\n{text}"
    print(told)
    if given.write:
        publish("chaos", told)


def _measure_memory(given: argparse.Namespace) -> None:
    head = ("model", "driven by", "tasks", "done", "not meant", "repeated", "turns", "asked", "no words", "what failed")
    asked = (given.tasks, given.seed, given.peers, given.only)
    text = table(head, with_memory(*asked, peer_count=given.peer_tasks, jobs=given.jobs))
    told = f"Seed {given.seed}; {machine()}.\n\n{text}"
    print(told)
    if given.write:
        publish("chaos_memory", told)


if __name__ == "__main__":
    main()
