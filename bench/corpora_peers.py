"""Corpora beside what others would read them with: `json_repair`, SGLang's detectors, and orjson alone, in CPU seconds.

usage: bench/corpora_peers.py [--rows N] [--sglang FOLDER] [--folder DIR]

Rows are those of `bench/corpora.py`, their calls in the place for calls, and again as text (Hermes).  Theirs is the
least a script would do: each row read, each call read by them, the row written.  Ours is `lint`: read, checked against
the row's schemas, counted, hashed.  `detectors.py` says how to get SGLang's (FOLDER); `pip install json-repair`.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson
from corpora import SETS, alone, measured, row, tools_of
from detectors import calls_of, load
from table import machine, table

from dragoman.batch.options import Options
from dragoman.batch.running.engine import run
from dragoman.batch.running.job import Job

OPEN, CLOSE = "<tool_call>\n", "\n</tool_call>"


def spoken(one: dict[str, Any]) -> dict[str, Any]:
    """The row with its calls as text."""
    for message in one["messages"]:
        if calls := message.pop("tool_calls", None):
            made = [{**call["function"], "arguments": orjson.loads(call["function"]["arguments"])} for call in calls]
            message["content"] = "\n".join(OPEN + orjson.dumps(call).decode() + CLOSE for call in made)
        if message.pop("tool_call_id", None):
            message["role"] = "user"
    return one


def made(path: Path, rows: int, *, text: bool) -> list[dict[str, Any]]:
    """A file of rows; the tools of all of them."""
    rnd = random.Random(19)
    sets = [tools_of(rnd) for _ in range(SETS)]
    with path.open("wb") as file:
        for _ in range(rows):
            one = row(rnd, rnd.choice(sets))
            file.write(orjson.dumps(spoken(one) if text else one) + b"\n")
    return list({tool["function"]["name"]: tool["function"] for some in sets for tool in some}.values())


def each(path: Path, read: Callable[[dict[str, Any]], Any]) -> None:
    """Each row read, its calls read by `read`, and written."""
    with path.open("rb") as file:
        for line in file:
            one = orjson.loads(line)
            for message in one["messages"]:
                if message["role"] == "assistant":
                    read(message)
            orjson.dumps(one)


def texts(message: dict[str, Any]) -> Iterator[str]:
    """The JSON of the calls in a text."""
    for piece in (message["content"] or "").split(OPEN)[1:]:
        yield piece.partition(CLOSE)[0]


def native(message: dict[str, Any]) -> Iterator[str]:
    """The arguments of the calls of a message."""
    for call in message.get("tool_calls", ()):
        yield call["function"]["arguments"]


def works(path: Path, tools: list[dict[str, Any]], sglang: Path | None, *, text: bool) -> dict[str, Callable[[], Any]]:
    """What is measured on a file, by name."""
    mend = import_module("json_repair").loads
    job, pieces = Job(command="lint", options=Options()), texts if text else native
    found: dict[str, Callable[[], Any]] = {
        "`orjson` loads and dumps alone": lambda: alone(path),
        "`lint`, 1 process": lambda: run([path], job),
        "`json_repair`, the JSON of each call": lambda: each(path, lambda message: [*map(mend, pieces(message))]),
    }
    if text and sglang is not None:
        hermes = load(sglang, tools)["hermes"]
        read = partial(calls_of, hermes)
        found["SGLang's Hermes detector, each text"] = lambda: each(path, lambda message: read(message["content"]))
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", type=int, default=5000)
    options.add_argument("--sglang", type=Path, help="the folder that holds sglang/srt/function_call")
    options.add_argument("--folder", type=Path, default=Path("/tmp"))
    asked = options.parse_args()
    path, lines = asked.folder / "corpora-peers.jsonl", []
    for text in (False, True):
        tools, unit = made(path, asked.rows, text=text), 0.0
        for name, work in works(path, tools, asked.sglang, text=text).items():
            cells, spent = measured(name, work, asked.rows, path.stat().st_size, unit)
            unit = unit or spent
            lines.append(("in text" if text else "in their place", *cells[:4]))
        path.unlink()
    print(f"{asked.rows:,} rows")
    print(table(("calls", "", "rows a CPU second", "MB a CPU second", "of orjson alone"), lines))
    print(machine())


if __name__ == "__main__":
    main()
