"""Corpora through `dragoman batch`: rows and megabytes a second beside orjson alone, memory, and the engines.

usage: bench/corpora.py [--rows N] [--folder DIR] [--ray].  Rows of the chat API are made once, as public
corpora have them: a system prompt, one to three rounds of one to three calls, JSON results, answers of a few sentences,
two hundred sets of tools.  CPU seconds are those of all processes together.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
from table import machine, table

from dragoman.batch.options import Options
from dragoman.batch.running.engine import run
from dragoman.batch.running.job import Job

WORDS = (
    "the", "weather", "report", "tomorrow", "says", "that", "a", "flight", "from", "Oslo", "Rome", "leaves", "noon",
    "and", "costs", "less", "than", "train", "which", "customer", "booked", "last", "week", "two", "people", "suitcase",
)  # fmt: skip
DISTINCT, SETS, MARK = 4000, 200, "@@@@@@@@@@"


def words(rnd: random.Random, least: int, most: int) -> str:
    """A few words."""
    return " ".join(rnd.choices(WORDS, k=rnd.randint(least, most))).capitalize() + "."


def tools_of(rnd: random.Random) -> list[dict[str, Any]]:
    """One to four definitions."""
    made = []
    for number in range(rnd.randint(1, 4)):
        names = ["city", "days", "exact", "tags"]
        kinds = [{"type": "string", "description": words(rnd, 4, 9)}, {"type": "integer"}, {"type": "boolean"},
                 {"type": "array", "items": {"type": "string"}}]  # fmt: skip
        schema = {"type": "object", "properties": dict(zip(names, kinds, strict=True)), "required": ["city"]}
        function = {"name": f"get_{rnd.choice(WORDS)}_{number}", "description": words(rnd, 8, 20), "parameters": schema}
        made.append({"type": "function", "function": function})
    return made


def row(rnd: random.Random, tools: list[dict[str, Any]]) -> dict[str, Any]:
    """One conversation."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": words(rnd, 20, 60)}]
    count = 0
    for _ in range(rnd.choice((1, 1, 1, 2, 3))):
        messages.append({"role": "user", "content": words(rnd, 8, 30) + " " + MARK})
        calls, results = [], []
        for _ in range(rnd.choice((1, 1, 1, 2, 3))):
            arguments = {"city": rnd.choice(WORDS), "days": rnd.randint(1, 9), "tags": rnd.choices(WORDS, k=2)}
            function = {"name": rnd.choice(tools)["function"]["name"], "arguments": json.dumps(arguments)}
            calls.append({"id": f"call_{count}", "type": "function", "function": function})
            result = {"status": "ok", "items": [{"id": i, "text": words(rnd, 4, 12)} for i in range(rnd.randint(1, 5))]}
            results.append({"role": "tool", "tool_call_id": f"call_{count}", "content": json.dumps(result)})
            count += 1
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += results
        messages.append({"role": "assistant", "content": words(rnd, 20, 80)})
    return {"messages": messages, "tools": tools}


def make(path: Path, rows: int) -> None:
    """A file of so many different rows."""
    rnd = random.Random(19)
    sets = [tools_of(rnd) for _ in range(SETS)]
    lines = [orjson.dumps(row(rnd, rnd.choice(sets))) + b"\n" for _ in range(min(rows, DISTINCT))]
    mark = MARK.encode()
    with path.open("wb") as file:
        for number in range(rows):
            file.write(lines[number % len(lines)].replace(mark, b"%010d" % number))


def cpu() -> float:
    """CPU seconds of this process and of those that ended under it."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def alone(path: Path) -> None:
    """What every row costs at least: read and written."""
    with path.open("rb") as file:
        for line in file:
            orjson.dumps(orjson.loads(line))


def measured(name: str, work: Callable[[], Any], rows: int, size: int, unit: float) -> tuple[tuple[str, ...], float]:
    """One line of the table: what it took."""
    began, spent = time.monotonic(), cpu()
    work()
    wall, spent = time.monotonic() - began, cpu() - spent
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) >> 10
    share = f"{unit / spent:.2f}" if unit else "1"
    cells = (name, f"{rows / spent:,.0f}", f"{size / spent / 1e6:,.0f}", share, f"{wall:.1f}", f"{peak:,}")
    return cells, spent


def cleaning(path: Path, out: Path, workers: int, engine: Any = None) -> Callable[[], Any]:
    """The whole command: judged, kept, hashed, put together."""
    job = Job(command="clean", options=Options(), output=str(out))
    return lambda: run([path], job, workers=workers, engine=engine, overwrite=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", type=int, default=100_000)
    options.add_argument("--folder", type=Path, default=Path("/tmp"))
    options.add_argument("--ray", action="store_true", help="on Ray too")
    asked = options.parse_args()
    path, out = asked.folder / f"corpora-{asked.rows}.jsonl", asked.folder / "corpora-out.jsonl"
    make(path, asked.rows)
    size = path.stat().st_size
    first, unit = measured("`orjson` loads and dumps alone", lambda: alone(path), asked.rows, size, 0)
    lines = [first]
    told = []
    lint = Job(command="lint", options=Options())
    lines.append(measured("`lint`, 1 process", lambda: run([path], lint), asked.rows, size, unit)[0])
    for workers in (1, 2):
        work = cleaning(path, out, workers)
        lines.append(measured(f"`clean`, {workers} process{'es' * (workers > 1)}", work, asked.rows, size, unit)[0])
        told.append((out.stat().st_size, out.with_name("corpora-out.manifest.json").read_bytes()))
    if asked.ray:
        from dragoman.batch.running.on_ray import Ray  # noqa: PLC0415

        lines.append(measured("`clean --ray`", cleaning(path, out, 2, Ray("local", 2)), asked.rows, size, unit)[0])
        told.append((out.stat().st_size, out.with_name("corpora-out.manifest.json").read_bytes()))
    head = ("", "rows a CPU second", "MB a CPU second", "of orjson alone", "seconds", "peak MB of a process")
    print(f"{asked.rows:,} rows, {size:,} bytes, all outputs equal: {len(set(told)) == 1}")
    print(table(head, lines))
    print(machine())
    path.unlink()
    out.unlink()


if __name__ == "__main__":
    main()
