"""The cost of streaming one call whose argument is a long string, blind, in pieces of four characters.

    python bench/parse_stream.py [--write]

CPU time per token, median of the repeats, for 1,000 to 64,000 tokens; a parser that looks at text twice shows here as
a cost that grows.  `--write` puts the table into docs/performance.md.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

from table import machine, publish, table

from dragoman import Parser, Tool

TOKEN = 4
SIZES = (1_000, 4_000, 16_000, 64_000)
LINE = 'def area(width, height):\n    """The area, in square metres."""\n    return width * height  # no rounding\n\n'
STRING = {"type": "string"}
TOOLS = [Tool(name="write_file", parameters={"type": "object", "properties": {"path": STRING, "content": STRING}})]


def _hermes(tokens: int) -> str:
    call = {"name": "write_file", "arguments": {"path": "area.py", "content": _code(tokens)}}
    return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"


def _fence(tokens: int) -> str:
    call = {"name": "write_file", "arguments": {"path": "area.py", "content": _code(tokens)}}
    return f"~~~tool_call\n{json.dumps(call)}\n~~~"


def _code(tokens: int) -> str:
    size = tokens * TOKEN
    return (LINE * (size // len(LINE) + 1))[: size * len(LINE) // len(json.dumps(LINE)[1:-1])]


def _prose(tokens: int) -> str:
    line = "The quick brown fox jumps over the lazy dog, and nobody calls a tool about it.\n"
    return (line * (tokens * TOKEN // len(line) + 1))[: tokens * TOKEN]


TEXTS: Mapping[str, Callable[[int], str]] = {"Hermes call": _hermes, "fenced call": _fence, "prose, no call": _prose}


def measure(text: str, calls: int, repeats: int) -> float:
    """Median CPU microseconds per token; checks that the parser found what is there."""
    chunks = [text[i : i + TOKEN] for i in range(0, len(text), TOKEN)]
    return statistics.median(_once(chunks, calls) for _ in range(repeats))


def _once(chunks: Sequence[str], calls: int) -> float:
    parser = Parser(tools=TOOLS)
    found = 0
    gc.collect()
    start = time.process_time()
    for chunk in chunks:
        for event in parser.feed(chunk):
            found += type(event).__name__ == "CallEnded"
    for event in parser.close():
        found += type(event).__name__ == "CallEnded"
    spent = time.process_time() - start
    if found != calls:
        raise SystemExit(f"{found} calls found where {calls} stand: the measurement would mean nothing")
    return spent * 1e6 / len(chunks)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=7)
    options.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    chosen = options.parse_args()
    rows = []
    for name, text_of in TEXTS.items():
        costs = [measure(text_of(size), "no call" not in name, chosen.repeats) for size in SIZES]
        rows.append([name, *(f"{cost:.2f}" for cost in costs), f"{costs[-1] / costs[0]:.2f}"])
    head = ["µs per token", *(f"{size:,}" for size in SIZES), "last / first"]
    note = f"{machine()}; CPU time, median of {chosen.repeats}, pieces of {TOKEN} characters, all dialects watched."
    text = f"{table(head, rows)}\n\n{note}"
    print(text)
    if chosen.write:
        publish("parse_stream", text)


if __name__ == "__main__":
    main()
