"""Damaged text through `feed`, in random pieces: no exception, strict JSON, nothing executed twice differently.

    python bench/fuzz.py [--characters 10000000] [--seed 0]

Takes calls in every dialect and prose, glues, cuts, doubles and mutates them, and feeds the result whole and in random
pieces.  Checks on every text: no exception; the deltas of every call are strict JSON; both ways tell the same; every
word of four letters that is no markup is kept somewhere; the source holds no more than it must.  Prints how many
characters went through and how fast; exits 1 on the first violation, with the seed that shows it again.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
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


def run(text: str, rng: random.Random | None) -> list[Event]:
    """The events of a text, whole or in random pieces."""
    parser = Parser(tools=TOOLS)
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
    return response.message, response.issues


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--characters", type=int, default=10_000_000)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    parts, done, seed, start = material(), 0, chosen.seed, time.process_time()
    while done < chosen.characters:
        rng = random.Random(seed)
        text = damaged(rng, parts)
        whole, pieces = run(text, None), run(text, rng)
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
