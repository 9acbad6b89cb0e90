"""Every dialect: what a streamed token costs from 1,000 to 64,000, and whole texts beside the peers that are installed.

    python bench/dialects.py [--write] [--peers]

The first table streams one call with a long string argument in every dialect, pieces of four characters, all dialects
watched, and gives the cost per token and its growth.  `--peers` adds whole-text extraction next to json_repair and
partial-json-parser (`pip install json-repair partial-json-parser`), as ratios in one run.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from table import machine, publish, table

from dragoman import Parser, Tool, ToolCall, UsageError, dialects, parse, render

TOKEN = 4
SIZES = (1_000, 16_000, 64_000)
LINE = "def area(width, height): return width * height  # no rounding, ever\n"
STRING = {"type": "string"}
TOOL = Tool(name="write_file", parameters={"type": "object", "properties": {"path": STRING, "content": STRING}})


def written(name: str, tokens: int) -> str:
    """One call of that size, as the dialect writes it."""
    content = (LINE * (tokens * TOKEN // len(LINE) + 1))[: tokens * TOKEN]
    call = ToolCall(id="call_0", name="write_file", arguments={"path": "area.py", "content": content})
    return render([call], dialects[name], tools=[TOOL])


def carries(name: str) -> bool:
    """Can the dialect write two arguments?  (One carries a single text and nothing else.)"""
    try:
        return bool(written(name, 1))
    except UsageError:
        return False


def streamed(text: str, repeats: int) -> float:
    """Median CPU microseconds per token."""
    chunks = [text[i : i + TOKEN] for i in range(0, len(text), TOKEN)]
    return statistics.median(_stream(chunks) for _ in range(repeats)) * 1e6 / len(chunks)


def _stream(chunks: Iterable[str]) -> float:
    parser = Parser(tools=[TOOL])
    gc.collect()
    start = time.process_time()
    for chunk in chunks:
        parser.feed(chunk)
    parser.close()
    return time.process_time() - start


def growth(repeats: int) -> str:
    """The table of all dialects."""
    rows = []
    for name in dialects:
        if not carries(name):
            continue
        costs = [streamed(written(name, size), repeats) for size in SIZES]
        rows.append([name, *(f"{cost:.2f}" for cost in costs), f"{costs[-1] / costs[0]:.2f}"])
    return table(["µs per token", *(f"{size:,}" for size in SIZES), "last / first"], rows)


BODY = '{"name": "write_file", "arguments": {"path": "a.py", "content": "x = 1"}}'
SHORT = f"Let me look.\n<tool_call>\n{BODY}\n</tool_call>"
PROSE = "Some prose with a few words, and a paragraph that ends here.\n\n"
TEXTS = {"short": SHORT, "1 KB": PROSE * 12 + SHORT, "20 KB": PROSE * 330 + SHORT}


def timed(work: Callable[[], Any], repeats: int) -> float:
    """Median CPU seconds of one run."""
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return statistics.median(spent)


def peers(repeats: int) -> str:
    """Whole-text extraction beside peers, as ratios to ours in the same run."""
    rows = []
    for size, text in TEXTS.items():
        ours = timed(lambda text=text: parse(text, tools=[TOOL]), repeats)  # type: ignore[misc]
        line = [size, f"{ours * 1e6:.0f} µs"]
        for module, function in (("json_repair", "loads"), ("partial_json_parser", "loads")):
            peer = getattr(import_module(module), function)
            body = text if module == "json_repair" else text[text.index("{") : text.rindex("}") + 1]
            line.append(f"{timed(lambda peer=peer, body=body: peer(body), repeats) / ours:.1f}x")  # type: ignore[misc]
        rows.append(line)
    head = ["whole text", "dragoman, all dialects", "json_repair, same text", "partial-json-parser, the JSON alone"]
    return table(head, rows)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--peers", action="store_true")
    options.add_argument("--write", action="store_true", help="put the tables into docs/performance.md")
    chosen = options.parse_args()
    text = f"{growth(chosen.repeats)}\n\n{machine()}; CPU time, median of {chosen.repeats}."
    print(text)
    if chosen.write:
        publish("dialects", text)
    if chosen.peers:
        text = f"{peers(21)}\n\n{machine()}; CPU time, median of 21; a ratio over 1 means that the peer takes longer."
        print(text)
        if chosen.write:
            publish("peers", text)


if __name__ == "__main__":
    main()
