"""Mutants of the judge's tables, and how many of them some vector kills.

    python bench/mutation.py [FILE.jsonl ...]

Drops, negates and reorders each rule, and drops each kind of hint, one at a time; reads every vector of the project
(and of the files given) again, and counts a mutant as killed where one is read otherwise.  Prints those that live.
Rules that never hold of the same evidence are not put into another order: that would change nothing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dragoman import parse
from dragoman.dialects.judge import hints, rules

VECTORS = Path(__file__).parents[1] / "tests" / "vectors" / "dialects"
KEPT = ("tools", "prefix", "shown")


def texts(files: list[str]) -> list[dict[str, Any]]:
    """Every vector that can be read blind, and each rule's own example."""
    paths = [*sorted(VECTORS.glob("*.jsonl")), VECTORS.parent / "judge.jsonl", *map(Path, files)]
    rows = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").split("\n") if line]
    examples = [{"text": rule.example, "tools": TOOL} for rule in rules.RULES]
    asked = [{"text": rule.example, "tools": TOOL, "prompted_dialect": "bare_json"} for rule in rules.RULES]
    unknown = [{"text": rule.example, "tools": None} for rule in rules.RULES]
    return [row for row in (*rows, *examples, *asked, *unknown) if isinstance(row.get("text"), str)]


APART = {
    ("whole", "strong"), ("hinted", "inline"), ("untold", "asked"), ("reasoning", "box"), ("copy", "repeat"),
    ("repeat", "word"),
}  # fmt: skip
TOOL = [{"name": "f", "parameters": {"type": "object", "properties": {}}}]


def read(row: dict[str, Any]) -> Any:
    """What becomes of one vector."""
    given = {key: row[key] for key in KEPT if row.get(key)} | {"tools": row.get("tools")}
    more = {"prompted_dialect": row["prompted_dialect"]} if "prompted_dialect" in row else {}
    parsed = parse(row["text"], finish_reason=row.get("finish"), **given, **more)
    told = [(call.name, dict(call.arguments), call.report and call.report.rule) for call in parsed.calls]
    doubt = [(call.name, call.report and call.report.reason) for call in parsed.doubtful]
    return told, doubt, parsed.text, [str(issue.kind) for issue in parsed.issues]


def mutants() -> Iterator[tuple[str, Callable[[], None]]]:
    """Each mutant: its name, and what makes it."""
    table, leads, tails = rules.RULES, hints.LEADS, hints.TAILS

    def put(module: Any, name: str, value: Any) -> Callable[[], None]:
        return lambda: setattr(module, name, value)

    for n, rule in enumerate(table[:-1]):
        yield f"without {rule.name}", put(rules, "RULES", table[:n] + table[n + 1 :])
        other = replace(rule, when=lambda e, when=rule.when: not when(e))
        yield f"{rule.name} negated", put(rules, "RULES", (*table[:n], other, *table[n + 1 :]))
        if (rule.name, table[n + 1].name) not in APART:
            swapped = (*table[:n], table[n + 1], rule, *table[n + 2 :])
            yield f"{rule.name} after {table[n + 1].name}", put(rules, "RULES", (*swapped, table[-1]))
    for name, found in (("LEADS", leads), ("TAILS", tails)):
        for n, row in enumerate(found):
            yield f"{name} without {row[0]}", put(hints, name, found[:n] + found[n + 1 :])
            loose = (row[0], row[1], not row[2])
            yield f"{name}: {row[0]} of anything", put(hints, name, (*found[:n], loose, *found[n + 1 :]))


def survives(rows: list[dict[str, Any]], wanted: list[Any]) -> bool:
    """Is every vector read as before?  A reason that cannot be put into words kills too."""
    try:
        return all(read(row) == was for row, was in zip(rows, wanted, strict=True))
    except (AttributeError, IndexError):
        return False


def main() -> None:
    rows = texts(sys.argv[1:])
    table, leads, tails = rules.RULES, hints.LEADS, hints.TAILS
    wanted = [read(row) for row in rows]
    lived, count = [], 0
    for name, make in mutants():
        make()
        count += 1
        if survives(rows, wanted):
            lived.append(name)
        rules.RULES, hints.LEADS, hints.TAILS = table, leads, tails
    killed = count - len(lived)
    print(f"{len(rows)} texts, {count} mutants, {killed} killed ({100 * killed / count:.1f} %)")
    for name in lived:
        print(f"  lives: {name}")


if __name__ == "__main__":
    main()
