"""Damaged text through `feed`, in random pieces: no exception, strict JSON, nothing executed twice differently.

    python bench/fuzz.py [--characters 10000000] [--seed 0]

Takes calls in every dialect, prose and the project's own vectors, glues, cuts, doubles and mutates them, mutates the
vectors' tools too, and feeds the result whole and in random pieces.  Checks on every text: no exception; the deltas of
every call are strict JSON; both ways tell the same; every word of four letters that is no markup is kept somewhere; the
source holds no more than it must.  Prints how many characters went through and how fast; exits 1 on the first
violation, with the seed that shows it again.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from pathlib import Path
from typing import Any

from dragoman import Parser, Tool, ToolCall, assemble, dialects, render
from dragoman.events import CallDelta, CallEnded, CallStarted, Event

TOOLS = [
    Tool(name="get_weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}}),
    Tool(name="ping"),
]
MARKS = "<>{}[]()\"'`~|\n\\@:,=_ \t\ud800é｜▁</>"
FENCE = "```python\nprint('hello')\n```\n"
PROSE = ["plain words here", "a `code span` of", "\n\n", "> quoted words\n", FENCE, "I call it now:\n"]
WORD = re.compile(r"[A-Za-z]{4,}")
SURE = frozenset({"plain", "words", "quoted", "Oslo"})
"""Words of the material that are never part of any markup."""


def material() -> list[str]:
    """Calls in every dialect, and prose."""
    call = ToolCall(id="call_0", name="get_weather", arguments={"city": "Oslo north"})
    return [render([call], row, tools=TOOLS) for row in dialects.values()] + PROSE


VECTORS = Path(__file__).parents[1] / "tests" / "vectors" / "dialects"
KINDS = ("string", "integer", "object", "array", "boolean", "null", "number")


def vectors() -> list[tuple[str, Any]]:
    """The texts of the project's vectors, with the tools they declare."""
    lines = (line for file in sorted(VECTORS.glob("*.jsonl")) for line in file.read_text(encoding="utf-8").split("\n"))
    rows = [json.loads(line) for line in lines if line]
    return [(row["text"], row["tools"]) for row in rows]


def other_tools(rng: random.Random, tools: Any) -> Any:
    """These tools with one of them gone, renamed or of another schema."""
    if not tools or rng.random() < 0.5:
        return tools
    mutated = json.loads(json.dumps(tools))
    tool = rng.choice(mutated)
    match rng.randrange(4):
        case 0:
            mutated.remove(tool)
        case 1:
            tool["name"] = rng.choice((tool["name"][:-1] or "x", tool["name"] + "s", "ping"))
        case 2:
            schema = tool.get("parameters") or {}
            for key in schema.get("properties") or ():
                schema["properties"][key] = {"type": rng.choice(KINDS)}
        case _:
            return None
    return mutated if len({tool["name"] for tool in mutated}) == len(mutated) else tools


def damaged(rng: random.Random, parts: list[str]) -> str:
    """A text nobody would write on purpose."""
    text = [c for _ in range(rng.randint(1, 5)) for c in rng.choice(parts) + rng.choice(("", "\n", " "))]
    for _ in range(rng.choice((0, 0, 1, 3, 10))):
        at = rng.randrange(len(text))
        match rng.randrange(4):
            case 0:
                text[at] = rng.choice(MARKS)
            case 1:
                del text[at : at + rng.randint(1, 8)]
            case 2:
                text[at:at] = text[at : at + rng.randint(1, 30)]
            case _:
                del text[at:]
        if not text:
            text = ["x"]
    return "".join(text)


def run(text: str, tools: Any, rng: random.Random | None) -> list[Event]:
    """The events of a text, whole or in random pieces."""
    parser = Parser(tools=tools)
    told: list[Event] = []
    at = 0
    while at < len(text):
        step = len(text) if rng is None else rng.randint(1, 12)
        told += parser.feed(text[at : at + step])
        at += step
    return told + parser.close()


def violations(text: str, told: list[Event]) -> str:
    """What is wrong with these events, "" if nothing."""
    opened: dict[int, str] = {}
    kept = [text and ""]
    for event in told:
        match event:
            case CallStarted(index, _, name):
                opened[index] = ""
                kept.append(f" {name} ")
            case CallDelta(index, piece):
                opened[index] += piece
                kept.append(piece)
            case CallEnded(index):
                json.loads(opened.pop(index))
            case _:
                kept.append(str(getattr(event, "text", "") or getattr(getattr(event, "issue", None), "raw", "")))
    if opened:
        return "a call never ended"
    words = set(WORD.findall(" ".join(kept)))
    joined = "".join(kept)
    lost = [w for w in WORD.findall(text) if w in SURE and w not in words and w not in joined]
    return f"lost: {lost}" if lost else ""


def told(events: list[Event]) -> Any:
    response = assemble(events)
    return response.message, response.issues, response.doubtful


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--characters", type=int, default=10_000_000)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    parts, rows, done, seed, start = material(), vectors(), 0, chosen.seed, time.process_time()
    while done < chosen.characters:
        rng = random.Random(seed)
        row = rng.choice(rows) if rng.random() < 0.5 else None
        tools = TOOLS if row is None else other_tools(rng, row[1])
        text = damaged(rng, parts if row is None else [row[0], *PROSE])
        whole, pieces = run(text, tools, None), run(text, tools, rng)
        wrong = violations(text, whole) or violations(text, pieces)
        if not wrong and told(whole) != told(pieces):
            wrong = "pieces tell something else than the whole"
        if wrong:
            sys.exit(f"seed {seed}: {wrong}\n{text!r}")
        done += 2 * len(text)
        seed += 1
    spent = time.process_time() - start
    print(f"{done:,} characters in {seed - chosen.seed:,} texts, no violation; {spent:.0f} s CPU")


if __name__ == "__main__":
    main()
