"""What a streamed token of a call costs beside model servers' own parsers, and beside what reads all JSON so far anew.

    python bench/stream_peers.py [--sglang FOLDER] [--vllm FOLDER] [--repeats N] [--write]

One call with a long argument that does not repeat, in pieces as a tokenizer splits, each mark a piece of its own.  Ours
listens for every dialect, judges, and remembers nothing of other streams; a server's parser is told which dialect
comes.  `detectors.py` says how to get SGLang's; vLLM's wheel is unpacked as it is, and driven as
`tests/plugins/in_vllm.py` does, but for the serving around the parser.  What mends JSON (`json_repair`,
`partial_json_parser`, LangChain's partial parser) is given the call's JSON alone, since it finds no call in a text; it
is measured where it is installed.  A peer that took longer than `LONGEST` with one size is not given the next.  An
interpreter for all of it needs what vLLM imports, but for torch and what runs models.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import logging
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import unseen
from detectors import streaming
from dialects import SPELT, TOOL
from pieces import TOKEN, tokens
from table import machine, publish, table

from dragoman import Parser, ToolCall, assemble, dialects, render
from dragoman.dialects.engine import lanes

SIZES = (1_000, 4_000, 16_000)
LONGEST = 0.6
"""Seconds: who took longer is measured once, and not with more text."""
LINEAR = 1.5
"""A cost per token that grows by no more than this from the first size to the last does not grow with the text."""
VLLM: Mapping[str, str] = {
    "hermes": "hermes", "qwen3_coder": "qwen3_coder", "glm45": "glm45", "kimi_k2": "kimi_k2",
    "deepseek_v3": "deepseek_v3", "deepseek_v31": "deepseek_v31", "deepseek_v32": "deepseek_v32",
    "llama3_json": "llama3_json", "mistral": "mistral", "minimax_m2": "minimax_m2", "internlm2": "internlm",
    "seed_oss": "seed_oss", "gemma4": "gemma4", "lfm2": "lfm2", "jamba": "jamba", "step3": "step3",
}  # fmt: skip
"""Our dialect → what vLLM calls its parser."""
MARK = re.compile(r"(<[/|｜]?[^<>\s\"'=]{1,40}>|\[/?[A-Z_]{3,}\])")
"""What tokenizers have one token for."""
Found = dict[int, tuple[str, str]]
"""Index → name and arguments of a call, as far as they came."""


class Peer(NamedTuple):
    """A reader of streams: `start` gives what takes the pieces, the last of which it is told of."""

    name: str
    start: Callable[[], Callable[[str, bool], Any]]


def ours() -> Callable[[str, bool], Any]:
    """Every dialect, and the end; nothing is remembered of pieces that came before."""
    lanes.forget()
    parser = Parser(tools=[TOOL])
    return lambda piece, last: [*parser.feed(piece), *(parser.close() if last else ())]


def written(dialect: str, size: int) -> str:
    """A call as the dialect writes it, with so many tokens of code that does not repeat."""
    arguments = {"path": "area.py", "content": unseen.code(size * TOKEN)}
    call = render([ToolCall(id="c0", name=TOOL.name, arguments=arguments)], dialects[dialect], tools=[TOOL])
    return call.replace(*SPELT.get(dialect, ("", "")), 1)


def pieces_of(text: str) -> list[str]:
    """As a tokenizer splits, the marks of dialects whole."""
    return [piece for part in MARK.split(text) for piece in ([part] if MARK.fullmatch(part) else tokens(part))]


def vllm(folder: Path) -> Iterator[tuple[str, Peer]]:
    """vLLM's parsers without the serving around them."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    made = importlib.import_module("tests.plugins.in_vllm").Server(folder)
    tokenizer = importlib.import_module("tests.plugins.tokens").Tokenizer(made.marks)
    request = made.request({"tools": [{"type": "function", "function": _function()}]})
    for dialect, named in VLLM.items():
        try:
            kinds = made.managers.get_parser(tool_parser_name=named, enable_auto_tools=True, tokenizer=tokenizer)
            kinds(tokenizer, request.tools)
        except Exception as why:  # a peer's own trouble: told, and left out of the table
            print(f"left out: vLLM {named}: {why} ({why.__cause__})", file=sys.stderr)
            continue
        yield dialect, Peer("vLLM", lambda kinds=kinds: _vllm(kinds, tokenizer, request))  # type: ignore[misc]


def _vllm(kinds: Any, tokenizer: Any, request: Any) -> Callable[[str, bool], Any]:
    parser = kinds(tokenizer, request.tools)
    adjusted, ids = parser.adjust_request(request), lru_cache(None)(tokenizer.encode)

    def take(piece: str, last: bool) -> Any:
        return parser.parse_delta(piece, ids(piece), adjusted, [], finished=last)

    return take


def sglang(folder: Path) -> Iterator[tuple[str, Peer]]:
    """SGLang's detectors."""
    for dialect, start in streaming(folder, [_function()]).items():
        yield dialect, Peer("SGLang", start)


def menders() -> Iterator[Peer]:
    """What reads JSON that is not complete, all of it with each piece."""
    for module, name in (("json_repair", "loads"), ("partial_json_parser", "loads"),
                         ("langchain_core.utils.json", "parse_partial_json")):  # fmt: skip
        try:
            read = getattr(importlib.import_module(module), name)
        except ImportError:
            print(f"left out: {module} is not installed", file=sys.stderr)
            continue
        yield Peer(module.partition(".")[0], lambda read=read: _growing(read))  # type: ignore[misc]


def _growing(read: Callable[[str], Any]) -> Callable[[str, bool], Any]:
    text = ""

    def take(piece: str, last: bool) -> Any:
        nonlocal text
        text += piece
        return read(text)

    return take


def _function() -> dict[str, Any]:
    return {"name": TOOL.name, "parameters": dict(TOOL.parameters)}


def spent(start: Callable[[], Callable[[str, bool], Any]], pieces: Sequence[str]) -> float:
    """CPU seconds for a stream; what the reader is made of is made before."""
    take, last = start(), len(pieces) - 1
    gc.collect()
    begun = time.process_time()
    for n, piece in enumerate(pieces):
        take(piece, n == last)
    return time.process_time() - begun


def right(start: Callable[[], Callable[[str, bool], Any]], text: str, wanted: object) -> bool:
    """Does the peer tell of the call as it is, all pieces together?"""
    take, pieces, found = start(), pieces_of(text), Found()
    try:
        for n, piece in enumerate(pieces):
            _fold(take(piece, n == len(pieces) - 1), found)
        return [(name, json.loads(arguments)) for name, arguments in found.values()] == wanted
    except Exception:  # whatever it raises, it has not read the call
        return False


def _fold(told: Any, found: Found) -> None:
    """What one step of either server's parser told of calls."""
    for item in getattr(told, "calls", None) or getattr(told, "tool_calls", None) or ():
        index = getattr(item, "index", None)
        function = getattr(item, "function", None)
        name = function.name if function is not None else item.name
        arguments = function.arguments if function is not None else item.parameters
        before = found.get(index if index is not None else item.tool_index, ("", ""))
        found[index if index is not None else item.tool_index] = (
            before[0] + (name or ""), before[1] + (arguments or ""),
        )  # fmt: skip


class Measured(NamedTuple):
    """Microseconds per token for each size as far as it was measured, and how many times ours in turn with it."""

    dialect: str
    reader: str
    costs: list[float]
    ratios: list[float]

    @property
    def growth(self) -> float:
        return self.costs[-1] / self.costs[0]

    def row(self) -> list[str]:
        """The cells of the table; what took too long is empty."""
        beside = [f" ({ratio:,.1f})" for ratio in self.ratios] or ["" for _ in self.costs]
        told = [f"{cost:,.2f}{ratio}" for cost, ratio in zip(self.costs, beside, strict=True)]
        grown = f"{self.growth:.1f}" if len(told) > 1 else ""
        return [self.dialect, self.reader, *told, *["" for _ in SIZES[len(told) :]], grown]


def measured(dialect: str, peer: Peer, texts: Sequence[str], repeats: int) -> Measured:
    """What the peer takes for each text, by turns with ours."""
    found = Measured(dialect, peer.name, [], [])
    for text in texts:
        pieces = pieces_of(text)
        pairs = [(spent(peer.start, pieces), spent(ours, pieces))]
        while len(pairs) < repeats and pairs[0][0] < LONGEST:
            pairs.append((spent(peer.start, pieces), spent(ours, pieces)))
        theirs, mine = (min(column) for column in zip(*pairs, strict=True))
        found.costs.append(theirs * 1e6 / len(pieces))
        found.ratios.append(theirs / mine)
        if theirs > LONGEST:
            break
    print(*found.row(), sep="\t", file=sys.stderr, flush=True)
    return found


def alone(dialect: str, texts: Sequence[str], repeats: int) -> Measured:
    """What ours takes for each text."""
    spent(ours, pieces_of(texts[0]))  # what is made with the first call of a dialect is no cost of a token
    costs = []
    for pieces in map(pieces_of, texts):
        costs.append(min(spent(ours, pieces) for _ in range(repeats)) * 1e6 / len(pieces))
    return Measured(dialect, "dragoman", costs, [])


def nearest(peers: Sequence[Measured]) -> str:
    """Which peer whose cost does not grow comes nearest to ours at each size."""
    flat = [one for one in peers if len(one.costs) == len(SIZES) and one.growth <= LINEAR]
    least = [min(flat, key=lambda one: one.ratios[n]) for n in range(len(SIZES) if flat else 0)]
    said = [
        f"{SIZES[n]:,} tokens {one.ratios[n]:.1f} ({one.reader}, {one.dialect})" for n, one in enumerate(least)
    ]
    return f"Of the peers whose cost does not grow the nearest takes, times ours, at {'; '.join(said)}."


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sglang", type=Path, help="the folder that holds sglang/srt/function_call")
    options.add_argument("--vllm", type=Path, help="the folder that vLLM's wheel was unpacked in")
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    chosen = options.parse_args()
    logging.disable(logging.CRITICAL)
    peers: dict[str, list[Peer]] = {}
    for folder, load in ((chosen.sglang, sglang), (chosen.vllm, vllm)):
        for dialect, peer in load(folder) if folder else ():
            peers.setdefault(dialect, []).append(peer)
    found, rows = list[Measured](), list[list[str]]()
    for dialect, these in peers.items():
        texts = [written(dialect, size) for size in SIZES]
        rows.append(alone(dialect, texts, chosen.repeats).row())
        for peer in these:
            if right(peer.start, texts[0], _wanted(texts[0])):
                found.append(measured(dialect, peer, texts, chosen.repeats))
                rows.append(found[-1].row())
            else:
                print(f"left out: {peer.name} reads another call in {dialect}", file=sys.stderr)
    mended = [text[text.index("{") :] for text in (written("bare_json", size) for size in SIZES)]
    rows += [measured("the call's JSON", peer, mended, min(chosen.repeats, 3)).row() for peer in menders()]
    head = ["dialect", "reader", *(f"{size:,}" for size in SIZES), "last / first"]
    note = f"{machine()}; CPU µs per token and, in brackets, times ours in turn with it; least of {chosen.repeats}."
    text = f"{table(head, rows)}\n\n{nearest(found)}\n\n{note}"
    print(text)
    if chosen.write:
        publish("stream_peers", text)


def _wanted(text: str) -> object:
    parser = Parser(tools=[TOOL])
    return [(call.name, call.arguments) for call in assemble([*parser.feed(text), *parser.close()]).calls]


if __name__ == "__main__":
    main()
