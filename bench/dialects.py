"""Every dialect: what a streamed token costs from 1,000 to 64,000, hostile texts, and whole texts beside peers.

    python bench/dialects.py [--write] [--peers] [--sglang FOLDER] [--only hostile,sglang]

The first table streams one call with a long string argument in every dialect, pieces of four characters, all dialects
watched, and gives the cost per token and its growth.  The second feeds texts full of false openers, up to 1 MB.
`--peers` adds whole-text extraction next to json_repair and dirtyjson (`pip install json-repair dirtyjson`),
`--sglang` next to SGLang's detectors (`detectors.py` says how to get them), as ratios in one run.
"""

from __future__ import annotations

import argparse
import gc
import logging
import statistics
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from detectors import calls_of, load
from table import machine, publish, table
from texts import answer, thought

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


# ── hostile texts ────────────────────────────────────────────────────────────

HOSTILE = (
    "<", "<tool_call>", "<tool_call>{", '<tool_call>{"name": "write_file", "arguments": {', "<function=", "[", "{",
    '{"a": ', "`", "```\n", "~~~tool_call\n", "> ", "<think>", "</think>", '"', "@tool ", "Action:", "<|",
    "<|channel|>", "[TOOL_CALLS]", "<invoke name=", '\n{"arguments": [', "</tool_call>", "write_file(",
    "<parameter=", "&lt;", "\\", "\n",
)  # fmt: skip
JSON_BODY = '<tool_call>{"name": "write_file", "arguments": {"content": "'
TAGGED_BODY = "<tool_call>\n<function=write_file>\n<parameter=content>\n"
INSIDE = ((JSON_BODY, '"'), (JSON_BODY, '", '), (TAGGED_BODY, "</parameter> x"))
"""What a call begins with, and what comes again and again inside it."""
HOSTILE_SIZES = (16_000, 128_000, 1_000_000)


def hostile() -> str:
    """The table of texts that are nothing but one thing that may begin a call, or may end what stands inside one."""
    rows = []
    for head, seed in [*(("", seed) for seed in HOSTILE), *INSIDE]:
        texts = [head + _filled(seed, size - len(head)) for size in HOSTILE_SIZES]
        spent = [timed(lambda text=text: parse(text, tools=[TOOL]), 1) for text in texts]  # type: ignore[misc]
        growth = spent[-1] / HOSTILE_SIZES[-1] / (spent[0] / HOSTILE_SIZES[0])
        named = f"`{seed!r}`".replace("|", "\\|") + (" in a call" if head else "")
        rows.append([named, *(f"{s * 1e3:.1f}" for s in spent), f"{growth:.2f}"])
    return table(["ms", *(f"{size:,}" for size in HOSTILE_SIZES), "per character, last / first"], rows)


def _filled(seed: str, size: int) -> str:
    return (seed * (size // len(seed) + 1))[:size]


# ── peers ────────────────────────────────────────────────────────────────────

WHOLE = (200, 1_000, 20_000, 100_000)
"""Bytes of whole texts: prose with signs, lists, fences and tables, reasoning before it, and a call at the end."""
ARGUMENTS = {"path": "area.py", "content": "x = 1"}
SPELT = {
    "mistral": ("[TOOL_CALLS][", "[TOOL_CALLS] ["),
    "internlm2": ("<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"),
}
"""Where the peer reads one spelling of several only."""


def told(name: str, size: int) -> str:
    """A text of at most so many bytes that ends in a call as the dialect writes it (never less than the call)."""
    made = render([ToolCall(id="c0", name=TOOL.name, arguments=ARGUMENTS)], dialects[name], tools=[TOOL])
    call = made.replace(*SPELT.get(name, ("", "")))
    left = size - len(call.encode())
    reasoned = thought(left // 4)
    before = f"<think>\n{reasoned}</think>\n\n" if reasoned else ""
    return before + answer(left - len(before.encode())) + call


def timed(work: Callable[[], Any], repeats: int) -> float:
    """Median CPU seconds of one run."""
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return statistics.median(spent)


def json_peers(repeats: int) -> str:
    """Whole-text extraction beside what mends JSON, as ratios to ours in the same run."""
    rows = []
    for size in WHOLE:
        text = told("hermes", size)
        ours = timed(lambda text=text: parse(text, tools=[TOOL]), repeats)  # type: ignore[misc]
        line = [f"{size:,} B", f"{ours * 1e6:.0f} µs"]
        first = text[text.rindex('{"name"') : text.index("\n</tool_call>")]
        for module, given in (("json_repair", text), ("json_repair", first), ("dirtyjson", first)):
            peer = import_module(module).loads
            line.append(f"{timed(lambda peer=peer, given=given: peer(given), repeats) / ours:.2f}x")  # type: ignore[misc]
        rows.append(line)
    head = ["Hermes, whole text", "dragoman, all dialects", "json_repair, the text (it finds no call in it)"]
    return table([*head, "json_repair, the call's JSON alone", "dirtyjson, the same"], rows)


def sglang(folder: Path, repeats: int) -> str:
    """Whole-text extraction beside SGLang's detectors, each told its dialect, as ratios to ours in the same run."""
    rows, means = [], []
    peers = load(folder, [{"name": TOOL.name, "parameters": dict(TOOL.parameters)}])
    for size in WHOLE:
        ratios, alike = list[float](), list[float]()
        for name, peer in peers.items():
            text = told(name, size)
            blind, named, theirs = _beside(name, text, peer, repeats)
            right = calls_of(peer, text) == [(TOOL.name, ARGUMENTS)]
            ratios += [theirs / blind] if right else []
            alike += [theirs / named] if right else []
            shares = (f"{named / blind:.2f}x", f"{theirs / blind:.2f}x")
            rows.append([name, f"{len(text.encode()):,}", f"{blind * 1e6:.0f} µs", *shares, _read(text, right=right)])
        geometric = f"{statistics.geometric_mean(ratios):.3f}x, least {min(ratios):.3f}x"
        told_too = f"{statistics.geometric_mean(alike):.3f}x where ours is told too"
        counted = f"of {len(ratios)} that it reads right"
        means.append(["geometric mean", f"{size:,}", "", told_too, geometric, counted])
    head = ["whole text", "bytes", "dragoman, all dialects", "dragoman, this one", "SGLang, this one", "calls"]
    return table(head, [*rows, *means])


def _read(text: str, *, right: bool) -> str:
    """What is to be said of how both read the call; nothing where both have it."""
    parsed = parse(text, tools=[TOOL])
    if [call.arguments for call in parsed.calls] == [ARGUMENTS]:
        ours = ""
    else:
        ours = "ours asks" if parsed.doubtful else "ours wrong"
    return ", ".join(filter(None, (ours, "" if right else "theirs wrong")))


def _beside(name: str, text: str, peer: Callable[[str], int], repeats: int) -> list[float]:
    """Median seconds of ours with all dialects, ours with this one, theirs; interleaved, since machines drift."""
    works = (lambda: parse(text, tools=[TOOL]), lambda: parse(text, tools=[TOOL], dialects=name), lambda: peer(text))
    batch = max(2, 20_000 // len(text))  # long enough that changing over between them costs nothing
    spent = [[timed(lambda work=work: [work() for _ in range(batch)], 1) for work in works] for _ in range(repeats)]  # type: ignore[misc]
    return [statistics.median(column) / batch for column in zip(*spent, strict=True)]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--times", type=int, default=21, help="measurements of each whole text beside peers")
    options.add_argument("--peers", action="store_true")
    options.add_argument("--sglang", type=Path, help="the folder that holds sglang/srt/function_call")
    options.add_argument("--only", default="", help="names of tables, with commas: dialects, hostile, peers, sglang")
    options.add_argument("--write", action="store_true", help="put the tables into docs/performance.md")
    chosen = options.parse_args()
    logging.disable(logging.CRITICAL)
    ratio = f"{machine()}; CPU time, median of {chosen.times}; a ratio over 1 means that the peer takes longer."
    made: dict[str, tuple[bool, Callable[[], str], str]] = {
        "dialects": (
            True,
            lambda: growth(chosen.repeats),
            f"{machine()}; CPU time, median of {chosen.repeats}.",
        ),
        "hostile": (True, hostile, f"{machine()}; CPU time, one run each."),
        "peers": (chosen.peers, lambda: json_peers(chosen.times), ratio),
        "sglang": (chosen.sglang is not None, lambda: sglang(chosen.sglang, chosen.times), ratio),
    }
    for name, (wanted, make, note) in made.items():
        if wanted and (not chosen.only or name in chosen.only.split(",")):
            text = f"{make()}\n\n{note}"
            print(text, end="\n\n")
            if chosen.write:
                publish(name, text)


if __name__ == "__main__":
    main()
