"""How well are dialects learned from outputs?  Sample files with what was meant; every built-in row, left out once.

usage: learning.py [FOLDER] [--rows] [-v].  FOLDER holds files of samples (default: those of the tests): the first line
says the tools, each other line a `text` and its `calls`; lines with `fresh` are kept from the learner.
`--rows` renders twelve outputs of each built-in row, learns without that row and those that read its texts as well, and
reads fresh renders.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dragoman.dialects.engine.parse import parse
from dragoman.dialects.learning.outputs import Sample, learn_from_outputs, samples_of
from dragoman.dialects.learning.outputs.learner import AlreadyRead, NothingLearned
from dragoman.dialects.rows.table import ALL
from dragoman.dialects.spec import Dialect
from dragoman.dialects.writing.render import Unrenderable, render
from dragoman.types import Tool, ToolCall

HERE = Path(__file__).resolve().parent
FILES = HERE.parent / "tests" / "vectors" / "learn" / "outputs"
PROSE = ("Let me check.\n", "I will look that up first.\n\n", "", "", "", "One moment.\n")
TEXTS = ("Oslo", "São Paulo", "notes.txt", "blue kettle", "a-1", "main", "/tmp/x", "Ana")


def key(calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Calls in a form that compares."""
    return [f"{name} {json.dumps(arguments, sort_keys=True)}" for name, arguments in calls]


def learned(samples: Sequence[Sample], known: Sequence[Dialect] = ALL) -> tuple[str, Sequence[Dialect]]:
    """What came of learning, and the rows that read the samples then."""
    try:
        return "learned", [learn_from_outputs(samples, known=known).dialect]
    except AlreadyRead as why:
        return f"read already ({', '.join(why.dialects)})", known
    except NothingLearned as why:
        return f"nothing: {why}", ()


def exact(samples: Sequence[Sample], rows: Sequence[Dialect]) -> int:
    """How many samples these rows read as they were meant."""
    read = 0
    for sample in samples if rows else ():
        calls = parse(sample.text, tools=sample.tools, dialects=rows).calls
        read += key([(c.name, dict(c.arguments)) for c in calls]) == key(sample.meant or ())
    return read


# ── sample files ─────────────────────────────────────────────────────────────


def files(folder: Path) -> Iterator[tuple[str, list[Sample], list[Sample]]]:
    """Each file's name, the samples to learn from, and all of them."""
    for path in sorted(folder.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        shown = [{**row, "calls": None} for row in rows if not row.get("fresh")]
        yield path.stem, list(samples_of(shown)), list(samples_of(rows))


# ── built-in rows ────────────────────────────────────────────────────────────


def tools() -> tuple[Tool, ...]:
    """Tools with arguments of every type."""
    def tool(name: str, **properties: Mapping[str, Any]) -> Tool:
        return Tool(name=name, parameters={"type": "object", "properties": properties})

    text, number = {"type": "string"}, {"type": "integer"}
    return (
        tool("get_weather", city=text, days=number),
        tool("search_files", query=text, recursive={"type": "boolean"}, folder=text),
        tool("add_item", sku=text, quantity=number, price={"type": "number"}),
        tool("send_note", recipient=text, note=text),
    )


def drawn(random_: random.Random, tool: Tool) -> ToolCall:
    """A call of a tool, with values of its types."""
    values = {"integer": random_.randrange(1, 99), "boolean": random_.random() < 0.5, "number": 2.5}
    properties = tool.parameters["properties"]
    given = {k: random_.choice(TEXTS) if s["type"] == "string" else values[s["type"]] for k, s in properties.items()}
    last = list(given)[-1]
    if len(given) > 1 and random_.random() < 0.4:
        del given[last]
    return ToolCall(id="", name=tool.name, arguments=given)


def written(row: Dialect, random_: random.Random, count: int) -> list[Sample]:
    """Outputs of a row, with words before some of them and two calls in a few."""
    offered, found = tools(), list[Sample]()
    for number in range(count):
        calls = [drawn(random_, offered[(number + i) % len(offered)]) for i in range(2 if number % 5 == 3 else 1)]
        try:
            text = render(calls, row, tools=offered)
        except Unrenderable:
            continue
        text = random_.choice(PROSE) + text
        meant = tuple((c.name, dict(c.arguments)) for c in calls)
        read = parse(text, tools=offered, dialects=[row]).calls
        if key([(c.name, dict(c.arguments)) for c in read]) == key(meant):
            found.append(Sample(text, offered, meant, str(number)))
    return found


def without(row: Dialect, samples: Sequence[Sample]) -> list[Dialect]:
    """The built-in rows that do not read these samples: lookalikes are left out with the row."""
    return [other for other in ALL if other is not row and exact(samples, [other]) < len(samples) / 2]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", nargs="?", type=Path, default=FILES)
    options.add_argument("--rows", action="store_true")
    options.add_argument("-v", action="store_true")
    asked = options.parse_args()
    tally: Counter[str] = Counter()
    if asked.rows:
        for row in ALL:
            random_ = random.Random(row.name)
            samples = written(row, random_, 12)
            if len(samples) < 6:
                tally["too few renders"] += 1
                print(f"{row.name:28} renders {len(samples)} of 12 that it reads")
                continue
            fresh = written(row, random_, 12)
            unlabelled = [Sample(s.text, s.tools, None, s.id) for s in samples]
            what, rows = learned(unlabelled, known=without(row, samples))
            read = exact(fresh, rows)
            tally[what.partition(" ")[0].strip(":")] += 1
            tally["fresh renders exact, all"] += read == len(fresh)
            if asked.v or read < len(fresh):
                print(f"{row.name:28} {read}/{len(fresh)} {what[:200]}")
    else:
        for name, shown, every in files(asked.folder):
            what, rows = learned(shown)
            read = exact(every, rows)
            tally[what.partition(" ")[0].strip(":")] += 1
            tally["all exact"] += read == len(every)
            print(f"{name:28} {read}/{len(every)} {what[:200]}")
    print(dict(tally))


if __name__ == "__main__":
    main()
