"""What a streamed token costs: calls, prose, markdown and reasoning, in fours and as tokenizers split.

    python bench/parse_stream.py [--prototype FILE] [--sizes 1000,4000] [--calls] [--unseen] [--write]

CPU time per token, the least of the repeats, for 1,000 to 64,000 tokens; a parser that looks at text twice shows here
as a cost that grows.  `--prototype` measures a scanner with `feed` and `close` in the same run, turn by turn, and gives
the ratio to it (it judges nothing and mends nothing: it shows what a bare scan costs).  `--calls` counts Python calls
per token instead of time, which no load on the machine changes.  `--unseen` measures texts that do not repeat, by a
parser that remembers nothing of the run before.  `--write` puts the table into docs/performance.md.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

import unseen
from pieces import LINE, MARKDOWN, PLAIN, PROSE, THOUGHT, TOKEN, fours, repeated, tokens
from table import machine, publish, table

from dragoman import Parser, Tool
from dragoman.dialects.engine import lanes

SIZES = (1_000, 4_000, 16_000, 64_000)
PAGES = Path(__file__).parents[1] / "docs"
"""Texts that do not repeat a few lines, as the others do: what a parser remembers of pieces helps least here."""
NO_WORD = re.compile(r"[^A-Za-z0-9,.;:()' \n-]")
STRING = {"type": "string"}
TOOLS = [Tool(name="write_file", parameters={"type": "object", "properties": {"path": STRING, "content": STRING}})]


class Kind(NamedTuple):
    """A text of some tokens: `make` gives it for a number of characters; `calls` is how many stand in it."""

    make: Callable[[int], str]
    calls: int = 0


def _code(size: int) -> str:
    return repeated(LINE, size * len(LINE) // len(json.dumps(LINE)[1:-1]))


def _json(around: str, code: Callable[[int], str] = _code) -> Callable[[int], str]:
    def make(size: int) -> str:
        call = {"name": "write_file", "arguments": {"path": "area.py", "content": code(size)}}
        return around.format(json.dumps(call))

    return make


def _xml(code: Callable[[int], str]) -> Callable[[int], str]:
    def make(size: int) -> str:
        inside = f"<parameter=path>\narea.py\n</parameter>\n<parameter=content>\n{code(size)}\n</parameter>"
        return f"<tool_call>\n<function=write_file>\n{inside}\n</function>\n</tool_call>"

    return make


def _words() -> str:
    """All pages, without the signs that anything but prose has."""
    return NO_WORD.sub("", "".join(page.read_text(encoding="utf-8") for page in sorted(PAGES.glob("*.md"))))


KINDS: Mapping[str, Kind] = {
    "Hermes call": Kind(_json("<tool_call>\n{}\n</tool_call>"), 1),
    "fenced call": Kind(_json("~~~tool_call\n{}\n~~~"), 1),
    "XML call": Kind(_xml(lambda size: repeated(LINE, size)), 1),
    "plain prose": Kind(lambda size: repeated(PLAIN, size)),
    "prose with signs": Kind(lambda size: repeated(PROSE, size)),
    "dense markdown": Kind(lambda size: repeated(MARKDOWN, size)),
    "a page of ours": Kind(lambda size: repeated((PAGES / "design.md").read_text(encoding="utf-8"), size)),
    "words of our pages": Kind(lambda size: repeated(_words(), size)),
    "reasoning": Kind(lambda size: f"<think>\n{repeated(THOUGHT, size)}\n</think>\n\nDone."),
}

UNSEEN: Mapping[str, Kind] = {
    "JSON call": Kind(_json("<tool_call>\n{}\n</tool_call>", lambda size: unseen.code(size * 9 // 10)), 1),
    "XML call": Kind(_xml(unseen.code), 1),
    "prose": Kind(unseen.prose),
    "a manual": Kind(unseen.manual),
    "an answer": Kind(unseen.answer),
    "reasoning": Kind(lambda size: f"<think>\n{unseen.prose(size)}\n</think>\n\nDone."),
    "code in no fence": Kind(lambda size: f"So it is:\n\n{unseen.code(size)}"),
}

SPLITS: Mapping[str, Callable[[str], list[str]]] = {"4 characters": fours, "as a tokenizer": tokens}


def ours(chunks: Sequence[str], calls: int) -> float:
    """CPU seconds; checks that the parser found what is there."""
    parser, found = Parser(tools=TOOLS), 0
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
    return spent


def theirs(scanner: Callable[[], Any], chunks: Sequence[str]) -> float:
    """CPU seconds of another scanner, whose events are only looped over."""
    other, kinds = scanner(), 0
    gc.collect()
    start = time.process_time()
    for chunk in chunks:
        for event in other.feed(chunk):
            kinds += type(event).__name__ == "CallEnded"
    for event in other.close():
        kinds += type(event).__name__ == "CallEnded"
    return time.process_time() - start


def counted(chunks: Sequence[str], calls: int) -> float:
    """Python calls per token."""
    ours(chunks, calls)
    count = 0

    def note(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        ours(chunks, calls)
    finally:
        sys.setprofile(None)
    return count / len(chunks)


def prototype(path: Path) -> Callable[[], Any]:
    """The class `Scanner` of the module in that file."""
    spec = spec_from_file_location("prototype", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python module; name the file of the prototype")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Scanner  # type: ignore[no-any-return]


def row(
    chunkings: Sequence[Sequence[str]], calls: int, repeats: int, other: Callable[[], Any] | None, *, forgets: bool
) -> list[str]:
    """The cells of one row: the least of each size, taken in turns, and the ratios."""
    mine, their = [9e9] * len(chunkings), [9e9] * len(chunkings)
    for _ in range(repeats):
        for n, chunks in enumerate(chunkings):
            if forgets:
                lanes.forget()
            mine[n] = min(mine[n], ours(chunks, calls))
            if other is not None:
                their[n] = min(their[n], theirs(other, chunks))
    costs = [spent * 1e6 / len(chunks) for spent, chunks in zip(mine, chunkings, strict=True)]
    cells = [*(f"{cost:.2f}" for cost in costs), f"{costs[-1] / costs[0]:.2f}"]
    return [*cells, *(["/".join(f"{a / b:.1f}" for a, b in zip(mine, their, strict=True))] if other else [])]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeats", type=int, default=7)
    options.add_argument("--sizes", default=",".join(map(str, SIZES)))
    options.add_argument("--prototype", type=Path, help="a file with a class Scanner to measure beside")
    options.add_argument("--calls", action="store_true", help="count Python calls per token instead")
    options.add_argument("--unseen", action="store_true", help="texts that do not repeat, nothing remembered")
    options.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    chosen = options.parse_args()
    sizes = [int(size) for size in chosen.sizes.split(",")]
    other = prototype(chosen.prototype) if chosen.prototype else None
    rows = []
    for name, kind in (UNSEEN if chosen.unseen else KINDS).items():
        for how, split in SPLITS.items():
            chunkings = [split(kind.make(size * TOKEN)) for size in sizes]
            if chosen.calls:
                cells = [f"{counted(chunks, kind.calls):.2f}" for chunks in chunkings]
            else:
                cells = row(chunkings, kind.calls, chosen.repeats, other, forgets=chosen.unseen)
            rows.append([name, how, *cells])
            print(*rows[-1], sep="\t", flush=True)
    head = ["calls per token" if chosen.calls else "µs per token", "pieces", *(f"{size:,}" for size in sizes)]
    head += [] if chosen.calls else ["last / first", *(["× the prototype, each size"] if other else [])]
    note = f"{machine()}; CPU time, least of {chosen.repeats}, all dialects watched, one tool declared."
    text = f"{table(head, rows)}\n\n{note}"
    print(text)
    if chosen.write:
        publish("parse_stream_unseen" if chosen.unseen else "parse_stream", text)


if __name__ == "__main__":
    main()
